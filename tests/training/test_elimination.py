"""Backward elimination: what a cut costs, and what is left."""

import numpy as np
import pytest

from builders.training import make_problem
from model.networks import make_model, with_ranks
from newron import NewronClassifier
from newron.model import Classes, Layer, Model, Targets
from newron.training.elimination import eliminate
from newron.training.folding import list_columns
from newron.training.last_layer import Task
from newron.training.pruning import count_literals
from training.networks import GROWN, make_blobs, make_schema, steps


def set_task(model, X, y, **more):
    """Make the task of pruning towards the rows' own targets."""
    n = model.output.n_scores
    kind = "squared" if not isinstance(model.output, Classes) else "binary"
    kind = "categorical" if kind == "binary" and n > 1 else kind
    problem = make_problem(kind, y if kind == "squared" else y[:, None], np.ones(len(X)), n)
    return Task(model.schema, model.output, X, problem, **more)


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
