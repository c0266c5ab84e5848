"""All pairs of columns at once, for few rows.

The kernel of all pairs is half of (the sum of the columns' kernels, squared, less the sum of
their squares). Its leading functions are one group, so no pair has to be selected. A sum of
them is a surface for every pair of columns: a matrix of coefficients of products.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from newron.engine.basis import Group, PairBasis
from newron.engine.binning import Codes
from newron.model.arithmetic import Floats

_RANK = 60
_EXTRA = 10  # vectors beyond the rank, for the iteration's sake


@dataclass(frozen=True, eq=False)
class AllPairs:
    """The leading functions of the kernel of all pairs, on rows and as surfaces."""

    columns: list[int]
    parts: list[Floats]  # of each column, its functions by bin
    begin: list[int]  # where each column's functions lie, and the end
    rows: Floats  # those functions on the training rows
    dual: Floats  # (rows, functions of the group)
    mean: Floats  # of each function of the group

    def combine(self, coefficients: Floats) -> Floats:
        """Return the coefficients of products of columns' functions, for all pairs at once."""
        product = self.rows.T @ ((self.dual @ coefficients)[:, None] * self.rows)
        for first, end in zip(self.begin[:-1], self.begin[1:], strict=True):
            product[first:end, first:end] = 0.0
        return np.asarray(product)

    def expand(self, codes: Codes) -> Floats:
        """Return the functions of the group on rows of these codes."""
        rows = _join(self.columns, self.parts, codes)
        return np.asarray(_make_kernel(rows, self.rows, self.begin) @ self.dual - self.mean)


def make_all_pairs(
    bases: Mapping[int, PairBasis], codes: Codes, weight: Floats, importance: Floats
) -> tuple[AllPairs, Group] | None:
    """Return the group of all pairs, or None where no two columns vary.

    Pairs of columns that are important by themselves are weighed more.
    """
    columns = sorted(bases)
    if len(columns) < 2:
        return None
    size = (importance / importance[columns].mean()) ** 0.25
    parts = [_weigh(bases[c], float(size[c])) for c in columns]
    begin = np.cumsum([0, *(part.shape[1] for part in parts)]).tolist()
    rows = _join(columns, parts, codes)
    mass = weight / weight.sum()
    root = np.sqrt(mass)[:, None]
    kernel = _make_kernel(rows, rows, begin)
    inner = root * kernel * root.T
    values, vectors = _find_leading(inner)
    if not len(values):
        return None
    dual = root * vectors / np.sqrt(values * float(np.trace(inner)))
    functions = kernel @ dual
    mean = mass @ functions
    group = Group("all", (), functions - mean, 0.05)
    return AllPairs(columns, parts, begin, rows, dual, mean), group


def _weigh(basis: PairBasis, weight: float) -> Floats:
    return np.asarray(basis.basis * np.sqrt(basis.part) * weight)


def _join(columns: list[int], parts: list[Floats], codes: Codes) -> Floats:
    return np.concatenate([part[codes[c]] for c, part in zip(columns, parts, strict=True)], axis=1)


def _make_kernel(rows: Floats, others: Floats, begin: list[int]) -> Floats:
    kernel = (rows @ others.T) ** 2
    for first, end in itertools.pairwise(begin):
        kernel -= (rows[:, first:end] @ others[:, first:end].T) ** 2
    kernel *= 0.5
    return np.asarray(kernel)


def _find_leading(kernel: Floats) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues and their vectors, by subspace iteration."""
    n = len(kernel)
    rank = min(_RANK, n - 1)
    space = np.random.default_rng(0).normal(size=(n, min(rank + _EXTRA, n)))
    for _ in range(3):
        space = np.linalg.qr(kernel @ space)[0]
    values, vectors = np.linalg.eigh(space.T @ (kernel @ space))
    values, vectors = values[::-1][:rank], (space @ vectors)[:, ::-1][:, :rank]
    kept = values > 1e-6 * max(float(values[0]), 1e-12)
    return values[kept], vectors[:, kept]
