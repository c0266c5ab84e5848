"""Parts of a fit, made without an estimator."""

import numpy as np

from newron.model.output import Classes
from newron.objectives import OBJECTIVES, TargetScale, choose_objective
from newron.tables.field import Field
from newron.training.context import FitContext
from newron.training.problem import Problem
from newron.training.training_set import Part, TrainingSet

# The objectives, each with a number of scores.
LOSSES = {"binary": 1, "categorical": 3, "squared": 2}


def make_context(seed=0, **settings):
    return FitContext(np.random.SeedSequence(seed), **settings)


def make_set(X, y, weight=None, fields=None):
    """Make a training set; columns are numbers unless fields name their categories."""
    fields = tuple(Field(f"x{i + 1}") for i in range(X.shape[1])) if fields is None else fields
    y = np.asarray(y, float)
    return TrainingSet.from_rows(X, y[:, None] if y.ndim == 1 else y, weight, tuple(fields))


def keep_order(X, fields, y=None, weight=None):
    """Make a training set of rows in the order in which they stand, each by itself."""
    n = len(X)
    y = np.zeros((n, 1)) if y is None else np.asarray(y, float)
    weight = np.ones(n) if weight is None else weight
    return TrainingSet(X, y, weight, np.ones(n, np.int64), tuple(fields), np.arange(n))


def make_problem(loss, targets, weight, n_scores=None):
    """Make the problem of targets, or of class numbers in one column."""
    n_scores = LOSSES[loss] if n_scores is None else n_scores
    objective = OBJECTIVES[loss](n_scores)
    targets = np.asarray(targets, float)
    if targets.shape[1] != n_scores:
        targets = objective.encode_targets(targets)
    return Problem(objective, targets, np.asarray(weight, float), TargetScale.identity(n_scores))


def make_part(index):
    """Make the part of some rows of a set without equal rows."""
    return Part(np.asarray(index), np.ones(len(index), np.int64), np.ones(len(index)))


def measure_loss(output, scores, y, weight=None):
    """Return the mean loss of scores; regression targets are taken as they are."""
    objective = choose_objective(output)
    y = np.asarray(y, float)
    targets = objective.encode_targets(y) if isinstance(output, Classes) else y
    weight = np.ones(len(y)) if weight is None else weight
    return float(np.average(objective.loss(targets, scores), weights=weight))
