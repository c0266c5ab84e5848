"""Whether predicted probabilities come true as often as they promise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.evaluation.intervals import estimate_mean, estimate_proportion
from newron.model.result import Estimate, Result

_MAX_BINS, _ROWS_PER_BIN = 10, 20


@dataclass(frozen=True)
class CalibrationBin(Result):
    """Rows of about the same predicted probability.

    - ``probability``: The mean of their predicted probabilities.
    - ``n_rows``, ``n_true``: How many there are, and in how many the event happened.

    >>> CalibrationBin(probability=0.3, n_rows=10, n_true=4).observed.value
    0.4
    """

    probability: float
    n_rows: int
    n_true: int

    @property
    def observed(self) -> Estimate:
        """The proportion of rows in which the event happened."""
        return estimate_proportion(self.n_true, self.n_rows)


@dataclass(frozen=True)
class Calibration(Result):
    """How well probabilities of an event are calibrated.

    Attributes
    ----------
    bins : tuple of CalibrationBin
        The points of the reliability diagram, by rising probability.
    brier : Estimate
        The mean squared difference of probability and event.
    expected_error : float
        The mean difference of predicted and observed proportion, each bin weighing as many
        rows as it has (expected calibration error).

    Examples
    --------
    >>> measure_calibration([0, 1] * 20, [0.5] * 40).expected_error
    0.0
    """

    bins: tuple[CalibrationBin, ...]
    brier: Estimate
    expected_error: float


def measure_calibration(events: ArrayLike, probabilities: ArrayLike) -> Calibration:
    """Compare predicted probabilities with what happened.

    Parameters
    ----------
    events : array-like of bool, shape (n,)
        Whether the event happened, e.g. the row is of the second class.
    probabilities : array-like of shape (n,)
        Its predicted probability.

    Returns
    -------
    Calibration
        With up to ten bins of equal counts, of at least 20 rows each; probabilities of few
        values have a bin for each value.

    Examples
    --------
    >>> found = measure_calibration([0, 1, 1, 0] * 10, [0.2, 0.7, 0.7, 0.2] * 10)
    >>> round(found.brier.value, 3), round(found.expected_error, 3), len(found.bins)
    (0.065, 0.25, 2)
    """
    event, probability = np.asarray(events, bool), np.asarray(probabilities, np.float64)
    bins = tuple(
        CalibrationBin(float(probability[part].mean()), int(part.sum()), int(event[part].sum()))
        for part in group_rows(probability)
    )
    errors = [one.n_rows * abs(one.observed.value - one.probability) for one in bins]
    brier = estimate_mean((probability - event) ** 2, low=0.0, high=1.0)
    return Calibration(bins, brier, sum(errors) / len(event) if len(event) else 0.0)


def group_rows(probability: NDArray[np.float64]) -> list[NDArray[np.bool_]]:
    """Return masks of rows of about the same probability, by rising probability."""
    values = np.unique(probability)
    n_bins = max(min(_MAX_BINS, len(probability) // _ROWS_PER_BIN), 1)
    if len(values) <= n_bins:
        return [probability == value for value in values]
    edges = np.unique(np.quantile(probability, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
    group = np.searchsorted(edges, probability, side="right")
    return [group == g for g in range(len(edges) + 1) if (group == g).any()]
