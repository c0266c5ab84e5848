"""Pruned networks: folding that is exact, refits that are optimal, choices on held-out rows."""

import io
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_estimator

from builders.training import make_problem
from estimators.test_monotone import DIRECTIONS, check, make_rows
from model.networks import make_model, with_ranks
from model.networks import make_rows as make_model_rows
from newron import (
    InputError,
    InterruptedWarning,
    NewronClassifier,
    NewronRegressor,
    NewronWarning,
    load,
)
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.model.aggregation import activate, combine
from newron.model.network import rank_edges
from newron.model.processing import get_processing
from newron.training import pruning, strategies
from newron.training.elimination import Task, eliminate
from newron.training.folding import (
    drop_function,
    fold,
    fold_weights,
    list_columns,
    list_literals,
    make_additive,
)
from newron.training.pruning import count_literals
from newron.training.refitting import Weights, gather_gradient, refit

QUICK = {
    "recipe": "gradient", "hidden_layer_sizes": (2,), "max_iter": 40, "n_init": 2,
    "random_state": 0,
}  # fmt: skip
GROWN = {"recipe": "grow", "max_terms": 12, "max_iter": 30, "n_init": 2, "random_state": 0}
FEW = {**QUICK, "hidden_layer_sizes": (), "max_iter": 10, "n_init": 1}


def steps(n, target, source, b, *, w=None, alpha=None, centre=None, **more):
    """Make a layer of steps that add."""
    w = np.ones(len(b)) if w is None else np.array(w, float)
    b = np.array(b, float)
    return Layer(
        "heaviside", "sum", "identity", n, np.array(target), np.array(source),
        w[:, None], b[:, None], alpha=alpha, centre=centre, **more,
    )  # fmt: skip


def make_schema(n, low=-3.0, high=3.0, **more):
    return Schema(tuple(Column(f"x{i + 1}", low, high, **more) for i in range(n)))


def make_blobs(n=160, columns=4, seed=0):
    """Draw classes that depend on the first two of the columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).round(2)
    score = 3.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > -0.2) - 2.5
    y = (score + rng.logistic(scale=0.4, size=n) > 0).astype(int)
    return X, y


def set_task(model, X, y, **more):
    """Make the task of pruning towards the rows' own targets."""
    n = model.output.n_scores
    kind = "squared" if not isinstance(model.output, Classes) else "binary"
    kind = "categorical" if kind == "binary" and n > 1 else kind
    problem = make_problem(kind, y if kind == "squared" else y[:, None], np.ones(len(X)), n)
    return Task(model.schema, model.output, X, problem, **more)


@pytest.fixture(scope="module")
def grown():
    """Give rows, a grown network of them, and the same network pruned."""
    X, y = make_blobs(400)  # enough that a column of noise never seems to matter
    whole = NewronClassifier(**GROWN).fit(X, y)
    return X, y, whole, whole.prune(X, y)


