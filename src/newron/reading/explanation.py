"""One row's way through a network: what holds, how many, by how much, and what it leads to.

Everything is read from the model's arrays. Conditions on columns are told as rules tell
them; functions that are not crisp are told by their value.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from newron.model.aggregation import activate
from newron.model.arithmetic import Floats
from newron.model.description import NEVER, format_number
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Label, Targets
from newron.model.processing import get_processing
from newron.model.schema import Column
from newron.reading.counterfactual import (
    Changes,
    get_value,
    open_layers,
    read_row,
    search_changes,
    tell_class,
    tell_value,
)
from newron.reading.sentence import shorten
from newron.rules.axis import Axis, make_axes
from newron.rules.circuit import find_boundaries, tell_exactly
from newron.rules.node import TRUE, Count
from newron.rules.text import WIDTH, say_count

__all__ = ["Explanation", "Part", "Stage", "explain", "tell_functions"]

_MOST = 8  # functions of a neuron that are told, unless asked for more
_MOST_NESTED = 4  # functions of a neuron that is told where it is read
_MOST_CLASSES = 3  # whose scores are all told function by function
_INDENT = "    "
_PLAIN = str.maketrans(
    {
        "●": "*",
        "○": "o",
        "≥": ">=",
        "≤": "<=",
        "≠": "!=",
        "−": "-",
        "×": "x",
        "→": "->",
        "…": "...",
        "²": "^2",
    }
)


# ---- what is told ----


@dataclass(frozen=True)
class Part:
    """What one function makes of the row.

    Parameters
    ----------
    layer, neuron : int
        Numbers from 1 on of the neuron that the function belongs to.
    function : int
        The function's index in its layer, from 0 on.
    source : str
        What it reads: a column, or "neuron 1.2".
    value : label, number or None
        What it reads there; of a neuron that counts, how many hold; None is a gap.
    h : float
        The value of the function.
    weight : float, optional
        What the neuron multiplies it by.
    contribution : float
        What that adds to the neuron, for ``sum`` and ``mean``; otherwise weight times h.
    holds : bool, optional
        For conditions, whether they hold.
    condition : str, optional
        For conditions, what must hold.
    limit : float, optional
        For conditions on numbers and counts, where they change.
    margin : float, optional
        The value less the limit.
    origin : tuple of int, optional
        The numbers of the neuron that it reads; None if it reads a column.
    reading : str
        The value and the margin in words.
    """

    layer: int
    neuron: int
    function: int
    source: str
    value: Label | None
    h: float
    weight: float | None
    contribution: float
    holds: bool | None = None
    condition: str | None = None
    limit: float | None = None
    margin: float | None = None
    origin: tuple[int, int] | None = None
    reading: str = ""


@dataclass(frozen=True)
class Stage:
    """What one neuron makes of the row.

    Parameters
    ----------
    layer, neuron : int
        Its numbers from 1 on.
    name : str
    aggregation, activation : str
    parts : tuple of Part
        Its functions.
    total : float
        Their aggregate.
    centre : float
        What is taken from the total.
    value : float
        What the neuron gives on: a score in the last layer.
    """

    layer: int
    neuron: int
    name: str
    aggregation: str
    activation: str
    parts: tuple[Part, ...]
    total: float
    centre: float
    value: float

    @property
    def n_holding(self) -> int | None:
        """How many conditions hold, if all functions are conditions."""
        marks = [part.holds for part in self.parts]
        return None if None in marks else sum(map(bool, marks))


@dataclass(frozen=True)
class Explanation:
    """The way of a row through a network; as text, step by step.

    Parameters
    ----------
    row : dict
        The row by columns; None is a gap.
    stages : tuple of Stage
        All neurons in the order of the layers, the scores last.
    prediction : label, float, or dict of amounts by target
    probabilities : tuple of (label, probability)
        Empty for amounts.
    changes : Changes, optional
        The smallest changes that lead elsewhere, if they were asked for.
    notes : tuple of str
        What else should be known, such as values outside the observed range.
    """

    row: dict[str, Label | None]
    stages: tuple[Stage, ...]
    prediction: Any
    probabilities: tuple[tuple[Label, float], ...] = ()
    changes: Changes | None = None
    notes: tuple[str, ...] = ()

    @property
    def scores(self) -> tuple[Stage, ...]:
        """The stages of the last layer."""
        last = self.stages[-1].layer
        return tuple(stage for stage in self.stages if stage.layer == last)

    @property
    def probability(self) -> float | None:
        """The probability of the class that is predicted."""
        return dict(self.probabilities).get(self.prediction) if self.probabilities else None

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, ready for JSON."""
        return {
            "row": dict(self.row),
            "prediction": self.prediction,
            "probabilities": [
                {"class": label, "probability": share} for label, share in self.probabilities
            ],
            "neurons": [{**asdict(stage), "holding": stage.n_holding} for stage in self.stages],
            "changes": None if self.changes is None else self.changes.to_dict(),
            "notes": list(self.notes),
        }

    def to_text(self, *, most: int = _MOST, width: int = WIDTH, unicode: bool = True) -> str:
        """Tell the way in words.

        Parameters
        ----------
        most : int, default=8
            How many functions of a neuron to tell; of the others their number.
        width : int, default=88
            How many columns there are: for short conditions side by side, and sentences.
        unicode : bool, default=True
            False tells all signs in ASCII: ``*`` and ``o`` for what holds and what does not.
        """
        lines = _Teller(self, most, width, unicode).tell()
        more = [] if self.changes is None else str(self.changes).splitlines()
        wrapped = [_wrap(line, width) for line in [*more, *self.notes]]
        text = "\n".join([*lines, *([""] if wrapped else []), *wrapped])
        return text if unicode else text.translate(_PLAIN)

    def __str__(self) -> str:
        return self.to_text()


