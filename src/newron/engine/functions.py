"""Functions of single columns, in the columns' units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from newron.engine.binning import Bins, LevelBins, NumberBins
from newron.engine.network import Function
from newron.engine.scales import Scale
from newron.model.arithmetic import Floats
from newron.model.decimals import shortest_between

_STEEP = 22.0  # w times the distance to the next value: there tanh is ±1 in float64
_LARGEST = 1e300


def write_curve(bins: Bins, scales: Sequence[Scale], row: Floats) -> Function:
    """Return a function from its row of the core: kind, scale, w, b, w, b, weight."""
    is_bump, at, *factors, weight = row.tolist()
    scale = scales[int(at)]
    pairs = [factors[:2], factors[2:]] if is_bump else [factors[:2]]
    product = np.prod([np.tanh(w * (scale.bins - b)) for w, b in pairs], axis=0)
    return Function(
        bins.source,
        tuple(scale.steepness(w) for w, _ in pairs),
        tuple(scale.position(b) for _, b in pairs),
        rank=scale.rank is not None,
        missing=float(np.clip(bins.fraction @ (0.5 * (product + 1.0)), 0.0, 1.0)),
        weight=weight,
    )


def find_threshold(bins: NumberBins, cut: int) -> tuple[float, float]:
    """Return a short decimal between two bins, and the distance to the nearer value."""
    below, above = float(bins.highs[cut - 1]), float(bins.lows[cut])
    found = shortest_between(below, above)
    threshold = above if found is None else found
    return threshold, min(threshold - below, above - threshold)


def make_step(bins: NumberBins, cut: int, height: float) -> Function:
    """Return the function that is 0 below a cut and 1 from it on."""
    threshold, distance = find_threshold(bins, cut)
    w = make_steep(1.0, distance)
    above = float(bins.fraction[cut:].sum())
    missing = float(above > 0.5) if bins.missing_mass == 0.0 else 0.0
    return Function(bins.source, (w,), (threshold,), missing=missing, weight=height, is_step=True)


def make_steep(sign: float, distance: float) -> float:
    """Return w of a function that is a step for values at least so far from its threshold."""
    return float(np.copysign(min(_STEEP / max(distance, 1e-300), _LARGEST), sign))


def place_missing(bins: Bins, functions: list[Function], value: float | None) -> list[Function]:
    """Let functions add up to a value where the column's value is missing.

    Functions are between 0 and 1: where they cannot, one more function is there for missing
    values alone. ``None`` leaves functions at their means.
    """
    if value is None:
        return functions
    weights = [function.weight for function in functions]
    low, high = sum(min(w, 0.0) for w in weights), sum(max(w, 0.0) for w in weights)
    if low < high and low <= value <= high:
        part = (value - low) / (high - low)
        return [replace(f, missing=part if f.weight > 0.0 else 1.0 - part) for f in functions]
    silent = [replace(f, missing=0.0) for f in functions]
    return [*silent, Function(bins.source, missing=1.0, weight=value)] if value else silent


def make_levels(parts: Sequence[tuple[LevelBins, Floats]]) -> tuple[Function, float]:
    """Return the function of a category, and the constant below it.

    A column of many categories has several columns of codes: a level's value is the sum over
    them.
    """
    first = parts[0][0]
    values = np.zeros(len(first.bin_of_level) + 1)  # missing values last
    for bins, curve in parts:
        values += curve[bins.find_codes()]
    if not any(bins.missing_mass > 0.0 for bins, _ in parts):
        values[-1] = _average(parts, values)
    low, high = float(values.min()), float(values.max())
    spread = high - low or 1.0
    heights = np.clip((values - low) / spread, 0.0, 1.0)
    levels = heights[:-1]
    function = Function(first.source, levels=levels, missing=float(heights[-1]), weight=spread)
    return function, low


def _average(parts: Sequence[tuple[LevelBins, Floats]], values: Floats) -> float:
    bins, _ = parts[0]
    mass = np.append(bins.mass[:-1], 0.0)[bins.bin_of_level]
    return float(mass @ values[:-1] / max(float(mass.sum()), 1e-300))