class TestFolding:
    @staticmethod
    def score_naively(schema, layers, X, held=None, value=0.0):
        """Evaluate function by function; the one that is held gives a constant."""
        signals = list(X.T)
        for at, layer in enumerate(layers):
            function, b, out = get_processing(layer.processing), rank_edges(layer, schema), []
            for j in range(layer.n_neurons):
                total = np.full(len(X), 1.0 if layer.aggregation == "product" else 0.0)
                for place, e in enumerate(range(layer.begin[j], layer.begin[j + 1])):
                    s = int(layer.source[e])
                    x = signals[s]
                    if layer.rank_flags[e]:
                        x = schema.columns[s].rank_scale.rank(x)
                    h = function.value(x[:, None], layer.w[e : e + 1], b[e : e + 1])[:, 0]
                    h = np.full(len(X), value) if (at, e) == held else h
                    part = h if layer.alpha is None else h * layer.alpha[e]
                    total = part if place == 0 else combine(layer.aggregation, total, part)
                if layer.aggregation == "mean" and layer.begin[j + 1] > layer.begin[j]:
                    total = total / (layer.begin[j + 1] - layer.begin[j])
                centre = 0.0 if layer.centre is None else layer.centre[j]
                out.append(activate(layer.activation, total - centre))
            signals += out
        return np.stack(signals[-layers[-1].n_neurons :], axis=1)

    @staticmethod
    def draw(seed):
        model = with_ranks(make_model(seed), seed)
        return model, np.clip(make_model_rows(model, seed), -3.0, 3.0)

    @staticmethod
    def agree(a, b):
        # Networks may grow without bounds: what matters is the size of their own scores.
        size = np.maximum(1.0, np.abs(b).max(initial=0.0))
        np.testing.assert_allclose(a / size, b / size, atol=1e-9)

    @pytest.mark.parametrize("seed", range(60))
    def test_one_form_for_all_networks_says_the_same(self, seed):
        model, X = self.draw(seed)
        layers = make_additive(model)
        assert layers[-1].aggregation == "sum"
        assert all(layer.aggregation != "mean" for layer in layers)
        with np.errstate(over="ignore", invalid="ignore"):
            told = Model(model.schema, fold_weights(layers), model.output).scores(X)
        self.agree(told, model.scores(X))

    @pytest.mark.parametrize("seed", range(60))
    def test_folding_changes_nothing_over_the_observed_ranges(self, seed):
        model, X = self.draw(seed)
        layers = fold(model.schema, make_additive(model))
        folded = Model(model.schema, layers, model.output)
        assert folded.n_functions <= sum(len(layer.source) for layer in make_additive(model))
        self.agree(folded.scores(X), model.scores(X))

    @pytest.mark.parametrize("seed", range(80))
    def test_a_function_that_goes_leaves_its_constant(self, seed):
        model, X = self.draw(seed)
        layers = make_additive(model)
        rng = np.random.default_rng(seed)
        for at, layer in enumerate(layers):
            if layer.aggregation in ("min", "max") or not len(layer.source):
                continue
            e, value = int(rng.integers(len(layer.source))), float(rng.choice([0.0, 1.0, 0.3]))
            smaller = drop_function(layers, len(model.schema), at, e, value)
            assert sum(len(x.source) for x in smaller) == sum(len(x.source) for x in layers) - 1
            with np.errstate(over="ignore", invalid="ignore"):
                want = self.score_naively(model.schema, layers, X, (at, e), value)
            for changed in (smaller, fold(model.schema, smaller)):
                self.agree(Model(model.schema, changed, model.output).scores(X), want)

    def test_a_count_asks_for_one_less_where_a_condition_holds(self):
        hidden = steps(1, [0, 0, 0], [0, 1, 2], [0.0, 0.0, 0.0])
        layers = (hidden, steps(1, [0], [3], [1.5], alpha=[1.0], centre=[0.5]))
        assert drop_function(layers, 3, 0, 2, 0.0)[1].b.tolist() == [[1.5]]
        assert drop_function(layers, 3, 0, 2, 1.0)[1].b.tolist() == [[0.5]]

    def test_what_asks_for_more_than_there_is_vanishes(self):
        hidden = steps(2, [0, 0, 1], [0, 1, 0], [0.0, 0.0, 1.0])
        last = steps(1, [0, 0, 0], [0, 2, 3], [0.5, 2.5, 0.5], alpha=[1.0, 5.0, 7.0], centre=[1.0])
        (card,) = fold(make_schema(2), (hidden, last))
        # The first neuron never holds so much; the other one is a condition on a column.
        assert card.source.tolist() == [0, 0]
        assert card.b.ravel().tolist() == [0.5, 1.0]
        assert card.alpha.tolist() == [1.0, 7.0]

    def test_not_a_condition_is_the_condition_with_the_opposite_weight(self):
        hidden = steps(1, [0], [1], [0.25], missing=[1.0])
        last = steps(1, [0, 0], [0, 2], [0.5, 0.5], w=[1.0, -1.0], alpha=[1.0, 4.0], centre=[1.0])
        schema = make_schema(2, gaps=True)
        (card,) = fold(schema, (hidden, last))
        assert (card.alpha.tolist(), card.centre.tolist()) == ([1.0, -4.0], [-3.0])
        output = Classes((0, 1))
        X = np.array([[0.0, 0.0], [1.0, 0.25], [1.0, np.nan], [np.nan, 3.0]])
        want = Model(schema, (hidden, last), output).scores(X)
        np.testing.assert_array_equal(Model(schema, (card,), output).scores(X), want)

    def test_neurons_that_count_the_same_become_one(self):
        hidden = steps(2, [0, 0, 1, 1], [0, 1, 0, 1], [0.0, 1.0, 0.0, 1.0])
        last = steps(1, [0, 0], [2, 3], [1.5, 1.5], alpha=[1.0, 2.0], centre=[1.0])
        layers = fold(make_schema(2), (hidden, last))
        assert [layer.n_neurons for layer in layers] == [1, 1]
        assert layers[-1].alpha.tolist() == [3.0]

    def test_a_network_of_constants_loses_all_its_functions(self):
        hidden = steps(1, [0, 0], [0, 1], [-9.0, 9.0])
        last = steps(1, [0, 0], [0, 2], [7.0, 0.5], alpha=[1.0, 4.0], centre=[1.0])
        layers = fold(make_schema(2), (hidden, last))
        assert [len(layer.source) for layer in layers] == [0]
        model = Model(make_schema(2), layers, Classes((0, 1)))
        for compiled in (True, False):
            assert model.scores(np.zeros((2, 2)), compiled=compiled).tolist() == [[3.0], [3.0]]


