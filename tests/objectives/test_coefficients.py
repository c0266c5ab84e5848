"""Linear functions without a penalty have the coefficients of statsmodels and lifelines.

The numbers are those of ``objectives.coefficients``, whose head names the command; versions:
statsmodels 0.15.0, lifelines 0.30.3.
"""

import json
from itertools import pairwise

import numpy as np
import pytest

from newron.estimators.periods import expand
from newron.evaluation.times import Times
from newron.model import Labels
from newron.objectives import OBJECTIVES, Ordinal, choose_objective, read_objective, start_limits
from objectives.coefficients import FEW, PAGE, POWER, draw

WANTED = json.loads(PAGE.read_text(encoding="utf-8"))


def solve(objective, designs, y, rounds=60):
    """Return the coefficients of each score by Newton's steps; a design for each score."""
    sizes = np.cumsum([0, *(design.shape[1] for design in designs)])
    spans = [slice(a, b) for a, b in pairwise(sizes)]
    found = np.zeros(sizes[-1])
    for _ in range(rounds):
        scores = np.column_stack([d @ found[at] for d, at in zip(designs, spans, strict=True)])
        expansion = objective.expand(y, scores)
        gradient = np.concatenate(
            [d.T @ g for d, g in zip(designs, expansion.gradient.T, strict=True)]
        )
        hessian = np.zeros((len(found), len(found)))
        for k, one in enumerate(designs):
            for m, other in enumerate(designs):
                curvature = expansion.curvature(k, m)
                if curvature is not None:
                    hessian[spans[k], spans[m]] = one.T @ (curvature[:, None] * other)
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0]
        found -= step
    assert np.abs(step).max() < 1e-8
    return [found[at] for at in spans]


@pytest.fixture(scope="module")
def table():
    X, offset, targets = draw()
    return np.column_stack([np.ones(len(X)), X]), X, offset, targets


@pytest.mark.parametrize("name", ["squared", "gamma", "tweedie", "binary"])
def test_of_one_score(name, table):
    design, _, _, targets = table
    own = f"tweedie:{POWER}" if name == "tweedie" else name
    objective = OBJECTIVES[name](1) if name == "binary" else read_objective(own)
    (found,) = solve(objective, [design], targets[name][:, None].astype(float))
    np.testing.assert_allclose(found, WANTED[name], atol=1e-4)


def test_of_counts_with_an_offset(table):
    design, _, offset, targets = table
    objective = read_objective("poisson")
    y, weight = objective.absorb_offset(targets["poisson"][:, None].astype(float), offset)
    found = np.zeros(4)
    for _ in range(60):
        expansion = objective.expand(y, (design @ found)[:, None])
        curvature = (weight * expansion.curvature(0, 0))[:, None] * design
        found -= np.linalg.solve(
            design.T @ curvature, design.T @ (weight * expansion.gradient[:, 0])
        )
    np.testing.assert_allclose(found, WANTED["poisson"], atol=1e-4)


def test_of_several_labels(table):
    design, _, _, targets = table
    objective = choose_objective(Labels(("one", "two")))
    found = solve(objective, [design] * 2, targets["labels"].astype(float))
    np.testing.assert_allclose(found, WANTED["labels"], atol=1e-4)


def test_of_several_classes(table):
    design, _, _, targets = table
    objective = OBJECTIVES["categorical"](3)
    first, *others = solve(objective, [design] * 3, np.eye(3)[targets["categorical"]])
    np.testing.assert_allclose(
        [other - first for other in others], WANTED["categorical"], atol=1e-4
    )


def test_of_ordered_classes(table):
    _, X, _, targets = table
    y = targets["ordinal"]
    objective = Ordinal(1, start_limits(y, np.ones(len(y)), 3), free=True)
    own, found = y[:, None].astype(float), np.zeros(3)
    for _ in range(60):
        scores = (X @ found)[:, None]
        objective = objective.follow(own, scores, np.ones(len(y)))
        expansion = objective.expand(own, scores)
        bent = X.T @ (expansion.curvature(0, 0)[:, None] * X)
        found -= np.linalg.solve(bent, X.T @ expansion.gradient[:, 0])
    np.testing.assert_allclose([*objective.limits, *found], WANTED["ordinal"], atol=1e-4)


def test_of_hazards_where_each_event_has_a_time_of_its_own(table):
    """Cox's coefficients are those of rates of periods with a constant for each time."""
    _, X, _, targets = table
    event, time = (part[:FEW] for part in targets["survival"])
    ends = tuple(np.unique(time[event]).tolist())
    assert len(ends) == event.sum()
    # Who was lost between two events is at risk until the one before.
    before = np.searchsorted(ends, time, side="right")
    seen = np.where(event, time, np.concatenate([[0.0], ends])[before])
    periods = expand(X[:FEW], Times(event, seen), ends, ())
    at = np.searchsorted(ends, periods.X[:, -1])
    design = np.column_stack([periods.X[:, :3], np.eye(len(ends))[at]])
    start = np.zeros(design.shape[1])
    start[3:] = -4.0
    objective, found = read_objective("poisson"), start
    for _ in range(40):
        expansion = objective.expand(periods.y, (design @ found)[:, None])
        curvature = expansion.curvature(0, 0)[:, None] * design
        found = found - np.linalg.solve(design.T @ curvature, design.T @ expansion.gradient[:, 0])
    np.testing.assert_allclose(found[:3], WANTED["survival"], atol=1e-4)
