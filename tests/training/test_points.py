"""Networks of steps on categories and gaps: polished, grown, bound to directions, decoded."""

import itertools

import numpy as np
import pytest

from builders.training import keep_order, make_context, make_problem
from newron import _core
from newron.model import Classes
from newron.tables.field import Field
from newron.training.crisp import CrispShape, RankedTable, from_crisp, polish, to_crisp
from newron.training.decoding import decode
from newron.training.encoding import describe_columns, learn_encoding
from newron.training.growing import GrowPlan, GrowTask, grow, grow_short
from newron.training.ranking import learn_ranking
from newron.training.start import draw_start, find_limits
from newron.training.wiring import Wiring
from oracle import crisp as naive
from oracle.networks import FUNCTIONS, core_differentiate, make_wiring

LOSSES = {"binary": 1, "categorical": 3, "squared": 2}
# Numbers with gaps, categories, categories with gaps, numbers.
FIELDS = (
    Field("size"),
    Field("colour", ("red", "green", "blue", "grey")),
    Field("shape", ("round", "square", "long")),
    Field("age"),
)
DIRECTIONS = (1, 0, 0, -1)
WAYS = [
    ("binary", ()),
    ("categorical", ()),
    ("squared", ()),
    ("binary", DIRECTIONS),
    ("squared", DIRECTIONS),
]
# Rows and means of categories, of which one is rare.
SKEWED = ([1, 12, 20, 3, 12], [1.0, -0.5, 0.0, 3.0, 0.5])


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.integers(0, k, n) for k in (5, 4, 3, 6)], axis=1).astype(float)
    for column in (0, 2):
        X[rng.random(n) < 0.25, column] = np.nan
    effect = np.array([0.0, 2.0, -1.0, 0.5])[X[:, 1].astype(int)]
    effect += np.where(np.isnan(X[:, 0]), 1.5, X[:, 0] / 2) - np.where(np.isnan(X[:, 2]), 1, 0)
    return X, effect - (X[:, 3] > 2) + rng.normal(scale=0.7, size=n), rng.uniform(0.5, 2, n)


def make_task(loss, n=70, seed=0, n_outputs=None, n_threads=1, directions=(), order=None):
    X, effect, weight = make_rows(n, seed)
    k = n_outputs or LOSSES[loss]
    if loss == "squared":
        targets = effect[:, None] + X[:, [1, 3]][:, :k]
    else:
        targets = np.digitize(effect, np.quantile(effect, np.linspace(0, 1, max(k, 2) + 1)[1:-1]))
        targets = targets[:, None]
    if order is not None:
        X, targets, weight = X[order], targets[order], weight[order]
    ranking = learn_ranking(keep_order(X, FIELDS))
    problem = make_problem(loss, np.asarray(targets, np.float32), weight, k)
    table = RankedTable(ranking.encode(X), problem, directions=directions)
    return GrowTask(table, ranking, n_threads), X


def start_core(task):
    return task.table.for_core(task.ranking)


def list_core(table):
    """Return targets as the core reads them, and weights."""
    return table.problem.objective.encode_core(table.problem.targets), table.problem.weight


def make_shape(task, seed=0, hidden=(2, 2)):
    """Draw a network of steps that keeps to the directions of the task."""
    rng = np.random.default_rng(seed)
    n_columns, k = len(FIELDS), task.table.problem.objective.n_scores
    directions = list(task.table.directions or [0] * n_columns)
    begin, conditions, first, width = [0], [], 0, n_columns

    def draw_condition(source):
        return source, directions[source] or rng.choice([1, -1]), rng.integers(0, 5)

    for n in hidden:
        for _ in range(n):
            conditions += [draw_condition(s) for s in range(first, first + width)]
            begin.append(len(conditions))
        first, width = first + width, n
        directions += [int(any(directions))] * n
    inputs = range(n_columns)  # the output reads the columns as well
    last = [*inputs, *range(first, first + width)]
    terms = [
        (s, directions[s] or rng.choice([1, -1]), rng.integers(0, 4))
        for s in last
        for _ in range(k)
    ]
    only = [o for _ in last for o in range(k)]
    weight = np.zeros((len(terms), k))
    weight[np.arange(len(terms)), only] = rng.normal(size=len(terms))
    bound = np.array([directions[s] != 0 for s, _, _ in terms])
    weight[bound] = np.abs(weight[bound])
    n_free = [*task.ranking.n_free.tolist(), *[0] * sum(hidden)]

    def draw_flags(parts):
        return tuple(rng.integers(0, 2, n_free[s]).astype(np.uint8) for s, _, _ in parts)

    return CrispShape(
        np.array(begin, np.int32), np.array(conditions, np.int32), np.array(terms, np.int32),
        np.array(only, np.int32), weight, rng.normal(size=k), draw_flags(conditions),
        draw_flags(terms), task.ranking.n_ordered,
    )  # fmt: skip


