"""The red parts: activations, and what the network says of the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from newron.drawing.palette import SIZES
from newron.drawing.shapes import (
    Anchor,
    Attributes,
    Dot,
    Drawable,
    Edge,
    Group,
    Label,
    Line,
    Rect,
    Scene,
)
from newron.figures.captions import Mark
from newron.figures.diagram import Axis, Diagram, Neuron
from newron.figures.parts import SYMBOLS, write_limit, write_total
from newron.figures.plot import Frame, Scale, draw_rug, draw_ticks
from newron.formatting import format_amount, format_percent, format_rounded
from newron.model.aggregation import activate
from newron.model.arithmetic import Floats, sigmoid

__all__ = ["add_activation", "add_boxes", "add_hidden_activation", "add_outcome"]


def add_activation(scene: Scene, diagram: Diagram, neuron: Neuron, frame: Frame) -> None:
    """Draw the red plot of two classes: the total on x, the probability of the second on y."""
    marks: tuple[Mark, ...] = ()
    if neuron.low <= neuron.centre <= neuron.high:
        marks = (Mark(neuron.centre, format_rounded(neuron.centre, 4)),)
    outcome = diagram.outcome
    at = None
    if outcome is not None and neuron.stage is not None:
        at = neuron.stage.total, outcome.probabilities[1]
    ends = ("100 %", "0 %") if frame.width > 90 else ("1", "0")
    scene.add(_draw_activation(neuron, frame, lambda z: sigmoid(diagram.unit * z), marks, at, ends))


def add_hidden_activation(scene: Scene, neuron: Neuron, frame: Frame) -> None:
    """Draw the small red plot of a hidden neuron that is not just its sum."""
    stage = neuron.stage
    at = None if stage is None else (stage.total, stage.value)
    scene.add(_draw_activation(neuron, frame, lambda z: activate(neuron.activation, z), (), at))
    middle = frame.x + frame.width / 2
    scene.add(Label(middle, frame.bottom + 13, neuron.activation, "tick", "middle", "m"))


def _draw_activation(
    neuron: Neuron,
    frame: Frame,
    apply: Callable[[Floats], Floats],
    marks: Sequence[Mark],
    at: tuple[float, float] | None,
    ends: tuple[str, str] | None = None,
) -> Group:
    x = np.linspace(neuron.low, neuron.high, 81)
    y = apply(x - neuron.centre)
    low, high = (0.0, 1.0) if ends else (min(0.0, float(y.min())), max(float(y.max()), 1e-9))
    scale = Scale(frame, Axis("", neuron.low, neuron.high, density=neuron.density), low, high)
    zero = scale.y(0.0)
    points = tuple((scale.x(a), scale.y(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    shapes: list[Drawable] = [
        Rect(frame.x, frame.y, frame.width, frame.height, "box-red"),
        Line(((frame.x, zero), (frame.right, zero)), "axis-red"),
    ]
    if ends:
        shapes += draw_rug(scale)
        shapes += [
            Line(((scale.x(m.place), frame.y), (scale.x(m.place), frame.bottom + 3)), "cut")
            for m in marks
        ]
        shapes += draw_ticks(scale, marks)
        shapes += [
            Label(frame.x - 6, scale.y(value) + 4, text, "tick", "end", "m")
            for value, text in zip((1.0, 0.0), ends, strict=True)
        ]
    shapes.append(Line(points, "curve-red"))
    if at is not None:
        shapes.append(Dot(scale.x(at[0]), scale.y(at[1]), 6.0 if ends else 4.0))
    return Group({"class": "act", "data-act": neuron.key, **scale.attributes}, tuple(shapes))


# ---- outcomes ----


def add_outcome(
    scene: Scene,
    diagram: Diagram,
    neuron: Neuron,
    x: float,
    y: float,
    room: float,
    anchor: Anchor = "middle",
) -> float:
    """Write what two classes come to for the row; without one, the rule. Give the y below."""
    outcome = diagram.outcome
    if outcome is None:
        lines = [(f"{SYMBOLS[neuron.aggregation]} ≥ {write_limit(neuron)}:", "note", "m", "")]
        lines += [(diagram.outputs[1], "name", "", ""), ("otherwise:", "note", "m", "")]
        lines += [(diagram.outputs[0], "name", "", "")]
    else:
        name, share = diagram.outputs[outcome.chosen], outcome.probabilities[outcome.chosen]
        lines = [
            (name, "out", "", "class"),
            (f"probability {format_percent(share)}", "sub", "", "probability"),
            (_tell_why(neuron, outcome.chosen), "note", "m", "why"),
        ]
    for text, size, style, key in lines:
        y += SIZES[size] + 5
        attributes: Attributes = {"data-out": key} if key else {}
        scene.add(Label.fitted(x, y, text, size, room, style, attributes, anchor=anchor))
    return y


def _tell_why(neuron: Neuron, chosen: int) -> str:
    return f"{write_total(neuron)} {'≥' if chosen else '<'} {write_limit(neuron)}"


def add_boxes(
    scene: Scene,
    diagram: Diagram,
    places: Mapping[int, tuple[float, float]],
    x: float,
    width: float,
    *,
    tie: bool = True,
) -> None:
    """Draw a red box for some classes or amounts, beside their sums at these places.

    Classes are tied together on the right: softmax looks at all of them.
    """
    for k, (port, y) in places.items():
        name, outcome = diagram.outputs[k], diagram.outcome
        chosen = outcome is not None and diagram.classes is not None and outcome.chosen == k
        scene.add(Edge(port, y, x, y, 3.0, chosen, attributes={"data-class": k}))
        scene.add(Rect(x, y - 34, width, 68, "box-red", 6.0))
        scene.add(Label.fitted(x + 10, y - 14, name, "name", width - 20))
        if diagram.classes is None:
            _fill_amount(scene, diagram, k, x, y, width)
        else:
            _fill_class(scene, diagram, k, x, y, width)
    if tie and diagram.classes is not None:
        _tie(scene, [y for _, y in places.values()], x + width)


def _fill_class(scene: Scene, diagram: Diagram, k: int, x: float, y: float, width: float) -> None:
    if diagram.outcome is None:
        scene.add(Label.fitted(x + 10, y + 8, "highest wins", "tick", width - 20, "m"))
        return
    share, room = diagram.outcome.probabilities[k], width - 20
    where: Attributes = {"data-meter": k, "data-full": round(room, 1)}
    scene.add(Rect(x + 10, y - 5, room, 9, "meter", 2.0))
    scene.add(Rect(x + 10, y - 5, max(1.5, room * share), 9, "meter-on", 2.0, "", where))
    key: Attributes = {"data-out": "probability", "data-class": k}
    scene.add(Label(x + 10, y + 24, format_percent(share), "out", attributes=key))


def _fill_amount(scene: Scene, diagram: Diagram, k: int, x: float, y: float, width: float) -> None:
    neuron = diagram.layers[-1][k]
    if diagram.outcome is None:
        ends = [format_amount(end - neuron.centre) for end in (neuron.low, neuron.high)]
        text = f"{ends[0]} to {ends[1]}" if ends[0] != ends[1] else ends[0]
        scene.add(Label.fitted(x + 10, y + 8, text, "cond", width - 20))
        return
    key: Attributes = {"data-out": "amount", "data-class": k}
    told = format_amount(diagram.outcome.scores[k])
    scene.add(Label.fitted(x + 10, y + 16, told, "out", width - 20, attributes=key))


def _tie(scene: Scene, ys: Sequence[float], x: float) -> None:
    scene.add(Line(((x, ys[0]), (x + 10, ys[0]), (x + 10, ys[-1]), (x, ys[-1])), "tie"))
    for y in ys[1:-1]:
        scene.add(Line(((x, y), (x + 10, y)), "tie"))
