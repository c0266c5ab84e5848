"""One trial of an estimator: fit on the rows of a fold, score on the others."""

from __future__ import annotations

import inspect
import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._indexing import _safe_indexing

from newron.errors import TrainingError
from newron.model.arithmetic import Floats
from newron.search.exploration import Outcome


class Fold(NamedTuple):
    """The weights of all rows for fitting, 0 for validation rows; these, and their weights."""

    inside: Floats
    outside: NDArray[np.intp]
    weight: Floats | None


def make_fold(
    inside: NDArray[np.intp], outside: NDArray[np.intp], n_rows: int, weight: Floats | None
) -> Fold:
    """Make a fold of row numbers; a row that is named twice counts twice.

    >>> make_fold(np.array([0, 2]), np.array([1, 3]), 4, None).inside
    array([1., 0., 1., 0.])
    """
    counts = np.bincount(inside, minlength=n_rows).astype(np.float64)
    if weight is None:
        return Fold(counts, outside, None)
    return Fold(counts * weight, outside, weight[outside])


def evaluate_trial(
    estimator: Any,
    X: Any,
    y: Any,
    scorer: Any,
    inside: Floats,
    outside: NDArray[np.intp],
    weight: Floats | None,
) -> Outcome:
    """Fit and score an estimator on a fold.

    The validation rows are given to fit too, without weight: so all trials share one table
    and nobody copies it.
    """
    start = time.perf_counter()
    try:
        estimator.fit(X, y, sample_weight=inside)
    except TrainingError:
        return Outcome(math.nan, time.perf_counter() - start, 0.0)
    if estimator._fitted.interrupted:
        raise KeyboardInterrupt  # what the estimator took for itself was meant for the search
    fitted = time.perf_counter()
    weights = {} if weight is None else {"sample_weight": weight}
    rows, targets = _safe_indexing(X, outside), _safe_indexing(y, outside)
    score = float(scorer(estimator, rows, targets, **weights))
    return Outcome(score, fitted - start, time.perf_counter() - fitted)


def takes_weight(scorer: Any) -> bool:
    """Return whether a scorer can weigh rows.

    >>> from sklearn.metrics import get_scorer
    >>> takes_weight(get_scorer("f1")), takes_weight(get_scorer("rand_score"))
    (True, False)
    """
    measure = getattr(scorer, "_score_func", scorer)
    return "sample_weight" in inspect.signature(measure).parameters
