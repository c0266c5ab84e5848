"""Layers from left to right: inputs, the plots of each neuron, its sum, and the output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from newron.drawing.palette import SIZES
from newron.drawing.shapes import Attributes, Edge, Label, Rect, Scene
from newron.drawing.text import measure
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.legend import add_heading, add_legend
from newron.figures.outcome import add_activation, add_boxes, add_hidden_activation, add_outcome
from newron.figures.parts import (
    LEAST_NAME,
    MARGIN,
    WIDTH,
    add_sum,
    caption_sum,
    count_folded,
    entering_width,
    find_signal,
    is_binary,
    is_tall,
    leaving_width,
    make_value,
    name_folded,
    place_head,
)
from newron.figures.plot import RUG, TICKS, Frame, draw_function, list_values

__all__ = ["lay_layers"]

_HEAD, _PLOT = 18.0, 40.0
_TILE = _HEAD + _PLOT + RUG + TICKS
_BETWEEN_TILES, _BETWEEN_NEURONS = 14.0, 26.0
_CHIP = 34.0
_SUM, _SMALL_SUM = 62.0, 28.0
_HIDDEN = 46.0  # the plot of a hidden activation
_LEAST_GAP, _MOST_GAP = 26.0, 52.0
_LEAST_TILE, _MOST_TILE = 118.0, 220.0
_LEAST_WIDTH = 760.0
_MOST_NAME, _LEAST_VALUE, _MOST_VALUE = 180.0, 20.0, 84.0
_LEAST_INPUT, _MOST_INPUT = 40.0, 120.0  # from one input to the next
_TOP = 132.0

Port = tuple[float, float]


@dataclass(frozen=True)
class _Columns:
    """The widths of the columns; what is left over goes into the gaps."""

    total: float
    names: float
    values: float
    gutters: tuple[float, ...]
    tile: float
    sums: tuple[float, ...]
    hidden: tuple[float, ...]
    output: float
    gap: float


def lay_layers(diagram: Diagram) -> Scene:
    """Lay a network out from left to right."""
    columns = _plan(diagram)
    body = max(_measure_layer(layer) for layer in diagram.layers)
    body = max(body, _LEAST_INPUT * len(_list_read(diagram)))
    scene = Scene(columns.total, 0)
    add_heading(scene, diagram)
    middle = _TOP + body / 2
    ports = _place_inputs(scene, diagram, columns, middle, body)
    x = MARGIN + columns.names + columns.values + columns.gap
    for k in range(len(diagram.layers)):
        x = _place_layer(scene, diagram, columns, k, x, middle, ports)
    bottom = _place_output(scene, diagram, columns, x, ports)
    bottom = max(bottom, _TOP + body)
    scene.height = add_legend(scene, diagram, bottom + 52) + 22
    return scene


# ---- widths ----


def _plan(diagram: Diagram) -> _Columns:
    n = len(diagram.layers)
    names, values = _measure_inputs(diagram)
    gutters = tuple(_measure_gutter(layer) for layer in diagram.layers)
    sums = tuple(_SUM if any(map(is_tall, layer)) else _SMALL_SUM for layer in diagram.layers)
    hidden = tuple(
        _HIDDEN + 12 if any(neuron.activation != "identity" for neuron in layer) else 0.0
        for layer in diagram.layers
    )
    output = 142.0 if is_binary(diagram) else 116.0
    fixed = 2 * MARGIN + names + values + sum(gutters) + sum(sums) + sum(hidden) + output
    parts = 1 + 1.6 * n + (n - 1) + 0.8  # gaps before plots, after plots, after sums
    tile = (WIDTH - fixed - 1.15 * _LEAST_GAP * parts) / n
    tile = min(max(tile, _LEAST_TILE), _MOST_TILE)
    most = max(fixed + n * tile + _MOST_GAP * parts, _LEAST_WIDTH)
    total = math.ceil(max(min(WIDTH, most), fixed + n * tile + _LEAST_GAP * parts))
    gap = (total - fixed - n * tile) / parts
    return _Columns(total, names, values, gutters, tile, sums, hidden, output, gap)


def _measure_inputs(diagram: Diagram) -> tuple[float, float]:
    """Give the widths of names and of values; values below names take no width."""
    inputs = [diagram.inputs[i] for i in _list_read(diagram)]
    names = [measure(one.name, SIZES["name"], bold=True) for one in inputs]
    values = [measure(one.value or "", SIZES["name"], bold=True) for one in inputs]
    name = min(max(names, default=0.0), _MOST_NAME)
    value = min(max(values, default=0.0), _MOST_VALUE)
    if _is_beside(diagram):
        return name, value + 16 if value else 0.0
    return max(name, value), 0.0


def _measure_gutter(layer: Sequence[Neuron]) -> float:
    texts = [text for neuron in layer for f in neuron.functions for _, text in list_values(f)]
    return max(22.0, *(measure(text, SIZES["tick"]) + 15 for text in texts)) if texts else 22.0


def _is_beside(diagram: Diagram) -> bool:
    """Tell whether values are written beside names: where each input has its own line."""
    first = diagram.layers[0]
    return len(first) == 1 and len(_list_read(diagram)) == len(first[0].functions)


def _list_read(diagram: Diagram) -> list[int]:
    """Give the inputs that the first layer reads; later ones name theirs at the plot."""
    read = {f.signal for neuron in diagram.layers[0] for f in neuron.functions}
    return sorted(signal for signal in read if signal in diagram.inputs)


# ---- heights ----


def _measure_neuron(neuron: Neuron) -> float:
    n = max(len(neuron.functions), 1)
    return n * _TILE + (n - 1) * _BETWEEN_TILES + (_CHIP if neuron.folded else 0.0)


def _measure_layer(layer: Sequence[Neuron]) -> float:
    return sum(map(_measure_neuron, layer)) + _BETWEEN_NEURONS * (len(layer) - 1)


def _stack(layer: Sequence[Neuron], x: float, width: float, middle: float) -> list[list[Frame]]:
    """Give the frames of a layer's functions, neuron by neuron."""
    y = middle - _measure_layer(layer) / 2
    found = []
    for neuron in layer:
        n = max(len(neuron.functions), 1)
        tops = [y + _HEAD + k * (_TILE + _BETWEEN_TILES) for k in range(n)]
        found.append([Frame(x, top, width, _PLOT) for top in tops])
        y += _measure_neuron(neuron) + _BETWEEN_NEURONS
    return found


