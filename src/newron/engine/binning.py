"""Columns cut into bins: what the engine sees of a table.

A column of numbers has at most 254 bins of about equal mass, a category has a bin of its
own, and missing values have the bin after the last one. Codes have one byte: a column with
more categories than codes becomes several columns of codes, each of which knows some of the
categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.engine.rows import Block, Codes, Index, MemoryRows, Rows, Values, cut_rows
from newron.model.arithmetic import Floats
from newron.tables.field import Field

__all__ = [
    "MAX_BINS",
    "BinnedTable",
    "Bins",
    "Codes",
    "LevelBins",
    "NumberBins",
    "RawBlock",
    "RawWeights",
    "TermBins",
    "ValueCounts",
    "bin_blocks",
    "bin_rows",
    "bin_table",
    "count_block",
    "learn_columns",
    "merge_counts",
    "take_raw",
]

MAX_BINS = 254
_FEW_BINS = 64  # of a column, on tables of few rows
_FEW_ROWS = 5_000
EDGE_SAMPLE = 50_000, 0  # rows on which edges are found, and the seed of their choice
MOST_COUNTED = 10_000  # values of a column up to which all rows are counted, however many
_MAX_LEVELS = 1_000  # categories with a value of their own; rarer ones share one


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of one column of codes.

    ``mass`` has an entry for each bin and, last, for missing values.
    """

    source: int
    mass: Floats

    @property
    def n_bins(self) -> int:
        """How many bins there are, without that of missing values."""
        return len(self.mass) - 1

    @property
    def missing_mass(self) -> float:
        """The summed weight of rows with a missing value."""
        return float(self.mass[-1])

    @cached_property
    def fraction(self) -> Floats:
        """The mass of each bin, of values that are there, as a fraction."""
        mass = self.mass[:-1]
        return np.asarray(mass / max(float(mass.sum()), 1e-300))

    @cached_property
    def rank(self) -> Floats:
        """The middle of each bin's part of the rows, from 0 to 1."""
        return np.asarray(np.cumsum(self.fraction) - 0.5 * self.fraction)


@dataclass(frozen=True, eq=False)
class NumberBins(Bins):
    """Bins of numbers: the edges between them, and the values in each."""

    edges: Floats
    centers: Floats  # means
    lows: Floats
    highs: Floats

    @classmethod
    def begin(cls, source: int, edges: Floats) -> NumberBins:
        """Return bins of which only the edges are known."""
        values = np.zeros(len(edges) + 1)
        return cls(source, np.zeros(len(edges) + 2), edges, values, values, values)


@dataclass(frozen=True, eq=False)
class TermBins(NumberBins):
    """The bins of a term of several columns: 0 and 1. It is in no pair."""

    @classmethod
    def mark(cls, bins: Bins) -> Bins:
        """Return bins of a column of numbers as those of a term."""
        if not isinstance(bins, NumberBins):
            return bins
        return cls(bins.source, bins.mass, bins.edges, bins.centers, bins.lows, bins.highs)


@dataclass(frozen=True, eq=False)
class LevelBins(Bins):
    """Bins of categories: that of each level, or -1 where another column of codes has it."""

    bin_of_level: NDArray[np.intp]

    def find_codes(self) -> NDArray[np.intp]:
        """Return the code of every level and, last, of a missing value."""
        at = np.append(self.bin_of_level, -1)
        return np.where(at < 0, self.n_bins, at)


@dataclass(frozen=True)
class BinnedTable:
    """Rows as codes, and their weights."""

    columns: tuple[Bins, ...]
    rows: Rows
    weight: Values

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.rows.n_rows

    @property
    def codes(self) -> Codes:
        """The codes of all rows, of shape (columns of codes, rows)."""
        return self.rows.take_codes(None)

    @cached_property
    def total(self) -> float:
        """The summed weight of all rows."""
        return float(self.rows.total(_sum, self.weight))


def _sum(block: Block, values: Floats) -> float:
    del block
    return float(values.sum())


def bin_table(
    X: Floats, weight: Floats, fields: Sequence[Field], *, fine: bool = False, n_threads: int = 1
) -> BinnedTable:
    """Learn the bins of a table in memory and return its rows as codes.

    On few rows there are fewer bins, unless they shall be ``fine``: targets without noise
    distinguish values within a bin.
    """
    y = np.zeros((len(X), 0))
    raw = MemoryRows([RawBlock(X[at], y[at], weight[at]) for at in cut_rows(len(X))], n_threads)
    weights = RawWeights()
    columns = learn_columns(raw, fields, weights, float(weight.sum()), fine=fine)
    return bin_blocks(raw, columns, weights, n_threads)[0]


@dataclass(frozen=True, eq=False)
class RawBlock:
    """Some rows as they are encoded, with targets (rows, targets), weights and counts."""

    X: Floats
    y: Floats
    weight: Floats
    count: Floats | None = None  # by default the weight

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.X)

    def take(self, index: Index | slice) -> RawBlock:
        """Return some of the rows."""
        count = None if self.count is None else self.count[index]
        return RawBlock(self.X[index], self.y[index], self.weight[index], count)


