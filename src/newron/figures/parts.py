"""Pieces that all layouts share: labels that fit, sums, edges."""

from __future__ import annotations

from newron.drawing.palette import SIZES, edge_width
from newron.drawing.shapes import Anchor, Attributes, Label, Rect, Scene
from newron.drawing.text import fit, measure
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.plot import Frame
from newron.formatting import format_amount, format_rounded, format_threshold, format_unit

__all__ = [
    "LEAST_NAME",
    "MARGIN",
    "SYMBOLS",
    "WIDTH",
    "add_sum",
    "caption_sum",
    "count_folded",
    "describe_margin",
    "entering_width",
    "find_signal",
    "is_binary",
    "is_tall",
    "leaving_width",
    "make_value",
    "name_folded",
    "place_head",
    "tell_fold",
    "write_limit",
    "write_total",
]

WIDTH, MARGIN = 1200.0, 28.0
SYMBOLS = {"sum": "Σ", "mean": "mean", "min": "min", "max": "max", "product": "Π"}
LEAST_NAME = 34.0  # what must be left of a name, for it to be cut


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
    for text in (write_total(neuron), format_rounded(total), format_rounded(total, 2)):
        if measure(text, SIZES["out"], bold=True) <= room:
            return text
    return fit(text, room, SIZES["out"], bold=True)


def write_total(neuron: Neuron) -> str:
    """Write the aggregate of a neuron for the row."""
    total = 0.0 if neuron.stage is None else neuron.stage.total
    return format_amount(total, neuron.high - neuron.low)


def write_limit(neuron: Neuron) -> str:
    """Write the total from which on the second class is said."""
    return format_rounded(neuron.limit, 4)


def make_value(function: Function, x: float, y: float, *, end: bool = False) -> Label:
    """Write what a function adds for the row."""
    style = f"val{' on' if function.on else ''}"
    key: Attributes = {"data-part": function.key}
    text = format_amount(function.added, function.high - function.low)
    anchor: Anchor = "end" if end else "start"
    return Label(x, y, text, "value", anchor, style if end else f"halo {style}", "", key)


def describe_margin(function: Function) -> str:
    """Return how far the row is from where a condition changes: "5 y below 55"."""
    part = function.part
    if part is None or part.margin is None or function.limit is None or len(function.members) > 1:
        return ""
    limit = format_threshold(function.limit)
    if part.margin == 0.0:
        return f"at the limit of {limit}"
    side = "above" if part.margin > 0.0 else "below"
    return f"{format_threshold(abs(part.margin))}{format_unit(function.axis.unit)} {side} {limit}"


def find_signal(diagram: Diagram, neuron: Neuron) -> int:
    """Give the number by which functions read a neuron."""
    before = sum(layer.n_neurons for layer in diagram.model.layers[: neuron.layer - 1])
    return len(diagram.model.schema) + before + neuron.number - 1


def count_folded(neuron: Neuron) -> str:
    """Say how many functions of a neuron are folded."""
    n = len(neuron.folded)
    return f"+{n} small one{'' if n == 1 else 's'}"


def name_folded(neuron: Neuron) -> str:
    """Name what the folded functions of a neuron read."""
    return ", ".join(dict.fromkeys(function.name for function in neuron.folded))


def tell_fold(neuron: Neuron) -> str:
    """Say what the folded functions of a neuron add for the row."""
    if neuron.stage is None or not neuron.folded:
        return ""
    if neuron.counts:
        return f"{sum(function.on for function in neuron.folded)} hold"
    if neuron.aggregation not in ("sum", "mean"):
        return ""
    added = sum(function.added for function in neuron.folded)
    return f"add {format_amount(added, neuron.high - neuron.low)}"


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
        return f"always {format_amount(neuron.low)}"
    last = neuron.layer == len(diagram.model.layers)
    if neuron.centre and not (last and is_binary(diagram)):  # two classes have it as a limit
        sign = "less" if neuron.centre > 0 else "plus"
        return f"{sign} {format_rounded(abs(neuron.centre), 4)}"
    return f"of {neuron.n_functions}" if neuron.counts and is_tall(neuron) and not last else ""


def leaving_width(function: Function) -> float:
    """Give the width of the edge out of a function."""
    return edge_width(function.strength)


def entering_width(function: Function) -> float:
    """Give the width of the edge into it: the influence is the function's, not its input's."""
    return round(1.0 + 0.3 * (edge_width(function.strength) - 1.0), 2)