# ---- asking ----


def explain(
    model: Model,
    row: Any,
    *,
    target: Any = None,
    max_changes: int = 3,
    fixed: str | Iterable[str] = (),
    limit: int = 5,
    max_evaluations: int = 500_000,
) -> Explanation:
    """Follow one row through a network.

    Parameters
    ----------
    model : Model
        Of any kind.
    row : dict, Series, sequence, or table of one row
    target : label, or (low, high)
        Where the changes shall lead: a class, by default any other; for amounts a range,
        None at an open end, by default no changes are looked for.
    max_changes : int, default=3
        How many inputs may change together; 0 for none.
    fixed : name or names of columns
        Inputs that stay as they are in the changes.
    limit, max_evaluations : int
        As in :func:`~newron.reading.counterfactual.find_changes`.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> card = Layer("heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 1],
    ...              w=[[1.0], [0.0]], b=[[55.0], [0.0]], alpha=[1.0, 2.0], centre=[3.0],
    ...              levels=[[], [0.0, 1.0]])
    >>> columns = Column("age", 29.0, 77.0, unit="y"), Column("sex", 0, 1, categories=("f", "m"))
    >>> model = Model(Schema(columns), [card], Classes(("well", "ill")))
    >>> print(explain(model, {"age": 50, "sex": "m"}))
    score for ill
        ● +2  sex = m     is m
        ○ +1  age ≥ 55 y  is 50 y, 5 y below 55
        sum 2, 1 short of 3 → well (probability 73 %)
    <BLANKLINE>
    One change would make it ill, for example age: 50 → 55 y.
    No smaller change exists.
    """
    values = read_row(model, row)
    amounts = not isinstance(model.output, Classes)
    changes = None
    if max_changes > 0 and not (amounts and target is None):
        changes = search_changes(model, values, target, max_changes, fixed, limit, max_evaluations)
    scores = model.score_rows(values)
    told = {
        column.name: get_value(column, float(x))
        for column, x in zip(model.schema.columns, values[0], strict=True)
    }
    return Explanation(
        told,
        tuple(_Reader(model, values).read_stages()),
        _get_prediction(model, scores),
        _list_probabilities(model, scores),
        changes,
        tuple(_list_notes(model, values[0])),
    )


def _get_prediction(model: Model, scores: Floats) -> Any:
    output = model.output
    if isinstance(output, Classes):
        return output.labels[int(output.choose(scores)[0])]
    if output.n_scores == 1:
        return float(scores[0, 0])
    return dict(zip(output.names, scores[0].tolist(), strict=True))


def _list_probabilities(model: Model, scores: Floats) -> tuple[tuple[Label, float], ...]:
    if not isinstance(model.output, Classes):
        return ()
    shares = model.output.predict_proba(scores)[0].tolist()
    return tuple(zip(model.output.labels, shares, strict=True))


