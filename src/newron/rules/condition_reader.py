"""Reads conditions that were written as text, before columns have cells."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from newron.errors import InputError
from newron.formatting import format_label, list_some, quote, quote_unit
from newron.model.condition import Condition
from newron.model.schema import Schema
from newron.rules.scanning import MAX_DEPTH, NUMBER, OPERATOR, Scanner
from newron.tables.field import Label

_TURNED = {"≤": "≥", "<": ">", "≥": "≤", ">": "<"}
_COUNTS = re.compile(
    r"(?:(all|any|none)|exactly (\d+)|at least (\d+)|at most (\d+)|between (\d+) and (\d+)) of\b"
)
GROUP = re.compile(r"([A-Z]{1,2})\b")


@dataclass(frozen=True)
class ParsedLiteral:
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


Parsed = bool | ParsedLiteral | tuple[int, int, tuple["Parsed", ...]]


class ConditionReader(Scanner):
    """Reads conditions of a line, and groups that were named before."""

    def __init__(self, schema: Schema) -> None:
        super().__init__()
        self.schema = schema
        self.groups: dict[str, tuple[Parsed, ...]] = {}
        # Longer names first, so that "age at birth" is not read as "age".
        names = [
            (text, i) for i, name in enumerate(schema.names) for text in _spell(quote(name), name)
        ]
        self.names = sorted(names, key=lambda item: -len(item[0]))
        self.depth = self.reached = 0
        self.depths: dict[str, int] = {}  # of groups
        self.spellings: dict[int, tuple[dict[str, int], list[int]]] = {}  # of labels

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
        named = before.column if isinstance(before, ParsedLiteral) else None
        return self._read_literal(named)

    def _read_members(self) -> tuple[Parsed, ...]:
        self._blank()
        if self._skip("["):
            parts = [self._read_any()]
            while self._skip(";"):
                parts.append(self._read_any())
            self._take("]")
            return tuple(parts)
        found = GROUP.match(self.text, self.at)
        if not found or found[1] not in self.groups:
            raise InputError("expected conditions in [ ] or the name of a group")
        self.at = found.end()
        self._grow(self.depths[found[1]])
        return self.groups[found[1]]

    def _grow(self, depth: int = 0) -> None:
        """Note how deep conditions lie inside each other, those of named groups too."""
        self.reached = max(self.reached, self.depth + depth)
        if self.reached > MAX_DEPTH:
            raise InputError(f"expected at most {MAX_DEPTH} brackets and groups inside each other")

    # ---- literals ----

    def _read_literal(self, named: int | None) -> Parsed:
        """Read a condition on a column; one that is ``named`` need not be named again."""
        self._blank()
        if named is not None and self._skip("missing"):
            return ParsedLiteral(named, self._make_missing(named))
        if named is not None and OPERATOR.match(self.text, self.at):
            return self._read_comparison(named)
        if NUMBER.match(self.text, self.at):
            return self._read_window()
        column = self._read_name()
        if self._skip("missing"):
            return ParsedLiteral(column, self._make_missing(column))
        if self._skip("not"):
            if self._skip("missing"):
                return ParsedLiteral(column, self._make_missing(column).complement(), present=True)
            self._take("in")
            return ParsedLiteral(column, _exclude(self._read_set(column)))
        if self._skip("in"):
            return ParsedLiteral(column, self._read_set(column))
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
        return ParsedLiteral(column, window)

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
            return ParsedLiteral(column, found if operator == "=" else _exclude(found))
        numbers = _compare(operator, self._read_float())
        self._skip_unit(column)
        return ParsedLiteral(column, numbers)

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
            any(map(self._skip, sorted(_spell(quote_unit(unit), unit))))


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
            isinstance(part, ParsedLiteral)
            and isinstance(last, ParsedLiteral)
            and part.column == last.column
            and not (part.present or last.present)
        ):
            merged[-1] = ParsedLiteral(part.column, last.condition | part.condition)
        else:
            merged.append(part)
    return merged[0] if len(merged) == 1 else (1, len(merged), tuple(merged))
