"""The weighted sum of a network in its shortest form: points for conditions."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from newron.model.condition import find_runs
from newron.rules.axis import Axis
from newron.rules.body import Points, find_denominator
from newron.rules.circuit import Circuit, Term
from newron.rules.node import Algebra, Const, Count, Literal, Node

_MAX_ROUNDS = 8

Weights = tuple[int, ...]  # multiples of one fraction: a thousand classes have millions of them
Piece = tuple[int, Weights]
Sums = tuple[list[tuple[Node, Weights]], Weights]  # what is added where, and to start with


def make_points(circuit: Circuit) -> Points:
    """Merge all that a column or a count adds to one step curve; drop what adds nothing.

    Merging may make conditions equal that were not, so it goes on until nothing changes.
    """
    sums, shared = _scale(circuit)
    for _ in range(_MAX_ROUNDS):
        before, sums = sums, _Merger(circuit.axes, sums[1]).merge(sums[0])
        if sums == before:
            break
    known: dict[int, Fraction] = {}

    def divide(weights: Weights) -> tuple[Fraction, ...]:
        for weight in set(weights) - known.keys():
            known[weight] = Fraction(weight, shared)
        return tuple(known[weight] for weight in weights)

    terms, constants = sums
    return Points(tuple(Term(node, divide(w)) for node, w in terms), divide(constants))


def _scale(circuit: Circuit) -> tuple[Sums, int]:
    """Return all weights as whole numbers, and what to divide them by."""
    rows = [circuit.constants, *(term.weights for term in circuit.terms)]
    shared = find_denominator(weight for row in rows for weight in row)
    constants, *scaled = (tuple(w.numerator * (shared // w.denominator) for w in r) for r in rows)
    nodes = [term.node for term in circuit.terms]
    return (list(zip(nodes, scaled, strict=True)), constants), shared


class _Merger:
    """Adds up terms by what they read: a column, or how many of some conditions hold."""

    def __init__(self, axes: Sequence[Axis], constants: Weights) -> None:
        self.axes, self.algebra = axes, Algebra(tuple(axes))
        self.constants = constants
        self.columns: dict[int, list[list[int]]] = {}
        self.groups: dict[tuple[Node, ...], list[list[int]]] = {}

    def merge(self, terms: Sequence[tuple[Node, Weights]]) -> Sums:
        for node, weights in terms:
            self.add(node, weights)
        compound: dict[Node, Weights] = {}
        for children, levels in self.groups.items():
            for node, weights in self._split_group(children, list(map(tuple, levels))):
                compound[node] = _add(compound[node], weights) if node in compound else weights
        merged: list[tuple[Node, Weights]] = []
        for column, levels in sorted(self.columns.items()):
            base, found = _list_terms(self.axes[column], column, list(map(tuple, levels)))
            self.constants = _add(self.constants, base)
            merged += found
        merged += compound.items()
        return [(node, weights) for node, weights in merged if any(weights)], self.constants

    def add(self, node: Node, weights: Weights) -> None:
        """Add what a condition weighs."""
        if isinstance(node, Count):
            self._add_count(node, weights)
            return
        simple = self.algebra.simplify(node)
        if isinstance(simple, Const):
            self.constants = _add(self.constants, _times(weights, int(simple.value)))
        elif isinstance(simple, Literal):
            n_cells = self.axes[simple.column].n_cells
            if simple.column not in self.columns:
                self.columns[simple.column] = _make_levels(n_cells, len(weights))
            cells = self.columns[simple.column]
            _add_where(cells, [bool(simple.mask >> c & 1) for c in range(n_cells)], weights)

    def _add_count(self, node: Count, weights: Weights) -> None:
        simple = [self.algebra.simplify(child) for child in node.children]
        low, high, children = self.algebra.fold(node.low, node.high, simple)
        held = [low <= k <= high for k in range(len(children) + 1)]
        if len(set(held)) == 1:
            self.constants = _add(self.constants, _times(weights, int(held[0])))
        elif len(children) == 1:
            if held[0]:
                self.constants = _add(self.constants, weights)
            self.add(children[0], weights if held[1] else _times(weights, -1))
        else:
            self._add_group(*_share_group(children, held), weights)

    def _add_group(
        self, children: tuple[Node, ...], held: Sequence[bool], weights: Weights
    ) -> None:
        """Add to the counts of a group; one of the opposites of its members is the same."""
        opposite = tuple(map(self.algebra.negate, children))
        if children not in self.groups and opposite in self.groups:
            children, held = opposite, held[::-1]
        if children not in self.groups:
            self.groups[children] = _make_levels(len(held), len(weights))
        _add_where(self.groups[children], held, weights)

    def _split_group(
        self, children: tuple[Node, ...], levels: Sequence[Weights]
    ) -> Iterator[tuple[Node, Weights]]:
        """Yield conditions on a count that are neither constants nor conditions on a column."""
        n = len(levels)
        base, pieces = _split_curve(levels)
        self.constants = _add(self.constants, base)
        for mask, weights in pieces:
            for low, high in find_runs(mask >> k & 1 for k in range(n)):
                node = self.algebra.count(low, high, children)
                if isinstance(node, Count):
                    yield node, weights
                else:
                    self.add(node, weights)


def order_terms(terms: Sequence[Term], axes: Sequence[Axis]) -> list[Term]:
    """Return terms as they are printed: those of a column together, the strongest column first.

    Within a column of numbers a reader goes from "at least 30" to "at least 60", and from
    "at most 60" to "at most 30".
    """
    strength: dict[object, Fraction] = {}
    for term in terms:
        group = _get_group(term)
        strength[group] = strength.get(group, Fraction(0)) + max(map(abs, term.weights))
    first = {group: k for k, group in enumerate(strength)}

    def rank(term: Term) -> tuple[Fraction, int, tuple[int, int], Fraction]:
        group = _get_group(term)
        ends = _find_ends(term.node, axes) if isinstance(term.node, Literal) else (0, 0)
        return -strength[group], first[group], ends, -max(map(abs, term.weights))

    return sorted(terms, key=rank)


def _get_group(term: Term) -> object:
    return term.node.column if isinstance(term.node, Literal) else term.node


def _find_ends(node: Literal, axes: Sequence[Axis]) -> tuple[int, int]:
    """Return the first cell of numbers that holds, and less than 0 the last one."""
    axis = axes[node.column]
    if axis.column.categories is not None:
        return 0, 0
    mask = node.mask & ~axis.missing if axis.missing else node.mask
    first = (mask & -mask).bit_length() if mask else axis.n_cells + 1
    return first, -mask.bit_length()


def lower_constants(terms: Sequence[Term], constants: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return the limits of ordered classes on the grid of the sums: 3.5 whole points are 4.

    Other constants stay as they are.
    """
    if not terms or len(constants) == len(terms[0].weights):
        return constants
    step = find_step(terms)
    return tuple(math.floor(constant / step) * step for constant in constants)


