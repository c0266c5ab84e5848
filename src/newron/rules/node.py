"""Conditions as trees: constants, literals, counts.

"All of", "any of", "none of", "at least", "at most", "exactly" and "between" are one
thing, a count of what holds that lies between two numbers; :mod:`newron.rules.text`
chooses the word. ``Algebra`` makes nodes in their simplest form.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.rules.axis import Axis

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Const:
    """Always or never."""

    value: bool


@dataclass(frozen=True)
class Literal:
    """The value of a column lies in some of its cells."""

    column: int
    mask: int


@dataclass(frozen=True)
class Count:
    """At least ``low`` and at most ``high`` of the children hold."""

    low: int
    high: int
    children: tuple[Node, ...]

    @cached_property
    def _hash(self) -> int:
        return hash((self.low, self.high, self.children))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_all(self) -> bool:
        """Whether all must hold."""
        return self.low == len(self.children)

    @property
    def is_any(self) -> bool:
        """Whether one is enough."""
        return self.low == 1 and self.high == len(self.children)


Node = Const | Literal | Count
TRUE, FALSE = Const(True), Const(False)


def count_literals(nodes: Iterable[Node]) -> int:
    """Count the literals; a group of conditions that is used again counts once more.

    >>> group = (Literal(0, 1), Literal(1, 1), Literal(2, 1))
    >>> count_literals([Count(2, 3, group), Count(0, 0, group)])
    4
    """
    seen: set[tuple[Node, ...]] = set()

    def visit(node: Node) -> int:
        if isinstance(node, Const):
            return 0
        if isinstance(node, Literal):
            return 1
        if len(node.children) > 1:
            if node.children in seen:
                return 1
            seen.add(node.children)
        return sum(map(visit, node.children))

    return sum(map(visit, nodes))


@dataclass(frozen=True)
class Algebra:
    """Makes nodes over some axes, in their simplest form."""

    axes: tuple[Axis, ...]
    _simple: dict[Node, Node] = field(default_factory=dict, compare=False, repr=False)

    # ---- making ----

    def make_literal(self, column: int, mask: int) -> Node:
        """Return a literal, or a constant if no cell or every cell is in it."""
        mask &= self.axes[column].full
        if mask == 0:
            return FALSE
        return TRUE if mask == self.axes[column].full else Literal(column, mask)

    def negate(self, node: Node) -> Node:
        """Return what holds where the node does not."""
        if isinstance(node, Const):
            return FALSE if node.value else TRUE
        if isinstance(node, Literal):
            return self.make_literal(node.column, ~node.mask)
        n = len(node.children)
        if node.low == 0:
            return self.count(node.high + 1, n, node.children)
        if node.high == n:
            return self.count(0, node.low - 1, node.children)
        return Count(0, 0, (node,))

    def all_of(self, nodes: Sequence[Node]) -> Node:
        """Return what holds where all of the nodes do."""
        return self.count(len(nodes), len(nodes), nodes)

    def any_of(self, nodes: Sequence[Node]) -> Node:
        """Return what holds where one of the nodes does."""
        return self.count(1, len(nodes), nodes) if nodes else FALSE

    def count(self, low: int, high: int, children: Sequence[Node]) -> Node:
        """Return what holds where the number of true children lies between low and high."""
        low, high, nodes = self.fold(low, high, children)
        n = len(nodes)
        low, high = max(low, 0), min(high, n)
        if low > high:
            return FALSE
        if low == 0 and high == n:
            return TRUE
        if n == 1:
            return nodes[0] if low == 1 else self.negate(nodes[0])
        if high == 0:  # none of these: all of their opposites
            return self.all_of([self.negate(node) for node in nodes])
        if low == 0 and high == n - 1 and all(isinstance(c, Literal) for c in nodes):
            return self.any_of([self.negate(node) for node in nodes])
        if low == n:
            return self._join(nodes, every=True)
        if low == 1 and high == n:
            return self._join(nodes, every=False)
        return Count(low, high, tuple(nodes))

    def fold(self, low: int, high: int, children: Sequence[Node]) -> tuple[int, int, list[Node]]:
        """Take out constants, and make one of two conditions that always or never both hold."""
        nodes: dict[int, Node] = {}  # in order; by what they are about, so that pairs meet
        about: dict[Any, list[int]] = {}
        number = itertools.count()
        left = list(reversed(children))
        while left:
            child = left.pop()
            if isinstance(child, Const):
                low, high = low - child.value, high - child.value
                continue
            same = about.setdefault(_name_subject(child), [])
            pairs = ((k, self._pair(nodes[k], child)) for k in same)
            k, pair = next(((k, pair) for k, pair in pairs if pair is not None), (-1, None))
            if pair is None:
                same.append(next(number))
                nodes[same[-1]] = child
            else:
                same.remove(k)
                del nodes[k]
                left += pair
        return low, high, list(nodes.values())

    def _pair(self, a: Node, b: Node) -> tuple[Node, ...] | None:
        """Return what two conditions on the same thing are together where one of it is constant.

        As many hold of the two as of "a or b" and "a and b".
        """
        if isinstance(a, Literal) and isinstance(b, Literal) and a.column == b.column:
            either = self.make_literal(a.column, a.mask | b.mask)
            both = self.make_literal(a.column, a.mask & b.mask)
            return (either, both) if either == TRUE or both == FALSE else None
        if isinstance(a, Count) and isinstance(b, Count) and a.children == b.children:
            first, last = sorted((a, b), key=lambda node: (node.low, node.high))
            if first.low == 0 and last.high == len(a.children) and last.low <= first.high + 1:
                return (TRUE, self.count(last.low, first.high, a.children))
        return None

    def _join(self, nodes: Sequence[Node], *, every: bool) -> Node:
        """All of or any of: flat, one literal a column, one count a group."""
        flat: list[Node] = []
        for node in nodes:
            alike = isinstance(node, Count) and (node.is_all if every else node.is_any)
            flat += node.children if isinstance(node, Count) and alike else [node]
        merged = self._merge_counts(self._merge_literals(flat, every), every)
        if Const(not every) in merged:
            return Const(not every)
        parts = list(dict.fromkeys(node for node in merged if not isinstance(node, Const)))
        if not parts:
            return Const(every)
        if len(parts) == 1:
            return parts[0]
        return Count(len(parts) if every else 1, len(parts), tuple(parts))

    def _merge_literals(self, nodes: Sequence[Node], every: bool) -> list[Node]:
        masks: dict[int, int] = {}
        for node in nodes:
            if isinstance(node, Literal):
                before = masks.get(node.column, node.mask)
                masks[node.column] = before & node.mask if every else before | node.mask
        done: set[int] = set()
        out: list[Node] = []
        for node in nodes:  # in the order in which they came
            if not isinstance(node, Literal):
                out.append(node)
            elif node.column not in done:
                done.add(node.column)
                out.append(self.make_literal(node.column, masks[node.column]))
        return out

    def _merge_counts(self, nodes: Sequence[Node], every: bool) -> list[Node]:
        out: list[Node] = []
        at: dict[tuple[Node, ...], int] = {}
        for node in nodes:
            if not isinstance(node, Count) or node.children not in at:
                if isinstance(node, Count):
                    at[node.children] = len(out)
                out.append(node)
                continue
            index = at[node.children]
            other = out[index]
            if not isinstance(other, Count) or other.children != node.children:
                out.append(node)  # merging has made something else of it
            elif every:
                low, high = max(node.low, other.low), min(node.high, other.high)
                out[index] = self.count(low, high, node.children)
            elif max(node.low, other.low) <= min(node.high, other.high) + 1:
                low, high = min(node.low, other.low), max(node.high, other.high)
                out[index] = self.count(low, high, node.children)
            else:
                out.append(node)
        return out

    def simplify(self, node: Node) -> Node:
        """Make a node anew from its parts, in its simplest form."""
        if not isinstance(node, Count):
            return node if isinstance(node, Const) else self.make_literal(node.column, node.mask)
        if node not in self._simple:
            children = [self.simplify(child) for child in node.children]
            self._simple[node] = self.count(node.low, node.high, children)
        return self._simple[node]


def _name_subject(node: Node) -> Any:
    """Return what a condition is about: a column, or how many of some conditions hold."""
    return node.column if isinstance(node, Literal) else getattr(node, "children", None)


class CellRows:
    """Rows described by the cells of their values, and where conditions hold among them.

    A cell of -1, outside the domain, is in no literal.
    """

    def __init__(self, axes: Sequence[Axis], cells: NDArray[Any]) -> None:
        self._axes = axes
        self._cells = cells
        self._known: dict[Node, Bools] = {}
        self._counts: dict[tuple[Node, ...], NDArray[np.intp]] = {}

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._cells)

    def holds(self, node: Node) -> Bools:
        """Return for each row whether a condition holds."""
        if node not in self._known:
            self._known[node] = self._evaluate(node)
        return self._known[node]

    def _evaluate(self, node: Node) -> Bools:
        if isinstance(node, Const):
            return np.full(len(self), node.value)
        if isinstance(node, Literal):
            n = self._axes[node.column].n_cells
            inside = np.array([*(bool(node.mask >> c & 1) for c in range(n)), False])
            return np.asarray(inside[self._cells[:, node.column]])
        counts = self.count_true(node.children)
        return (counts >= node.low) & (counts <= node.high)

    def count_true(self, children: tuple[Node, ...]) -> NDArray[np.intp]:
        """Count for each row how many conditions hold."""
        if children not in self._counts:
            total = np.zeros(len(self), np.intp)
            for child in children:
                total += self.holds(child)
            self._counts[children] = total
        return self._counts[children]


def list_literals(nodes: Iterable[Node]) -> set[Literal]:
    """Return the literals in some nodes."""
    seen: set[Node] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += node.children if isinstance(node, Count) else ()
    return {node for node in seen if isinstance(node, Literal)}


def read_columns(node: Node) -> set[int]:
    """Return the columns that a node reads."""
    return {literal.column for literal in list_literals([node])}
