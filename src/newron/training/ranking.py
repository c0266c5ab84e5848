"""Columns as ranks: what networks of steps are polished and grown on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.training.decimals import shortest_between

__all__ = ["Ranking", "Ranks", "learn_ranking"]

Ranks = NDArray[np.uint16]

MOST_BINS = 65535


@dataclass(frozen=True)
class Ranking:
    """For each column, the least value of every bin and the greatest one."""

    lows: tuple[Floats, ...]
    highs: tuple[Floats, ...]

    @property
    def n_bins(self) -> NDArray[np.int32]:
        """How many bins each column has."""
        return np.array([len(low) for low in self.lows], np.int32)

    def encode(self, X: Floats, index: NDArray[np.intp] | None = None) -> Ranks:
        """Turn rows into ranks, of shape (columns, rows)."""
        n = len(X) if index is None else len(index)
        out = np.empty((len(self.lows), n), np.uint16)
        for c, cuts in enumerate(self._cuts()):
            column = X[:, c] if index is None else X[index, c]
            out[c] = np.searchsorted(cuts, column, side="right")
        return out

    def _cuts(self) -> list[Floats]:
        # Between two bins, so that a row of other data falls to the nearer one.
        return [
            low[1:] - 0.5 * (low[1:] - high[:-1])
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


def learn_ranking(X: Floats, index: NDArray[np.intp], most_bins: int = MOST_BINS) -> Ranking:
    """Cut each column into at most so many bins.

    Up to that many distinct values have a bin each. More are joined so that bins
    hold about the same sum of square roots of frequencies: rare values, such as
    the few large gains of a skewed column, keep more bins than quantiles would
    leave them.
    """
    lows, highs = [], []
    for column in X.T:
        values, counts = np.unique(np.asarray(column[index], np.float64), return_counts=True)
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
    return Ranking(tuple(lows), tuple(highs))
