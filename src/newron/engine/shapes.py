"""Surfaces of pairs of columns, out of the additive model's groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from newron.engine.additive import Additive
from newron.engine.design import average_levels, coarsen
from newron.engine.pairs import Pair, find_products
from newron.model.arithmetic import Floats

SURFACE_LEVELS = 24  # of a column
_COVERED = 0.97  # of the surfaces' variance
_PAIRS_PER_COLUMN = 3
_NOTHING = 0.02  # nats, below which a surface is left out


@dataclass(frozen=True, eq=False)
class _Part:
    """A surface as a matrix of coefficients of products of two columns' functions."""

    left: Floats  # (levels, functions)
    coefficients: Floats
    right: Floats
    effective: float

    def evaluate(self) -> Floats:
        return np.asarray(self.left @ self.coefficients @ self.right.T)


@dataclass(frozen=True, eq=False)
class Surface:
    """What two columns do together, on levels of both, without what each does alone."""

    pair: Pair
    values: Floats
    variance: float
    effective: float  # number of parameters


def list_surfaces(model: Additive, output: int, curvature: float) -> Iterator[Surface]:
    """Yield the surfaces that matter, the largest first."""
    mass = _LevelMass(model)
    parts: dict[Pair, list[_Part]] = {}
    for group, part, used in zip(model.at.groups, model.at.slices, model.at.effective, strict=True):
        values, n_effective = model.at.values[part, output], float(used[output])
        if group.kind == "all":
            for pair, found in _split_all(model, mass, values, n_effective):
                parts.setdefault(pair, []).append(found)
        elif group.is_pair:
            pair = (group.columns[0], group.columns[1])
            found = _read_pair(model, mass, pair, values, n_effective)
            parts.setdefault(pair, []).append(found)
    yield from _choose(_measure(parts, mass), len(model.table.columns), curvature)


def _choose(surfaces: list[Surface], n_columns: int, curvature: float) -> Iterator[Surface]:
    surfaces.sort(key=lambda surface: (-surface.variance, surface.pair))
    total, covered = sum(surface.variance for surface in surfaces), 0.0
    for surface in surfaces[: _PAIRS_PER_COLUMN * n_columns]:
        if covered >= _COVERED * total or 0.5 * curvature * surface.variance < _NOTHING:
            return
        covered += surface.variance
        yield surface


class _LevelMass:
    """The levels of columns in surfaces, and their parts of the rows."""

    def __init__(self, model: Additive) -> None:
        self.columns = model.table.columns
        self.levels = [coarsen(bins, SURFACE_LEVELS) for bins in self.columns]
        self.mass = [
            np.bincount(level[: len(bins.mass)], bins.mass, minlength=SURFACE_LEVELS)
            / model.table.total
            for bins, level in zip(self.columns, self.levels, strict=True)
        ]

    def average(self, column: int, values: Floats) -> Floats:
        """Return functions of bins as functions of levels."""
        return average_levels(self.columns[column], self.levels[column], SURFACE_LEVELS, values)


def _split_all(
    model: Additive, mass: _LevelMass, values: Floats, effective: float
) -> Iterator[tuple[Pair, _Part]]:
    """Yield the largest pairs' parts of the group of all pairs."""
    surfaces = model.surfaces
    assert surfaces is not None  # noqa: S101 - the group is made of them
    product, begin, columns = surfaces.combine(values), surfaces.begin, surfaces.columns
    functions = [mass.average(c, part) for c, part in zip(columns, surfaces.parts, strict=True)]
    inner = block_diag(*((f.T * mass.mass[c]) @ f for c, f in zip(columns, functions, strict=True)))
    contributions = (inner @ product @ inner) * product
    variance = np.triu(
        np.add.reduceat(np.add.reduceat(contributions, begin[:-1], 0), begin[:-1], 1), 1
    )
    total = max(float(variance.sum()), 1e-300)
    limit = 2 * _PAIRS_PER_COLUMN * len(model.table.columns)
    order = np.argsort(-variance, axis=None, kind="stable")[:limit]
    for a, b in zip(*np.unravel_index(order, variance.shape), strict=True):
        if not variance[a, b] > 0.0:
            return
        block = product[begin[a] : begin[a + 1], begin[b] : begin[b + 1]]
        part = effective * float(variance[a, b]) / total
        yield (columns[a], columns[b]), _Part(functions[a], block, functions[b], part)


def _read_pair(
    model: Additive, mass: _LevelMass, pair: Pair, values: Floats, effective: float
) -> _Part:
    first, second = model.bases[pair[0]], model.bases[pair[1]]
    part = np.outer(first.part, second.part)
    coefficients = np.zeros(part.size)
    coefficients[find_products(part)] = values
    left, right = mass.average(pair[0], first.basis), mass.average(pair[1], second.basis)
    return _Part(left, coefficients.reshape(part.shape) * np.sqrt(part), right, effective)


def _measure(parts: dict[Pair, list[_Part]], mass: _LevelMass) -> list[Surface]:
    out = []
    for pair, found in parts.items():
        values = np.sum([part.evaluate() for part in found], axis=0)
        variance = float(mass.mass[pair[0]] @ values**2 @ mass.mass[pair[1]])
        out.append(Surface(pair, values, variance, max(sum(p.effective for p in found), 0.2)))
    return out
