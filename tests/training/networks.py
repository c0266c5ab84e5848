"""Builders that several modules of tests here share."""

import numpy as np

from builders.training import LOSSES, keep_order, make_problem
from newron.model import Column, Layer, Schema
from newron.tables.field import Field
from newron.training.crisp import RankedTable
from newron.training.growing import GrowTask
from newron.training.ranking import learn_ranking


def steps(n, target, source, b, *, w=None, alpha=None, centre=None, **more):
    """Make a layer of steps that add."""
    w = np.ones(len(b)) if w is None else np.array(w, float)
    b = np.array(b, float)
    return Layer(
        "heaviside", "sum", "identity", n, np.array(target), np.array(source),
        w[:, None], b[:, None], alpha=alpha, centre=centre, **more,
    )  # fmt: skip


def make_schema(n, low=-3.0, high=3.0, **more):
    return Schema(tuple(Column(f"x{i + 1}", low, high, **more) for i in range(n)))


GROWN = {
    "recipe": "grow", "size": "whole", "max_terms": 12, "max_iter": 30, "n_init": 2,
    "random_state": 0,
}  # fmt: skip


def make_blobs(n=160, columns=4, seed=0):
    """Draw classes that depend on the first two of the columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).round(2)
    score = 3.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > -0.2) - 2.5
    y = (score + rng.logistic(scale=0.4, size=n) > 0).astype(int)
    return X, y


def name_fields(X):
    return tuple(Field(f"x{i}") for i in range(X.shape[1]))


def make_task(loss, n=60, columns=3, seed=0, n_threads=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, columns)).astype(float)
    k = LOSSES[loss]
    if loss == "squared":
        targets = X[:, :k] + rng.normal(size=(n, k))
    else:
        targets = ((X[:, :1] > 2) ^ (X[:, 1:2] > 3)) + (X[:, 2:] > 4) * (k > 1)
    ranking = learn_ranking(keep_order(X, name_fields(X)))
    problem = make_problem(loss, targets.astype(np.float32), rng.uniform(0.5, 2, n))
    return GrowTask(RankedTable(ranking.encode(X), problem), ranking, n_threads), X


def list_core(task):
    """Return targets as the core reads them, and weights."""
    problem = task.table.problem
    return problem.objective.encode_core(problem.targets), problem.weight
