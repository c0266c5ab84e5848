"""From cells to rows of numbers: the one step from a cell to its code.

Numbers stay as they are, categories become their index among the labels, missing values NaN.
Frames, arrays and files all come through here.
"""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError, NewronWarning
from newron.formatting import shorten
from newron.tables.cells import IN_MEMORY, CellFormat, Cells, CodedCells
from newron.tables.field import BOOLEANS, LARGEST_INPUT, Field, Floats, Label, make_label

_MISSING, _UNKNOWN = np.nan, -1.0
_MAX_REMEMBERED = 100_000  # ways to write the labels of a column
_MAX_SHOWN = 3


@dataclass
class _Unknown:
    """Categories of a column that are not among its labels."""

    n_rows: int = 0
    examples: list[Any] = field(default_factory=list)  # one more than are shown


class Encoder:
    """Turns cells into rows, column by column; batches may follow each other.

    - ``fields``: What the columns are: numbers, or which categories.
    - ``form``: How cells are written. A label that is also a word for a missing value is a label.
    - ``path``: The file that cells come from, for error messages.
    - ``unknown``: What to do with a category that is not among the labels.
    """

    def __init__(
        self,
        fields: Sequence[Field],
        form: CellFormat = IN_MEMORY,
        path: Path | None = None,
        unknown: str = "missing",
    ) -> None:
        if unknown not in ("missing", "error"):
            raise InputError(f"unknown: expected 'missing' or 'error', got {unknown!r}")
        self.fields = tuple(fields)
        self.form, self._path, self._strict = form, path, unknown == "error"
        self._codes = {
            one.name: _Codes(one.categories, form) for one in fields if one.categories is not None
        }
        self._unknown: dict[str, _Unknown] = {}

    def encode(self, columns: Sequence[Cells], first: int = 0) -> Floats:
        """Return the rows of some columns, one for each field; ``first`` is the first row."""
        rows = np.empty((len(columns[0]) if columns else 0, len(self.fields)))
        for i, (one, cells) in enumerate(zip(self.fields, columns, strict=True)):
            rows[:, i] = self.encode_column(one, cells, first)
        return rows

    def encode_column(self, one: Field, cells: Cells, first: int = 0) -> Floats:
        """Return one column of the rows."""
        if one.categories is None:
            return self._encode_numbers(one.name, cells, first)
        codes = self._codes[one.name].encode(cells)
        return self._replace_unknown(one, codes, cells.__getitem__, first)

    def recode_column(self, one: Field, codes: Floats, labels: Sequence[Label]) -> Floats:
        """Return a column of codes among other labels as codes, or numbers, of a field."""
        n, at = len(labels), np.nan_to_num(codes, nan=len(labels)).astype(np.intp)
        get_label: Callable[[int], Any] = lambda row: labels[at[row]]  # noqa: E731
        if one.categories is not None:
            found = np.append(self._codes[one.name].encode(labels), _MISSING)
            return self._replace_unknown(one, found[at], get_label, 0)
        numbers = self.form.parse_numbers(labels)
        if numbers is None:
            row = next(i for i in range(len(at)) if at[i] < n and isinstance(get_label(i), str))
            self._raise_cell(one.name, row, "a number", get_label(row), "turn it into one")
        return np.append(numbers, _MISSING)[at]

    def _encode_numbers(self, name: str, cells: Cells, first: int) -> Floats:
        numbers = self.form.parse_numbers(cells)
        if numbers is None:
            parse = self.form.parse_number
            row = next(i for i, cell in enumerate(cells) if parse(cell) is None)
            advice = "turn it into one"
            if self._path is not None and isinstance(cells[row], str) and cells[row].strip():
                word = shlex.quote(cells[row].strip())
                advice = f"if that means missing: --missing {word}; otherwise turn it into one"
            self._raise_cell(name, first + row, "a number", cells[row], advice)
        large = np.flatnonzero(np.abs(numbers) >= LARGEST_INPUT)
        if len(large):
            row, expected = int(large[0]), f"a number within ±{LARGEST_INPUT:g}"
            self._raise_cell(name, first + row, expected, cells[row], "correct it")
        return numbers

    def _replace_unknown(
        self, one: Field, codes: Floats, get_cell: Callable[[int], Any], first: int
    ) -> Floats:
        strange = np.flatnonzero(codes == _UNKNOWN)
        if not len(strange):
            return codes
        if self._strict:
            row, labels = int(strange[0]), one.categories or ()
            expected = f"one of the {len(labels)} categories {_list_some(labels)}"
            self._raise_cell(one.name, first + row, expected, get_cell(row), "correct it")
        self._note_unknown(one.name, strange, get_cell)
        codes[strange] = _MISSING
        return codes

    def _note_unknown(
        self, name: str, rows: NDArray[np.intp], get_cell: Callable[[int], Any]
    ) -> None:
        noted = self._unknown.setdefault(name, _Unknown())
        noted.n_rows += len(rows)
        for row in rows:
            if len(noted.examples) > _MAX_SHOWN:
                break
            cell = get_cell(int(row))
            if cell not in noted.examples:
                noted.examples.append(cell)

    def warn_unknown(self) -> None:
        """Warn once of all categories that are not among the labels."""
        if not self._unknown:
            return
        noted = [
            f"column {format_cell(name)}: unknown categories in {one.n_rows} "
            f"row{'s' * (one.n_rows > 1)}: {_list_some(one.examples)}"
            for name, one in self._unknown.items()
        ]
        _warn_outside("; ".join(noted) + "; they are read as missing")

    def _raise_cell(self, name: str, row: int, expected: str, cell: Any, advice: str) -> NoReturn:
        where, leave = f"column {format_cell(name)}, {describe_row(row)}", "missing"
        if self._path is not None:
            where, leave = f"{describe_row(row, self._path)}, column {format_cell(name)}", "empty"
        raise InputError(
            f"{where}: expected {expected}, got {format_cell(cell)}; {advice} or leave it {leave}"
        )


