"""Scores as sums of terms."""

import numpy as np
import pytest

from builders.models import make_card, make_flowers, make_pair, make_regression
from newron.model import Column, Layer, Model, Schema, Targets
from newron.model.terms import split_terms

MODELS = (make_card, make_flowers, make_pair, make_regression)


def draw_rows(model, n=50):
    rng = np.random.default_rng(0)
    columns = [
        rng.integers(0, c.n_categories, n) if c.n_categories else rng.uniform(c.low, c.high, n)
        for c in model.schema.columns
    ]
    rows = np.stack(columns, axis=1).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


@pytest.mark.parametrize("make", MODELS)
def test_terms_and_intercept_are_the_score(make):
    model = make()
    terms, rows = split_terms(model), draw_rows(model)
    total = terms.evaluate(rows).sum(axis=1) + terms.intercept
    assert np.abs(total - model.score_rows(rows)).max() < 1e-12


def test_whole_points_add_up_exactly():
    model = make_card()
    terms, rows = split_terms(model), draw_rows(model)
    total = terms.evaluate(rows).sum(axis=1) + terms.intercept
    assert np.array_equal(total, model.score_rows(rows))


def test_a_column_read_through_a_neuron_is_one_term_with_its_own_functions():
    terms = split_terms(make_pair())
    assert [term.name for term in terms.terms] == ["x", "z", "x × kind"]
    assert terms.intercept.tolist() == [-0.75]


def test_a_term_depends_on_its_columns_alone():
    model = make_pair()
    terms = split_terms(model)
    pair = terms.terms[-1]
    rows = draw_rows(model)
    found = terms.trace(pair, rows[:, [0, 1]])
    assert np.array_equal(found, terms.evaluate(rows)[:, 2], equal_nan=True)


@pytest.mark.parametrize("aggregation", ["sum", "mean", "min", "max", "product"])
def test_any_aggregation_adds_up(aggregation):
    layer = Layer(
        "sigmoid", aggregation, "identity", 2, target=[0, 0, 1], source=[0, 1, 1],
        w=[[1.0], [2.0], [-1.0]], b=[[0.1], [0.2], [0.3]], centre=[0.25, -1.0],
    )  # fmt: skip
    columns = Column("a", -1.0, 1.0), Column("b", -1.0, 1.0)
    model = Model(Schema(columns), [layer], Targets(("p", "q")))
    terms, rows = split_terms(model), draw_rows(model)
    total = terms.evaluate(rows).sum(axis=1) + terms.intercept
    assert np.abs(total - model.score_rows(rows)).max() < 1e-12


def test_a_neuron_without_functions_is_part_of_the_intercept():
    hidden = Layer("sigmoid", "sum", "identity", 1, [], [], np.zeros((0, 1)), np.zeros((0, 1)))
    last = Layer(
        "linear", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [1.0]], [[0.0], [-2.0]],
        alpha=[3.0, 0.5], centre=[0.25],
    )  # fmt: skip
    model = Model(Schema((Column("a", 0.0, 1.0),)), [hidden, last], Targets(("y",)))
    terms = split_terms(model)
    assert [term.name for term in terms.terms] == ["a"]
    assert terms.intercept.tolist() == [0.75]
