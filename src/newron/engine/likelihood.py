"""An objective on weighed rows as a likelihood: what coefficients and variances are found by.

Scores have the shape (outputs, rows); they are float32 on many rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.objectives import Objective

__all__ = ["Likelihood", "Scores"]

Scores = NDArray[Any]

_MIN_FREE = 0.05  # of the rows: so many are left to estimate the dispersion by
_MIN_DISPERSION = 1e-6


class Likelihood:
    """The negative log-likelihood of targets, summed over weighed rows.

    Parameters
    ----------
    objective : Objective
    targets : ndarray of shape (rows, n_scores)
        As the objective encodes them.
    weight : ndarray of shape (rows,)
    count : ndarray of shape (rows,), optional
        How many rows each stands for; by default its weight.
    """

    def __init__(
        self,
        objective: Objective,
        targets: Floats,
        weight: Floats,
        count: Floats | None = None,
    ) -> None:
        self.objective = objective.adapt(targets, weight)
        self.targets, self.weight = targets, weight
        self.count = weight if count is None else count
        self.n_outputs = objective.n_scores
        self.dispersion = 0.5 if objective.has_dispersion else 1.0
        expansion = objective.expand(targets[:1], np.zeros((1, self.n_outputs)))
        self.shift_free = self.n_outputs > 1 and expansion.curvature(0, 1) is not None
        """Whether a constant added to all scores changes nothing."""

    @property
    def _factor(self) -> float:
        return self.objective.likelihood_factor / self.dispersion

    def start(self) -> Floats:
        """Return constant scores to begin with: those of the mean, and of one row of no score."""
        none = self.objective.inverse_link(np.zeros((1, self.n_outputs)))
        rows = np.concatenate([self.targets, none])
        return self.objective.start_scores(rows, np.append(self.weight, 1.0))

    def loss(self, scores: Scores) -> float:
        """Return the summed loss."""
        return self._factor * float(self.objective.loss(self.targets, scores.T) @ self.weight)

    def differentiate(self, scores: Scores, output: int) -> tuple[Scores, Scores]:
        """Return the negative gradient and the curvature by one output's scores, by row."""
        expansion = self.objective.expand(self.targets, scores.T)
        curvature = expansion.curvature(output, output)
        bent = np.zeros(len(self.weight)) if curvature is None else curvature
        weight = self._factor * self.weight
        return -weight * expansion.gradient[:, output], weight * np.maximum(bent, 0.0)

    def update(self, scores: Scores, n_effective: float) -> None:
        """Estimate the dispersion from what is left over, by the rows that parameters leave."""
        if not self.objective.has_dispersion:
            return
        self.objective = self.objective.follow(self.targets, scores.T, self.weight)
        total = float(self.count.sum())
        free = max(total - n_effective, _MIN_FREE * total)
        # The curvature is the variance of the gradient, as that of a true likelihood.
        expansion = self.objective.expand(self.targets, scores.T)
        factor, weight = self.objective.likelihood_factor, self.weight
        lost = float(weight**2 / self.count @ (factor * expansion.gradient[:, 0]) ** 2)
        curvature = expansion.curvature(0, 0)
        bent = total if curvature is None else float(weight @ (factor * curvature))
        self.dispersion = max(lost / free * (total / max(bent, 1e-300)), _MIN_DISPERSION)
