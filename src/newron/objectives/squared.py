"""Regression targets: squared error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from newron.model.arithmetic import Floats
from newron.objectives.base import Expansion, Objective, TargetScale, scale_column


@dataclass(frozen=True)
class Squared(Objective):
    """Squared error, the mean over targets, each in units of its standard deviation.

    - ``n_scores``: The number of targets.

    >>> objective = Squared()
    >>> objective.loss(np.array([[1.0]]), np.array([[3.0]]))
    array([4.])
    >>> objective.learn_scale(np.array([[1.0], [3.0]]), np.ones(2))
    TargetScale(shift=array([2.]), scale=array([1.]))
    """

    n_scores: int = 1

    name = "squared"
    metric = "r2"
    has_dispersion = True

    @property
    def likelihood_factor(self) -> float:
        return 0.5 * self.n_scores

    def split(self) -> list[Objective]:
        return [Squared()] * self.n_scores

    def learn_scale(self, y: Floats, weight: Floats) -> TargetScale:
        shift, scale = np.array([scale_column(column, weight) for column in y.T]).T
        return TargetScale(shift, scale)

    def link(self, mean: Floats) -> Floats:
        return mean

    def inverse_link(self, scores: Floats) -> Floats:
        return scores

    def loss(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray(np.mean((scores - targets) ** 2, axis=1))

    def expand(self, targets: Floats, scores: Floats) -> Expansion:
        factor = 2.0 / self.n_scores
        same = np.full(len(scores), factor)
        return Expansion(factor * (scores - targets), lambda k, m: same if k == m else None)

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        return 1.0 - self.loss(targets, scores)

    def evaluate(self, targets: Floats, scores: Floats, weight: Floats) -> float:
        lost = weight @ (targets - scores) ** 2
        spread = weight @ (targets - np.average(targets, axis=0, weights=weight)) ** 2
        return float(np.mean(1.0 - lost / np.where(spread > 0.0, spread, 1.0)))
