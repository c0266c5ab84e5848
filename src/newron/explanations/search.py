"""The search for the smallest changes: fewest columns first, then the smallest total."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from newron.explanations.bounds import Bounds, Reach, make_bounds
from newron.explanations.objective import SearchObjective
from newron.explanations.space import Space
from newron.model.arithmetic import Floats

Ints = NDArray[np.intp]

_THIN = (50, 24, 12, 6, 3)  # positions that are left of a grid where there are too many
_MAX_SETS = 2_000_000
_MAX_TOGETHER = 2_000_000  # combinations of one set
_BLOCK = 2048  # sets of columns that are bounded together
_SOME = 64  # sets of columns whose options are combined together
_BATCH = 4096  # rows that are evaluated together


@dataclass(frozen=True)
class Found:
    """Columns that change, by their positions among the options, and the row then."""

    size: float
    chosen: tuple[int, ...]
    row: tuple[float, ...]
    outcome: int


@dataclass
class Search:
    """Looks for changes, fewest columns first, and remembers how far it came."""

    space: Space
    objective: SearchObjective
    scores: Floats
    budget: int
    n_evaluated: int = 0
    complete: bool = True
    best: dict[tuple[tuple[int, ...], int], Found] = field(default_factory=dict)

    @cached_property
    def _bounds(self) -> list[Bounds]:
        return [
            make_bounds(self.space, demands, self.scores) for demands in self.objective.alternatives
        ]

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self.space)

    def run(self, max_changes: int, limit: int) -> list[Found]:
        """Return the smallest changes, sorted."""
        for k in range(1, min(max_changes, len(self.space.options)) + 1):
            self._search_sets(k, limit)
            if self.best:
                break
        return self._sort()[:limit]

    def _sort(self) -> list[Found]:
        return sorted(self.best.values(), key=lambda one: (one.size, one.chosen, one.outcome))

    def _search_sets(self, k: int, limit: int) -> None:
        """Look at all sets of k columns, those of the least possible size first."""
        sets = self._list_sets(k)
        parts = [self._bound_sizes(sets[a : a + _BLOCK]) for a in range(0, len(sets), _BLOCK)]
        least = np.concatenate(parts)
        order = np.argsort(least, kind="stable")[: int(np.isfinite(least).sum())]
        waiting: list[tuple[Ints, Ints]] = []
        for s, one in enumerate(self._pick_options(sets[order], self._count_values(k)), 1):
            waiting.append(one)
            if s < len(order) and sum(len(picks) for _, picks in waiting) < _BATCH:
                continue
            self._evaluate(waiting)
            waiting = []
            worst = self._sort()[limit - 1].size if len(self.best) >= limit else math.inf
            if s == len(order) or least[order[s]] > worst:
                return
            if self.n_evaluated >= self.budget:
                self.complete = False
                return

    def _list_sets(self, k: int) -> Ints:
        """Return all sets of k columns, or those of the columns that gain most."""
        n = len(self.space.options)
        chosen = np.arange(n)
        if math.comb(n, k) > _MAX_SETS:
            self.complete = False
            while math.comb(n, k) > _MAX_SETS:
                n -= 1
            gain = np.sum([np.maximum(b.gain, 0.0).sum(axis=1) for b in self._bounds], axis=0)
            chosen = np.sort(np.argsort(-gain, kind="stable")[:n])
        return chosen[np.array(list(combinations(range(n), k)), np.intp)]

    def _bound_sizes(self, sets: Ints) -> Floats:
        """Return the least size that a change of each set can have; infinite if none reaches."""
        reach = self._reach.spread(sets)
        least = np.full(len(sets), np.inf)
        for bounds in self._bounds:
            margin = bounds.list_slack(sets, reach)
            size = np.zeros(len(sets))
            for p in range(sets.shape[1]):
                useful = bounds.list_useful(sets, margin, p)
                size += np.where(useful, self.space.costs[sets[:, p]], np.inf).min(axis=1)
            least = np.minimum(least, size)
        return least

    def _count_values(self, k: int) -> int:
        """Return how many positions of each column to look at, where a grid has too many."""
        counts = [len(one.values) for one in self.space.options]
        if self.space.exact or len(self.space.model.layers) == 1:
            return max(counts)
        for n in _THIN:
            if _count_picks([min(count, n) for count in counts], k) <= self.budget:
                return n
        return _THIN[-1]

    def _pick_options(self, sets: Ints, most: int) -> Iterator[tuple[Ints, Ints]]:
        """Return each set, and the combinations of its options that bounds leave possible."""
        for first in range(0, len(sets), _SOME):
            block = sets[first : first + _SOME]
            reach = self._reach.spread(block)
            pairs = [(bounds, bounds.list_slack(block, reach)) for bounds in self._bounds]
            useful = [
                np.any([bounds.list_useful(block, margin, p) for bounds, margin in pairs], axis=0)
                for p in range(sets.shape[1])
            ]
            for s, chosen in enumerate(block):
                picks = self._combine([_thin(np.flatnonzero(mask[s]), most) for mask in useful])
                possible = [b.list_possible(chosen, margin[s], picks) for b, margin in pairs]
                yield chosen, picks[np.any(possible, axis=0)]

    def _combine(self, lists: list[Ints]) -> Ints:
        """Return all combinations, (combinations, columns)."""
        while math.prod(map(len, lists)) > _MAX_TOGETHER:
            self.complete = False
            longest = max(range(len(lists)), key=lambda p: len(lists[p]))
            lists[longest] = lists[longest][: len(lists[longest]) // 2]
        return np.stack([axis.ravel() for axis in np.meshgrid(*lists, indexing="ij")], axis=1)

    def _evaluate(self, waiting: Sequence[tuple[Ints, Ints]]) -> None:
        """Evaluate combinations, and keep the smallest of each set and outcome."""
        owner = np.repeat(np.arange(len(waiting)), [len(picks) for _, picks in waiting])
        rows = np.concatenate([self.space.make_rows(*one) for one in waiting])
        costs = np.concatenate([self.space.costs[c[None, :], p].sum(axis=1) for c, p in waiting])
        left = self.budget - self.n_evaluated
        if len(rows) > left:
            self.complete = False
            nearest = np.argsort(costs, kind="stable")[:left]
            owner, rows, costs = owner[nearest], rows[nearest], costs[nearest]
        self.n_evaluated += len(rows)
        scores = self.space.model.score_rows(rows)
        outcomes = self.objective.list_outcomes(scores)
        for r in np.flatnonzero(self.objective.is_reached(scores)).tolist():
            key = tuple(waiting[owner[r]][0].tolist()), int(outcomes[r])
            if key not in self.best or costs[r] < self.best[key].size:
                self.best[key] = Found(float(costs[r]), key[0], tuple(rows[r].tolist()), key[1])


def _count_picks(counts: Iterable[int], k: int) -> int:
    """Return how many ways there are to pick k columns and one option of each."""
    alternatives = [1] + [0] * k
    for count in counts:
        for j in range(k, 0, -1):
            alternatives[j] += alternatives[j - 1] * count
    return alternatives[k]


def _thin(options: Ints, n: int) -> Ints:
    if len(options) <= n:
        return options
    return options[np.linspace(0, len(options) - 1, n).round().astype(np.intp)]