def find_step(terms: Sequence[Term]) -> Fraction:
    """Return the number of which all sums are multiples."""
    weights = [term.weights[0] for term in terms]
    shared = find_denominator(weights)
    return Fraction(math.gcd(*(int(weight * shared) for weight in weights)), shared)


def _share_group(
    children: Sequence[Node], held: Sequence[bool]
) -> tuple[tuple[Node, ...], list[bool]]:
    """Return the one group whose count all members are about, and where they hold of it."""
    first = children[0]
    if not isinstance(first, Count) or not all(
        isinstance(child, Count) and child.children == first.children for child in children
    ):
        return tuple(children), list(held)
    counts = [child for child in children if isinstance(child, Count)]
    within = [sum(c.low <= k <= c.high for c in counts) for k in range(len(first.children) + 1)]
    return first.children, [held[number] for number in within]


def _make_levels(n: int, n_sums: int) -> list[list[int]]:
    return [[0] * n_sums for _ in range(n)]


def _add_where(levels: list[list[int]], held: Sequence[bool], weights: Weights) -> None:
    some = [(j, weight) for j, weight in enumerate(weights) if weight]  # of many classes, few
    for level, inside in zip(levels, held, strict=True):
        for j, weight in some if inside else ():
            level[j] += weight


def _add(a: Weights, b: Weights) -> Weights:
    if len(b) == 1:  # of ordered classes all limits move
        return tuple(x + b[0] for x in a)
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _times(a: Weights, k: int) -> Weights:
    return tuple(x * k for x in a)


# ---- one column ----


def _list_terms(
    axis: Axis, column: int, cells: Sequence[Weights]
) -> tuple[Weights, list[tuple[Node, Weights]]]:
    """Describe what a column adds in each of its cells by few conditions.

    Where there is one sum, points start at 0: the least is part of the constant.
    """
    if len(cells[0]) == 1:
        levels = [weights[0] for weights in cells]
        split = _split_levels if axis.column.categories is not None else _split_layers
        base: Weights = (min(levels),)
        found = split(levels, bool(axis.missing))
        pieces: list[Piece] = [(mask, (weight,)) for mask, weight in found]
    elif axis.column.categories is not None:
        base, pieces = _split_sets(cells)
    else:
        base, pieces = _split_steps(cells[: axis.n_values])
        if axis.missing:
            pieces = _place_missing(pieces, _add(cells[-1], _times(base, -1)), axis)
    base, pieces = _turn_positive(base, pieces, axis.full)
    return base, [(Literal(column, mask), weights) for mask, weights in pieces]


def _split_curve(levels: Sequence[Weights]) -> tuple[Weights, list[Piece]]:
    """Describe what a count adds, by its number, by few ranges of it."""
    if len(levels[0]) == 1:
        heights = [weights[0] for weights in levels]
        return (min(heights),), [(mask, (weight,)) for mask, weight in _split_layers(heights)]
    return _turn_positive(*_split_steps(levels), (1 << len(levels)) - 1)


