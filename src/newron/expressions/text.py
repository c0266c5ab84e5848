"""Formulas as a person writes them."""

from __future__ import annotations

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

_LEVEL = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3}
_NAMES = {"min": "minimum", "max": "maximum"}


def write_formula(node: Expression | Condition) -> str:
    """Return a formula as text.

    >>> from newron.expressions.tree import call
    >>> write_formula(call("*", call("+", Parameter("z"), Number(1.0)), Number(0.5)))
    '(z + 1) * 0.5'
    """
    return _write(node)[0]


def _write(node: Expression | Condition) -> tuple[str, int]:
    if isinstance(node, Number):
        return f"{node.value:.15g}", 3 if node.value < 0.0 else 4
    if isinstance(node, Parameter):
        return node.name, 4
    if isinstance(node, Compare):
        return f"{write_formula(node.left)} {node.sign} {write_formula(node.right)}", 0
    if isinstance(node, AllOf | AnyOf):
        sign = " & " if isinstance(node, AllOf) else " | "
        return sign.join(f"({write_formula(part)})" for part in node.parts), 0
    if isinstance(node, Choice):
        text = write_formula(node.otherwise)
        for condition, value in reversed(node.branches):
            text = f"where({write_formula(condition)}, {write_formula(value)}, {text})"
        return text, 4
    return _write_call(node) if isinstance(node, Call) else (f"{node}", 4)


def _write_call(node: Call) -> tuple[str, int]:
    level = _LEVEL.get(node.name)
    if node.name == "negate":
        return f"-{_wrap(node.arguments[0], 3)}", 3
    if level is None:
        parts = ", ".join(map(write_formula, node.arguments))
        return f"{_NAMES.get(node.name, node.name)}({parts})", 4
    first, *rest = node.arguments
    text = _wrap(first, level)
    for part in rest:
        text += f" {node.name} {_wrap(part, level + (node.name not in '+*'))}"
    return text, level


def _wrap(node: Expression, least: int) -> str:
    text, level = _write(node)
    return text if level >= least else f"({text})"
