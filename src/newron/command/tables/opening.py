"""Finds out what a file is, and opens it."""

from __future__ import annotations

import re
from pathlib import Path

from newron.command.tables.arrow import ArrowSource
from newron.command.tables.decoding import SAMPLE, decode_sample, guess_encoding, open_bytes
from newron.command.tables.delimited import DelimitedSource
from newron.command.tables.lines import LinesSource
from newron.command.tables.source import Source
from newron.errors import InputError

__all__ = ["open_table"]

_JSON = re.compile(r'\ufeff?\s*(\{\s*["}]|\[\s*\{)')
_ARROW = {b"PAR1": "Parquet", b"ARROW1": "Arrow", b"\xff\xff\xff\xff": "Arrow stream"}
_OTHERS = {
    b"PK\x03\x04": "a ZIP archive, as those of Excel are; save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an Excel file; save the table as CSV",
    b"SQLite format 3": "an SQLite database; save the table as CSV",
    b"FEA1": "the first version of Feather; save the table as Parquet or CSV",
}


def open_table(path: Path) -> Source:
    """Open a table; its content says what it is.

    Raises
    ------
    InputError
        If there is no file, it may not be read, or it is no table that newron reads.
    """
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
    return LinesSource(path, sample) if _looks_like_json(sample) else DelimitedSource(path, sample)


def _looks_like_json(sample: bytes) -> bool:
    """Tell whether a text begins with a JSON object, or with a list of them."""
    return _JSON.match(decode_sample(sample, guess_encoding(sample))) is not None
