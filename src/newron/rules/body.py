"""The two forms that rules take: a list of if/then, and points that are added up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.output import Classes, Output
from newron.rules.circuit import Term
from newron.rules.node import Algebra, Const, Node, count_literals

_LARGEST = 2**62


@dataclass(frozen=True)
class Branch:
    """If the condition holds, then this class."""

    node: Node
    outcome: int


@dataclass(frozen=True)
class DecisionList:
    """The first branch whose condition holds decides; otherwise the default class."""

    branches: tuple[Branch, ...]
    default: int

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The conditions."""
        return tuple(branch.node for branch in self.branches)


@dataclass(frozen=True)
class Points:
    """What holds adds its points to the constants: one sum for each score.

    Of ordered classes there is a constant for each limit, and one weight that all sums share.
    """

    terms: tuple[Term, ...]
    constants: tuple[Fraction, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The conditions."""
        return tuple(term.node for term in self.terms)


Body = DecisionList | Points


def measure_length(body: Body) -> float:
    """Return the number of literals, and a little for each further thing to keep in mind."""
    literals = count_literals(body.nodes)
    if isinstance(body, DecisionList):
        return literals + 0.25 * len(body.branches)
    return literals + 0.25 * sum(sum(map(bool, term.weights)) for term in body.terms)


class Rows(Protocol):
    """Rows of any kind that can be asked where a condition holds."""

    def __len__(self) -> int:
        """Count the rows."""

    def holds(self, node: Node) -> NDArray[np.bool_]:
        """Return for each row whether a condition holds."""


def sum_points(
    terms: Sequence[Term], constants: Sequence[Fraction], rows: Rows
) -> tuple[NDArray[Any], int]:
    """Return the sums for rows as whole numbers, and what to divide them by."""
    starts, rows_of, shared = scale_weights(terms, constants)
    largest = sum(map(abs, starts)) + sum(abs(w) for row in rows_of for _, w in row)
    kind: Any = np.int64 if largest < _LARGEST else object
    total = np.empty((len(rows), len(constants)), kind)
    total[:] = starts
    for term, row in zip(terms, rows_of, strict=True):
        holds = np.flatnonzero(rows.holds(term.node))
        for j, weight in row:
            # Of ordered classes one weight counts for the sums of all limits.
            total[holds, j if len(term.weights) > 1 else slice(None)] += weight
    return total, shared


def scale_weights(
    terms: Sequence[Term], constants: Sequence[Fraction]
) -> tuple[list[int], list[list[tuple[int, int]]], int]:
    """Return constants and weights as whole numbers, and what to divide them by.

    Of each term the sums that it adds to: of a thousand classes it mostly is one.
    """
    kept = [[(j, w) for j, w in enumerate(term.weights) if w] for term in terms]
    shared = find_denominator([*constants, *(w for row in kept for _, w in row)])
    rows = [[(j, int(w * shared)) for j, w in row] for row in kept]
    return [int(c * shared) for c in constants], rows, shared


def find_denominator(numbers: Iterable[Fraction]) -> int:
    """Return a denominator that all numbers can have."""
    return math.lcm(*(number.denominator for number in numbers), 1)


def decide(output: Output, sums: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class of each row of sums."""
    if output.n_scores == 1:  # of ordered classes as many limits are reached
        return np.asarray((sums >= 0).sum(axis=1), np.intp)
    if sums.dtype != object:
        return np.asarray(sums.argmax(axis=1), np.intp)
    best = np.zeros(len(sums), np.intp)
    highest = sums[:, 0].copy()
    for k in range(1, sums.shape[1]):  # argmax, also for whole numbers of any size
        more = np.asarray(sums[:, k] > highest, bool)
        best[more] = k
        highest[more] = sums[more, k]
    return best


def choose_classes(body: Body, output: Output, rows: Rows) -> NDArray[np.intp]:
    """Return the number of the class that the rules predict for each row."""
    if isinstance(body, Points):
        sums, _ = sum_points(body.terms, body.constants, rows)
        return decide(output, sums)
    out = np.full(len(rows), body.default, np.intp)
    for branch in reversed(body.branches):
        out[rows.holds(branch.node)] = branch.outcome
    return out


def predict_sums(body: Points, rows: Rows) -> Floats:
    """Return the sums of rows as numbers, each rounded once."""
    sums, shared = sum_points(body.terms, body.constants, rows)
    if sums.dtype == object or max(shared, int(np.abs(sums).max(initial=0))) >= 2**53:
        exact = [[float(Fraction(int(s), shared)) for s in row] for row in sums]
        return np.array(exact, np.float64).reshape(sums.shape)
    return np.asarray(sums / shared, np.float64)


def drop_dead(algebra: Algebra, body: Body, output: Output) -> Body:
    """Simplify the conditions of a body, and drop what never or always holds."""
    if isinstance(body, Points):
        return body
    branches: list[Branch] = []
    default = body.default
    for branch in body.branches:
        node = algebra.simplify(branch.node)
        if isinstance(node, Const):
            if node.value:
                default = branch.outcome
                break
            continue
        branches.append(Branch(node, branch.outcome))
    while branches and branches[-1].outcome == default:
        branches.pop()
    assert isinstance(output, Classes)  # noqa: S101 - regression has no decision list
    return DecisionList(tuple(branches), default)
