"""The normal form of crisp networks: one curve for each column, the same scores."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.rules.circuit import read_circuit
from newron.rules.normal_form import normalise
from newron.rules.points import make_points
from newron.rules.scorecard import read_card

from .networks import Wishes, make_model, make_rows


def make_card(b, w, alpha, *, missing=None, output=None, column=None):
    n = len(b)
    last = Layer(
        "heaviside",
        "sum",
        "identity",
        1,
        target=[0] * n,
        source=[0] * n,
        w=np.reshape(w, (-1, 1)),
        b=np.reshape(b, (-1, 1)),
        alpha=alpha,
        centre=[0.3],
        missing=missing,
    )
    schema = Schema((column or Column("x", 0.0, 10.0, gaps=True),))
    return Model(schema, [last], output or Classes(("no", "yes")))


STEPS = st.lists(
    st.tuples(
        st.integers(0, 10),
        st.sampled_from([-1.0, 1.0]),
        st.integers(-30, 30).map(lambda k: k / 10),
        st.sampled_from([0.0, 1.0]),
    ),
    min_size=1,
    max_size=6,
)


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_scores_stay_on_all_inputs(steps):
    b, w, alpha, missing = map(list, zip(*steps, strict=True))
    model = make_card(b, w, alpha, missing=missing)
    made = normalise(model)
    places = [x for k in range(11) for x in (np.nextafter(k, -1), float(k), np.nextafter(k, 11))]
    rows = np.array([*places, np.nan])[:, None]
    np.testing.assert_array_equal(made.score_rows(rows), model.score_rows(rows))
    points = make_points(read_circuit(made))
    assert all(term.weights[0] > 0 for term in points.terms)
    assert float(points.constants[0]) == -made.layers[-1].centre[0]
    assert normalise(made) == made


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_scores_stay_on_training_rows(steps):
    b, w, alpha, missing = map(list, zip(*steps, strict=True))
    model = make_card(b, w, alpha, missing=missing)
    rows = np.array([*np.arange(-0.5, 11), np.nan])[:, None]
    made = normalise(model, rows)
    np.testing.assert_array_equal(made.score_rows(rows), model.score_rows(rows))
    assert all(value == int(value) for value in made.layers[-1].b.ravel())
    assert normalise(made, rows) == made


def test_neighbouring_steps_are_one_and_start_at_0():
    model = make_card([3.0, 3.0], [1.0, -1.0], [1.0, -2.0], column=Column("x", 0.0, 10.0))
    rows = np.array([[1.0], [5.0]])
    made = normalise(model, rows)
    assert made.layers[-1].b.tolist() == [[3.0]]
    assert made.layers[-1].alpha.tolist() == [3.0]
    assert [row.points for row in read_card(made).rows] == [Fraction(3)]
    assert len(normalise(model).layers[-1].b) > 1  # x = 3 has a value of its own


def test_a_window_steps_up_and_down_and_needs_no_constant():
    model = make_card([2.0, 6.0], [1.0, -1.0], [1.5, 1.5], column=Column("x", 0.0, 10.0))
    made = normalise(model, np.array([[0.0], [4.0], [9.0]]))
    card = read_card(made)
    assert [(row.condition, row.points) for row in card.rows] == [("2 ≤ … < 6", Fraction(3, 2))]
    assert made.layers[-1].alpha.tolist() == [1.5, -1.5]
    assert float(card.threshold) == made.layers[-1].centre[0] == pytest.approx(-1.2)


def test_categories_have_one_condition_for_each_level():
    last = Layer(
        "heaviside",
        "sum",
        "identity",
        1,
        target=[0, 0],
        source=[0, 0],
        w=np.zeros((2, 1)),
        b=np.zeros((2, 1)),
        alpha=[1.0, -2.0],
        centre=[0.0],
        levels=[[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]],
    )
    column = Column("colour", 0.0, 2.0, categories=("red", "green", "blue"))
    rows = np.array([[0.0], [1.0], [2.0]])
    made = normalise(Model(Schema((column,)), [last], Targets(("y",))), rows)
    assert sorted(made.layers[-1].alpha.tolist()) == [1.0, 3.0]
    assert made.score_rows(rows).ravel().tolist() == [1.0, -2.0, -1.0]


@pytest.mark.parametrize("seed", range(12))
def test_deep_networks_keep_their_hidden_layers_and_scores(seed):
    model = make_model(seed, Wishes(depth=3))
    made = normalise(model)
    assert len(made.layers) == len(model.layers)
    rows = make_rows(model, 200)
    np.testing.assert_allclose(made.score_rows(rows), model.score_rows(rows), rtol=0, atol=1e-12)


def test_smooth_networks_stay_as_they_are():
    layer = Layer("sigmoid", "sum", "identity", 1, [0], [0], [[1.0]], [[5.0]], centre=[0.5])
    model = Model(Schema((Column("x", 0.0, 10.0),)), [layer], Classes(("no", "yes")))
    assert normalise(model) is model
