"""What a fit lowers: losses with their gradient and curvature by row.

Scores have the shape (outputs, rows). Gradients point downhill, and both derivatives are
weighed by the rows' weights.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from newron.model.arithmetic import Floats
from newron.model.output import Classes, Output

__all__ = ["Binary", "Categorical", "Objective", "Squared", "make_objective"]

Scores = NDArray[Any]  # float32 on many rows, else float64


class Objective(Protocol):
    """A loss of scores, summed over weighed rows."""

    weight: Floats
    n_outputs: int
    shift_free: bool
    """Whether a constant added to all outputs changes nothing."""

    def start(self) -> Floats:
        """Return the constant scores to begin with, one for each output."""

    def loss(self, scores: Scores) -> float:
        """Return the summed loss."""

    def differentiate(self, scores: Scores, output: int) -> tuple[Scores, Scores]:
        """Return the negative gradient and the curvature by one output's scores."""

    def update(self, scores: Scores, n_effective: Floats) -> None:
        """Adapt what is estimated beside the scores, such as the noise of targets."""


class Binary:
    """The logistic loss of two classes; labels may be probabilities."""

    n_outputs = 1
    shift_free = False

    def __init__(self, labels: Floats, weight: Floats) -> None:
        self.labels, self.weight = labels, weight

    def start(self) -> Floats:
        """Return the log odds of the second class."""
        total = self.weight.sum()
        second = np.clip(self.labels @ self.weight, 0.5, max(total - 0.5, 0.5))
        return np.array([np.log(second / max(total - second, 0.5))])

    def loss(self, scores: Scores) -> float:
        """Return the summed loss."""
        z = scores[0]
        losses = np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))) - self.labels * z
        return float(losses @ self.weight)

    def differentiate(self, scores: Scores, output: int) -> tuple[Scores, Scores]:
        """Return the negative gradient and the curvature."""
        odds = expit(scores[output])
        return self.weight * (self.labels - odds), self.weight * odds * (1.0 - odds)

    def update(self, scores: Scores, n_effective: Floats) -> None:
        """Do nothing: classes have no noise of their own."""


class Categorical:
    """The logistic loss of several classes, by softmax."""

    shift_free = True

    def __init__(self, labels: NDArray[np.intp], n_classes: int, weight: Floats) -> None:
        self.labels, self.weight, self.n_outputs = labels, weight, n_classes

    def start(self) -> Floats:
        """Return the logarithms of the classes' frequencies."""
        mass = np.bincount(self.labels, self.weight, minlength=self.n_outputs)
        return np.asarray(np.log(mass / mass.sum() + 1e-3))

    def loss(self, scores: Scores) -> float:
        """Return the summed loss."""
        top = scores.max(axis=0)
        norm = np.log(np.exp(scores - top).sum(axis=0)) + top
        return float((norm - scores[self.labels, np.arange(len(self.labels))]) @ self.weight)

    def differentiate(self, scores: Scores, output: int) -> tuple[Scores, Scores]:
        """Return the negative gradient and the curvature by one class's scores."""
        odds = np.exp(scores - scores.max(axis=0))
        share = odds[output] / odds.sum(axis=0)
        gradient = self.weight * ((self.labels == output) - share)
        return gradient, self.weight * share * (1.0 - share)

    def update(self, scores: Scores, n_effective: Floats) -> None:
        """Do nothing: classes have no noise of their own."""


class Squared:
    """Squared errors of standardized targets in units of their noise, which is estimated."""

    shift_free = False

    def __init__(self, targets: Floats, weight: Floats) -> None:
        self.targets, self.weight, self.n_outputs = targets, weight, len(targets)
        self.noise = np.full(len(targets), 0.5)

    def start(self) -> Floats:
        """Return the mean of each target."""
        return np.asarray(self.targets @ self.weight / self.weight.sum())

    def loss(self, scores: Scores) -> float:
        """Return the summed loss, with the noise as it is."""
        errors = ((self.targets - scores) ** 2) @ self.weight
        return float(0.5 * np.sum(errors / self.noise))

    def differentiate(self, scores: Scores, output: int) -> tuple[Scores, Scores]:
        """Return the negative gradient and the curvature."""
        scale = self.weight / self.noise[output]
        return scale * (self.targets[output] - scores[output]), scale

    def update(self, scores: Scores, n_effective: Floats) -> None:
        """Estimate the noise from what is left over, by the rows that parameters leave."""
        total = self.weight.sum()
        errors = ((self.targets - scores) ** 2) @ self.weight
        free = np.maximum(total - n_effective, 0.05 * total)
        self.noise = np.maximum(errors / free, 1e-6)


def make_objective(output: Output, y: Floats, weight: Floats) -> Objective:
    """Return the loss of class numbers (rows, 1), or of standardized targets (rows, k)."""
    if not isinstance(output, Classes):
        return Squared(np.ascontiguousarray(y.T), weight)
    if output.n_scores == 1:
        return Binary(y[:, 0], weight)
    return Categorical(y[:, 0].astype(np.intp), output.n_scores, weight)
