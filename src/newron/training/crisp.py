"""Heaviside networks by rank: to the core and back, polished by the exact loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Output
from newron.model.schema import Schema
from newron.tables.field import LARGEST_INPUT
from newron.training.core_trainer import make_core_loss
from newron.training.encoding import Encoding
from newron.training.problem import Problem
from newron.training.ranking import Ranking, Ranks
from newron.training.training_set import Part
from newron.training.wiring import Params, Wiring

Integers = NDArray[np.int32]
Flags = NDArray[np.uint8]

_RIDGE = 0.1  # on the weights, while conditions move
MOSTLY = 1e-9  # more than half, whatever the rounding of sums


@dataclass(frozen=True)
class RankedTable:
    """Rows as ranks, and what their scores should be."""

    ranks: Ranks
    problem: Problem
    base: Floats | None = None  # scores to which a network adds, of shape (rows, outputs)
    directions: Sequence[int] = ()  # of each column: scores rise (1), fall (-1), free (0)

    def for_core(self, ranking: Ranking) -> Any:
        """Return the core's table."""
        problem, directions = self.problem, self.directions or [0] * len(self.ranks)
        return _core.RankTable(
            self.ranks,
            ranking.n_bins,
            ranking.n_ordered,
            np.array(directions, np.int32),
            problem.objective.encode_core(problem.targets),
            problem.weight,
            make_core_loss(problem.objective),
            problem.objective.n_scores,
            base=self.base,
        )

    def take(self, part: Part) -> RankedTable:
        """Return some of the rows."""
        ranks = np.ascontiguousarray(self.ranks[:, part.index])
        base = None if self.base is None else self.base[part.index]
        return RankedTable(ranks, self.problem.take(part), base, self.directions)


@dataclass(frozen=True)
class CrispShape:
    """The core's form of a crisp network; see cpp/core/crisp.h.

    A condition is (source, sign, cut): the source's rank or count is at least
    the cut for sign +1, under it for sign -1. For a column with bins without order
    (categories, gaps), of which the first is at ``n_ordered``, the condition's ``free``
    flags say for which of them it holds.
    """

    begin: Integers  # first condition of each hidden neuron, and the end
    conditions: Integers  # (n, 3)
    terms: Integers  # (n, 3)
    only: Integers  # the one output of a term, or -1
    weight: Floats  # (terms, outputs)
    centre: Floats  # (outputs,)
    condition_free: tuple[Flags, ...] = ()  # of each condition; () if no column has such bins
    term_free: tuple[Flags, ...] = ()
    n_ordered: Integers | None = None  # of each column

    @classmethod
    def from_core(cls, parts: tuple[Any, ...], ranking: Ranking) -> CrispShape:
        """Make one from what the core returns."""
        begin, conditions, terms, only, weight, centre, condition_free, term_free = parts
        return cls(
            begin,
            conditions,
            terms,
            only,
            weight.reshape(-1, len(centre)),
            centre,
            split_free(condition_free, conditions, ranking),
            split_free(term_free, terms, ranking),
            ranking.n_ordered,
        )

    def for_core(self) -> tuple[Any, ...]:
        """Return the arrays as the core wants them."""
        weight = np.ascontiguousarray(self.weight, np.float64).ravel()
        whole = (self.begin, self.conditions, self.terms, self.only)
        arrays = [np.ascontiguousarray(a, np.int32) for a in whole]
        none = np.zeros(0, np.uint8)
        free = [np.concatenate([none, *flags]) for flags in (self.condition_free, self.term_free)]
        return (*arrays, weight, np.ascontiguousarray(self.centre, np.float64), *free)

    @property
    def n_conditions(self) -> int:
        """How many conditions a reader meets: on columns, and on counts of many."""
        return len(self.conditions) + len(self.terms)

    def activate(self, ranks: Ranks) -> NDArray[np.bool_]:
        """Return which terms hold for which rows, of shape (terms, rows)."""
        signals: NDArray[Any] = ranks
        n_neurons = len(self.begin) - 1
        if n_neurons:
            signals = np.empty((len(ranks) + n_neurons, ranks.shape[1]), np.int32)
            signals[: len(ranks)] = ranks
        for j, (first, end) in enumerate(zip(self.begin[:-1], self.begin[1:], strict=True)):
            own = slice(first, end)
            held = self._hold(signals, self.conditions[own], self.condition_free[own])
            signals[len(ranks) + j] = held.sum(axis=0)
        return self._hold(signals, self.terms, self.term_free)

    def _hold(
        self, signals: NDArray[Any], conditions: Integers, free: tuple[Flags, ...]
    ) -> NDArray[np.bool_]:
        """Return which conditions hold for which rows, of shape (conditions, rows)."""
        source, sign, cut = conditions.T
        values = signals[source]
        holds = np.asarray((values >= cut[:, None]) == (sign > 0)[:, None])
        if self.n_ordered is None:
            return holds
        for e, flags in enumerate(free):
            if len(flags):
                first = int(self.n_ordered[source[e]])
                apart = values[e] >= first
                holds[e, apart] = flags[values[e, apart].astype(np.intp) - first] != 0
        return holds

    def score(self, ranks: Ranks) -> Floats:
        """Return the scores of rows, of shape (rows, outputs)."""
        return np.asarray(self.activate(ranks).T @ self.weight - self.centre)


