"""How cells are written: missing values, numbers, text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.tables.field import Floats
from newron.tables.written import parse_written

# Texts of a CSV file; texts, numbers and None of other files; or an array.
Cells = Sequence[Any] | NDArray[Any]

# The usual words for a missing value. "None" and "-" are not among them: they may be
# categories.
MISSING_WORDS = frozenset(
    {"", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NAN", "NULL", "null", "Null", "<NA>"}
)


def is_missing_type(kind: type) -> bool:
    """Whether all values of a type are missing. NaN is a number that is missing."""
    return kind is NoneType or kind.__name__ in ("NAType", "NaTType")


def is_missing(value: Any) -> bool:
    """Whether a value other than text is missing."""
    return is_missing_type(type(value)) or bool(value != value)


class CodedCells(Sequence[Any]):
    """Cells as the different ones among them, and which of these each one is."""

    def __init__(self, values: list[Any], codes: NDArray[Any]) -> None:
        self.values, self.codes = values, codes

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.codes)

    def __getitem__(self, index: Any) -> Any:
        """Return a cell, or the cells of a slice."""
        if isinstance(index, slice):
            return CodedCells(self.values, self.codes[index])
        return self.values[self.codes[index]]

    def map(self, function: Callable[[Any], Any]) -> CodedCells:
        """Return a function of the cells, evaluated once for each different one."""
        return CodedCells(list(map(function, self.values)), self.codes)

    def __iter__(self) -> Iterator[Any]:
        """Yield the cells."""
        return map(self.values.__getitem__, self.codes.tolist())


@dataclass(frozen=True)
class CellFormat:
    """How the cells of a table are written.

    - ``missing``: The words for a missing value.
    - ``decimal_comma``: Whether numbers are written as 1,5.
    - ``typed``: Whether a text is never a number, as in files that distinguish them.
    - ``exact``: Whether a cell equals the label of its category, as in memory. A file may write a
      label in several ways: 1.0 or "1" for 1, "TRUE" for True.
    """

    missing: frozenset[str] = MISSING_WORDS
    decimal_comma: bool = False
    typed: bool = False
    exact: bool = False

    def is_missing(self, cell: Any) -> bool:
        """Whether a cell is missing."""
        return cell.strip() in self.missing if isinstance(cell, str) else is_missing(cell)

    def parse_number(self, cell: Any) -> float | None:
        """Return a cell as a number; NaN if it is missing, None if it is something else.

        >>> CellFormat().parse_number(" 1e3 "), CellFormat().parse_number("1_000")
        (1000.0, None)
        >>> CellFormat(decimal_comma=True).parse_number("1.234,5 €")
        1234.5
        """
        if self.is_missing(cell):
            return math.nan
        if isinstance(cell, str):
            return self._parse_text(cell)
        try:
            return float(cell)
        except OverflowError:
            return math.inf
        except (TypeError, ValueError):
            return None

    def _parse_text(self, cell: str) -> float | None:
        if self.typed or "_" in cell:
            return None  # a code, though Python takes 1_000 for a number
        if not (self.decimal_comma and "." in cell):  # there, 1.234 is more than a thousand
            try:
                return float(cell.replace(",", ".") if self.decimal_comma else cell)
            except ValueError:
                pass
        written = parse_written(cell, decimal_comma=self.decimal_comma)
        return None if written is None else written[0]

    def find_unit(self, cell: Any) -> str | None:
        """Return what a number is written with: %, a currency, a date; None of a plain one."""
        if self.typed or not isinstance(cell, str):
            return None
        written = parse_written(cell, decimal_comma=self.decimal_comma)
        return written[1] or None if written else None

    def parse_numbers(self, cells: Cells) -> Floats | None:
        """Return cells as numbers, NaN where missing; None if one is something else."""
        if isinstance(cells, np.ndarray):
            if cells.dtype.kind in "biuf":
                with np.errstate(over="ignore"):  # a longer float may become infinite
                    return cells.astype(np.float64, copy=False)
            return self._parse_objects(cells.tolist())
        if isinstance(cells, CodedCells):
            numbers = self._parse_objects(cells.values)
            # What is no number may be a value that no cell has.
            return self._parse_objects(list(cells)) if numbers is None else numbers[cells.codes]
        return self._parse_objects(cells)

    def _parse_objects(self, cells: Sequence[Any]) -> Floats | None:
        # Most columns are numbers alone, and most others have the usual missing values besides.
        for values in (cells, map(self._numbers_of_words.__getitem__, cells)):
            try:
                numbers = np.fromiter(map(float, values), np.float64, len(cells))
            except (TypeError, ValueError, OverflowError):
                continue
            return self._parse_each(cells) if self._is_doubtful(cells) else numbers
        return self._parse_each(cells)

    @cached_property
    def _numbers_of_words(self) -> _Words:
        return _Words(dict.fromkeys((*self.missing, None), math.nan))

    def _is_doubtful(self, cells: Sequence[Any]) -> bool:
        """Whether cells may be what Python takes for numbers and we do not."""
        if self.typed:
            return any(isinstance(cell, str) for cell in cells)
        signs = "_." if self.decimal_comma else "_"
        try:
            text = "".join(cells)
        except TypeError:  # not all of them are texts
            text = "".join(cell for cell in cells if isinstance(cell, str))
        return any(sign in text for sign in signs)

    def _parse_each(self, cells: Sequence[Any]) -> Floats | None:
        numbers = np.empty(len(cells))
        for i, cell in enumerate(cells):
            number = self.parse_number(cell)
            if number is None:
                return None
            numbers[i] = number
        return numbers


IN_MEMORY = CellFormat(frozenset(), typed=True, exact=True)


class _Words(dict[Any, Any]):
    """What cells mean; those that it does not know, themselves."""

    def __missing__(self, cell: Any) -> Any:
        return cell