# For each column its values and their summed weights; None where there are too many.
ValueCounts = list[tuple[Floats, Floats] | None]


@dataclass(frozen=True)
class RawWeights:
    """How the weights of rows are read: times a factor, and that of the row's class."""

    factor: float = 1.0
    by_class: Floats | None = None
    ratio: float = 1.0  # so that weights of classes leave the sum as it is

    def weigh(self, block: RawBlock) -> Floats:
        """Return the weights of a block's rows."""
        weight = block.weight * self.factor
        if self.by_class is None:
            return weight
        weighed = weight * self.by_class[block.y[:, 0].astype(np.intp)]
        return np.asarray(weighed * self.ratio)


def learn_columns(
    raw: Rows, fields: Sequence[Field], weights: RawWeights, total: float, *, fine: bool
) -> list[Bins]:
    """Learn which bins there are, of which only the edges are known yet.

    ``total`` is the weight of all rows. Few rows are looked at all. Of many a sample is enough for
    edges of about equal mass; but the values of columns that have not too many are all counted, so
    that a rare one (a code for "unknown", a category) has the bin that its rows deserve.
    """
    max_bins = MAX_BINS if fine or total >= _FEW_ROWS else _FEW_BINS
    index = raw.sample(*EDGE_SAMPLE)
    counts: ValueCounts = [None] * len(fields)
    if index is not None:
        known: ValueCounts | None = getattr(raw, "counts", None)
        counts = raw.merge(merge_counts, count_block) if known is None else known
    X, weight = take_raw(raw, index, weights)
    columns = [c or _count(X[:, i], weight) for i, c in enumerate(counts)]
    return list(_learn_columns(columns, fields, max_bins))


def count_block(block: RawBlock) -> ValueCounts:
    """Return the values of each column and their summed weights, None where there are too many."""
    counts: ValueCounts = []
    for x in block.X.T:
        few = np.unique(x[: 2 * MOST_COUNTED])  # mostly that is seen soon
        counts.append(None if len(few) > MOST_COUNTED else _limit(_count(x, block.weight)))
    return counts


def merge_counts(a: ValueCounts, b: ValueCounts) -> ValueCounts:
    """Return what two parts of a table count."""
    return [
        None if one is None or other is None else _limit(_count(*map(np.append, one, other)))
        for one, other in zip(a, b, strict=True)
    ]


