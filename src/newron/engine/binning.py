"""Columns cut into bins: what the engine sees of a table.

A column of numbers has at most 254 bins of about equal mass, a category has a bin of its
own, and missing values have the bin after the last one. Codes have one byte: a column with
more categories than codes becomes several columns of codes, each of which knows some of the
categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.arithmetic import Floats
from newron.tables.field import Field

__all__ = [
    "MAX_BINS",
    "BinnedTable",
    "Bins",
    "Codes",
    "LevelBins",
    "NumberBins",
    "bin_rows",
    "bin_table",
]

Codes = NDArray[np.uint8]

MAX_BINS = 254
_FEW_BINS = 64  # of a column, on tables of few rows
_FEW_ROWS = 5_000
_SAMPLE = 50_000  # rows on which edges are found
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
class LevelBins(Bins):
    """Bins of categories: that of each level, or -1 where another column of codes has it."""

    bin_of_level: NDArray[np.intp]

    def find_codes(self) -> NDArray[np.intp]:
        """Return the code of every level and, last, of a missing value."""
        at = np.append(self.bin_of_level, -1)
        return np.where(at < 0, self.n_bins, at)


@dataclass(frozen=True)
class BinnedTable:
    """Rows as codes, of shape (columns of codes, rows)."""

    columns: tuple[Bins, ...]
    codes: Codes
    weight: Floats

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.codes.shape[1])

    @cached_property
    def total(self) -> float:
        """The summed weight of all rows."""
        return float(self.weight.sum())


def bin_table(
    X: Floats, weight: Floats, fields: Sequence[Field], *, fine: bool = False, n_threads: int = 1
) -> BinnedTable:
    """Learn the bins of a table and return its rows as codes.

    On few rows there are fewer bins, unless they shall be ``fine``: targets without noise
    distinguish values within a bin.
    """
    max_bins = MAX_BINS if fine or weight.sum() >= _FEW_ROWS else _FEW_BINS
    columns = list(_learn_columns(X, weight, fields, max_bins))
    codes = bin_rows(columns, X, n_threads=n_threads)
    measured = _measure_columns(columns, codes, X, weight, n_threads)
    return BinnedTable(tuple(measured), codes, weight)


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
    X: Floats, weight: Floats, fields: Sequence[Field], max_bins: int
) -> Iterator[Bins]:
    if len(X) > _SAMPLE:
        chosen = np.sort(np.random.default_rng(0).choice(len(X), _SAMPLE, replace=False))
        X, weight = X[chosen], weight[chosen]
    for source, field in enumerate(fields):
        x = X[:, source]
        if field.categories is not None:
            yield from _learn_levels(source, x, weight, len(field.categories))
        else:
            yield NumberBins.begin(source, _find_edges(x, weight, max_bins))


def _learn_levels(source: int, x: Floats, weight: Floats, n_levels: int) -> Iterator[Bins]:
    """Yield bins: a bin for each frequent level, the rarest one bin together."""
    there = ~np.isnan(x)
    mass = np.bincount(x[there].astype(np.intp), weight[there], minlength=n_levels)
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


def _find_edges(x: Floats, weight: Floats, max_bins: int) -> Floats:
    """Return edges between bins of about equal sums of square roots of frequencies.

    Rare values, such as the few large ones of a skewed column, so keep more bins than
    quantiles would leave them.
    """
    there = ~np.isnan(x)
    values, at = np.unique(x[there], return_inverse=True)
    if len(values) < 2:
        return np.zeros(0)
    first = np.arange(1, len(values))
    if len(values) > max_bins:
        size = np.sqrt(np.bincount(at, weight[there], minlength=len(values)))
        middle = (np.cumsum(size) - 0.5 * size) / size.sum()
        bins = np.minimum((middle * max_bins).astype(np.intp), max_bins - 1)
        first = np.flatnonzero(np.diff(bins)) + 1
    low, high = values[first - 1], values[first]
    return np.maximum(low + 0.5 * (high - low), np.nextafter(low, np.inf))


def _measure_columns(
    columns: Sequence[Bins], codes: Codes, X: Floats, weight: Floats, n_threads: int
) -> Iterator[Bins]:
    """Measure mass and values of the bins."""
    joined = _join_edges(columns)
    out = np.zeros((4, len(joined[-1]), 256))
    _core.summarize_bins(X, *joined, codes, weight, out, n_threads)
    summaries = iter(np.swapaxes(out, 0, 1))
    for c, bins in enumerate(columns):
        size = len(bins.mass)
        if isinstance(bins, NumberBins):
            yield _measure_numbers(bins, next(summaries)[:, :size])
        else:
            mass = np.bincount(codes[c], weight, minlength=size).astype(np.float64)
            yield replace(bins, mass=mass)


def _measure_numbers(bins: NumberBins, summary: Floats) -> NumberBins:
    mass, mean, low, high = summary[:, :-1]
    empty = mass == 0.0
    if empty.any():
        # Edges come from a sample: a bin that no row fell into lies at its lower edge.
        least = 0.0 if empty.all() else float(low[~empty].min())
        inner = np.concatenate([[least], bins.edges])
        low, high, mean = (np.where(empty, inner, part) for part in (low, high, mean))
    return replace(bins, mass=np.array(summary[0]), centers=mean, lows=low, highs=high)
