"""From the core's flat float32 parameters to a model in the columns' units.

What is printed is to be the model: thresholds become short decimals that change
no training prediction, counts are compared with k - 0.5, and weights keep no more
digits than the training rows need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.decimals import round_to_digits, round_to_step, shortest_between
from newron.model.model import Model
from newron.model.network import Layer, evaluate, rank_edges
from newron.model.output import Classes, Output
from newron.model.processing import get_processing
from newron.model.terms import center_terms
from newron.neurons.processing import MAX_PARAMETER, Processing
from newron.objectives import TargetScale, choose_objective
from newron.rules.normal_form import normalise
from newron.training.encoding import Channel, Encoding
from newron.training.problem import Problem
from newron.training.training_set import TrainingSet
from newron.training.wiring import LayerSlices, Params, Wiring

_LARGEST = 1e300
_TINY = np.finfo(np.float32).tiny
_DIGITS = (3, 4, 5, 6, 8, 11)
_MAX_CENTERED = 100_000  # rows that means of curves are taken of
_MOST_FUNCTIONS = 64  # that are evaluated at once
_FEW_ROWS = 10_000  # enough to rule out most shortenings before all rows are used


def decode(
    wiring: Wiring,
    params: Params,
    encoding: Encoding,
    output: Output,
    data: TrainingSet,
    *,
    partial: bool = False,
) -> Model:
    """Make the model that the core trained; Heaviside thresholds are snapped.

    Its regression targets are scaled as the core's are, see :func:`unscale`.

    Where the sample is only a part of the rows that were trained on, thresholds
    stay within a hundredth of the column's spread from where the core has them.
    """
    layers: list[Layer] = []
    for places in wiring.layers:
        steps = _Steps(encoding, data.X, tuple(layers), partial)
        layers.append(_decode_layer(places, params, encoding, steps))
    return Model(encoding.schema, layers, output)


def _decode_layer(places: LayerSlices, params: Params, encoding: Encoding, steps: _Steps) -> Layer:
    plan, function = places.plan, places.plan.function
    shape = (places.n_edges, plan.n_factors)
    w = params[places.w].reshape(shape).astype(np.float64)
    b = params[places.b].reshape(shape).astype(np.float64)
    n_channels = len(encoding.channels)
    source = np.array(places.source) - n_channels + len(encoding.schema)
    rank = np.zeros(places.n_edges, bool)
    parameters = np.clip(
        params[places.parameters].astype(np.float64), -MAX_PARAMETER, MAX_PARAMETER
    )
    parameters = parameters.reshape(places.n_edges, len(function.parameters))
    missing, levels = _read_points(places, params, encoding, (w, b, parameters))
    # Source by source: the values of one column at a time are enough.
    for e in np.argsort(places.source, kind="stable"):
        s = int(places.source[e])
        channel = encoding.channels[s] if s < n_channels else None
        if channel is not None:
            source[e] = channel.column
        if len(levels[e]):
            w[e], b[e] = 0.0, 0.0
        elif function.crisp:
            w[e], b[e] = steps.place(s, channel, params[places.w][e], params[places.b][e])
        elif channel is not None:
            w[e] = np.clip(w[e] / channel.scale, -_LARGEST, _LARGEST)
            b[e] = np.clip(channel.locate(b[e]), -_LARGEST, _LARGEST)
            rank[e] = channel.rank is not None
    return Layer(
        plan.processing,
        plan.aggregation,
        plan.activation,
        plan.n_neurons,
        places.target,
        source,
        w,
        b,
        rank,
        params[places.alpha].astype(np.float64) if plan.weighted else None,
        params[places.centre].astype(np.float64) if plan.centred else None,
        missing,
        levels,
        parameters,
    )


def _read_points(
    places: LayerSlices,
    params: Params,
    encoding: Encoding,
    trained: tuple[Floats, Floats, Floats],
) -> tuple[Floats, list[Floats]]:
    """Return h of a missing value and of each category, of every function."""
    missing, levels = np.zeros(places.n_edges), [np.zeros(0)] * places.n_edges
    for e, points in places.points.items():
        channel = encoding.channels[places.source[e]]
        own = (values[e] for values in trained)
        heights = _process_points(places.plan.function, params[points], *own)
        levels[e] = heights[: channel.n_categories]
        missing[e] = heights[-1] if channel.gaps else 0.0
    return missing, levels


def _process_points(
    function: Processing, places: Params, w: Floats, b: Floats, parameters: Floats
) -> Floats:
    """Return h of each point."""
    if function.crisp:
        # In the core's precision, which decides on which side a place lies.
        z = np.float32(w[0]) * (places - np.float32(b[0]))
        return np.asarray((z >= 0.0) | (np.abs(z) < _TINY), np.float64)
    x = places.astype(np.float64)[:, None]
    return function.value(x, w[None, :], b[None, :], parameters[None, :])[:, 0]


class _Steps:
    """Places the steps of one Heaviside layer between the values it reads."""

    def __init__(
        self, encoding: Encoding, X: Floats, before: tuple[Layer, ...], partial: bool
    ) -> None:
        self.encoding, self.X, self.before, self.partial = encoding, X, before, partial
        self.last: tuple[int, Floats] | None = None

    def place(
        self, source: int, channel: Channel | None, w: np.float32, b: np.float32
    ) -> tuple[float, float]:
        """Return the direction and threshold that split the values as the core does."""
        if w == 0.0:
            return 0.0, 0.0
        values = self._values(source, channel)
        seen = values.astype(np.float32) if channel is None else channel.encode(values)
        z = w * (seen - b)
        # The core takes numbers below the normal ones for zero.
        holds = (z >= 0.0) | (np.abs(z) < _TINY)
        if w > 0.0:
            first = int(np.argmax(holds)) if holds.any() else len(values)
            return 1.0, self._threshold(values, first, float(b), channel, at_or_above=True)
        first = int(np.argmin(holds)) if not holds.all() else len(values)
        return -1.0, self._threshold(values, first, float(b), channel, at_or_above=False)

    def _values(self, source: int, channel: Channel | None) -> Floats:
        key = source if channel is None else channel.column - len(self.encoding.schema)
        if self.last is None or self.last[0] != key:
            self.last = (key, self._find_values(source, channel))
        return self.last[1]

    def _find_values(self, source: int, channel: Channel | None) -> Floats:
        if channel is not None:
            values = np.unique(self.X[:, channel.column])
            return values[~np.isnan(values)]
        at = source - len(self.encoding.channels)
        for number, layer in enumerate(self.before):
            if at < layer.n_neurons:
                counted = _count_of(layer, at)
                if counted is not None:
                    return np.arange(counted + 1.0)
                upto = self.before[: number + 1]
                return np.unique(evaluate(self.encoding.schema, upto, self.X)[:, at])
            at -= layer.n_neurons
        raise AssertionError("a source lies before its layer")

    def _threshold(
        self, values: Floats, first: int, b: float, channel: Channel | None, *, at_or_above: bool
    ) -> float:
        """Place a threshold between values[first - 1] and values[first]."""
        desired = b if channel is None else float(channel.locate(np.array(b)))
        if 0 < first < len(values):
            low, high = float(values[first - 1]), float(values[first])
        else:
            low, high = _outside(values, first, desired)
        if self.partial and channel is not None and low <= desired <= high:
            reach = 0.01 * channel.scale if channel.rank is None else 0.0
            low, high = max(low, desired - reach), min(high, desired + reach)
        found = shortest_between(low, high)
        if found is None:
            return high if at_or_above else low
        return found


def _outside(values: Floats, first: int, desired: float) -> tuple[float, float]:
    """Return a gap below all values (first = 0) or above them, near where b was."""
    least, greatest = (float(values[0]), float(values[-1])) if len(values) else (0.0, 0.0)
    reach = 0.5 * (greatest - least) or 0.5 * abs(least) or 0.5
    desired = float(np.clip(desired, -_LARGEST, _LARGEST))
    if first == 0:
        return max(min(desired, least - reach), -_LARGEST), least
    return greatest, min(max(desired, greatest + reach), _LARGEST)


def _count_of(layer: Layer, j: int) -> int | None:
    """Return how many conditions a neuron counts, or None if it does not count."""
    plain = layer.alpha is None and layer.centre is None and layer.activation == "identity"
    if layer.aggregation == "sum" and plain and get_processing(layer.processing).crisp:
        return int(layer.begin[j + 1] - layer.begin[j])
    return None


def unscale(model: Model, target: TargetScale) -> Model:
    """Bring the output layer into the units of the targets."""
    if target.is_identity:
        return model
    last = _unscale_layer(model.layers[-1], target)
    return Model(model.schema, [*model.layers[:-1], last], model.output)


def _unscale_layer(layer: Layer, target: TargetScale) -> Layer:
    assert layer.centre is not None  # noqa: S101 - an output layer is centred
    factor = target.scale[layer.target]
    if layer.aggregation == "product":
        # Scaling one factor of a product scales the product.
        first = np.zeros(len(factor), bool)
        first[layer.begin[:-1]] = True
        factor = np.where(first, factor, 1.0)
    centre = layer.centre * target.scale - target.shift
    if layer.alpha is not None:
        return layer.replace(alpha=layer.alpha * factor, centre=centre)
    with np.errstate(over="ignore"):
        w = np.clip(layer.w * factor[:, None], -_LARGEST, _LARGEST)
    levels = [values * f for values, f in zip(layer.levels, factor.tolist(), strict=True)]
    return layer.replace(w=w, centre=centre, missing=layer.missing * factor, levels=levels)


def finish(model: Model, data: TrainingSet, n_threads: int = 1, *, partial: bool = False) -> Model:
    """Shorten a model's numbers, give it values for missing cells that no row had, normalise."""
    model = model if partial else _center(model, data, n_threads)
    return bring_to_normal_form(
        fill_missing(snap(model, data, n_threads, partial=partial), data), data
    )


