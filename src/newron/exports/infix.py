"""Expressions in infix notation, with a table of what C, JavaScript and Python differ in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from newron.expressions.tree import (
    AllOf,
    Call,
    Choice,
    Compare,
    Condition,
    Expression,
    Input,
    IsMissing,
    Key,
    Lookup,
    Number,
    OneOf,
    Parameter,
    Some,
    Value,
)

WIDTH = 88  # longer sums take several lines

# How tightly operators bind, the loosest first.
_CHOICE, OR, _AND, COMPARE, _SUM, _PRODUCT, _SIGN, ATOM = range(8)

# The arrays of values: h1[3] is function 3 of layer 1.
_ARRAYS = {"function": "h", "product": "p", "neuron": "n"}

Printed = tuple[str, int]
"""A text, and how tightly its outermost operator binds."""


class Infix(ABC):
    """Prints expressions; ``x`` holds the numbers and categories of a row."""

    both, either = "&&", "||"
    truths = "false", "true"
    choice = "{condition} ? {yes} : {no}"
    missing = "isnan(x[{column}])"
    values = ""
    """What stands before the name of an array of values."""
    functions: ClassVar[Mapping[str, str]] = {}
    """Operations that have another name."""
    fold = "\n    "
    """How a line is continued, one step deeper than statements are."""

    def print(self, node: Expression | Condition) -> str:
        """Return the text of an expression or a condition."""
        return self._print(node)[0]

    # ---- what languages differ in ----

    @abstractmethod
    def print_lookup(self, lookup: Lookup) -> str:
        """Write the number of a category."""

    @abstractmethod
    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        """Write that a column holds one of some categories."""

    def print_number(self, value: float) -> str:
        """Write a constant so that it reads back as the same number."""
        return repr(value)

    def print_value(self, key: Key) -> str:
        """Write a computed value."""
        if key.kind in _ARRAYS:
            return f"{self.values}{_ARRAYS[key.kind]}{key.layer}[{key.number}]"
        return f"{key.kind}[{key.number}]"

    def print_function(self, name: str, arguments: Sequence[str]) -> str:
        """Write the call of a function."""
        return f"{self.functions.get(name, name)}({', '.join(arguments)})"

    # ---- the tree ----

    def _print(self, node: Expression | Condition) -> Printed:
        if isinstance(node, Number):
            return self.print_number(node.value), _SIGN if node.value < 0.0 else ATOM
        if isinstance(node, Input):
            return f"x[{node.column}]", ATOM
        if isinstance(node, Value):
            return self.print_value(node.key), ATOM
        if isinstance(node, Parameter):
            return node.name, ATOM
        if isinstance(node, Lookup):
            return self.print_lookup(node), ATOM
        if isinstance(node, Call):
            return self._print_call(node)
        if isinstance(node, Choice):
            return self._print_choice(node), _CHOICE
        return self._print_condition(node)

    def _wrap(self, node: Expression | Condition, min_level: int) -> str:
        text, level = self._print(node)
        return text if level >= min_level else f"({text})"

    def _print_call(self, node: Call) -> Printed:
        parts = node.arguments
        if node.name in ("+", "-"):
            return self._print_sum(node), _SUM
        if node.name in ("*", "/"):
            left, right = self._wrap(parts[0], _PRODUCT), self._wrap(parts[1], _SIGN)
            return f"{left} {node.name} {right}", _PRODUCT
        if node.name == "negate":
            return f"-{self._wrap(parts[0], ATOM)}", _SIGN
        return self.print_function(node.name, [self.print(part) for part in parts]), ATOM

    def _print_sum(self, node: Call) -> str:
        first, *rest = node.arguments
        lines = [self._wrap(first, _SUM)]
        for part in rest:
            minus = node.name == "-"
            flipped = flip_sign(part)
            if flipped is not None:  # a + -2 * b is written as a - 2 * b
                part, minus = flipped, not minus
            lines.append(f"{'-' if minus else '+'} {self._wrap(part, _PRODUCT)}")
        return self._fold(lines, " ", self.fold)

    def _fold(self, lines: Sequence[str], between: str, fold: str) -> str:
        flat = between.join(lines)
        return flat if len(flat) <= WIDTH else fold.join(lines)

    def _print_choice(self, node: Choice) -> str:
        text = self._wrap(node.otherwise, _CHOICE)
        for condition, value in reversed(node.branches):
            text = self.choice.format(
                condition=self._wrap(condition, OR), yes=self._wrap(value, OR), no=text
            )
        return text

    def _print_condition(self, node: Condition) -> Printed:
        if isinstance(node, Compare):
            left, right = self._wrap(node.left, _SUM), self._wrap(node.right, _SUM)
            return f"{left} {node.sign} {right}", COMPARE
        if isinstance(node, IsMissing):
            return self.missing.format(column=node.column), ATOM
        if isinstance(node, OneOf):
            return self.print_members(node.column, node.categories)
        if isinstance(node, Some):
            return self._print_some(node), _AND
        if not node.parts:
            return self.truths[isinstance(node, AllOf)], ATOM
        word, level = (self.both, _AND) if isinstance(node, AllOf) else (self.either, OR)
        # Brackets around "and" inside "or": compilers warn without them.
        lines = [self._wrap(part, max(level, _AND) + 1) for part in node.parts]
        return self._fold(lines, f" {word} ", f"{self.fold}{word} "), level

    def _print_some(self, node: Some) -> str:
        parts = (f"({self._wrap(part, COMPARE)})" for part in node.parts)
        total = f"({' + '.join(parts)})"
        if node.low == node.high:
            return f"{total} == {node.low}"
        limits = [f"{total} >= {node.low}"] if node.low > 0 else []
        limits += [f"{total} <= {node.high}"] if node.high < len(node.parts) else []
        return f" {self.both} ".join(limits)


def flip_sign(part: Expression) -> Expression | None:
    """Return -part if part is a negative number, or has one as its first factor."""
    if isinstance(part, Number) and part.value < 0.0:
        return Number(-part.value)
    if isinstance(part, Call) and part.name == "negate":
        return part.arguments[0]
    if isinstance(part, Call) and part.name == "*":
        factor = part.arguments[0]
        if isinstance(factor, Number) and factor.value < 0.0:
            return Call("*", (Number(-factor.value), part.arguments[1]))
    return None
