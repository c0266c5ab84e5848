"""Networks distilled from the mean of others, and their soft targets."""

from dataclasses import replace

import numpy as np
import pytest

import newron.training.core_trainer as core_trainer
import newron.training.distillation as distillation
import newron.training.gradient as gradient
import newron.training.strategies.default as default
from builders.training import (
    make_context,
    make_part,
    make_problem,
    make_set,
    measure_loss,
)
from newron import NewronClassifier, NewronRegressor
from newron.model import Classes, Targets
from newron.tables.field import Field
from newron.training.architecture import plan_architecture
from newron.training.callbacks import Callback
from newron.training.crisp import RankedTable
from newron.training.decoding import decode, unscale
from newron.training.distillation import (
    fit_distilled,
    make_soft_targets,
    make_up_rows,
    mean_scores,
    weigh_scores,
)
from newron.training.gradient import fit_restarts
from newron.training.growing import GrowPlan, GrowTask, grow
from newron.training.ranking import learn_ranking
from newron.training.recipe import Recipe
from newron.training.specification import Specification
from newron.training.strategies import fit

KINDS = {
    "two classes": Classes((0, 1)),
    "three classes": Classes((0, 1, 2)),
    "amounts": Targets(("y",)),
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
        "amounts": 1000 + 50 * z,
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


def train_teachers(data, spec, n=8):
    return fit_restarts(data, spec.adjust(n_init=n), make_context())


def train_student(data, spec, n=4, **settings):
    return fit_distilled(data, spec, n, make_context(**settings))


def compare_with_teachers(data, spec):
    taught = train_student(data, spec, 8)
    teachers = [teacher.model for teacher in train_teachers(data, spec)]
    wanted = np.mean([teacher.scores(data.X) for teacher in teachers], axis=0)
    np.testing.assert_allclose(mean_scores(teachers, data.X), wanted)
    got = taught.model.scores(data.X)
    for want, have in zip(wanted.T, got.T, strict=True):
        assert np.corrcoef(want, have)[0, 1] > 0.98
        # Correlation alone would not see a wrong scale or place.
        assert np.sqrt(np.mean((want - have) ** 2)) < 0.15 * want.std()


def measure(kind, model, data):
    return measure_loss(KINDS[kind], model.scores(data.X), data.y, data.weight)


def make_estimator(kind, **settings):
    make = NewronRegressor if kind == "amounts" else NewronClassifier
    return make(
        "tanh_prod", hidden_layer_sizes=(), input_scale="both", random_state=0, **settings
    )  # fmt: skip


def score(estimator, X):
    return estimator.model_.scores(np.asarray(X))


@every_kind
@pytest.mark.parametrize("processing", ["tanh_prod", "sigmoid"])
class TestTheTaughtNetwork:
    def test_says_what_the_mean_of_its_teachers_says(self, kind, processing):
        data = make_table(kind, valley=processing == "tanh_prod")
        compare_with_teachers(data, make_spec(kind, processing, max_iter=300))

    def test_is_one_network_of_the_teachers_size(self, kind, processing):
        data = make_table(kind)
        taught = train_student(data, make_spec(kind, processing))
        teacher = train_teachers(data, make_spec(kind, processing), 1)[0]
        assert taught.model.n_functions == teacher.model.n_functions
        assert taught.model.output == KINDS[kind]
        assert not taught.interrupted

    def test_is_what_its_parameters_decode_to(self, kind, processing):
        data, spec = make_table(kind), make_spec(kind, processing)
        taught = train_student(data, spec)
        core = taught.core
        parts = (core.wiring, core.trained.params, core.encoding, spec.output, data)
        decoded = unscale(decode(*parts), core.target_scale)
        got, want = taught.model.scores(data.X), decoded.scores(data.X)
        # The model's numbers are shortened, the parameters are not.
        np.testing.assert_allclose(got, want, atol=0.02 * want.std())
        np.testing.assert_array_equal(core.trained.state.params, core.trained.params)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_the_loss_is_told_that_of_the_labels(kind):
    data = make_table(kind)
    taught = train_student(data, make_spec(kind))
    assert taught.best_loss == pytest.approx(measure(kind, taught.model, data), rel=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_sigmoids_learn_a_valley_from_their_teachers(seed):
    data = make_table("two classes", seed=seed)
    compare_with_teachers(data, make_spec("two classes", "sigmoid", max_iter=300))


def test_the_loss_of_amounts_is_told_in_the_spread_of_the_amounts():
    data = make_table("amounts")
    taught = train_student(data, make_spec("amounts"))
    want = np.mean((taught.model.scores(data.X) - data.y) ** 2) / data.y.var()
    assert taught.best_loss == pytest.approx(want, rel=1e-3)


@every_kind
class TestTheSameNetwork:
    def test_for_any_number_of_threads(self, kind):
        data = make_table(kind)
        a, b = (train_student(data, make_spec(kind), 5, n_threads=n) for n in (1, 3))
        assert a.model == b.model
        np.testing.assert_array_equal(a.core.trained.params, b.core.trained.params)

    def test_for_any_order_of_the_rows(self, kind):
        data = make_table(kind)
        mixed = np.random.default_rng(1).permutation(len(data.X))
        other = make_set(data.X[mixed], data.y[mixed], fields=data.fields)
        a, b = (train_student(d, make_spec(kind)) for d in (data, other))
        assert a.model == b.model

    def test_for_a_weight_of_two_and_the_row_twice(self, kind):
        data = make_table(kind)
        counts = np.random.default_rng(1).integers(0, 3, len(data.X))
        weighed = make_set(data.X, data.y, counts.astype(float), data.fields)
        index = np.repeat(np.arange(len(counts)), counts)
        repeated = make_set(data.X[index], data.y[index], fields=data.fields)
        a, b, plain = (train_student(d, make_spec(kind)) for d in (weighed, repeated, data))
        assert a.model == b.model
        assert a.model != plain.model
        assert a.best_loss == pytest.approx(b.best_loss, rel=1e-9)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_weights_are_repeats_where_rows_differ_by_their_label_alone(kind):
    same = []
    for seed in range(6):
        data = make_table(kind, 120, seed)
        X = data.X.round()
        counts = np.random.default_rng(seed).integers(1, 8, len(data.X))
        weighed = make_set(X, data.y, counts.astype(float), data.fields)
        index = np.repeat(np.arange(len(counts)), counts)
        repeated = make_set(X[index], data.y[index], fields=data.fields)
        a, b = (train_student(d, make_spec(kind, max_iter=20), 2) for d in (weighed, repeated))
        same.append(a.model == b.model)
    assert all(same)


def test_weights_are_repeats_where_the_decay_depends_on_the_rows():
    data = make_table("two classes", 700)
    a, b = (make_estimator("two classes", max_iter=20) for _ in range(2))
    a.fit(data.X, data.y[:, 0], sample_weight=np.full(700, 2.0))
    b.fit(np.repeat(data.X, 2, axis=0), np.repeat(data.y[:, 0], 2))
    assert a.model_ == b.model_


@every_kind
class TestGoingOn:
    """Under the default recipe a taught network can be gone on from."""

    def fit(self, kind, **settings):
        data = make_table(kind)
        X, y = data.X, data.y[:, 0]
        return make_estimator(kind, max_iter=100, **settings).fit(X, y), X, y

    def test_a_warm_start_that_does_not_move_changes_no_score(self, kind):
        fitted, X, y = self.fit(kind, warm_start=True)
        before = score(fitted, X)
        fitted.set_params(max_iter=1, learning_rate_init=1e-12).fit(X, y)
        np.testing.assert_allclose(score(fitted, X), before, atol=0.02 * before.std())

    def test_a_partial_fit_that_does_not_move_changes_no_score(self, kind):
        fitted, X, y = self.fit(kind)
        before = score(fitted, X)
        fitted.set_params(learning_rate_init=1e-12).partial_fit(X, y)
        np.testing.assert_allclose(score(fitted, X), before, atol=0.02 * before.std())

    def test_a_warm_start_learns_more_of_the_labels(self, kind):
        fitted, X, y = self.fit(kind, warm_start=True)
        before = measure(kind, fitted.model_, make_table(kind))
        fitted.set_params(weight_decay=0.0).fit(X, y)
        assert measure(kind, fitted.model_, make_table(kind)) < 0.98 * before


class TestMadeUpRows:
    def make(self):
        X = make_table("two classes").X
        return X, make_up_rows(X, np.random.default_rng(0))

    def test_the_rows_themselves_come_first(self):
        X, rows = self.make()
        assert len(rows) == 3 * len(X)
        np.testing.assert_array_equal(rows[: len(X)], X)

    def test_about_a_quarter_of_the_values_are_foreign(self):
        X, rows = self.make()
        copies = rows[len(X) :]
        foreign = np.mean(copies != np.tile(X, (2, 1)))
        assert 0.2 < foreign < 0.27
        for copy, own in zip(copies.T, X.T, strict=True):
            assert set(copy) <= set(own)  # no value that the column does not have

    def test_a_copy_weighs_as_its_row(self, monkeypatch):
        weight = np.random.default_rng(1).random(300)
        data, given = make_table("amounts"), []
        monkeypatch.setattr(
            distillation, "_train_student", lambda *arguments: given.append(arguments[2])
        )
        data = replace(data, weight=weight)
        distillation.distil(data, make_spec("amounts"), lambda X: X, make_context())
        np.testing.assert_array_equal(given[0], np.tile(weight, 3))


class CtrlC(Callback):
    def on_progress(self, progress):
        raise KeyboardInterrupt


@every_kind
class TestInterruption:
    def test_ctrl_c_keeps_the_best_restart(self, kind, monkeypatch):
        heard = []

        def listen(results, *rest):
            heard.extend(results)
            return finish_best(results, *rest)

        finish_best = gradient._finish_best
        monkeypatch.setattr(distillation, "fit_network", None)  # no student is trained any more
        monkeypatch.setattr(gradient, "_finish_best", listen)
        data, context = make_table(kind), make_context(callbacks=[CtrlC()])
        with pytest.raises(KeyboardInterrupt):
            fit_distilled(data, make_spec(kind, max_iter=10**6), 4, context)
        fitted = context.best()
        best = min(heard, key=lambda each: each.best_loss)
        assert fitted.interrupted
        assert np.isfinite(fitted.best_loss)
        assert fitted.best_loss == best.best_loss
        assert fitted.core is best.core
        got, want = fitted.model.scores(data.X), best.model.scores(data.X)
        np.testing.assert_allclose(got, want, atol=0.02 * want.std())

    def test_ctrl_c_while_the_network_is_taught_keeps_no_worse(self, kind, monkeypatch):
        def stop(*_):
            raise KeyboardInterrupt

        def teach_until_ctrl_c(*arguments):
            monkeypatch.setattr(core_trainer, "_BLOCK_SECONDS", 1e-6)
            monkeypatch.setattr(core_trainer, "_make_progress", stop)
            return fit_network(*arguments)

        fit_network = distillation.fit_network
        monkeypatch.setattr(distillation, "fit_network", teach_until_ctrl_c)
        data, spec = make_table(kind), make_spec(kind)
        best = min(train_teachers(data, spec, 4), key=lambda each: each.best_loss)
        context = make_context()
        with pytest.raises(KeyboardInterrupt):
            fit_distilled(data, spec, 4, context)
        fitted = context.best()
        assert fitted.interrupted
        got, want = fitted.model.scores(data.X), best.model.scores(data.X)
        np.testing.assert_allclose(got, want, atol=0.02 * want.std())
        assert fitted.best_loss == best.best_loss


class TestWhoIsTaught:
    def fit(self, monkeypatch, n_rows=100, **settings):
        """Give how many networks taught."""
        heard = []
        monkeypatch.setattr(
            default, "fit_distilled", lambda *a: heard.append(a[2]) or fit_distilled(*a)
        )
        data = make_table("two classes", n_rows)
        make_estimator("two classes", max_iter=10, **settings).fit(data.X, data.y[:, 0])
        return heard

    def test_eight_restarts_teach(self, monkeypatch):
        assert self.fit(monkeypatch) == [8]

    def test_as_many_teach_as_the_user_says(self, monkeypatch):
        assert self.fit(monkeypatch, n_init=3) == [3]

    def test_one_restart_is_not_taught(self, monkeypatch):
        assert self.fit(monkeypatch, n_init=1) == []

    def test_gradients_alone_are_not_taught(self, monkeypatch):
        assert self.fit(monkeypatch, recipe="gradient") == []

    def test_few_rows_are_not_taught(self, monkeypatch):
        assert self.fit(monkeypatch, n_rows=15) == []


class TestWeights:
    def test_rows_near_the_border_weigh_more(self):
        weight = np.array([1.0, 2.0, 0.0, 1.0])
        scores = np.array([[0.0], [0.0], [0.0], [50.0]])
        got = weigh_scores(weight, make_spec("two classes"), scores)
        np.testing.assert_allclose(got, [0.27, 0.54, 0.0, 0.02])

    def test_of_several_classes_the_mean_of_their_odds_counts(self):
        scores = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 90.0]])
        got = weigh_scores(np.ones(2), make_spec("three classes"), scores)
        np.testing.assert_allclose(got, [0.02 + 2 / 9, 0.02])

    def test_amounts_keep_their_weights(self):
        weight = np.array([1.0, 2.0, 3.0])
        got = weigh_scores(weight, make_spec("amounts"), np.ones((3, 1)))
        np.testing.assert_array_equal(got, weight)

    @every_kind
    @pytest.mark.parametrize("weighed", [False, True])
    def test_lessons_are_centred_and_scaled_and_weigh_as_much_as_the_rows(self, kind, weighed):
        rng = np.random.default_rng(0)
        data = make_table(kind)
        if weighed:
            data = replace(data, weight=rng.uniform(0.0, 5.0, len(data.X)))
        scores = 7.0 + 3.0 * rng.normal(size=(len(data.X), KINDS[kind].n_scores))
        lesson = make_soft_targets(data, make_spec(kind), scores)
        assert lesson.weight.sum() == pytest.approx(data.n_rows)
        share = lesson.weight / data.n_rows
        np.testing.assert_allclose(share @ lesson.targets, 0.0, atol=1e-6)
        np.testing.assert_allclose(share @ lesson.targets**2, 1.0, atol=1e-5)
        np.testing.assert_allclose(lesson.scale.undo(lesson.targets), scores, atol=1e-5)
        likened = weigh_scores(data.weight, make_spec(kind), scores)
        np.testing.assert_allclose(lesson.weight / lesson.weight.max(), likened / likened.max())


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
        a, b = (grow(t, GrowPlan(5), make_context())[0][-1] for t in (task, mixed))
        for have, want in zip(a.for_core(), b.for_core(), strict=True):
            np.testing.assert_array_equal(have, want)
        assert task.measure(a) != mixed.measure(b)

    def test_what_is_grown_comes_near_the_teacher(self, kind):
        task, scores = self.make_task(kind)
        shapes, losses = grow(task, GrowPlan(20, max_conditions=1, ridge=0.1), make_context())
        every = make_part(np.arange(len(scores)))
        distances = [task.measure_distance(shape, every) for shape in shapes]
        assert distances[0] == pytest.approx(1.0, abs=1e-3)
        assert distances[-1] < 0.05
        scale = task.teacher.scale
        grown = shapes[-1].score(task.table.ranks) * scale.scale + scale.shift
        error = np.average(((grown - scores) / scale.scale) ** 2, 0, task.teacher.weight).mean()
        assert distances[-1] == pytest.approx(error, rel=1e-4)
        assert losses[-1] == pytest.approx(task.table.problem.measure(grown))

    def test_rows_held_out_are_measured_alone(self, kind):
        task, _ = self.make_task(kind)
        shape = grow(task, GrowPlan(5), make_context())[0][-1]
        some = make_part(np.arange(0, 300, 7))
        small = replace(task, table=task.table.take(some), teacher=task.teacher.take(some))
        every = make_part(np.arange(len(some.index)))
        assert task.measure_distance(shape, some) == small.measure_distance(shape, every)

    def test_the_model_and_its_path_speak_the_teachers_language(self, kind):
        """A grown network is told in the units of scores, or of the amounts."""
        data = make_table(kind, 150)
        spec = make_spec(kind, "heaviside", max_iter=20)
        path = fit("grow", data, spec, make_context()).path
        assert all(shape.n_conditions == len(shape.terms) for shape in path.shapes)
        for n in (1, len(path) - 1):
            scores, targets = path[n].scores(data.X), data.y
            if kind == "amounts":
                shift, scale = data.y.mean(), data.y.std()
                scores, targets = (scores - shift) / scale, (targets - shift) / scale
            loss = measure_loss(KINDS[kind], scores, targets, data.weight)
            assert path.loss[n] == pytest.approx(loss, rel=1e-5)
        assert path.loss[-1] < path.loss[0]