def _place_inputs(
    scene: Scene, diagram: Diagram, columns: _Columns, middle: float, body: float
) -> dict[int, Port]:
    read = _list_read(diagram)
    scene.add(Label(MARGIN, 108, "inputs" if read else "", "head", style="m"))
    tiles = _stack(diagram.layers[0], 0, columns.tile, middle)
    wanted: dict[int, list[float]] = {}
    for neuron, frames in zip(diagram.layers[0], tiles, strict=True):
        for function, frame in zip(neuron.functions, frames, strict=False):
            wanted.setdefault(function.signal, []).append(frame.middle)
    order = sorted(read, key=lambda i: (round(sum(wanted[i]) / len(wanted[i])), i))
    means = [sum(wanted[i]) / len(wanted[i]) for i in order]
    least = min(max(body / max(len(order), 1) - 4, _LEAST_INPUT), _MOST_INPUT)
    ports = {}
    for i, y in zip(order, _spread(means, least), strict=True):
        _place_input(scene, diagram, i, y, columns)
        ports[i] = (MARGIN + columns.names + columns.values + 8, y)
    return ports


def _place_input(scene: Scene, diagram: Diagram, i: int, y: float, columns: _Columns) -> None:
    one = diagram.inputs[i]
    scene.add(Label.fitted(MARGIN, y + 4, one.name, "name", columns.names))
    if one.value is None:
        return
    key: Attributes = {"data-val": i}
    if columns.values:
        x = MARGIN + columns.names + columns.values
        scene.add(
            Label.fitted(x, y + 4, one.value, "name", columns.values - 12, "", key, anchor="end")
        )
    else:
        scene.add(Label.fitted(MARGIN, y + 22, one.value, "cond", columns.names, "", key))


