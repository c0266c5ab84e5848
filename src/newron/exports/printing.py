"""What the printers of programming languages share: infix operators and brackets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from newron.exports.expression import (
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

__all__ = ["ATOM", "COMPARE", "OR", "Infix", "Printed", "turn_sign"]

WIDTH = 88  # from here on a sum is told on several lines

# How tightly operators bind, the loosest first.
_CHOICE, OR, _AND, COMPARE, _SUM, _PRODUCT, _SIGN, ATOM = range(8)

Printed = tuple[str, int]
"""A text, and how tightly its outermost operator binds."""


class Infix(ABC):
    """Prints expressions with the operators that C, JavaScript and Python share."""

    also, either = "&&", "||"
    truths = "false", "true"
    fold = "\n    "
    """How a line goes on, one step deeper than statements are."""

    def print(self, node: Expression | Condition) -> str:
        """Give the text of an expression or a condition."""
        return self._print(node)[0]

    # ---- what languages differ in ----

    @abstractmethod
    def print_number(self, value: float) -> str:
        """Write a constant so that it reads back as the same number."""

    @abstractmethod
    def print_input(self, column: int) -> str:
        """Write the number in a column."""

    @abstractmethod
    def print_value(self, key: Key) -> str:
        """Write a computed value."""

    @abstractmethod
    def print_function(self, name: str, arguments: Sequence[str]) -> str:
        """Write the call of a function."""

    @abstractmethod
    def print_lookup(self, lookup: Lookup) -> str:
        """Write the number of a category."""

    @abstractmethod
    def print_missing(self, column: int) -> str:
        """Write that a column has a gap."""

    @abstractmethod
    def print_members(self, column: int, categories: tuple[int, ...]) -> Printed:
        """Write that a column holds one of some categories."""

    @abstractmethod
    def print_count(self, parts: Sequence[str]) -> str:
        """Write how many conditions hold, as a sum."""

    def print_choice(self, condition: str, yes: str, no: str) -> str:
        """Write one value or the other."""
        return f"{condition} ? {yes} : {no}"

    # ---- the tree ----

    def _print(self, node: Expression | Condition) -> Printed:
        if isinstance(node, Number):
            return self.print_number(node.value), _SIGN if node.value < 0.0 else ATOM
        if isinstance(node, Input):
            return self.print_input(node.column), ATOM
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

    def _wrap(self, node: Expression | Condition, least: int) -> str:
        text, level = self._print(node)
        return text if level >= least else f"({text})"

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
            turned = turn_sign(part)
            if turned is not None:  # a + -2 * b is told as a - 2 * b
                part, minus = turned, not minus
            lines.append(f"{'-' if minus else '+'} {self._wrap(part, _PRODUCT)}")
        flat = " ".join(lines)
        return flat if len(flat) <= WIDTH else self.fold.join(lines)

    def _print_choice(self, node: Choice) -> str:
        text = self._wrap(node.otherwise, _CHOICE)
        for condition, value in reversed(node.branches):
            asked = self._wrap(condition, OR)
            text = self.print_choice(asked, self._wrap(value, OR), text)
        return text

    def _print_condition(self, node: Condition) -> Printed:
        if isinstance(node, Compare):
            left, right = self._wrap(node.left, _SUM), self._wrap(node.right, _SUM)
            return f"{left} {node.sign} {right}", COMPARE
        if isinstance(node, IsMissing):
            return self.print_missing(node.column), ATOM
        if isinstance(node, OneOf):
            return self.print_members(node.column, node.categories)
        if isinstance(node, Some):
            return self._print_some(node), _AND
        if not node.parts:
            return self.truths[isinstance(node, AllOf)], ATOM
        word, level = (self.also, _AND) if isinstance(node, AllOf) else (self.either, OR)
        lines = [self._wrap(part, level + 1) for part in node.parts]
        flat = f" {word} ".join(lines)
        return flat if len(flat) <= WIDTH else f"{self.fold}{word} ".join(lines), level

    def _print_some(self, node: Some) -> str:
        total = self.print_count([self._wrap(part, COMPARE) for part in node.parts])
        asked = []
        if node.low == node.high:
            return f"{total} == {node.low}"
        if node.low > 0:
            asked.append(f"{total} >= {node.low}")
        if node.high < len(node.parts):
            asked.append(f"{total} <= {node.high}")
        return f" {self.also} ".join(asked)


def turn_sign(part: Expression) -> Expression | None:
    """Give -part if part is a negative number, or has one as its first factor."""
    if isinstance(part, Number) and part.value < 0.0:
        return Number(-part.value)
    if isinstance(part, Call) and part.name == "negate":
        return part.arguments[0]
    if isinstance(part, Call) and part.name == "*":
        factor = part.arguments[0]
        if isinstance(factor, Number) and factor.value < 0.0:
            return Call("*", (Number(-factor.value), part.arguments[1]))
    return None