def bring_to_normal_form(model: Model, data: TrainingSet) -> Model:
    """Return a model with step curves from 0, or with smooth curves of mean 0 over the rows."""
    few = data.take_first(_MAX_CENTERED)
    return center_terms(normalise(model, data.X), few.X, few.weight)


def _center(model: Model, data: TrainingSet, n_threads: int) -> Model:
    """Shift the scores where the objective has a statistic of its own, such as a quantile."""
    problem, last = Problem.of(data, choose_objective(model.output)), model.layers[-1]
    scores = problem.scale.apply(model.score_rows(data.X, n_threads=n_threads))
    shift = problem.objective.center(problem.targets, scores, problem.weight)
    if shift is None:
        return model
    before = np.zeros(last.n_neurons) if last.centre is None else last.centre
    moved = last.replace(centre=before - shift * problem.scale.scale)
    return Model(model.schema, [*model.layers[:-1], moved], model.output)


# ---- missing values that training has not seen ----


def fill_missing(model: Model, data: TrainingSet) -> Model:
    """Set for missing values what leaves a neuron's mean unchanged, where none were seen.

    For a step that is its more frequent value.
    """
    few = data.take_first(_FEW_ROWS)
    fraction = few.weight / few.weight.sum()
    layers = [_fill_layer(layer, model, few.X, fraction) for layer in model.layers]
    return Model(model.schema, layers, model.output)


