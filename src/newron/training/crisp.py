"""Heaviside networks by rank: to the core and back, polished by the exact loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Output
from newron.model.processing import get_processing
from newron.model.schema import Schema
from newron.training.encoding import Encoding
from newron.training.ranking import Ranking, Ranks
from newron.training.wiring import Params, Wiring

__all__ = [
    "CrispShape",
    "RankedTable",
    "can_be_polished",
    "from_crisp",
    "polish",
    "score_table",
    "to_crisp",
    "to_params",
]

Integers = NDArray[np.int32]


@dataclass(frozen=True)
class RankedTable:
    """Rows as ranks with their targets, as the core wants them."""

    ranks: Ranks
    targets: NDArray[np.float32]
    weight: Floats
    base: Floats | None = None  # scores to which a network adds, of shape (rows, outputs)

    def for_core(self, ranking: Ranking, loss: str, n_outputs: int) -> Any:
        """Give the core's table."""
        kind = getattr(_core.Loss, loss)
        args = (self.ranks, ranking.n_bins, self.targets, self.weight, kind, n_outputs)
        return _core.RankTable(*args, base=self.base)

    def take(self, index: NDArray[np.intp]) -> RankedTable:
        """Give some of the rows."""
        ranks = np.ascontiguousarray(self.ranks[:, index])
        base = None if self.base is None else self.base[index]
        return RankedTable(ranks, self.targets[index], self.weight[index], base)


@dataclass(frozen=True)
class CrispShape:
    """The core's form of a crisp network; see cpp/core/crisp.h.

    A condition is (source, sign, cut): the source's rank or count is at least
    the cut for sign +1, under it for sign -1.
    """

    begin: Integers  # first condition of each hidden neuron, and the end
    conditions: Integers  # (n, 3)
    terms: Integers  # (n, 3)
    only: Integers  # the one output of a term, or -1
    weight: Floats  # (terms, outputs)
    centre: Floats  # (outputs,)

    @classmethod
    def from_core(cls, parts: tuple[Any, ...]) -> CrispShape:
        """Make one from what the core returns."""
        begin, conditions, terms, only, weight, centre = parts
        return cls(begin, conditions, terms, only, weight.reshape(-1, len(centre)), centre)

    def for_core(self) -> tuple[Any, ...]:
        """Give the arrays as the core wants them."""
        weight = np.ascontiguousarray(self.weight, np.float64).ravel()
        whole = (self.begin, self.conditions, self.terms, self.only)
        arrays = [np.ascontiguousarray(a, np.int32) for a in whole]
        return (*arrays, weight, np.ascontiguousarray(self.centre, np.float64))

    @property
    def n_conditions(self) -> int:
        """How many conditions a reader meets: on columns, and on counts of many."""
        return len(self.conditions) + len(self.terms)

    def activate(self, ranks: Ranks) -> NDArray[np.bool_]:
        """Give which terms hold for which rows, of shape (terms, rows)."""
        signals: list[NDArray[Any]] = list(ranks)
        for first, end in zip(self.begin[:-1], self.begin[1:], strict=True):
            held = [_holds(signals, c) for c in self.conditions[first:end]]
            signals.append(np.sum(held, axis=0) if held else np.zeros(ranks.shape[1], int))
        held = [_holds(signals, term) for term in self.terms]
        return np.array(held, bool).reshape(len(self.terms), ranks.shape[1])

    def score(self, ranks: Ranks) -> Floats:
        """Give the scores of rows, of shape (rows, outputs)."""
        return np.asarray(self.activate(ranks).T @ self.weight - self.centre)


def score_table(shape: CrispShape, table: RankedTable) -> Floats:
    """Give the scores of a table's rows, its base included."""
    scores = shape.score(table.ranks)
    return scores if table.base is None else scores + table.base


def _holds(signals: list[NDArray[Any]], condition: Integers) -> NDArray[np.bool_]:
    source, sign, cut = condition.tolist()
    return np.asarray(signals[source] >= cut if sign > 0 else signals[source] < cut)


def can_be_polished(layers: tuple[Layer, ...]) -> bool:
    """Tell whether a network consists of steps and counts alone."""
    plain = all(
        layer.alpha is None and layer.centre is None and layer.activation == "identity"
        for layer in layers[:-1]
    )
    return plain and all(
        get_processing(layer.processing).crisp and layer.aggregation == "sum" for layer in layers
    )


def to_crisp(layers: tuple[Layer, ...], ranking: Ranking) -> CrispShape:
    """Tell a Heaviside network by ranks."""
    n_inputs = len(ranking.lows)
    begin, conditions = [0], []
    for layer in layers[:-1]:
        for j in range(layer.n_neurons):
            edges = range(layer.begin[j], layer.begin[j + 1])
            conditions += [_to_condition(layer, e, ranking, n_inputs) for e in edges]
            begin.append(len(conditions))
    last = layers[-1]
    terms = [_to_condition(last, e, ranking, n_inputs) for e in range(len(last.source))]
    weight = np.zeros((len(terms), last.n_neurons))
    weight[np.arange(len(terms)), last.target] = 1.0 if last.alpha is None else last.alpha
    centre = np.zeros(last.n_neurons) if last.centre is None else np.array(last.centre)
    return CrispShape(
        np.array(begin, np.int32),
        np.array(conditions, np.int32).reshape(-1, 3),
        np.array(terms, np.int32).reshape(-1, 3),
        np.array(last.target, np.int32),
        weight,
        centre,
    )