class TestLiterals:
    @staticmethod
    def count(*layers, n=3, schema=None, output=None):
        model = Model(schema or make_schema(n), layers, output or Classes((0, 1)))
        assert len(list_literals(model)) == count_literals(model)
        return count_literals(model), list_columns(model)

    def test_conditions_that_never_change_do_not_count(self):
        card = steps(1, [0] * 5, [0, 0, 0, 1, 2], [1.0, 9.0, -9.0, 2.0, 0.0],
                     w=[1, 1, 1, -1, 0], alpha=np.ones(5), centre=[1.0])  # fmt: skip
        assert self.count(card) == (2, ("x1", "x2"))

    def test_nor_do_those_without_weight_or_reader(self):
        hidden = steps(2, [0, 0, 1], [0, 1, 2], [0.0, 0.0, 0.0])
        last = steps(1, [0, 0], [0, 3], [1.0, 1.5], alpha=[0.0, 2.0], centre=[1.0])
        assert self.count(hidden, last) == (2, ("x1", "x2"))
        # A reader that nothing can fulfil is none.
        deaf = steps(1, [0, 0], [0, 3], [1.0, 2.5], alpha=[1.0, 2.0], centre=[1.0])
        assert self.count(hidden, deaf) == (1, ("x1",))

    def test_a_line_of_a_score_card_counts_once_for_all_classes(self):
        card = steps(3, [0, 0, 1, 2], [0, 1, 0, 0], [0.0, 1.0, 0.0, 0.5],
                     alpha=np.ones(4), centre=np.zeros(3))  # fmt: skip
        assert self.count(card, output=Classes((1, 2, 3))) == (3, ("x1", "x2"))

    def test_gaps_and_categories_can_matter_alone(self):
        schema = Schema(
            (
                Column("a", 0.0, 1.0, gaps=True),
                Column("b", 0.0, 1.0, categories=("u", "v"), gaps=True),
                Column("c", 0.0, 1.0, categories=("u", "v")),
            )
        )
        card = steps(1, [0] * 4, [0, 1, 1, 2], [5.0, 0.0, 0.0, 0.0], w=[1, 0, 0, 0],
                     alpha=np.ones(4), centre=[1.0], missing=[1.0, 1.0, 0.0, 1.0],
                     levels=[(), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0)])  # fmt: skip
        # "a missing", never changing, "b not missing"; c has no gaps to tell.
        assert self.count(card, schema=schema) == (2, ("a", "b"))

    @pytest.mark.parametrize(("w", "n"), [((0.0, 1.0), 0), ((1.0, 2.0), 1), ((0.0, 0.0), 0)])
    def test_curves_that_are_flat_do_not_count(self, w, n):
        curve = Layer("tanh_prod", "sum", "identity", 1, [0], [0], [w], [[0.0, 1.0]], alpha=[1.0])
        assert self.count(curve)[0] == n
        bell = Layer("tanh_prod", "sum", "identity", 1, [0], [0], [[50.0, -50.0]], [[0.0, 0.01]],
                     alpha=[1.0])  # fmt: skip
        assert self.count(bell)[0] == 1


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


