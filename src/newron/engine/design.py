"""The functions of all groups on the rows: scores, gradients and curvatures.

A design has a column for the constant and one for each function. On few rows it is a dense
matrix. On many, scores are look-ups by bin and gradients are sums over bins, both exact, and
only the curvature is taken from a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, ssyrk

from newron import _core
from newron.engine.basis import Group
from newron.engine.binning import BinnedTable, Bins, LevelBins
from newron.engine.rows import Block, Codes, Index, Rows, Values
from newron.model.arithmetic import Floats

Tables = NDArray[np.float32]

_UNCHANGED = 0.02  # of the curvature, within which the last one will do
LEVELS = 32  # of a column in a pair, kLevels of cpp/core/engine_kernels.h


class Design(Protocol):
    """Linear functions of coefficients on the rows."""

    size: int

    def score(self, coefficients: Floats) -> Values:
        """Return the sum of functions for every row."""

    def project(self, values: Values) -> Floats:
        """Return the sum of a value over the rows, by function."""

    def gram(self, curvature: NDArray[Any], output: int) -> Floats:
        """Return the curvature by coefficients, of shape (size, size); its lower half counts.

        The curvature by row is that of all rows, or of the design's sample. What was last
        returned for the same output may serve again.
        """


def find_slices(groups: Sequence[Group]) -> list[slice]:
    """Return where each group's coefficients lie, after the constant."""
    ends = np.cumsum([1, *(group.size for group in groups)])
    return [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def find_tied(groups: Sequence[Group]) -> list[NDArray[np.intp]]:
    """Return the positions of the coefficients of each kind of tied groups."""
    found: dict[str, list[int]] = {}
    for group, part in zip(groups, find_slices(groups), strict=True):
        if group.tied:
            found.setdefault(group.kind, []).extend(range(part.start, part.stop))
    return [np.array(positions, np.intp) for positions in found.values()]


class DenseDesign:
    """All functions on all rows.

    ``tied`` are the positions of coefficients that have one prior variance, a kind each.
    """

    def __init__(self, matrix: Floats, rows: Rows, tied: Sequence[NDArray[np.intp]] = ()) -> None:
        self.matrix, self.rows = matrix, rows
        self.size = matrix.shape[1]
        self.tied = tied
        self.free = np.setdiff1d(np.arange(self.size), np.concatenate([*tied, []]))

    @cached_property
    def kernels(self) -> list[Floats]:
        """The kernel of rows of each tied part, for a prior variance of 1."""
        return [_make_kernel(self.matrix[:, part]) for part in self.tied]

    def kernel(self, prior: Floats) -> Floats:
        """Return the covariance of scores between rows under prior variances."""
        total = _make_kernel(self.matrix[:, self.free] * np.sqrt(prior[self.free]))
        for part, kernel in zip(self.tied, self.kernels, strict=True):
            total += prior[part[0]] * kernel
        return total

    def score(self, coefficients: Floats) -> Values:
        """Return the sum of functions for every row."""
        return self.rows.cut(self.matrix @ coefficients)

    def project(self, values: Values) -> Floats:
        """Return the sum of a value over the rows, by function."""
        return np.asarray(self.matrix.T @ self.rows.take(None, values))

    def gram(self, curvature: NDArray[Any], output: int) -> Floats:
        """Return the curvature by coefficients."""
        del output  # few rows: nothing is kept
        weighed = self.matrix * np.sqrt(curvature)[:, None]
        return np.asarray(dsyrk(1.0, weighed.T, lower=1))


def _make_kernel(functions: Floats) -> Floats:
    """Return the products of rows with rows."""
    half = dsyrk(1.0, functions.T, trans=1, lower=1)
    return np.asarray(half + np.tril(half, -1).T)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of columns, and the level of every code of the columns that are in one."""

    index: dict[tuple[int, ...], int] = field(default_factory=dict)
    levels: dict[int, Codes] = field(default_factory=dict)

    @classmethod
    def find(cls, groups: Sequence[Group], columns: Sequence[Bins]) -> Pairs:
        """Find the pairs that some groups are of."""
        pairs = sorted({group.columns for group in groups if group.is_pair})
        used = sorted({c for pair in pairs for c in pair})
        levels = {c: coarsen(columns[c], LEVELS) for c in used}
        return cls({pair: q for q, pair in enumerate(pairs)}, levels)

    @property
    def positions(self) -> NDArray[np.int32]:
        """Where the columns of each pair are among the coarse ones, of shape (pairs, 2)."""
        at = {c: i for i, c in enumerate(self.levels)}
        return np.array([[at[c] for c in pair] for pair in self.index], np.int32).reshape(-1, 2)


class BinnedDesign:
    """Functions by bin and cell, and a sample of rows for the curvature; None is all rows.

    What ``before``, a design of the same table and sample, knows of the same groups is taken over.
    """

    def __init__(
        self,
        table: BinnedTable,
        groups: Sequence[Group],
        sample: Index | None,
        before: BinnedDesign | None = None,
    ) -> None:
        self.table, self.rows, self.groups, self.sample = table, table.rows, groups, sample
        self.slices = find_slices(groups)
        self.size = 1 + sum(group.size for group in groups)
        self.pairs = Pairs.find(groups, table.columns)
        self.scale = 1.0 if sample is None else table.n_rows / len(sample)
        self._sampled: NDArray[np.float32] | None = None
        self._last: dict[int, tuple[NDArray[Any], Floats]] = {}
        if before is not None and before._sampled is not None:
            self._take_over(before, before._sampled)

    def score(self, coefficients: Floats) -> Values:
        """Return the sum of functions for every row."""
        return self.rows.make_one(partial(add_scores, *self.tabulate(coefficients)))

    def tabulate(self, coefficients: Floats) -> tuple[float, Tables, Pairs, Tables]:
        """Return a constant and the sums of functions by bin and cell, for :func:`add_scores`."""
        tables = np.zeros((len(self.table.columns), 256), np.float32)
        cells = np.zeros((len(self.pairs.index), LEVELS * LEVELS), np.float32)
        for group, part in zip(self.groups, self.slices, strict=True):
            values = group.basis @ coefficients[part]
            if group.is_pair:
                cells[self.pairs.index[group.columns]] += values
            else:
                tables[group.columns[0], : len(values)] += values
        return float(coefficients[0]), tables, self.pairs, cells

    def project(self, values: Values) -> Floats:
        """Return the sum of a value over the rows, by function."""
        return self.collect(*self.rows.total(partial(sum_block, self.pairs), values))

    def collect(self, bins: Floats, cells: Floats, total: float) -> Floats:
        """Return the sum of a value over the rows by function, from those over bins and cells."""
        out = np.empty(self.size)
        out[0] = total
        for group, part in zip(self.groups, self.slices, strict=True):
            if group.is_pair:
                out[part] = group.basis.T @ cells[self.pairs.index[group.columns]]
            else:
                out[part] = group.basis.T @ bins[group.columns[0], : len(group.basis)]
        return out

    @cached_property
    def places(self) -> Values:
        """Where the rows of the sample are in each block."""
        return self.rows.locate(self.sample)

    @cached_property
    def _codes(self) -> Codes:
        return self.rows.take_codes(self.sample)

    def gram(self, curvature: NDArray[Any], output: int) -> Floats:
        """Return the curvature by coefficients, of the sampled rows for all."""
        if self._sampled is None:
            self._sampled = self._expand(self.groups)
        here = np.asarray(curvature * self.scale, np.float32)
        if output in self._last:
            before, gram = self._last[output]
            if float(np.abs(here - before).sum()) <= _UNCHANGED * float(before.sum()):
                self._last[output] = before, _widen(gram, self._sampled, before)
                return self._last[output][1]
        gram = np.asarray(ssyrk(1.0, (self._sampled * np.sqrt(here)[:, None]).T, lower=1))
        self._last[output] = here, gram.astype(np.float64)
        return self._last[output][1]

    def _expand(self, groups: Sequence[Group]) -> NDArray[np.float32]:
        """Return a constant and the functions of some groups on the sample."""
        coarse = np.zeros_like(self._codes)
        for c, level in self.pairs.levels.items():
            coarse[c] = level[self._codes[c]]
        return expand(groups, self._codes, coarse, np.float32)

    def _take_over(self, before: BinnedDesign, sampled: NDArray[np.float32]) -> None:
        """Keep the functions and curvatures of the groups that were there before, which lead."""
        self.places, self._codes = before.places, before._codes
        parts = {id(group): part for group, part in zip(before.groups, before.slices, strict=True)}
        known = [parts[id(group)] for group in self.groups if id(group) in parts]
        new = self.groups[len(known) :]
        if not known or any(id(group) in parts for group in new):
            return
        kept = np.concatenate([[0], *(np.arange(part.start, part.stop) for part in known)])
        self._sampled = sampled[:, kept] if len(kept) < before.size else sampled
        if new:
            self._sampled = np.concatenate([self._sampled, self._expand(new)[:, 1:]], axis=1)
        self._last = {
            output: (here, gram[kept][:, kept]) for output, (here, gram) in before._last.items()
        }


def _widen(gram: Floats, functions: NDArray[np.float32], curvature: NDArray[Any]) -> Floats:
    """Return a curvature with rows for the last functions too, which it lacks."""
    n = len(gram)
    if n == functions.shape[1]:
        return gram
    wide = np.zeros((functions.shape[1], functions.shape[1]))
    wide[:n, :n] = gram
    wide[n:] = (functions[:, n:] * curvature[:, None]).T @ functions
    return wide


def add_scores(
    first: float, tables: Tables, pairs: Pairs, cells: Tables, block: Block
) -> NDArray[np.float32]:
    """Return the scores of a block: a constant, and look-ups by bin and by cell of pairs."""
    scores = np.full(block.n_rows, first, np.float32)
    coarse = block.coarsen(pairs.levels)
    _core.add_scores(block.codes, tables, coarse, pairs.positions, cells, scores, block.n_threads)
    return scores


def sum_block(pairs: Pairs, block: Block, values: NDArray[Any]) -> tuple[Floats, Floats, float]:
    """Return the sums of a value of a block over bins, over cells of pairs, and over all rows."""
    bins = np.empty((len(block.codes), 256))
    cells = np.empty((len(pairs.index), LEVELS * LEVELS))
    summed = np.ascontiguousarray(values, np.float32)
    coarse = block.coarsen(pairs.levels)
    _core.sum_bins(block.codes, summed, bins, coarse, pairs.positions, cells, block.n_threads)
    return bins, cells, float(values.sum(dtype=np.float64))


def expand(
    groups: Sequence[Group], codes: Codes, coarse: Codes, dtype: type = np.float64
) -> NDArray[Any]:
    """Return the matrix of a constant and all functions on the rows of these codes.

    A group without columns has its functions by row.
    """
    slices = find_slices(groups)
    out: NDArray[Any] = np.empty((codes.shape[1], 1 + sum(group.size for group in groups)), dtype)
    out[:, 0] = 1.0
    for group, part in zip(groups, slices, strict=True):
        if not group.columns:
            out[:, part] = group.basis
            continue
        if group.is_pair:
            first, second = group.columns
            at = LEVELS * coarse[first].astype(np.intp) + coarse[second]
        else:
            at = codes[group.columns[0]].astype(np.intp)
        out[:, part] = group.basis.astype(dtype)[at]
    return out


# ---- columns in pairs: fewer levels than bins ----


def coarsen(bins: Bins, levels: int) -> Codes:
    """Return the level of every code; the last level is that of missing values."""
    n = bins.n_bins
    level = np.arange(n)
    if n > levels - 1 and isinstance(bins, LevelBins):
        order = np.argsort(-bins.mass[:n], kind="stable")
        level[order] = np.minimum(np.arange(n), levels - 2)
    elif n > levels - 1:
        level = np.minimum((bins.rank * (levels - 1)).astype(np.intp), levels - 2)
    out = np.zeros(256, np.uint8)
    out[:n] = level
    out[n] = levels - 1 if n > levels - 1 else n
    return out


def average_levels(bins: Bins, level: Codes, levels: int, values: Floats) -> Floats:
    """Return the means of functions of bins over levels, of shape (levels, functions)."""
    size = len(bins.mass)
    mass = np.maximum(bins.mass, 1e-9)
    onto = np.zeros((levels, size))
    onto[level[:size], np.arange(size)] = mass
    total = np.maximum(onto.sum(axis=1, keepdims=True), 1e-12)
    return np.asarray((onto / total) @ values)
