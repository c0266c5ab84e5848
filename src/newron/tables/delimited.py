"""CSV: commas, semicolons, tabs or bars between the cells of a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path

from newron.errors import InputError
from newron.formatting import format_count
from newron.tables.blocks import BLOCK, BlockParser, RowParser, open_blocks
from newron.tables.decoding import FALLBACK, SAMPLE, decode_sample, guess_encoding
from newron.tables.encoding import Encoder, describe_row
from newron.tables.field import make_names
from newron.tables.source import BATCH_ROWS, Batch, Source, check_names
from newron.tables.written import is_grouped

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLED = 200  # rows of the sample
_POINT = re.compile(r"[+-]?\d+\.\d+")
_COMMA = re.compile(r"[+-]?[\d.]*\d,\d+")
_AROUND = " %€$£\xa0"  # of a number


class DelimitedSource(Source):
    """A CSV file."""

    typed = False

    def __init__(self, path: Path, sample: bytes, *, header: bool = True) -> None:
        self.path = path
        self._has_header = header
        self._encoding = guess_encoding(sample)
        text = decode_sample(sample, self._encoding)
        if "\0" in text:
            raise InputError(
                f"{path}: expected a table as CSV, JSON lines, Parquet or Arrow, got a binary file"
            )
        # The last row of a sample may be cut.
        whole = len(sample) < SAMPLE
        self._delimiter = guess_delimiter(text, whole=whole)
        rows = _parse_sample(text, self._delimiter, whole=whole)
        if not rows:
            raise InputError(f"{path}: expected names of columns and rows, got an empty file")
        if header:
            self._header = [name.strip() for name in self._read_header()]
            _check_header(path, self._header)
        else:
            self._header = list(make_names(len(rows[0])))
        self.names = tuple(name for name in self._header if name)
        self.decimal_comma = _has_decimal_comma(rows[int(header) :], self._delimiter)
        self.form = self._describe_form()
        self.total = path.stat().st_size
        self._n_wrong = 0

    def _read_header(self) -> list[str]:
        """Read the names of the columns, which may be longer than a sample."""
        with open_blocks(self.path, self._encoding) as (blocks, _):
            parser = RowParser(blocks, self._delimiter)
            try:
                return parser.parse_first()[0]
            except csv.Error as error:
                raise InputError(
                    f"{self.path}, line {parser.line}: expected names of columns, got {error}"
                ) from None

    def _describe_form(self) -> str:
        parts = [f"CSV with {_DELIMITERS[self._delimiter]}"]
        if self._encoding not in ("utf-8", "utf-8-sig"):
            parts.append(self._encoding.upper())
        if self.decimal_comma:
            parts.append("decimal commas")
        return ", ".join(parts)

    def read(self, encoder: Encoder | None = None, others: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all rows from the first on, in batches."""
        before, self.done, first = FALLBACK.count, 0, 0
        fast = None if encoder is None else self._make_parser(encoder, others)
        with open_blocks(self.path, self._encoding) as (blocks, raw):
            slow = RowParser(blocks, self._delimiter)
            try:
                rest = slow.parse_first()[1] if self._has_header else b""
                for block in chain((rest,) if rest else (), blocks):
                    for batch in self._parse(block, fast, slow, first):
                        self.done = raw.tell()
                        yield batch
                        first += batch.n_rows
            except csv.Error as error:
                raise InputError(
                    f"{self.path}, line {slow.line}: expected cells of CSV, got {error}"
                ) from None
            finally:
                self._n_wrong = FALLBACK.count - before

    def _make_parser(self, encoder: Encoder, others: Sequence[str]) -> BlockParser | None:
        """Return what parses simple blocks faster, where that is installed and worth its start."""
        if self.total < BLOCK or not _has_pyarrow():
            return None
        kinds = {one.name: one.categories is None for one in encoder.fields}
        kinds |= dict.fromkeys(others, False)  # as they are written
        return BlockParser(
            self._header,
            [name for name, is_number in kinds.items() if is_number],
            [name for name, is_number in kinds.items() if not is_number],
            delimiter=self._delimiter,
            missing=encoder.form.missing,
            decimal_comma=encoder.form.decimal_comma,
        )

    def _parse(
        self, block: bytes, fast: BlockParser | None, slow: RowParser, first: int
    ) -> Iterator[Batch]:
        parsed = None if fast is None else fast.parse(block)
        if parsed is not None:
            slow.skip(block)
            yield Batch(*parsed, first)
            return
        rows = slow.parse(block)
        for start in range(0, len(rows), BATCH_ROWS):
            part = rows[start : start + BATCH_ROWS]
            self._check_lengths(part, first + start)
            columns = zip(self._header, zip(*part, strict=True), strict=True)
            yield Batch({name: cells for name, cells in columns if name}, len(part), first + start)

    def _check_lengths(self, rows: Sequence[list[str]], first: int) -> None:
        expected = len(self._header)
        if set(map(len, rows)) <= {expected}:
            return
        at = next(i for i, row in enumerate(rows) if len(row) != expected)
        raise InputError(
            f"{describe_row(first + at, self.path)}: expected {expected} cells, as in the header, "
            f"got {len(rows[at])}; put quotes around cells with {_DELIMITERS[self._delimiter]}"
        )

    def list_notes(self) -> list[str]:
        """Return notes on wrong bytes and on columns without a name."""
        notes = []
        if self._n_wrong:
            wrong = format_count(self._n_wrong, "byte that is", "bytes that are")
            notes.append(f"{wrong} not UTF-8: read as cp1252 (Windows)")
        unnamed = len(self._header) - len(self.names)
        if unnamed:
            notes.append(f"{format_count(unnamed, 'column')} without a name: left out")
        return notes


