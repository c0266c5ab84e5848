"""A program as lines of SQL: no functions but those of every database.

Each line has a name and reads columns and earlier lines. What is read twice gets a
line of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from newron.exports.dialects import Dialect
from newron.exports.magnitude import LARGEST, SMALLEST, Magnitudes
from newron.exports.program import Program
from newron.exports.text import Names
from newron.expressions.definitions import (
    DEFINITIONS,
    MAX_EXPONENT,
    MAX_UNBOUNDED,
    Definition,
    collect_definitions,
)
from newron.expressions.tree import (
    ONE,
    ZERO,
    Call,
    Choice,
    Compare,
    Condition,
    Expression,
    Input,
    Key,
    Number,
    Parameter,
    Step,
    Value,
    add,
    bound,
    call,
    list_parts,
    minimum,
    negate,
    rebuild,
    substitute,
)

_MAX_COLUMNS = 100  # functions that get columns of their own at a time
_MAX_FACTORS = 10  # and parts of a sum: databases do not nest very deep
_MAX_PARTS = 50
_MAX_REACH = 1e100  # of what a formula reads
_TINY = 1e-100  # e to a power of this size is 1

_SHORT = {"function": "h"}


@dataclass(frozen=True)
class Line:
    """A name and what it stands for."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Block:
    """Lines that read columns and earlier blocks, but not each other."""

    name: str
    lines: tuple[Line, ...]


def lower_program(
    program: Program, names: Names, dialect: Dialect, *, exact: bool
) -> tuple[list[Block], Lowering]:
    """Return the blocks of a program up to its scores, and what can lower the rest."""
    lowering, layers = Lowering(names, dialect, program.own), program.model.layers
    blocks: list[Block] = []
    if program.ranks:
        blocks += lowering.lower_block("ranks", program.ranks)
    for number, stage in enumerate(program.stages, 1):
        # A condition on a neuron may compare with the very value that it has: no rounding there.
        crisp = any(layer.function.crisp for layer in layers[number:])
        lowering.exact = exact or crisp
        functions = stage.functions
        if len(functions) > _MAX_COLUMNS and not collect_definitions(_list(functions), program.own):
            lowering.inline(functions)
        else:  # some at a time: no database has columns for the steps of all
            for first in range(0, len(functions), _MAX_COLUMNS):
                part = functions[first : first + _MAX_COLUMNS]
                blocks += lowering.lower_block(f"functions_{number}", part)
        if number < len(program.stages):
            blocks += lowering.lower_block(f"neurons_{number}", stage.neurons, stage.products)
        else:
            blocks += lowering.lower_block("scores", stage.neurons, stage.products)
    return blocks, lowering


def _list(steps: tuple[Step, ...]) -> list[Expression]:
    return [step.expression for step in steps]