def measure(task, shape):
    t = task.table
    return naive.total_loss(shape, t.ranks, t.problem.objective.name, *list_core(t))


def find_bound(task, shape):
    """Give the sign that conditions on each signal must have, 0 for either."""
    signs = list(task.table.directions or [0] * len(FIELDS))
    for first, end in itertools.pairwise(shape.begin.tolist()):
        signs.append(int(any(signs[s] for s in shape.conditions[first:end, 0])))
    return signs


def best_change(task, shape, which, index):
    """Try every cut, sign and set of one condition that directions allow."""
    conditions, free = getattr(shape, which), getattr(shape, f"{which[:-1]}_free")
    source, kept, flags = int(conditions[index, 0]), conditions[index].copy(), free[index].copy()
    n_columns = len(FIELDS)
    if source < n_columns:
        n_values = int(task.ranking.n_ordered[source])
    else:
        n_values = int(np.diff(shape.begin)[source - n_columns]) + 1
    sign = find_bound(task, shape)[source]
    best = np.inf
    for cut, way in itertools.product(range(n_values + 1), [sign] if sign else [1, -1]):
        for held in itertools.product([0, 1], repeat=len(flags)):
            conditions[index] = (source, way, cut)
            free[index][:] = held
            best = min(best, measure(task, shape))
    conditions[index] = kept
    free[index][:] = flags
    return best


def thaw(shape):
    """Give a copy whose parts may be changed."""
    free = [tuple(np.array(f) for f in flags) for flags in (shape.condition_free, shape.term_free)]
    return CrispShape(
        shape.begin, shape.conditions.copy(), shape.terms.copy(), shape.only, shape.weight,
        shape.centre, *free, shape.n_ordered,
    )  # fmt: skip


def check_directions(task, shape):
    """Terms of bound signals weigh 0 or more, and their conditions rise the right way."""
    signs = find_bound(task, shape)
    n_ordered = [*task.ranking.n_ordered.tolist(), *(np.diff(shape.begin) + 1).tolist()]
    for source, sign, cut in [*shape.conditions.tolist(), *shape.terms.tolist()]:
        # A cut at either end is no step: all or no values are beyond it.
        assert signs[source] in (0, sign) or not 0 < cut < n_ordered[source]
    bound = [signs[s] != 0 for s in shape.terms[:, 0].tolist()]
    assert np.all(shape.weight[bound] >= 0.0)
    assert any(bound)


