"""The states that inputs lead to: sums and counts, followed column by column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from newron.checker.forms import Forms, Sum, Vector
from newron.checker.network import CertificateError

MAX_STATES = 500_000  # that are kept at once: some 200 MB


class States:
    """The sums and counts that are followed, and what can be asked of them at the end."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.vectors: list[tuple[tuple[int, Vector], ...]] = []
        self.cuts: list[set[int] | None] = []  # where it matters; None for everywhere
        self.places: dict[Any, int] = {}
        self.asked: dict[int, int] = {}  # forms, and where their truth stands
        self.questions: list[tuple[int, list[tuple[int, int]], frozenset[int]]] = []
        self.decided = 0  # added to a sum that has reached one of its regions for good

    def _place(
        self, vectors: Iterable[tuple[int, Sequence[int]]], cuts: Iterable[int] | None
    ) -> int:
        kept = tuple(sorted((c, tuple(v)) for c, v in vectors if any(v)))
        if kept not in self.places:
            self.places[kept] = len(self.vectors)
            self.vectors.append(kept)
            self.cuts.append(set())
        at = self.places[kept]
        known = self.cuts[at]
        if cuts is None or known is None:
            self.cuts[at] = None
        else:
            known.update(cuts)
        return at

    def watch(self, form: bool | int) -> int | bool:
        """Return where the truth of a form will stand."""
        if isinstance(form, bool):
            return form
        if form not in self.asked:
            found = self.forms.made[form]
            inner = [(self._watch_form(k), n) for k, n in found.forms]
            spread = sum(n for _, n in found.forms)
            edges = {k for a in found.allowed for k in (a, a + 1)}
            at = self._place(found.vectors, {k - s for k in edges for s in range(spread + 1)})
            self.asked[form] = len(self.questions)
            self.questions.append((at, inner, frozenset(found.allowed)))
        return self.asked[form]

    def _watch_form(self, form: int) -> int:
        self.watch(form)
        return self.asked[form]

    def answer(self, state: Vector) -> list[bool]:
        """Return the truth of all forms that are watched."""
        truths: list[bool] = []
        for at, inner, allowed in self.questions:
            truths.append(state[at] + sum(n for k, n in inner if truths[k]) in allowed)
        return truths

    def watch_sum(self, part: Sum, *, sign: bool) -> Any:
        """Return what a sum is in a state; with ``sign`` only whether it is at least 0 counts."""
        inner = [(self._watch_form(form), weight) for form, weight in part.forms.items()]
        cuts = _list_thresholds(part.constant, [w for _, w in inner]) if sign else None
        at, constant = self._place(part.vectors.items(), cuts), part.constant
        return lambda state, truths: state[at] + constant + sum(w for k, w in inner if truths[k])

    def follow(self, order: Sequence[int], spend: Any) -> set[Vector]:
        """Return all states at the end, with sums that are decided put back into their region."""
        largest = sum(abs(x) for vectors in self.vectors for _, v in vectors for x in v)
        largest += max((abs(c) for cuts in self.cuts for c in cuts or ()), default=0)
        self.decided = 8 * (largest + 1)
        states: set[Vector] = {(0,) * len(self.vectors)}
        mine = [dict(vectors) for vectors in self.vectors]
        for step, column in enumerate(order):
            touched = [k for k, vectors in enumerate(mine) if column in vectors]
            if not touched:
                continue
            rest = order[step + 1 :]
            settle = [self._make_settler(k, rest) for k in touched]
            rows = set(zip(*(mine[k][column] for k in touched), strict=True))
            spend(len(states) * len(rows) * (len(touched) + 2))
            after: set[Vector] = set()
            for state in states:
                for row in rows:
                    new = list(state)
                    for k, more, settled in zip(touched, row, settle, strict=True):
                        if 2 * new[k] < self.decided:
                            new[k] = settled(new[k] + more)
                    after.add(tuple(new))
                if len(after) > MAX_STATES:
                    raise CertificateError("network and rules have too many states")
            states = after
        return {
            tuple(x - self.decided if 2 * x > self.decided else x for x in state)
            for state in states
        }

    def _make_settler(self, k: int, rest: Sequence[int]) -> Any:
        """Return what makes sums alike that no later column can part at a cut."""
        cuts = self.cuts[k]
        if cuts is None:
            return lambda total: total
        vectors = dict(self.vectors[k])
        later = [vectors[c] for c in rest if c in vectors]
        low, high = sum(map(min, later)), sum(map(max, later))
        ordered = sorted(cuts)
        lowest = min(ordered, default=0) - 1

        def settle(total: int) -> int:
            # Cuts in (total + low, total + high] can still part; at a cut c, c - 1 and c differ.
            below = bisect_right(ordered, total + low)
            if below < bisect_right(ordered, total + high):
                return total
            return self.decided + (ordered[below - 1] if below else lowest)

        return settle


def _list_thresholds(constant: int, weights: Sequence[int]) -> set[int] | None:
    """Return at which totals a sum may turn from below 0 to 0 and more; None for too many."""
    totals = {0}
    for weight in weights:
        totals |= {total + weight for total in totals}
        if len(totals) > 4096:
            return None
    return {-constant - total for total in totals}
