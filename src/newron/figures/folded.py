"""Large networks: a row for each neuron with its strongest functions, the rest in a chip.

A network with one hidden layer and one output has its output layer beside the rows. Any
other has a section of rows for each layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from newron.drawing.boxes import Box, Port, lay_grid
from newron.drawing.palette import SIZES
from newron.drawing.shapes import Edge, Label, Rect, Scene
from newron.drawing.text import split
from newron.figures.annotations import add_heading, add_legend
from newron.figures.diagram import Diagram, Function, Neuron
from newron.figures.parts import (
    MARGIN,
    WIDTH,
    add_activation,
    add_boxes,
    add_edge,
    add_exit,
    add_hidden_activation,
    add_outcome,
    add_sum,
    caption_sum,
    describe_folded,
    make_value,
    name_folded,
)
from newron.figures.plot import draw_function
from newron.formatting import format_signed

_PITCH, _BETWEEN_ROWS = 108.0, 16.0
_TILE, _BETWEEN_TILES, _PLOT = 105.0, 16.0, 28.0
_STEP = _TILE + _BETWEEN_TILES
_CHIP, _SUM = 88.0, 54.0
_BESIDE, _SECTION = 5, 6  # tiles on a line
_MAX_NEURONS = 12  # of a layer
_MAX_LINES = 2  # of tiles, of an output
_TOP = 146.0
_MIN_WIDTH = 760.0


def choose_strongest(diagram: Diagram) -> Diagram:
    """Fold all but the strongest neurons of each hidden layer, and their strongest functions."""
    hidden = diagram.layers[:-1]
    kept = {neuron.key for layer in hidden for neuron in _choose_neurons(diagram, layer)}
    signals = {diagram.find_signal(n) for layer in hidden for n in layer if n.key not in kept}
    last, beside = len(diagram.model.layers), _is_beside(diagram)
    limit = _BESIDE if beside else _SECTION

    def choose(neuron: Neuron) -> list[Function]:
        if neuron.layer < last and neuron.key not in kept:
            return []
        known = [f for f in neuron.functions if f.signal not in signals]
        if neuron.layer < last:
            return _sort(known)[:limit]
        if not beside:
            return _sort(known)[: limit * (_MAX_LINES if len(diagram.outputs) <= 2 else 1)]
        direct = [f for f in known if f.signal in diagram.inputs]
        return [f for f in known if f not in direct] + _sort(direct)[: limit * _MAX_LINES]

    return diagram.fold(choose)


def _choose_neurons(diagram: Diagram, layer: Sequence[Neuron]) -> list[Neuron]:
    """Return the neurons on whose functions most hangs, in their order."""
    read: dict[int, float] = {}
    for function in diagram.functions:
        read[function.signal] = read.get(function.signal, 0.0) + function.influence

    def get_strength(neuron: Neuron) -> float:
        return read.get(diagram.find_signal(neuron), 0.0)

    strongest = sorted(layer, key=get_strength, reverse=True)[:_MAX_NEURONS]
    return [neuron for neuron in layer if neuron in strongest]


def _sort(functions: Iterable[Function]) -> list[Function]:
    return sorted(functions, key=lambda f: (-f.influence, -f.size))


def _is_beside(diagram: Diagram) -> bool:
    """Return whether the output layer stands beside the hidden one."""
    return len(diagram.layers) == 2 and len(diagram.layers[-1]) == 1 and diagram.classes is not None


def lay_folded(diagram: Diagram) -> Scene:
    """Lay a large network out in rows of neurons."""
    scene = Scene(WIDTH, 0)
    bottom = _lay_beside(scene, diagram) if _is_beside(diagram) else _lay_sections(scene, diagram)
    add_heading(scene, diagram)
    scene.height = add_legend(scene, diagram, bottom + 34) + 22
    return scene


# ---- rows ----


def _place_row(
    scene: Scene,
    neuron: Neuron,
    functions: Sequence[Function],
    y: float,
    per_line: int,
    chip: float = _CHIP,
) -> float:
    """Draw the tiles of a neuron and its chip on a panel; return the height."""
    n_lines = max(1, -(-len(functions) // per_line))
    height = n_lines * _PITCH
    end = MARGIN + per_line * _STEP
    scene.panels.append(Rect(MARGIN - 10, y - 4, end + chip + 16 - MARGIN, height, "panel", 8))
    pitch = _STEP, _PITCH
    tiles = lay_grid((MARGIN, y), len(functions), per_line, (_TILE, _PITCH), pitch)
    for function, tile in zip(functions, tiles, strict=True):
        _place_tile(scene, function, tile.x, tile.y)
    if neuron.folded or neuron.n_left_out:
        x = MARGIN + min(len(functions), per_line) * _STEP
        _place_chip(scene, neuron, x, y + height / 2 - 47)
    return height


def _place_tile(scene: Scene, function: Function, x: float, y: float) -> None:
    lines = split(function.name, _TILE, SIZES["note"])
    for k, line in enumerate(lines):
        scene.add(Label(x, y + 10 + 13.5 * k, line, "note", title=function.name))
    room, value = _TILE, None
    if function.part is not None:
        value = make_value(function, x + _TILE, y + 40, end=True)
    elif function.shape.weight is not None and function.bounded:
        value = Label(x + _TILE, y + 40, format_signed(function.weight), "cond", "end", "m")
    if value is not None:
        scene.add(value)
        room -= value.width + 6
    scene.add(Label.fitted(x, y + 40, function.reading, "cond", room, "b"))
    scene.add(draw_function(function, Box(x, y + 47, _TILE, _PLOT), y_ticks=False))
    add_edge(scene, function, (x + 2, y + 100.5), (x + _TILE - 2, y + 100.5), "straight")


def _place_chip(scene: Scene, neuron: Neuron, x: float, y: float) -> None:
    middle, n = x + _CHIP / 2, len(neuron.folded)
    title = f"folded: {name_folded(neuron)}" if n else ""
    scene.add(Rect(x, y, _CHIP, 86, "chip", 6.0, title))
    lines = (
        [(f"+{n}", "out", ""), ("small one" if n == 1 else "small ones", "note", "m")] if n else []
    )
    added = describe_folded(neuron)
    lines += [(added, "note", "")] if added else []
    if neuron.n_left_out:
        lines.append((f"{neuron.n_left_out} without effect", "tick", "m"))
    top = y + 43 - 9.5 * len(lines) + 13
    for k, (text, size, style) in enumerate(lines):
        label = Label.fitted(middle, top + 19 * k, text, size, _CHIP - 6, style, anchor="middle")
        scene.add(label)


# ---- the output layer beside the hidden one ----


def _lay_beside(scene: Scene, diagram: Diagram) -> float:
    hidden, last = diagram.layers[0], diagram.layers[1][0]
    rows = [neuron for neuron in hidden if neuron.functions]
    read = {diagram.find_signal(neuron): _find_readers(diagram, last, neuron) for neuron in rows}
    direct = [f for f in last.functions if f.signal not in read]
    heights = [_PITCH * max(1, len(readers)) for readers in read.values()]
    fold = MARGIN + _BESIDE * _STEP
    plot = fold + _CHIP + 20 + _SUM + 56
    end = WIDTH - MARGIN - 158
    body = sum(heights) + _BETWEEN_ROWS * len(heights)
    total = Box(end, _TOP + max(body, 200) / 2 - 60, 50, 80)
    _place_heads(scene, (MARGIN, "strongest functions of each neuron"), (plot, "output layer"))
    y = _TOP
    n_ports = max(len(last.functions), 1)
    ends = iter(total.list_ports(n_ports, min(8.0, 64 / n_ports)))
    for neuron, height, readers in zip(rows, heights, read.values(), strict=True):
        _place_row(scene, neuron, neuron.functions, y, _BESIDE)
        middle = y + _PITCH / 2 - 4
        box = Box(fold + _CHIP + 20, middle - 28, _SUM, 56)
        _connect(scene, neuron, fold + _CHIP + 6, box)
        for k, function in enumerate(readers):
            frame = Box(plot, y + k * _PITCH + 30, 116, 40)
            _place_reader(scene, function, frame, box, next(ends))
        y += height + _BETWEEN_ROWS
    if direct or last.folded or last.n_left_out:
        y = _place_direct(scene, last, direct, y, total)
    add_sum(scene, last, total)
    act = Box(WIDTH - MARGIN - 70, total.y, 70, 80)
    edge = (total.right, total.middle), (act.x, total.middle)
    add_activation(scene, diagram, last, act, edge)
    bottom = add_outcome(scene, diagram, last, (act.right, act.bottom + 30), 120, "end")
    return max(y, bottom) + _write_rest(scene, hidden, max(y, bottom))


def _find_readers(diagram: Diagram, last: Neuron, neuron: Neuron) -> list[Function]:
    return [f for f in last.functions if f.signal == diagram.find_signal(neuron)]


def _place_heads(scene: Scene, *heads: tuple[float, str]) -> None:
    for x, text in heads:
        scene.add(Label(x, _TOP - 26, text, "head", style="m"))


def _connect(
    scene: Scene, neuron: Neuron, x: float, box: Box, caption: str = "", *, named: bool = True
) -> None:
    """Draw the sum of a row and the line from its panel."""
    scene.add(Edge(x, box.middle, box.x, box.middle, 4.0, neuron.stage is not None, "straight"))
    add_sum(scene, neuron, box, caption=caption)
    if named:
        scene.add(Label(box.center, box.y - 7, neuron.name, "name", "middle"))


def _place_reader(scene: Scene, function: Function, frame: Box, box: Box, end: Port) -> None:
    """Draw a function of the output that reads a row's sum."""
    left = frame.x - 40
    scene.panels.append(Rect(left, frame.y - 34, frame.width + 50, _PITCH - 4, "panel", 8.0))
    scene.add(Label.fitted(frame.x, frame.y - 7, function.reading, "cond", frame.width, "b"))
    scene.add(draw_function(function, frame))
    add_edge(scene, function, (box.right, box.middle), (left, frame.middle), entering=True)
    add_exit(scene, function, frame, end)


