"""Whole points for ordered classes: one sum, and a limit between each two of them.

Points are rounded for several units, and changed one by one as long as they come closer to what
the network predicts. Unit and limits are refitted for every change: totals are few.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.bands import find_bands
from newron.objectives import Ordinal, fit_limits
from newron.rules.body import Points
from newron.rules.building import build_model
from newron.rules.circuit import Term
from newron.rules.coverage import Coverage
from newron.rules.node import CellRows
from newron.rules.scorecard import Cost, ScoreCard

_UNITS = np.geomspace(0.7, 2.0, 6)  # relative to where the largest weight gets all points
_STRETCHES = (0.5, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 2.0)  # of a unit that are tried
_MIN_GAIN = 1e-7  # an improvement of the loss
_ROUNDS = 200


def round_ordered(
    card: ScoreCard, max_points: int, training: Coverage, held_out: Coverage | None
) -> ScoreCard:
    """Return the card of ordered classes with whole points of at most a size."""
    alpha = np.array([float(term.weights[0]) for term in card.points.terms])
    rows = _Rows.gather(card, training)
    if rows.weight.sum() == 0 or not len(alpha):
        raise InputError("expected rows and conditions to round points on, got none")
    soft = replace(rows, weight=rows.weight.sum(axis=1, keepdims=True) * rows.predict(card))
    found = min(
        (_descend(soft, alpha, ratio, max_points) for ratio in _UNITS), key=lambda one: one.loss
    )
    rounded = _make_card(card, found)
    measured = training if held_out is None else held_out
    where = "training rows" if held_out is None else "validation rows"
    before, after = (_measure(one, measured) for one in (card, rounded))
    return replace(rounded, before=before, after=after, where=where)


# ---- rows ----


@dataclass(frozen=True)
class _Rows:
    """Which conditions hold in each kind of row, and how many rows of each class there are."""

    holds: Floats  # (kinds, conditions)
    weight: Floats  # (kinds, classes)

    @classmethod
    def gather(cls, card: ScoreCard, coverage: Coverage) -> _Rows:
        """Count the rows of a card."""
        rows = CellRows(card.axes, coverage.locate_rows(card.axes))
        parts = [rows.holds(term.node) for term in card.points.terms]
        holds = np.stack(parts, axis=1) if parts else np.zeros((len(rows), 0), bool)
        return cls(holds.astype(np.float64), coverage.counts.astype(np.float64))

    def predict(self, card: ScoreCard) -> Floats:
        """Return what a card predicts for each kind of row."""
        alpha = np.array([float(term.weights[0]) for term in card.points.terms])
        start = float(card.points.constants[0]) + card.output.bands[0]
        return card.output.predict_proba((self.holds @ alpha + start)[:, None])


def _measure(card: ScoreCard, coverage: Coverage) -> Cost:
    rows = _Rows.gather(card, coverage)
    probability = rows.predict(card)
    alpha = np.array([float(term.weights[0]) for term in card.points.terms])
    totals = rows.holds @ alpha
    reached = [totals >= float(-constant) - 1e-9 for constant in card.points.constants]
    chosen = np.sum(reached, axis=0)
    n = float(rows.weight.sum())
    right = float(rows.weight[np.arange(len(chosen)), chosen].sum())
    with np.errstate(divide="ignore"):
        lost = -(rows.weight * np.log(np.maximum(probability, 1e-300))).sum()
    return Cost(int(n), right / n, float(lost) / n)


# ---- whole points ----


@dataclass(frozen=True)
class _Found:
    """Whole points, what one weighs, the limits in log-odds, and the mean loss."""

    points: NDArray[np.int64]
    unit: float
    limits: tuple[float, ...]
    loss: float


def _fit(rows: _Rows, points: NDArray[np.int64], unit: float, start: tuple[float, ...]) -> _Found:
    """Fit the limits to totals of points."""
    n_classes = rows.weight.shape[1]
    totals, place = np.unique(rows.holds @ points, return_inverse=True)
    weight = np.zeros((len(totals), n_classes))
    np.add.at(weight, place, rows.weight)
    targets = np.tile(np.arange(float(n_classes)), len(totals))[:, None]
    scores = unit * np.repeat(totals, n_classes)[:, None]
    flat = weight.reshape(-1)
    limits = fit_limits(targets, scores, flat, start)
    lost = float(flat @ Ordinal(1, limits).loss(targets, scores)) / float(flat.sum())
    return _Found(points, unit, limits, lost)


def _stretch(rows: _Rows, found: _Found) -> _Found:
    """Try other units for the same points."""
    units = [found.unit * stretch for stretch in _STRETCHES]
    tried = [_fit(rows, found.points, unit, found.limits) for unit in units]
    return min([found, *tried], key=lambda one: one.loss)


def _descend(rows: _Rows, alpha: Floats, ratio: float, limit: int) -> _Found:
    """Round for one unit, and change points by one as long as the loss falls."""
    unit = float(np.abs(alpha).max()) / limit / ratio
    points = np.clip(np.round(alpha / unit), -limit, limit).astype(np.int64)
    if not points.any():
        points[np.abs(alpha).argmax()] = 1
    start = tuple(np.linspace(-1.0, 1.0, rows.weight.shape[1] - 1).tolist())
    found = _stretch(rows, _fit(rows, points, unit, start))
    for _ in range(_ROUNDS):
        better = min(_list_changes(rows, found, limit), key=lambda one: one.loss, default=found)
        if better.loss >= found.loss - _MIN_GAIN:
            break
        found = _stretch(rows, better)
    return found


def _list_changes(rows: _Rows, found: _Found, limit: int) -> list[_Found]:
    out = []
    for j in range(len(found.points)):
        for change in (-1, 1):
            points = found.points.copy()
            points[j] += change
            if abs(points[j]) <= limit and points.any():
                out.append(_fit(rows, points, found.unit, found.limits))
    return out


def _make_card(card: ScoreCard, found: _Found) -> ScoreCard:
    """Make the network of whole points; its limits are in points, its bands in whole ones."""
    unit = float(f"{found.unit:.3g}")
    limits = [float(f"{limit / unit:.2f}") for limit in found.limits]
    for k in range(1, len(limits)):  # two that are one would be no limits
        limits[k] = max(limits[k], round(limits[k - 1] + 0.01, 2))
    bands = [math.ceil(band - 1e-9) for band in find_bands(limits, unit)]
    terms = [
        Term(term.node, (Fraction(int(p)),))
        for term, p in zip(card.points.terms, found.points, strict=True)
        if p
    ]
    points = Points(tuple(terms), tuple(Fraction(-band) for band in bands))
    output = replace(
        card.output, unit=unit, limits=tuple(limits), bands=tuple(float(band) for band in bands)
    )
    model = build_model(card.model.schema, card.axes, points, output)
    return ScoreCard(model, card.axes, points)
