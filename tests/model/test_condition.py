"""One condition on one column: read from a layer, evaluated, combined, written and read again."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newron.model import Classes, Column, Layer, Schema
from newron.model.condition import Condition, Edge, find_runs, make_layer
from newron.model.processing import get_processing
from newron.rules.axis import make_axes
from newron.rules.node import Literal
from newron.rules.parsing import parse_rules

AGE = Column("age", 18.0, 90.0, unit="y", gaps=True)
ROOMS = Column("rooms", 1.0, 5.0, values=(1.0, 2.0, 3.0, 4.0, 5.0), gaps=True)
COLOUR = Column("colour", 0.0, 3.0, categories=("red", "blue", "or", "green"), gaps=True)

numbers = st.integers(-3, 6).map(float)
bounds = st.lists(numbers, unique=True, max_size=6).map(sorted)


@st.composite
def conditions(draw, column):
    missing = draw(st.booleans())
    if column.categories is not None:
        n = column.n_categories
        return Condition((), tuple(draw(st.lists(st.booleans(), min_size=n, max_size=n))), missing)
    ends = draw(bounds)
    pairs = list(zip(ends[::2], ends[1::2], strict=False))
    if draw(st.booleans()) and pairs:
        pairs[-1] = (pairs[-1][0], math.inf)
    return Condition(tuple(pairs), (), missing)


VALUES = np.array([*np.arange(-4, 8, 0.5), np.nan])


@given(conditions(AGE), conditions(AGE))
def test_and_or_and_not_are_those_of_sets(one, other):
    x = VALUES
    np.testing.assert_array_equal((one | other).holds(x), one.holds(x) | other.holds(x))
    np.testing.assert_array_equal((one & other).holds(x), one.holds(x) & other.holds(x))
    np.testing.assert_array_equal(one.complement().holds(x), ~one.holds(x))


@given(conditions(COLOUR), conditions(COLOUR))
def test_categories_combine_as_sets_and_unknown_ones_are_missing(one, other):
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, -1.0, np.nan])
    np.testing.assert_array_equal((one | other).holds(x), one.holds(x) | other.holds(x))
    np.testing.assert_array_equal((one & other).holds(x), one.holds(x) & other.holds(x))
    assert set(one.holds(x)[4:].tolist()) == {one.missing}


@pytest.mark.parametrize("column", [AGE, ROOMS, COLOUR], ids=lambda column: column.name)
@given(data=st.data())
def test_what_is_written_is_read_again(column, data):
    condition = data.draw(conditions(column))
    schema, output = Schema((column,)), Classes(("no", "yes"))
    text = f"If {condition.format(column)}, then yes\nOtherwise no"
    (axis,), body = parse_rules(text, schema, output, [condition.boundaries])
    node, mask = body.branches[0].node, axis.to_mask(condition)
    found = node.mask if isinstance(node, Literal) else axis.full * node.value
    assert found == mask
    held = [bool(mask >> c & 1) for c in range(axis.n_cells)]
    np.testing.assert_array_equal(held, condition.holds(axis.representatives))


@given(conditions(AGE))
def test_cells_and_conditions_are_two_forms_of_one_set(condition):
    (axis,) = make_axes(Schema((AGE,)), [condition.boundaries])
    again = axis.to_condition(axis.to_mask(condition))
    np.testing.assert_array_equal(again.holds(VALUES), condition.holds(VALUES))


@given(st.lists(st.sampled_from([-2.0, -0.5, 1.0, 3.0]), min_size=1, max_size=4), st.data())
def test_an_edge_is_read_where_its_function_is_at_least_one_half(w, data):
    b = [data.draw(numbers) for _ in w]
    layer = Layer("tanh_prod", "sum", "identity", 1, [0], [0], [w], [b])
    x = VALUES[~np.isnan(VALUES)]
    h = get_processing("tanh_prod").value(x[:, None], layer.w, layer.b)[:, 0]
    np.testing.assert_array_equal(Condition.from_edge(layer, 0).holds(x), h >= 0.5)


@given(conditions(AGE))
def test_the_edges_of_a_condition_count_one_more_where_it_holds(condition):
    layer = make_layer([condition.to_edges(0)])
    x = VALUES[~np.isnan(VALUES)]
    h = get_processing("heaviside").value(np.tile(x[:, None], len(layer.w)), layer.w, layer.b)
    np.testing.assert_array_equal(h.sum(axis=1) - condition.n_bounded, condition.holds(x))


def test_an_edge_of_categories_has_a_level_for_each():
    assert Condition((), (True, False), missing=True).to_edges(3) == [
        Edge(3, missing=1.0, levels=(1.0, 0.0))
    ]


@pytest.mark.parametrize(
    ("condition", "text", "short"),
    [
        (Condition(((54.5, math.inf),)), "age ≥ 54.5 y", "≥ 54.5 y"),
        (Condition(((-math.inf, 3.0), (5.0, 9.0))), "age ≤ 3 y or 5 ≤ age ≤ 9 y", None),
        (Condition(((3.0, 5.0),), missing=True), "3 ≤ age ≤ 5 y or missing", None),
        (Condition(((4.0, 4.0),)), "age = 4 y", "= 4 y"),
        (Condition(((4.0, 4.0),)).complement(), "age ≠ 4 y or missing", "≠ 4 y or missing"),
        (Condition(missing=True), "age missing", "missing"),
        (Condition(missing=True).complement(), "age not missing", "not missing"),
        (Condition(), "never", "never"),
        (Condition().complement(), "always", "always"),
    ],
)
def test_conditions_are_written_as_rules_write_them(condition, text, short):
    assert condition.format(AGE) == text
    if short is not None:
        assert condition.format(AGE, named=False) == short


def test_a_window_without_its_name_has_an_ellipsis():
    assert Condition(((3.0, 5.0),)).format(AGE, named=False) == "3 ≤ … ≤ 5 y"


def test_listed_values_are_named_where_that_is_shorter():
    assert Condition(((3.0, math.inf),)).format(ROOMS) == "rooms ≥ 3"
    assert Condition(((5.0, math.inf),)).format(ROOMS) == "rooms = 5"
    assert Condition(((1.0, 1.0), (4.0, 4.0))).format(ROOMS) == "rooms in {1, 4}"
    assert Condition((), (True, False, True, False)).format(COLOUR) == 'colour in {red, "or"}'


def test_a_column_without_missing_values_says_nothing_of_them():
    assert Condition(((3.0, 5.0),), missing=True).format(Column("x", 0, 9)) == "3 ≤ x ≤ 5"


def test_ends_beyond_the_observed_range_are_left_out():
    condition = Condition(((-1.0, 0.5), (3.0, 4.0), (8.0, 9.0)))
    assert condition.trim(0.0, 3.5).intervals == ((-math.inf, 0.5), (3.0, math.inf))
    assert Condition(((8.0, 9.0),)).trim(0.0, 1.0).intervals == ((8.0, 9.0),)


def test_runs_of_flags():
    assert find_runs([]) == []
    assert find_runs(np.array([True, True, False, True])) == [(0, 1), (3, 3)]