@pytest.mark.parametrize(("loss", "directions"), WAYS)
@pytest.mark.parametrize("seed", range(2))
class TestPolish:
    def test_the_core_measures_the_exact_loss(self, loss, directions, seed):
        task, _ = make_task(loss, seed=seed, directions=directions)
        shape = make_shape(task, seed)
        core = _core.Crisp(start_core(task), *shape.for_core())
        want = measure(task, shape) / task.table.problem.weight.sum()
        assert core.loss == pytest.approx(want, rel=1e-9)

    def test_no_cut_sign_or_set_of_one_condition_is_better(self, loss, directions, seed):
        task, _ = make_task(loss, n=50, seed=seed, directions=directions)
        core = _core.Crisp(start_core(task), *make_shape(task, seed, hidden=(2, 1)).for_core())
        losses = [core.loss]
        while core.polish(False, 0.1, 1):
            losses.append(core.loss)
        assert np.all(np.diff(losses) < 0)
        assert len(losses) > 1
        polished = thaw(CrispShape.from_core(core.shape(), task.ranking))
        now = measure(task, polished)
        assert now == pytest.approx(losses[-1] * task.table.problem.weight.sum(), rel=1e-9)
        for which in ("conditions", "terms"):
            for index in range(len(getattr(polished, which))):
                assert best_change(task, polished, which, index) >= now - 1e-6 * abs(now)
        if directions:
            check_directions(task, polished)

    def test_polishing_and_refitting_never_raise_the_objective(self, loss, directions, seed):
        task, _ = make_task(loss, seed=seed, directions=directions)
        core = _core.Crisp(start_core(task), *make_shape(task, seed).for_core())
        last = core.objective(0.1)
        for other_columns in (False, True, True):
            core.polish(other_columns, 0.1, 1)
            assert core.objective(0.1) <= last + 1e-9
            last = core.objective(0.1)
            core.refit(5, 0.1)
            assert core.objective(0.1) <= last + 1e-9
            last = core.objective(0.1)
        if directions:
            check_directions(task, CrispShape.from_core(core.shape(), task.ranking))

    def test_threads_and_the_order_of_rows_change_nothing(self, loss, directions, seed):
        order = np.random.default_rng(seed).permutation(5000)
        results = []
        for n_threads, rows in ((1, None), (3, None), (1, order)):
            task, _ = make_task(loss, n=5000, seed=seed, directions=directions, order=rows)
            shape = make_shape(task, seed)
            results.append(
                polish(shape, start_core(task), task.ranking, rounds=1, n_threads=n_threads)
            )
        assert results[0][1:] == results[1][1:]
        for a, b in zip(results[0][0].for_core(), results[1][0].for_core(), strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(results[0][0].for_core(), results[2][0].for_core(), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-8)


def list_sets(values, n_ordered, n_bins):
    """Give the rows of every condition on a column: cuts with and without each free bin."""
    free = range(n_ordered, n_bins)
    for held in itertools.product([False, True], repeat=n_bins - n_ordered):
        apart = np.isin(values, [b for b, on in zip(free, held, strict=True) if on])
        for cut in range(n_ordered + 1):
            yield ((values >= cut) & (values < n_ordered)) | apart
            yield (values < cut) | apart


@pytest.mark.parametrize(("loss", "n_outputs"), [("binary", 1), ("squared", 1)])
@pytest.mark.parametrize("seed", range(3))
class TestGrowOneOutput:
    @pytest.mark.parametrize("ridge", [0.01, 1.0, 5.0])
    def test_the_best_term_is_that_of_all_sets_of_categories(self, loss, n_outputs, seed, ridge):
        task, _ = make_task(loss, seed=seed, n_outputs=n_outputs)
        settings = GrowPlan(max_conditions=1, ridge=ridge, least_weight=0.0).for_core()
        grower = _core.Grower(start_core(task), settings, 1)
        t, r = task.table, task.ranking
        used = set()
        for _ in range(6):
            scores = CrispShape.from_core(grower.shape(), r).score(t.ranks)
            slope, curve = naive.slopes(loss, scores, *list_core(t))
            want = max(
                naive.newton_gain(on, slope, curve, t.problem.weight, ridge, 0.0)
                for c in range(len(FIELDS))
                for on in list_sets(t.ranks[c], int(r.n_ordered[c]), int(r.n_bins[c]))
            )
            gain, conditions, need, free = grower.find_best()
            assert gain == pytest.approx(want, rel=1e-9)
            # The condition that it names has this gain.
            (source, sign, cut), first = conditions[0].tolist(), int(r.n_ordered[conditions[0, 0]])
            values = t.ranks[source]
            on = (values >= cut) == (sign > 0)
            on[values >= first] = free[values[values >= first] - first] != 0
            again = naive.newton_gain(on, slope, curve, t.problem.weight, ridge, 0.0)
            assert gain == pytest.approx(again, rel=1e-9)
            assert need == 1
            used.add(source)
            grower.grow()
        assert len(used) > 1

    @pytest.mark.parametrize("where", ["high", "low", "alone"])
    def test_a_gap_may_be_on_either_side(self, loss, n_outputs, seed, where):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 6, 80).astype(float)
        gap = rng.random(80) < 0.3
        on = {"high": (x > 2) | gap, "low": (x > 2) & ~gap, "alone": gap}[where]
        x[gap] = np.nan
        y = on.astype(np.float32)[:, None]
        ranking = learn_ranking(keep_order(x[:, None], FIELDS[:1]))
        problem = make_problem(loss, y, np.ones(80), n_outputs)
        table = RankedTable(ranking.encode(x[:, None]), problem)
        plan = GrowPlan(max_terms=1, max_conditions=1, ridge=0.1)
        shape, losses = grow(GrowTask(table, ranking), plan, make_context())
        np.testing.assert_array_equal(
            shape.score(table.ranks)[:, 0] > 0.5 * (loss == "squared"), on
        )
        assert losses[-1] < 0.1 * losses[0]


def test_a_rare_category_does_not_hide_the_best_set():
    # Of one output the best set is a first part by slope / curve, whatever the ridge.
    counts, means = SKEWED
    X = np.repeat(np.arange(len(counts)), counts)[:, None].astype(float)
    y = np.repeat(means, counts)[:, None].astype(np.float32)
    field = Field("c", tuple("abcdefgh"[: len(counts)]))
    ranking = learn_ranking(keep_order(X, [field]))
    weight = np.ones(len(X))
    table = RankedTable(ranking.encode(X), make_problem("squared", y, weight, 1))
    settings = GrowPlan(max_conditions=1, ridge=5.0, least_weight=0.0).for_core()
    grower = _core.Grower(table.for_core(ranking), settings, 1)
    scores = CrispShape.from_core(grower.shape(), ranking).score(table.ranks)
    slope, curve = naive.slopes("squared", scores, y, weight)
    want = max(
        naive.newton_gain(on, slope, curve, weight, 5.0, 0.0)
        for on in list_sets(table.ranks[0], 0, len(counts))
    )
    assert grower.find_best()[0] == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(("loss", "directions"), WAYS)