class TestElimination:
    def test_guesses_are_exact_for_amounts(self):
        # The loss is a quadratic then: whatever is cut must be what costs least.
        rng = np.random.default_rng(0)
        X = rng.normal(size=(80, 5))
        y = X @ np.array([[3.0], [0.1], [2.0], [0.01], [1.0]]) + rng.normal(size=(80, 1))
        n = np.arange(5)
        line = Layer("linear", "sum", "identity", 1, 0 * n, n, np.ones((5, 1)), np.zeros((5, 1)),
                     centre=[0.0])  # fmt: skip
        model = Model(make_schema(5), [line], Targets(("y",)))
        task = set_task(model, X, y, ridge=1e-9)
        path = eliminate(task, model)
        assert [count_literals(each) for each in path] == [5, 4, 3, 2, 1, 0]
        kept = list(range(5))
        for each in path[1:]:
            losses = []
            for gone in kept:
                A = np.column_stack([np.ones(80), X[:, [k for k in kept if k != gone]]])
                losses.append(np.linalg.lstsq(A, y, rcond=None)[1][0])
            kept.remove(kept[int(np.argmin(losses))])
            assert list_columns(each) == tuple(f"x{k + 1}" for k in kept)
            assert 2 * task.problem.measure_likelihood(each.scores(X)) == pytest.approx(
                min(losses), rel=1e-6
            )

    @pytest.mark.parametrize("seed", range(24))
    def test_networks_of_every_kind_shrink_to_nothing(self, seed):
        model = with_ranks(make_model(seed), seed)
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3, 3, (50, len(model.schema)))
        n = model.output.n_scores
        if isinstance(model.output, Classes):
            y = rng.integers(0, len(model.output.labels), 50)
        else:
            y = rng.normal(size=(50, n))
        path = eliminate(set_task(model, X, y), model)
        sizes = [count_literals(model), *(count_literals(each) for each in path)]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] == 0
        for each in path:
            assert each.schema == model.schema
            assert np.all(np.isfinite(each.scores(X)))
            np.testing.assert_array_equal(each.scores(X), each.scores(X, compiled=False))

    def make_logic(self):
        """Make "x1 and x2", told with a condition that always holds and one that never does."""
        rng = np.random.default_rng(0)
        X = rng.uniform(-3, 3, (400, 4)).round(2)
        y = ((X[:, 0] >= 0) & (X[:, 1] >= 0)).astype(int)
        hidden = steps(1, [0, 0, 0, 0], [0, 1, 2, 3], [0.0, 0.0, -2.99, 2.99])
        last = steps(1, [0], [4], [2.5], alpha=[4.0], centre=[2.0])
        return Model(make_schema(4), (hidden, last), Classes((0, 1))), X, y

    def test_conditions_inside_a_neuron_go_with_the_count_set_right(self):
        model, X, y = self.make_logic()
        assert count_literals(model) == 4
        path = {count_literals(each): each for each in eliminate(set_task(model, X, y), model)}
        rule = path[2]
        assert list_columns(rule) == ("x1", "x2")
        assert rule.layers[-1].b.tolist() == [[1.5]]
        np.testing.assert_array_equal(rule.predict(X), y)

    @pytest.mark.parametrize("aggregation", ["min", "product", "mean"])
    def test_all_of_is_told_by_other_aggregations_too(self, aggregation):
        model, X, y = self.make_logic()
        hidden = steps(1, [0, 0, 0], [0, 1, 2], [0.0, 0.0, -2.99]).replace(aggregation=aggregation)
        last = steps(1, [0], [4], [0.9], alpha=[4.0], centre=[2.0])
        told = Model(model.schema, (hidden, last), model.output)
        path = {count_literals(each): each for each in eliminate(set_task(told, X, y), told)}
        assert list_columns(path[2]) == ("x1", "x2")
        np.testing.assert_array_equal(path[2].predict(X), y)

    def test_conditions_that_hold_for_the_same_rows_become_one(self):
        # Between 0.4 and 0.6 there is no row: the three say the same, or the opposite.
        X = np.array([[0.0, 0.0], [0.4, 1.0], [0.6, 0.0], [1.0, 1.0]] * 10)
        y = (X[:, 0] > 0.5).astype(int)
        card = steps(1, [0, 0, 0, 0], [0, 0, 0, 1], [0.45, 0.55, 0.5, 0.5], w=[1, 1, -1, 1],
                     alpha=[1.0, 1.0, -2.0, 0.1], centre=[0.0])  # fmt: skip
        model = Model(make_schema(2), [card], Classes((0, 1)))
        path = eliminate(set_task(model, X, y), model)
        assert [count_literals(each) for each in path] == [2, 1, 0]
        assert path[1].layers[0].b.tolist() == [[0.45]]
        np.testing.assert_array_equal(path[1].predict(X), y)

    def test_weights_count_as_repetition(self):
        X, y = make_blobs(60)
        model = NewronClassifier(**GROWN).fit(X, y).model_
        weight = np.arange(60) % 3 + 1.0
        goal = make_problem("binary", y[:, None], weight)
        once = eliminate(Task(model.schema, model.output, X, goal), model)
        again = np.repeat(np.arange(60), weight.astype(int))
        many = eliminate(set_task(model, X[again], y[again]), model)
        assert [count_literals(a) for a in once] == [count_literals(b) for b in many]
        for a, b in zip(once, many, strict=True):
            np.testing.assert_allclose(a.scores(X), b.scores(X), atol=1e-6)


