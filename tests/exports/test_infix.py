"""Expressions in infix notation: brackets, signs, lines, and what languages differ in."""

import itertools

import numpy as np
import pytest

from newron.exports.infix import flip_sign
from newron.exports.javascript import _JavaScript
from newron.exports.program import make_program
from newron.exports.python import _Python
from newron.expressions.tree import (
    AllOf,
    AnyOf,
    Call,
    Choice,
    Compare,
    Input,
    IsMissing,
    Lookup,
    Number,
    OneOf,
    Some,
    add,
    call,
    multiply,
    negate,
)
from rules.networks import make_monk2

A, B, C = Input(0), Input(1), Input(2)
X = np.array([2.0, -3.1, 0.5])


@pytest.fixture(scope="module")
def python():
    return _Python(make_program(make_monk2()), "model", None)


@pytest.fixture(scope="module")
def javascript():
    return _JavaScript(make_program(make_monk2()), "model", None)


def evaluate(node):
    """Compute an expression from its tree."""
    if isinstance(node, Number):
        return np.float64(node.value)
    if isinstance(node, Input):
        return X[node.column]
    left, *rest = map(evaluate, node.arguments)
    if node.name == "negate":
        return -left
    for right in rest:
        left = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[node.name](
            left, right
        )
    return left


def test_brackets_keep_the_order_of_operations(python):
    leaves = [A, B, Number(-1.5)]
    inner = [Call(op, pair) for op in "+-*/" for pair in itertools.product(leaves, leaves[:2])]
    inner += [negate(A), *leaves]
    for op in "+-*/":
        for left, right in itertools.product(inner, inner):
            node = Call(op, (left, right))
            with np.errstate(all="ignore"):  # some divide by zero, as the tree does
                found, expected = eval(python.print(node), {"x": X}), evaluate(node)
            np.testing.assert_array_equal(found, expected, err_msg=python.print(node))


@pytest.mark.parametrize(
    ("part", "flipped"),
    [
        (Number(-2.0), Number(2.0)),
        (negate(A), A),
        (multiply(Number(-2.0), A), multiply(Number(2.0), A)),
        (Number(2.0), None),
        (multiply(A, Number(-2.0)), None),
    ],
)
def test_a_negative_part_can_be_subtracted(part, flipped):
    assert flip_sign(part) == flipped


def test_signs_are_written_as_people_do(javascript):
    assert javascript.print(add(A, multiply(Number(-2.0), B))) == "x[0] - 2 * x[1]"
    assert javascript.print(call("-", A, Number(-1.0))) == "x[0] + 1"


def test_long_sums_take_several_lines(python):
    text = python.print(add(*[multiply(Number(float(k)), A) for k in range(2, 30)]))
    assert text.count("\n") == 27


@pytest.mark.parametrize(
    ("node", "in_python", "in_javascript"),
    [
        (IsMissing(1), "isnan(x[1])", "Number.isNaN(x[1])"),
        (OneOf(1, (0, 2)), "x[1] in (0, 2,)", "[0, 2].includes(x[1])"),
        (AllOf(()), "True", "true"),
        (AnyOf(()), "False", "false"),
        (
            AllOf((AnyOf((IsMissing(0), IsMissing(1))), Compare("<", A, B))),
            "(isnan(x[0]) or isnan(x[1])) and x[0] < x[1]",
            "(Number.isNaN(x[0]) || Number.isNaN(x[1])) && x[0] < x[1]",
        ),
        (
            Choice(((Compare(">=", A, Number(0.5)), Number(1.0)),), Number(0.0)),
            "1.0 if x[0] >= 0.5 else 0.0",
            "x[0] >= 0.5 ? 1 : 0",
        ),
        (
            Lookup(2, (0.0, 1.0), 0.5),
            "look(x[2], (0.0, 1.0,), 0.5)",
            "look(x[2], [0, 1], 0.5)",
        ),
        (call("abs", A), "abs(x[0])", "Math.abs(x[0])"),
        (
            Some(1, 1, (Compare("<", A, B), Compare("<", B, C))),
            "((x[0] < x[1]) + (x[1] < x[2])) == 1",
            "((x[0] < x[1]) + (x[1] < x[2])) == 1",
        ),
        (
            Some(1, 2, (IsMissing(0), IsMissing(1), IsMissing(2))),
            "((isnan(x[0])) + (isnan(x[1])) + (isnan(x[2]))) >= 1 and "
            "((isnan(x[0])) + (isnan(x[1])) + (isnan(x[2]))) <= 2",
            None,
        ),
    ],
)
def test_languages_differ_by_their_table(python, javascript, node, in_python, in_javascript):
    assert " ".join(python.print(node).split()) == in_python
    assert in_javascript in (None, javascript.print(node))
