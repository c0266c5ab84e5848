"""A second reader of the text of rules, which shares nothing with :mod:`newron.rules`.

It reads what is printed, tells what it means for rows of numbers, and keeps the place of
everything it read, so that tests can change a text by hand.
"""

import json
import math
import re
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from newron.model import Classes

NUMBER = re.compile(r"[+\-−]?\d+(?:\.\d+)?(?:e[+\-]?\d+)?(?:/\d+)?")
OPERATOR = re.compile("[≥≤<>=≠]")
COUNT = re.compile(
    r"(?P<word>all|any|none)|exactly (?P<exactly>\d+)|at least (?P<least>\d+)|"
    r"at most (?P<most>\d+)|between (?P<low>\d+) and (?P<high>\d+)"
)
COMPARE = {
    "≥": np.greater_equal,
    "≤": np.less_equal,
    "<": np.less,
    ">": np.greater,
    "=": np.equal,
    "≠": np.not_equal,
}
TURNED = {"≤": "≥", "<": ">"}

Span = tuple[int, int]


@dataclass
class Constant:
    value: bool
    span: Span


@dataclass
class Part:
    """One of the things that may hold of a column: all its comparisons, a set, or a gap."""

    comparisons: list[tuple[str, float]] = field(default_factory=list)
    members: set[float] | None = None
    inside: bool = True
    missing: bool | None = None


@dataclass
class Condition:
    """What is told of one column: one of the parts holds."""

    column: int
    parts: list[Part]
    span: Span = (0, 0)
    values: list[tuple[Span, object]] = field(default_factory=list)  # numbers and labels
    absent: float | None = None  # the value that a missing one counts as


@dataclass
class Number:
    """So many of the children hold."""

    low: int
    high: int
    children: list
    span: Span
    head: Span | None  # "at least 2"; None for "and" and "or"
    joins: list[Span] = field(default_factory=list)  # the words "and" or "or"
    named: bool = False


@dataclass
class Reading:
    """The whole text."""

    branches: list = field(default_factory=list)  # (condition, class, span of it, span of all)
    default: tuple[int, Span] | None = None
    terms: list = field(default_factory=list)  # (condition, weights, spans of them, span of all)
    constants: list[Fraction] | None = None
    constant_spans: list[Span] = field(default_factory=list)


class UnreadableError(Exception):
    """The text is not what it should be."""


