"""Ordered classes by one score and several limits: proportional odds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.bands import find_bands
from newron.objectives.base import Expansion, Objective

_FAR = 1e30  # what the lowest and the highest class have for a limit, in the core's precision
_HALVINGS, _ROUNDS = 60, 50
_NEAREST = 1e-6  # two limits


@dataclass(frozen=True)
class Ordinal(Objective):
    """Log loss of ordered classes: the odds of more than the k-th are exp(score - limit k).

    The probability of a class is that of a score's noise, of logistic distribution, to lie between
    two limits. Its loss is the sum of two log losses, that of the limit below and that of the
    limit above, and a constant.

    - ``limits``: Rising.
    - ``free``: Whether ``follow`` finds the limits that are best for scores.

    >>> objective = Ordinal(limits=(0.0, 2.0))
    >>> objective.loss(np.array([[0.0], [1.0], [2.0]]), np.zeros((3, 1))).round(3)
    array([0.693, 0.965, 2.127])
    >>> objective.expand(np.array([[1.0]]), np.array([[1.0]])).gradient.round(12)
    array([[0.]])
    """

    n_scores: int = 1
    limits: tuple[float, ...] = (-1.0, 1.0)
    free: bool = False

    name = "ordinal"
    metric = "accuracy"
    stratified = True

    # ---- what depends on the rows ----

    @property
    def follows(self) -> bool:
        return self.free

    def follow(self, targets: Floats, scores: Floats, weight: Floats) -> Self:
        if not self.free:
            return self
        return replace(self, limits=fit_limits(targets, scores, weight, self.limits))

    def encode_core(self, targets: Floats) -> NDArray[np.float32]:
        below, above, constant = (part[:, 0] for part in self._bound(np.rint(targets)))
        return np.ascontiguousarray(np.stack([below, above, constant], axis=1), np.float32)

    def _bound(self, classes: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the limits below and above each class, and the constant of its loss."""
        ends = np.array([-_FAR, *self.limits, _FAR])
        constants = -np.log(-np.expm1(-np.diff(ends)))
        k = classes.astype(np.intp)
        return ends[k], ends[k + 1], constants[k]

    def _mix(self, targets: Floats) -> list[tuple[Floats, Floats]]:
        """Return the classes that targets lie between, and how much of each they are."""
        low = np.clip(np.floor(targets), 0.0, len(self.limits))
        part = targets - low
        return [(low, 1.0 - part), (np.minimum(low + 1.0, len(self.limits)), part)]

    # ---- scores and means: of class numbers ----

    def inverse_link(self, scores: Floats) -> Floats:
        z = scores[..., None] - np.array(self.limits)
        return np.asarray((0.5 + 0.5 * np.tanh(0.5 * z)).sum(axis=-1))

    def link(self, mean: Floats) -> Floats:
        mean = np.asarray(mean, np.float64)
        low = np.full(mean.shape, min(self.limits) - 40.0)
        high = np.full(mean.shape, max(self.limits) + 40.0)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            under = self.inverse_link(middle) < mean
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return np.asarray(0.5 * (low + high))

    def start_scores(self, targets: Floats, weight: Floats) -> Floats:
        at = self.link(weight @ targets / weight.sum())
        for _ in range(_ROUNDS):
            expansion = self.expand(targets, np.broadcast_to(at, targets.shape))
            curvature = expansion.curvature(0, 0)
            assert curvature is not None  # noqa: S101 - of one score
            slope, bent = weight @ expansion.gradient[:, 0], weight @ curvature
            step = float(slope) / max(float(bent), 1e-12)
            at = at - np.clip(step, -2.0, 2.0)
            if abs(step) < 1e-12:
                break
        return at

    # ---- the loss ----

    def loss(self, targets: Floats, scores: Floats) -> Floats:
        total = np.zeros(len(scores))
        for classes, part in self._mix(targets):
            below, above, constant = self._bound(classes)
            lost = np.logaddexp(0.0, below - scores) + np.logaddexp(0.0, scores - above)
            total += (part * (lost + constant))[:, 0]
        return total

    def expand(self, targets: Floats, scores: Floats) -> Expansion:
        gradient, curvature = np.zeros(scores.shape), np.zeros(len(scores))
        for classes, part in self._mix(targets):
            below, above, _ = self._bound(classes)
            under = 0.5 + 0.5 * np.tanh(0.5 * (below - scores))
            over = 0.5 + 0.5 * np.tanh(0.5 * (scores - above))
            gradient += part * (over - under)
            curvature += (part * (under * (1.0 - under) + over * (1.0 - over)))[:, 0]
        return Expansion(gradient, lambda k, m: curvature if k == m else None)

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        chosen = (scores >= np.array(find_bands(self.limits))).sum(axis=1)
        return np.asarray(chosen == np.rint(targets[:, 0]), np.float64)