def _place_direct(
    scene: Scene, last: Neuron, direct: Sequence[Function], y: float, total: Box
) -> float:
    """Draw the functions of the output that read inputs, and the line from their panel."""
    scene.add(Label(MARGIN, y + 16, "read by the output itself", "head", style="m"))
    y += 36
    hidden = bool(last.folded or last.n_left_out)
    per_line = _BESIDE if hidden else min(_BESIDE, len(direct))
    chip = _CHIP if hidden else -_BETWEEN_TILES
    height = _place_row(scene, last, direct, y, per_line, chip)
    x = MARGIN + per_line * _STEP + chip + 6
    middle = y + height / 2 - 4
    on = last.stage is not None
    scene.add(Edge(x, middle, total.center, total.bottom, 3.0, on, "rise"))
    return y + height + _BETWEEN_ROWS


def _write_rest(scene: Scene, layer: Sequence[Neuron], y: float) -> float:
    """Write how many neurons are folded whole; return the height of the line."""
    folded = [neuron for neuron in layer if not neuron.functions]
    if not folded:
        return 0.0
    n = sum(len(neuron.folded) for neuron in folded)
    names = ", ".join(neuron.name for neuron in folded)
    text = f"+{len(folded)} small neurons, folded with their {n} functions: {names}"
    scene.add(Label.fitted(MARGIN, y + 12, text, "note", WIDTH - 2 * MARGIN, "m"))
    return 20.0