class Reader:
    def __init__(self, text, model):
        self.text, self.at = text, 0
        self.columns, self.output = model.schema.columns, model.output
        self.groups = {}
        self.conditions = []

    # ---- words ----

    def fail(self, expected):
        raise UnreadableError(f"expected {expected} at {self.text[self.at : self.at + 40]!r}")

    def blank(self):
        while self.text.startswith(" ", self.at):
            self.at += 1

    def sees(self, pattern):
        self.blank()
        return re.compile(pattern).match(self.text, self.at)

    def skip(self, pattern):
        found = self.sees(pattern)
        if found:
            self.at = found.end()
        return found

    def take(self, pattern):
        return self.skip(pattern) or self.fail(pattern)

    def end_line(self):
        self.skip(r"(?: — [^\n]*|— [^\n]*)?(?:\n+|$)") or self.fail("the end of the line")

    def pick(self, choices, *, brackets=True):
        """Read one of the texts: in quotes, or as it is, the longest that fits."""
        self.blank()
        if self.text.startswith('"', self.at):
            found, end = json.JSONDecoder().raw_decode(self.text, self.at)
            if found not in choices:
                self.fail(f"one of {choices}")
            self.at = end
            return choices.index(found)
        fits = [
            c for c, choice in enumerate(choices)
            if isinstance(choice, str) and choice
            and (brackets or not re.search("[()]", choice))
            and self.text.startswith(choice, self.at)
            and not re.match(r"\w", self.text[self.at + len(choice) :])
        ]  # fmt: skip
        if not fits:
            self.fail(f"one of {choices}")
        best = max(fits, key=lambda c: len(choices[c]))
        self.at += len(choices[best])
        return best

    def number(self):
        self.blank()
        found = NUMBER.match(self.text, self.at) or self.fail("a number")
        self.at = found.end()
        return Fraction(found[0].replace("−", "-"))

    def label(self, labels):
        """Read a label: text, number, True or False."""
        found = self.sees(rf"(?:True|False)\b|{NUMBER.pattern}")
        if not found:
            return self.pick(list(labels), brackets=False)
        told = found[0]
        self.at = found.end()
        if told in ("True", "False"):
            return next(c for c, x in enumerate(labels) if x is (told == "True"))
        value = float(Fraction(told.replace("−", "-")))
        kept = [c for c, x in enumerate(labels) if not isinstance(x, str | bool) and x == value]
        return kept[0] if kept else self.fail(f"one of {labels}")

    def outcome(self):
        self.blank()
        begin = self.at
        labels = self.output.labels
        if self.skip("class "):
            c = self.label(labels)
            if isinstance(labels[c], str):
                self.fail("a class that is no text")
        else:
            c = self.pick(list(labels), brackets=False)
        return c, (begin, self.at)

    # ---- conditions ----

    def any_of(self, indent):
        return self._join("or", self.all_of, indent)

    def all_of(self, indent):
        return self._join("and", self.one, indent)

    def _join(self, word, inner, indent):
        self.blank()
        begin = self.at
        parts, joins = [inner(indent)], []
        while self.sees(rf"{word}\b"):
            joins.append(self.take(rf"{word}\b").span())
            parts.append(inner(indent))
        if len(parts) == 1:
            return parts[0]
        low = len(parts) if word == "and" else 1
        return Number(low, len(parts), parts, (begin, self.at), None, joins)

    def one(self, indent):
        self.blank()
        begin = self.at
        if self.skip(r"(always|never)\b"):
            return Constant(self.text[begin:].startswith("always"), (begin, self.at))
        if self.skip(r"not\b"):
            return Number(0, 0, [self.one(indent)], (begin, self.at), None)
        if self.skip(r"\("):
            inner = self.any_of(indent)
            self.take(r"\)")
            return inner
        head = self.sees(COUNT.pattern)
        if head:
            self.at = head.end()
            self.take(r"of\b")
            named = bool(self.sees(r"[A-Z]{1,2}\b"))
            children = self.members(indent)
            low, high = _read_ends(head, len(children))
            return Number(low, high, children, (begin, self.at), head.span(), named=named)
        return self.condition()

    def members(self, indent):
        if self.skip(r"\["):
            parts = [self.any_of(indent)]
            while self.skip(";"):
                parts.append(self.any_of(indent))
            self.take(r"\]")
            return parts
        named = self.skip(r"[A-Z]{1,2}\b")
        return self.groups[named[0]] if named else self.block(indent)

    def block(self, indent):
        """Read the lines that lie deeper; the end of the last one is left."""
        parts = []
        depth = None
        while True:
            found = re.compile(r"\n( *)(?=[^ \n])").match(self.text, self.at)
            inside = len(found[1]) if found else 0
            if inside <= indent or (depth is not None and inside != depth):
                break
            depth = inside
            self.at = found.end()
            parts.append(self.any_of(depth))
        return parts or self.fail("lines that lie deeper")

    def condition(self):
        """Read all that is told of one column, as "age < 3 or ≥ 5 or missing"."""
        self.blank()
        begin = self.at
        found = Condition(-1, [])
        self.conditions.append(found)
        self._part(found)
        while True:
            back = self.at
            if not self.skip(r"or\b") or not (self.sees(OPERATOR.pattern) or self.sees("missing")):
                self.at = back
                if not self._same_column(found):
                    break
            self._part(found)
        found.span = (begin, self.at)
        return found

    def _same_column(self, found):
        """Look whether " or 3 ≤ age < 5" goes on about the same column; go there if so."""
        back = self.at
        if self.skip(r"or\b") and self.sees(NUMBER.pattern):
            start = self.at
            self.number()
            self.take(OPERATOR.pattern)
            column = self.pick([c.name for c in self.columns])
            if column == found.column:
                self.at = start
                return True
        self.at = back
        return False

    def _part(self, found):
        part = Part()
        found.parts.append(part)
        if self.sees(NUMBER.pattern):
            value = self._value(found)
            operator = TURNED[self.take(OPERATOR.pattern)[0]]
            part.comparisons.append((operator, value))
            column = self.pick([c.name for c in self.columns])
            if found.column not in (-1, column):
                self.fail("the same column")
            found.column = column
        elif found.column < 0:
            found.column = self.pick([c.name for c in self.columns])
        if self.skip(r"not missing\b"):
            part.missing = False
        elif self.skip(r"missing\b"):
            part.missing = True
        elif self.skip(r"(not )?in \{"):
            part.inside = not self.text[: self.at].endswith("not in {")
            part.members = {self._value(found)}
            while self.skip(","):
                part.members.add(self._value(found))
            self.take(r"\}")
            self._unit(found.column)
        else:
            operator = self.take(OPERATOR.pattern)[0]
            part.comparisons.append((operator, self._value(found)))
            self._unit(found.column)

    def _value(self, found):
        self.blank()
        begin = self.at
        labels = self.columns[found.column].categories if found.column >= 0 else None
        value = float(self.number()) if labels is None else float(self.label(labels))
        found.values.append(((begin, self.at), value))
        return value

    def _unit(self, column):
        unit = self.columns[column].unit
        if unit and self.columns[column].categories is None:
            quoted = json.dumps(unit, ensure_ascii=False)
            printed = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in quoted)
            self.take("|".join(map(re.escape, (quoted, printed, unit))))

    # ---- the text ----

    def read(self):
        out = Reading()
        while self.skip(r"Let\b"):
            name = self.take(r"[A-Z]{1,2}\b")[0]
            self.take("be")
            self.groups[name] = self.block(0)
            self.end_line()
        if self.skip("Points from") or self.skip("Points for") or self.skip("Add up for"):
            self._points(out)
        else:
            self._list(out)
        if self.skip("Missing values count as:"):
            self._absent()
        if self.at != len(self.text):
            self.fail("the end")
        return out

    def _absent(self):
        absent = {}
        while True:
            column = self.pick([c.name for c in self.columns])
            self.take("=")
            absent[column] = self._value(Condition(column, []))
            self._unit(column)
            if not self.skip(","):
                break
        for condition in self.conditions:
            condition.absent = absent.get(condition.column)

    def _list(self, out):
        while self.sees(r"If\b"):
            begin = self.at
            self.take(r"If\b")
            condition = self.any_of(0)
            self.take(r",|\n")
            self.take(r"then\b")
            outcome, span = self.outcome()
            self.end_line()
            out.branches.append((condition, outcome, span, (begin, self.at)))
        self.take("Otherwise" if out.branches else "Always")
        out.default = self.outcome()
        self.end_line()

    def _points(self, out):
        output = self.output
        one = isinstance(output, Classes) and output.n_scores == 1
        if one and output.is_ordered:
            ends = [self.label(output.labels), self.take(r"to\b"), self.label(output.labels)]
            if ends[::2] != [0, len(output.labels) - 1]:
                self.fail("the lowest class to the highest")
        else:
            names = output.labels if isinstance(output, Classes) else output.score_names
            for name in names[1:] if one else names:
                if names[self.label(names)] != name:
                    self.fail(name)
                self.skip(",")
        self.end_line()
        while self.sees(NUMBER.pattern):
            begin = self.at
            weights, spans = [], []
            for _ in range(output.n_scores):
                self.blank()
                start = self.at
                weights.append(self.number())
                spans.append((start, self.at))
            if self.skip("to start with"):
                out.constants, out.constant_spans = weights, spans
            else:
                out.terms.append((self.any_of(4), weights, spans, (begin, self.at)))
            self.end_line()
        if one:
            self._bands(out, len(output.labels) - 1)
        elif isinstance(output, Classes):
            self.take("The highest sum wins, the first of equals")
            self.end_line()

    def _bands(self, out, highest):
        """Read from which sums on classes follow, one that is left out with the next higher."""
        limits, last = [], highest + 1
        while self.skip("Sum ≥ "):
            self.blank()
            start = self.at
            limit = self.number()
            out.constant_spans.append((start, self.at))
            self.take(": ")
            which = self.outcome()[0]
            if not 0 < which < last or (limits and limit >= limits[-1]):
                self.fail("a lower class, from a lower sum on")
            limits += [limits[-1] if limits else limit] * (last - which - 1) + [limit]
            last = which
            self.end_line()
        out.constants = [-limit for limit in reversed(limits + limits[-1:] * (last - 1))]
        self.take("Otherwise: ")
        if self.outcome()[0] != 0:
            self.fail("the first class")
        self.end_line()