class TestGrow:
    def test_no_term_raises_what_is_minimised(self, loss, directions):
        task, _ = make_task(loss, directions=directions)
        plan = GrowPlan(max_terms=25, ridge=1.0)
        grower = task.start(plan)
        objectives = [grower.objective(plan.ridge)]
        while grower.grow():
            objectives.append(grower.objective(plan.ridge))
        grower.settle()
        objectives.append(grower.objective(plan.ridge))
        assert np.all(np.diff(objectives) <= 1e-9)
        assert objectives[-1] < 0.8 * objectives[0]
        sources = CrispShape.from_core(grower.shape(), task.ranking)
        read = {*sources.conditions[:, 0].tolist(), *sources.terms[:, 0].tolist()}
        assert read >= {0, 1, 2}

    def test_threads_change_nothing(self, loss, directions):
        plan = GrowPlan(max_terms=6)
        tasks = [make_task(loss, n=3000, n_threads=n, directions=directions)[0] for n in (1, 3)]
        shapes = [grow(task, plan, make_context())[0].for_core() for task in tasks]
        for a, b in zip(*shapes, strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize("max_conditions", [1, 3])
    def test_every_network_of_the_path_keeps_to_the_directions(
        self, loss, directions, max_conditions
    ):
        task, X = make_task(loss, n=150, directions=directions)
        plan = GrowPlan(max_terms=15, max_conditions=max_conditions)
        shapes = [*grow_short(task, plan, 15), grow(task, plan, make_context())[0]]
        assert len(shapes) > 6
        if directions:
            for shape in shapes[4:]:
                check_directions(task, shape)
        schema = describe_columns(X, FIELDS)
        output = Classes(tuple(range(max(task.table.problem.objective.n_scores, 2))))
        for shape in shapes[1::5] if loss != "squared" else []:
            widths = [len(shape.begin) - 1] if len(shape.begin) > 1 else []
            model = from_crisp(shape, task.ranking, schema, output, widths)
            np.testing.assert_allclose(model.score_rows(X), shape.score(task.table.ranks))


class TestThereAndBack:
    @pytest.mark.parametrize("seed", range(6))
    def test_ranks_and_columns_tell_the_same_network(self, seed):
        task, X = make_task("categorical", seed=seed)
        shape = make_shape(task, seed)
        schema = describe_columns(X, FIELDS)
        model = from_crisp(shape, task.ranking, schema, Classes((0, 1, 2)), [2, 2])
        want = shape.score(task.table.ranks)
        np.testing.assert_allclose(model.score_rows(X), want, atol=1e-12)
        again = to_crisp(model.layers, task.ranking)
        np.testing.assert_allclose(again.score(task.table.ranks), want, atol=1e-12)

    def test_categories_and_gaps_have_bins_of_their_own(self):
        X, _, _ = make_rows(60)
        ranking = learn_ranking(keep_order(X, FIELDS))
        assert ranking.n_ordered.tolist() == [5, 0, 0, 6]
        assert ranking.n_bins.tolist() == [6, 4, 4, 6]
        ranks = ranking.encode(X)
        for c, gap in ((0, 5), (2, 3)):
            np.testing.assert_array_equal(ranks[c] == gap, np.isnan(X[:, c]))
        np.testing.assert_array_equal(ranks[1], X[:, 1])

    def test_a_column_of_nothing_but_gaps_has_one_bin(self):
        X = np.full((10, 1), np.nan)
        ranking = learn_ranking(keep_order(X, [Field("x")]))
        assert ranking.n_bins.tolist() == [1]
        assert ranking.encode(X).tolist() == [[0] * 10]


class TestDecode:
    @pytest.mark.parametrize("function", FUNCTIONS)
    @pytest.mark.parametrize("scales", ["own", "both"])
    def test_a_model_scores_as_the_core_does(self, function, scales):
        X, effect, weight = make_rows(60)
        data = keep_order(X, FIELDS, (effect > 0)[:, None], weight)
        encoding = learn_encoding(data, scales=scales)
        n_points = tuple(c.n_points for c in encoding.channels)
        assert n_points == ((1, 4, 4, 0) if scales == "own" else (1, 1, 4, 4, 0, 0))
        plan = make_wiring(function, direct=True, per_input=2, n_channels=len(n_points))
        wiring = Wiring(plan.architecture, n_points)
        x = encoding.encode(X)
        params = draw_start(wiring, *find_limits(x), np.random.default_rng(1)) * np.float32(1.3)
        y = (effect > 0)[:, None].astype(np.float32)
        want, _ = core_differentiate(wiring, params, x, y, weight.astype(np.float32), "binary")
        model = decode(wiring, params, encoding, Classes((0, 1)), data)
        losses = naive.row_losses("binary", model.score_rows(X), y, weight)
        assert losses.mean() == pytest.approx(want, rel=1e-4)
