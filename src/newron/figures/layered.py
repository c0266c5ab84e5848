"""Layers from left to right: inputs, the plots of each neuron, its sum, and the output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from newron.drawing.boxes import Box, Port, lay_column
from newron.drawing.palette import SIZES
from newron.drawing.shapes import Attributes, Edge, Label, Rect, Scene
from newron.drawing.text import measure
from newron.figures.annotations import add_heading, add_legend
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.parts import (
    MARGIN,
    MIN_NAME,
    WIDTH,
    add_activation,
    add_boxes,
    add_chip,
    add_edge,
    add_exit,
    add_hidden_activation,
    add_outcome,
    add_sum,
    caption_sum,
    count_folded,
    make_head,
    name_folded,
)
from newron.figures.plot import RUG, TICKS, draw_function, list_values

_HEAD, _PLOT = 18.0, 40.0
_TILE = _HEAD + _PLOT + RUG + TICKS
_BETWEEN_TILES, _BETWEEN_NEURONS = 14.0, 26.0
_CHIP = 34.0
_SUM, _SMALL_SUM = 62.0, 28.0
_HIDDEN = 46.0  # the plot of a hidden activation
_MIN_GAP, _MAX_GAP = 26.0, 52.0
_MIN_TILE, _MAX_TILE = 118.0, 220.0
_MIN_WIDTH = 760.0
_MAX_NAME, _MIN_VALUE, _MAX_VALUE = 180.0, 20.0, 84.0
_MIN_INPUT, _MAX_INPUT = 40.0, 120.0  # from one input to the next
_TOP = 132.0


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
    body = max(body, _MIN_INPUT * len(_list_read(diagram)))
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
    sums = tuple(
        _SUM if any(neuron.is_tall for neuron in layer) else _SMALL_SUM for layer in diagram.layers
    )
    hidden = tuple(
        _HIDDEN + 12 if any(neuron.activation != "identity" for neuron in layer) else 0.0
        for layer in diagram.layers
    )
    output = 142.0 if diagram.has_one_score else 116.0
    fixed = 2 * MARGIN + names + values + sum(gutters) + sum(sums) + sum(hidden) + output
    parts = 1 + 1.6 * n + (n - 1) + 0.8  # gaps before plots, after plots, after sums
    tile = (WIDTH - fixed - 1.15 * _MIN_GAP * parts) / n
    tile = min(max(tile, _MIN_TILE), _MAX_TILE)
    limit = max(fixed + n * tile + _MAX_GAP * parts, _MIN_WIDTH)
    total = math.ceil(max(min(WIDTH, limit), fixed + n * tile + _MIN_GAP * parts))
    gap = (total - fixed - n * tile) / parts
    return _Columns(total, names, values, gutters, tile, sums, hidden, output, gap)


def _measure_inputs(diagram: Diagram) -> tuple[float, float]:
    """Return the widths of names and of values; values below names take no width."""
    inputs = [diagram.inputs[i] for i in _list_read(diagram)]
    names = [measure(one.name, SIZES["name"], bold=True) for one in inputs]
    values = [measure(one.value or "", SIZES["name"], bold=True) for one in inputs]
    name = min(max(names, default=0.0), _MAX_NAME)
    value = min(max(values, default=0.0), _MAX_VALUE)
    if _is_beside(diagram):
        return name, value + 16 if value else 0.0
    return max(name, value), 0.0


def _measure_gutter(layer: Sequence[Neuron]) -> float:
    texts = [text for neuron in layer for f in neuron.functions for _, text in list_values(f)]
    return max(22.0, *(measure(text, SIZES["tick"]) + 15 for text in texts)) if texts else 22.0


def _is_beside(diagram: Diagram) -> bool:
    """Return whether values are written beside names: where each input has its own line."""
    first = diagram.layers[0]
    return len(first) == 1 and len(_list_read(diagram)) == len(first[0].functions)


def _list_read(diagram: Diagram) -> list[int]:
    """Return the inputs that the first layer reads; later ones name theirs at the plot."""
    read = {f.signal for neuron in diagram.layers[0] for f in neuron.functions}
    return sorted(signal for signal in read if signal in diagram.inputs)


# ---- heights ----


def _measure_neuron(neuron: Neuron) -> float:
    n = max(len(neuron.functions), 1)
    return n * _TILE + (n - 1) * _BETWEEN_TILES + (_CHIP if neuron.folded else 0.0)


def _measure_layer(layer: Sequence[Neuron]) -> float:
    return sum(map(_measure_neuron, layer)) + _BETWEEN_NEURONS * (len(layer) - 1)


def _stack(layer: Sequence[Neuron], x: float, width: float, middle: float) -> list[list[Box]]:
    """Return the plots of a layer's functions, neuron by neuron."""
    top, heights = middle - _measure_layer(layer) / 2, [_measure_neuron(n) for n in layer]
    found = []
    for neuron, panel in zip(
        layer, lay_column(x, top, width, heights, _BETWEEN_NEURONS), strict=True
    ):
        n = max(len(neuron.functions), 1)
        gap = _TILE + _BETWEEN_TILES - _PLOT
        found.append(lay_column(x, panel.y + _HEAD, width, [_PLOT] * n, gap))
    return found


