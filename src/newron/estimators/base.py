"""What the classifier and the regressor share: parameters, checks, the fit."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    check_X_y,
    validate_data,
)

from newron.errors import InputError, InterruptedWarning, NewronWarning
from newron.estimators.columns import declare_domains, read_directions
from newron.estimators.readers import Readable, cover_training
from newron.estimators.record import record_training
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import LARGEST_INPUT, within_limits
from newron.model.output import Output
from newron.model.processing import get_processing
from newron.model.schema import Schema, make_names
from newron.tables.field import Field
from newron.tables.table import encode_rows, is_plain, learn_fields
from newron.training import strategies
from newron.training.architecture import SMOOTH, Architecture, plan_architecture
from newron.training.callbacks import Callback, ProgressLine
from newron.training.context import FitContext
from newron.training.encoding import SCALES, describe_columns
from newron.training.growing import GrowPath
from newron.training.pruning import PrunePath, PrunePlan, measure_fit, prune
from newron.training.recipe import RECIPES, Recipe, get_recipe
from newron.training.specification import CoreFit, FitResult, Specification
from newron.training.training_set import TrainingSet

__all__ = ["NewronEstimator"]

_OPTIONAL_COUNT = [None, Interval(Integral, 1, 2**31 - 1, closed="both")]
_OPTIONAL_AMOUNT = [None, Interval(Real, 0, None, closed="left")]


class NewronEstimator(Readable, BaseEstimator):  # type: ignore[misc]
    """Shared by both estimators; see their own documentation."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "processing": [str, "array-like"],
        "n_factors": [Interval(Integral, 1, None, closed="left")],
        "functions_per_input": [Interval(Integral, 1, None, closed="left")],
        "hidden_layer_sizes": [
            "array-like",
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "direct_inputs": ["boolean"],
        "aggregation": [str, "array-like"],
        "activation": [None, str, "array-like"],
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
        processing: str | tuple[str, ...] = "heaviside",
        *,
        n_factors: int = 2,
        functions_per_input: int = 1,
        hidden_layer_sizes: tuple[int, ...] | int | str = (4,),
        direct_inputs: bool = True,
        aggregation: str | tuple[str, ...] = "sum",
        activation: str | tuple[str, ...] | None = None,
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

    # ---- reading arguments ----

    def _read_table(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        reset: bool,
        sample_weight: ArrayLike | None = None,
        **how: Any,
    ) -> tuple[Floats, NDArray[Any]]:
        reset = reset and not (self.warm_start and hasattr(self, "_fitted"))
        if self._is_plain(X, reset):
            table, targets = validate_data(
                self,
                X,
                y,
                reset=reset,
                dtype=[np.float64, np.float32],
                ensure_min_samples=1,
                ensure_all_finite=False,
                **how,
            )
            if reset:
                self._fields = tuple(map(Field, make_names(table.shape[1])))
            _check_limits(table)
            return table, targets
        with warnings.catch_warnings():
            if reset:
                self._learn_fields(X, sample_weight)
                # What only rows without weight have is not a category, and no news.
                warnings.simplefilter("ignore", NewronWarning)
            unknown = "missing" if reset else self.handle_unknown
            matrix = encode_rows(X, self._fields, unknown=unknown)
        table, targets = check_X_y(
            matrix, y, ensure_min_samples=1, ensure_all_finite="allow-nan", **how
        )
        return table, targets

    def _is_plain(self, X: ArrayLike, reset: bool) -> bool:
        """Tell whether a table is a matrix of numbers, read by place."""
        if not is_plain(X):
            return False
        if not reset:
            return not any(field.categories is not None for field in self._fields)
        return self.categorical_features is None or isinstance(self.categorical_features, str)

    def _learn_fields(self, X: ArrayLike, sample_weight: ArrayLike | None) -> None:
        weights = np.asarray(sample_weight)
        # What does not fit the rows gets its error later.
        fits = weights.ndim == 1 and weights.shape[:1] == np.shape(X)[:1]
        used = np.flatnonzero(weights != 0) if fits else None
        self._fields = learn_fields(X, self.categorical_features, index=used)
        _check_text(self._fields)
        self.n_features_in_ = len(self._fields)
        names = [field.name for field in self._fields]
        if set(names) <= set(getattr(X, "columns", getattr(X, "names", ()))):
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read_weights(self, sample_weight: ArrayLike | None, X: Floats) -> Floats | None:
        if sample_weight is None:
            return None
        weights = np.asarray(
            _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        )
        largest = float(weights.max())
        if largest > 0.0 and not 1e-100 < largest < 1e100:
            weights = weights / largest  # sums of them must neither overflow nor vanish
        return weights

    def _plan_networks(self, n_outputs: int, *, one_pass: bool = False) -> list[Architecture]:
        """Plan the networks to choose from: one, unless the processing is "smooth"."""
        if not self._is_smooth:
            return [self._plan_architecture(n_outputs)]
        if one_pass:  # a part of the rows cannot tell
            kind = getattr(self, "processing_", SMOOTH[0])
            return [self._plan_architecture(n_outputs, processing=kind)]
        self._check_smooth(
            {
                "warm_start": self.warm_start,
                'hidden_layer_sizes "auto"': self._is_auto,
                f'recipe "{self.recipe}"': self.recipe != "default",
            }
        )
        networks = [self._plan_architecture(n_outputs, processing=kind) for kind in SMOOTH]
        self._check_smooth({"an aggregation or activation": not networks[0].adds})
        return networks

    def _check_smooth(self, wrong: dict[str, bool]) -> None:
        for what, is_so in wrong.items():
            if is_so:
                raise InputError(
                    f'{what}: expected a named processing function, got "smooth", which the '
                    "default recipe chooses, with all rows, for networks that sum; name "
                    '"sigmoid" or "tanh_prod"'
                )

    @property
    def _is_smooth(self) -> bool:
        return isinstance(self.processing, str) and self.processing == "smooth"

    def _plan_architecture(
        self,
        n_outputs: int,
        hidden: tuple[int, ...] | None = None,
        processing: str | tuple[str, ...] | None = None,
    ) -> Architecture:
        """Plan the network of these hidden layers, by default of those asked for or found."""
        asked: Any = self.hidden_layer_sizes_ if self._is_auto else self.hidden_layer_sizes
        wanted = asked if hidden is None else hidden
        widths = [wanted] if isinstance(wanted, Integral) else list(wanted)
        if any(not isinstance(n, Integral) or n < 1 for n in widths):
            raise InputError(
                f"hidden_layer_sizes: expected whole numbers from 1 on, got {tuple(widths)}"
            )
        return plan_architecture(
            [int(n) for n in widths],
            n_outputs,
            processing=self.processing if processing is None else processing,
            aggregation=self.aggregation,
            activation=self.activation,
            n_factors=self.n_factors,
            functions_per_input=self.functions_per_input,
            direct_inputs=self.direct_inputs,
        )

    def _choose_recipe(self, architecture: Architecture) -> Recipe:
        crisp = any(get_processing(layer.processing).crisp for layer in architecture.layers)
        recipe = get_recipe(self.recipe, crisp=crisp).adjust(
            max_iter=self.max_iter,
            batch_size=self.batch_size,
            learning_rate_init=self.learning_rate_init,
            weight_decay=self.weight_decay,
            n_iter_no_change=self.n_iter_no_change,
            tol=self.tol,
            n_init=self.n_init,
        )
        if self.early_stopping and recipe.n_iter_no_change is None:
            recipe = recipe.adjust(n_iter_no_change=max(20, recipe.max_iter // 10))
        return recipe

    def _make_seed(self) -> np.random.SeedSequence:
        if isinstance(self.random_state, Integral):
            return np.random.SeedSequence(int(self.random_state))
        state = check_random_state(self.random_state)
        return np.random.SeedSequence(int(state.randint(np.iinfo(np.int32).max)))

    # ---- fitting ----

    def _fit_rows(
        self,
        X: Floats,
        y: Floats,
        weight: Floats | None,
        output: Output,
        class_weight: Floats | None,
        *,
        one_pass: bool = False,
    ) -> Self:
        """Train; with ``one_pass`` go over the rows once, from where we are."""
        data = TrainingSet.from_rows(X, y, weight, self._fields)
        if self._is_auto and not self._is_smooth:  # the specification raises for both
            self._search_structure(data, output, class_weight, one_pass)
        spec = self._specify(data, output, class_weight, one_pass=one_pass)
        trained = self._adjust(spec, data, one_pass)
        self._check_domains(X)
        context = self._make_context()
        # A part of the rows cannot be grown on, nor split into folds.
        strategy = "gradient" if one_pass else self.recipe
        fitted = strategies.run(strategy, data, trained, context)
        if fitted.interrupted:
            warnings.warn(
                "training was interrupted: the best model so far is kept",
                InterruptedWarning,
                stacklevel=3,
            )
        fitted, path = self._declare(fitted, X), None
        if self.pruning and not one_pass and not fitted.interrupted:
            fitted, path = self._prune_fitted(fitted, data, spec, context)
        self._coverage = None if one_pass else cover_training(fitted.model, data)
        self._record = None if one_pass else record_training(self._fields, X, y, weight)
        return self._keep(fitted, add=one_pass, prune_path=path)

    def _adjust(self, spec: Specification, data: TrainingSet, one_pass: bool) -> Specification:
        """Return the specification of a fit that may continue the one before."""
        if not (one_pass or self.warm_start):
            return spec
        before = self._continue_from(spec, data, one_pass)
        spec = replace(spec, resume=before)
        if one_pass:
            recipe = replace(
                spec.recipe, max_iter=1, n_init=1, schedule="constant", blend_until=0.0,
                monitor="epoch", keep_best=False,
            )  # fmt: skip
            return replace(spec, recipe=recipe, validation_fraction=None, keep_constant=True)
        # A network that is continued is one of steps already.
        return spec if before is None else spec.adjust(blend_until=0.0)

    def _make_context(self) -> FitContext:
        listed = self.callbacks if isinstance(self.callbacks, Sequence) else [self.callbacks]
        callbacks = [each for each in listed if each is not None]
        for each in callbacks:
            if not isinstance(each, Callback):
                raise InputError(f"callbacks: expected instances of newron.Callback, got {each!r}")
        if self.verbose:
            callbacks.append(ProgressLine())
        return FitContext(self._make_seed(), effective_n_jobs(self.n_jobs), callbacks)

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.hidden_layer_sizes, str)

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
            self._specify(data, output, class_weight),
            self._make_context(),
            lambda hidden: self._plan_architecture(output.n_scores, hidden),
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

    def _specify(
        self,
        data: TrainingSet,
        output: Output,
        class_weight: Floats | None,
        *,
        one_pass: bool = False,
    ) -> Specification:
        architecture, *others = self._plan_networks(output.n_scores, one_pass=one_pass)
        directions = read_directions(self.monotonic_cst, data.fields, architecture, output)
        if directions and self.n_factors > 1:
            others = []  # a product of factors rises and falls
        return Specification(
            architecture,
            self._choose_recipe(architecture),
            output,
            input_scale=self.input_scale,
            class_weight=class_weight,
            directions=directions,
            validation_fraction=self.validation_fraction if self.early_stopping else None,
            max_terms=self.max_terms,
            keep_constant=self.warm_start,
            own_decay=self.weight_decay is not None,
            own_starts=self.n_init is not None,
            others=tuple(others),
        )

    def _check_domains(self, X: Floats) -> None:
        """Raise for domains that do not fit, before the time of training is spent."""
        if self.domains is not None:
            declare_domains(describe_columns(X, self._fields), self.domains, X)

    def _declare(self, fitted: FitResult, X: Floats) -> FitResult:
        if self.domains is None:
            return fitted
        model = fitted.model
        schema = declare_domains(model.schema, self.domains, X)
        path = None if fitted.path is None else replace(fitted.path, schema=schema)
        return replace(fitted, model=Model(schema, model.layers, model.output), path=path)

    def _continue_from(
        self, spec: Specification, data: TrainingSet, one_pass: bool
    ) -> CoreFit | None:
        fitted: FitResult | None = getattr(self, "_fitted", None)
        if fitted is None:
            return None
        core = fitted.core
        same = (
            core is not None
            and core.wiring.architecture == spec.architecture
            and _name_fields(core.encoding.schema) == data.fields
            and core.encoding.scales == self.input_scale
            and core.encoding.standardized == get_recipe(self.recipe, crisp=False).standardize
            and fitted.model.output == spec.output
        )
        if same:
            if one_pass and getattr(self, "prune_path_", None) is not None:
                warnings.warn(
                    "partial_fit goes on from the network before pruning, and does not prune it",
                    NewronWarning,
                    stacklevel=6,
                )
            return core
        if one_pass and self.recipe in ("default", "grow"):
            warnings.warn(
                "the network of the fit before was chosen by its recipe and cannot go on from a "
                'part of the rows: partial_fit starts anew; recipe="gradient" would go on',
                NewronWarning,
                stacklevel=6,
            )
            return None
        raise InputError(
            "expected the network, columns, classes and scales of the fit before to go on "
            "from it, got others (a grown network cannot go on); make a new estimator, with "
            'recipe="gradient"'
        )

    def _keep(self, fitted: FitResult, *, add: bool, prune_path: PrunePath | None = None) -> Self:
        self._fitted = fitted
        self.model_: Model = fitted.model
        if self._is_smooth:
            self.processing_ = fitted.model.layers[-1].processing
        elif hasattr(self, "processing_"):
            del self.processing_  # of a fit before, with other parameters
        curve = fitted.loss_curve.tolist()
        earlier = list(getattr(self, "loss_curve_", [])) if add else []
        self.loss_curve_ = earlier + curve
        self.n_iter_ = max(len(self.loss_curve_), 1)
        self.best_loss_ = float(fitted.best_loss)
        self.path_: GrowPath | None = fitted.path
        self.prune_path_ = prune_path
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
        honest: bool = True,
        criterion: str = "loss",
    ) -> Self:
        """Give a new estimator whose network has as few conditions as held-out rows allow.

        Conditions are taken out one after the other, and the weights of the last layer
        refitted. What each number of conditions costs is measured on rows held out: in
        five folds, or on one third from 5,000 rows on. Each fold trains a network of its
        own, as ``fit`` does, so this takes about as long as six fits. See docs/pruning.md.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit.
        tolerance : float, default 1.0
            The smallest network is taken whose loss and score on rows held out are not
            worse than those of the lowest loss by more than so many standard errors.
        max_literals : int, optional
            At most so many conditions on columns, whatever they cost.
        honest : bool, default True
            False prunes this very network in each fold instead of training others: fast,
            but it has seen the rows held out, so that sizes look better than they are.
        criterion : {"loss", "score"}, default "loss"
            "score" looks at the accuracy (or R²) alone, and takes the smallest network that
            is not worse than the best by more than ``tolerance`` standard errors of their
            difference on the same rows: shorter, and blind to how sure a network is.

        Returns
        -------
        NewronClassifier or NewronRegressor
            With the same parameters, the smaller ``model_``, and ``prune_path_``. This
            estimator stays as it is. ``partial_fit`` and ``warm_start`` go on from the
            network before pruning.
        """
        check_is_fitted(self)
        how = PrunePlan(tolerance, max_literals, honest, criterion)
        rows, targets, weight, class_weight = self._read_again(X, y, sample_weight)
        data = TrainingSet.from_rows(rows, targets, weight, self._fields)
        spec = self._specify(data, self.model_.output, class_weight)
        path = prune(data, spec, self.recipe, self.model_, how, self._make_context())
        pruned: Self = clone(self)
        settings = self.get_params(deep=False)
        for name, value in vars(self).items():
            if name not in settings:
                setattr(pruned, name, value)
        pruned._coverage = cover_training(path.model, data)
        pruned._keep(_prune_fit(self._fitted, path, data, spec), add=False, prune_path=path)
        return pruned

    @abstractmethod
    def _read_again(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats | None, Floats | None]:
        """Read rows as those of the fit: X, y, their weights and those of classes."""

    def _prune_fitted(
        self, fitted: FitResult, data: TrainingSet, spec: Specification, context: FitContext
    ) -> tuple[FitResult, PrunePath | None]:
        apart = replace(self._make_context(), callbacks=context.callbacks)
        try:
            path = prune(data, spec, self.recipe, fitted.model, PrunePlan(), apart)
        except KeyboardInterrupt:
            warnings.warn(
                "pruning was interrupted: the whole network is kept",
                InterruptedWarning,
                stacklevel=5,
            )
            return fitted, None
        return _prune_fit(fitted, path, data, spec), path

    # ---- predicting ----

    def _scores(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        if self._is_plain(X, reset=False):
            kinds = [np.float64, np.float32]
            rows = validate_data(self, X, reset=False, dtype=kinds, ensure_all_finite=False)
            _check_limits(rows)
        else:
            rows = encode_rows(X, self._fields, unknown=self.handle_unknown)
        return self.model_.score_rows(rows, n_threads=effective_n_jobs(self.n_jobs))

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
        return f"{html}<div>{self.plot().svg}</div>" if hasattr(self, "model_") else html

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that gaps are welcome.

        Categories are too, but the tag for them makes its checks round all tables.
        """
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _prune_fit(
    fitted: FitResult, path: PrunePath, data: TrainingSet, spec: Specification
) -> FitResult:
    """Return the fit of the pruned network; training would go on from the whole one."""
    loss = measure_fit(data, spec, path.model)
    return replace(fitted, model=path.model, best_loss=loss, path=None)


def _check_text(fields: tuple[Field, ...]) -> None:
    for field in fields:
        for text in (field.name, *(field.categories or ())):
            try:
                str(text).encode()
            except UnicodeEncodeError:
                raise InputError(
                    f"column {field.name!r}: expected text that is Unicode, got {text!r}; "
                    "read the file again with its right encoding"
                ) from None


def _check_limits(rows: Floats) -> None:
    if within_limits(rows):
        return
    row, column = np.argwhere(np.abs(rows) > LARGEST_INPUT)[0]
    raise InputError(
        f"column {column}, row {row} (both counted from 0): expected a number within "
        f"±{LARGEST_INPUT:g}, got {rows[row, column]}; a gap is NaN"
    )


def _name_fields(schema: Schema) -> tuple[Field, ...]:
    return tuple(Field(column.name, column.categories) for column in schema.columns)
