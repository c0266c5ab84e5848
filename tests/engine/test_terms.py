"""Terms of several conditions as columns of the engine."""

import numpy as np
import pytest

from builders.engine_tables import name_columns, number_classes, one_target
from newron.engine import Options, TermColumns, fit
from newron.model import Column, Layer, Model, Schema, Targets

THRESHOLDS = (0.25, -0.5, 0.125)


def make_crisp(kinds=1):
    """All of three conditions, a condition of the first column, and one that always holds."""
    hidden = Layer(
        "heaviside", "sum", "identity", 1,
        target=[0, 0, 0], source=[0, 1, 2], w=np.ones((3, 1)), b=np.array([THRESHOLDS]).T,
    )  # fmt: skip
    last = Layer(
        "heaviside", "sum", "identity", kinds,
        target=[0] * 4, source=[3, 0, 3, 1], w=[[1.0], [-1.0], [1.0], [1.0]],
        b=[[2.5], [0.0], [2.5], [-1e6]], alpha=np.ones(4), centre=np.zeros(kinds),
    )  # fmt: skip
    schema = Schema(tuple(Column(name, -5.0, 5.0) for name in ("x1", "x2", "x3")))
    return Model(schema, [hidden, last], Targets(("y",)))


def draw_rows(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, (np.array(THRESHOLDS) <= X).all(axis=1)


def choose(X):
    found = TermColumns.choose(make_crisp(), X)
    assert found is not None
    return found


def test_functions_that_tell_no_rows_apart_or_are_there_twice_are_left_out():
    X, holds = draw_rows(200, 0)
    terms = choose(X)
    assert terms.edges == (0, 1)
    assert np.array_equal(terms.add(X)[:, 3:], np.column_stack([holds, X[:, 0] < 0.0]))


def test_where_nothing_differs_there_are_no_terms():
    assert TermColumns.choose(make_crisp(), np.full((5, 3), 4.0)) is None


@pytest.mark.parametrize("processing", ["smooth", "sigmoid", "tanh_prod"])
def test_a_network_has_the_term_as_a_neuron_of_three_steep_functions(processing):
    X, holds = draw_rows(1_000, 1)
    options = Options(processing, terms=choose(X))
    found = fit(X, holds.astype(float), number_classes(), name_columns(3), options=options)
    assert len(found.model.schema) == 3
    hidden = found.model.layers[0]
    assert np.any(np.bincount(hidden.target) == 3)
    new, truth = draw_rows(2_000, 2)
    right = found.model.predict_proba(new)[:, 1] > 0.5
    assert np.mean(right == truth) > 0.99
    assert found.deviation(new).shape == (2_000, 1)


def test_a_term_of_several_classes_is_one_neuron():
    X, holds = draw_rows(1_500, 3)
    y = np.where(holds, 2.0, (X[:, 0] > 0.0).astype(float))
    options = Options("sigmoid", pairs=False, terms=choose(X))
    found = fit(X, y, number_classes(3), name_columns(3), options=options)
    assert found.model.layers[0].n_neurons == 1
    assert np.sum(found.model.layers[-1].source == 3) > 1


def test_a_term_of_a_target_has_its_units():
    X, holds = draw_rows(800, 4)
    y = 1e6 + 1e5 * holds + 1e3 * np.random.default_rng(4).normal(size=800)
    options = Options(terms=choose(X))
    model = fit(X, y, one_target(), name_columns(3), options=options).model
    new, truth = draw_rows(500, 5)
    assert np.abs(model.predict(new).ravel() - (1e6 + 1e5 * truth)).mean() < 1e3
