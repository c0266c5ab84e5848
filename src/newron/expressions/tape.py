"""Formulas as straight programs: one operation after the other, each computed once.

A :class:`Tape` is what is evaluated: here in NumPy, and by the compiled core, which runs the
same operations over blocks of rows. Derivatives are more lines of the same tape
(:meth:`Tape.differentiate`), so that value and derivatives share whatever they have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.expressions import arithmetic
from newron.expressions.arithmetic import Floats
from newron.expressions.tree import (
    AllOf,
    AnyOf,
    Call,
    Choice,
    Compare,
    Condition,
    Expression,
    Number,
    Parameter,
)

Line = tuple[str, tuple[int, ...]]
"""An operation, and the lines that it reads."""

# What the core numbers in this order (cpp/core/machine.h). Conditions are 0 or 1, and
# "select" takes its second value where the first is not 0.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "negate": np.negative,
    "abs": np.abs,
    "min": lambda a, b: np.where(b < a, b, a),
    "max": lambda a, b: np.where(b > a, b, a),
    "<": lambda a, b: (a < b) * 1.0,
    "<=": lambda a, b: (a <= b) * 1.0,
    "==": lambda a, b: (a == b) * 1.0,
    "select": lambda c, a, b: np.where(c != 0.0, a, b),
    "sqrt": lambda a: np.sqrt(np.maximum(a, 0.0)),
    "exp": arithmetic.exp,
    "log": arithmetic.log,
    "sin": arithmetic.sin,
    "cos": arithmetic.cos,
    "sigmoid": arithmetic.sigmoid,
    "tanh": arithmetic.tanh,
    "copy": np.positive,
}
_TINY = 1e-30  # keeps derivatives of log and sqrt finite in single precision


@dataclass(frozen=True)
class Tape:
    """Lines over inputs and constants, and which of them are the results.

    Lines are numbered: the inputs first, then the constants, then the operations in order.
    """

    inputs: tuple[str, ...]
    constants: tuple[float, ...]
    lines: tuple[Line, ...]
    outputs: tuple[int, ...]

    def evaluate(self, values: Mapping[str, Floats]) -> list[Floats]:
        """Return the outputs, for arrays that broadcast."""
        known: list[Any] = [np.asarray(values[name], np.float64) for name in self.inputs]
        known += map(np.float64, self.constants)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            for name, arguments in self.lines:
                known.append(OPERATIONS[name](*(known[i] for i in arguments)))
        shape = np.broadcast_shapes(*(value.shape for value in known[: len(self.inputs)]))
        return [np.array(np.broadcast_to(known[i], shape)) for i in self.outputs]

    def differentiate(
        self, *inputs: str, output: int = 0, keep: bool = True, even: bool = False
    ) -> Tape:
        """Return the tape whose outputs are this one's and the derivatives of one of them.

        With ``even`` the derivative at a kink is the mean of both sides, so that where kinks
        cancel, as in max(x, 0) + log(1 + exp(-|x|)), it is that of the smooth sum.
        """
        recorder = _Recorder(self.inputs, even)
        numbers = recorder.copy(self)
        slopes = recorder.pull(numbers[self.outputs[output]], inputs)
        kept = [numbers[i] for i in self.outputs] if keep else []
        return recorder.finish([*kept, *slopes])

    def then(self, results: Sequence[Expression], names: Sequence[str]) -> Tape:
        """Return the tape of formulas over this one's outputs, given by names, and its inputs."""
        recorder = _Recorder(self.inputs)
        numbers = recorder.copy(self)
        for name, output in zip(names, self.outputs, strict=True):
            recorder.numbers["input", name] = numbers[output]
        return recorder.finish([recorder.read(node) for node in results])

    @cached_property
    def code(self) -> tuple[NDArray[np.int32], NDArray[np.float64], int]:
        """The tape as the core reads it: rows of operation, result, three arguments.

        Registers are the inputs, the constants, the outputs, and as few others as will do.
        """
        return _Allocation(self).assign()


def record(results: Expression | Sequence[Expression], inputs: Iterable[str]) -> Tape:
    """Return the tape of one or several formulas over named inputs."""
    roots: Sequence[Any] = results if isinstance(results, list | tuple) else [results]
    recorder = _Recorder(tuple(inputs))
    return recorder.finish([recorder.read(node) for node in roots])


