"""Between which numbers a formula stays: interval arithmetic over tapes.

Ends may be arrays, one for each function of a layer. What is found holds for every value of the
inputs, but may be wider than need be: each line is bounded by the bounds of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from newron.errors import DefinitionError
from newron.expressions import arithmetic
from newron.expressions.arithmetic import Floats
from newron.expressions.tape import OPERATIONS, Line, Tape

Ends = tuple[Floats, Floats]
"""The least and the greatest value."""

_LARGEST = 1.7e308
_SLACK = 4e-16  # what rounding may add, of a value's size
_RISING = ("exp", "log", "sqrt", "sigmoid", "tanh", "copy")
_PERIOD = 2.0 * np.pi
_PARTS = np.array([0.0, 1e-3, 0.03, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 20.0, 100.0])


def enclose(tape: Tape, inputs: Mapping[str, Ends], *, strict: str = "") -> list[Ends]:
    """Return the ends of each output.

    With ``strict``, the name of what is defined, a line without a finite value is an error.
    """
    known = _enclose_lines(tape, inputs, strict)
    return [known[i] for i in tape.outputs]


def _enclose_lines(tape: Tape, inputs: Mapping[str, Ends], strict: str = "") -> list[Ends]:
    known: list[Ends] = [_to_ends(*inputs[name]) for name in tape.inputs]
    known += [_to_ends(value, value) for value in tape.constants]
    with np.errstate(all="ignore"):
        for line in tape.lines:
            ends = _enclose_line(line, known, strict)
            if strict and not all(np.all(np.abs(end) <= _LARGEST) for end in ends):
                raise DefinitionError(
                    f"{strict}: expected numbers within ±1.7e308 on the way, got {line[0]!r} of "
                    "what can be larger; keep its arguments small by minimum and maximum"
                )
            known.append(ends)
    return known


def _to_ends(low: Any, high: Any) -> Ends:
    return np.asarray(low, np.float64), np.asarray(high, np.float64)


def _enclose_line(line: Line, known: list[Ends], strict: str) -> Ends:
    name, arguments = line
    parts = [known[i] for i in arguments]
    if name == "*" and arguments[0] == arguments[1]:
        return _square(*parts[0])
    if name == "/" and strict:
        low, high = parts[1]
        if np.any((low <= 0.0) & (high >= 0.0)):
            raise DefinitionError(
                f"{strict}: expected a divisor that is never 0, got one between {low:.3g} and "
                f"{high:.3g}; add a constant to it or bound it by maximum"
            )
    if name in ("log", "sqrt") and strict and np.any(parts[0][0] < 0.0):
        raise DefinitionError(
            f"{strict}: expected {name} of numbers from 0 on, got some down to "
            f"{float(parts[0][0].min()):.3g}; use abs or maximum inside"
        )
    low, high = _RULES[name](*parts) if name in _RULES else _rise(name, *parts)
    # Operations that are rounded once keep the order of numbers; the functions may not quite.
    slack = _SLACK if name in ("exp", "log", "sin", "cos", "sigmoid", "tanh") else 0.0
    return low - np.abs(low) * slack, high + np.abs(high) * slack


def _rise(name: str, x: Ends) -> Ends:
    return OPERATIONS[name](x[0]), OPERATIONS[name](x[1])


def _square(low: Floats, high: Floats) -> Ends:
    largest = np.maximum(np.abs(low), np.abs(high))
    smallest = np.where((low <= 0.0) & (high >= 0.0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return smallest * smallest, largest * largest * (1.0 + _SLACK)


def _corners(operation: Callable[[Floats, Floats], Floats]) -> Callable[[Ends, Ends], Ends]:
    def join(a: Ends, b: Ends) -> Ends:
        values = np.broadcast_arrays(*(operation(x, y) for x in a for y in b))
        return np.nan_to_num(np.min(values, axis=0), nan=-np.inf), np.nan_to_num(
            np.max(values, axis=0), nan=np.inf
        )

    return join


def _divide(a: Ends, b: Ends) -> Ends:
    low, high = _corners(np.divide)(a, b)
    free = (b[0] <= 0.0) & (b[1] >= 0.0)
    return np.where(free, -np.inf, low), np.where(free, np.inf, high)


def _absolute(x: Ends) -> Ends:
    inside = (x[0] <= 0.0) & (x[1] >= 0.0)
    ends = np.abs(x[0]), np.abs(x[1])
    return np.where(inside, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _less(a: Ends, b: Ends) -> Ends:
    return _to_ends(a[1] < b[0], a[0] < b[1])


def _less_or_equal(a: Ends, b: Ends) -> Ends:
    return _to_ends(a[1] <= b[0], a[0] <= b[1])


def _equal(a: Ends, b: Ends) -> Ends:
    same = (a[0] == a[1]) & (b[0] == b[1]) & (a[0] == b[0])
    return _to_ends(same, (a[0] <= b[1]) & (b[0] <= a[1]))


def _select(c: Ends, a: Ends, b: Ends) -> Ends:
    never, always = c[1] == 0.0, c[0] != 0.0
    low = np.where(never, b[0], np.where(always, a[0], np.minimum(a[0], b[0])))
    return low, np.where(never, b[1], np.where(always, a[1], np.maximum(a[1], b[1])))


def _turn(shift: float) -> Callable[[Ends], Ends]:
    """Return the ends of a cosine that is moved by so many turns."""

    def ends(x: Ends) -> Ends:
        wave = arithmetic.cos if shift == 0.0 else arithmetic.sin
        low, high = (np.clip(end, -1e6, 1e6) / _PERIOD - shift for end in x)
        tops = np.floor(high + 1e-9) >= np.ceil(low - 1e-9)
        bottoms = np.floor(high + 0.5 + 1e-9) >= np.ceil(low + 0.5 - 1e-9)
        at = wave(x[0]), wave(x[1])
        return np.where(bottoms, -1.0, np.minimum(*at)), np.where(tops, 1.0, np.maximum(*at))

    return ends


_RULES: dict[str, Callable[..., Ends]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": _corners(np.multiply),
    "/": _divide,
    "negate": lambda a: (-a[1], -a[0]),
    "abs": _absolute,
    "min": lambda a, b: (np.minimum(a[0], b[0]), np.minimum(a[1], b[1])),
    "max": lambda a, b: (np.maximum(a[0], b[0]), np.maximum(a[1], b[1])),
    "<": _less,
    "<=": _less_or_equal,
    "==": _equal,
    "select": _select,
    "sin": _turn(0.25),
    "cos": _turn(0.0),
}


def is_monotone(tape: Tape, name: str, reach: float, others: Mapping[str, Ends]) -> bool:
    """Return whether the first output is proved never to fall as an input rises, but for rounding.

    The input goes from -reach to reach, in pieces on each of which every condition is decided:
    there the slope is bounded, and between two pieces the values are compared.
    """
    if _list_directions(tape, name)[tape.outputs[0]] in (0, 1):
        return True
    slope = tape.differentiate(name)
    own = np.array([value for value in tape.constants if abs(value) <= reach])
    marks = np.unique(
        np.clip(np.concatenate([_PARTS, -_PARTS, own, -own, [-reach, reach]]), -reach, reach)
    )
    pieces = np.nextafter(marks[:-1], np.inf), np.nextafter(marks[1:], -np.inf)
    known = _enclose_lines(slope, {**others, name: pieces})
    first = len(slope.inputs) + len(slope.constants)
    for (operation, _), (low, high) in zip(slope.lines, known[first:], strict=True):
        if operation in ("<", "<=", "==") and np.any(low != high):
            return False
    values = tape.evaluate(
        {
            **{key: ends[0] for key, ends in others.items()},
            name: np.sort([*marks, *pieces[0], *pieces[1]]),
        }
    )[0]
    rises = np.diff(values) >= -1e-12 * np.maximum(np.abs(values[1:]), 1.0)
    return bool(np.all(known[slope.outputs[1]][0] >= -1e-14) and np.all(rises))


def _list_directions(tape: Tape, name: str) -> list[int | None]:
    """Return for each line whether it rises with an input (1), falls (-1), neither (0) or both."""
    known: list[int | None] = [int(each == name) for each in tape.inputs]
    known += [0] * len(tape.constants)
    for operation, arguments in tape.lines:
        parts = [known[i] for i in arguments]
        if operation in ("negate", "-"):
            last = parts[-1]
            parts[-1] = None if last is None else -last
        if not any(part != 0 for part in parts):
            known.append(0)
        elif operation in ("+", "-", "negate", "min", "max", *_RISING):
            ways = {part for part in parts if part != 0}
            known.append(ways.pop() if len(ways) == 1 else None)
        else:
            known.append(_scale_direction(tape, operation, arguments, parts))
    return known


def _scale_direction(
    tape: Tape, operation: str, arguments: tuple[int, ...], parts: list[int | None]
) -> int | None:
    """Return the direction of a product with a constant."""
    first = len(tape.inputs)
    for own, other in ((0, 1), (1, 0)) if operation == "*" else ():
        constant = arguments[own] - first
        if 0 <= constant < len(tape.constants):
            way, sign = parts[other], int(np.sign(tape.constants[constant]))
            return None if way is None else way * sign
    return None
