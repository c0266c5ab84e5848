"""Reads what there is to draw from a model, rows and one row."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from newron.drawing.text import isolate
from newron.explanations.conditions import Conditions, FunctionCondition
from newron.explanations.path import Part, Reader, Stage
from newron.figures.captions import (
    caption_condition,
    caption_count,
    caption_curve,
    caption_levels,
    find_marks,
    format_input,
    is_count,
)
from newron.figures.diagram import Axis, Diagram, Function, Input, Neuron, Outcome
from newron.figures.influence import FULL, estimate_influence, measure_influence
from newron.figures.rows import RowSample, count_values
from newron.formatting import name_class
from newron.model.aggregation import AnyAggregation, activate_limits, combine_limits
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes
from newron.model.schema import Column
from newron.shapes.curve import trace_function
from newron.shapes.shape import Shape, Shapes
from newron.shapes.shape_reader import read_shapes

_POINTS = 121
_MAX_VALUES = 12  # of an axis, to be drawn one by one


def read_diagram(
    model: Model,
    rows: Floats | None = None,
    row: Floats | None = None,
    *,
    title: str | None = None,
    max_inputs: int | None = None,
) -> Diagram:
    """Read what there is to draw of a model.

    ``rows`` and ``row`` are as :meth:`Model.read` gives them.
    """
    reader = _DiagramReader(model, rows, row)
    return reader.read(title, max_inputs)


class _DiagramReader:
    def __init__(self, model: Model, rows: Floats | None, row: Floats | None) -> None:
        self.model = model
        self.rows = RowSample(model, rows)
        self.row = row
        self.shapes: Shapes = read_shapes(model)
        self.conditions = Conditions(model)
        self.alive = _find_alive(model, self.shapes)
        self.stages: list[Stage] = [] if row is None else list(Reader(model, row).read_stages())
        self.axes: dict[int, Axis] = {}
        self.reach: list[tuple[float, float]] = []  # of the neurons' values
        self.influence = self._find_influence()
        self.strongest = max((float(one.max(initial=0.0)) for one in self.influence), default=0.0)

    def _find_influence(self) -> list[Floats]:
        if self.rows.sample is not None:
            return measure_influence(self.model, self.rows.sample)
        sizes: list[list[float]] = [[] for _ in self.model.layers]
        for shape in self.shapes:
            weight = 1.0 if shape.weight is None else abs(shape.weight)
            size = weight * (shape.greatest - shape.least)
            sizes[shape.layer - 1].append(size if math.isfinite(size) else 0.0)
        return [FULL * found for found in estimate_influence([np.array(s) for s in sizes])]

    def read(self, title: str | None, max_inputs: int | None) -> Diagram:
        layers = []
        for number, layer in enumerate(self.model.layers, 1):
            drawn = [self._read_neuron(number, layer, j) for j in range(layer.n_neurons)]
            layers.append(tuple(neuron for neuron in drawn if self._is_drawn(neuron)))
        layers = [layer for layer in layers if layer]  # one that nothing reads is not drawn
        unused, idle = self._find_idle(layers)
        diagram = Diagram(
            self.model,
            make_title(self.model) if title is None else title,
            "",
            tuple(layers),
            self._read_inputs(),
            tuple(map(isolate, _name_outputs(self.model))),
            self._read_outcome(),
            n_rows=0 if self.rows.rows is None else len(self.rows.rows),
            sample=self.rows.sample,
            link=self.model.output if isinstance(self.model.output, Classes) else None,
            unused=unused,
            idle=idle,
        )
        return diagram if max_inputs is None else _limit_inputs(diagram, max_inputs)

    def _is_drawn(self, neuron: Neuron) -> bool:
        last = neuron.layer == len(self.model.layers)
        return last or self._find_signal(neuron.layer, neuron.number - 1) in self.alive

    def _find_signal(self, number: int, j: int) -> int:
        before = sum(layer.n_neurons for layer in self.model.layers[: number - 1])
        return len(self.model.schema) + before + j

    def _find_idle(
        self, layers: Sequence[Sequence[Neuron]]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the inputs that nothing reads, and those whose functions are all left out."""
        read = {int(source) for layer in self.model.layers for source in layer.source}
        drawn = {f.signal for layer in layers for neuron in layer for f in neuron.functions}
        names = [isolate(name) for name in self.model.schema.names]
        unused = tuple(name for i, name in enumerate(names) if i not in read)
        return unused, tuple(name for i, name in enumerate(names) if i in read - drawn)

    def _read_inputs(self) -> dict[int, Input]:
        columns = enumerate(self.model.schema.columns)
        if self.row is None:
            return {i: Input(i, isolate(column.name)) for i, column in columns}
        values = self.row[0].tolist()
        return {
            i: Input(i, isolate(column.name), format_input(column, values[i]))
            for i, column in columns
        }

    def _read_outcome(self) -> Outcome | None:
        if self.row is None:
            return None
        scores, output = self.model.score_rows(self.row), self.model.output
        values = tuple(scores[0].tolist())
        if not isinstance(output, Classes):
            return Outcome(values)
        shares = tuple(output.predict_proba(scores)[0].tolist())
        return Outcome(values, shares, int(output.choose(scores)[0]))

    # ---- neurons ----

    def _read_neuron(self, number: int, layer: Layer, j: int) -> Neuron:
        edges = layer.list_edges(j)
        first = sum(len(one.source) for one in self.model.layers[: number - 1])
        shapes = [self.shapes[first + e] for e in edges]
        signal = self._find_signal(number, j)
        low, high = _find_limits(layer.aggregation, shapes)
        centre = float(layer.offsets[j])
        ends = activate_limits(layer.activation, *(np.array([[low], [high]]) - centre))
        self.reach.append((float(ends[0][0]), float(ends[1][0])))
        alive = signal in self.alive or number == len(self.model.layers)
        kept = [shape for shape in shapes if shape.matters and alive]
        stage = self._get_stage(number, j)
        parts = {} if stage is None else {part.function: part for part in stage.parts}
        name = self.conditions.names[signal]
        return Neuron(
            number,
            j + 1,
            isolate(name),
            layer.aggregation,
            layer.activation,
            centre,
            low,
            high,
            tuple(self._read_function(layer, s, parts.get(s.function)) for s in kept),
            n_left_out=len(shapes) - len(kept),
            n_functions=len(shapes),
            density=self._count_totals(layer, signal, low, high, centre),
            counts=is_count(layer),
            stage=stage,
        )

    def _get_stage(self, number: int, j: int) -> Stage | None:
        for stage in self.stages:
            if (stage.layer, stage.neuron) == (number, j + 1):
                return stage
        return None

    def _count_totals(
        self, layer: Layer, signal: int, low: float, high: float, centre: float
    ) -> tuple[int, ...]:
        """Count rows by the total of a neuron, where its activation does not hide it."""
        values = self.rows.get(signal)
        if values is None or layer.activation != "identity":
            return ()
        return count_values(values + centre, low, high)

    # ---- functions ----

    def _read_function(self, layer: Layer, shape: Shape, part: Part | None) -> Function:
        e = shape.function
        signal = int(layer.source[e])
        axis = self._read_axis(signal)
        weight = 1.0 if shape.weight is None else shape.weight
        crisp = layer.function.crisp
        marks = find_marks(shape, crisp)
        if axis.labels:
            x, h = np.arange(len(axis.labels), dtype=np.float64), np.array(layer.levels[e])
        else:
            x = _place_points(axis, [mark.place for mark in marks])
            h = trace_function(self.model.schema, layer, e, x)
        bounded = layer.function.bounded
        low, high = (0.0, weight) if bounded else _find_ends(weight, shape)
        condition = self.conditions.read(shape.layer, e) if crisp else None
        place = math.nan if self.row is None else self._get_value(signal)
        influence = float(self.influence[shape.layer - 1][e])
        return Function(
            shape,
            signal,
            axis,
            axis.name,
            self._caption(layer, shape, axis, condition),
            marks,
            x,
            weight * h,
            min(low, high),
            max(low, high),
            influence,
            influence / max(FULL, self.strongest),
            crisp,
            bounded,
            part,
            place,
            None if condition is None or condition.by_value else condition.limit,
        )

    def _caption(
        self, layer: Layer, shape: Shape, axis: Axis, condition: FunctionCondition | None
    ) -> str:
        """Return what a function asks of what it reads, without the name of that."""
        if condition is None:
            return caption_levels(shape, axis.labels) if axis.labels else caption_curve(shape)
        signal = int(layer.source[shape.function])
        if signal < len(self.model.schema):
            return caption_condition(condition, self.model.schema.columns[signal])
        number, _ = self.conditions.find_neuron(signal) or (1, 1)
        rises = bool(layer.w[shape.function, 0] > 0.0)
        counts = is_count(self.model.layers[number - 1])
        return caption_count(condition, shape, counts=counts, rises=rises)

    def _get_value(self, signal: int) -> float:
        """Return the value of a signal for the row, NaN for a missing value."""
        n = len(self.model.schema)
        if signal < n:
            assert self.row is not None  # noqa: S101 - condition for rows alone
            value = float(self.row[0, signal])
            n_categories = self.model.schema.columns[signal].n_categories
            return math.nan if n_categories and not 0 <= value < n_categories else value
        return self.stages[signal - n].value

    def _read_axis(self, signal: int) -> Axis:
        if signal not in self.axes:
            n = len(self.model.schema)
            if signal < n:
                self.axes[signal] = self._read_column(self.model.schema.columns[signal], signal)
            else:
                self.axes[signal] = self._read_reach(signal)
        return self.axes[signal]

    def _read_column(self, column: Column, signal: int) -> Axis:
        values = self.rows.get(signal)
        listed = column.values or ()
        few = tuple(sorted(set(listed))) if len(listed) <= _MAX_VALUES else ()
        labels = tuple(isolate(label) for label in column.categories or ())
        n_missing = 0
        density: tuple[int, ...] = ()
        if values is not None:
            n_missing = int(np.isnan(values).sum())
            density = count_values(values, column.low, column.high, few, len(labels))
        return Axis(
            isolate(column.name),
            column.low,
            column.high,
            isolate(column.unit or ""),
            labels,
            few,
            density,
            column.gaps,
            n_missing,
        )

    def _read_reach(self, signal: int) -> Axis:
        j = signal - len(self.model.schema)
        low, high = self.reach[j]
        number, neuron = self.conditions.find_neuron(signal) or (1, 1)
        layer = self.model.layers[number - 1]
        few: tuple[float, ...] = ()
        if is_count(layer):
            n = int(layer.begin[neuron] - layer.begin[neuron - 1])
            few = tuple(float(k) for k in range(n + 1) if low <= k <= high)
            few = few if len(few) <= _MAX_VALUES else ()
        values = self.rows.get(signal)
        density = () if values is None else count_values(values, low, high, few)
        return Axis(isolate(self.conditions.names[signal]), low, high, "", (), few, density)