def _list_notes(model: Model, row: Floats) -> Iterator[str]:
    """Tell what training has not seen, of the columns that are read."""
    read = {int(s) for layer in model.layers for s in layer.source}
    for i, column in enumerate(model.schema.columns):
        if i not in read:
            continue
        value = get_value(column, float(row[i]))
        if value is None and not column.gaps:
            yield f"{column.name} is missing, which training did not see."
        elif isinstance(value, float) and not column.low <= value <= column.high:
            ends = f"{format_number(column.low)} to {format_number(column.high)}"
            yield f"{column.name} lies outside the observed range, {ends}{_tell_unit(column)}."


# ---- reading the network ----


@dataclass(frozen=True)
class _Condition:
    """What a crisp function asks, of a column, a count or another signal."""

    text: str
    limit: float | None = None
    counted: int | None = None  # of how many, where it asks how many hold
    at_most: bool = False  # whether no more than the limit may hold
    apart: bool = False  # whether the condition names single values: no margin is told


class _Reader:
    """Reads the stages of a row, layer by layer."""

    def __init__(self, model: Model, row: Floats) -> None:
        self._model = model
        self._row = row
        self._h = [part[0] for part in open_layers(model)(row)]
        self._signals = [*row[0].tolist(), *_read_neurons(model, row)]
        self._scores = model.score_rows(row)[0].tolist()
        self._conditions = _Conditions(model)
        self._counts: dict[int, int] = {}  # by signal, how many conditions hold

    def read_stages(self) -> Iterator[Stage]:
        """Give all neurons in the order of the layers."""
        n_signals = len(self._model.schema)
        for number, layer in enumerate(self._model.layers, 1):
            names = self._conditions.names[n_signals : n_signals + layer.n_neurons]
            if get_processing(layer.processing).crisp:
                for j in range(layer.n_neurons):
                    held = self._h[number - 1][layer.begin[j] : layer.begin[j + 1]]
                    self._counts[n_signals + j] = int(held.sum())
            for j, name in enumerate(names):
                yield self._read_stage(number, layer, j, name, n_signals + j)
            n_signals += layer.n_neurons

    def _read_stage(self, number: int, layer: Layer, j: int, name: str, signal: int) -> Stage:
        edges = range(int(layer.begin[j]), int(layer.begin[j + 1]))
        parts = tuple(self._read_part(number, layer, e, len(edges)) for e in edges)
        last = number == len(self._model.layers)
        return Stage(
            number,
            j + 1,
            name,
            layer.aggregation,
            layer.activation,
            parts,
            _aggregate(layer.aggregation, [part.contribution for part in parts]),
            0.0 if layer.centre is None else float(layer.centre[j]),
            self._scores[j] if last else self._signals[signal],
        )

    def _read_part(self, number: int, layer: Layer, e: int, n: int) -> Part:
        source, h = int(layer.source[e]), float(self._h[number - 1][e])
        weight = None if layer.alpha is None else float(layer.alpha[e])
        share = (1.0 if weight is None else weight) * h
        columns = self._model.schema.columns
        column = columns[source] if source < len(columns) else None
        value: Any = self._signals[source]
        part = Part(
            number,
            int(layer.target[e]) + 1,
            e,
            self._conditions.names[source],
            value if column is None else get_value(column, value),
            h,
            weight,
            share / n if layer.aggregation == "mean" else share,
            origin=self._conditions.find_neuron(source),
        )
        if get_processing(layer.processing).crisp:
            return self._judge(part, self._conditions.read(number, e), column, source)
        return replace(part, reading=_tell_reading(part.value, column))

    def _judge(self, part: Part, asked: _Condition, column: Column | None, source: int) -> Part:
        """Tell whether a condition holds, and by how much."""
        value = part.value if asked.counted is None else self._counts[source]
        limit, margin = asked.limit, None
        if limit is not None and isinstance(value, float | int):
            margin = _subtract(float(value), limit)
        return replace(
            part,
            value=value,
            holds=part.h == 1.0,
            condition=asked.text,
            limit=limit,
            margin=margin,
            reading=_tell_asked(asked, value, margin, column),
        )


