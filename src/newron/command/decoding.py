"""Rows of files as a model reads them, and as people wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.tables import Encoder, open_table
from newron.command.tables.cells import GAPS
from newron.command.terminal import Page, count
from newron.errors import InputError
from newron.model import Classes, Model
from newron.model.arithmetic import Floats
from newron.model.frame import Field, Label

__all__ = [
    "decode_row",
    "decode_rows",
    "decode_target",
    "find_label",
    "read_row",
    "read_rows",
    "tell_unknown",
]

_MOST_ROWS = 50_000  # of a table that is shown, not predicted


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


def read_rows(
    page: Page,
    path: Path,
    model: Model,
    missing: Iterable[str],
    target: str | None = None,
    most: int = _MOST_ROWS,
) -> tuple[Floats, NDArray[Any] | None]:
    """Read the first rows of a table as the model reads them, and what is right for them.

    With a target, rows without one are left out; without, nothing is said of what is right.
    """
    source = open_table(path)
    fields = list(model.fields)
    if target is not None:
        source.check_column(target, "the target")
        labels = model.output.labels if isinstance(model.output, Classes) else None
        fields.append(Field(target, labels))
    encoder = Encoder(source, fields, GAPS | set(missing))
    parts, n_rows = [np.empty((0, len(fields)))], 0
    for batch in source.read():
        parts.append(encoder.encode(batch))
        n_rows += batch.n_rows
        if n_rows > most:
            page.say(f"{path}: the first {count(most, 'row')} are used")
            break
    tell_unknown(page, encoder)
    rows = np.concatenate(parts)[:most]
    if target is None:
        return _check_some(rows, path), None
    rows = _check_some(rows[~np.isnan(rows[:, -1])], path)
    return np.ascontiguousarray(rows[:, :-1]), decode_target(model, rows[:, -1])


def _check_some(rows: Floats, path: Path) -> Floats:
    if not len(rows):
        raise InputError(f"{path}: expected rows, got none to use")
    return rows


def decode_target(model: Model, values: NDArray[Any]) -> NDArray[Any]:
    """Give the classes that numbers stand for; amounts as they are."""
    if not isinstance(model.output, Classes):
        return values
    return np.asarray(model.output.array[values.astype(np.intp)])


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