class Lowering:
    """Lowers steps one after another."""

    def __init__(
        self, names: Names, dialect: Dialect, own: Mapping[str, Definition] | None = None
    ) -> None:
        self._own = own or {}
        self.exact = True
        """Whether e to a power is computed by the model's own operations."""
        self._names = names
        self._dialect = dialect
        self._magnitudes = Magnitudes()
        self._inlined: dict[Key, Expression] = {}  # what is written where it is read
        self._ready: dict[Key, Expression] = {}
        self._lines: list[Line] = []
        self._base = ""

    def inline(self, steps: tuple[Step, ...]) -> None:
        """Take in steps that are written where they are read."""
        for step in steps:
            self._magnitudes.learn(step.key, step.expression)
            self._inlined[step.key] = step.expression

    def lower_block(
        self, name: str, steps: tuple[Step, ...], products: tuple[Step, ...] = ()
    ) -> Iterator[Block]:
        """Lower steps that do not read each other; yield the blocks before them, and them."""
        self._lines, results = [], []
        for step in products:
            self._lower_product(step)
        for step in steps:
            own = _name_score(step.key, len(steps)) if name == "scores" else _name_step(step.key)
            self._base = self._names.take(own)
            results.append((step, self._base, self.lower(step.expression)))
        yield from _arrange(name, self._lines)
        for step, own, _ in results:
            self._magnitudes.learn(step.key, step.expression)
            self._ready[step.key] = Parameter(own)
        if results:
            yield Block(name, tuple(Line(own, expression) for _, own, expression in results))

    def _lower_product(self, step: Step) -> None:
        """Lower one more factor of a product; now and then it gets a line, or they would nest."""
        self._base = _name_step(step.key)
        lowered = self.lower(step.expression)
        self._magnitudes.learn(step.key, step.expression)
        named = step.key.number % _MAX_FACTORS == _MAX_FACTORS - 1
        self._ready[step.key] = self._name(lowered, "") if named else lowered

    def read(self, key: Key) -> Expression:
        """Return what a step has been lowered to."""
        return self._ready[key]

    # ---- expressions ----

    def lower(self, node: Expression) -> Expression:
        """Return an expression over columns and lines."""
        if isinstance(node, Value):
            return self._lower_value(node.key)
        if isinstance(node, Choice):
            return cast("Expression", rebuild(node, self.lower))
        return self._lower_call(node) if isinstance(node, Call) else node

    def _lower_value(self, key: Key) -> Expression:
        if key in self._ready:
            return self._ready[key]
        before, self._base = self._base, _name_step(key)
        lowered = self.lower(self._inlined[key])
        self._base = before
        return lowered

    def _lower_call(self, node: Call) -> Expression:
        if node.name == "bounded":
            part = self.lower(node.arguments[0])
            large = self._magnitudes.measure(node.arguments[0]).ceiling > MAX_UNBOUNDED
            return bound(part, MAX_UNBOUNDED) if large else part
        if node.name in self._own:
            return self._inline(self._own[node.name], node.arguments)
        if node.name in DEFINITIONS:
            argument = self.lower(node.arguments[0])
            return self._define(node.name, argument)
        if node.name in ("*", "/"):
            return self._multiply(node)
        parts = tuple(self.lower(part) for part in node.arguments)
        return self._fold(node.name, parts) if len(parts) > _MAX_PARTS else Call(node.name, parts)

    def _inline(self, one: Definition, arguments: tuple[Expression, ...]) -> Expression:
        """Put a formula of a model's own in place."""
        known = {
            name: self._name(self.lower(argument), "z")
            for name, argument in zip(one.arguments, arguments, strict=True)
        }
        for line, expression in one.lines:
            kept = self._name(self.lower(substitute(expression, known)), line)
            if isinstance(kept, Parameter):
                self._magnitudes.learn_name(kept.name, _MAX_REACH)
            known[line] = kept
        return self.lower(substitute(one.result, known))

    def _fold(self, name: str, parts: tuple[Expression, ...]) -> Expression:
        """Take a few parts at a time, in their order."""
        total = Call(name, parts[:_MAX_PARTS])
        for first in range(_MAX_PARTS, len(parts), _MAX_PARTS - 1):
            so_far = self._name(total, "part")
            total = Call(name, (so_far, *parts[first : first + _MAX_PARTS - 1]))
        return total

    def _name(self, expression: Expression, suffix: str) -> Expression:
        """Return an expression a line, unless it has a name already."""
        if isinstance(expression, Input | Parameter | Number):
            return expression
        name = self._names.take(f"{self._base}_{suffix}" if suffix else self._base)
        self._lines.append(Line(name, expression))
        return Parameter(name)

    # ---- products that neither overflow nor underflow ----

    def _multiply(self, node: Call) -> Expression:
        parts = [self.lower(part) for part in node.arguments]
        whole = self._magnitudes.measure(node)
        factor = node.arguments[0]
        if self._dialect.overflows and whole.ceiling > LARGEST and isinstance(factor, Number):
            # Whatever reads the product is saturated long before.
            parts[1] = bound(parts[1], 1e300 / abs(factor.value))
        if not self._dialect.underflows or whole.floor > SMALLEST:
            return Call(node.name, tuple(parts))
        if node.name == "/" or isinstance(factor, Number):
            return self._scale(node.name, parts)
        return self._multiply_small(*parts)

    def _scale(self, name: str, parts: list[Expression]) -> Expression:
        """Multiply by a constant, or divide by one; 0 where that is too small for a number."""
        scaled, constant = (parts[0], parts[1]) if name == "/" else (parts[1], parts[0])
        if not isinstance(constant, Number):
            return Call(name, tuple(parts))
        limit = _find_vanishing(name, abs(constant.value))
        if limit == 0.0:
            return Call(name, tuple(parts))
        x = self._name(scaled, "z")
        result = call(name, x, constant) if name == "/" else call(name, constant, x)
        return Choice(((Compare("<=", call("abs", x), Number(limit)), ZERO),), result)

    def _multiply_small(self, left: Expression, right: Expression) -> Expression:
        """Multiply two values; 0 where the product is too small for a number."""
        x, y = self._name(left, "x"), self._name(right, "y")
        low = self._name(minimum(call("abs", x), call("abs", y)), "low")
        high = self._name(call("max", call("abs", x), call("abs", y)), "high")
        scaled = call("*", call("*", low, Number(2.0**800)), high)
        return Choice(
            (
                (Compare(">", low, Number(2.0**-537)), call("*", x, y)),
                (Compare("<", high, Number(2.0**-540)), ZERO),
                (Compare("<=", scaled, Number(2.0**-275)), ZERO),
            ),
            call("*", x, y),
        )

    # ---- functions ----

    def _define(self, name: str, argument: Expression) -> Expression:
        """Replace a function by its definition."""
        if not self.exact and name not in ("log", "sin", "cos"):
            return self._approximate(name, argument)
        x = self._name(argument, "z")
        known: dict[str, Expression] = {"x": x}
        for line, expression in DEFINITIONS[name].lines:
            if (name, line) == ("exp", "c"):
                known[line] = self._name(self._clamp(x), "c")
            else:
                known[line] = self._name(self._substitute(expression, known), line)
        return self._substitute(DEFINITIONS[name].result, known)

    def _substitute(self, node: Expression, known: dict[str, Expression]) -> Expression:
        if isinstance(node, Parameter):
            return known[node.name]
        if isinstance(node, Call):
            parts = tuple(self._substitute(part, known) for part in node.arguments)
            defined = node.name in DEFINITIONS
            return self._define(node.name, parts[0]) if defined else Call(node.name, parts)
        return cast("Expression", rebuild(node, lambda part: self._substitute(part, known)))

    def _clamp(self, x: Expression) -> Expression:
        """Keep an exponent within what e can be raised to."""
        inside = bound(x, MAX_EXPONENT)
        if not self._dialect.underflows:
            return inside
        # A square of less than 1e-300 would be too small; e to it is 1 in either case.
        return Choice(((Compare("<", call("abs", x), Number(_TINY)), ZERO),), inside)

    def _approximate(self, name: str, argument: Expression) -> Expression:
        """Write a function by the database's own exp."""
        if name == "exp":
            return call("EXP", bound(argument, MAX_EXPONENT))
        if name == "sigmoid":
            return call("/", ONE, add(ONE, call("EXP", bound(negate(argument), MAX_EXPONENT))))
        if name == "tanh":
            power = call("EXP", bound(call("*", Number(2.0), argument), MAX_EXPONENT))
            return call("-", ONE, call("/", Number(2.0), add(ONE, power)))
        z = self._name(bound(argument, MAX_UNBOUNDED), "z")
        under = call("-", call("EXP", bound(z, MAX_EXPONENT)), ONE)
        return Choice(
            ((Compare(">", z, ZERO), call("*", Number(1.05070098735548049342), z)),),
            call("*", Number(1.75809934084737685994), under),
        )


