"""Formulas as plain data, for model files: nested lists of known operations.

``["exp", ["negate", ["*", "z", "z"]]]`` is exp(-(z z)). A text is the name of an argument. Nothing
of it is ever executed: what is not an operation of this list is an error, and so is a formula
that is too deep or too large.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from newron.errors import DefinitionError
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
    list_parts,
)

MAX_DEPTH = 64
MAX_SIZE = 1000  # of a formula written out: shared parts count as often as they are used
ARITY = {
    "+": 2, "-": 2, "*": 2, "/": 2, "negate": 1, "abs": 1, "min": 2, "max": 2, "sqrt": 1,
    "exp": 1, "log": 1, "sin": 1, "cos": 1, "sigmoid": 1, "tanh": 1,
}  # fmt: skip
_SIGNS = ("<", "<=", ">=", ">", "==")


def check_size(node: Expression | Condition, what: str) -> None:
    """Raise an error for a formula that is too deep or too large."""
    known: dict[int, tuple[int, int]] = {}

    def measure(part: Expression | Condition, above: int) -> tuple[int, int]:
        if above > MAX_DEPTH:
            raise DefinitionError(
                f"{what}: expected a formula of at most {MAX_DEPTH} nested operations, got more"
            )
        if isinstance(part, Call) and part.name not in ARITY:
            raise DefinitionError(
                f"{what}: expected operations on single numbers, got "
                f".{part.name.removeprefix('reduce ')}(), which is for the parts of an aggregation"
            )
        if id(part) not in known:
            inner = [measure(each, above + 1) for each in list_parts(part)]
            size = 1 + sum(each for each, _ in inner)
            known[id(part)] = size, 1 + max((depth for _, depth in inner), default=0)
        size, depth = known[id(part)]
        if size > MAX_SIZE or above + depth > MAX_DEPTH + 1:
            raise DefinitionError(
                f"{what}: expected a formula of at most {MAX_SIZE} operations and {MAX_DEPTH} "
                f"nested ones, got more; write it shorter"
            )
        return size, depth

    measure(node, 0)


def to_data(node: Expression | Condition) -> Any:
    """Return a formula as nested lists."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Parameter):
        return node.name
    if isinstance(node, Compare):
        return [node.sign, to_data(node.left), to_data(node.right)]
    if isinstance(node, AllOf | AnyOf):
        name = "and" if isinstance(node, AllOf) else "or"
        return [name, *map(to_data, node.parts)]
    if isinstance(node, Choice):
        (condition, value), *rest = node.branches
        otherwise = Choice(tuple(rest), node.otherwise) if rest else node.otherwise
        return ["where", to_data(condition), to_data(value), to_data(otherwise)]
    assert isinstance(node, Call)  # noqa: S101 - formulas have no other nodes
    return [node.name, *map(to_data, node.arguments)]


def from_data(data: Any, arguments: Collection[str], what: str) -> Expression:
    """Return the formula of nested lists, checking every part."""
    return _Reader(arguments, what).read(data, 0)


class _Reader:
    def __init__(self, arguments: Collection[str], what: str) -> None:
        self.arguments, self.what = arguments, what
        self.size = 0

    def read(self, data: Any, depth: int) -> Expression:
        """Return a number's tree."""
        self._count(depth)
        if isinstance(data, str):
            if data not in self.arguments:
                raise self._fail(f"an argument among {', '.join(self.arguments)}", data)
            return Parameter(data)
        if isinstance(data, int | float) and not isinstance(data, bool):
            if not abs(data) <= 1e300:
                raise self._fail("numbers within ±1e300", data)
            return Number(float(data))
        name, parts = self._open(data)
        if name == "where":
            self._check_arity(name, parts, 3)
            branch = (self.test(parts[0], depth + 1), self.read(parts[1], depth + 1))
            return Choice((branch,), self.read(parts[2], depth + 1))
        if name not in ARITY:
            raise self._fail(f"an operation among {', '.join(ARITY)} and where", name)
        self._check_arity(name, parts, ARITY[name])
        return Call(name, tuple(self.read(part, depth + 1) for part in parts))

    def test(self, data: Any, depth: int) -> Condition:
        """Return a condition's tree."""
        self._count(depth)
        name, parts = self._open(data)
        if name in ("and", "or"):
            self._check_arity(name, parts, 2)
            kind = AllOf if name == "and" else AnyOf
            return kind(tuple(self.test(part, depth + 1) for part in parts))
        if name not in _SIGNS:
            raise self._fail(f"a comparison among {', '.join(_SIGNS)}, and, or", name)
        self._check_arity(name, parts, 2)
        return Compare(name, self.read(parts[0], depth + 1), self.read(parts[1], depth + 1))

    def _open(self, data: Any) -> tuple[str, list[Any]]:
        if not isinstance(data, list) or not data or not isinstance(data[0], str):
            raise self._fail("a list that begins with an operation", data)
        return data[0], data[1:]

    def _check_arity(self, name: str, parts: list[Any], n: int) -> None:
        if len(parts) != n:
            raise self._fail(f"{n} arguments of {name}", len(parts))

    def _count(self, depth: int) -> None:
        self.size += 1
        if self.size > MAX_SIZE or depth > MAX_DEPTH:
            raise self._fail(f"at most {MAX_SIZE} operations, {MAX_DEPTH} of them nested", "more")

    def _fail(self, expected: str, got: object) -> DefinitionError:
        return DefinitionError(f"{self.what}: expected {expected}, got {str(got)[:60]!r}")
