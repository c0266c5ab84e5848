"""The rules of a crisp network as conditions that every target can print.

They are taken from the text of the rules, which is what their proof is about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from newron.errors import ModelError
from newron.expressions.tree import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Input,
    IsMissing,
    Number,
    OneOf,
    Some,
)
from newron.formatting import format_number
from newron.model import condition as model_condition
from newron.model.model import Model
from newron.rules.axis import Axis
from newron.rules.body import DecisionList
from newron.rules.node import Const, Literal, Node, read_columns
from newron.rules.parsing import parse_rules
from newron.rules.prover import prove
from newron.rules.ruleset import RuleSet


@dataclass(frozen=True)
class ConditionalRule:
    """A condition, its words, and the class that follows or the points it adds."""

    condition: Condition
    text: str
    outcome: int | None = None
    points: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class RuleProgram:
    """The rules of a model, as conditions that every target can print."""

    ruleset: RuleSet
    proof: str
    """What was proved of the rules, in the same words each time."""
    rules: tuple[ConditionalRule, ...]
    """In the order in which they are printed."""
    default: int | None
    """The class if no rule holds; None where rules add points."""
    constants: tuple[Fraction, ...]
    """Where points start; empty where rules decide."""
    inside: Condition
    """Whether a row lies in the domain that the rules are about."""

    @property
    def decides(self) -> bool:
        """Whether the first rule that holds decides; else rules add points."""
        return self.default is not None

    @property
    def text(self) -> str:
        """The rules in words."""
        return self.ruleset.to_text(notes=False)

    @property
    def texts(self) -> list[str]:
        """Each rule in words; where one decides, "otherwise" is the last."""
        return [rule.condition for rule in self.ruleset.rules]


def make_rule_program(model: Model, ruleset: RuleSet) -> RuleProgram:
    """Read the rules of a model as they are printed.

    Raises InputError, ModelError: If they are not about the columns of the model, or differ from
    it for some input.
    """
    text = ruleset.to_text(notes=False)
    proof = prove(text, model)  # wherever the rules came from
    if proof.equal is False:
        raise ModelError(f"expected rules that equal the network, got: {proof}")
    proved = f"{proof.verdict}{'.' if proof else ':'} {proof.describe(seconds=False)}"
    axes, body = parse_rules(text, model.schema, model.output, gaps=True)
    columns = sorted(set().union(*map(read_columns, body.nodes), set()))
    inside = AllOf(tuple(part for i in columns for part in _list_domain(i, axes[i])))
    parts = [
        (_make_condition(node, axes), rule.condition)
        for node, rule in zip(body.nodes, ruleset.rules, strict=False)
    ]
    if isinstance(body, DecisionList):
        found = zip(parts, body.branches, strict=True)
        rules = tuple(ConditionalRule(*part, outcome=branch.outcome) for part, branch in found)
        return RuleProgram(ruleset, proved, rules, body.default, (), inside)
    weights = [term.weights for term in body.terms]
    rules = tuple(ConditionalRule(*part, points=w) for part, w in zip(parts, weights, strict=True))
    return RuleProgram(ruleset, proved, rules, None, body.constants, inside)


def _make_condition(node: Node, axes: Sequence[Axis]) -> Condition:
    if isinstance(node, Const):
        return AllOf(()) if node.value else AnyOf(())
    if isinstance(node, Literal):
        axis = axes[node.column]
        return _express(node.column, axis, axis.to_condition(node.mask))
    parts = tuple(_make_condition(child, axes) for child in node.children)
    if node.is_all:
        return AllOf(parts)
    return AnyOf(parts) if node.is_any else Some(node.low, node.high, parts)


def _express(column: int, axis: Axis, found: model_condition.Condition) -> Condition:
    """Return a condition on one column as an expression."""
    x, parts = Input(column), list[Condition]()
    if found.categories:
        parts.append(OneOf(column, found.categories))
    elif axis.values is not None:
        parts += [_express_values(x, axis.values, *pair) for pair in found.intervals]
    else:
        parts += [_express_interval(x, *pair) for pair in found.intervals]
    if found.missing:
        parts.append(IsMissing(column))
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _express_values(x: Input, values: Sequence[float], low: float, high: float) -> Condition:
    """Return that x, one of some values, lies between two of them."""
    if low == high:
        return Compare("==", x, Number(low))
    below, above = Compare(">=", x, Number(low)), Compare("<=", x, Number(high))
    if (low > values[0]) == (high < values[-1]):
        return AllOf((below, above))
    return below if low > values[0] else above


def _express_interval(x: Input, low: float, high: float) -> Condition:
    if low == high:
        return Compare("==", x, Number(low))
    parts: list[Condition] = []
    if low > -math.inf:
        parts.append(_compare(x, low, ">=", ">"))
    if high < math.inf:
        parts.append(_compare(x, math.nextafter(high, math.inf), "<", "<="))
    if not parts:  # any number
        return AnyOf((Compare("<", x, Number(0.0)), Compare(">=", x, Number(0.0))))
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _compare(x: Input, boundary: float, at: str, beyond: str) -> Compare:
    """Compare with a boundary or with the number before it, whichever is shorter."""
    before = math.nextafter(boundary, -math.inf)
    shorter = len(format_number(before)) < len(format_number(boundary))
    return Compare(beyond, x, Number(before)) if shorter else Compare(at, x, Number(boundary))


def _list_domain(column: int, axis: Axis) -> list[Condition]:
    """Return what a column may hold; nothing where that is anything."""
    if not axis.listed:
        any_number = _express_interval(Input(column), -math.inf, math.inf)
        return [] if axis.column.gaps else [any_number]
    missing = [IsMissing(column)] if axis.column.gaps else []
    known: list[Condition] = [OneOf(column, tuple(range(axis.n_values)))] if axis.n_values else []
    if axis.values is not None:
        known = [Compare("==", Input(column), Number(value)) for value in axis.values]
    return [AnyOf((*known, *missing))]
