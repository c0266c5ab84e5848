"""Asks a SAT solver for an input on which rules and network differ."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from pysat.solvers import Solver

from newron.model.output import Classes, Output
from newron.rules.axis import Axis
from newron.rules.body import Body, DecisionList, find_denominator
from newron.rules.budget import Budget
from newron.rules.circuit import Circuit, Term
from newron.rules.node import Const, Literal, Node

_MAX_GATES = 3_000_000


class TooLargeError(Exception):
    """The question has too many parts to be asked."""


def find_difference(
    circuit: Circuit, body: Body, output: Output, budget: Budget
) -> list[int] | None:
    """Return the cells of an input on which they differ, or None if there is none.

    Raises TimeoutError, TooLargeError: If that was not found out.
    """
    with Solver(name="glucose4") as solver:  # it can be interrupted, cadical cannot
        gates = _Gates(solver, circuit.axes)
        network = gates.decide(circuit.terms, circuit.constants, output)
        rules = gates.decide_body(body, output)
        differ = [
            gates.both(a, -b) for k, a in enumerate(network) for j, b in enumerate(rules) if k == j
        ]
        solver.add_clause([-gates.all_of([-d for d in differ])])
        return _solve(solver, gates, budget)


def _solve(solver: Solver, gates: _Gates, budget: Budget) -> list[int] | None:
    solver.prop_budget(max(budget.left // 50, 1000))
    clock = threading.Timer(budget.safety, solver.interrupt)
    clock.start()
    try:
        found = solver.solve_limited(expect_interrupt=True)
    finally:
        clock.cancel()
    if found is None:
        raise TimeoutError
    if not found:
        return None
    true = {literal for literal in solver.get_model() or [] if literal > 0}
    return [next(c for c, var in enumerate(cells) if var in true) for cells in gates.cells]


class _Gates:
    """Turns conditions into clauses; a signal is a literal of the solver."""

    def __init__(self, solver: Solver, axes: Sequence[Axis]) -> None:
        self.solver = solver
        self.n = 1
        self.yes = 1
        solver.add_clause([1])
        self.known: dict[object, int] = {}
        self.totals: dict[tuple[int, ...], list[int]] = {}
        self.cells = [[self.new() for _ in range(axis.n_cells)] for axis in axes]
        for cells in self.cells:  # each column is in one cell
            solver.add_clause(cells)
            self._forbid_two(cells)

    def new(self) -> int:
        """Return a new variable."""
        self.n += 1
        if self.n > _MAX_GATES:
            raise TooLargeError(f"the question to the solver has more than {_MAX_GATES} parts")
        return self.n

    def _forbid_two(self, cells: Sequence[int]) -> None:
        # A ladder: once a cell is chosen, no later one is.
        ladder = [self.new() for _ in cells]
        for cell, step in zip(cells, ladder, strict=True):
            self.solver.add_clause([-cell, step])
        for step, after in pairwise(ladder):
            self.solver.add_clause([-step, after])
        for cell, step in zip(cells[1:], ladder, strict=False):
            self.solver.add_clause([-step, -cell])

    # ---- gates ----

    def all_of(self, signals: Sequence[int]) -> int:
        """Return a signal that is true where all are."""
        parts = tuple(sorted({s for s in signals if s != self.yes}))
        if -self.yes in parts or any(-s in parts for s in parts):
            return -self.yes
        if len(parts) < 2:
            return parts[0] if parts else self.yes
        if parts not in self.known:
            out = self.new()
            for s in parts:
                self.solver.add_clause([-out, s])
            self.solver.add_clause([out, *(-s for s in parts)])
            self.known[parts] = out
        return self.known[parts]

    def any_of(self, signals: Sequence[int]) -> int:
        """Return a signal that is true where one is."""
        return -self.all_of([-s for s in signals])

    def both(self, a: int, b: int) -> int:
        """Return a signal that is true where both are."""
        return self.all_of([a, b])

    def choose(self, condition: int, a: int, b: int) -> int:
        """Return a where the condition is true, else b."""
        if a == b:
            return a
        return self.any_of([self.both(condition, a), self.both(-condition, b)])

    def at_least(self, k: int, signals: Sequence[int]) -> int:
        """Return a signal that is true where k of the signals are."""
        k -= sum(s == self.yes for s in signals)
        parts = [s for s in signals if abs(s) != self.yes]
        if k <= 0:
            return self.yes
        if k > len(parts):
            return -self.yes
        return self._count(tuple(sorted(parts)))[k - 1]

    def _count(self, signals: tuple[int, ...]) -> list[int]:
        """Return for each k the signal that k of the signals are true: a totalizer."""
        if len(signals) < 2:
            return list(signals)
        if signals not in self.totals:
            half = len(signals) // 2
            a, b = self._count(signals[:half]), self._count(signals[half:])
            out = [self.new() for _ in signals]
            for i in range(len(a) + 1):
                for j in range(len(b) + 1):
                    self._link(a, b, i, j, out)
            self.totals[signals] = out
        return self.totals[signals]

    def _link(self, a: list[int], b: list[int], i: int, j: int, out: list[int]) -> None:
        if i + j > 0:  # i of a and j of b are i + j of both
            held = ([-a[i - 1]] if i else []) + ([-b[j - 1]] if j else [])
            self.solver.add_clause([out[i + j - 1], *held])
        if i + j < len(out):  # no more of a than i and no more of b than j
            more = ([a[i]] if i < len(a) else []) + ([b[j]] if j < len(b) else [])
            self.solver.add_clause([-out[i + j], *more])

    # ---- conditions ----

    def encode(self, node: Node) -> int:
        """Return the signal of a condition."""
        if node not in self.known:
            self.known[node] = self._encode(node)
        return self.known[node]

    def _encode(self, node: Node) -> int:
        if isinstance(node, Const):
            return self.yes if node.value else -self.yes
        if isinstance(node, Literal):
            cells = self.cells[node.column]
            return self.any_of([var for c, var in enumerate(cells) if node.mask >> c & 1])
        signals = [self.encode(child) for child in node.children]
        low = self.at_least(node.low, signals)
        return self.both(low, -self.at_least(node.high + 1, signals))

    # ---- decisions: one signal for each class ----

    def decide(
        self, terms: Sequence[Term], constants: Sequence[Fraction], output: Output
    ) -> list[int]:
        """Return for each class the signal that a weighted sum chooses it."""
        shared = find_denominator([*constants, *(w for term in terms for w in term.weights)])
        whole = [[int(w * shared) for w in term.weights] for term in terms]
        start = [int(c * shared) for c in constants]
        signals = [self.encode(term.node) for term in terms]
        if output.n_scores == 1:  # ordered classes have several limits of one sum
            parts = list(zip((w[0] for w in whole), signals, strict=True))
            reached = [self._reach(parts, -own) for own in start]
            middle = [self.both(a, -b) for a, b in pairwise(reached)]
            return [-reached[0], *middle, reached[-1]]
        n = output.n_scores
        beats = {
            (a, b): self._reach(
                [(w[a] - w[b], s) for w, s in zip(whole, signals, strict=True)],
                start[b] - start[a] + (1 if b < a else 0),  # the first of equals wins
            )
            for a in range(n)
            for b in range(n)
            if a != b
        }
        return [self.all_of([beats[a, b] for b in range(n) if b != a]) for a in range(n)]

    def _reach(self, parts: list[tuple[int, int]], need: int) -> int:
        """Return the signal that weighted signals add up to what is needed."""
        ordered = sorted(((w, s) for w, s in parts if w), key=lambda part: -abs(part[0]))
        highest, lowest = [0], [0]
        for w, _ in reversed(ordered):
            highest.append(highest[-1] + max(w, 0))
            lowest.append(lowest[-1] + min(w, 0))
        highest.reverse()
        lowest.reverse()
        known: dict[tuple[int, int], int] = {}
        # Level by level from the end: a decision diagram without recursion.
        needed: list[set[int]] = [{need}]
        for k, (w, _) in enumerate(ordered):
            later: set[int] = set()
            for t in needed[k]:
                if lowest[k] < t <= highest[k]:
                    later |= {t, t - w}
            if len(later) > _MAX_GATES // 10:
                raise TooLargeError("the weights have too many different sums for the solver")
            needed.append(later)
        for k in range(len(ordered), -1, -1):
            for t in needed[k]:
                if lowest[k] >= t:
                    known[k, t] = self.yes
                elif highest[k] < t:
                    known[k, t] = -self.yes
                else:
                    w, s = ordered[k]
                    known[k, t] = self.choose(s, known[k + 1, t - w], known[k + 1, t])
        return known[0, need]

    def decide_body(self, body: Body, output: Output) -> list[int]:
        """Return for each class the signal that the rules say it."""
        if not isinstance(body, DecisionList):
            return self.decide(body.terms, body.constants, output)
        n = len(output.labels) if isinstance(output, Classes) else output.n_scores
        out: list[list[int]] = [[] for _ in range(n)]
        open_ = self.yes
        for branch in body.branches:
            holds = self.encode(branch.node)
            out[branch.outcome].append(self.both(open_, holds))
            open_ = self.both(open_, -holds)
        out[body.default].append(open_)
        return [self.any_of(signals) for signals in out]