def score_table(shape: CrispShape, table: RankedTable) -> Floats:
    """Return the scores of a table's rows, its base included."""
    scores = shape.score(table.ranks)
    return scores if table.base is None else scores + table.base


def split_free(flat: Flags, conditions: Integers, ranking: Ranking) -> tuple[Flags, ...]:
    """Split flags that lie one after the other by their conditions."""
    n_free = ranking.n_free
    if not n_free.any():
        return ()
    sizes = [int(n_free[s]) if s < len(n_free) else 0 for s in conditions[:, 0].tolist()]
    ends = np.cumsum(sizes).tolist()
    return tuple(flat[end - size : end] for size, end in zip(sizes, ends, strict=True))


def can_be_polished(layers: tuple[Layer, ...]) -> bool:
    """Return whether a network consists of steps and counts alone."""
    plain = all(
        layer.alpha is None and layer.centre is None and layer.activation == "identity"
        for layer in layers[:-1]
    )
    return plain and all(layer.function.crisp and layer.aggregation == "sum" for layer in layers)


def to_crisp(layers: tuple[Layer, ...], ranking: Ranking) -> CrispShape:
    """Return a Heaviside network by ranks."""
    n_inputs = len(ranking.lows)
    begin, conditions = [0], []
    free: list[Flags] = []
    for layer in layers[:-1]:
        for j in range(layer.n_neurons):
            edges = layer.list_edges(j)
            conditions += [_to_condition(layer, e, ranking, n_inputs) for e in edges]
            free += [_to_free(layer, e, ranking, n_inputs) for e in edges]
            begin.append(len(conditions))
    last = layers[-1]
    edges = range(len(last.source))
    terms = [_to_condition(last, e, ranking, n_inputs) for e in edges]
    term_free = tuple(_to_free(last, e, ranking, n_inputs) for e in edges)
    weight = np.zeros((len(terms), last.n_neurons))
    weight[np.arange(len(terms)), last.target] = last.weights
    centre = np.array(last.offsets)
    return CrispShape(
        np.array(begin, np.int32),
        np.array(conditions, np.int32).reshape(-1, 3),
        np.array(terms, np.int32).reshape(-1, 3),
        np.array(last.target, np.int32),
        weight,
        centre,
        tuple(free),
        term_free,
        ranking.n_ordered,
    )


def _to_free(layer: Layer, e: int, ranking: Ranking, n_inputs: int) -> Flags:
    source = int(layer.source[e])
    if source >= n_inputs:
        return np.zeros(0, np.uint8)
    values = [*layer.levels[e].tolist()] + [layer.missing[e]] * ranking.gaps[source]
    return np.array(values, np.uint8)


