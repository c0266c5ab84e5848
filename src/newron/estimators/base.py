"""What the classifier and the regressor share: parameters, checks, the fit."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from newron.engine.rows import Rows
from newron.errors import InputError, InterruptedWarning
from newron.estimators.columns import declare_domains, join_ends
from newron.estimators.periods import Periods
from newron.estimators.planning import design_network, make_context, resume, specify
from newron.estimators.reader import TableReader
from newron.estimators.record import (
    count_seen,
    cover_training,
    list_settings,
    record_large,
    record_training,
)
from newron.estimators.streaming import count_used, streams
from newron.model.aggregation import AnyActivation, AnyAggregation
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.model.readable import Readable
from newron.neurons.activation import Activation
from newron.neurons.aggregation import Aggregation
from newron.neurons.loss import Loss
from newron.neurons.processing import Processing
from newron.objectives import Objective
from newron.tables.field import Field
from newron.training import strategies
from newron.training.callbacks import Callback
from newron.training.context import FitContext
from newron.training.drafts import Drafts
from newron.training.encoding import SCALES, describe_columns
from newron.training.large import is_large, list_blocks, make_large_set
from newron.training.limits import find_limits, settle_limits
from newron.training.path import ModelPath, count_lines, declare_model
from newron.training.pruning import PrunePlan, measure_fit, prune
from newron.training.recipe import RECIPES
from newron.training.specification import FitResult, Specification
from newron.training.training_set import Counts, TrainingSet

if TYPE_CHECKING:
    from newron.report import Origin
    from newron.rules.coverage import Coverage

_OPTIONAL_COUNT = [None, Interval(Integral, 1, 2**31 - 1, closed="both")]
_OPTIONAL_AMOUNT = [None, Interval(Real, 0, None, closed="left")]


class NewronEstimator(Readable, TableReader):
    """Shared by both estimators; see their own documentation."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "processing": [str, Processing, "array-like"],
        "objective": [str, Objective, Loss],
        "n_factors": [Interval(Integral, 1, None, closed="left")],
        "functions_per_input": [Interval(Integral, 1, None, closed="left")],
        "hidden_layer_sizes": [
            "array-like",
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "direct_inputs": ["boolean"],
        "aggregation": [str, Aggregation, "array-like"],
        "activation": [None, str, Activation, "array-like"],
        "input_scale": [StrOptions(set(SCALES))],
        "recipe": [StrOptions(set(RECIPES))],
        "max_iter": _OPTIONAL_COUNT,
        "batch_size": _OPTIONAL_COUNT,
        "learning_rate_init": [None, Interval(Real, 0, None, closed="neither")],
        "weight_decay": _OPTIONAL_AMOUNT,
        "n_iter_no_change": _OPTIONAL_COUNT,
        "tol": _OPTIONAL_AMOUNT,
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_init": _OPTIONAL_COUNT,
        "max_terms": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "size": [StrOptions({"whole", "auto", "best"}), Interval(Integral, 0, None, closed="left")],
        "pruning": ["boolean"],
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "handle_unknown": [StrOptions({"missing", "error"})],
        "monotonic_cst": ["array-like", dict, None],
        "domains": [dict, None],
        "warm_start": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "callbacks": [None, Callback, "array-like"],
    }

    def __init__(
        self,
        processing: str | Processing | tuple[str | Processing, ...] = "heaviside",
        *,
        objective: str | Objective | Loss = "auto",
        n_factors: int = 2,
        functions_per_input: int = 1,
        hidden_layer_sizes: tuple[int, ...] | int | str = (4,),
        direct_inputs: bool = True,
        aggregation: AnyAggregation | tuple[AnyAggregation, ...] = "sum",
        activation: AnyActivation | tuple[AnyActivation, ...] | None = None,
        input_scale: str = "own",
        recipe: str = "default",
        max_iter: int | None = None,
        batch_size: int | None = None,
        learning_rate_init: float | None = None,
        weight_decay: float | None = None,
        n_iter_no_change: int | None = None,
        tol: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        n_init: int | None = None,
        max_terms: int = 60,
        size: int | str = "auto",
        pruning: bool = False,
        categorical_features: Any = "from_dtype",
        handle_unknown: str = "missing",
        monotonic_cst: Any = None,
        domains: dict[str, Any] | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
    ) -> None:
        self.processing = processing
        self.objective = objective
        self.n_factors = n_factors
        self.functions_per_input = functions_per_input
        self.hidden_layer_sizes = hidden_layer_sizes
        self.direct_inputs = direct_inputs
        self.aggregation = aggregation
        self.activation = activation
        self.input_scale = input_scale
        self.recipe = recipe
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.weight_decay = weight_decay
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_init = n_init
        self.max_terms = max_terms
        self.size = size
        self.pruning = pruning
        self.categorical_features = categorical_features
        self.handle_unknown = handle_unknown
        self.monotonic_cst = monotonic_cst
        self.domains = domains
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    # ---- fitting ----

    def _fit_rows(
        self,
        X: Floats,
        y: Floats,
        weight: Floats | None,
        output: Output,
        class_weight: Floats | None,
        *,
        count: Counts | None = None,
        one_pass: bool = False,
        periods: Periods | None = None,
    ) -> Self:
        """Train; with ``one_pass`` go over the rows once, from where we are."""
        fields = self._fields if periods is None else periods.fields
        group = None if periods is None else periods.group
        n_used = count_used(len(X), weight)
        if is_large(n_used, X.shape[1]) and not one_pass and group is None:
            spec = specify(self, fields, output, class_weight)
            if streams(self, spec, n_used) and not _has_limits(output):
                threads = effective_n_jobs(self.n_jobs)
                return self._fit_blocks(list_blocks(X, y, weight, count, threads), spec)
        data = TrainingSet.from_rows(X, y, weight, fields, count, group)
        output = self._find_limits(data, output, class_weight, one_pass)
        if self._is_auto and not self._is_smooth:  # the specification raises for both
            self._search_structure(data, output, class_weight, one_pass)
        spec = specify(self, data.fields, output, class_weight, one_pass=one_pass)
        trained = resume(self, spec, data, one_pass)
        self._check_domains(X, fields)
        context = make_context(self)
        # A part of the rows cannot be grown on, nor split into folds.
        strategy = "gradient" if one_pass else self.recipe
        fitted = strategies.run(strategy, data, trained, context)
        _warn_interrupted(fitted)
        fitted = self._declare(fitted, X)
        if not one_pass and not fitted.interrupted:
            fitted = self._shorten(fitted, data, spec, context)
        if not one_pass:
            fitted = _settle(fitted, data, class_weight)
        self._coverage = None if one_pass else cover_training(fitted.model, data)
        self._record = None if one_pass else record_training(fields, X, y, weight)
        return self._keep(fitted, add=one_pass)

    def _fit_blocks(self, raw: Rows, spec: Specification) -> Self:
        """Train on a large table, of which the engine sees all rows in blocks."""
        data = make_large_set(raw, self._fields)
        self._check_domains(data.X, self._fields)
        fitted = strategies.run(self.recipe, data, spec, make_context(self))
        _warn_interrupted(fitted)
        self._coverage = None
        self._record = record_large(raw, self._fields)
        return self._keep(self._declare(fitted, data.X), add=False)

    def _fit_dataset(self, rows: Rows, output: Output, class_weight: Floats | None) -> Self:
        """Train on a large data set."""
        spec = specify(self, self._fields, output, class_weight)
        if not streams(self, spec, rows.n_rows):
            raise InputError(
                'expected recipe="default" with processing "heaviside", "smooth", "sigmoid" or '
                '"tanh_prod", and neither pruning, warm_start nor hidden_layer_sizes="auto", for a '
                f"data set of {rows.n_rows:,} rows, which is trained in blocks; got others"
            )
        return self._fit_blocks(rows, spec)

    def _list_directions(self) -> Any:
        """Return the directions that are requested, for the columns that are trained on."""
        return self.monotonic_cst

    def _find_limits(
        self, data: TrainingSet, output: Output, class_weight: Floats | None, one_pass: bool
    ) -> Output:
        """Return what is predicted, ordered classes with limits; a fit that goes on keeps them."""
        before: Model | None = getattr(self, "model_", None)
        if (one_pass or self.warm_start) and before is not None:
            given, own = (getattr(each, "labels", None) for each in (output, before.output))
            if given == own and output.n_scores == before.output.n_scores:
                return before.output
        return find_limits(data, output, class_weight, effective_n_jobs(self.n_jobs))

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.hidden_layer_sizes, str)

    @property
    def _is_smooth(self) -> bool:
        return isinstance(self.processing, str) and self.processing == "smooth"

    def _search_structure(
        self, data: TrainingSet, output: Output, class_weight: Floats | None, one_pass: bool
    ) -> None:
        """Find the hidden layers; a fit that goes on keeps those it has."""
        from newron.search.inner import FALLBACK, search_inside  # seldom requested

        if (one_pass or self.warm_start) and hasattr(self, "hidden_layer_sizes_"):
            return
        self.hidden_layer_sizes_, self.tree_ = FALLBACK, None
        if self.recipe == "grow":  # it builds its own
            return
        found = search_inside(
            data,
            specify(self, data.fields, output, class_weight),
            make_context(self),
            lambda hidden: design_network(self, output.n_scores, hidden),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self.hidden_layer_sizes_, self.tree_ = found.widths, found.tree
        if found.interrupted:
            warnings.warn(
                "the search was interrupted: the best structure so far is trained",
                InterruptedWarning,
                stacklevel=4,
            )

    def _check_domains(self, X: Floats, fields: tuple[Field, ...]) -> None:
        """Raise for domains that do not fit, before the time of training is spent."""
        if self.domains is not None:
            declare_domains(describe_columns(X, fields), self.domains, X)

    def _declare(self, fitted: FitResult, X: Floats) -> FitResult:
        if self.domains is None:
            return fitted
        model = fitted.model
        schema = declare_domains(model.schema, self.domains, X)
        path = None if fitted.path is None else fitted.path.declare(schema)
        whole = None if fitted.whole is None else declare_model(fitted.whole, schema)
        return replace(fitted, model=declare_model(model, schema), path=path, whole=whole)

    def _keep(self, fitted: FitResult, *, add: bool) -> Self:
        fitted = replace(fitted, model=join_ends(fitted.model))
        self._fitted = fitted
        self.model_: Model = fitted.model
        if not self._is_auto:
            self.hidden_layer_sizes_ = tuple(layer.n_neurons for layer in self.model_.layers[:-1])
        if self._is_smooth:
            self.processing_ = fitted.model.layers[-1].processing
        elif hasattr(self, "processing_"):
            del self.processing_  # of a fit before, with other parameters
        curve = fitted.loss_curve.tolist()
        earlier = list(getattr(self, "loss_curve_", [])) if add else []
        self.loss_curve_ = earlier + curve
        self.n_iter_ = max(len(self.loss_curve_), 1)
        self.best_loss_ = float(fitted.best_loss)
        self.path_: ModelPath | None = fitted.path
        return self

    # ---- pruning ----

    def prune(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        tolerance: float = 1.0,
        max_literals: int | None = None,
        nested: bool = True,
        criterion: str = "loss",
    ) -> Self:
        """Return a new estimator whose network has as few conditions as held-out rows allow.

        The whole network is pruned, whatever ``size`` took of its path.
        Conditions are taken out one after the other, and the weights of the last layer
        refitted. What each number of conditions costs is measured on validation rows: in
        five folds, or on one third from 5,000 rows on. Each fold trains a network of its
        own, as ``fit`` does, so this takes about as long as six fits. See docs/pruning.md.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit.
        tolerance : float, default 1.0
            The smallest network is taken whose loss and score on validation rows are not
            worse than those of the lowest loss by more than so many standard errors.
        max_literals : int, optional
            At most so many conditions on columns, whatever they cost.
        nested : bool, default True
            Whether each fold trains a network of its own. False prunes this very network in
            each fold instead: fast, but it has seen the validation rows, so that sizes look
            better than they are.
        criterion : {"loss", "score"}, default "loss"
            "score" looks at the accuracy (or R²) alone, and takes the smallest network that
            is not worse than the best by more than ``tolerance`` standard errors of their
            difference on the same rows: shorter, and blind to how sure a network is.

        Returns
        -------
        NewronClassifier or NewronRegressor
            With the same parameters, the smaller ``model_``, and its ``path_``. This
            estimator stays as it is. ``partial_fit`` and ``warm_start`` go on from the
            network before pruning.
        """
        check_is_fitted(self)
        if not hasattr(self, "_fitted"):
            raise InputError(
                "prune: expected a fitted network, got one of from_model; fit it first"
            )
        how = PrunePlan(tolerance, max_literals, nested, criterion)
        rows, targets, weight, class_weight = self._read_again(X, y, sample_weight)
        data = TrainingSet.from_rows(rows, targets, weight, self._fields)
        spec = specify(self, data.fields, self.model_.output, class_weight, whole=True)
        whole = self._fitted.whole or self.model_
        path = prune(data, spec, self.recipe, whole, how, make_context(self))
        pruned: Self = clone(self)
        settings = self.get_params(deep=False)
        for name, value in vars(self).items():
            if name not in settings:
                setattr(pruned, name, value)
        fitted = _settle(_prune_fit(self._fitted, path, data, spec), data, class_weight)
        pruned._coverage = cover_training(fitted.model, data)
        pruned._keep(fitted, add=False)
        return pruned

    @abstractmethod
    def _read_again(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats | None, Floats | None]:
        """Read rows as those of the fit: X, y, their weights and those of classes."""

    def _shorten(
        self, fitted: FitResult, data: TrainingSet, spec: Specification, context: FitContext
    ) -> FitResult:
        """Prune where that is requested, or where the recipe has no path to so short a network."""
        how = PrunePlan()
        if not self.pruning:
            if isinstance(self.size, str) or count_lines(fitted.model) <= self.size:
                return fitted
            how = PrunePlan(0.0, int(self.size), nested=False)
        apart = replace(make_context(self), callbacks=context.callbacks)
        try:
            path = prune(data, spec, self.recipe, fitted.model, how, apart)
        except KeyboardInterrupt:
            warnings.warn(
                "pruning was interrupted: the whole network is kept",
                InterruptedWarning,
                stacklevel=5,
            )
            return fitted
        return _prune_fit(fitted, path, data, spec)

    # ---- predicting ----

    def _scores(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows = self._read_rows(X)
        return self.model_.score_rows(rows, n_threads=effective_n_jobs(self.n_jobs))

    # ---- what the reading verbs want to know ----

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted network as JSON; :func:`newron.load` reads it.

        Parameters
        ----------
        path : str or path-like
            The file appears whole or not at all.
        """
        self._get_model().save(path)

    def _adopt(self, model: Model) -> Self:
        """Take a network that was made elsewhere for the fitted one."""
        self.model_, self._fields = model, model.fields
        self.n_features_in_ = len(model.schema)
        if not model.schema.unnamed:
            self.feature_names_in_ = np.array(model.schema.names, object)
        return self

    def _get_model(self) -> Model:
        check_is_fitted(self)
        return self.model_

    def _get_coverage(self) -> Coverage | None:
        return getattr(self, "_coverage", None)

    def _get_origin(self) -> Origin:
        from newron.report import Origin

        record = getattr(self, "_record", None) or {}
        return Origin(
            recipe=self.recipe,
            settings=list_settings(self),
            seed="not fixed" if self.random_state is None else str(self.random_state),
            versions=record.get("versions", {}),
            n_rows=record.get("rows"),
            fingerprint=record.get("fingerprint", ""),
        )

    def _count_seen(self, X: ArrayLike, y: ArrayLike | None) -> int | None:
        record = getattr(self, "_record", None)
        if record is None or y is None or getattr(self, "_has_offset", False):
            return None  # with an offset other targets were kept
        return count_seen(record, *self._read_again(X, y, None)[:2])

    # ---- in notebooks ----

    def _repr_html_inner(self) -> str:
        return self._add_figure(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._add_figure(bundle["text/html"])
        return bundle

    def _add_figure(self, html: str) -> str:
        """Put the network below scikit-learn's own diagram, once there is one."""
        return f"{html}<div>{self.plot().to_html()}</div>" if hasattr(self, "model_") else html

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: missing values, text and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _warn_interrupted(fitted: FitResult) -> None:
    if fitted.interrupted:
        warnings.warn(
            "training was interrupted: the best model so far is kept",
            InterruptedWarning,
            stacklevel=4,
        )


def _has_limits(output: Output) -> bool:
    return isinstance(output, Classes) and output.is_ordered


def _settle(fitted: FitResult, data: TrainingSet, class_weight: Floats | None) -> FitResult:
    """Return a fit whose limits of ordered classes are the best for its scores."""
    if not _has_limits(fitted.model.output):
        return fitted
    settle = partial(settle_limits, data=data, class_weight=class_weight)
    path = fitted.path
    if path is not None:
        path = replace(path, models=Drafts.hold(path.models).map(settle))
    return replace(fitted, model=settle(fitted.model), path=path)


def _prune_fit(
    fitted: FitResult, path: ModelPath, data: TrainingSet, spec: Specification
) -> FitResult:
    """Return the fit of the pruned network; training would go on from the whole one."""
    loss = measure_fit(data, spec, path.model)
    whole = fitted.whole or fitted.model
    return replace(fitted, model=path.model, best_loss=loss, path=path, whole=whole)