def _fill_layer(layer: Layer, model: Model, X: Floats, fraction: Floats) -> Layer:
    columns = model.schema.columns
    missing = np.array(layer.missing)
    crisp = get_processing(layer.processing).crisp
    b = rank_edges(layer, model.schema)
    known = [s < len(columns) and not columns[s].gaps for s in layer.source.tolist()]
    # The functions that read the same of one column are evaluated at once.
    reads = (layer.source * 2 + layer.rank) * 2 + [len(own) > 0 for own in layer.levels]
    for read in np.unique(reads[known]).tolist():
        edges = np.flatnonzero(reads == read)
        source = read // 4
        values, scale = X[:, source], columns[source].rank_scale
        if layer.rank[edges[0]] and scale is not None:
            values = scale.rank(values)
        for e, heights in zip(
            edges.tolist(), _measure_heights(layer, b, edges, values), strict=True
        ):
            mean = float(heights @ fraction)
            missing[e] = float(mean > 0.5 + 1e-9) if crisp else _round_mean(mean, heights)
    return layer.replace(missing=missing)


def _measure_heights(
    layer: Layer, b: Floats, edges: NDArray[np.intp], values: Floats
) -> Iterator[Floats]:
    """Yield what functions of one column are for some of its values."""
    if len(layer.levels[edges[0]]):
        codes = values.astype(np.intp)
        yield from (layer.levels[e][codes] for e in edges)
        return
    for some in np.array_split(edges, -(-len(edges) // _MOST_FUNCTIONS)):
        with np.errstate(over="ignore"):
            heights = layer.process(values[:, None], b[some], some)
        yield from np.ascontiguousarray(heights.T)


def _round_mean(mean: float, heights: Floats) -> float:
    return float(np.clip(float(f"{mean:.3g}"), heights.min(), heights.max()))


# ---- snapping weights ----


def snap(model: Model, data: TrainingSet, n_threads: int = 1, *, partial: bool = False) -> Model:
    """Shorten all numbers as far as no training row notices.

    No class of a training row changes, no regression target by more than a thousandth of
    its spread, and the loss grows by no more than a ten-thousandth. Where the rows are only
    a part of those that were trained on (``partial``), more digits stay.
    """
    few = data.take_first(_FEW_ROWS)
    objective = choose_objective(model.output)
    views = [
        _View(each, Problem.of(each, objective), n_threads)
        for each in ([few, data] if few is not data else [data])
    ]
    before = [view.observe(model) for view in views]
    for digits in _DIGITS[2:] if partial else _DIGITS:
        candidate = Model(model.schema, list(_shorten(model, digits)), model.output)
        pairs = zip(before, views, strict=True)
        if all(own.allows(view.observe(candidate)) for own, view in pairs):
            return candidate
    return model


def _shorten(model: Model, digits: int) -> Iterator[Layer]:
    # Positions have one digit more than weights: they are read off an axis.
    ranges = [column.high - column.low for column in model.schema.columns]
    for layer in model.layers:
        functions = np.diff(layer.begin)
        size = np.array([ranges[s] if s < len(model.schema) else 1.0 for s in layer.source])
        crisp = get_processing(layer.processing).crisp
        w = layer.w if crisp else round_to_digits(layer.w, digits)
        b = layer.b if crisp else round_to_step(layer.b, _reach(layer, size), digits + 1)
        alpha = None if layer.alpha is None else round_to_digits(layer.alpha, digits)
        centre = None if layer.centre is None else round_to_digits(layer.centre, digits + 1)
        levels = [np.round(values, digits) for values in layer.levels]
        missing = np.round(layer.missing, digits)
        yield layer.replace(
            w=w,
            b=b,
            alpha=alpha,
            centre=centre,
            missing=missing,
            levels=levels,
            parameters=round_to_digits(layer.parameters, digits),
        )
        ranges += functions.tolist()


def _reach(layer: Layer, size: Floats) -> Floats:
    """Return how wide each function's change is: its position needs digits in proportion."""
    with np.errstate(divide="ignore"):
        width = np.where(layer.rank[:, None], np.inf, 4.0 / np.abs(layer.w))
    return np.minimum(size[:, None], width)


@dataclass(frozen=True)
class _Observation:
    """What training rows see of a model."""

    chosen: NDArray[Any]  # class numbers, or regression targets in units of their spread
    loss: float
    tied: bool = False

    def allows(self, after: _Observation) -> bool:
        """Return whether nobody notices the change."""
        if self.chosen.dtype == np.float64:
            same = bool(np.all(np.abs(self.chosen - after.chosen) <= 1e-3))
        else:
            same = np.array_equal(self.chosen, after.chosen) and after.tied <= self.tied
        return same and after.loss <= self.loss * (1.0 + 1e-4) + 1e-6


@dataclass(frozen=True)
class _View:
    """Training rows, and what their scores should be."""

    data: TrainingSet
    problem: Problem
    n_threads: int

    def observe(self, model: Model) -> _Observation:
        """Return what the rows see of a model."""
        scores = model.score_rows(self.data.X, n_threads=self.n_threads)
        output, problem = model.output, self.problem
        loss = problem.measure(problem.scale.apply(scores))
        if not isinstance(output, Classes):
            # Each target by its own spread: none may drown in the units of another.
            return _Observation(scores / problem.scale.scale, loss)
        best = scores == scores.max(axis=1, keepdims=True)
        tied = best.sum(axis=1) > 1
        if scores.shape[1] == 1:
            tied = np.isin(scores, output.thresholds)
        return _Observation(output.choose(scores), loss, bool(tied.any()))
