"""The section of rules: how the network decides, and what was proved of that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from newron.drawing.markup import Markup, bdi, html, join
from newron.errors import ModelError
from newron.formatting import (
    format_fraction,
    format_rounded,
    join_words,
    name_class,
)
from newron.model.model import Model
from newron.model.output import Classes
from newron.report.effects_section import write_effects
from newron.report.facts import Facts
from newron.report.numbers import count, integer, percent
from newron.rules.axis import Axis
from newron.rules.body import DecisionList, Points
from newron.rules.crisp import Fidelity
from newron.rules.node import Const, Literal, Node
from newron.rules.parsing import parse_rules
from newron.rules.proof import Proof
from newron.rules.ruleset import RuleSet
from newron.rules.scorecard import ScoreCard
from newron.rules.text import HIGHEST, format_quantifier, name_groups, write_missing
from newron.shapes.fuzzy import read_fuzzy_rules
from newron.shapes.shape_reader import read_shapes

_MAX_LEDE = 160  # characters of a rule that stands at the top
_MIN_HALVES = 7  # from so many points on, the table stands in two columns
_MAX_POINTS = 30  # lines of points, likewise
_MAX_RULES = 20  # rules that are shown before the rest is folded
_MAX_LINES, _MAX_NEURONS = 14, 6  # of soft networks, likewise

_CHECK = Markup(
    '<svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">'
    '<circle cx="10" cy="10" r="10" fill="var(--nw-green)"/>'
    '<path d="M5.5 10.5l3 3 6-6.5" fill="none" stroke="var(--nw-bg)" stroke-width="2.2" '
    'stroke-linecap="round" stroke-linejoin="round"/></svg>'
)


def name_rules(facts: Facts) -> str:
    """Return the heading of the section."""
    if facts.rules is None:
        return "What it looks at"
    if facts.rules.form == "points":
        single = facts.is_binary or facts.is_ordered
        return "The score card" if single else "The points"
    return "The rule" if len(facts.rules) == 1 else "The rules"


def describe_decision(facts: Facts) -> Markup:
    """Return a sentence on how the model comes to its answer."""
    rules, output = facts.rules, facts.model.output
    if not isinstance(output, Classes):
        names = bdi(join_words(output.score_names))
        return join("What every part adds, added up, is ", names, ".")
    if output.is_ordered and (rules is None or rules.form == "points"):
        start = "Every input adds or takes away. "
        start = start if rules is None else "Add the points of the conditions that hold. "
        return join(start, _write_bands(facts))
    second = bdi(name_class(output.labels[1])) if facts.is_binary else None
    if rules is None and second is not None:
        start = "Every input adds or takes away; from the limit on the model says "
        return join(start, second, ".")
    if rules is None:
        return Markup("Every input adds to the score of each class; the highest score decides.")
    if rules.form == "points" and second is not None:
        limit = html("b", f"{format_fraction(facts.limit)} points or more")
        start = "Add the points of the conditions that hold. At "
        return join(start, limit, " the model says ", second, ".")
    if rules.form == "points":
        return Markup("Add the points of the conditions that hold; the highest sum decides.")
    if len(rules) < 2:
        return _describe_only_rule(rules)
    if rules.form == "list":
        return Markup("The first rule that holds decides.")
    return Markup("If one of the rules holds, it decides.")


def _describe_only_rule(rules: RuleSet) -> Markup:
    rule, *rest = rules.to_records()
    if not rest:
        return Markup("The network always gives the same answer.")
    if len(rule["rule"]) > _MAX_LEDE:
        return Markup("One rule decides.")
    first, second = (html("b", bdi(name_class(r["prediction"]))) for r in (rule, *rest))
    return join("If ", bdi(rule["rule"]), ", then ", first, "; otherwise ", second, ".")


def write_rules(facts: Facts, writer: RuleWriter) -> Markup:
    """Return the section."""
    head = html("h2", name_rules(facts))
    if facts.rules is None:
        return head + _write_soft(facts)
    # The rules as they are printed: what their proof is about.
    text = facts.rules.to_text(notes=False)
    axes, body = parse_rules(text, facts.model.schema, facts.model.output)
    writer.begin(axes, body.nodes)
    records = facts.rules.to_records()
    if isinstance(body, Points):
        inner = writer.write_points(body, facts, records) + _describe_rounding(facts.card)
    else:
        inner = writer.write_list(body, facts.model, records)
    missing = [html("p", bdi(line)) for line in write_missing(axes, body.nodes)]
    return join(head, write_proof(facts.rules.proof), inner, *missing)


def write_proof(proof: Proof) -> Markup:
    """Return what was proved, with a mark if it was."""
    text = html("span", html("b", f"{proof.verdict}."), " ", bdi(proof.describe()))
    if proof.equal:
        return html("p", _CHECK, text, class_="badge")
    return html("p", text, class_="badge plain")


# ---- rules of crisp networks ----


@dataclass
class RuleWriter:
    """Writes conditions as HTML, and keeps what the page needs to test them.

    ``literals`` has one entry for each condition on a column that was written, in that order:
    the column, which categories or closed ranges of numbers hold, and whether a missing value
    does.
    """

    literals: list[dict[str, Any]] = field(default_factory=list)
    _axes: tuple[Axis, ...] = ()
    _names: dict[tuple[Node, ...], str] = field(default_factory=dict)

    def begin(self, axes: tuple[Axis, ...], nodes: Sequence[Node]) -> None:
        """Take the axes of some rules."""
        self._axes = axes
        self._names = name_groups(nodes)

    # ---- conditions ----

    def write(self, node: Node) -> Markup:
        """Return a condition."""
        if isinstance(node, Const):
            return Markup("always") if node.value else Markup("never")
        if isinstance(node, Literal):
            return self._write_literal(node)
        if node.children in self._names:
            return join(f"{format_quantifier(node)} of {self._names[node.children]}")
        if len(node.children) == 1:
            return join("not ", self.write(node.children[0]))
        return html("span", f"{format_quantifier(node)} of", class_="how") + self._list(
            node.children
        )

    def _list(self, nodes: Iterable[Node]) -> Markup:
        return html("ul", [html("li", self.write(node)) for node in nodes], class_="parts")

    def _write_literal(self, node: Literal, *, named: bool = True) -> Markup:
        axis = self._axes[node.column]
        self.literals.append(_describe_literal(axis, node))
        text = axis.format(node.mask, named=named)
        return html("span", bdi(text), class_="lit", data_lit=len(self.literals) - 1)

    def _write_groups(self) -> Markup:
        groups = []
        for children, name in self._names.items():
            outer = self._names
            self._names = {key: other for key, other in outer.items() if key != children}
            groups.append(html("div", f"Let {name} be", self._list(children), class_="rule group"))
            self._names = outer
        return join(groups)

    # ---- if and then ----

    def write_list(
        self, body: DecisionList, model: Model, records: Sequence[dict[str, Any]]
    ) -> Markup:
        """Return rules that decide."""
        names = [html("b", name) for name in _name_scores(model)]
        items = [
            html(
                "li",
                "If ",
                self.write(branch.node),
                " then ",
                names[branch.outcome],
                _write_support(record),
                class_="rule",
                data_rule=k,
            )
            for k, (branch, record) in enumerate(zip(body.branches, records, strict=False))
        ]
        word, last = "Otherwise " if items else "Always ", names[body.default]
        support = _write_support(records[-1])
        items.append(html("li", word, last, support, class_="rule", data_rule=len(items)))
        return join(self._write_groups(), html("ol", _fold_items(items), class_="rules"))

    # ---- points ----

    def write_points(self, body: Points, facts: Facts, records: Sequence[dict[str, Any]]) -> Markup:
        """Return conditions and their points."""
        model, single = facts.model, facts.model.output.n_scores == 1
        rows = []
        for k, (term, record) in enumerate(zip(body.terms, records, strict=True)):
            points = [format_fraction(w, signed=True) for w in term.weights]
            rows.append(self._write_term(k, term.node, points, record["support"]))
        if not single or not isinstance(model.output, Classes):
            rows.append(_write_start([format_fraction(c) for c in body.constants]))
        heads = ["points"] if single else _name_scores(model)
        plain = all(isinstance(term.node, Literal) for term in body.terms)
        halves = len(rows) >= _MIN_HALVES and single and plain
        shown, rest = rows[:_MAX_POINTS], rows[_MAX_POINTS:]
        middle = math.ceil(len(shown) / 2)
        parts = [shown[:middle], shown[middle:]] if halves else [shown]
        tables = [_write_point_table(heads, part) for part in parts]
        more = _fold(f"{len(rest)} more lines", _write_point_table(heads, rest)) if rest else None
        return join(
            self._write_groups(),
            html("div", tables, class_="two tables" if halves else "tables"),
            more,
            html("p", _write_limit(facts), class_="rule decision"),
        )

    def _write_term(self, k: int, node: Node, points: Sequence[str], support: int | None) -> Markup:
        if isinstance(node, Literal):
            name = bdi(self._axes[node.column].column.name)
            condition = self._write_literal(node, named=False)
            first = html("th", name, scope="row") + html("td", condition)
        else:
            first = html("td", self.write(node), colspan=2)
        rows = html("td", None if support is None else integer(support), class_="num few")
        return html("tr", first, rows, _write_numbers(points), data_rule=k)


def _describe_literal(axis: Axis, node: Literal) -> dict[str, Any]:
    condition = axis.to_condition(node.mask, midpoints=True)
    described = {"column": node.column, "gap": condition.missing}
    if axis.column.categories is not None:
        return {**described, "members": list(condition.categories)}
    ranges = [[_find_end(low), _find_end(high)] for low, high in condition.intervals]
    return {**described, "ranges": ranges}


def _find_end(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _write_support(record: dict[str, Any]) -> Markup | None:
    n, precision = record["support"], record["precision"]
    if n is None:
        return None
    right = "" if precision is None else f", {percent(precision)} right"
    return html("small", f"{count(n, 'row')}{right}")


def _fold_items(items: Sequence[Markup]) -> Sequence[Markup]:
    shown, rest = items[:_MAX_RULES], items[_MAX_RULES:]
    if not rest:
        return shown
    others = html("ol", rest, class_="rules", start=_MAX_RULES + 1)
    return [*shown, html("li", _fold(f"{len(rest)} more rules", others))]


def _fold(summary: str, *content: object) -> Markup:
    return html("details", html("summary", summary), *content)


def _name_scores(model: Model) -> list[Markup]:
    output = model.output
    names = map(name_class, output.labels) if isinstance(output, Classes) else output.score_names
    return [bdi(name) for name in names]


def _write_numbers(numbers: Iterable[str]) -> list[Markup]:
    return [html("td", number, class_="num") for number in numbers]


def _write_start(constants: Sequence[str]) -> Markup:
    head = html("td", "to start with", colspan=2) + html("td", class_="num few")
    return html("tr", head, _write_numbers(constants))


def _write_point_table(heads: Sequence[str], rows: Sequence[Markup]) -> Markup:
    styles = [("input", None), ("condition", None), ("rows", "num few")]
    columns = [*styles, *((head, "num") for head in heads)]
    line = html("tr", [html("th", name, scope="col", class_=style) for name, style in columns])
    table = html("table", html("thead", line), html("tbody", rows), class_="points-table")
    return html("div", table, class_="scroll")


def _write_limit(facts: Facts) -> Markup:
    output = facts.model.output
    if not isinstance(output, Classes):
        return join("The sum is ", bdi(join_words(output.score_names)), ".")
    return join(HIGHEST, ".") if output.n_scores > 1 else _write_bands(facts)


def _write_bands(facts: Facts) -> Markup:
    """Return from which sum on each class is said."""
    names = _name_scores(facts.model)
    parts: list[object] = []
    for k, total in facts.bands:
        parts += ["Sum ", html("b", f"≥ {format_fraction(total)}"), ": ", names[k], ". "]
    return join(*parts, "Otherwise: ", names[0], ".")


def _describe_rounding(card: ScoreCard | None) -> Markup:
    """Return what the rounding to whole points has changed."""
    if card is None or card.before is None or card.after is None:
        return Markup("")
    before, after = (percent(cost.accuracy, 1) for cost in (card.before, card.after))
    return html(
        "p",
        f"Points are rounded: on {integer(card.after.n_rows)} ",
        bdi(card.where),
        f" the card is right for {after}, the network before for {before}. "
        f"One point weighs {format_rounded(card.output.unit)} in log odds.",
        class_="small muted",
    )


# ---- networks that are not crisp ----


def _write_soft(facts: Facts) -> Markup:
    """Return what each column and pair adds, or each neuron: the outputs first, the rest folded."""
    if facts.effects is not None:
        return join(write_effects(facts, facts.effects), _write_crisp(facts))
    model = facts.model
    try:
        rules = read_fuzzy_rules(model)
        neurons = [_write_neuron(neuron.heading, neuron.lines) for neuron in rules.neurons]
        intro = (
            "A function in brackets holds more or less, from 0 to 1; the number before it is "
            "what it adds where it holds wholly."
        )
    except ModelError:  # functions that are not memberships: described by their shapes
        shapes = read_shapes(model)
        neurons = [_write_neuron(*shapes.list_lines(neuron)) for neuron in shapes.neurons]
        intro = "The number before a function is what its value is multiplied by."
    n = model.output.n_scores
    return join(
        html("p", f"What each neuron adds up, in words. {intro}"),
        html("div", neurons[-n:], class_="neurons"),
        _write_hidden(neurons[:-n]),
        _write_crisp(facts),
    )


def _write_hidden(neurons: Sequence[Markup]) -> Markup | None:
    if not neurons:
        return None
    shown = html("div", neurons, class_="neurons")
    if len(neurons) > _MAX_NEURONS:
        shown = _fold(f"{len(neurons)} hidden neurons", shown)
    return join(html("p", "What the hidden neurons read:"), shown)


def _write_neuron(heading: str, lines: Sequence[str]) -> Markup:
    items = [html("li", bdi(line)) for line in lines]
    shown, rest = items[:_MAX_LINES], items[_MAX_LINES:]
    more = _fold(f"{len(rest)} more", html("ul", rest)) if rest else None
    return html("div", html("h3", bdi(heading)), html("ul", shown), more)


def _write_crisp(facts: Facts) -> Markup | None:
    if facts.crisp is None:
        return None
    rules, fidelity = facts.crisp
    text = None
    if rules is not None:
        lines = Markup("\n").join(rules.to_text().splitlines())
        text = _fold("The rules of that crisp network", html("pre", html("bdi", lines)))
    badge = html("div", html("span", _describe_fidelity(fidelity)), class_="badge plain")
    return join(badge, text)


def _describe_fidelity(fidelity: Fidelity) -> Markup:
    return join(
        html("b", "Curves, not rules: there is nothing to prove."),
        " Cut at one half they become the nearest network of conditions, which is another model: "
        f"{fidelity.agreement} ({fidelity.summary}).",
    )
