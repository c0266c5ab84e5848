"""The rules of a crisp network as conditions that every target can print.

They are taken from the text of the rules, which is what their proof is about.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from newron.errors import ModelError
from newron.exports.expression import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Expression,
    Input,
    IsMissing,
    Number,
    OneOf,
    Some,
)
from newron.model.description import format_number
from newron.model.model import Model
from newron.rules.axis import Axis
from newron.rules.body import DecisionList
from newron.rules.node import Const, Literal, Node, read_columns
from newron.rules.parsing import parse_rules
from newron.rules.proof import prove
from newron.rules.ruleset import RuleSet

__all__ = ["Rule", "RuleProgram", "make_rule_program"]


@dataclass(frozen=True)
class Rule:
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
    rules: tuple[Rule, ...]
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
        return [record["rule"] for record in self.ruleset.to_records()]


def make_rule_program(model: Model, ruleset: RuleSet) -> RuleProgram:
    """Read the rules of a model as they are printed.

    Raises
    ------
    InputError, ModelError
        If they are not about the columns of the model, or differ from it for some input.
    """
    text = ruleset.to_text(notes=False)
    proof = prove(text, model)  # wherever the rules came from
    if proof.equal is False:
        raise ModelError(f"expected rules that equal the network, got: {proof}")
    proved = str(proof).replace(f", {proof.seconds:.2g} s)", ")")
    axes, body = parse_rules(text, model.schema, model.output)
    texts = [record["rule"] for record in ruleset.to_records()]
    columns = sorted(set().union(*map(read_columns, body.nodes), set()))
    inside = AllOf(tuple(part for i in columns for part in _list_domain(i, axes[i])))
    conditions = [_make_condition(node, axes) for node in body.nodes]
    if isinstance(body, DecisionList):
        rules = [
            Rule(condition, text, outcome=branch.outcome)
            for condition, text, branch in zip(conditions, texts, body.branches, strict=False)
        ]
        return RuleProgram(ruleset, proved, tuple(rules), body.default, (), inside)
    rules = [
        Rule(condition, text, points=term.weights)
        for condition, text, term in zip(conditions, texts, body.terms, strict=True)
    ]
    return RuleProgram(ruleset, proved, tuple(rules), None, body.constants, inside)


def _make_condition(node: Node, axes: Sequence[Axis]) -> Condition:
    if isinstance(node, Const):
        return AllOf(()) if node.value else AnyOf(())
    if isinstance(node, Literal):
        return _make_literal(node.column, axes[node.column], node.mask)
    parts = tuple(_make_condition(child, axes) for child in node.children)
    if node.is_all:
        return AllOf(parts)
    return AnyOf(parts) if node.is_any else Some(node.low, node.high, parts)


def _make_literal(column: int, axis: Axis, mask: int) -> Condition:
    cells = [c for c in range(axis.n_values) if mask >> c & 1]
    if axis.column.categories is not None:
        parts: list[Condition] = [OneOf(column, tuple(cells))] if cells else []
    elif axis.values is not None:
        parts = _list_values(Input(column), axis.values, cells)
    else:
        parts = [_make_range(Input(column), axis, *run) for run in _find_runs(cells)]
    if mask & axis.missing:
        parts.append(IsMissing(column))
    return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))


def _list_values(x: Expression, values: tuple[float, ...], cells: list[int]) -> list[Condition]:
    """Return that x has one of the listed values: by a comparison for those in a row."""
    parts: list[Condition] = []
    for first, last in _find_runs(cells):
        low, high = (
            Compare(sign, x, Number(values[c])) for sign, c in ((">=", first), ("<=", last))
        )
        if first == last:
            parts.append(Compare("==", x, Number(values[first])))
        elif first == 0 and last < len(values) - 1:
            parts.append(high)
        elif last == len(values) - 1 and first > 0:
            parts.append(low)
        else:
            parts.append(AllOf((low, high)))
    return parts


def _make_range(x: Expression, axis: Axis, first: int, last: int) -> Condition:
    """Return that x lies in some cells in a row."""
    parts: list[Condition] = []
    if first > 0:
        parts.append(_compare(x, axis.boundaries[first - 1], ">=", ">"))
    if last < axis.n_values - 1:
        parts.append(_compare(x, axis.boundaries[last], "<", "<="))
    if (
        len(parts) == 2
        and math.nextafter(axis.boundaries[first - 1], math.inf) == (axis.boundaries[last])
    ):
        return Compare("==", x, Number(axis.boundaries[first - 1]))
    if not parts:  # any number
        return AnyOf((Compare("<", x, Number(0.0)), Compare(">=", x, Number(0.0))))
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def _compare(x: Expression, boundary: float, at: str, beyond: str) -> Compare:
    """Compare with a boundary or with the number before it, whichever is shorter."""
    before = math.nextafter(boundary, -math.inf)
    shorter = len(format_number(before)) < len(format_number(boundary))
    return Compare(beyond, x, Number(before)) if shorter else Compare(at, x, Number(boundary))


def _find_runs(cells: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for c in cells:
        if runs and runs[-1][1] == c - 1:
            runs[-1] = (runs[-1][0], c)
        else:
            runs.append((c, c))
    return runs


def _list_domain(column: int, axis: Axis) -> list[Condition]:
    """Return what a column may hold; nothing where that is anything."""
    parts: list[Condition] = []
    if axis.column.categories is not None:
        parts += [OneOf(column, tuple(range(axis.n_values)))] if axis.n_values else []
    elif axis.values is not None:
        parts += [Compare("==", Input(column), Number(value)) for value in axis.values]
    elif not axis.column.gaps:
        return [_make_range(Input(column), axis, 0, axis.n_values - 1)]
    else:
        return []
    return [AnyOf((*parts, IsMissing(column)) if axis.column.gaps else tuple(parts))]
