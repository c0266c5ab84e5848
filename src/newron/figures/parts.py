"""What all layouts are made of: tiles, edges, chips, sums, activations and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from newron.drawing.boxes import Box, Port
from newron.drawing.palette import SIZES, edge_width
from newron.drawing.shapes import (
    Anchor,
    Attributes,
    Dot,
    Drawable,
    Edge,
    EdgeForm,
    Group,
    Label,
    Line,
    Rect,
    Scene,
)
from newron.drawing.text import fit, measure
from newron.figures.captions import Mark
from newron.figures.diagram import Axis, Diagram, Function, Neuron
from newron.figures.plot import Scale, draw_rug, draw_ticks
from newron.formatting import format_amount, format_percent, format_rounded
from newron.model.aggregation import activate
from newron.model.arithmetic import Floats

WIDTH, MARGIN = 1200.0, 28.0
_SYMBOLS = {"sum": "Σ", "mean": "mean", "min": "min", "max": "max", "product": "Π"}
MIN_NAME = 34.0  # what must be left of a name, for it to be cut


# ---- functions ----


def make_head(function: Function, x: float, y: float, room: float) -> Label:
    """Write what a function reads and asks; where room is short the name is cut first."""
    size = SIZES["cond"]
    text, rest = function.head, f" {function.reading}"
    left = room - measure(rest, size, bold=True)
    if measure(text, size, bold=True) > room and left >= MIN_NAME:
        text = fit(function.name, left, size, bold=True) + rest
    shown = fit(text, room, size, bold=True)
    return Label(x, y, shown, "cond", style="b", title=function.head)


def make_value(function: Function, x: float, y: float, *, end: bool = False) -> Label:
    """Write what a function adds for the row."""
    style = f"val{' on' if function.on else ''}"
    text = format_amount(function.added, function.high - function.low)
    key: Attributes = {"data-part": function.key}
    if end:
        return Label(x, y, text, "value", "end", style, "", key)
    return Label(x, y, text, "value", "start", f"halo {style}", "", key)


def add_edge(
    scene: Scene,
    function: Function,
    start: Port,
    end: Port,
    form: EdgeForm = "across",
    *,
    entering: bool = False,
    factor: float = 1.0,
) -> None:
    """Draw the edge of a function, as wide as its influence; one that enters is thinner."""
    width = edge_width(function.strength)
    if entering:  # the influence is the function's, not its input's
        width = round(1.0 + 0.3 * (width - 1.0), 2)
    key: Attributes = {"data-fn": function.key}
    scene.add(Edge(*start, *end, factor * width, function.on, form, "", key))


def add_exit(scene: Scene, function: Function, plot: Box, end: Port) -> None:
    """Draw the edge from a plot to its sum, and on it what the function adds for the row."""
    add_edge(scene, function, (plot.right, plot.middle), end)
    if function.part is not None:
        above = end[1] >= plot.middle - 1
        y = plot.middle - 7 if above else plot.middle + 17
        scene.add(make_value(function, plot.right + 6, y))


# ---- functions that are folded ----


def add_chip(scene: Scene, box: Box, text: str, title: str, *, inset: float = 10.0) -> None:
    """Draw the folded functions of a neuron as one dashed box."""
    scene.add(Rect(box.x, box.y, box.width, box.height, "chip", 6.0, title))
    y = box.middle + 4
    scene.add(Label.fitted(box.x + inset, y, text, "note", box.width - 2 * inset))


def count_folded(neuron: Neuron) -> str:
    """Return how many functions of a neuron are folded."""
    n = len(neuron.folded)
    return f"+{n} small one{'' if n == 1 else 's'}"


def name_folded(neuron: Neuron) -> str:
    """Return what the folded functions of a neuron read."""
    return ", ".join(dict.fromkeys(function.name for function in neuron.folded))


def describe_folded(neuron: Neuron) -> str:
    """Return what the folded functions of a neuron add for the row."""
    if neuron.stage is None or not neuron.folded:
        return ""
    if neuron.counts:
        return f"{sum(function.on for function in neuron.folded)} hold"
    if neuron.aggregation not in ("sum", "mean"):
        return ""
    added = sum(function.added for function in neuron.folded)
    return f"add {format_amount(added, neuron.high - neuron.low)}"


# ---- sums ----


def name_aggregation(neuron: Neuron, words: Mapping[str, str] = _SYMBOLS) -> str:
    """Return the sign or the word of what a neuron makes of its parts; of one's own, its name."""
    return words.get(str(neuron.aggregation), f"{neuron.aggregation}")


