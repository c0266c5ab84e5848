"""Score cards: a network without hidden layers as a table of conditions and points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from newron.drawing.boxes import Box
from newron.drawing.palette import SIZES
from newron.drawing.scale import find_step
from newron.drawing.shapes import Attributes, Edge, Label, Line, Rect, Scene
from newron.drawing.text import fit, measure
from newron.figures.annotations import add_heading, add_legend, wrap
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.parts import (
    MARGIN,
    WIDTH,
    add_activation,
    add_boxes,
    add_chip,
    add_edge,
    add_outcome,
    add_sum,
    caption_sum,
    count_folded,
    name_folded,
)
from newron.figures.plot import draw_function, list_values
from newron.formatting import (
    format_amount,
    format_percent,
    format_rounded,
    format_signed,
    format_threshold,
    format_unit,
)

_PITCH, _PLOT = 63.0, 32.0
_NAME, _VALUE, _FRAME, _CONDITION, _POINTS = MARGIN, 290.0, 334.0, 606.0, 818.0
_FRAME_WIDTH = 248.0
_SIDE = 18.0  # that stays free: a report shows the figure without its margin
PILL = 64.0  # the width of what holds the points
_SUM_X, _SUM_WIDTH, _SUM_HEIGHT = 920.0, 78.0, 116.0
_TOP = 136.0
_MANY_TOTALS, _FEW_TOTALS, _MANY_LINES = 13, 9, 8
_LINE = 19.0  # of the table of totals


def order_card(functions: Sequence[Function]) -> list[Function]:
    """Return functions with the largest first; those of one input stay together."""
    largest: dict[int, float] = {}
    for function in functions:
        largest[function.signal] = max(largest.get(function.signal, 0.0), function.size)

    def rank(f: Function) -> tuple[float, int, float, int]:
        first = f.marks[0].place if f.marks else -math.inf
        return -largest[f.signal], f.signal, first, f.shape.function

    return sorted(functions, key=rank)


def lay_card(diagram: Diagram) -> Scene:
    """Lay a network without hidden layers and with one output out as a card."""
    neuron = diagram.layers[0][0]
    functions = order_card(neuron.functions)
    n_lines = len(functions) + bool(neuron.folded)
    scene = Scene(WIDTH, 0)
    add_heading(scene, diagram)
    _add_heads(scene, diagram)
    middle = max(_TOP + n_lines * _PITCH / 2 - 130, _TOP + 80)
    box = Box(_SUM_X, middle - _SUM_HEIGHT / 2, _SUM_WIDTH, _SUM_HEIGHT)
    ports = box.list_ports(n_lines, (box.height - 18) / max(n_lines, 1))
    for k, function in enumerate(functions):
        plot = Box(_FRAME, _TOP + k * _PITCH + 2, _FRAME_WIDTH, _PLOT)
        _add_line(scene, diagram, function, plot)
        add_edge(scene, function, (_POINTS + PILL / 2, plot.middle), ports[k])
    if neuron.folded:
        _add_folded(scene, neuron, _TOP + len(functions) * _PITCH, ports[-1])
    add_sum(scene, neuron, box, caption=caption_card(diagram, neuron))
    bottom = max(_TOP + n_lines * _PITCH, _add_output(scene, diagram, neuron, box))
    scene.height = _add_notes(scene, diagram, bottom + 30) + 22
    return scene


def caption_card(diagram: Diagram, neuron: Neuron) -> str:
    """Return what is written below the sum of a card."""
    return caption_sum(diagram, neuron) or ("points" if diagram.has_one_score else "")


def _add_heads(scene: Scene, diagram: Diagram) -> None:
    y, rows = _TOP - 22, ", rows below" if diagram.n_rows else ""
    condition = "condition" if diagram.is_crisp else "shape"
    for x, text in ((_NAME, "input"), (_FRAME, f"function{rows}"), (_CONDITION, condition)):
        scene.add(Label(x, y, text, "head", style="m"))
    if diagram.outcome is not None:
        scene.add(Label.fitted(_VALUE, y, diagram.row_name, "head", 150, "m", anchor="end"))
    points = "points" if diagram.has_one_score else "adds"
    scene.add(Label(_POINTS, y, points, "head", "middle", "m"))
    scene.add(Line(((MARGIN, _TOP - 12), (_POINTS + 30, _TOP - 12)), "hair"))


# ---- a line ----


def _add_line(scene: Scene, diagram: Diagram, function: Function, plot: Box) -> None:
    """Draw a line of the card: name, value, plot, condition, points."""
    base = plot.middle + 4
    _add_input(scene, diagram, function, base)
    scene.add(draw_function(function, plot))
    room = _POINTS - PILL / 2 - 10 - _CONDITION
    margin = _describe_margin(function)
    y = base - (8 if margin else 0)
    scene.add(Label.fitted(_CONDITION, y, function.reading, "cond", room))
    if margin:
        key: Attributes = {"data-margin": function.key}
        scene.add(Label.fitted(_CONDITION, base + 9, margin, "note", room, "m", key))
    add_points(scene, function, _POINTS, plot.middle)


def _add_input(scene: Scene, diagram: Diagram, function: Function, y: float) -> None:
    """Write the name of an input, and its value for the row."""
    one = diagram.inputs[function.signal]
    axis = max(measure(text, SIZES["tick"]) for _, text in list_values(function)) + 12
    right = min(_VALUE, _FRAME - axis)
    room = right - _NAME
    if one.value is not None:
        name = min(measure(function.name, SIZES["name"], bold=True), 0.6 * room)
        key: Attributes = {"data-val": one.index}
        left = room - name - 14
        value = Label.fitted(right, y, one.value, "cond", left, "", key, anchor="end")
        scene.add(value)
        room -= value.width + 14
    scene.add(Label.fitted(_NAME, y, function.name, "name", room))


def _describe_margin(function: Function) -> str:
    """Return how far the row is from where a condition changes: "5 y below 55"."""
    part = function.part
    if part is None or part.margin is None or function.limit is None or function.joined:
        return ""
    limit = format_threshold(function.limit)
    if part.margin == 0.0:
        return f"at the limit of {limit}"
    side = "above" if part.margin > 0.0 else "below"
    return f"{format_threshold(abs(part.margin))}{format_unit(function.axis.unit)} {side} {limit}"


def add_points(scene: Scene, function: Function, x: float, y: float) -> None:
    """Draw the pill with the points; it is filled where the condition holds."""
    state = " on" if function.on else ""
    key: Attributes = {"data-fn": function.key}
    scene.add(Rect(x - PILL / 2, y - 12, PILL, 24, f"pill{state}", 12.0, "", key))
    text = fit(_format_points(function), PILL - 6, SIZES["value"], bold=True)
    if not function.crisp and function.part is not None:
        key = {**key, "data-part": function.key}
    scene.add(Label(x, y + 4.5, text, "value", "middle", f"points{state}", "", key))


def _format_points(function: Function) -> str:
    """Return the weight of a condition; of a curve what it adds for the row, or can add."""
    if function.crisp or (function.part is None and function.bounded):
        return format_signed(function.weight)
    if function.part is None:
        ends = function.low, function.high
        ranges = [
            between.join(format_rounded(end, digits) for end in ends)
            for between, digits in ((" … ", 2), (" … ", 1), ("…", 1))
        ]
        furthest = max(ends, key=abs)  # where not even that has room
        return next(filter(_fits, ranges), f"to {format_signed(furthest, 1)}")
    added = format_amount(function.added, function.high - function.low)
    return f"+{added}" if function.added > 0.0 else added


def _fits(text: str) -> bool:
    return measure(text, SIZES["value"], bold=True) <= PILL - 6


def _add_folded(scene: Scene, neuron: Neuron, y: float, end: tuple[float, float]) -> None:
    names, box = name_folded(neuron), Box(_FRAME, y + 4, _FRAME_WIDTH, 28)
    add_chip(scene, box, f"{count_folded(neuron)}, folded", names, inset=12)
    scene.add(Label.fitted(_CONDITION, y + 22, names, "cond", _POINTS - _CONDITION, "m"))
    scene.add(Edge(_POINTS + PILL / 2, y + 18, *end, 1.5, style="fold"))


# ---- what the sum means ----


def _add_output(scene: Scene, diagram: Diagram, neuron: Neuron, box: Box) -> float:
    port = box.right, box.middle
    if diagram.classes is None:
        add_boxes(scene, diagram, {0: port}, 1056.0, 116.0)
        return box.bottom + 40
    plot = Box(1056.0, box.middle - 48, 116.0, 96.0)
    name = name_reached(diagram)
    head = Label.fitted(0, 0, name, "name", 200)
    x = min(plot.center - head.width / 2, WIDTH - _SIDE - head.width)
    scene.add(Label(x, plot.y - 10, head.text, "name", "start", "c-red", name))
    add_activation(scene, diagram, neuron, plot, (port, (plot.x, box.middle)))
    at = plot.center, plot.bottom + 30
    y = add_outcome(scene, diagram, neuron, at, 2 * (WIDTH - _SIDE - plot.center))
    return y if neuron.low == neuron.high else _add_totals(scene, diagram, neuron, box.x, y + 50)


def name_reached(diagram: Diagram) -> str:
    """Return of what the plot of one score shows the probability."""
    second, last = diagram.outputs[1], diagram.outputs[-1]
    return second if len(diagram.outputs) == 2 else f"at least {second} … {last}"


def _add_totals(scene: Scene, diagram: Diagram, neuron: Neuron, x: float, y: float) -> float:
    """Write the probability of some totals around the limit, with bars."""
    right = WIDTH - MARGIN
    scene.add(Label(x, y, "total of points", "head", style="m"))
    scene.add(Label(right, y, "probability", "head", "end", "m"))
    scene.add(Line(((x, y + 8), (right, y + 8)), "hair"))
    limits = diagram.list_limits(neuron)
    totals = _list_totals(neuron, limits)
    nearest = None
    if neuron.stage is not None:
        own = neuron.stage.total
        nearest = min(totals, key=lambda total: abs(total - own))
    for k, total in enumerate(totals):
        line = y + 26 + k * _LINE
        reached = sum(total >= limit for limit in limits)
        probability = _find_share(diagram, total - neuron.centre, reached)
        style, key = "b" if total == nearest else "m", {"data-total": total}
        scene.add(Label(x, line, _format_total(totals, k), "note", style=style, attributes={**key}))
        if len(limits) > 1:  # of ordered classes the one that is predicted
            name = diagram.outputs[reached]
            scene.add(Label.fitted(x + 76, line, name, "note", 110, style, {**key}))
        else:
            bar = "meter-on" if reached else "meter-low"
            scene.add(
                Rect(x + 76, line - 9, 110, 9, "meter", 2.0),
                Rect(x + 76, line - 9, max(1.5, 110 * probability), 9, bar, 2.0),
            )
        share = format_percent(probability)
        scene.add(Label(right, line, share, "note", "end", style, "", {**key}))
    for limit in limits:
        below = sum(total < limit for total in totals)
        cut = y + 26 + below * _LINE - 14
        scene.add(Line(((x, cut), (right, cut)), "cut"))
    return y + 26 + len(totals) * _LINE


def _find_share(diagram: Diagram, score: float, reached: int) -> float:
    """Return the probability of the second of two classes, or of the ordered one predicted."""
    assert diagram.link is not None  # noqa: S101 - asked for classes alone
    shares = diagram.link.predict_proba(np.array([[score]]))[0]
    return float(shares[reached if diagram.link.is_ordered else 1])


def _list_totals(neuron: Neuron, limits: Sequence[float]) -> list[float]:
    """Return the totals of the table: whole ones around the limits, or even steps."""
    n = _MANY_TOTALS if len(neuron.functions) >= _MANY_LINES else _FEW_TOTALS
    whole = all(function.whole for function in (*neuron.functions, *neuron.folded))
    step = 1.0 if whole else find_step((neuron.high - neuron.low) / (n - 1))
    first = math.ceil(neuron.low / step - 1e-9)
    last = math.floor(neuron.high / step + 1e-9)
    middle = math.ceil(0.5 * (limits[0] + limits[-1]) / step)
    start = max(first, min(middle - n // 2, last - n + 1))
    return [round(step * k, 9) for k in range(start, min(start + n, last + 1))]


def _format_total(totals: Sequence[float], k: int) -> str:
    text = format_amount(totals[k], max(totals) - min(totals))
    if k == 0:
        return f"{text} or less"
    return f"{text} or more" if k == len(totals) - 1 else text


def _add_notes(scene: Scene, diagram: Diagram, y: float) -> float:
    for head, names in (("Not used", diagram.unused), ("Hardly matters", diagram.idle)):
        if not names:
            continue
        text = f"{head}: {', '.join(names)}"
        lines = wrap(text, WIDTH - 2 * MARGIN, "note")
        shown = lines if len(lines) <= 2 else [f"{head}: {len(names)} inputs"]
        for line in shown:
            scene.add(Label(MARGIN, y, line, "note", style="m", title=text))
            y += 18
    return add_legend(scene, diagram, y + 10 if diagram.unused or diagram.idle else y)
