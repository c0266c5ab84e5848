"""The section of rules: what the network says, and what was proved of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from newron.errors import ModelError
from newron.formatting import format_fraction, join_words, quote
from newron.model.model import Model
from newron.model.output import Classes
from newron.report.facts import Facts
from newron.report.writing import say_class, tell, write_count, write_per_cent
from newron.rules.axis import Axis
from newron.rules.body import DecisionList, Points
from newron.rules.crisp import Fidelity
from newron.rules.node import Const, Literal, Node
from newron.rules.parsing import parse_rules
from newron.rules.proof import Proof
from newron.rules.ruleset import RuleSet
from newron.rules.scorecard import ScoreCard
from newron.rules.text import HIGHEST, name_groups, say_count
from newron.shapes.fuzzy import read_fuzzy_rules
from newron.shapes.sentence import shorten
from newron.shapes.shape import read_shapes

__all__ = ["RuleWriter", "name_rules", "tell_deciding", "write_rules"]

_LONGEST_LEDE = 160  # characters of a rule that stands at the top
_HALVES = 7  # from so many points on, the table stands in two columns
_MOST_RULES = 60  # rules that are shown before the rest is folded
_MOST_LINES, _MOST_NEURONS = 14, 6  # of soft networks, likewise

CHECK = (
    '<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">'
    '<circle cx="10" cy="10" r="10" fill="var(--nw-green)"/>'
    '<path d="M5.5 10.5l3 3 6-6.5" fill="none" stroke="var(--nw-bg)" stroke-width="2.2" '
    'stroke-linecap="round" stroke-linejoin="round"/></svg>'
)


def name_rules(facts: Facts) -> str:
    """Give the heading of the section."""
    if facts.rules is None:
        return "What it looks at"
    if facts.rules.form == "points":
        return "The score card" if facts.is_binary else "The points"
    return "The rule" if len(facts.rules) == 1 else "The rules"


def tell_deciding(facts: Facts) -> str:
    """Say in a sentence of HTML how the model comes to its answer."""
    rules, classes = facts.rules, facts.classes
    if not isinstance(facts.model.output, Classes):
        names = tell(join_words(facts.model.output.names))
        return f"What every part adds, added up, is {names}."
    assert classes is not None  # noqa: S101 - no amounts
    if rules is None:
        if facts.is_binary:
            second = tell(say_class(classes.labels[1]))
            return f"Every input adds or takes away; from the limit on the model says {second}."
        return "Every input adds to the score of each class; the highest score decides."
    if rules.form == "points":
        if not facts.is_binary:
            return "Add the points of the conditions that hold; the highest sum decides."
        limit = format_fraction(facts.limit)
        return (
            "Add the points of the conditions that hold. "
            f"At <b>{limit} points or more</b> the model says {tell(say_class(classes.labels[1]))}."
        )
    if len(rules) == 0:
        return "The network always gives the same answer."
    if len(rules) == 1:
        return _tell_only_rule(rules)
    return (
        "The first rule that holds decides."
        if rules.form == "list"
        else ("If one of the rules holds, it decides.")
    )


def _tell_only_rule(rules: RuleSet) -> str:
    rule, rest = rules.to_records()
    if len(rule["rule"]) > _LONGEST_LEDE:
        return "One rule decides."
    said, otherwise = (tell(say_class(record["prediction"])) for record in (rule, rest))
    return f"If {tell(rule['rule'])}, then <b>{said}</b>; otherwise <b>{otherwise}</b>."


def _parse(rules: RuleSet, model: Model) -> tuple[tuple[Axis, ...], DecisionList | Points]:
    """Read the rules as they are printed: what their proof is about."""
    return parse_rules(rules.to_text(notes=False), model.schema, model.output)


def write_rules(facts: Facts, writer: RuleWriter) -> str:
    """Write the section."""
    head = f"<h2>{name_rules(facts)}</h2>"
    if facts.rules is None:
        return head + _write_soft(facts)
    axes, body = _parse(facts.rules, facts.model)
    writer.begin(axes, body.nodes)
    records = facts.rules.to_records()
    if isinstance(body, Points):
        inner = writer.write_points(body, facts, records) + _tell_cost(facts.card)
    else:
        inner = writer.write_list(body, facts.model, records)
    return f"{head}{write_proof(facts.rules.proof)}{inner}"


def write_proof(proof: Proof) -> str:
    """Write what was proved, with a mark if it was."""
    if proof.equal:
        told = _part_digits(str(proof).removeprefix("Proved equal to the network. "))
        return (
            f'<p class="badge">{CHECK}<span><b>Proved equal to the network.</b> '
            f"{tell(told)}</span></p>"
        )
    head, _, rest = str(proof).partition(":")
    return f'<p class="badge plain"><span><b>{tell(head)}.</b>{tell(rest)}</span></p>'


def _part_digits(text: str) -> str:
    """Write whole numbers of many digits as the rest of the page does."""
    return re.sub(r"\d{5,}", lambda found: write_count(int(found[0])), text)


# ---- rules of crisp networks ----


@dataclass
class RuleWriter:
    """Writes conditions as HTML, and keeps what the page needs to test them.

    ``literals`` has one entry for each condition on a column that was written, by its place:
    the column, which categories or closed ranges of numbers hold, and whether a gap does.
    """

    literals: list[dict[str, Any]] = field(default_factory=list)
    _axes: tuple[Axis, ...] = ()
    _names: dict[tuple[Node, ...], str] = field(default_factory=dict)

    def begin(self, axes: tuple[Axis, ...], nodes: Sequence[Node]) -> None:
        """Take the axes of some rules."""
        self._axes = axes
        self._names = name_groups(nodes)

    # ---- conditions ----

    def write(self, node: Node) -> str:
        """Write a condition."""
        if isinstance(node, Const):
            return "always" if node.value else "never"
        if isinstance(node, Literal):
            return self._write_literal(node)
        if node.children in self._names:
            return f"{say_count(node)} of {self._names[node.children]}"
        if len(node.children) == 1:
            return f"not {self.write(node.children[0])}"
        parts = "".join(f"<li>{self.write(child)}</li>" for child in node.children)
        return f'<span class="how">{say_count(node)} of</span><ul class="parts">{parts}</ul>'

    def _write_literal(self, node: Literal, *, named: bool = True) -> str:
        axis = self._axes[node.column]
        self.literals.append(_describe_literal(axis, node))
        told = axis.format(node.mask)
        text = tell(told) if named else tell(shorten_condition(told, axis))
        return f'<span class="lit" data-lit="{len(self.literals) - 1}">{text}</span>'

    def _write_groups(self) -> str:
        told = []
        for children, name in self._names.items():
            inner = dict(self._names)
            del inner[children]
            outer, self._names = self._names, inner
            parts = "".join(f"<li>{self.write(child)}</li>" for child in children)
            self._names = outer
            told.append(
                f'<div class="rule group">Let {name} be<ul class="parts">{parts}</ul></div>'
            )
        return "".join(told)

    # ---- if and then ----

    def write_list(
        self, body: DecisionList, model: Model, records: Sequence[dict[str, Any]]
    ) -> str:
        """Write rules that decide."""
        assert isinstance(model.output, Classes)  # noqa: S101 - amounts have no list
        labels = [tell(say_class(label)) for label in model.output.labels]
        items = [
            f'<li class="rule" data-rule="{k}">If {self.write(branch.node)} '
            f"then <b>{labels[branch.outcome]}</b>{_write_support(record)}</li>"
            for k, (branch, record) in enumerate(zip(body.branches, records, strict=False))
        ]
        word = "Otherwise" if items else "Always"
        items.append(
            f'<li class="rule" data-rule="{len(items)}">{word} <b>{labels[body.default]}</b>'
            f"{_write_support(records[-1])}</li>"
        )
        return f'{self._write_groups()}<ol class="rules">{_fold_items(items)}</ol>'

    # ---- points ----

    def write_points(self, body: Points, facts: Facts, records: Sequence[dict[str, Any]]) -> str:
        """Write conditions and their points."""
        model, unit = facts.model, facts.unit
        points = [
            [format_fraction(w / unit, signed=True) for w in term.weights] for term in body.terms
        ]
        rows = [
            self._write_term(k, term.node, points[k], record["support"])
            for k, (term, record) in enumerate(zip(body.terms, records, strict=True))
        ]
        heads = ["points"] if len(body.constants) == 1 else _name_scores(model)
        if len(body.constants) > 1 or not isinstance(model.output, Classes):
            rows.append(_write_start([format_fraction(c) for c in body.constants]))
        plain = all(isinstance(term.node, Literal) for term in body.terms)
        halves = len(rows) >= _HALVES and len(heads) == 1 and plain
        middle = math.ceil(len(rows) / 2)
        parts = [rows[:middle], rows[middle:]] if halves else [rows]
        tables = "".join(_write_point_table(heads, part) for part in parts)
        style = "two tables" if halves else "tables"
        return (
            f'{self._write_groups()}<div class="{style}">{tables}</div>'
            f'<p class="rule decision">{_write_decision(facts)}</p>'
        )

    def _write_term(self, k: int, node: Node, points: Sequence[str], support: int | None) -> str:
        if isinstance(node, Literal):
            axis = self._axes[node.column]
            first = f"<th scope=row>{tell(axis.column.name)}</th>"
            second = f"<td>{self._write_literal(node, named=False)}</td>"
        else:
            first, second = "", f"<td colspan=2>{self.write(node)}</td>"
        rows = "" if support is None else write_count(support)
        numbers = "".join(f'<td class="num">{one}</td>' for one in points)
        return f'<tr data-rule="{k}">{first}{second}<td class="num few">{rows}</td>{numbers}</tr>'


def _describe_literal(axis: Axis, node: Literal) -> dict[str, Any]:
    cells = [c for c in range(axis.n_values) if node.mask >> c & 1]
    gap = bool(node.mask & axis.missing)
    if axis.column.categories is not None:
        return {"column": node.column, "members": cells, "gap": gap}
    return {"column": node.column, "ranges": list(_list_ranges(axis, cells)), "gap": gap}


def _list_ranges(axis: Axis, cells: Sequence[int]) -> Iterator[list[float | None]]:
    """Give closed ranges of numbers; None at an open end."""
    last = axis.n_values - 1
    for a, b in _find_runs(cells):
        if axis.values is not None:
            yield [None if a == 0 else axis.values[a], None if b == last else axis.values[b]]
        else:
            yield [
                None if a == 0 else axis.boundaries[a - 1],
                None if b == last else math.nextafter(axis.boundaries[b], -math.inf),
            ]


def _find_runs(cells: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for c in cells:
        if runs and runs[-1][1] == c - 1:
            runs[-1] = (runs[-1][0], c)
        else:
            runs.append((c, c))
    return runs


def shorten_condition(told: str, axis: Axis) -> str:
    """Give a condition without the name of its column."""
    name = quote(axis.column.name)
    if told.startswith(f"{name} "):
        return told.removeprefix(f"{name} ")
    return told.replace(f" {name} ", " … ", 1)


def _write_support(record: dict[str, Any]) -> str:
    n, share = record["support"], record["precision"]
    if n is None:
        return ""
    right = "" if share is None else f", {write_per_cent(share)} right"
    return f"<small>{write_count(n)} row{'' if n == 1 else 's'}{right}</small>"


def _fold_items(items: Sequence[str]) -> str:
    if len(items) <= _MOST_RULES:
        return "".join(items)
    rest = len(items) - _MOST_RULES
    return (
        f"{''.join(items[:_MOST_RULES])}<li><details><summary>{rest} more rules</summary>"
        f'<ol class="rules" start="{_MOST_RULES + 1}">{"".join(items[_MOST_RULES:])}</ol>'
        "</details></li>"
    )


def _name_scores(model: Model) -> list[str]:
    output = model.output
    if isinstance(output, Classes):
        return [tell(say_class(label)) for label in output.labels]
    return [tell(name) for name in output.names]


def _write_start(constants: Sequence[str]) -> str:
    numbers = "".join(f'<td class="num">{one}</td>' for one in constants)
    return f'<tr><td colspan=2>to start with</td><td class="num few"></td>{numbers}</tr>'


def _write_point_table(heads: Sequence[str], rows: Sequence[str]) -> str:
    numbers = "".join(f'<th scope=col class="num">{head}</th>' for head in heads)
    return (
        '<div class="scroll"><table class="points-table"><thead><tr><th scope=col>input</th>'
        f'<th scope=col>condition</th><th scope=col class="num few">rows</th>{numbers}'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _write_decision(facts: Facts) -> str:
    output = facts.model.output
    if not isinstance(output, Classes):
        return f"The sum is {tell(join_words(output.names))}."
    if output.n_scores > 1:
        return f"{HIGHEST}."
    first, second = (tell(say_class(label)) for label in output.labels)
    return f"Sum <b>≥ {format_fraction(facts.limit)}</b>: {second}. Otherwise: {first}."


def _tell_cost(card: ScoreCard | None) -> str:
    """Say what the rounding to whole points has changed."""
    if card is None or card.before is None or card.after is None:
        return ""
    before, after = (write_per_cent(cost.accuracy, 1) for cost in (card.before, card.after))
    return (
        f'<p class="small muted">Points are rounded: on {write_count(card.after.n_rows)} '
        f"{tell(card.where)} the card is right for {after}, the network before for {before}. "
        f"One point weighs {shorten(float(card.unit))} in log odds.</p>"
    )


# ---- networks that are not crisp ----


def _write_soft(facts: Facts) -> str:
    return f"{_write_shapes(facts.model)}{_write_crisp(facts)}"


def _write_shapes(model: Model) -> str:
    """Tell what each neuron adds up, in words: the outputs first, large hidden layers folded."""
    try:
        told = str(read_fuzzy_rules(model))
        intro = (
            "A function in brackets holds more or less, from 0 to 1; the number before it is "
            "what it adds where it holds wholly."
        )
    except ModelError:  # functions that are not memberships: told by their shapes
        told = str(read_shapes(model))
        intro = "The number before a function is what its value is multiplied by."
    neurons = list(_part_neurons(told.splitlines()))
    n = model.output.n_scores
    outputs, hidden = neurons[-n:], neurons[:-n]
    body = f'<div class="neurons">{"".join(outputs)}</div>'
    if hidden:
        first = f'<div class="neurons">{"".join(hidden)}</div>'
        if len(hidden) > _MOST_NEURONS:
            first = f"<details><summary>{len(hidden)} hidden neurons</summary>{first}</details>"
        body += f"<p>What the hidden neurons read:</p>{first}"
    return f"<p>What each neuron adds up, in words. {intro}</p>{body}"


def _part_neurons(lines: Sequence[str]) -> Iterator[str]:
    """Give an element for each neuron of a text: a heading, and lines that are set in."""
    blocks: list[list[str]] = []
    for line in lines:
        if line.startswith(" "):
            blocks[-1].append(line.strip())
        elif line.endswith(":"):
            blocks.append([line])
    for head, *told in blocks:
        items = [f"<li>{tell(line)}</li>" for line in told]
        shown, rest = items[:_MOST_LINES], items[_MOST_LINES:]
        more = ""
        if rest:
            more = f"<details><summary>{len(rest)} more</summary><ul>{''.join(rest)}</ul></details>"
        yield f"<div><h3>{tell(head)}</h3><ul>{''.join(shown)}</ul>{more}</div>"


def _write_crisp(facts: Facts) -> str:
    if facts.crisp is None:
        return ""
    rules, fidelity = facts.crisp
    text = ""
    if rules is not None:
        text = (
            "<details><summary>The rules of that crisp network</summary>"
            f"<pre>{tell(rules.to_text())}</pre></details>"
        )
    return f'<div class="badge plain"><span>{_tell_fidelity(fidelity)}</span></div>{text}'


def _tell_fidelity(fidelity: Fidelity) -> str:
    head, _, _ = str(fidelity).partition(";")
    short, _, rest = head.partition(":")
    return (
        f"<b>{tell(short)}.</b> These curves are not rules, so there is nothing to prove. Cut "
        f"at one half they become the nearest network of conditions:{tell(rest)}."
    )