class _Recorder:
    """Writes lines, each once, without what changes nothing."""

    def __init__(self, inputs: tuple[str, ...], even: bool = False) -> None:
        self.inputs, self.even = inputs, even
        self.nodes: list[tuple[str, Any]] = [("input", name) for name in inputs]
        self.numbers: dict[tuple[str, Any], int] = {node: i for i, node in enumerate(self.nodes)}

    def write(self, name: str, *arguments: int) -> int:
        """Return the number of an operation's line."""
        if name == "*":  # the sign outside: -z * z is the square that it is
            for own, other in (arguments, arguments[::-1]):
                if self.nodes[own][0] == "negate":
                    return self.write("negate", self.write("*", self.nodes[own][1][0], other))
        return self._add((name, arguments))

    def hold(self, value: float) -> int:
        """Return the number of a constant."""
        return self._add(("constant", float(value) + 0.0))

    def _add(self, node: tuple[str, Any]) -> int:
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[node]

    def is_constant(self, number: int, value: float) -> bool:
        """Return whether a line is this constant."""
        return self.nodes[number] == ("constant", value)

    # ---- trees ----

    def read(self, node: Expression | Condition) -> int:
        """Return the line of a tree."""
        if isinstance(node, Number):
            return self.hold(node.value)
        if isinstance(node, Parameter):
            return self.numbers["input", node.name]
        if isinstance(node, Compare):
            left, right = self.read(node.left), self.read(node.right)
            turned = {">": "<", ">=": "<="}.get(node.sign)
            if turned is not None:
                return self.write(turned, right, left)
            return self.write(node.sign, left, right)
        if isinstance(node, AllOf | AnyOf):
            name = "min" if isinstance(node, AllOf) else "max"
            return self._fold(name, [self.read(part) for part in node.parts])
        if isinstance(node, Choice):
            number = self.read(node.otherwise)
            for condition, value in reversed(node.branches):
                number = self.write("select", self.read(condition), self.read(value), number)
            return number
        assert isinstance(node, Call)  # noqa: S101 - formulas have no other nodes
        return self._fold(node.name, [self.read(part) for part in node.arguments])

    def _fold(self, name: str, parts: list[int]) -> int:
        if name in ("+", "min", "max") and len(parts) > 2:
            first, *rest = parts
            for part in rest:
                first = self.write(name, first, part)
            return first
        return self.write(name, *parts)

    def copy(self, tape: Tape) -> list[int]:
        """Write the lines of a tape; return their numbers here."""
        numbers = list(range(len(tape.inputs)))
        numbers += map(self.hold, tape.constants)
        for name, arguments in tape.lines:
            numbers.append(self.write(name, *(numbers[i] for i in arguments)))
        return numbers

    # ---- sums and products without zeros and ones ----

    def add(self, a: int | None, b: int) -> int:
        """Return a + b, where None is 0."""
        return b if a is None else self.write("+", a, b)

    def multiply(self, a: int, b: int) -> int:
        """Return a * b."""
        if self.is_constant(a, 1.0):
            return b
        if self.is_constant(b, 1.0):
            return a
        return self.write("*", a, b)

    # ---- derivatives ----

    def pull(self, output: int, inputs: Sequence[str]) -> list[int]:
        """Return the derivatives of a line by some inputs, from the result backwards."""
        slopes: dict[int, int] = {output: self.hold(1.0)}
        for number in range(output, -1, -1):
            slope = slopes.get(number)
            name, arguments = self.nodes[number]
            if slope is None or name in ("input", "constant"):
                continue
            for argument, factor in self._list_slopes(number, name, arguments, slope):
                if self.nodes[argument][0] != "constant":
                    slopes[argument] = self.add(slopes.get(argument), factor)
        found = [slopes.get(self.numbers["input", name]) for name in inputs]
        return [self.hold(0.0) if number is None else number for number in found]

    def _list_slopes(
        self, number: int, name: str, arguments: tuple[int, ...], g: int
    ) -> list[tuple[int, int]]:
        """Return each argument with its derivative times g."""
        if name in ("<", "<=", "=="):
            return []
        if name == "select":
            c, a, b = arguments
            zero = self.hold(0.0)
            return [(a, self.write("select", c, g, zero)), (b, self.write("select", c, zero, g))]
        if name in ("min", "max"):
            return self._list_extreme(name, arguments, g)
        if len(arguments) == 2:
            return self._list_binary(number, name, *arguments, g)
        return [(arguments[0], self._chain(number, name, arguments[0], g))]

    def _list_extreme(self, name: str, arguments: tuple[int, ...], g: int) -> list[tuple[int, int]]:
        a, b = arguments
        zero = self.hold(0.0)
        order = (a, b) if name == "min" else (b, a)
        if not self.even:
            first = self.write("<", *order)
            return [
                (a, self.write("select", first, g, zero)),
                (b, self.write("select", first, zero, g)),
            ]
        tie, half = self.write("==", a, b), self.write("*", self.hold(0.5), g)
        slopes = []
        for own, sides in ((a, order), (b, order[::-1])):
            chosen = self.write("select", self.write("<", *sides), g, zero)
            slopes.append((own, self.write("select", tie, half, chosen)))
        return slopes

    def _list_binary(self, number: int, name: str, a: int, b: int, g: int) -> list[tuple[int, int]]:
        if name == "+":
            return [(a, g), (b, g)]
        if name == "-":
            return [(a, g), (b, self.write("negate", g))]
        if name == "*":
            return [(a, self.multiply(g, b)), (b, self.multiply(g, a))]
        quotient = self.write("/", g, b)
        return [(a, quotient), (b, self.write("negate", self.multiply(quotient, number)))]

    def _chain(self, number: int, name: str, a: int, g: int) -> int:
        """Return g times the derivative of a function of one number."""
        one = self.hold(1.0)
        if name == "negate":
            return self.write("negate", g)
        if name == "copy":
            return g
        if name == "abs":
            zero = self.hold(0.0)
            below = self.write("<", a, zero)
            above = g
            if self.even:
                above = self.write("select", self.write("==", a, zero), zero, g)
            return self.write("select", below, self.write("negate", g), above)
        if name == "sqrt":
            twice = self.write("*", self.hold(2.0), self.write("max", number, self.hold(1e-12)))
            return self.write("/", g, twice)
        if name == "log":
            return self.write("/", g, self.write("max", a, self.hold(_TINY)))
        slope = {
            "exp": lambda: number,
            "sin": lambda: self.write("cos", a),
            "cos": lambda: self.write("negate", self.write("sin", a)),
            "sigmoid": lambda: self.write("*", number, self.write("-", one, number)),
            "tanh": lambda: self.write("-", one, self.write("*", number, number)),
        }[name]()
        return self.multiply(g, slope)

    # ---- the result ----

    def finish(self, outputs: Sequence[int]) -> Tape:
        """Return the lines that the outputs need."""
        needed = set(outputs)
        for number in range(len(self.nodes) - 1, -1, -1):
            name, arguments = self.nodes[number]
            if number in needed and name not in ("input", "constant"):
                needed.update(arguments)
        inputs = [i for i, node in enumerate(self.nodes) if node[0] == "input"]
        constants = [i for i in sorted(needed) if self.nodes[i][0] == "constant"]
        lines = [i for i in sorted(needed) if self.nodes[i][0] not in ("input", "constant")]
        position = {old: new for new, old in enumerate([*inputs, *constants, *lines])}
        return Tape(
            self.inputs,
            tuple(self.nodes[i][1] for i in constants),
            tuple((self.nodes[i][0], tuple(position[j] for j in self.nodes[i][1])) for i in lines),
            tuple(position[i] for i in outputs),
        )


