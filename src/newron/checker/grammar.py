"""The text of rules, read by the checker itself.

The grammar is that of docs/rules.md. Names and labels stand in quotes, as in JSON, unless they
are plain: a letter, then anything but ``"``, brackets, braces, operators, ``;:,!—`` and double
spaces, without a word that the grammar uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from newron.checker.network import CertificateError, Column, Condition, Count, Network, Test
from newron.checker.words import NUMBER, SIGN, Words, quote

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "≥": lambda x, v: x >= v, "≤": lambda x, v: x <= v, "≠": lambda x, v: x != v,
    ">": lambda x, v: x > v, "<": lambda x, v: x < v, "=": lambda x, v: x == v,
}  # fmt: skip
_HEAD = re.compile(
    r"(?P<word>all|any|none) of\b|exactly (?P<exact>\d+) of\b|at least (?P<least>\d+) of\b|"
    r"at most (?P<most>\d+) of\b|between (?P<low>\d+) and (?P<high>\d+) of\b"
)
_OPEN = re.compile(
    r"(?:^Let [A-Z]{1,2} be|\b(?:all|any|none|exactly \d+|at least \d+|at most \d+|"
    r"between \d+ and \d+) of)$"
)
_MAX_DEPTH = 100
_MAX_SIZE = 100_000
_MAX_LINE, _MAX_TEXT = 1_000_000, 10_000_000
_MISSING = "Missing values count as:"


@dataclass
class Rules:
    """Rules as they were read: branches and a default, or terms and constants."""

    branches: list[tuple[Condition, int]] = field(default_factory=list)
    default: int = 0
    terms: list[tuple[Condition, list[Fraction]]] = field(default_factory=list)
    constants: list[Fraction] | None = None


def read_rules(text: str, network: Network) -> Rules:
    """Read the text of rules for a network."""
    return _Reader(network, _fold(text)).read()


def _fold(text: str) -> list[str]:
    """Return lines without notes, where deeper lines stand in brackets behind their head."""
    if len(text) > _MAX_TEXT or max(map(len, text.split("\n"))) > _MAX_LINE:
        raise CertificateError("expected a shorter text")
    out: list[str] = []
    open_: list[tuple[int, bool]] = []  # the depths of open brackets; whether something is in
    for line in text.split("\n"):
        quoted = re.sub(r'"(?:[^"\\]|\\.)*"', lambda found: "x" * len(found[0]), line)
        cut = quoted.find(" — ")
        kept = (line if cut < 0 else line[:cut]).rstrip()
        depth, words = len(kept) - len(kept.lstrip()), kept.strip()
        if not words:
            continue
        while open_ and depth <= open_[-1][0]:
            open_.pop()
            out[-1] += "]"
        if open_:
            out[-1] += ("; " if open_[-1][1] else "") + words
            open_[-1] = (open_[-1][0], True)
        else:
            out.append(words)
        if _OPEN.search(words):
            out[-1] += " ["
            open_.append((depth, False))
    return [*out[:-1], out[-1] + "]" * len(open_)] if out else []


class _Reader(Words):
    def __init__(self, network: Network, lines: list[str]) -> None:
        super().__init__(lines)
        self.network = network
        self.depth, self.size = 0, 0
        self.names = [column.name for column in network.columns]
        self.groups: dict[str, tuple[Condition, ...]] = {}
        self.absent: dict[int, float] = {}

    def name(self) -> int:
        found = self.choose(self.names, names=True)
        if found is None:
            raise self.fail("the name of a column")
        return found

    def outcome(self) -> int:
        self.skip("class ")
        found = self.choose(self.network.labels or ())
        if found is None:
            raise self.fail("a class")
        return found

    # ---- lines ----

    def read(self) -> Rules:
        rules = Rules()
        self._read_absent()
        while self.next_line():
            if self.skip("Let"):
                named = self.match(re.compile("[A-Z]{1,2}"))
                self.take("be")
                self.groups[named[0] if named else ""] = self.members()
            elif self.skip("If"):
                self._read_branch(rules)
            elif self.skip("Otherwise") or self.skip("Always"):
                self.skip(":")
                rules.default = self.outcome()
                self.end()
                break
            elif not rules.branches and self._is_head():
                self._read_points(rules)
                break
            else:
                raise self.fail("a rule")
            self.end()
        else:
            raise self.fail("a last rule")
        if self.next_line():
            raise self.fail("nothing more")
        return rules

    def _read_absent(self) -> None:
        """Read the last line first: it says how all others read missing values."""
        if not self.lines or not self.lines[-1].startswith(_MISSING):
            return
        self.line, self.at = self.lines.pop(), len(_MISSING)
        going = True
        while going:
            i = self.name()
            column = self.network.columns[i]
            self.take("=")
            value = self.category(column) if column.labels is not None else self.value()
            self.unit(column)
            inside = column.values is None or value in column.values
            if i in self.absent or column.required or not inside:
                raise self.fail("a value of another column that may lack some")
            self.absent[i] = float(value)
            going = self.skip(",")
        self.end()

    def _read_branch(self, rules: Rules) -> None:
        condition = self.any_of()
        self.skip(",")
        self.blank()
        if self.at == len(self.line):
            self.next_line()
        self.take("then")
        rules.branches.append((condition, self.outcome()))

    def _is_head(self) -> bool:
        network = self.network
        if network.labels is None:
            words, shown = "Add up for", network.targets or ()
        elif network.limits:
            return self._is_ordered_head(network.labels)
        else:
            words = "Points for"
            shown = network.labels[1:] if network.n_scores == 1 else network.labels
        if not self.skip(words):
            return False
        for k, label in enumerate(shown):
            if k:
                self.take(",")
            if self.choose((label,)) is None:
                raise self.fail(repr(label))
        return True

    def _is_ordered_head(self, labels: Sequence[Any]) -> bool:
        if not self.skip("Points from"):
            return False
        lowest, to, highest = self.outcome(), self.skip("to"), self.outcome()
        if not to or (lowest, highest) != (0, len(labels) - 1):
            raise self.fail("the lowest class to the highest")
        return True

    def _read_points(self, rules: Rules) -> None:
        n = self.network.n_scores
        rules.constants = [Fraction(0)] * n
        while self.lines and NUMBER.match(self.lines[0]):
            self.next_line()
            weights = [self.number() for _ in range(n)]
            if self.skip("to start with"):
                rules.constants = weights
            else:
                rules.terms.append((self.any_of(), weights))
            self.end()
        if self.network.labels is None:
            return None
        self.next_line()
        if n > 1:
            self.take("The highest sum wins, the first of equals")
            return self.end()
        rules.constants = self._read_limits(len(self.network.labels) - 1)
        self.take("Otherwise")
        self.skip(":")
        if self.outcome() != 0:
            raise self.fail("the first class where the sum is low")
        return self.end()

    def _read_limits(self, highest: int) -> list[Fraction]:
        """Read from which sums on each class follows, the highest first.

        A class that is not named would begin where the next one does.
        """
        limits: list[Fraction] = []  # of the highest class, and of those below it
        before: Fraction | None = None
        while self.skip("Sum"):
            if self.sign() != "≥":
                raise self.fail("Sum ≥")
            limit = self.number()
            self.take(":")
            which = self.outcome()
            wrong = which != highest if before is None else limit >= before
            if wrong or not 0 < which <= highest - len(limits):
                raise self.fail("classes from the highest on, at lower sums")
            if before is not None:
                limits += [before] * (highest - len(limits) - which)
            limits.append(limit)
            before = limit
            self.end()
            self.next_line()
        if before is None:
            raise self.fail("'Sum'")
        limits += [before] * (highest - len(limits))
        return [-limit for limit in reversed(limits)]

    # ---- conditions ----

    def any_of(self) -> Condition:
        parts = [self.all_of(None)]
        while self.skip("or"):
            parts.append(self.all_of(parts[-1]))
        return _count(1, len(parts), parts)

    def all_of(self, before: Condition | None) -> Condition:
        parts = [self.one(before)]
        while self.skip("and"):
            parts.append(self.one(None))
        return _count(len(parts), len(parts), parts)

    def one(self, before: Condition | None) -> Condition:
        self.depth += 1
        self.size += 1
        if self.depth > _MAX_DEPTH or self.size > _MAX_SIZE:
            raise self.fail("fewer conditions or brackets")
        try:
            return self._one(before)
        finally:
            self.depth -= 1

    def _one(self, before: Condition | None) -> Condition:
        if self.skip("always"):
            return True
        if self.skip("never"):
            return False
        if self.skip("not"):
            return Count((self.one(None),), frozenset({0}))
        if self.skip("("):
            inner = self.any_of()
            self.take(")")
            return inner
        head = self.match(_HEAD)
        if head:
            return self._counted(head)
        return self.literal(before.column if isinstance(before, Test) else None)

    def _counted(self, head: re.Match[str]) -> Condition:
        if len(head[0]) > 50:
            raise self.fail("a number of few digits")
        parts = self.members()
        n = len(parts)
        if head["word"]:
            low, high = {"all": (n, n), "any": (1, n), "none": (0, 0)}[head["word"]]
        elif head["exact"]:
            low = high = int(head["exact"])
        elif head["low"]:
            low, high = int(head["low"]), int(head["high"])
        else:
            low, high = (int(head["least"]), n) if head["least"] else (0, int(head["most"]))
        return _count(low, min(high, n), parts)

    def members(self) -> tuple[Condition, ...]:
        if self.skip("["):
            parts = [self.any_of()]
            while self.skip(";"):
                parts.append(self.any_of())
            self.take("]")
            return tuple(parts)
        named = self.match(re.compile(r"[A-Z]{1,2}\b"))
        if not named or named[0] not in self.groups:
            raise self.fail("conditions in [ ] or the name of a group")
        return self.groups[named[0]]

    def literal(self, before: int | None) -> Test:
        self.blank()
        if before is not None and self.skip("missing"):
            return Test(before, (), lambda x: x is None)
        if before is not None and SIGN.match(self.line, self.at):
            return self.comparison(before)
        if NUMBER.match(self.line, self.at):
            return self._window()
        i = self.name()
        if self.skip("missing"):
            return Test(i, (), lambda x: x is None)
        if self.skip("not"):
            if self.skip("missing"):
                return Test(i, (), lambda x: x is not None)
            self.take("in")
            return self._members(i, inside=False)
        return self._members(i, inside=True) if self.skip("in") else self.comparison(i)

    def _window(self) -> Test:
        low, first = self.value(), self.sign()
        i = self.name()
        second, high = self.sign(), self.value()
        if first not in "≤<" or second not in "≤<":
            raise self.fail("low ≤ column < high")
        self.unit(self.network.columns[i])
        above, below = _COMPARE[first], _COMPARE[second]
        return self._test(i, (low, high), lambda x: above(low, x) and below(x, high))

    def comparison(self, i: int) -> Test:
        column, sign = self.network.columns[i], self.sign()
        if column.labels is not None and sign not in "=≠":
            raise self.fail("=, ≠ or in for categories")
        value = self.value() if column.labels is None else self.category(column)
        self.unit(column)
        return self._test(i, (value,), lambda x: _COMPARE[sign](x, value))

    def _members(self, i: int, *, inside: bool) -> Test:
        column = self.network.columns[i]
        read = self.value if column.labels is None else lambda: self.category(column)
        self.take("{")
        values = [read()]
        while self.skip(","):
            values.append(read())
        self.take("}")
        self.unit(column)
        return self._test(i, tuple(values), lambda x: (x in values) == inside)

    def _test(self, i: int, numbers: tuple[float, ...], holds: Callable[[float], bool]) -> Test:
        absent = self.absent.get(i)
        missing = absent is not None and holds(absent)
        return Test(i, numbers, lambda x: missing if x is None else holds(x))

    def category(self, column: Column) -> float:
        found = self.choose(column.labels or ())
        if found is None:
            raise self.fail("a category")
        return float(found)

    def unit(self, column: Column) -> None:
        if column.unit and column.labels is None:
            any(self.skip(text) for text in (*quote(column.unit), column.unit))


def _count(low: int, high: int, parts: Sequence[Condition]) -> Condition:
    if len(parts) == 1 and (low, high) == (1, 1):
        return parts[0]
    return Count(tuple(parts), frozenset(range(low, high + 1)))
