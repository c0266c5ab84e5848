"""What the scores of some rows should be: an objective with its targets and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.objectives import Expansion, Objective, TargetScale
from newron.training.training_set import Part, TrainingSet


@dataclass(frozen=True)
class Problem:
    """An objective on rows. Scores and targets are in the units of the loss.

    ``weight`` sums to the number of true rows; ``scale`` leads from the units of the user's
    targets to those of the loss.
    """

    objective: Objective
    targets: Floats  # (rows, n_scores)
    weight: Floats
    scale: TargetScale

    @classmethod
    def of(
        cls,
        data: TrainingSet,
        objective: Objective,
        class_weight: Floats | None = None,
        scale: TargetScale | None = None,
    ) -> Problem:
        """Make the problem of a training set, by default on a scale learned from it."""
        if scale is None:
            scale = objective.learn_scale(data.y, data.weight)
        objective = objective.settle(scale)
        weight = data.weight
        if class_weight is not None:
            weight = weight * class_weight[data.y[:, 0].astype(np.intp)]
        if not weight.sum() > 0.0:
            raise InputError("expected a class with a positive weight, got none")
        # In the core's precision, so that all measure by the same targets.
        scaled = objective.scale_targets(data.y, scale).astype(np.float32).astype(np.float64)
        targets = objective.encode_targets(scaled)
        weight = weight * (data.n_rows / weight.sum())
        return cls(objective.adapt(targets, weight), targets, weight, scale)

    def take(self, part: Part) -> Problem:
        """Return the problem of some of the rows."""
        weight = self.weight[part.index] * part.fraction
        return replace(self, targets=self.targets[part.index], weight=weight)

    def measure(self, scores: Floats) -> float:
        """Return the weighted mean loss."""
        return float(self.weight @ self.measure_rows(scores) / self.weight.sum())

    def measure_rows(self, scores: Floats) -> Floats:
        """Return the loss of each row, not weighed."""
        return self.objective.loss(self.targets, scores)

    def measure_likelihood(self, scores: Floats) -> float:
        """Return the negative log-likelihood, summed over weighted rows."""
        factor = self.objective.likelihood_factor
        return factor * float(self.weight @ self.measure_rows(scores))

    def expand(self, scores: Floats) -> Expansion:
        """Return gradient and curvature of each row's part of the likelihood."""
        rows = self.objective.expand(self.targets, scores)
        weight = self.objective.likelihood_factor * self.weight

        def curve(k: int, m: int) -> Floats | None:
            curvature = rows.curvature(k, m)
            return None if curvature is None else weight * curvature

        return Expansion(weight[:, None] * rows.gradient, curve)