def _to_condition(layer: Layer, e: int, ranking: Ranking, n_inputs: int) -> tuple[int, int, int]:
    source, w, b = int(layer.source[e]), float(layer.w[e, 0]), float(layer.b[e, 0])
    if w == 0.0:
        return source, 1, 0
    sign = 1 if w > 0.0 else -1
    if source < n_inputs:
        return source, sign, ranking.find_cut(source, w, b)
    # The first whole number at or above b, or above it.
    cut = np.ceil(b) if w > 0.0 else np.floor(b) + 1
    return source, sign, int(np.clip(cut, 0, 2**15))


def from_crisp(
    shape: CrispShape, ranking: Ranking, schema: Schema, output: Output, widths: list[int]
) -> Model:
    """Tell a crisp network in the columns' units.

    ``widths`` are those of the hidden layers. What never holds is left out; what
    always holds stays, as a function with w = 0.
    """
    layers, first = [], 0
    for width in widths:
        ends = shape.begin[first : first + width + 1]
        target = np.repeat(np.arange(width), np.diff(ends))
        layers.append(_make_layer(shape.conditions[ends[0] : ends[-1]], target, width, ranking))
        first += width
    layers.append(_make_output(shape, ranking))
    return Model(schema, layers, output)


def _make_layer(conditions: Integers, target: NDArray[Any], width: int, ranking: Ranking) -> Layer:
    steps = [_to_step(c, ranking) for c in conditions]
    used = [i for i, step in enumerate(steps) if step is not None]
    w, b = _split([steps[i] for i in used])
    return Layer("heaviside", "sum", "identity", width, target[used], conditions[used, 0], w, b)


def _make_output(shape: CrispShape, ranking: Ranking) -> Layer:
    n_outputs = len(shape.centre)
    steps = [_to_step(term, ranking) for term in shape.terms]
    pairs = [
        (k, t)
        for k in range(n_outputs)
        for t in range(len(shape.terms))
        if shape.only[t] in (-1, k) and shape.weight[t, k] != 0.0 and steps[t] is not None
    ]
    outputs = np.array([k for k, _ in pairs], np.int32)
    terms = np.array([t for _, t in pairs], np.intp)
    w, b = _split([steps[t] for t in terms])
    return Layer(
        "heaviside",
        "sum",
        "identity",
        n_outputs,
        outputs,
        shape.terms[terms, 0],
        w,
        b,
        alpha=shape.weight[terms, outputs],
        centre=shape.centre,
    )


def _split(steps: list[Any]) -> tuple[Floats, Floats]:
    pairs = np.array(steps, np.float64).reshape(-1, 2)
    return pairs[:, :1], pairs[:, 1:]


def _to_step(condition: Integers, ranking: Ranking) -> tuple[float, float] | None:
    """Give w and b, or None for what never holds."""
    source, sign, cut = condition.tolist()
    if source >= len(ranking.lows):
        return float(sign), cut - 0.5
    n_bins = len(ranking.lows[source])
    if 0 < cut < n_bins:
        return float(sign), ranking.threshold(source, cut)
    always = (cut <= 0) == (sign > 0)
    return (0.0, 0.0) if always else None


def polish(
    shape: CrispShape,
    table: Any,
    *,
    rounds: int = 3,
    sweeps: int = 5,
    ridge: float = 0.1,
    n_threads: int = 1,
) -> tuple[CrispShape, float, int]:
    """Polish, tune the weights, and polish again, until nothing changes.

    Returns the network, its loss and the number of rows that it gets wrong. The
    objective, the loss and the ridge on the weights, never rises.
    """
    network = _core.Crisp(table, *shape.for_core())
    for _ in range(rounds):
        changed = 0
        for _ in range(sweeps):
            moved = network.polish(False, ridge, n_threads)
            changed += moved
            if not moved:
                break
        network.refit(20, ridge)
        if not changed:
            break
    return CrispShape.from_core(network.shape()), network.loss, network.wrong


def to_params(
    shape: CrispShape, ranking: Ranking, wiring: Wiring, encoding: Encoding, params: Params
) -> Params:
    """Give the core's parameters of a polished network, to go on from.

    Its conditions lie in the order of the wiring's functions; ``params`` are those it
    was polished from and lend the steepness that a step itself does not have.
    """
    out = np.array(params)
    conditions = np.concatenate([shape.conditions, shape.terms])
    first = 0
    for places in wiring.layers:
        w, b = out[places.w], out[places.b]
        for e in range(places.n_edges):
            _, sign, cut = conditions[first + e].tolist()
            w[e] = sign * max(abs(float(w[e])), 0.1)
            b[e] = _place(int(places.source[e]), cut, ranking, encoding)
        first += places.n_edges
    last = wiring.layers[-1]
    out[last.alpha] = shape.weight[np.arange(len(shape.terms)), last.target]
    out[last.centre] = shape.centre
    return out


def _place(source: int, cut: int, ranking: Ranking, encoding: Encoding) -> float:
    """Give the place of a cut on what the core's function reads."""
    if source >= len(encoding.channels):
        return cut - 0.5
    channel = encoding.channels[source]
    lows, highs = ranking.lows[channel.column], ranking.highs[channel.column]
    if 0 < cut < len(lows):
        return float(channel.encode(np.array(ranking.threshold(channel.column, cut))))
    ends = channel.encode(np.array([lows[0], highs[-1]]))
    return float(ends[0]) - 1.0 if cut <= 0 else float(ends[1]) + 1.0


def cut_path(
    shape: CrispShape, n: int, weight: Floats, centre: Floats, n_columns: int
) -> CrispShape:
    """Give a grown network with its first n terms and these weights."""
    terms = shape.terms[:n]
    n_neurons = int(np.sum(terms[:, 0] >= n_columns)) if n else 0
    begin = shape.begin[: n_neurons + 1]
    return replace(
        shape,
        begin=begin,
        conditions=shape.conditions[: begin[-1]],
        terms=terms,
        only=shape.only[:n],
        weight=weight.reshape(n, len(centre)),
        centre=centre,
    )
