"""Pieces that all layouts share: sums, activations, outcomes, heading and legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from newron.figures.diagram import Axis, Diagram, Function, Neuron
from newron.figures.metrics import fit, measure
from newron.figures.palette import SIZES, edge_width
from newron.figures.plot import Frame, Scale, draw_rug, draw_ticks
from newron.figures.shapes import (
    Anchor,
    Attributes,
    Dot,
    Edge,
    Group,
    Label,
    Line,
    Rect,
    Scene,
    Shape,
)
from newron.figures.telling import Mark
from newron.figures.writing import write_amount, write_exact, write_share
from newron.model.aggregation import activate
from newron.model.arithmetic import Floats, sigmoid
from newron.reading.sentence import shorten

__all__ = [
    "LEAST_NAME",
    "MARGIN",
    "SYMBOLS",
    "WIDTH",
    "add_activation",
    "add_boxes",
    "add_heading",
    "add_hidden_activation",
    "add_legend",
    "add_outcome",
    "add_sum",
    "caption_sum",
    "entering_width",
    "find_signal",
    "is_binary",
    "is_tall",
    "leaving_width",
    "make_value",
    "place_head",
    "place_label",
    "tell_counts",
    "tell_fold",
    "tell_margin",
    "wrap",
    "write_limit",
    "write_total",
]

WIDTH, MARGIN = 1200.0, 28.0
SYMBOLS = {"sum": "Σ", "mean": "mean", "min": "min", "max": "max", "product": "Π"}
_WORDS = {"sum": "sum", "mean": "mean", "min": "least", "max": "greatest", "product": "product"}
_LINE = 18.0
LEAST_NAME = 34.0  # what must be left of a name, for it to be cut


def place_label(
    x: float,
    y: float,
    text: str,
    size: str,
    room: float,
    style: str = "",
    attributes: Attributes | None = None,
    *,
    anchor: Anchor = "start",
) -> Label:
    """Make a label that takes at most the room; what is cut is its title."""
    bold = Label(0, 0, "", size, style=style).is_bold
    shown = fit(text, room, SIZES[size], bold=bold)
    return Label(x, y, shown, size, anchor, style, text, attributes or {})


def place_head(function: Function, x: float, y: float, room: float) -> Label:
    """Write what a function reads and asks; where room is short the name is cut first."""
    size = SIZES["cond"]
    text, rest = function.head, f" {function.reading}"
    left = room - measure(rest, size, bold=True)
    if measure(text, size, bold=True) > room and left >= LEAST_NAME:
        text = fit(function.name, left, size, bold=True) + rest
    shown = fit(text, room, size, bold=True)
    return Label(x, y, shown, "cond", style="b", title=function.head)


# ---- sums ----


def add_sum(scene: Scene, neuron: Neuron, frame: Frame, *, caption: str = "") -> None:
    """Draw the green box of a neuron's aggregate, with its value for the row."""
    middle, symbol = frame.x + frame.width / 2, SYMBOLS[neuron.aggregation]
    scene.add(Rect(frame.x, frame.y, frame.width, frame.height, "box-green", 6.0))
    if frame.height < 40:
        size = "head" if len(symbol) == 1 else "tick"
        scene.add(Label(middle, frame.middle + 5, symbol, size, "middle", "c-green"))
    elif neuron.stage is None:
        size = "sum" if len(symbol) == 1 else "head"
        scene.add(Label(middle, frame.middle + 8, symbol, size, "middle", "c-green"))
    else:
        total = _fit_total(neuron, frame.width - 6)
        scene.add(Label(middle, frame.middle - 9, symbol, "head", "middle", "c-green"))
        key: Attributes = {"data-sum": neuron.key}
        scene.add(Label(middle, frame.middle + 18, total, "out", "middle", attributes=key))
    if caption:
        scene.add(Label(middle, frame.bottom + 15, caption, "tick", "middle", "m"))


def _fit_total(neuron: Neuron, room: float) -> str:
    """Write the aggregate for the row, with fewer digits where they do not fit."""
    total = 0.0 if neuron.stage is None else neuron.stage.total
    for text in (write_total(neuron), shorten(total), shorten(total, 2)):
        if measure(text, SIZES["out"], bold=True) <= room:
            return text
    return fit(text, room, SIZES["out"], bold=True)


def write_total(neuron: Neuron) -> str:
    """Write the aggregate of a neuron for the row."""
    total = 0.0 if neuron.stage is None else neuron.stage.total
    return write_amount(total, neuron.high - neuron.low)


def write_limit(neuron: Neuron) -> str:
    """Write the total from which on the second class is said."""
    return shorten(neuron.limit, 4)


def make_value(function: Function, x: float, y: float, *, end: bool = False) -> Label:
    """Write what a function adds for the row."""
    style = f"val{' on' if function.on else ''}"
    key: Attributes = {"data-part": function.key}
    text = write_amount(function.added, function.high - function.low)
    anchor: Anchor = "end" if end else "start"
    return Label(x, y, text, "value", anchor, style if end else f"halo {style}", "", key)


