"""Workbooks of Excel and LibreOffice: the first sheet, as if it had been saved as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from newron._extras import import_extra
from newron.errors import InputError
from newron.tables.encoding import Encoder
from newron.tables.field import make_label, make_names
from newron.tables.source import BATCH_ROWS, Batch, Source, check_names


class ExcelSource(Source):
    """The first sheet of a workbook (xlsx, xlsb, xls or ods), read by calamine.

    Empty rows are left out. Cells are what CSV would have: texts may be numbers, as people write
    them.
    """

    typed = False

    def __init__(self, path: Path, *, header: bool = True) -> None:
        self.path = path
        name, rows = _read_sheet(path)
        written = [[_write(cell) for cell in row] for row in rows]
        self._rows = [row for row in written if any(row)]
        if not self._rows:
            raise InputError(f"{path}: expected names of columns and rows, got an empty sheet")
        if header:
            self._header = [cell.strip() for cell in self._rows.pop(0)]
        else:
            self._header = list(make_names(len(self._rows[0])))
        check_names(path, self._header)
        self.names = tuple(name for name in self._header if name)
        self.form = f"Excel, sheet {name!r}"
        self.total = len(self._rows)

    def read(
        self,
        encoder: Encoder | None = None,  # noqa: ARG002 - all cells are there anyhow
        others: Sequence[str] = (),  # noqa: ARG002
    ) -> Iterator[Batch]:
        """Yield all rows from the first on, in batches."""
        for first in range(0, self.total, BATCH_ROWS):
            part = self._rows[first : first + BATCH_ROWS]
            columns = zip(self._header, zip(*part, strict=True), strict=True)
            self.done = first + len(part)
            yield Batch({name: cells for name, cells in columns if name}, len(part), first)


def _read_sheet(path: Path) -> tuple[str, list[list[Any]]]:
    """Return the name and the rows of the first sheet."""
    calamine = import_extra("python_calamine", f"to read {path} with (or CSV)", "files")
    try:
        with path.open("rb") as file:
            book = calamine.CalamineWorkbook.from_filelike(file)
            name = book.sheet_names[0]
            return name, book.get_sheet_by_index(0).to_python(skip_empty_area=True)
    except (calamine.CalamineError, IndexError, OSError) as error:
        raise InputError(
            f"{path}: expected a table, got a ZIP archive or a damaged workbook ({error}); save "
            "the table as CSV"
        ) from None


def _write(cell: Any) -> str:
    """Write a cell as CSV would."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return str(make_label(cell))
    if isinstance(cell, date):
        midnight = isinstance(cell, datetime) and cell == datetime(*cell.timetuple()[:3])
        return (cell.date() if isinstance(cell, datetime) and midnight else cell).isoformat()
    return str(cell)
