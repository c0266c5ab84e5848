"""CSV as blocks of whole lines: parsed by pyarrow where it is installed, else by ``csv``.

``csv`` defines what a file means. pyarrow is many times as fast, and is used only for blocks of
which both say the same; whatever it does not accept goes to ``csv``, which has the error.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from newron.errors import InputError
from newron.tables.buffers import read_dictionary, read_numbers
from newron.tables.cells import Cells
from newron.tables.decoding import decode_utf8, open_bytes, open_text
from newron.tables.field import LARGEST_INPUT

BLOCK = 1 << 20  # bytes that are parsed at once
MAX_LINE = 1 << 24  # bytes that a line may have
_QUOTE, _FEED, _RETURN, _SPACE = b'"\n\r '


# ---- blocks ----


@contextmanager
def open_blocks(path: Path, encoding: str) -> Iterator[tuple[Iterator[bytes], BinaryIO]]:
    """Open a file; yield its blocks in UTF-8, each of whole lines, and the file itself."""
    if encoding.startswith("utf-8"):
        with open_bytes(path) as (binary, raw):
            if encoding == "utf-8-sig":
                binary.read(3)  # its mark
            yield _cut_blocks(iter(lambda: binary.read(BLOCK), b""), path), raw
        return
    with open_text(path, encoding) as (text, raw):
        parts = iter(lambda: text.read(BLOCK).encode("utf-8", "surrogatepass"), b"")
        yield _cut_blocks(parts, path), raw


def _cut_blocks(parts: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Cut where a line ends: a block is never longer than a part and the longest line."""
    rest: list[bytes] = []
    for part in parts:
        end = part.rfind(b"\n") + 1
        if end:
            yield b"".join((*rest, part[:end]))
            rest = []
        rest.append(part[end:])
        if sum(map(len, rest)) > MAX_LINE:
            raise InputError(
                f"{path}: expected lines of at most {MAX_LINE >> 20} MB, got a longer one; is "
                "it a table?"
            )
    if any(rest):
        yield b"".join(rest)


# ---- by csv ----


class RowParser:
    """Parses blocks by ``csv``; a quoted cell may go on in the next block."""

    def __init__(self, blocks: Iterator[bytes], delimiter: str) -> None:
        self._blocks = blocks
        self._lines: deque[str] = deque()
        self._reader = csv.reader(self, delimiter=delimiter, skipinitialspace=True)
        self._elsewhere = 0

    def __iter__(self) -> Iterator[str]:
        """Return what ``csv`` takes its lines from."""
        return self

    def __next__(self) -> str:
        """Return the next line: of the next block where a cell goes on beyond this one."""
        while not self._lines:
            self._load(next(self._blocks))
        return self._lines.popleft()

    def _load(self, block: bytes) -> None:
        self._lines.extend(io.StringIO(decode_utf8(block), newline="").readlines())

    @property
    def line(self) -> int:
        """The number of the last line that was read."""
        return self._elsewhere + self._reader.line_num

    def skip(self, block: bytes) -> None:
        """Count the lines of a block that was parsed elsewhere."""
        self._elsewhere += block.count(b"\n")

    def parse(self, block: bytes) -> list[list[str]]:
        """Return the rows that begin in a block; empty lines are none."""
        self._load(block)
        rows = []
        while self._lines:
            rows.append(next(self._reader))
        return [row for row in rows if row]

    def parse_first(self) -> tuple[list[str], bytes]:
        """Return the first row of all, and what is left of its last block."""
        row = next((row for row in self._reader if row), [])
        rest = "".join(self._lines).encode("utf-8", "surrogatepass")
        self._lines.clear()
        return row, rest


# ---- by pyarrow ----