def tell_margin(function: Function) -> str:
    """Say how far the row is from where a condition changes: "5 y below 55"."""
    part = function.part
    if part is None or part.margin is None or part.limit is None or len(function.members) > 1:
        return ""
    if ", " not in part.reading:  # of a condition that names single values
        return ""
    limit = write_exact(part.limit)
    if part.margin == 0.0:
        return f"at the limit of {limit}"
    unit = f" {function.axis.unit}" if function.axis.unit else ""
    side = "above" if part.margin > 0.0 else "below"
    return f"{write_exact(abs(part.margin))}{unit} {side} {limit}"


def find_signal(diagram: Diagram, neuron: Neuron) -> int:
    """Give the number by which functions read a neuron."""
    before = sum(layer.n_neurons for layer in diagram.model.layers[: neuron.layer - 1])
    return len(diagram.model.schema) + before + neuron.number - 1


def tell_fold(neuron: Neuron) -> str:
    """Say what the folded functions of a neuron add for the row."""
    if neuron.stage is None or not neuron.folded:
        return ""
    if neuron.counts:
        return f"{sum(function.on for function in neuron.folded)} hold"
    if neuron.aggregation not in ("sum", "mean"):
        return ""
    added = sum(function.added for function in neuron.folded)
    return f"add {write_amount(added, neuron.high - neuron.low)}"


def is_binary(diagram: Diagram) -> bool:
    """Tell whether one score decides between two classes."""
    return diagram.classes is not None and diagram.classes.n_scores == 1


def is_tall(neuron: Neuron) -> bool:
    """Tell whether a sum has something to add up."""
    plain = neuron.centre == 0.0 and neuron.activation == "identity"
    return not plain or neuron.n_functions != 1 or len(neuron.functions) != 1


def caption_sum(diagram: Diagram, neuron: Neuron) -> str:
    """Write what is told below a sum: of how many, less what, or that it never changes."""
    if not neuron.functions and not neuron.folded:
        return f"always {write_amount(neuron.low)}"
    last = neuron.layer == len(diagram.layers)
    if neuron.centre and not (last and is_binary(diagram)):  # two classes have it as a limit
        sign = "less" if neuron.centre > 0 else "plus"
        return f"{sign} {shorten(abs(neuron.centre), 4)}"
    return f"of {neuron.n_functions}" if neuron.counts and is_tall(neuron) and not last else ""


def leaving_width(function: Function) -> float:
    """Give the width of the edge out of a function."""
    return edge_width(function.strength)


def entering_width(function: Function) -> float:
    """Give the width of the edge into it: the influence is the function's, not its input's."""
    return round(1.0 + 0.3 * (edge_width(function.strength) - 1.0), 2)


# ---- activations ----


def add_activation(scene: Scene, diagram: Diagram, neuron: Neuron, frame: Frame) -> None:
    """Draw the red plot of two classes: the total on x, the probability of the second on y."""
    marks: tuple[Mark, ...] = ()
    if neuron.low <= neuron.centre <= neuron.high:
        marks = (Mark(neuron.centre, shorten(neuron.centre, 4)),)
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
    shapes: list[Shape] = [
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
            (f"probability {write_share(share)}", "sub", "", "probability"),
            (_tell_why(neuron, outcome.chosen), "note", "m", "why"),
        ]
    for text, size, style, key in lines:
        y += SIZES[size] + 5
        attributes: Attributes = {"data-out": key} if key else {}
        scene.add(place_label(x, y, text, size, room, style, attributes, anchor=anchor))
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
        scene.add(place_label(x + 10, y - 14, name, "name", width - 20))
        if diagram.classes is None:
            _fill_amount(scene, diagram, k, x, y, width)
        else:
            _fill_class(scene, diagram, k, x, y, width)
    if tie and diagram.classes is not None:
        _tie(scene, [y for _, y in places.values()], x + width)


def _fill_class(scene: Scene, diagram: Diagram, k: int, x: float, y: float, width: float) -> None:
    if diagram.outcome is None:
        scene.add(place_label(x + 10, y + 8, "highest wins", "tick", width - 20, "m"))
        return
    share, room = diagram.outcome.probabilities[k], width - 20
    where: Attributes = {"data-meter": k, "data-full": round(room, 1)}
    scene.add(Rect(x + 10, y - 5, room, 9, "meter", 2.0))
    scene.add(Rect(x + 10, y - 5, max(1.5, room * share), 9, "meter-on", 2.0, "", where))
    key: Attributes = {"data-out": "probability", "data-class": k}
    scene.add(Label(x + 10, y + 24, write_share(share), "out", attributes=key))


