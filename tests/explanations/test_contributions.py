"""What columns add to scores, as frames."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from builders.models import make_card, make_flowers, make_pair
from newron.errors import InputError
from newron.explanations import name_contributions
from newron.explanations.contributions import measure_contributions
from newron.model import Column, Layer, Model, Schema, Targets

ROWS = {"x": [1.0, 8.0, None], "kind": ["a", "b", "b"], "z": [0.0, 0.5, -1.0]}


def test_a_pandas_frame_comes_back_with_its_index():
    X = pd.DataFrame(ROWS, index=["one", "two", "three"])
    model = make_pair()
    found = model.contributions(X)
    assert list(found.columns) == ["x", "z", "x × kind", "intercept"]
    assert list(found.index) == ["one", "two", "three"]
    assert np.abs(found.sum(axis=1) - model.predict(X)).max() < 1e-12
    assert (found["intercept"] == -0.75).all()


def test_a_polars_frame_comes_back_as_one():
    X = pl.DataFrame(ROWS)
    found = make_pair().contributions(X)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["x", "z", "x × kind", "intercept"]
    assert np.abs(found.to_numpy().sum(axis=1) - make_pair().predict(X)).max() < 1e-12


def test_an_array_gives_an_array_whose_columns_have_names():
    X = [[1.0, 0.5], [4.0, 2.0]]
    found = make_flowers().contributions(X, output="middle")
    assert isinstance(found, np.ndarray)
    assert name_contributions(make_flowers()) == ("length", "width", "intercept")
    assert np.allclose(found.sum(axis=1), make_flowers().scores(X)[:, 1], rtol=0, atol=1e-12)


def test_several_classes_come_by_their_label():
    X = [[1.0, 0.5], [4.0, 2.0]]
    found = measure_contributions(make_flowers(), X)
    assert list(found) == ["small", "middle", "large"]
    assert found["small"][:, 1].tolist() == [0.0, 0.0]  # small does not read the width


def test_a_card_adds_its_points():
    X = pd.DataFrame({"age": [30.0, 60.0], "colour": ["red", "blue"]})
    found = make_card().contributions(X)
    assert found["age"].tolist() == [0.0, 2.0]
    assert found.sum(axis=1).tolist() == make_card().scores(X)[:, 0].tolist()


def test_a_column_named_intercept_keeps_its_name():
    layer = Layer("linear", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]], centre=[2.0])
    model = Model(Schema((Column("intercept", 0.0, 1.0),)), [layer], Targets(("y",)))
    assert name_contributions(model) == ("intercept", "intercept_")


def test_an_unknown_output_is_named():
    with pytest.raises(InputError, match="output: expected one of"):
        make_flowers().contributions([[1.0, 1.0]], output="huge")
