"""Score cards: a network without hidden layers as a table of conditions and points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from newron.drawing.palette import SIZES
from newron.drawing.shapes import Attributes, Edge, Label, Line, Rect, Scene
from newron.drawing.text import fit, measure
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.legend import add_heading, add_legend, wrap
from newron.figures.outcome import add_activation, add_boxes, add_outcome
from newron.figures.parts import (
    MARGIN,
    WIDTH,
    add_sum,
    caption_sum,
    count_folded,
    describe_margin,
    is_binary,
    leaving_width,
    name_folded,
)
from newron.figures.plot import Frame, draw_function, list_values
from newron.formatting import format_amount, format_percent, format_rounded, format_signed
from newron.model.arithmetic import sigmoid

__all__ = ["PILL", "add_points", "caption_card", "lay_card", "order_card"]

_PITCH, _PLOT = 63.0, 32.0
_NAME, _VALUE, _FRAME, _CONDITION, _POINTS = MARGIN, 290.0, 334.0, 606.0, 818.0
_FRAME_WIDTH = 248.0
PILL = 64.0  # the width of what holds the points
_SUM = Frame(920.0, 0.0, 78.0, 116.0)
_TOP = 136.0
_MOST_TOTALS, _FEW_TOTALS, _MANY_LINES = 13, 9, 8
_RISK_LINE = 19.0


def order_card(functions: Sequence[Function]) -> list[Function]:
    """Give functions with the largest first; those of one input stay together."""
    largest: dict[int, float] = {}
    for function in functions:
        largest[function.signal] = max(largest.get(function.signal, 0.0), function.size)
    return sorted(
        functions, key=lambda f: (-largest[f.signal], f.signal, _find_first(f), f.shape.function)
    )


def _find_first(function: Function) -> float:
    return function.marks[0].place if function.marks else -math.inf


def lay_card(diagram: Diagram) -> Scene:
    """Lay a network without hidden layers and with one output out as a card."""
    neuron = diagram.layers[0][0]
    functions = order_card(neuron.functions)
    n_lines = len(functions) + bool(neuron.folded)
    scene = Scene(WIDTH, 0)
    add_heading(scene, diagram)
    _place_heads(scene, diagram)
    bottom = _TOP + n_lines * _PITCH
    middle = max(_TOP + n_lines * _PITCH / 2 - 130, _TOP + 80)
    box = Frame(_SUM.x, middle - _SUM.height / 2, _SUM.width, _SUM.height)
    step = (box.height - 18) / max(n_lines, 1)
    for k, function in enumerate(functions):
        port = middle + (k - (n_lines - 1) / 2) * step
        _place_line(scene, diagram, function, _TOP + k * _PITCH, port)
    if neuron.folded:
        y = _TOP + len(functions) * _PITCH
        _place_folded(scene, neuron, y, middle + (n_lines - 1) / 2 * step)
    add_sum(scene, neuron, box, caption=caption_card(diagram, neuron))
    bottom = max(bottom, _place_output(scene, diagram, neuron, box))
    scene.height = _place_notes(scene, diagram, bottom + 30) + 22
    return scene


def caption_card(diagram: Diagram, neuron: Neuron) -> str:
    """Write what is told below the sum of a card."""
    return caption_sum(diagram, neuron) or ("points" if is_binary(diagram) else "")


def _place_heads(scene: Scene, diagram: Diagram) -> None:
    y, rows = _TOP - 22, ", rows below" if diagram.n_rows else ""
    asked = "condition" if diagram.is_crisp else "shape"
    for x, text in ((_NAME, "input"), (_FRAME, f"function{rows}"), (_CONDITION, asked)):
        scene.add(Label(x, y, text, "head", style="m"))
    if diagram.outcome is not None:
        label = Label.fitted(_VALUE, y, diagram.row_name, "head", 150, "m", anchor="end")
        scene.add(label)
    added = "points" if is_binary(diagram) else "adds"
    scene.add(Label(_POINTS, y, added, "head", "middle", "m"))
    scene.add(Line(((MARGIN, _TOP - 12), (_POINTS + 30, _TOP - 12)), "hair"))


def _place_line(scene: Scene, diagram: Diagram, function: Function, y: float, port: float) -> None:
    """Draw a line of the card: name, value, plot, condition, points, edge into the sum."""
    frame = Frame(_FRAME, y + 2, _FRAME_WIDTH, _PLOT)
    base = frame.middle + 4
    _place_input(scene, diagram, function, base)
    scene.add(draw_function(function, frame))
    room = _POINTS - PILL / 2 - 10 - _CONDITION
    margin = describe_margin(function)
    scene.add(Label.fitted(_CONDITION, base - (8 if margin else 0), function.reading, "cond", room))
    if margin:
        at: Attributes = {"data-margin": function.key}
        scene.add(Label.fitted(_CONDITION, base + 9, margin, "note", room, "m", at))
    add_points(scene, function, _POINTS, frame.middle)
    attributes: Attributes = {"data-fn": function.key}
    start = _POINTS + PILL / 2
    width = leaving_width(function)
    edge = Edge(start, frame.middle, _SUM.x, port, width, function.on, attributes=attributes)
    scene.add(edge)


def _place_input(scene: Scene, diagram: Diagram, function: Function, y: float) -> None:
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


def add_points(scene: Scene, function: Function, x: float, y: float) -> None:
    """Draw the pill with the points; it is filled where the condition holds."""
    state = " on" if function.on else ""
    key: Attributes = {"data-fn": function.key}
    scene.add(Rect(x - PILL / 2, y - 12, PILL, 24, f"pill{state}", 12.0, "", key))
    text = fit(_tell_points(function), PILL - 6, SIZES["value"], bold=True)
    if not function.crisp and function.part is not None:
        key = {**key, "data-part": function.key}
    scene.add(Label(x, y + 4.5, text, "value", "middle", f"points{state}", "", key))


def _tell_points(function: Function) -> str:
    """Write the weight of a condition; of a curve what it adds for the row, or can add."""
    if function.crisp or (function.part is None and function.bounded):
        return format_signed(function.weight)
    if function.part is None:
        return _tell_range(function)
    added = format_amount(function.added, function.high - function.low)
    return f"+{added}" if function.added > 0.0 else added


def _tell_range(function: Function) -> str:
    """Write what a curve can add, with as many digits as its pill has room for."""
    told = [
        f"{format_rounded(function.low, n)} … {format_rounded(function.high, n)}" for n in (2, 1)
    ]
    room = PILL - 6
    return next((t for t in told if measure(t, SIZES["value"], bold=True) <= room), told[-1])


def _place_folded(scene: Scene, neuron: Neuron, y: float, port: float) -> None:
    names = name_folded(neuron)
    scene.add(Rect(_FRAME, y + 4, _FRAME_WIDTH, 28, "chip", 6.0, names))
    scene.add(Label(_FRAME + 12, y + 22, f"{count_folded(neuron)}, folded", "note"))
    scene.add(Label.fitted(_CONDITION, y + 22, names, "cond", _POINTS - _CONDITION, "m"))
    start = _POINTS + PILL / 2
    scene.add(Edge(start, y + 18, _SUM.x, port, 1.5, style="fold"))


# ---- what the sum means ----


def _place_output(scene: Scene, diagram: Diagram, neuron: Neuron, box: Frame) -> float:
    if diagram.classes is None:
        add_boxes(scene, diagram, {0: (box.right, box.middle)}, 1056.0, 116.0)
        return box.bottom + 40
    frame = Frame(1056.0, box.middle - 48, 116.0, 96.0)
    scene.add(Edge(box.right, box.middle, frame.x, box.middle, 4.0, diagram.outcome is not None))
    head = Label.fitted(0, 0, diagram.outputs[1], "name", 200)
    middle = frame.x + frame.width / 2
    left = WIDTH - 12 - head.width
    x = min(middle - head.width / 2, left)
    scene.add(Label(x, frame.y - 10, head.text, "name", "start", "c-red", diagram.outputs[1]))
    add_activation(scene, diagram, neuron, frame)
    y = add_outcome(scene, diagram, neuron, middle, frame.bottom + 30, 2 * (WIDTH - 8 - middle))
    if neuron.low == neuron.high:
        return y
    n_totals = _MOST_TOTALS if len(neuron.functions) >= _MANY_LINES else _FEW_TOTALS
    return _place_risks(scene, neuron, box.x, y + 50, n_totals, diagram.unit)


def _place_risks(
    scene: Scene, neuron: Neuron, x: float, y: float, n_totals: int, unit: float
) -> float:
    """Write the probability of some totals around the limit, with bars."""
    width = WIDTH - MARGIN - x
    scene.add(Label(x, y, "total of points", "head", style="m"))
    scene.add(Label(x + width, y, "probability", "head", "end", "m"))
    scene.add(Line(((x, y + 8), (x + width, y + 8)), "hair"))
    totals = list_totals(neuron, n_totals)
    at = None if neuron.stage is None else _find_nearest(totals, neuron.stage.total)
    for k, total in enumerate(totals):
        line = y + 26 + k * _RISK_LINE
        share = float(sigmoid(np.array(unit * (total - neuron.centre))))
        style = "b" if total == at else "m"
        said = total >= neuron.centre
        key: Attributes = {"data-total": total}
        scene.add(Label(x, line, _tell_total(totals, k), "note", style=style, attributes=key))
        scene.add(Rect(x + 76, line - 9, 110, 9, "meter", 2.0))
        meter = "meter-on" if said else "meter-low"
        scene.add(Rect(x + 76, line - 9, max(1.5, 110 * share), 9, meter, 2.0))
        scene.add(Label(x + width, line, format_percent(share), "note", "end", style, "", key))
    below = sum(total < neuron.centre for total in totals)
    cut = y + 26 + below * _RISK_LINE - 14
    scene.add(Line(((x, cut), (x + width, cut)), "cut"))
    return y + 26 + len(totals) * _RISK_LINE


def list_totals(neuron: Neuron, most: int) -> list[float]:
    """Give totals to tell the probability of: whole ones around the limit, or even steps."""
    whole = all(function.whole for function in (*neuron.functions, *neuron.folded))
    step = 1.0 if whole else _find_step((neuron.high - neuron.low) / (most - 1))
    first = math.ceil(neuron.low / step - 1e-9)
    last = math.floor(neuron.high / step + 1e-9)
    middle = math.ceil(neuron.centre / step)
    start = max(first, min(middle - most // 2, last - most + 1))
    return [round(step * k, 9) for k in range(start, min(start + most, last + 1))]


def _find_step(size: float) -> float:
    """Give the next larger of 1, 2, 5, 10, ... times a power of ten."""
    power = 10.0 ** math.floor(math.log10(size))
    return next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= size * (1 - 1e-9))


def _find_nearest(totals: Sequence[float], total: float) -> float:
    return min(totals, key=lambda one: abs(one - total))


def _tell_total(totals: Sequence[float], k: int) -> str:
    text = format_amount(totals[k], max(totals) - min(totals))
    if k == 0:
        return f"{text} or less"
    return f"{text} or more" if k == len(totals) - 1 else text


def _place_notes(scene: Scene, diagram: Diagram, y: float) -> float:
    if diagram.unused:
        n = len(diagram.unused)
        text = f"Not used: {', '.join(diagram.unused)}"
        lines = wrap(text, WIDTH - 2 * MARGIN, "note")
        shown = lines if len(lines) <= 2 else [f"Not used: {n} inputs"]
        for line in shown:
            scene.add(Label(MARGIN, y, line, "note", style="m", title=text))
            y += 18
        y += 10
    return add_legend(scene, diagram, y)
