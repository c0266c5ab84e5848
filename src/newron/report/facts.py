"""Everything that a report tells, gathered before a word of it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, ModelError
from newron.figures.diagram import Diagram
from newron.figures.drawing import draw
from newron.figures.figure import Figure
from newron.figures.survey import read_diagram
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Targets
from newron.model.processing import get_processing
from newron.model.schema import Schema
from newron.reading.crispness import Fidelity, make_crisp, measure_fidelity
from newron.reading.importance import Importance, measure_importance
from newron.reading.row import open_layers
from newron.report.measures import (
    AmountQuality,
    ClassQuality,
    measure_amounts,
    measure_classes,
)
from newron.report.origin import Origin
from newron.rules.axis import Axis, make_axes
from newron.rules.circuit import find_boundaries
from newron.rules.coverage import number_classes
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

__all__ = ["Facts", "Words", "gather"]

_MOST_PICKED = 300  # rows that a reader can choose
_MOST_WEIGHED = 2000  # rows on which importance is measured
ROW_NAME = "the values above"


@dataclass(frozen=True)
class Words:
    """What things are called in a report.

    Parameters
    ----------
    title : str, optional
        The title of the page; by default the target and how good the model is.
    target : str
        What is predicted.
    noun : str
        What a row is: "patient".
    source : str
        Where the rows come from: the name of a file.
    purpose : str
        What the model is for, in the words of who made it.
    names : mapping
        Other names for columns.
    classes : mapping
        Other names for classes.
    """

    title: str | None = None
    target: str = ""
    noun: str = "row"
    source: str = ""
    purpose: str = ""
    names: Mapping[str, str] | None = None
    classes: Mapping[Any, str] | None = None


@dataclass(frozen=True)
class Facts:
    """What a report tells.

    Attributes
    ----------
    model : Model
        The model under the names of the page.
    fingerprint : str
        That of the model as it was given.
    rows : array of shape (rows, columns)
        As ``model.read`` gives them.
    truth : array or None
        The numbers of the true classes, or the true amounts of shape (rows, targets).
    scores : array of shape (rows, scores)
    picked : array
        The rows that a reader can choose.
    quality : ClassQuality, list of AmountQuality, or None without truth
    rules : RuleSet or None
        Of crisp networks.
    crisp : tuple of (RuleSet or None, Fidelity), or None
        The nearest crisp network of a soft one: its rules, if they are short, and how
        faithful it is.
    diagram : Diagram
        All functions, with their readings, curves and influence.
    h : list of arrays
        The values of all functions, layer by layer, on the rows.
    """

    model: Model
    fingerprint: str
    words: Words
    origin: Origin
    seen: int | None
    rows: Floats
    truth: NDArray[Any] | None
    scores: Floats
    picked: NDArray[np.intp]
    quality: ClassQuality | list[AmountQuality] | None
    rules: RuleSet | None
    crisp: tuple[RuleSet | None, Fidelity] | None
    diagram: Diagram
    importance: Importance
    h: list[Floats]
    axes: tuple[Axis, ...]
    fixed: tuple[int, ...]
    figures: tuple[Figure, Figure]

    @property
    def classes(self) -> Classes | None:
        """The classes; None for amounts."""
        return self.model.output if isinstance(self.model.output, Classes) else None

    @property
    def is_binary(self) -> bool:
        """Whether one score decides between two classes."""
        return self.classes is not None and self.classes.n_scores == 1

    @property
    def is_crisp(self) -> bool:
        """Whether all functions are conditions."""
        return self.diagram.is_crisp

    @property
    def used(self) -> list[int]:
        """The columns that a function reads, the most important first."""
        read = {int(s) for layer in self.model.layers for s in layer.source}
        order = [self.model.schema.names.index(one.name) for one in self.importance]
        return [i for i in order if i in read]


def gather(
    model: Model,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    words: Words | None = None,
    origin: Origin | None = None,
    seen: int | None = None,
    rules: RuleSet | None = None,
    fixed: str | Sequence[str] = (),
    seconds: float = 5.0,
) -> Facts:
    """Gather what there is to tell of a model on some rows."""
    told = Words() if words is None else words
    rows = np.ascontiguousarray(model.read(X), np.float64)
    if not len(rows):
        raise InputError("expected at least one row for a report, got none")
    truth = _read_truth(model, y, len(rows))
    if seen is not None and not 0 <= seen <= len(rows):
        raise InputError(f"seen: expected a number of the {len(rows)} rows, got {seen}")
    held = _find_columns(model, fixed)
    named = _rename(model, told)
    axes = make_axes(named.schema, find_boundaries(named))
    found = _find_rules(model, named, rules, seconds)
    picked = _draw_rows(len(rows), _MOST_PICKED)
    scores = named.score_rows(rows)
    weighed = _list_rows(named, rows[_draw_rows(len(rows), _MOST_WEIGHED)])
    return Facts(
        named,
        model.fingerprint,
        told,
        Origin() if origin is None else origin,
        seen,
        rows,
        truth,
        scores,
        picked,
        _measure(named, rows, scores, truth, axes),
        None if found is None else _cover(found, named, rows, truth),
        _find_crisp(named, rows, seconds) if found is None else None,
        read_diagram(named, rows),
        measure_importance(named, weighed, kind="drop"),
        open_layers(named)(rows),
        axes,
        held,
        _draw_figures(named, rows, rows[picked[0]]),
    )


# ---- rows ----


def _read_truth(model: Model, y: ArrayLike | None, n: int) -> NDArray[Any] | None:
    if y is None:
        return None
    if isinstance(model.output, Classes):
        return number_classes(model.output, y, n)
    try:
        truth = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        raise InputError("y: expected amounts, got values that are not numbers") from None
    truth = truth[:, None] if truth.ndim == 1 else truth
    if truth.shape != (n, model.output.n_scores) or not np.isfinite(truth).all():
        raise InputError(
            f"y: expected finite amounts of shape {(n, model.output.n_scores)}, got {truth.shape}"
        )
    return truth


def _draw_rows(n: int, most: int) -> NDArray[np.intp]:
    """Draw so many rows, always the same ones, in their order; the first is among them."""
    if n <= most:
        return np.arange(n)
    others = 1 + np.random.default_rng(0).choice(n - 1, most - 1, replace=False)
    return np.concatenate([[0], np.sort(others)])


def _list_rows(model: Model, rows: Floats) -> NDArray[Any]:
    """Give rows as a table that the model can read: labels instead of their numbers."""
    if not any(column.n_categories for column in model.schema.columns):
        return rows
    table = rows.astype(object)
    for i, column in enumerate(model.schema.columns):
        if column.categories is not None:
            labels = np.array([*column.categories, None], object)
            known = (rows[:, i] >= 0) & (rows[:, i] < len(column.categories))
            table[:, i] = labels[np.where(known, rows[:, i], len(column.categories)).astype(int)]
    return table


def _find_columns(model: Model, fixed: str | Sequence[str]) -> tuple[int, ...]:
    names = [fixed] if isinstance(fixed, str) else list(fixed)
    for name in names:
        if name not in model.schema.names:
            raise InputError(f"fixed: expected names of columns, got {name!r}")
    return tuple(sorted({model.schema.names.index(name) for name in names}))


# ---- names ----


def _rename(model: Model, words: Words) -> Model:
    """Give the same network under the names of the page."""
    names = dict(words.names or {})
    for name in names:
        if name not in model.schema.names:
            raise InputError(f"names: expected names of columns, got {name!r}")
    columns = [replace(c, name=str(names.get(c.name, c.name))) for c in model.schema.columns]
    try:
        return Model(Schema(tuple(columns)), model.layers, _rename_output(model, words))
    except ModelError as error:
        raise InputError(f"names: {error}") from None


def _rename_output(model: Model, words: Words) -> Classes | Targets:
    output = model.output
    if not isinstance(output, Classes):
        single = words.target and output.n_scores == 1
        return Targets((words.target,)) if single else output
    given = dict(words.classes or {})
    for label in given:
        if label not in output.labels:
            raise InputError(f"classes: expected classes of the model, got {label!r}")
    if not given:
        return output
    return Classes(tuple(str(given.get(label, label)) for label in output.labels))


# ---- rules ----


def _find_rules(
    model: Model, named: Model, rules: RuleSet | None, seconds: float
) -> RuleSet | None:
    if not all(get_processing(layer.processing).crisp for layer in model.layers):
        return None
    if rules is not None and named == model:
        return rules
    try:
        return extract(named, seconds=seconds)
    except ModelError:  # a crisp network that has no rules, such as a product of scores
        return None


def _cover(rules: RuleSet, model: Model, rows: Floats, truth: NDArray[Any] | None) -> RuleSet:
    labels = None
    if truth is not None and isinstance(model.output, Classes):
        labels = model.output.array[truth]
    return rules.cover(_list_rows(model, rows), labels)


def _find_crisp(
    model: Model, rows: Floats, seconds: float
) -> tuple[RuleSet | None, Fidelity] | None:
    table = _list_rows(model, rows[_draw_rows(len(rows), _MOST_WEIGHED)])
    try:
        crisp = make_crisp(model, table)
    except ModelError:
        return None
    fidelity = measure_fidelity(model, crisp, table)
    return _find_rules(crisp, crisp, None, seconds), fidelity


# ---- measures ----


def _measure(
    model: Model,
    rows: Floats,
    scores: Floats,
    truth: NDArray[Any] | None,
    axes: Sequence[Axis],
) -> ClassQuality | list[AmountQuality] | None:
    if truth is None:
        return None
    if isinstance(model.output, Classes):
        return measure_classes(model.output, scores, truth, exact=_is_whole(rows, axes))
    return [
        measure_amounts(name, scores[:, k], truth[:, k])
        for k, name in enumerate(model.output.names)
    ]


def _is_whole(rows: Floats, axes: Sequence[Axis]) -> bool:
    """Tell whether the rows are all inputs of a domain that can be listed, each once."""
    size = 1
    for axis in axes:
        size *= axis.n_cells if axis.listed else 0
        if not 0 < size <= len(rows):
            return False
    inside = all(axis.contains(rows[:, i]).all() for i, axis in enumerate(axes))
    return size == len(rows) and inside and len(np.unique(rows, axis=0)) == size


def _draw_figures(model: Model, rows: Floats, row: Floats) -> tuple[Figure, Figure]:
    table, one = _list_rows(model, rows), _list_rows(model, row[None, :])
    wide = draw(model, table, row=one, row_name=ROW_NAME)
    return wide, draw(model, table, row=one, row_name=ROW_NAME, narrow=True)
