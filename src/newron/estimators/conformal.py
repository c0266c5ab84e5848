"""Intervals of a regressor and sets of a classifier, from rows that a network did not see."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from newron.errors import NewronWarning
from newron.estimators.record import count_seen
from newron.evaluation.splits import SplitPlan, choose_plan, make_splits
from newron.model.arithmetic import Floats
from newron.model.calibrated import get_conformal
from newron.model.conformal import calibrate_classes, calibrate_targets
from newron.model.labels import refuse_labels
from newron.model.output import Targets
from newron.tables.fingerprint import hash_table
from newron.tables.table import EncodedTable, Target

if TYPE_CHECKING:
    from newron.estimators.base import NewronEstimator

_FEW_FOLDS = 2
_MANY_SEEN = 0.5  # of rows that are not the table of training


class IntervalMixin:
    """Gives a regressor intervals."""

    def calibrate(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Compare predictions with the truth, so that :meth:`predict_interval` knows its ends.

        Of new rows the errors count. Of the rows of the fit networks are
        trained on parts of them for the errors on the others: in five folds up to 2,000 rows,
        on a part of 80 % beyond. The network itself does not change.

        Parameters
        ----------
        X, y, sample_weight
            New rows, or those of the fit.
        offset : array-like of shape (n_rows,), optional
            As in :meth:`fit`.

        Returns
        -------
        NewronRegressor
            The estimator itself; ``model_.conformal`` is saved with the model.

        Examples
        --------
        >>> from newron import NewronRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(300, 1))
        >>> y = 3.0 * X[:, 0] + rng.normal(size=300)
        >>> model = NewronRegressor("linear", hidden_layer_sizes=(), random_state=0).fit(X, y)
        >>> low, high = model.calibrate(X, y).predict_interval([[0.5]], coverage=0.9)[0]
        >>> bool(-0.7 < low < 0.3 and 2.7 < high < 3.7)
        True
        """
        check_is_fitted(self)
        own: Any = self  # a regressor
        rows, truth, weight, _ = own._read_targets(X, y, sample_weight, reset=False)
        extra = {} if offset is None else {"offset": np.asarray(offset, np.float64)}
        read = rows, truth, weight
        if offset is not None:  # a fit with an offset kept other targets
            read = rows, own._absorb(truth, weight, offset), weight

        def predict(fitted: Any, part: Any, index: Any) -> Floats:
            parts = {name: value[index] for name, value in extra.items()}
            return np.asarray(fitted.predict(part, **parts)).reshape(len(index), -1)

        predicted, index, protocol = _predict_apart(own, read, (y, sample_weight, extra), predict)
        known = None if weight is None else weight[index]
        output: Targets = own.model_.output
        table = calibrate_targets(output, truth[index], predicted, known, protocol=protocol)
        own.model_ = own.model_.replace(conformal=table)
        return self

    def predict_interval(
        self: Any, X: ArrayLike, coverage: float = 0.9, *, offset: ArrayLike | None = None
    ) -> Floats:
        """Return an interval for each row that holds the truth of so many new rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        coverage : float, default 0.9
            The part of new rows whose truth lies inside.
        offset : array-like of shape (n_rows,), optional
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_rows, 2), or (n_rows, n_targets, 2) for several targets
            The low and the high end; :meth:`calibrate` comes first. Of several levels of
            quantiles it is their band, widened or narrowed until it covers what it shall.
        """
        table = get_conformal(self._get_model())
        predicted = np.asarray(self.predict(X, offset=offset))
        shaped = predicted[:, None] if predicted.ndim == 1 else predicted
        return table.find_intervals(self.model_.output, shaped, coverage)


