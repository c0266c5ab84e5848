"""Whole points for score cards.

Whole points are found in two steps. For several units (what one point weighs in log-odds)
points are rounded, and changed one by one as long as they come closer to the network. Then,
for the best unit, cutting planes and integer programming (scipy.optimize.milp) look for the
closest points of all, and prove it where the time is enough. Closeness is the log loss of
the card where the network's own probabilities are the truth.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.rules.bands import round_ordered
from newron.rules.body import Points
from newron.rules.building import build_model
from newron.rules.circuit import Term
from newron.rules.coverage import Coverage
from newron.rules.node import CellRows
from newron.rules.scorecard import Cost, ScoreCard, read_card

_UNITS = np.geomspace(0.7, 2.0, 8)  # relative to where the largest weight gets all points
_TRIED = 8


def round_card(
    model: Model,
    max_points: int,
    training: Coverage,
    held_out: Coverage | None = None,
    *,
    seconds: float = 10.0,
) -> ScoreCard:
    """Return the card with whole points from -max_points to max_points.

    Points, unit and threshold are those closest to what the network predicts for the training
    rows (in log loss) that were found; what it costs is measured on the validation rows, or
    else on the training rows.
    """
    if max_points < 1:
        raise InputError(f"max_points: expected a whole number from 1 on, got {max_points}")
    card = read_card(model)
    if card.output.is_ordered:
        return round_ordered(card, max_points, training, held_out)
    rows = _gather(card, training)
    if rows.weight.sum() == 0 or not card.points.terms:
        raise InputError("expected rows and conditions to round points on, got none")
    alpha = np.array([float(term.weights[0]) for term in card.points.terms])
    # Towards what the network predicts of the rows, not towards their classes: these it has
    # been fitted to with care for rows that it has not seen, and that must not be undone.
    output = card.output
    z = output.unit * (rows.holds @ alpha + float(card.points.constants[0])) + output.offset
    rows = replace(rows, yes=rows.weight / (1.0 + np.exp(-np.clip(z, -500, 500))))
    found = _search(rows, alpha, max_points)
    found, optimal = _improve(rows, found, max_points, seconds)
    rounded = _make_card(card, found, optimal)
    measured = training if held_out is None else held_out
    where = "training rows" if held_out is None else "validation rows"
    return replace(
        rounded, before=_measure(card, measured), after=_measure(rounded, measured), where=where
    )


# ---- rows ----


@dataclass(frozen=True)
class _Rows:
    """Which conditions hold in each kind of row, and how many rows of each class there are."""

    holds: Floats  # (kinds, conditions)
    yes: Floats
    weight: Floats

    def measure(self, z: Floats) -> float:
        """Return the mean log loss of log odds z."""
        total = np.logaddexp(0.0, z) * self.weight - z * self.yes
        return float(total.sum() / self.weight.sum())


def _gather(card: ScoreCard, coverage: Coverage) -> _Rows:
    rows = CellRows(card.axes, coverage.locate_rows(card.axes))
    parts = [rows.holds(term.node) for term in card.points.terms]
    holds = np.stack(parts, axis=1) if parts else np.zeros((len(rows), 0), bool)
    packed, place = np.unique(np.packbits(holds, axis=1), axis=0, return_inverse=True)
    place = place.reshape(-1)
    counts = np.zeros((len(packed), 2))
    np.add.at(counts, place, coverage.counts)
    first = np.zeros(len(packed), np.intp)
    first[place] = np.arange(len(place))
    return _Rows(holds[first].astype(np.float64), counts[:, 1], counts.sum(axis=1))


def _measure(card: ScoreCard, coverage: Coverage) -> Cost:
    rows = _gather(card, coverage)
    alpha = np.array([float(term.weights[0]) for term in card.points.terms])
    total = rows.holds @ alpha + float(card.points.constants[0])
    z = card.output.unit * total + card.output.offset
    right = np.where(total >= -1e-12, rows.yes, rows.weight - rows.yes).sum()
    n = rows.weight.sum()
    return Cost(int(n), float(right / n), rows.measure(z))


# ---- whole points ----


@dataclass(frozen=True)
class _Found:
    """Whole points, what one weighs, the constant, and the loss."""

    points: NDArray[np.int64]
    unit: float
    constant: float
    loss: float


def _fit_line(rows: _Rows, points: NDArray[np.int64], unit: float, constant: float) -> _Found:
    """Fit unit and constant to the totals: a logistic regression of one variable."""
    totals, place = np.unique(rows.holds @ points, return_inverse=True)
    yes = np.bincount(place, rows.yes).astype(np.float64)
    weight = np.bincount(place, rows.weight).astype(np.float64)
    few = _Rows(np.zeros((len(totals), 0)), yes, weight)
    a, b = unit, constant
    best = few.measure(a * totals + b)
    for _ in range(20):
        p = 1.0 / (1.0 + np.exp(-np.clip(a * totals + b, -500, 500)))
        gradient, curvature = weight * p - yes, weight * p * (1 - p) + 1e-12
        hessian = np.array(
            [
                [(curvature * totals * totals).sum() + 1e-9, (curvature * totals).sum()],
                [(curvature * totals).sum(), curvature.sum() + 1e-9],
            ]
        )
        step = np.linalg.solve(hessian, [(gradient * totals).sum(), gradient.sum()])
        size = 1.0
        while size > 1e-4:
            tried = few.measure((a - size * step[0]) * totals + b - size * step[1])
            if tried < best:
                break
            size /= 2
        else:
            break
        a, b = float(a - size * step[0]), float(b - size * step[1])
        done = best - tried < 1e-10
        best = tried
        if done:
            break
    return _Found(points, a, b, best)


def _search(rows: _Rows, alpha: Floats, limit: int) -> _Found:
    """Round for several units, and change points one by one as long as the loss falls."""
    best: _Found | None = None
    largest = float(np.abs(alpha).max())
    for ratio in _UNITS:
        unit = largest / limit / ratio
        points = np.clip(np.round(alpha / unit), -limit, limit).astype(np.int64)
        if not points.any():
            continue
        found = _descend(rows, _fit_line(rows, points, unit, 0.0), limit)
        if best is None or found.loss < best.loss - 1e-9:
            best = found
    assert best is not None  # noqa: S101 - the largest weight always has a point
    return best


def _descend(rows: _Rows, found: _Found, limit: int) -> _Found:
    """Change points by one as long as the loss falls, the most promising first."""
    while True:
        for j, change in _rank_changes(rows, found)[:_TRIED]:
            points = found.points.copy()
            points[j] += change
            if abs(points[j]) > limit or not points.any():
                continue
            tried = _fit_line(rows, points, found.unit, found.constant)
            if tried.unit > 0.0 and tried.loss < found.loss - 1e-7:
                found = tried
                break
        else:
            return found


def _rank_changes(rows: _Rows, found: _Found) -> list[tuple[int, int]]:
    """Return changes of one point by the gain that gradient and curvature promise."""
    at = np.append(found.points.astype(float), found.constant)
    gradient = _differentiate(rows, at, found.unit)[1][:-1]
    p = 1.0 / (1.0 + np.exp(-np.clip(rows.holds @ found.points * found.unit + at[-1], -500, 500)))
    curvature = (rows.weight * p * (1 - p)) @ rows.holds**2 * found.unit**2 / rows.weight.sum()
    changes = [(j, change) for j in range(len(gradient)) for change in (-1, 1)]
    return sorted(changes, key=lambda c: gradient[c[0]] * c[1] + curvature[c[0]] / 2)


def _improve(rows: _Rows, found: _Found, limit: int, seconds: float) -> tuple[_Found, bool]:
    """Look for the best points of this unit by cutting planes; return whether they are proved."""
    end = time.monotonic() + seconds
    n = len(found.points)
    unit = float(_shorten(found.unit))
    best = _evaluate(rows, found.points, unit, found.constant)
    cuts = _Cuts(n)
    at = np.append(found.points.astype(float), best.constant)
    while time.monotonic() < end:
        cuts.add(*_differentiate(rows, at, unit), at)
        solved = cuts.solve(limit, unit, max(end - time.monotonic(), 0.1))
        if solved is None:
            return best, False
        at, bound = solved
        tried = _evaluate(rows, np.round(at[:n]).astype(np.int64), unit, float(at[n]))
        if tried.loss < best.loss:
            best = tried
        if bound >= best.loss - 1e-6:
            return best, True
        at = np.append(tried.points.astype(float), tried.constant)
    return best, False


def _shorten(number: float) -> Fraction:
    """Return a number of three figures."""
    return Fraction(f"{number:.3g}")


def _evaluate(rows: _Rows, points: NDArray[np.int64], unit: float, constant: float) -> _Found:
    """Fit the constant alone."""
    totals = rows.holds @ points * unit
    b = constant
    for _ in range(30):
        p = 1.0 / (1.0 + np.exp(-np.clip(totals + b, -500, 500)))
        gradient = (rows.weight * p - rows.yes).sum()
        curvature = (rows.weight * p * (1 - p)).sum() + 1e-9
        step = float(np.clip(gradient / curvature, -2.0, 2.0))
        b -= step
        if abs(step) < 1e-9:
            break
    return _Found(points, unit, b, rows.measure(totals + b))


def _differentiate(rows: _Rows, at: Floats, unit: float) -> tuple[float, Floats]:
    """Return loss and gradient by points and constant."""
    z = rows.holds @ at[:-1] * unit + at[-1]
    p = 1.0 / (1.0 + np.exp(-np.clip(z, -500, 500)))
    pull = (rows.weight * p - rows.yes) / rows.weight.sum()
    return rows.measure(z), np.append(rows.holds.T @ pull * unit, pull.sum())


class _Cuts:
    """Planes under the loss, and the whole points that are lowest by them."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.gradients: list[Floats] = []
        self.heights: list[float] = []

    def add(self, loss: float, gradient: Floats, at: Floats) -> None:
        """Add the plane that touches the loss at a position."""
        self.gradients.append(gradient)
        self.heights.append(loss - float(gradient @ at))

    def solve(self, limit: int, unit: float, seconds: float) -> tuple[Floats, float] | None:
        """Return the lowest position by the planes, and a bound that no loss is under."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        n = self.n
        planes = np.hstack([np.array(self.gradients), -np.ones((len(self.gradients), 1))])
        far = limit * unit * n + 10.0
        found = milp(
            np.append(np.zeros(n + 1), 1.0),
            constraints=LinearConstraint(planes, -np.inf, -np.array(self.heights)),
            integrality=np.append(np.ones(n), [0, 0]),
            bounds=Bounds(
                np.append(np.full(n, -float(limit)), [-far, 0.0]),
                np.append(np.full(n, float(limit)), [far, np.inf]),
            ),
            options={"time_limit": seconds, "mip_rel_gap": 1e-7},
        )
        if found.x is None:
            return None
        bound = found.mip_dual_bound if found.mip_dual_bound is not None else found.fun
        return np.asarray(found.x[: n + 1]), float(bound)


def _make_card(card: ScoreCard, found: _Found, optimal: bool) -> ScoreCard:
    """Make the network of whole points: weights are points times the unit."""
    unit = _shorten(found.unit)
    need, offset = _split_constant(found.constant, unit)
    terms = [
        Term(term.node, (Fraction(int(p)),))
        for term, p in zip(card.points.terms, found.points, strict=True)
        if p
    ]
    points = Points(tuple(terms), (Fraction(-need),))
    output = replace(card.output, unit=float(unit), offset=float(offset))
    model = build_model(card.model.schema, card.axes, points, output)
    return ScoreCard(model, card.axes, points, optimal)


def _split_constant(constant: float, unit: Fraction) -> tuple[int, Fraction]:
    """Return the total from which on the class changes, and the log-odds at this total."""
    need = math.ceil(-constant / float(unit) - 1e-9)
    exact = min(max(constant + need * float(unit), 0.0), float(unit))
    for digits in range(3, 17):
        offset = Fraction(f"{exact:.{digits}g}")
        if offset < unit:
            return need, offset
    return need - 1, Fraction(0)  # just a unit: a total of one less is the limit
