"""Checks that rules equal a network, by two arguments.

*sums*: the weighted sum of the network and the points of the rules are one function: what
remains of their difference, column by column and group by group, is zero. For the class alone
that is enough up to a positive factor.

*states*: all inputs are followed column by column, as far as sums and counts distinguish them;
in every state that is reached at the end, network and rules decide alike.

A certificate names what it covers: the class alone, or class, score and probability, which follow
from equal sums; of a regression the target.

Both rest on the same reading. Each column is cut into *cells* within which no condition
changes, a missing value among them. A condition is a *form*: whole numbers for the cells of
some columns, and other forms, are added up, and the total must be among allowed ones. Equal
forms get one number, however they were written.
"""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

from newron.checker.grammar import Rules, read_rules
from newron.checker.network import (
    LARGEST,
    CertificateError,
    Condition,
    Count,
    Network,
    Test,
    read_network,
)

__all__ = ["CLASS", "SCORE", "TARGET", "CertificateError", "check", "evaluate", "make_certificate"]

CLASS = ("class",)
SCORE = ("class", "score", "probability")
TARGET = ("target",)

FORMAT, VERSION = "newron certificate", 1
MAX_WORK = 20_000_000
_MAX_JOINT = 50_000  # combinations of cells whose sums are compared one by one
_MAX_COMPARED = 50  # classes whose sums are compared two by two
_MAX_STATES = 500_000  # that are kept at once: some 200 MB
_MAX_WHOLE = 2**50


def make_certificate(
    text: str,
    document: Mapping[str, Any],
    method: str,
    order: Sequence[int],
    covers: Sequence[str] | None = None,
    within: float = 0.0,
) -> dict[str, Any]:
    r"""Return a certificate that rules equal a network, for :func:`check`.

    Parameters
    ----------
    text : str
        The rules.
    document : dict
        The content of the model's file.
    method : {"sums", "states"}
        The argument.
    order : sequence of int
        The columns in the order in which the states are to be followed.
    covers : sequence of str, optional
        What is equal: ``CLASS`` (the default for classes), ``SCORE`` (class, score and
        probability, by the sums), or ``TARGET`` (the default for a regression).
    within : float, default=0
        How far targets may differ because the network rounds its sums; in exact arithmetic
        they are equal all the same.

    Returns
    -------
    dict
        Plain data, for JSON.

    Examples
    --------
    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> text = "If age ≥ 50, then ill\nOtherwise well"
    >>> model = from_rules(text, Schema((Column("age", 0.0, 100.0),)), Classes(("well", "ill")))
    >>> make_certificate(text, model.to_dict(), "states", [0])["method"]
    'states'
    """
    if covers is None:
        covers = TARGET if "targets" in document.get("output", ()) else CLASS
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": _digest(text),
        "model": _digest(_write(document)),
        "method": method,
        "order": list(order),
        "covers": list(covers),
        "within": within,
    }


def check(
    text: str,
    document: Mapping[str, Any],
    certificate: Mapping[str, Any],
    *,
    max_work: int = MAX_WORK,
) -> None:
    r"""Check that rules equal a network on their whole domain, missing values included.

    Parameters
    ----------
    text : str
        The rules, as they are printed.
    document : dict
        The content of the model's file, as :meth:`Model.to_dict` returns it.
    certificate : dict
        As a proof has it.
    max_work : int
        How many steps to take at most.

    Raises
    ------
    CertificateError
        If that is not shown.

    Examples
    --------
    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> text = "If age ≥ 50, then ill\nOtherwise well"
    >>> model = from_rules(text, Schema((Column("age", 0.0, 100.0),)), Classes(("well", "ill")))
    >>> document = model.to_dict()
    >>> check(text, document, make_certificate(text, document, "states", [0]))
    """
    if (certificate.get("format"), certificate.get("version")) != (FORMAT, VERSION):
        raise CertificateError(f"expected a {FORMAT} of version {VERSION}")
    if certificate.get("rules") != _digest(text):
        raise CertificateError("the certificate is one of other rules")
    if certificate.get("model") != _digest(_write(document)):
        raise CertificateError("the certificate is one of another model")
    try:
        comparison = _Comparison(read_network(document), text, max_work)
        score = comparison.read_coverage(certificate.get("covers"))
        comparison.allow_rounding(certificate.get("within"))
        if certificate.get("method") == "sums":
            comparison.compare_sums(score=score)
        elif score:
            raise CertificateError("equal scores are shown by sums alone")
        elif certificate.get("method") == "states":
            comparison.compare_states(certificate.get("order", []))
        else:
            raise CertificateError(f"unknown method {certificate.get('method')!r}")
    except RecursionError:
        raise CertificateError("the network is too deep") from None