class _Conditions:
    """Tells the crisp functions of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._axes = make_axes(model.schema, find_boundaries(model))
        self.names = [*model.schema.names, *_name_neurons(model)]
        """The names of all signals."""

    def read(self, number: int, e: int) -> _Condition:
        """Give what function e of a layer, counted from 1 on, asks."""
        layer = self._model.layers[number - 1]
        source = int(layer.source[e])
        if source < len(self._axes):
            return _ask_column(self._axes[source], layer, e)
        return self._ask_neuron(source, float(layer.w[e, 0]), float(layer.b[e, 0]))

    def find_neuron(self, source: int) -> tuple[int, int] | None:
        """Give the layer and the number of a neuron, from 1 on; None for a column."""
        j = source - len(self._axes)
        if j < 0:
            return None
        number = 1
        while j >= self._model.layers[number - 1].n_neurons:
            j -= self._model.layers[number - 1].n_neurons
            number += 1
        return number, j + 1

    def _ask_neuron(self, source: int, w: float, b: float) -> _Condition:
        name = self.names[source]
        values = self._list_values(source)
        if values is None:
            always = w == 0.0
            sign = "≥" if w > 0.0 else "≤"
            text = "always" if always else f"{name} {sign} {format_number(b)}"
            return _Condition(text, None if always else b)
        n = len(values) - 1
        holds = np.ones(n + 1, bool) if w == 0.0 else values >= b if w > 0.0 else values <= b
        if holds.all() or not holds.any():
            return _Condition("always" if holds.all() else "never", None, n)
        counts = np.flatnonzero(holds)
        low, high = int(counts[0]), int(counts[-1])
        if n == 1:
            return _Condition(name if low == 1 else f"not {name}", None, n)
        told = say_count(Count(low, high, (TRUE,) * n))
        limit = high if low == 0 else low
        return _Condition(f"{told} of {name}", float(limit), n, at_most=low == 0)

    def _list_values(self, source: int) -> Floats | None:
        """Give the value of a neuron by the number of its conditions that hold."""
        number, neuron = self.find_neuron(source) or (1, 1)
        layer, j = self._model.layers[number - 1], neuron - 1
        if not get_processing(layer.processing).crisp or layer.alpha is not None:
            return None
        n = int(layer.begin[j + 1] - layer.begin[j])
        counts = np.arange(n + 1)
        z = {
            "sum": counts,
            "mean": counts / max(n, 1),
            "max": counts > 0,
        }.get(layer.aggregation, (counts == n) & ((n > 0) | (layer.aggregation == "product")))
        centre = 0.0 if layer.centre is None else layer.centre[j]
        return activate(layer.activation, np.asarray(z, np.float64) - centre)


def tell_functions(model: Model) -> list[list[str]]:
    """Name every function, layer by layer: its condition, or what it reads.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[38.0]])
    >>> model = Model(Schema((Column("t", 35.0, 42.0),)), [layer], Classes(("well", "ill")))
    >>> tell_functions(model)
    [['t ≥ 38']]
    """
    conditions = _Conditions(model)
    return [
        [
            conditions.read(number, e).text
            if get_processing(layer.processing).crisp
            else conditions.names[source]
            for e, source in enumerate(layer.source.tolist())
        ]
        for number, layer in enumerate(model.layers, 1)
    ]


def _read_neurons(model: Model, row: Floats) -> list[float]:
    """Give the values of all hidden neurons."""
    first = len(model.schema)
    n = sum(layer.n_neurons for layer in model.layers[:-1])
    if not n:
        return []
    one, own = np.ones((n, 1)), np.arange(n, dtype=np.int32)
    readout = Layer("linear", "sum", "identity", n, own, first + own, one, 0.0 * one)
    names = tuple(f"z{j}" for j in range(n))
    values = Model(model.schema, (*model.layers[:-1], readout), Targets(names)).score_rows(row)[0]
    return [float(value) for value in values]


def _name_neurons(model: Model) -> list[str]:
    names = [
        f"neuron {number}.{j}"
        for number, layer in enumerate(model.layers[:-1], 1)
        for j in range(1, layer.n_neurons + 1)
    ]
    output = model.output
    if not isinstance(output, Classes):
        return [*names, *output.names]
    return [*names, *(f"score for {tell_class(x)}" for x in output.labels[-output.n_scores :])]


def _ask_column(axis: Axis, layer: Layer, e: int) -> _Condition:
    mask = _find_cells(axis, layer, e)
    if mask in (0, axis.full):
        return _Condition("always" if mask else "never")
    text = axis.tell(mask)
    w, b = float(layer.w[e, 0]), float(layer.b[e, 0])
    if axis.column.categories is not None or w == 0.0 or abs(b) >= NEVER:
        return _Condition(text)
    if axis.values is None:
        return _Condition(text, b)
    inside = [x for x in axis.values if (x >= b if w > 0.0 else x <= b)]
    if not inside:
        return _Condition(text)
    limit = min(inside) if w > 0.0 else max(inside)
    return _Condition(text, limit, apart=not any(sign in text for sign in "≥≤"))


def _find_cells(axis: Axis, layer: Layer, e: int) -> int:
    """Give the mask of the cells for which function e holds."""
    cells = axis.representatives[: axis.n_places]
    function = get_processing(layer.processing)
    holds = function.value(cells[:, None], layer.w[e : e + 1], layer.b[e : e + 1])[:, 0]
    holds = layer.levels[e] if len(layer.levels[e]) else holds
    values = [*holds.tolist(), *([float(layer.gap_values[e])] if axis.gap else [])]
    return sum(1 << c for c, value in enumerate(values) if value == 1.0)


def _aggregate(aggregation: str, parts: Sequence[float]) -> float:
    if aggregation in ("sum", "mean"):
        return float(sum(map(tell_exactly, parts), Fraction(0)))
    if aggregation == "product":
        return math.prod(parts)
    least = min if aggregation == "min" else max
    return least(parts) if parts else 0.0


# ---- words ----


def _wrap(line: str, width: int) -> str:
    return textwrap.fill(
        line,
        width,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _subtract(a: float, b: float) -> float:
    """Give a − b as decimals are subtracted on paper."""
    return float(Decimal(repr(a)) - Decimal(repr(b)))


def _tell_unit(column: Column | None) -> str:
    return f" {column.unit}" if column is not None and column.unit else ""


def _tell_reading(value: Label | None, column: Column | None) -> str:
    if value is None or column is None:
        return "missing" if value is None else shorten(float(value))
    return tell_value(value) + _tell_unit(column)


def _tell_asked(
    asked: _Condition, value: Label | None, margin: float | None, column: Column | None
) -> str:
    """Tell a value and how far it is from where the condition changes."""
    if asked.counted == 1:
        return ""
    if asked.counted is not None:
        told = f"{value} of {asked.counted}"
    else:
        told = _tell_reading(value, column)
    if margin is None or asked.limit is None or asked.apart:
        return told
    return f"{told}, {_tell_margin(margin, asked, _tell_unit(column))}"


def _tell_margin(margin: float, asked: _Condition, unit: str) -> str:
    """Tell a distance: "5 y below 55", "at the limit of 6", "1 short of 6"."""
    limit = format_number(asked.limit or 0.0)
    if margin == 0.0:
        return f"at the limit of {limit}"
    size = format_number(float(f"{abs(margin):.12g}"))
    if asked.counted is None:
        return f"{size}{unit} {'above' if margin > 0.0 else 'below'} {limit}"
    if margin > 0.0:
        return f"{size} over {limit}"
    return f"{size} {'below' if asked.at_most else 'short of'} {limit}"


def _tell_distance(total: float, limit: float, digits: int) -> str:
    margin = _subtract(total, limit)
    told = shorten(limit, digits)
    if margin == 0.0:
        return f"at the limit of {told}"
    size = shorten(abs(margin), digits)
    return f"{size} over the limit of {told}" if margin > 0.0 else f"{size} short of {told}"


def _tell_share(share: float) -> str:
    """Tell a probability in whole percent, never as certain.

    Examples
    --------
    >>> _tell_share(0.412), _tell_share(0.9999), _tell_share(0.0)
    ('41 %', 'over 99 %', 'under 1 %')
    """
    if share > 0.995:
        return "over 99 %"
    return "under 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def _sign(value: float, digits: int) -> str:
    told = shorten(value, digits)
    return f"+{told}" if value >= 0.0 else told


@dataclass(frozen=True)
class _Line:
    """Cells of a line, and the lines below it."""

    cells: list[str]
    below: list[str]


class _Teller:
    """Tells an explanation line by line; only the neurons that are named."""

    def __init__(self, explanation: Explanation, most: int, width: int, unicode: bool) -> None:
        self._told = explanation
        self._most = most
        self._width = width
        self._unicode = unicode
        self._stages = {(stage.layer, stage.neuron): stage for stage in explanation.stages}
        origins = [part.origin for stage in explanation.stages for part in stage.parts]
        self._uses = Counter(origin for origin in origins if origin is not None)
        self._named: list[tuple[int, int]] = []  # neurons with lines of their own
        crisp = all(stage.n_holding is not None for stage in explanation.stages)
        self._digits = 6 if crisp else 4

    def tell(self) -> list[str]:
        """Give all lines, neurons before those that read them."""
        end = [line for stage in self._choose_scores() for line in self._tell_stage(stage)]
        blocks: dict[tuple[int, int], list[str]] = {}
        for place in self._named:  # grows while neurons are told that name others
            if place not in blocks:
                blocks[place] = self._tell_stage(self._stages[place])
        lines = [line for place in sorted(blocks) for line in blocks[place]]
        return [*lines, *end, *self._tell_decision()]

    def _choose_scores(self) -> list[Stage]:
        """Give the scores that are told function by function: all, or the two highest."""
        scores = list(self._told.scores)
        if not self._told.probabilities or len(scores) <= _MOST_CLASSES:
            return scores
        best = sorted(scores, key=lambda stage: -stage.value)[:2]
        return [stage for stage in scores if stage in best]

    # ---- the end ----

    def _tell_decision(self) -> list[str]:
        told, scores = self._told, self._told.scores
        if not told.probabilities:
            return []
        said = f"→ {tell_class(told.prediction)} (probability {_tell_share(told.probability or 0)})"
        if len(scores) == 1:
            stage = scores[0]
            what = stage.aggregation if stage.aggregation in ("sum", "mean") else "score"
            distance = _tell_distance(stage.total, stage.centre, self._digits)
            return [f"{_INDENT}{what} {shorten(stage.total, self._digits)}, {distance} {said}"]
        order = sorted(range(len(scores)), key=lambda k: -scores[k].value)
        ahead = _subtract(scores[order[0]].value, scores[order[1]].value)
        gap = f"{shorten(ahead, self._digits)} ahead of" if ahead else "before its equal"
        return [f"{said}, {gap} {tell_class(told.probabilities[order[1]][0])}"]

    # ---- neurons ----

    def _tell_stage(self, stage: Stage) -> list[str]:
        lines = [self._tell_head(stage), *self._tell_parts(stage, _INDENT)]
        # The centre of the only score of two classes is told as the limit of the sum.
        limits = len(self._told.probabilities) == 2 and stage in self._told.scores
        if stage.centre and not limits and not _is_count(stage):
            lines.append(f"{_INDENT}less {shorten(stage.centre, self._digits)}")
        return lines

    def _tell_head(self, stage: Stage) -> str:
        n, held = len(stage.parts), stage.n_holding
        if stage in self._told.scores and len(self._told.probabilities) == 2:
            return stage.name
        if stage in self._told.scores or not _is_count(stage):
            return f"{stage.name} = {shorten(stage.value, self._digits)}"
        if n == 1:
            return f"{stage.name}: {'holds' if held else 'does not hold'}"
        return f"{stage.name}: {held} of {n} hold"

    def _tell_parts(self, stage: Stage, indent: str) -> list[str]:
        side_by_side = self._tell_side_by_side(stage, indent)
        if side_by_side:
            return side_by_side
        groups = self._group(stage)
        shown = groups[: self._most] if len(groups) > self._most + 1 else groups
        crisp = stage.n_holding is not None
        tell = self._tell_condition if crisp else self._tell_curve
        lines = [tell(group, stage, indent) for group in shown]
        rest = [part for group in groups[len(shown) :] for part in group]
        return [*_line_up(lines, indent), *self._tell_rest(stage, rest, indent)]

    def _group(self, stage: Stage) -> list[list[Part]]:
        """Give conditions one by one, curves by what they read; the strongest first."""
        groups: dict[Any, list[Part]] = {}
        for part in stage.parts:
            key = part.function if part.holds is not None else (part.source, part.origin)
            groups.setdefault(key, []).append(part)
        if _is_count(stage) and len(groups) <= self._most + 1:
            return list(groups.values())
        return sorted(groups.values(), key=_measure_strength)

    def _tell_side_by_side(self, stage: Stage, indent: str) -> list[str]:
        """Tell short conditions in a line, and below them what is; nothing if that is long."""
        parts = stage.parts
        short = all(part.origin is None and "," not in part.reading for part in parts)
        if len(parts) < 2 or not short or not _is_count(stage):
            return []
        top = [self._plain(part.condition or "") for part in parts]
        below = [self._plain(f"{_mark(part)} {part.reading}") for part in parts]
        widths = [max(map(len, pair)) + 3 for pair in zip(top, below, strict=True)]
        if len(indent) + sum(widths) > self._width:
            return []
        rows = [[x.ljust(n) for x, n in zip(row, widths, strict=True)] for row in (top, below)]
        return [(indent + "".join(row)).rstrip() for row in rows]

    def _tell_condition(self, group: Sequence[Part], stage: Stage, indent: str) -> _Line:
        part = group[0]
        cells = [f"{_mark(part)} {part.condition}"]
        if not _is_count(stage):
            cells = [
                f"{_mark(part)} {_sign(part.weight or 0.0, self._digits)}",
                part.condition or "",
            ]
        cells.append(f"is {part.reading}" if part.origin is None else part.reading)
        return _Line([self._plain(cell) for cell in cells], self._look_below(part, indent))

    def _tell_curve(self, group: Sequence[Part], stage: Stage, indent: str) -> _Line:
        """Tell the functions that read one thing: what they add together, and each."""
        adds = stage.aggregation in ("sum", "mean")
        weighed = group[0].weight is not None
        values = [
            f"{shorten(part.weight or 0.0)} × {shorten(part.h)}" if weighed else shorten(part.h)
            for part in group
        ]
        alone = adds and not weighed and len(group) == 1
        cells = [
            f"{group[0].source} = {group[0].reading}",
            "" if alone else (" + " if adds else ", ").join(values),
        ]
        if adds:
            cells.insert(0, _sign(sum(part.contribution for part in group), 3))
        return _Line([self._plain(cell) for cell in cells], self._look_below(group[0], indent))

    def _look_below(self, part: Part, indent: str) -> list[str]:
        """Tell a neuron where it is read, if that is once and it is short."""
        if part.origin is None:
            return []
        stage = self._stages[part.origin]
        if self._uses[part.origin] == 1 and len(stage.parts) <= _MOST_NESTED:
            return self._tell_parts(stage, indent + _INDENT)
        self._named.append(part.origin)
        return []

    def _tell_rest(self, stage: Stage, rest: Sequence[Part], indent: str) -> list[str]:
        if not rest:
            return []
        told = f"{indent}… and {len(rest)} more"
        if stage.n_holding is not None:
            held = sum(bool(part.holds) for part in rest)
            told += f", {held} of them hold" if held != 1 else ", one of them holds"
        if stage.aggregation in ("sum", "mean") and not _is_count(stage):
            told += f", together {_sign(sum(part.contribution for part in rest), 3)}"
        return [told]

    def _plain(self, text: str) -> str:
        return text if self._unicode else text.translate(_PLAIN)


def _is_count(stage: Stage) -> bool:
    """Tell whether a neuron counts conditions."""
    return stage.n_holding is not None and all(part.weight is None for part in stage.parts)


def _mark(part: Part) -> str:
    return "●" if part.holds else "○"


def _measure_strength(group: Sequence[Part]) -> tuple[float, float]:
    """Sort by what is added; among what adds nothing, by what it could add."""
    added = abs(sum(part.contribution for part in group))
    return -added, -max(abs(part.weight or 0.0) for part in group)


def _line_up(lines: Sequence[_Line], indent: str) -> list[str]:
    """Write lines with their cells under each other."""
    widths = [max(map(len, cells)) for cells in zip(*(line.cells for line in lines), strict=True)]
    out: list[str] = []
    for line in lines:
        cells = [cell.ljust(n) for cell, n in zip(line.cells, widths, strict=True)]
        out.append((indent + "  ".join(cells)).rstrip())
        out += line.below
    return out
