"""Steps on top of smooth networks, and growing on top of any scores."""

from dataclasses import replace

import numpy as np
import pytest

import newron.training.growing as growing
import newron.training.step_boosting as step_boosting
from builders.training import (
    LOSSES,
    keep_order,
    make_context,
    make_part,
    make_problem,
    make_set,
    measure_loss,
)
from newron import NewronClassifier, NewronRegressor, _core
from newron.model import Classes, Targets
from newron.model.processing import get_processing
from newron.tables.field import Field
from newron.training.architecture import plan_architecture
from newron.training.crisp import CrispShape, RankedTable, score_table
from newron.training.folds import split_folds
from newron.training.gradient import fit_network
from newron.training.growing import GrowPlan, GrowTask, grow
from newron.training.ranking import learn_ranking
from newron.training.recipe import Recipe
from newron.training.specification import Specification
from newron.training.step_boosting import boost, count_steps
from newron.training.strategies import run
from oracle import crisp as naive

OUTPUTS = {
    "two classes": Classes((0, 1)),
    "three classes": Classes((0, 1, 2)),
    "amounts": Targets(("y",)),
    "two amounts": Targets(("y", "z")),
}
FIELDS = (Field("a"), Field("b"))
NO_FLAGS = np.zeros(0, np.uint8)
every_kind = pytest.mark.parametrize("kind", OUTPUTS)
FUNCTIONS = [("tanh_prod", 1), ("tanh_prod", 2), ("tanh_prod", 3), ("sigmoid", 1)]
every_function = pytest.mark.parametrize(("processing", "n_factors"), FUNCTIONS)


