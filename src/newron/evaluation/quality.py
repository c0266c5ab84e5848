"""How good predictions are on rows of which the truth is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.evaluation.calibration import Calibration, measure_calibration
from newron.evaluation.intervals import (
    Floats,
    average_proportions,
    bootstrap_means,
    estimate_auc,
    estimate_mean,
    estimate_proportion,
)
from newron.model.output import Classes, Output, Targets
from newron.model.result import Estimate, Result

_MIN_PROBABILITY = 1e-15


@dataclass(frozen=True)
class ClassificationQuality(Result):
    """How good predicted classes are.

    Attributes
    ----------
    n_rows, n_correct : int
    accuracy : Estimate
        The proportion of rows whose class is predicted.
    majority : int
        The number of the most frequent class of these rows.
    majority_accuracy : Estimate
        The accuracy of predicting it always.
    balanced_accuracy : Estimate
        The mean recall of the classes.
    recalls : tuple of Estimate or None
        For each class the proportion of its rows that are found; None if it has no rows.
    confusion : tuple of tuples of int
        Counts by true class (outer) and predicted class (inner).
    log_loss : Estimate or None
        None without probabilities, as the next two.
    auc : Estimate or None
        The area under the ROC curve; of several classes the mean of each against the rest.
        None as well where all rows are of one class.
    calibration : Calibration or None
        Of the second of two classes; of several, of the predicted class.
    exhaustive : bool
        Whether the rows are all possible inputs: then nothing is estimated.

    Examples
    --------
    >>> found = measure_classification([0, 1, 1, 1], [0, 1, 1, 0])
    >>> found.accuracy.value, found.majority_accuracy.value
    (0.75, 0.75)
    """

    n_rows: int
    n_correct: int
    accuracy: Estimate
    majority: int
    majority_accuracy: Estimate
    balanced_accuracy: Estimate
    recalls: tuple[Estimate | None, ...]
    confusion: tuple[tuple[int, ...], ...]
    log_loss: Estimate | None = None
    auc: Estimate | None = None
    calibration: Calibration | None = None
    exhaustive: bool = False


@dataclass(frozen=True)
class RegressionQuality(Result):
    """How near predicted values are.

    Attributes
    ----------
    name : str
        Of the target.
    n_rows : int
    r2 : Estimate or None
        The explained part of the variance; None where the truth does not vary.
    mae, rmse : Estimate
        Mean absolute error, and root of the mean squared error.
    median_mae : Estimate
        The mean absolute error of predicting the median of these rows always.
    d2 : Estimate or None
        The fraction of the best constant's loss that predictions save, where the objective has
        another loss than the squared error.

    Examples
    --------
    >>> found = measure_regression([1.0, 3.0, 5.0], [2.0, 3.0, 4.5])
    >>> found.mae.value, round(found.median_mae.value, 3)
    (0.5, 1.333)
    """

    name: str
    n_rows: int
    r2: Estimate | None
    mae: Estimate
    rmse: Estimate
    median_mae: Estimate
    d2: Estimate | None = None


def measure_classification(
    truth: ArrayLike,
    predicted: ArrayLike,
    probabilities: ArrayLike | None = None,
    *,
    n_classes: int | None = None,
    scores: ArrayLike | None = None,
    exhaustive: bool = False,
) -> ClassificationQuality:
    """Measure predicted classes against the true ones.

    Parameters
    ----------
    truth, predicted : array-like of int, shape (n,)
        The numbers of the classes, from 0 on.
    probabilities : array-like of shape (n, classes), optional
    n_classes : int, optional
        By default as many as the probabilities have, or as numbers that occur.
    scores : array-like of shape (n,), optional
        What ranks the rows of two classes, by default the probability of the second.
    exhaustive : bool
        Whether the rows are all possible inputs.

    Returns
    -------
    ClassificationQuality

    Examples
    --------
    >>> probabilities = [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]]
    >>> found = measure_classification([0, 1, 0, 0], [0, 1, 1, 0], probabilities)
    >>> found.accuracy.value, found.auc.value, found.confusion
    (0.75, 1.0, ((2, 1), (0, 1)))
    """
    true, chosen = np.asarray(truth, np.intp), np.asarray(predicted, np.intp)
    proba = None if probabilities is None else np.asarray(probabilities, np.float64)
    if n_classes is None:
        n_classes = int(max(true.max(), chosen.max())) + 1 if proba is None else proba.shape[1]
    confusion = np.zeros((n_classes, n_classes), np.intp)
    np.add.at(confusion, (true, chosen), 1)
    sizes, n = confusion.sum(axis=1), len(true)
    recalls = tuple(
        estimate_proportion(int(confusion[c, c]), int(sizes[c])) if sizes[c] else None
        for c in range(n_classes)
    )
    soft: dict[str, object] = {}
    if proba is not None:
        soft = {
            "log_loss": _measure_log_loss(true, proba),
            "auc": _measure_auc(true, proba, scores),
            "calibration": _measure_calibration(true, chosen, proba),
        }
    return ClassificationQuality(
        n_rows=n,
        n_correct=int(np.trace(confusion)),
        accuracy=estimate_proportion(int(np.trace(confusion)), n),
        majority=int(sizes.argmax()),
        majority_accuracy=estimate_proportion(int(sizes.max()), n),
        balanced_accuracy=average_proportions([r for r in recalls if r is not None]),
        recalls=recalls,
        confusion=tuple(tuple(map(int, row)) for row in confusion),
        exhaustive=exhaustive,
        **soft,  # type: ignore[arg-type]
    )


@overload
def measure_scores(
    output: Classes, scores: Floats, truth: NDArray[Any], *, exhaustive: bool = ...
) -> ClassificationQuality: ...


@overload
def measure_scores(
    output: Targets, scores: Floats, truth: NDArray[Any], *, exhaustive: bool = ...
) -> list[RegressionQuality]: ...


def measure_scores(
    output: Output, scores: Floats, truth: NDArray[Any], *, exhaustive: bool = False
) -> ClassificationQuality | list[RegressionQuality]:
    """Measure a model's scores of rows; ``truth`` as :func:`newron.model.output.read_targets`."""
    if isinstance(output, Classes):
        return measure_classification(
            truth,
            output.choose(scores),
            output.predict_proba(scores),
            scores=scores[:, 0] if len(output.labels) == 2 else None,
            exhaustive=exhaustive,
        )
    predicted = output.transform(scores)
    return [
        measure_regression(truth[:, k], predicted[:, k], name=name)
        for k, name in enumerate(output.names)
    ]


