"""Soft targets: the scores of a teacher, which have none of the labels' noise."""

from __future__ import annotations

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.output import Classes
from newron.objectives import Squared
from newron.training.problem import Problem
from newron.training.specification import Specification
from newron.training.training_set import TrainingSet


def weigh_scores(weight: Floats, spec: Specification, scores: Floats) -> Floats:
    """Return the weight of each row: more where a small change of the score matters."""
    if not isinstance(spec.output, Classes):
        return weight
    probability = spec.output.predict_proba(scores)
    return np.asarray(weight * (0.02 + (probability * (1.0 - probability)).mean(axis=1)))


def make_soft_targets(data: TrainingSet, spec: Specification, scores: Floats) -> Problem:
    """Return the problem to come near to scores, in units of the loss, of all rows."""
    weight = weigh_scores(data.weight, spec, scores)
    objective = Squared(scores.shape[1])
    scale = objective.learn_scale(scores, weight)
    return Problem(objective, scale.apply(scores), weight * (data.n_rows / weight.sum()), scale)