class SetMixin:
    """Gives a classifier sets of classes."""

    def calibrate(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Compare probabilities with the truth, so that :meth:`predict_set` knows its sets.

        Of new rows the probabilities count. Of the rows of the fit networks
        are trained on parts of them for the probabilities of the others: in five folds up to
        2,000 rows, on a part of 80 % beyond. The network itself does not change.

        Parameters
        ----------
        X, y, sample_weight
            New rows, or those of the fit.

        Returns
        -------
        NewronClassifier
            The estimator itself; ``model_.conformal`` is saved with the model.

        Examples
        --------
        >>> from newron import NewronClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NewronClassifier("sigmoid", hidden_layer_sizes=(), random_state=0).fit(X, y)
        >>> model.calibrate(X, y).predict_set(X[:1], coverage=0.95).tolist()
        [[True, False, False]]
        """
        check_is_fitted(self)
        own: Any = self  # a classifier
        refuse_labels(own.model_.output, "calibrate")
        rows, numbers, weight, _ = own._read_again(X, y, sample_weight)
        predicted, index, protocol = _predict_apart(
            own, (rows, numbers, weight), (y, sample_weight, {}), own._predict_known
        )
        known = None if weight is None else weight[index]
        truth = numbers[index, 0].astype(np.intp)
        seen = None
        if protocol != "new rows":
            seen = truth, own.predict_proba(EncodedTable(own._fields, rows[index]))
        table = calibrate_classes(truth, predicted, known, own=seen, protocol=protocol)
        own.model_ = own.model_.replace(conformal=table)
        return self

    def _predict_known(self: Any, fitted: Any, part: Any, index: Any) -> Floats:
        """Return probabilities of all classes, of a network that may know fewer."""
        del index
        order = {label: code for code, label in enumerate(self.classes_.tolist())}
        probabilities = np.zeros((len(part), len(order)))
        found = fitted.predict_proba(part)
        probabilities[:, [order[label] for label in fitted.classes_.tolist()]] = found
        return probabilities

    def predict_set(self: Any, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return the classes of each row among which the truth of so many new rows is.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        coverage : float, default 0.9
            The part of new rows at least whose class is in the set.

        Returns
        -------
        bool ndarray of shape (n_rows, n_classes)
            In the order of ``classes_``; the likeliest class is always in the set.
            :meth:`calibrate` comes first.
        """
        refuse_labels(self._get_model().output, "predict_set")
        table = get_conformal(self._get_model())
        return table.find_sets(self.predict_proba(X), coverage)


def _predict_apart(
    estimator: Any,
    read: tuple[Floats, Floats, Floats | None],
    given: tuple[Any, Any, dict[str, Any]],
    predict: Callable[[Any, Any, NDArray[np.intp]], Floats],
) -> tuple[Floats, NDArray[np.intp], str]:
    """Predict rows by networks that were not trained on them: which ones, and how."""
    rows, targets, weight = read
    table = EncodedTable(estimator._fields, np.ascontiguousarray(rows, np.float64))
    if not _is_training(estimator, rows, targets, weight):
        index = np.arange(len(rows))
        return predict(estimator, table, index), index, "new rows"
    y, sample_weight, extra = given
    values = y if isinstance(y, Target) else np.asarray(y)
    weights = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    plan = _plan(values, classification=is_classifier(estimator))
    parts, order = [], []
    for train, test in make_splits(np.asarray(values), plan, stratify=is_classifier(estimator)):
        own = {name: value[train] for name, value in extra.items()}
        if weights is not None:
            own["sample_weight"] = weights[train]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NewronWarning)  # of categories that a part lacks
            fitted = _copy(estimator).fit(table[train], values[train], **own)
            parts.append(predict(fitted, table[test], test))
        order.append(test)
    protocol = "cross-validation" if plan.n_folds else "test rows"
    return np.concatenate(parts), np.concatenate(order), protocol


def _copy(estimator: NewronEstimator) -> Any:
    """Return an estimator that trains the same on other rows, in silence."""
    other = clone(estimator)
    return other.set_params(
        callbacks=None, verbose=0, warm_start=False, handle_unknown="missing",
        categorical_features="from_dtype",
    )  # fmt: skip


def _plan(values: Any, *, classification: bool) -> SplitPlan:
    labels = np.asarray(values)
    plan = choose_plan(labels, classification=classification)
    return plan or SplitPlan(n_folds=min(_FEW_FOLDS, len(labels)))


def _is_training(estimator: Any, rows: Floats, targets: Floats, weight: Floats | None) -> bool:
    """Return whether these are the rows of the fit; warn where many of them are."""
    record = getattr(estimator, "_record", None)
    if record is None:
        return False
    used = slice(None) if weight is None else weight != 0.0
    X, y = rows[used], targets[used]
    if hash_table([field.name for field in estimator._fields], X, y) == record["fingerprint"]:
        return True
    seen = count_seen(record, X, y)
    if seen is None or seen <= _MANY_SEEN * len(X):
        return False
    if seen == len(X) == record["rows"]:  # in another order
        return True
    warnings.warn(
        f"{seen} of {len(X)} rows to calibrate on are rows of training: intervals and sets may be "
        "too small; calibrate on new rows, or on all those of training",
        NewronWarning,
        stacklevel=4,
    )
    return False
