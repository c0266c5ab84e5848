"""Several classes, one score each: log loss of the softmax."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.objectives.base import Expansion, Objective


@dataclass(frozen=True)
class Categorical(Objective):
    """Log loss of several classes, whose probabilities are the softmax of the scores.

    - ``n_scores``: The number of classes.

    >>> objective = Categorical(3)
    >>> targets = objective.encode_targets(np.array([[2.0]]))
    >>> targets
    array([[0., 0., 1.]])
    >>> objective.loss(targets, np.zeros((1, 3))).round(4)
    array([1.0986])
    """

    name = "categorical"
    metric = "accuracy"
    stratified = True

    def encode_targets(self, y: Floats) -> Floats:
        return np.asarray(y == np.arange(self.n_scores), np.float64)

    def encode_core(self, targets: Floats) -> NDArray[np.float32]:
        return np.asarray(np.argmax(targets, axis=1)[:, None], np.float32)

    def link(self, mean: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(mean)
        return np.asarray(logs - logs.mean(axis=-1, keepdims=True))

    def inverse_link(self, scores: Floats) -> Floats:
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(parts / parts.sum(axis=1, keepdims=True))

    def loss(self, targets: Floats, scores: Floats) -> Floats:
        top = scores.max(axis=1)
        norm = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
        return np.asarray(norm - (targets * scores).sum(axis=1))

    def expand(self, targets: Floats, scores: Floats) -> Expansion:
        mean = self.inverse_link(scores)
        return Expansion(
            mean - targets, lambda k, m: np.asarray(mean[:, k] * (float(k == m) - mean[:, m]))
        )

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray(scores.argmax(axis=1) == targets.argmax(axis=1), np.float64)
