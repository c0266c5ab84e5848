"""Rows of a file with their true answers, whatever a model predicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.columns import Offset, read_presence, take_column
from newron.command.terminal import Console
from newron.errors import InputError
from newron.evaluation.indicator import Indicator
from newron.evaluation.times import Times
from newron.formatting import format_count
from newron.model import Classes, Labels, Model, Survival, Targets
from newron.model.arithmetic import Floats
from newron.model.survival import drop_time
from newron.tables import EncodedTable, Field, Target, read
from newron.tables.files import open_table


@dataclass(frozen=True)
class TrueRows:
    """Rows whose true answers are known.

    - ``model``: The model that is meant: of several labels with a target the part of that label.
    - ``y``: As ``measure_model`` and ``report`` take it.
    - ``offset``: What is added to the score of each row.
    - ``known``: Which rows of the file these are.
    """

    model: Model
    X: EncodedTable
    y: Any
    offset: Floats | None
    known: NDArray[np.bool_]


def read_true_rows(
    console: Console,
    path: Path,
    model: Model,
    missing: Iterable[str],
    target: str | None,
    offset: Offset | None = None,
    *,
    header: bool = True,
    max_rows: int | None = None,
) -> TrueRows:
    """Read the first rows of a file and their true answers; those without one are left out.

    ``target`` is the column to predict: of survival the event, of several labels one of them. These
    have names that the model knows, by default.
    """
    words, output = tuple(missing), model.output
    fields = list(drop_time(model) if isinstance(output, Survival) else model.fields)
    names = _name_truth(model, target)
    source = open_table(path, header=header)
    for name in (*names, *([offset.column] if offset else [])):
        source.check_column(name)
    if offset is not None:
        _check_offset(model, offset)
        fields.append(Field(offset.column))
    limit = None if max_rows is None else max_rows + 1  # one more shows that there are more
    how: dict[str, Any] = {"missing": words, "max_rows": limit, "header": header}
    X = read(path, fields=fields, **how)
    if isinstance(output, Labels | Survival):
        whole = read(path, missing=words, header=header)
        columns = [_read_flags(whole, name) for name in names]
        if isinstance(output, Survival):
            columns.append(take_column(whole, output.time, "--time")[1])
    else:
        labels = output.labels if isinstance(output, Classes) else None
        columns = [read(path, fields=[Field(names[0], labels)], **how).rows[:, 0]]
    if max_rows is not None and len(X) > max_rows:
        console.note(f"{path}: the first {format_count(max_rows, 'row')} are used")
        X = X[:max_rows]
    truth = np.column_stack(columns)[: len(X)]
    known: NDArray[np.bool_] = np.asarray(~np.isnan(truth).any(axis=1))
    if not known.any():
        raise InputError(f"{path}: expected rows with {names[0]}, got none")
    X, truth = X[known], truth[known]
    values = None
    if offset is not None:
        X, values = offset.split(X)
    shown = model.label(target) if isinstance(output, Labels) and target is not None else model
    return TrueRows(shown, X, _make_truth(model, shown, names, truth), values, known)


def _name_truth(model: Model, target: str | None) -> Sequence[str]:
    """Return the columns of the true answers, but for the time."""
    output = model.output
    if isinstance(output, Labels):
        if target is not None and target not in output.names:
            raise InputError(
                f"--target: expected one of the labels {', '.join(output.names)}, got {target!r}"
            )
        return output.names if target is None else (target,)
    if target is None and not isinstance(output, Survival):
        raise InputError("expected --target, the column to predict")
    return (target if target is not None else str(output.labels[1]),)  # type: ignore[union-attr]


def _check_offset(model: Model, offset: Offset) -> None:
    if not isinstance(model.output, Targets) or isinstance(model.output, Labels):
        raise InputError(f"{offset.option}: expected a model of numbers, got another one")


def _read_flags(table: EncodedTable, name: str) -> Floats:
    """Read 0 and 1, no and yes, or any two values, of which the second counts."""
    categories = {field.name: field.categories for field in table.fields}[name]
    codes = take_column(table, name, "--target")[1]
    try:
        return read_presence(codes, categories, name)
    except InputError:
        if categories is not None and len(categories) == 2:
            return codes
        raise


def _make_truth(model: Model, shown: Model, names: Sequence[str], truth: Floats) -> Any:
    """Return true answers as Python takes them."""
    output = model.output
    if isinstance(output, Survival):
        return Times(truth[:, 0] > 0.0, truth[:, 1], names[0], output.time)
    if isinstance(shown.output, Classes):
        codes = truth[:, 0].astype(np.intp)
        return Target(names[0], tuple(shown.output.labels), codes)
    return Indicator(tuple(names), truth) if isinstance(output, Labels) else truth[:, 0]
