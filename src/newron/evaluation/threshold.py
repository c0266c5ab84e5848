"""Where to draw the line between two classes, and what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.evaluation.intervals import Floats, estimate_proportion
from newron.model.result import Estimate, Result


@dataclass(frozen=True)
class ThresholdQuality(Result):
    """What follows from predicting the second class from a probability on.

    Attributes
    ----------
    threshold : float
        The second class is predicted from this probability on.
    found, missed, alarms, spared : int
        Rows of the second class that are found and missed; of the first class, those that are
        taken for the second, and those that are not.
    sensitivity, specificity : Estimate or None
        The proportions of the second and of the first class that are predicted as such; None
        where a class has no rows.
    positive_value, negative_value : Estimate or None
        The proportions of right predictions of the second and of the first class; None where
        there are no such predictions.

    Examples
    --------
    >>> found = measure_threshold([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], 0.5)
    >>> found.found, found.missed, found.alarms, found.spared
    (1, 1, 1, 1)
    """

    threshold: float
    found: int
    missed: int
    alarms: int
    spared: int
    sensitivity: Estimate | None
    specificity: Estimate | None
    positive_value: Estimate | None
    negative_value: Estimate | None


def measure_threshold(
    truth: ArrayLike, probability: ArrayLike, threshold: float
) -> ThresholdQuality:
    """Measure what a threshold does on rows of which the truth is known.

    Parameters
    ----------
    truth : array-like of int, shape (n,)
        1 for the second class, 0 for the first.
    probability : array-like of shape (n,)
        Of the second class.
    threshold : float
        From 0 to 1.

    Returns
    -------
    ThresholdQuality

    Examples
    --------
    >>> measure_threshold([0, 1, 1], [0.1, 0.4, 0.9], 0.4).sensitivity.value
    1.0
    """
    _check_probability("threshold", threshold)
    true, positive = np.asarray(truth) == 1, np.asarray(probability, np.float64) >= threshold
    found, missed = int((true & positive).sum()), int((true & ~positive).sum())
    alarms, spared = int((~true & positive).sum()), int((~true & ~positive).sum())
    return ThresholdQuality(
        float(threshold),
        found,
        missed,
        alarms,
        spared,
        _estimate(found, missed),
        _estimate(spared, alarms),
        _estimate(found, alarms),
        _estimate(spared, missed),
    )


def _estimate(right: int, wrong: int) -> Estimate | None:
    return estimate_proportion(right, right + wrong) if right + wrong else None


def choose_threshold(
    truth: ArrayLike,
    probability: ArrayLike,
    *,
    sensitivity: float | None = None,
    costs: tuple[float, float] | None = None,
) -> float:
    """Choose the threshold that reaches a sensitivity, or that costs the least.

    What is chosen on some rows looks a little better on them than on others: measure it on rows
    that it was not chosen on.

    Parameters
    ----------
    truth : array-like of int, shape (n,)
        1 for the second class, 0 for the first.
    probability : array-like of shape (n,)
        Of the second class.
    sensitivity : float, optional
        The fraction of the second class that must be found at least; of all thresholds that find
        it, the highest is chosen.
    costs : pair of float, optional
        Of a missed row of the second class, and of a false alarm.

    Returns
    -------
    float
        In as few digits as predict the same classes of these rows.

    Examples
    --------
    >>> truth, probability = [0, 0, 1, 1], [0.1, 0.62, 0.47, 0.93]
    >>> choose_threshold(truth, probability, sensitivity=1.0)
    0.4
    >>> choose_threshold(truth, probability, costs=(1, 5))
    0.9
    """
    if (sensitivity is None) == (costs is None):
        raise InputError("expected a sensitivity or costs, got both or neither")
    true, values = np.asarray(truth) == 1, np.asarray(probability, np.float64)
    if not true.any() or true.all():
        raise InputError("expected rows of both classes to choose a threshold on, got one alone")
    cuts = np.unique(np.append(values, 1.0))
    at = (
        _reach(true, values, cuts, sensitivity)
        if costs is None
        else _save(true, values, cuts, costs)
    )
    return _shorten(cuts[at - 1] if at else -math.inf, cuts[at])


def _reach(true: NDArray[np.bool_], values: Floats, cuts: Floats, sensitivity: float | None) -> int:
    assert sensitivity is not None  # noqa: S101 - the caller looked
    _check_probability("sensitivity", sensitivity)
    ranked = np.sort(values[true])[::-1]
    needed = max(math.ceil(sensitivity * len(ranked) - 1e-9), 1)
    return int(np.searchsorted(cuts, ranked[needed - 1]))


def _save(true: NDArray[np.bool_], values: Floats, cuts: Floats, costs: tuple[float, float]) -> int:
    if min(costs) < 0 or not max(costs) > 0:
        raise InputError(f"costs: expected two numbers from 0 on, got {costs}")
    missed = np.searchsorted(np.sort(values[true]), cuts)
    alarms = (~true).sum() - np.searchsorted(np.sort(values[~true]), cuts)
    total = costs[0] * missed + costs[1] * alarms
    best = np.flatnonzero(total == total.min())
    return int(best[np.argmin(np.abs(cuts[best] - 0.5))])


def _check_probability(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name}: expected a number from 0 to 1, got {value}")


def _shorten(low: float, high: float) -> float:
    """Return the number of fewest digits above ``low`` and not above ``high``.

    >>> _shorten(0.6, 0.7341), _shorten(0.73, 0.7341)
    (0.7, 0.734)
    """
    for digits in range(1, 17):
        value = float(math.floor(high * 10**digits) / 10**digits)
        if low < value <= high:
            return value
    return float(high)
