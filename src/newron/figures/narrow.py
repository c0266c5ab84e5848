"""Figures for phones: everything from top to bottom, 358 pixels wide, without heading."""

from __future__ import annotations

from newron.drawing.shapes import Attributes, Edge, Label, Rect, Scene
from newron.figures.card import PILL, add_points, caption_card, order_card
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.legend import add_legend
from newron.figures.outcome import add_activation, add_boxes, add_hidden_activation, add_outcome
from newron.figures.parts import (
    add_sum,
    caption_sum,
    count_folded,
    is_binary,
    leaving_width,
    make_value,
    name_folded,
    place_head,
    tell_fold,
)
from newron.figures.plot import MOST_VALUE, RUG, TICKS, Frame, draw_function

__all__ = ["lay_narrow", "lay_narrow_card"]

_WIDTH = 358.0
_EDGE = 4.0
_TILE, _PLOT, _HEAD = 128.0, 40.0, 18.0
_PITCH = _HEAD + _PLOT + RUG + TICKS + 16
_LEFT, _RIGHT = MOST_VALUE + 6, _WIDTH - _EDGE - _TILE
_MIDDLE = _LEFT + _TILE + 14
_CARD_PITCH, _BUS = 106.0, _WIDTH - 8.0
_CARD_PLOT = _WIDTH - _LEFT - PILL - 26


# ---- layers ----


def lay_narrow(diagram: Diagram) -> Scene:
    """Lay a network out from top to bottom, two plots on a line."""
    scene = Scene(_WIDTH, 0)
    y, n = 16.0, len(diagram.layers)
    for k, layer in enumerate(diagram.layers, 1):
        head = "output layer" if k == n else f"layer {layer[0].layer}"
        scene.add(Label(_EDGE, y, head, "head", style="m"))
        y += 18
        for neuron in layer:
            if neuron.functions or neuron.folded or k == n:
                y = _place_neuron(scene, diagram, neuron, y, last=k == n)
        y += 12
    scene.height = add_legend(scene, diagram, y + 12, _EDGE) + 14
    return scene


