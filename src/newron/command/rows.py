"""Rows from files to a model, and predictions from a model to files."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.columns import Offset
from newron.command.curves import is_survival, list_curves, name_curves
from newron.command.intervals import list_intervals, name_intervals
from newron.command.progress import Stage, show_stage
from newron.command.terminal import Console
from newron.command.writing import open_writer
from newron.errors import InputError
from newron.formatting import format_count, format_seconds
from newron.model import Classes, Labels, Model, Targets
from newron.model.arithmetic import Floats
from newron.model.output import add_offset
from newron.model.survival import drop_time
from newron.tables import EncodedTable, Field, Label, Target, read
from newron.tables.cells import Cells, CodedCells
from newron.tables.files import open_table
from newron.tables.source import Source

PREDICTION = "prediction"
MAX_ROWS = 50_000  # of a table that is shown, not predicted
_REPEATED = 0.1  # different values among all, up to which they are written once


# ---- reading ----


def read_row(
    path: Path, model: Model, number: int, missing: Iterable[str], *, header: bool = True
) -> dict[str, Any]:
    """Read one row of a file, counted from 1, by the names of the model's columns."""
    source = open_table(path, header=header)
    encoder = source.make_encoder(model.fields, missing)
    n_rows = 0
    for batch in source.read():
        n_rows = batch.first + batch.n_rows
        if number <= n_rows:
            row = batch.get_row(number - 1 - batch.first, model.schema.names).encode(encoder)
            encoder.warn_unknown()
            return row.get_row(0)
    raise InputError(f"--row: expected a number from 1 to {n_rows}, got {number}")


def read_rows(
    console: Console,
    path: Path,
    model: Model,
    missing: Iterable[str],
    target: str | None = None,
    *,
    max_rows: int | None = MAX_ROWS,
    header: bool = True,
    fields: Sequence[Field] | None = None,
) -> tuple[EncodedTable, Target | None]:
    """Read the first rows of a file as a model takes them; those without a target are left out.

    ``fields`` are the columns, by default those of the model.
    """
    fields = model.fields if fields is None else tuple(fields)
    if target is not None:
        open_table(path, header=header).check_column(target, "the target")
        labels = model.output.labels if isinstance(model.output, Classes) else None
        fields = (*fields, Field(target, labels))
    limit = None if max_rows is None else max_rows + 1  # one more shows that there are more
    table = read(path, fields=fields, missing=missing, max_rows=limit, header=header)
    if max_rows is not None and len(table) > max_rows:
        console.note(f"{path}: the first {format_count(max_rows, 'row')} are used")
        table = table[:max_rows]
    X, y = (table, None) if target is None else _split_target(table)
    if not len(X):
        raise InputError(f"{path}: expected rows, got none to use")
    return X, y


def _split_target(table: EncodedTable) -> tuple[EncodedTable, Target]:
    *inputs, last = table.fields
    rows = table.rows[~np.isnan(table.rows[:, -1])]
    values = rows[:, -1] if last.categories is None else rows[:, -1].astype(np.intp)
    return EncodedTable(tuple(inputs), rows[:, :-1]), Target(last.name, last.categories, values)


def find_label(model: Model, text: str, where: str) -> Label:
    """Find the class that a text names."""
    if not isinstance(model.output, Classes):
        raise InputError(f"{where}: expected a model of classes, got one of regression")
    for label in model.output.labels:
        if str(label) == text:
            return label
    known = ", ".join(map(str, model.output.labels[:8]))
    raise InputError(f"{where}: expected one of the classes {known}, got {text!r}")


# ---- predicting ----


