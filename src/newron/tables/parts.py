"""Tables in several files, and tables that come in batches, as one source each."""

from __future__ import annotations

import glob
import warnings
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from newron.errors import InputError, NewronWarning
from newron.formatting import format_count
from newron.tables.cells import CellFormat, Cells
from newron.tables.encoding import Encoder
from newron.tables.field import make_names
from newron.tables.files import open_table
from newron.tables.memory import RawColumn, is_frame, read_columns
from newron.tables.source import Batch, Source, check_names

_HIDDEN = (".", "_")  # what other programs leave beside the files of a table
_TARGET, _WEIGHT = "y", "weight"  # of batches that are tuples


def list_files(pattern: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[Path]:
    """Return the files of a pattern such as folder/*.parquet, of a folder or of a list, in order.

    >>> list_files(["a.csv", "b.csv"])
    [PosixPath('a.csv'), PosixPath('b.csv')]
    """
    if not isinstance(pattern, str | PathLike):
        if not isinstance(pattern, Iterable):
            raise InputError(
                "expected a file, a folder, a pattern or a list of files, got "
                f"{type(pattern).__name__}"
            )
        return [Path(each) for each in pattern]
    path = Path(pattern)
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.is_file())
        found = [each for each in found if not each.name.startswith(_HIDDEN)]
    elif path.exists() or not glob.has_magic(fspath(pattern)):
        return [path]
    else:
        found = sorted(map(Path, glob.glob(fspath(pattern), recursive=True)))  # noqa: PTH207 - of any root
    if not found:
        raise InputError(f"{pattern}: expected files of a table, got none")
    return found


def open_parts(
    pattern: str | PathLike[str] | Sequence[str | PathLike[str]], *, header: bool = True
) -> Source:
    """Open the files of one table."""
    files = list_files(pattern)
    if not files:
        raise InputError("expected files of a table, got an empty list")
    _warn_of_folders(files)
    if len(files) == 1:
        return open_table(files[0], header=header)
    return PartsSource(files, header=header)


def _warn_of_folders(files: Sequence[Path]) -> None:
    """Warn of columns that only names of folders have, as Spark and Hive write them."""
    folders = {part for file in files for part in file.parts[:-1] if "=" in part}
    names = sorted({folder.split("=")[0] for folder in folders})
    if names:
        warnings.warn(
            f"the names of folders ({sorted(folders)[0]}, ...) are not read: their columns "
            f"{', '.join(names)} are left out; write them into the files where they matter",
            NewronWarning,
            stacklevel=4,
        )


class PartsSource(Source):
    """Files with the same columns, one after the other."""

    def __init__(self, files: Sequence[Path], *, header: bool = True) -> None:
        first = open_table(files[0], header=header)
        self.files, self._has_header = list(files), header
        self.path, self.names = files[0].parent, first.names
        self.form = f"{format_count(len(files), 'file')} of {first.form}"
        self.typed, self.decimal_comma = first.typed, first.decimal_comma
        self.total = sum(self._open(file).total for file in files)
        self._notes: list[str] = []

    def _open(self, file: Path) -> Source:
        part = open_table(file, header=self._has_header)
        if set(part.names) != set(self.names):
            differs = sorted(set(part.names) ^ set(self.names))
            raise InputError(
                f"{file}: expected the columns of {self.files[0]}, got others ({differs[0]!r} is "
                "in one of them alone)"
            )
        if part.typed != self.typed:
            raise InputError(f"{file}: expected {self.form}, got {part.form}")
        return part

    def read(self, encoder: Encoder | None = None, others: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all rows from the first on, in batches."""
        first, done, self._notes = 0, 0, []
        for file in self.files:
            part, n_rows = self._open(file), 0
            for batch in part.read(encoder, others):
                n_rows = batch.first + batch.n_rows
                self.done = done + part.done
                yield replace(batch, first=first + batch.first)
            first, done = first + n_rows, done + part.total
            self._notes += [note for note in part.list_notes() if note not in self._notes]

    def list_files(self) -> Sequence[Path]:
        """Return the files that are read."""
        return self.files

    @property
    def n_bytes(self) -> int:
        """How large the files are together."""
        return sum(file.stat().st_size for file in self.files)

    def list_notes(self) -> list[str]:
        """Return what else should be known of the files."""
        return self._notes


class BatchSource(Source):
    """Batches of a table that are made anew for each reading.

    - ``batches``: Data frames, 2-d arrays, or tuples of X, y and maybe weights, which are then
      called y and weight, or as the series are.
    """

    form = "batches"

    def __init__(self, batches: Iterable[Any]) -> None:
        self.path, self._batches = Path("batches"), batches
        if not isinstance(batches, Iterable) or is_frame(batches):
            raise InputError(
                f"expected a list of batches, got {type(batches).__name__}; one table is fitted "
                "as it is"
            )
        if iter(batches) is batches:
            raise InputError(
                "expected batches that can be read more than once, got an iterator; bring a "
                "list, or an object whose __iter__ begins anew"
            )
        self.total = len(batches) if isinstance(batches, Sized) else 0
        columns = next((_read_batch(batch) for batch in batches), None)
        if columns is None:
            raise InputError("expected batches of a table, got none")
        self.names = tuple(column.name for column in columns)
        check_names(self.path, self.names)

    def list_files(self) -> Sequence[Path]:
        """Return no files."""
        return []

    def get_format(self, missing: Iterable[str] = ()) -> CellFormat:
        """Return how cells are written: there are no usual words for missing values."""
        return CellFormat(frozenset(word.strip() for word in missing), False, True)

    def read(self, encoder: Encoder | None = None, others: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all rows from the first on, in batches."""
        del encoder, others  # batches are in memory already
        first = 0
        for i, batch in enumerate(self._batches):
            columns = {column.name: column for column in _read_batch(batch)}
            if set(columns) != set(self.names):
                differs = sorted(set(columns) ^ set(self.names))
                raise InputError(
                    f"batch {i} (counted from 0): expected the columns of the first one, got "
                    f"others ({differs[0]!r} is in one of them alone)"
                )
            n_rows = len(columns[self.names[0]].cells)
            odd = [name for name in self.names if len(columns[name].cells) != n_rows]
            if odd:
                raise InputError(
                    f"batch {i} (counted from 0): expected {n_rows} rows in each column, got "
                    f"{len(columns[odd[0]].cells)} in {odd[0]!r}"
                )
            self.done = i + 1
            yield Batch({name: _list_cells(columns[name]) for name in self.names}, n_rows, first)
            first += n_rows
        if self.total not in (0, self.done):
            raise InputError(
                f"expected {self.total} batches, which their len says, got {self.done}"
            )


def _read_batch(batch: Any) -> list[RawColumn]:
    if not isinstance(batch, tuple):
        return read_columns(batch)
    X, *others = batch
    columns = read_columns(X) if is_frame(X) else read_columns(X, make_names(np.shape(X)[1]))
    for default, values in zip((_TARGET, _WEIGHT), others, strict=False):
        name = getattr(values, "name", None)
        chosen = name if isinstance(name, str) else default
        columns += read_columns(np.asarray(values).reshape(-1, 1), [chosen])
    return columns


def _list_cells(column: RawColumn) -> Cells:
    """Return cells as files have them: booleans as words."""
    if column.kind != "boolean":
        return column.cells
    words = {True: "true", False: "false"}
    return [words.get(value) for value in column.cells.tolist()]
