"""Short conditions for a table of levels: covers by boxes, lists, counts, points.

A box is a set of levels for each card. A cover of a class is a set of boxes that holds
every entry of the class and no other; the cheapest one is found by integer programming
over all boxes that cannot grow (scipy.optimize.milp), or greedily where there are too many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from newron.model.condition import find_runs
from newron.rules.body import Body, Branch, DecisionList, Points
from newron.rules.budget import Budget
from newron.rules.circuit import Term
from newron.rules.node import Algebra, Node, count_literals
from newron.rules.table import Card, LevelTable

_MAX_BOXES = 500_000
_MAX_FAMILY = 50_000_000  # sets of levels × levels
_MAX_PAIRS = 20_000_000  # boxes × entries of a cover
_MAX_SUBSETS = 6  # levels of which all subsets are tried
_MAX_ROWS = 3_000  # entries for which points are sought
_LARGEST_POINT = 20
_BOX_PRICE = 0.25
_MAX_LISTED = 50  # classes for which the order of a list is sought
_MAX_KEPT = 200  # boxes of a cover that is found greedily

Family = NDArray[np.bool_]  # (sets, levels)


@dataclass(frozen=True)
class Candidate:
    """Rules in one form, and whether they are proved the shortest of it."""

    body: Body
    form: str
    minimal: bool


def list_candidates(
    table: LevelTable, algebra: Algebra, n_classes: int, budget: Budget
) -> Iterator[Candidate]:
    """Return rules for the table in every form that it has, but counts."""
    if n_classes == 2:
        yield from _list_points(table, algebra, budget.split(4))
        for outcome in (1, 0):
            yield from _cover_class(table, algebra, outcome, budget.split(3))
    part = budget.split(2)
    listed = _make_list(table, algebra, part) if n_classes <= _MAX_LISTED else None
    listed = listed or _make_partition(table, algebra)
    if listed is not None:
        yield listed


# ---- boxes ----


def _make_families(table: LevelTable) -> list[Family]:
    return [
        _make_family(card, groups) for card, groups in zip(table.cards, table.merged, strict=True)
    ]


def _count_sets(table: LevelTable) -> list[tuple[int, tuple[tuple[int, ...], ...]]]:
    """Return how many sets each family would have, without making them, and its levels."""
    out = []
    for card, groups in zip(table.cards, table.merged, strict=True):
        n = len(groups)
        if not card.ordered or (card.listed and n <= _MAX_SUBSETS):
            number = 2**n - 1 if n <= _MAX_SUBSETS else n * (n + 3) // 2 + 1
        else:
            loose = any(group == (card.missing_level,) for group in groups)
            number = (n - loose) * (n - loose + 1) // 2 * (1 + loose) + loose
        out.append((number, groups))
    return out


def _make_family(card: Card, groups: Sequence[tuple[int, ...]]) -> Family:
    """Return the sets of levels that one condition can name."""
    n = len(groups)
    if not card.ordered or (card.listed and n <= _MAX_SUBSETS):
        chosen = _list_sets(n)
    else:
        loose = [g for g in range(n) if groups[g] == (card.missing_level,)]
        firm = [g for g in range(n) if g not in loose]
        runs = [firm[a:b] for a in range(len(firm)) for b in range(a + 1, len(firm) + 1)]
        chosen = runs + [[*run, *loose] for run in runs if loose] + ([loose] if loose else [])
    family = np.zeros((len(chosen), n), bool)
    for row, levels in enumerate(chosen):
        family[row, levels] = True
    return family


def _list_sets(n: int) -> list[list[int]]:
    if n <= _MAX_SUBSETS:
        return [[k for k in range(n) if s >> k & 1] for s in range(1, 1 << n)]
    singles = [[k] for k in range(n)]
    pairs = [list(pair) for pair in combinations(range(n), 2)]
    rest = [[k for k in range(n) if k != single] for single in range(n)]
    return [*singles, *pairs, *rest, list(range(n))]


def _sum_boxes(entries: NDArray[np.bool_], families: Sequence[Family]) -> NDArray[np.int32]:
    """Count the entries in every box."""
    total = entries.astype(np.int32)
    for a, family in enumerate(families):
        part = np.tensordot(family.astype(np.int32), total, axes=(1, a))
        total = np.moveaxis(part, 0, a)
    return total


def _price_boxes(table: LevelTable, families: Sequence[Family]) -> NDArray[np.float64]:
    price = np.full([len(family) for family in families], _BOX_PRICE)
    for a, family in enumerate(families):
        own = np.where(family.all(axis=1), 0.0, float(table.cards[a].cost))
        price = price + own.reshape([-1 if k == a else 1 for k in range(len(families))])
    return price


def _make_box(
    table: LevelTable, algebra: Algebra, families: Sequence[Family], at: Sequence[int]
) -> Node:
    parts = [
        table.make_node(algebra, a, np.flatnonzero(family[k]).tolist())
        for a, (family, k) in enumerate(zip(families, at, strict=True))
        if not family[k].all()
    ]
    return algebra.all_of(parts)


# ---- one class by boxes ----


def _cover_class(
    table: LevelTable, algebra: Algebra, outcome: int, budget: Budget
) -> Iterator[Candidate]:
    """Return if/then rules that say one class; none where they would be too many."""
    if max(n * len(groups) for n, groups in _count_sets(table)) > _MAX_FAMILY:
        return
    inside = table.classes == outcome
    outside = (table.classes != outcome) & (table.classes >= 0)
    families = _make_families(table)
    boxes, minimal = _find_cover(table, families, inside, outside, budget)
    if boxes is None:
        return
    nodes = [_make_box(table, algebra, families, at) for at in boxes]
    nodes.sort(key=lambda node: count_literals([node]))  # all say the same: the simplest first
    branches = [Branch(node, outcome) for node in nodes]
    yield Candidate(DecisionList(tuple(branches), 1 - outcome), "rules", minimal)


def _find_cover(
    table: LevelTable,
    families: Sequence[Family],
    inside: NDArray[np.bool_],
    outside: NDArray[np.bool_],
    budget: Budget,
) -> tuple[list[tuple[int, ...]] | None, bool]:
    """Return boxes that hold all that is inside and nothing outside, at the least price."""
    if not inside.any():
        return [], True
    if math.prod(map(len, families)) <= _MAX_BOXES:
        largest = _find_largest(families, outside)
        entries = np.argwhere(inside)
        if len(largest) * len(entries) <= min(_MAX_PAIRS, budget.left // 4):
            covers = np.ones((len(largest), len(entries)), bool)
            for a, family in enumerate(families):
                covers &= family[largest[:, a]][:, entries[:, a]]
            useful = covers.any(axis=1)
            largest, covers = largest[useful], np.unique(covers[useful], axis=1)
            price = _price_boxes(table, families)[tuple(largest.T)]
            chosen, minimal = _cover_cheaply(covers, price, budget)
            return [tuple(largest[k].tolist()) for k in chosen], minimal
    return _cover_greedily(table, families, inside, outside, budget), False


def _find_largest(families: Sequence[Family], outside: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the boxes without an entry outside that no other such box contains."""
    clean = _sum_boxes(outside, families) == 0
    largest = clean.copy()
    for a, family in enumerate(families):
        clean_here, here = np.moveaxis(clean, a, 0), np.moveaxis(largest, a, 0)
        for s in range(len(family)):
            wider = np.flatnonzero((family >= family[s]).all(axis=1))
            wider = wider[wider != s]
            if len(wider):
                here[s] &= ~clean_here[wider].any(axis=0)
    return np.argwhere(largest)


