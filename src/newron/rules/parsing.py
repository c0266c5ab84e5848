"""Reads rules that were written as text, by :mod:`newron.rules.text` or by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from newron.errors import InputError
from newron.formatting import format_label, list_some, shorten
from newron.model.output import Classes, Output
from newron.model.schema import Schema
from newron.rules.axis import Axis, make_axes
from newron.rules.body import Body, Branch, DecisionList, Points
from newron.rules.circuit import Term
from newron.rules.condition_reader import GROUP, ConditionReader, Parsed, ParsedLiteral
from newron.rules.node import FALSE, TRUE, Algebra, Count, Node
from newron.rules.scanning import NUMBER, fold_blocks
from newron.rules.text import MISSING, write_decision, write_head


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

    Raises InputError: With the number of the line, what was expected and what was found.
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


def _list_literals(parts: Iterable[Parsed]) -> Iterator[ParsedLiteral]:
    seen: set[int] = set()
    stack = list(parts)
    while stack:
        part = stack.pop()
        if isinstance(part, ParsedLiteral):
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

    def _make(self, part: ParsedLiteral | tuple[int, int, tuple[Parsed, ...]]) -> Node:
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


class _Reader(ConditionReader):
    """Reads a text line by line."""

    def __init__(self, schema: Schema, output: Output) -> None:
        super().__init__(schema)
        self.output = output

    def read(self, text: str) -> _Document:
        document = _Document(self.output)
        lines = fold_blocks(text)
        k = 0
        while k < len(lines):
            try:
                k = self._read_line(document, lines, k)
            except InputError as error:
                where = f"rules, line {self.number}"
                raise InputError(f"{where}: {error}; got {shorten(self.text)!r}") from None
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
        found = GROUP.match(self.text, self.at)
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
        while k < len(lines) and NUMBER.match(lines[k][1]):
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
        expected = write_decision(self.output, Points((), tuple(document.constants)))
        end = k + len(expected)
        more = len(lines) > end and not lines[end][1].startswith(MISSING)
        if [line for _, line in lines[k:end]] != expected or more:
            raise InputError(f"expected {' / '.join(expected) or 'nothing more'!r} at the end")
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
        self.depth = self.reached = 0
        self._begin(*(lines[k] if k < len(lines) else (self.number + 1, "")))

    def _read_class(self) -> int:
        if not isinstance(self.output, Classes):
            raise InputError(f"regression has no classes: expected {write_head(self.output)!r}")
        self._skip("class ")
        found = self._read_label(self.output.labels)
        if found is None:
            known = list_some([format_label(label) for label in self.output.labels], 20)
            raise InputError(f"expected one of the classes {known}")
        return found
