"""NewronRegressor."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from newron.data import Dataset
from newron.engine.binning import RawBlock
from newron.engine.rows import Rows
from newron.errors import InputError
from newron.estimators.base import NewronEstimator
from newron.estimators.conformal import IntervalMixin
from newron.estimators.streaming import open_rows, read_dataset
from newron.evaluation.measurement import measure_d2
from newron.model.arithmetic import Floats
from newron.model.output import Targets, add_offset
from newron.neurons.loss import Loss
from newron.objectives import (
    Formula,
    Objective,
    Quantile,
    Squared,
    choose_objective,
    read_objective,
)
from newron.tables.labelled import LabelledSource
from newron.tables.labelled_table import LabelledTable
from newron.training.large import DatasetRows
from newron.training.training_set import Counts, count_rows

_LARGEST_TARGET = 1e90


class NewronRegressor(IntervalMixin, RegressorMixin, NewronEstimator):  # type: ignore[misc]
    """A network of generalized neurons that predicts one or more numbers.

    Trained on the squared error, or on another ``objective``.

    Parameters
    ----------
    processing : str, Processing, or a sequence of them, default "heaviside"
        The processing function h, one of your own (:func:`newron.neurons.processing`) or
        one of "heaviside", "sigmoid", "tanh_prod", "linear", "relu", "selu", "gaussian",
        "cosine", "hinge" or "softplus"; or one for each layer, the output layer last. "smooth", for
        all layers, is "sigmoid" or "tanh_prod", whichever is better on validation rows.
    objective : str, Objective or Loss, default "auto"
        What is predicted, and by which loss: "squared" (the mean, which "auto" stands for),
        "absolute" (the median), "huber" (a mean that outliers do not rule), "quantile:0.9"
        (a quantile, or several as "quantile:0.1,0.5,0.9", which never cross), and with a log
        link, so that predictions stay positive, "poisson" (counts and rates), "gamma"
        (targets above 0) and "tweedie:1.5" (targets with zeros). See docs/tasks.md. Or a loss
        of your own (:func:`newron.neurons.objective`).
    n_factors : int, default 2
        M, the number of tanh factors of "tanh_prod".
    functions_per_input : int, default 1
        K, how many functions of a neuron read each input.
    hidden_layer_sizes : tuple of int, or "auto", default (4,)
        Neurons of each hidden layer; ``()`` is a score card. "auto" searches for them
        by validation rows, see docs/search.md.
    direct_inputs : bool, default True
        Whether the output layer reads the inputs besides the hidden neurons: a target is
        then a sum of what each input adds, besides what the hidden neurons add.
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
        "low", "high", "missing" and "period" (such as 24 hours: functions of
        ``processing="cosine"`` then join at its ends).
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
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had names that are text.
    n_iter_ : int
        Epochs of the kept restart.
    loss_curve_ : list of float
        The loss after each epoch, in units of that of the best constant.
    best_loss_ : float
    path_ : ModelPath or None
        Shorter networks, and how good they are on validation rows: ``path_[n]`` is the
        model of at most n lines, ``print(path_)`` shows the path; see docs/recipes.md.
    processing_ : str
        What ``processing="smooth"`` chose.
    hidden_layer_sizes_ : tuple of int
        Neurons of the hidden layers that the network has; what "auto" found.
    tree_ : Tree or None
        What it explored; None where rows did not suffice for a search.

    Examples
    --------
    >>> from newron import NewronRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = NewronRegressor("sigmoid", hidden_layer_sizes=(), random_state=0)
    >>> bool(model.fit(X, [0.0, 0.0, 5.0, 5.0]).predict([[2.5]])[0] > 4)
    True
    """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Train on a table.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
            A weight of two is the same as the row twice.
        offset : array-like of shape (n_rows,), optional
            What is added to the score of each row, which the network leaves out: with the
            objectives of a log link the logarithm of the exposure.

        Returns
        -------
        NewronRegressor
            The estimator itself, fitted.
        """
        self._validate_params()
        if isinstance(X, Dataset):
            return self._fit_numbers(X, y, sample_weight, offset)
        return self._fit_targets(X, y, sample_weight, offset, reset=True)

    def _fit_numbers(self, data: Dataset, y: Any, sample_weight: Any, offset: Any) -> Self:
        """Train on a data set, whole or in blocks."""
        if offset is not None:
            raise InputError("offset: expected none with a data set; subtract it from the target")
        found = read_dataset(data, y, sample_weight, task="regression")
        if isinstance(found, LabelledTable):
            return self.fit(found.X, found.y, found.weight)
        check = partial(_check_targets, self._read_objective(np.ones((1, 1))))
        return self._fit_labelled(open_rows(self, data, found, check), found)

    def _fit_labelled(self, rows: Rows, found: LabelledSource) -> Self:
        """Train on the rows of a large table."""
        objective = self._read_objective(np.ones((1, 1)))
        if not isinstance(rows, DatasetRows):  # which checks what it reads
            for _ in rows.run(partial(_check_block, objective)):
                pass
        self._fit_dataset(rows, _make_output(objective, found.target.name, flat=True), None)
        self._has_offset, self._flat = False, objective.n_scores == 1
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Go over a part of the data once; the first call learns the scales.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
        offset : array-like of shape (n_rows,), optional
            As in :meth:`fit`.

        Returns
        -------
        NewronRegressor
            The estimator itself.
        """
        self._validate_params()
        first = not hasattr(self, "_fitted")
        return self._fit_targets(X, y, sample_weight, offset, reset=first, one_pass=True)

    def _fit_targets(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        offset: ArrayLike | None,
        *,
        reset: bool,
        one_pass: bool = False,
    ) -> Self:
        rows, targets, weight, flat = self._read_targets(X, y, sample_weight, reset=reset)
        objective = self._read_objective(targets)
        output = _make_output(objective, _name_target(y), flat)
        count = None
        if offset is not None:
            targets, weight, count = _absorb_offset(objective, targets, weight, offset)
        self._fit_rows(rows, targets, weight, output, None, count=count, one_pass=one_pass)
        self._has_offset = offset is not None
        self._flat = flat and objective.n_scores == 1
        return self

    def _read_objective(self, targets: Floats) -> Objective:
        automatic = isinstance(self.objective, str) and self.objective == "auto"
        chosen = "squared" if automatic else self.objective
        objective = read_objective(chosen, targets.shape[1])
        objective.check_targets(targets)
        return objective

    def _read_targets(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
    ) -> tuple[Floats, Floats, Floats | None, bool]:
        """Read X, y and weights; and whether y is one column without a second axis."""
        rows, targets = self._read_table(
            X, y, reset=reset, sample_weight=sample_weight, multi_output=True, y_numeric=True
        )
        values = np.asarray(targets, np.float64)
        table = values[:, None] if values.ndim == 1 else values
        _check_size(table)
        weight = self._read_weights(sample_weight, rows)
        return rows, table, weight, values.ndim == 1

    def _read_again(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats | None, Floats | None]:
        rows, targets, weight, _ = self._read_targets(X, y, sample_weight, reset=False)
        n_targets = self.model_.output.n_scores
        if getattr(self, "_has_offset", False):
            raise InputError(
                "expected a fit without an offset to read its rows again, got one with an offset; "
                "fit with pruning=True instead"
            )
        if self._read_objective(targets).n_scores != n_targets:
            raise InputError(f"expected {n_targets} targets, as in fit, got {targets.shape[1]}")
        return rows, targets, weight, None

    def _absorb(self, targets: Floats, weight: Floats | None, offset: ArrayLike) -> Floats:
        """Return the targets that a fit with this offset keeps."""
        return _absorb_offset(self._read_objective(targets), targets, weight, offset)[0]

    def predict(self, X: ArrayLike, *, offset: ArrayLike | None = None) -> Floats:
        """Return the predicted targets.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        offset : array-like of shape (n_rows,), optional
            What is added to the scores, as in :meth:`fit`; none by default.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_targets) as y was
            For several levels of quantiles one column each, in rising order.
        """
        scores = self._scores(X)
        if offset is not None:
            scores = add_offset(scores, offset)
        output = self.model_.output
        assert isinstance(output, Targets)  # noqa: S101 - a regressor's model
        values = output.transform(scores)
        return values[:, 0] if self._flat else values

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> float:
        """Return R², or for other objectives than the squared error their D².

        D² is the fraction of the best constant's loss that predictions save: of the deviance,
        the pinball loss, the absolute error or Huber's loss.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
        offset : array-like of shape (n_rows,), optional
            As in :meth:`predict`.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        _, targets, weight, _ = self._read_targets(X, y, sample_weight, reset=False)
        objective = choose_objective(self.model_.output)
        if isinstance(objective, Squared):
            from sklearn.metrics import r2_score  # slow to import

            predicted = self.predict(X, offset=offset)
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        objective.check_targets(targets)
        if offset is not None:
            targets, weight, _ = _absorb_offset(objective, targets, weight, offset)
        return measure_d2(objective, targets, self._scores(X), weight)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: several targets, and whether all must be positive."""
        tags = super().__sklearn_tags__()
        name = self.objective if isinstance(self.objective, str) else self.objective.name
        tags.target_tags.multi_output = "," not in name  # several levels are of one target
        positive = name.partition(":")[0] in ("poisson", "gamma", "tweedie")
        own = isinstance(self.objective, Loss) and self.objective.targets[0] >= 0.0
        tags.target_tags.positive_only = positive or own
        return tags


def _check_size(targets: Floats) -> None:
    if not np.abs(targets).max() <= _LARGEST_TARGET:
        raise InputError(f"expected targets within ±{_LARGEST_TARGET:g}, got larger ones")


def _check_targets(objective: Objective, targets: Floats) -> None:
    _check_size(targets)
    objective.check_targets(targets)


def _check_block(objective: Objective, block: RawBlock) -> None:
    _check_targets(objective, block.y)


def _name_target(y: Any) -> str:
    """Return the name of a target, or of a series; "y" where there is none."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def _make_output(objective: Objective, name: str, flat: bool) -> Targets:
    if isinstance(objective, Quantile) and len(objective.levels) > 1:
        names = tuple(f"{name} at {level:g}" for level in objective.levels)
        return Targets(names, "sorted", objective.text)
    names = (name,) if flat else tuple(f"{name}{k + 1}" for k in range(objective.n_scores))
    own = objective.definition if isinstance(objective, Formula) else None
    return Targets(names, objective.link_name, objective.text, own)


def _absorb_offset(
    objective: Objective, targets: Floats, weight: Floats | None, offset: ArrayLike
) -> tuple[Floats, Floats, Counts]:
    """Return the targets and weights without an offset, and how many rows each stands for."""
    values = add_offset(np.zeros((len(targets), 1)), offset)[:, 0]
    own = np.ones(len(targets)) if weight is None else weight
    # An exposure of twelve months is no twelve rows: rows are counted by their own weights.
    count = count_rows(own)
    targets, factor = objective.absorb_offset(targets, values)
    weighed = own * factor
    return targets, weighed * (own.sum() / max(float(weighed.sum()), 1e-300)), count
