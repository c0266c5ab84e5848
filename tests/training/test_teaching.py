"""Networks taught by the mean of others, and what they are taught with."""

from dataclasses import replace

import numpy as np
import pytest

import newron.training.native as native
import newron.training.procedure as procedure
import newron.training.teaching as teaching
from newron import NewronClassifier, NewronRegressor
from newron.model import Classes, Targets
from newron.tables.field import Field
from newron.training.architecture import plan_architecture
from newron.training.callback import Callback
from newron.training.crisp import RankedTable
from newron.training.decoding import decode, unscale
from newron.training.fitting import Data, Plan, fit_restarts, make_sample, name_loss
from newron.training.growing import GrowPlan, GrowTask, Lesson, grow
from newron.training.holdout import list_rows, measure_loss, settle
from newron.training.ranking import learn_ranking
from newron.training.recipe import Recipe
from newron.training.teaching import (
    fit_taught,
    make_lesson,
    make_up_rows,
    mean_scores,
    weigh_scores,
)

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
    return Data(X, y.astype(float)[:, None], None, FIELDS)


def make_plan(kind, processing="tanh_prod", max_iter=100, **settings):
    output = KINDS[kind]
    return Plan(
        plan_architecture((), output.n_scores, processing=processing),
        Recipe(max_iter=max_iter, weight_decay=0.3),
        output,
        np.random.SeedSequence(0),
        input_scale="both",
        **settings,
    )


def take_teachers(data, plan, n=8):
    return fit_restarts(data, replace(plan, recipe=replace(plan.recipe, n_init=n)))


def compare_with_teachers(data, plan):
    taught = fit_taught(data, plan(), 8)
    teachers = [teacher.model for teacher in take_teachers(data, plan())]
    wanted = np.mean([teacher.scores(data.X) for teacher in teachers], axis=0)
    np.testing.assert_allclose(mean_scores(teachers, data.X), wanted)
    got = taught.model.scores(data.X)
    for want, have in zip(wanted.T, got.T, strict=True):
        assert np.corrcoef(want, have)[0, 1] > 0.98
        # Correlation alone would not see a wrong scale or place.
        assert np.sqrt(np.mean((want - have) ** 2)) < 0.15 * want.std()


