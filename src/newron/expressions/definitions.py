"""The functions that networks are made of, written in the operations of IEEE 754.

They repeat :mod:`newron.expressions.arithmetic` line by line; the tests compare the bits. A target
prints each definition once, or puts it in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from newron.expressions.arithmetic import COS, LOG, SIN
from newron.expressions.tracing import Term, apply, where
from newron.expressions.tree import (
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
    negate,
    walk,
)

MAX_ANGLE = 1e6  # of sine and cosine
MAX_EXPONENT = 708.0  # of e
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to a whole number
MAX_UNBOUNDED = 1e100  # of functions without bounds


@dataclass(frozen=True)
class Definition:
    """A function of numbers: lines that name what they compute, and the result."""

    name: str
    lines: tuple[tuple[str, Expression], ...]
    result: Expression
    about: str
    arguments: tuple[str, ...] = ("x",)


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


def _define_log() -> Definition:
    """Return the logarithm: a number between 1 and 2 and its power of two, by comparisons."""
    x, f, k, s, z, r, h = map(Term, _parameters("x f k s z r h"))
    lines: list[tuple[str, Term]] = [
        ("c", apply("max", x, 2.0**-1022)),
        ("m", where(_term("c") < 1.0, _term("c") * 2.0**1022, _term("c"))),
        ("n", where(_term("c") < 1.0, -1022.0, 0.0)),
    ]
    m, n = "m", "n"
    for power in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        large = _term(m) >= 2.0**power
        lines.append((f"m{power}", where(large, _term(m) * 2.0**-power, _term(m))))
        lines.append((f"n{power}", where(large, _term(n) + float(power), _term(n))))
        m, n = f"m{power}", f"n{power}"
    low = _term(m) < 2.0 * 0.70710678118654752440
    lines += [
        ("f", where(low, _term(m), _term(m) * 0.5) - 1.0),
        ("k", where(low, _term(n), _term(n) + 1.0)),
        ("s", f / (2.0 + f)),
        ("z", s * s),
        ("r", Term(_polynomial(z.expression, (1.479819860511658591e-01, *LOG))) * z),
        ("h", 0.5 * f * f),
    ]
    low_part = s * (h + r) + k * 1.90821492927058770002e-10
    result = k * 6.93147180369123816490e-01 - ((h - low_part) - f)
    return Definition("log", _unwrap(lines), result.expression, "the natural logarithm")


def _define_turn(name: str) -> Definition:
    """Return sine or cosine: a quadrant and what is beyond its middle."""
    c, n, r, q, z, s, t = map(Term, _parameters("c n r q z s t"))
    near = (c - n * 1.57079632673412561417e00) - n * 6.07710050630396597660e-11
    lines = [
        ("c", Term(bound(_X, MAX_ANGLE))),
        ("n", (c * 6.36619772367581382433e-01 + _ROUND) - _ROUND),
        ("r", near - n * 2.02226624879595063154e-21),
        ("q", n - 4.0 * ((n * 0.25 + _ROUND) - _ROUND)),
        ("z", r * r),
        ("s", Term(_polynomial(z.expression, (1.58969099521155010221e-10, *SIN))) * z * r + r),
        (
            "t",
            Term(_polynomial(z.expression, (-1.13596475577881948265e-11, *COS))) * z * z
            - 0.5 * z
            + 1.0,
        ),
    ]
    own, next_, before = (s, t, -t) if name == "sin" else (t, -s, s)
    result = where(q == 1.0, next_, where(q == -1.0, before, where(abs(q) == 2.0, -own, own)))
    about = (
        f"the {name}e of x, within a million"
        if name == "sin"
        else "the cosine of x, within a million"
    )
    return Definition(name, _unwrap(lines), result.expression, about)


def _term(name: str) -> Term:
    return Term(Parameter(name))


def _unwrap(lines: Sequence[tuple[str, Term]]) -> tuple[tuple[str, Expression], ...]:
    return tuple((name, term.expression) for name, term in lines)


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
        _define_log(),
        _define_turn("sin"),
        _define_turn("cos"),
        _define_selu(),
        Definition("bounded", (), bound(_X, MAX_UNBOUNDED), "x, within 1e100"),
    )
}


def collect_definitions(
    nodes: Iterable[Expression | Condition], own: Mapping[str, Definition] | None = None
) -> list[Definition]:
    """Return the definitions that some expressions use, each after those it uses itself.

    ``own`` are those of a model, beside the ones of this module.
    """
    known = DEFINITIONS | dict(own or {})
    found: dict[str, Definition] = {}

    def visit(name: str) -> None:
        if name in found or name not in known:
            return
        one = known[name]
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