def _read_ends(head, n):
    if head["word"]:
        return {"all": (n, n), "any": (1, n), "none": (0, 0)}[head["word"]]
    if head["exactly"]:
        return int(head["exactly"]), int(head["exactly"])
    if head["low"]:
        return int(head["low"]), int(head["high"])
    return (int(head["least"]), n) if head["least"] else (0, int(head["most"]))


def read(text, model) -> Reading:
    """Read the text of rules for a model."""
    return Reader(text, model).read()


# ---- what it means ----


def holds(node, rows) -> np.ndarray:
    """Tell for each row of numbers whether a condition holds."""
    if isinstance(node, Constant):
        return np.full(len(rows), node.value)
    if isinstance(node, Number):
        total = np.zeros(len(rows), int)
        for child in node.children:
            total += holds(child, rows)
        return (total >= node.low) & (total <= node.high)
    x = rows[:, node.column]
    gap = np.isnan(x)
    if node.absent is not None:
        x = np.where(gap, node.absent, x)
    out = np.zeros(len(rows), bool)
    for part in node.parts:
        if part.missing is not None:
            here = gap == part.missing
        elif part.members is not None:
            here = ~np.isnan(x) & (np.isin(x, list(part.members)) == part.inside)
        else:
            here = ~np.isnan(x)
            for operator, value in part.comparisons:
                here &= COMPARE[operator](x, value)
        out |= here
    return out


