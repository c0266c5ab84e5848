"""The weighted sum of a network in its shortest form: points for conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from newron.model.condition import find_runs
from newron.rules.axis import Axis
from newron.rules.body import Points
from newron.rules.circuit import Circuit, Term
from newron.rules.node import Algebra, Const, Literal, Node

__all__ = ["make_points", "merge_literals"]

Weights = tuple[Fraction, ...]


def make_points(circuit: Circuit) -> Points:
    """Merge all that a column adds, fold constants and opposites, drop what adds nothing."""
    algebra = Algebra(circuit.axes)
    constants = circuit.constants
    columns: dict[int, list[Weights]] = {}
    compound: dict[Node, Weights] = {}
    for term in circuit.terms:
        node = algebra.simplify(term.node)
        if isinstance(node, Const):
            constants = _add(constants, _times(term.weights, int(node.value)))
        elif isinstance(node, Literal):
            _add_literal(columns, circuit.axes, node, term.weights)
        elif algebra.negate(node) in compound:
            other = algebra.negate(node)
            constants = _add(constants, term.weights)
            compound[other] = _add(compound[other], _times(term.weights, -1))
        else:
            before = compound.get(node, _times(term.weights, 0))
            compound[node] = _add(before, term.weights)
    merged = _merge_columns(circuit.axes, columns, constants)
    terms = [*merged.terms, *(Term(node, weights) for node, weights in compound.items())]
    return Points(tuple(term for term in terms if any(term.weights)), merged.constants)


def merge_literals(axes: Sequence[Axis], terms: Sequence[Term], constants: Weights) -> Points:
    """Merge conditions on single columns: one step curve for each, written in few conditions."""
    columns: dict[int, list[Weights]] = {}
    for term in terms:
        assert isinstance(term.node, Literal)  # noqa: S101 - the caller chose them
        _add_literal(columns, axes, term.node, term.weights)
    return _merge_columns(axes, columns, constants)


def _merge_columns(
    axes: Sequence[Axis], columns: Mapping[int, list[Weights]], constants: Weights
) -> Points:
    terms: list[Term] = []
    for column, contributions in sorted(columns.items()):
        base, found = _list_terms(axes[column], column, contributions)
        constants = _add(constants, base)
        terms += found
    return Points(tuple(terms), constants)


def _add(a: Weights, b: Weights) -> Weights:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _times(a: Weights, k: int) -> Weights:
    return tuple(x * k for x in a)


def _add_literal(
    columns: dict[int, list[Weights]], axes: Sequence[Axis], node: Literal, weights: Weights
) -> None:
    n_cells = axes[node.column].n_cells
    cells = columns.setdefault(node.column, [_times(weights, 0)] * n_cells)
    for c in range(n_cells):
        if node.mask >> c & 1:
            cells[c] = _add(cells[c], weights)


# ---- one column ----


def _list_terms(axis: Axis, column: int, cells: Sequence[Weights]) -> tuple[Weights, list[Term]]:
    """Describe what a column adds in each of its cells by few conditions.

    Where there is one sum, points start at 0: the least is part of the constant.
    """
    if len(cells[0]) == 1:
        levels = [weights[0] for weights in cells]
        split = _split_levels if axis.column.categories is not None else _split_layers
        return (min(levels),), [
            Term(Literal(column, mask), (weight,)) for mask, weight in split(axis, levels)
        ]
    if axis.column.categories is not None:
        base, pieces = _split_sets(cells)
    else:
        base, pieces = _split_steps(cells[: axis.n_values])
        if axis.missing:
            pieces = _place_missing(pieces, _add(cells[-1], _times(base, -1)), axis)
    return base, [Term(Literal(column, mask), weights) for mask, weights in pieces]


def _split_levels(axis: Axis, levels: Sequence[Fraction]) -> list[tuple[int, Fraction]]:
    """One condition for each level above the least."""
    del axis
    least = min(levels)
    masks: dict[Fraction, int] = {}
    for c, level in enumerate(levels):
        masks[level] = masks.get(level, 0) | 1 << c
    return [(mask, level - least) for level, mask in masks.items() if level > least]


def _split_layers(axis: Axis, levels: Sequence[Fraction]) -> list[tuple[int, Fraction]]:
    """One condition for each stretch of numbers over a level: half-lines, windows, outside one.

    Each adds what the level is above the one before. Missing values belong to the first stretch.
    """
    out: list[tuple[int, Fraction]] = []
    for below, level in pairwise(sorted(set(levels))):
        over = [value >= level for value in levels]
        runs = find_runs(over[: axis.n_values])
        masks = [(2 << last) - (1 << first) for first, last in runs]
        if len(runs) == 2 and runs[0][0] == 0 and runs[1][1] == axis.n_values - 1:
            masks = [sum(masks)]  # outside a window
        if axis.missing and over[-1]:
            masks = [(masks or [0])[0] | axis.missing, *masks[1:]]
        out += [(mask, level - below) for mask in masks]
    return out


def _split_sets(cells: Sequence[Weights]) -> tuple[Weights, list[tuple[int, Weights]]]:
    """One condition for each weight but the most frequent one."""
    masks: dict[Weights, int] = {}
    for c, weights in enumerate(cells):
        masks[weights] = masks.get(weights, 0) | 1 << c
    base = max(masks, key=lambda weights: (masks[weights].bit_count(), not any(weights)))
    less = _times(base, -1)
    return base, [(mask, _add(w, less)) for w, mask in masks.items() if w != base]


def _split_steps(cells: Sequence[Weights]) -> tuple[Weights, list[tuple[int, Weights]]]:
    """One condition for each step up or down; two that undo each other are one interval."""
    n = len(cells)
    jumps = {
        c: _add(cells[c], _times(cells[c - 1], -1)) for c in range(1, n) if cells[c] != cells[c - 1]
    }
    pieces: list[tuple[int, Weights]] = []
    while jumps:
        start = min(jumps)
        weights = jumps.pop(start)
        undone = [c for c in jumps if jumps[c] == _times(weights, -1)]
        end = undone[0] if undone else n
        jumps.pop(end, None)
        pieces.append(((1 << end) - (1 << start), weights))
    return cells[0], pieces


def _place_missing(
    pieces: list[tuple[int, Weights]], weights_missing: Weights, axis: Axis
) -> list[tuple[int, Weights]]:
    """Let missing values into conditions that add up to their weight; else they get their own."""
    if not any(weights_missing):
        return pieces
    for chosen in _choose_few(len(pieces)):
        total = _times(weights_missing, 0)
        for p in chosen:
            total = _add(total, pieces[p][1])
        if total == weights_missing:
            return [
                (mask | axis.missing if p in chosen else mask, weights)
                for p, (mask, weights) in enumerate(pieces)
            ]
    return [*pieces, (axis.missing, weights_missing)]


def _choose_few(n: int) -> Iterator[set[int]]:
    """Return single positions, then the first few of them."""
    for p in range(n):
        yield {p}
    for end in range(2, n + 1):
        yield set(range(end))