class BlockParser:
    """Parses blocks by pyarrow, where that gives what ``csv`` and Python's ``float`` give.

    - ``header``: The names of all columns of the file.
    - ``numbers``, ``texts``: The columns to read, as numbers or as texts.
    - ``missing``: The words for a missing value.
    """

    def __init__(
        self,
        header: Sequence[str],
        numbers: Iterable[str],
        texts: Iterable[str],
        *,
        delimiter: str,
        missing: Iterable[str],
        decimal_comma: bool,
    ) -> None:
        import pyarrow as pa
        import pyarrow.csv as pa_csv

        self._pa, self._csv = pa, pa_csv
        positions = {name: str(i) for i, name in enumerate(header)}
        self._names = [str(i) for i in range(len(header))]  # those of a file may be there twice
        self._numbers = {name: positions[name] for name in numbers}
        self._texts = {name: positions[name] for name in texts}
        self._delimiter = delimiter
        self._settings = {
            "null_values": sorted(missing),
            "decimal_point": "," if decimal_comma else ".",
        }

    def parse(self, block: bytes) -> tuple[Mapping[str, Cells], int] | None:
        """Return the columns of a block and the number of its rows; None for ``csv`` to do it."""
        if not is_simple(block, self._delimiter):
            return None
        try:
            table = self._read(block)
        except self._pa.ArrowInvalid:
            return None
        columns: dict[str, Cells] = {}
        for name, at in self._numbers.items():
            cells = self._convert(table.column(at).combine_chunks())
            if cells is None:
                return None
            columns[name] = cells
        for name, at in self._texts.items():
            cells = read_dictionary(table.column(at).combine_chunks())
            columns[name] = cells.map(lambda text: text.lstrip(" "))
        return columns, table.num_rows

    def _read(self, block: bytes) -> Any:
        pa, csv_ = self._pa, self._csv
        text = pa.dictionary(pa.int32(), pa.string())
        types = dict.fromkeys(self._texts.values(), text)
        types |= dict.fromkeys(self._numbers.values(), pa.float64())
        return csv_.read_csv(
            pa.BufferReader(block),
            read_options=csv_.ReadOptions(
                column_names=self._names, use_threads=False, block_size=len(block) + 1
            ),
            parse_options=csv_.ParseOptions(delimiter=self._delimiter),
            convert_options=csv_.ConvertOptions(
                column_types=types, include_columns=list(types), **self._settings
            ),
        )

    def _convert(self, array: Any) -> Cells | None:
        """Return numbers, NaN where missing; None where an error may name the cell as written."""
        numbers = read_numbers(array)
        valid = int((np.abs(numbers) < LARGEST_INPUT).sum())  # neither NaN nor infinite
        return numbers if valid + array.null_count == len(numbers) else None


def is_simple(block: bytes, delimiter: str) -> bool:
    r"""Whether all readers of CSV agree on where the cells of a block are.

    Quotes stand around whole cells and hold no line together, lines end with LF or CR LF, all is
    UTF-8 without NUL, and no cell is longer than ``csv`` allows.

    >>> is_simple(b'1,"a, b"\n', ","), is_simple(b'1,a "b"\n', ","), is_simple(b"1,a\r2,b", ",")
    (True, False, False)
    """
    if b"\0" in block:
        return False
    if b"\r" in block and block.count(b"\r") != block.count(b"\r\n"):
        return False
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    signs = np.frombuffer(block, np.uint8)
    lines = np.flatnonzero(signs == _FEED)
    longest = np.diff(lines, prepend=-1, append=len(block)).max()
    if longest > csv.field_size_limit():
        return False
    return b'"' not in block or _has_simple_quotes(signs, lines, ord(delimiter))


def _has_simple_quotes(signs: Any, lines: Any, delimiter: int) -> bool:
    quotes = np.flatnonzero(signs == _QUOTE)
    if len(quotes) % 2:
        return False
    begin, end = quotes[0::2], quotes[1::2]
    ends = np.array([_FEED], np.uint8)
    padded = np.concatenate([ends, signs, ends])
    return bool(
        np.isin(padded[begin], (delimiter, _FEED)).all()
        and (padded[begin + 2] != _SPACE).all()  # without quotes, csv drops a space here
        and np.isin(padded[end + 2], (delimiter, _FEED, _RETURN)).all()
        and np.array_equal(np.searchsorted(lines, begin), np.searchsorted(lines, end))
    )
