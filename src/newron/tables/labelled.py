"""Tables to train on: the inputs, and the target with its classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from newron.errors import InputError
from newron.formatting import format_count
from newron.tables.field import Field, Label
from newron.tables.files import (
    ColumnOptions,
    check_mixture,
    open_table,
    read_rows,
    survey_columns,
)
from newron.tables.hints import find_hints
from newron.tables.source import Source
from newron.tables.survey import ColumnSurvey
from newron.tables.table import EncodedTable, Target
from newron.tables.written import DATE

__all__ = ["LabelledTable", "read_labelled"]

TASKS = ("classes", "regression")
_FEW = 10  # different whole numbers that are taken for classes
# What is no finding: of two classes the other one is of interest.
_NO = frozenset(
    (
        "-",
        "no",
        "non",
        "nein",
        "nee",
        "nej",
        "não",
        "nao",
        "нет",
        "nie",
        "ne",
        "n",
        "false",
        "negative",
        "neg",
        "negativ",
        "normal",
        "healthy",
        "well",
        "benign",
        "absent",
        "control",
        "gesund",
        "gutartig",
        "sano",
        "sain",
    )
)


@dataclass(frozen=True)
class LabelledTable:
    """A table to train on: ``estimator.fit(table.X, table.y)``.

    Attributes
    ----------
    X : EncodedTable
        The inputs.
    y : Target
        What to predict.
    form : str
        What the file is, in words.
    missing : dict
        How many values each column lacks, of those that lack some.
    left_out : dict
        Columns that are no inputs, and why.
    n_unlabelled : int
        How many rows have no target: they are left out.
    odd_words : dict
        Columns that are read as text because of few words among numbers: these words, and
        how often they occur.
    units : dict
        What numbers are written with, of columns and the target: %, or a currency.
    notes : tuple of str
        What else should be known of the file.

    Examples
    --------
    >>> from newron.tables import encode
    >>> y = Target("ill", ("no", "yes"), np.array([1, 0]))
    >>> len(LabelledTable(encode([[1.5], [2.5]]), y))
    2
    """

    X: EncodedTable
    y: Target
    form: str = ""
    missing: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    n_unlabelled: int = 0
    odd_words: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.X)


def read_labelled(
    path: str | PathLike[str],
    target: str,
    *,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    missing: Iterable[str] = (),
    task: str | None = None,
    positive: str | None = None,
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
    source = open_table(path, header=header)
    source.check_column(target, "the target")
    options = ColumnOptions(drop, categories, missing)
    if target in options.drop:
        raise InputError(f"drop: expected another column than the target, got {target!r}")
    names = [name for name in options.choose(source) if name != target]
    surveys = survey_columns(
        source,
        [*names, target],
        options.missing,
        lambda: on_progress(source.done, 2 * source.total),
    )
    numbers = _list_units(surveys.values(), options)
    labels = _find_classes(source, surveys.pop(target), task, positive)
    left_out = {name: why for name in names if (why := options.find_obstacle(surveys[name]))}
    used = [surveys[name] for name in names if name not in left_out]
    if not used:
        raise InputError(f"{source.path}: expected a column beside the target, got none to use")
    fields = tuple(options.make_field(column, source) for column in used)
    rows = read_rows(
        source,
        [*fields, Field(target, labels)],
        options.missing,
        on_batch=lambda: on_progress(source.total + source.done, 2 * source.total),
    )
    if len(rows) != used[0].n_rows:
        raise InputError(
            f"{source.path}: expected {used[0].n_rows} rows, as before, got another number"
        )
    known = ~np.isnan(rows[:, -1])
    values = rows[known, -1]
    y = Target(target, labels, values if labels is None else values.astype(np.intp))
    _check_target(source, y)
    X = EncodedTable(fields, rows[known, :-1])
    return LabelledTable(
        X,
        y,
        form=source.form,
        missing={column.name: column.n_missing for column in used if column.n_missing},
        left_out=left_out,
        n_unlabelled=int((~known).sum()),
        odd_words={column.name: words for column in used if (words := column.find_odd_words())},
        units={name: unit for name, unit in numbers.items() if unit != DATE},
        notes=(*source.list_notes(), *_describe_dates(numbers), *find_hints(X, y)),
    )


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
    source: Source, column: ColumnSurvey, task: str | None, positive: str | None
) -> tuple[Label, ...] | None:
    """Return the classes in order, None for regression."""
    where = f"{source.path}: target {column.name!r}"
    if not column.n_rows:
        raise InputError(f"{source.path}: expected rows, got a header alone")
    if not column.n_values:
        raise InputError(f"{where}: expected values, got {column.n_rows} missing ones")
    check_mixture(column, source)
    counts = column.count_labels()
    if _choose_task(column, counts, task, where) == "regression":
        if positive is not None:
            raise InputError(f"positive: expected a target of classes, got {where} of numbers")
        return None
    if counts is None or column.looks_unique:
        n = "too many" if counts is None else str(len(counts))
        raise InputError(
            f"{where}: expected classes that repeat, got {n} different ones in "
            f"{format_count(column.n_values, 'row')}; choose another target"
        )
    return _order_classes(column.sort_labels(), positive, where)


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


def _order_classes(
    labels: tuple[Label, ...], positive: str | None, where: str
) -> tuple[Label, ...]:
    if len(labels) < 2:
        raise InputError(
            f"{where}: expected at least 2 classes, got {labels[0]!r} in every row: there is "
            "nothing to distinguish"
        )
    if positive is None:
        return labels[::-1] if _is_no(labels[1]) and not _is_no(labels[0]) else labels
    if len(labels) != 2 or positive not in map(str, labels):
        shown = ", ".join(map(str, labels[:8]))
        raise InputError(
            f"positive: expected one of two classes, got {positive!r}; there are {shown}"
        )
    return tuple(sorted(labels, key=lambda label: str(label) == positive))


def _check_target(source: Source, y: Target) -> None:
    if y.labels is None and len(np.unique(y.values)) < 2:
        raise InputError(
            f"{source.path}: target {y.name!r}: expected numbers that differ, got "
            f"{y.values[0]:g} in every row"
        )