def measure(kind, model, data):
    parts = (model.scores(data.X), data.y.astype(np.float32), list_rows(data).weight)
    return measure_loss(name_loss(KINDS[kind]), *parts)


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
        compare_with_teachers(data, lambda: make_plan(kind, processing, max_iter=300))

    def test_is_one_network_of_the_teachers_size(self, kind, processing):
        data = make_table(kind)
        taught = fit_taught(data, make_plan(kind, processing), 4)
        teacher = take_teachers(data, make_plan(kind, processing), 1)[0]
        assert taught.model.n_functions == teacher.model.n_functions
        assert taught.model.output == KINDS[kind]
        assert not taught.interrupted

    def test_is_what_its_parameters_decode_to(self, kind, processing):
        data, plan = make_table(kind), make_plan(kind, processing)
        taught = fit_taught(data, plan, 4)
        core = taught.core
        sample = make_sample(data)
        parts = (core.wiring, core.trained.params, core.encoding, plan.output, sample)
        decoded = unscale(decode(*parts), core.target_scale)
        got, want = taught.model.scores(data.X), decoded.scores(data.X)
        # The model's numbers are shortened, the parameters are not.
        np.testing.assert_allclose(got, want, atol=0.02 * want.std())
        np.testing.assert_array_equal(core.trained.state.params, core.trained.params)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_the_loss_is_told_that_of_the_labels(kind):
    data = make_table(kind)
    taught = fit_taught(data, make_plan(kind), 4)
    assert taught.best_loss == pytest.approx(measure(kind, taught.model, data), rel=1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_sigmoids_learn_a_valley_from_their_teachers(seed):
    data = make_table("two classes", seed=seed)
    compare_with_teachers(data, lambda: make_plan("two classes", "sigmoid", max_iter=300))


def test_the_loss_of_amounts_is_told_in_the_spread_of_the_amounts():
    data = make_table("amounts")
    taught = fit_taught(data, make_plan("amounts"), 4)
    want = np.mean((taught.model.scores(data.X) - data.y) ** 2) / data.y.var()
    assert taught.best_loss == pytest.approx(want, rel=1e-3)


@every_kind
class TestTheSameNetwork:
    def test_for_any_number_of_threads(self, kind):
        data = make_table(kind)
        a, b = (fit_taught(data, make_plan(kind, n_threads=n), 5) for n in (1, 3))
        assert a.model == b.model
        np.testing.assert_array_equal(a.core.trained.params, b.core.trained.params)

    def test_for_any_order_of_the_rows(self, kind):
        data = make_table(kind)
        mixed = np.random.default_rng(1).permutation(len(data.X))
        other = Data(data.X[mixed], data.y[mixed], None, data.fields)
        a, b = (fit_taught(d, make_plan(kind), 4) for d in (data, other))
        assert a.model == b.model

    def test_for_a_weight_of_two_and_the_row_twice(self, kind):
        data = make_table(kind)
        counts = np.random.default_rng(1).integers(0, 3, len(data.X))
        weighed = replace(data, weight=counts.astype(float))
        index = np.repeat(np.arange(len(counts)), counts)
        repeated = Data(data.X[index], data.y[index], None, data.fields)
        a, b, plain = (fit_taught(d, make_plan(kind), 4) for d in (weighed, repeated, data))
        assert a.model == b.model
        assert a.model != plain.model
        assert a.best_loss == pytest.approx(b.best_loss, rel=1e-9)


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_weights_are_repeats_where_rows_differ_by_their_label_alone(kind):
    same = []
    for seed in range(6):
        data = make_table(kind, 120, seed)
        data = replace(data, X=data.X.round())
        counts = np.random.default_rng(seed).integers(1, 8, len(data.X))
        weighed = replace(data, weight=counts.astype(float))
        index = np.repeat(np.arange(len(counts)), counts)
        repeated = Data(data.X[index], data.y[index], None, data.fields)
        a, b = (fit_taught(d, make_plan(kind, max_iter=20), 2) for d in (weighed, repeated))
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
    def make(self, weight=None):
        data = replace(make_table("two classes"), weight=weight)
        return data, make_up_rows(data, np.random.default_rng(0))

    def test_the_rows_themselves_come_first(self):
        data, rows = self.make()
        assert len(rows.X) == 3 * len(data.X)
        np.testing.assert_array_equal(rows.X[: len(data.X)], data.X)
        assert rows.weight is None

    def test_about_a_quarter_of_the_values_are_foreign(self):
        data, rows = self.make()
        copies = rows.X[len(data.X) :]
        share = np.mean(copies != np.tile(data.X, (2, 1)))
        assert 0.2 < share < 0.27
        for copy, own in zip(copies.T, data.X.T, strict=True):
            assert set(copy) <= set(own)  # no value that the column does not have

    def test_a_copy_weighs_as_its_row(self):
        weight = np.random.default_rng(1).random(300)
        _, rows = self.make(weight)
        np.testing.assert_array_equal(rows.weight, np.tile(weight, 3))


class CtrlC(Callback):
    def on_progress(self, progress):
        raise KeyboardInterrupt


@every_kind
class TestInterruption:
    def test_ctrl_c_keeps_the_best_restart(self, kind, monkeypatch):
        heard = []

        def listen(*arguments):
            heard.extend(fit_restarts(*arguments))
            return heard

        monkeypatch.setattr(teaching, "fit_restarts", listen)
        monkeypatch.setattr(teaching, "fit_network", None)  # nobody is taught any more
        data = make_table(kind)
        fitted = fit_taught(data, make_plan(kind, max_iter=10**6, callbacks=[CtrlC()]), 4)
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
            monkeypatch.setattr(native, "_BLOCK_SECONDS", 1e-6)
            monkeypatch.setattr(native, "_progress", stop)
            return fit_network(*arguments)

        fit_network = teaching.fit_network
        monkeypatch.setattr(teaching, "fit_network", teach_until_ctrl_c)
        data, plan = make_table(kind), make_plan(kind)
        best = min(take_teachers(data, plan, 4), key=lambda each: each.best_loss)
        fitted = fit_taught(data, make_plan(kind), 4)
        assert fitted.interrupted
        got, want = fitted.model.scores(data.X), best.model.scores(data.X)
        np.testing.assert_allclose(got, want, atol=0.02 * want.std())
        assert fitted.best_loss == best.best_loss


class TestWhoIsTaught:
    def fit(self, monkeypatch, n_rows=100, **settings):
        """Give how many networks taught."""
        heard = []
        monkeypatch.setattr(
            procedure, "fit_taught", lambda *a: heard.append(a[2]) or fit_taught(*a)
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
        data = replace(make_table("two classes", 4), weight=np.array([1.0, 2.0, 0.0, 1.0]))
        scores = np.array([[0.0], [0.0], [0.0], [50.0]])
        got = weigh_scores(data, make_plan("two classes"), scores)
        np.testing.assert_allclose(got, [0.27, 0.54, 0.0, 0.02])

    def test_of_several_classes_the_mean_of_their_odds_counts(self):
        data = make_table("three classes", 2)
        scores = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 90.0]])
        got = weigh_scores(data, make_plan("three classes"), scores)
        np.testing.assert_allclose(got, [0.02 + 2 / 9, 0.02])

    def test_amounts_keep_their_weights(self):
        data = replace(make_table("amounts", 3), weight=np.array([1.0, 2.0, 3.0]))
        got = weigh_scores(data, make_plan("amounts"), data.y)
        np.testing.assert_array_equal(got, data.weight)

    @every_kind
    @pytest.mark.parametrize("weighed", [False, True])
    def test_lessons_are_centred_and_scaled_and_weigh_as_much_as_the_rows(self, kind, weighed):
        rng = np.random.default_rng(0)
        data = make_table(kind)
        if weighed:
            data = replace(data, weight=rng.uniform(0.0, 5.0, len(data.X)))
        scores = 7.0 + 3.0 * rng.normal(size=(len(data.X), KINDS[kind].n_scores))
        lesson = make_lesson(data, make_plan(kind), scores)
        total = list_rows(data).weight.sum()
        assert lesson.weight.sum() == pytest.approx(total)
        share = lesson.weight / total
        np.testing.assert_allclose(share @ lesson.targets, 0.0, atol=1e-6)
        np.testing.assert_allclose(share @ lesson.targets**2, 1.0, atol=1e-5)
        again = lesson.targets * lesson.scale.scale + lesson.scale.shift
        np.testing.assert_allclose(again, scores, atol=1e-5)
        likened = weigh_scores(data, make_plan(kind), scores)
        np.testing.assert_allclose(lesson.weight / lesson.weight.max(), likened / likened.max())