def evaluate(
    text: str, document: Mapping[str, Any], row: Sequence[float | None]
) -> tuple[Any, Any]:
    r"""Return what rules and network give for one row: numbers of classes, or targets.

    Parameters
    ----------
    text : str
        The rules.
    document : dict
        The content of the model's file.
    row : sequence of float or None
        A number for each column; that of its category, or None for a missing value.

    Returns
    -------
    tuple

    Examples
    --------
    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> text = "If age ≥ 50, then ill\nOtherwise well"
    >>> model = from_rules(text, Schema((Column("age", 0.0, 100.0),)), Classes(("well", "ill")))
    >>> evaluate(text, model.to_dict(), [50.0]), evaluate(text, model.to_dict(), [None])
    ((1, 1), (0, 0))
    """
    network = read_network(document)
    rules = read_rules(text, network)
    known: dict[int, bool] = {}

    def ask(condition: Condition) -> bool:
        if isinstance(condition, bool):
            return condition
        if id(condition) not in known:
            if isinstance(condition, Test):
                known[id(condition)] = condition.holds(row[condition.column])
            else:
                known[id(condition)] = sum(map(ask, condition.parts)) in condition.allowed
        return known[id(condition)]

    truths = [[ask(condition) for condition, _ in parts] for parts in network.last.parts]
    scores = network.last.score(truths)
    if rules.constants is None:
        decided = [outcome for condition, outcome in rules.branches if ask(condition)]
        return [*decided, rules.default][0], network.decide(scores)
    held = [weights for condition, weights in rules.terms if ask(condition)]
    several = network.n_scores > 1
    sums = [
        constant + sum(weights[j if several else 0] for weights in held)
        for j, constant in enumerate(rules.constants)
    ]
    if network.labels is None:
        return [float(s) for s in sums], scores
    predicted = sum(s >= 0 for s in sums) if network.limits else network.decide(sums)
    return predicted, network.decide(scores)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _write(document: Mapping[str, Any]) -> str:
    # Who made a file and what was measured of the network are no part of what is compared.
    apart = ("made by", "measured", "conformal")
    network = {key: document[key] for key in document if key not in apart}
    return json.dumps(network, sort_keys=True)


# ---- forms ----

Vector = tuple[int, ...]


@dataclass(frozen=True)
class _Form:
    """Numbers for the cells of columns, and other forms, add up to one of the allowed."""

    vectors: tuple[tuple[int, Vector], ...]
    forms: tuple[tuple[int, int], ...]  # number of a form, how many times
    allowed: tuple[int, ...]

    @property
    def most(self) -> int:
        return sum(max(v) for _, v in self.vectors) + sum(n for _, n in self.forms)

    @property
    def truth(self) -> tuple[int, Vector] | None:
        """The column and the truth in each of its cells, for a form of one column alone."""
        if self.forms or len(self.vectors) != 1:
            return None
        column, vector = self.vectors[0]
        return column, tuple(int(v in self.allowed) for v in vector)


