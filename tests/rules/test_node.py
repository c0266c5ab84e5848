"""Conditions in their simplest form mean what they meant; sweeps find all that inputs reach."""

from itertools import product

import numpy as np
import pytest

from newron.model import Column
from newron.rules.axis import Axis
from newron.rules.budget import Budget
from newron.rules.node import Algebra, CellRows, Const, Count, Literal, count_literals
from newron.rules.table import Levels, find_reachable, make_cards, make_flat_cards, sweep

COLUMNS = (
    Axis(Column("x", 0.0, 2.0), (1.0, 2.0)),
    Axis(Column("y", 0.0, 2.0, gaps=True), (1.0,)),
    Axis(Column("z", 0.0, 2.0, (0.0, 1.0, 2.0))),
)
CELLS = np.array(list(product(*(range(axis.n_cells) for axis in COLUMNS))))


def draw_node(rng, depth, pool):
    """Draw a tree in which groups come again and again."""
    if depth == 0 or rng.random() < 0.3:
        if rng.random() < 0.05:
            return Const(bool(rng.integers(2)))
        return Literal(int(rng.integers(3)), int(rng.integers(1, 7)))
    if pool and rng.random() < 0.5:
        children = pool[rng.integers(len(pool))]
    else:
        children = tuple(draw_node(rng, depth - 1, pool) for _ in range(rng.integers(1, 6)))
        pool.append(children)
    low = int(rng.integers(0, len(children) + 1))
    return Count(low, int(rng.integers(low, len(children) + 1)), children)


@pytest.mark.parametrize("seed", range(10))
def test_simple_nodes_mean_the_same(seed):
    rng = np.random.default_rng(seed)
    algebra = Algebra(COLUMNS)
    for _ in range(300):
        nodes = [draw_node(rng, 3, pool := []), draw_node(rng, 2, pool)]
        a, b = (CellRows(COLUMNS, CELLS).holds(node) for node in nodes)
        simple = [algebra.simplify(node) for node in nodes]
        rows = CellRows(COLUMNS, CELLS)
        assert np.array_equal(rows.holds(simple[0]), a), nodes[0]
        assert np.array_equal(rows.holds(algebra.negate(simple[0])), ~a), nodes[0]
        assert np.array_equal(rows.holds(algebra.all_of(simple)), a & b), nodes
        assert np.array_equal(rows.holds(algebra.any_of(simple)), a | b), nodes
        assert count_literals([simple[0]]) <= max(count_literals([nodes[0]]), 1) * 2


def test_three_counts_of_one_group_are_merged():
    """A union that becomes "any of" has other children; a third count must not be lost."""
    group = tuple(Literal(c, m) for c, m in ((0, 6), (0, 4), (1, 6), (2, 6), (2, 4)))
    node = Count(1, 3, (Count(1, 1, group), Count(2, 5, group), Count(3, 4, group)))
    simple = Algebra(COLUMNS).simplify(node)
    rows = CellRows(COLUMNS, CELLS)
    assert np.array_equal(rows.holds(node), rows.holds(simple))


def test_simple_forms():
    algebra = Algebra(COLUMNS)
    x, y = Literal(0, 0b110), Literal(1, 0b010)
    group = (x, y, Literal(2, 0b1))
    assert algebra.all_of([Count(2, 3, group), Count(0, 2, group)]) == Count(2, 2, group)
    assert algebra.count(1, 2, [x, algebra.negate(x)]) == Const(True)  # always one of them
    assert algebra.count(2, 3, [x, algebra.negate(x), y]) == y
    assert algebra.all_of([x, Literal(0, 0b011)]) == Literal(0, 0b010)
    assert algebra.any_of([x, Literal(0, 0b001)]) == Const(True)
    assert algebra.negate(algebra.negate(y)) == y
    assert algebra.all_of([]) == Const(True)
    assert algebra.any_of([]) == Const(False)


def draw_groups(rng):
    """Draw conditions on groups of literals and on columns."""
    groups = [
        tuple(Literal(int(rng.integers(3)), int(rng.integers(1, 7))) for _ in range(size))
        for size in rng.integers(2, 6, 2)
    ]
    nodes = [Literal(int(rng.integers(3)), int(rng.integers(1, 7)))]
    for group in groups:
        low = int(rng.integers(0, len(group)))
        nodes += [Count(low, int(rng.integers(low, len(group))), group)]
        nodes += [Count(int(rng.integers(1, len(group) + 1)), len(group), group)]
    return nodes


def find_levels(cards, nodes):
    """Give the levels of the cards for every input, one input after the other."""
    rows = CellRows(COLUMNS, CELLS)
    out = []
    for card in cards:
        if card.column is not None:
            cell = CELLS[:, card.column]
            held = [[mask >> int(c) & 1 for mask in card.levels] for c in cell]
        else:
            count = rows.count_true(card.group)
            held = [[low <= n <= high for low, high in card.levels] for n in count]
        assert (np.sum(held, axis=1) == 1).all()
        out.append(np.argmax(held, axis=1))
    return np.stack(out, axis=1)


@pytest.mark.parametrize("make", [make_cards, make_flat_cards])
@pytest.mark.parametrize("seed", range(20))
def test_reachable_levels_are_those_of_inputs(seed, make):
    nodes = draw_groups(np.random.default_rng(seed))
    cards = make(COLUMNS, nodes)
    levels = find_levels(cards, nodes)
    reached = find_reachable(COLUMNS, cards, Budget(60.0))
    wanted = np.zeros_like(reached)
    wanted[tuple(levels.T)] = True
    assert np.array_equal(reached, wanted)
    # Conditions can be asked of levels alone; groups only of the cards of groups.
    if make is make_cards:
        known, rows = Levels(cards, levels), CellRows(COLUMNS, CELLS)
        for node in nodes:
            assert np.array_equal(known.holds(node), rows.holds(node))


@pytest.mark.parametrize("seed", range(20))
def test_states_are_traced_to_an_input(seed):
    nodes = draw_groups(np.random.default_rng(seed))
    cards = make_cards(COLUMNS, nodes)
    swept = sweep(COLUMNS, cards, 10_000, Budget(60.0))
    by_input = {
        tuple(cell): tuple(row) for cell, row in zip(CELLS, find_levels(cards, nodes), strict=True)
    }
    for state, levels in enumerate(swept.levels):
        assert by_input[tuple(swept.trace(state, len(COLUMNS)))] == tuple(levels)


def test_a_sweep_gives_up():
    cards = make_cards(COLUMNS, draw_groups(np.random.default_rng(0)))
    assert sweep(COLUMNS, cards, 1, Budget(60.0)) is None
