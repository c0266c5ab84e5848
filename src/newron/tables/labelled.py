"""Tables to train on: the inputs, and the target with its classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.formatting import format_count
from newron.tables.encoding import Encoder, describe_row
from newron.tables.field import Field, Floats, Label
from newron.tables.files import (
    ColumnOptions,
    check_mixture,
    open_table,
    survey_columns,
)
from newron.tables.hints import find_hints
from newron.tables.labelled_table import LabelledTable
from newron.tables.source import Batch, Source
from newron.tables.survey import ColumnSurvey
from newron.tables.table import EncodedTable, Target
from newron.tables.written import DATE

TASKS = ("classes", "regression")
_RARE = 0.25  # of the rows: an event, where the words of the classes say nothing
_FEW = 10  # different whole numbers that are taken for classes
# What is no finding: of two classes the other one is of interest.
_NO = {
    "-", "no", "non", "nein", "nee", "nej", "não", "nao", "нет", "nie", "ne", "n", "false",
    "negative", "neg", "negativ", "ok", "normal", "healthy", "well", "benign", "absent", "control",
    "gesund", "gutartig", "sano", "sain",
}  # fmt: skip


def read_labelled(
    path: str | PathLike[str],
    target: str,
    *,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    missing: Iterable[str] = (),
    task: str | None = None,
    positive: str | None = None,
    order: Sequence[str] | None = None,
    header: bool = True,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> LabelledTable:
    r"""Read a file to train on, in two passes.

    Parameters
    ----------
    path : str or path-like
        CSV (plain or gzip), JSON lines, Parquet, Arrow or Excel.
    target : str
        The column to predict. Rows without it are left out.
    drop, categories, missing
        As those of :func:`newron.tables.read`.
    task : {"classes", "regression"}, optional
        By default what the target looks like: text and few whole numbers are classes.
    order : sequence of str, optional
        All classes from the lowest to the highest; by default the order that a file says, such
        as that of an ordered categorical of pandas in Parquet.
    positive : str, optional
        Which of two classes comes second: rules, points and probabilities are for it. By default
        the second in order, but not a word for no: of ja and nein it is ja.
    header : bool
        As that of :func:`newron.tables.read`.
    on_progress : callable, optional
        Called with how much was read, and of how much.

    Returns
    -------
    LabelledTable

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("size,colour\n1.5,red\n2,blue\n0.5,red\n")
    ...     file.flush()
    ...     table = read_labelled(file.name, "colour")
    >>> table.X.names, table.y.labels
    (('size',), ('blue', 'red'))
    """
    labelled = open_labelled(
        path, target, drop=drop, categories=categories, missing=missing, task=task,
        positive=positive, order=order, header=header, on_progress=on_progress,
    )  # fmt: skip
    source = labelled.source
    return labelled.read(lambda: on_progress(source.total + source.done, 2 * source.total))


def open_labelled(
    path: str | PathLike[str],
    target: str,
    *,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    missing: Iterable[str] = (),
    task: str | None = None,
    positive: str | None = None,
    order: Sequence[str] | None = None,
    header: bool = True,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> LabelledSource:
    """Find out what the columns of a file are, as :func:`read_labelled`, which then reads it."""
    source = open_table(path, header=header)
    labelled = survey_labelled(
        source,
        target,
        ColumnOptions(drop, categories, missing),
        task=task,
        on_progress=lambda: on_progress(source.done, 2 * source.total),
    )
    return labelled.order(positive, order)


@dataclass(frozen=True)
class LabelledSource:
    """A table to train on whose columns are known: to be read whole, or in blocks.

    - ``fields``: The inputs.
    - ``target``: With its classes in order; without for regression.
    - ``weight``: The column of the rows' weights.
    - ``n_rows``: How many rows have a target.
    - ``surveys``: What every column holds.
    - ``left_out``: Columns that are no inputs, and why.
    - ``held_out``: Rows not to read, by their number among those with a target and a weight, in
      order.
    - ``ordered``: Whether the order of the classes is one of rank.
    """

    source: Source
    options: ColumnOptions
    fields: tuple[Field, ...]
    target: Field
    weight: str | None
    surveys: Mapping[str, ColumnSurvey]
    left_out: Mapping[str, str]
    held_out: NDArray[np.intp] | None = None
    ordered: bool = False

    @property
    def n_rows(self) -> int:
        """How many rows have a target."""
        return self.surveys[self.target.name].n_values

    def count_classes(self) -> dict[Label, int]:
        """Return how many rows each class has; of numbers nothing."""
        counts: Mapping[Label, int] = self.surveys[self.target.name].count_labels() or {}
        return {label: counts[label] for label in self.target.categories or ()}

    @cached_property
    def n_used(self) -> int:
        """How many rows have a target and a weight; to count weights, all rows are read."""
        if self.weight is None:
            return self.n_rows - (0 if self.held_out is None else len(self.held_out))
        return sum(len(y) for _, y, _ in self.read_blocks(_BLOCK))

    def order(self, positive: str | None, given: Sequence[Label] | None = None) -> LabelledSource:
        """Return the table with its classes in the order in which results are shown."""
        labels = self.target.categories
        if labels is None:
            if positive is not None:
                raise InputError(
                    f"positive: expected a target of classes, got {self._where} of numbers"
                )
            return self
        if given is None:
            given = self.source.find_order(self.target.name)
        if given is not None and len(labels) > 2:
            ranked = _rank_classes(labels, given, self._where)
            return replace(self, target=Field(self.target.name, ranked), ordered=True)
        ranked = _order_classes(labels, positive, self.count_classes(), self._where)
        return replace(self, target=Field(self.target.name, ranked))

    @property
    def _where(self) -> str:
        return f"{self.source.path}: target {self.target.name!r}"

    def read_blocks(
        self, size: int, on_batch: Callable[[], None] = lambda: None
    ) -> Iterator[tuple[Floats, Floats, Floats | None]]:
        """Yield inputs, targets and weights of rows with a target, so many at a time."""
        encoder = self.source.make_encoder(self.used_fields, self.options.missing, unknown="error")
        self.source.check_unchanged()
        waiting: list[Floats] = []
        n_waiting = n_read = n_used = 0
        for batch in self.source.read(encoder):
            n_read += batch.n_rows
            rows = self.encode(batch, encoder)
            n_used += len(rows)
            if self.held_out is not None:
                rows = np.delete(rows, find_between(self.held_out, n_used - len(rows), n_used), 0)
            waiting.append(rows)
            n_waiting += len(rows)
            while n_waiting >= size:
                joined = np.concatenate(waiting)
                yield self.split(joined[:size])
                waiting, n_waiting = [joined[size:]], n_waiting - size
            on_batch()
        if n_waiting:
            yield self.split(np.concatenate(waiting))
        self.source.check_unchanged()
        expected = self.surveys[self.target.name].n_rows
        if n_read != expected:
            raise InputError(
                f"{self.source.path}: expected {expected} rows, as before, got {n_read}"
            )

    @property
    def used_fields(self) -> list[Field]:
        """The inputs, the weights where there are some, and the target."""
        others = [] if self.weight is None else [Field(self.weight)]
        return [*self.fields, *others, self.target]

    def encode(self, batch: Batch, encoder: Encoder) -> Floats:
        """Return the rows of a batch that have a target and a weight."""
        rows, first = batch.encode(encoder).rows, batch.first
        if self.weight is None:
            return np.asarray(rows[~np.isnan(rows[:, -1])])
        weight = rows[:, len(self.fields)]
        wrong = ~(weight >= 0.0)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{describe_row(first + row, self.source.path)}, column {self.weight!r}: expected "
                f"a weight from 0 on, got {weight[row]}"
            )
        return np.asarray(rows[~np.isnan(rows[:, -1]) & (weight > 0.0)])

    def split(self, rows: Floats) -> tuple[Floats, Floats, Floats | None]:
        """Return inputs, targets and weights of encoded rows."""
        n = len(self.fields)
        weight = None if self.weight is None else rows[:, n]
        return np.ascontiguousarray(rows[:, :n]), rows[:, -1].copy(), weight

    def read(
        self, on_batch: Callable[[], None] = lambda: None, index: NDArray[np.intp] | None = None
    ) -> LabelledTable:
        """Read the whole table, or the rows of some numbers, which are in order."""
        blocks, end = [], 0
        for block in self.read_blocks(_BLOCK, on_batch):
            end += len(block[1])
            at = slice(None) if index is None else find_between(index, end - len(block[1]), end)
            blocks.append((block[0][at], block[1][at], None if block[2] is None else block[2][at]))
        n, labels = len(self.fields), self.target.categories
        values = np.concatenate([np.empty(0), *(y for _, y, _ in blocks)])
        codes = values if labels is None else values.astype(np.intp)
        y = Target(self.target.name, labels, codes, self.ordered)
        _check_target(self.source, y)
        X = EncodedTable(self.fields, np.concatenate([np.empty((0, n)), *(X for X, *_ in blocks)]))
        weights = [weight for *_, weight in blocks if weight is not None]
        used = [self.surveys[one.name] for one in self.fields]
        units = _list_units([*used, self.surveys[y.name]], self.options)
        odd_words = {column.name: words for column in used if (words := column.find_odd_words())}
        return LabelledTable(
            X,
            y,
            form=self.source.form,
            missing={column.name: column.n_missing for column in used if column.n_missing},
            left_out=self.left_out,
            n_unlabelled=self.surveys[y.name].n_missing,
            odd_words=odd_words,
            units={name: unit for name, unit in units.items() if unit != DATE},
            notes=(
                *self.source.list_notes(),
                *_describe_dates(units),
                *find_hints(X, y, explained=odd_words),
            ),
            weight=np.concatenate(weights) if weights else None,
        )


_BLOCK = 65_536  # rows


def find_between(index: NDArray[np.intp], first: int, end: int) -> NDArray[np.intp]:
    """Return the numbers from the first on, counted from it.

    >>> find_between(np.array([1, 4, 5, 9]), 4, 8)
    array([0, 1])
    """
    begin, stop = np.searchsorted(index, [first, end])
    return np.asarray(index[begin:stop] - first)


def survey_labelled(
    source: Source,
    target: str,
    options: ColumnOptions,
    *,
    weight: str | None = None,
    task: str | None = None,
    on_progress: Callable[[], None] = lambda: None,
) -> LabelledSource:
    """Find out what the columns of a table to train on are; it is read once for that."""
    source.check_column(target, "the target")
    if weight is not None:
        source.check_column(weight, "the weights")
    if target in options.drop:
        raise InputError(f"drop: expected another column than the target, got {target!r}")
    names = [name for name in options.choose(source) if name not in (target, weight)]
    others = [target] if weight is None else [target, weight]
    surveys = survey_columns(source, [*names, *others], options.missing, on_progress)
    return describe_survey(source, target, weight, options, surveys, task)


def describe_survey(
    source: Source,
    target: str,
    weight: str | None,
    options: ColumnOptions,
    surveys: Mapping[str, ColumnSurvey],
    task: str | None,
) -> LabelledSource:
    """Return the table to train on, by what its columns hold."""
    names = [name for name in options.choose(source) if name not in (target, weight)]
    labels = _find_classes(source, surveys[target], task)
    left_out = {name: why for name in names if (why := options.find_obstacle(surveys[name]))}
    used = [surveys[name] for name in names if name not in left_out]
    if not used:
        raise InputError(f"{source.path}: expected a column beside the target, got none to use")
    fields = tuple(options.make_field(column, source) for column in used)
    return LabelledSource(source, options, fields, Field(target, labels), weight, surveys, left_out)


def _list_units(surveys: Iterable[ColumnSurvey], options: ColumnOptions) -> dict[str, str]:
    """Return what the numbers of some columns are written with."""
    units = {one.name: one.unit for one in surveys if one.name not in options.categories}
    return {name: unit for name, unit in units.items() if unit is not None}


def _describe_dates(units: Mapping[str, str]) -> list[str]:
    """Return how dates are read."""
    names = [name for name, unit in units.items() if unit == DATE]
    if not names:
        return []
    return [f"dates are read as years, 2021-07-02 as 2021.5: {', '.join(names)}"]


def _find_classes(
    source: Source, column: ColumnSurvey, task: str | None
) -> tuple[Label, ...] | None:
    """Return the classes as they are sorted, None for regression."""
    where = f"{source.path}: target {column.name!r}"
    if not column.n_rows:
        raise InputError(f"{source.path}: expected rows, got a header alone")
    if not column.n_values:
        raise InputError(f"{where}: expected values, got {column.n_rows} missing ones")
    check_mixture(column, source)
    counts = column.count_labels()
    if _choose_task(column, counts, task, where) == "regression":
        return None
    if counts is None or column.looks_unique:
        n = "too many" if counts is None else str(len(counts))
        raise InputError(
            f"{where}: expected classes that repeat, got {n} different ones in "
            f"{format_count(column.n_values, 'row')}; choose another target"
        )
    return column.sort_labels()


def _choose_task(
    column: ColumnSurvey, counts: Counter[Label] | None, task: str | None, where: str
) -> str:
    if task is not None and task not in TASKS:
        raise InputError(f"task: expected {' or '.join(TASKS)}, got {task!r}")
    if not column.is_number:
        if task == "regression":
            raise InputError(f"{where}: expected numbers for regression, got texts")
        return "classes"
    if task is not None:
        return task
    few = counts is not None and len(counts) <= _FEW
    whole = few and all(isinstance(label, int) for label in counts or ())
    return "classes" if whole else "regression"


def _is_no(label: Label) -> bool:
    return isinstance(label, str) and label.strip().casefold() in _NO


def _find_event(labels: tuple[Label, ...], counts: Mapping[Label, int]) -> Label:
    """Return which of two classes is of interest: not a "no", a rare one, or the second."""
    first, second = labels
    if _is_no(first) != _is_no(second):
        return first if _is_no(second) else second
    if all(isinstance(label, str) for label in labels):
        rare = min(labels, key=lambda label: counts[label])
        if counts[rare] < _RARE * sum(counts.values()):
            return rare
    return second


def _order_classes(
    labels: tuple[Label, ...], positive: str | None, counts: Mapping[Label, int], where: str
) -> tuple[Label, ...]:
    if len(labels) < 2:
        raise InputError(
            f"{where}: expected at least 2 classes, got {labels[0]!r} in every row: there is "
            "nothing to distinguish"
        )
    if positive is None:
        if len(labels) > 2:
            return labels
        return labels[::-1] if _find_event(labels, counts) == labels[0] else labels
    if len(labels) != 2 or positive not in map(str, labels):
        shown = ", ".join(map(str, labels[:8]))
        raise InputError(
            f"positive: expected one of two classes, got {positive!r}; there are {shown}"
        )
    return tuple(sorted(labels, key=lambda label: str(label) == positive))


def _rank_classes(
    labels: tuple[Label, ...], order: Sequence[Label], where: str
) -> tuple[Label, ...]:
    """Return classes from the lowest to the highest."""
    place = {str(label): k for k, label in enumerate(order)}
    unknown = [str(label) for label in labels if str(label) not in place]
    if unknown:
        raise InputError(
            f"{where}: expected an order of all classes, got none of {unknown[0]!r}; name all of "
            + ", ".join(map(str, labels))
        )
    return tuple(sorted(labels, key=lambda label: place[str(label)]))


def _check_target(source: Source, y: Target) -> None:
    if y.labels is None and len(np.unique(y.values)) < 2:
        raise InputError(
            f"{source.path}: target {y.name!r}: expected numbers that differ, got "
            f"{y.values[0]:g} in every row"
        )