def _spread(wanted: Sequence[float], least: float) -> list[float]:
    """Move places apart, so that neighbours have a least distance; the mean stays."""
    moved: list[float] = []
    for y in wanted:
        moved.append(y if not moved else max(y, moved[-1] + least))
    shift = (sum(wanted) - sum(moved)) / len(moved) if moved else 0.0
    return [y + shift for y in moved]


# ---- layers ----


def _place_layer(
    scene: Scene,
    diagram: Diagram,
    columns: _Columns,
    k: int,
    x: float,
    middle: float,
    ports: dict[int, Port],
) -> float:
    """Place the neurons of a layer, and give the x after its sums."""
    layer, last = diagram.layers[k], k == len(diagram.layers) - 1
    start = x + columns.gutters[k]
    at = start + columns.tile + 1.6 * columns.gap
    head = "output layer" if last else f"layer {layer[0].layer}"
    scene.add(Label(start, 108, head, "head", style="m"))
    tiles = _stack(layer, start, columns.tile, middle)
    for neuron, frames in zip(layer, tiles, strict=True):
        port = _place_neuron(scene, diagram, neuron, frames, columns, k, at, ports)
        if not last:
            ports[find_signal(diagram, neuron)] = port
        else:
            ports[-neuron.number] = port
    return at + columns.sums[k] + columns.hidden[k] + (0.8 if last else 1.0) * columns.gap


def _place_neuron(
    scene: Scene,
    diagram: Diagram,
    neuron: Neuron,
    frames: Sequence[Frame],
    columns: _Columns,
    k: int,
    at: float,
    ports: dict[int, Port],
) -> Port:
    """Draw the plots of a neuron, its sum, and the edges in and out; give where it ends."""
    left, first, last = frames[0].x - columns.gutters[k], frames[0], frames[-1]
    bottom = last.y - _HEAD + _TILE + (_CHIP if neuron.folded else 0.0)
    middle = (first.y - _HEAD + bottom) / 2 - 3
    if len(neuron.functions) == 1 and not neuron.folded:
        middle = first.middle
    if neuron.functions:
        width = columns.gutters[k] + first.width + 10
        top = first.y - _HEAD - 8
        scene.panels.append(Rect(left, top, width, bottom - top + 2, "panel", 8.0))
    box = _find_box(neuron, at, middle, columns.sums[k])
    n_edges = len(neuron.functions) + bool(neuron.folded)
    for i, (function, frame) in enumerate(zip(neuron.functions, frames, strict=False)):
        port = box.middle + (i - (n_edges - 1) / 2) * min(13.0, (box.height - 10) / n_edges)
        _place_function(scene, diagram, function, frame, left, (box.x, port), ports)
    if neuron.folded:
        _place_chip(scene, neuron, last, bottom, box)
    add_sum(scene, neuron, box, caption=caption_sum(diagram, neuron))
    if k < len(columns.sums) - 1:
        scene.add(Label(box.x + box.width / 2, box.y - 7, neuron.name, "name", "middle"))
    if neuron.activation == "identity":
        return box.right, box.middle
    hidden = Frame(at + columns.sums[k] + 12, middle - 18, _HIDDEN, 36)
    scene.add(Edge(box.right, middle, hidden.x, middle, 2.0, bool(neuron.stage), "straight"))
    add_hidden_activation(scene, neuron, hidden)
    return hidden.right, middle


