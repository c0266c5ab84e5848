"""Curves as steps: networks of Heaviside functions.

The best segmentation of a curve into so many pieces is found by dynamic programming; there
are as few pieces as the curve's uncertainty allows. Categories are segmented in the order
of their values. A surface of two columns becomes pairs of conditions that must both hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.engine.additive import Additive
from newron.engine.assembly import far_ends
from newron.engine.binning import Bins, LevelBins, NumberBins
from newron.engine.design import coarsen
from newron.engine.functions import find_threshold
from newron.engine.shapes import SURFACE_LEVELS, Surface, list_surfaces
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Output
from newron.model.schema import Column, Schema

_MAX_STEPS = 16  # of one curve
_NOTHING = 0.02  # nats, below which a curve is left out
_FLOOR = 0.03
_BOTH = 1.5  # of two conditions, which are 0 or 1
_MAX_CORNERS = 32  # of one surface
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


@dataclass(frozen=True, eq=False)
class _Corner:
    """Two conditions that must both hold."""

    weight: float
    sides: tuple[_Step, _Step]


@dataclass(frozen=True, eq=False)
class CrispScore:
    """One output's score: steps, corners and the constant below them."""

    steps: list[_Step]
    corners: list[_Corner]
    constant: float

    def scale(self, target: int, shift: float, scale: float) -> CrispScore:
        """Return the score of a target in its units."""
        return CrispScore(
            [replace(step, target=target, weight=step.weight * scale) for step in self.steps],
            [replace(corner, weight=corner.weight * scale) for corner in self.corners],
            self.constant * scale + shift,
        )


def cut_score(model: Additive, tolerance: float, output: int, pairs: bool) -> CrispScore:
    """Return the steps of one output's score, and the corners where pairs are wanted."""
    sums, total = model.sum_curvature(output)
    constant = float(model.at.values[0, output])
    curves = [model.curve(c, output) for c in range(len(model.table.columns))]
    corners: list[_Corner] = []
    for surface in list_surfaces(model, output, total) if pairs else ():
        limit = max(_COARSER * tolerance * surface.effective, _NOTHING)
        found = _cut_surface(model, surface, 2.0 * limit / max(total, 1e-300), curves)
        constant -= sum(mean for _, mean in found)
        corners += [corner for corner, _ in found]
    steps: list[_Step] = []
    for c, bins in enumerate(model.table.columns):
        curve = curves[c]
        mass = sums[c, : len(curve)] + _FLOOR * bins.mass
        mean = float(mass @ curve / max(float(mass.sum()), 1e-300))
        if 0.5 * float(mass @ (curve - mean) ** 2) < _NOTHING:
            constant += mean
            continue
        used = model.effective(c, output) + sum(
            model.at.groups[g].kind == "step" for g in model.at.by_column.get(c, [])
        )
        limit = max(_COARSER * tolerance * max(used, 0.1), _NOTHING)
        if isinstance(bins, NumberBins):
            base, found_steps = _cut_numbers(bins, curve, mass[:-1], limit, output)
        else:
            assert isinstance(bins, LevelBins)  # noqa: S101 - there are two kinds
            base, found_steps = _cut_levels(bins, curve, mass[:-1], limit, output)
        constant += base
        steps += found_steps
    return CrispScore(steps, corners, constant)


# ---- surfaces ----


@dataclass(frozen=True, eq=False)
class _Side:
    """The conditions on one column of a surface: which levels and bins each holds for."""

    bins: Bins
    holds: NDArray[np.bool_]  # (conditions, levels)
    by_bin: NDArray[np.bool_]  # (conditions, bins), missing values last
    mass: Floats  # of levels, which sums to 1
    order: NDArray[np.intp]  # of levels; those of numbers are in order

    @classmethod
    def make(cls, bins: Bins, direction: Floats) -> _Side:
        """Cut numbers by size, and categories in the order of a direction."""
        level = coarsen(bins, SURFACE_LEVELS)[: len(bins.mass)].astype(np.intp)
        mass = np.bincount(level, bins.mass, minlength=SURFACE_LEVELS)
        there = np.unique(level[:-1])
        if isinstance(bins, LevelBins):
            there = there[np.argsort(direction[there], kind="stable")]
        place = np.full(SURFACE_LEVELS, -1)
        place[there] = np.arange(len(there))
        holds = place[None, :] >= np.arange(1, len(there))[:, None]
        by_bin = holds[:, level]
        by_bin[:, -1] = False  # missing values are on neither side
        return cls(bins, holds, by_bin, mass / max(float(mass.sum()), 1e-300), there)

    def centre(self) -> Floats:
        """Return every condition by level, of mean 0."""
        return np.asarray(self.holds - (self.holds @ self.mass)[:, None])

    def write(self, k: int, output: int) -> _Step:
        """Return a condition in the column's units."""
        bins = self.bins
        if isinstance(bins, NumberBins):
            cut = int(np.argmax(self.by_bin[k]))
            return _Step(output, bins.source, 1.0, find_threshold(bins, cut)[0])
        assert isinstance(bins, LevelBins)  # noqa: S101 - there are two kinds
        by_level = self.by_bin[k][bins.find_codes()]
        return _Step(output, bins.source, 1.0, None, False, by_level[:-1])


