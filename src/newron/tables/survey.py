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

from newron.tables.cells import IN_MEMORY, CellFormat, Cells
from newron.tables.field import Label, make_label

__all__ = ["MAX_CATEGORIES", "ColumnSurvey"]

MAX_CATEGORIES = 65_000
# From here on a text column counts as an identifier: so many different texts, in such a
# fraction of the rows that have one.
_MANY_TEXTS, _MOSTLY = 50, 0.9


@dataclass
class ColumnSurvey:
    """Counts the values of a column.

    Attributes
    ----------
    name : str
    form : CellFormat
    n_rows, n_missing : int
    counts : Counter or None
        How often each value occurs, as it is written; None where a file has more than
        ``MAX_CATEGORIES``.
    """

    name: str
    form: CellFormat = IN_MEMORY
    n_rows: int = 0
    n_missing: int = 0
    counts: Counter[Any] | None = field(default_factory=Counter)
    is_number: bool = True  # as far as values were looked at

    def add(self, cells: Cells) -> None:
        """Count some more cells."""
        self.n_rows += len(cells)
        if self.counts is None:
            self._inspect(cells)
            return
        self.counts.update(_list_values(cells))
        if len(self.counts) > MAX_CATEGORIES and not self.form.exact:
            self._inspect(list(self.counts), self.counts.values())
            self.counts = None

    def _inspect(self, cells: Cells, times: Iterable[int] | None = None) -> None:
        """Count missing values, and see whether all others are numbers."""
        numbers = self.form.parse_numbers(cells) if self.is_number else None
        if numbers is None:
            self.is_number = False
            missing = np.array([self.form.is_missing(cell) for cell in cells], bool)
        else:
            missing = np.isnan(numbers)
        weights = np.ones(len(cells), int) if times is None else np.array(list(times))
        self.n_missing += int(weights[missing].sum())

    def finish(self) -> ColumnSurvey:
        """Inspect the values that were counted one by one."""
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


def _list_values(cells: Cells) -> Sequence[Any]:
    """Return cells that can be counted: NaN differs from itself, None does not."""
    if not isinstance(cells, np.ndarray):
        return cells
    values: list[Any] = cells.tolist()
    if cells.dtype.kind != "f":
        return values  # among objects, a missing value is mostly one and the same
    return [None if value != value else value for value in values]