def _place_neuron(scene: Scene, diagram: Diagram, neuron: Neuron, y: float, *, last: bool) -> float:
    """Draw the plots of a neuron, two on a line, its sum below, and the edges between."""
    tops = [y + k // 2 * _PITCH for k in range(len(neuron.functions))]
    bottom = y + (len(tops) + 1) // 2 * _PITCH
    box = Frame(_MIDDLE - 31, bottom + (46 if neuron.folded else 14), 62, 62)
    for k, (function, top) in enumerate(zip(neuron.functions, tops, strict=True)):
        _place_tile(scene, function, (_LEFT, _RIGHT)[k % 2], top, box)
    if neuron.folded:
        _place_chip(scene, neuron, bottom, box)
    add_sum(scene, neuron, box, caption=caption_sum(diagram, neuron))
    if last:
        return _place_output(scene, diagram, neuron, box)
    scene.add(Label.fitted(box.right + 10, box.middle + 5, neuron.name, "name", 90))
    if neuron.activation != "identity":
        hidden = Frame(box.x - 80, box.middle - 18, 46, 36)
        on = neuron.stage is not None
        scene.add(Edge(box.x, box.middle, hidden.right, box.middle, 2.0, on, "straight"))
        add_hidden_activation(scene, neuron, hidden)
    return box.bottom + 38


def _place_tile(scene: Scene, function: Function, x: float, y: float, box: Frame) -> None:
    frame = Frame(x, y + _HEAD, _TILE, _PLOT)
    room = _TILE
    if function.part is not None:
        value = make_value(function, frame.right, frame.y - 6, end=True)
        scene.add(value)
        room -= value.width + 6
    scene.add(place_head(function, x, frame.y - 6, room))
    scene.add(draw_function(function, frame))
    key: Attributes = {"data-fn": function.key}
    start = frame.right if x < _MIDDLE else frame.x
    width = 0.6 * leaving_width(function)
    y = frame.middle
    scene.add(Edge(start, y, _MIDDLE, box.y, width, function.on, "gutter", "", key))


def _place_chip(scene: Scene, neuron: Neuron, y: float, box: Frame) -> None:
    text = ", ".join(filter(None, [count_folded(neuron), tell_fold(neuron)]))
    scene.add(Rect(_LEFT, y, _TILE, 24, "chip", 6.0, f"folded: {name_folded(neuron)}"))
    scene.add(Label.fitted(_LEFT + 10, y + 16, text, "note", _TILE - 20))
    start = _LEFT + _TILE
    scene.add(Edge(start, y + 12, _MIDDLE, box.y, 1.5, form="gutter", style="fold"))


def _place_output(scene: Scene, diagram: Diagram, neuron: Neuron, box: Frame) -> float:
    on = diagram.outcome is not None
    if not is_binary(diagram):
        k = neuron.number - 1
        add_boxes(scene, diagram, {k: (box.right, box.middle)}, box.right + 26, 116, tie=False)
        return box.bottom + 30
    frame = Frame(_MIDDLE - 60, box.bottom + 34, 140, 80)
    scene.add(Edge(_MIDDLE, box.bottom, _MIDDLE, frame.y, 4.0, on, "straight"))
    add_activation(scene, diagram, neuron, frame)
    return add_outcome(scene, diagram, neuron, frame.x + 70, frame.bottom + 30, _WIDTH - 20) + 14


# ---- score cards ----


def lay_narrow_card(diagram: Diagram) -> Scene:
    """Lay a score card out from top to bottom, the lines joined on the right."""
    neuron = diagram.layers[0][0]
    functions = order_card(neuron.functions)
    scene = Scene(_WIDTH, 0)
    y = 8.0
    for function in functions:
        _place_line(scene, diagram, function, y)
        y += _CARD_PITCH
    if neuron.folded:
        _place_card_chip(scene, neuron, y)
        y += 40
    box = Frame(_EDGE, y + 22, 78, 78)
    if functions or neuron.folded:
        scene.add(Edge(_BUS, 70, _BUS, box.y + 20, 1.5, form="straight"))
        scene.add(Edge(_BUS, box.y + 20, box.right, box.middle, 1.5, form="turn"))
    add_sum(scene, neuron, box, caption=caption_card(diagram, neuron))
    bottom = _place_card_output(scene, diagram, neuron, box)
    scene.height = add_legend(scene, diagram, bottom + 34, _EDGE) + 14
    return scene


def _place_line(scene: Scene, diagram: Diagram, function: Function, y: float) -> None:
    one, right, room = diagram.inputs[function.signal], _WIDTH - 16, _WIDTH - 20 - _EDGE
    if one.value is not None:
        key: Attributes = {"data-val": one.index}
        value = Label.fitted(right, y + 12, one.value, "cond", 150, "", key, anchor="end")
        scene.add(value)
        room -= value.width + 14
    scene.add(Label.fitted(_EDGE, y + 12, function.name, "name", room))
    scene.add(Label.fitted(_EDGE, y + 30, function.reading, "cond", _WIDTH - 24, "m"))
    frame = Frame(_LEFT, y + 40, _CARD_PLOT, 32)
    scene.add(draw_function(function, frame))
    add_points(scene, function, _WIDTH - 16 - PILL / 2, frame.middle)
    attributes: Attributes = {"data-fn": function.key}
    width, middle = 0.6 * leaving_width(function), frame.middle
    start = _WIDTH - 16
    scene.add(Edge(start, middle, _BUS, middle + 14, width, function.on, "elbow", "", attributes))


def _place_card_chip(scene: Scene, neuron: Neuron, y: float) -> None:
    scene.add(Rect(_LEFT, y + 2, _CARD_PLOT, 26, "chip", 6.0, name_folded(neuron)))
    text = ", ".join(filter(None, [count_folded(neuron), "folded", tell_fold(neuron)]))
    scene.add(Label.fitted(_LEFT + 10, y + 19, text, "note", _CARD_PLOT - 20))
    scene.add(Edge(_LEFT + _CARD_PLOT, y + 15, _BUS, y + 29, 1.5, form="elbow", style="fold"))


def _place_card_output(scene: Scene, diagram: Diagram, neuron: Neuron, box: Frame) -> float:
    if not is_binary(diagram):
        add_boxes(scene, diagram, {0: (box.right, box.middle)}, 200, 130, tie=False)
        return box.bottom + 26
    frame = Frame(196, box.y + 72, 146, 96)
    on = diagram.outcome is not None
    scene.add(Edge(box.right, box.middle, frame.x, frame.middle, 4.0, on))
    add_activation(scene, diagram, neuron, frame)
    middle = frame.x + frame.width / 2
    head = diagram.outputs[1]
    scene.add(Label.fitted(middle, frame.y - 10, head, "name", 200, "c-red", anchor="middle"))
    add_outcome(scene, diagram, neuron, _EDGE, box.bottom + 30, 144, anchor="start")
    return max(frame.bottom + 26, box.bottom + 110)