# ---- a section for each layer ----


def _lay_sections(scene: Scene, diagram: Diagram) -> float:
    y, n = _TOP - 26, len(diagram.layers)
    per_line = max(2, min(_SECTION, max(len(neuron.functions) for neuron in diagram.neurons)))
    fold = MARGIN + per_line * _STEP
    chip = _CHIP if any(neuron.folded or neuron.n_left_out for neuron in diagram.neurons) else -20.0
    ports: list[Port] = []
    for k, layer in enumerate(diagram.layers, 1):
        head = (
            "output layer"
            if k == n
            else f"layer {layer[0].layer}: strongest functions of each neuron"
        )
        scene.add(Label(MARGIN, y, head, "head", style="m"))
        y += 26
        for neuron in layer:
            if not neuron.functions and k < n:
                continue
            height = _place_row(scene, neuron, neuron.functions, y, per_line, chip)
            box = Box(fold + chip + 30, y + height / 2 - 32, _SUM, 56)
            caption = caption_sum(diagram, neuron)
            _connect(scene, neuron, fold + chip + 6, box, caption, named=k < n)
            ports.append((box.right, box.middle))
            if neuron.activation != "identity":
                hidden = Box(box.right + 14, box.middle - 18, 46, 36)
                add_hidden_activation(scene, neuron, box.right, hidden)
            y += height + _BETWEEN_ROWS
        y += _write_rest(scene, layer, y) if k < n else 0.0
        y += 26
    return max(y - 26, _place_output(scene, diagram, ports))


def _place_output(scene: Scene, diagram: Diagram, ports: Sequence[Port]) -> float:
    last = diagram.layers[-1]
    mine = dict(enumerate(ports[len(ports) - len(last) :]))
    if len(last) > 1 or diagram.classes is None:
        x = mine[0][0] + 36
        add_boxes(scene, diagram, mine, x, 116)
        scene.width = max(x + 116 + 10 + MARGIN, _MIN_WIDTH)
        return mine[len(last) - 1][1] + 40
    x, y = mine[0]
    act = Box(x + 58, y - 40, 100, 80)
    scene.width = max(act.right + MARGIN, _MIN_WIDTH)
    add_activation(scene, diagram, last[0], act, ((x, y), (act.x, y)), "straight")
    return add_outcome(scene, diagram, last[0], (act.right, act.bottom + 30), 160, "end")
