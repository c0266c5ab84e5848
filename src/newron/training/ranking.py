"""Columns as ranks: what networks of steps are polished and grown on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.decimals import shortest_between
from newron.training.training_set import TrainingSet

Ranks = NDArray[np.uint16]

MAX_BINS = 65535


@dataclass(frozen=True)
class Ranking:
    """For each column, the least value of every bin and the greatest one.

    Categories have a bin each, and so have the gaps of a column that has some, as its
    last: these bins have no order.
    """

    lows: tuple[Floats, ...]
    highs: tuple[Floats, ...]
    n_categories: tuple[int, ...]
    gaps: tuple[bool, ...]
    fractions: tuple[Floats, ...]  # of the rows, by bin, missing values apart

    @cached_property
    def n_ordered(self) -> NDArray[np.int32]:
        """How many bins of numbers each column has."""
        return np.array([len(low) for low in self.lows], np.int32)

    @cached_property
    def n_free(self) -> NDArray[np.int32]:
        """How many bins without order each column has."""
        return np.array(self.n_categories, np.int32) + np.array(self.gaps, np.int32)

    @cached_property
    def n_bins(self) -> NDArray[np.int32]:
        """How many bins each column has."""
        return self.n_ordered + self.n_free

    def encode(self, X: Floats) -> Ranks:
        """Turn rows into ranks, of shape (columns, rows)."""
        out = np.empty((len(self.lows), len(X)), np.uint16)
        for c, cuts in enumerate(self._cuts()):
            column = X[:, c]
            gap = np.isnan(column)
            last = max(int(self.n_bins[c]) - 1, 0)
            if self.n_categories[c]:
                out[c] = np.where(gap, last, column).astype(np.uint16)
            else:
                out[c] = np.where(gap, last, np.searchsorted(cuts, column, side="right"))
        return out

    def _cuts(self) -> list[Floats]:
        # Between two bins, so that a row of other data falls to the nearer one; above
        # the lower bin also where no number lies between them.
        return [
            np.maximum(low[1:] - 0.5 * (low[1:] - high[:-1]), np.nextafter(high[:-1], np.inf))
            for low, high in zip(self.lows, self.highs, strict=True)
        ]

    def threshold(self, column: int, cut: int) -> float:
        """Return a short decimal between bin cut - 1 and bin cut."""
        low, high = float(self.highs[column][cut - 1]), float(self.lows[column][cut])
        found = shortest_between(low, high)
        return high if found is None else found

    def find_cut(self, column: int, w: float, b: float) -> int:
        """Return the first bin at or above b (w > 0), or the first above b."""
        middle = 0.5 * self.lows[column] + 0.5 * self.highs[column]
        if w > 0.0:
            return int(np.searchsorted(middle, b, side="left"))
        return int(np.searchsorted(middle, b, side="right"))


def learn_ranking(data: TrainingSet, max_bins: int = MAX_BINS) -> Ranking:
    """Cut each column into at most so many bins.

    Up to that many distinct values have a bin each. More are joined so that bins
    hold about the same sum of square roots of frequencies: rare values, such as
    the few large gains of a skewed column, keep more bins than quantiles would
    leave them.
    """
    lows, highs, gaps = [], [], []
    none = np.zeros(0)
    for column, field in zip(data.X.T, data.fields, strict=True):
        x = np.asarray(column, np.float64)
        missing = np.isnan(x)
        gaps.append(bool(missing.any()))
        if field.categories is not None:
            lows.append(none)
            highs.append(none)
            continue
        values, which = np.unique(x[~missing], return_inverse=True)
        counts = np.bincount(which, data.count[~missing], minlength=len(values))
        first, last = _join_values(counts, max_bins)
        lows.append(values[first])
        highs.append(values[last])
    categories = tuple(len(field.categories or ()) for field in data.fields)
    ranking = Ranking(tuple(lows), tuple(highs), categories, tuple(gaps), ())
    return replace(ranking, fractions=_find_fractions(ranking, data))


def _join_values(counts: NDArray[Any], max_bins: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the last value of each bin."""
    every = np.arange(len(counts))
    if len(counts) <= max_bins:
        return every, every
    size = np.sqrt(counts)
    middle = (np.cumsum(size) - 0.5 * size) / size.sum()
    bins = np.minimum((middle * max_bins).astype(np.intp), max_bins - 1)
    first = np.flatnonzero(np.diff(bins, prepend=-1))
    return first, np.append(first[1:], len(counts)) - 1


def _find_fractions(ranking: Ranking, data: TrainingSet) -> tuple[Floats, ...]:
    counts = [
        np.bincount(bins, data.weight, minlength=n)[: n - gap]
        for bins, n, gap in zip(
            ranking.encode(data.X), ranking.n_bins.tolist(), ranking.gaps, strict=True
        )
    ]
    return tuple(count / max(float(count.sum()), 1e-300) for count in counts)
