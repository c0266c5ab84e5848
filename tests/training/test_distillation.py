"""Soft targets, and networks that are grown towards them."""

from dataclasses import replace

import numpy as np
import pytest

from builders.training import make_context, make_part, make_problem, make_set, measure_loss
from newron.model import Classes, Targets
from newron.tables.field import Field
from newron.training.architecture import plan_architecture
from newron.training.crisp import RankedTable
from newron.training.distillation import make_soft_targets, weigh_scores
from newron.training.growing import GrowPlan, GrowTask, grow, grow_short
from newron.training.ranking import learn_ranking
from newron.training.recipe import Recipe
from newron.training.specification import Specification
from newron.training.strategies import fit

KINDS = {
    "two classes": Classes((0, 1)),
    "three classes": Classes((0, 1, 2)),
    "regression": Targets(("y",)),
}
FIELDS = (Field("a"), Field("b"), Field("c"))
every_kind = pytest.mark.parametrize("kind", KINDS)


def make_table(kind, n=300, seed=0, *, valley=True):
    """Two columns that matter, one that does not, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    first = 2 * np.abs(X[:, 0]) - 1.5 if valley else np.sign(X[:, 0])
    z = first + X[:, 1] + rng.logistic(size=n)
    y = {
        "two classes": z > 0,
        "three classes": np.digitize(z, [-1, 1]),
        "regression": 1000 + 50 * z,
    }[kind]
    return make_set(X, y.astype(float), fields=FIELDS)


def make_spec(kind, processing="tanh_prod", max_iter=100, **settings):
    output = KINDS[kind]
    return Specification(
        plan_architecture((), output.n_scores, processing=processing),
        Recipe(max_iter=max_iter, weight_decay=0.3),
        output,
        input_scale="both",
        **settings,
    )


class TestWeights:
    def test_rows_near_the_border_weigh_more(self):
        weight = np.array([1.0, 2.0, 0.0, 1.0])
        scores = np.array([[0.0], [0.0], [0.0], [50.0]])
        got = weigh_scores(weight, make_spec("two classes"), scores)
        np.testing.assert_allclose(got, [0.27, 0.54, 0.0, 0.02])

    def test_of_several_classes_the_mean_of_their_variances_counts(self):
        scores = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 90.0]])
        got = weigh_scores(np.ones(2), make_spec("three classes"), scores)
        np.testing.assert_allclose(got, [0.02 + 2 / 9, 0.02])

    def test_regression_targets_keep_their_weights(self):
        weight = np.array([1.0, 2.0, 3.0])
        got = weigh_scores(weight, make_spec("regression"), np.ones((3, 1)))
        np.testing.assert_array_equal(got, weight)

    @every_kind
    @pytest.mark.parametrize("weighed", [False, True])
    def test_soft_targets_are_centred_and_scaled_and_weigh_as_much_as_the_rows(self, kind, weighed):
        rng = np.random.default_rng(0)
        data = make_table(kind)
        if weighed:
            data = replace(data, weight=rng.uniform(0.0, 5.0, len(data.X)))
        scores = 7.0 + 3.0 * rng.normal(size=(len(data.X), KINDS[kind].n_scores))
        soft = make_soft_targets(data, make_spec(kind), scores)
        assert soft.weight.sum() == pytest.approx(data.n_rows)
        fraction = soft.weight / data.n_rows
        np.testing.assert_allclose(fraction @ soft.targets, 0.0, atol=1e-6)
        np.testing.assert_allclose(fraction @ soft.targets**2, 1.0, atol=1e-5)
        np.testing.assert_allclose(soft.scale.undo(soft.targets), scores, atol=1e-5)
        expected = weigh_scores(data.weight, make_spec(kind), scores)
        np.testing.assert_allclose(soft.weight / soft.weight.max(), expected / expected.max())


@every_kind
class TestGrowingTowardsATeacher:
    def make_task(self, kind):
        data, spec = make_table(kind), make_spec(kind)
        ranking = learn_ranking(data, 32)
        n_scores = KINDS[kind].n_scores
        problem = make_problem(spec.objective.name, data.y, data.weight, n_scores)
        table = RankedTable(ranking.encode(data.X), problem)
        rng = np.random.default_rng(3)
        scores = np.abs(data.X[:, :1]) * rng.uniform(0.5, 3.0, (1, KINDS[kind].n_scores)) - 1.0
        teacher = make_soft_targets(data, spec, scores)
        return GrowTask(table, ranking, teacher=teacher), scores

    def test_the_labels_are_not_looked_at(self, kind):
        task, _ = self.make_task(kind)
        own = task.table.problem
        other = replace(own, targets=own.targets[::-1].copy())
        mixed = replace(task, table=replace(task.table, problem=other))
        a, b = (grow(t, GrowPlan(5), make_context())[0] for t in (task, mixed))
        for have, want in zip(a.for_core(), b.for_core(), strict=True):
            np.testing.assert_array_equal(have, want)
        assert task.measure(task.score(a)) != mixed.measure(mixed.score(b))

    def test_what_is_grown_comes_near_the_teacher(self, kind):
        task, scores = self.make_task(kind)
        shape, losses = grow(task, GrowPlan(20, max_conditions=1, ridge=0.1), make_context())
        constant = grow_short(task, GrowPlan(20, max_conditions=1, ridge=0.1), 0)[0]
        distances = [task.measure_distance(task.score(each)) for each in (constant, shape)]
        assert distances[0] == pytest.approx(1.0, abs=1e-3)
        assert distances[-1] < 0.05
        scale = task.teacher.scale
        grown = shape.score(task.table.ranks) * scale.scale + scale.shift
        error = np.average(((grown - scores) / scale.scale) ** 2, 0, task.teacher.weight).mean()
        assert distances[-1] == pytest.approx(error, rel=1e-4)
        assert losses[0] == pytest.approx(1.0, abs=1e-3)
        assert losses[-1] < 0.1
        assert task.measure(task.score(shape)) == pytest.approx(task.table.problem.measure(grown))

    def test_validation_rows_are_measured_alone(self, kind):
        task, _ = self.make_task(kind)
        shape, _ = grow(task, GrowPlan(5), make_context())
        some = make_part(np.arange(0, 300, 7))
        small = replace(task, table=task.table.take(some), teacher=task.teacher.take(some))
        scores = small.score(shape)
        assert task.take(some).measure_distance(scores) == small.measure_distance(scores)
        np.testing.assert_array_equal(task.take(some).score(shape), scores)

    def test_the_model_and_its_path_speak_the_teachers_language(self, kind):
        """A grown network is told in the units of scores, or of the amounts."""
        data = make_table(kind, 150)
        spec = make_spec(kind, "heaviside", max_iter=20)
        fitted = fit("grow", data, replace(spec, size="auto"), make_context())
        losses = []
        for model in (fitted.path[0], fitted.path[5], fitted.whole):
            scores, targets = model.scores(data.X), data.y
            if kind == "regression":
                shift, scale = data.y.mean(), data.y.std()
                scores, targets = (scores - shift) / scale, (targets - shift) / scale
            losses.append(measure_loss(KINDS[kind], scores, targets, data.weight))
        assert fitted.best_loss == pytest.approx(losses[-1], rel=1e-2)
        assert losses[-1] < losses[0]
        assert losses[1] < losses[0]
