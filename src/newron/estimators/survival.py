"""NewronSurvival."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from newron.data import Dataset
from newron.errors import InputError
from newron.estimators.base import NewronEstimator
from newron.estimators.periods import cut_time, expand
from newron.estimators.record import count_seen, record_training
from newron.evaluation.survival import estimate_concordance
from newron.evaluation.times import read_times
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.survival import (
    Survival,
    accumulate,
    add_time,
    drop_time,
    find_hazards,
    find_risk,
    get_survival,
    make_curves,
)
from newron.rules.risk_card import RiskCard, read_risk_card
from newron.tables.field import make_names
from newron.tables.table import EncodedTable

_MOST_INTERVALS = 500


class NewronSurvival(NewronEstimator):
    """A network of generalized neurons that predicts when an event happens.

    Time is cut into intervals with about as many events each. The network predicts the hazard:
    the probability that the event happens in an interval to those whom it has not met before.
    Time is one more input: its curve is the baseline hazard, and what rows add to it is read as
    that of a classifier. Rows that were lost before the event (right censored) count as long
    as they were seen.

    Parameters
    ----------
    processing : str, Processing, or a sequence of them, default "heaviside"
        The processing function h, as of :class:`NewronClassifier`; "smooth" is the more exact
        of two kinds of curves.
    objective : str, default "auto"
        "survival:40" cuts time into at most 40 intervals; by default there is one for eight
        events, 5 at least and 25 at most.
    n_factors : int, default 2
        M, the number of tanh factors of "tanh_prod".
    functions_per_input : int, default 1
        K, how many functions of a neuron read each input.
    hidden_layer_sizes : tuple of int, or "auto", default (4,)
        Neurons of each hidden layer. ``()`` adds up columns and time: hazards are then
        proportional (in odds), and :meth:`riskcard` has a survival curve for each total.
    direct_inputs : bool, default True
        Whether the output layer reads the inputs besides the hidden neurons.
    aggregation, activation, input_scale, recipe
        As of :class:`NewronClassifier`.
    max_iter, batch_size, learning_rate_init, weight_decay, n_iter_no_change, tol
        Settings of training by gradients, as of :class:`NewronClassifier`.
    early_stopping, validation_fraction, n_init, max_terms, size, pruning
        As of :class:`NewronClassifier`; "auto" is the shortest crisp network of at most 15
        conditions, those on the time among them, that explains 95 % of what the whole one does.
    categorical_features, handle_unknown, monotonic_cst, domains
        Of the columns, as of :class:`NewronClassifier`; 1 is a hazard that rises.
    warm_start, random_state, n_jobs, verbose, callbacks
        As of :class:`NewronClassifier`.

    Attributes
    ----------
    model_ : Model
        The network of hazards; it reads the columns and the time.
    unique_times_ : ndarray
        The last times of the intervals.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had names that are text.
    n_iter_, loss_curve_, best_loss_, path_, processing_, hidden_layer_sizes_, tree_
        As of :class:`NewronClassifier`.

    Examples
    --------
    >>> from newron import NewronSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(30.0, 80.0, (200, 1))
    >>> death, lost = rng.exponential(200.0 / X[:, 0]), rng.exponential(5.0, 200)
    >>> y = np.array(list(zip(death <= lost, np.minimum(death, lost))), "bool, float")
    >>> model = NewronSurvival("sigmoid", hidden_layer_sizes=(), random_state=0).fit(X, y)
    >>> young, old = model.predict_survival_function([[35.0], [75.0]])
    >>> bool(young(2.0) > old(2.0))
    True
    """

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train on a table.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        y : structured array, pair or table of an event and a time
            Of scikit-survival's kind: a field that is true where the event happened, and one
            with the time of the event or of the last look. Or ``(event, time)``, or two columns.
        sample_weight : array-like of shape (n_rows,), optional
            A weight of two is the same as the row twice.

        Returns
        -------
        NewronSurvival
            The estimator itself, fitted.
        """
        self._validate_params()
        n_intervals = self._read_objective()
        times = read_times(y, _count_rows(X))
        rows, _ = self._read_table(X, times.time, reset=True, sample_weight=sample_weight)
        weight = self._read_weights(sample_weight, rows)
        if times.time_name in [field.name for field in self._fields]:
            raise InputError(
                f"expected another name for the time than that of a column, got "
                f"{times.time_name!r} for both; rename one"
            )
        ends = cut_time(times, weight, n_intervals)
        periods = expand(rows, times, ends, self._fields)
        labels = f"no {times.event_name}", times.event_name
        output = Survival(labels, time=times.time_name, ends=ends)
        weights = None if weight is None else weight[periods.subject]
        self._fit_rows(periods.X, periods.y, weights, output, None, periods=periods)
        self.unique_times_ = np.array(ends)
        targets = np.column_stack([times.event, times.time])
        self._record = record_training(drop_time(self.model_), rows, targets, weight)
        return self

    def _read_objective(self) -> int | None:
        """Return the number of intervals that is requested, if one is."""
        text = self.objective if isinstance(self.objective, str) else ""
        name, _, number = text.partition(":")
        known = name in ("auto", "survival") and (not number or name == "survival")
        count = int(number) if number.isdecimal() else None
        if not known or (number and not (count and count <= _MOST_INTERVALS)):
            raise InputError(
                'objective: expected "auto", "survival" or one with a number of intervals such as '
                f'"survival:40", got {self.objective!r}'
            )
        return count

    def _list_directions(self) -> Any:
        requested = self.monotonic_cst
        if requested is None or isinstance(requested, Mapping):
            return requested
        return [*requested, 0]  # of the time

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Return an estimator that predicts with a network that was saved.

        Parameters
        ----------
        model : Model
            Of survival.

        Returns
        -------
        NewronSurvival
        """
        if not isinstance(model, Model) or not isinstance(model.output, Survival):
            raise InputError(f"from_model: expected a model of survival, got {model!r:.60}")
        estimator = cls(model.layers[-1].processing)._adopt(model)
        estimator._fields = drop_time(model)
        estimator.n_features_in_ = len(estimator._fields)
        names = [field.name for field in estimator._fields]
        estimator.feature_names_in_ = np.array(names, object)
        if names == list(make_names(len(names))):  # of columns that had none
            del estimator.feature_names_in_
        estimator.unique_times_ = np.array(model.output.ends)
        return estimator

    # ---- predicting ----

    def _find_hazards(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows = self._read_rows(X)
        return find_hazards(self.model_, rows, n_threads=effective_n_jobs(self.n_jobs))

    def predict(self, X: ArrayLike) -> Floats:
        """Return a risk score for each row: the higher, the sooner the event.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
            The logarithm of the cumulative hazard, its mean over ``unique_times_``.
        """
        return find_risk(accumulate(self._find_hazards(X)))

    def predict_survival_function(self, X: ArrayLike, return_array: bool = False) -> NDArray[Any]:
        """Return the probability of no event until some time, for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        return_array : bool, default False
            Whether to return its values at ``unique_times_`` instead of functions.

        Returns
        -------
        ndarray of TimeCurve, of shape (n_rows,), or of shape (n_rows, n_times)
            A curve is called with times: ``curve([1.0, 2.0])``.
        """
        hazards = accumulate(self._find_hazards(X))
        return np.exp(-hazards) if return_array else make_curves(self._output, hazards)

    def predict_cumulative_hazard_function(
        self, X: ArrayLike, return_array: bool = False
    ) -> NDArray[Any]:
        """Return the cumulative hazard until some time, for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        return_array : bool, default False
            Whether to return its values at ``unique_times_`` instead of functions.

        Returns
        -------
        ndarray of TimeCurve, of shape (n_rows,), or of shape (n_rows, n_times)
        """
        hazards = accumulate(self._find_hazards(X))
        return hazards if return_array else make_curves(self._output, hazards, "cumulative hazard")

    @property
    def _output(self) -> Survival:
        return get_survival(self.model_)

    def score(self, X: ArrayLike, y: Any) -> float:
        """Return Harrell's concordance: how often who has the event sooner has the higher risk.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        y : as in :meth:`fit`

        Returns
        -------
        float
            0.5 is chance, 1 the right order of all pairs that can be compared.
        """
        risk = self.predict(X)
        times = read_times(y, len(risk))
        return estimate_concordance(times.event, times.time, risk).value

    # ---- reading ----

    def riskcard(self, max_points: int | None = None) -> RiskCard:
        """Return a crisp network as a card of risk, with a survival curve for each total.

        Parameters
        ----------
        max_points : int, optional
            Round points to whole numbers of at most this size, as :meth:`scorecard` does.

        Returns
        -------
        RiskCard
            Its ``card`` has the time among its conditions.
        """
        return read_risk_card(self.scorecard(max_points))

    def at(self, X: ArrayLike, time: float | None = None) -> EncodedTable:
        """Return rows with a time, as the network of hazards reads them.

        For readers that take rows: ``model.contributions(model.at(X, 12.0))``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        time : float, optional
            By default the end of the interval in the middle.

        Returns
        -------
        EncodedTable
        """
        model = self._get_model()
        ends = get_survival(model).ends
        chosen = ends[len(ends) // 2] if time is None else float(time)
        rows = np.asarray(self._read_rows(X), np.float64)
        return EncodedTable(model.fields, np.ascontiguousarray(add_time(model, rows, chosen)))

    def _read_again(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> NoReturn:
        del X, y, sample_weight
        raise InputError(
            "expected a fit to prune rows of survival in, got rows afterwards; fit with "
            "pruning=True instead"
        )

    def _count_seen(self, X: ArrayLike, y: Any) -> int | None:
        record = getattr(self, "_record", None)
        if record is None or y is None:
            return None
        rows = self._read_rows(X)
        times = read_times(y, len(rows))
        return count_seen(record, rows, np.column_stack([times.event, times.time]))

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: y is an event and a time."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _count_rows(X: Any) -> int:
    if hasattr(X, "__dask_graph__") or isinstance(X, Dataset):
        raise InputError(
            "X: expected a table in memory, of whose subjects periods are made, got "
            f"{type(X).__name__}; give a part of its rows"
        )
    if hasattr(X, "shape") and len(X.shape):
        return int(X.shape[0])
    return len(X)