def _turn_positive(
    base: Weights, pieces: Sequence[Piece], full: int
) -> tuple[Weights, list[Piece]]:
    """Turn conditions that take points away into their opposites.

    One that gives to some of many sums and takes from others is written as two.
    """
    turned: list[Piece] = []
    for mask, weights in pieces:
        up = tuple(max(weight, 0) for weight in weights)
        down = tuple(max(-weight, 0) for weight in weights)
        if any(up) and any(down) and not is_sparse(weights):
            up, down = weights, _times(weights, 0)
        turned += [(own, w) for own, w in ((mask, up), (mask ^ full, down)) if any(w)]
        base = _add(base, _times(down, -1))
    return base, turned


def is_sparse(weights: Sequence[int | Fraction]) -> bool:
    """Return whether at most half of the sums read a condition."""
    return 2 * sum(map(bool, weights)) <= len(weights)


def _split_levels(levels: Sequence[int], missing: bool) -> list[tuple[int, int]]:
    """One condition for each level above the least."""
    del missing  # has a level like any category
    least = min(levels)
    masks: dict[int, int] = {}
    for c, level in enumerate(levels):
        masks[level] = masks.get(level, 0) | 1 << c
    return [(mask, level - least) for level, mask in masks.items() if level > least]


def _split_layers(levels: Sequence[int], missing: bool = False) -> list[tuple[int, int]]:
    """One condition for each stretch of numbers over a level: half-lines, windows, outside one.

    Each adds what the level is above the one before. Missing values, the last of the levels where
    there are any, belong to the first stretch; where no number has their level, to a condition
    of their own.
    """
    n = len(levels) - missing
    if missing and levels[-1] > min(levels) and levels[-1] not in levels[:-1]:
        others = _split_layers([*levels[:-1], min(levels)], missing=True)
        return [*others, (1 << n, levels[-1] - min(levels))]
    return min((_stack(levels, missing, joined) for joined in (False, True)), key=len)


def _stack(levels: Sequence[int], missing: bool, joined: bool) -> list[tuple[int, int]]:
    """Return a layer for each level; ``joined`` makes "less than 2 or at least 8" one condition."""
    n = len(levels) - missing
    out: dict[int, int] = {}  # one stretch may rise through several levels
    for below, level in pairwise(sorted(set(levels))):
        over = [value >= level for value in levels]
        runs = find_runs(over[:n])
        masks = [(2 << last) - (1 << first) for first, last in runs]
        if joined and len(runs) == 2 and runs[0][0] == 0 and runs[1][1] == n - 1:
            masks = [sum(masks)]  # outside a window
        if missing and over[-1]:
            masks = [(masks or [0])[0] | 1 << n, *masks[1:]]
        for mask in masks:
            out[mask] = out.get(mask, 0) + level - below
    return list(out.items())


def _split_sets(cells: Sequence[Weights]) -> tuple[Weights, list[Piece]]:
    """One condition for each weight but the most frequent one."""
    masks: dict[Weights, int] = {}
    for c, weights in enumerate(cells):
        masks[weights] = masks.get(weights, 0) | 1 << c
    base = max(masks, key=lambda weights: (masks[weights].bit_count(), not any(weights)))
    less = _times(base, -1)
    return base, [(mask, _add(w, less)) for w, mask in masks.items() if w != base]


def _split_steps(cells: Sequence[Weights]) -> tuple[Weights, list[Piece]]:
    """One condition for each step up or down; two that undo each other are one interval."""
    n = len(cells)
    jumps = {
        c: _add(cells[c], _times(cells[c - 1], -1)) for c in range(1, n) if cells[c] != cells[c - 1]
    }
    places: dict[Weights, deque[int]] = {}
    for c, weights in jumps.items():
        places.setdefault(weights, deque()).append(c)
    pieces: list[Piece] = []
    ended: set[int] = set()
    for start, weights in jumps.items():
        if start in ended:
            continue
        places[weights].popleft()
        undone = places.get(_times(weights, -1))
        end = undone.popleft() if undone else n
        ended.add(end)
        pieces.append(((1 << end) - (1 << start), weights))
    return cells[0], pieces


def _place_missing(pieces: list[Piece], weights_missing: Weights, axis: Axis) -> list[Piece]:
    """Let missing values into conditions that add up to their weight; else they get their own."""
    if not any(weights_missing):
        return pieces
    chosen = _choose_few([weights for _, weights in pieces], weights_missing)
    if not chosen:
        return [*pieces, (axis.missing, weights_missing)]
    return [
        (mask | axis.missing if p in chosen else mask, weights)
        for p, (mask, weights) in enumerate(pieces)
    ]


def _choose_few(weights: Sequence[Weights], target: Weights) -> range:
    """Return which add up to a total: a single one, or the first few of them."""
    if target in weights:
        p = weights.index(target)
        return range(p, p + 1)
    for end, total in enumerate(accumulate(weights, _add), 1):
        if total == target:
            return range(end)
    return range(0)
