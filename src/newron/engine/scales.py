"""The two scales on which functions read a column: its own and its rank, standardized."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from newron.engine.binning import NumberBins
from newron.errors import ModelError
from newron.model.arithmetic import Floats
from newron.model.schema import MAX_KNOTS, RankScale

_LARGEST = 1e300
_TAIL = 0.1  # of the ranks on either side, whose slope goes on beyond the last value


@dataclass(frozen=True, eq=False)
class Scale:
    """A standardized axis of a column: (x - shift) / spread, of the value or its rank."""

    shift: float
    spread: float
    rank: RankScale | None
    bins: Floats  # where the bins lie on it

    def steepness(self, w: float) -> float:
        """Return w in units of what a function reads."""
        return float(np.clip(w / self.spread, -_LARGEST, _LARGEST))

    def position(self, b: float) -> float:
        """Return b in the column's units."""
        at = np.array(self.shift + self.spread * b)
        value = at if self.rank is None else self.rank.value(at)
        return float(np.clip(value, -_LARGEST, _LARGEST))


def make_scales(bins: NumberBins) -> list[Scale]:
    """Return a column's own scale and, where ranks differ enough, that of its rank."""
    scales = [_standardize(bins.centers, bins.fraction, None)]
    rank = _make_rank_scale(bins)
    if rank is not None:
        scales.append(_standardize(rank.rank(bins.centers), bins.fraction, rank))
    return scales


def _standardize(values: Floats, fraction: Floats, rank: RankScale | None) -> Scale:
    size = float(np.abs(values).max()) or 1.0
    small = values / size
    mean = float(fraction @ small)
    spread = max(float(np.sqrt(fraction @ (small - mean) ** 2)), 1e-14) * size
    spread = max(spread, 1e-300)
    return Scale(mean * size, spread, rank, (values - mean * size) / spread)


def _add_ends(values: Floats, ranks: Floats) -> tuple[Floats, Floats]:
    """Return knots with one more on either side, as far away as the values' range.

    New values may lie beyond those of training. Where a column is skewed, the average slope, with
    which ranks go on beyond the last knot, is a multiple of that of the outer values: an outlier
    would lie far from all that training has seen.
    """
    width, height = values[-1] - values[0], ranks[-1] - ranks[0]
    inner = np.interp([_TAIL, 1.0 - _TAIL], (ranks - ranks[0]) / height, values)
    tails = np.maximum([inner[0] - values[0], values[-1] - inner[1]], _TAIL * width)
    below, above = np.minimum(_TAIL * height * width / tails, height)
    return (
        np.concatenate([[values[0] - width], values, [values[-1] + width]]),
        np.concatenate([[ranks[0] - below], ranks, [ranks[-1] + above]]),
    )


def _make_rank_scale(bins: NumberBins) -> RankScale | None:
    there = np.flatnonzero(bins.fraction > 0.0)
    if len(there) < 3:
        return None
    knots = there[np.unique(np.linspace(0, len(there) - 1, MAX_KNOTS - 2).astype(np.intp))]
    values, ranks = _add_ends(bins.centers[knots], bins.rank[knots])
    try:
        return RankScale(tuple(values.tolist()), tuple(ranks.tolist()))
    except ModelError:  # values too close for ranks of their own: its own scale will do
        return None
