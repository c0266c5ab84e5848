"""Predictions of rows that a model was not trained on, and how good they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.evaluation.baselines import make_baselines
from newron.evaluation.indicator import read_indicator
from newron.evaluation.label_quality import LabelQuality
from newron.evaluation.measurement import (
    CONSTANT,
    Quality,
    find_date,
    list_constant,
    list_scores,
)
from newron.evaluation.quality import (
    measure_classification,
    measure_regression,
)
from newron.evaluation.splits import Split, choose_plan, make_splits
from newron.evaluation.survival import SurvivalQuality
from newron.evaluation.task_validation import take_rows, validate_labels, validate_survival
from newron.evaluation.times import read_times
from newron.model import Measurement
from newron.model.measurement import MODEL
from newron.model.result import Result
from newron.tables.fingerprint import hash_table
from newron.tables.table import EncodedTable, Target, encode


@dataclass(frozen=True)
class Predictions:
    """What models predict of rows that they were not trained on.

    Attributes
    ----------
    index : array of int
        The rows, in the order of their prediction.
    truth : array
        The true values of these rows; of classes their numbers among ``labels``.
    labels : tuple or None
        The classes, ascending; None for regression.
    predicted : dict of str to array
        By the name of the model, as ``truth``.
    probabilities : dict of str to array of shape (rows, classes)
        Of the models that have some.
    n_splits : int
    fitted : object
        The model that the last split trained.

    Examples
    --------
    >>> truth = np.array([0, 1, 1])
    >>> found = Predictions(np.arange(3), truth, ("no", "yes"), {"model": truth}, {}, 1)
    >>> evaluate(found).quality.n_correct
    3
    """

    index: NDArray[np.intp]
    truth: NDArray[Any]
    labels: tuple[Any, ...] | None
    predicted: dict[str, NDArray[Any]]
    probabilities: dict[str, NDArray[np.float64]]
    n_splits: int
    fitted: Any = None


@dataclass(frozen=True)
class Evaluation(Result):
    """How good a model and its baselines are on the same validation rows.

    Attributes
    ----------
    n_rows : int
        Validation rows.
    n_splits : int
        Folds; 1 for a single test part.
    labels : tuple or None
        The classes; None for regression.
    qualities : dict of str to ClassificationQuality, RegressionQuality and the like
        "model" first, then the baselines.
    seed : int or None
        Of the splits, where that is known.
    fingerprint : str
        The SHA-256 of the table, where that is known.

    Examples
    --------
    >>> truth = np.array([1.0, 2.0])
    >>> found = evaluate(Predictions(np.arange(2), truth, None, {"model": truth}, {}, 1))
    >>> found.n_rows, list(found.qualities)
    (2, ['model'])
    """

    n_rows: int
    n_splits: int
    labels: tuple[Any, ...] | None
    qualities: dict[str, Any]
    seed: int | None = None
    fingerprint: str = ""

    @property
    def quality(self) -> Any:
        """That of the model itself."""
        return next(iter(self.qualities.values()))

    def to_measurement(self, *, source: str = "", n_trained: int | None = None) -> Measurement:
        """Return what a model's file keeps of it, for :meth:`newron.Model.attach`.

        Parameters
        ----------
        source : str
            The name of the table.
        n_trained : int, optional
            The rows that the model was trained on, where that is known.

        Returns
        -------
        Measurement
        """
        folds = self.n_splits > 1
        names = [MODEL, *list(self.qualities)[1:]]
        scores = dict(zip(names, map(list_scores, self.qualities.values()), strict=True))
        if isinstance(self.quality, LabelQuality | SurvivalQuality):
            scores[CONSTANT] = list_constant(self.quality)
        return Measurement(
            protocol="cross-validation" if folds else "test rows",
            n_rows=self.n_rows,
            scores=scores,
            n_folds=self.n_splits if folds else 0,
            n_trained=n_trained,
            seed=self.seed,
            source=source,
            fingerprint=self.fingerprint,
            date=find_date(),
        )


def cross_validate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_folds: int | None = None,
    test_size: float | None = None,
    seed: int = 0,
    baselines: bool = True,
    offset: ArrayLike | None = None,
) -> Evaluation:
    """Measure an estimator on rows that it is not trained on, beside baselines.

    Parameters
    ----------
    estimator : classifier or regressor
        Of scikit-learn's kind, or of survival, of scikit-survival's; it is cloned.
    X : data frame, 2-d array or list of rows
    y : array-like of shape (n,)
        Of several labels a matrix of 0 and 1, of survival events and times.
    n_folds, test_size : int, float, optional
        At most one of them; see :func:`choose_plan` for the default.
    seed : int
        Of the splits.
    baselines : bool
        Whether a constant and a linear model are measured too; not of labels and survival.
    offset : array-like of shape (n,), optional
        What the estimator's ``fit`` and ``predict`` add to the score of each row; baselines do
        without it.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from newron import datasets
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> table = datasets.load("iris")
    >>> found = cross_validate(DecisionTreeClassifier(random_state=0), table.X, table.y)
    >>> for name, quality in found.qualities.items():
    ...     print(f"{name}: {quality.accuracy.value:.3f}")
    model: 0.933
    logistic regression: 0.960
    constant: 0.333
    """
    from sklearn.base import is_classifier

    task = _cross_validate_task(estimator, X, y, n_folds, test_size, seed)
    if task is not None:
        if offset is not None:
            raise InputError("offset: expected a regressor, got another estimator")
        return task
    classification = is_classifier(estimator)
    splits = _split_rows(y, n_folds, test_size, seed, stratify=classification)
    models = {MODEL: estimator}
    if baselines:
        models |= make_baselines(X, classification=classification)
    found = evaluate(cross_predict(models, X, y, splits, offset=offset))
    categorical = getattr(estimator, "categorical_features", "from_dtype")
    return replace(found, seed=seed, fingerprint=_fingerprint(X, y, categorical, found.labels))


def _cross_validate_task(
    estimator: Any, X: Any, y: Any, n_folds: int | None, test_size: float | None, seed: int
) -> Evaluation | None:
    """Measure labels or survival; None where the task is another one."""
    from sklearn.base import is_classifier

    quality: LabelQuality | SurvivalQuality
    if hasattr(estimator, "predict_survival_function"):
        n = len(X) if not hasattr(X, "shape") else X.shape[0]
        times = read_times(y, n)
        splits = _split_rows(times.event, n_folds, test_size, seed, stratify=True)
        quality = validate_survival(estimator, X, times, splits)
    elif is_classifier(estimator) and (labels := read_indicator(y)) is not None:
        # Folds keep the proportions of how many labels a row has, as far as they can.
        counts = labels.values.sum(axis=1)
        splits = _split_rows(counts, n_folds, test_size, seed, stratify=False)
        quality = validate_labels(estimator, X, labels, splits)
    else:
        return None
    return Evaluation(quality.n_rows, len(splits), None, {MODEL: quality}, seed)


def _split_rows(
    y: ArrayLike, n_folds: int | None, test_size: float | None, seed: int, *, stratify: bool
) -> list[Split]:
    plan = choose_plan(y, classification=stratify, n_folds=n_folds, test_size=test_size)
    if not plan:
        raise InputError(
            f"expected rows to validate on, got {len(np.asarray(y))} rows, too few; set n_folds"
        )
    return make_splits(y, plan, seed, stratify=stratify)


def _fingerprint(X: Any, y: Any, categorical: Any, labels: tuple[Any, ...] | None) -> str:
    """Return the fingerprint that an estimator of this table has."""
    table = X if isinstance(X, EncodedTable) else encode(X, categorical)
    values = np.asarray(y)
    if labels is not None:
        order = y.labels if isinstance(y, Target) and y.labels is not None else labels
        codes = {label: code for code, label in enumerate(order)}
        values = np.array([codes[label] for label in values.tolist()])
    return hash_table(table.names, table.rows, values)


def cross_predict(
    estimators: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    splits: Sequence[Split],
    on_split: Callable[[int, int], None] | None = None,
    *,
    offset: ArrayLike | None = None,
) -> Predictions:
    """Train each estimator on each split and predict its validation rows.

    Where the training rows have one class alone, or where there is but one, that is predicted.

    Parameters
    ----------
    estimators : mapping of str to classifier or regressor
        All of one kind; they are cloned.
    X : data frame, 2-d array or list of rows
    y : array-like of shape (n,)
    splits : sequence of Split
        Pairs of the rows to train on and those to predict, as scikit-learn's splitters make them.
    on_split : callable, optional
        Called with the number of splits that are done, and of all.
    offset : array-like of shape (n,), optional
        What the first estimator adds to the score of each row.

    Returns
    -------
    Predictions

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.model_selection import KFold
    >>> y = [1.0, 2.0, 3.0, 4.0]
    >>> folds = list(KFold(2).split(y))
    >>> found = cross_predict({"mean": DummyRegressor()}, [[0.0]] * 4, y, folds)
    >>> found.index, found.truth, found.predicted["mean"]
    (array([0, 1, 2, 3]), array([1., 2., 3., 4.]), array([3.5, 3.5, 1.5, 1.5]))
    """
    from sklearn.base import clone, is_classifier

    first = next(iter(estimators.values()))
    report = on_split or (lambda *_: None)
    added = None if offset is None else np.asarray(offset, np.float64)
    true = values = np.asarray(y)
    labels = None
    if is_classifier(first):
        labels, values = np.unique(true, return_inverse=True)
    parts: dict[str, list[_Part]] = {name: [] for name in estimators}
    kept = None
    for number, (train, test) in enumerate(splits):
        report(number, len(splits))
        for name, estimator in estimators.items():
            target = y[train] if isinstance(y, Target) else true[train]
            own = added if estimator is first else None
            fitted = _fit(clone(estimator), take_rows(X, train), target, _take_offset(own, train))
            rows, more = take_rows(X, test), _take_offset(own, test)
            parts[name].append(_predict(fitted, rows, labels, more))
            kept = fitted if estimator is first else kept
    report(len(splits), len(splits))
    order = np.concatenate([test for _, test in splits])
    return Predictions(
        index=order,
        truth=values[order],
        labels=None if labels is None else tuple(labels.tolist()),
        predicted={name: np.concatenate([p for p, _ in each]) for name, each in parts.items()},
        probabilities={
            name: np.concatenate([p for _, p in each if p is not None])
            for name, each in parts.items()
            if each[0][1] is not None
        },
        n_splits=len(splits),
        fitted=kept,
    )


_Part = tuple[NDArray[Any], NDArray[np.float64] | None]


def _take_offset(offset: NDArray[np.float64] | None, rows: NDArray[np.intp]) -> dict[str, Any]:
    return {} if offset is None else {"offset": offset[rows]}


def _fit(estimator: Any, X: Any, y: Any, more: Mapping[str, Any]) -> Any:
    from sklearn.base import is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.exceptions import ConvergenceWarning

    values = np.asarray(y)
    if is_classifier(estimator) and len(np.unique(values)) < 2:
        estimator = DummyClassifier(strategy="prior")
    elif len(values) < 2:
        estimator, more = DummyRegressor(strategy="median"), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a baseline
        return estimator.fit(X, y, **more)


def _predict(fitted: Any, X: Any, labels: NDArray[Any] | None, more: Mapping[str, Any]) -> _Part:
    """Return predictions, and probabilities of all labels, of a model that may know fewer."""
    predicted = np.asarray(fitted.predict(X, **more))
    if labels is None:
        return predicted, None
    codes = np.searchsorted(labels, predicted)
    if not hasattr(fitted, "predict_proba"):
        return codes, None
    probabilities = np.zeros((len(codes), len(labels)))
    probabilities[:, np.searchsorted(labels, fitted.classes_)] = fitted.predict_proba(X)
    return codes, probabilities


def evaluate(predictions: Predictions) -> Evaluation:
    """Measure predictions of validation rows.

    Parameters
    ----------
    predictions : Predictions
        From :func:`cross_predict`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> truth, predicted = np.array([1.0, 2.0]), {"model": np.array([1.0, 3.0])}
    >>> found = evaluate(Predictions(np.arange(2), truth, None, predicted, {}, 1))
    >>> found.quality.mae.value
    0.5
    """
    qualities: dict[str, Quality] = {}
    for name, predicted in predictions.predicted.items():
        if predictions.labels is None:
            qualities[name] = measure_regression(predictions.truth, predicted)
            continue
        qualities[name] = measure_classification(
            predictions.truth,
            predicted,
            predictions.probabilities.get(name),
            n_classes=len(predictions.labels),
        )
    n_rows = len(predictions.truth)
    return Evaluation(n_rows, predictions.n_splits, predictions.labels, qualities)
