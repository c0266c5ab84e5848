"""The table behind a network: its class for each combination of levels.

What a network predicts depends only on a few *cards*: on which side of a few numbers each
count of conditions lies, and in which class of cells each column that is read directly.
The table over these levels is small where a table over the inputs would not be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.rules.axis import Axis
from newron.rules.body import decide, sum_points
from newron.rules.budget import Budget
from newron.rules.circuit import Circuit
from newron.rules.node import Algebra, Const, Count, Literal, Node, list_literals

_MAX_STATES = 300_000
_DONT_CARE = -1

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Card:
    """A column that is read directly, or a group of conditions that is counted.

    ``levels`` are masks of cells for a column, and for a group (low, high) pairs of
    counts; both in order, except that categories and missing values have no position in it. Of a
    ``listed`` column one literal can name any set of values.
    """

    column: int | None
    group: tuple[Node, ...]
    levels: tuple[Any, ...]
    ordered: bool
    missing_level: int | None = None
    listed: bool = False

    @property
    def cost(self) -> int:
        """How many literals it takes to write the card."""
        return 1 if self.column is not None else len(self.group)

    def make_node(self, algebra: Algebra, levels: Iterable[int]) -> Node:
        """Return the condition that the card is at one of these levels."""
        chosen = sorted(levels)
        if self.column is not None:
            return algebra.make_literal(self.column, sum(self.levels[at] for at in chosen))
        runs: list[tuple[int, int]] = []
        for at in chosen:
            low, high = self.levels[at]
            if runs and runs[-1][1] == low - 1:
                runs[-1] = (runs[-1][0], high)
            else:
                runs.append((low, high))
        return algebra.any_of([algebra.count(low, high, self.group) for low, high in runs])


@dataclass(frozen=True)
class LevelTable:
    """Cards, and the class for each vector of levels; -1 where no input leads.

    ``merged[a][level]`` lists the levels of card a that are one level of the table.
    """

    cards: tuple[Card, ...]
    classes: NDArray[np.int16]
    merged: tuple[tuple[tuple[int, ...], ...], ...]

    def make_node(self, algebra: Algebra, a: int, levels: Iterable[int]) -> Node:
        """Return the condition that axis a of the table is at one of these levels."""
        return self.cards[a].make_node(
            algebra, [old for level in levels for old in self.merged[a][level]]
        )


# ---- cards ----


def make_cards(axes: Sequence[Axis], nodes: Iterable[Node]) -> tuple[Card, ...]:
    """Return the cards on which conditions depend."""
    masks: dict[int, set[int]] = {}
    cuts: dict[tuple[Node, ...], set[int]] = {}
    seen: set[Node] = set()
    for node in nodes:
        _collect(node, masks, cuts, seen)
    groups = [_make_group_card(group, numbers) for group, numbers in cuts.items()]
    columns = [_make_column_card(axes[c], c, masks[c]) for c in sorted(masks)]
    return (*groups, *columns)


def make_flat_cards(
    axes: Sequence[Axis], nodes: Iterable[Node], *, join_gaps: bool = False
) -> tuple[Card, ...]:
    """Return a card for each column that conditions read.

    With ``join_gaps`` missing values have no level of their own where one is alike.
    """
    masks: dict[int, set[int]] = {}
    for literal in list_literals(nodes):
        masks.setdefault(literal.column, set()).add(literal.mask)
    cards = tuple(_make_column_card(axes[c], c, masks[c]) for c in sorted(masks))
    return tuple(_join_gap(card, masks) for card in cards) if join_gaps else cards


def _join_gap(card: Card, masks: Mapping[int, set[int]]) -> Card:
    if card.missing_level is None or card.column is None:
        return card
    *places, gap = card.levels
    known = masks[card.column]
    for k, level in enumerate(places):
        if all(bool(mask & level) == bool(mask & gap) for mask in known):
            joined = [*places[:k], level | gap, *places[k + 1 :]]
            return replace(card, levels=tuple(joined), missing_level=None)
    return card


def _collect(
    node: Node,
    masks: dict[int, set[int]],
    cuts: dict[tuple[Node, ...], set[int]],
    seen: set[Node],
) -> None:
    if isinstance(node, Literal):
        masks.setdefault(node.column, set()).add(node.mask)
    elif isinstance(node, Count) and node not in seen:
        seen.add(node)
        if is_group(node.children):
            cuts.setdefault(node.children, set()).update((node.low, node.high + 1))
        else:
            for child in node.children:
                _collect(child, masks, cuts, seen)


def is_group(children: tuple[Node, ...]) -> bool:
    """Return whether several literals are counted, and nothing else."""
    return len(children) > 1 and all(isinstance(child, Literal) for child in children)


def _make_group_card(group: tuple[Node, ...], cuts: set[int]) -> Card:
    inside = sorted(cut for cut in cuts if 0 < cut <= len(group))
    starts = [0, *inside]
    ends = [*(cut - 1 for cut in inside), len(group)]
    return Card(None, group, tuple(zip(starts, ends, strict=True)), ordered=True)


def _make_column_card(axis: Axis, column: int, masks: Iterable[int]) -> Card:
    classes: dict[tuple[int, ...], int] = {}
    known = sorted(masks)
    ordered = axis.column.categories is None
    levels: list[int] = []
    last: tuple[int, ...] | None = None
    for c in range(axis.n_values):
        signature = tuple(mask >> c & 1 for mask in known)
        if ordered and signature != last:
            levels.append(1 << c)  # cells of a level lie side by side
        elif ordered:
            levels[-1] |= 1 << c
        elif signature in classes:
            levels[classes[signature]] |= 1 << c
        else:
            classes[signature] = len(levels)
            levels.append(1 << c)
        last = signature
    missing_level = len(levels) if axis.missing else None
    if axis.missing:
        levels.append(axis.missing)
    return Card(column, (), tuple(levels), ordered, missing_level, axis.listed)


# ---- the table ----


def make_table(
    circuit: Circuit, cards: Sequence[Card], model: Model, limit: int, budget: Budget
) -> LevelTable | None:
    """Return the table over the levels of cards; None if it has more entries than ``limit``.

    Where the network rounds its sums, the cards are columns, and it is asked itself.
    """
    shape = [len(card.levels) for card in cards]
    size = math.prod(shape)
    if size > limit or not cards or not budget.spend(2 * size * len(circuit.terms)):
        return None
    levels = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1)
    if circuit.exact:
        sums, _ = sum_points(circuit.terms, circuit.constants, Levels(cards, levels))
        classes = decide(model.output, sums)
    else:
        rows = make_rows(circuit.axes, place_levels(circuit.axes, cards, levels))
        assert isinstance(model.output, Classes)  # noqa: S101 - regression has no table
        classes = model.output.choose(model.score_rows(rows))
    table = classes.astype(np.int16).reshape(shape)
    # Columns are free of each other; counts are not.
    counted = any(card.column is None for card in cards)
    reached = find_reachable(circuit.axes, cards, budget) if counted else None
    if reached is not None:
        table = np.where(reached, table, _DONT_CARE).astype(np.int16)
    merged = tuple(tuple((level,) for level in range(n)) for n in shape)
    return LevelTable(tuple(cards), table, merged)


def place_levels(axes: Sequence[Axis], cards: Sequence[Card], levels: Ints) -> Ints:
    """Return cells of all columns for levels of those that are cards; elsewhere the first."""
    cells = np.zeros((len(levels), len(axes)), np.intp)
    for a, card in enumerate(cards):
        assert card.column is not None  # noqa: S101 - flat cards are columns
        firsts = np.array([(mask & -mask).bit_length() - 1 for mask in card.levels])
        cells[:, card.column] = firsts[levels[:, a]]
    return cells


def make_rows(axes: Sequence[Axis], cells: Ints) -> Floats:
    """Return a row of values for each row of cells."""
    columns = [axis.representatives[cells[:, i]] for i, axis in enumerate(axes)]
    return np.stack(columns, axis=1)


class Levels:
    """Vectors of levels of cards, and where conditions hold among them."""

    def __init__(self, cards: Sequence[Card], levels: Ints) -> None:
        self._cards = cards
        self._levels = levels
        self._index = {_name(card): a for a, card in enumerate(cards)}
        self._known: dict[Node, NDArray[np.bool_]] = {}

    def __len__(self) -> int:
        """Count the vectors."""
        return len(self._levels)

    def holds(self, node: Node) -> NDArray[np.bool_]:
        """Return for each vector whether a condition holds."""
        if node not in self._known:
            self._known[node] = self._evaluate(node)
        return self._known[node]

    def _evaluate(self, node: Node) -> NDArray[np.bool_]:
        if isinstance(node, Const):
            return np.full(len(self), node.value)
        if isinstance(node, Literal):
            at = self._index[node.column]
            inside = np.array([bool(mask & node.mask) for mask in self._cards[at].levels])
            return np.asarray(inside[self._levels[:, at]])
        if node.children in self._index:
            at = self._index[node.children]
            ends = self._cards[at].levels
            inside = np.array([node.low <= low and high <= node.high for low, high in ends])
            return np.asarray(inside[self._levels[:, at]])
        count = np.zeros(len(self), np.intp)
        for child in node.children:
            count += self.holds(child)
        return (count >= node.low) & (count <= node.high)


def _name(card: Card) -> Any:
    return card.group if card.column is None else card.column


# ---- which combinations inputs can lead to ----


def find_reachable(
    axes: Sequence[Axis], cards: Sequence[Card], budget: Budget
) -> NDArray[np.bool_] | None:
    """Return the vectors of levels that some input has; None if there are too many to follow.

    Columns are taken in one by one; of a count only what can still make a difference is
    kept, so that few states are alive at a time.
    """
    swept = sweep(axes, cards, _MAX_STATES, budget)
    if swept is None:
        return None
    reached = np.zeros([len(card.levels) for card in cards], bool)
    reached[tuple(swept.levels.T)] = True
    return reached


@dataclass(frozen=True)
class Sweep:
    """All vectors of levels that inputs lead to, and an input for each."""

    levels: Ints
    steps: tuple[tuple[int, Ints, Ints], ...]  # column, state before, cell

    def trace(self, state: int, n_columns: int) -> list[int]:
        """Return cells of an input that leads to a state."""
        cells = [0] * n_columns
        for column, before, cell in reversed(self.steps):
            cells[column] = int(cell[state])
            state = int(before[state])
        return cells


def sweep(axes: Sequence[Axis], cards: Sequence[Card], most: int, budget: Budget) -> Sweep | None:
    """Follow all inputs, column by column; None if that takes too many states or too much work."""
    n_cells = sum(axis.n_cells for axis in axes)
    if not budget.spend(40 * n_cells * sum(len(card.group) + 1 for card in cards)):
        return None
    options = [_list_options(axis, i, cards) for i, axis in enumerate(axes)]
    used = [i for i in range(len(axes)) if options[i][0].any()]
    states = np.zeros((1, len(cards)), np.int32)
    steps: list[tuple[int, Ints, Ints]] = []
    for p, i in enumerate(used):
        rows, cells = options[i]
        rest = [options[k][0] for k in used[p + 1 :]]
        n_next = len(states) * len(rows)
        if n_next > 4 * most or not budget.spend(n_next * (4 * len(cards) + 40)):
            return None
        states = (states[:, None, :] + rows[None]).reshape(-1, len(cards))
        for a, card in enumerate(cards):
            if card.column is None:
                _saturate(states, a, card, rest)
        states, first = _find_distinct(states)
        steps.append((i, first // len(rows), cells[first % len(rows)]))
        if len(states) > most:
            return None
    levels = [_to_levels(states[:, a], card) for a, card in enumerate(cards)]
    return Sweep(np.stack(levels, axis=1), tuple(steps))


def _find_distinct(states: NDArray[np.int32]) -> tuple[NDArray[np.int32], Ints]:
    """Return the different states and where each is first."""
    sizes = [int(n) + 1 for n in states.max(axis=0, initial=0)]
    if math.prod(sizes) >= 2**62:
        return np.unique(states, axis=0, return_index=True)
    places = np.array([math.prod(sizes[:k]) for k in range(len(sizes))], np.int64)
    first = np.unique(states @ places, return_index=True)[1]  # as one number each: faster
    return states[first], first


def _list_options(axis: Axis, column: int, cards: Sequence[Card]) -> tuple[NDArray[np.int32], Ints]:
    """Return what the cells of a column can add to the cards, each once, and such a cell."""
    rows = np.zeros((axis.n_cells, len(cards)), np.int32)
    for a, card in enumerate(cards):
        for c in range(axis.n_cells):
            if card.column == column:
                rows[c, a] = next(k for k, mask in enumerate(card.levels) if mask >> c & 1)
            elif card.column is None:
                rows[c, a] = sum(
                    child.mask >> c & 1
                    for child in card.group
                    if isinstance(child, Literal) and child.column == column
                )
    return np.unique(rows, axis=0, return_index=True)


def _saturate(
    states: NDArray[np.int32], a: int, card: Card, rest: Sequence[NDArray[np.int32]]
) -> None:
    """Make counts equal that lead to the same levels, whatever comes."""
    least = sum(int(rows[:, a].min()) for rows in rest)
    most = sum(int(rows[:, a].max()) for rows in rest)
    ends = np.array([high for _, high in card.levels])
    same: dict[tuple[int, ...], int] = {}
    table = np.empty(len(card.group) + 1, np.int32)
    for n in range(len(table)):
        reach = np.minimum(np.arange(n + least, n + most + 1), len(card.group))
        table[n] = same.setdefault(tuple(np.searchsorted(ends, reach).tolist()), n)
    states[:, a] = table[states[:, a]]


def _to_levels(states: NDArray[np.int32], card: Card) -> Ints:
    if card.column is not None:
        return states.astype(np.intp)
    return np.searchsorted(np.array([high for _, high in card.levels]), states)


# ---- smaller ----


def merge_levels(table: LevelTable, budget: Budget) -> LevelTable:
    """Merge levels, and drop whole cards, where no input distinguishes them.

    That ends where the budget does: what is left apart makes rules longer, and not wrong.
    """
    classes = table.classes
    merged = [list(groups) for groups in table.merged]
    dearest = sorted(range(len(table.cards)), key=lambda a: -table.cards[a].cost)
    for a in dearest:
        whole = _merge_axis(classes, a)
        if whole is not None:
            classes = whole
            merged[a] = [tuple(level for group in merged[a] for level in group)]
    going = True
    while going:
        going = False
        for a in dearest:
            for i, j in _list_pairs(table.cards[a], merged[a]):
                if not budget.spend(2_000 + 4 * classes.size // len(merged[a])):
                    return LevelTable(table.cards, classes, tuple(map(tuple, merged)))
                together = _merge_pair(classes, a, i, j)
                if together is not None:
                    classes = together
                    merged[a][i] = (*merged[a][i], *merged[a].pop(j))
                    going = True
                    break
    return LevelTable(table.cards, classes, tuple(map(tuple, merged)))


def _list_pairs(card: Card, groups: Sequence[tuple[int, ...]]) -> Iterable[tuple[int, int]]:
    """Return the pairs of levels that may be merged."""
    n = len(groups)
    if not card.ordered:
        return combinations(range(n), 2)
    loose = [g for g in range(n) if groups[g] == (card.missing_level,)]
    firm = [g for g in range(n) if g not in loose]
    pairs = list(pairwise(firm))
    return pairs + [(g, absent) for absent in loose for g in firm]


def _merge_axis(classes: NDArray[np.int16], a: int) -> NDArray[np.int16] | None:
    top = classes.max(axis=a, keepdims=True)
    clash = (classes != top) & (classes != _DONT_CARE)
    return None if clash.any() else top


def _merge_pair(classes: NDArray[np.int16], a: int, i: int, j: int) -> NDArray[np.int16] | None:
    x, y = np.take(classes, i, a), np.take(classes, j, a)
    if ((x != y) & (x != _DONT_CARE) & (y != _DONT_CARE)).any():
        return None
    out = np.delete(classes, j, a)
    at: list[Any] = [slice(None)] * classes.ndim
    at[a] = i
    out[tuple(at)] = np.maximum(x, y)
    return out
