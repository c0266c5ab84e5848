"""Figures for phones: everything from top to bottom, 358 pixels wide, without heading."""

from __future__ import annotations

from newron.drawing.boxes import Box, lay_grid
from newron.drawing.shapes import Attributes, Edge, Label, Scene
from newron.figures.annotations import add_legend
from newron.figures.card import PILL, add_points, caption_card, name_reached, order_card
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.parts import (
    add_activation,
    add_boxes,
    add_chip,
    add_edge,
    add_hidden_activation,
    add_outcome,
    add_sum,
    caption_sum,
    count_folded,
    describe_folded,
    make_head,
    make_value,
    name_folded,
)
from newron.figures.plot import MAX_VALUE, RUG, TICKS, draw_function

_WIDTH = 358.0
_EDGE = 4.0
_TILE, _PLOT, _HEAD = 128.0, 40.0, 18.0
_PITCH = _HEAD + _PLOT + RUG + TICKS + 16
_LEFT, _RIGHT = MAX_VALUE + 6, _WIDTH - _EDGE - _TILE
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
    n, pitch = len(neuron.functions), (_RIGHT - _LEFT, _PITCH)
    plots = lay_grid((_LEFT, y + _HEAD), n, 2, (_TILE, _PLOT), pitch)
    bottom = y + (n + 1) // 2 * _PITCH
    box = Box(_MIDDLE - 31, bottom + (46 if neuron.folded else 14), 62, 62)
    for function, plot in zip(neuron.functions, plots, strict=True):
        _place_tile(scene, function, plot, box)
    if neuron.folded:
        text = ", ".join(filter(None, [count_folded(neuron), describe_folded(neuron)]))
        chip = Box(_LEFT, bottom, _TILE, 24)
        add_chip(scene, chip, text, f"folded: {name_folded(neuron)}")
        scene.add(Edge(chip.right, chip.middle, _MIDDLE, box.y, 1.5, form="gutter", style="fold"))
    add_sum(scene, neuron, box, caption=caption_sum(diagram, neuron))
    if last:
        return _place_output(scene, diagram, neuron, box)
    scene.add(Label.fitted(box.right + 10, box.middle + 5, neuron.name, "name", 90))
    if neuron.activation != "identity":
        add_hidden_activation(scene, neuron, box.x, Box(box.x - 80, box.middle - 18, 46, 36))
    return box.bottom + 38


def _place_tile(scene: Scene, function: Function, plot: Box, box: Box) -> None:
    room = _TILE
    if function.part is not None:
        value = make_value(function, plot.right, plot.y - 6, end=True)
        scene.add(value)
        room -= value.width + 6
    scene.add(make_head(function, plot.x, plot.y - 6, room))
    scene.add(draw_function(function, plot))
    start = plot.right if plot.x < _MIDDLE else plot.x
    end = _MIDDLE, box.y
    add_edge(scene, function, (start, plot.middle), end, "gutter", factor=0.6)


def _place_output(scene: Scene, diagram: Diagram, neuron: Neuron, box: Box) -> float:
    if not diagram.has_one_score:
        k = neuron.number - 1
        add_boxes(scene, diagram, {k: (box.right, box.middle)}, box.right + 26, 116, tie=False)
        return box.bottom + 30
    plot = Box(_MIDDLE - 60, box.bottom + 34, 140, 80)
    edge = (_MIDDLE, box.bottom), (_MIDDLE, plot.y)
    add_activation(scene, diagram, neuron, plot, edge, "straight")
    return add_outcome(scene, diagram, neuron, (plot.center, plot.bottom + 30), _WIDTH - 20) + 14


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
        folded = [count_folded(neuron), "folded", describe_folded(neuron)]
        chip = Box(_LEFT, y + 2, _CARD_PLOT, 26)
        add_chip(scene, chip, ", ".join(filter(None, folded)), name_folded(neuron))
        end = _BUS, chip.middle + 14
        scene.add(Edge(chip.right, chip.middle, *end, 1.5, form="elbow", style="fold"))
        y += 40
    box = Box(_EDGE, y + 22, 78, 78)
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
    frame = Box(_LEFT, y + 40, _CARD_PLOT, 32)
    scene.add(draw_function(function, frame))
    add_points(scene, function, _WIDTH - 16 - PILL / 2, frame.middle)
    start, end = (_WIDTH - 16, frame.middle), (_BUS, frame.middle + 14)
    add_edge(scene, function, start, end, "elbow", factor=0.6)


def _place_card_output(scene: Scene, diagram: Diagram, neuron: Neuron, box: Box) -> float:
    port = box.right, box.middle
    if not diagram.has_one_score:
        add_boxes(scene, diagram, {0: port}, 200, 130, tie=False)
        return box.bottom + 26
    plot = Box(196, box.y + 72, 146, 96)
    add_activation(scene, diagram, neuron, plot, (port, (plot.x, plot.middle)))
    name, at = name_reached(diagram), (plot.center, plot.y - 10)
    scene.add(Label.fitted(*at, name, "name", 200, "c-red", anchor="middle"))
    add_outcome(scene, diagram, neuron, (_EDGE, box.bottom + 30), 144, "start")
    return max(plot.bottom + 26, box.bottom + 110)