class _Forms:
    """Numbers the different forms of conditions; True and False are no forms."""

    def __init__(self, cells: Sequence[Sequence[float | None]]) -> None:
        self.cells = cells
        self.made: list[_Form] = []
        self.numbers: dict[_Form, int] = {}
        self.known: dict[int, bool | int] = {}
        self.kept: list[Condition] = []  # so that no id is used again

    def read(self, condition: Condition) -> bool | int:
        if isinstance(condition, bool):
            return condition
        if id(condition) not in self.known:
            self.kept.append(condition)
            self.known[id(condition)] = self._read(condition)
        return self.known[id(condition)]

    def _read(self, condition: Test | Count) -> bool | int:
        if isinstance(condition, Test):
            vector = tuple(int(condition.holds(x)) for x in self.cells[condition.column])
            return self.add({condition.column: vector}, {}, {1})
        vectors: dict[int, Vector] = {}
        forms: dict[int, int] = {}
        shift = 0
        for part in condition.parts:
            found = self.read(part)
            if isinstance(found, bool):
                shift += found
                continue
            truth = self.made[found].truth
            if truth is None:
                forms[found] = forms.get(found, 0) + 1
            else:
                column, vector = truth
                before = vectors.get(column, (0,) * len(vector))
                vectors[column] = tuple(map(sum, zip(before, vector, strict=True)))
        return self.add(vectors, forms, {k - shift for k in condition.allowed})

    def add(
        self, vectors: Mapping[int, Vector], forms: Mapping[int, int], allowed: Iterable[int]
    ) -> bool | int:
        """Return the number of a form, or its truth where it is always the same."""
        lowest = {c: min(v) for c, v in vectors.items()}
        shift = sum(lowest.values())
        lowered = {c: tuple(x - lowest[c] for x in v) for c, v in vectors.items()}
        kept = tuple(sorted((c, v) for c, v in lowered.items() if any(v)))
        most = sum(max(v) for _, v in kept) + sum(forms.values())
        inside = tuple(sorted(k - shift for k in allowed if 0 <= k - shift <= most))
        if len(inside) in (0, most + 1):
            return bool(inside)
        if not kept and len(forms) == 1:
            ((inner, times),) = forms.items()
            if (0 in inside) == (times in inside):
                return 0 in inside
            return inner if times in inside else self.negate(inner)
        form = _Form(kept, tuple(sorted(forms.items())), inside)
        truth = form.truth
        if truth is not None:
            form = _Form((truth,), (), (1,))
            if len(set(truth[1])) == 1:
                return bool(truth[1][0])
        return self._number(min(form, _turn(form), key=repr) if truth is None else form)

    def _number(self, form: _Form) -> int:
        if form not in self.numbers:
            self.numbers[form] = len(self.made)
            self.made.append(form)
        return self.numbers[form]

    def negate(self, number: int) -> int:
        form = self.made[number]
        others = set(range(form.most + 1)) - set(form.allowed)
        found = self.add(dict(form.vectors), dict(form.forms), others)
        assert not isinstance(found, bool)  # noqa: S101 - a form is not always the same
        return found

    def list_columns(self, numbers: Iterable[int]) -> list[int]:
        """Return the columns that some forms read."""
        seen: set[int] = set()
        stack = list(numbers)
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                stack += [k for k, _ in self.made[number].forms]
        return sorted({column for number in seen for column, _ in self.made[number].vectors})

    def holds(self, number: int, at: Mapping[int, int], known: dict[int, bool]) -> bool:
        """Return whether a form holds, for the cells of its columns."""
        if number not in known:
            form = self.made[number]
            total = sum(v[at[c]] for c, v in form.vectors)
            total += sum(n for k, n in form.forms if self.holds(k, at, known))
            known[number] = total in form.allowed
        return known[number]


def _turn(form: _Form) -> _Form:
    """Return a form that counts opposites: at most 2 of, for at least 3 of the others."""
    if form.forms:
        return form
    turned = tuple((c, _turn_vector(v)) for c, v in form.vectors)
    return _Form(turned, (), tuple(sorted(form.most - k for k in form.allowed)))


def _turn_vector(vector: Vector) -> Vector:
    highest = max(vector)
    return tuple(highest - x for x in vector)


# ---- the comparison ----


@dataclass
class _Sum:
    """A weighted sum of forms: what columns add by their cells, compound forms, a constant."""

    vectors: dict[int, list[int]] = field(default_factory=dict)
    forms: dict[int, int] = field(default_factory=dict)
    constant: int = 0

    def add(self, forms: _Forms, condition: Condition, weight: int) -> None:
        found = forms.read(condition)
        if isinstance(found, bool):
            self.constant += weight * found
            return
        truth = forms.made[found].truth
        if truth is not None:
            column, vector = truth
            before = self.vectors.setdefault(column, [0] * len(vector))
            self.vectors[column] = [a + weight * b for a, b in zip(before, vector, strict=True)]
            return
        other = forms.negate(found)
        if other < found:
            self.constant += weight
            found, weight = other, -weight
        self.forms[found] = self.forms.get(found, 0) + weight

    def times(self, factor: int) -> _Sum:
        vectors = {c: [factor * x for x in vector] for c, vector in self.vectors.items()}
        forms = {form: factor * weight for form, weight in self.forms.items()}
        return _Sum(vectors, forms, factor * self.constant)

    def minus(self, other: _Sum) -> _Sum:
        out = _Sum(constant=self.constant - other.constant)
        for sign, part in ((1, self), (-1, other)):
            for c, vector in part.vectors.items():
                before = out.vectors.setdefault(c, [0] * len(vector))
                out.vectors[c] = [a + sign * b for a, b in zip(before, vector, strict=True)]
            for form, weight in part.forms.items():
                out.forms[form] = out.forms.get(form, 0) + sign * weight
        out.forms = {form: weight for form, weight in out.forms.items() if weight}
        out.vectors = {c: vector for c, vector in out.vectors.items() if any(vector)}
        return out


