"""Squared error that outliers do not rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.objectives.base import CoreLoss, Objective, TargetScale
from newron.objectives.regression import (
    Regression,
    find_quantile,
    measure_spread,
    scale_robustly,
)


@dataclass(frozen=True)
class Huber(Regression):
    """Huber's loss: squared for small errors, absolute beyond ``epsilon`` spreads.

    - ``unit``: See :class:`Regression`.
    - ``epsilon``: Where the loss turns, in robust standard deviations of the errors.
    - ``spread``: That standard deviation, which ``follow`` finds.

    >>> Huber(epsilon=1.0).loss(np.array([[0.0], [0.0]]), np.array([[0.5], [3.0]]))
    array([0.125, 2.5  ])
    """

    epsilon: float = 1.345
    spread: float = 1.0

    name = "huber"

    def __post_init__(self) -> None:
        """Check where the loss turns."""
        if not 0.0 < self.epsilon < np.inf:
            raise InputError(f"objective huber: expected a number above 0, got {self.epsilon}")

    @property
    def text(self) -> str:
        return f"huber:{self.epsilon:g}"

    @property
    def core(self) -> CoreLoss:
        return CoreLoss("huber", self._bend, 1.0 / self.unit)

    @property
    def _bend(self) -> float:
        return self.epsilon * self.spread

    def split(self) -> list[Objective]:
        return [replace(self, n_scores=1, unit=1.0)] * self.n_scores

    def follow(self, targets: Floats, scores: Floats, weight: Floats) -> Self:
        errors = [measure_spread(column, weight) for column in (targets - scores).T]
        return replace(self, spread=max(float(np.mean(errors)), 1e-4))

    def learn_scale(self, y: Floats, weight: Floats) -> TargetScale:
        return scale_robustly(y, weight, self.n_scores)

    def start_scores(self, targets: Floats, weight: Floats) -> Floats:
        return np.array([find_quantile(column, weight, 0.5) for column in targets.T])

    def _measure(self, targets: Floats, scores: Floats) -> Floats:
        error = np.abs(scores - targets)
        inside = np.minimum(error, self._bend)
        return np.asarray(inside * (error - 0.5 * inside))

    def _differentiate(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        error = scores - targets
        # Beyond the bend that of the parabola that touches there and lies above.
        curvature = self._bend / np.maximum(np.abs(error), self._bend)
        return np.clip(error, -self._bend, self._bend), np.asarray(curvature)