def _find_alive(model: Model, shapes: Shapes) -> set[int]:
    """Return the signals that some drawn function reads, backwards from the outputs."""
    starts = np.cumsum([len(model.schema), *(layer.n_neurons for layer in model.layers)])
    alive: set[int] = set()
    for shape in reversed(shapes):
        layer = model.layers[shape.layer - 1]
        own = int(starts[shape.layer - 1]) + shape.neuron - 1
        if shape.matters and (shape.layer == len(model.layers) or own in alive):
            alive.add(int(layer.source[shape.function]))
    return alive


def _find_limits(aggregation: AnyAggregation, shapes: Sequence[Shape]) -> tuple[float, float]:
    weights = np.array([1.0 if s.weight is None else s.weight for s in shapes]).reshape(-1, 1)
    ends = np.array([(s.least, s.greatest) for s in shapes]).reshape(-1, 2) * weights
    return combine_limits(aggregation, ends.min(axis=1), ends.max(axis=1))


def _find_ends(weight: float, shape: Shape) -> tuple[float, float]:
    ends = weight * shape.least, weight * shape.greatest
    return min(0.0, *ends), max(0.0, *ends)


def _place_points(axis: Axis, marks: Sequence[float]) -> Floats:
    """Return places for a curve: even ones, and both sides of each mark."""
    low, high = axis.limits
    beside = [
        near
        for mark in marks
        for near in (math.nextafter(mark, -math.inf), mark, math.nextafter(mark, math.inf))
    ]
    places = np.concatenate([np.linspace(low, high, _POINTS), beside])
    return np.unique(places[(places >= low) & (places <= high)])