def make_table(kind, n=1000, seed=0):
    """y rises with the first column, and jumps in a fiftieth of the second."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.uniform(0, 100, n)]).round(2)
    window = (X[:, 1] > 40) & (X[:, 1] < 42)
    z = 3 * X[:, 0] + 8 * window
    y = {
        "two classes": z + rng.logistic(size=n) > 0,
        "three classes": np.digitize(z + rng.logistic(size=n), [-2, 3]),
    }.get(kind, 1000 + 50 * (z + rng.normal(size=n)))
    y = np.asarray(y, float)[:, None]
    if kind == "two amounts":
        y = np.hstack([y, -y / 1000])
    return make_set(X, y, fields=FIELDS)


def make_spec(kind, processing="tanh_prod", n_factors=2, max_terms=5, **settings):
    output = OUTPUTS[kind]
    return Specification(
        plan_architecture((), output.n_scores, processing=processing, n_factors=n_factors),
        Recipe(max_iter=5, weight_decay=0.02, n_init=1),
        output,
        input_scale="both",
        max_terms=max_terms,
        **settings,
    )


def measure(kind, model, data):
    """Give the loss of a model as the core tells it: amounts in their spread."""
    scores, targets = model.scores(data.X), data.y
    if OUTPUTS[kind].n_scores == data.y.shape[1] and "amounts" in kind:
        shift, scale = data.y.mean(axis=0), data.y.std(axis=0)
        scores, targets = (scores - shift) / scale, (targets - shift) / scale
    return measure_loss(OUTPUTS[kind], scores, targets, data.weight)


def fit_base(data, spec):
    return fit_network(data, spec, make_context())


def start(data, spec):
    return step_boosting._start(data, spec, make_context())


def merge(base, shape, task):
    return step_boosting._merge(base, shape, task.ranking, task.table.problem.scale.scale)


def grow_on(data, spec, n_terms=6):
    """Return a base, its task and the steps grown on top of it."""
    base = fit_base(data, spec).model
    task = step_boosting._add_to(start(data, spec), base, data)
    shapes, _ = grow(task, step_boosting._PLAN.with_terms(n_terms), make_context())
    return base, task, shapes[-1]


def expect_scores(base, task, shape, X):
    return base.scores(X) + shape.score(task.ranking.encode(X)) * task.table.problem.scale.scale


def make_shape(terms, n_outputs, seed=0):
    rng = np.random.default_rng(seed)
    return CrispShape(
        np.zeros(1, np.int32),
        np.zeros((0, 3), np.int32),
        np.array(terms, np.int32).reshape(-1, 3),
        np.full(len(terms), -1, np.int32),
        rng.normal(size=(len(terms), n_outputs)),
        rng.normal(size=n_outputs),
    )


# ---- whether, and how many ----


@every_kind
def test_a_narrow_window_of_many_rows_is_found(kind):
    data, spec = make_table(kind, 10_400), make_spec(kind)
    folds = split_folds(data, spec.objective, np.random.SeedSequence(1))
    assert len(folds) == 1
    bases = [fit_base(data.take(fold.train), spec).model for fold in folds]
    n_terms, losses = count_steps(data, spec, bases, folds, make_context())
    assert n_terms >= 2
    assert losses.shape == (1,)
    base = fit_base(data, spec)
    fitted = boost(data, spec, base, n_terms, make_context())
    before, after = measure(kind, base.model, data), measure(kind, fitted.model, data)
    assert after < 0.99 * before
    assert fitted.best_loss == pytest.approx(after, rel=1e-3)  # numbers are shortened
    assert fitted.core is None
    assert not fitted.interrupted
    # The steps are where the window is.
    inside = np.array([[0.0, 41.0]])
    outside = np.array([[0.0, 39.0], [0.0, 43.0]])
    jump = fitted.model.scores(inside) - fitted.model.scores(outside)
    smooth = base.model.scores(inside) - base.model.scores(outside)
    assert np.all(np.abs(jump).max(axis=1) > 5 * np.abs(smooth).max(axis=1))


def test_without_a_window_nothing_is_added():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_500, 2)).round(2)
    y = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(float)[:, None]
    data, spec = make_set(X, y, fields=FIELDS), make_spec("two classes")
    folds = split_folds(data, spec.objective, np.random.SeedSequence(1))
    bases = [fit_base(data.take(fold.train), spec).model for fold in folds]
    n_terms, losses = count_steps(data, spec, bases, folds, make_context())
    assert n_terms == 0
    outside = [data.take(fold.validation) for fold in folds]
    want = [measure("two classes", b, held) for b, held in zip(bases, outside, strict=True)]
    np.testing.assert_allclose(losses, want, rtol=1e-3)  # its centre is fitted anew


@pytest.mark.parametrize("processing", ["tanh_prod", "sigmoid"])
def test_the_default_recipe_adds_steps_in_any_number_of_threads(processing):
    data = make_table("two classes", 10_400)
    mixed = np.random.default_rng(1).permutation(len(data.X))
    settings = {"hidden_layer_sizes": (), "max_iter": 5, "max_terms": 4, "random_state": 0}
    a, b = (
        NewronClassifier(processing, n_jobs=n, **settings).fit(data.X[rows], data.y[rows, 0])
        for n, rows in ((1, slice(None)), (3, mixed))
    )
    assert a.model_ == b.model_
    smooth = NewronClassifier(
        processing, recipe="gradient", input_scale="both", **settings
    ).fit(data.X, data.y[:, 0])  # fmt: skip
    assert a.model_.n_functions > smooth.model_.n_functions
    assert len(a.model_.layers) == 1
    assert measure("two classes", a.model_, data) < measure("two classes", smooth.model_, data)


def test_rows_that_were_merged_weigh_as_many_as_there_were():
    data = make_table("two classes", 300)
    twice = make_set(np.tile(data.X, (2, 1)), np.tile(data.y, (2, 1)), fields=data.fields)
    assert len(twice.X) == len(data.X)
    task = start(twice, make_spec("two classes"))
    np.testing.assert_allclose(task.table.problem.weight, twice.weight)


# ---- joining ----


@every_kind
@every_function
class TestMerging:
    def test_the_scores_of_both_are_added(self, kind, processing, n_factors):
        data, spec = make_table(kind), make_spec(kind, processing, n_factors)
        base, task, shape = grow_on(data, spec)
        assert len(shape.terms) == 6
        model = merge(base, shape, task)
        want = expect_scores(base, task, shape, data.X)
        size = np.abs(want - base.scores(data.X)).max()
        assert size > 0.1
        np.testing.assert_allclose(model.scores(data.X), want, rtol=0, atol=1e-9 * max(size, 1))
        n_steps = len(shape.terms) * OUTPUTS[kind].n_scores
        assert model.n_functions == base.n_functions + n_steps

    def test_any_steps_in_both_directions(self, kind, processing, n_factors):
        data, spec = make_table(kind, 300), make_spec(kind, processing, n_factors)
        base, task = fit_base(data, spec).model, start(data, spec)
        rng = np.random.default_rng(0)
        bins = task.ranking.n_bins
        terms = [(c, s, rng.integers(1, bins[c])) for c in (0, 1) for s in (1, -1)]
        terms += [(1, 1, 1), (0, -1, bins[0] - 1)]
        shape = make_shape(terms, OUTPUTS[kind].n_scores)
        model = merge(base, shape, task)
        want = expect_scores(base, task, shape, data.X)
        size = max(1.0, np.abs(want).max())
        np.testing.assert_allclose(model.scores(data.X), want, rtol=0, atol=1e-9 * size)


def evaluate_steps(model, data, ranking, x):
    """Give the value of a few steps of each column and direction at x, and the cuts."""
    layer, columns = model.layers[-1], model.schema.columns
    function = get_processing(layer.processing)
    for column in range(data.X.shape[1]):
        n_bins = len(ranking.lows[column])
        for cut in sorted({1, n_bins // 2, n_bins - 1} & set(range(1, n_bins))):
            for sign in (1, -1):
                term = np.array([column, sign, cut], np.int32)
                steep = step_boosting._to_steep(layer, term, NO_FLAGS, ranking, columns)
                assert steep.w.shape == steep.b.shape == (layer.n_factors,)
                assert len(steep.levels) == 0
                values = x(data.X[:, column])
                holds = (values >= ranking.lows[column][cut]) == (sign > 0)
                yield function.value(values[:, None], steep.w[None], steep.b[None])[:, 0], holds


@every_function
class TestSteepFunctions:
    @pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
    @pytest.mark.parametrize("shift", [0.0, -0.5, 1e4])
    def test_are_steps_on_every_training_value(self, processing, n_factors, scale, shift):
        data = make_table("two classes", 400)
        data = replace(data, X=scale * (data.X + shift))
        self.check(data, processing, n_factors, lambda x: x)

    def test_are_steps_far_outside_of_the_range(self, processing, n_factors):
        def go_far(x):
            reach = (x.max() - x.min()) * np.array([1.0, 10.0])
            return np.concatenate([x.min() - reach, x.max() + reach])

        self.check(make_table("two classes", 400), processing, n_factors, go_far)

    @pytest.mark.parametrize("values", [(0.0, 1.0), (-1.0, 0.0), (-3.0, 7.0, 1e5), (0.1, 0.2)])
    def test_are_steps_between_few_values(self, processing, n_factors, values):
        rng = np.random.default_rng(0)
        data = make_table("two classes", 400)
        X = rng.choice(values, data.X.shape)
        self.check(replace(data, X=X), processing, n_factors, lambda x: x)

    def test_are_steps_on_an_hour_of_timestamps(self, processing, n_factors):
        data = make_table("two classes", 400)
        data = replace(data, X=1.599e9 + 36 * data.X)
        self.check(data, processing, n_factors, lambda x: x)

    def test_are_steps_where_one_number_lies_between(self, processing, n_factors):
        data = make_table("two classes", 400)
        X = np.where(data.X > 1.0, 1.0 + 2 * np.spacing(1.0), 1.0)
        self.check(replace(data, X=X), processing, n_factors, lambda x: x)

    def check(self, data, processing, n_factors, x):
        spec = make_spec("two classes", processing, n_factors)
        ranking, model = start(data, spec).ranking, fit_base(data, spec).model
        for got, want in evaluate_steps(model, data, ranking, x):
            if processing == "sigmoid":  # its zero is exp(-40)
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-15)
            else:
                np.testing.assert_array_equal(got, want)


class TestOddSteps:
    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("always", [False, True])
    def test_what_always_or_never_holds_is_joined_too(self, sign, always):
        data, spec = make_table("two classes", 300), make_spec("two classes")
        base, task = fit_base(data, spec).model, start(data, spec)
        cut = 0 if always == (sign > 0) else task.ranking.n_bins[1]
        shape = make_shape([(0, 1, 3), (1, sign, cut)], 1)
        model = merge(base, shape, task)
        want = expect_scores(base, task, shape, data.X)
        np.testing.assert_allclose(model.scores(data.X), want, atol=1e-9)
        assert model.n_functions == base.n_functions + 1

    def test_a_table_where_polish_ends_with_such_a_step(self):
        rng = np.random.default_rng(23)
        n = 12_000
        columns = [rng.integers(0, k, n) for k in (2, 3, 4)] + [rng.uniform(0, 100, n).round(0)]
        X = np.array(columns, float).T
        window = (X[:, 3] > 40) & (X[:, 3] < 43)
        z = X[:, 0] + (X[:, 1] == 1) + 2 * window + (X[:, 2] == 2) * X[:, 0] + 0.02 * X[:, 3]
        y = z + rng.normal(size=n)
        settings = {"hidden_layer_sizes": (), "max_iter": 10, "n_init": 1, "random_state": 23}
        assert NewronRegressor("tanh_prod", **settings).fit(X, y).score(X, y) > 0.3

    def test_what_no_number_can_part_is_one_bin(self):
        data = make_table("two classes", 300)
        data.X[:, 0] = np.where(data.X[:, 0] > 0.0, np.nextafter(1.0, 2.0), 1.0)
        task = start(data, make_spec("two classes"))
        assert task.ranking.n_bins[0] == 1

    def test_what_is_left_out_costs_nothing(self):
        data, spec = make_table("two classes"), make_spec("two classes")
        low = np.nextafter(1.0, 2.0)  # odd: the middle of it and its neighbour rounds up
        rng = np.random.default_rng(0)
        data.X[:, 1] = np.where(rng.uniform(size=1000) < 0.3, low, data.X[:, 1])
        data.X[:100, 1] = np.nextafter(low, 2.0)
        data.y[:100] = 1.0
        base = fit_base(data, spec)
        fitted = boost(data, spec, base, 6, make_context())
        after = measure("two classes", fitted.model, data)
        assert after <= 1.001 * measure("two classes", base.model, data)
        assert fitted.best_loss == pytest.approx(after, rel=1e-3)

    def test_no_step_at_all_leaves_the_network(self):
        data, spec = make_table("two classes", 300), make_spec("two classes")
        base, task = fit_base(data, spec).model, start(data, spec)
        shape = make_shape([], 1)
        model = merge(base, shape, task)
        np.testing.assert_allclose(model.scores(data.X), base.scores(data.X) - shape.centre)

    @pytest.mark.parametrize("scale", [1e-300, 1e297])
    def test_columns_too_tiny_or_huge_for_steps_keep_the_network(self, scale):
        data, spec = make_table("two classes"), make_spec("two classes")
        data = replace(data, X=data.X * scale)
        base = fit_base(data, spec)
        fitted = boost(data, spec, base, 6, make_context())
        assert fitted.model == base.model
        assert fitted.best_loss == base.best_loss
        assert fitted.core is base.core  # it can be gone on from
        assert not fitted.interrupted


class TestInterruption:
    class StoppedGrower:
        """A grower that hears Ctrl-C after so many steps."""

        after = 0

        def __init__(self, *arguments):
            self.core = _core.Grower(*arguments)

        def grow(self):
            if self.core.n_terms >= self.after:
                raise KeyboardInterrupt
            return self.core.grow()

        def __getattr__(self, name):
            return getattr(self.core, name)

    @pytest.mark.parametrize("after", [0, 2])
    def test_ctrl_c_keeps_the_steps_so_far(self, after, monkeypatch):
        data, spec = make_table("two classes"), make_spec("two classes")
        base = fit_base(data, spec)
        start = GrowTask.start

        def start_stopped(task, *arguments):
            with monkeypatch.context() as patch:
                grower = type("", (self.StoppedGrower,), {"after": after})
                patch.setattr(growing, "_core", _Stand(grower))
                return start(task, *arguments)

        monkeypatch.setattr(GrowTask, "start", start_stopped)
        context = make_context()
        with pytest.raises(KeyboardInterrupt):
            boost(data, spec, base, 6, context)
        fitted = context.best()
        assert fitted.interrupted
        assert fitted.model.n_functions == base.model.n_functions + after

    def test_ctrl_c_while_steps_are_judged_keeps_the_smooth_network(self, monkeypatch):
        def stop(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(step_boosting, "evaluate_terms", stop)
        data = make_table("two classes", 10_400)
        fitted = run("default", data, make_spec("two classes"), make_context())
        assert fitted.interrupted
        assert len(fitted.model.layers) == 1
        assert np.isfinite(fitted.best_loss)


class _Stand:
    """The core, with another grower."""

    def __init__(self, grower):
        self.Grower = grower

    def __getattr__(self, name):
        return getattr(_core, name)


# ---- growing on a base ----


def make_task(loss, n=80, seed=0, base="some", n_threads=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 3)).astype(float)
    k = LOSSES[loss]
    if loss == "squared":
        targets = X[:, :k] + rng.normal(size=(n, k))
    else:
        targets = ((X[:, :1] > 2) ^ (X[:, 1:2] > 3)) + (X[:, 2:] > 4) * (k > 1)
    scores = {"some": rng.normal(size=(n, k)), "zero": np.zeros((n, k)), "none": None}[base]
    ranking = learn_ranking(keep_order(X, (*FIELDS, Field("c"))))
    problem = make_problem(loss, targets.astype(np.float32), rng.uniform(0.5, 2, n))
    return GrowTask(RankedTable(ranking.encode(X), problem, scores), ranking, n_threads)


def measure_naively(task, grower):
    scores = score_table(CrispShape.from_core(grower.shape(), task.ranking), task.table)
    problem = task.table.problem
    losses = naive.row_losses(problem.objective.name, scores, *list_core(problem))
    return losses.sum() / problem.weight.sum()


def list_core(problem):
    """Return targets as the core reads them, and weights."""
    return problem.objective.encode_core(problem.targets), problem.weight


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(2))
class TestGrowingOnABase:
    def test_the_core_measures_the_loss_of_both_together(self, loss, seed):
        task = make_task(loss, seed=seed)
        grower = task.start(GrowPlan(max_terms=25))
        assert grower.loss == pytest.approx(measure_naively(task, grower), rel=1e-9)
        while grower.grow():  # with a polish after every ten terms
            assert grower.loss == pytest.approx(measure_naively(task, grower), rel=1e-9)
        grower.settle()
        assert grower.loss == pytest.approx(measure_naively(task, grower), rel=1e-9)
        without = make_task(loss, seed=seed, base="none").start(GrowPlan(max_terms=25))
        assert measure_naively(task, without) != pytest.approx(without.loss, rel=1e-3)

    def test_no_term_raises_what_is_minimised(self, loss, seed):
        task, plan = make_task(loss, seed=seed), GrowPlan(max_terms=25)
        grower = task.start(plan)
        objectives, losses = [grower.objective(plan.ridge)], [grower.loss]
        while grower.grow():
            objectives.append(grower.objective(plan.ridge))
            losses.append(grower.loss)
        grower.settle()
        objectives.append(grower.objective(plan.ridge))
        assert np.all(np.diff(objectives) <= 1e-9)
        assert losses[-1] < 0.8 * losses[0]

    def test_the_histograms_find_the_best_term_of_brute_force(self, loss, seed):
        task = make_task(loss, seed=seed)
        settings = GrowPlan(max_terms=10, max_conditions=2, least_weight=3.0).for_core()
        settings.beam = 0  # conditions and windows alone, as the naive way
        t = task.table
        grower = _core.Grower(t.for_core(task.ranking), settings, 1)
        targets, weight = list_core(t.problem)
        for _ in range(4):
            scores = score_table(CrispShape.from_core(grower.shape(), task.ranking), t)
            slope, curve = naive.slopes(loss, scores, targets, weight)
            bins = task.ranking.n_bins
            want = naive.best_term(t.ranks, bins, slope, curve, weight, 1.0, 3.0, 0.1)
            gain, conditions, _, _ = grower.find_best()
            assert gain / (1 + 0.1 * (len(conditions) - 1)) == pytest.approx(want, rel=1e-9)
            grower.grow()

    def test_a_base_of_zero_is_none(self, loss, seed):
        tasks = [make_task(loss, seed=seed, base=base) for base in ("zero", "none")]
        growers = [task.start(GrowPlan(max_terms=12)) for task in tasks]
        for _ in range(13):
            (gain, *term), (other_gain, *other_term) = (g.find_best() for g in growers)
            assert gain == other_gain
            for a, b in zip(term, other_term, strict=True):
                np.testing.assert_array_equal(a, b)
            assert len({g.grow() for g in growers}) == 1
        shapes = [CrispShape.from_core(g.shape(), tasks[0].ranking).for_core() for g in growers]
        for a, b in zip(*shapes, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_the_path_cut_back_keeps_its_base(self, loss, seed):
        task = make_task(loss, seed=seed)
        shapes, losses = grow(task, GrowPlan(max_terms=12), make_context())
        assert len(shapes) > 3
        for shape, told in zip(shapes, losses, strict=True):
            scores = score_table(shape, task.table)
            want = task.table.problem.measure(scores)
            assert told == pytest.approx(want, rel=1e-9)
        # Weights of their own, refitted on the base: the way down pays.
        assert losses[-1] < losses[len(losses) // 2] < losses[0]

    def test_some_of_the_rows_take_their_base_along(self, loss, seed):
        task = make_task(loss, seed=seed)
        some = make_part(np.arange(0, 80, 3))
        taken = task.table.take(some)
        np.testing.assert_array_equal(taken.base, task.table.base[some.index])
        alone = replace(task, table=taken)
        a, b = task.start(GrowPlan(5), some), alone.start(GrowPlan(5))
        while a.grow():
            b.grow()
        assert a.loss == b.loss
        shape = CrispShape.from_core(a.shape(), task.ranking)
        assert task.measure(shape, some) == pytest.approx(a.loss, rel=1e-9)

    def test_threads_change_nothing(self, loss, seed):
        a, b = (
            grow(make_task(loss, 4500, seed, n_threads=n), GrowPlan(3), make_context())[0][-1]
            for n in (1, 3)
        )
        for have, want in zip(a.for_core(), b.for_core(), strict=True):
            np.testing.assert_array_equal(have, want)


def test_scores_that_leave_nothing_to_learn_are_left_alone():
    task = make_task("squared")
    perfect = task.table.problem.targets
    grower = replace(task, table=replace(task.table, base=perfect)).start(GrowPlan())
    assert not grower.grow()
    assert grower.loss == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("shape", [(79, 3), (80, 2), (80, 4)])
def test_a_base_of_another_shape_is_refused(shape):
    task = make_task("categorical")
    table = replace(task.table, base=np.zeros(shape))
    with pytest.raises(ValueError, match="one base score for each row and output"):
        table.for_core(task.ranking)