def _cut_surface(
    model: Additive, surface: Surface, limit: float, curves: list[Floats]
) -> list[tuple[_Corner, float]]:
    """Return corners whose sum comes near a surface, each with its mean.

    What a corner adds for one column alone leaves that column's curve.
    """
    columns = [model.table.columns[c] for c in surface.pair]
    left, _, right = np.linalg.svd(surface.values)
    sides = [_Side.make(columns[0], left[:, 0]), _Side.make(columns[1], right[0])]
    if not all(len(side.holds) for side in sides):
        return []
    found: list[tuple[_Corner, float]] = []
    centred = [side.centre() for side in sides]
    norms = [(part**2) @ side.mass for part, side in zip(centred, sides, strict=True)]
    norm = np.maximum(np.outer(*norms), 1e-12)
    values, weighed = surface.values, [c * s.mass for c, s in zip(centred, sides, strict=True)]
    for _ in range(_MAX_CORNERS):
        if sides[0].mass @ values**2 @ sides[1].mass < limit:
            break
        along = weighed[0] @ values @ weighed[1].T
        a, b = np.unravel_index(int(np.argmax(along**2 / norm)), along.shape)
        weight = float(along[a, b] / norm[a, b])
        values = values - weight * np.outer(centred[0][a], centred[1][b])
        parts = [float(side.holds[k] @ side.mass) for side, k in zip(sides, (a, b), strict=True)]
        for c, side, k, other in zip(surface.pair, sides, (a, b), parts[::-1], strict=True):
            mean = float(side.holds[k] @ side.mass)
            curves[c] = curves[c] - weight * other * (side.by_bin[k] - mean)
        steps = sides[0].write(int(a), 0), sides[1].write(int(b), 0)
        found.append((_Corner(weight, steps), weight * parts[0] * parts[1]))
    return found


# ---- curves ----


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


def assemble_steps(parts: Sequence[CrispScore], schema: Schema, output: Output) -> Model:
    """Return the model of each output's steps and corners."""
    corners = [(k, corner) for k, part in enumerate(parts) for corner in part.corners]
    hidden = [replace(side, target=j) for j, (_, c) in enumerate(corners) for side in c.sides]
    signals = [
        _Step(k, len(schema) + j, corner.weight, _BOTH) for j, (k, corner) in enumerate(corners)
    ]
    steps = sorted(
        [*(step for part in parts for step in part.steps), *signals], key=lambda step: step.target
    )
    last = _make_layer(steps, len(parts), schema).replace(
        alpha=np.array([step.weight for step in steps]),
        centre=np.array([-part.constant for part in parts]),
    )
    layers = [_make_layer(hidden, len(corners), schema), last] if corners else [last]
    return Model(schema, layers, output)


def _make_layer(steps: Sequence[_Step], n_neurons: int, schema: Schema) -> Layer:
    n = len(steps)
    levels = [
        np.zeros(0) if step.levels is None else step.levels.astype(np.float64) for step in steps
    ]
    return Layer(
        "heaviside",
        "sum",
        "identity",
        n_neurons,
        target=np.array([step.target for step in steps], np.int32),
        source=np.array([step.source for step in steps], np.int32),
        w=np.array([0.0 if step.levels is not None else 1.0 for step in steps]).reshape(n, 1),
        b=np.array(list(_list_thresholds(steps, schema.columns))).reshape(n, 1),
        missing=np.array([float(step.missing) for step in steps]),
        levels=levels,
    )


def _list_thresholds(steps: Sequence[_Step], columns: Sequence[Column]) -> Iterator[float]:
    for step in steps:
        if step.threshold is not None:
            yield step.threshold
        else:
            yield 0.0 if step.levels is not None else far_ends(columns[step.source])[1]
