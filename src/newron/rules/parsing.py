"""Reads rules that were written as text, by :mod:`newron.rules.text` or by hand."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from newron.errors import InputError
from newron.formatting import format_label, list_some, quote, quote_unit
from newron.model.condition import Condition
from newron.model.network import LARGEST_INPUT
from newron.model.output import Classes, Output
from newron.model.schema import Label, Schema
from newron.rules.axis import Axis, make_axes
from newron.rules.body import Body, Branch, DecisionList, Points
from newron.rules.circuit import Term
from newron.rules.node import FALSE, TRUE, Algebra, Count, Node
from newron.rules.text import MISSING, write_decision, write_head

__all__ = ["parse_rules"]

_NUMBER = re.compile(r"[+\-−]?(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?(?:/\d+)?")
_OPERATORS = {
    "≥": "≥", "≤": "≤", ">=": "≥", "<=": "≤", ">": ">", "<": "<", "≠": "≠", "!=": "≠", "=": "=",
}  # fmt: skip
_TURNED = {"≤": "≥", "<": ">", "≥": "≤", ">": "<"}
_OPERATOR = re.compile("|".join(sorted(map(re.escape, _OPERATORS), key=len, reverse=True)))
_COUNTS = re.compile(
    r"(?:(all|any|none)|exactly (\d+)|at least (\d+)|at most (\d+)|between (\d+) and (\d+)) of\b"
)
_GROUP = re.compile(r"([A-Z]{1,2})\b")
_BLOCK_HEAD = re.compile(
    r"(?:^Let [A-Z]{1,2} be|\b(?:all|any|none|exactly \d+|at least \d+|at most \d+|"
    r"between \d+ and \d+) of)$"
)
_MAX_LINE = 1_000_000  # characters of a line, with its indented block
_MAX_TEXT = 10 * _MAX_LINE
_MAX_DEPTH = 100  # brackets, blocks and groups inside each other
_MAX_DIGITS = 400  # of a number
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class _Literal:
    """A condition on a column, before the column has cells."""

    column: int
    condition: Condition
    present: bool = False  # not missing, whatever a missing value counts as

    @property
    def names_missing(self) -> bool:
        """Whether it says something of missing values itself."""
        return self.present or self.condition.missing

    def place_missing(self, absent: float | None) -> Condition:
        """Return the condition, for missing values that count as another."""
        if absent is None or self.names_missing or not self.condition.holds(absent):
            return self.condition
        return replace(self.condition, missing=True)


Parsed = bool | _Literal | tuple[int, int, tuple["Parsed", ...]]


def parse_rules(
    text: str,
    schema: Schema,
    output: Output,
    boundaries: Sequence[Sequence[float]] | None = None,
    *,
    gaps: bool = False,
) -> tuple[tuple[Axis, ...], Body]:
    """Read rules; return their axes and the body.

    Axes have the boundaries that the text names, and those given besides. With ``gaps`` a
    missing value has its own cell everywhere; else where the text does not say what it is.

    Raises
    ------
    InputError
        With the number of the line, what was expected and what was found.
    """
    parsed = _Reader(schema, output).read(text)
    places = [list(b) for b in boundaries or [[] for _ in schema.columns]]
    literals = list(_list_literals(parsed.conditions))
    for part in literals:
        places[part.column] += part.condition.boundaries
    axes = make_axes(schema, places, gaps=True)
    if not gaps:
        named = {part.column for part in literals if part.names_missing}
        axes = tuple(
            replace(axis, column=schema.columns[i], absent=parsed.absent[i])
            if i in parsed.absent and i not in named
            else axis
            for i, axis in enumerate(axes)
        )
    return axes, parsed.make_body(Algebra(axes))


def _list_literals(parts: Iterable[Parsed]) -> Iterator[_Literal]:
    seen: set[int] = set()
    stack = list(parts)
    while stack:
        part = stack.pop()
        if isinstance(part, _Literal):
            yield part
        elif isinstance(part, tuple) and id(part) not in seen:
            seen.add(id(part))
            stack += part[2]


@dataclass
class _Nodes:
    """Makes nodes of what was read; a group that is used again is one node."""

    algebra: Algebra
    absent: Mapping[int, float]
    known: dict[int, Node] = field(default_factory=dict)

    def make(self, part: Parsed) -> Node:
        if isinstance(part, bool):
            return TRUE if part else FALSE
        if id(part) not in self.known:
            self.known[id(part)] = self._make(part)
        return self.known[id(part)]

    def _make(self, part: _Literal | tuple[int, int, tuple[Parsed, ...]]) -> Node:
        if isinstance(part, tuple):
            low, high, children = part
            return Count(low, high, tuple(map(self.make, children)))
        condition = part.place_missing(self.absent.get(part.column))
        mask = self.algebra.axes[part.column].to_mask(condition)
        return self.algebra.make_literal(part.column, mask)


@dataclass
class _Document:
    """A text as it was read."""

    output: Output
    branches: list[tuple[Parsed, int]] = field(default_factory=list)
    default: int | None = None
    terms: list[tuple[Parsed, list[Fraction]]] = field(default_factory=list)
    constants: list[Fraction] | None = None
    absent: dict[int, float] = field(default_factory=dict)  # what missing values count as

    @property
    def conditions(self) -> list[Parsed]:
        return [part for part, _ in [*self.branches, *self.terms]]

    def make_body(self, algebra: Algebra) -> Body:
        nodes = _Nodes(algebra, self.absent)
        if self.constants is not None:
            terms = [Term(nodes.make(part), tuple(weights)) for part, weights in self.terms]
            return Points(tuple(terms), tuple(self.constants))
        if self.default is None:
            raise InputError("rules: expected a last line that begins with Otherwise")
        branches = [Branch(nodes.make(part), c) for part, c in self.branches]
        return DecisionList(tuple(branches), self.default)


class _Reader:
    """Reads a text line by line, and conditions word by word."""

    def __init__(self, schema: Schema, output: Output) -> None:
        self.schema = schema
        self.output = output
        self.groups: dict[str, tuple[Parsed, ...]] = {}
        # Longer names first, so that "age at birth" is not read as "age".
        names = [
            (text, i) for i, name in enumerate(schema.names) for text in _spell(quote(name), name)
        ]
        self.names = sorted(names, key=lambda item: -len(item[0]))
        self.number = 0
        self.depth = self.reached = 0
        self.depths: dict[str, int] = {}  # of groups
        self.spellings: dict[int, tuple[dict[str, int], list[int]]] = {}  # of labels
        self.text = ""
        self.at = 0

    # ---- lines ----

    def read(self, text: str) -> _Document:
        document = _Document(self.output)
        lines = _fold_blocks(text)
        k = 0
        while k < len(lines):
            try:
                k = self._read_line(document, lines, k)
            except InputError as error:
                where = f"rules, line {self.number}"
                raise InputError(f"{where}: {error}; got {_shorten(self.text)!r}") from None
        return document

    def _read_line(self, document: _Document, lines: list[tuple[int, str]], k: int) -> int:
        self._start(lines, k)
        line = self.text
        word = line.split(maxsplit=1)[0].rstrip(":")
        if self._skip(MISSING):
            self._read_absent(document, last=k + 1 == len(lines))
            return k + 1
        if document.default is not None or document.constants is not None:
            raise InputError("expected nothing after the last rule")
        if word == "Let":
            self._read_group()
        elif word == "If":
            if k + 1 < len(lines) and lines[k + 1][1].startswith("then "):
                self.text = f"{line} {lines[k + 1][1]}"
                k += 1
            document.branches.append(self._read_branch())
        elif word in ("Otherwise", "Always"):
            self._take(word)
            self._skip(":")
            document.default = self._read_class()
            self._end()
        elif line == write_head(self.output):
            if document.branches:
                raise InputError("expected rules or points, not both")
            return self._read_points(document, lines, k)
        else:
            raise InputError(f"expected If, Otherwise, Let or {write_head(self.output)!r}")
        return k + 1

    def _read_absent(self, document: _Document, *, last: bool) -> None:
        """Read what missing values count as."""
        if not last or (document.default is None and document.constants is None):
            raise InputError("expected this line at the end")
        going = True
        while going:
            column = self._read_name()
            if column in document.absent or self.schema.columns[column].required:
                raise InputError("expected columns that may lack values, each once")
            self._take("=")
            document.absent[column] = self._read_absent_value(column)
            going = self._skip(",")
        self._end()

    def _read_absent_value(self, column: int) -> float:
        if self.schema.columns[column].categories is not None:
            return float(self._read_category(column))
        value = self._read_float()
        self._skip_unit(column)
        if value not in (self.schema.columns[column].values or (value,)):
            raise InputError("expected one of the column's values")
        return value

    def _read_group(self) -> None:
        self._take("Let")
        self._blank()
        found = _GROUP.match(self.text, self.at)
        if not found:
            raise InputError("expected a name of one or two capital letters")
        self.at = found.end()
        self._take("be")
        self.groups[found[1]] = self._read_members()
        self.depths[found[1]] = self.reached
        self._end()

    def _read_branch(self) -> tuple[Parsed, int]:
        self._take("If")
        part = self._read_any()
        self._skip(",")
        self._take("then")
        outcome = self._read_class()
        self._end()
        return part, outcome

    def _read_points(self, document: _Document, lines: list[tuple[int, str]], k: int) -> int:
        n = self.output.n_scores
        single = isinstance(self.output, Classes) and n == 1
        document.constants = [Fraction(0)] * n
        k += 1
        while k < len(lines) and _NUMBER.match(lines[k][1]):
            self._start(lines, k)
            weights = [self._read_number() for _ in range(n)]
            if self._skip("to start with"):
                document.constants = weights
            else:
                document.terms.append((self._read_any(), weights))
            self._end()
            k += 1
        if single:
            return self._read_threshold(document, lines, k)
        # The end must say what such sums decide, and nothing else but of missing values.
        wanted = write_decision(self.output, Points((), tuple(document.constants)))
        end = k + len(wanted)
        more = len(lines) > end and not lines[end][1].startswith(MISSING)
        if [line for _, line in lines[k:end]] != wanted or more:
            raise InputError(f"expected {' / '.join(wanted) or 'nothing more'!r} at the end")
        return end

    def _read_threshold(self, document: _Document, lines: list[tuple[int, str]], k: int) -> int:
        assert isinstance(self.output, Classes)  # noqa: S101 - checked by the caller
        highest = len(self.output.labels) - 1
        found: list[tuple[int, Fraction]] = []
        while not found or (k < len(lines) and lines[k][1].startswith("Sum")):
            self._start(lines, k)
            self._take("Sum")
            if self._read_operator() != "≥":
                raise InputError("expected Sum ≥")
            number = self._read_number()
            self._take(":")
            found.append((self._read_class(), number))
            self._end()
            k += 1
        self._start(lines, k)
        self._take("Otherwise")
        self._skip(":")
        falling = all(a > b and s > t for (a, s), (b, t) in pairwise(found))
        if not (falling and found[0][0] == highest and found[-1][0] > 0 and not self._read_class()):
            raise InputError(
                "expected the last class where the sum is high, lower ones below, else the first"
            )
        self._end()
        # A class that no sum leads to is not named: it would begin with the next one.
        named = dict(found)
        thresholds: list[Fraction] = []
        for label in range(highest, 0, -1):
            thresholds.append(named.get(label, thresholds[-1] if thresholds else Fraction(0)))
        document.constants = [-number for number in reversed(thresholds)]
        return k + 1

    def _start(self, lines: list[tuple[int, str]], k: int) -> None:
        """Begin to read a line; an empty one where there is none."""
        number, text = lines[k] if k < len(lines) else (self.number + 1, "")
        self.number, self.text, self.at, self.depth, self.reached = number, text, 0, 0, 0
        if len(text) > _MAX_LINE:
            raise InputError(f"expected a line of at most {_MAX_LINE} characters")

    def _read_class(self) -> int:
        if not isinstance(self.output, Classes):
            raise InputError(f"regression has no classes: expected {write_head(self.output)!r}")
        self._skip("class ")
        found = self._read_label(self.output.labels)
        if found is None:
            known = list_some([format_label(label) for label in self.output.labels], 20)
            raise InputError(f"expected one of the classes {known}")
        return found

    def _read_label(self, labels: Sequence[Label]) -> int | None:
        if id(labels) not in self.spellings:
            spelled = {
                text: c
                for c, label in enumerate(labels)
                for text in _spell(format_label(label), label)
            }
            self.spellings[id(labels)] = spelled, sorted(set(map(len, spelled)), reverse=True)
        known, lengths = self.spellings[id(labels)]
        self._blank()
        for length in lengths:
            text = self.text[self.at : self.at + length]
            if text in known and self._skip(text):
                return known[text]
        return None

    # ---- conditions ----

    def _read_any(self) -> Parsed:
        parts = [self._read_all()]
        while self._skip("or"):
            parts.append(self._read_all(parts[-1]))
        return _merge_any(parts)

    def _read_all(self, before: Parsed | None = None) -> Parsed:
        parts = [self._read_one(before)]
        while self._skip("and"):
            parts.append(self._read_one())
        return parts[0] if len(parts) == 1 else (len(parts), len(parts), tuple(parts))

    def _read_one(self, before: Parsed | None = None) -> Parsed:
        self.depth += 1
        self._grow()
        part = self._read_part(before)
        self.depth -= 1
        return part

    def _read_part(self, before: Parsed | None) -> Parsed:
        self._blank()
        for word, value in (("always", True), ("never", False)):
            if self._skip(word):
                return value
        if self._skip("not"):
            return (0, 0, (self._read_one(),))
        if self._skip("("):
            part = self._read_any()
            self._take(")")
            return part
        counted = _COUNTS.match(self.text, self.at)
        if counted:
            self.at = counted.end()
            return _make_count(counted, self._read_members())
        # "age < 3 or ≥ 5", "age ≥ 54 or missing": the column is the one before.
        named = before.column if isinstance(before, _Literal) else None
        return self._read_literal(named)

    def _read_members(self) -> tuple[Parsed, ...]:
        self._blank()
        if self._skip("["):
            parts = [self._read_any()]
            while self._skip(";"):
                parts.append(self._read_any())
            self._take("]")
            return tuple(parts)
        found = _GROUP.match(self.text, self.at)
        if not found or found[1] not in self.groups:
            raise InputError("expected conditions in [ ] or the name of a group")
        self.at = found.end()
        self._grow(self.depths[found[1]])
        return self.groups[found[1]]

    def _grow(self, depth: int = 0) -> None:
        """Note how deep conditions lie inside each other, those of named groups too."""
        self.reached = max(self.reached, self.depth + depth)
        if self.reached > _MAX_DEPTH:
            raise InputError(f"expected at most {_MAX_DEPTH} brackets and groups inside each other")

    # ---- literals ----

    def _read_literal(self, named: int | None) -> Parsed:
        """Read a condition on a column; one that is ``named`` need not be named again."""
        self._blank()
        if named is not None and self._skip("missing"):
            return _Literal(named, self._make_missing(named))
        if named is not None and _OPERATOR.match(self.text, self.at):
            return self._read_comparison(named)
        if _NUMBER.match(self.text, self.at):
            return self._read_window()
        column = self._read_name()
        if self._skip("missing"):
            return _Literal(column, self._make_missing(column))
        if self._skip("not"):
            if self._skip("missing"):
                return _Literal(column, self._make_missing(column).complement(), present=True)
            self._take("in")
            return _Literal(column, _exclude(self._read_set(column)))
        if self._skip("in"):
            return _Literal(column, self._read_set(column))
        return self._read_comparison(column)

    def _read_window(self) -> Parsed:
        value = self._read_float()
        operator = self._read_operator()
        if operator not in _TURNED:
            raise InputError("expected ≤ or < between a number and a column")
        column = self._read_name()
        again = self._read_operator()
        if {operator, again} not in ({"≤"}, {"<"}, {"≤", "<"}):
            raise InputError("expected low ≤ column < high")
        window = _compare(_TURNED[operator], value) & _compare(again, self._read_float())
        self._skip_unit(column)
        return _Literal(column, window)

    def _make_missing(self, column: int) -> Condition:
        return Condition((), (False,) * self.schema.columns[column].n_categories, missing=True)

    def _read_member(self, column: int) -> Condition:
        """Read a category, and return the condition that a value is it."""
        chosen, n = self._read_category(column), self.schema.columns[column].n_categories
        return Condition((), tuple(k == chosen for k in range(n)))

    def _read_name(self) -> int:
        self._blank()
        for text, i in self.names:
            if self.text.startswith(text, self.at):
                self.at += len(text)
                return i
        raise InputError(f"expected the name of a column at {self.text[self.at : self.at + 20]!r}")

    def _read_comparison(self, column: int) -> Parsed:
        operator = self._read_operator()
        if self.schema.columns[column].categories is not None:
            if operator not in ("=", "≠"):
                raise InputError("expected =, ≠ or in for categories")
            found = self._read_member(column)
            return _Literal(column, found if operator == "=" else _exclude(found))
        numbers = _compare(operator, self._read_float())
        self._skip_unit(column)
        return _Literal(column, numbers)

    def _read_set(self, column: int) -> Condition:
        self._take("{")
        found = self._read_value(column)
        while self._skip(","):
            found |= self._read_value(column)
        self._take("}")
        self._skip_unit(column)
        return found

    def _read_value(self, column: int) -> Condition:
        if self.schema.columns[column].categories is not None:
            return self._read_member(column)
        return _compare("=", self._read_float())

    def _read_category(self, column: int) -> int:
        labels = self.schema.columns[column].categories or ()
        found = self._read_label(labels)
        if found is None:
            known = list_some([format_label(label) for label in labels], 20)
            raise InputError(f"expected one of the categories {known}")
        return found

    def _skip_unit(self, column: int) -> None:
        unit = self.schema.columns[column].unit
        if unit:
            self._skip(quote_unit(unit))

    # ---- words ----

    def _read_number(self) -> Fraction:
        self._blank()
        found = _NUMBER.match(self.text, self.at)
        if not found:
            raise InputError("expected a number")
        self.at = found.end()
        try:
            if len(found[0]) > _MAX_DIGITS or _find_exponent(found[0]) > _MAX_DIGITS:
                raise InputError(f"expected a number of at most {_MAX_DIGITS} digits")
            return Fraction(found[0].replace("−", "-"))
        except ZeroDivisionError:
            raise InputError(f"expected a number, got {found[0]}") from None

    def _read_float(self) -> float:
        number = self._read_number()
        if abs(number) > LARGEST_INPUT:
            raise InputError(f"expected a number within ±{LARGEST_INPUT:g}")
        return float(number)

    def _read_operator(self) -> str:
        self._blank()
        found = _OPERATOR.match(self.text, self.at)
        if not found:
            raise InputError("expected one of ≥ ≤ > < = ≠")
        self.at = found.end()
        return _OPERATORS[found[0]]

    def _blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1

    def _skip(self, what: str) -> bool:
        self._blank()
        if not self.text.startswith(what, self.at):
            return False
        end = self.at + len(what)
        # A word must not go on: "ill" is not the start of "illness".
        if what[-1].isalnum() and end < len(self.text) and _goes_on(self.text[end]):
            return False
        self.at = end
        return True

    def _take(self, what: str) -> None:
        if not self._skip(what):
            raise InputError(f"expected {what!r} at {self.text[self.at : self.at + 20]!r}")

    def _end(self) -> None:
        self._blank()
        if self.at < len(self.text):
            raise InputError(f"expected the end of the line at {_shorten(self.text[self.at :])!r}")


def _goes_on(character: str) -> bool:
    return character.isalnum() or character == "_"


def _fold_blocks(text: str) -> list[tuple[int, str]]:
    """Turn indented blocks into lists in brackets; drop notes and empty lines."""
    if len(text) > _MAX_TEXT:
        raise InputError(f"rules: expected a text of at most {_MAX_TEXT} characters")
    rows: list[tuple[int, int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _MAX_LINE:
            raise InputError(f"rules, line {number}: expected at most {_MAX_LINE} characters")
        kept = _cut_note(line).rstrip()
        if kept.strip():
            rows.append((number, len(kept) - len(kept.lstrip()), kept.strip()))

    def fold(k: int, level: int) -> tuple[str, int]:
        number, depth, line = rows[k]
        if level > _MAX_DEPTH:
            raise InputError(f"rules, line {number}: expected at most {_MAX_DEPTH} blocks")
        k += 1
        if not _BLOCK_HEAD.search(line):
            return line, k
        parts: list[str] = []
        while k < len(rows) and rows[k][1] > depth:
            part, k = fold(k, level + 1)
            parts.append(part)
        return f"{line} [{'; '.join(parts)}]", k

    out: list[tuple[int, str]] = []
    k = 0
    while k < len(rows):
        number = rows[k][0]
        line, k = fold(k, 0)
        out.append((number, line))
    return out


def _shorten(text: str) -> str:
    """Return the beginning of a text, for a message."""
    return text if len(text) <= 200 else f"{text[:200]}…"


def _find_exponent(number: str) -> int:
    """Return the size of the exponent of a number that is written with one."""
    digits = re.split("[eE]", number)[-1].strip("+-").split("/")[0] if "e" in number.lower() else ""
    return _MAX_DIGITS + 1 if len(digits) > 9 else int(digits or 0)


def _cut_note(line: str) -> str:
    """Cut what follows a dash, unless it is inside quotes."""
    hidden = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), line)
    at = hidden.find(" — ")
    return line if at < 0 else line[:at]


def _spell(printed: str, label: Label) -> set[str]:
    """Return the ways to write a name or a label: as it is printed, and in quotes."""
    quoted = {json.dumps(label, ensure_ascii=False)} if isinstance(label, str) else set()
    return {printed, *quoted}


def _make_count(found: re.Match[str], members: tuple[Parsed, ...]) -> Parsed:
    if len(found[0]) > 50:
        raise InputError("expected a number of conditions of few digits")
    word, exactly, least, most, low, high = found.groups()
    n = len(members)
    if word:
        ends = {"all": (n, n), "any": (1, n), "none": (0, 0)}[word]
    elif exactly:
        ends = int(exactly), int(exactly)
    elif low:
        ends = int(low), int(high)
    else:
        ends = (int(least), n) if least else (0, int(most))
    if ends[0] > ends[1]:
        raise InputError(f"expected the smaller number first, got between {low} and {high}")
    return (*ends, members)


def _compare(operator: str, value: float) -> Condition:
    """Return the numbers that compare with a value in this way."""
    at_least, at_most = Condition(((value, math.inf),)), Condition(((-math.inf, value),))
    if operator in ("≥", "<"):
        found = at_least
    elif operator in ("≤", ">"):
        found = at_most
    else:
        found = at_least & at_most
    return _exclude(found) if operator in ("<", ">", "≠") else found


def _exclude(condition: Condition) -> Condition:
    """Return the other numbers or categories; missing values are neither in nor out."""
    return replace(condition.complement(), missing=False)


def _merge_any(parts: list[Parsed]) -> Parsed:
    """Join what is said of one column into one literal."""
    merged: list[Parsed] = []
    for part in parts:
        last = merged[-1] if merged else None
        if (
            isinstance(part, _Literal)
            and isinstance(last, _Literal)
            and part.column == last.column
            and not (part.present or last.present)
        ):
            merged[-1] = _Literal(part.column, last.condition | part.condition)
        else:
            merged.append(part)
    return merged[0] if len(merged) == 1 else (1, len(merged), tuple(merged))