class _Allocation:
    """Assigns the lines of a tape registers, which are used again once nothing reads them."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.first = len(tape.inputs) + len(tape.constants)
        self.register = {i: i for i in range(self.first)}
        self.last_read: dict[int, int] = {}
        for at, (_, arguments) in enumerate(tape.lines):
            self.last_read.update(dict.fromkeys(arguments, at))
        self.free: list[int] = []
        self.n_registers = self.first + len(tape.outputs)

    def assign(self) -> tuple[NDArray[np.int32], NDArray[np.float64], int]:
        """Return code, constants and the number of registers."""
        tape, names, rows = self.tape, list(OPERATIONS), []
        outputs = {line: self.first + k for k, line in reversed(list(enumerate(tape.outputs)))}
        for at, (name, arguments) in enumerate(tape.lines):
            line = self.first + at
            reads = [self.register[i] for i in arguments]
            self._release(arguments, at, outputs)
            self.register[line] = outputs[line] if line in outputs else self._take()
            rows.append([names.index(name), self.register[line], *reads, *[0] * (3 - len(reads))])
        for k, line in enumerate(tape.outputs):  # inputs, constants, and the same line twice
            if self.register[line] != self.first + k:
                copy = names.index("copy")
                rows.append([copy, self.first + k, self.register[line], 0, 0])
        code = np.array(rows, np.int32).reshape(-1, 5)
        return code, np.array(tape.constants, np.float64), self.n_registers

    def _release(self, arguments: Sequence[int], at: int, outputs: Mapping[int, int]) -> None:
        for i in sorted(set(arguments)):
            if i >= self.first and self.last_read[i] == at and i not in outputs:
                self.free.append(self.register[i])

    def _take(self) -> int:
        if self.free:
            return self.free.pop()
        self.n_registers += 1
        return self.n_registers - 1
