"""Reads what each function of a network does over the observed range.

A column is looked at over its observed range, or at its values where it has few; a neuron
over the range that it can reach. Least and greatest values are exact. The kind is what
is left when turns of less than a tenth of the whole variation are smoothed out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from newron.model.aggregation import (
    activate_limits,
    combine_limits,
)
from newron.model.description import name_neurons
from newron.model.model import Model
from newron.model.network import Layer
from newron.shapes.curve import Curve, SampledCurve, Source, SumCurve
from newron.shapes.shape import Kind, Neuron, Shape, Shapes

_STEEP = 0.01  # of the range: what goes from 10 % to 90 % within it is a step
_NEGLIGIBLE = 0.02  # of the largest variation in the neuron, or of 0 to 1
_NOISE = 1e-9
_LARGEST = 1e100


def read_shapes(model: Model) -> Shapes:
    """Describe what every function of a model does over the observed range."""
    shapes: list[Shape] = []
    neurons: list[Neuron] = []
    sources = [Source(c.name, c.low, c.high, c) for c in model.schema.columns]
    for number, layer in enumerate(model.layers, 1):
        curves = [Curve(model.schema, layer, e, sources[s]) for e, s in enumerate(layer.source)]
        found = _read_layer(layer, number, curves)
        own = _list_neurons(model, number)
        for neuron in own:
            mine = [shape for shape in found if shape.neuron == neuron.number]
            sources.append(Source(neuron.name, *_find_reach(neuron, mine)))
        shapes += found
        neurons += own
    return Shapes(shapes, neurons)


# ---- neurons ----


def _list_neurons(model: Model, number: int) -> list[Neuron]:
    layer, names = model.layers[number - 1], name_neurons(model, number)
    centre = [0.0] * len(names) if layer.centre is None else layer.centre.tolist()
    return [
        Neuron(number, j, name, layer.aggregation, layer.activation, c)
        for j, (name, c) in enumerate(zip(names, centre, strict=True), 1)
    ]


def _find_reach(neuron: Neuron, shapes: Sequence[Shape]) -> tuple[float, float]:
    """Return the range of a neuron, from those of its functions."""
    ends = np.array([(s.least, s.greatest) for s in shapes]).reshape(-1, 2)
    ends *= np.array([1.0 if s.weight is None else s.weight for s in shapes]).reshape(-1, 1)
    reach = np.array(combine_limits(neuron.aggregation, ends.min(axis=1), ends.max(axis=1)))
    if neuron.aggregation == "product" and not np.all(np.abs(reach) <= _LARGEST):
        reach = np.array([-_LARGEST, _LARGEST])  # where a network stops multiplying
    low, high = activate_limits(neuron.activation, *(reach - neuron.centre)[:, None])
    return float(low[0]), float(high[0])


# ---- sums ----


def read_sum(curve: SumCurve, layer: int, neuron: int, function: int, largest: float) -> Shape:
    """Describe what all functions of a column add to a neuron; values are what is added.

    ``function`` is the first of them, ``largest`` what the strongest function of the neuron adds.
    """
    common = _read_common(curve, (layer, neuron, function), _NEGLIGIBLE * largest)
    if curve.variation <= _NOISE * largest:
        return Shape(kind="constant", **common)
    if curve.turns:
        return _read_turns(curve, common)
    kind: Kind = "rising" if curve.y[-1] > curve.y[0] else "falling"
    if curve.is_straight:
        return Shape(kind="linear", **common)
    return Shape(kind=kind, **common, **_find_middle(curve))


def _read_common(
    curve: SampledCurve, position: tuple[int, int, int], least: float
) -> dict[str, Any]:
    """Return what shapes of all kinds have; they matter from the least variation on."""
    low, high = curve.limits
    column = curve.source.column
    common: dict[str, Any] = {
        "source": curve.source.name,
        "low": float(curve.x[0]),
        "high": float(curve.x[-1]),
        "start": float(curve.y[0]),
        "end": float(curve.y[-1]),
        "least": low,
        "greatest": high,
        "missing": curve.missing,
        "matters": high - low >= least,
        "unit": None if column is None else column.unit,
    }
    if not curve.is_even:
        common["points"] = tuple(zip(curve.x.tolist(), curve.y.tolist(), strict=True))
    return common | dict(zip(("layer", "neuron", "function"), position, strict=True))


def _find_middle(curve: SumCurve) -> dict[str, Any]:
    """Return where a monotone curve is half-way, and where 10 % and 90 % are."""
    start, end, last = float(curve.y[0]), float(curve.y[-1]), len(curve.x) - 1
    low, half, high = (
        curve.find_place(start + part * (end - start), 0, last) for part in (0.1, 0.5, 0.9)
    )
    return {"threshold": half, "between": (low, high)}


# ---- functions ----


def _read_layer(layer: Layer, number: int, curves: Sequence[Curve]) -> list[Shape]:
    weights = np.ones(len(curves)) if layer.alpha is None else np.abs(layer.alpha)
    sizes = weights * np.array([curve.limits[1] - curve.limits[0] for curve in curves])
    shapes = []
    for e, curve in enumerate(curves):
        largest = float(sizes[layer.target == layer.target[e]].max())
        shapes.append(
            _read_function(curve, number, _find_min_variation(curve, float(weights[e]), largest))
        )
    return shapes


def _find_min_variation(curve: Curve, weight: float, largest: float) -> float:
    """Return the least variation of h that matters, beside the largest part of the neuron."""
    if curve.layer.alpha is None and curve.processing.bounded:
        return _NEGLIGIBLE
    return max(_NOISE, _NEGLIGIBLE * largest / weight) if weight else math.inf


def _read_function(curve: Curve, number: int, least: float) -> Shape:
    layer, e, column = curve.layer, curve.e, curve.source.column
    common = _read_common(curve, (number, int(layer.target[e]) + 1, e), least)
    common["weight"] = None if layer.alpha is None else float(layer.alpha[e])
    if column is not None and column.categories:
        levels = tuple(zip(column.categories, curve.y.tolist(), strict=True))
        del common["points"]  # levels have labels, not positions
        return Shape(kind="levels", levels=levels, **common)
    if _is_flat(curve, least):
        return Shape(kind="constant", **common)
    return _read_curve(curve, common)


def _is_flat(curve: Curve, least: float) -> bool:
    """Return whether the function varies too little to matter, and to be seen."""
    seen = curve.processing.bounded and curve.variation >= _NEGLIGIBLE
    return curve.variation < least and not seen


def _read_curve(curve: Curve, common: dict[str, Any]) -> Shape:
    return _read_turns(curve, common) if curve.turns else _read_slope(curve, common)


def _read_turns(curve: SampledCurve, common: dict[str, Any]) -> Shape:
    turns = tuple((curve.find_top(t), float(curve.y[t])) for t in curve.turns)
    if len(turns) > 1:
        return Shape(kind="wave", turns=turns, **common)
    return _read_bell(curve, turns, common)


def _read_bell(
    curve: SampledCurve, turns: tuple[tuple[float, float], ...], common: dict[str, Any]
) -> Shape:
    top, (_, height), last = curve.turns[0], turns[0], len(curve.x) - 1
    left = curve.find_place(0.5 * (height + float(curve.y[0])), 0, top)
    right = curve.find_place(0.5 * (height + float(curve.y[-1])), top, last)
    kind: Kind = "bell" if height > curve.y[0] else "inverse bell"
    return Shape(kind=kind, turns=turns, between=(left, right), **common)


def _read_slope(curve: Curve, common: dict[str, Any]) -> Shape:
    """Read a function that only rises, or only falls."""
    up = curve.y[-1] > curve.y[0]
    threshold, between = _find_threshold(curve)
    kind: Kind = "rising" if up else "falling"
    if curve.processing.crisp or _is_steep(curve, between):
        kind = "step up" if up else "step down"
    elif curve.is_straight:
        kind = "linear"
    elif curve.layer.processing in ("relu", "selu") and curve.x[0] < threshold < curve.x[-1]:
        kind = "hinge"
    return Shape(kind=kind, threshold=threshold, between=between, **common)


def _is_steep(curve: Curve, between: tuple[float, float] | None) -> bool:
    if between is None or not curve.is_even:
        return False
    inside = curve.x[0] <= between[0] and between[1] <= curve.x[-1]
    return bool(inside and between[1] - between[0] <= _STEEP * (curve.x[-1] - curve.x[0]))


def _find_threshold(curve: Curve) -> tuple[float, tuple[float, float] | None]:
    """Return the threshold of a monotone function, and where 10 % and 90 % are."""
    layer, e = curve.layer, curve.e
    if layer.processing in ("heaviside", "linear", "relu", "selu"):
        return float(layer.b[e, 0]), None
    if layer.processing in ("sigmoid", "tanh_prod") and layer.n_factors == 1:
        return _solve_sigmoid(curve)
    start, end, last = float(curve.y[0]), float(curve.y[-1]), len(curve.x) - 1
    half = 0.5 * (start + end)
    if abs(half - 0.5) < 0.25 * abs(end - start):
        half = 0.5  # where the crisp network has its threshold
    places = [curve.find_place(start + part * (end - start), 0, last) for part in (0.1, 0.9)]
    return curve.find_place(half, 0, last), (places[0], places[1])


def _solve_sigmoid(curve: Curve) -> tuple[float, tuple[float, float]]:
    layer, e, scale = curve.layer, curve.e, curve.scale
    b = float(layer.b[e, 0])
    # tanh-prod of one factor is σ(2 w (x − b)).
    steepness = abs(float(layer.w[e, 0])) * (2.0 if layer.processing == "tanh_prod" else 1.0)
    reach = math.log(9.0) / steepness
    if scale is None:
        return b, (b - reach, b + reach)
    at = float(scale.rank(np.array(b)))
    low, high = scale.value(np.array([at - reach, at + reach])).tolist()
    return b, (low, high)