def _to_condition(layer: Layer, e: int, ranking: Ranking, n_inputs: int) -> tuple[int, int, int]:
    source, w, b = int(layer.source[e]), float(layer.w[e, 0]), float(layer.b[e, 0])
    if w == 0.0 or (source < n_inputs and ranking.n_categories[source]):
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
    """Return a crisp network in the columns' units.

    ``widths`` are those of the hidden layers. What never holds is left out; what
    always holds stays, as a function with w = 0.
    """
    layers, first = [], 0
    for width in widths:
        ends = shape.begin[first : first + width + 1]
        target = np.repeat(np.arange(width), np.diff(ends))
        edges = slice(int(ends[0]), int(ends[-1]))
        steps = _to_steps(shape.conditions[edges], shape.condition_free[edges], ranking)
        layers.append(_make_layer(steps, target, width))
        first += width
    layers.append(_make_output(shape, ranking))
    return Model(schema, layers, output)


@dataclass(frozen=True)
class Step:
    """A condition in the column's units."""

    source: int
    w: float
    b: float
    missing: float = 0.0
    levels: tuple[float, ...] = ()


def _make_layer(steps: list[Step | None], target: NDArray[Any], width: int) -> Layer:
    used = [i for i, step in enumerate(steps) if step is not None]
    kept = [step for step in steps if step is not None]
    return Layer("heaviside", "sum", "identity", width, target[used], **_gather(kept))


def _gather(steps: list[Step]) -> dict[str, Any]:
    return {
        "source": np.array([step.source for step in steps], np.int32),
        "w": np.array([[step.w] for step in steps]).reshape(-1, 1),
        "b": np.array([[step.b] for step in steps]).reshape(-1, 1),
        "missing": np.array([step.missing for step in steps]),
        "levels": [np.array(step.levels) for step in steps],
    }


def _make_output(shape: CrispShape, ranking: Ranking) -> Layer:
    n_outputs = len(shape.centre)
    steps = _to_steps(shape.terms, shape.term_free, ranking)
    pairs = [
        (k, t)
        for k in range(n_outputs)
        for t in range(len(shape.terms))
        if shape.only[t] in (-1, k) and shape.weight[t, k] != 0.0 and steps[t] is not None
    ]
    outputs = np.array([k for k, _ in pairs], np.int32)
    terms = np.array([t for _, t in pairs], np.intp)
    kept = [step for step in (steps[t] for t in terms) if step is not None]
    return Layer(
        "heaviside",
        "sum",
        "identity",
        n_outputs,
        outputs,
        **_gather(kept),
        alpha=shape.weight[terms, outputs],
        centre=shape.centre,
    )


def _to_steps(conditions: Integers, free: tuple[Flags, ...], ranking: Ranking) -> list[Step | None]:
    none = np.zeros(0, np.uint8)
    return [
        to_step(condition, free[e] if free else none, ranking)
        for e, condition in enumerate(conditions)
    ]


def to_step(condition: Integers, free: Flags, ranking: Ranking) -> Step | None:
    """Return the condition in the column's units, or None for what never holds."""
    source, sign, cut = condition.tolist()
    if source >= len(ranking.lows):
        return Step(source, float(sign), cut - 0.5)
    n_categories = ranking.n_categories[source]
    missing = float(free[-1] if ranking.gaps[source] else _holds_mostly(condition, free, ranking))
    if n_categories:
        levels = tuple(map(float, free[:n_categories]))
        return Step(source, 0.0, 0.0, missing, levels) if any(free) else None
    n_bins = len(ranking.lows[source])
    if 0 < cut < n_bins:
        return Step(source, float(sign), ranking.threshold(source, cut), missing)
    if (cut <= 0) == (sign > 0):
        return Step(source, 0.0, 0.0, missing)
    return Step(source, float(sign), sign * LARGEST_INPUT, missing) if missing else None