def add_sum(scene: Scene, neuron: Neuron, box: Box, *, caption: str = "") -> None:
    """Draw the green box of a neuron's aggregate, with its value for the row."""
    symbol = name_aggregation(neuron)
    short = len(symbol) == 1
    scene.add(Rect(box.x, box.y, box.width, box.height, "box-green", 6.0))

    def write(y: float, text: str, size: str, style: str, key: Attributes | None = None) -> None:
        scene.add(Label(box.center, y, text, size, "middle", style, "", key or {}))

    if box.height < 40:
        write(box.middle + 5, symbol, "head" if short else "tick", "c-green")
    elif neuron.stage is None:
        write(box.middle + 8, symbol, "sum" if short else "head", "c-green")
    else:
        write(box.middle - 9, symbol, "head", "c-green")
        total = _fit_total(neuron, box.width - 6)
        write(box.middle + 18, total, "out", "", {"data-sum": neuron.key})
    if caption:
        write(box.bottom + 15, caption, "tick", "m")


def _fit_total(neuron: Neuron, room: float) -> str:
    """Write the aggregate for the row, with fewer digits where they do not fit."""
    total = 0.0 if neuron.stage is None else neuron.stage.total
    for text in (format_total(neuron), format_rounded(total), format_rounded(total, 2)):
        if measure(text, SIZES["out"], bold=True) <= room:
            return text
    return fit(text, room, SIZES["out"], bold=True)


def format_total(neuron: Neuron) -> str:
    """Return the aggregate of a neuron for the row."""
    total = 0.0 if neuron.stage is None else neuron.stage.total
    return format_amount(total, neuron.high - neuron.low)


def format_limit(neuron: Neuron) -> str:
    """Return the total from which on the second class is predicted."""
    return format_rounded(neuron.limit, 4)


def caption_sum(diagram: Diagram, neuron: Neuron) -> str:
    """Return what is written below a sum: of how many, less what, or that it never changes."""
    if not neuron.functions and not neuron.folded:
        return f"always {format_amount(neuron.low)}"
    last = neuron.layer == len(diagram.model.layers)
    if neuron.centre and not (last and diagram.has_one_score):  # two classes have it as a limit
        sign = "less" if neuron.centre > 0 else "plus"
        return f"{sign} {format_rounded(abs(neuron.centre), 4)}"
    return f"of {neuron.n_functions}" if neuron.counts and neuron.is_tall and not last else ""


# ---- activations ----


def add_activation(
    scene: Scene,
    diagram: Diagram,
    neuron: Neuron,
    plot: Box,
    edge: tuple[Port, Port],
    form: EdgeForm = "across",
) -> None:
    """Draw the red plot of one score, probability over total, and the edge from the sum."""
    outcome = diagram.outcome
    scene.add(Edge(*edge[0], *edge[1], 4.0, outcome is not None, form))
    inside = [x for x in diagram.list_limits(neuron) if neuron.low <= x <= neuron.high]
    marks = tuple(Mark(x, format_rounded(x, 4)) for x in inside)
    at = None
    if outcome is not None and neuron.stage is not None:
        # Of ordered classes: how probable it is to be at least the one that is predicted.
        at = neuron.stage.total, sum(outcome.probabilities[max(outcome.chosen or 0, 1) :])
    ends = ("100 %", "0 %") if plot.width > 90 else ("1", "0")
    scene.add(_draw_activation(neuron, plot, diagram.get_probability, marks, at, ends))


def add_hidden_activation(scene: Scene, neuron: Neuron, start: float, plot: Box) -> None:
    """Draw the small red plot of a hidden neuron that is not just its sum, and the edge to it."""
    stage, y = neuron.stage, plot.middle
    end = plot.x if start < plot.x else plot.right
    scene.add(Edge(start, y, end, y, 2.0, stage is not None, "straight"))
    at = None if stage is None else (stage.total, stage.value)
    scene.add(_draw_activation(neuron, plot, lambda z: activate(neuron.activation, z), (), at))
    label = Label(plot.center, plot.bottom + 13, f"{neuron.activation}", "tick", "middle", "m")
    scene.add(label)


def _draw_activation(
    neuron: Neuron,
    plot: Box,
    apply: Callable[[Floats], Floats],
    marks: Sequence[Mark],
    at: tuple[float, float] | None,
    ends: tuple[str, str] | None = None,
) -> Group:
    x = np.linspace(neuron.low, neuron.high, 81)
    y = apply(x - neuron.centre)
    low, high = (0.0, 1.0) if ends else (min(0.0, float(y.min())), max(float(y.max()), 1e-9))
    scale = Scale(plot, Axis("", neuron.low, neuron.high, density=neuron.density), low, high)
    zero = scale.y(0.0)
    curves = [
        tuple((scale.x(a), scale.y(b)) for a, b in zip(x.tolist(), one.tolist(), strict=True))
        for one in np.atleast_2d(y.T)
    ]
    shapes: list[Drawable] = [
        Rect(plot.x, plot.y, plot.width, plot.height, "box-red"),
        Line(((plot.x, zero), (plot.right, zero)), "axis-red"),
    ]
    if ends:
        shapes += draw_rug(scale)
        shapes += [
            Line(((scale.x(m.place), plot.y), (scale.x(m.place), plot.bottom + 3)), "cut")
            for m in marks
        ]
        shapes += draw_ticks(scale, marks)
        shapes += [
            Label(plot.x - 6, scale.y(value) + 4, text, "tick", "end", "m")
            for value, text in zip((1.0, 0.0), ends, strict=True)
        ]
    shapes += [Line(points, "curve-red") for points in curves]
    if at is not None:
        shapes.append(Dot(scale.x(at[0]), scale.y(at[1]), 6.0 if ends else 4.0))
    return Group({"class": "act", "data-act": neuron.key, **scale.attributes}, tuple(shapes))


