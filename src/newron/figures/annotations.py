"""Around the network: title, subtitle, what the signs mean, and the picture in sentences."""

from __future__ import annotations

from newron.drawing.palette import SIZES
from newron.drawing.shapes import Dot, Edge, Label, Rect, Scene
from newron.drawing.text import fit, measure
from newron.figures.diagram import Diagram, Neuron
from newron.figures.parts import MARGIN, format_limit, format_total, name_aggregation
from newron.formatting import clean, format_amount, format_percent, format_rounded

_WORDS = {"sum": "sum", "mean": "mean", "min": "least", "max": "greatest", "product": "product"}
_LINE = 18.0
_MAX_SENTENCES = 40
_SIGN = (3.0, 7.0, 10.0, 6.0, 4.0)  # heights of the bars that stand for rows


def add_heading(scene: Scene, diagram: Diagram) -> None:
    """Write title and subtitle."""
    room = scene.width - 2 * MARGIN
    scene.add(Label.fitted(MARGIN, 42, diagram.title, "title", room))
    y = 64.0
    for line in wrap(diagram.subtitle, room, "sub"):
        scene.add(Label(MARGIN, y, line, "sub", style="m"))
        scene.heading = y + 8
        y += _LINE


def wrap(text: str, room: float, size: str) -> list[str]:
    """Return a text in lines that fit."""
    lines: list[str] = []
    for word in text.split():
        wider = f"{lines[-1]} {word}" if lines else word
        if lines and measure(wider, SIZES[size]) <= room:
            lines[-1] = wider
        else:
            lines.append(fit(word, room, SIZES[size]))
    return lines


def add_legend(scene: Scene, diagram: Diagram, y: float, left: float = MARGIN) -> float:
    """Write what the signs mean and what is not drawn, in lines; return the y below."""
    x, right = left, scene.width - left
    for kind, text in _list_items(diagram):
        sign, width = 0 if kind == "text" else 25, measure(text, SIZES["note"])
        if x > left and x + sign + width > right:
            x, y = left, y + 22
        _draw_sign(scene, kind, x, y)
        x += sign
        scene.add(Label.fitted(x, y, text, "note", right - x, "m"))
        x += width + 20
    return y


def _list_items(diagram: Diagram) -> list[tuple[str, str]]:
    words = list(dict.fromkeys(name_aggregation(neuron, _WORDS) for neuron in diagram.neurons))
    items = [
        ("box-blue", "function of one input"),
        ("box-green", " or ".join(words)),
        ("box-red", "activation" if _has_activation(diagram) else "output"),
    ]
    if diagram.n_rows:
        rows = "1 row" if diagram.n_rows == 1 else f"{diagram.n_rows} rows"
        some = "them" if diagram.n_measured == diagram.n_rows else f"{diagram.n_measured} of them"
        items += [("rug", rows), ("edge", f"line width: influence on {some}")]
    else:
        items += [("edge", "line width: size of the effect")]
    items.append(("text", _describe_counts(diagram)))
    if diagram.outcome is not None:
        items.append(("dot", f"{diagram.row_name}; strong lines: {_describe_strong(diagram)}"))
    return items


def _describe_strong(diagram: Diagram) -> str:
    if diagram.is_crisp:
        return "the condition holds"
    bounded = [member.bounded for function in diagram.functions for member in function.members]
    return "at least half-way up" if all(bounded) else "adds more than 0"


def _has_activation(diagram: Diagram) -> bool:
    hidden = any(neuron.activation != "identity" for neuron in diagram.neurons)
    return hidden or diagram.classes is not None


def _describe_counts(diagram: Diagram) -> str:
    """Return how many functions are drawn, folded and left out."""
    n = diagram.n_drawn
    parts = [f"{n} function{'' if n == 1 else 's'} drawn"]
    if diagram.n_folded:
        parts.append(f"{diagram.n_folded} small ones folded")
    if diagram.n_left_out:
        parts.append(f"{diagram.n_left_out} without effect left out")
    return ", ".join(parts) if len(parts) > 1 else f"{parts[0]}, none left out"


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


# ---- in sentences ----


def make_subtitle(diagram: Diagram, layout: str) -> str:
    """Return how many inputs are used, and how the sum decides."""
    n, used = len(diagram.inputs), len(diagram.inputs) - len(diagram.unused)
    inputs = f"{used} of {n} inputs used." if used < n else f"{n} input{'' if n == 1 else 's'}."
    return f"{inputs} {_describe_decision(diagram, layout)}"


def _describe_decision(diagram: Diagram, layout: str) -> str:
    neuron = diagram.layers[-1][0]
    if diagram.classes is None:
        names = " and ".join(diagram.outputs)
        return f"The last sum{'s give' if len(diagram.outputs) > 1 else ' gives'} {names}."
    if diagram.classes.n_scores > 1:
        return f"The highest of {len(diagram.outputs)} scores decides."
    if diagram.classes.is_ordered:
        return _describe_bands(diagram, neuron)
    first, second = diagram.outputs
    if layout == "scorecard" and diagram.is_crisp and neuron.aggregation == "sum":
        add = "Add the points of every condition that holds:"
        return f"{add} {second} from {format_limit(neuron)} on, otherwise {first}."
    what = "the last sum" if neuron.aggregation == "sum" else f"the last {neuron.aggregation}"
    return f"Says {second} where {what} is at least {format_limit(neuron)}, otherwise {first}."


def _describe_bands(diagram: Diagram, neuron: Neuron) -> str:
    bands = zip(diagram.outputs[1:], diagram.list_limits(neuron), strict=True)
    described = [f"{name} from {format_rounded(limit, 4)} on" for name, limit in bands]
    what = "sum" if neuron.aggregation == "sum" else f"{neuron.aggregation}"
    return f"The last {what} decides: {diagram.outputs[0]}, then {', '.join(described)}."


def describe(diagram: Diagram) -> str:
    """Return the picture in sentences."""
    text = [diagram.subtitle, f"{_describe_counts(diagram)}."]
    sentences = [
        f"layer {function.shape.layer}, neuron {function.shape.neuron}: {sentence}."
        for function in diagram.functions
        for sentence in function.sentences
    ]
    text += sentences[:_MAX_SENTENCES]
    if len(sentences) > _MAX_SENTENCES:
        text.append(f"And {len(sentences) - _MAX_SENTENCES} more.")
    return clean(" ".join([*text, *_describe_row(diagram)]))


def _describe_row(diagram: Diagram) -> list[str]:
    outcome = diagram.outcome
    if outcome is None:
        return []
    last = diagram.layers[-1]
    sums = ", ".join(f"{name_aggregation(neuron)} {format_total(neuron)}" for neuron in last)
    if diagram.classes is None:
        scores = zip(diagram.outputs, outcome.scores, strict=True)
        result = ", ".join(f"{name} {format_amount(score)}" for name, score in scores)
    else:
        percent = format_percent(outcome.probabilities[outcome.chosen])
        result = f"{diagram.outputs[outcome.chosen]}, probability {percent}"
    return [f"For {diagram.row_name}: {sums}; {result}."]
