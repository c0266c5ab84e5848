"""Around the network: title, subtitle, and what the signs mean."""

from __future__ import annotations

from dataclasses import dataclass

from newron.drawing.palette import SIZES
from newron.drawing.shapes import Dot, Edge, Label, Rect, Scene
from newron.drawing.text import fit, measure
from newron.figures.diagram import Diagram
from newron.figures.parts import MARGIN

__all__ = ["add_heading", "add_legend", "tell_counts", "wrap"]

_WORDS = {"sum": "sum", "mean": "mean", "min": "least", "max": "greatest", "product": "product"}
_LINE = 18.0
_SIGN = (3.0, 7.0, 10.0, 6.0, 4.0)  # heights of the bars that stand for rows


def add_heading(scene: Scene, diagram: Diagram) -> float:
    """Write title and subtitle; give the y below."""
    room = scene.width - 2 * MARGIN
    scene.add(Label.fitted(MARGIN, 42, diagram.title, "title", room))
    y = 64.0
    for line in wrap(diagram.subtitle, room, "sub"):
        scene.add(Label(MARGIN, y, line, "sub", style="m"))
        scene.heading = y + 8
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
        scene.add(Label.fitted(start, y, item.text, "note", right - start, "m"))
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
