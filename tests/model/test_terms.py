"""Scores as sums of terms."""

import pickle

import numpy as np
import pytest

from builders.models import make_card, make_flowers, make_pair, make_regression
from newron.errors import ModelError
from newron.model import Column, Layer, Model, Schema, Targets, load
from newron.model.terms import center_terms, split_terms

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
    assert np.array_equal(found, terms.evaluate(rows)[:, 2, 0], equal_nan=True)


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


def make_line(w=2.0, centre=1.0, output=None):
    layer = Layer("linear", "sum", "identity", 1, [0], [0], [[w]], [[0.0]], centre=[centre])
    return Model(Schema((Column("a", 0.0, 9.0),)), [layer], output or Targets(("y",)))


def test_centred_curves_have_mean_0_and_scores_stay():
    rows, weight = np.array([[1.0], [2.0], [6.0]]), np.array([1.0, 1.0, 2.0])
    model = make_line()
    centred = center_terms(model, rows, weight)
    assert centred.means == {("a",): (7.5,)}
    assert centred == model  # the network is the same
    np.testing.assert_array_equal(centred.score_rows(rows), model.score_rows(rows))
    terms = split_terms(centred)
    added = terms.evaluate(rows)[:, 0, 0]
    assert added @ weight == 0.0
    assert terms.trace(terms.terms[0], rows).tolist() == added.tolist()
    assert terms.intercept.tolist() == [6.5]
    np.testing.assert_allclose(added + 6.5, model.score_rows(rows)[:, 0])


def test_means_are_kept_by_files_pickles_and_measurements(tmp_path):
    model = center_terms(make_line(), np.array([[1.0], [2.0]]), np.ones(2))
    model.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").means == model.means == {("a",): (3.0,)}
    assert pickle.loads(pickle.dumps(model)).means == model.means


@pytest.mark.parametrize(
    "means", [{("b",): (1.0,)}, {("a",): (1.0, 2.0)}, {(): (1.0,)}], ids=["name", "number", "none"]
)
def test_means_of_something_else_are_refused(means):
    model = make_line()
    with pytest.raises(ModelError, match="means: expected columns of the model and 1 numbers"):
        Model(model.schema, model.layers, model.output, means=means)


@pytest.mark.parametrize(
    "part", [{"inputs": ["a"]}, {"inputs": "a", "values": [1.0]}, {"inputs": ["a"], "values": "x"}]
)
def test_hostile_means_of_a_file_are_refused(part):
    document = {**make_line().to_dict(), "means": [part]}
    with pytest.raises(ModelError, match="means"):
        Model.from_dict(document)
