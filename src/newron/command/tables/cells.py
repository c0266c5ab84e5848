"""What cells mean: gaps, numbers, categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from newron.command.tables.source import Cells
from newron.model.arithmetic import Floats
from newron.model.frame import Label

__all__ = ["GAPS", "Reading", "make_label", "read_number"]

# The usual words for what is missing. "None" and "-" are not among them: they may be
# categories.
GAPS = frozenset(
    {"", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "NULL", "null", "Null", "<NA>"}
)


@dataclass(frozen=True)
class Reading:
    """How the cells of a file are read.

    Parameters
    ----------
    gaps : frozenset of str
        The words for what is missing.
    decimal_comma : bool
        Whether numbers are written as 1,5.
    typed : bool
        Whether a text is never a number, as in files that tell them apart.
    """

    gaps: frozenset[str] = GAPS
    decimal_comma: bool = False
    typed: bool = False

    def is_gap(self, cell: Any) -> bool:
        """Tell whether a cell is missing."""
        if isinstance(cell, str):
            return cell.strip() in self.gaps
        return cell is None or cell != cell

    def read_number(self, cell: Any) -> float | None:
        """Give a cell as a number; NaN for a gap, None if it is something else."""
        if self.is_gap(cell):
            return math.nan
        if self.typed and isinstance(cell, str):
            return None
        return read_number(cell, comma=self.decimal_comma)

    def read_numbers(self, cells: Cells) -> Floats | None:
        """Give cells as numbers, NaN for gaps; None if one of them is something else."""
        if isinstance(cells, np.ndarray):
            return cells
        # Most columns are numbers alone, and most others have the usual gaps besides.
        for values in (cells, map(self._words.__getitem__, cells)):
            try:
                numbers = np.fromiter(map(float, values), np.float64, len(cells))
            except (TypeError, ValueError, OverflowError):
                continue
            return self._read_each(cells) if self._is_doubtful(cells) else numbers
        return self._read_each(cells)

    @cached_property
    def _words(self) -> _Words:
        return _Words(dict.fromkeys(self.gaps, math.nan))

    def _is_doubtful(self, cells: Sequence[Any]) -> bool:
        """Tell whether cells may be what Python takes for numbers and we do not."""
        if self.typed:
            return any(isinstance(cell, str) for cell in cells)
        try:
            return "_" in "".join(cells)
        except TypeError:  # not all of them are texts
            return any("_" in cell for cell in cells if isinstance(cell, str))

    def _read_each(self, cells: Sequence[Any]) -> Floats | None:
        numbers = np.empty(len(cells))
        for i, cell in enumerate(cells):
            number = self.read_number(cell)
            if number is None:
                return None
            numbers[i] = number
        return numbers


class _Words(dict[Any, Any]):
    """What cells mean; those that it does not know, themselves."""

    def __missing__(self, cell: Any) -> Any:
        return cell


def read_number(cell: Any, *, comma: bool = False) -> float | None:
    """Give a cell as a number, None if it is something else.

    Examples
    --------
    >>> read_number(" 1e3 "), read_number("1,5", comma=True), read_number("1_000")
    (1000.0, 1.5, None)
    """
    if not isinstance(cell, str):
        return _to_float(cell)
    if "_" in cell:
        return None  # a code, though Python takes it for a number
    return _to_float(cell.replace(",", ".") if comma else cell)


def _to_float(value: Any) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


def make_label(number: float) -> Label:
    """Give a number as the name of a class or category: 2, not 2.0."""
    return int(number) if number.is_integer() and abs(number) < 2.0**53 else number
