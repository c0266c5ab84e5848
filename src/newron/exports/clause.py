"""Expressions as clauses of SQL: trees of sqlglot, which spells them for a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from newron._extras import import_extra
from newron.exports.dialects import Dialect
from newron.exports.infix import flip_sign
from newron.exports.text import has_text, label_text
from newron.expressions.tree import (
    AllOf,
    Call,
    Choice,
    Compare,
    Condition,
    Expression,
    Input,
    IsMissing,
    Lookup,
    Number,
    OneOf,
    Parameter,
    Some,
)
from newron.formatting import format_label, format_number
from newron.model.schema import Column
from newron.tables.field import LARGEST_INPUT, Label

Node = Any  # a node of sqlglot, which need not be installed
Bound = tuple[Node, int]
"""A node, and how tightly its outermost operator binds."""

# The loosest first.
_OR, _AND, _COMPARE, _SUM, _PRODUCT, _SIGN, _ATOM = range(7)
_MAX_DIGITS, _MAX_EXPONENT = 15, 22  # what every database reads as the number it is


def open_sqlglot() -> Any:
    """Return the tree of sqlglot."""
    return import_extra("sqlglot", "to write SQL with", "sql").exp


class Clauses:
    """Prints expressions for one database; ``names`` are the columns as the query calls them."""

    def __init__(self, dialect: Dialect, columns: Sequence[Column], names: Sequence[str]) -> None:
        self._exp = open_sqlglot()
        self._dialect = dialect
        self._columns = columns
        self._names = names
        self._types: dict[str, Node] = {}
        self.counted: dict[Condition, str] = {}
        """The columns that are 1 where a condition holds, for those that are counted."""
        self._signs = {
            "<": self._exp.LT, "<=": self._exp.LTE, ">": self._exp.GT, ">=": self._exp.GTE,
            "==": self._exp.EQ,
        }  # fmt: skip

    # ---- names, numbers, texts ----

    def name(self, text: str) -> Node:
        """Return a column of the query."""
        return self._exp.Column(this=self.quote(text))

    def quote(self, text: str) -> Node:
        """Return a name of a table or a column, whatever is in it."""
        return self._exp.Identifier(this=text, quoted=True)

    def cast(self, node: Node, kind: str = "double") -> Node:
        """Return a node as numbers in double precision, or as another type."""
        if kind not in self._types:  # they are parsed, which takes its time
            self._types[kind] = self._exp.DataType.build(kind)
        return self._exp.Cast(this=node, to=self._types[kind].copy())

    def write_number(self, value: float) -> Node:
        """Write a number, not a negative one, so that it is read as the same number."""
        text = format_number(value)
        digits = text.split("e")[0].replace(".", "").strip("0")
        long = len(digits) > _MAX_DIGITS
        if self._dialect.rounds_literals and (long or _is_far(value)):
            return self._write_exactly(value)
        if "e" not in text and long:
            text += "e0"  # else some databases read a decimal, and round twice
        return self._exp.Literal.number(text.upper())

    def _write_exactly(self, value: float) -> Node:
        """Write a number as a whole one times a power of two."""
        whole, below = value.as_integer_ratio()
        zeros = (whole & -whole).bit_length() - 1
        power = zeros - (below.bit_length() - 1)
        literal = self._exp.Literal.number(whole >> zeros)
        raised = self._raise_two(self._exp.Literal.number(abs(power)), negative=power < 0)
        return self._exp.Paren(this=self._exp.Mul(this=literal, expression=raised))

    def _raise_two(self, power: Node, *, negative: bool = False) -> Node:
        power = self._exp.Neg(this=power) if negative else power
        return self._exp.Pow(this=self._exp.Literal.number("2E0"), expression=power)

    def write_label(self, label: Label, *, as_text: bool = False) -> Node:
        """Write a category or a class."""
        if isinstance(label, str) or as_text:
            text = label if isinstance(label, str) else label_text(label)
            wide = self._dialect.collation is not None
            return self._exp.National(this=text) if wide else self._exp.Literal.string(text)
        if isinstance(label, bool):
            return self._exp.Boolean(this=label)
        number = self._exp.Literal.number(format_label(abs(label)))
        return self._exp.Neg(this=number) if label < 0 else number

    # ---- columns of the table ----

    def read_column(self, i: int) -> Node:
        """Return a column of the table as the query reads it; one of another type is an error."""
        column = self._columns[i]
        node, labels = self.name(column.name), column.categories
        if labels is None:
            read = self._read_number(node)
        elif has_text(labels):
            read = self._read_text(node, labels)
        elif isinstance(labels[0], bool):
            read = node
        else:
            read = self._require_number(node)
        if self._dialect.name == "sqlite":
            return self._check_type(column, _list_types(labels), read)
        if self._dialect.name == "duckdb" and read is node:  # it makes truths of anything
            return self._check_type(column, ["BOOLEAN"], read)
        return read

    def _read_number(self, node: Node) -> Node:
        limit = self._exp.Literal.number(f"{LARGEST_INPUT:.0E}".replace("+", ""))
        # NaN is missing, too: below no number, or above all.
        number = self.cast(self._require_number(node))
        inside = self._exp.LT(this=self._exp.Abs(this=number), expression=limit)
        return self._exp.Case(ifs=[self._exp.If(this=inside, true=self.cast(node.copy()))])

    def _read_text(self, node: Node, labels: Sequence[Label]) -> Node:
        text = self.cast(node, self._dialect.text)
        if self._dialect.collation is not None:
            collation = self._exp.Var(this=self._dialect.collation)
            return self._exp.Collate(this=text, expression=collation)
        if not self._dialect.has_typed_operators:
            return text
        # Only texts, and an ENUM, are compared with a text that is no number.
        label = self.write_label(min(labels, key=_is_number), as_text=True)
        same = self._exp.EQ(this=node.copy(), expression=label)
        return self._exp.Case(ifs=[self._exp.If(this=same, true=label.copy())], default=text)

    def _require_number(self, node: Node) -> Node:
        """Return a sum, which only numbers have, where that is an error for all others."""
        if not self._dialect.has_typed_operators:
            return node
        return self._exp.Add(this=self._exp.Literal.number(0), expression=node)

    def _check_type(self, column: Column, types: Sequence[str], read: Node) -> Node:
        """Return what is read of a column, or an error where a value is of none of the types."""
        name = self.name(column.name)
        found = self._exp.Anonymous(this="TYPEOF", expressions=[name])
        listed = self._exp.In(this=found, expressions=[*map(self._exp.Literal.string, types)])
        expected = " or ".join(kind for kind in types if kind != "null")
        words = [self._exp.Literal.string(f"column {column.name}: expected {expected}")]
        function = "ERROR"
        if self._dialect.name == "sqlite":  # a wrong path is its only error that takes words
            function, words = "JSON_EXTRACT", [self._exp.Literal.string("{}"), *words]
        raised = self._exp.Anonymous(this=function, expressions=words)
        first = self._exp.If(this=self._exp.Not(this=listed), true=raised)
        if isinstance(read, self._exp.Case) and read.args.get("default") is None:
            return self._exp.Case(ifs=[first, *read.args["ifs"]])
        return self._exp.Case(ifs=[first], default=read)

    # ---- numbers ----

    def print_line(self, node: Expression) -> Node:
        """Print an expression whose type is double precision."""
        printed = self.print(node)
        return printed if _is_double(node) else self.cast(printed)

    def print(self, node: Expression) -> Node:
        """Print an expression."""
        return self._print(node)[0]

    def _wrap(self, bound: Bound, min_level: int) -> Node:
        printed, level = bound
        return printed if level >= min_level else self._exp.Paren(this=printed)

    def _bind(self, node: Expression, min_level: int) -> Node:
        return self._wrap(self._print(node), min_level)

    def _print(self, node: Expression) -> Bound:
        if isinstance(node, Number):
            number = self.write_number(abs(node.value))
            return (self._exp.Neg(this=number), _SIGN) if node.value < 0.0 else (number, _ATOM)
        if isinstance(node, Input):
            return self.name(self._names[node.column]), _ATOM
        if isinstance(node, Parameter):
            return self.name(node.name), _ATOM
        if isinstance(node, Lookup):
            return self._print_lookup(node), _ATOM
        if isinstance(node, Choice):
            case = self.print_case(node, self.print)
            values = [*(value for _, value in node.branches), node.otherwise]
            return case if any(map(_is_double, values)) else self.cast(case), _ATOM
        assert isinstance(node, Call)  # noqa: S101 - lowering leaves no other
        return self._print_call(node)

    def print_case(self, node: Choice, value: Callable[[Expression], Node]) -> Node:
        """Print a choice; ``value`` prints what is chosen among."""
        ifs = [
            self._exp.If(this=self.print_condition(condition), true=value(chosen))
            for condition, chosen in node.branches
        ]
        return self._exp.Case(ifs=ifs, default=value(node.otherwise))

    def _print_lookup(self, node: Lookup) -> Node:
        """Print the categories of each value; the last one is that of all others."""
        groups: dict[float, list[int]] = {}
        for k, value in enumerate(node.values):
            if value != node.otherwise:
                groups.setdefault(value, []).append(k)
        otherwise = Number(node.otherwise)
        branches = [(OneOf(node.column, tuple(g)), Number(value)) for value, g in groups.items()]
        if not branches:
            return self.cast(self.print(otherwise))
        return self.cast(self.print_case(Choice(tuple(branches), otherwise), self.print))

    def _print_call(self, node: Call) -> Bound:
        parts = node.arguments
        if node.name in ("+", "-"):
            return self._print_sum(node), _SUM
        if node.name in ("*", "/"):
            left, right = self._bind(parts[0], _PRODUCT), self._bind(parts[1], _SIGN)
            if node.name == "*":
                return self._exp.Mul(this=left, expression=right), _PRODUCT
            # typed: both sides are numbers in double precision, whatever a database divides.
            return self._exp.Div(this=left, expression=right, typed=True), _PRODUCT
        if node.name == "negate":
            return self._exp.Neg(this=self._bind(parts[0], _ATOM)), _SIGN
        if node.name == "ldexp":
            left = self._bind(parts[0], _PRODUCT)
            return self._exp.Mul(
                this=left, expression=self._raise_two(self.print(parts[1]))
            ), _PRODUCT
        printed = [self.print(part) for part in parts]
        if node.name in ("min", "max"):
            kind = self._exp.Least if node.name == "min" else self._exp.Greatest
            skips = self._dialect.skips_nulls
            return kind(this=printed[0], expressions=printed[1:], ignore_nulls=skips), _ATOM
        kinds = {"abs": self._exp.Abs, "sqrt": self._exp.Sqrt, "EXP": self._exp.Exp}
        return kinds[node.name](this=printed[0]), _ATOM

    def _print_sum(self, node: Call) -> Node:
        first, *rest = node.arguments
        total = self._bind(first, _SUM)
        for part in rest:
            minus, flipped = node.name == "-", flip_sign(part)
            if flipped is not None:  # a + -2 * b is written as a - 2 * b
                part, minus = flipped, not minus
            kind = self._exp.Sub if minus else self._exp.Add
            total = kind(this=total, expression=self._bind(part, _PRODUCT))
        return total

    # ---- conditions ----

    def print_condition(self, node: Condition) -> Node:
        """Print a condition; where it is NULL, it does not hold."""
        return self._print_condition(node)[0]

    def _print_condition(self, node: Condition) -> Bound:
        if isinstance(node, Compare):
            left, right = self._bind(node.left, _SUM), self._bind(node.right, _SUM)
            return self._signs[node.sign](this=left, expression=right), _COMPARE
        if isinstance(node, OneOf):
            return self._print_members(node.column, node.categories), _COMPARE
        if isinstance(node, IsMissing):
            return self._print_missing(node.column)
        if isinstance(node, Some):
            return self._print_some(node), _AND
        if not node.parts:
            sign = self._exp.EQ if isinstance(node, AllOf) else self._exp.NEQ
            one = self._exp.Literal.number(1)
            return sign(this=one, expression=one.copy()), _COMPARE
        kind, level = (self._exp.And, _AND) if isinstance(node, AllOf) else (self._exp.Or, _OR)
        total = self._wrap(self._print_condition(node.parts[0]), level)
        for part in node.parts[1:]:
            total = kind(this=total, expression=self._wrap(self._print_condition(part), level + 1))
        return total, level

    def _print_members(self, i: int, categories: Sequence[int]) -> Node:
        labels = self._columns[i].categories or ()
        literals = [self.write_label(labels[k], as_text=has_text(labels)) for k in categories]
        name = self.name(self._names[i])
        if len(literals) == 1:
            return self._exp.EQ(this=name, expression=literals[0])
        return self._exp.In(this=name, expressions=literals)

    def _print_missing(self, i: int) -> Bound:
        name = self.name(self._names[i])
        missing = self._exp.Is(this=name, expression=self._exp.Null())
        labels = self._columns[i].categories
        if not labels:
            return missing, _COMPARE
        known = self._print_members(i, range(len(labels)))
        unknown = self._exp.Not(this=self._exp.Paren(this=known))
        return self._exp.Or(this=missing, expression=unknown), _OR

    def _print_some(self, node: Some) -> Node:
        total = self.name(self.counted[node.parts[0]])
        for part in node.parts[1:]:
            total = self._exp.Add(this=total, expression=self.name(self.counted[part]))
        low, high = (self._exp.Literal.number(n) for n in (node.low, node.high))
        if node.low == node.high:
            return self._exp.EQ(this=total, expression=low)
        if node.high >= len(node.parts):
            return self._exp.GTE(this=total, expression=low)
        if node.low <= 0:
            return self._exp.LTE(this=total, expression=high)
        return self._exp.Between(this=total, low=low, high=high)

    def count(self, node: Condition) -> Node:
        """Return 1 where a condition holds, and 0 where it does not."""
        return self.print_case(Choice(((node, Number(1.0)),), Number(0.0)), self.print)


def _list_types(labels: Sequence[Label] | None) -> list[str]:
    """Return the types of SQLite that the values of a column may have."""
    if labels is None or not has_text(labels):
        return ["null", "integer", "real"]
    texts = all(isinstance(label, str) for label in labels)
    return ["null", "text"] if texts else ["null", "integer", "real", "text"]


def _is_number(label: Label) -> bool:
    try:
        float(label)
    except ValueError:
        return False
    return True


def _is_far(value: float) -> bool:
    return value != 0.0 and not 10.0**-_MAX_EXPONENT <= value <= 10.0**_MAX_EXPONENT


def _is_double(node: Expression) -> bool:
    """Return whether an expression is printed as numbers in double precision."""
    if isinstance(node, Call):
        return node.name in ("EXP", "ldexp") or any(map(_is_double, node.arguments))
    return not isinstance(node, Number)
