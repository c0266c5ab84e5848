"""NewronClassifier."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from newron.data import Dataset
from newron.engine.rows import Rows
from newron.errors import InputError, NewronWarning
from newron.estimators.base import NewronEstimator
from newron.estimators.conformal import SetMixin
from newron.estimators.labels import (
    check_known,
    choose_classes,
    is_ordered,
    list_classes,
    name_classes,
    number_labels,
    order_classes,
    read_labels,
    weigh_classes,
)
from newron.estimators.streaming import count_classes, open_rows, read_dataset
from newron.evaluation.indicator import Indicator, read_indicator
from newron.model.aggregation import AnyActivation, AnyAggregation
from newron.model.arithmetic import Floats
from newron.model.labels import Labels
from newron.model.model import Model
from newron.model.output import Classes
from newron.neurons.loss import Loss
from newron.neurons.processing import Processing
from newron.objectives import Objective, start_limits
from newron.tables.labelled import LabelledSource
from newron.tables.labelled_table import LabelledTable
from newron.tables.table import Target
from newron.training.callbacks import Callback
from newron.training.recipe import get_recipe

_LABEL_OBJECTIVES = ("auto", "log_loss")  # of several labels


class NewronClassifier(SetMixin, ClassifierMixin, NewronEstimator):  # type: ignore[misc]
    """A network of generalized neurons that predicts classes.

    Parameters
    ----------
    processing : str, Processing, or a sequence of them, default "heaviside"
        The processing function h, one of your own (:func:`newron.neurons.processing`) or
        one of "heaviside", "sigmoid", "tanh_prod", "linear", "relu", "selu", "gaussian",
        "cosine", "hinge" or "softplus"; or one for each layer, the output layer last. "smooth", for
        all layers, is "sigmoid" or "tanh_prod", whichever is better on validation rows.
    objective : {"auto", "log_loss", "ordinal"} or Loss, default "auto"
        "log_loss" has a score for each of several classes. "ordinal" is for ordered ones: one
        score, and limits between the classes (proportional odds). "auto" takes "ordinal" where y
        is an ordered categorical, and says so; see docs/tasks.md. A loss of your own is for two
        classes.
    n_factors : int, default 2
        M, the number of tanh factors of "tanh_prod".
    functions_per_input : int, default 1
        K, how many functions of a neuron read each input.
    hidden_layer_sizes : tuple of int, or "auto", default (4,)
        Neurons of each hidden layer; ``()`` is a score card. "auto" searches for them
        by validation rows, see docs/search.md.
    direct_inputs : bool, default False
        Whether the output layer reads the inputs besides the hidden neurons.
    aggregation : str, Aggregation or sequence of them, default "sum"
        G of the hidden layers: "sum", "mean", "min", "max" or "product", or one of your own
        (:func:`newron.neurons.aggregation`); or one for each layer, the output layer last.
    activation : str, Activation or sequence of them, optional
        f of the hidden layers: "identity", "sigmoid", "tanh" or "relu", or one of your own
        (:func:`newron.neurons.activation`); or one for each layer. By default "identity",
        and "relu" where h is "linear".
    input_scale : {"own", "rank", "both"}, default "own"
        Whether functions read an input as it is, its rank, or both.
    recipe : {"default", "gradient", "grow", "paper"}, default "default"
        The procedure of training, see docs/recipes.md; the settings below override
        parts of it.
    max_iter, batch_size : int, optional
        Epochs at most, and rows of a step.
    learning_rate_init : float, optional
        Adam's rate at its highest.
    weight_decay : float, optional
        Decoupled decay of weights.
    n_iter_no_change, tol : int and float, optional
        Stop when the loss has not fallen by tol in so many epochs.
    early_stopping : bool, default False
        Split off validation rows and keep the epoch of the lowest loss on them.
    validation_fraction : float, default 0.2
        The fraction of rows that early stopping splits off.
    n_init : int, optional
        Restarts, run in parallel; the one of the lowest loss is kept.
    size : {"auto", "best", "whole"} or int, default "auto"
        How long the network is that is taken, in lines of what is printed: conditions of
        crisp networks, curves of smooth ones. "auto" is the shortest crisp network that is
        within one standard error of the best on validation rows, or all curves that the
        recipe trains; more than 15 lines only where these are worth it. "best" is the most
        accurate on validation rows, a number the best of at most so many lines; ``path_``
        keeps them all. "whole" is all that the recipe trains, without a path. The recipes
        "gradient" and "paper" train the network that you describe, and heed a number alone.
    max_terms : int, default 60
        Terms of a grown network at most; validation rows decide how many it gets.
    pruning : bool, default False
        Whether fit prunes the network afterwards, as :meth:`prune` does: fewer
        conditions, for five more fits. ``partial_fit`` does not prune.
    categorical_features : "from_dtype", array-like or None, default "from_dtype"
        Which columns are categories: by their dtype (text, categorical, enum,
        boolean), or names, indices or a mask.
    handle_unknown : {"missing", "error"}, default "missing"
        Whether a category that training has not seen counts as missing, with a
        warning, or is an error.
    monotonic_cst : dict by name or array-like of -1, 0, 1, optional
        Columns with which the score rises (1) or falls (-1).
    domains : dict by name, optional
        What a column may hold: a unit as text, or a dict with "unit", "values",
        "low", "high", "missing": "never", which makes a missing value an error, and
        "period" (such as 24 hours: functions of ``processing="cosine"`` then join at
        its ends).
    class_weight : dict or "balanced", optional
        Weights of the classes. None leaves it to the recipe: only "paper" is
        balanced.
    warm_start : bool, default False
        Whether fit goes on from the fit before.
    random_state : int, RandomState or None
        The same seed gives the same model, for any number of threads.
    n_jobs : int, optional
        Threads; None is one, -1 all.
    verbose : int, default 0
        1 shows a line of progress.
    callbacks : Callback or list of Callback, optional
        Hooks of the fit, which may end it early; see :class:`newron.Callback`.

    Attributes
    ----------
    model_ : Model
        The network: readable, saved with ``model_.save(path)``.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had names that are text.
    n_iter_ : int
        Epochs of the kept restart.
    loss_curve_ : list of float
        The watched loss after each epoch.
    best_loss_ : float
        The loss of the kept network.
    path_ : ModelPath or None
        Shorter networks, and how good they are on validation rows: ``path_[n]`` is the
        model of at most n lines, ``print(path_)`` shows the path; see docs/recipes.md.
    processing_ : str
        What "smooth" chose.
    hidden_layer_sizes_ : tuple of int
        Neurons of the hidden layers that the network has; what "auto" found.
    tree_ : Tree or None
        What "auto" explored; None where rows did not suffice for a search.

    Examples
    --------
    >>> from newron import NewronClassifier
    >>> X = [[36.5], [37.0], [38.5], [39.5]]
    >>> ill = ["no", "no", "yes", "yes"]
    >>> model = NewronClassifier(hidden_layer_sizes=(), random_state=0).fit(X, ill)
    >>> model.predict([[36.8], [39.0]]).tolist()
    ['no', 'yes']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NewronEstimator._parameter_constraints,
        "class_weight": [None, dict, StrOptions({"balanced"})],
    }

    classes_: Any  # an array; of several labels a list of them

    def __init__(
        self,
        processing: str | Processing | tuple[str | Processing, ...] = "heaviside",
        *,
        objective: str | Objective | Loss = "auto",
        n_factors: int = 2,
        functions_per_input: int = 1,
        hidden_layer_sizes: tuple[int, ...] | int | str = (4,),
        direct_inputs: bool = False,
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
        class_weight: dict[Any, float] | str | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
    ) -> None:
        super().__init__(
            processing,
            objective=objective,
            n_factors=n_factors,
            functions_per_input=functions_per_input,
            hidden_layer_sizes=hidden_layer_sizes,
            direct_inputs=direct_inputs,
            aggregation=aggregation,
            activation=activation,
            input_scale=input_scale,
            recipe=recipe,
            max_iter=max_iter,
            batch_size=batch_size,
            learning_rate_init=learning_rate_init,
            weight_decay=weight_decay,
            n_iter_no_change=n_iter_no_change,
            tol=tol,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_init=n_init,
            max_terms=max_terms,
            size=size,
            pruning=pruning,
            categorical_features=categorical_features,
            handle_unknown=handle_unknown,
            monotonic_cst=monotonic_cst,
            domains=domains,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.class_weight = class_weight

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on a table.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns), or newron.data.Dataset
        y : array-like of shape (n_rows,) or (n_rows, n_labels)
            Class labels: text, whole numbers or booleans; of a data set the name of the column.
            Several labels for a row are a matrix of 0 and 1, with a column for each label.
            Ordered classes are those of an ordered categorical or enum, in its order; others are
            sorted.
        sample_weight : array-like of shape (n_rows,), optional
            A weight of two is the same as the row twice; of a data set the name of a column.

        Returns
        -------
        NewronClassifier
            The estimator itself, fitted.
        """
        self._validate_params()
        self._check_objective()
        if isinstance(X, Dataset):
            return self._fit_classes(X, y, sample_weight)
        if (indicator := read_indicator(y)) is not None:
            return self._fit_indicator(X, indicator, sample_weight)
        rows, targets = self._read_table(X, y, reset=True, sample_weight=sample_weight)
        labels = read_labels(targets, y)
        weight = self._read_weights(sample_weight, rows)
        used = labels if weight is None else labels[weight != 0.0]
        if len(np.unique(used)) < 2:
            raise InputError(
                f"expected at least 2 classes in y, got {len(np.unique(used))} class: "
                "there is nothing to tell apart"
            )
        classes = list_classes(labels, y)
        ordered = self._has_order(y, len(classes))
        classes = order_classes(classes, y) if ordered else classes
        return self._fit_labels(rows, labels, classes, weight, ordered=ordered)

    def _fit_indicator(
        self,
        X: ArrayLike,
        indicator: Indicator,
        sample_weight: ArrayLike | None,
        *,
        one_pass: bool = False,
    ) -> Self:
        """Train one network of several labels."""
        if self.objective not in _LABEL_OBJECTIVES:
            raise InputError(
                'objective: expected "auto" or "log_loss" for several labels, got '
                f"{self.objective!r}"
            )
        if self.class_weight is not None:
            raise InputError(
                "class_weight: expected None for several labels, got one; sample_weight weighs rows"
            )
        first = not (one_pass and hasattr(self, "_fitted"))
        if not first:
            indicator.check(self.model_.output.names)  # type: ignore[union-attr]
        rows, values = self._read_table(
            X, indicator.values, reset=first, sample_weight=sample_weight, multi_output=True
        )
        weight = self._read_weights(sample_weight, rows)
        output = indicator.output if first else self.model_.output
        self._fit_rows(rows, values, weight, output, None, one_pass=one_pass)
        self.classes_ = _list_presence(output.n_scores)
        return self

    def _fit_classes(self, data: Dataset, y: Any, sample_weight: Any) -> Self:
        """Train on a data set, whole or in blocks."""
        found = read_dataset(data, y, sample_weight, task="classes")
        if isinstance(found, LabelledTable):
            return self.fit(found.X, found.y, found.weight)
        return self._fit_labelled(open_rows(self, data, found), found)

    def _fit_labelled(self, rows: Rows, found: LabelledSource) -> Self:
        """Train on the rows of a large table."""
        if self.objective == "ordinal":
            raise InputError(
                "objective ordinal: expected rows that fit into memory, from which limits are "
                "found, got a data set that is trained in blocks; give a part of its rows"
            )
        target = Target(found.target.name, found.target.categories, np.zeros(0, np.intp))
        classes = target.classes
        output = name_classes(classes)
        counts = np.ones(len(classes))
        if self.class_weight is not None:
            counts = count_classes(rows, len(classes))
        numbers = np.arange(len(classes))
        weights = weigh_classes(self._requested_weights, numbers, classes, counts)
        self._fit_dataset(rows, output, weights)
        self.classes_ = classes
        return self

    def _check_objective(self) -> None:
        known = ("auto", "log_loss", "ordinal")
        if not isinstance(self.objective, Loss) and self.objective not in known:
            raise InputError(
                'objective: expected "auto", "log_loss", "ordinal" or a loss of your own for '
                f"classes, got {self.objective!r}"
            )

    def _has_order(self, y: Any, n_classes: int) -> bool:
        """Return whether classes are trained as ordered ones: two have one score anyway."""
        if n_classes == 2 or self.objective == "log_loss":
            return False
        if self.objective == "auto" and is_ordered(y):
            warnings.warn(
                'y is an ordered categorical: objective="ordinal" is taken, one score with limits '
                'between the classes; objective="log_loss" has a score for each class',
                NewronWarning,
                stacklevel=3,
            )
            return True
        return self.objective == "ordinal"

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Return an estimator that predicts with a network made elsewhere: loaded, or constructed.

        It takes part in pipelines, scores and reports as a fitted one does; fitting it again
        forgets the network.

        Parameters
        ----------
        model : Model
            Of classes.

        Returns
        -------
        NewronClassifier

        Examples
        --------
        >>> from newron import NewronClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> fitted = NewronClassifier(recipe="gradient", max_iter=2, random_state=0).fit(X, y)
        >>> other = NewronClassifier.from_model(fitted.model_)
        >>> other.score(X, y) == fitted.score(X, y)
        True
        """
        if not isinstance(model, Model) or not isinstance(model.output, Classes | Labels):
            raise InputError(f"from_model: expected a model of classes, got {model!r:.60}")
        estimator = cls(model.layers[-1].processing)._adopt(model)
        output: Any = model.output
        several = isinstance(output, Labels)
        estimator.classes_ = _list_presence(output.n_scores) if several else output.array
        return estimator

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go over a part of the data once.

        The first call learns the columns' scale from its part.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,)
        classes : array-like, optional
            All classes; the first call needs them where its part lacks one.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        NewronClassifier
            The estimator itself.
        """
        self._validate_params()
        if (indicator := read_indicator(y)) is not None:
            return self._fit_indicator(X, indicator, sample_weight, one_pass=True)
        first = not hasattr(self, "_fitted")
        rows, targets = self._read_table(X, y, reset=first)
        labels = read_labels(targets, y)
        known = choose_classes(labels, classes, None if first else self.classes_)
        weight = self._read_weights(sample_weight, rows)
        ordered = self._has_order(y, len(known))
        known = order_classes(known, y) if ordered and first else known
        return self._fit_labels(rows, labels, known, weight, ordered=ordered, one_pass=True)

    def _fit_labels(
        self,
        X: Floats,
        labels: NDArray[Any],
        classes: NDArray[Any],
        weight: Floats | None,
        *,
        ordered: bool = False,
        one_pass: bool = False,
    ) -> Self:
        numbers = number_labels(labels, classes)
        output = name_classes(classes, self.objective)
        if ordered:  # limits to begin with
            rows = np.ones(len(numbers)) if weight is None else weight
            output = output.with_limits(start_limits(numbers, rows, len(classes)))
        class_weight = weigh_classes(self._requested_weights, numbers, classes, weight)
        y = numbers[:, None].astype(np.float64)
        self._fit_rows(X, y, weight, output, class_weight, one_pass=one_pass)
        self.classes_ = classes
        return self

    def _read_again(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats | None, Floats | None]:
        if self._has_labels:
            return self._read_indicator_again(X, y, sample_weight)
        rows, targets = self._read_table(X, y, reset=False)
        labels = read_labels(targets, y)
        check_known(labels, self.classes_)
        weight = self._read_weights(sample_weight, rows)
        numbers = number_labels(labels, self.classes_)
        class_weight = weigh_classes(self._requested_weights, numbers, self.classes_, weight)
        return rows, numbers[:, None].astype(np.float64), weight, class_weight

    def _read_indicator_again(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats | None, Floats | None]:
        indicator = read_indicator(y)
        if indicator is None:
            raise InputError("y: expected a matrix of 0 and 1 with a column for each label")
        indicator.check(self.model_.output.names)  # type: ignore[union-attr]
        rows, values = self._read_table(X, indicator.values, reset=False, multi_output=True)
        return rows, values, self._read_weights(sample_weight, rows), None

    @property
    def _requested_weights(self) -> dict[Any, float] | str | None:
        """``class_weight``, or what the recipe takes in its place."""
        balanced = get_recipe(self.recipe, crisp=False).balanced
        return "balanced" if self.class_weight is None and balanced else self.class_weight

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the scores.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,) for two classes, else (n_rows, n_classes)
            Of ordered classes, which share one score, the logarithms of their probabilities.
            Of several labels, the log-odds of each.
        """
        scores = self._scores(X)
        if not self._has_labels and self._output.is_ordered:
            return np.log(np.maximum(self._output.predict_proba(scores), np.finfo(float).tiny))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
            Of several labels a matrix of 0 and 1, of shape (n_rows, n_labels).
        """
        scores = self._scores(X)
        if self._has_labels:
            return self.model_.output.predict(scores)
        return np.asarray(self.classes_[self._output.choose(scores)])

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Of several labels the probability of each, of shape (n_rows, n_labels).
        """
        scores = self._scores(X)
        if isinstance(self.model_.output, Labels):
            return self.model_.output.transform(scores)
        return self._output.predict_proba(scores)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: y may be several labels, of the log loss."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.objective in _LABEL_OBJECTIVES
        return tags

    @property
    def _has_labels(self) -> bool:
        return isinstance(self.model_.output, Labels)

    @property
    def _output(self) -> Classes:
        output = self.model_.output
        assert isinstance(output, Classes)  # noqa: S101 - a classifier's model
        return output


def _list_presence(n_labels: int) -> list[NDArray[np.intp]]:
    """Return what each label can be, as scikit-learn lists it: 0 and 1."""
    return [np.array([0, 1])] * n_labels