def _cover_cheaply(
    covers: NDArray[np.bool_], price: NDArray[np.float64], budget: Budget
) -> tuple[list[int], bool]:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_matrix

    found = milp(
        price,
        constraints=LinearConstraint(csr_matrix(covers.T.astype(float)), lb=1.0),
        integrality=np.ones(len(price)),
        bounds=Bounds(0.0, 1.0),
        options=_limit(budget, int(covers.sum())),
    )
    if found.x is not None:
        return np.flatnonzero(found.x > 0.5).tolist(), found.status == 0
    left = np.ones(covers.shape[1], bool)
    chosen: list[int] = []
    while left.any():
        best = int(np.argmax(covers[:, left].sum(axis=1) / price))
        chosen.append(best)
        left &= ~covers[best]
    return chosen, False


def _limit(budget: Budget, size: int) -> dict[str, float]:
    """Return how many nodes a solver may visit, for so many numbers that are not zero."""
    return {"node_limit": max(budget.left // (5 * size + 5_000), 1), "time_limit": budget.safety}


def _cover_greedily(
    table: LevelTable,
    families: Sequence[Family],
    inside: NDArray[np.bool_],
    outside: NDArray[np.bool_],
    budget: Budget,
) -> list[tuple[int, ...]] | None:
    """Take an entry, grow its box card by card, the dearest first; until all are covered.

    None if that takes too many boxes to be worth writing, or too long.
    """
    left = inside.copy()
    axes = sorted(range(inside.ndim), key=lambda a: -table.cards[a].cost)
    boxes: list[tuple[int, ...]] = []
    while left.any():
        if len(boxes) > _MAX_KEPT or not budget.spend(inside.size * sum(map(len, families))):
            return None
        entry = np.unravel_index(int(np.argmax(left)), left.shape)
        sets = [np.eye(n, dtype=bool)[level] for n, level in zip(left.shape, entry, strict=True)]
        for a in axes:
            for row in _widest_first(families[a], sets[a]):
                tried = [*sets[:a], row, *sets[a + 1 :]]
                if not outside[np.ix_(*map(np.flatnonzero, tried))].any():
                    sets = tried
                    break
        left[np.ix_(*map(np.flatnonzero, sets))] = False
        boxes.append(tuple(_place(f, s) for f, s in zip(families, sets, strict=True)))
    return boxes


def _widest_first(family: Family, held: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    rows = family[(family >= held).all(axis=1)]
    return list(rows[np.argsort(-rows.sum(axis=1), kind="stable")])


def _place(family: Family, row: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero((family == row).all(axis=1))[0])


# ---- an ordered list ----


def _make_list(table: LevelTable, algebra: Algebra, budget: Budget) -> Candidate | None:
    """Take the box that decides most entries for its price, again and again.

    None if that takes too many boxes to be worth writing, or too long.
    """
    if math.prod(n for n, _ in _count_sets(table)) > _MAX_BOXES:
        return None
    families = _make_families(table)
    price = _price_boxes(table, families)
    classes = table.classes.copy()
    branches: list[Branch] = []
    while True:
        present = [int(c) for c in np.unique(classes) if c >= 0]
        if len(present) <= 1:
            break
        if len(branches) > _MAX_KEPT or not budget.spend(4 * price.size * price.ndim):
            return None
        sums = {c: _sum_boxes(classes == c, families) for c in present}
        total = sum(sums.values())
        best = (-1.0, 0, 0)
        for c in present:
            gain = np.where(sums[c] == total, sums[c] / price, -1.0)
            at = int(np.argmax(gain))
            best = max(best, (float(gain.flat[at]), c, at), key=lambda found: found[0])
        box = [int(k) for k in np.unravel_index(best[2], price.shape)]
        branches.append(Branch(_make_box(table, algebra, families, box), best[1]))
        chosen = [np.flatnonzero(family[k]) for family, k in zip(families, box, strict=True)]
        classes[np.ix_(*chosen)] = -1
    default = present[0] if present else 0
    return Candidate(DecisionList(tuple(branches), default), "list", False)


def _make_partition(table: LevelTable, algebra: Algebra) -> Candidate | None:
    """Return a rule for each class, where one card alone decides and has many levels."""
    live = [a for a, n in enumerate(table.classes.shape) if n > 1]
    if len(live) != 1:
        return None
    classes = table.classes.ravel()
    present, first = np.unique(classes[classes >= 0], return_index=True)
    *listed, default = present[np.argsort(first)].tolist()
    branches = [
        Branch(table.make_node(algebra, live[0], np.flatnonzero(classes == c).tolist()), c)
        for c in listed
    ]
    return Candidate(DecisionList(tuple(branches), default), "list", False)


# ---- counts ----


def list_counts(table: LevelTable, algebra: Algebra) -> Iterator[Candidate]:
    """Return "so many of these hold", where the table depends on that number alone."""
    axes = [a for a in range(table.classes.ndim) if table.classes.shape[a] > 1]
    if len(axes) < 2 or any(table.classes.shape[a] != 2 for a in axes):
        return
    if (table.classes < 0).any():
        return
    grid = table.classes.reshape([2] * len(axes))
    turned = _find_turned(grid)
    if turned is None:
        return
    for a in np.flatnonzero(turned).tolist():
        grid = np.flip(grid, a)
    number = np.indices(grid.shape).sum(axis=0)
    by_number = [set(grid[number == k].tolist()) for k in range(len(axes) + 1)]
    if any(len(found) > 1 for found in by_number):
        return
    holds = [found == {1} for found in by_number]
    for opposite in (False, True):
        literals = [
            table.make_node(algebra, a, [int(turned[k] == opposite)]) for k, a in enumerate(axes)
        ]
        runs = find_runs(holds[::-1] if opposite else holds)
        branches = [Branch(algebra.count(low, high, literals), 1) for low, high in runs]
        yield Candidate(DecisionList(tuple(branches), 0), "count", True)


def _find_turned(grid: NDArray[np.int16]) -> NDArray[np.bool_] | None:
    """Return which axes count by their first level, if exchanging axes changes nothing."""
    turned = [False]
    for a in range(1, grid.ndim):
        pair = np.moveaxis(grid, (0, a), (0, 1))
        if np.array_equal(pair[0, 1], pair[1, 0]):
            turned.append(False)
        elif np.array_equal(pair[0, 0], pair[1, 1]):
            turned.append(True)
        else:
            return None
    return np.array(turned)


# ---- points ----


def _list_points(table: LevelTable, algebra: Algebra, budget: Budget) -> Iterator[Candidate]:
    """Return small whole points whose sum decides, on as few literals as possible."""
    entries = np.argwhere(table.classes >= 0)
    steps = [
        (a, levels)
        for a, family in enumerate(table.merged)
        for levels in _list_steps(table.cards[a], len(family))
    ]
    if not steps or len(entries) > _MAX_ROWS or len(steps) > 60:
        return
    holds = np.stack([np.isin(entries[:, a], levels) for a, levels in steps], axis=1)
    yes = table.classes[tuple(entries.T)] == 1
    price = [float(table.cards[a].cost) for a, _ in steps]
    solved = _solve_points(holds, yes, price, budget)
    if solved is None:
        return
    points, threshold, minimal = solved
    terms = [
        Term(table.make_node(algebra, a, levels), (Fraction(p),))
        for (a, levels), p in zip(steps, points, strict=True)
        if p
    ]
    found = Points(tuple(terms), (Fraction(-threshold),))
    yield Candidate(found, "points", minimal)


def _list_steps(card: Card, n: int) -> list[list[int]]:
    if card.ordered and card.missing_level is None:
        return [list(range(k, n)) for k in range(1, n)]
    return [[k] for k in range(1, n)]


def _solve_points(
    holds: NDArray[np.bool_], yes: NDArray[np.bool_], price: Sequence[float], budget: Budget
) -> tuple[list[int], int, bool] | None:
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = holds.shape[1]
    most = _LARGEST_POINT
    # Unknowns: points up, points down, whether a step is used, the threshold.
    sums = np.hstack([holds, -holds.astype(float), np.zeros_like(holds, float)])
    sums = np.hstack([sums, -np.ones((len(holds), 1))])
    used = np.hstack([np.eye(n), np.eye(n), -most * np.eye(n), np.zeros((n, 1))])
    found = milp(
        np.concatenate([np.full(2 * n, 1e-3), price, [0.0]]),
        constraints=[
            LinearConstraint(sums, np.where(yes, 0.0, -np.inf), np.where(yes, np.inf, -1.0)),
            LinearConstraint(used, -np.inf, 0.0),
        ],
        integrality=np.ones(3 * n + 1),
        bounds=Bounds(
            np.concatenate([np.zeros(3 * n), [-most * n]]),
            np.concatenate([np.full(2 * n, most), np.ones(n), [most * n]]),
        ),
        options=_limit(budget, 4 * holds.size),
    )
    if found.x is None:
        return None
    points = np.round(found.x[:n] - found.x[n : 2 * n]).astype(int)
    threshold = round(found.x[-1])
    if not np.array_equal(holds @ points >= threshold, yes):
        return None  # the solver's tolerance, not a solution
    return points.tolist(), int(threshold), found.status == 0