def _measure_log_loss(truth: NDArray[np.intp], probabilities: Floats) -> Estimate:
    own = probabilities[np.arange(len(truth)), truth]
    return estimate_mean(-np.log(np.clip(own, _MIN_PROBABILITY, 1.0)), low=0.0)


def _measure_auc(
    truth: NDArray[np.intp], probabilities: Floats, scores: ArrayLike | None
) -> Estimate | None:
    from sklearn.metrics import roc_auc_score

    if probabilities.shape[1] == 2:
        ranking = probabilities[:, 1] if scores is None else np.asarray(scores, np.float64)
        pairs = [(ranking, truth == 1)]
    else:
        pairs = [(probabilities[:, c], truth == c) for c in range(probabilities.shape[1])]
    parts = [
        estimate_auc(float(roc_auc_score(own, score)), int(own.sum()), int((~own).sum()))
        for score, own in pairs
        if own.any() and not own.all()
    ]
    if not parts:
        return None
    # The classes share their rows: their limits are taken to go up and down together.
    sums = np.sum([(part.value, part.low, part.high) for part in parts], axis=0)
    return Estimate(*(float(x) / len(parts) for x in sums))


def _measure_calibration(
    truth: NDArray[np.intp], predicted: NDArray[np.intp], probabilities: Floats
) -> Calibration:
    if probabilities.shape[1] == 2:
        return measure_calibration(truth == 1, probabilities[:, 1])
    own = probabilities[np.arange(len(predicted)), predicted]
    return measure_calibration(truth == predicted, own)


def measure_regression(
    truth: ArrayLike, predicted: ArrayLike, *, name: str = "y"
) -> RegressionQuality:
    """Measure predicted values of one target against the true ones.

    Parameters
    ----------
    truth, predicted : array-like of shape (n,)
    name : str
        Of the target.

    Returns
    -------
    RegressionQuality

    Examples
    --------
    >>> found = measure_regression([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 2.5, 4.0])
    >>> found.r2.value, found.mae.value, round(found.rmse.value, 3), found.median_mae.value
    (0.9, 0.25, 0.354, 1.0)
    """
    true, chosen = np.asarray(truth, np.float64), np.asarray(predicted, np.float64)
    error, deviation = chosen - true, true - true.mean()
    columns = np.stack([error**2, deviation, deviation**2], axis=1)

    def find_r2(means: Floats) -> float:
        variance = means[2] - means[1] ** 2
        return float(1.0 - means[0] / variance) if variance > 0.0 else math.nan

    def find_rmse(means: Floats) -> float:
        return math.sqrt(max(means[0], 0.0))

    r2, rmse = bootstrap_means(columns, [find_r2, find_rmse])
    return RegressionQuality(
        name=name,
        n_rows=len(true),
        r2=None if math.isnan(r2.value) else r2,
        mae=estimate_mean(np.abs(error), low=0.0),
        rmse=rmse,
        median_mae=estimate_mean(np.abs(true - np.median(true)), low=0.0),
    )