def _fill_amount(scene: Scene, diagram: Diagram, k: int, x: float, y: float, width: float) -> None:
    neuron = diagram.layers[-1][k]
    if diagram.outcome is None:
        ends = [write_amount(end - neuron.centre) for end in (neuron.low, neuron.high)]
        text = f"{ends[0]} to {ends[1]}" if ends[0] != ends[1] else ends[0]
        scene.add(place_label(x + 10, y + 8, text, "cond", width - 20))
        return
    key: Attributes = {"data-out": "amount", "data-class": k}
    told = write_amount(diagram.outcome.scores[k])
    scene.add(place_label(x + 10, y + 16, told, "out", width - 20, attributes=key))


def _tie(scene: Scene, ys: Sequence[float], x: float) -> None:
    scene.add(Line(((x, ys[0]), (x + 10, ys[0]), (x + 10, ys[-1]), (x, ys[-1])), "tie"))
    for y in ys[1:-1]:
        scene.add(Line(((x, y), (x + 10, y)), "tie"))


# ---- around the network ----


def add_heading(scene: Scene, diagram: Diagram) -> float:
    """Write title and subtitle; give the y below."""
    room = scene.width - 2 * MARGIN
    scene.add(place_label(MARGIN, 42, diagram.title, "title", room))
    y = 64.0
    for line in wrap(diagram.subtitle, room, "sub"):
        scene.add(Label(MARGIN, y, line, "sub", style="m"))
        y += _LINE
    return y


def wrap(text: str, room: float, size: str) -> list[str]:
    """Give a text in lines that fit."""
    lines: list[str] = []
    for word in text.split():
        wider = f"{lines[-1]} {word}" if lines else word
        if lines and measure(wider, SIZES[size]) <= room:
            lines[-1] = wider
        else:
            lines.append(fit(word, room, SIZES[size]))
    return lines


@dataclass(frozen=True)
class _Item:
    kind: str
    text: str


def add_legend(scene: Scene, diagram: Diagram, y: float, left: float = MARGIN) -> float:
    """Say what the signs mean and what is not drawn, in lines; give the y below."""
    x, right = left, scene.width - left
    for item in _list_items(diagram):
        start = x + (0 if item.kind == "text" else 25)
        if x > left and start + measure(item.text, SIZES["note"]) > right:
            x, y = left, y + 22
            start = x + (0 if item.kind == "text" else 25)
        _draw_sign(scene, item.kind, x, y)
        scene.add(place_label(start, y, item.text, "note", right - start, "m"))
        x = start + measure(item.text, SIZES["note"]) + 20
    return y


def _list_items(diagram: Diagram) -> list[_Item]:
    words = list(dict.fromkeys(_WORDS[neuron.aggregation] for neuron in diagram.neurons))
    items = [
        _Item("box-blue", "function of one input"),
        _Item("box-green", " or ".join(words)),
        _Item("box-red", "activation" if _has_activation(diagram) else "output"),
    ]
    if diagram.n_rows:
        rows = "1 row" if diagram.n_rows == 1 else f"{diagram.n_rows} rows"
        some = "them" if diagram.n_measured == diagram.n_rows else f"{diagram.n_measured} of them"
        items += [_Item("rug", rows), _Item("edge", f"line width: influence on {some}")]
    else:
        items += [_Item("edge", "line width: size of the effect")]
    items.append(_Item("text", tell_counts(diagram)))
    if diagram.outcome is not None:
        items.append(_Item("dot", f"{diagram.row_name}; strong lines: {_tell_strong(diagram)}"))
    return items


def _tell_strong(diagram: Diagram) -> str:
    if diagram.is_crisp:
        return "the condition holds"
    bounded = [member.bounded for function in diagram.functions for member in function.members]
    return "at least half-way up" if all(bounded) else "adds more than 0"


def _has_activation(diagram: Diagram) -> bool:
    hidden = any(neuron.activation != "identity" for neuron in diagram.neurons)
    return hidden or diagram.classes is not None


def tell_counts(diagram: Diagram) -> str:
    """Say how many functions are drawn, folded and left out."""
    n = diagram.n_drawn
    told = [f"{n} function{'' if n == 1 else 's'} drawn"]
    if diagram.n_folded:
        told.append(f"{diagram.n_folded} small ones folded")
    if diagram.n_left_out:
        told.append(f"{diagram.n_left_out} without effect left out")
    return ", ".join(told) if len(told) > 1 else f"{told[0]}, none left out"


def _draw_sign(scene: Scene, kind: str, x: float, y: float) -> None:
    if kind.startswith("box"):
        scene.add(Rect(x, y - 10, 18, 12, kind))
    elif kind == "rug":
        scene.add(*(Rect(x + 3.6 * k, y - 9, 3, h, "rug", 0.0) for k, h in enumerate(_SIGN)))
    elif kind == "edge":
        scene.add(Edge(x, y - 7, x + 18, y - 7, 1.0, form="straight"))
        scene.add(Edge(x, y - 1, x + 18, y - 1, 4.5, form="straight"))
    elif kind == "dot":
        scene.add(Dot(x + 9, y - 4))


_SIGN = (3.0, 7.0, 10.0, 6.0, 4.0)