class TestEstimators:
    def test_rows_without_noise_are_not_held_back(self):
        X = make_blobs(200)[0]
        y = (X[:, 0] > 0.3).astype(int)
        pruned = NewronClassifier(**FEW).fit(X, y).prune(X, y)
        assert pruned.path_.chosen == 1
        assert pruned.path_.loss[1] < 0.05

    def test_a_new_estimator_comes_out_and_the_old_one_stays(self, grown):
        X, y, whole, pruned = grown
        before = whole.model_
        assert whole.path_ is None
        assert type(pruned) is NewronClassifier
        assert pruned.get_params() == whole.get_params()
        assert count_literals(pruned.model_) < count_literals(before)
        assert set(list_columns(pruned.model_)) <= {"x1", "x2"}
        assert pruned.score(X, y) > 0.75
        assert pruned.path_.models[-1] == before
        assert pruned.best_loss_ == pytest.approx(
            -np.mean(np.log(pruned.predict_proba(X)[np.arange(len(y)), y])), rel=1e-5
        )
        assert not hasattr(clone(pruned), "model_")

    def test_the_option_does_the_same_inside_of_fit(self, grown):
        X, y, _, after = grown
        inside = NewronClassifier(pruning=True, **GROWN).fit(X, y)
        assert inside.model_ == after.model_
        assert inside.path_.sizes == after.path_.sizes
        np.testing.assert_array_equal(inside.path_.loss, after.path_.loss)
        assert inside.best_loss_ == after.best_loss_

    def test_neither_order_nor_threads_nor_repetition_change_it(self):
        X, y = make_blobs(90)
        pruned = NewronClassifier(pruning=True, **QUICK).fit(X, y)
        order = np.random.default_rng(1).permutation(len(X))
        weight = np.arange(90) % 2 + 1.0
        for other in (
            NewronClassifier(pruning=True, **QUICK).fit(X[order], y[order]),
            NewronClassifier(pruning=True, n_jobs=2, **QUICK).fit(X, y),
        ):
            assert other.model_ == pruned.model_
            np.testing.assert_array_equal(other.path_.score, pruned.path_.score)
        weighed = NewronClassifier(pruning=True, **QUICK).fit(X, y, sample_weight=weight)
        again = np.repeat(np.arange(90), weight.astype(int))
        repeated = NewronClassifier(pruning=True, **QUICK).fit(X[again], y[again])
        assert weighed.model_ == repeated.model_
        np.testing.assert_array_equal(weighed.path_.loss, repeated.path_.loss)

    def test_small_weights_do_not_prune_everything(self):
        X, y = make_blobs()
        whole = NewronClassifier(**QUICK).fit(X, y)
        pruned = whole.prune(X, y, np.full(len(y), 1e-6))
        assert pruned.score(X, y) > 0.75

    def test_the_path_tells_what_each_size_costs(self, grown):
        _, y, _, pruned = grown
        path = pruned.path_
        assert list(path.sizes) == sorted(set(path.sizes))
        assert path.sizes[0] == 0
        assert len(path) == len(path.models) == len(list(path))
        for n, model, columns in zip(path.sizes, path, path.columns, strict=True):
            assert count_literals(model) == n
            assert list_columns(model) == columns
            assert path[n] == model
        assert path[10_000] == path.models[-1]
        assert path.model == path[path.chosen] == pruned.model_
        with pytest.raises(IndexError, match="from 0 on, got -1"):
            path[-1]
        # With nothing read, every row gets the more frequent class.
        assert path.score[0] == pytest.approx(max(np.mean(y), 1 - np.mean(y)), abs=0.02)
        assert path.loss[0] > path.loss[-1]
        best = int(np.argmin(path.loss))
        chosen = path.sizes.index(path.chosen)
        assert path.score[chosen] >= path.score[best] - path.error[best]

    def test_the_path_as_a_frame(self, grown):
        pytest.importorskip("pandas")
        path = grown[-1].path_
        frame = path.to_frame()
        assert list(frame) == ["conditions", "columns", "accuracy", "error", "loss", "chosen"]
        assert frame.conditions.tolist() == list(path.sizes)
        assert frame.conditions[frame.chosen].tolist() == [path.chosen]
        assert frame["columns"].tolist() == [len(names) for names in path.columns]

    def test_tolerance_and_limit_say_how_far(self, grown):
        X, y, whole, _ = grown
        sizes = [
            count_literals(whole.prune(X, y, tolerance=t, honest=False).model_)
            for t in (0.0, 1.0, 3.0, 1e9)
        ]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] == 0
        one = whole.prune(X, y, max_literals=1, honest=False)
        assert count_literals(one.model_) <= 1
        assert one.path_.models[-1] == whole.model_

    def test_by_score_the_smallest_that_is_not_worse_by_pairs_is_taken(self, grown):
        X, y, whole, pruned = grown
        path = pruned.path_
        best = int(np.argmax(path.score))
        for tolerance in (0.0, 1.0, 2.0):
            chosen = path.choose(tolerance, criterion="score")
            gap = path.score[best] - path.score
            good = gap <= tolerance * path.pair_error[best]
            assert chosen == path.sizes[int(np.argmax(good))]
        again = whole.prune(X, y, tolerance=2.0, criterion="score")
        assert count_literals(again.model_) == path.choose(2.0, criterion="score")

    @pytest.mark.parametrize(
        ("how", "chosen"),
        [
            ({"tolerance": 0.0, "criterion": "score"}, 3),
            ({"tolerance": 1.0, "criterion": "score"}, 2),
            ({"tolerance": 1.9, "criterion": "score"}, 2),
            ({"tolerance": 2.0, "criterion": "score"}, 1),
            ({"tolerance": 9.0, "criterion": "score"}, 0),
            ({"tolerance": 0.0, "criterion": "score", "max_size": 2}, 2),
            ({"tolerance": 1.0, "criterion": "loss"}, 3),
            ({"tolerance": 3.0, "criterion": "loss"}, 1),
            ({"tolerance": 1.5, "criterion": "loss"}, 3),
        ],
    )
    def test_a_size_is_taken_at_its_very_tolerance(self, grown, how, chosen):
        # The gaps to the best score are 4, 2, 1, 0, 0 of its standard errors by pairs.
        score = 0.875 - np.array([4.0, 2.0, 1.0, 0.0, 0.0]) / 64
        path = replace(
            grown[3].path_,
            sizes=(0, 1, 2, 3, 4),
            score=score,
            error=np.full(5, 1 / 64),
            loss=np.array([0.75, 0.625, 0.5, 0.375, 0.25]),
            loss_error=np.full(5, 0.125),
            pair_error=np.full((5, 5), 1 / 64),
        )
        assert path.choose(**how) == chosen

    def test_errors_of_pairs_are_those_of_differences_on_the_same_rows(self, grown):
        error = grown[3].path_.pair_error
        np.testing.assert_allclose(error, error.T)
        assert (np.diag(error) == 0.0).all()
        assert (error >= 0.0).all()
        assert error.max() > 0.0

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"criterion": "auc"}, "criterion: expected 'loss' or 'score', got 'auc'"),
            ({"tolerance": -1.0}, "tolerance: expected a number from 0 on, got -1.0"),
            ({"tolerance": np.nan}, "tolerance"),
            ({"tolerance": "much"}, "tolerance"),
            ({"max_literals": -1}, "max_literals: expected None or a number from 0 on, got -1"),
            ({"max_literals": 2.5}, "max_literals"),
        ],
    )
    def test_nonsense_is_refused(self, how, message):
        X, y = make_blobs(40)
        with pytest.raises(InputError, match=message):
            NewronClassifier(**FEW).fit(X, y).prune(X, y, **how)

    def test_what_cannot_be_pruned_is_refused(self):
        X, y = make_blobs(40)
        with pytest.raises(NotFittedError):
            NewronClassifier().prune(X, y)
        fitted = NewronClassifier(**FEW).fit(X, y)
        with pytest.raises(InputError, match=r"expected classes \[0, 1\], got 2"):
            fitted.prune(X, y + 1)
        with pytest.raises(ValueError, match="4 features"):
            fitted.prune(X[:, :2], y)
        amounts = NewronRegressor(**FEW).fit(X, y)
        with pytest.raises(InputError, match="expected 1 targets, as in fit, got 2"):
            amounts.prune(X, np.column_stack([y, y]))

    def test_few_rows_are_not_held_out(self):
        X, y = make_blobs(15)
        whole = NewronClassifier(**FEW).fit(X, y)
        pruned = whole.prune(X, y)
        assert pruned.model_ == whole.model_
        assert np.all(np.isnan(pruned.path_.score))
        assert count_literals(whole.prune(X, y, max_literals=2).model_) <= 2

    def test_a_class_of_one_row_is_not_held_out(self):
        X, y = make_blobs(60)
        y = np.where(np.arange(60) == 7, 2, y)
        whole = NewronClassifier(**FEW).fit(X, y)
        assert whole.prune(X, y).model_ == whole.model_

    def test_many_rows_hold_out_a_third(self, monkeypatch):
        monkeypatch.setattr(pruning, "_MANY_ROWS", 100)
        seen = []
        self.listen(monkeypatch, seen)
        X, y = make_blobs(300)
        whole = NewronClassifier(**QUICK).fit(X, y)
        seen.clear()
        pruned = whole.prune(X, y)
        assert seen == [200]
        assert set(list_columns(pruned.model_)) <= {"x1", "x2"}

    def listen(self, monkeypatch, seen):
        """Note how many rows each fold's network is trained on."""
        fit = strategies.fit

        def fit_and_note(strategy, data, *rest):
            seen.append(len(data))
            return fit(strategy, data, *rest)

        monkeypatch.setattr(pruning.strategies, "fit", fit_and_note)

    def test_folds_train_networks_of_their_own_unless_told_not_to(self, monkeypatch):
        seen = []
        self.listen(monkeypatch, seen)
        X, y = make_blobs(100)
        whole = NewronClassifier(**FEW).fit(X, y)
        seen.clear()
        whole.prune(X, y)
        assert seen == [80] * 5
        whole.prune(X, y, honest=False)
        assert len(seen) == 5

    def test_ctrl_c_keeps_the_whole_network(self, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        X, y = make_blobs(60)
        whole = NewronClassifier(**FEW).fit(X, y)
        monkeypatch.setattr(pruning, "eliminate", interrupt)
        with pytest.warns(InterruptedWarning, match="whole network is kept") as told:
            kept = NewronClassifier(pruning=True, **FEW).fit(X, y)
        assert told[0].filename == __file__
        assert kept.model_ == whole.model_
        assert kept.path_ is None
        with pytest.raises(KeyboardInterrupt):
            whole.prune(X, y)

    def test_training_goes_on_from_the_whole_network(self):
        X, y = make_blobs(60)
        whole = NewronClassifier(**FEW).fit(X, y)
        pruned = whole.prune(X, y)
        with pytest.warns(NewronWarning, match="goes on from the network before") as told:
            pruned.partial_fit(X, y)
        assert told[0].filename == __file__
        assert pruned.path_ is None
        assert pruned.model_ == clone(whole).fit(X, y).partial_fit(X, y).model_
        warm = NewronClassifier(pruning=True, warm_start=True, **FEW).fit(X, y).fit(X, y)
        plain = NewronClassifier(warm_start=True, **FEW).fit(X, y).fit(X, y)
        assert warm.path_.models[-1] == plain.model_

    def test_a_grown_network_starts_anew_as_before(self, grown):
        X, y, _, pruned = grown
        with pytest.warns(NewronWarning, match="starts anew"):
            again = pickle.loads(pickle.dumps(pruned)).partial_fit(X, y)
        assert again.path_ is None
        with pytest.raises(InputError, match="a grown network cannot go on"):
            pickle.loads(pickle.dumps(pruned)).set_params(warm_start=True).fit(X, y)

    def test_parts_are_not_pruned(self):
        X, y = make_blobs(60)
        parts = NewronClassifier(pruning=True, **FEW).partial_fit(X, y).partial_fit(X, y)
        assert parts.path_ is None

    def test_files_keep_it(self, tmp_path):
        import skops.io

        X, y = make_blobs(60)
        pruned = NewronClassifier(**FEW).fit(X, y).prune(X, y)
        pruned.model_.save(tmp_path / "model.json")
        assert load(tmp_path / "model.json") == pruned.model_
        again = pickle.loads(pickle.dumps(pruned))
        data = skops.io.dumps(pruned)
        unknown = skops.io.get_untrusted_types(file=io.BytesIO(data))
        assert all(name.startswith("newron.") for name in unknown)
        for other in (again, skops.io.load(io.BytesIO(data), trusted=unknown)):
            assert other.model_ == pruned.model_
            assert other.path_.sizes == pruned.path_.sizes
            assert other.path_[1] == pruned.path_[1]

    def test_numbers_are_short(self, grown):
        for layer in grown[-1].model_.layers:
            for number in (*layer.b.ravel(), *(layer.alpha if layer.alpha is not None else ())):
                assert len(f"{abs(number):.15g}") <= 7

    @pytest.mark.filterwarnings("ignore")
    def test_scikit_learn_finds_nothing_wrong_with_the_option(self):
        settings = {**FEW, "max_iter": 40, "random_state": None}
        results = check_estimator(
            NewronRegressor("sigmoid", pruning=True, **settings), on_skip=None
        )
        assert {result["status"] for result in results} == {"passed"}


class TestKinds:
    @pytest.mark.parametrize(
        ("processing", "hidden"),
        [
            ("heaviside", (2,)),
            ("sigmoid", ()),
            ("tanh_prod", (2,)),
            ("linear", ()),
            ("linear", (2,)),
            ("relu", (2,)),
            ("selu", ()),
        ],
    )
    def test_every_function_can_be_pruned(self, processing, hidden):
        X, y = make_blobs(120, columns=3)
        make = {**QUICK, "hidden_layer_sizes": hidden, "direct_inputs": bool(hidden)}
        whole = NewronClassifier(processing, **make).fit(X, y)
        pruned = whole.prune(X, y, max_literals=4, honest=False)
        assert count_literals(pruned.model_) <= 4
        assert pruned.score(X, y) > 0.75
        amounts = NewronRegressor(processing, **make).fit(X, 1e3 * y + 5)
        fewer = amounts.prune(X, 1e3 * y + 5, honest=False)
        assert count_literals(fewer.model_) <= count_literals(amounts.model_)
        path = fewer.path_
        assert path.metric == "r2"
        assert path.score[0] == pytest.approx(0.0, abs=0.1)
        chosen = path.sizes.index(path.chosen)
        assert path.score[chosen] == pytest.approx(1.0 - path.loss[chosen])

    @pytest.mark.parametrize(
        "how",
        [
            {"hidden_layer_sizes": (2, 2), "direct_inputs": True},
            {"hidden_layer_sizes": (2, 2), "processing": "sigmoid", "aggregation": "mean"},
            {"hidden_layer_sizes": (2,), "aggregation": "min"},
            {"hidden_layer_sizes": (2,), "aggregation": "product", "processing": "sigmoid"},
            {"hidden_layer_sizes": (2,), "aggregation": ("sum", "product"),
             "processing": "sigmoid"},
            {"hidden_layer_sizes": (2,), "activation": "tanh", "processing": "tanh_prod"},
            {"hidden_layer_sizes": (2,), "processing": ("sigmoid", "heaviside")},
            {"processing": "sigmoid", "input_scale": "both", "hidden_layer_sizes": ()},
        ],
        ids=lambda how: str(list(how.values())),
    )  # fmt: skip
    def test_every_shape_can_be_pruned(self, how):
        X, y = make_blobs(100, columns=3)
        whole = NewronClassifier(**{**FEW, "max_iter": 40, **how}).fit(X, y)
        pruned = whole.prune(X, y, honest=False)
        assert count_literals(pruned.model_) <= count_literals(whole.model_)
        assert whole.score(X, y) - pruned.score(X, y) < 0.1

    def test_several_classes(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 5)).round(2)
        y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
        for how in ({"hidden_layer_sizes": ()}, {"hidden_layer_sizes": (2,)}, GROWN):
            whole = NewronClassifier(**{**QUICK, **how}).fit(X, y)
            pruned = whole.prune(X, y)
            assert list_columns(pruned.model_) == ("x1",)
            assert count_literals(pruned.model_) <= 4
            assert pruned.score(X, y) > 0.95

    def test_several_amounts(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(150, 4)).round(2)
        y = np.column_stack([1e4 * (X[:, 0] > 0), 1e-3 * (X[:, 1] > 0) + 7.0])
        pruned = NewronRegressor(**{**QUICK, "hidden_layer_sizes": ()}).fit(X, y).prune(X, y)
        assert list_columns(pruned.model_) == ("x1", "x2")
        assert pruned.predict(X).shape == (150, 2)
        assert pruned.score(X, y) > 0.9

    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid"])
    def test_categories_and_gaps(self, processing):
        pd = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        n = 240
        frame = pd.DataFrame({
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": rng.normal(size=n).round(1),
            "noise": rng.choice(list("abcd"), n),
            "more": rng.normal(size=n),
        })  # fmt: skip
        frame.loc[rng.random(n) < 0.3, "size"] = np.nan
        y = np.where((frame.colour == "red") | frame["size"].isna(), "yes", "no")
        whole = NewronClassifier(processing, **{**QUICK, "hidden_layer_sizes": ()}).fit(frame, y)
        pruned = whole.prune(frame, y)
        assert list_columns(pruned.model_) == ("colour", "size")
        assert pruned.score(frame, y) > 0.95
        assert pruned.feature_names_in_.tolist() == list(frame)
        # Columns that nothing reads stay in the schema, and are asked for.
        assert pruned.model_.schema.names == tuple(frame)
        odd = frame.assign(colour="violet")
        with pytest.warns(NewronWarning, match="violet"):
            assert len(pruned.predict(odd)) == n

    def test_weights_of_classes_and_domains(self):
        X, y = make_blobs(150)
        X, y = X[y + np.arange(150) % 4 > 0], y[y + np.arange(150) % 4 > 0]
        domains = {"x1": {"unit": "mm", "low": -9, "high": 9}}
        make = {**QUICK, "class_weight": {0: 1.0, 1: 20.0}, "domains": domains}
        pruned = NewronClassifier(**make).fit(X, y).prune(X, y)
        assert pruned.model_.schema.columns[0].unit == "mm"
        recall = pruned.predict(X)[y == 1].mean()
        plain = NewronClassifier(**QUICK).fit(X, y).prune(X, y)
        assert recall >= plain.predict(X)[y == 1].mean()

    @pytest.mark.parametrize(
        "how",
        [
            {"hidden_layer_sizes": ()},
            {"hidden_layer_sizes": (2, 2)},
            GROWN,
            {"processing": "sigmoid", "direct_inputs": True},
            {"processing": "linear"},
            {"processing": "sigmoid", "aggregation": "min"},
        ],
        ids=["card", "deep", "grown", "sigmoid", "linear", "least"],
    )
    def test_directions_hold_along_the_whole_path(self, how):
        X, effect = make_rows(2)
        y = (effect > np.median(effect)).astype(int)
        make = {**QUICK, **how, "monotonic_cst": list(DIRECTIONS)}
        path = NewronClassifier(**make).fit(X, y).prune(X, y, honest=False).path_
        for model in path:
            check(lambda rows, model=model: model.scores(rows)[:, 0], X, n_rows=5)
        amounts = NewronRegressor(**make).fit(X, effect).prune(X, effect, honest=False)
        for model in amounts.path_:
            check(lambda rows, model=model: model.scores(rows)[:, 0], X, n_rows=5)
