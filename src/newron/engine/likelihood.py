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
    """

    def __init__(self, objective: Objective, targets: Floats, weight: Floats) -> None:
        self.objective, self.targets, self.weight = objective, targets, weight
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
        none = self.objective.inverse_link(np.zeros((1, self.n_outputs)))[0]
        mean = (self.weight @ self.targets + none) / (self.weight.sum() + 1.0)
        return self.objective.link(mean)

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
        total = float(self.weight.sum())
        lost = 2.0 * self.objective.likelihood_factor
        lost *= float(self.objective.loss(self.targets, scores.T) @ self.weight)
        free = max(total - n_effective, _MIN_FREE * total)
        self.dispersion = max(lost / free, _MIN_DISPERSION)