def _count(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the values of a column and their summed weights."""
    there = ~np.isnan(x)
    values, at = np.unique(x[there], return_inverse=True)
    return values, np.asarray(np.bincount(at, weight[there], minlength=len(values)), np.float64)


def _limit(counted: tuple[Floats, Floats]) -> tuple[Floats, Floats] | None:
    return counted if len(counted[0]) <= MOST_COUNTED else None


def take_raw(raw: Rows, index: Index | None, weights: RawWeights) -> tuple[Floats, Floats]:
    """Return some rows as they are encoded, or all, and their weights."""
    if index is not None:
        taken = raw.gather(index, partial(_take_raw, weights))
        return taken[:, :-1], taken[:, -1]
    parts: list[tuple[Floats, Floats]] = list(raw.run(partial(_get_raw, weights)))
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([X for X, _ in parts]), np.concatenate([w for _, w in parts])


def _get_raw(weights: RawWeights, block: RawBlock) -> tuple[Floats, Floats]:
    return block.X, weights.weigh(block)


def _take_raw(weights: RawWeights, block: RawBlock, index: Index) -> Floats:
    return np.column_stack([block.X[index], weights.weigh(block)[index]])


def bin_blocks(
    raw: Rows, columns: Sequence[Bins], weights: RawWeights, n_threads: int
) -> tuple[BinnedTable, Values, Values, NDArray[np.bool_]]:
    """Return the table as codes, its targets, counts, and which columns have missing values."""
    step = partial(_bin_block, columns, weights, n_threads if len(raw.sizes) == 1 else 1)
    rows, (y, weight, count), (sums, gaps) = raw.store(3, step, _merge)
    table = BinnedTable(tuple(_measure_columns(columns, sums)), rows, weight)
    return table, y, count, gaps


_Summary = tuple[list[Floats], NDArray[np.bool_]]


def _bin_block(
    columns: Sequence[Bins], weights: RawWeights, n_threads: int, block: RawBlock
) -> tuple[Codes, Floats, Floats, Floats, _Summary]:
    weight = weights.weigh(block)
    codes = bin_rows(columns, block.X, n_threads=n_threads)
    joined = _join_edges(columns)
    out = np.zeros((4, len(joined[-1]), 256))
    _core.summarize_bins(block.X, *joined, codes, weight, out, n_threads)
    numbers = iter(np.swapaxes(out, 0, 1))
    sums = [
        next(numbers)[:, : len(bins.mass)]
        if isinstance(bins, NumberBins)
        else np.bincount(codes[c], weight, minlength=len(bins.mass))[None].astype(np.float64)
        for c, bins in enumerate(columns)
    ]
    count = block.weight if block.count is None else block.count
    return codes, block.y, weight, count, (sums, np.asarray(np.isnan(block.X).any(axis=0)))


def _merge(a: _Summary, b: _Summary) -> _Summary:
    return [_merge_bins(one, other) for one, other in zip(a[0], b[0], strict=True)], a[1] | b[1]


def _merge_bins(a: Floats, b: Floats) -> Floats:
    """Return mass, mean, smallest and largest value of bins of two blocks; or mass alone."""
    if len(a) == 1:
        return a + b
    mass = a[0] + b[0]
    part = b[0] / np.maximum(mass, 1e-300)
    mean = a[1] + (b[1] - a[1]) * part
    return np.stack([mass, mean, np.minimum(a[2], b[2]), np.maximum(a[3], b[3])])


def bin_rows(columns: Sequence[Bins], X: Floats, *, n_threads: int = 1) -> Codes:
    """Return rows as codes, of shape (columns of codes, rows)."""
    codes = np.zeros((len(columns), len(X)), np.uint8)
    _core.bin_rows(X, *_join_edges(columns), codes, n_threads)
    for c, bins in enumerate(columns):
        if isinstance(bins, LevelBins):
            x = X[:, bins.source]
            known = (x >= 0.0) & (x < len(bins.bin_of_level))
            level = np.where(known, x, len(bins.bin_of_level)).astype(np.intp)
            codes[c] = bins.find_codes()[level]
    return codes


Integers = NDArray[np.int32]


def _join_edges(columns: Sequence[Bins]) -> tuple[Floats, Integers, Integers, Integers]:
    """Return the edges of all columns of numbers, their begins, sources and rows of codes."""
    numbers = [(c, bins) for c, bins in enumerate(columns) if isinstance(bins, NumberBins)]
    edges = [bins.edges for _, bins in numbers]
    begin = np.cumsum([0, *map(len, edges)]).astype(np.int32)
    sources = np.array([bins.source for _, bins in numbers], np.int32)
    positions = np.array([c for c, _ in numbers], np.int32)
    return np.concatenate([np.zeros(0), *edges]), begin, sources, positions


def _learn_columns(
    columns: Sequence[tuple[Floats, Floats]], fields: Sequence[Field], max_bins: int
) -> Iterator[Bins]:
    for source, (field, (values, mass)) in enumerate(zip(fields, columns, strict=True)):
        if field.categories is not None:
            n_levels = len(field.categories)
            levels = np.bincount(values.astype(np.intp), mass, minlength=n_levels)
            yield from _learn_levels(source, np.asarray(levels, np.float64), n_levels)
        else:
            yield NumberBins.begin(source, _find_edges(values, mass, max_bins))


def _learn_levels(source: int, mass: Floats, n_levels: int) -> Iterator[Bins]:
    """Yield bins: a bin for each frequent level, the rarest one bin together."""
    order = np.argsort(-mass, kind="stable")
    own = order[:_MAX_LEVELS]
    for first in range(0, max(len(own), 1), MAX_BINS - 1):
        part = own[first : first + MAX_BINS - 1]
        bin_of_level = np.full(n_levels, -1)
        bin_of_level[part] = np.arange(len(part))
        n_bins = len(part)
        if first == 0 and len(order) > _MAX_LEVELS:
            bin_of_level[order[_MAX_LEVELS:]] = n_bins
            n_bins += 1
        yield LevelBins(source, np.zeros(n_bins + 1), bin_of_level)


def _find_edges(values: Floats, mass: Floats, max_bins: int) -> Floats:
    """Return edges between bins of about equal sums of square roots of frequencies.

    Rare values, such as the few large ones of a skewed column, so keep more bins than
    quantiles would leave them.
    """
    if len(values) < 2:
        return np.zeros(0)
    first = np.arange(1, len(values))
    if len(values) > max_bins:
        size = np.sqrt(mass)
        middle = (np.cumsum(size) - 0.5 * size) / size.sum()
        bins = np.minimum((middle * max_bins).astype(np.intp), max_bins - 1)
        first = np.flatnonzero(np.diff(bins)) + 1
    low, high = values[first - 1], values[first]
    return np.maximum(low + 0.5 * (high - low), np.nextafter(low, np.inf))


def _measure_columns(columns: Sequence[Bins], sums: Sequence[Floats]) -> Iterator[Bins]:
    """Set the mass and values of bins."""
    for bins, summary in zip(columns, sums, strict=True):
        if isinstance(bins, NumberBins):
            yield _measure_numbers(bins, summary)
        else:
            yield replace(bins, mass=summary[0])


def _measure_numbers(bins: NumberBins, summary: Floats) -> NumberBins:
    mass, mean, low, high = summary[:, :-1]
    empty = mass == 0.0
    if empty.any():
        # Edges come from a sample: a bin that no row fell into lies at its lower edge.
        least = 0.0 if empty.all() else float(low[~empty].min())
        inner = np.concatenate([[least], bins.edges])
        low, high, mean = (np.where(empty, inner, part) for part in (low, high, mean))
    return replace(bins, mass=np.array(summary[0]), centers=mean, lows=low, highs=high)
