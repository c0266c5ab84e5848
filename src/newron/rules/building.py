"""From rules to a network: the Heaviside network that does what rules say.

A condition "lo ≤ count ≤ hi" is two functions of the neuron that counts, less one; a
literal of several intervals likewise. So a node is a sum of functions and a constant, and
what counts nodes counts their functions, with thresholds moved by the constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from newron.errors import ModelError
from newron.model.model import Model
from newron.model.network import LARGEST_INPUT, Layer
from newron.model.output import Classes, Output
from newron.model.schema import Schema
from newron.rules.axis import Axis
from newron.rules.body import Body, DecisionList, Points
from newron.rules.circuit import Term
from newron.rules.node import Algebra, Const, Count, Literal, Node

__all__ = ["build_model"]

_SURE = 10  # the weight of a rule: its class has a probability of 99 %


@dataclass(frozen=True)
class _Step:
    """One Heaviside function: of an input, or of the neuron that counts a group."""

    source: int | Count
    w: float
    b: float
    missing: float = 0.0
    levels: tuple[float, ...] = ()


@dataclass
class _Neurons:
    """The hidden neurons: which group each counts, by layer."""

    layers: list[list[Count]] = field(default_factory=list)
    depth: dict[Count, int] = field(default_factory=dict)


def build_model(schema: Schema, axes: Sequence[Axis], body: Body, output: Output) -> Model:
    """Give the network whose scores are those of points, or whose classes those of a list."""
    algebra = Algebra(tuple(axes))
    if isinstance(body, DecisionList):
        if not isinstance(output, Classes):
            raise ModelError("if/then rules give classes: expected points for amounts")
        points = _weigh_list(algebra, body, len(output.labels))
    else:
        points = body
    terms = [Term(algebra.simplify(term.node), term.weights) for term in points.terms]
    constants = list(points.constants)
    for term in terms:
        if isinstance(term.node, Const) and term.node.value:
            constants = [c + w for c, w in zip(constants, term.weights, strict=True)]
    kept = [term for term in terms if not isinstance(term.node, Const)]
    if len(constants) != output.n_scores:
        raise ModelError(f"expected {output.n_scores} sums, got {len(constants)}")
    builder = _Builder(schema, tuple(axes))
    return Model(schema, builder.make_layers(kept, constants), output)


def _weigh_list(algebra: Algebra, body: DecisionList, n_classes: int) -> Points:
    """Turn if/then rules into points: a class gets one where its rules decide."""
    deciding: dict[int, list[Node]] = {}
    for k, branch in enumerate(body.branches):
        others = [b.node for b in body.branches[:k] if b.outcome != branch.outcome]
        node = algebra.all_of([branch.node, *map(algebra.negate, others)])
        deciding.setdefault(branch.outcome, []).append(node)
    if n_classes == 2:
        other = 1 - body.default
        sign = Fraction(_SURE if other == 1 else -_SURE)
        node = algebra.any_of(deciding.get(other, []))
        return Points((Term(node, (sign,)),), (-sign / 2,))
    terms = [
        Term(algebra.any_of(nodes), tuple(Fraction(_SURE * (k == c)) for k in range(n_classes)))
        for c, nodes in deciding.items()
        if c != body.default
    ]
    return Points(
        tuple(terms), tuple(Fraction(_SURE * (k == body.default), 2) for k in range(n_classes))
    )


_EMPTY: Any = np.zeros((0, 1))


class _Builder:
    """Makes the layers of a network from weighted conditions."""

    def __init__(self, schema: Schema, axes: tuple[Axis, ...]) -> None:
        self.schema = schema
        self.axes = axes
        self.neurons = _Neurons()

    def make_layers(self, terms: Sequence[Term], constants: Sequence[Fraction]) -> list[Layer]:
        for term in terms:
            self._place(term.node)
        hidden = [self._make_hidden(groups) for groups in self.neurons.layers]
        return [*hidden, self._make_last(terms, constants)]

    # ---- hidden layers ----

    def _place(self, node: Node) -> int:
        """Give a counted group its neuron, after those of its members; give the layer."""
        if not isinstance(node, Count):
            return -1
        key = _name_group(node)
        if key not in self.neurons.depth:
            depth = 1 + max((self._place(child) for child in node.children), default=-1)
            self.neurons.depth[key] = depth
            while len(self.neurons.layers) <= depth:
                self.neurons.layers.append([])
            self.neurons.layers[depth].append(key)
        return self.neurons.depth[key]

    def _signal(self, source: int | Count) -> int:
        if isinstance(source, int):
            return source
        depth = self.neurons.depth[source]
        before = sum(map(len, self.neurons.layers[:depth]))
        return len(self.axes) + before + self.neurons.layers[depth].index(source)

    def _make_hidden(self, groups: Sequence[Count]) -> Layer:
        functions = [
            (j, step) for j, group in enumerate(groups) for step in self._list_members(group)[0]
        ]
        return self._make_layer(len(groups), [(j, step, None) for j, step in functions], None)

    def _list_members(self, group: Count) -> tuple[list[_Step], int]:
        """Give the functions that a group's neuron adds, and how much too many they count."""
        steps: list[_Step] = []
        surplus = 0
        for child in group.children:
            found, more = self._list_steps(child)
            steps += found
            surplus += more
        return steps, surplus

    # ---- functions of a condition ----

    def _list_steps(self, node: Node) -> tuple[list[_Step], int]:
        """Give functions whose sum, less a surplus, is 1 where a condition holds, else 0."""
        if isinstance(node, Literal):
            return self._list_literal(node)
        assert isinstance(node, Count)  # noqa: S101 - constants are folded
        key = _name_group(node)
        surplus = self._list_members(key)[1]
        steps = []
        if node.low > 0:
            steps.append(_Step(key, 1.0, node.low + surplus - 0.5))
        if node.high < len(node.children):
            steps.append(_Step(key, -1.0, node.high + surplus + 0.5))
        return steps, len(steps) - 1

    def _list_literal(self, node: Literal) -> tuple[list[_Step], int]:
        axis = self.axes[node.column]
        gap = float(bool(node.mask & axis.gap))
        if axis.column.categories is not None:
            levels = tuple(float(node.mask >> c & 1) for c in range(axis.n_places))
            return [_Step(node.column, 0.0, 0.0, gap, levels)], 0
        ends = _list_ends(axis, node.mask & ~axis.gap)
        surplus = sum(len(pair) - 1 for pair in ends)
        places = [place for pair in ends for place in pair]
        # Of a gap as many steps say 1 as make their sum right.
        ones = surplus + int(gap)
        steps = [_Step(node.column, w, b, float(k < ones)) for k, (w, b) in enumerate(places)]
        return steps, surplus

    # ---- the last layer ----

    def _make_last(self, terms: Sequence[Term], constants: Sequence[Fraction]) -> Layer:
        parts: list[tuple[int, _Step, float | None]] = []
        centre = [-c for c in constants]
        for j in range(len(constants)):
            for term in terms:
                weight = term.weights[j]
                if weight:
                    steps, surplus = self._list_steps(term.node)
                    parts += [(j, step, float(weight)) for step in steps]
                    centre[j] += weight * surplus
        return self._make_layer(len(constants), parts, [float(c) for c in centre])

    def _make_layer(
        self,
        n_neurons: int,
        parts: Sequence[tuple[int, _Step, float | None]],
        centre: list[float] | None,
    ) -> Layer:
        return Layer(
            "heaviside",
            "sum",
            "identity",
            n_neurons,
            target=[j for j, _, _ in parts],  # type: ignore[arg-type]
            source=[self._signal(step.source) for _, step, _ in parts],  # type: ignore[arg-type]
            w=[[step.w] for _, step, _ in parts] or _EMPTY,  # type: ignore[arg-type]
            b=[[step.b] for _, step, _ in parts] or _EMPTY,  # type: ignore[arg-type]
            alpha=None if centre is None else [w for _, _, w in parts],  # type: ignore[arg-type]
            centre=centre,  # type: ignore[arg-type]
            missing=[step.missing for _, step, _ in parts],  # type: ignore[arg-type]
            levels=[step.levels for _, step, _ in parts],  # type: ignore[misc]
        )


