"""Columns as the core sees them: centred, scaled, maybe ranked, in float32.

Categories and missing values have no position on an axis yet: the core sees them as numbered points
and trains a position for each of them in every function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from newron.errors import InputError, ModelError
from newron.model.arithmetic import Floats
from newron.model.schema import MAX_KNOTS, Column, RankScale, Schema
from newron.objectives.base import scale_column
from newron.tables.field import Field
from newron.training.training_set import TrainingSet
from newron.training.wiring import Params

SCALES = ("own", "rank", "both")
_FEW_VALUES = 20
POINT = 2.0**100  # kPoint of cpp/core/network.h
_LARGEST_RAW = 1e15  # beyond it unscaled columns would overflow the gradients


@dataclass(frozen=True)
class Channel:
    """One way of reading a column: (x - shift) / scale, of the value or its rank.

    Its points are the categories and, last, the gap.
    """

    column: int
    rank: RankScale | None
    shift: float
    scale: float
    n_categories: int = 0
    gaps: bool = False

    @property
    def n_points(self) -> int:
        """How many values without order there are."""
        return self.n_categories + self.gaps

    def encode(self, x: Floats) -> Params:
        """Turn a column into what the core sees."""
        gap = np.isnan(x)
        if self.n_categories:
            return (POINT * (np.where(gap, self.n_categories, x) + 1.0)).astype(np.float32)
        values = x if self.rank is None else self.rank.rank(x)
        out = ((values - self.shift) / self.scale).astype(np.float32)
        out[gap] = POINT
        return out

    def locate(self, b: Floats) -> Floats:
        """Turn positions on the channel into positions on the column."""
        places = self.shift + self.scale * b
        return places if self.rank is None else self.rank.value(places)


@dataclass(frozen=True)
class Encoding:
    """All channels of a table, and the schema of its columns."""

    schema: Schema
    channels: tuple[Channel, ...]
    scales: str = "own"
    standardized: bool = True

    def encode(self, X: Floats) -> Params:
        """Turn rows of a table into channels, of shape (rows, channels)."""
        out = np.empty((len(X), len(self.channels)), np.float32)
        for c, channel in enumerate(self.channels):
            out[:, c] = channel.encode(X[:, channel.column])
        return out


def learn_encoding(
    data: TrainingSet,
    *,
    scales: str = "own",
    standardize: bool = True,
    keep_constant: bool = False,
    periods: Sequence[float] = (),
) -> Encoding:
    """Learn ranges, scales and ranks of the columns.

    No function reads a constant column, unless later rows may differ (``keep_constant``), nor the
    ranks of a column with a period, which they would bend.
    """
    columns, channels, weight = [], [], data.weight
    for i, field in enumerate(data.fields):
        x = np.asarray(data.X[:, i], np.float64)
        column, name = _describe_column(field, x), field.name
        if not keep_constant and _is_constant(x):
            columns.append(column)
            continue
        if column.categories is not None:
            columns.append(column)
            channels.append(Channel(i, None, 0.0, 1.0, column.n_categories, column.gaps))
            continue
        if not standardize and max(abs(column.low), abs(column.high)) > _LARGEST_RAW:
            raise InputError(
                f"column {name!r}: expected values within ±{_LARGEST_RAW:g} where columns are not "
                f"standardized, got {column.low} to {column.high}; choose another recipe"
            )
        there = ~np.isnan(x) if column.gaps else slice(None)
        ranked = scales != "own" and not (periods and periods[i])
        rank = _learn_ranks(x[there], weight[there]) if ranked else None
        if rank is not None:
            column = replace(column, rank_scale=rank)
        if scales != "rank" or rank is None:
            shift, scale = scale_column(x[there], weight[there])
            # Unscaled is still centred: b moves along, and float32 keeps its digits.
            own = scale if standardize else 1.0
            channels.append(Channel(i, None, shift, own, gaps=column.gaps))
        if rank is not None:
            shift, scale = scale_column(rank.rank(x[there]), weight[there])
            channels.append(Channel(i, rank, shift, scale, gaps=column.gaps))
        columns.append(column)
    return Encoding(Schema(tuple(columns)), tuple(channels), scales, standardize)


def describe_columns(X: Floats, fields: tuple[Field, ...]) -> Schema:
    """Return the schema of some rows."""
    columns = [
        _describe_column(field, np.asarray(x, np.float64))
        for field, x in zip(fields, X.T, strict=True)
    ]
    return Schema(tuple(columns))


def _is_constant(x: Floats) -> bool:
    return bool(np.all(x == x[0]) or np.all(np.isnan(x)))


def _describe_column(field: Field, x: Floats) -> Column:
    gap = np.isnan(x)
    gaps = bool(gap.any())
    if field.categories is not None:
        high = max(len(field.categories) - 1.0, 0.0)
        return Column(field.name, 0.0, high, categories=field.categories, gaps=gaps)
    x = x[~gap] if gaps else x
    if not len(x):
        return Column(field.name, 0.0, 0.0, gaps=True)
    values = None
    distinct = np.unique(x[: 10 * _FEW_VALUES])
    if len(distinct) <= _FEW_VALUES:
        distinct = np.unique(x)
        if len(distinct) <= _FEW_VALUES and np.all(distinct == np.round(distinct)):
            values = tuple(distinct.tolist())
    return Column(field.name, float(x.min()), float(x.max()), values, gaps=gaps)


def _learn_ranks(x: Floats, weight: Floats) -> RankScale | None:
    """Return the map through at most 32 quantiles, or None for a constant column."""
    order = np.argsort(x, kind="stable")
    values, first = np.unique(x[order], return_index=True)
    if len(values) < 2:
        return None
    mass = np.sqrt(np.add.reduceat(weight[order], first))
    # A value's rank is the middle of its fraction of the rows.
    ranks = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    if len(values) > MAX_KNOTS:
        desired = np.linspace(ranks[0], ranks[-1], MAX_KNOTS)
        keep = np.unique(np.searchsorted(ranks, desired).clip(0, len(values) - 1))
        values, ranks = values[keep], ranks[keep]
    try:
        return RankScale(tuple(values.tolist()), tuple(ranks.tolist()))
    except ModelError:  # values too close for ranks of their own: its own scale will do
        return None
