"""The functions of all groups on the rows: scores, gradients and curvatures.

A design has a column for the constant and one for each function. On few rows it is a dense
matrix. On many, scores are look-ups by bin and gradients are sums over bins, both exact, and
only the curvature is taken from a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, ssyrk

from newron import _core
from newron.engine.basis import Group
from newron.engine.binning import BinnedTable, Bins, Codes, LevelBins
from newron.model.arithmetic import Floats

__all__ = [
    "LEVELS",
    "BinnedDesign",
    "DenseDesign",
    "Design",
    "average_levels",
    "coarsen",
    "expand",
    "find_slices",
]

_UNCHANGED = 0.02  # of the curvature, within which the last one will do
LEVELS = 32  # of a column in a pair, kLevels of cpp/core/engine_kernels.h


class Design(Protocol):
    """Linear functions of coefficients on the rows."""

    size: int

    def score(self, coefficients: Floats) -> NDArray[Any]:
        """Return the sum of functions for every row."""

    def project(self, values: NDArray[Any]) -> Floats:
        """Return the sum of a value over the rows, by function."""

    def gram(self, curvature: NDArray[Any], output: int) -> Floats:
        """Return the curvature by coefficients, of shape (size, size); its lower half counts.

        What was last returned for the same output may serve again.
        """


def find_slices(groups: Sequence[Group]) -> list[slice]:
    """Return where each group's coefficients lie, after the constant."""
    ends = np.cumsum([1, *(group.size for group in groups)])
    return [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


class DenseDesign:
    """All functions on all rows."""

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix
        self.size = matrix.shape[1]

    def score(self, coefficients: Floats) -> NDArray[Any]:
        """Return the sum of functions for every row."""
        return np.asarray(self.matrix @ coefficients)

    def project(self, values: NDArray[Any]) -> Floats:
        """Return the sum of a value over the rows, by function."""
        return np.asarray(self.matrix.T @ values)

    def gram(self, curvature: NDArray[Any], output: int) -> Floats:
        """Return the curvature by coefficients."""
        del output  # few rows: nothing is kept
        weighed = self.matrix * np.sqrt(curvature)[:, None]
        return np.asarray(dsyrk(1.0, weighed.T, lower=1))


class BinnedDesign:
    """Functions by bin and cell, and a sample of rows for the curvature."""

    def __init__(
        self,
        table: BinnedTable,
        groups: Sequence[Group],
        sample: NDArray[np.intp],
        n_threads: int,
        coarse: Codes | None = None,
    ) -> None:
        self.table, self.groups, self.sample, self.n_threads = table, groups, sample, n_threads
        self.slices = find_slices(groups)
        self.size = 1 + sum(group.size for group in groups)
        self.coarse = np.zeros((0, table.n_rows), np.uint8) if coarse is None else coarse
        pairs = sorted({group.columns for group in groups if group.is_pair})
        self.pair_index = {pair: q for q, pair in enumerate(pairs)}
        self.pairs = np.array(pairs, np.int32).reshape(-1, 2)
        self.scale = table.n_rows / len(sample)
        self._sampled: NDArray[np.float32] | None = None
        self._last: dict[int, tuple[NDArray[Any], Floats]] = {}

    def score(self, coefficients: Floats) -> NDArray[Any]:
        """Return the sum of functions for every row."""
        tables = np.zeros((len(self.table.columns), 256), np.float32)
        cells = np.zeros((len(self.pairs), LEVELS * LEVELS), np.float32)
        for group, part in zip(self.groups, self.slices, strict=True):
            values = group.basis @ coefficients[part]
            if group.is_pair:
                cells[self.pair_index[group.columns]] += values
            else:
                tables[group.columns[0], : len(values)] += values
        scores = np.full(self.table.n_rows, coefficients[0], np.float32)
        codes = self.table.codes
        _core.add_scores(codes, tables, self.coarse, self.pairs, cells, scores, self.n_threads)
        return scores

    def project(self, values: NDArray[Any]) -> Floats:
        """Return the sum of a value over the rows, by function."""
        bins, cells = self.sum_bins(values)
        out = np.empty(self.size)
        out[0] = values.sum(dtype=np.float64)
        for group, part in zip(self.groups, self.slices, strict=True):
            if group.is_pair:
                out[part] = group.basis.T @ cells[self.pair_index[group.columns]]
            else:
                out[part] = group.basis.T @ bins[group.columns[0], : len(group.basis)]
        return out

    def sum_bins(self, values: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the sums of a value over bins of columns and over cells of pairs."""
        bins = np.empty((len(self.table.columns), 256))
        cells = np.empty((len(self.pairs), LEVELS * LEVELS))
        amounts = np.ascontiguousarray(values, np.float32)
        codes = self.table.codes
        _core.sum_bins(codes, amounts, bins, self.coarse, self.pairs, cells, self.n_threads)
        return bins, cells

    def gram(self, curvature: NDArray[Any], output: int) -> Floats:
        """Return the curvature by coefficients, of the sampled rows for all."""
        if self._sampled is None:
            codes = self.table.codes[:, self.sample]
            coarse = self.coarse[:, self.sample] if len(self.coarse) else self.coarse
            self._sampled = expand(self.groups, codes, coarse, np.float32)
        here = np.asarray(curvature[self.sample] * self.scale, np.float32)
        if output in self._last:
            before, gram = self._last[output]
            if float(np.abs(here - before).sum()) <= _UNCHANGED * float(before.sum()):
                return gram
        gram = np.asarray(ssyrk(1.0, (self._sampled * np.sqrt(here)[:, None]).T, lower=1))
        self._last[output] = here, gram.astype(np.float64)
        return self._last[output][1]


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
