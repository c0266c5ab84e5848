"""How small and how large a value can be.

Some databases raise an error where IEEE 754 gives infinity or zero. Clamps avoid that; they
are written where a value can get there, and left out where it cannot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from newron.expressions.tree import (
    Call,
    Choice,
    Expression,
    Key,
    Lookup,
    Number,
    Parameter,
    Value,
)
from newron.tables.field import LARGEST_INPUT

SMALLEST = 5e-324
LARGEST = 1.7e308
_APART = 2.0**-54  # how near, by its size, the next number to a number is


@dataclass(frozen=True)
class Magnitude:
    """The minimum size of a value that is not 0, and its maximum."""

    floor: float
    ceiling: float


_ANY = Magnitude(SMALLEST, LARGEST_INPUT)
_EXP = Magnitude(3e-308, 3.1e307)

# What functions return, whatever their argument is.
_RANGES = {
    "exp": _EXP,
    "sigmoid": Magnitude(1.5e-308, 1.0),
    "tanh": Magnitude(5e-17, 1.0),
    "log": Magnitude(1e-17, 710.0),
    "sin": Magnitude(1e-17, 1.0),
    "cos": Magnitude(1e-17, 1.0),
    "selu": Magnitude(SMALLEST, 1.1e100),
}


class Magnitudes:
    """Knows how small and large the values of a program are."""

    def __init__(self) -> None:
        self._known: dict[Key, Magnitude] = {}
        self._named: dict[str, Magnitude] = {}

    def learn(self, key: Key, expression: Expression) -> None:
        """Keep the magnitude of a step."""
        self._known[key] = self.measure(expression)

    def learn_name(self, name: str, ceiling: float) -> None:
        """Keep how large the value of a line can be."""
        self._named[name] = Magnitude(SMALLEST, ceiling)

    def measure(self, node: Expression) -> Magnitude:
        """Return the magnitude of an expression."""
        if isinstance(node, Number):
            return _cover([node.value])
        if isinstance(node, Lookup):
            return _cover([*node.values, node.otherwise])
        if isinstance(node, Value):
            return self._known.get(node.key, _ANY)
        if isinstance(node, Parameter):
            return self._named.get(node.name, _ANY)
        if isinstance(node, Choice):
            return _join(
                [self.measure(part) for _, part in node.branches] + [self.measure(node.otherwise)]
            )
        return self._measure_call(node) if isinstance(node, Call) else _ANY

    def _measure_call(self, node: Call) -> Magnitude:
        if node.name in _RANGES:
            return _RANGES[node.name]
        parts = [self.measure(part) for part in node.arguments]
        if node.name == "sqrt":
            return Magnitude(1e-162, max(parts[0].ceiling, 1.0))
        if node.name == "bounded":
            return Magnitude(parts[0].floor, min(parts[0].ceiling, 1e100))
        if node.name in ("+", "-"):
            ceiling = 1.01 * sum(part.ceiling for part in parts)
            return Magnitude(_measure_difference(node), ceiling)
        if node.name == "*":
            return Magnitude(parts[0].floor * parts[1].floor, parts[0].ceiling * parts[1].ceiling)
        if node.name == "/":
            return Magnitude(parts[0].floor / parts[1].ceiling, parts[0].ceiling / parts[1].floor)
        return _join(parts)


def _measure_difference(node: Call) -> float:
    """Return the minimum size of a sum: a value is not nearer to a constant than its neighbours."""
    sizes = [abs(part.value) for part in node.arguments if isinstance(part, Number)]
    apart = len(node.arguments) == 2 and len(sizes) == 1
    return max(sizes[0] * _APART, SMALLEST) if apart else SMALLEST


def _cover(values: list[float]) -> Magnitude:
    sizes = [abs(value) for value in values]
    return Magnitude(min((size for size in sizes if size), default=math.inf), max(sizes))


def _join(parts: list[Magnitude]) -> Magnitude:
    return Magnitude(min(part.floor for part in parts), max(part.ceiling for part in parts))
