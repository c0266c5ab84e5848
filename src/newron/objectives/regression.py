"""What the objectives of regression share: units, dispersion and metric."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from newron.model.arithmetic import Floats
from newron.objectives.base import Expansion, Objective, TargetScale


@dataclass(frozen=True)
class Regression(Objective):
    """A loss of each target by itself, in units of the loss of the best constant.

    Children define ``_measure`` and ``_differentiate`` for scores of any shape; the mean over
    the targets and the unit are taken here.

    - ``unit``: The mean loss of the best constant, which ``adapt`` finds.

    >>> from newron.objectives import Poisson
    >>> issubclass(Poisson, Regression), Poisson(2).likelihood_factor
    (True, 1.0)
    """

    n_scores: int = 1
    unit: float = 1.0

    metric = "d2"
    has_dispersion = True

    @property
    def likelihood_factor(self) -> float:
        return 0.5 * self.n_scores

    @property
    def _factor(self) -> float:
        return 1.0 / (self.unit * self.n_scores)

    def split(self) -> list[Objective]:
        return [replace(self, n_scores=1, unit=1.0)] * self.n_scores

    def adapt(self, targets: Floats, weight: Floats) -> Self:
        plain = replace(self, unit=1.0)
        start = np.broadcast_to(plain.start_scores(targets, weight), targets.shape)
        unit = float(weight @ plain.loss(targets, start)) / float(weight.sum())
        return replace(self, unit=unit) if unit > 1e-12 else plain

    @abstractmethod
    def _measure(self, targets: Floats, scores: Floats) -> Floats:
        """Return the loss of every target."""

    @abstractmethod
    def _differentiate(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """Return gradient and curvature of the loss of every target."""

    def loss(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray(self._factor * self._measure(targets, scores).sum(axis=1))

    def expand(self, targets: Floats, scores: Floats) -> Expansion:
        gradient, curvature = self._differentiate(targets, scores)
        bent = self._factor * curvature
        return Expansion(self._factor * gradient, lambda k, m: bent[:, k] if k == m else None)

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        return 1.0 - self.loss(targets, scores)

    def evaluate(self, targets: Floats, scores: Floats, weight: Floats) -> float:
        # D²: the fraction of the best constant's loss that scores explain.
        start = np.broadcast_to(self.start_scores(targets, weight), targets.shape)
        null = float(weight @ self.loss(targets, start))
        return 1.0 - float(weight @ self.loss(targets, scores)) / (null if null > 0.0 else 1.0)

    def link(self, mean: Floats) -> Floats:
        return mean

    def inverse_link(self, scores: Floats) -> Floats:
        return scores


def find_quantile(values: Floats, weight: Floats, level: float) -> float:
    """Return a quantile of weighted values, in the middle where it lies between two of them."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    target = level * total[-1]
    first = int(np.searchsorted(total, target * (1.0 - 1e-12)))
    last = int(np.searchsorted(total, target * (1.0 + 1e-12), side="right"))
    low = float(values[order[min(first, len(order) - 1)]])
    return 0.5 * (low + float(values[order[min(last, len(order) - 1)]]))


def measure_spread(values: Floats, weight: Floats) -> float:
    """Return a standard deviation that outliers do not change: by the median distance."""
    middle = find_quantile(values, weight, 0.5)
    distance = np.abs(values - middle)
    spread = 1.4826 * find_quantile(distance, weight, 0.5)
    if spread > 0.0:
        return spread
    return float(weight @ distance / weight.sum())  # half of the values are equal


def scale_robustly(y: Floats, weight: Floats, n_scores: int) -> TargetScale:
    """Return the scale of medians and spreads; that of one target serves all scores."""
    shift = [find_quantile(column, weight, 0.5) for column in y.T]
    scale = [
        max(measure_spread(column, weight), 1e-300, 1e-14 * float(np.abs(column).max())) or 1.0
        for column in y.T
    ]
    return TargetScale(*(np.array(np.broadcast_to(part, n_scores)) for part in (shift, scale)))
