"""The cells of a column: the parts of its domain that conditions distinguish.

A condition on numbers is described by *boundaries*: a boundary u parts x < u from x ≥ u. In
float64 "x > v" is the boundary next after v, so that half-open cells are exact and no
cell is needed for a threshold itself. Columns of few whole numbers and of categories
have a cell for each value. A missing value has a cell of its own, the last, or counts as
a value that nothing distinguishes it from. A set of cells is a mask: bit c is cell c.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newron.formatting import format_label, format_number, quote, quote_unit
from newron.model.arithmetic import Floats
from newron.model.condition import Condition, find_runs, list_values
from newron.model.schema import Column, Schema
from newron.tables.field import LARGEST_INPUT

_LEAST = math.nextafter(-LARGEST_INPUT, 0.0)  # number of a table: none is below it


@dataclass(frozen=True)
class Axis:
    """The cells of one column.

    - ``column``: Where values may be missing, these have a cell of their own.
    - ``absent``: The value that a missing one counts as, in a column where none is missing.

    >>> age = Axis(Column("age", 18.0, 90.0), (54.5, 60.0))
    >>> age.locate(np.array([54.5, 17.0, 75.0])).tolist()
    [1, 0, 2]
    >>> age.format(0b010), age.format(0b101)
    ('54.5 ≤ age < 60', 'age < 54.5 or ≥ 60')
    """

    column: Column
    boundaries: tuple[float, ...] = ()
    absent: float | None = None

    @property
    def listed(self) -> bool:
        """Whether every value has a cell of its own."""
        return self.column.categories is not None or self.values is not None

    @cached_property
    def values(self) -> tuple[float, ...] | None:
        """The values of a column of few numbers."""
        return list_values(self.column)

    @cached_property
    def n_values(self) -> int:
        """How many cells there are besides that of missing values."""
        if self.column.categories is not None:
            return len(self.column.categories)
        return len(self.boundaries) + 1 if self.values is None else len(self.values)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return self.n_values + self.column.gaps

    @property
    def full(self) -> int:
        """The mask of all cells."""
        return (1 << self.n_cells) - 1

    @property
    def missing(self) -> int:
        """The mask of missing values, 0 where the column has none."""
        return 1 << self.n_values if self.column.gaps else 0

    @cached_property
    def missing_cell(self) -> int:
        """The mask of the cell in which missing values are, their own or another; 0 for none."""
        if self.absent is None:
            return self.missing
        return 1 << int(self.locate(np.array([self.absent]))[0])

    # ---- between rows and cells ----

    def locate(self, x: Floats) -> NDArray[np.intp]:
        """Return the cell of each value; -1 for what is outside the domain."""
        missing = np.isnan(x)
        if self.column.categories is not None:
            # A category that training has not seen counts as missing, as in the network.
            missing |= ~((x >= 0) & (x < self.n_values))
            cells = np.where(missing, 0, x).astype(np.intp)
        elif self.values is not None:
            values = np.array(self.values)
            cells = np.minimum(np.searchsorted(values, x), len(values) - 1)
            cells = np.where(values[cells] == x, cells, self._locate_unseen(x))
        else:
            cells = np.searchsorted(np.array(self.boundaries), x, side="right")
            cells = np.where(x >= LARGEST_INPUT, -1, cells)  # stands for "never"
        if not missing.any():
            return cells
        return np.where(missing, self.missing_cell.bit_length() - 1, cells)

    def contains(self, x: Floats) -> NDArray[np.bool_]:
        """Return which values lie in the domain."""
        if self.values is None:
            return np.asarray(self.locate(x) >= 0)
        return np.isin(x, self.values) | (np.isnan(x) & bool(self.missing_cell))

    def _locate_unseen(self, x: Floats) -> NDArray[np.intp]:
        """Return the cell of a listed value that no boundary parts from x, else -1.

        So 15 is described like 14 where no condition lies between them, as in the network.
        """
        boundaries = np.array(self.boundaries)
        runs = np.searchsorted(boundaries, np.array(self.values), side="right")
        cells = np.full(len(boundaries) + 1, -1)
        cells[runs] = np.arange(len(runs))
        return np.asarray(cells[np.searchsorted(boundaries, x, side="right")])

    @cached_property
    def representatives(self) -> Floats:
        """One value of each cell, within the observed range where that is possible."""
        if self.column.categories is not None:
            places = np.arange(self.n_values, dtype=np.float64)
        elif self.values is not None:
            places = np.array(self.values)
        else:
            places = self._pick_values()
        return np.append(places, np.nan) if self.column.gaps else places

    def _pick_values(self) -> Floats:
        end = math.nextafter(LARGEST_INPUT, 0.0)
        first = min(max(self.column.low, -end), end)  # a range may go to what no number reaches
        if self.boundaries:
            first = min(first, math.nextafter(self.boundaries[0], -math.inf))
        return np.array([first, *self.boundaries])

    def pick_value(self, cell: int) -> float:
        """Return a short number in a cell, within the observed range where that is possible."""
        if self.listed or not self.boundaries:
            return float(self.representatives[cell])
        low = self.column.low if cell == 0 else self.boundaries[cell - 1]
        high = self.column.high if cell == len(self.boundaries) else self.boundaries[cell]
        middle = low + (min(high, self.column.high) - low) / 2
        for digits in range(-12, 16):
            value = round(middle, digits)
            if low <= value < high:
                return value + 0.0
        return float(self.representatives[cell])

    # ---- between cells and conditions ----

    def to_condition(self, mask: int, *, midpoints: bool = False) -> Condition:
        """Return the condition that a value lies in one of some cells.

        - ``midpoints``: Whether listed values are distinguished half-way between them, as a network
          does, and not named.
        """
        inside = [bool(mask >> c & 1) for c in range(self.n_values)]
        missing = bool(mask & self.missing_cell)
        if self.column.categories is not None:
            return Condition((), tuple(inside), missing)
        low, high = self._make_ends(midpoints)
        return Condition(tuple((low[a], high[b]) for a, b in find_runs(inside)), (), missing)

    def _make_ends(self, midpoints: bool) -> tuple[list[float], list[float]]:
        """Return the lower and the upper end of each cell of numbers."""
        if self.values is None:
            highs = [math.nextafter(u, -math.inf) for u in self.boundaries]
            return [-math.inf, *self.boundaries], [*highs, math.inf]
        if not midpoints:
            return list(self.values), list(self.values)
        middle = [a + (b - a) / 2 for a, b in pairwise(self.values)]
        return [-math.inf, *middle], [*middle, math.inf]

    def to_mask(self, condition: Condition) -> int:
        """Return the cells whose values fulfil a condition; it must not change within a cell."""
        held = condition.holds(self.representatives).tolist()
        return sum(1 << c for c, inside in enumerate(held) if inside)

    def format(self, mask: int, *, named: bool = True) -> str:
        """Return a set of cells in the words of rules, as :meth:`Condition.format` does."""
        return self.to_condition(mask).format(self.column, named=named)

    def format_absent(self) -> str:
        """Return what a missing value counts as, in the words of rules."""
        assert self.absent is not None  # noqa: S101 - asked where there is one
        column = self.column
        if column.categories is not None:
            return f"{quote(column.name)} = {format_label(column.categories[int(self.absent)])}"
        unit = f" {quote_unit(column.unit)}" if column.unit else ""
        return f"{quote(column.name)} = {format_number(self.absent)}{unit}"


def make_axes(
    schema: Schema, boundaries: Sequence[Iterable[float]], *, gaps: bool = False
) -> tuple[Axis, ...]:
    """Return the axes of a schema's columns, with these boundaries of numbers.

    With ``gaps`` missing values have their own cell in every column that may lack some.
    """
    return tuple(
        Axis(
            replace(column, gaps=True) if gaps and not column.required else column,
            ()
            if column.categories is not None
            else tuple(sorted({u for u in map(float, places) if _LEAST < u < LARGEST_INPUT})),
        )
        for column, places in zip(schema.columns, boundaries, strict=True)
    )