# ---- outcomes ----


def add_outcome(
    scene: Scene,
    diagram: Diagram,
    neuron: Neuron,
    at: Port,
    room: float,
    anchor: Anchor = "middle",
) -> float:
    """Write what one score comes to for the row; without one, the rule. Return the y below."""
    outcome, (x, y) = diagram.outcome, at
    if outcome is None:
        lines = []
        bands = zip(diagram.outputs[1:], diagram.list_limits(neuron), strict=True)
        for name, limit in reversed(list(bands)):
            from_ = f"{name_aggregation(neuron)} ≥ {format_rounded(limit, 4)}:"
            lines += [(from_, "note", "m", ""), (name, "name", "", "")]
        lines += [("otherwise:", "note", "m", ""), (diagram.outputs[0], "name", "", "")]
    else:
        name, probability = diagram.outputs[outcome.chosen], outcome.probabilities[outcome.chosen]
        why = _format_why(diagram, neuron, outcome.chosen)
        lines = [
            (name, "out", "", "class"),
            (f"probability {format_percent(probability)}", "sub", "", "probability"),
            (why, "note", "m", "why"),
        ]
    for text, size, style, key in lines:
        y += SIZES[size] + 5
        attributes: Attributes = {"data-out": key} if key else {}
        scene.add(Label.fitted(x, y, text, size, room, style, attributes, anchor=anchor))
    return y


def _format_why(diagram: Diagram, neuron: Neuron, chosen: int) -> str:
    """Return where a total lies: "3 ≥ 2", or of ordered classes "3 ≥ 2, < 5"."""
    limits = [format_rounded(limit, 4) for limit in diagram.list_limits(neuron)]
    reached = [f"≥ {limit}" for limit in limits[:chosen][-1:]]
    missed = [f"< {limit}" for limit in limits[chosen : chosen + 1]]
    return f"{format_total(neuron)} {', '.join(reached + missed)}"


def add_boxes(
    scene: Scene,
    diagram: Diagram,
    ports: Mapping[int, Port],
    x: float,
    width: float,
    *,
    tie: bool = True,
) -> None:
    """Draw a red box for some classes or targets, beside their sums at these ports.

    Classes are tied together on the right: softmax looks at all of them.
    """
    for k, (start, y) in ports.items():
        name, outcome = diagram.outputs[k], diagram.outcome
        chosen = outcome is not None and diagram.classes is not None and outcome.chosen == k
        scene.add(Edge(start, y, x, y, 3.0, chosen, attributes={"data-class": k}))
        scene.add(Rect(x, y - 34, width, 68, "box-red", 6.0))
        scene.add(Label.fitted(x + 10, y - 14, name, "name", width - 20))
        if diagram.classes is None:
            scene.add(_write_target(diagram, k, (x + 10, y), width - 20))
        else:
            scene.add(*_draw_class(diagram, k, (x + 10, y), width - 20))
    if tie and diagram.classes is not None:
        ys, right = [y for _, y in ports.values()], x + width
        edge = right + 10
        corners = (right, ys[0]), (edge, ys[0]), (edge, ys[-1]), (right, ys[-1])
        scene.add(Line(corners, "tie"), *(Line(((right, y), (edge, y)), "tie") for y in ys[1:-1]))


def _draw_class(diagram: Diagram, k: int, at: Port, room: float) -> list[Drawable]:
    x, y = at
    if diagram.outcome is None:
        return [Label.fitted(x, y + 8, "highest wins", "tick", room, "m")]
    probability = diagram.outcome.probabilities[k]
    meter: Attributes = {"data-meter": k, "data-full": round(room, 1)}
    key: Attributes = {"data-out": "probability", "data-class": k}
    return [
        Rect(x, y - 5, room, 9, "meter", 2.0),
        Rect(x, y - 5, max(1.5, room * probability), 9, "meter-on", 2.0, "", meter),
        Label(x, y + 24, format_percent(probability), "out", attributes=key),
    ]


def _write_target(diagram: Diagram, k: int, at: Port, room: float) -> Label:
    x, y = at
    if diagram.outcome is None:
        neuron = diagram.layers[-1][k]
        ends = [format_amount(end - neuron.centre) for end in (neuron.low, neuron.high)]
        text = f"{ends[0]} to {ends[1]}" if ends[0] != ends[1] else ends[0]
        return Label.fitted(x, y + 8, text, "cond", room)
    key: Attributes = {"data-out": "amount", "data-class": k}
    text = format_amount(diagram.outcome.scores[k])
    return Label.fitted(x, y + 16, text, "out", room, attributes=key)