def follow(reading: Reading, model, rows) -> np.ndarray:
    """Give what the rules say of each row: numbers of classes, or exact sums."""
    if reading.constants is None:
        out = np.full(len(rows), reading.default[0])
        for condition, outcome, *_ in reversed(reading.branches):
            out[holds(condition, rows)] = outcome
        return out
    numbers = [*reading.constants, *(w for _, weights, *_ in reading.terms for w in weights)]
    scale = math.lcm(*(number.denominator for number in numbers))
    sums = np.zeros((len(rows), len(reading.constants)), object)
    sums += [int(c * scale) for c in reading.constants]
    for condition, weights, *_ in reading.terms:
        sums[holds(condition, rows)] += np.array([int(w * scale) for w in weights], object)
    if not isinstance(model.output, Classes):
        return np.array([[float(Fraction(s, scale)) for s in row] for row in sums.tolist()])
    if model.output.n_scores == 1:
        return (sums >= 0).sum(axis=1).astype(int)  # as many limits are reached
    return np.array([row.index(max(row)) for row in sums.tolist()])


def list_nodes(reading: Reading) -> list:
    """Give all conditions, and what they are made of; named groups stay closed."""
    out = []

    def visit(node):
        out.append(node)
        if isinstance(node, Number) and not node.named:
            for child in node.children:
                visit(child)

    for condition, *_ in [*reading.branches, *reading.terms]:
        visit(condition)
    return out
