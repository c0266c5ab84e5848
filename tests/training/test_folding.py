"""Folding: what is constant or unread goes, and the outputs stay."""

import numpy as np
import pytest

from model.networks import make_model, with_ranks
from model.networks import make_rows as make_model_rows
from newron.model import Classes, Column, Layer, Model, Schema
from newron.model.aggregation import activate, combine
from newron.model.network import rank_edges
from newron.model.processing import get_processing
from newron.training.folding import (
    drop_function,
    fold,
    fold_weights,
    list_columns,
    list_literals,
    make_additive,
)
from newron.training.pruning import count_literals
from training.networks import make_schema, steps


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
                    if layer.rank[e]:
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
