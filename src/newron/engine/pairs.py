"""Strong pairs: what two columns do together, found on cells of both.

The evidence of a small group of products of the columns' leading functions tells how strong
a pair is, for all pairs at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.engine.basis import Group, PairBasis
from newron.engine.binning import BinnedTable
from newron.engine.design import LEVELS, average_levels, coarsen
from newron.engine.rows import Codes, Index
from newron.model.arithmetic import Floats

Pair = tuple[int, int]
Differentiate = Callable[[Index | None], Sequence[tuple[NDArray[Any], NDArray[Any]]]]

_SCAN_LEVELS = 16
_SCAN_FUNCTIONS = 6, 4  # of a column, where pairs are few and many
_FEW_PAIRS = 1_000  # times outputs
_SCAN_ROWS = 100_000
_MAX_PAIRS, _PAIRS_PER_COLUMN = 30, 2
_MAX_COLUMNS = 128  # whose pairs are looked at
_VARIANCES = 10.0 ** np.arange(-3.0, 1.1, 0.5)
_MIN_PART = 2e-3  # of a pair's variance below which a product is left out


@dataclass(frozen=True)
class PairScan:
    """A pair, the evidence for it, and the prior variance of the greatest evidence."""

    pair: Pair
    gain: float
    variance: float


def find_pairs(
    table: BinnedTable,
    bases: Mapping[int, PairBasis],
    differentiate: Differentiate,
    importance: Floats,
    least_gain: float,
    n_threads: int,
) -> list[PairScan]:
    """Return the pairs of more evidence than ``least_gain``, strongest first.

    ``differentiate`` returns gradient and curvature of some rows for each output. Of very many
    columns the most important are looked at.
    """
    columns = sorted(sorted(bases, key=lambda c: -importance[c])[:_MAX_COLUMNS])
    if len(columns) < 2:
        return []
    gain, variance = _scan(table, bases, differentiate, columns, n_threads)
    pairs = list(combinations(columns, 2))
    order = np.argsort(-gain, kind="stable")[: min(_MAX_PAIRS, _PAIRS_PER_COLUMN * len(columns))]
    found = [PairScan(pairs[q], float(gain[q]), float(variance[q])) for q in order.tolist()]
    return [scan for scan in found if scan.gain > least_gain]


def _scan(
    table: BinnedTable,
    bases: Mapping[int, PairBasis],
    differentiate: Differentiate,
    columns: list[int],
    n_threads: int,
) -> tuple[Floats, Floats]:
    """Return evidence and variance of all pairs of the columns."""
    index = table.rows.sample(_SCAN_ROWS, 2)
    scale = 1.0 if index is None else table.n_rows / _SCAN_ROWS
    fine = table.rows.take_codes(index)
    levels = [coarsen(table.columns[c], _SCAN_LEVELS) for c in columns]
    codes = np.stack([level[fine[c]] for c, level in zip(columns, levels, strict=True)])
    n_pairs = len(columns) * (len(columns) - 1) // 2
    total = np.zeros((len(_VARIANCES), n_pairs))
    found = differentiate(index)
    leading = slice(_SCAN_FUNCTIONS[n_pairs * len(found) > _FEW_PAIRS])
    parts = [
        _weigh_basis(bases[c], table, c, level, leading)
        for c, level in zip(columns, levels, strict=True)
    ]
    for derivatives in found:
        cells = np.empty((n_pairs, _SCAN_LEVELS, _SCAN_LEVELS, 2))
        summed = [np.ascontiguousarray(part, np.float32) for part in derivatives]
        _core.scan_pairs(codes, _SCAN_LEVELS, summed[0], summed[1], cells, n_threads)
        total += _measure_evidence(cells * scale, parts)
    best = np.argmax(total, axis=0)
    return total[best, np.arange(n_pairs)], _VARIANCES[best]


def _weigh_basis(
    basis: PairBasis, table: BinnedTable, c: int, level: Codes, leading: slice
) -> Floats:
    weighed = basis.basis[:, leading] * np.sqrt(basis.part[leading])
    return average_levels(table.columns[c], level, _SCAN_LEVELS, weighed)


def _measure_evidence(cells: Floats, parts: list[Floats]) -> Floats:
    """Return the evidence of every pair for each prior variance, (variances, pairs)."""
    n_max = max(part.shape[1] for part in parts)
    padded = np.stack([np.pad(part, ((0, 0), (0, n_max - part.shape[1]))) for part in parts])
    products = np.einsum("cli,clj->clij", padded, padded).reshape(len(parts), -1, n_max * n_max)
    out, at = [], 0
    for a in range(len(parts) - 1):
        here = cells[at : at + len(parts) - 1 - a]
        at += len(here)
        gradient = np.matmul(np.matmul(padded[a].T, here[..., 0]), padded[a + 1 :])
        curvature = np.matmul(np.matmul(products[a].T, here[..., 1]), products[a + 1 :])
        # From (i i', j j') to (i j, i' j').
        curvature = curvature.reshape(-1, n_max, n_max, n_max, n_max).swapaxes(2, 3)
        values, vectors = np.linalg.eigh(curvature.reshape(-1, n_max * n_max, n_max * n_max))
        values = np.maximum(values, 0.0)
        along = np.einsum("pij,pi->pj", vectors, gradient.reshape(len(here), -1)) ** 2
        out.append(
            [
                0.5 * (along / (values + 1.0 / s) - np.log1p(values * s)).sum(axis=1)
                for s in _VARIANCES
            ]
        )
    return np.concatenate(out, axis=1)


def coarsen_rows(table: BinnedTable, codes: Codes) -> Codes:
    """Return rows of codes with as many levels as pairs have."""
    return np.stack(
        [coarsen(bins, LEVELS)[own] for bins, own in zip(table.columns, codes, strict=True)]
    )


def make_pair_group(table: BinnedTable, bases: Mapping[int, PairBasis], scan: PairScan) -> Group:
    """Return the products of two columns' leading functions, by cell."""
    a, b = scan.pair
    first, second = bases[a], bases[b]
    levels = [
        average_levels(bins, coarsen(bins, LEVELS), LEVELS, basis.basis)
        for bins, basis in ((table.columns[a], first), (table.columns[b], second))
    ]
    part = np.outer(first.part, second.part).ravel()
    products = np.einsum("ai,bj->abij", *levels).reshape(LEVELS * LEVELS, -1) * np.sqrt(part)
    return Group(
        "pair", scan.pair, products[:, find_products(part)], 0.5 * max(scan.variance, 1e-3)
    )


def find_products(part: Floats) -> NDArray[np.bool_]:
    """Return which products of two columns' functions have a part that matters."""
    return np.asarray(part.ravel() > _MIN_PART * part.sum())
