"""The functions that networks are made of, written in the operations of IEEE 754.

They repeat :mod:`newron.model.arithmetic` and :mod:`newron.model.processing` line by line;
the tests compare the bits. A target prints each definition once, or puts it in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from newron.errors import ModelError
from newron.exports.expression import (
    ONE,
    ZERO,
    Call,
    Choice,
    Compare,
    Condition,
    Expression,
    Number,
    Parameter,
    add,
    bound,
    call,
    maximum,
    multiply,
    negate,
    subtract,
    walk,
)

__all__ = [
    "DEFINITIONS",
    "MAX_EXPONENT",
    "MAX_UNBOUNDED",
    "Definition",
    "activate",
    "collect_definitions",
    "make_function",
]

MAX_EXPONENT = 708.0  # of e
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to a whole number
MAX_UNBOUNDED = 1e100  # of functions without bounds


@dataclass(frozen=True)
class Definition:
    """A function of one number ``x``: lines that name what they compute, and the result."""

    name: str
    lines: tuple[tuple[str, Expression], ...]
    result: Expression
    about: str


_X = Parameter("x")


def _parameters(names: str) -> list[Parameter]:
    return [Parameter(name) for name in names.split()]


def _polynomial(variable: Expression, factors: Sequence[float]) -> Expression:
    """Return a polynomial by Horner's rule, the highest power first."""
    total: Expression = Number(factors[0])
    for factor in factors[1:]:
        total = add(call("*", total, variable), Number(factor))
    return total


def _define_exp() -> Definition:
    c, n, r, s, p, q = _parameters("c n r s p q")
    high = call("*", n, Number(6.93145751953125e-1))
    low = call("*", n, Number(1.42860682030941723212e-6))
    scaled = add(call("*", c, Number(1.4426950408889634074)), Number(_ROUND))
    upper = (1.26177193074810590878e-4, 3.02994407707441961300e-2, 9.99999999999999999910e-1)
    lower = (
        3.00198505138664455042e-6,
        2.52448340349684104192e-3,
        2.27265548208155028766e-1,
        2.00000000000000000009e0,
    )
    quotient = call("/", p, call("-", q, p))
    return Definition(
        "exp",
        (
            ("c", bound(_X, MAX_EXPONENT)),
            ("n", call("-", scaled, Number(_ROUND))),
            ("r", call("-", call("-", c, high), low)),
            ("s", call("*", r, r)),
            ("p", call("*", _polynomial(s, upper), r)),
            ("q", _polynomial(s, lower)),
        ),
        call("ldexp", add(ONE, call("*", Number(2.0), quotient)), n),
        "e to the power of x, within 708, by operations that round alike everywhere",
    )


def _define_sigmoid() -> Definition:
    e, tail = _parameters("e tail")
    return Definition(
        "sigmoid",
        (
            ("e", call("exp", negate(call("abs", _X)))),
            ("tail", call("/", e, add(ONE, e))),
        ),
        Choice(((Compare("<", _X, ZERO), tail),), call("-", ONE, tail)),
        "1 / (1 + e^-x)",
    )


def _define_tanh() -> Definition:
    e, size = _parameters("e size")
    twice = call("*", Number(-2.0), call("abs", _X))
    return Definition(
        "tanh",
        (
            ("e", call("exp", twice)),
            ("size", call("/", call("-", ONE, e), add(ONE, e))),
        ),
        Choice(((Compare("<", _X, ZERO), negate(size)),), size),
        "the hyperbolic tangent",
    )


def _define_selu() -> Definition:
    (z,) = _parameters("z")
    under = call("*", Number(1.75809934084737685994), call("-", call("exp", z), ONE))
    over = call("*", Number(1.05070098735548049342), z)
    return Definition(
        "selu",
        (("z", bound(_X, MAX_UNBOUNDED)),),
        Choice(((Compare(">", z, ZERO), over),), under),
        "the scaled exponential linear unit",
    )


DEFINITIONS = {
    one.name: one
    for one in (
        _define_exp(),
        _define_sigmoid(),
        _define_tanh(),
        _define_selu(),
        Definition("bounded", (), bound(_X, MAX_UNBOUNDED), "x, within 1e100"),
    )
}


# ---- processing functions and activations ----


def _shift(x: Expression, w: float, b: float) -> Expression:
    """Return w (x - b)."""
    return multiply(Number(w), subtract(x, Number(b)))


def _heaviside(x: Expression, w: Sequence[float], b: Sequence[float]) -> Expression:
    if w[0] == 0.0:
        return ONE
    sign = ">=" if w[0] > 0.0 else "<="
    return Choice(((Compare(sign, x, Number(b[0])), ONE),), ZERO)


def _tanh_prod(x: Expression, w: Sequence[float], b: Sequence[float]) -> Expression:
    factors = [call("tanh", _shift(x, *pair)) for pair in zip(w, b, strict=True)]
    product: Expression = factors[0]
    for factor in factors[1:]:
        product = call("*", product, factor)
    return call("*", add(product, ONE), Number(0.5))


def _relu(x: Expression) -> Expression:
    return maximum(x, ZERO)


Maker = Callable[[Expression, Sequence[float], Sequence[float]], Expression]

_FUNCTIONS: dict[str, Maker] = {
    "heaviside": _heaviside,
    "tanh_prod": _tanh_prod,
    "sigmoid": lambda x, w, b: call("sigmoid", _shift(x, w[0], b[0])),
    "linear": lambda x, w, b: call("bounded", _shift(x, w[0], b[0])),
    "relu": lambda x, w, b: _relu(call("bounded", _shift(x, w[0], b[0]))),
    "selu": lambda x, w, b: call("selu", _shift(x, w[0], b[0])),
}

_ACTIVATIONS: dict[str, Callable[[Expression], Expression]] = {
    "identity": lambda x: x,
    "sigmoid": lambda x: call("sigmoid", x),
    "tanh": lambda x: call("tanh", x),
    "relu": _relu,
}


def make_function(
    processing: str, x: Expression, w: Sequence[float], b: Sequence[float]
) -> Expression:
    """Return h(x) of a processing function."""
    if processing not in _FUNCTIONS:
        known = ", ".join(_FUNCTIONS)
        raise ModelError(
            f"exports know the processing functions {known}, got {processing}; "
            "add it to newron/exports/definitions.py"
        )
    return _FUNCTIONS[processing](x, w, b)


def activate(activation: str, x: Expression) -> Expression:
    """Return f(x) of an activation."""
    return _ACTIVATIONS[activation](x)


def collect_definitions(nodes: Iterable[Expression | Condition]) -> list[Definition]:
    """Return the definitions that some expressions use, each after those it uses itself."""
    found: dict[str, Definition] = {}

    def visit(name: str) -> None:
        if name in found or name not in DEFINITIONS:
            return
        one = DEFINITIONS[name]
        for part in (*(line for _, line in one.lines), one.result):
            for node in walk(part):
                if isinstance(node, Call):
                    visit(node.name)
        found[name] = one

    for root in nodes:
        for node in walk(root):
            if isinstance(node, Call):
                visit(node.name)
    return list(found.values())
