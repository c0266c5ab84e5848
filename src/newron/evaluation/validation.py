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
from newron.evaluation.measurement import find_date, list_scores
from newron.evaluation.quality import (
    ClassificationQuality,
    RegressionQuality,
    measure_classification,
    measure_regression,
)
from newron.evaluation.splits import Split, choose_plan, make_splits
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
    qualities : dict of str to ClassificationQuality or RegressionQuality
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
    qualities: dict[str, ClassificationQuality | RegressionQuality]
    seed: int | None = None
    fingerprint: str = ""

    @property
    def quality(self) -> ClassificationQuality | RegressionQuality:
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
        return Measurement(
            protocol="cross-validation" if folds else "test rows",
            n_rows=self.n_rows,
            scores=dict(zip(names, map(list_scores, self.qualities.values()), strict=True)),
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
) -> Evaluation:
    """Measure an estimator on rows that it is not trained on, beside baselines.

    Parameters
    ----------
    estimator : classifier or regressor
        Of scikit-learn's kind; it is cloned.
    X : data frame, 2-d array or list of rows
    y : array-like of shape (n,)
    n_folds, test_size : int, float, optional
        At most one of them; see :func:`choose_plan` for the default.
    seed : int
        Of the splits.
    baselines : bool
        Whether a constant and a linear model are measured too.

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

    classification = is_classifier(estimator)
    plan = choose_plan(y, classification=classification, n_folds=n_folds, test_size=test_size)
    if not plan:
        n = len(np.asarray(y))
        raise InputError(f"expected rows to validate on, got {n} rows, too few; set n_folds")
    splits = make_splits(y, plan, seed, stratify=classification)
    models = {MODEL: estimator}
    if baselines:
        models |= make_baselines(X, classification=classification)
    found = evaluate(cross_predict(models, X, y, splits))
    categorical = getattr(estimator, "categorical_features", "from_dtype")
    return replace(found, seed=seed, fingerprint=_fingerprint(X, y, categorical, found.labels))


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
            fitted = _fit(clone(estimator), _take_rows(X, train), target)
            parts[name].append(_predict(fitted, _take_rows(X, test), labels))
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


def _take_rows(X: Any, index: NDArray[np.intp]) -> Any:
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[index].to_native()
    return [X[i] for i in index] if isinstance(X, list | tuple) else X[index]


def _fit(estimator: Any, X: Any, y: Any) -> Any:
    from sklearn.base import is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.exceptions import ConvergenceWarning

    values = np.asarray(y)
    if is_classifier(estimator) and len(np.unique(values)) < 2:
        estimator = DummyClassifier(strategy="prior")
    elif len(values) < 2:
        estimator = DummyRegressor(strategy="median")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a baseline
        return estimator.fit(X, y)


def _predict(fitted: Any, X: Any, labels: NDArray[Any] | None) -> _Part:
    """Return predictions, and probabilities of all labels, of a model that may know fewer."""
    predicted = np.asarray(fitted.predict(X))
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
    qualities: dict[str, ClassificationQuality | RegressionQuality] = {}
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
