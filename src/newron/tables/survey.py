"""What a column holds: missing values, numbers, or which categories.

Cells may come in batches: a file is read once for this, and once into rows of the right
kind, so that it need not fit into memory as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.tables.cells import IN_MEMORY, CellFormat, Cells
from newron.tables.field import Floats, Label, make_label
from newron.tables.written import DATE

MAX_CATEGORIES = 65_000
_PIECE = 66_000  # cells of an array that are counted at once
# From here on a text column counts as an identifier: so many different texts, in such a
# fraction of the rows that have one.
_MANY_TEXTS, _MOSTLY = 50, 0.9


@dataclass(frozen=True)
class NumberCounts:
    """How often each number occurs, in order, and how many are missing.

    Arrays are counted so, since a table may have millions of different numbers before that is
    known, and its parts are counted by processes of their own.
    """

    values: Floats
    times: NDArray[np.intp]
    n_missing: int

    @classmethod
    def count(cls, numbers: NDArray[Any]) -> NumberCounts:
        """Count the numbers of an array."""
        with np.errstate(over="ignore"):  # a longer float may become infinite
            there = numbers[numbers == numbers].astype(np.float64)
        ordered = np.sort(there + 0.0)  # -0.0 is 0.0
        return cls._join(ordered, np.ones(len(ordered), np.intp), len(numbers) - len(there))

    @classmethod
    def _join(cls, ordered: Floats, times: NDArray[np.intp], n_missing: int) -> NumberCounts:
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
        summed = np.add.reduceat(times, first) if len(first) else times
        return cls(ordered[first], summed, n_missing)

    @property
    def n_different(self) -> int:
        """How many values there are; missing is one."""
        return len(self.values) + (self.n_missing > 0)

    def merge(self, other: NumberCounts) -> NumberCounts:
        """Return what two arrays hold together."""
        both = np.concatenate([self.values, other.values])
        order = np.argsort(both, kind="stable")  # two ordered parts are merged
        times = np.concatenate([self.times, other.times])[order]
        return self._join(both[order], times, self.n_missing + other.n_missing)

    def list_values(self) -> dict[Any, int]:
        """Return how often each value occurs; None is a missing one."""
        counted = dict(zip(self.values.tolist(), self.times.tolist(), strict=True))
        return counted | ({None: self.n_missing} if self.n_missing else {})


def _merge_numbers(a: NumberCounts | None, b: NumberCounts | None) -> NumberCounts | None:
    return (a or b) if a is None or b is None else a.merge(b)


@dataclass
class ColumnSurvey:
    """Counts the values of a column.

    - ``counts``: How often each value occurs, as it is written; None where a file has more than
      ``MAX_CATEGORIES``.
    - ``numbers``: Those of arrays, until the survey is finished.
    """

    name: str
    form: CellFormat = IN_MEMORY
    n_rows: int = 0
    n_missing: int = 0
    counts: Counter[Any] | None = field(default_factory=Counter)
    numbers: NumberCounts | None = None
    is_number: bool = True  # as far as values were looked at
    units: set[str | None] = field(default_factory=set)  # of numbers that are not zero

    def add(self, cells: Cells) -> None:
        """Count some more cells, of a long array in pieces: what has too many is seen soon."""
        if isinstance(cells, np.ndarray) and len(cells) > _PIECE:
            for first in range(0, len(cells), _PIECE):
                self.add(cells[first : first + _PIECE])
            return
        self.n_rows += len(cells)
        if self.counts is None:
            self._inspect(cells)
            return
        if isinstance(cells, np.ndarray) and cells.dtype.kind == "f" and not self.form.exact:
            counted = NumberCounts.count(cells)
            self.numbers = counted if self.numbers is None else self.numbers.merge(counted)
        else:
            self.counts.update(_list_values(cells))
        self._limit()

    def _limit(self) -> None:
        """Keep no counts of too many different values."""
        if self.counts is None or self.form.exact:
            return
        if self.counts:  # which may be the same numbers
            self._list_numbers()
        n = len(self.counts) + (0 if self.numbers is None else self.numbers.n_different)
        if n > MAX_CATEGORIES:
            self._give_up()

    def _give_up(self) -> None:
        """Inspect what was counted, and count no more."""
        if self.counts:
            self._inspect(list(self.counts), self.counts.values())
        if self.numbers is not None:  # these are numbers, of which missing ones alone count
            self.n_missing += self.numbers.n_missing
        self.counts = self.numbers = None

    def _list_numbers(self) -> None:
        """Count the numbers of arrays together with all other values."""
        if self.counts is not None and self.numbers is not None:
            self.counts.update(self.numbers.list_values())
            self.numbers = None

    def _inspect(self, cells: Cells, times: Iterable[int] | None = None) -> None:
        """Count missing values, and see whether all others are numbers."""
        numbers = self.form.parse_numbers(cells) if self.is_number else None
        if numbers is not None and not self._is_one_kind(cells, numbers):
            numbers = None
        if numbers is None:
            self.is_number = False
            missing = np.array([self.form.is_missing(cell) for cell in cells], bool)
        else:
            missing = np.isnan(numbers)
        weights = np.ones(len(cells), int) if times is None else np.array(list(times))
        self.n_missing += int(weights[missing].sum())

    def _is_one_kind(self, cells: Cells, numbers: Floats) -> bool:
        """Whether all numbers have one unit; that of a currency may be left out."""
        if isinstance(cells, np.ndarray) or self.form.typed or self.form.exact:
            return True
        counted = np.flatnonzero(np.nan_to_num(numbers) != 0.0)
        self.units.update(_find_units(self.form, [cells[i] for i in counted.tolist()]))
        named = self.units - {None}
        return len(named) < 2 and not (named & {"%", DATE} and None in self.units)

    @property
    def unit(self) -> str | None:
        """What the numbers are written with: %, a currency, a date; None of plain ones."""
        return next(iter(self.units - {None}), None) if self.is_number else None

    def merge(self, other: ColumnSurvey) -> ColumnSurvey:
        """Return what two parts of a column hold together, both not finished yet."""
        if (self.counts is None) != (other.counts is None):
            (self if other.counts is None else other)._give_up()
        counts, numbers = None, None
        if self.counts is not None and other.counts is not None:
            counts = self.counts + other.counts
            numbers = _merge_numbers(self.numbers, other.numbers)
        merged = ColumnSurvey(
            self.name,
            self.form,
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            counts,
            numbers,
            self.is_number and other.is_number,
            self.units | other.units,
        )
        merged._limit()
        return merged

    def finish(self) -> ColumnSurvey:
        """Inspect the values that were counted one by one."""
        self._list_numbers()
        if self.counts:
            self._inspect(list(self.counts), self.counts.values())
        return self

    @property
    def n_values(self) -> int:
        """How many rows have a value."""
        return self.n_rows - self.n_missing

    @property
    def looks_unique(self) -> bool:
        """Whether nearly every row has a value of its own, as those of identifiers."""
        n = len(self.count_labels() or ())
        return n > _MANY_TEXTS and n > _MOSTLY * self.n_values

    @property
    def is_mixed(self) -> bool:
        """Whether texts stand beside numbers in a table that distinguishes them."""
        if self.is_number or not self.form.typed or self.counts is None:
            return False
        kinds = {isinstance(cell, str) for cell in self.counts if not self.form.is_missing(cell)}
        return len(kinds) > 1

    def count_labels(self) -> Counter[Label] | None:
        """Count the values as labels; None where there are too many different ones."""
        if self.counts is None:
            return None
        labels: Counter[Label] = Counter()
        for cell, times in self.counts.items():
            if not self.form.is_missing(cell):
                labels[self._make_label(cell)] += times
        return labels

    def _make_label(self, cell: Any) -> Label:
        if self.form.exact:
            return make_label(cell)
        if self.is_number:
            return make_label(self.form.parse_number(cell))
        return cell if self.form.typed else str(cell).strip()

    def sort_labels(self) -> tuple[Label, ...]:
        """Return the labels: numbers in their order, then texts in theirs."""
        labels = self.count_labels() or ()
        return tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))

    def find_odd_words(self) -> list[tuple[str, int]]:
        """Return the texts of a column that is otherwise numbers, and how often they occur."""
        if self.is_number or self.counts is None or self.form.typed:
            return []
        words = Counter(
            {
                cell.strip(): times
                for cell, times in self.counts.items()
                if self.form.parse_number(cell) is None
            }
        )
        few = words.total() < (1.0 - _MOSTLY) * self.n_values
        return words.most_common() if few else []


def _find_units(form: CellFormat, cells: Sequence[Any]) -> set[str | None]:
    """Return the units of numbers: most columns have none, and that is seen at once."""
    try:
        np.fromiter(map(float, cells), np.float64, len(cells))
    except (TypeError, ValueError, OverflowError):
        return set(map(form.find_unit, cells))
    return {None} if len(cells) else set()


def _list_values(cells: Cells) -> Sequence[Any]:
    """Return cells that can be counted: NaN differs from itself, None does not."""
    if not isinstance(cells, np.ndarray):
        return cells
    values: list[Any] = cells.tolist()
    if cells.dtype.kind != "f":
        return values  # among objects, a missing value is mostly one and the same
    return [None if value != value else value for value in values]
