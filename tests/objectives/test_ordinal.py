"""Proportional odds: limits, and the coefficients of other packages."""

import numpy as np
import pytest
from scipy.optimize import minimize

from newron.objectives import Ordinal, fit_limits, start_limits


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1100)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X @ [1.0, -0.6, 0.2] + rng.logistic(size=len(X)), [-1.0, 0.3, 2.0])
    return X, y, rng.uniform(0.5, 2.0, len(X))


def fit_linear(X, y, weight, rounds=300):
    """Take Newton's steps for coefficients and limits in turn, as the engine does."""
    objective = Ordinal(1, start_limits(y, weight, 4), free=True)
    targets, found = y[:, None].astype(float), np.zeros(X.shape[1])
    for _ in range(rounds):
        scores = (X @ found)[:, None]
        objective = objective.follow(targets, scores, weight)
        expansion = objective.expand(targets, scores)
        curvature = (weight * expansion.curvature(0, 0))[:, None] * X
        found -= np.linalg.solve(X.T @ curvature, X.T @ (weight * expansion.gradient[:, 0]))
    return found, np.array(objective.limits)


def test_linear_functions_have_the_coefficients_of_statsmodels(table):
    statsmodels = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    X, y, _ = table
    oracle = statsmodels.OrderedModel(y, X, distr="logit").fit(method="bfgs", disp=0, gtol=1e-8)
    found, limits = fit_linear(X, y, np.ones(len(X)))
    np.testing.assert_allclose(found, oracle.params[:3], atol=1e-4)
    first, *steps = oracle.params[3:]
    np.testing.assert_allclose(limits, first + np.cumsum([0.0, *np.exp(steps)]), atol=1e-4)


def test_linear_functions_have_the_greatest_likelihood(table):
    X, y, weight = table

    def lose(at):
        limits = at[3] + np.cumsum([0.0, *np.exp(at[4:])])
        ends = np.array([-np.inf, *limits, np.inf])
        z = X @ at[:3]
        below, above = (1.0 / (1.0 + np.exp(z - ends[y + k])) for k in (0, 1))
        return -float(weight @ np.log(above - below))

    best = minimize(lose, np.array([0.0, 0.0, 0.0, -1.0, 0.0, 0.0]), tol=1e-10)
    found, limits = fit_linear(X, y, weight)
    np.testing.assert_allclose(found, best.x[:3], atol=1e-4)
    np.testing.assert_allclose(limits, best.x[3] + np.cumsum([0.0, *np.exp(best.x[4:])]), atol=1e-4)


def test_limits_of_a_constant_score_are_the_classes_frequencies(table):
    _, y, weight = table
    start = start_limits(y, weight, 4)
    targets, zero = y[:, None].astype(float), np.zeros((len(y), 1))
    np.testing.assert_allclose(fit_limits(targets, zero, weight, (-5.0, 0.0, 5.0)), start)


def test_a_class_without_rows_leaves_limits_as_they_are():
    targets, zero = np.array([[0.0], [2.0]]), np.zeros((2, 1))
    assert fit_limits(targets, zero, np.ones(2), (-1.0, 1.0)) == (-1.0, 1.0)
    assert len(start_limits(np.array([0, 2]), np.ones(2), 3)) == 2


def test_the_mean_class_rises_with_the_score():
    mean = Ordinal(1, (-1.0, 0.0, 2.5)).inverse_link(np.linspace(-9.0, 9.0, 50)[:, None])
    assert np.all(np.diff(mean[:, 0]) > 0.0)
