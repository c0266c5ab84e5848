"""What crisp functions ask, of columns and of counts, in the words of rules."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from newron.formatting import format_class, format_number
from newron.model.aggregation import activate
from newron.model.arithmetic import Floats
from newron.model.condition import Condition, list_values
from newron.model.description import NEVER
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes
from newron.model.schema import Column
from newron.rules.node import TRUE, Count
from newron.rules.text import format_quantifier


@dataclass(frozen=True)
class FunctionCondition:
    """When a crisp function is 1: a condition on a column, a count or another signal.

    - ``text``: In the words of rules.
    - ``limit``: Where it changes, for numbers and counts.
    - ``counted``: Of how many conditions it asks how many hold; None where it asks something else.
    - ``at_most``: Whether no more than the limit may hold.
    - ``negated``: Whether the one condition that is counted must not hold.
    - ``by_value``: Whether it names single values, so that there is no distance to a threshold.
    - ``condition``: The condition on the column; None where it reads a neuron.
    """

    text: str
    limit: float | None = None
    counted: int | None = None
    at_most: bool = False
    negated: bool = False
    by_value: bool = False
    condition: Condition | None = None


class Conditions:
    """Describes the crisp functions of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.names = [*model.schema.names, *_name_neurons(model)]
        """The names of all signals."""

    def read(self, number: int, e: int, end: int | None = None) -> FunctionCondition:
        """Return what function e of a layer, counted from 1 on, asks.

        With ``end`` it is a window, which ends where that function begins.
        """
        layer = self._model.layers[number - 1]
        source = int(layer.source[e])
        if source < len(self._model.schema):
            return _read_column(self._model.schema.columns[source], layer, e, end)
        limit = math.inf if end is None else float(layer.b[end, 0])
        return self._read_neuron(source, float(layer.w[e, 0]), float(layer.b[e, 0]), limit)

    def find_neuron(self, source: int) -> tuple[int, int] | None:
        """Return the layer and the number of a neuron, from 1 on; None for a column."""
        j = source - len(self._model.schema)
        if j < 0:
            return None
        number = 1
        while j >= self._model.layers[number - 1].n_neurons:
            j -= self._model.layers[number - 1].n_neurons
            number += 1
        return number, j + 1

    def _read_neuron(self, source: int, w: float, b: float, end: float) -> FunctionCondition:
        name = self.names[source]
        values = self._list_values(source)
        if values is None:
            return _read_signal(name, w, b, end)
        n = len(values) - 1
        holds = np.ones(n + 1, bool) if w == 0.0 else values >= b if w > 0.0 else values <= b
        holds &= values < end
        if holds.all() or not holds.any():
            return FunctionCondition("always" if holds.all() else "never", None, n)
        counts = np.flatnonzero(holds)
        low, high = int(counts[0]), int(counts[-1])
        if n == 1:
            return FunctionCondition(name if low == 1 else f"not {name}", None, n, negated=low != 1)
        described = format_quantifier(Count(low, high, (TRUE,) * n))
        limit = high if low == 0 else low
        return FunctionCondition(f"{described} of {name}", float(limit), n, at_most=low == 0)

    def _list_values(self, source: int) -> Floats | None:
        """Return the value of a neuron by the number of its conditions that hold."""
        number, neuron = self.find_neuron(source) or (1, 1)
        layer, j = self._model.layers[number - 1], neuron - 1
        crisp = layer.function.crisp and isinstance(layer.aggregation, str)
        if not crisp or layer.alpha is not None:
            return None
        n = len(layer.list_edges(j))
        counts = np.arange(n + 1)
        z = {
            "sum": counts,
            "mean": counts / max(n, 1),
            "max": counts > 0,
        }.get(str(layer.aggregation), (counts == n) & ((n > 0) | (layer.aggregation == "product")))
        return activate(layer.activation, np.asarray(z, np.float64) - layer.offsets[j])


def name_functions(model: Model) -> list[list[str]]:
    """Name every function, layer by layer: its condition, or what it reads.

    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[38.0]])
    >>> model = Model(Schema((Column("t", 35.0, 42.0),)), [layer], Classes(("well", "ill")))
    >>> name_functions(model)
    [['t ≥ 38']]
    """
    conditions = Conditions(model)
    return [
        [
            conditions.read(number, e).text if layer.function.crisp else conditions.names[source]
            for e, source in enumerate(layer.source.tolist())
        ]
        for number, layer in enumerate(model.layers, 1)
    ]


def _name_neurons(model: Model) -> list[str]:
    names = [
        f"neuron {number}.{j}"
        for number, layer in enumerate(model.layers[:-1], 1)
        for j in range(1, layer.n_neurons + 1)
    ]
    output = model.output
    if not isinstance(output, Classes):
        return [*names, *output.score_names]
    if output.is_ordered:
        ends = format_class(output.labels[0]), format_class(output.labels[-1])
        return [*names, f"score from {ends[0]} to {ends[1]}"]
    return [*names, *(f"score for {format_class(x)}" for x in output.scored)]


def _read_signal(name: str, w: float, b: float, end: float) -> FunctionCondition:
    """Read a condition on a neuron whose value is no count."""
    if w == 0.0:
        return FunctionCondition("always")
    if end < math.inf:
        return FunctionCondition(f"{format_number(b)} ≤ {name} < {format_number(end)}")
    return FunctionCondition(f"{name} {'≥' if w > 0.0 else '≤'} {format_number(b)}", b)


def _read_column(column: Column, layer: Layer, e: int, end: int | None) -> FunctionCondition:
    found = Condition.from_edge(layer, e).clip()
    if end is not None:
        found &= Condition.from_edge(layer, end).clip().complement()
        return FunctionCondition(found.format(column), condition=found, by_value=True)
    text = found.format(column)
    w, b = float(layer.w[e, 0]), float(layer.b[e, 0])
    if column.categories is not None or w == 0.0 or abs(b) >= NEVER:
        return FunctionCondition(text, condition=found)
    values = list_values(column)
    if values is None:
        return FunctionCondition(text, _shorten(b), condition=found)
    inside = [x for x in values if (x >= b if w > 0.0 else x <= b)]
    constant = len(inside) == len(values) and (found.missing or not column.gaps)
    if constant or not inside:
        return FunctionCondition(text, condition=found)
    limit = min(inside) if w > 0.0 else max(inside)
    return FunctionCondition(text, limit, condition=found, by_value=found.names_values(column))


def _shorten(b: float) -> float:
    """Return the limit as it is printed: "x > 0.7" is stored as x ≥ the next number."""
    near = b, math.nextafter(b, -math.inf), math.nextafter(b, math.inf)
    return min(near, key=lambda number: len(format_number(number)))
