"""Every objective: derivatives, links, starts, and agreement with the compiled core's loss."""

import numpy as np
import pytest

from newron import _core
from newron.errors import InputError
from newron.model import Classes, Labels, Targets
from newron.objectives import OBJECTIVES, TargetScale, choose_objective, read_objective
from newron.training.core_trainer import make_core_loss

every_objective = pytest.mark.parametrize("name", OBJECTIVES)


def draw(name, n=40, seed=0):
    rng = np.random.default_rng(seed)
    n_scores = {"binary": 1, "categorical": 3, "ordinal": 1}.get(name, 2)
    objective = OBJECTIVES[name](n_scores)
    scores = rng.normal(scale=2.0, size=(n, n_scores))
    if objective.stratified:
        n_classes = 3 if name == "ordinal" else max(n_scores, 2)
        y = rng.integers(0, n_classes, (n, 1)).astype(float)
    elif name == "labels":
        y = rng.integers(0, 2, scores.shape).astype(float)
    elif objective.link_name == "log":
        y = rng.gamma(2.0, size=scores.shape)
    else:
        y = rng.normal(size=scores.shape)
    return objective, objective.encode_targets(y), scores


@every_objective
class TestDerivatives:
    @pytest.mark.parametrize("soft", [False, True])
    def test_the_gradient_is_that_of_the_loss(self, name, soft):
        objective, targets, scores = draw(name)
        if soft:
            targets = 0.5 * targets + 0.5 * objective.inverse_link(scores[::-1])
        got = objective.expand(targets, scores).gradient
        for k, step in enumerate(1e-6 * np.eye(objective.n_scores)):
            ahead, behind = (objective.loss(targets, scores + s * step) for s in (1, -1))
            np.testing.assert_allclose(got[:, k], (ahead - behind) / 2e-6, atol=1e-6)

    def test_the_curvature_is_that_of_the_gradient(self, name):
        if name == "huber":
            pytest.skip("beyond its bend Huber's curvature is that of a parabola above it")
        objective, targets, scores = draw(name)
        curvature = objective.expand(targets, scores).curvature
        for m, step in enumerate(1e-6 * np.eye(objective.n_scores)):
            ahead, behind = (objective.expand(targets, scores + s * step) for s in (1, -1))
            want = (ahead.gradient - behind.gradient) / 2e-6
            for k in range(objective.n_scores):
                got = curvature(k, m)
                np.testing.assert_allclose(0.0 if got is None else got, want[:, k], atol=1e-6)


@every_objective
class TestScores:
    def test_the_link_undoes_its_inverse(self, name):
        objective, _, scores = draw(name)
        scores -= scores.mean(axis=1, keepdims=True) if name == "categorical" else 0.0
        again = objective.link(objective.inverse_link(scores))
        np.testing.assert_allclose(again, scores, atol=1e-9)

    def test_the_start_is_the_best_constant(self, name):
        objective, targets, _ = draw(name)
        weight = np.random.default_rng(1).uniform(0.5, 2.0, len(targets))
        start = objective.start_scores(targets, weight)

        def measure(scores):
            rows = np.tile(scores, (len(targets), 1))
            return np.average(objective.loss(targets, rows), weights=weight)

        rng = np.random.default_rng(2)
        if name in ("absolute", "huber", "quantile"):
            pytest.skip("they start from the exact quantile; their loss is smoothed, or not theirs")
        for _ in range(20):
            assert measure(start) <= measure(start + 0.1 * rng.normal(size=len(start)))

    def test_a_perfect_score_is_one(self, name):
        objective, targets, _ = draw(name)
        middle = 1.0 if name == "ordinal" else 0.5  # its limits lie around 0
        sides = objective.stratified or name == "labels"
        sure = 50.0 * (targets - middle) if sides else objective.link(targets)
        weight = np.ones(len(targets))
        assert objective.evaluate(targets, sure, weight) == pytest.approx(1.0, abs=1e-12)
        assert objective.score_rows(targets, sure).mean() == pytest.approx(1.0)

    def test_the_core_has_the_same_loss(self, name):
        objective, targets, scores = draw(name)
        objective = objective.adapt(targets, np.ones(len(targets)))
        table = _core.RankTable(
            np.zeros((1, len(targets)), np.uint16),
            np.ones(1, np.int32),
            np.ones(1, np.int32),
            np.zeros(1, np.int32),
            objective.encode_core(targets),
            np.ones(len(targets)),
            make_core_loss(objective),
            objective.n_scores,
            base=scores,
        )
        empty = np.zeros((0, 3), np.int32)
        none, no_flags = np.zeros(0, np.int32), np.zeros(0, np.uint8)
        start = np.zeros(objective.n_scores)
        network = _core.Crisp(
            table, np.zeros(1, np.int32), empty, empty, none, np.zeros(0), start, no_flags, no_flags
        )
        want = objective.loss(targets, scores).mean()
        assert network.loss == pytest.approx(want, rel=1e-5)


class TestReading:
    @pytest.mark.parametrize(
        "text", ["squared", "absolute", "huber:2", "quantile:0.1,0.9", "gamma", "tweedie:1.7"]
    )
    def test_an_objective_is_written_as_it_is_read(self, text):
        assert read_objective(text).text == text

    @pytest.mark.parametrize(
        "text", ["", "cox", "poisson:2", "quantile:1.5", "quantile:0.9,0.1", "tweedie:3", "huber:x"]
    )
    def test_what_is_no_objective_is_named(self, text):
        with pytest.raises(InputError, match="expected"):
            read_objective(text)

    def test_several_levels_are_of_one_target(self):
        with pytest.raises(InputError, match="one target"):
            read_objective("quantile:0.1,0.9", n_targets=2)


@pytest.mark.parametrize(
    ("output", "name", "n_scores"),
    [
        (Classes((0, 1)), "binary", 1),
        (Classes(("a", "b", "c")), "categorical", 3),
        (Classes(("a", "b", "c"), limits=(0.0, 1.0)), "ordinal", 1),
        (Targets(("y", "z")), "squared", 2),
        (Labels(("y", "z")), "labels", 2),
    ],
)
def test_each_output_has_its_usual_objective(output, name, n_scores):
    objective = choose_objective(output)
    assert (objective.name, objective.n_scores) == (name, n_scores)


def test_likelihood_is_half_the_sum_of_squares():
    objective, targets, scores = draw("squared")
    want = 0.5 * ((targets - scores) ** 2).sum(axis=1)
    np.testing.assert_allclose(objective.likelihood_factor * objective.loss(targets, scores), want)


class TestTargetScale:
    def test_it_is_undone(self):
        rng = np.random.default_rng(0)
        y = rng.normal(5.0, 3.0, (20, 2))
        scale = OBJECTIVES["squared"](2).learn_scale(y, np.ones(20))
        scaled = scale.apply(y)
        np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(scaled.std(axis=0), 1.0)
        np.testing.assert_allclose(scale.undo(scaled), y)

    def test_one_after_the_other(self):
        inner = TargetScale(np.array([2.0]), np.array([3.0]))
        outer = TargetScale(np.array([-1.0]), np.array([0.5]))
        y = np.array([[7.0]])
        np.testing.assert_allclose(inner.then(outer).undo(y), outer.undo(inner.undo(y)))

    def test_identity_changes_no_bit(self):
        y = np.random.default_rng(0).normal(size=(9, 2))
        scale = TargetScale.identity(2)
        assert scale.is_identity
        np.testing.assert_array_equal(scale.apply(y), y)
        np.testing.assert_array_equal(scale.undo(y), y)
