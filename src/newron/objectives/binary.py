"""Two classes by one score: log loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from newron.model.arithmetic import Floats
from newron.objectives.base import Expansion, Objective


@dataclass(frozen=True)
class Binary(Objective):
    """Log loss of the second of two classes, whose log-odds are the score.

    >>> objective = Binary()
    >>> objective.loss(np.array([[1.0]]), np.array([[0.0]])).round(4)
    array([0.6931])
    >>> objective.inverse_link(np.array([[0.0]]))
    array([[0.5]])
    """

    n_scores: int = 1

    name = "binary"
    metric = "accuracy"
    stratified = True

    def link(self, mean: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(mean) - np.log1p(-mean))

    def inverse_link(self, scores: Floats) -> Floats:
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * scores))

    def loss(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, scores[:, 0]) - (targets * scores)[:, 0])

    def expand(self, targets: Floats, scores: Floats) -> Expansion:
        mean = self.inverse_link(scores)
        return Expansion(mean - targets, lambda k, m: mean[:, k] * (1.0 - mean[:, m]))

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray((scores[:, 0] >= 0.0) == (targets[:, 0] >= 0.5), np.float64)
