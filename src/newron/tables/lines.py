"""JSON lines: an object on every line, its keys the columns."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from newron.errors import InputError
from newron.tables.blocks import open_blocks
from newron.tables.decoding import decode_utf8, guess_encoding
from newron.tables.encoding import Encoder, describe_row
from newron.tables.source import BATCH_ROWS, Batch, Source, check_names

_CONSTANTS = {"NaN": None, "Infinity": float("inf"), "-Infinity": float("-inf")}


class LinesSource(Source):
    """A file of JSON lines. Its columns are the keys of its first batch of rows."""

    form = "JSON lines"

    def __init__(self, path: Path, sample: bytes) -> None:
        self.path = path
        self._encoding = guess_encoding(sample)
        self.total = path.stat().st_size
        first = next(self._read_objects(), None)
        if first is None:
            raise InputError(f"{path}: expected rows, got an empty file")
        self.names = tuple(dict.fromkeys(key for row in first[0] for key in row))
        check_names(path, self.names)

    def read(
        self,
        encoder: Encoder | None = None,  # noqa: ARG002 - all keys are there anyhow
        others: Sequence[str] = (),  # noqa: ARG002
    ) -> Iterator[Batch]:
        """Yield all rows from the first on, in batches; a key that lacks is a missing value."""
        first = 0
        for rows, raw in self._read_objects():
            columns = {
                name: [
                    self._read_cell(row.get(name), name, first + i) for i, row in enumerate(rows)
                ]
                for name in self.names
            }
            self.done = raw.tell()
            yield Batch(columns, len(rows), first)
            first += len(rows)

    def _read_objects(self) -> Iterator[tuple[list[dict[str, Any]], BinaryIO]]:
        with open_blocks(self.path, self._encoding) as (blocks, raw):
            parts = (io.StringIO(decode_utf8(block), newline="") for block in blocks)
            numbered = enumerate(chain.from_iterable(parts), 1)
            lines = (line for line in numbered if not line[1].isspace())
            while rows := [self._parse(*line) for line in islice(lines, BATCH_ROWS)]:
                yield rows, raw

    def _parse(self, number: int, line: str) -> dict[str, Any]:
        try:
            row = json.loads(line, parse_constant=_CONSTANTS.__getitem__)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{self.path}, line {number}: expected a JSON object, got {error}"
            ) from None
        if not isinstance(row, dict):
            raise InputError(
                f"{self.path}, line {number}: expected a JSON object, got {type(row).__name__}; "
                "write one object on every line"
            )
        return row

    def _read_cell(self, value: Any, name: str, row: int) -> Any:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list | dict):
            raise InputError(
                f"{describe_row(row, self.path)}: expected a number, a text or null in {name!r}, "
                "got a nested value; expand it into columns of its own"
            )
        return value
