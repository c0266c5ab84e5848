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

from .networks import Wishes, make_layer, make_model, make_rows


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


def test_a_window_of_listed_values_ends_half_way_between_them():
    column = Column("x", 0.0, 2.0, values=(0.0, 1.0, 2.0))
    model = make_card([0.5, 1.5], [1.0, -1.0], [1.0, 1.0], column=column)
    rows = np.array([[0.0], [1.0], [2.0]])
    made = normalise(model, rows)
    assert made.layers[-1].b[:, 0].tolist() == [0.5, 1.5]
    assert made.layers[-1].w[:, 0].tolist() == [1.0, 1.0]
    assert made.score_rows(rows).tolist() == model.score_rows(rows).tolist()


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


def compare_scores(made, model, rows):
    """Several classes may all gain the same."""
    a, b = made.score_rows(rows), model.score_rows(rows)
    if isinstance(model.output, Classes) and a.shape[1] > 1:
        a, b = a - a[:, :1], b - b[:, :1]
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def list_points(model):
    points = make_points(read_circuit(model))
    weights = {abs(float(w)) for term in points.terms for w in term.weights}
    return weights - {0.0}, [-float(c) for c in points.constants]


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("seed", range(30))
def test_rules_of_deep_networks_in_normal_form_have_the_stored_weights(seed, depth):
    model = make_model(seed, Wishes(depth=depth, last=("sum",)))
    made = normalise(model)
    compare_scores(made, model, make_rows(model, most=200))
    if made is not model:
        last = made.layers[-1]
        assert list_points(made) == (set(np.abs(last.alpha).tolist()), last.centre.tolist())


def make_deep(conditions, last, output):
    """Return a network of one hidden neuron that counts conditions on columns of 0 to 10."""
    columns = tuple(Column(f"x{k}", 0.0, 10.0) for k in range(3))
    hidden = make_layer(1, [0] * len(conditions), *zip(*conditions, strict=True))
    target, w, b, alpha = zip(*last, strict=True)
    n = output.n_scores
    final = make_layer(n, target, [3] * len(last), w, b, alpha=alpha, centre=[0.25] * n)
    return Model(Schema(columns), [hidden, final], output)


THREE = [(0, 1.0, 5.0), (1, 1.0, 5.0), (2, 1.0, 5.0)]


def test_what_a_count_adds_is_one_curve_from_0_and_a_window_of_it_one_condition():
    last = [(0, 1.0, 1.5, -2.0), (0, -1.0, 2.5, -3.0)]
    model = make_deep(THREE, last, Classes(("no", "yes")))
    made = normalise(model)
    assert made.rules(form="points").to_text(notes=False).splitlines()[4:] == [
        "",
        "Points for yes",
        "    +3  all of A",
        "    +2  at most 1 of A",
        "Sum ≥ 5.25: yes",
        "Otherwise: no",
    ]
    inside = make_deep(THREE, [(0, 1.0, 0.5, 1.5), (0, -1.0, 2.5, 1.5)], Targets(("y",)))
    made = normalise(inside)
    assert made.layers[-1].alpha.tolist() == [1.5, -1.5]
    assert "+1.5  between 1 and 2 of [x0 ≥ 5" in made.rules().to_text()


def test_hidden_neurons_that_are_equal_opposite_or_about_one_column_are_merged():
    columns = tuple(Column(f"x{k}", 0.0, 10.0) for k in range(2))
    hidden = make_layer(
        4,
        [0, 0, 1, 1, 2, 2, 3, 3],
        [0, 1, 0, 1, 0, 1, 0, 0],
        [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0],
        [5.0, 6.0, 5.0, 6.0, 5.0, 6.0, 2.0, 8.0],
    )
    w, b = [1.0, 1.0, 1.0, 1.0], [1.5, 1.5, 0.5, 1.5]
    last = make_layer(1, [0] * 4, [2, 3, 4, 5], w, b, alpha=[1.0, 2.0, 0.5, 4.0], centre=[1.0])
    rows = np.array([[1.0, 1.0], [9.0, 9.0], [3.0, 8.0], [7.0, 7.0]])
    made = normalise(Model(Schema(columns), [hidden, last], Classes(("no", "yes"))), rows)
    assert made.rules(form="points").to_text(notes=False).splitlines()[1:4] == [
        "      +4  2 ≤ x0 < 8",
        "    +2.5  x0 ≥ 5 and x1 ≥ 6",
        "Sum ≥ 0.5: yes",
    ]
    assert [layer.n_neurons for layer in made.layers] == [1, 1]


