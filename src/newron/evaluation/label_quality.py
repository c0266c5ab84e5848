"""How good predictions of several labels are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from newron.errors import InputError
from newron.evaluation.intervals import estimate_mean, estimate_proportion
from newron.evaluation.quality import ClassificationQuality, measure_classification
from newron.model.result import Estimate, Result

_MIN_PROBABILITY = 1e-15


@dataclass(frozen=True)
class LabelQuality(Result):
    """How good predicted labels are.

    Attributes
    ----------
    n_rows : int
    subset_accuracy : Estimate
        The proportion of rows of which all labels are right.
    constant_accuracy : Estimate
        The same of the most frequent labels of these rows, predicted always.
    label_accuracy : Estimate
        The proportion of labels that are right.
    log_loss : Estimate
        The mean over the labels.
    labels : dict of str to ClassificationQuality
        Each label by itself: 0 not there, 1 there.

    Examples
    --------
    >>> found = measure_labels([[0, 1], [1, 1]], [[0.2, 0.9], [0.4, 0.8]], ["funny", "sad"])
    >>> found.subset_accuracy.value, found.label_accuracy.value
    (0.5, 0.75)
    """

    n_rows: int
    subset_accuracy: Estimate
    constant_accuracy: Estimate
    label_accuracy: Estimate
    log_loss: Estimate
    labels: Mapping[str, ClassificationQuality] = field(hash=False)


def measure_labels(
    truth: ArrayLike, probability: ArrayLike, names: Sequence[str] | None = None
) -> LabelQuality:
    """Measure predicted labels against the true ones.

    Parameters
    ----------
    truth : array-like of shape (n_rows, n_labels)
        1 where a row has a label, otherwise 0.
    probability : array-like of shape (n_rows, n_labels)
        Of each label; from 0.5 on it is predicted.
    names : sequence of str, optional
        Of the labels.

    Returns
    -------
    LabelQuality

    Examples
    --------
    >>> found = measure_labels([[0, 1], [1, 1]], [[0.2, 0.9], [0.4, 0.8]])
    >>> found.labels["y1"].accuracy.value
    0.5
    """
    true, soft = np.asarray(truth, np.float64), np.asarray(probability, np.float64)
    if true.ndim != 2 or true.shape != soft.shape or not np.isin(true, (0.0, 1.0)).all():
        raise InputError(
            f"expected 0 or 1 for each row and label, and probabilities of the same shape, got "
            f"shapes {true.shape} and {soft.shape}"
        )
    known = [f"y{k + 1}" for k in range(true.shape[1])] if names is None else list(names)
    right = (soft >= 0.5) == (true == 1.0)
    own = np.clip(np.where(true == 1.0, soft, 1.0 - soft), _MIN_PROBABILITY, 1.0)
    counts = np.unique(true, axis=0, return_counts=True)[1]
    n = len(true)
    return LabelQuality(
        n_rows=n,
        subset_accuracy=estimate_proportion(int(right.all(axis=1).sum()), n),
        constant_accuracy=estimate_proportion(int(counts.max()), n),
        label_accuracy=estimate_mean(right.mean(axis=1), low=0.0, high=1.0),
        log_loss=estimate_mean(-np.log(own).mean(axis=1), low=0.0),
        labels={
            name: measure_classification(t, p >= 0.5, np.column_stack([1.0 - p, p]), n_classes=2)
            for name, t, p in zip(known, true.T, soft.T, strict=True)
        },
    )
