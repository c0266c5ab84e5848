"""Predictions in batches, from one file to another."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from newron.command.decoding import tell_unknown
from newron.command.files import open_whole
from newron.command.progress import Stage, show_stage
from newron.command.tables import Batch, Encoder, Source, open_table
from newron.command.tables.cells import GAPS
from newron.command.tables.source import Cells
from newron.command.terminal import Page, count, tell_seconds
from newron.errors import InputError
from newron.model import Classes, Model
from newron.model.arithmetic import Floats

__all__ = ["predict_file"]

PREDICTION = "prediction"


def predict_file(
    page: Page,
    model: Model,
    data: Path,
    output: Path | None,
    *,
    proba: bool,
    keep: Sequence[str],
    missing: Iterable[str],
    force: bool,
) -> None:
    """Predict for every row of a table, and write that in the same order."""
    source = open_table(data)
    names = [*keep, *_name_outputs(model, proba)]
    _check_kept(source, keep, names)
    encoder = Encoder(source, model.fields, GAPS | set(missing))
    begin, n_rows = time.perf_counter(), 0
    with _open_output(output, force=force) as text, _show(page, output) as stage:
        writer = _make_writer(text, names, page, output)
        for batch in source.read():
            results = _list_results(model, encoder.encode(batch), proba)
            writer.write([*(_list_cells(batch, name) for name in keep), *results])
            n_rows += batch.n_rows
            stage.update(source.done, source.total, f"{count(n_rows, 'row')}")
    tell_unknown(page, encoder)
    for note in source.list_notes():
        page.say(note)
    if output is not None:
        seconds = time.perf_counter() - begin
        page.say(f"{count(n_rows, 'row')} in {tell_seconds(seconds)}, written to {output}")


def _name_outputs(model: Model, proba: bool) -> list[str]:
    output = model.output
    if not isinstance(output, Classes):
        if proba:
            raise InputError("--proba: expected a model of classes, got one of amounts")
        return [PREDICTION] if output.n_scores == 1 else list(output.names)
    return [PREDICTION, *(f"probability_{label}" for label in output.labels if proba)]


def _check_kept(source: Source, keep: Sequence[str], names: Sequence[str]) -> None:
    for name in keep:
        source.check_column(name)
        if names.count(name) > 1:
            raise InputError(f"--keep: expected a column that is not written yet, got {name!r}")


def _list_results(model: Model, rows: Floats, proba: bool) -> list[Sequence[Any]]:
    """Give the columns that are written."""
    scores = model.score_rows(rows)
    said = model.output.predict(scores)
    if not isinstance(model.output, Classes):
        return [said.tolist()] if said.ndim == 1 else [column.tolist() for column in said.T]
    shares = model.output.predict_proba(scores).T if proba else ()
    return [said.tolist(), *(share.tolist() for share in shares)]


def _list_cells(batch: Batch, name: str) -> Sequence[Any]:
    cells: Cells = batch.columns[name]
    if isinstance(cells, np.ndarray):
        return [_shorten(value) for value in cells.tolist()]
    return cells


def _shorten(value: float) -> Any:
    """Give a number as it was: whole ones of a file are floats only to us."""
    if value != value:
        return None
    return int(value) if value.is_integer() and abs(value) < 2.0**53 else value


# ---- where to ----


@contextmanager
def _open_output(path: Path | None, *, force: bool) -> Iterator[TextIO]:
    if path is None:
        with _wrap(sys.stdout.buffer) as text:
            yield text
        return
    with open_whole(path, force=force) as file:
        packs = path.suffix == ".gz"
        packed = (
            gzip.GzipFile(path.stem, "wb", fileobj=file, mtime=0) if packs else nullcontext(file)
        )
        with packed as binary, _wrap(binary) as text:
            yield text


@contextmanager
def _wrap(binary: Any) -> Iterator[TextIO]:
    text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
    try:
        yield text
        text.flush()
    finally:
        text.detach()  # who opened the bytes closes them


@contextmanager
def _show(page: Page, output: Path | None) -> Iterator[Stage]:
    """Show progress, unless the rows themselves go to the terminal."""
    if output is None:
        yield Stage(page, "predict")
        return
    with show_stage(page, "predict") as stage:
        yield stage


class _Writer(Protocol):
    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Write some rows, given by columns."""


def _make_writer(text: TextIO, names: Sequence[str], page: Page, output: Path | None) -> _Writer:
    lines = output is not None and output.name.removesuffix(".gz").endswith(".jsonl")
    return _LinesWriter(text, names) if page.as_json or lines else _CsvWriter(text, names)


class _CsvWriter:
    """Rows as CSV, with a header."""

    def __init__(self, text: TextIO, names: Sequence[str]) -> None:
        self._writer = csv.writer(text, lineterminator="\n")
        self._writer.writerow(names)

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        self._writer.writerows(zip(*columns, strict=True))


class _LinesWriter:
    """Rows as JSON lines."""

    def __init__(self, text: TextIO, names: Sequence[str]) -> None:
        self._text, self._names = text, names

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        for row in zip(*columns, strict=True):
            record = dict(zip(self._names, row, strict=True))
            self._text.write(json.dumps(record, ensure_ascii=False) + "\n")