def start_limits(classes: NDArray[np.intp], weight: Floats, n_classes: int) -> tuple[float, ...]:
    """Return the limits of a constant score of 0: the logits of how often classes are exceeded.

    - ``n_classes``: A class without a row counts as half a row.

    >>> np.round(start_limits(np.array([0, 1, 1, 2]), np.ones(4), 3), 3).tolist()
    [-1.099, 1.099]
    """
    counts = np.bincount(classes, weight, minlength=n_classes)
    counts = np.where(counts > 0.0, counts, 0.5)
    below = np.cumsum(counts)[:-1]
    return tuple(np.log(below / (counts.sum() - below)).tolist())


def fit_limits(
    targets: Floats, scores: Floats, weight: Floats, start: tuple[float, ...]
) -> tuple[float, ...]:
    """Return the limits that have the greatest likelihood for scores, by Newton's steps.

    - ``targets``, ``scores`` of shape (rows, 1): Class numbers, and the scores.
    - ``start``: Limits to begin with. A class without a row leaves its limits where they are.

    >>> targets = np.array([[0.0], [1.0], [1.0], [2.0]])
    >>> limits = fit_limits(targets, np.zeros((4, 1)), np.ones(4), (-3.0, 3.0))
    >>> np.round(limits, 3).tolist()
    [-1.099, 1.099]
    """
    limits = np.array(start)
    classes, z = np.rint(targets[:, 0]).astype(np.intp), scores[:, 0]
    if len(np.unique(classes[weight > 0.0])) <= len(limits):
        return start
    best = _measure(limits, classes, z, weight)
    for _ in range(_ROUNDS):
        gradient, hessian = _differentiate(limits, classes, z, weight)
        step = np.linalg.solve(hessian + 1e-10 * np.trace(hessian) * np.eye(len(limits)), gradient)
        size = 1.0
        while size > 1e-6:
            moved = limits - size * step
            lost = _measure(moved, classes, z, weight)
            if lost <= best:
                break
            size *= 0.5
        else:
            break
        gained, limits, best = best - lost, moved, lost
        if gained <= 1e-12 * best:
            break
    return tuple(limits.tolist())


def _measure(limits: Floats, classes: NDArray[np.intp], z: Floats, weight: Floats) -> float:
    if np.any(np.diff(limits) < _NEAREST):
        return math.inf
    objective = Ordinal(1, tuple(limits.tolist()))
    return float(weight @ objective.loss(classes[:, None].astype(np.float64), z[:, None]))


def _differentiate(
    limits: Floats, classes: NDArray[np.intp], z: Floats, weight: Floats
) -> tuple[Floats, Floats]:
    """Return gradient and curvature of the summed loss by the limits."""
    n = len(limits)
    totals = np.bincount(classes, weight, minlength=n + 1)
    gradient, hessian = np.zeros(n), np.zeros((n, n))
    for k in range(n):
        # Limit k is above class k and below the next one.
        for member, sign in ((classes == k, -1.0), (classes == k + 1, 1.0)):
            p = 0.5 + 0.5 * np.tanh(0.5 * sign * (limits[k] - z[member]))
            gradient[k] += sign * float(weight[member] @ p)
            hessian[k, k] += float(weight[member] @ (p * (1.0 - p)))
    for k in range(n - 1):
        # The constant of class k + 1, -log(1 - exp(-gap)).
        gap = limits[k + 1] - limits[k]
        growth = math.expm1(min(gap, 700.0))
        pull = totals[k + 1] / growth
        bend = pull * (1.0 + 1.0 / growth)
        gradient[k : k + 2] += np.array([pull, -pull])
        hessian[k : k + 2, k : k + 2] += bend * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return gradient, hessian
