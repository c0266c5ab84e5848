"""The cells of a column: the parts of its domain that conditions tell apart.

A condition on numbers is told by *boundaries*: a boundary u parts x < u from x ≥ u. In
float64 "x > v" is the boundary next after v, so that half-open cells are exact and no
cell is needed for a threshold itself. Columns of few whole numbers and of categories
have a cell for each value; a column with gaps has one more cell for them, the last.
A set of cells is a mask: bit c is cell c.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from newron.formatting import format_label, format_number, quote, quote_unit
from newron.model.arithmetic import Floats
from newron.model.network import LARGEST_INPUT
from newron.model.schema import Column, Schema

__all__ = ["Axis", "make_axes", "quote"]

_MOST_LISTED = 1000  # values of a column that are kept apart


@dataclass(frozen=True)
class Axis:
    """The cells of one column.

    Examples
    --------
    >>> age = Axis(Column("age", 18.0, 90.0), (54.5, 60.0))
    >>> age.locate(np.array([54.5, 17.0, 75.0])).tolist()
    [1, 0, 2]
    >>> age.tell(0b010), age.tell(0b101)
    ('54.5 ≤ age < 60', 'age < 54.5 or ≥ 60')
    """

    column: Column
    boundaries: tuple[float, ...] = ()

    @property
    def listed(self) -> bool:
        """Whether every value has a cell of its own."""
        return self.column.categories is not None or self.values is not None

    @cached_property
    def values(self) -> tuple[float, ...] | None:
        """The values of a column of few numbers."""
        values = self.column.values
        if values is None or len(values) > _MOST_LISTED:
            return None
        return tuple(sorted(values))

    @cached_property
    def n_places(self) -> int:
        """How many cells there are besides that of gaps."""
        if self.column.categories is not None:
            return len(self.column.categories)
        return len(self.boundaries) + 1 if self.values is None else len(self.values)

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return self.n_places + self.column.gaps

    @property
    def full(self) -> int:
        """The mask of all cells."""
        return (1 << self.n_cells) - 1

    @property
    def gap(self) -> int:
        """The mask of gaps, 0 where the column has none."""
        return 1 << self.n_places if self.column.gaps else 0

    # ---- between rows and cells ----

    def locate(self, x: Floats) -> NDArray[np.intp]:
        """Give the cell of each value; -1 for what is outside the domain."""
        missing = np.isnan(x)
        if self.column.categories is not None:
            # A category that training has not seen counts as missing, as in the network.
            missing |= ~((x >= 0) & (x < self.n_places))
            cells = np.where(missing, 0, x).astype(np.intp)
        elif self.values is not None:
            values = np.array(self.values)
            cells = np.minimum(np.searchsorted(values, x), len(values) - 1)
            cells = np.where(values[cells] == x, cells, self._place_unseen(x))
        else:
            cells = np.searchsorted(np.array(self.boundaries), x, side="right")
            cells = np.where(x >= LARGEST_INPUT, -1, cells)  # stands for "never"
        return np.where(missing, self.n_places if self.column.gaps else -1, cells)

    def contains(self, x: Floats) -> NDArray[np.bool_]:
        """Tell which values lie in the domain."""
        if self.values is None:
            return np.asarray(self.locate(x) >= 0)
        return np.isin(x, self.values) | (np.isnan(x) & self.column.gaps)

    def _place_unseen(self, x: Floats) -> NDArray[np.intp]:
        """Give the cell of a listed value that no boundary parts from x, else -1.

        So 15 is told like 14 where no condition lies between them, as in the network.
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
            places = np.arange(self.n_places, dtype=np.float64)
        elif self.values is not None:
            places = np.array(self.values)
        else:
            places = self._pick_places()
        return np.append(places, np.nan) if self.column.gaps else places

    def _pick_places(self) -> Floats:
        if not self.boundaries:
            return np.array([self.column.low])
        first = min(self.column.low, math.nextafter(self.boundaries[0], -math.inf))
        return np.array([first, *self.boundaries])

    # ---- words ----

    def tell(self, mask: int) -> str:
        """Tell a set of cells in words.

        Only what is outside a mask of all cells or none can be told.
        """
        name = quote(self.column.name)
        if mask == self.gap:
            return f"{name} missing"
        if mask == self.full ^ self.gap:
            return f"{name} not missing"
        places = mask & ~self.gap
        if self.column.categories is not None:
            told = self._tell_categories(name, places)
        elif self.values is not None:
            told = self._tell_values(name, places)
        else:
            told = self._tell_runs(name, places)
        return f"{told} or missing" if mask & self.gap else told

    def _tell_categories(self, name: str, mask: int) -> str:
        assert self.column.categories is not None  # noqa: S101 - asked of categories alone
        words = [format_label(label) for label in self.column.categories]
        inside = [word for c, word in enumerate(words) if mask >> c & 1]
        outside = [word for c, word in enumerate(words) if not mask >> c & 1]
        return _tell_members(name, inside, outside)

    def _tell_values(self, name: str, mask: int) -> str:
        assert self.values is not None  # noqa: S101 - asked of listed values alone
        words = [format_number(value) for value in self.values]
        inside = [c for c in range(len(words)) if mask >> c & 1]
        outside = [words[c] for c in range(len(words)) if c not in inside]
        first, last = inside[0], inside[-1]
        unit = self._unit
        if len(inside) > 1 and len(outside) > 1 and last - first == len(inside) - 1:
            if first == 0:
                return f"{name} ≤ {words[last]}{unit}"
            if last == len(words) - 1:
                return f"{name} ≥ {words[first]}{unit}"
            return f"{words[first]} ≤ {name} ≤ {words[last]}{unit}"
        return _tell_members(name, [words[c] for c in inside], outside, unit)

    def _tell_runs(self, name: str, mask: int) -> str:
        places = (1 << self.n_places) - 1
        hole = self._tell_point(places & ~mask)
        if hole is not None:
            return f"{name} ≠ {hole}{self._unit}"
        told = [self._tell_run(name, first, last) for first, last in _find_runs(mask)]
        # The name is told once: "age < 3 or ≥ 5".
        rest = [part.removeprefix(f"{name} ") for part in told[1:]]
        return " or ".join([told[0], *rest])

    def _tell_point(self, mask: int) -> str | None:
        """Give the only value of a cell, if it has but one."""
        runs = _find_runs(mask)
        if len(runs) != 1 or runs[0][0] != runs[0][1] or not 0 < runs[0][0] < self.n_places - 1:
            return None
        low, high = self.boundaries[runs[0][0] - 1 : runs[0][0] + 1]
        return format_number(low) if math.nextafter(low, math.inf) == high else None

    def _tell_run(self, name: str, first: int, last: int) -> str:
        unit = self._unit
        point = self._tell_point(1 << first) if first == last else None
        if point is not None:
            return f"{name} = {point}{unit}"
        low = None if first == 0 else _shorter(self.boundaries[first - 1], "≥", ">")
        high = None if last == self.n_places - 1 else _shorter(self.boundaries[last], "<", "≤")
        if low is None and high is not None:
            return f"{name} {high[0]} {high[1]}{unit}"
        if high is None and low is not None:
            return f"{name} {low[0]} {low[1]}{unit}"
        assert low is not None and high is not None  # noqa: S101, PT018 - not all cells
        turned = {"≥": "≤", ">": "<"}[low[0]]
        return f"{low[1]} {turned} {name} {high[0]} {high[1]}{unit}"

    @property
    def _unit(self) -> str:
        return f" {quote_unit(self.column.unit)}" if self.column.unit else ""


