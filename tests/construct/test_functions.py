"""Continuous functions and their networks: never farther apart than was asked for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from construct.rows import check_file, check_paths, surround
from newron.construct import from_function
from newron.errors import InputError
from newron.model import Column

FUNCTIONS = {
    "constant": (lambda x: np.full(len(x), 3.25), 0.0),
    "line": (lambda x: 2.0 * x[:, 0] - 1.0, 2.0),
    "product": (lambda x: x[:, 0] * x[:, -1], 2.0),
    "waves": (lambda x: np.sin(5.0 * x).sum(axis=1), 5.0),
    "cone": (lambda x: np.abs(x - 0.3).max(axis=1), 1.0),
}


def list_edges(model):
    """Give the thresholds of each column."""
    return [
        np.unique(
            np.concatenate([layer.b[layer.source == i, 0] for layer in model.layers] + [[0.0, 1.0]])
        )
        for i in range(len(model.schema))
    ]


def draw_cube(rng, model, n=4000):
    """Draw rows of the unit cube, half of them at edges of boxes."""
    n_columns = len(model.schema)
    rows = rng.random((n, n_columns))
    for i, edges in enumerate(list_edges(model)):
        near = surround(edges)
        near = near[(near >= 0.0) & (near <= 1.0)]
        here = rng.random(n) < 0.5
        rows[here, i] = rng.choice(near, int(here.sum()))
    return rows


def count_boxes(model, rows):
    """Count the boxes that hold each row, whatever their values."""
    last = model.layers[-1]
    ones = last.replace(alpha=np.ones(len(last.source)), centre=None)
    return type(model)(model.schema, [*model.layers[:-1], ones], model.output).predict(rows)


class TestFromFunction:
    @pytest.mark.parametrize("name", FUNCTIONS)
    @pytest.mark.parametrize("n_columns", [1, 2, 3])
    @pytest.mark.parametrize("outside", [None, 7.0])
    def test_it_stays_within_epsilon(self, name, n_columns, outside):
        f, slope = FUNCTIONS[name]
        slope = slope * n_columns if name == "waves" else slope
        epsilon = [0.04, 0.2, 0.8][n_columns - 1]
        low, high = [0.0] * n_columns, [1.0] * n_columns
        model = from_function(f, low, high, epsilon, lipschitz=slope, outside=outside)
        rows = draw_cube(np.random.default_rng(0), model)
        distance = np.abs(check_paths(model, rows)[:, 0] - f(rows))
        assert distance.max() <= epsilon * (1 + 1e-9)

    @pytest.mark.parametrize("name", FUNCTIONS)
    @pytest.mark.parametrize("outside", [None, 0.0])
    def test_every_place_of_the_cube_is_in_one_box(self, name, outside):
        f, slope = FUNCTIONS[name]
        model = from_function(
            lambda x: f(x) + 10.0, [0, 0], 1, 0.4, lipschitz=2 * slope, outside=outside
        )
        rows = draw_cube(np.random.default_rng(0), model)
        if model.n_functions:
            np.testing.assert_array_equal(count_boxes(model, rows), 1.0)

    @given(st.integers(0, 10**6))
    @settings(max_examples=40, deadline=None)
    def test_random_waves_stay_within_epsilon(self, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 3))
        speed, phase = rng.uniform(0, 6, n), rng.uniform(0, 6, n)
        epsilon = float(rng.uniform(0.1, 1.0))
        f = lambda x: np.sin(x * speed + phase).sum(axis=1)  # noqa: E731
        model = from_function(f, [0.0] * n, 1.0, epsilon, lipschitz=speed)
        rows = draw_cube(rng, model)
        assert np.abs(check_paths(model, rows)[:, 0] - f(rows)).max() <= epsilon * (1 + 1e-9)

    def test_a_modulus_serves_where_no_slope_does(self):
        f = lambda x: np.sqrt(x[:, 0])  # noqa: E731
        model = from_function(f, 0, 1, 0.05, modulus=math.sqrt)
        rows = draw_cube(np.random.default_rng(0), model)
        assert np.abs(model.predict(rows) - f(rows)).max() <= 0.05
        assert model.layers[-1].source.size < 20

    def test_a_line_needs_as_many_boxes_as_the_best_step_function(self):
        model = from_function(lambda x: x[:, 0], 0, 1, 0.05, lipschitz=1)
        assert model.layers[-1].source.size == 10

    def test_flat_parts_are_merged(self):
        f = lambda x: np.maximum(x[:, 0] + x[:, 1] - 1.8, 0.0)  # noqa: E731
        model = from_function(f, [0, 0], [1, 1], 0.02, lipschitz=[1, 1])
        assert model.layers[-1].source.size < 100  # of 2500

    def test_columns_that_do_not_matter_are_not_read(self):
        model = from_function(lambda x: x[:, 1], [0, 0], [1, 1], 0.1, lipschitz=[0, 1])
        assert {int(s) for s in model.layers[0].source} == {1}
        model = from_function(lambda x: x[:, 1], [3, 0], [3, 1], 0.1, lipschitz=1)
        assert {int(s) for s in model.layers[0].source} == {1}

    def test_the_border_goes_on_or_ends(self):
        f = lambda x: x[:, 0] + x[:, 1]  # noqa: E731
        rows = np.array([[-9.0, 0.5], [0.5, 9.0], [9.0, 9.0], [1.0, 1.0], [0.0, 0.0]])
        model = from_function(f, [0, 0], [1, 1], 0.2, lipschitz=[1, 1])
        near = np.clip(rows, 0.0, 1.0)
        np.testing.assert_array_equal(model.predict(rows), model.predict(near))
        model = from_function(f, [0, 0], [1, 1], 0.2, lipschitz=[1, 1], outside=-5.0)
        assert model.predict(rows)[:3].tolist() == [-5.0] * 3
        assert np.abs(model.predict(rows)[3:] - [2.0, 0.0]).max() <= 0.2

    def test_the_schema_has_the_cube(self, tmp_path):
        model = from_function(
            lambda x: x[:, 0] + x[:, 1], [-1, 0], [1, 5], 0.5, lipschitz=[1, 1], names=["a", "b"]
        )
        assert model.schema.columns == (Column("a", -1.0, 1.0), Column("b", 0.0, 5.0))
        check_file(model, tmp_path, np.random.default_rng(0).uniform(-1, 5, (200, 2)))


class TestErrors:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"lipschitz": None}, "either lipschitz or modulus"),
            ({"modulus": math.sqrt}, "either lipschitz or modulus"),
            ({"lipschitz": -1.0}, "from 0 on"),
            ({"lipschitz": [1.0, 1.0, 1.0]}, "or 2 of them"),
            ({"lipschitz": "much"}, "from 0 on"),
            ({"epsilon": 0.0}, "epsilon to be a number above 0, got 0.0"),
            ({"epsilon": math.nan}, "epsilon to be a number above 0"),
            ({"low": [0.0, 2.0]}, "low up to high"),
            ({"low": [math.nan, 0.0]}, "low up to high"),
            ({"high": [1.0, math.inf]}, "high up to 1e"),
            ({"low": [0.0, 0.0, 0.0]}, "as many low as high"),
            ({"names": ["a"]}, "a name for each of 2 columns, got 1"),
            ({"f": lambda x: x}, "to .* numbers, got shape"),
            ({"f": lambda x: x[:, 0] / 0.0}, "finite values, got another one at"),
            ({"max_boxes": 5}, "at most 5 boxes, got about [0-9]+ that epsilon needs"),
            ({"epsilon": 1e-5}, r"grid of at most 4194304 cells, got about 2.5e\+09"),
            ({"lipschitz": None, "modulus": lambda d: 1.0}, "cells, got about inf"),
            ({"outside": math.nan}, "outside to be a finite number"),
            ({"max_boxes": 0}, "max_boxes to be a number above 0"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_errors_say_what_was_expected(self, changes, message):
        call = {
            "f": lambda x: x[:, 0], "low": [0.0, 0.0], "high": [1.0, 1.0], "epsilon": 0.05,
            "lipschitz": 1.0,
        }  # fmt: skip
        with pytest.raises(InputError, match=message) as caught:
            from_function(**{**call, **changes})
        assert "\n" not in str(caught.value)
