"""Several labels, each there or not: the log loss of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from newron.model.arithmetic import Floats
from newron.objectives.base import Expansion, Objective


@dataclass(frozen=True)
class LabelLoss(Objective):
    """Log loss of several labels, the mean over the labels; each score is a label's log-odds.

    - ``n_scores``: The number of labels.

    >>> objective = LabelLoss(2)
    >>> objective.loss(np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]])).round(4)
    array([0.6931])
    >>> objective.score_rows(np.array([[1.0, 0.0]]), np.array([[2.0, 1.0]])).tolist()
    [0.0]
    """

    n_scores: int = 1

    name = "labels"
    metric = "accuracy"

    @property
    def likelihood_factor(self) -> float:
        return float(self.n_scores)

    def split(self) -> list[Objective]:
        return [LabelLoss(1)] * self.n_scores

    def link(self, mean: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(mean) - np.log1p(-mean))

    def inverse_link(self, scores: Floats) -> Floats:
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * scores))

    def start_scores(self, targets: Floats, weight: Floats) -> Floats:
        total = float(weight.sum())
        # Of a label that no row has, or each one, the odds are those of half a row.
        least = 0.5 / (total + 1.0)
        return self.link(np.clip(weight @ targets / total, least, 1.0 - least))

    def loss(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray(np.mean(np.logaddexp(0.0, scores) - targets * scores, axis=1))

    def expand(self, targets: Floats, scores: Floats) -> Expansion:
        mean, share = self.inverse_link(scores), 1.0 / self.n_scores
        bent = share * mean * (1.0 - mean)
        return Expansion(share * (mean - targets), lambda k, m: bent[:, k] if k == m else None)

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray(np.all((scores >= 0.0) == (targets >= 0.5), axis=1), np.float64)
