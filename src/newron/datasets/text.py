"""Data sets as text, for files: without pandas, which a plain install does not have."""

from __future__ import annotations

import csv
import gzip

from newron.datasets.catalogue import DATA, Entry, find_entry
from newron.datasets.drawing import DRAWN, draw_points
from newron.errors import InputError

Row = list[str]


def read_text(name: str, *, part: str | None = None, seed: int = 0) -> list[Row]:
    """Return a data set as rows of text, the names of its columns first.

    The target is the last column; an empty text is a missing value. Otherwise as
    :func:`newron.datasets.load`.

    >>> names, *rows = read_text("monks-2", part="train")
    >>> names, len(rows), rows[0]
    (['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'class'], 169, ['1', '1', '1', '1', '2', '2', '0'])
    """
    entry = find_entry(name)
    if name in DRAWN:
        columns = draw_points(name, seed)
        cells = zip(*(column.tolist() for column in columns.values()), strict=True)
        rows = [list(columns), *([str(cell) for cell in row] for row in cells)]
    else:
        rows = _read_packed(entry)
    return _take_part(rows, name, part)


def _read_packed(entry: Entry) -> list[Row]:
    packed = (DATA / f"{entry.name}.csv.gz").read_bytes()
    names, *rows = csv.reader(gzip.decompress(packed).decode("utf-8").splitlines())
    written = [
        [_write(cell, name, entry) for cell, name in zip(row, names, strict=True)] for row in rows
    ]
    return [names, *written]


def _write(cell: str, name: str, entry: Entry) -> str:
    if name in entry.numbers:
        return str(entry.numbers[name][cell])
    # The source writes whole numbers as 70.0, and some missing values as 0.
    return "" if entry.missing.get(name) == cell else cell.removesuffix(".0")


def _take_part(rows: list[Row], name: str, part: str | None) -> list[Row]:
    has_parts = rows[0][0] == "part"
    if part is None:
        return [row[1:] for row in rows] if has_parts else rows
    if part not in ("train", "test"):
        raise InputError(f"expected 'train' or 'test' as part, got {part!r}")
    if not has_parts:
        raise InputError(f"expected a set with official parts, got {name!r} without")
    return [rows[0][1:], *(row[1:] for row in rows[1:] if row[0] == part)]