def _find_box(neuron: Neuron, x: float, middle: float, width: float) -> Frame:
    if is_tall(neuron):
        return Frame(x, middle - 31, width, 62)
    return Frame(x + (width - _SMALL_SUM) / 2, middle - 14, _SMALL_SUM, 28)


def _place_function(
    scene: Scene,
    diagram: Diagram,
    function: Function,
    frame: Frame,
    left: float,
    goal: Port,
    ports: dict[int, Port],
) -> None:
    key: Attributes = {"data-fn": function.key}
    thin, thick, on = entering_width(function), leaving_width(function), function.on
    first = diagram.layers[0][0].layer
    direct = function.shape.layer > first and function.signal in diagram.inputs
    room = frame.width - (_place_value(scene, diagram, function, frame) if direct else 0.0)
    scene.add(place_head(function, frame.x, frame.y - 6, room))
    scene.add(draw_function(function, frame))
    if direct:  # named at the plot: a line from the input would cross what is between
        scene.add(Edge(left - 14, frame.middle, left, frame.middle, thin, on, "straight", "", key))
    else:
        start = ports[function.signal]
        scene.add(Edge(*start, left, frame.middle, thin, on, attributes=key))
    scene.add(Edge(frame.right, frame.middle, *goal, thick, on, attributes=key))
    if function.part is not None:
        above = goal[1] >= frame.middle - 1
        y = frame.middle - 7 if above else frame.middle + 17
        scene.add(make_value(function, frame.right + 6, y))


def _place_value(scene: Scene, diagram: Diagram, function: Function, frame: Frame) -> float:
    """Write the value of an input above a plot; give the room that it takes."""
    one = diagram.inputs[function.signal]
    if one.value is None:
        return 0.0
    needed = measure(f" {function.reading}", SIZES["cond"], bold=True) + LEAST_NAME + 8
    room = min(frame.width / 3, frame.width - needed)
    if room < _LEAST_VALUE:
        return 0.0
    key: Attributes = {"data-val": one.index}
    at = frame.right, frame.y - 6
    label = Label.fitted(*at, one.value, "cond", room, "", key, anchor="end")
    scene.add(label)
    return label.width + 8


def _place_chip(scene: Scene, neuron: Neuron, last: Frame, bottom: float, box: Frame) -> None:
    """Draw the folded functions of a neuron as one dashed box."""
    y, n = bottom - _CHIP + 6, len(neuron.functions)
    title = f"folded: {name_folded(neuron)}"
    scene.add(Rect(last.x, y, last.width, 24, "chip", 6.0, title))
    scene.add(Label.fitted(last.x + 10, y + 16, count_folded(neuron), "note", last.width - 20))
    port = box.middle + n / 2 * min(13.0, (box.height - 10) / (n + 1))
    scene.add(Edge(last.right, y + 12, box.x, port, 1.5, style="fold"))


# ---- output ----


def _place_output(
    scene: Scene, diagram: Diagram, columns: _Columns, x: float, ports: dict[int, Port]
) -> float:
    """Draw the red parts, and give the y below them."""
    layer = diagram.layers[-1]
    if not is_binary(diagram):
        places = {neuron.number - 1: ports[-neuron.number] for neuron in layer}
        head = "softmax" if diagram.classes is not None else "output"
        scene.add(Label(x, 108, head, "head", style="m"))
        add_boxes(scene, diagram, places, x, columns.output - 20)
        return max(y for _, y in places.values()) + 40
    port, y = ports[-1]
    frame = Frame(x + 36, y - 38, columns.output - 36, 76)
    scene.add(Label(frame.x, 108, "probability", "head", style="m"))
    scene.add(Edge(port, y, frame.x, y, 4.0, diagram.outcome is not None, "straight"))
    add_activation(scene, diagram, layer[0], frame)
    return add_outcome(
        scene, diagram, layer[0], frame.x + frame.width / 2, frame.bottom + 30, columns.output
    )
