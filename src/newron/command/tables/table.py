"""A table to train on: rows of numbers, what its columns are, and the target."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.tables.cells import GAPS
from newron.command.tables.encoder import Encoder
from newron.command.tables.source import Source
from newron.command.tables.survey import MOST_DIFFERENT, ColumnSurvey, survey_table
from newron.command.terminal import count
from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.frame import Field, Label

__all__ = ["Table", "Target", "Wanted", "load_table"]

TASKS = ("classes", "amounts")
_FEW = 10  # different whole numbers that are taken for classes
# From here on texts count as an identifier, as in newron.model.frame.
_MANY_TEXTS, _MOSTLY = 50, 0.9


@dataclass(frozen=True)
class Wanted:
    """What somebody asks of a table.

    Parameters
    ----------
    target : str
        The column to predict.
    drop : sequence of str
        Columns to leave out.
    categories : sequence of str
        Columns of numbers that name kinds.
    missing : sequence of str
        More words for what is missing.
    task : str, optional
        "classes" or "amounts"; by default what the target looks like.
    positive : str, optional
        Which of two classes is told first; by default the second in order.
    """

    target: str
    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    missing: Sequence[str] = ()
    task: str | None = None
    positive: str | None = None

    @property
    def gaps(self) -> frozenset[str]:
        """All words for what is missing."""
        return GAPS | {word.strip() for word in self.missing}


@dataclass(frozen=True)
class Target:
    """What to predict.

    Attributes
    ----------
    name : str
    labels : tuple or None
        The classes; None for amounts.
    values : ndarray
        The number of each row's class, or its amount.
    """

    name: str
    labels: tuple[Label, ...] | None
    values: NDArray[Any]

    def count_classes(self) -> dict[Label, int]:
        """Count the rows of each class."""
        assert self.labels is not None  # noqa: S101 - asked of classes alone
        counts = np.bincount(self.values, minlength=len(self.labels))
        return dict(zip(self.labels, counts.tolist(), strict=True))


@dataclass(frozen=True)
class Table:
    """A table in memory, as a network reads it.

    Attributes
    ----------
    fields : tuple of Field
        The names of the inputs and their categories.
    rows : ndarray of shape (rows, inputs)
        Numbers, places among categories, NaN for gaps.
    target : Target
    gaps : dict
        How many values each column lacks, of those that lack some.
    left_out : dict
        Columns that are no inputs, and why.
    notes : tuple of str
        What else should be known.
    """

    fields: tuple[Field, ...]
    rows: Floats
    target: Target
    gaps: Mapping[str, int]
    left_out: Mapping[str, str]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def places_of_categories(self) -> list[int]:
        """Which columns are categories."""
        return [i for i, field in enumerate(self.fields) if field.categories is not None]


def load_table(
    source: Source, wanted: Wanted, on_batch: Callable[[int, int], None] = lambda *_: None
) -> Table:
    """Read a table to train on, in two passes.

    ``on_batch`` hears how much was read, of how much.
    """
    names = _choose_columns(source, wanted)

    def hear(before: int) -> None:
        on_batch(before + source.done, 2 * source.total)

    found = survey_table(source, [*names, wanted.target], wanted.gaps, lambda: hear(0))
    labels = _read_target(source, found.pop(wanted.target), wanted)
    left_out = {name: why for name in names if (why := _judge(found[name], wanted))}
    used = [found[name] for name in names if name not in left_out]
    if not used:
        raise InputError(f"{source.path}: expected a column beside the target, got none to use")
    fields = tuple(_make_field(column, source, wanted) for column in used)
    goal = Field(wanted.target, labels)
    matrix = _read_rows(source, [*fields, goal], wanted.gaps, used[0].n_rows, hear)
    known = ~np.isnan(matrix[:, -1])
    rows, values = np.ascontiguousarray(matrix[known, :-1]), matrix[known, -1]
    target = Target(goal.name, labels, values if labels is None else values.astype(np.intp))
    _check_target(source, target)
    gaps = {column.name: column.n_gaps for column in used if column.n_gaps}
    notes = (*source.list_notes(), *_list_notes(used, int((~known).sum()), wanted.target))
    return Table(fields, rows, target, gaps, left_out, notes)


def _choose_columns(source: Source, wanted: Wanted) -> list[str]:
    source.check_column(wanted.target, "the target")
    for name in (*wanted.drop, *wanted.categories):
        source.check_column(name)
    if wanted.target in wanted.drop:
        raise InputError(f"--drop: expected another column than the target, got {wanted.target!r}")
    return [name for name in source.names if name not in {wanted.target, *wanted.drop}]


# ---- the target ----


def _read_target(source: Source, column: ColumnSurvey, wanted: Wanted) -> tuple[Label, ...] | None:
    """Give the classes in order, None for amounts."""
    where = f"{source.path}: target {wanted.target!r}"
    if not column.n_rows:
        raise InputError(f"{source.path}: expected rows, got a header alone")
    if not column.n_values:
        raise InputError(f"{where}: expected values, got {column.n_rows} gaps")
    column.check_mixture(str(source.path))
    counts = column.count_labels()
    if _choose_task(column, counts, wanted.task, where) == "amounts":
        if wanted.positive is not None:
            raise InputError(f"--positive: expected a target of classes, got {where} of amounts")
        return None
    if counts is None or _looks_unique(len(counts), column.n_values):
        n = "too many" if counts is None else str(len(counts))
        raise InputError(
            f"{where}: expected classes that repeat, got {n} different ones in "
            f"{count(column.n_values, 'row')}; choose another target"
        )
    return _sort_classes(counts, wanted, where)


def _choose_task(
    column: ColumnSurvey, counts: Counter[Label] | None, task: str | None, where: str
) -> str:
    if task is not None and task not in TASKS:
        raise InputError(f"--task: expected {' or '.join(TASKS)}, got {task!r}")
    if not column.is_number:
        if task == "amounts":
            raise InputError(f"{where}: expected numbers for amounts, got texts")
        return "classes"
    if task is not None:
        return task
    few = counts is not None and len(counts) <= _FEW
    whole = few and all(isinstance(label, int) for label in counts or ())
    return "classes" if whole else "amounts"


def _looks_unique(n_different: int, n_values: int) -> bool:
    return n_different > _MANY_TEXTS and n_different > _MOSTLY * n_values


def _sort_classes(counts: Counter[Label], wanted: Wanted, where: str) -> tuple[Label, ...]:
    labels = sorted(counts, key=lambda label: (isinstance(label, str), label))
    if len(labels) < 2:
        raise InputError(
            f"{where}: expected at least 2 classes, got {labels[0]!r} in every row: there is "
            "nothing to tell apart"
        )
    if wanted.positive is None:
        return tuple(labels)
    chosen = [label for label in labels if str(label) == wanted.positive]
    if not chosen or len(labels) != 2:
        shown = ", ".join(map(str, labels[:8]))
        raise InputError(
            f"--positive: expected one of two classes, got {wanted.positive!r}; there are {shown}"
        )
    return tuple(sorted(labels, key=lambda label: label == chosen[0]))


def _check_target(source: Source, target: Target) -> None:
    if target.labels is None and len(np.unique(target.values)) < 2:
        raise InputError(
            f"{source.path}: target {target.name!r}: expected amounts that differ, got "
            f"{target.values[0]:g} in every row"
        )


# ---- the inputs ----


def _judge(column: ColumnSurvey, wanted: Wanted) -> str:
    """Tell why a column cannot be an input; nothing if it can."""
    if not column.n_values:
        return "no values"
    if column.name in wanted.categories or not column.is_number:
        counts = column.count_labels()
        if counts is None:
            return f"more than {count(MOST_DIFFERENT, 'different text')}"
        if column.name not in wanted.categories and _looks_unique(len(counts), column.n_values):
            return f"{count(len(counts), 'different text')} in {count(column.n_values, 'row')}"
    return ""


def _make_field(column: ColumnSurvey, source: Source, wanted: Wanted) -> Field:
    column.check_mixture(str(source.path))
    if column.is_number and column.name not in wanted.categories:
        return Field(column.name)
    counts = column.count_labels()
    assert counts is not None  # noqa: S101 - such columns were left out
    return Field(column.name, tuple(sorted(counts, key=lambda x: (isinstance(x, str), x))))


def _read_rows(
    source: Source,
    fields: Sequence[Field],
    gaps: frozenset[str],
    n_rows: int,
    hear: Callable[[int], None],
) -> Floats:
    encoder = Encoder(source, fields, gaps)
    matrix = np.empty((n_rows, len(fields)))
    end = 0
    for batch in source.read():
        end = batch.first - 1 + batch.n_rows
        if end > n_rows:
            break
        matrix[batch.first - 1 : end] = encoder.encode(batch)
        hear(source.total)
    if end != n_rows:
        raise InputError(f"{source.path}: expected {n_rows} rows, as before, got another number")
    return matrix


def _list_notes(columns: Sequence[ColumnSurvey], n_without: int, target: str) -> list[str]:
    notes = []
    if n_without:
        notes.append(f"{count(n_without, 'row has', 'rows have')} no {target}: left out")
    for column in columns:
        words = column.find_odd_words()
        if words:
            word, times = words[0]
            more = f" and {len(words) - 1} more words" if len(words) > 1 else ""
            where = f"{count(times, 'row')}{more}"
            notes.append(
                f"{column.name} is read as text because of {word!r} in {where}; if that means "
                f"missing: --missing {shlex.quote(word)}"
            )
    return notes
