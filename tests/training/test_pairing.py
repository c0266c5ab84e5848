"""Pairs of columns: found, trained, mixed in as much as rows held out want."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import newron.training.core_trainer as core_trainer
import newron.training.pairing as pairing
import newron.training.strategies.default as default
from builders.training import keep_order, make_context, make_problem, make_set, measure_loss
from newron import NewronClassifier, NewronRegressor
from newron.model import Classes, Targets
from newron.tables.field import Field
from newron.training.architecture import Architecture, plan_architecture
from newron.training.folds import split_folds
from newron.training.gradient import fit_restarts
from newron.training.pairing import Mixture, evaluate_mixture, find_pairs, fit_mixture
from newron.training.recipe import Recipe
from newron.training.specification import Specification

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
    return make_set(X, y.astype(float), fields=tuple(map(Field, "abcdefgh"[:n_columns])))


def make_specs(kind, processing="tanh_prod", max_iter=100, **settings):
    """Return the specifications of a network without and one with a hidden layer."""
    output = KINDS[kind]
    spec = Specification(
        plan_architecture((4,), output.n_scores, processing=processing, direct_inputs=True),
        Recipe(max_iter=max_iter, weight_decay=0.3),
        output,
        input_scale="both",
        **settings,
    )
    return replace(spec, architecture=Architecture(spec.architecture.layers[-1:])), spec


def find(data, kind, scores=None):
    n_columns = data.X.shape[1]
    scores = np.zeros((len(data.X), KINDS[kind].n_scores)) if scores is None else scores
    return find_pairs(data, make_specs(kind)[1], scores, range(n_columns))


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
        data = keep_order(data.X.round(0), data.fields, data.y)
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
        data = make_set(X, y.astype(float), fields=fields)
        assert find(data, "two classes")[0] == (1, 2)

    def test_a_weight_is_as_so_many_rows(self):
        data = make_table("two classes", n=120)
        weight = np.random.default_rng(0).integers(1, 4, 120)
        again = np.repeat(np.arange(120), weight)
        twice = make_set(data.X[again], data.y[again], fields=data.fields)
        heavy = make_set(data.X, data.y, weight.astype(float), data.fields)
        assert find(twice, "two classes") == find(heavy, "two classes")

    def test_there_are_three_for_each_column_and_ninety_at_most(self):
        few = make_table("two classes", n_columns=8)
        assert len(find(few, "two classes")) == 24
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 140))
        wide = make_set(X, X[:, 139] * X[:, 0] > 0)
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
        spec, scores = make_specs("two classes")[1], np.zeros((len(data), 1))
        assert find_pairs(data, spec, scores, [2]) == []


def test_neurons_read_the_inputs_of_their_own():
    _, spec = make_specs("two classes")
    layers = (replace(spec.architecture.layers[0], n_neurons=3), spec.architecture.layers[1])
    reads = ((0, 2), (4, 1), (2, 3))
    architecture = replace(spec.architecture, layers=layers, reads=reads)
    first, last = architecture.sources(5)
    assert first.tolist() == [0, 2, 4, 1, 2, 3]
    assert last.tolist() == list(range(8))


@every_kind
class TestMixture:
    def evaluate(self, data, kind):
        additive, deep = make_specs(kind)
        context = make_context()
        folds = split_folds(data, deep.objective, context.spawn())
        once = additive.adjust(n_init=1)
        alone = [fit_restarts(data.take(f.train), once, context)[0] for f in folds]
        return evaluate_mixture(data, deep, alone, folds, context)

    def test_validation_rows_want_the_pair(self, kind):
        mixture = self.evaluate(make_table(kind), kind)
        assert mixture.coefficients[1] > 0.3
        assert len(mixture.losses) == 4

    def test_the_network_knows_the_pair(self, kind):
        additive, deep = make_specs(kind)
        data, fresh = make_table(kind), make_table(kind, seed=1)
        mixture = Mixture((0.3, 0.7), np.zeros(4))
        fitted = fit_mixture(data, additive, deep, mixture, 2, make_context())
        plain = fit_restarts(data, additive.adjust(n_init=1), make_context())
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
        additive, deep = make_specs(kind)
        data, mixture = make_table(kind), Mixture((1.0, 0.0), np.zeros(4))
        fitted = fit_mixture(data, additive, deep, mixture, 2, make_context())
        plain = fit_restarts(data, additive.adjust(n_init=2), make_context())
        want = np.mean([f.model.scores(data.X) for f in plain], axis=0)
        got = fitted.model.scores(data.X)
        if kind == "three classes":  # the same amount more for each class means nothing
            want, got = (s - s.mean(axis=1, keepdims=True) for s in (want, got))
        assert np.sqrt(np.mean((want - got) ** 2)) < 0.3 * want.std()

    def measure(self, kind, model, data):
        return measure_loss(KINDS[kind], model.scores(data.X), data.y)


def test_coefficients_are_those_of_the_lowest_loss():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    said = np.stack([y - 0.5 + rng.normal(size=300), 3 * (y - 0.5) + 4 * rng.normal(size=300)])
    problem = make_problem("binary", y[:, None], rng.random(300))

    def lose(shares):
        scores = (shares[0] * said[0] + shares[1] * said[1])[:, None]
        lost = problem.weight.sum() * problem.measure(scores)
        return lost + np.sum((np.array(shares) - 0.5) ** 2)

    found = pairing._find_coefficients([problem], [said[:, :, None]])
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
        data = keep_order(X, (), y[:, None])
        assert len(self.fit(data).model_.layers) == 1

    @pytest.mark.parametrize("settings", [{"hidden_layer_sizes": ()}, {"n_init": 1}])
    def test_the_user_can_do_without(self, settings, monkeypatch):
        monkeypatch.setattr(default, "evaluate_mixture", None)  # nobody asks
        assert self.fit(make_table("two classes"), **settings).model_

    def test_threads_and_the_order_of_rows_change_nothing(self):
        data = make_table("three classes", n=200)
        order = np.random.default_rng(0).permutation(200)
        mixed = keep_order(data.X[order], data.fields, data.y[order])
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

    def train(data, spec, context):
        decays.append(spec.recipe.weight_decay)
        return fit_restarts(data, spec, context)

    monkeypatch.setattr(pairing, "fit_restarts", train)
    additive, deep = make_specs("two classes", max_iter=5, own_decay=own)
    data, mixture = make_table("two classes"), Mixture((0.5, 0.5), np.zeros(4))
    fit_mixture(data, additive, deep, mixture, 1, make_context())
    assert decays == pytest.approx([0.3, 0.3 / less])


class TestInterruption:
    @pytest.mark.parametrize("call", [1, 2], ids=["without pairs", "with pairs"])
    def test_while_networks_are_trained(self, call, monkeypatch):
        self.stop_in_call(monkeypatch, call)
        additive, deep = make_specs("two classes")
        data, mixture = make_table("two classes"), Mixture((0.5, 0.5), np.zeros(4))
        context = make_context()
        with pytest.raises(KeyboardInterrupt):
            fit_mixture(data, additive, deep, mixture, 2, context)
        fitted = context.best()
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
                monkeypatch.setattr(core_trainer, "_BLOCK_SECONDS", 1e-6)
                monkeypatch.setattr(core_trainer, "_make_progress", stop)
            return fit_restarts(*arguments)

        monkeypatch.setattr(pairing, "fit_restarts", train)
