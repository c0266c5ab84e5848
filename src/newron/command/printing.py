"""Networks, proofs and estimates on the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from newron.command.terminal import WIDTH, Console, Part, blue, bold, dim
from newron.evaluation import Estimate
from newron.formatting import (
    format_class,
    format_count,
    format_fixed,
    format_fraction,
    format_number,
    format_rounded,
    format_seconds,
    quote,
    shorten,
)
from newron.model import Classes, Measurement, Model
from newron.model.measurement import MODEL, describe_score
from newron.model.output import Output
from newron.rules.axis import Axis
from newron.rules.body import Branch, DecisionList, Points
from newron.rules.node import Count, Node
from newron.rules.parsing import parse_rules
from newron.rules.proof import Proof
from newron.rules.ruleset import RuleSet
from newron.rules.scorecard import ScoreCard, read_card
from newron.rules.text import (
    HIGHEST,
    Writer,
    format_quantifier,
    name_groups,
    write_head,
    write_missing,
    write_outcome,
)

_SHORT_CARD = 4  # conditions up to which rules may be easier to read than points
_MAX_RULES = 20
_MAX_LINES = 40
_SPACE = "    "
_NAME, _PLOT = 27, 44  # columns of a chart's names and of its plot
_COMBINATIONS = ("combination of conditions", "combinations of conditions")
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


# ---- score cards ----


def is_card(model: Model) -> bool:
    """Whether a network is a score card: steps without hidden layer, and one score."""
    single = isinstance(model.output, Classes) and model.output.n_scores == 1
    used = len(model.layers[0].source) > 0
    return single and used and len(model.layers) == 1 and model.is_crisp


def find_card(model: Model) -> ScoreCard | None:
    """Return the score card that a network is, unless rules may be easier to read."""
    if not is_card(model):
        return None
    card = read_card(model)
    return card if len(card.points.terms) > _SHORT_CARD else None


def write_card(card: ScoreCard) -> str:
    """Write a card so that it can be read again as rules: what totals mean is a comment."""
    comments = f"{card.format_remarks()}\n\n{card.rules.proof}".splitlines()
    lines = [card.to_text(remarks=False), "", *(f"# {line}".rstrip() for line in comments), ""]
    return "\n".join(lines)


def _print_card(console: Console, card: ScoreCard) -> None:
    """Print a score card: what holds adds its points, and the sum decides."""
    rows = _list_rows(card)
    output = card.model.output
    points = [text for _, _, text in rows]
    last = max(6, *map(len, points))
    names = min(max(len(name) for name, _, _ in rows), 30)
    width = min(max(len(what) for _, what, _ in rows), console.width - names - last - 10)
    console.print(bold("  Score card"), " " * (names + width - 4), dim("points".rjust(last)))
    for name, what, text in rows:
        strong = len(text) > 2 or text[1:] > "1"
        number: Part = bold(text.rjust(last)) if strong else text.rjust(last)
        console.print(
            f"    {shorten(name, names):{names}}  ",
            blue(f"{shorten(what, width):{width}}"),
            "  ",
            number,
        )
    console.print("    ", "─" * (names + width + last + 4))
    described: list[Part] = ["    sum "]
    for k, total in card.bands:
        described += [bold(f"≥ {format_fraction(total)}"), ": "]
        described += [bold(write_outcome(output, k)), ", "]
    console.print(*described, "otherwise ", bold(write_outcome(output, 0)))
    _print_missing(console, card.axes, card.points.nodes)
    _print_probabilities(console, card)


def _list_rows(card: ScoreCard) -> list[tuple[str, str, str]]:
    """Return column, condition and points of each line, in the order of the card."""
    return [
        (
            "" if row.column is None else quote(row.column),
            row.condition,
            format_fraction(row.points, signed=True),
        )
        for row in card.rows
    ]


def _print_probabilities(console: Console, card: ScoreCard) -> None:
    """Print what totals mean, where there is space for it."""
    if console.width < WIDTH:
        return
    pairs = card.list_probabilities()
    width = max(5, *(len(format_fraction(total)) + 2 for total, _ in pairs))
    totals, percents = "", ""
    for total, probability in _thin(pairs, card.threshold, (console.width - 22) // width):
        bar = " │" if total >= card.threshold and "│" not in totals and totals else ""
        totals += bar + format_fraction(total).rjust(width - len(bar))
        percents += bar + f"{100 * probability:.0f}".rjust(width - len(bar))
    head = "probability %  "
    if card.output.is_ordered:
        head = shorten(f"{write_outcome(card.output, len(card.output.labels) - 1)} %", 14).ljust(15)
    console.print()
    console.print("    ", dim("points         "), totals)
    console.print("    ", dim(head), percents)


def _thin(
    pairs: list[tuple[Fraction, float]], threshold: Fraction, limit: int
) -> list[tuple[Fraction, float]]:
    """Leave as many totals as there is space for, the first at the threshold or over it among them.

    >>> [int(total) for total, _ in _thin([(Fraction(k), 0.5) for k in range(9)], Fraction(3), 5)]
    [1, 3, 5, 7]
    """
    step = -(-len(pairs) // limit)
    above = sum(total < threshold for total, _ in pairs)
    return pairs[above % step :: step]


# ---- lists of rules ----


def _print_list(
    console: Console, model: Model, axes: tuple[Axis, ...], body: DecisionList, file: str
) -> None:
    """Print rules from the top: the first that holds decides."""
    output = model.output
    writer = Writer(axes, name_groups(body.nodes))
    for line in writer.write_groups():
        console.print(f"    {line}".rstrip())
    labels = [write_outcome(output, branch.outcome) for branch in body.branches]
    last = write_outcome(output, body.default)
    width = max(map(len, [*labels, last]))
    for label, branch in list(zip(labels, body.branches, strict=True))[:_MAX_RULES]:
        _print_branch(console, label.ljust(width), branch, writer)
    if len(labels) > _MAX_RULES:
        console.print(f"    … and {len(labels) - _MAX_RULES} more rules: {file}")
    console.print("    ", bold(last.ljust(width)), "  otherwise" if labels else "  always")
    _print_missing(console, axes, body.nodes)


def _print_missing(console: Console, axes: Sequence[Axis], nodes: Sequence[Node]) -> None:
    """Print what missing values count as, where some condition holds of them."""
    for line in write_missing(axes, nodes):
        for part in console.wrap(line, 4):
            console.print("    ", dim(part))


def _print_branch(console: Console, label: str, branch: Branch, writer: Writer) -> None:
    node, indent = branch.node, " " * (4 + len(label) + 4)
    text, width = writer.write(node), console.width - len(indent) - 1
    counts = isinstance(node, Count) and not (node.is_all or node.is_any)
    if not isinstance(node, Count) or (len(text) <= width and not counts):
        console.print("    ", bold(label), "  if ", blue(shorten(text, width)))
        return
    members = [writer.write(child) for child in node.children]
    if node.children in writer.names:
        members = [writer.names[node.children]]
    console.print("    ", bold(label), f"  if {format_quantifier(node)} of")
    for line in _pack(members, console.width - len(indent)):
        console.print(indent, blue(line))


def _pack(words: Sequence[str], width: int) -> list[str]:
    """Put words side by side, below each other, as many as there is space for."""
    size = min(max(map(len, words)), width)
    n = max((width + len(_SPACE)) // (size + len(_SPACE)), 1)
    rows = [words[i : i + n] for i in range(0, len(words), n)]
    return [_SPACE.join(shorten(word, width).ljust(size) for word in row).rstrip() for row in rows]


# ---- networks and proofs ----


def _print_text(console: Console, text: str, file: str) -> None:
    """Print the first lines of a text, and where the rest is."""
    lines = text.splitlines()
    for line in lines[:_MAX_LINES]:
        console.print(f"    {shorten(line, console.width - 4)}".rstrip())
    if len(lines) > _MAX_LINES:
        console.print(f"    … and {len(lines) - _MAX_LINES} more lines: {file}")


def _print_points(
    console: Console, model: Model, rules: RuleSet, axes: tuple[Axis, ...], body: Points, file: str
) -> None:
    """Print points; those of many classes, which have no space side by side, below conditions."""
    console.print(bold("  Points"))
    lines = rules.to_text(notes=False).splitlines()
    missing = write_missing(axes, body.nodes)
    lines = lines[: len(lines) - len(missing)]
    shares = model.output.n_scores > 1 and max(map(len, lines)) > console.width - 4
    if shares:
        lines = _list_by_condition(console, model.output, axes, body)
    _print_text(console, "\n".join(lines), file)
    _print_missing(console, axes, body.nodes)


def _list_by_condition(
    console: Console, output: Output, axes: tuple[Axis, ...], body: Points
) -> list[str]:
    """Return each condition, and below it the points that it gives to classes or targets."""
    last: list[str] = []
    if isinstance(output, Classes):
        names, last = list(map(format_class, output.labels)), [HIGHEST]
    else:
        names = list(output.score_names)
    writer = Writer(axes, name_groups(body.nodes))
    lines = [*writer.write_groups(), *console.wrap(write_head(output), 4)]
    for head, weights in [
        *((writer.write(term.node), term.weights) for term in body.terms),
        ("to start with", body.constants),
    ]:
        signed = head != "to start with"
        parts = [
            f"{name}\u00a0{format_fraction(w, signed=signed)}"
            for name, w in zip(names, weights, strict=True)
            if w
        ]
        lines += [f"  {head}", *(f"    {line}" for line in console.wrap(", ".join(parts), 8))]
    return [*lines, *last]


def print_model(console: Console, model: Model, rules: RuleSet | None, file: str) -> None:
    """Print a network in the form that suits it; ``file`` is where all of it is."""
    card = find_card(model)
    if card is not None:
        _print_card(console, card)
    elif rules is None:
        console.print(bold("  What each function does"))
        _print_text(console, str(model.shapes()), file)
    else:
        text = rules.to_text(notes=False)  # what is proved is what it says, read again
        axes, body = parse_rules(text, model.schema, model.output)
        if isinstance(body, DecisionList):
            _print_list(console, model, axes, body, file)
        else:
            _print_points(console, model, rules, axes, body, file)


def print_proof(console: Console, proof: Proof, what: str, agreement: str = "") -> None:
    """Print whether ``what`` equals the network; ``agreement`` where that was not shown."""
    if proof.equal:
        words = ("input", None) if proof.finite else _COMBINATIONS
        inputs = format_count(proof.size, *words)
        text = f"{what} the network for all {inputs}, in {proof.coverage}"
        console.print_record("proved", text, f"({format_seconds(proof.seconds)})")
    elif proof.equal is None:
        console.print_record("not proved", "; ".join(filter(None, [proof.note, agreement])) + ".")
    else:
        console.print_record("refuted", proof.describe())


# ---- charts ----


def print_measurement(console: Console, found: Measurement) -> None:
    """Print how good a model was, how that was measured, and how good baselines were."""
    console.print(bold(f"  {found.describe()}."))
    trained = ""
    if found.n_trained is not None:
        trained = f"; this network is trained on {format_count(found.n_trained, 'row')}"
    for line in console.wrap(f"Measured {found.describe_protocol()}{trained}."):
        console.print(f"  {line}")
    others = [name for name in found.scores if name != MODEL]
    width = max(map(len, others), default=0)
    for name in others:
        text = describe_score(found.headline, found.scores[name][found.headline])
        better = " (better)" if name in found.better else ""
        console.print(dim(f"    {name:{width}}  {text}{better}"))


def _format_end(value: float, unit: str) -> str:
    """Return the number at the end of a bar, with the digits that all readers give it."""
    return format_fixed(value, 1) if unit == "%" else format_rounded(value)


def draw_chart(
    console: Console,
    rows: Sequence[tuple[str, Estimate]],
    *,
    unit: str = "",
    limit: float = math.inf,
) -> None:
    """Print a line for each estimate, the first one bold.

    - ``unit``: Printed once, after the last tick.
    - ``limit``: What no estimate is over.
    """
    low = min(estimate.low for _, estimate in rows)
    high = max(estimate.high for _, estimate in rows)
    ticks = _choose_ticks(low, high, limit)
    console.print(" " * (4 + _NAME), dim(_draw_axis(ticks, unit)))
    for number, (name, estimate) in enumerate(rows):
        line = f"    {shorten(name, _NAME):{_NAME}}{_draw_bar(estimate, ticks)}"
        parts: list[Part] = [bold(line) if number == 0 else line]
        console.print(*parts, f"  {_format_end(estimate.value, unit)}")


def _choose_ticks(low: float, high: float, limit: float) -> list[float]:
    """Return from four to eight round numbers that hold all estimates."""
    span = max(high - low, 1e-12 * max(abs(high), 1.0))
    size = 10.0 ** math.floor(math.log10(span / 4.0))
    step = next(size * k for k in _STEPS if span / (size * k) <= 5.0)
    first, last = math.floor(low / step), math.ceil(min(high, limit) / step)
    return [k * step for k in range(first, max(last, first + 1) + 1)]


def _locate(value: float, ticks: Sequence[float]) -> int:
    fraction = (value - ticks[0]) / (ticks[-1] - ticks[0])
    return round(min(max(fraction, 0.0), 1.0) * (_PLOT - 1))


def _draw_axis(ticks: Sequence[float], unit: str) -> str:
    line = [" "] * (_PLOT + 8)
    for tick in ticks:
        word = format_number(float(f"{tick:g}"))
        start = max(_locate(tick, ticks) - len(word) // 2, 0)
        if line[max(start - 1, 0)] != " ":
            continue  # there is no space between it and the one before
        line[start : start + len(word)] = word
    return f"{''.join(line).rstrip()} {unit}".rstrip()


def _draw_bar(estimate: Estimate, ticks: Sequence[float]) -> str:
    low, at, high = (_locate(x, ticks) for x in (estimate.low, estimate.value, estimate.high))
    line = [" "] * _PLOT
    line[low : high + 1] = "─" * (high + 1 - low)
    line[low], line[high] = "├", "┤"
    line[at] = "●"
    return "".join(line)
