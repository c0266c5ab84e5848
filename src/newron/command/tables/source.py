"""A table in a file as a value: the names of its columns, and batches of its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError

__all__ = ["BATCH_ROWS", "Batch", "Cells", "Source", "check_names", "tell_row"]

BATCH_ROWS = 2000  # few enough for their texts to stay in the cache of a core

# Texts of a CSV file; texts, numbers and None of other files; or an array of numbers.
Cells = Sequence[Any] | NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Some rows, column by column."""

    columns: Mapping[str, Cells]
    n_rows: int
    first: int  # the number of its first row, from 1 on

    def pick(self, place: int, names: Sequence[str]) -> Batch:
        """Give some columns of one row, by its place from 0 on."""
        columns = {name: self.columns[name][place : place + 1] for name in names}
        return Batch(columns, 1, self.first + place)


class Source(ABC):
    """A file that holds a table; it can be read more than once.

    Attributes
    ----------
    path : Path
    form : str
        What the file is, in words.
    names : tuple of str
        The columns. Those without a name are left out.
    typed : bool
        Whether the file tells numbers from text; in CSV all is text.
    decimal_comma : bool
        Whether numbers are written as 1,5.
    total, done : int
        How much there is to read, and how much of it the last reading has read.
    """

    path: Path
    form: str
    names: tuple[str, ...]
    typed = True
    decimal_comma = False
    total = 0
    done = 0

    @abstractmethod
    def read(self) -> Iterator[Batch]:
        """Give all rows from the first on, in batches."""

    def list_notes(self) -> list[str]:
        """Tell what else should be known of the file, once it was read."""
        return []

    def check_column(self, name: str, what: str = "a column") -> None:
        """Refuse a name that is no column, and say which ones are like it."""
        if name in self.names:
            return
        close = get_close_matches(name, self.names, n=3, cutoff=0.5)
        shown = list(self.names[:8]) + (["..."] if len(self.names) > 8 else [])
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else ", ".join(shown)
        raise InputError(f"{self.path}: expected {what} {name!r}, got none; {hint}")


def check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse names that are there twice."""
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise InputError(
            f"{path}: expected column names that differ, got {twice[0]!r} twice; rename one"
        )
    if not any(names):
        raise InputError(f"{path}: expected the names of columns, got none")


def tell_row(row: int) -> str:
    """Name a row as people count them."""
    return f"row {row} (counted from 1, after the header)"