def _shorter(boundary: float, at: str, beyond: str) -> tuple[str, str]:
    """Write a boundary by itself or by the number before it, whichever is shorter."""
    own = format_number(boundary)
    before = format_number(math.nextafter(boundary, -math.inf))
    return (beyond, before) if len(before) < len(own) else (at, own)


def _find_runs(mask: int) -> list[tuple[int, int]]:
    """Give the first and last cell of each run of cells."""
    runs: list[tuple[int, int]] = []
    for c in range(mask.bit_length()):
        if mask >> c & 1:
            if runs and runs[-1][1] == c - 1:
                runs[-1] = (runs[-1][0], c)
            else:
                runs.append((c, c))
    return runs


def _tell_members(name: str, inside: Sequence[str], outside: Sequence[str], unit: str = "") -> str:
    if len(inside) == 1:
        return f"{name} = {inside[0]}{unit}"
    if len(outside) == 1:
        return f"{name} ≠ {outside[0]}{unit}"
    if len(inside) > 3 and len(inside) > len(outside):
        return f"{name} not in {{{', '.join(outside)}}}{unit}"
    return f"{name} in {{{', '.join(inside)}}}{unit}"


def make_axes(schema: Schema, boundaries: Sequence[Iterable[float]]) -> tuple[Axis, ...]:
    """Give the axes of a schema's columns, with these boundaries of numbers."""
    return tuple(
        Axis(
            column,
            ()
            if column.categories is not None
            else tuple(sorted({u for u in map(float, places) if abs(u) < LARGEST_INPUT})),
        )
        for column, places in zip(schema.columns, boundaries, strict=True)
    )