def predict_file(
    console: Console,
    model: Model,
    data: Path,
    output: Path | None,
    *,
    proba: bool,
    threshold: float | None = None,
    interval: float | None = None,
    offset: Offset | None = None,
    keep: Sequence[str],
    missing: Iterable[str],
    force: bool,
    header: bool = True,
    formulas: bool = True,
) -> None:
    """Predict for every row of a file, in batches, and write that in the same order."""
    source = open_table(data, header=header)
    survival = is_survival(model)
    if survival:
        given = {"--proba": proba, "--threshold": threshold is not None}
        names = [*keep, *name_curves(model, {**given, "--interval": interval is not None})]
    else:
        names = [*keep, *_name_outputs(model, proba)]
    if interval is not None:
        names += name_intervals(model, interval)
    if threshold is not None:
        check_two_classes(model, "--threshold")
    _check_kept(source, keep, names)
    fields = drop_time(model) if survival else model.fields
    if offset is not None:
        if not isinstance(model.output, Targets) or isinstance(model.output, Labels):
            raise InputError(f"{offset.option}: expected a model of numbers, got another one")
        source.check_column(offset.column)
        fields = (*fields, Field(offset.column))
    encoder = source.make_encoder(fields, missing)
    # Of no rows: loads the compiled core, which no Ctrl-C must meet, before a file is there.
    model.predict(EncodedTable(model.fields, np.empty((0, len(model.fields)))))
    begin, n_rows = time.perf_counter(), 0
    lines = console.as_json
    with (
        open_writer(output, names, lines=lines, formulas=formulas, force=force) as write,
        _show(console, output) as stage,
    ):
        for batch in source.read(encoder, keep):
            table = batch.encode(encoder)
            if survival:
                predicted: Sequence[Cells] = list_curves(model, table.rows)
            else:
                predicted = _predict(model, table, proba, threshold, interval, offset)
            write([batch.columns[name] for name in keep], predicted)
            n_rows += batch.n_rows
            stage.update(source.done, source.total, format_count(n_rows, "row"))
    encoder.warn_unknown()
    for note in source.list_notes():
        console.note(note)
    if output is not None:
        seconds = format_seconds(time.perf_counter() - begin)
        console.note(f"{format_count(n_rows, 'row')} in {seconds}, written to {output}")


@contextmanager
def _show(console: Console, output: Path | None) -> Iterator[Stage]:
    """Show progress, unless the rows themselves go to the terminal."""
    if output is None:
        yield Stage(console, "predict")
        return
    with show_stage(console, "predict") as stage:
        yield stage


def _name_outputs(model: Model, proba: bool) -> list[str]:
    output = model.output
    if isinstance(output, Labels):
        return [*output.names, *(f"probability_{name}" for name in output.names if proba)]
    if isinstance(output, Classes):
        return [PREDICTION, *(f"probability_{label}" for label in output.labels if proba)]
    if proba:
        raise InputError("--proba: expected a model of classes, got one of regression")
    return [PREDICTION] if output.n_scores == 1 else list(output.names)


def _check_kept(source: Source, keep: Sequence[str], names: Sequence[str]) -> None:
    for name in keep:
        source.check_column(name)
        if names.count(name) > 1:
            raise InputError(f"--keep: expected a column that is not written yet, got {name!r}")


def check_two_classes(model: Model, where: str) -> None:
    """Raise unless a model has two classes: a threshold is between them."""
    if not isinstance(model.output, Classes) or len(model.output.labels) > 2:
        raise InputError(f"{where}: expected a model of two classes, got another one")


def _predict(
    model: Model,
    table: EncodedTable,
    proba: bool,
    threshold: float | None,
    interval: float | None,
    offset: Offset | None,
) -> list[Cells]:
    """Return the columns that are written."""
    if offset is None:
        scores = model.scores(table)
    else:
        table, values = offset.split(table)
        scores = add_offset(model.scores(table), values)
    columns = _choose(model, scores, threshold)
    if proba and isinstance(model.output, Labels):
        columns += map(_merge_probabilities, model.output.transform(scores).T)
    if proba and isinstance(model.output, Classes):
        columns += map(_merge_probabilities, model.output.predict_proba(scores).T)
    if interval is not None:
        columns += list_intervals(model, scores, interval)
    return columns


def _choose(model: Model, scores: Floats, threshold: float | None) -> list[Cells]:
    """Return the columns of what is predicted; each class is written but once."""
    output = model.output
    if not isinstance(output, Classes):
        return list(np.atleast_2d(output.predict(scores).T))
    codes = output.choose(scores)
    if threshold is not None:
        codes = (output.predict_proba(scores)[:, 1] >= threshold).astype(np.intp)
    return [CodedCells(list(output.labels), codes)]


def _merge_probabilities(values: NDArray[np.float64]) -> Cells:
    """Return probabilities; those of rules repeat, so that each need be written but once."""
    different, codes = np.unique(values, return_inverse=True)
    few = len(different) <= _REPEATED * len(values)
    return CodedCells(different.tolist(), codes) if few else values
