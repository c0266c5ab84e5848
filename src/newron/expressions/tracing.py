"""Python functions as trees: values that remember how they were made.

A function is called once, with a :class:`Term` for each argument; whatever it computes of them
is a tree. Python's own ``if``, ``float`` and the functions of ``math`` would need a number, and
raise an error that says what to use instead.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, NoReturn

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
    call,
    negate,
)

REDUCTIONS = ("sum", "mean", "min", "max", "product")
"""What an aggregation may do with the parts of a neuron: calls of these names with "reduce "."""

_UFUNCS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "negative": "negate",
    "absolute": "abs", "minimum": "min", "maximum": "max", "exp": "exp", "log": "log",
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tanh": "tanh",
}  # fmt: skip
_MAX_POWER = 16
_KNOWN = "abs, cos, exp, log, maximum, minimum, sigmoid, sin, sqrt, tanh and where"
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!="}


class Term:
    """A value that remembers how it was made.

    Arguments of traced functions are terms, and so is whatever is computed of them by
    operators and by the functions of :mod:`newron.neurons`.

    >>> from newron.expressions.tree import Parameter
    >>> z = Term(Parameter("z"))
    >>> -z * z
    <Term: -z * z>
    """

    __hash__ = None  # type: ignore[assignment]  # == makes a condition

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    # ---- operators ----

    def __add__(self, other: object) -> Term:
        return _combine("+", self, other)

    def __radd__(self, other: object) -> Term:
        return _combine("+", other, self)

    def __sub__(self, other: object) -> Term:
        return _combine("-", self, other)

    def __rsub__(self, other: object) -> Term:
        return _combine("-", other, self)

    def __mul__(self, other: object) -> Term:
        return _combine("*", self, other)

    def __rmul__(self, other: object) -> Term:
        return _combine("*", other, self)

    def __truediv__(self, other: object) -> Term:
        return _combine("/", self, other)

    def __rtruediv__(self, other: object) -> Term:
        return _combine("/", other, self)

    def __neg__(self) -> Term:
        return Term(negate(self.expression))

    def __pos__(self) -> Term:
        return self

    def __abs__(self) -> Term:
        return Term(call("abs", self.expression))

    def __pow__(self, power: object) -> Term:
        """Return a whole power by multiplication, or the square root."""
        if power == 0.5:
            return apply("sqrt", self)
        if not isinstance(power, int) or not 1 <= power <= _MAX_POWER:
            raise DefinitionError(
                f"expected a power that is 0.5 or a whole number from 1 to {_MAX_POWER}, got "
                f"{power!r}; write exp({power!r} * log(x)) for others"
            )
        if power == 1:
            return self
        half = self ** (power // 2)
        square = half * half
        return square * self if power % 2 else square

    def __floordiv__(self, other: object) -> NoReturn:
        raise DefinitionError("expected + - * / or **, got // or %, which newron.neurons has not")

    __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __floordiv__

    # ---- reductions, of the parts of an aggregation ----

    def sum(self) -> Term:
        """Return the sum over the parts of a neuron."""
        return apply("reduce sum", self)

    def mean(self) -> Term:
        """Return the mean over the parts of a neuron."""
        return apply("reduce mean", self)

    def min(self) -> Term:
        """Return the least of the parts of a neuron."""
        return apply("reduce min", self)

    def max(self) -> Term:
        """Return the greatest of the parts of a neuron."""
        return apply("reduce max", self)

    def product(self) -> Term:
        """Return the product of the parts of a neuron."""
        return apply("reduce product", self)

    # ---- comparisons ----

    def __lt__(self, other: object) -> Test:
        return _compare("<", self, other)

    def __le__(self, other: object) -> Test:
        return _compare("<=", self, other)

    def __gt__(self, other: object) -> Test:
        return _compare(">", self, other)

    def __ge__(self, other: object) -> Test:
        return _compare(">=", self, other)

    def __eq__(self, other: object) -> Test:  # type: ignore[override]
        return _compare("==", self, other)

    # ---- what a traced value cannot do ----

    def __bool__(self) -> bool:
        raise _raise_truth()

    def __float__(self) -> float:
        raise DefinitionError(
            "expected operations of newron.neurons, got a function that needs a number (such as "
            "math.exp); use the one of newron.neurons"
        )

    __int__ = __index__ = __float__

    def __array_ufunc__(self, ufunc: Any, method: str, *values: object, **more: Any) -> Term:
        """Take NumPy's functions for the operations that they are."""
        if ufunc.__name__ not in _UFUNCS or method != "__call__" or more:
            raise DefinitionError(
                f"expected operations of newron.neurons, got numpy.{ufunc.__name__}; known are "
                f"{_KNOWN}"
            )
        return apply(_UFUNCS[ufunc.__name__], *values)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise DefinitionError(
            "expected operations of newron.neurons, got a function of NumPy; use exp, where, "
            "maximum and the others of newron.neurons"
        )

    def __iter__(self) -> NoReturn:
        raise DefinitionError(
            "expected a formula, got a loop over a traced value; write its operations out"
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise DefinitionError(
            f"expected operations of newron.neurons, got {name!r}; known are {_KNOWN}"
        )

    def __repr__(self) -> str:
        """Show the formula."""
        from newron.expressions.text import write_formula

        return f"<Term: {write_formula(self.expression)}>"


class Test:
    """A comparison of terms, for ``where``; joined by ``&`` and ``|``, turned by ``~``."""

    __test__ = False  # no test of pytest

    def __init__(self, condition: Condition) -> None:
        self.condition = condition

    def __and__(self, other: object) -> Test:
        return Test(AllOf((self.condition, _to_condition(other))))

    def __or__(self, other: object) -> Test:
        return Test(AnyOf((self.condition, _to_condition(other))))

    def __invert__(self) -> Test:
        return Test(_negate(self.condition))

    def __bool__(self) -> bool:
        raise _raise_truth()


def _raise_truth() -> DefinitionError:
    return DefinitionError(
        "expected a formula, got a Python if, and, or, not or chained comparison on a traced "
        "value; write where(condition, a, b), and join conditions by & and |"
    )


def _negate(node: Condition) -> Condition:
    if isinstance(node, AllOf | AnyOf):
        other = AnyOf if isinstance(node, AllOf) else AllOf
        return other(tuple(map(_negate, node.parts)))
    if isinstance(node, Compare) and node.sign != "==":
        return Compare(_OPPOSITE[node.sign], node.left, node.right)
    raise DefinitionError("expected < <= > or >= to be turned by ~, got ==; swap the two values")


def _to_condition(value: object) -> Condition:
    if isinstance(value, Test):
        return value.condition
    raise DefinitionError(f"expected a comparison such as z > 0, got {value!r}")


def to_expression(value: object) -> Expression:
    """Return the tree of a term, or of a number."""
    if isinstance(value, Term):
        return value.expression
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if abs(number) <= 1.7e308:
            return Number(number)
    raise DefinitionError(f"expected a finite number or a traced value, got {value!r}")


def _combine(sign: str, left: object, right: object) -> Term:
    if isinstance(left, Test) or isinstance(right, Test):
        raise DefinitionError("expected numbers to compute with, got a comparison; use where")
    return Term(call(sign, to_expression(left), to_expression(right)))


def _compare(sign: str, left: object, right: object) -> Test:
    return Test(Compare(sign, to_expression(left), to_expression(right)))


def apply(name: str, *values: object) -> Term:
    """Return an operation on terms or numbers."""
    return Term(Call(name, tuple(map(to_expression, values))))


def where(condition: object, yes: object, no: object) -> Term:
    """Return one value where a condition holds, and another where it does not.

    Parameters
    ----------
    condition : comparison of terms
        Such as ``z > 0``; joined by ``&`` and ``|``, turned by ``~``.
    yes, no : term or float

    Returns
    -------
    Term

    Examples
    --------
    >>> from newron.neurons import processing, where
    >>> @processing(surrogate="sigmoid")
    ... def step(z):
    ...     return where(z >= 0.0, 1.0, 0.0)
    >>> step
    <processing step: where(z >= 0, 1, 0)>
    """
    branch = (_to_condition(condition), to_expression(yes))
    return Term(Choice((branch,), to_expression(no)))


def trace(function: Callable[..., Any], *arguments: Expression, **named: Expression) -> Expression:
    """Call a function with terms; return the tree of its result."""
    terms = {name: Term(value) for name, value in named.items()}
    result = function(*map(Term, arguments), **terms)
    if isinstance(result, Test):
        result = where(result, 1.0, 0.0)
    if result is None:
        raise DefinitionError(f"{function.__name__}: expected a value, got none; add a return")
    return to_expression(result)
