"""Pairs of columns: found, trained, mixed in as much as rows held out want."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import newron.training.native as native
import newron.training.pairing as pairing
import newron.training.procedure as procedure
from newron import NewronClassifier, NewronRegressor
from newron.model import Classes, Targets
from newron.tables.field import Field
from newron.training.architecture import Architecture, plan_architecture
from newron.training.fitting import Data, Plan, fit_restarts, name_loss
from newron.training.holdout import deal, measure_loss, settle
from newron.training.pairing import Mixture, find_pairs, fit_mixture, judge_mixture
from newron.training.recipe import Recipe

KINDS = {
    "two classes": Classes((0, 1)),
    "three classes": Classes((0, 1, 2)),
    "amounts": Targets(("y",)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
PAIR = (1, 3)


def make_table(kind, n=400, n_columns=5, seed=0):
    """A curve of the first column, and what two others do together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)).round(2)
    z = X[:, 0] + 3 * np.sign(X[:, PAIR[0]] * X[:, PAIR[1]]) + rng.logistic(size=n) / 2
    y = {
        "two classes": z > 0,
        "three classes": np.digitize(z, [-2, 2]),
        "amounts": 1000 + 50 * z,
    }[kind]
    return Data(X, y.astype(float)[:, None], None, tuple(map(Field, "abcdefgh"[:n_columns])))


def make_plans(kind, processing="tanh_prod", max_iter=100, **settings):
    """Give the plans of a network without and one with a hidden layer."""
    output = KINDS[kind]
    plan = Plan(
        plan_architecture((4,), output.n_scores, processing=processing, direct_inputs=True),
        Recipe(max_iter=max_iter, weight_decay=0.3),
        output,
        np.random.SeedSequence(0),
        input_scale="both",
        **settings,
    )
    return replace(plan, architecture=Architecture(plan.architecture.layers[-1:])), plan


def find(data, kind, scores=None):
    n_columns = data.X.shape[1]
    scores = np.zeros((len(data.X), KINDS[kind].n_scores)) if scores is None else scores
    return find_pairs(data, make_plans(kind)[1], scores, range(n_columns))


class TestFinding:
    @every_kind
    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_the_pair_that_matters_comes_first(self, kind, seed):
        data = make_table(kind, seed=seed)
        scores = np.full((len(data.X), KINDS[kind].n_scores), 1000.0 * (kind == "amounts"))
        assert find(data, kind, scores)[0] == PAIR

    def test_gains_are_those_of_the_best_four_parts(self):
        rng = np.random.default_rng(0)
        data = make_table("two classes", n=60, n_columns=4)
        data = replace(data, X=data.X.round(0))
        scores = rng.normal(size=(60, 1))
        odds = 1 / (1 + np.exp(-scores[:, 0]))
        slope, curvature = data.y[:, 0] - odds, odds * (1 - odds)

        def gain(i, j):
            cuts = [[data.X[:, c] <= v for v in np.unique(data.X[:, c])[:-1]] for c in (i, j)]
            return max(
                sum(
                    slope[(p == a) & (q == b)].sum() ** 2
                    / (curvature[(p == a) & (q == b)].sum() + 1.0)
                    for a, b in product((True, False), repeat=2)
                )
                for p, q in product(*cuts)
            )

        wanted = sorted(combinations(range(4), 2), key=lambda pair: -gain(*pair))
        assert find(data, "two classes", scores) == wanted

    def test_categories_and_gaps_make_pairs(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 4)).round(2)
        X[:, 1] = rng.integers(0, 4, 400)
        X[rng.random(400) < 0.4, 2] = np.nan
        y = (X[:, 1] == 2) ^ np.isnan(X[:, 2])
        fields = (Field("a"), Field("b", tuple("wxyz")), Field("c"), Field("d"))
        data = Data(X, y.astype(float)[:, None], None, fields)
        assert find(data, "two classes")[0] == (1, 2)

    def test_a_weight_is_as_so_many_rows(self):
        data = make_table("two classes", n=120)
        weight = np.random.default_rng(0).integers(1, 4, 120)
        again = np.repeat(np.arange(120), weight)
        twice = Data(data.X[again], data.y[again], None, data.fields)
        heavy = replace(data, weight=weight.astype(float))
        assert find(settle(twice), "two classes") == find(settle(heavy), "two classes")

    def test_there_are_three_for_each_column_and_ninety_at_most(self):
        few = make_table("two classes", n_columns=8)
        assert len(find(few, "two classes")) == 24
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 140))
        wide = Data(X, (X[:, 139] * X[:, 0] > 0)[:, None] * 1.0, None, (Field("x"),) * 140)
        pairs = find(wide, "two classes")
        assert len(set(pairs)) == 90
        assert all(i < j for i, j in pairs)

    def test_nothing_left_over_makes_no_trouble(self):
        data = make_table("amounts")
        data = replace(data, y=np.ones_like(data.y))
        pairs = find(data, "amounts", np.ones_like(data.y))
        assert pairs == [(i, j) for i, j in combinations(range(5), 2)]

    def test_one_column_makes_none(self):
        data = make_table("two classes")
        plan, scores = make_plans("two classes")[1], np.zeros((400, 1))
        assert find_pairs(data, plan, scores, [2]) == []


