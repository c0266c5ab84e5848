"""Rows of files as a model reads them, and as people wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from newron.command.tables import Encoder, open_table
from newron.command.tables.cells import GAPS
from newron.command.terminal import Page, count
from newron.errors import InputError
from newron.model import Classes, Model
from newron.model.arithmetic import Floats
from newron.model.frame import Label

__all__ = ["decode_row", "decode_rows", "find_label", "read_row", "tell_unknown"]


def read_row(page: Page, path: Path, model: Model, number: int, missing: Iterable[str]) -> Floats:
    """Read one row of a table, counted from 1, as the model reads it."""
    source = open_table(path)
    encoder = Encoder(source, model.fields, GAPS | set(missing))
    last = 0
    for batch in source.read():
        last = batch.first - 1 + batch.n_rows
        if number <= last:
            one = batch.pick(number - batch.first, model.schema.names)
            rows = encoder.encode(one)
            tell_unknown(page, encoder)
            return np.asarray(rows[0])
    raise InputError(f"--row: expected a number from 1 to {last}, got {number}")


def tell_unknown(page: Page, encoder: Encoder) -> None:
    """Warn of categories that training has not seen."""
    for name, (times, example) in encoder.unknown.items():
        page.warn(
            f"column {name!r}: unknown categories in {count(times, 'row')}, such as {example!r}; "
            "they are read as missing"
        )


def decode_row(model: Model, row: Floats) -> dict[str, Label | None]:
    """Give a row by the names of its columns, with the labels of categories."""
    return dict(zip(model.schema.names, decode_rows(model, row[None])[0], strict=True))


def decode_rows(model: Model, rows: Floats) -> list[list[Any]]:
    """Give rows with the labels of categories and None for gaps, as ``Model.read`` takes them."""
    columns = [
        _decode(values, column.categories)
        for values, column in zip(rows.T, model.schema.columns, strict=True)
    ]
    return [list(cells) for cells in zip(*columns, strict=True)]


def _decode(values: Floats, labels: Sequence[Label] | None) -> list[Label | None]:
    if labels is None:
        return [None if value != value else value for value in values.tolist()]
    return [None if value != value else labels[int(value)] for value in values.tolist()]


def find_label(model: Model, text: str, where: str) -> Label:
    """Find the class that a text names."""
    if not isinstance(model.output, Classes):
        raise InputError(f"{where}: expected a model of classes, got one of amounts")
    for label in model.output.labels:
        if str(label) == text:
            return label
    known = ", ".join(map(str, model.output.labels[:8]))
    raise InputError(f"{where}: expected one of the classes {known}, got {text!r}")
