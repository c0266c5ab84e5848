"""One row's way through a network as data: what each neuron and each function make of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from newron.explanations.conditions import Conditions, FunctionCondition
from newron.explanations.row import get_value, open_layers
from newron.formatting import format_number, format_rounded, format_unit, format_value
from newron.model.aggregation import AnyAggregation
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer, trace_signals
from newron.model.output import Label
from newron.model.terms import split_terms
from newron.neurons.aggregation import Aggregation
from newron.rules.circuit import to_fraction

_MAX_DIGITS = 8  # of a value in a sentence


@dataclass(frozen=True)
class Part:
    """What one function makes of the row.

    - ``layer``, ``neuron``: Numbers from 1 on of the neuron that the function belongs to.
    - ``function``: The function's index in its layer, from 0 on; of a window that of its start.
    - ``source``: What it reads: a column, or "neuron 1.2".
    - ``value``: What it reads there; of a neuron that counts, how many hold; None is a missing
      value.
    - ``h``: The value of the function.
    - ``weight``: What the neuron multiplies it by.
    - ``contribution``: What that adds to the neuron, for ``sum`` and ``mean``; otherwise weight
      times h.
    - ``holds``: For conditions, whether they hold.
    - ``condition``: For conditions, what must hold.
    - ``limit``: For conditions on numbers and counts, where they change.
    - ``margin``: The value less the limit.
    - ``origin``: The numbers of the neuron that it reads; None if it reads a column.
    - ``unit``: The unit of the column.
    - ``counted``: Of how many conditions it asks how many hold.
    - ``at_most``: Whether no more than the limit may hold.
    - ``by_value``: Whether the condition names single values, so that the margin means nothing.
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
    unit: str | None = None
    counted: int | None = None
    at_most: bool = False
    by_value: bool = False

    @property
    def reading(self) -> str:
        """The value in words, and how far it is from where the condition changes."""
        if self.counted == 1:
            return ""
        if self.counted is not None:
            text = f"{self.value} of {self.counted}"
        elif self.value is None or self.origin is None:
            text = format_value(self.value) + ("" if self.value is None else format_unit(self.unit))
        else:
            text = format_rounded(float(self.value))
        if self.margin is None or self.by_value:
            return text
        return f"{text}, {self._format_margin(self.margin)}"

    def _format_margin(self, margin: float) -> str:
        """Return a distance: "5 y below 55", "at the limit of 6", "1 short of 6"."""
        limit = format_number(self.limit or 0.0)
        if margin == 0.0:
            return f"at the limit of {limit}"
        size = format_number(float(f"{abs(margin):.12g}"))
        if self.counted is None:
            side = "above" if margin > 0.0 else "below"
            return f"{size}{format_unit(self.unit)} {side} {limit}"
        if margin > 0.0:
            return f"{size} over {limit}"
        return f"{size} {'below' if self.at_most else 'short of'} {limit}"

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain data."""
        return {**asdict(self), "reading": self.reading}


@dataclass(frozen=True)
class Stage:
    """What one neuron makes of the row.

    - ``layer``, ``neuron``: Its numbers from 1 on.
    - ``aggregation``, ``activation``: Their names.
    - ``parts``: Its functions.
    - ``total``: Their aggregate.
    - ``centre``: What is taken from the total.
    - ``value``: What the neuron gives on: a score in the last layer.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the stage as plain data."""
        parts = [part.to_dict() for part in self.parts]
        return {**asdict(self), "parts": parts, "holding": self.n_holding}


@dataclass(frozen=True)
class Contribution:
    """What one column, or two together, add to the scores of the row.

    - ``values``: What the row has there; None is a missing value.
    - ``added``: What is added to each score, as curves and :func:`measure_contributions` have it.
    """

    columns: tuple[str, ...]
    values: tuple[Label | None, ...]
    added: tuple[float, ...]
    units: tuple[str | None, ...]

    @property
    def reading(self) -> str:
        """What it reads, in words: "age = 50 y", "age = 50 y and sex = m"."""
        parts = zip(self.columns, self.values, self.units, strict=True)
        return " and ".join(
            f"{name} {'' if value is None else '= '}{_shorten_value(value)}"
            f"{'' if value is None else format_unit(unit)}"
            for name, value, unit in parts
        )


def _shorten_value(value: Label | None) -> str:
    """Return a value of a column; a number of many digits is rounded."""
    text = format_value(value)
    if isinstance(value, float) and len(text) > _MAX_DIGITS:
        return format_rounded(value, _MAX_DIGITS - 2)
    return text


def list_contributions(model: Model, row: Floats) -> tuple[list[Contribution], tuple[float, ...]]:
    """Return what each column and each pair adds to the scores of a row, and the intercepts.

    Nothing where a smooth network reads more than two columns together, or where it is crisp:
    there conditions and neurons explain more.
    """
    terms = split_terms(model)
    if model.is_crisp or any(len(term.columns) > 2 for term in terms.terms):
        return [], ()
    added = terms.evaluate(row)[0]
    columns = model.schema.columns
    found = [
        Contribution(
            tuple(columns[i].name for i in term.columns),
            tuple(get_value(columns[i], float(row[0, i])) for i in term.columns),
            tuple(values.tolist()),
            tuple(columns[i].unit for i in term.columns),
        )
        for term, values in zip(terms.terms, added, strict=True)
    ]
    return found, tuple(terms.intercept.tolist())


class Reader:
    """Reads the stages of a row, layer by layer."""

    def __init__(self, model: Model, row: Floats) -> None:
        self._model = model
        self._h = [part[0] for part in open_layers(model)(row)]
        self._signals = trace_signals(model.schema, model.layers, row)[0].tolist()
        self._conditions = Conditions(model)
        self._counts: dict[int, int] = {}  # by signal, how many conditions hold

    def read_stages(self) -> Iterator[Stage]:
        """Return all neurons in the order of the layers."""
        n_signals = len(self._model.schema)
        for number, layer in enumerate(self._model.layers, 1):
            names = self._conditions.names[n_signals : n_signals + layer.n_neurons]
            if layer.function.crisp:
                for j in range(layer.n_neurons):
                    held = self._h[number - 1][layer.begin[j] : layer.begin[j + 1]]
                    self._counts[n_signals + j] = int(held.sum())
            for j, name in enumerate(names):
                yield self._read_stage(number, layer, j, name, n_signals + j)
            n_signals += layer.n_neurons

    def _read_stage(self, number: int, layer: Layer, j: int, name: str, signal: int) -> Stage:
        edges = layer.list_edges(j)
        ends = find_windows(layer, edges)
        after = set(ends.values())
        parts = tuple(
            self._read_part(number, layer, e, len(edges), ends.get(e))
            for e in edges
            if e not in after
        )
        return Stage(
            number,
            j + 1,
            name,
            str(layer.aggregation),
            str(layer.activation),
            parts,
            _aggregate(layer.aggregation, [part.contribution for part in parts]),
            float(layer.offsets[j]),
            self._signals[signal],
        )

    def _read_part(self, number: int, layer: Layer, e: int, n: int, end: int | None = None) -> Part:
        """Return what function e of n adds; with ``end`` less what the end of its window does."""
        source, h = int(layer.source[e]), float(self._h[number - 1][e])
        h -= 0.0 if end is None else float(self._h[number - 1][end])
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
            unit=None if column is None else column.unit,
        )
        if layer.function.crisp:
            return self._evaluate(part, self._conditions.read(number, e, end), source)
        return part

    def _evaluate(self, part: Part, found: FunctionCondition, source: int) -> Part:
        """Add whether a condition holds, and by how much."""
        value = part.value if found.counted is None else self._counts[source]
        margin = None
        if found.limit is not None and isinstance(value, float | int):
            margin = subtract(float(value), found.limit)
        return replace(
            part,
            value=value,
            holds=part.h == 1.0,
            condition=found.text,
            limit=found.limit,
            margin=margin,
            counted=found.counted,
            at_most=found.at_most,
            by_value=found.by_value,
        )


def find_windows(layer: Layer, edges: range) -> dict[int, int]:
    """Return the steps of a neuron that begin a window, each with the step that ends it.

    The second step takes away what the first one adds, and holds only where that one does.
    """
    if layer.alpha is None or layer.processing != "heaviside" or layer.aggregation != "sum":
        return {}
    w, b, missing = layer.w[:, 0], layer.b[:, 0], layer.missing
    found: dict[int, int] = {}
    for e, end in pairwise(edges):
        opposite = layer.source[e] == layer.source[end] and layer.alpha[e] == -layer.alpha[end]
        steps = w[e] > 0.0 and w[end] > 0.0 and not len(layer.levels[e]) + len(layer.levels[end])
        within = b[e] < b[end] and missing[e] >= missing[end]
        if opposite and steps and within and e not in found.values():
            found[e] = end
    return found


def subtract(a: float, b: float) -> float:
    """Return a − b as decimals are subtracted on paper."""
    return float(Decimal(repr(a)) - Decimal(repr(b)))


def _aggregate(aggregation: AnyAggregation, parts: Sequence[float]) -> float:
    if isinstance(aggregation, Aggregation):
        own = aggregation.transformation.value(np.array(parts)).tolist()
        total = _aggregate(aggregation.reduce, own)
        total /= max(len(parts), 1) if aggregation.reduce == "mean" else 1
        return float(aggregation.finishing.value(np.array(total)))
    if aggregation in ("sum", "mean"):
        return float(sum(map(to_fraction, parts), Fraction(0)))
    if aggregation == "product":
        return math.prod(parts)
    least = min if aggregation == "min" else max
    return least(parts) if parts else 0.0
