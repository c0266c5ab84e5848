"""Hidden neurons that read two columns, fitted to surfaces."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.engine.binning import Bins, LevelBins
from newron.engine.design import average_levels, coarsen
from newron.engine.network import Function, Neuron, drop_last_digits, tanh_unit
from newron.engine.scales import Scale
from newron.engine.shapes import SURFACE_LEVELS
from newron.model.arithmetic import Floats

_ITERATIONS = 25
_RIDGE = 1e-4  # in units of the surface's variance
_FARTHEST = 2.5  # where a level of a category may lie


@dataclass(frozen=True, eq=False)
class Side:
    """One column of a surface: where its levels and bins lie on an axis."""

    column: Bins
    scale: Scale | None  # of a column of numbers
    level: NDArray[np.uint8]
    there: NDArray[np.intp]  # levels with rows
    mass: Floats  # of these, which sum to 1
    positions: Floats  # of these
    bins: Floats  # positions of all bins and of missing values

    @classmethod
    def make(cls, column: Bins, scales: list[Scale]) -> Side:
        """Put a column on an axis by its rank; categories are put there later."""
        level = coarsen(column, SURFACE_LEVELS)
        mass = np.bincount(level[: len(column.mass)], column.mass, minlength=SURFACE_LEVELS)
        there = np.flatnonzero(mass > 0.0)
        scale = scales[-1] if scales else None
        bins = np.zeros(len(column.mass)) if scale is None else np.append(scale.bins, 0.0)
        positions = average_levels(column, level, SURFACE_LEVELS, bins[:, None])[there, 0]
        part = mass[there] / mass.sum()
        return cls(column, scale, level, there, part, np.ascontiguousarray(positions), bins)

    def turn(self, direction: Floats) -> Side:
        """Put the levels of a category along a direction of the surface."""
        if self.scale is not None:
            return self
        size = max(float(np.sqrt(self.mass @ direction**2)), 1e-9)
        positions = np.ascontiguousarray(np.clip(direction / size, -_FARTHEST, _FARTHEST))
        by_level = np.zeros(SURFACE_LEVELS)
        by_level[self.there] = positions
        return replace(self, positions=positions, bins=by_level[self.level[: len(self.bins)]])

    def write(self, w: float, b: float) -> Function:
        """Return the neuron's function of this column."""
        heights = tanh_unit(w * (self.bins - b))
        missing = float(heights[-1])
        if self.column.missing_mass == 0.0:
            missing = float(self.column.fraction @ heights[:-1])
        if self.scale is None:
            assert isinstance(self.column, LevelBins)  # noqa: S101 - numbers have a scale
            levels = heights[self.column.find_codes()[:-1]]
            return Function(self.column.source, missing=missing, levels=levels)
        return Function(
            self.column.source,
            (self.scale.steepness(w),),
            (self.scale.position(b),),
            rank=self.scale.rank is not None,
            missing=missing,
        )


@dataclass(frozen=True, eq=False)
class FoundNeuron:
    """A neuron, what it adds to every score and to each column alone, and what is left."""

    neuron: Neuron
    mean: float
    alone: tuple[Floats, Floats]  # by bin
    left: Floats


def find_neuron(
    values: Floats, first: Side, second: Side, variance: float, bump: bool
) -> FoundNeuron:
    """Return the neuron nearest to a surface without main effects."""
    left, right = _find_directions(values, first.mass, second.mass)
    first, second = first.turn(left), second.turn(right)
    found = _core.fit_neuron(
        drop_last_digits(first.positions),
        drop_last_digits(second.positions),
        drop_last_digits(first.mass, 12),
        drop_last_digits(second.mass, 12),
        drop_last_digits(values),
        float(np.round(_RIDGE * variance, 12)),
        bump,
        _ITERATIONS,
    ).tolist()
    weight = found[8]
    cells = weight * _evaluate(found, bump, first.positions, second.positions)
    mean = float(first.mass @ cells @ second.mass)
    rows, columns = cells @ second.mass, first.mass @ cells
    by_first = weight * _evaluate(found, bump, first.bins, second.positions) @ second.mass
    by_second = first.mass @ (weight * _evaluate(found, bump, first.positions, second.bins))
    factors = 2 if bump else 1
    neuron = Neuron(
        (first.write(found[0], found[1]), second.write(found[2], found[3])),
        tuple(found[4:8:2][:factors]),
        tuple(found[5:8:2][:factors]),
        weight,
    )
    rest = values - (cells - rows[:, None] - columns + mean)
    return FoundNeuron(neuron, mean, (by_first - mean, by_second - mean), rest)


def _evaluate(found: list[float], bump: bool, first: Floats, second: Floats) -> Floats:
    total = tanh_unit(found[0] * (first - found[1]))[:, None]
    total = total + tanh_unit(found[2] * (second - found[3]))
    product = np.tanh(found[4] * (total - found[5]))
    if bump:
        product = product * np.tanh(found[6] * (total - found[7]))
    return np.asarray(0.5 * (product + 1.0))


def _find_directions(values: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the leading functions of either column in a surface."""
    roots = np.sqrt(first), np.sqrt(second)
    left, _, right = np.linalg.svd(roots[0][:, None] * values * roots[1], full_matrices=False)
    return left[:, 0] / roots[0], right[0] / roots[1]
