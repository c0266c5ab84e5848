"""Tables in files: CSV, JSON lines, Parquet, Arrow and Excel, read in batches.

CSV and JSON lines are read with Python's own ``csv`` and ``json``, so that a plain install
reads them; pyarrow, the extra ``files``, reads long CSV files alike and faster, see
:mod:`.blocks`, and Parquet and Arrow need it, as Excel needs calamine. The content of a file
decides what it is, not its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from newron.errors import InputError
from newron.formatting import format_count
from newron.tables.arrow import ArrowSource
from newron.tables.decoding import SAMPLE, decode_sample, guess_encoding, open_bytes
from newron.tables.delimited import DelimitedSource
from newron.tables.excel import ExcelSource
from newron.tables.field import Field, Floats
from newron.tables.lines import LinesSource
from newron.tables.source import Source
from newron.tables.survey import MAX_CATEGORIES, ColumnSurvey
from newron.tables.table import EncodedTable

_JSON = re.compile(r'\ufeff?\s*(\{\s*["}]|\[\s*\{)')
_ARROW = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}
_EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # of xlsx, xlsb and ods; of xls
_OTHERS = {
    b"SQLite format 3": "an SQLite database; save the table as CSV",
    b"FEA1": "the first version of Feather; save the table as Parquet or CSV",
}


def open_table(path: str | PathLike[str], *, header: bool = True) -> Source:
    """Open a table to read it in batches; its content decides what it is.

    - ``header``: Whether CSV and Excel begin with the names of the columns; without, they are x1,
      x2, ...

    Raises InputError: If there is no file, it may not be read, or it is no table that newron
    reads.
    """
    path = Path(path)
    with open_bytes(path) as (binary, raw):
        sample = binary.read(SAMPLE)
        packed = binary is not raw
    for mark, what in _OTHERS.items():
        if sample.startswith(mark):
            raise InputError(f"{path}: expected CSV, JSON lines, Parquet or Arrow, got {what}")
    for mark, form in _ARROW.items():
        if sample.startswith(mark):
            if packed:
                raise InputError(f"{path}: expected {form} by itself, got it in gzip; unpack it")
            return ArrowSource(path, form)
    if sample.startswith(_EXCEL):
        return ExcelSource(path, header=header)
    if _looks_like_json(sample):
        return LinesSource(path, sample)
    return DelimitedSource(path, sample, header=header)


def _looks_like_json(sample: bytes) -> bool:
    """Whether a text begins with a JSON object, or with a list of them."""
    return _JSON.match(decode_sample(sample, guess_encoding(sample))) is not None


def read(
    path: str | PathLike[str],
    *,
    fields: Sequence[Field] | None = None,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    missing: Iterable[str] = (),
    max_rows: int | None = None,
    header: bool = True,
) -> EncodedTable:
    r"""Read a file into a table that all of newron takes as X.

    Parameters
    ----------
    path : str or path-like
        CSV (plain or gzip), JSON lines, Parquet, Arrow or Excel.
    fields : sequence of Field, optional
        The columns to read, those of a model: ``model.fields``. By default all columns, and
        what they are is learned. Columns without values and identifiers are left out.
    drop : iterable of str
        Columns to leave out.
    categories : iterable of str
        Columns of numbers that are categories.
    missing : iterable of str
        Words for a missing value besides the usual ones: an empty cell, ?, NA, NaN, null.
    max_rows : int, optional
        Read the first rows alone.
    header : bool
        Whether CSV and Excel begin with the names of the columns; without, they are x1, x2, ...

    Returns
    -------
    EncodedTable

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("colour,size\nred,1.5\nblue,?\n")
    ...     file.flush()
    ...     table = read(file.name)
    >>> table.get_row(1)
    {'colour': 'blue', 'size': None}
    """
    source = open_table(path, header=header)
    if fields is None:
        options = ColumnOptions(drop, categories, missing)
        surveys = survey_columns(source, options.choose(source), missing)
        fields = [
            options.make_field(one, source)
            for one in surveys.values()
            if not options.find_obstacle(one)
        ]
    return EncodedTable(tuple(fields), read_rows(source, fields, missing, max_rows=max_rows))


class ColumnOptions:
    """What a user asks of the columns of a file: see :func:`read`."""

    def __init__(
        self, drop: Iterable[str] = (), categories: Iterable[str] = (), missing: Iterable[str] = ()
    ) -> None:
        self.drop, self.categories = tuple(drop), tuple(categories)
        self.missing = tuple(missing)

    def choose(self, source: Source) -> list[str]:
        """Return the columns that are not left out."""
        for name in (*self.drop, *self.categories):
            source.check_column(name)
        return [name for name in source.names if name not in self.drop]

    def find_obstacle(self, column: ColumnSurvey) -> str:
        """Return why a column cannot be an input; nothing if it can."""
        if not column.n_values:
            return "no values"
        listed = column.name in self.categories
        if column.is_number and not listed:
            return ""
        counts = column.count_labels()
        if counts is None:
            return f"more than {format_count(MAX_CATEGORIES, 'different text')}"
        if column.looks_unique and not listed:
            rows = format_count(column.n_values, "row")
            return f"{format_count(len(counts), 'different text')} in {rows}"
        return ""

    def make_field(self, column: ColumnSurvey, source: Source) -> Field:
        """Return what a column is."""
        check_mixture(column, source)
        if column.is_number and column.name not in self.categories:
            return Field(column.name)
        return Field(column.name, column.sort_labels())


def check_mixture(column: ColumnSurvey, source: Source) -> None:
    """Raise where texts stand beside numbers and a file distinguishes them."""
    if column.is_mixed:
        raise InputError(
            f"{source.path}: expected texts or numbers in column {column.name!r}, got both; turn "
            "all into text, or the texts into numbers or missing values"
        )


def survey_columns(
    source: Source,
    names: Sequence[str],
    missing: Iterable[str],
    on_batch: Callable[[], None] = lambda: None,
) -> dict[str, ColumnSurvey]:
    """Find out what some columns of a file hold; ``on_batch`` is called after each batch."""
    form = source.get_format(missing)
    surveys = {name: ColumnSurvey(name, form) for name in names}
    source.watch()
    for batch in source.read():
        for name, survey in surveys.items():
            survey.add(batch.columns[name])
        on_batch()
    return {name: survey.finish() for name, survey in surveys.items()}


def read_rows(
    source: Source,
    fields: Sequence[Field],
    missing: Iterable[str] = (),
    *,
    max_rows: int | None = None,
) -> Floats:
    """Read all rows of a file, or the first ones, as those of some fields."""
    encoder = source.make_encoder(fields, missing)
    parts = [np.empty((0, len(fields)))]
    for batch in source.read(encoder):
        parts.append(batch.encode(encoder).rows)
        if max_rows is not None and batch.first + batch.n_rows >= max_rows:
            break
    encoder.warn_unknown()
    return np.concatenate(parts)[:max_rows]
