"""One curve for each column, one surface for each pair."""

import json

import numpy as np
import pytest

from builders.models import make_card, make_flowers, make_pair
from newron.errors import InputError
from newron.model import Classes, Column, Layer, Model, Schema
from newron.model.terms import split_terms
from newron.shapes.effects import read_effects


def make_steps():
    layer = Layer(
        "heaviside", "sum", "identity", 1, target=[0, 0, 0], source=[0, 0, 1],
        w=[[1.0], [1.0], [0.0]], b=[[40.0], [60.0], [0.0]], alpha=[1.0, 2.0, -0.5],
        centre=[1.5], levels=[[], [], [0.0, 1.0, 1.0]], missing=[1.0, 0.0, 0.0],
    )  # fmt: skip
    columns = (
        Column("age", 18.0, 90.0, unit="y", gaps=True),
        Column("colour", 0, 2, categories=("red", "green", "blue")),
    )
    return Model(Schema(columns), [layer], Classes(("well", "ill")))


def test_steps_of_one_column_are_one_curve():
    age = read_effects(make_steps()).of("age")
    assert age.kind == "steps"
    assert [(one.condition, one.value) for one in age.levels] == [
        ("< 40 y", 0.0),
        ("40 ≤ … < 60 y or missing", 1.0),
        ("≥ 60 y", 3.0),
    ]
    assert (age.least, age.greatest) == (0.0, 3.0)


def test_categories_that_add_the_same_stand_together():
    colour = read_effects(make_steps()).of("colour")
    assert colour.description == "−0.5 if ≠ red, otherwise 0"


def test_the_largest_effect_comes_first_and_the_intercept_last():
    text = str(read_effects(make_steps())).splitlines()
    assert text[0] == "score for 'ill' adds up:"
    assert text[1].startswith("    age: ")
    assert text[-1] == "    less 1.5"


def test_a_pair_is_a_surface_of_two_named_columns():
    pair = read_effects(make_pair()).of("x × kind")
    assert pair.kind == "surface"
    assert pair.columns == ("x", "kind")
    assert pair.values.shape == (42, 2)  # 41 positions and missing, two categories
    assert pair.description.startswith("least ")
    assert "kind b" in pair.description


def test_values_are_those_of_the_network():
    model = make_pair()
    effects, terms = read_effects(model), split_terms(model)
    for term in terms.terms:
        effect = effects.of(term.name)
        grids = np.meshgrid(*(scale.positions for scale in effect.scales), indexing="ij")
        places = np.stack(grids, axis=-1).reshape(-1, len(grids))
        assert np.array_equal(effect.values.ravel(), terms.trace(term, places))


def test_a_smooth_column_is_told_by_what_it_adds():
    effects = read_effects(make_flowers())
    assert effects.of("width", "large").description.startswith("rises from 0.03 to 3.94 around 1.")
    assert [effect.name for effect in effects.of_output("middle")] == ["length", "width"]
    with pytest.raises(KeyError):
        effects.of("width", "small")


def test_more_than_two_columns_have_limits():
    columns = tuple(Column(name, 0.0, 1.0) for name in "abc")
    count = Layer("heaviside", "sum", "identity", 1, [0] * 3, [0, 1, 2], [[1.0]] * 3, [[0.5]] * 3)
    last = Layer("heaviside", "sum", "identity", 1, [0], [3], [[1.0]], [[1.5]], alpha=[2.0])
    model = Model(Schema(columns), [count, last], Classes(("no", "yes")))
    (effect,) = read_effects(model)
    assert (effect.kind, effect.name) == ("joint", "a × b × c")
    assert effect.description == "together, between 0 and 2"


def test_they_are_plain_data_and_frames():
    effects = make_pair().shapes(by="column")
    assert json.loads(json.dumps(effects.to_dict()))["intercepts"][0]["value"] == -0.75
    frame = effects.to_frame()
    assert set(frame["name"]) == {"x", "z", "x × kind"}
    assert len(frame[frame["name"] == "x × kind"]) == 84


def test_by_is_checked():
    with pytest.raises(InputError, match="by: expected 'function' or 'column'"):
        make_card().shapes(by="row")
