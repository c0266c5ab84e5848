"""From rules to a network: the Heaviside network that does what rules say.

A condition "lo ≤ count ≤ hi" is two functions of the neuron that counts, less one; a
literal of several intervals likewise. So a node is a sum of functions and a constant, and
what counts nodes counts their functions, with thresholds moved by the constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from newron.errors import ModelError
from newron.model.arithmetic import Floats
from newron.model.condition import Edge, make_layer
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Output
from newron.model.schema import Schema
from newron.rules.axis import Axis
from newron.rules.body import Body, DecisionList, Points
from newron.rules.circuit import Term, to_fraction
from newron.rules.node import Algebra, Const, Count, Literal, Node
from newron.rules.points import find_step, lower_constants

_SURE = 10  # the weight of a rule: its class has a probability of 99 %


@dataclass
class _Neurons:
    """The hidden neurons: which group each counts, by layer."""

    layers: list[list[Count]] = field(default_factory=list)
    depth: dict[Count, int] = field(default_factory=dict)


def build_model(schema: Schema, axes: Sequence[Axis], body: Body, output: Output) -> Model:
    """Return the network whose scores are those of points, or whose classes those of a list."""
    algebra = Algebra(tuple(axes))
    if isinstance(body, DecisionList):
        if not isinstance(output, Classes):
            raise ModelError("if/then rules give classes: expected points for regression")
        output = Classes(output.labels)  # a list has no points, and no unit of them
        points = _weigh_list(algebra, body, len(output.labels))
    else:
        points = body
    terms = [Term(algebra.simplify(term.node), term.weights) for term in points.terms]
    constants = list(points.constants)
    for term in terms:
        if isinstance(term.node, Const) and term.node.value:
            weights = term.weights * (1 if output.n_scores > 1 else len(constants))
            constants = [c + w for c, w in zip(constants, weights, strict=True)]
    kept = [term for term in terms if not isinstance(term.node, Const)]
    if isinstance(output, Classes) and output.is_ordered:
        output, constants = _place_limits(output, kept, constants), [Fraction(0)]
    if len(constants) != output.n_scores:
        raise ModelError(f"expected {output.n_scores} sums, got {len(constants)}")
    builder = Builder(schema, tuple(axes))
    return Model(schema, builder.make_layers(kept, constants), output)


def _place_limits(output: Classes, terms: Sequence[Term], constants: Sequence[Fraction]) -> Classes:
    """Return ordered classes with the bands of points; their own where these decide alike.

    Where the bands are others, nothing is known of probabilities: each limit is put where a band
    begins, so that the class before and after it are equally probable.
    """
    own = tuple(to_fraction(band) for band in output.bands)
    shifts = {constant + band for constant, band in zip(constants, own, strict=True)}
    if lower_constants(terms, tuple(-band for band in own)) == lower_constants(
        terms, tuple(constants)
    ):
        return output
    if len(shifts) == 1:
        shift = shifts.pop()
        limits = tuple(float(to_fraction(limit) - shift) for limit in output.limits)
        return output.with_limits(limits, tuple(float(-constant) for constant in constants))
    step = find_step(terms) if terms else Fraction(1)
    limits_: list[Fraction] = []  # the highest first
    for constant in reversed(constants):
        limit = -constant
        if limits_ and limit >= limits_[-1]:  # an empty band: between two sums
            limit = (limits_[-1] + math.ceil(limits_[-1] / step) * step - step) / 2
        limits_.append(limit)
    bands = tuple(float(-constant) for constant in constants)
    return output.with_limits(tuple(float(limit) for limit in reversed(limits_)), bands)


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


class Builder:
    """Makes the layers of a network from weighted conditions."""

    def __init__(self, schema: Schema, axes: tuple[Axis, ...]) -> None:
        self.schema = schema
        self.axes = axes
        self.neurons = _Neurons()
        self.members: dict[Count, tuple[list[Edge], int]] = {}

    def make_layers(self, terms: Sequence[Term], constants: Sequence[Fraction]) -> list[Layer]:
        """Return the hidden layers, and the last one."""
        for term in terms:
            self._place(term.node)
        hidden = [self._make_hidden(groups) for groups in self.neurons.layers]
        return [*hidden, self._make_last(terms, constants)]

    # ---- hidden layers ----

    def _place(self, node: Node) -> int:
        """Return a counted group its neuron, after those of its members; return the layer."""
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

    def _signal(self, source: Any) -> int:
        if isinstance(source, int):
            return source
        depth = self.neurons.depth[source]
        before = sum(map(len, self.neurons.layers[:depth]))
        return len(self.axes) + before + self.neurons.layers[depth].index(source)

    def _make_hidden(self, groups: Sequence[Count]) -> Layer:
        return self._make_layer([self._list_members(group)[0] for group in groups], None, None)

    def _list_members(self, group: Count) -> tuple[list[Edge], int]:
        """Return the functions that a group's neuron adds, and how much too many they count."""
        if group not in self.members:
            self.members[group] = self._make_members(group)
        return self.members[group]

    def _make_members(self, group: Count) -> tuple[list[Edge], int]:
        steps: list[Edge] = []
        surplus = 0
        for child in group.children:
            found, more = self._list_steps(child)
            steps += found
            surplus += more
        return steps, surplus

    # ---- functions of a condition ----

    def _list_steps(self, node: Node) -> tuple[list[Edge], int]:
        """Return functions whose sum, less a surplus, is 1 where a condition holds, else 0."""
        if isinstance(node, Literal):
            return self._list_literal(node)
        assert isinstance(node, Count)  # noqa: S101 - constants are folded
        key = _name_group(node)
        surplus = self._list_members(key)[1]
        steps = []
        if node.low > 0:
            steps.append(Edge(key, 1.0, node.low + surplus - 0.5))
        if node.high < len(node.children):
            steps.append(Edge(key, -1.0, node.high + surplus + 0.5))
        return steps, len(steps) - 1

    def _list_literal(self, node: Literal) -> tuple[list[Edge], int]:
        condition = self.axes[node.column].to_condition(node.mask, midpoints=True)
        edges, surplus = condition.to_edges(node.column), condition.n_bounded
        if condition.members:
            return edges, 0
        # Of a missing value as many steps are 1 as make their sum right.
        ones = surplus + condition.missing
        return [replace(edge, missing=float(k < ones)) for k, edge in enumerate(edges)], surplus

    # ---- the last layer ----

    def _weigh_literal(self, node: Literal, weight: Fraction) -> list[tuple[Edge, Fraction]]:
        """Return functions that add a weight where a condition on a column holds, else nothing.

        A window steps up at its start and down after its end, so that no constant is needed.
        """
        axis = self.axes[node.column]
        condition = axis.to_condition(node.mask, midpoints=True)
        if condition.members or not condition.has_numbers:
            return [(edge, weight) for edge in condition.to_edges(node.column)]
        steps: list[tuple[Edge, Fraction]] = []
        for low, high in condition.intervals:
            if low > -math.inf:
                steps.append((Edge(node.column, 1.0, low), weight))
                if high < math.inf:  # half-way between listed values, where none is
                    end = high if axis.listed else math.nextafter(high, math.inf)
                    steps.append((Edge(node.column, 1.0, end), -weight))
            elif high < math.inf:
                steps.append((Edge(node.column, -1.0, high), weight))
        if not steps:
            return [(edge, weight) for edge in condition.to_edges(node.column)]
        (first, own), *rest = steps
        return [(replace(first, missing=float(condition.missing)), own), *rest]

    def _weigh(self, node: Node, weight: Fraction) -> list[tuple[Edge, Fraction]]:
        """Return functions that add a weight where a condition holds, else nothing."""
        if isinstance(node, Literal):
            return self._weigh_literal(node, weight)
        steps = self._list_steps(node)[0]
        if len(steps) == 1:
            return [(steps[0], weight)]
        up, down = steps  # a count within a window: up at its start, down after its end
        return [(up, weight), (replace(down, w=1.0), -weight)]

    def _make_last(self, terms: Sequence[Term], constants: Sequence[Fraction]) -> Layer:
        neurons = [
            [
                step
                for term in terms
                if term.weights[j]
                for step in self._weigh(term.node, term.weights[j])
            ]
            for j in range(len(constants))
        ]
        alpha = np.array([float(weight) for neuron in neurons for _, weight in neuron])
        edges = [[edge for edge, _ in neuron] for neuron in neurons]
        return self._make_layer(edges, alpha, np.array([float(-c) + 0.0 for c in constants]))

    def _make_layer(
        self, neurons: Sequence[Sequence[Edge]], alpha: Floats | None, bias: Floats | None
    ) -> Layer:
        placed = [[replace(edge, source=self._signal(edge.source)) for edge in n] for n in neurons]
        return make_layer(placed, alpha, bias)


def _name_group(node: Count) -> Count:
    """Return one name to all counts of the same members."""
    return Count(0, 0, node.children)
