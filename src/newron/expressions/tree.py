"""What a network computes, as a tree that every target can print.

The operations are those that IEEE 754 defines to the last bit, so that a target which has
double precision gives the same bits as :mod:`newron.model.network`. Two rules hold in every
target: a comparison with a missing value is false, and the parts of a sum are added in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True)
class Key:
    """Names a computed value: what it is, of which layer (from 1 on), and its index there."""

    kind: str  # rank, function, product, neuron, share, probability
    layer: int
    number: int


# ---- numbers ----


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True)
class Input:
    """The number that a column holds."""

    column: int


@dataclass(frozen=True)
class Value:
    """What an earlier step has computed."""

    key: Key


@dataclass(frozen=True)
class Parameter:
    """A name inside a definition: its argument, or what a line of it has computed."""

    name: str


@dataclass(frozen=True)
class Call:
    """An operation, or one of the functions of :mod:`newron.expressions.definitions`.

    Operations are ``+ - * /``, ``negate``, ``abs``, ``min``, ``max``, ``sqrt`` and ``ldexp``. Of
    these ``+``, ``min`` and ``max`` take two numbers or more, from left to right.
    """

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Choice:
    """The value of the first condition that holds, or else the last one."""

    branches: tuple[tuple[Condition, Expression], ...]
    otherwise: Expression


@dataclass(frozen=True)
class Lookup:
    """A number for each category of a column; another one for missing and unknown ones."""

    column: int
    values: tuple[float, ...]
    otherwise: float


Expression = Number | Input | Value | Parameter | Call | Choice | Lookup


# ---- conditions ----


@dataclass(frozen=True)
class Compare:
    """``left sign right``, false where a side is missing; the sign is one of < <= >= > ==."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class IsMissing:
    """A column holds no value, or a category that is not known."""

    column: int


@dataclass(frozen=True)
class OneOf:
    """A column holds one of these categories, given by their numbers."""

    column: int
    categories: tuple[int, ...]


@dataclass(frozen=True)
class AllOf:
    """All conditions hold; so do none."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    """One of the conditions holds, or more; of none, none does."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Some:
    """At least ``low`` and at most ``high`` of the conditions hold."""

    low: int
    high: int
    parts: tuple[Condition, ...]


Condition = Compare | IsMissing | OneOf | AllOf | AnyOf | Some


@dataclass(frozen=True)
class Step:
    """One line of a program: a value, how it is computed, and what it is in words."""

    key: Key
    expression: Expression
    note: str = ""


ZERO, ONE = Number(0.0), Number(1.0)


# ---- making, without what changes nothing ----


def call(name: str, *arguments: Expression) -> Call:
    """Apply an operation or a defined function."""
    return Call(name, arguments)


def add(*parts: Expression) -> Expression:
    """Add parts one by one, in their order."""
    return parts[0] if len(parts) == 1 else call("+", *parts)


def subtract(left: Expression, right: Expression) -> Expression:
    """Return left - right."""
    return left if right == ZERO else call("-", left, right)


def multiply(left: Expression, right: Expression) -> Expression:
    """Return left * right."""
    if left == ONE:
        return right
    if right == ONE:
        return left
    return negate(right) if left == Number(-1.0) else call("*", left, right)


def divide(left: Expression, right: Expression) -> Expression:
    """Return left / right."""
    return left if right == ONE else call("/", left, right)


def negate(part: Expression) -> Expression:
    """Return -part."""
    return Number(-part.value) if isinstance(part, Number) else call("negate", part)


def minimum(*parts: Expression) -> Expression:
    """Return the minimum of some numbers."""
    return parts[0] if len(parts) == 1 else call("min", *parts)


def maximum(*parts: Expression) -> Expression:
    """Return the maximum of some numbers."""
    return parts[0] if len(parts) == 1 else call("max", *parts)


def bound(part: Expression, limit: float) -> Expression:
    """Keep a number within ±limit."""
    return maximum(minimum(part, Number(limit)), Number(-limit))


# ---- looking through ----


def list_parts(node: Expression | Condition) -> tuple[Expression | Condition, ...]:
    """Return what a node is made of."""
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Choice):
        return (*(part for branch in node.branches for part in branch), node.otherwise)
    if isinstance(node, Compare):
        return node.left, node.right
    return node.parts if isinstance(node, AllOf | AnyOf | Some) else ()


def rebuild(
    node: Expression | Condition, change: Callable[[Expression], Expression]
) -> Expression | Condition:
    """Return a node whose direct parts that are numbers are changed, conditions included."""
    if isinstance(node, Call):
        return Call(node.name, tuple(map(change, node.arguments)))
    if isinstance(node, Choice):
        branches = [
            (cast("Condition", rebuild(condition, change)), change(value))
            for condition, value in node.branches
        ]
        return Choice(tuple(branches), change(node.otherwise))
    if isinstance(node, Compare):
        return Compare(node.sign, change(node.left), change(node.right))
    if isinstance(node, AllOf | AnyOf):
        return type(node)(tuple(cast("Condition", rebuild(part, change)) for part in node.parts))
    return node


def substitute(node: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return an expression with others in place of some of its parameters."""
    if isinstance(node, Parameter):
        return values.get(node.name, node)
    return cast("Expression", rebuild(node, lambda part: substitute(part, values)))


def walk(node: Expression | Condition) -> Iterator[Expression | Condition]:
    """Return a node and all that is inside it."""
    yield node
    for part in list_parts(node):
        yield from walk(part)