@cache
def _has_pyarrow() -> bool:
    return find_spec("pyarrow") is not None


def guess_delimiter(text: str, *, whole: bool = True) -> str:
    r"""Find what stands between cells: what makes the most rows as long as the first.

    ``csv.Sniffer`` looks at single characters and takes letters or spaces for delimiters
    where texts are short; whole rows decide better.

    >>> guess_delimiter("a;b\n1,5;2\n"), guess_delimiter("a\tb, c\n1\t2\n")
    (';', '\t')
    """

    def rate(delimiter: str) -> tuple[float, int]:
        try:
            rows = _parse_sample(text, delimiter, whole=whole)
        except csv.Error:
            return 0.0, 0
        width = len(rows[0]) if rows else 0
        if width < 2:
            return 0.0, 0
        return sum(len(row) == width for row in rows) / len(rows), width

    return max(_DELIMITERS, key=rate)


def _parse_sample(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """Return the first rows of a text; not the last one of a text that was cut."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    rows = [row for row in islice(lines, _SAMPLED) if row]
    return rows if whole or len(rows) < 2 else rows[:-1]


def _check_header(path: Path, names: list[str]) -> None:
    if all(re.fullmatch(r"[+-]?\d+([.,]\d+)?", name) for name in names):
        shown = ", ".join(name[:40] for name in names[:3])
        raise InputError(
            f"{path}: expected names of columns in the first line, got numbers "
            f"({shown}); add a line with names, or --no-header (header=False)"
        )
    check_names(path, names)


def _has_decimal_comma(rows: Sequence[list[str]], delimiter: str) -> bool:
    """Whether numbers are written as 1,5: no cell says otherwise.

    Where commas stand between cells, a quoted 1,234 is more than a thousand.
    """
    cells = [cell.strip(_AROUND) for cell in chain.from_iterable(rows)]
    commas = [
        cell
        for cell in cells
        if _COMMA.fullmatch(cell) and not (delimiter == "," and is_grouped(cell.lstrip("+-")))
    ]
    points = [cell for cell in cells if _POINT.fullmatch(cell)]
    return bool(commas) and all(is_grouped(cell.lstrip("+-"), ",") for cell in points)