class _Codes(dict[Any, float]):
    """The code of each label of a column, by the ways in which cells write it."""

    def __init__(self, labels: Sequence[Label], form: CellFormat) -> None:
        self.form = form
        codes = {label: float(code) for code, label in enumerate(labels)}
        words = {label: code for label, code in codes.items() if isinstance(label, str)}
        others = [(label, float(i)) for i, label in enumerate(labels) if not isinstance(label, str)]
        # Beside text a boolean is not a number, though Python holds True equal to 1.
        self._marks = form.exact and bool(words) and bool(others)
        self._words = {word.strip(): code for word, code in words.items()} | words
        self._numbers = {float(label): code for label, code in others}
        self._booleans = {str(x).lower(): code for x, code in others if isinstance(x, bool)}
        super().__init__(words | {self._mark(label): code for label, code in others})

    def encode(self, cells: Cells) -> Floats:
        """Return the code of each cell; NaN if missing, -1 if unknown."""
        if isinstance(cells, CodedCells):
            return np.asarray(self.encode(cells.values)[cells.codes])
        values = cells.tolist() if isinstance(cells, np.ndarray) else cells
        if self._marks:
            values = list(map(self._mark, values))
        return np.fromiter(map(self.__getitem__, values), np.float64, len(values))

    def _mark(self, value: Any) -> Any:
        marked = self._marks and isinstance(value, BOOLEANS)
        return ("boolean", bool(value)) if marked else value

    def __missing__(self, cell: Any) -> float:
        if cell is None or (isinstance(cell, float) and cell != cell):
            return _MISSING
        code = self._find(cell)
        # What is unknown is not kept: a file may have any number of different texts.
        if code != _UNKNOWN and len(self) < _MAX_REMEMBERED:
            self[cell] = code
        return code

    def _find(self, cell: Any) -> float:
        if self.form.exact:
            return _MISSING if self.form.is_missing(cell) else _UNKNOWN
        word = _write(cell)
        if word in self._words:
            return self._words[word]
        if word.lower() in self._booleans:
            return self._booleans[word.lower()]
        if self.form.is_missing(cell):
            return _MISSING
        number = CellFormat(decimal_comma=self.form.decimal_comma).parse_number(cell)
        return _UNKNOWN if number is None else self._numbers.get(number, _UNKNOWN)


def _write(cell: Any) -> str:
    """Write a cell of a file as a label is written, if that is text."""
    if isinstance(cell, str):
        return cell.strip()
    return str(make_label(cell)) if isinstance(cell, int | float) else str(cell)


def describe_row(row: int, path: Path | None = None) -> str:
    """Name a row, counted from 0 in all code, as people count those of a file."""
    if path is None:
        return f"row {row} (counted from 0)"
    return f"{path}, row {row + 1} (counted from 1, after the header)"


def _list_some(values: Sequence[Any]) -> str:
    shown = ", ".join(map(format_cell, values[:_MAX_SHOWN]))
    return shown + (", ..." if len(values) > _MAX_SHOWN else "")


def format_cell(value: Any) -> str:
    """Format a value as people write it, in one line and not too long."""
    plain = repr(value.item() if isinstance(value, np.generic) else value)
    return shorten(" ".join(plain.split()), 60)


def _warn_outside(message: str) -> None:
    """Warn at the line that called newron, however deep we are."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] == "newron":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, NewronWarning, stacklevel=level)
