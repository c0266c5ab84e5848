"""The model of networks: their parts as layers in the columns' and the targets' units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from newron.engine.network import Function, Network, Neuron
from newron.model.arithmetic import Floats
from newron.model.decimals import round_to_digits, round_to_step
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Output
from newron.model.schema import Column, Schema

_STEEP = 20.0  # beyond which tanh is ±1
_FAR = 1000.0  # column spreads: where a factor that should stay 1 lies


@dataclass(frozen=True, eq=False)
class _Edge:
    """A function of a layer, as the layer has it."""

    target: int
    source: int
    w: tuple[float, ...]
    b: tuple[float, ...]
    alpha: float
    rank: bool = False
    missing: float = 0.0
    levels: Floats = field(default_factory=lambda: np.zeros(0))


def assemble(
    networks: Sequence[Network],
    schema: Schema,
    output: Output,
    processing: str,
    directions: Sequence[int] = (),
) -> Model:
    """Return the model of one network for each score.

    A smooth one has sigmoids where these are enough, and products of two tanh where some
    functions have two factors; a sigmoid's second factor then lies so far away that it is 1.
    """
    kind = processing
    if processing == "smooth":
        kind = "tanh_prod" if any(network.n_factors > 1 for network in networks) else "sigmoid"
    hidden = _make_hidden(networks, schema, kind if processing != "smooth" else "sigmoid")
    last = _make_last(networks, schema, kind, directions)
    return Model(schema, [last] if hidden is None else [hidden, last], output)


def _make_hidden(networks: Sequence[Network], schema: Schema, kind: str) -> Layer | None:
    neurons = _number_neurons(networks)
    edges = [
        _write_edge(j, function, schema, kind)
        for j, inputs in neurons.values()
        for function in inputs
    ]
    return _make_layer(kind, len(neurons), edges) if neurons else None


def _number_neurons(networks: Sequence[Network]) -> dict[int, tuple[int, tuple[Function, ...]]]:
    """Return the number and the functions of each hidden neuron, by its identity."""
    found: dict[int, tuple[int, tuple[Function, ...]]] = {}
    for network in networks:
        for neuron in network.neurons:
            found.setdefault(id(neuron.inputs), (len(found), neuron.inputs))
    return found


def _make_last(
    networks: Sequence[Network], schema: Schema, kind: str, directions: Sequence[int]
) -> Layer:
    edges, hidden = [], _number_neurons(networks)
    for target, network in enumerate(networks):
        functions = sorted(network.functions, key=lambda function: function.source)
        edges += [
            _write_edge(target, f, schema, kind, directions[f.source] if directions else 0)
            for f in functions
        ]
        for neuron in network.neurons:
            signal = len(schema) + hidden[id(neuron.inputs)][0]
            edges.append(_read_neuron(target, signal, neuron, kind))
    bias = np.array([-network.constant for network in networks])
    return _make_layer(kind, len(networks), edges, bias)


def _make_layer(
    kind: str, n_neurons: int, edges: Sequence[_Edge], bias: Floats | None = None
) -> Layer:
    n_factors = 2 if kind == "tanh_prod" else 1
    shape = (len(edges), n_factors)
    return Layer(
        kind,
        "sum",
        "identity",
        n_neurons,
        target=np.array([edge.target for edge in edges], np.int32),
        source=np.array([edge.source for edge in edges], np.int32),
        w=np.array([edge.w for edge in edges]).reshape(shape),
        b=np.array([edge.b for edge in edges]).reshape(shape),
        rank=np.array([edge.rank for edge in edges], bool),
        alpha=None if bias is None else np.array([edge.alpha for edge in edges]),
        centre=bias,
        missing=np.array([edge.missing for edge in edges]),
        levels=[edge.levels for edge in edges],
    )


def _write_edge(
    target: int, function: Function, schema: Schema, kind: str, direction: int = 0
) -> _Edge:
    source, column = function.source, schema.columns[function.source]
    n_factors = 2 if kind == "tanh_prod" else 1
    none = (0.0,) * n_factors
    if column.categories is not None:
        w, b = none, none
    elif not function.w:  # for missing values alone: 0 for all others
        flat, low, high = _stay(column, function.rank)
        # Far beyond all values it is 1: on the side where that keeps the column's direction.
        below = direction * function.weight < 0.0
        w, b = _pad(
            (-flat if below else flat,), (low if below else high,), column, kind, function.rank
        )
    else:
        w, b = _pad(function.w, function.b, column, kind, function.rank)
    return _Edge(
        target, source, w, b, function.weight, function.rank, function.missing, function.levels
    )


def _pad(
    w: tuple[float, ...], b: tuple[float, ...], column: Column, kind: str, rank: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the factors as a kind of layer has them: σ(2 z) is (tanh(z) + 1) / 2."""
    if kind == "sigmoid":
        return (float(np.clip(2.0 * w[0], -1e300, 1e300)),), b
    if len(w) == 2:
        return w, b
    flat, low, _ = _stay(column, rank)
    return (*w, flat), (*b, low)


def _stay(column: Column, rank: bool) -> tuple[float, float, float]:
    """Return w, and two positions so far below and above that a factor does not change."""
    low, high = far_ends(column)
    spread = max(column.high - column.low, 1e-290) or 1.0
    flat = round_to_digits(np.array([_STEEP if rank else _STEEP / spread]), 2)
    return float(flat[0]), low, high


def far_ends(column: Column) -> tuple[float, float]:
    """Return two positions far below and far above all values of a column."""
    spread = column.high - column.low or 1.0
    ends = np.array([column.low - _FAR * spread, column.high + _FAR * spread])
    low, high = round_to_step(np.clip(ends, -1e300, 1e300), np.array(spread), 1).tolist()
    return low, high


def _read_neuron(target: int, signal: int, neuron: Neuron, kind: str) -> _Edge:
    """Return the edge that reads a hidden neuron, whose sum lies between 0 and a few."""
    w, b = neuron.w, neuron.b
    if kind == "sigmoid":
        w = (2.0 * w[0],)
    elif len(w) == 1:
        w, b = (*w, _STEEP), (*b, -_FAR)
    return _Edge(target, signal, w, b, neuron.weight)
