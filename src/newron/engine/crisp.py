"""Curves as steps: networks of Heaviside functions.

The best segmentation of a curve into so many pieces is found by dynamic programming; there
are as few pieces as the curve's uncertainty allows. Categories are segmented in the order
of their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.engine.additive import Additive
from newron.engine.assembly import far_ends
from newron.engine.binning import LevelBins, NumberBins
from newron.engine.functions import find_threshold
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Output
from newron.model.schema import Column, Schema

__all__ = ["assemble_steps", "cut_curves"]

_MAX_STEPS = 12  # of one curve
_NOTHING = 0.02  # nats, below which a curve is left out
_FLOOR = 0.03
_COARSER = 3.0  # than smooth functions: a step more is dearer than a function


@dataclass(frozen=True, eq=False)
class _Step:
    """One step: x at least a threshold, or a category of a set."""

    target: int
    source: int
    weight: float
    threshold: float | None = None  # None: for missing values alone, or a set of categories
    missing: bool = False
    levels: NDArray[np.bool_] | None = None


def cut_curves(model: Additive, tolerance: float, output: int) -> tuple[list[_Step], float]:
    """Return the steps of one output's score, and the constant below them."""
    sums, _ = model.sum_curvature(output)
    constant = float(model.at.values[0, output])
    steps: list[_Step] = []
    for c, bins in enumerate(model.table.columns):
        curve = model.curve(c, output)
        mass = sums[c, : len(curve)] + _FLOOR * bins.mass
        mean = float(mass @ curve / max(float(mass.sum()), 1e-300))
        if 0.5 * float(mass @ (curve - mean) ** 2) < _NOTHING:
            constant += mean
            continue
        used = model.effective(c, output) + sum(
            model.at.groups[g].kind == "step" for g in model.at.by_column[c]
        )
        limit = max(_COARSER * tolerance * max(used, 0.1), _NOTHING)
        if isinstance(bins, NumberBins):
            base, found = _cut_numbers(bins, curve, mass[:-1], limit, output)
        else:
            assert isinstance(bins, LevelBins)  # noqa: S101 - there are two kinds
            base, found = _cut_levels(bins, curve, mass[:-1], limit, output)
        constant += base
        steps += found
    return steps, constant


def _cut_numbers(
    bins: NumberBins, curve: Floats, mass: Floats, limit: float, output: int
) -> tuple[float, list[_Step]]:
    cuts, heights = segment(curve[:-1], mass, limit)
    weights = np.diff(heights)
    flags = _flag_missing(weights, _missing_value(curve, bins.missing_mass, mass) - heights[0])
    steps = [
        _Step(output, bins.source, float(weight), find_threshold(bins, cut)[0], bool(flag))
        for cut, weight, flag in zip(cuts, weights, flags, strict=True)
    ]
    if bins.missing_mass > 0.0:
        rest = float(curve[-1] - heights[0] - weights @ flags)
        if 0.5 * float(bins.missing_mass) * 0.25 * rest**2 > limit:
            steps.append(_Step(output, bins.source, rest, None, True))
    return float(heights[0]), steps


def _missing_value(curve: Floats, missing_mass: float, mass: Floats) -> float:
    """Return what a missing value adds: what it did in training, or the mean."""
    if missing_mass > 0.0:
        return float(curve[-1])
    return float(mass @ curve[:-1] / max(float(mass.sum()), 1e-300))


def _flag_missing(weights: Floats, value: float) -> NDArray[np.bool_]:
    """Return which steps hold for a missing value, so that they add up nearly to a value."""
    flags = np.zeros(len(weights), bool)
    for i in np.argsort(-np.abs(weights), kind="stable"):
        if abs(value - weights[i]) < abs(value):
            flags[i] = True
            value -= float(weights[i])
    return flags


def _cut_levels(
    bins: LevelBins, curve: Floats, mass: Floats, limit: float, output: int
) -> tuple[float, list[_Step]]:
    """Cut categories, and the missing value with them, in the order of their values."""
    values = curve.copy()
    values[-1] = _missing_value(curve, bins.missing_mass, mass)
    order = np.argsort(values, kind="stable")
    weight = np.append(mass, bins.missing_mass * 0.25 + 1e-9)[order]
    cuts, heights = segment(values[order], weight, limit)
    codes = bins.find_codes()
    steps = []
    for cut, weight_of_step in zip(cuts, np.diff(heights).tolist(), strict=True):
        above = np.zeros(len(values), bool)
        above[order[cut:]] = True
        by_level = above[codes]
        step = _Step(output, bins.source, weight_of_step, None, bool(by_level[-1]), by_level[:-1])
        steps.append(step)
    return float(heights[0]), steps


def segment(
    curve: Floats, mass: Floats, limit: float, n_max: int = _MAX_STEPS
) -> tuple[list[int], Floats]:
    """Return where to cut a curve, and the height of each piece.

    There are as few pieces as bring half the weighed squared error to the limit.

    Examples
    --------
    >>> segment(np.array([0.0, 0.1, 5.0, 5.1]), np.ones(4), 0.5)
    ([2], array([0.05, 5.05]))
    """
    n = len(curve)
    sums = [np.concatenate([[0.0], np.cumsum(part)]) for part in (mass, mass * curve)]
    square = np.concatenate([[0.0], np.cumsum(mass * curve**2)])
    inside = [part[None, :] - part[:, None] for part in (*sums, square)]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = 0.5 * (inside[2] - inside[1] ** 2 / inside[0])
    cost = np.where(np.triu(np.ones((n + 1, n + 1), bool), 1), np.maximum(cost, 0.0), np.inf)
    cost = np.where(np.isnan(cost), 0.0, cost)
    best = cost[0].copy()
    back: list[NDArray[np.intp]] = []
    while best[n] > limit and len(back) < min(n_max, n - 1):
        total = best[:, None] + cost
        first = total.argmin(axis=0)
        back.append(first)
        best = total[first, np.arange(n + 1)]
    cuts, at = [], n
    for first in reversed(back):
        at = int(first[at])
        cuts.append(at)
    cuts = sorted({cut for cut in cuts if 0 < cut < n})
    edges = [0, *cuts, n]
    total_mass, total_value = np.diff(sums[0][edges]), np.diff(sums[1][edges])
    return cuts, np.asarray(total_value / np.maximum(total_mass, 1e-300))


def assemble_steps(
    parts: Sequence[tuple[list[_Step], float]], schema: Schema, output: Output
) -> Model:
    """Return the model of each output's steps."""
    steps = [step for found, _ in parts for step in found]
    n = len(steps)
    levels = [
        np.zeros(0) if step.levels is None else step.levels.astype(np.float64) for step in steps
    ]
    layer = Layer(
        "heaviside",
        "sum",
        "identity",
        len(parts),
        target=np.array([step.target for step in steps], np.int32),
        source=np.array([step.source for step in steps], np.int32),
        w=np.array([0.0 if step.levels is not None else 1.0 for step in steps]).reshape(n, 1),
        b=np.array(list(_list_thresholds(steps, schema.columns))).reshape(n, 1),
        alpha=np.array([step.weight for step in steps]),
        centre=np.array([-constant for _, constant in parts]),
        missing=np.array([float(step.missing) for step in steps]),
        levels=levels,
    )
    return Model(schema, [layer], output)


def _list_thresholds(steps: Sequence[_Step], columns: Sequence[Column]) -> Iterator[float]:
    for step in steps:
        if step.threshold is not None:
            yield step.threshold
        else:
            yield 0.0 if step.levels is not None else far_ends(columns[step.source])[1]
