"""Refits of the last weights are optimal."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from builders.training import make_problem
from newron.training.refitting import Weights, gather_gradient, refit


class TestRefit:
    @staticmethod
    def draw(kind, seed=0, n=150):
        rng = np.random.default_rng(seed)
        k = {"binary": 1, "categorical": 3, "squared": 2}[kind]
        F = np.concatenate([np.ones((n, 1)), rng.random((n, 4)).round(1)], axis=1)
        scores = F @ rng.normal(size=(5, k)) * 2
        if kind == "squared":
            targets = scores + rng.normal(size=scores.shape)
        elif kind == "binary":
            targets = (rng.random((n, 1)) < 1 / (1 + np.exp(-scores))).astype(float)
        else:
            label = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
            targets = (label[:, None] == np.arange(k)).astype(float)
        term, output = np.divmod(np.arange(5 * k), k)
        ridge = np.where(term == 0, 1e-9, 0.7)
        weights = Weights(F, term, output, ridge, np.zeros(5 * k), np.zeros(5 * k))
        return make_problem(kind, targets, rng.integers(1, 4, n), k), weights

    def test_two_classes_as_logistic_regression(self):
        goal, weights = self.draw("binary")
        fitted = LogisticRegression(C=1 / 0.7, tol=1e-10, max_iter=10_000)
        fitted.fit(weights.features[:, 1:], goal.targets[:, 0], goal.weight)
        want = [*fitted.intercept_, *fitted.coef_[0]]
        np.testing.assert_allclose(refit(goal, weights).value, want, atol=1e-4)

    def test_three_classes_as_logistic_regression(self):
        goal, weights = self.draw("categorical")
        fitted = LogisticRegression(C=1 / 0.7, tol=1e-10, max_iter=10_000)
        fitted.fit(weights.features[:, 1:], goal.targets.argmax(axis=1), goal.weight)
        got = refit(goal, weights).value.reshape(5, 3)
        np.testing.assert_allclose(got[1:], fitted.coef_.T, atol=1e-4)
        np.testing.assert_allclose(got[0] - got[0].mean(), fitted.intercept_, atol=1e-4)

    def test_amounts_as_ridge_regression(self):
        goal, weights = self.draw("squared")
        fitted = Ridge(alpha=0.7).fit(weights.features[:, 1:], goal.targets, goal.weight)
        got = refit(goal, weights).value.reshape(5, 2)
        np.testing.assert_allclose(got, np.vstack([fitted.intercept_, fitted.coef_.T]), atol=1e-6)

    @pytest.mark.parametrize("kind", ["binary", "categorical", "squared"])
    @pytest.mark.parametrize("seed", range(3))
    def test_weights_stay_on_their_side_and_are_the_best_there(self, kind, seed):
        goal, weights = self.draw(kind, seed)
        rng = np.random.default_rng(seed)
        side = np.where(weights.term == 0, 0, rng.integers(-1, 2, len(weights.term))).astype(float)
        bound = Weights(
            weights.features, weights.term, weights.output, weights.ridge, side, weights.value
        )
        got = refit(goal, bound)
        assert np.all(got.value * side >= 0.0)
        slope = gather_gradient(got, goal.expand(got.score(goal.targets.shape[1])).gradient)
        slope += weights.ridge * got.value
        held = (side != 0) & (got.value == 0.0)
        assert held.any()
        assert np.all(slope[held] * side[held] > -1e-3)
        np.testing.assert_allclose(slope[~held], 0.0, atol=1e-3)

    def test_rows_that_can_be_told_apart_without_error_have_an_end(self):
        F = np.array([[1.0, 0.0], [1.0, 1.0]])
        weights = Weights(F, np.array([0, 1]), np.array([0, 0]), np.array([1e-6, 1.0]),
                          np.zeros(2), np.zeros(2))  # fmt: skip
        got = refit(make_problem("binary", np.array([[0.0], [1.0]]), np.ones(2)), weights)
        assert np.all(np.isfinite(got.value))
