"""The operations that formulas are made of, beside + - * /, powers, abs and comparisons.

Each is a node of the formula's tree, made by its name; the table below says what users see of it.
"""

from __future__ import annotations

from collections.abc import Callable

from newron.expressions.tracing import Term, apply

_DOC = """Return {about}.

Parameters
----------
{parameters} : term or float{domain}

Returns
-------
Term

Examples
--------
>>> from newron.neurons import {name}, processing
>>> @processing
... def own(z):
...     return {example}
>>> own
<processing own: {example}>
"""


def _document(operation: Callable[..., Term], name: str, parameters: str, *texts: str) -> None:
    about, example, *domain = texts
    operation.__name__ = operation.__qualname__ = name
    where = f"\n    {domain[0]}" if domain else ""
    operation.__doc__ = _DOC.format(
        about=about, parameters=parameters, domain=where, name=name, example=example
    )


def _make_unary(name: str, *texts: str) -> Callable[[object], Term]:
    def operation(x: object) -> Term:
        return apply(name, x)

    _document(operation, name, "x", *texts)
    return operation


def _make_binary(name: str, node: str, *texts: str) -> Callable[[object, object], Term]:
    def operation(a: object, b: object) -> Term:
        return apply(node, a, b)

    _document(operation, name, "a, b", *texts)
    return operation


exp = _make_unary("exp", "e to the power of x, which is kept within ±708", "exp(-z * z)")
log = _make_unary(
    "log",
    "the natural logarithm; of 0 it is -708.4, that of the least normal number",
    "log(1 + z * z)",
    "From 0 on.",
)
sqrt = _make_unary("sqrt", "the square root", "sqrt(1 + z * z)", "From 0 on.")
sin = _make_unary("sin", "the sine of x, which is kept within a million", "0.5 + 0.5 * sin(z)")
cos = _make_unary("cos", "the cosine of x, which is kept within a million", "cos(z)")
sigmoid = _make_unary("sigmoid", "1 / (1 + exp(-x))", "z * sigmoid(z)")
tanh = _make_unary("tanh", "the hyperbolic tangent", "0.5 * (tanh(z) + 1)")
minimum = _make_binary("minimum", "min", "the smaller of two values", "minimum(z, 1)")
maximum = _make_binary("maximum", "max", "the larger of two values", "maximum(z, 0)")
