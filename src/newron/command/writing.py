"""Rows of predictions to files: as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from newron._extras import import_extra
from newron.command.files import open_whole
from newron.command.terminal import is_shown
from newron.formatting import clean_lines, escape_unprintable
from newron.tables.buffers import make_array
from newron.tables.cells import Cells, CodedCells
from newron.tables.field import make_label

# Some rows by columns: those that are kept as they were read, and those that are new.
Write = Callable[[Sequence[Cells], Sequence[Cells]], None]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for one begins so


@contextmanager
def open_writer(
    path: Path | None, names: Sequence[str], *, lines: bool, formulas: bool, force: bool
) -> Iterator[Write]:
    """Open what writes rows to a file, or to standard output.

    The name of the file says the form, and ``lines`` asks for JSON lines otherwise. Without
    ``formulas``, no cell of CSV is one to a spreadsheet. The file is there when all is written,
    and not before.
    """
    if path is None:
        with _wrap(sys.stdout.buffer) as text:
            shown = _Shown(text) if is_shown() else text
            yield _make_writer(shown, names, lines=lines, formulas=formulas)
    elif path.suffix == ".parquet":
        with _open_parquet(path, names, force=force) as write:
            yield write
    else:
        lines = lines or path.name.removesuffix(".gz").endswith(".jsonl")
        with _open_packed(path, force=force) as binary, _wrap(binary) as text:
            yield _make_writer(text, names, lines=lines, formulas=formulas)


@contextmanager
def _open_packed(path: Path, *, force: bool) -> Iterator[Any]:
    with open_whole(path, force=force) as file:
        packs = path.suffix == ".gz"
        packed = (
            gzip.GzipFile(path.stem, "wb", fileobj=file, mtime=0) if packs else nullcontext(file)
        )
        with packed as binary:
            yield binary


@contextmanager
def _wrap(binary: Any) -> Iterator[TextIO]:
    text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()  # who opened the bytes closes them


# ---- texts ----


class _Shown:
    """Writes to a terminal, which no label may steer."""

    def __init__(self, text: TextIO) -> None:
        self._text = text

    def write(self, text: str) -> None:
        self._text.write(clean_lines(text))


class _Lines:
    r"""Ends lines by \n where ``csv`` ends them by \r\n: so it puts cells with \r in quotes."""

    def __init__(self, text: TextIO | _Shown) -> None:
        self._text = text

    def write(self, line: str) -> None:
        self._text.write(f"{line[:-2]}\n")


def _make_writer(
    text: TextIO | _Shown, names: Sequence[str], *, lines: bool, formulas: bool
) -> Write:
    """Return what writes JSON lines, or CSV with a header."""

    def write_lines(kept: Sequence[Cells], new: Sequence[Cells]) -> None:
        for row in zip(*map(_list_kept, kept), *map(_list_new, new), strict=True):
            record = dict(zip(names, row, strict=True))
            text.write(escape_unprintable(json.dumps(record, ensure_ascii=False)) + "\n")

    def write_csv(kept: Sequence[Cells], new: Sequence[Cells]) -> None:
        columns = [*map(_list_kept, kept), *map(_list_new, new)]
        if not formulas:
            columns = [_map_cells(guard_formula, cells) for cells in columns]
        repeated = (one.map(_write_cell) if isinstance(one, CodedCells) else one for one in columns)
        _write_rows(text, list(repeated))

    if lines:
        return write_lines
    _write_rows(
        text, [[name] for name in names] if formulas else [[guard_formula(name)] for name in names]
    )
    return write_csv


def _write_rows(text: TextIO | _Shown, columns: Sequence[Sequence[Any]]) -> None:
    """Write rows of CSV; those with a return in a cell, which is rare, one by one."""
    rows = io.StringIO(newline="")
    csv.writer(rows, lineterminator="\n").writerows(zip(*columns, strict=True))
    if "\r" in (made := rows.getvalue()):
        csv.writer(_Lines(text), lineterminator="\r\n").writerows(zip(*columns, strict=True))
    else:
        text.write(made)


def _map_cells(function: Callable[[Any], Any], cells: Sequence[Any]) -> Sequence[Any]:
    """Return a function of cells; where they repeat, it is evaluated once for each."""
    if isinstance(cells, CodedCells):
        return cells.map(function)
    return list(map(function, cells))


def guard_formula(cell: Any) -> Any:
    """Put a quote before a text that a spreadsheet would take for a formula; numbers stay.

    >>> guard_formula("=A1"), guard_formula("-1.5"), guard_formula(2)
    ("'=A1", '-1.5', 2)
    """
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _list_new(cells: Cells) -> Sequence[Any]:
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def _list_kept(cells: Cells) -> Sequence[Any]:
    """Return cells as they were: whole numbers are floats only to us."""
    if not isinstance(cells, np.ndarray):
        return cells
    return [None if value != value else make_label(value) for value in cells.tolist()]


def _write_cell(cell: Any) -> Any:
    """Write a number as ``csv`` does."""
    return repr(cell) if isinstance(cell, float) else cell


# ---- Parquet ----


@contextmanager
def _open_parquet(path: Path, names: Sequence[str], *, force: bool) -> Iterator[Write]:
    import_extra("pyarrow.parquet", f"to write {path} with", "files")
    with open_whole(path, force=force) as file:
        table = _ParquetTable(file, names)
        yield table.write
        table.close()


class _ParquetTable:
    """A table of Parquet that is written in parts; the first one decides the kinds of columns."""

    def __init__(self, file: BinaryIO, names: Sequence[str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._pa, self._pq = pa, pq
        self._file, self._names = file, list(names)
        self._writer: Any = None

    def write(self, kept: Sequence[Cells], new: Sequence[Cells]) -> None:
        """Write some rows."""
        if self._writer is None:
            self._begin([*map(self._find_kept_kind, kept), *map(self._find_kind, new)])
        schema = self._writer.schema
        arrays = [
            self._make_array(cells, field.type)
            for cells, field in zip([*kept, *new], schema, strict=True)
        ]
        self._writer.write_batch(self._pa.record_batch(arrays, schema=schema))

    def close(self) -> None:
        """Write the end; a table without rows has columns of texts."""
        if self._writer is None:
            self._begin([self._pa.string()] * len(self._names))
        self._writer.close()

    def _begin(self, kinds: Sequence[Any]) -> None:
        schema = self._pa.schema(list(zip(self._names, kinds, strict=True)))
        self._writer = self._pq.ParquetWriter(self._file, schema)

    def _find_kept_kind(self, cells: Cells) -> Any:
        """Return numbers for an array of them, or else texts, as which any cell can be written."""
        return self._pa.float64() if isinstance(cells, np.ndarray) else self._pa.string()

    def _find_kind(self, cells: Cells) -> Any:
        pa = self._pa
        if isinstance(cells, CodedCells) and len(set(map(type, cells.values))) == 1:
            cells = np.array(cells.values)
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
            return pa.from_numpy_dtype(cells.dtype)
        return pa.float64() if isinstance(cells[0], float) else pa.string()

    def _make_array(self, cells: Cells, kind: Any) -> Any:
        pa = self._pa
        if kind == pa.string():
            # An empty cell of a CSV file is none.
            return pa.array([None if one in (None, "") else str(one) for one in cells], kind)
        if isinstance(cells, CodedCells):
            cells = np.array(cells.values)[cells.codes]
        return make_array(np.asarray(cells), kind)
