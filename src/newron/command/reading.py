"""Networks on the terminal: score cards, rule lists, points of several classes, shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from newron.command.learning import is_card
from newron.command.prove import tell_domain, tell_time
from newron.command.terminal import WIDTH, Page, Part, blue, bold, dim
from newron.formatting import format_fraction, quote
from newron.model import Model
from newron.rules.axis import Axis
from newron.rules.body import Branch, DecisionList
from newron.rules.node import Count
from newron.rules.parsing import parse_rules
from newron.rules.proof import Proof
from newron.rules.ruleset import RuleSet
from newron.rules.scorecard import ScoreCard, read_card
from newron.rules.text import Writer, name_groups, say_count, write_outcome

__all__ = ["find_card", "show_card", "show_model", "show_proof", "write_card"]

_MOST_POINTS = 20  # whole points up to which a card is told in them
_SHORT_CARD = 4  # conditions up to which rules may be easier to read than points
_MOST_RULES = 20
_MOST_LINES = 40
_GAP = "    "


# ---- score cards ----


def find_card(model: Model) -> ScoreCard | None:
    """Give the score card that a network is, in whole points where its weights are such."""
    if not is_card(model):
        return None
    card = read_card(model)
    weights = [term.weights[0] for term in card.points.terms]
    if len(weights) <= _SHORT_CARD:
        return None
    unit = _find_unit(weights)
    return replace(card, unit=unit) if max(map(abs, weights)) / unit <= _MOST_POINTS else card


def _find_unit(weights: Sequence[Fraction]) -> Fraction:
    """Give the largest number of which all weights are multiples.

    Examples
    --------
    >>> _find_unit([Fraction("0.9"), Fraction("-1.2")])
    Fraction(3, 10)
    """
    shared = math.lcm(*(weight.denominator for weight in weights))
    return Fraction(math.gcd(*(int(weight * shared) for weight in weights)), shared)


def write_card(card: ScoreCard) -> str:
    """Write a card so that it can be read again as rules: its table of risks is a remark."""
    remarks = f"{card.format_remarks()}\n\n{card.rules.proof}".splitlines()
    lines = [card.to_text(remarks=False), "", *(f"# {line}".rstrip() for line in remarks), ""]
    return "\n".join(lines)


def show_card(page: Page, card: ScoreCard) -> None:
    """Print a score card: what holds adds its points, and the sum decides."""
    rows = _list_rows(card)
    output = card.model.output
    points = [told for _, _, told in rows]
    last = max(6, *map(len, points))
    names = min(max(len(name) for name, _, _ in rows), 30)
    asked = min(max(len(what) for _, what, _ in rows), page.width - names - last - 10)
    page.line(bold("  Score card"), " " * (names + asked - 4), dim("points".rjust(last)))
    for name, what, told in rows:
        strong = len(told) > 2 or told[1:] > "1"
        number: Part = bold(told.rjust(last)) if strong else told.rjust(last)
        page.line(
            f"    {_fit(name, names):{names}}  ", blue(f"{_fit(what, asked):{asked}}"), "  ", number
        )
    page.line("    ", "─" * (names + asked + last + 4))
    page.line(
        "    sum ",
        bold(f"≥ {format_fraction(card.threshold)}"),
        ": ",
        bold(write_outcome(output, 1)),
        ", otherwise ",
        bold(write_outcome(output, 0)),
    )
    _show_risks(page, card)


def _list_rows(card: ScoreCard) -> list[tuple[str, str, str]]:
    """Give column, condition and points of each line, the most points first."""
    return [
        (
            "" if row.column is None else quote(row.column),
            row.condition,
            format_fraction(row.points, signed=True),
        )
        for row in card.rows
    ]


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _show_risks(page: Page, card: ScoreCard) -> None:
    """Print what totals mean, where there is room for it."""
    if page.width < WIDTH:
        return
    risks = card.list_probabilities()
    width = max(5, *(len(format_fraction(total)) + 2 for total, _ in risks))
    totals, shares = "", ""
    for total, risk in _thin(risks, card.threshold, (page.width - 14) // width):
        bar = " │" if total >= card.threshold and "│" not in totals and totals else ""
        totals += bar + format_fraction(total).rjust(width - len(bar))
        shares += bar + f"{100 * risk:.0f}".rjust(width - len(bar))
    page.line()
    page.line("    ", dim("points  "), totals)
    page.line("    ", dim("risk %  "), shares)


def _thin(
    risks: list[tuple[Fraction, float]], threshold: Fraction, most: int
) -> list[tuple[Fraction, float]]:
    """Leave as many totals as there is room for, the first at the threshold or over it among them.

    Examples
    --------
    >>> [int(total) for total, _ in _thin([(Fraction(k), 0.5) for k in range(9)], Fraction(3), 5)]
    [1, 3, 5, 7]
    """
    step = -(-len(risks) // most)
    above = sum(total < threshold for total, _ in risks)
    return risks[above % step :: step]


# ---- lists of rules ----


def show_list(page: Page, model: Model, axes: tuple[Axis, ...], body: DecisionList) -> None:
    """Print rules from the top: the first that holds decides."""
    output = model.output
    writer = Writer(axes, name_groups(body.nodes))
    for line in writer.write_groups():
        page.line(f"    {line}".rstrip())
    labels = [write_outcome(output, branch.outcome) for branch in body.branches]
    last = write_outcome(output, body.default)
    width = max(map(len, [*labels, last]))
    for label, branch in list(zip(labels, body.branches, strict=True))[:_MOST_RULES]:
        _show_branch(page, label.ljust(width), branch, writer)
    if len(labels) > _MOST_RULES:
        page.line(f"    … and {len(labels) - _MOST_RULES} more rules in rules.txt")
    page.line("    ", bold(last.ljust(width)), "  otherwise" if labels else "  always")


def _show_branch(page: Page, label: str, branch: Branch, writer: Writer) -> None:
    node, indent = branch.node, " " * (4 + len(label) + 4)
    told, room = writer.write(node), page.width - len(indent) - 1
    counts = isinstance(node, Count) and not (node.is_all or node.is_any)
    if not isinstance(node, Count) or (len(told) <= room and not counts):
        page.line("    ", bold(label), "  if ", blue(_fit(told, room)))
        return
    members = [writer.write(child) for child in node.children]
    if node.children in writer.names:
        members = [writer.names[node.children]]
    page.line("    ", bold(label), f"  if {say_count(node)} of")
    for line in _pack(members, page.width - len(indent)):
        page.line(indent, blue(line))


def _pack(words: Sequence[str], width: int) -> list[str]:
    """Put words side by side, below each other, as many as there is room for."""
    size = min(max(map(len, words)), width)
    n = max((width + len(_GAP)) // (size + len(_GAP)), 1)
    rows = [words[i : i + n] for i in range(0, len(words), n)]
    return [_GAP.join(_fit(word, width).ljust(size) for word in row).rstrip() for row in rows]


# ---- everything else ----


def show_text(page: Page, text: str, file: str) -> None:
    """Print the first lines of a text, and where the rest is."""
    lines = text.splitlines()
    for line in lines[:_MOST_LINES]:
        page.line(f"    {_fit(line, page.width - 4)}".rstrip())
    if len(lines) > _MOST_LINES:
        page.line(f"    … and {len(lines) - _MOST_LINES} more lines in {file}")


def show_model(page: Page, model: Model, rules: RuleSet | None, file: str) -> None:
    """Print a network in the form that suits it; ``file`` is where all of it is."""
    card = find_card(model)
    if card is not None:
        show_card(page, card)
    elif rules is None:
        page.line(bold("  What each function does"))
        show_text(page, str(model.shapes()), file)
    else:
        text = rules.to_text(notes=False)
        axes, body = parse_rules(text, model.schema, model.output)
        if isinstance(body, DecisionList):
            show_list(page, model, axes, body)
        else:
            page.line(bold("  Points"))
            show_text(page, text, file)


# ---- proof ----


def show_proof(page: Page, proof: Proof, what: str, agreement: str) -> None:
    """Print whether rules equal the network; ``agreement`` where that was not shown."""
    if proof.equal:
        page.record(
            "proved", f"{what} equals the network on {tell_domain(proof)}", tell_time(proof)
        )
    elif proof.equal is None:
        page.record("not proved", f"{proof.note}; {agreement}.")
    else:
        page.record("refuted", str(proof))