def _limit_inputs(diagram: Diagram, limit: int) -> Diagram:
    """Fold the functions of all but the most influential inputs."""
    strength: dict[int, tuple[float, float]] = {}
    for function in diagram.functions:
        if function.signal in diagram.inputs:
            own = function.influence, function.size
            strength[function.signal] = max(strength.get(function.signal, (0.0, 0.0)), own)
    kept = set(sorted(strength, key=lambda i: strength[i], reverse=True)[:limit])

    def choose(neuron: Neuron) -> list[Function]:
        return [f for f in neuron.functions if f.signal in kept or f.signal not in diagram.inputs]

    return diagram.fold(choose)


def _name_outputs(model: Model) -> list[str]:
    if isinstance(model.output, Classes):
        return list(map(name_class, model.output.labels))
    return list(model.output.score_names)


def make_title(model: Model) -> str:
    """Return in a line what network this is."""
    kinds = " and ".join(dict.fromkeys(str(layer.processing) for layer in model.layers))
    kinds = kinds.replace("heaviside", "Heaviside").replace("tanh_prod", "tanh-prod")
    widths = [layer.n_neurons for layer in model.layers[:-1]]
    shape = f"hidden neurons {widths}" if widths else "no hidden layer"
    return f"{kinds[0].upper()}{kinds[1:]} network, {shape}"