def _place_inputs(
    scene: Scene, diagram: Diagram, columns: _Columns, middle: float, body: float
) -> dict[int, Port]:
    read = _list_read(diagram)
    scene.add(Label(MARGIN, 108, "inputs" if read else "", "head", style="m"))
    tiles = _stack(diagram.layers[0], 0, columns.tile, middle)
    plots: dict[int, list[float]] = {}
    for neuron, frames in zip(diagram.layers[0], tiles, strict=True):
        for function, frame in zip(neuron.functions, frames, strict=False):
            plots.setdefault(function.signal, []).append(frame.middle)
    order = sorted(read, key=lambda i: (round(sum(plots[i]) / len(plots[i])), i))
    means = [sum(plots[i]) / len(plots[i]) for i in order]
    distance = min(max(body / max(len(order), 1) - 4, _MIN_INPUT), _MAX_INPUT)
    ports = {}
    for i, y in zip(order, _spread(means, distance), strict=True):
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


def _spread(positions: Sequence[float], distance: float) -> list[float]:
    """Move positions apart, so that neighbours have a distance; the mean stays."""
    moved: list[float] = []
    for y in positions:
        moved.append(y if not moved else max(y, moved[-1] + distance))
    shift = (sum(positions) - sum(moved)) / len(moved) if moved else 0.0
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
    """Place the neurons of a layer, and return the x after its sums."""
    layer, last = diagram.layers[k], k == len(diagram.layers) - 1
    start = x + columns.gutters[k]
    at = start + columns.tile + 1.6 * columns.gap
    head = "output layer" if last else f"layer {layer[0].layer}"
    scene.add(Label(start, 108, head, "head", style="m"))
    tiles = _stack(layer, start, columns.tile, middle)
    for neuron, frames in zip(layer, tiles, strict=True):
        port = _place_neuron(scene, diagram, neuron, frames, columns, k, at, ports)
        if not last:
            ports[diagram.find_signal(neuron)] = port
        else:
            ports[-neuron.number] = port
    return at + columns.sums[k] + columns.hidden[k] + (0.8 if last else 1.0) * columns.gap


def _place_neuron(
    scene: Scene,
    diagram: Diagram,
    neuron: Neuron,
    frames: Sequence[Box],
    columns: _Columns,
    k: int,
    at: float,
    ports: dict[int, Port],
) -> Port:
    """Draw the plots of a neuron, its sum, and the edges in and out; return where it ends."""
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
    ends = box.list_ports(n_edges, min(13.0, (box.height - 10) / max(n_edges, 1)))
    for function, frame, end in zip(neuron.functions, frames, ends, strict=False):
        _place_function(scene, diagram, function, frame, left, ports)
        add_exit(scene, function, frame, end)
    if neuron.folded:
        chip = Box(last.x, bottom - _CHIP + 6, last.width, 24)
        add_chip(scene, chip, count_folded(neuron), f"folded: {name_folded(neuron)}")
        scene.add(Edge(chip.right, chip.middle, *ends[-1], 1.5, style="fold"))
    add_sum(scene, neuron, box, caption=caption_sum(diagram, neuron))
    if k < len(columns.sums) - 1:
        scene.add(Label(box.center, box.y - 7, neuron.name, "name", "middle"))
    if neuron.activation == "identity":
        return box.right, box.middle
    hidden = Box(at + columns.sums[k] + 12, middle - 18, _HIDDEN, 36)
    add_hidden_activation(scene, neuron, box.right, hidden)
    return hidden.right, middle


def _find_box(neuron: Neuron, x: float, middle: float, width: float) -> Box:
    if neuron.is_tall:
        return Box(x, middle - 31, width, 62)
    return Box(x + (width - _SMALL_SUM) / 2, middle - 14, _SMALL_SUM, 28)


def _place_function(
    scene: Scene,
    diagram: Diagram,
    function: Function,
    frame: Box,
    left: float,
    ports: dict[int, Port],
) -> None:
    first = diagram.layers[0][0].layer
    direct = function.shape.layer > first and function.signal in diagram.inputs
    room = frame.width - (_place_value(scene, diagram, function, frame) if direct else 0.0)
    scene.add(make_head(function, frame.x, frame.y - 6, room))
    scene.add(draw_function(function, frame))
    end = left, frame.middle
    if direct:  # named at the plot: a line from the input would cross what is between
        add_edge(scene, function, (left - 14, frame.middle), end, "straight", entering=True)
    else:
        add_edge(scene, function, ports[function.signal], end, entering=True)


def _place_value(scene: Scene, diagram: Diagram, function: Function, frame: Box) -> float:
    """Write the value of an input above a plot; return the room that it takes."""
    one = diagram.inputs[function.signal]
    if one.value is None:
        return 0.0
    needed = measure(f" {function.reading}", SIZES["cond"], bold=True) + MIN_NAME + 8
    room = min(frame.width / 3, frame.width - needed)
    if room < _MIN_VALUE:
        return 0.0
    key: Attributes = {"data-val": one.index}
    at = frame.right, frame.y - 6
    label = Label.fitted(*at, one.value, "cond", room, "", key, anchor="end")
    scene.add(label)
    return label.width + 8


# ---- output ----


def _place_output(
    scene: Scene, diagram: Diagram, columns: _Columns, x: float, ports: dict[int, Port]
) -> float:
    """Draw the red parts, and return the y below them."""
    layer = diagram.layers[-1]
    if not diagram.has_one_score:
        outputs = {neuron.number - 1: ports[-neuron.number] for neuron in layer}
        head = "softmax" if diagram.classes is not None else "output"
        scene.add(Label(x, 108, head, "head", style="m"))
        add_boxes(scene, diagram, outputs, x, columns.output - 20)
        return max(y for _, y in outputs.values()) + 40
    port, y = ports[-1]
    plot = Box(x + 36, y - 38, columns.output - 36, 76)
    scene.add(Label(plot.x, 108, "probability", "head", style="m"))
    add_activation(scene, diagram, layer[0], plot, ((port, y), (plot.x, y)), "straight")
    return add_outcome(scene, diagram, layer[0], (plot.center, plot.bottom + 30), columns.output)