class _Comparison:
    def __init__(self, network: Network, text: str, max_work: int) -> None:
        self.network = network
        self.rules: Rules = read_rules(text, network)
        self.left = max_work
        self.forms = _Forms(self._cut())
        self.scale = network.last.scale
        self.rounded = False  # whether the network may round what is compared exactly

    def spend(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise CertificateError("checking takes more work than allowed")

    def list_conditions(self) -> list[Condition]:
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

    def sum_network(self, scale: int) -> list[_Sum]:
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
            made = _Sum(constant=-centre * factor)
            for (condition, _), weight in zip(parts, whole, strict=True):
                made.add(self.forms, condition, weight * factor)
            out.append(made)
        return self._reach_limits(out[0], shared * scale) if self.network.limits else out

    def _reach_limits(self, score: _Sum, shared: int) -> list[_Sum]:
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
        return [Fraction(repr(limit)) for limit in self.network.limits]

    def _sum_decimals(self, shared: int) -> list[_Sum]:
        """Return the sums of the network without its rounding."""
        last = self.network.last
        if last.aggregation not in ("sum", "mean"):
            raise CertificateError("the network does not add")
        out = []
        for parts, (weights, centre) in zip(last.parts, last.decimals, strict=True):
            made = _Sum(constant=-int(centre * shared))
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

    def sum_rules(self, shared: int) -> list[_Sum]:
        constants = self.rules.constants or []
        out = []
        for j, constant in enumerate(constants):
            made = _Sum(constant=int(constant * shared))
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

    def _check_zero(self, rest: _Sum) -> None:
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
        if not isinstance(order, list) or len(order) != len(columns) or set(order) != columns:
            raise CertificateError("expected an order of all columns")
        sides = _States(self.forms)
        network, rules = self._watch_network(sides), self._watch_rules(sides)
        ends = sides.follow(order, self.spend)
        self.spend(len(ends) * len(self.list_conditions()))
        for state in ends:
            truths = sides.answer(state)
            if network(state, truths) != rules(state, truths):
                raise CertificateError("network and rules differ")

    def _watch_network(self, sides: _States) -> Any:
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

    def _watch_rules(self, sides: _States) -> Any:
        if self.rules.constants is not None:
            _, shared = self.share()
            return self._watch_sums(sides, self.sum_rules(shared), shared)
        watched = [(sides.watch(self.forms.read(c)), k) for c, k in self.rules.branches]
        default = self.rules.default
        return lambda _, truths: next((k for at, k in watched if _look_up(truths, at)), default)

    def _watch_sums(self, sides: _States, sums: Sequence[_Sum], shared: int) -> Any:
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


def _lower(part: _Sum) -> _Sum:
    """Return a sum with its least constant that leaves it at 0 or more just where it was.

    What is added to the constant is a multiple of one number: between two multiples the constant
    makes no difference.
    """
    first = sum(vector[0] for vector in part.vectors.values())
    steps = [x - vector[0] for vector in part.vectors.values() for x in vector]
    step = math.gcd(*steps, *part.forms.values()) or 1
    start = part.constant + first
    return replace(part, constant=part.constant - start % step)


def _find_ratio(a: _Sum, b: _Sum) -> Fraction | None:
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


class _States:
    """The sums and counts that are followed, and what can be asked of them at the end."""

    def __init__(self, forms: _Forms) -> None:
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

    def watch_sum(self, part: _Sum, *, sign: bool) -> Any:
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
                if len(after) > _MAX_STATES:
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
