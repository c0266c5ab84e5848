"""A crisp network as what it is: conditions, counts of them, and a weighted sum.

Everything here is read from the model's raw arrays, with no simplification but that
constant conditions are taken out of their counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.aggregation import activate
from newron.model.arithmetic import Floats
from newron.model.condition import find_runs
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes
from newron.rules.axis import Axis, make_axes
from newron.rules.node import FALSE, TRUE, Const, Count, Literal, Node

_MAX_CROSSED = 2.0**50  # fractions of smaller products differ by more than rounding


@dataclass(frozen=True)
class Term:
    """A condition and what it adds to each score."""

    node: Node
    weights: tuple[Fraction, ...]


@dataclass(frozen=True)
class Circuit:
    """The scores of a crisp network: constants plus the weights of what holds.

    Of ordered classes there is one score, and a constant for each limit: what holds adds up to 0
    or more where that limit is reached.
    """

    axes: tuple[Axis, ...]
    terms: tuple[Term, ...]
    constants: tuple[Fraction, ...]
    exact: bool  # whether the network adds its weights without rounding


@dataclass(frozen=True)
class _Neuron:
    """A hidden neuron: the conditions that it counts, and its value by their number."""

    children: tuple[Node, ...]
    values: Floats  # by the number of children that hold


def read_circuit(model: Model, axes: Sequence[Axis] | None = None) -> Circuit:
    """Read a crisp network.

    Raises ModelError: If a function of the model is not crisp.
    """
    check_crisp(model)
    given = read_axes(model) if axes is None else tuple(axes)
    neurons: list[_Neuron] = []
    for layer in model.layers[:-1]:
        neurons += [_read_neuron(layer, j, given, neurons) for j in range(layer.n_neurons)]
    last = model.layers[-1]
    terms: dict[Node, list[Fraction]] = {}
    constants = []
    for j in range(last.n_neurons):
        constant = _read_output(last, j, given, neurons, terms)
        constants.append(constant)
    if isinstance(model.output, Classes) and model.output.is_ordered:
        constants = [constants[0] - to_fraction(band) for band in model.output.bands]
    exact = adds_exactly(model)
    # Weights that cancel each other may leave something where sums are rounded.
    kept = [
        Term(node, tuple(weights)) for node, weights in terms.items() if any(weights) or not exact
    ]
    return Circuit(given, tuple(kept), tuple(constants), exact)


def adds_exactly(model: Model) -> bool:
    """Return whether scores are compared, or given, as if they were not rounded.

    Several scores that are divided by one number keep their order. Those that are divided by
    several, as means of unequally many functions are, keep it where a/m and b/n differ by
    more than rounding: where a·n and b·m are small.
    """
    last = model.layers[-1]
    if last.divisors is None:
        return False
    if isinstance(model.output, Classes) and model.output.is_ordered:
        return _compares_exactly(last, model.output.bands)
    if not isinstance(model.output, Classes) or (last.divisors == last.divisors[0]).all():
        return True
    sizes = np.abs(last.scaled.offsets)
    np.add.at(sizes, last.target, np.abs(last.scaled.weights))
    return bool(sizes.max() * np.diff(last.begin).max() < _MAX_CROSSED)


def _compares_exactly(last: Layer, limits: Sequence[float]) -> bool:
    """Return whether a score and a limit that differ do so by more than rounding."""
    assert last.divisors is not None  # noqa: S101 - checked by the caller
    exact = [to_fraction(limit) for limit in limits]
    grid = math.lcm(int(last.divisors[0]), *(limit.denominator for limit in exact))
    size = to_fraction(float(np.abs(last.offsets).sum() + np.abs(last.weights).sum()))
    return grid * max(size, *map(abs, exact)) < _MAX_CROSSED  # exactly: a grid may have 300 digits


def measure_rounding(layer: Layer) -> Floats:
    """Return how far the sums of a last layer may lie from exact ones, at most.

    Each of n additions rounds what cannot be more than all weights together; and a weight
    is written as a decimal that may be half a unit in the last digit away.
    """
    alpha = np.abs(layer.weights)
    out = np.zeros(layer.n_neurons)
    for j, (first, end) in enumerate(pairwise(layer.begin.tolist())):
        own = alpha[first:end]
        size = np.maximum(own, 1.0).prod() if layer.aggregation == "product" else own.sum()
        centre = abs(float(layer.offsets[j]))
        out[j] = (end - first + 5) * 2.0**-52 * (float(size) + centre) + 1e-300
    return out


def check_crisp(model: Model) -> None:
    """Raise an error for a model that has functions between 0 and 1."""
    for number, layer in enumerate(model.layers, 1):
        if not layer.function.crisp:
            raise ModelError(
                f"rules are exact for crisp networks: expected heaviside, got {layer.processing} "
                f"in layer {number}; model.crisp() gives the nearest crisp network"
            )
        for own in (layer.aggregation, layer.activation):
            if not isinstance(own, str):
                raise ModelError(
                    f"rules are proved for newron's own aggregations and activations, got {own} "
                    f"in layer {number}"
                )
        if layer.rank.any():
            raise ModelError(f"expected thresholds on the columns' own scale in layer {number}")
        if layer.alpha is not None and layer is not model.layers[-1]:
            raise ModelError(f"expected weights in the last layer alone, got some in {number}")


def find_boundaries(model: Model) -> list[list[float]]:
    """Return for each column where its conditions change."""
    boundaries: list[list[float]] = [[] for _ in model.schema.columns]
    for layer in model.layers:
        for source, w, b in zip(
            layer.source.tolist(), layer.w[:, 0].tolist(), layer.b[:, 0].tolist(), strict=True
        ):
            if source < len(boundaries) and w != 0.0:
                boundaries[source].append(b if w > 0.0 else math.nextafter(b, math.inf))
    return boundaries


def read_axes(model: Model) -> tuple[Axis, ...]:
    """Return the cells of each column that a crisp network distinguishes.

    Where training had no missing values, one counts as a value that every function takes
    like it; if there is none, it has a cell of its own.
    """
    axes = make_axes(model.schema, find_boundaries(model))
    readers: list[list[tuple[Layer, int]]] = [[] for _ in axes]
    for layer in model.layers:
        for e, source in enumerate(layer.source.tolist()):
            if source < len(axes):
                readers[source].append((layer, e))
    return tuple(_place_missing(axis, own) for axis, own in zip(axes, readers, strict=True))


def _place_missing(axis: Axis, readers: Sequence[tuple[Layer, int]]) -> Axis:
    if axis.missing or axis.column.required:
        return axis
    like = axis.full
    for layer, e in readers:
        held = read_mask(axis, layer, e)
        like &= held if layer.missing[e] == 1.0 else ~held
    cells = [c for c in range(axis.n_cells) if like >> c & 1]
    if not cells:
        return replace(axis, column=replace(axis.column, gaps=True))
    return replace(axis, absent=axis.pick_value(cells[len(cells) // 2]))


def _read_condition(layer: Layer, e: int, axes: Sequence[Axis], neurons: Sequence[_Neuron]) -> Node:
    """Return when function e of a layer is 1."""
    source = int(layer.source[e])
    if source >= len(axes):
        neuron = neurons[source - len(axes)]
        return _read_count(neuron, float(layer.w[e, 0]), float(layer.b[e, 0]))
    axis = axes[source]
    mask = read_mask(axis, layer, e)
    if mask in (0, axis.full):
        return FALSE if mask == 0 else TRUE
    return Literal(source, mask)


def read_mask(axis: Axis, layer: Layer, e: int) -> int:
    """Return the mask of the cells for which function e of a layer, which reads a column, is 1."""
    function = layer.function
    cells = axis.representatives
    values = function.value(cells[:, None], layer.w[e : e + 1], layer.b[e : e + 1])[:, 0]
    if len(layer.levels[e]):
        values = np.resize(layer.levels[e], len(cells))
    if axis.missing:
        values[-1] = layer.missing[e]
    return sum(1 << c for c, value in enumerate(values.tolist()) if value == 1.0)


def _read_count(neuron: _Neuron, w: float, b: float) -> Node:
    """Return for which counts a function of a neuron is 1."""
    z = neuron.values
    holds = np.ones(len(z), bool) if w == 0.0 else (z >= b if w > 0.0 else z <= b)
    runs = find_runs(holds.tolist())
    n = len(neuron.children)
    if not runs or runs == [(0, n)]:
        return TRUE if runs else FALSE
    parts = [Count(low, high, neuron.children) for low, high in runs]
    return parts[0] if len(parts) == 1 else Count(1, len(parts), tuple(parts))


def _read_neuron(layer: Layer, j: int, axes: Sequence[Axis], neurons: Sequence[_Neuron]) -> _Neuron:
    edges = layer.list_edges(j)
    nodes = [_read_condition(layer, e, axes, neurons) for e in edges]
    children = tuple(node for node in nodes if not isinstance(node, Const))
    always = sum(node.value for node in nodes if isinstance(node, Const))
    counts = np.arange(len(children) + 1) + always
    z = _aggregate(str(layer.aggregation), counts, len(nodes))
    if layer.centre is not None:
        z = z - layer.centre[j]
    return _Neuron(children, activate(layer.activation, z))


def _aggregate(aggregation: str, counts: NDArray[np.intp], n: int) -> Floats:
    """Return the aggregate of n zeros and ones by the number of ones."""
    if aggregation == "sum":
        return counts.astype(np.float64)
    if aggregation == "product":
        return np.asarray(counts == n, np.float64)
    if n == 0:
        return np.zeros(len(counts))
    if aggregation == "mean":
        return np.asarray(counts / n, np.float64)
    return ((counts == n) if aggregation == "min" else (counts > 0)).astype(np.float64)


# ---- the last layer ----


def _read_output(
    layer: Layer,
    j: int,
    axes: Sequence[Axis],
    neurons: Sequence[_Neuron],
    terms: dict[Node, list[Fraction]],
) -> Fraction:
    """Add what the conditions of output j weigh to the terms; return the constant."""
    edges = list(layer.list_edges(j))
    nodes = [_read_condition(layer, e, axes, neurons) for e in edges]
    alpha = [1.0] * len(layer.source) if layer.alpha is None else layer.alpha.tolist()
    weights = [to_fraction(alpha[e]) for e in edges]
    if layer.aggregation == "mean" and nodes:
        weights = [weight / len(nodes) for weight in weights]
    elif layer.aggregation == "product":
        nodes, weights = (
            [Count(len(nodes), len(nodes), tuple(nodes))],
            [math.prod(weights, start=Fraction(1))],
        )
        if not edges:
            nodes, weights = [TRUE], [Fraction(1)]
    elif layer.aggregation in ("min", "max") and nodes:
        nodes, weights = _lay_cake(layer.aggregation, nodes, weights)
    constant = Fraction(0) if layer.centre is None else -to_fraction(layer.centre[j])
    for node, weight in zip(nodes, weights, strict=True):
        if isinstance(node, Const):
            constant += weight * node.value
        else:
            row = terms.setdefault(node, [Fraction(0)] * layer.n_neurons)
            row[j] += weight
    return constant


def to_fraction(value: float) -> Fraction:
    """Return a weight as the decimal that it is written by."""
    return Fraction(repr(float(value)))


def _lay_cake(
    aggregation: str, nodes: Sequence[Node], weights: Sequence[Fraction]
) -> tuple[list[Node], list[Fraction]]:
    """Describe the least or greatest of weighted conditions as a sum of conditions.

    With values v0 < v1 < ..., it is v0 plus each further v − (the one before) where all
    (any, for the greatest) of the parts are at least v.
    """
    values = sorted({Fraction(0), *weights})
    out_nodes: list[Node] = [TRUE]
    out_weights = [values[0]]
    for below, v in pairwise(values):
        parts = [_reach(node, weight, v) for node, weight in zip(nodes, weights, strict=True)]
        n = len(parts)
        out_nodes.append(Count(n if aggregation == "min" else 1, n, tuple(parts)))
        out_weights.append(v - below)
    return out_nodes, out_weights


def _reach(node: Node, weight: Fraction, v: Fraction) -> Node:
    """Return when a weighted condition is at least v."""
    on, off = weight >= v, v <= 0
    if on == off:
        return TRUE if on else FALSE
    return node if on else Count(0, 0, (node,))
