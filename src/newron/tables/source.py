"""A table in a file as a value: the names of its columns, and batches of its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from newron.errors import InputError
from newron.tables.cells import MISSING_WORDS, CellFormat, Cells
from newron.tables.encoding import Encoder
from newron.tables.field import Field, Label
from newron.tables.table import EncodedTable

BATCH_ROWS = 2000  # few enough for their texts to stay in the cache of a core


@dataclass(frozen=True)
class Batch:
    """Some rows, column by column."""

    columns: Mapping[str, Cells]
    n_rows: int
    first: int  # the index of its first row

    def encode(self, encoder: Encoder) -> EncodedTable:
        """Return the columns of an encoder's fields as rows."""
        columns = [self.columns[one.name] for one in encoder.fields]
        return EncodedTable(encoder.fields, encoder.encode(columns, self.first))

    def get_row(self, index: int, names: Sequence[str]) -> Batch:
        """Return some columns of one row, by its index in the batch."""
        columns = {name: self.columns[name][index : index + 1] for name in names}
        return Batch(columns, 1, self.first + index)


class Source(ABC):
    """A file that holds a table; it can be read more than once.

    - ``form``: What the file is, in words.
    - ``names``: The columns. Those without a name are left out.
    - ``typed``: Whether the file distinguishes numbers from text; in CSV all is text.
    - ``decimal_comma``: Whether numbers are written as 1,5.
    - ``total``, ``done``: How much there is to read, and how much of it the last reading has read.
    """

    path: Path
    form: str
    names: tuple[str, ...]
    typed = True
    decimal_comma = False
    total = 0
    done = 0
    _seen: tuple[tuple[int, int], ...] | None = None

    @abstractmethod
    def read(self, encoder: Encoder | None = None, others: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all rows from the first on, in batches.

        Where an encoder takes them, batches need no columns besides its fields and ``others``,
        and numbers may come as such instead of as they are written.
        """

    @property
    def n_bytes(self) -> int:
        """How large the file is."""
        return self.path.stat().st_size

    def list_files(self) -> Sequence[Path]:
        """Return the files that are read."""
        return [self.path]

    def watch(self) -> None:
        """Remember what the files are, for :meth:`check_unchanged`."""
        self._seen = self._look()

    def check_unchanged(self) -> None:
        """Raise where a file has changed since."""
        if self._seen is None:
            return
        for file, before, now in zip(self.list_files(), self._seen, self._look(), strict=True):
            if now != before:
                raise InputError(
                    f"{file}: expected the file that was read before, got one that has changed "
                    "since; fit again"
                )

    def _look(self) -> tuple[tuple[int, int], ...]:
        """Return the size of each file, and when it was written last."""
        try:
            found = [file.stat() for file in self.list_files()]
        except FileNotFoundError as error:
            raise InputError(f"{error.filename}: expected a file, got none") from None
        return tuple((one.st_size, one.st_mtime_ns) for one in found)

    def find_order(self, name: str) -> tuple[Label, ...] | None:
        """Return the categories of a column in their order, where the file says that it has one."""
        del name
        return None

    def list_notes(self) -> list[str]:
        """Return what else should be known of the file, once it was read."""
        return []

    def get_format(self, missing: Iterable[str] = ()) -> CellFormat:
        """Return how cells are written, with further words for a missing value."""
        words = MISSING_WORDS | {word.strip() for word in missing}
        return CellFormat(words, self.decimal_comma, self.typed)

    def make_encoder(
        self, fields: Sequence[Field], missing: Iterable[str] = (), unknown: str = "missing"
    ) -> Encoder:
        """Return what turns batches into rows of some fields, all of them columns."""
        for one in fields:
            self.check_column(one.name)
        return Encoder(fields, self.get_format(missing), self.path, unknown)

    def check_column(self, name: str, what: str = "a column") -> None:
        """Raise where a name is no column, and list which ones are like it."""
        if name in self.names:
            return
        close = get_close_matches(name, self.names, n=3, cutoff=0.5)
        shown = list(self.names[:8]) + (["..."] if len(self.names) > 8 else [])
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else ", ".join(shown)
        raise InputError(f"{self.path}: expected {what} {name!r}, got none; {hint}")


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise where names are there twice, or there are none."""
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise InputError(
            f"{path}: expected column names that differ, got {twice[0]!r} twice; rename one"
        )
    if not any(names):
        raise InputError(f"{path}: expected the names of columns, got none")
