"""Columns as ranks: what networks of steps are polished and grown on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.decimals import shortest_between
from newron.tables.field import Field

__all__ = ["Ranking", "Ranks", "learn_ranking"]

Ranks = NDArray[np.uint16]

MOST_BINS = 65535


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
    shares: tuple[Floats, ...]  # of the rows, by bin, gaps apart

    @property
    def n_ordered(self) -> NDArray[np.int32]:
        """How many bins of numbers each column has."""
        return np.array([len(low) for low in self.lows], np.int32)

    @property
    def n_free(self) -> NDArray[np.int32]:
        """How many bins without order each column has."""
        return np.array(self.n_categories, np.int32) + np.array(self.gaps, np.int32)

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """How many bins each column has."""
        return self.n_ordered + self.n_free

    def encode(self, X: Floats, index: NDArray[np.intp] | None = None) -> Ranks:
        """Turn rows into ranks, of shape (columns, rows)."""
        n = len(X) if index is None else len(index)
        out = np.empty((len(self.lows), n), np.uint16)
        for c, cuts in enumerate(self._cuts()):
            column = X[:, c] if index is None else X[index, c]
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
        """Give a short decimal between bin cut - 1 and bin cut."""
        low, high = float(self.highs[column][cut - 1]), float(self.lows[column][cut])
        found = shortest_between(low, high)
        return high if found is None else found

    def find_cut(self, column: int, w: float, b: float) -> int:
        """Give the first bin at or above b (w > 0), or the first above b."""
        middle = 0.5 * self.lows[column] + 0.5 * self.highs[column]
        if w > 0.0:
            return int(np.searchsorted(middle, b, side="left"))
        return int(np.searchsorted(middle, b, side="right"))


def learn_ranking(
    X: Floats,
    index: NDArray[np.intp],
    fields: Sequence[Field],
    most_bins: int = MOST_BINS,
    weight: Floats | None = None,
    *,
    with_room: bool = False,
) -> Ranking:
    """Cut each column into at most so many bins.

    Up to that many distinct values have a bin each. More are joined so that bins
    hold about the same sum of square roots of frequencies: rare values, such as
    the few large gains of a skewed column, keep more bins than quantiles would
    leave them. ``with_room`` joins values that no number lies between.
    """
    lows, highs, gaps = [], [], []
    none = np.zeros(0)
    for column, field in zip(X.T, fields, strict=True):
        here = np.asarray(column[index], np.float64)
        gap = np.isnan(here)
        gaps.append(bool(gap.any()))
        if field.categories is not None:
            lows.append(none)
            highs.append(none)
            continue
        values, counts = np.unique(here[~gap] if gaps[-1] else here, return_counts=True)
        if with_room and len(values):
            apart = np.nextafter(values[:-1], np.inf) < values[1:]
            first = np.flatnonzero(np.concatenate([[True], apart]))
            values, counts = values[first], np.add.reduceat(counts, first)
        if len(values) > most_bins:
            size = np.sqrt(counts)
            middle = (np.cumsum(size) - 0.5 * size) / size.sum()
            bins = np.minimum((middle * most_bins).astype(np.intp), most_bins - 1)
            first = np.flatnonzero(np.diff(bins, prepend=-1))
            last = np.append(first[1:], len(values)) - 1
            lows.append(values[first])
            highs.append(values[last])
        else:
            lows.append(values)
            highs.append(values)
    categories = tuple(len(field.categories or ()) for field in fields)
    ranking = Ranking(tuple(lows), tuple(highs), categories, tuple(gaps), ())
    return replace(ranking, shares=_find_shares(ranking, X, index, weight))


def _find_shares(
    ranking: Ranking, X: Floats, index: NDArray[np.intp], weight: Floats | None
) -> tuple[Floats, ...]:
    ranks = ranking.encode(X, index)
    counts = [
        np.bincount(bins, weight, minlength=n)[: n - gap]
        for bins, n, gap in zip(ranks, ranking.n_bins.tolist(), ranking.gaps, strict=True)
    ]
    return tuple(count / max(float(count.sum()), 1e-300) for count in counts)
