"""Looks over a table once: how many rows it has, and what its columns hold.

A table is read twice to be trained on: once for this, and once into arrays of the right
kind. So it need not fit into memory as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from newron.command.tables.cells import Reading, make_label
from newron.command.tables.source import Cells, Source
from newron.errors import InputError
from newron.model.frame import Label

__all__ = ["ColumnSurvey", "survey_table"]

MOST_DIFFERENT = 65_000  # values of a column that are counted one by one
_MOSTLY = 0.9


@dataclass
class ColumnSurvey:
    """What was seen of a column.

    Attributes
    ----------
    name : str
    n_rows, n_gaps : int
    counts : Counter or None
        How often each value occurs, as it is written; None where there are more than
        ``MOST_DIFFERENT``.
    """

    name: str
    reading: Reading
    n_rows: int = 0
    n_gaps: int = 0
    counts: Counter[Any] | None = field(default_factory=Counter)
    _numeric: bool = True  # as far as values were not counted

    def add(self, cells: Cells) -> None:
        """Look at some more cells."""
        self.n_rows += len(cells)
        if self.counts is None:
            self._look_at(cells)
            return
        self.counts.update(_list_values(cells))
        if len(self.counts) > MOST_DIFFERENT:
            self._look_at(list(self.counts), self.counts.values())
            self.counts = None

    def _look_at(self, cells: Cells, times: Iterable[int] | None = None) -> None:
        """Count gaps, and see whether all the rest are numbers."""
        numbers = self.reading.read_numbers(cells) if self._numeric else None
        if numbers is None:
            self._numeric = False
            missing = np.array([self.reading.is_gap(cell) for cell in cells], bool)
        else:
            missing = np.isnan(numbers)
        weights = np.ones(len(cells), int) if times is None else np.array(list(times))
        self.n_gaps += int(weights[missing].sum())

    def finish(self) -> None:
        """Count the gaps among the values that were counted one by one."""
        if self.counts is not None:
            self._look_at(list(self.counts), self.counts.values())

    # ---- what it is ----

    @property
    def is_number(self) -> bool:
        """Whether all that is not missing is a number; in typed files text never is."""
        return self._numeric

    @property
    def n_values(self) -> int:
        """How many rows have a value."""
        return self.n_rows - self.n_gaps

    def count_labels(self) -> Counter[Label] | None:
        """Count the values as labels: numbers where all are, otherwise texts.

        None where there are too many different ones.
        """
        if self.counts is None:
            return None
        labels: Counter[Label] = Counter()
        for cell, times in self.counts.items():
            if not self.reading.is_gap(cell):
                labels[self._make_label(cell)] += times
        return labels

    def _make_label(self, cell: Any) -> Label:
        if self.is_number:
            number = self.reading.read_number(cell)
            return make_label(0.0 if number is None else number)
        return cell.strip() if isinstance(cell, str) and not self.reading.typed else cell

    def find_odd_words(self) -> list[tuple[str, int]]:
        """Give the texts of a column that is otherwise numbers, and how often they occur."""
        if self.is_number or self.counts is None or self.reading.typed:
            return []
        words = Counter(
            {
                cell.strip(): times
                for cell, times in self.counts.items()
                if self.reading.read_number(cell) is None
            }
        )
        few = sum(words.values()) < (1.0 - _MOSTLY) * self.n_values
        return words.most_common() if few else []

    def check_mixture(self, where: str) -> None:
        """Refuse texts beside numbers where a file tells one from the other."""
        if self.is_number or not self.reading.typed or self.counts is None:
            return
        kinds = {isinstance(cell, str) for cell in self.counts if not self.reading.is_gap(cell)}
        if len(kinds) > 1:
            raise InputError(
                f"{where}: expected texts or numbers in column {self.name!r}, got both; turn all "
                "into text, or the texts into numbers or gaps"
            )


def _list_values(cells: Cells) -> Sequence[Any]:
    """Give cells as they can be counted: NaN differs from itself, None does not."""
    if not isinstance(cells, np.ndarray):
        return cells
    return [None if value != value else value for value in cells.tolist()]


def survey_table(
    source: Source,
    names: Sequence[str],
    gaps: frozenset[str],
    on_batch: Callable[[], None] = lambda: None,
) -> dict[str, ColumnSurvey]:
    """Look over some columns of a table; ``on_batch`` hears that more of it was read."""
    reading = Reading(gaps, source.decimal_comma, source.typed)
    found = {name: ColumnSurvey(name, reading) for name in names}
    for batch in source.read():
        for name, column in found.items():
            column.add(batch.columns[name])
        on_batch()
    for column in found.values():
        column.finish()
    return found