def test_neurons_read_what_they_are_told():
    _, plan = make_plans("two classes")
    layers = (replace(plan.architecture.layers[0], n_neurons=3), plan.architecture.layers[1])
    reads = ((0, 2), (4, 1), (2, 3))
    architecture = replace(plan.architecture, layers=layers, reads=reads)
    first, last = architecture.sources(5)
    assert first.tolist() == [0, 2, 4, 1, 2, 3]
    assert last.tolist() == list(range(8))


@every_kind
class TestMixture:
    def judge(self, data, kind):
        additive, deep = make_plans(kind)
        splits = deal(data, deep)
        once = replace(additive, recipe=replace(additive.recipe, n_init=1))
        parts = [Data(data.X[s.inside], data.y[s.inside], None, data.fields) for s in splits]
        return judge_mixture(data, deep, [fit_restarts(p, once)[0] for p in parts], splits)

    def test_rows_held_out_want_the_pair(self, kind):
        mixture = self.judge(settle(make_table(kind)), kind)
        assert mixture.shares[1] > 0.3
        assert len(mixture.losses) == 4

    def test_the_network_knows_the_pair(self, kind):
        additive, deep = make_plans(kind)
        data, fresh = settle(make_table(kind)), make_table(kind, seed=1)
        fitted = fit_mixture(data, additive, deep, Mixture((0.3, 0.7), np.zeros(4)), 2)
        plain = fit_restarts(data, replace(additive, recipe=replace(additive.recipe, n_init=1)))
        assert self.measure(kind, fitted.model, fresh) < 0.8 * self.measure(
            kind, plain[0].model, fresh
        )
        hidden = fitted.model.layers[0]
        assert hidden.n_neurons == 10  # all pairs of five columns
        read = [set(hidden.source[hidden.target == k].tolist()) for k in range(10)]
        assert all(len(columns) == 2 for columns in read)
        assert set(PAIR) in read
        assert fitted.model.output == KINDS[kind]

    def test_nothing_of_pairs_is_the_additive_one(self, kind):
        """Shares of scores must be taken where a score of zero means nothing."""
        additive, deep = make_plans(kind)
        data = settle(make_table(kind))
        fitted = fit_mixture(data, additive, deep, Mixture((1.0, 0.0), np.zeros(4)), 2)
        plain = fit_restarts(data, replace(additive, recipe=replace(additive.recipe, n_init=2)))
        want = np.mean([f.model.scores(data.X) for f in plain], axis=0)
        got = fitted.model.scores(data.X)
        if kind == "three classes":  # the same amount more for each class means nothing
            want, got = (s - s.mean(axis=1, keepdims=True) for s in (want, got))
        assert np.sqrt(np.mean((want - got) ** 2)) < 0.3 * want.std()

    def measure(self, kind, model, data):
        targets, scores = data.y, model.scores(data.X)
        return measure_loss(
            name_loss(KINDS[kind]), scores, targets.astype(np.float32), np.ones(len(scores))
        )


def test_shares_are_those_of_the_lowest_loss():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    said = np.stack([y - 0.5 + rng.normal(size=300), 3 * (y - 0.5) + 4 * rng.normal(size=300)])
    targets, weight = y[:, None].astype(np.float32), rng.random(300)

    def lose(shares):
        scores = (shares[0] * said[0] + shares[1] * said[1])[:, None]
        lost = weight.sum() * measure_loss("binary", scores, targets, weight)
        return lost + np.sum((np.array(shares) - 0.5) ** 2)

    found = pairing._find_shares("binary", [said[:, :, None]], [targets], [weight])
    grid = list(product(np.arange(0, 2, 0.05), repeat=2))
    assert lose(found) <= min(map(lose, grid)) + 1e-6