def _find_vanishing(name: str, constant: float) -> float:
    """Return the largest number whose product with a constant, or quotient by it, is 0."""
    edge = Fraction(1, 2**1075)  # half of the smallest number
    limit = float(edge * Fraction(constant) if name == "/" else edge / Fraction(constant))

    def vanishes(x: float) -> bool:
        return (x / constant if name == "/" else x * constant) == 0.0

    while not vanishes(limit):
        limit = math.nextafter(limit, 0.0)
    while vanishes(math.nextafter(limit, math.inf)):
        limit = math.nextafter(limit, math.inf)
    return limit


def _name_step(key: Key) -> str:
    layer = f"{key.layer}_" if key.layer else ""
    return f"{_SHORT.get(key.kind, key.kind)}_{layer}{key.number + 1}"


def _name_score(key: Key, n: int) -> str:
    return "score" if n == 1 else f"score_{key.number + 1}"


def read_names(node: Expression | Condition) -> set[str]:
    """Return the names of the lines that an expression reads."""
    if isinstance(node, Parameter):
        return {node.name}
    return set().union(*(read_names(part) for part in list_parts(node)), set())


def _arrange(name: str, lines: list[Line]) -> Iterator[Block]:
    """Put lines into blocks, each after what it reads."""
    depth: dict[str, int] = {}
    blocks: list[list[Line]] = []
    for line in lines:
        earlier = [depth[other] for other in read_names(line.expression) if other in depth]
        level = max(earlier, default=-1) + 1
        depth[line.name] = level
        if level == len(blocks):
            blocks.append([])
        blocks[level].append(line)
    for number, block in enumerate(blocks, 1):
        yield Block(f"{name}_{number}", tuple(block))