def _holds_mostly(condition: Integers, free: Flags, ranking: Ranking) -> bool:
    """Return whether a condition holds for more than half of the rows."""
    source, sign, cut = condition.tolist()
    fractions = ranking.fractions[source]
    if ranking.n_categories[source]:
        held = float(fractions @ (free[: len(fractions)] != 0))
    else:
        held = float((fractions[max(cut, 0) :] if sign > 0 else fractions[: max(cut, 0)]).sum())
    return held > 0.5 + MOSTLY


def polish(
    shape: CrispShape,
    table: Any,
    ranking: Ranking,
    *,
    rounds: int = 3,
    sweeps: int = 5,
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
            moved = network.polish(False, _RIDGE, n_threads)
            changed += moved
            if not moved:
                break
        network.refit(20, _RIDGE)
        if not changed:
            break
    return CrispShape.from_core(network.shape(), ranking), network.loss, network.wrong


def to_params(
    shape: CrispShape, ranking: Ranking, wiring: Wiring, encoding: Encoding, params: Params
) -> Params:
    """Return the core's parameters of a polished network, to go on from.

    Its conditions lie in the order of the wiring's functions; ``params`` are those it
    was polished from and lend the steepness that a step itself does not have.
    """
    out = np.array(params)
    conditions = np.concatenate([shape.conditions, shape.terms])
    free = (*shape.condition_free, *shape.term_free)
    first = 0
    for places in wiring.layers:
        w, b = out[places.w], out[places.b]
        for e in range(places.n_edges):
            _, sign, cut = conditions[first + e].tolist()
            w[e] = sign * max(abs(float(w[e])), 0.1)
            b[e] = _place(int(places.source[e]), cut, ranking, encoding)
            if e in places.points:
                side = 2.0 * free[first + e].astype(np.float32) - 1.0
                out[places.points[e]] = b[e] + sign * side
        first += places.n_edges
    last = wiring.layers[-1]
    out[last.alpha] = shape.weight[np.arange(len(shape.terms)), last.target]
    out[last.centre] = shape.centre
    return out


def _place(source: int, cut: int, ranking: Ranking, encoding: Encoding) -> float:
    """Return the place of a cut on what the core's function reads."""
    if source >= len(encoding.channels):
        return cut - 0.5
    channel = encoding.channels[source]
    if channel.n_categories:
        return 0.0
    lows, highs = ranking.lows[channel.column], ranking.highs[channel.column]
    if 0 < cut < len(lows):
        return float(channel.encode(np.array([ranking.threshold(channel.column, cut)]))[0])
    ends = channel.encode(np.array([lows[0], highs[-1]]) if len(lows) else np.zeros(2))
    return float(ends[0]) - 1.0 if cut <= 0 else float(ends[1]) + 1.0


def merge_terms(shape: CrispShape, n_columns: int) -> CrispShape:
    """Merge equal and opposite conditions on a column, with the sum of their weights.

    Growth, held back by its ridge, may choose a condition again. The opposite of a
    condition with weight a is a less a times the condition.
    """
    seen: dict[tuple[Any, ...], tuple[int, int]] = {}  # to the place kept, and its sign
    weight, centre, kept = np.array(shape.weight), np.array(shape.centre), []
    for t, (source, sign, cut) in enumerate(shape.terms.tolist()):
        free = shape.term_free[t] if shape.term_free else np.zeros(0, np.uint8)
        up = free if sign > 0 else 1 - free
        key = (source, cut, int(shape.only[t]), up.tobytes())
        if source >= n_columns or key not in seen:
            seen[key] = (t, sign)
            kept.append(t)
            continue
        first, orientation = seen[key]
        if sign == orientation:
            weight[first] += weight[t]
        else:
            weight[first] -= weight[t]
            centre -= weight[t]
    return replace(
        shape,
        terms=shape.terms[kept],
        only=shape.only[kept],
        weight=weight[kept],
        centre=centre,
        term_free=tuple(shape.term_free[t] for t in kept) if shape.term_free else (),
    )