class TestDefault:
    def fit(self, data, **settings):
        settings = {"max_iter": 100, "random_state": 0, **settings}
        return NewronClassifier("tanh_prod", **settings).fit(data.X, data.y[:, 0])

    def test_pairs_come_in_where_they_matter(self):
        model = self.fit(make_table("two classes")).model_
        hidden = model.layers[0]
        assert len(model.layers) == 2
        assert np.all(np.bincount(hidden.target) == 2)

    def test_and_stay_out_where_they_do_not(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 4))
        y = (X[:, 0] + np.abs(X[:, 1]) + rng.logistic(size=300) > 1).astype(float)
        data = Data(X, y[:, None], None, ())
        assert len(self.fit(data).model_.layers) == 1

    @pytest.mark.parametrize("settings", [{"hidden_layer_sizes": ()}, {"n_init": 1}])
    def test_the_user_can_do_without(self, settings, monkeypatch):
        monkeypatch.setattr(procedure, "judge_mixture", None)  # nobody asks
        assert self.fit(make_table("two classes"), **settings).model_

    def test_threads_and_the_order_of_rows_change_nothing(self):
        data = make_table("three classes", n=200)
        order = np.random.default_rng(0).permutation(200)
        mixed = Data(data.X[order], data.y[order], None, data.fields)
        models = [self.fit(data, n_jobs=1), self.fit(data, n_jobs=2), self.fit(mixed, n_jobs=1)]
        assert len({model.model_.fingerprint for model in models}) == 1

    def test_directions_hold(self):
        data = make_table("amounts", n=200)
        model = NewronRegressor(
            "sigmoid", monotonic_cst=[1, 0, 0, 0, 0], max_iter=50, random_state=0
        ).fit(data.X, data.y[:, 0])
        assert len(model.model_.layers) == 2
        steps = np.linspace(-4, 4, 50)
        for row in data.X[:20]:
            rows = np.repeat(row[None], 50, axis=0)
            rows[:, 0] = steps
            assert np.all(np.diff(model.predict(rows)) >= -1e-9)


@pytest.mark.parametrize(("own", "less"), [(True, 1.0), (False, 9.0)], ids=["named", "free"])
def test_pairs_have_less_decay_unless_the_user_named_it(own, less, monkeypatch):
    decays = []

    def train(data, plan):
        decays.append(plan.recipe.weight_decay)
        return fit_restarts(data, plan)

    monkeypatch.setattr(pairing, "fit_restarts", train)
    additive, deep = make_plans("two classes", max_iter=5, own_decay=own)
    data = settle(make_table("two classes"))
    fit_mixture(data, additive, deep, Mixture((0.5, 0.5), np.zeros(4)), 1)
    assert decays == pytest.approx([0.3, 0.3 / less])


class TestInterruption:
    @pytest.mark.parametrize("call", [1, 2], ids=["without pairs", "with pairs"])
    def test_while_networks_are_trained(self, call, monkeypatch):
        self.stop_in_call(monkeypatch, call)
        additive, deep = make_plans("two classes")
        data = settle(make_table("two classes"))
        fitted = fit_mixture(data, additive, deep, Mixture((0.5, 0.5), np.zeros(4)), 2)
        assert fitted.interrupted
        assert len(fitted.model.layers) == 1

    def test_while_pairs_are_judged(self, monkeypatch):
        self.stop_in_call(monkeypatch, 1)
        data = make_table("two classes")
        model = NewronClassifier("tanh_prod", max_iter=50, random_state=0)
        with pytest.warns(UserWarning, match="interrupted"):
            model.fit(data.X, data.y[:, 0])
        assert len(model.model_.layers) == 1

    def stop_in_call(self, monkeypatch, number):
        """Let Ctrl-C come in this call of the training of restarts."""
        calls = []

        def stop(*_):
            raise KeyboardInterrupt

        def train(*arguments):
            calls.append(arguments)
            if len(calls) == number:
                monkeypatch.setattr(native, "_BLOCK_SECONDS", 1e-6)
                monkeypatch.setattr(native, "_progress", stop)
            return fit_restarts(*arguments)

        monkeypatch.setattr(pairing, "fit_restarts", train)