@every_kind
class TestGrowingTowardsATeacher:
    def make_task(self, kind):
        data, plan = settle(make_table(kind)), make_plan(kind)
        ranking = learn_ranking(data.X, np.arange(len(data.X)), data.fields, 32)
        table = RankedTable(ranking.encode(data.X), data.y.astype(np.float32), data.weight)
        rng = np.random.default_rng(3)
        scores = np.abs(data.X[:, :1]) * rng.uniform(0.5, 3.0, (1, KINDS[kind].n_scores)) - 1.0
        lesson = make_lesson(data, plan, scores)
        parts = (name_loss(plan.output), plan.output.n_scores, 1)
        return GrowTask(table, ranking, *parts, lesson=lesson), scores

    def test_the_labels_are_not_looked_at(self, kind):
        task, _ = self.make_task(kind)
        mixed = replace(task, table=replace(task.table, targets=task.table.targets[::-1].copy()))
        a, b = (grow(t, GrowPlan(5))[0][-1] for t in (task, mixed))
        for have, want in zip(a.for_core(), b.for_core(), strict=True):
            np.testing.assert_array_equal(have, want)
        assert task.measure(a) != mixed.measure(b)

    def test_what_is_grown_comes_near_the_teacher(self, kind):
        task, scores = self.make_task(kind)
        shapes, losses, _ = grow(task, GrowPlan(20, max_conditions=1, ridge=0.1))
        index = np.arange(len(scores))
        distances = [task.measure_lesson(shape, index) for shape in shapes]
        assert distances[0] == pytest.approx(1.0, abs=1e-3)
        assert distances[-1] < 0.05
        scale = task.lesson.scale
        grown = shapes[-1].score(task.table.ranks) * scale.scale + scale.shift
        error = np.average(((grown - scores) / scale.scale) ** 2, 0, task.lesson.weight).mean()
        assert distances[-1] == pytest.approx(error, rel=1e-4)
        want = measure_loss(task.loss, grown, task.table.targets, task.table.weight)
        assert losses[-1] == pytest.approx(want)

    def test_rows_held_out_are_measured_alone(self, kind):
        task, _ = self.make_task(kind)
        shape = grow(task, GrowPlan(5))[0][-1]
        some = np.arange(0, 300, 7)
        taken = Lesson(task.lesson.targets[some], task.lesson.weight[some], task.lesson.scale)
        small = replace(task, table=task.table.take(some), lesson=taken)
        every = np.arange(len(some))
        assert task.measure_lesson(shape, some) == small.measure_lesson(shape, every)

    def test_the_model_and_its_path_speak_the_teachers_language(self, kind):
        """A grown network is told in the units of scores, or of the amounts."""
        data = make_table(kind, 150)
        fitted = procedure.fit_grown(data, make_plan(kind, "heaviside", max_iter=20))
        settled, path = settle(data), fitted.path
        assert all(shape.n_conditions == len(shape.terms) for shape in path.shapes)
        for n in (1, len(path) - 1):
            scores, targets = path[n].scores(settled.X), settled.y
            if kind == "amounts":
                shift, scale = data.y.mean(), data.y.std()
                scores, targets = (scores - shift) / scale, (targets - shift) / scale
            loss = measure_loss(
                name_loss(KINDS[kind]), scores, targets.astype(np.float32), settled.weight
            )
            assert path.loss[n] == pytest.approx(loss, rel=1e-5)
        assert path.loss[-1] < path.loss[0]