def test_points_of_several_classes_start_at_0():
    last = [(0, 1.0, 1.5, -1.0), (1, 1.0, 1.5, 0.5), (2, 1.0, 1.5, 2.0)]
    model = make_deep(THREE, last, Classes(("a", "b", "c")))
    made = normalise(model)
    rows = make_rows(model, most=200)
    np.testing.assert_allclose(made.predict_proba(rows), model.predict_proba(rows), rtol=1e-12)
    (term,) = make_points(read_circuit(made)).terms
    assert term.weights == (0, Fraction(3, 2), 3)
    assert made.layers[-1].centre.tolist() == [0.0, 0.0, 0.0]


def test_one_of_many_classes_that_a_condition_speaks_against_has_the_opposite_condition():
    output = Classes(("a", "b", "c", "d", "e"))
    made = normalise(make_deep(THREE, [(1, 1.0, 1.5, -1.0)], output))
    (term,) = make_points(read_circuit(made)).terms
    assert term.weights == (0, 1, 0, 0, 0)
    assert (term.node.low, term.node.high) == (0, 1)
    mixed = normalise(make_deep(THREE, [(1, 1.0, 1.5, -1.0), (2, 1.0, 1.5, 3.0)], output))
    assert {term.weights for term in make_points(read_circuit(mixed)).terms} == {
        (0, 1, 0, 0, 0),
        (0, 0, 3, 0, 0),
    }


def test_smooth_networks_stay_as_they_are():
    layer = Layer("sigmoid", "sum", "identity", 1, [0], [0], [[1.0]], [[5.0]], centre=[0.5])
    model = Model(Schema((Column("x", 0.0, 10.0),)), [layer], Classes(("no", "yes")))
    assert normalise(model) is model


def test_a_stretch_that_rises_through_several_levels_is_one_condition():
    # 0 to 3 adds 1.8, 7 to 10 adds 1, and levels of one are those of the other in part.
    b, w = [3.0, 7.0, 9.0, 3.0], [-1.0, 1.0, 1.0, -1.0]
    made = normalise(make_card(b, w, [1.0, 1.0, 0.5, 0.8], column=Column("x", 0.0, 10.0)))
    masks = [term.node.mask for term in make_points(read_circuit(made)).terms]
    assert len(masks) == len(set(masks))


def test_missing_values_of_a_level_of_their_own_have_a_line_of_their_own():
    model = make_card([2.0, 5.0, 2.0], [1.0, 1.0, 1.0], [3.0, 4.0, 1.0], missing=[0.0, 0.0, 1.0])
    text = normalise(model).rules(form="points").to_text(notes=False)
    assert [line.split("  ")[-1] for line in text.splitlines()[1:4]] == [
        "x ≥ 2", "x ≥ 5", "x missing",
    ]  # fmt: skip


def test_both_sides_of_a_window_are_two_conditions_unless_one_is_shorter():
    def write(alpha):
        model = make_card([3.0, 6.0], [-1.0, 1.0], alpha, column=Column("x", 0.0, 10.0, gaps=True))
        return [str(rule.condition) for rule in normalise(model).rules(form="points").rules]

    assert write([1.0, 3.0]) == ["x ≤ 3", "x ≥ 6"]
    assert write([2.0, 2.0]) == ["x ≤ 3 or ≥ 6"]


def test_outside_of_a_window_missing_values_are_where_their_typical_value_is():
    rows = np.array([[1.0], [4.0], [8.0], [8.5], [9.0]])
    model = make_card([3.0, 6.0], [-1.0, 1.0], [1.0, 1.0], column=Column("x", 0.0, 10.0))
    text = normalise(model, rows).rules(form="points").to_text(notes=False)
    assert "x ≤ 3 or ≥ 6" in text
    assert "or missing" not in text
    assert "Missing values count as: x = " in text


@pytest.mark.parametrize(("b", "w"), [(-1e300, -1.0), (1e300, 1.0)])
def test_a_condition_that_no_number_fulfils_is_missing_alone(b, w):
    rows = np.array([[1.0], [4.0], [9.0], [np.nan]])
    made = normalise(make_card([b, 5.0], [w, 1.0], [1.0, 2.0], missing=[1.0, 0.0]), rows)
    rules = made.rules(form="points")
    assert {str(rule.condition) for rule in rules.rules} == {"x ≥ 5", "x missing"}
    assert np.all(np.abs(made.layers[-1].b) != np.nextafter(1e300, 0.0))
