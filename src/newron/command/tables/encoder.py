"""From cells to the rows of numbers that a network reads.

Numbers as they are, categories as their place among the labels, gaps as NaN: the same that
:mod:`newron.model.frame` makes of data frames, without any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from newron.command.tables.cells import GAPS, Reading, make_label, read_number
from newron.command.tables.source import Batch, Cells, Source, tell_row
from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.frame import Field, Label
from newron.model.network import LARGEST_INPUT

__all__ = ["Encoder"]

_MISSING, _UNKNOWN = np.nan, -1.0
_MOST_KNOWN = 100_000  # ways to write the labels of a column that are remembered


class Encoder:
    """Turns batches of a source into rows, column by column.

    Parameters
    ----------
    source : Source
    fields : sequence of Field
        What the columns are: numbers, or which categories.
    gaps : frozenset of str
        The words for what is missing. A label of that name comes first.

    Attributes
    ----------
    unknown : dict
        For columns with categories that are not among the labels, how many rows have one,
        and the first of them.
    """

    def __init__(
        self, source: Source, fields: Sequence[Field], gaps: frozenset[str] = GAPS
    ) -> None:
        for field in fields:
            source.check_column(field.name)
        self._source, self._fields = source, fields
        self._reading = Reading(gaps, source.decimal_comma)
        self._codes = {
            field.name: _Codes(field.categories, self._reading)
            for field in fields
            if field.categories is not None
        }
        self.unknown: dict[str, tuple[int, str]] = {}

    def encode(self, batch: Batch) -> Floats:
        """Give a batch as rows, of shape (rows, fields)."""
        rows = np.empty((batch.n_rows, len(self._fields)))
        for place, field in enumerate(self._fields):
            cells = batch.columns[field.name]
            if field.categories is None:
                rows[:, place] = self._encode_numbers(cells, field.name, batch.first)
            else:
                rows[:, place] = self._encode_categories(cells, field.name)
        return rows

    def _encode_numbers(self, cells: Cells, name: str, first: int) -> Floats:
        numbers = self._reading.read_numbers(cells)
        if numbers is None:
            read = self._reading.read_number
            at = next(i for i, cell in enumerate(cells) if read(cell) is None)
            self._refuse(name, first + at, "a number", cells[at], "turn it into one")
        large = np.flatnonzero(np.abs(numbers) > LARGEST_INPUT)
        if len(large):
            at = int(large[0])
            what = f"a number within ±{LARGEST_INPUT:g}"
            self._refuse(name, first + at, what, cells[at], "correct it")
        return numbers

    def _refuse(self, name: str, row: int, expected: str, cell: Any, advice: str) -> NoReturn:
        shown = repr(cell if isinstance(cell, str) else float(cell))
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise InputError(
            f"{self._source.path}, {tell_row(row)}, column {name!r}: expected {expected}, got "
            f"{shown}; {advice} or leave it empty"
        )

    def _encode_categories(self, cells: Cells, name: str) -> Floats:
        values = cells.tolist() if isinstance(cells, np.ndarray) else cells
        codes = np.fromiter(map(self._codes[name].__getitem__, values), np.float64, len(values))
        strange = np.flatnonzero(codes == _UNKNOWN)
        if len(strange):
            count, example = self.unknown.get(name, (0, str(values[int(strange[0])]).strip()))
            self.unknown[name] = count + len(strange), example
            codes[strange] = _MISSING
        return codes


class _Codes(dict[Any, float]):
    """The place of each label, by the ways in which cells write it."""

    def __init__(self, labels: Sequence[Label], reading: Reading) -> None:
        places = {label: float(place) for place, label in enumerate(labels)}
        self._words = {label: at for label, at in places.items() if isinstance(label, str)}
        for word, at in list(self._words.items()):
            self._words.setdefault(word.strip(), at)
        # A file says 1.0 or "true" where a label may be 1 or True.
        others = {label: at for label, at in places.items() if not isinstance(label, str)}
        self._numbers = {float(label): at for label, at in others.items()}
        self._flags = {str(x).lower(): at for x, at in others.items() if isinstance(x, bool)}
        self._reading = reading
        super().__init__(self._words)

    def __missing__(self, cell: Any) -> float:
        code = self._find(cell)
        # What is unknown is not kept: a file may have any number of different texts.
        if code != _UNKNOWN and cell == cell and len(self) < _MOST_KNOWN:
            self[cell] = code
        return code

    def _find(self, cell: Any) -> float:
        word = _write(cell)
        if word in self._words:
            return self._words[word]
        if word.lower() in self._flags:
            return self._flags[word.lower()]
        if self._reading.is_gap(cell):
            return _MISSING
        number = read_number(cell, comma=self._reading.decimal_comma)
        return _UNKNOWN if number is None else self._numbers.get(number, _UNKNOWN)


def _write(cell: Any) -> str:
    """Write a cell as a label is written, if it is text."""
    if isinstance(cell, str):
        return cell.strip()
    return str(make_label(float(cell))) if isinstance(cell, int | float) else str(cell)
