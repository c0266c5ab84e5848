"""Rules and a network beside each other: their sums, or all states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

from newron.checker.forms import Forms, Sum, Vector
from newron.checker.grammar import Rules, read_rules
from newron.checker.network import LARGEST, CertificateError, Condition, Network, Test
from newron.checker.states import States

CLASS = ("class",)
SCORE = ("class", "score", "probability")
TARGET = ("target",)

_MAX_JOINT = 50_000  # combinations of cells whose sums are compared one by one
_MAX_COMPARED = 50  # classes whose sums are compared two by two
_MAX_WHOLE = 2**50


class Comparison:
    """Compares what rules and a network decide, or add up."""

    def __init__(self, network: Network, text: str, max_work: int) -> None:
        self.network = network
        self.rules: Rules = read_rules(text, network)
        self.left = max_work
        self.forms = Forms(self._cut())
        self.scale = network.last.scale
        self.rounded = False  # whether the network may round what is compared exactly

    def spend(self, work: int) -> None:
        """Count steps; raise where they are more than allowed."""
        self.left -= work
        if self.left < 0:
            raise CertificateError("checking takes more work than allowed")

    def list_conditions(self) -> list[Condition]:
        """Return the conditions of both."""
        rules = [condition for condition, _ in [*self.rules.branches, *self.rules.terms]]
        return rules + [c for parts in self.network.last.parts for c, _ in parts]

    def _cut(self) -> list[list[float | None]]:
        """Cut each column into cells: a value of each, None where values may be missing."""
        numbers: list[set[float]] = [set() for _ in self.network.columns]
        seen: set[int] = set()
        stack = self.list_conditions()
        while stack:
            condition = stack.pop()
            if isinstance(condition, bool) or id(condition) in seen:
                continue
            seen.add(id(condition))
            if isinstance(condition, Test):
                numbers[condition.column].update(condition.numbers)
            else:
                stack += condition.parts
        out: list[list[float | None]] = []
        for column, found in zip(self.network.columns, numbers, strict=True):
            if column.labels is not None:
                cells = [float(k) for k in range(len(column.labels))]
            else:
                cells = list(column.values or _list_cells(found))
            out.append([*cells, *([] if column.required else [None])])
        return out

    def allow_rounding(self, within: Any) -> None:
        """Let targets differ by what the network rounds, if that is no more than ``within``."""
        if within == 0.0:
            return
        if self.network.labels is not None or not isinstance(within, float) or not within < LARGEST:
            raise CertificateError("expected a bound of the rounding of targets")
        if self.network.last.bound_rounding() > Fraction(within):
            raise CertificateError("the network may round its sums by more than that")
        self.rounded = True

    # ---- exact sums ----

    def sum_network(self, scale: int) -> list[Sum]:
        """Return the sums of the network, scaled; only where it rounds none of them."""
        last = self.network.last
        if self.rounded:
            return self._sum_decimals(scale * self.share()[0])
        if self.scale is None or last.aggregation not in ("sum", "mean"):
            raise CertificateError("the network does not add whole numbers")
        divisors = last.divisors(self.scale)
        shared = math.lcm(*(int(d) for d in divisors))
        out = []
        for j, parts in enumerate(last.parts):
            centre = round(last.centres[j] * divisors[j]) if last.centres else 0
            whole = [round(weight * self.scale) for _, weight in parts]
            self._check_size(sum(map(abs, whole)) + abs(centre), len(set(divisors)) > 1)
            factor, rest = divmod(shared * scale, int(divisors[j]))
            assert rest == 0  # noqa: S101 - shared by all
            made = Sum(constant=-centre * factor)
            for (condition, _), weight in zip(parts, whole, strict=True):
                made.add(self.forms, condition, weight * factor)
            out.append(made)
        return self._reach_limits(out[0], shared * scale) if self.network.limits else out

    def _reach_limits(self, score: Sum, shared: int) -> list[Sum]:
        """Return for each limit of ordered classes the score less the limit.

        A score and a limit that differ must do so by more than float64 rounds.
        """
        size = abs(score.constant) + sum(abs(x) for v in score.vectors.values() for x in v)
        size += sum(map(abs, score.forms.values()))
        out = []
        for limit in self.limits:
            moved = int(limit * shared)
            if max(size, abs(moved)) >= _MAX_WHOLE:
                raise CertificateError("the network rounds its sums")
            out.append(replace(score, constant=score.constant - moved))
        return out

    @property
    def limits(self) -> list[Fraction]:
        """The limits of ordered classes."""
        return [Fraction(repr(limit)) for limit in self.network.limits]

    def _sum_decimals(self, shared: int) -> list[Sum]:
        """Return the sums of the network without its rounding."""
        last = self.network.last
        if last.aggregation not in ("sum", "mean"):
            raise CertificateError("the network does not add")
        out = []
        for parts, (weights, centre) in zip(last.parts, last.decimals, strict=True):
            made = Sum(constant=-int(centre * shared))
            for (condition, _), weight in zip(parts, weights, strict=True):
                made.add(self.forms, condition, int(weight * shared))
            out.append(made)
        return out

    def _check_size(self, size: int, several: bool) -> None:
        """Check that float64 adds, and that quotients keep their order and their ties."""
        if several and self.network.labels is not None:
            size *= max(len(parts) for parts in self.network.last.parts)
        if size >= _MAX_WHOLE:
            raise CertificateError("the network rounds its sums")

    def share(self) -> tuple[int, int]:
        """Return what makes whole numbers of the network's sums, and of the rules'."""
        last = self.network.last
        network = math.lcm(*(int(d) for d in last.divisors(self.scale or 1.0)))
        if self.rounded:
            decimals = [x for weights, centre in last.decimals for x in (*weights, centre)]
            network = math.lcm(1, *(x.denominator for x in decimals))
        numbers = [*(self.rules.constants or ()), *(w for _, ws in self.rules.terms for w in ws)]
        numbers += self.limits
        rules = math.lcm(1, *(number.denominator for number in numbers))
        return network, math.lcm(network, rules)

    def sum_rules(self, shared: int) -> list[Sum]:
        """Return the sums of the rules, in whole numbers."""
        constants = self.rules.constants or []
        out = []
        for j, constant in enumerate(constants):
            made = Sum(constant=int(constant * shared))
            for condition, weights in self.rules.terms:
                own = weights[0 if self.network.limits else j]  # ordered classes share one sum
                made.add(self.forms, condition, int(own * shared))
            out.append(made)
        return out

    def read_coverage(self, covers: Any) -> bool:
        """Return whether the scores of classes must be equal, not the classes alone."""
        known = (TARGET,) if self.network.labels is None else (CLASS, SCORE)
        if not isinstance(covers, list) or tuple(covers) not in known:
            raise CertificateError(f"expected to cover {' or '.join(map(', '.join, known))}")
        return tuple(covers) == SCORE

    def compare_sums(self, *, score: bool) -> None:
        """Check that points and network are the same sums, or multiples that decide alike."""
        if self.rules.constants is None:
            raise CertificateError("the rules add no points")
        own, shared = self.share()
        network, rules = self.sum_network(shared // own), self.sum_rules(shared)
        ratio = Fraction(1)
        if self.network.labels is not None and not score:
            ratio = next(filter(None, map(_find_ratio, network, rules)), ratio)
        if self.network.limits:
            network, rules = list(map(_lower, network)), list(map(_lower, rules))
        for a, b in zip(network, rules, strict=True):
            self._check_zero(a.times(ratio.numerator).minus(b.times(ratio.denominator)))

    def _check_zero(self, rest: Sum) -> None:
        columns = self.forms.list_columns(rest.forms)
        shape = [range(len(self.forms.cells[c])) for c in columns]
        if math.prod(map(len, shape)) > _MAX_JOINT:
            raise CertificateError("the sums of network and rules could not be compared")
        left = 0
        for c, vector in rest.vectors.items():
            if c not in columns and len(set(vector)) > 1:
                raise CertificateError("network and rules add different points")
            left += vector[0] if c not in columns else 0
        for at in product(*shape):
            self.spend(1 + len(rest.forms))
            cells = dict(zip(columns, at, strict=True))
            total = rest.constant + left
            total += sum(v[cells[c]] for c, v in rest.vectors.items() if c in cells)
            known: dict[int, bool] = {}
            held = [w for form, w in rest.forms.items() if self.forms.holds(form, cells, known)]
            total += sum(held)
            if total:
                raise CertificateError("network and rules add different points")

    # ---- states ----

    def compare_states(self, order: Sequence[int]) -> None:
        """Follow all inputs, column by column, and compare what is decided at the end."""
        columns = set(range(len(self.network.columns)))
        whole = isinstance(order, list) and all(isinstance(column, int) for column in order)
        if not whole or len(order) != len(columns) or set(order) != columns:
            raise CertificateError("expected an order of all columns")
        sides = States(self.forms)
        network, rules = self._watch_network(sides), self._watch_rules(sides)
        ends = sides.follow(order, self.spend)
        self.spend(len(ends) * len(self.list_conditions()))
        for state in ends:
            truths = sides.answer(state)
            if network(state, truths) != rules(state, truths):
                raise CertificateError("network and rules differ")

    def _watch_network(self, sides: States) -> Any:
        labels, last = self.network.labels, self.network.last
        own, shared = self.share()
        try:
            return self._watch_sums(sides, self.sum_network(shared // own), shared)
        except CertificateError:  # sums that are rounded: every function is followed
            watched = [[sides.watch(self.forms.read(c)) for c, _ in p] for p in last.parts]

        def score(_: Vector, truths: list[bool]) -> Any:
            held = [[_look_up(truths, at) for at in row] for row in watched]
            if self.rounded:
                return last.score_exactly(held)
            scores = last.score(held)
            return scores if labels is None else self.network.decide(scores)

        return score

    def _watch_rules(self, sides: States) -> Any:
        if self.rules.constants is not None:
            _, shared = self.share()
            return self._watch_sums(sides, self.sum_rules(shared), shared)
        watched = [(sides.watch(self.forms.read(c)), k) for c, k in self.rules.branches]
        default = self.rules.default
        return lambda _, truths: next((k for at, k in watched if _look_up(truths, at)), default)

    def _watch_sums(self, sides: States, sums: Sequence[Sum], shared: int) -> Any:
        if self.network.labels is None:
            totals = [sides.watch_sum(part, sign=False) for part in sums]
            kind = Fraction if self.rounded else float
            return lambda *at: [kind(Fraction(total(*at), shared)) for total in totals]
        if self.network.limits:
            reached = [sides.watch_sum(part, sign=True) for part in sums]
            return lambda *at: sum(total(*at) >= 0 for total in reached)
        if len(sums) == 1:
            second = sides.watch_sum(sums[0], sign=True)
            return lambda *at: int(second(*at) >= 0)
        n = len(sums)
        if n > _MAX_COMPARED:  # each sum by itself: pairs of a thousand are half a million
            each = [sides.watch_sum(part, sign=False) for part in sums]
            return lambda *at: self.network.decide([total(*at) for total in each])
        ahead = {
            (i, k): sides.watch_sum(sums[i].minus(sums[k]), sign=True)
            for i, k in combinations(range(n), 2)
        }

        def decide(*at: Any) -> int:
            best = 0
            for k in range(1, n):
                if ahead[best, k](*at) < 0:
                    best = k
            return best

        return decide


def _look_up(truths: list[bool], at: int | bool) -> bool:
    return at if isinstance(at, bool) else truths[at]


def _lower(part: Sum) -> Sum:
    """Return a sum with its least constant that leaves it at 0 or more just where it was.

    What is added to the constant is a multiple of one number: between two multiples the constant
    makes no difference.
    """
    first = sum(vector[0] for vector in part.vectors.values())
    steps = [x - vector[0] for vector in part.vectors.values() for x in vector]
    step = math.gcd(*steps, *part.forms.values()) or 1
    start = part.constant + first
    return replace(part, constant=part.constant - start % step)


def _find_ratio(a: Sum, b: Sum) -> Fraction | None:
    """Return the positive number by which a is b, if it is: from a weight of both."""
    pairs = [(weight, b.forms.get(form, 0)) for form, weight in a.forms.items()]
    for c, vector in a.vectors.items():
        other = b.vectors.get(c, vector)
        pairs += [(x - vector[0], y - other[0]) for x, y in zip(vector, other, strict=True)]
    ratios = [Fraction(y, x) for x, y in pairs if x and y]
    return ratios[0] if ratios and ratios[0] > 0 else None


def _list_cells(numbers: Iterable[float]) -> list[float]:
    """Return each number, and one of those between any two and beyond the ends."""
    ends = sorted({x + 0.0 for x in numbers if abs(x) < LARGEST})
    if not ends:
        return [0.0]
    out = [math.nextafter(ends[0], -math.inf)]
    for a, b in pairwise([*ends, LARGEST]):
        after = math.nextafter(a, math.inf)
        out += [a, after] if after < b else [a]
    return [x for x in out if x > -LARGEST]