def _name_group(node: Count) -> Count:
    """Give one name to all counts of the same members."""
    return Count(0, 0, node.children)


def _list_ends(axis: Axis, mask: int) -> list[list[tuple[float, float]]]:
    """Give for each run of cells its steps (w, b): one, or two that count one too many.

    A run from u to v is H(x ≥ u) + H(x < v) − 1; "x < v" is x ≤ the number before v.
    """
    runs: list[list[tuple[float, float]]] = []
    c = 0
    while c < axis.n_places:
        if mask >> c & 1:
            first = c
            while c + 1 < axis.n_places and mask >> (c + 1) & 1:
                c += 1
            low, high = _find_place(axis, first), _find_place(axis, c + 1)
            steps = [] if low is None else [(1.0, low)]
            steps += [] if high is None else [(-1.0, _step_back(axis, high))]
            runs.append(steps or [(0.0, 0.0)])
        c += 1
    return runs or [[(1.0, LARGEST_INPUT)]]  # no number is so large


def _find_place(axis: Axis, cell: int) -> float | None:
    """Give the number from which on a cell begins; None beyond the ends."""
    if cell in (0, axis.n_places):
        return None
    if axis.values is None:
        return axis.boundaries[cell - 1]
    low, high = axis.values[cell - 1], axis.values[cell]
    return low + (high - low) / 2


def _step_back(axis: Axis, place: float) -> float:
    return place if axis.values is not None else math.nextafter(place, -math.inf)
