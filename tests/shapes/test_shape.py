"""Shapes, against dense evaluation of the functions; and how they are told."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newron.errors import InputError
from newron.model import Column, Layer, Model, RankScale, Schema, Targets
from newron.model.network import evaluate
from newron.shapes.shape_reader import read_shapes
from shapes.support import SEEDS, make_any_model, make_single, make_two_layers

TURN = 0.1  # of the variation: smaller turns are smoothed out


def trace(model, shape, x):
    """Evaluate one function alone, by the model's own meaning."""
    layer, e = model.layers[shape.layer - 1], shape.function
    source = int(layer.source[e])
    schema = model.schema
    if source >= len(schema):
        schema, source = Schema((Column("neuron", shape.low, shape.high),)), 0
    one = Layer(
        layer.processing, "sum", "identity", 1, [0], [source], layer.w[e : e + 1],
        layer.b[e : e + 1], rank=layer.rank[e : e + 1], missing=layer.missing[e : e + 1],
        levels=[layer.levels[e]],
    )  # fmt: skip
    rows = np.zeros((len(x), len(schema)))
    rows[:, source] = x
    return evaluate(schema, (one,), rows)[:, 0]


def read_neurons(model, number, first, rows):
    """Give the outputs of a layer whose first neuron is this signal."""
    n = model.layers[number - 1].n_neurons
    copy = Layer(
        "linear", "sum", "identity", n, np.arange(n), first + np.arange(n),
        np.ones((n, 1)), np.zeros((n, 1)),
    )  # fmt: skip
    return evaluate(model.schema, (*model.layers[:number], copy), rows)


def sample(model, shape):
    """Give dense places of a function's range, and what it is there."""
    layer, e = model.layers[shape.layer - 1], shape.function
    if shape.points:
        x = np.array([place for place, _ in shape.points])
    else:
        near = np.concatenate([layer.b[e] + step for step in np.linspace(-1, 1, 401)])
        x = np.concatenate([np.linspace(shape.low, shape.high, 2001), near])
        x = np.unique(x[(x >= shape.low) & (x <= shape.high)])
    return x, trace(model, shape, x)


def fall_most(y):
    """Give the largest fall after any point."""
    return float((np.maximum.accumulate(y) - y).max())


class TestAgainstDenseEvaluation:
    @given(SEEDS)
    @settings(max_examples=120, deadline=None)
    def test_no_value_lies_outside_least_and_greatest(self, seed):
        model = make_any_model(seed)
        for shape in read_shapes(model):
            if shape.kind == "levels":
                y = np.array([value for _, value in shape.levels])
            else:
                y = sample(model, shape)[1]
            if shape.missing is not None:
                y = np.append(y, shape.missing)
            slack = 1e-9 * max(1.0, abs(shape.least), abs(shape.greatest))
            assert y.min() >= shape.least - slack
            assert y.max() <= shape.greatest + slack
            assert y.max() - y.min() >= 0.98 * (shape.greatest - shape.least) - slack

    @given(SEEDS)
    @settings(max_examples=120, deadline=None)
    def test_the_kind_is_what_the_function_does(self, seed):
        model = make_any_model(seed)
        for shape in read_shapes(model):
            if shape.kind == "levels":
                continue
            x, y = sample(model, shape)
            variation = float(y.max() - y.min())
            slack = (TURN + 0.01) * variation
            assert shape.start == pytest.approx(y[0])
            assert shape.end == pytest.approx(y[-1])
            if shape.kind == "constant":
                assert variation < 0.02 or model.layers[shape.layer - 1].processing in (
                    "linear", "relu", "selu"
                )  # fmt: skip
            elif shape.kind in ("bell", "inverse bell"):
                side = 1.0 if shape.kind == "bell" else -1.0
                rise, fall = side * y[x <= shape.peak], side * y[x >= shape.peak]
                assert fall_most(rise) <= slack
                assert fall_most(-fall) <= slack
                low, high = shape.between
                assert shape.low <= low <= shape.peak <= high <= shape.high
            elif shape.kind == "wave":
                heights = np.diff([shape.start, *(h for _, h in shape.turns), shape.end])
                assert len(shape.turns) >= 2
                assert np.all(heights[1:] * heights[:-1] < 0.0)
                assert np.abs(heights).min() > (TURN - 0.01) * variation
            else:
                assert fall_most(y if shape.rises else -y) <= slack
                assert shape.rises == (shape.kind in ("step up", "rising")) or shape.kind in (
                    "linear", "hinge"
                )  # fmt: skip
            for place, height in shape.turns:
                assert trace(model, shape, np.array([place]))[0] == pytest.approx(height, abs=1e-8)

    @given(SEEDS)
    @settings(max_examples=80, deadline=None)
    def test_straight_ones_are_near_a_line_and_steps_are_steep(self, seed):
        model = make_any_model(seed)
        for shape in read_shapes(model):
            if shape.kind == "linear":
                x, y = sample(model, shape)
                line = np.interp(x, [shape.low, shape.high], [shape.start, shape.end])
                assert np.abs(y - line).max() <= 0.051 * (y.max() - y.min())
            if shape.kind in ("step up", "step down"):
                assert shape.low <= shape.threshold <= shape.high
                assert shape.sharpness >= 100.0

    @given(SEEDS)
    @settings(max_examples=80, deadline=None)
    def test_neurons_stay_within_the_range_that_is_looked_at(self, seed):
        model = make_any_model(seed)
        rng = np.random.default_rng(seed)
        rows = rng.uniform(-3, 3, (200, len(model.schema)))
        for i, column in enumerate(model.schema.columns):
            if column.categories is not None:
                rows[:, i] = rng.integers(0, column.n_categories, 200)
            if column.gaps:
                rows[rng.random(200) < 0.2, i] = np.nan
        shapes = read_shapes(model)
        first = len(model.schema)
        for number, layer in enumerate(model.layers[:-1], 1):
            out = read_neurons(model, number, first, rows)
            for shape in shapes:
                source = int(model.layers[shape.layer - 1].source[shape.function]) - first
                if 0 <= source < layer.n_neurons:
                    slack = 1e-9 * max(1.0, abs(shape.low), abs(shape.high))
                    assert out[:, source].min() >= shape.low - slack
                    assert out[:, source].max() <= shape.high + slack
                    assert shape.source == f"neuron {number}.{source + 1}"
            first += layer.n_neurons

    @given(
        st.lists(st.tuples(st.floats(0.1, 30.0), st.floats(-3.0, 3.0)), min_size=2, max_size=4),
        st.booleans(),
    )
    @settings(max_examples=80, deadline=None)
    def test_the_turns_of_tanh_prod_are_found_exactly(self, pairs, up):
        w, b = np.array(pairs).T
        w = w * np.array([1.0 if up else -1.0] + [1.0] * (len(w) - 1))
        model = make_single("tanh_prod", w.tolist(), b.tolist(), low=-4.0, high=4.0)
        shape = read_shapes(model)[0]
        for place, height in shape.turns:
            x = np.clip(place + np.linspace(-1e-3, 1e-3, 201), -4.0, 4.0)
            y = trace(model, shape, x)
            is_top = height > 0.5 * (y[0] + y[-1])
            best = y.max() if is_top else y.min()
            assert height == pytest.approx(best, abs=1e-9)


class TestFields:
    def test_a_sigmoid_has_its_threshold_and_passage(self):
        for w in (0.3, -0.3):
            model = make_single("sigmoid", [w], [54.5], alpha=-2.0)
            shape = read_shapes(model)[0]
            assert shape.kind == ("rising" if w > 0 else "falling")
            assert (shape.threshold, shape.weight, shape.matters) == (54.5, -2.0, True)
            ends = trace(model, shape, np.array(shape.between))
            np.testing.assert_allclose(ends, [0.1, 0.9] if w > 0 else [0.9, 0.1])
            assert shape.sharpness == pytest.approx(48 / shape.width)

    def test_tanh_prod_of_one_factor_is_a_sigmoid(self):
        sigmoid = read_shapes(make_single("sigmoid", [0.3], [54.5]))[0]
        tanh = read_shapes(make_single("tanh_prod", [0.15], [54.5]))[0]
        assert tanh.kind == sigmoid.kind
        np.testing.assert_allclose(tanh.between, sigmoid.between)
        np.testing.assert_allclose([tanh.start, tanh.end], [sigmoid.start, sigmoid.end])

    def test_ranks_are_told_in_the_columns_units(self):
        scale = RankScale((29.0, 54.0, 77.0), (0.0, 0.9, 1.0))
        model = make_single("sigmoid", [60.0], [60.0], rank_scale=scale)
        shape = read_shapes(model)[0]
        assert shape.threshold == 60.0
        np.testing.assert_allclose(trace(model, shape, np.array(shape.between)), [0.1, 0.9])
        assert shape.between[0] > 53.0  # the lower ranks are steep

    @pytest.mark.parametrize(
        ("w", "b", "kind"),
        [
            ([0.2, -0.2], [40.0, 60.0], "bell"),
            ([0.2, 0.2], [40.0, 60.0], "inverse bell"),
            ([0.2, 0.2], [0.0, 54.0], "rising"),
            ([0.2, -0.2], [0.0, 54.0], "falling"),
            ([0.4, 0.4, 0.4], [35.0, 50.0, 65.0], "wave"),
            ([50.0, 50.0], [0.0, 54.0], "step up"),
            ([0.01, 0.3], [54.0, -100.0], "linear"),
            ([0.0, 0.2], [40.0, 60.0], "constant"),
            ([0.001, 0.001], [40.0, 60.0], "constant"),
        ],
    )
    def test_tanh_prod_may_be_anything(self, w, b, kind):
        assert read_shapes(make_single("tanh_prod", w, b))[0].kind == kind

    def test_a_narrow_bell_between_two_points_of_the_grid_is_seen(self):
        shape = read_shapes(make_single("tanh_prod", [1e6, -1e6], [40.0, 40.001]))[0]
        assert shape.kind == "bell"
        assert shape.peak == pytest.approx(40.0005, abs=1e-9)
        assert shape.greatest == 1.0
        np.testing.assert_allclose(shape.between, [40.0, 40.001], atol=1e-8)

    def test_the_peak_of_a_flat_top_is_its_middle(self):
        shape = read_shapes(make_single("tanh_prod", [50.0, -50.0], [40.0, 60.0]))[0]
        assert shape.peak == pytest.approx(50.0, abs=0.1)

    def test_a_column_of_few_values_is_looked_at_there_alone(self):
        model = make_single("tanh_prod", [9.0, -9.0], [0.3, 0.7], low=0, high=1, values=(0.0, 1.0))
        shape = read_shapes(model)[0]
        assert shape.greatest < 0.5
        assert [place for place, _ in shape.points] == [0.0, 1.0]

    def test_gaps_and_categories_count_for_least_and_greatest(self):
        shape = read_shapes(make_single("heaviside", [0.0], [0.0], missing=0.0))[0]
        assert (shape.kind, shape.least, shape.greatest, shape.matters) == ("constant", 0, 1, True)
        column = Column("c", 0.0, 1.0, categories=("a", "b"), gaps=True)
        layer = Layer(
            "sigmoid", "sum", "identity", 1, [0], [0], [[0.0]], [[0.0]],
            missing=[0.9], levels=[[0.2, 0.4]],
        )  # fmt: skip
        shape = read_shapes(Model(Schema((column,)), [layer], Targets(("y",))))[0]
        assert (shape.levels, shape.least, shape.greatest) == ((("a", 0.2), ("b", 0.4)), 0.2, 0.9)

    def test_what_matters_is_told_beside_the_largest_part(self):
        layer = Layer(
            "sigmoid", "sum", "identity", 1, [0] * 4, [0] * 4,
            [[1.0], [1.0], [0.001], [0.001]], [[50.0]] * 4, alpha=[1.0, 0.01, 1.0, 1000.0],
        )  # fmt: skip
        model = Model(Schema((Column("x", 0.0, 100.0),)), [layer], Targets(("y",)))
        assert [shape.matters for shape in read_shapes(model)] == [True, False, False, True]
        assert read_shapes(model)[3].kind == "linear"
        hidden = layer.replace(alpha=None)
        last = Layer("sigmoid", "sum", "identity", 1, [0], [1], [[1.0]], [[2.0]], alpha=[1.0])
        model = Model(model.schema, [hidden, last], Targets(("y",)))
        assert [s.matters for s in read_shapes(model)] == [True, True, True, True, True]
        flat = hidden.replace(w=np.full((4, 1), 1e-6))
        model = Model(model.schema, [flat, last], Targets(("y",)))
        assert not any(shape.matters for shape in read_shapes(model)[:4])

    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid", "tanh_prod", "linear", "selu"])
    @pytest.mark.parametrize(("low", "high"), [(-1e300, 1e300), (5.0, 5.0), (0.0, 1e-300)])
    def test_extreme_ranges_and_weights_are_told(self, processing, low, high):
        for w in (1e300, 1.0, 1e-300):
            model = make_single(processing, [w], [5.0], low=low, high=high, alpha=1.0)
            shape = read_shapes(model)[0]
            assert np.isfinite([shape.start, shape.end, shape.least, shape.greatest]).all()
            assert str(shape).startswith("age: ")


class TestData:
    def test_shapes_are_a_sequence(self):
        shapes = read_shapes(make_two_layers())
        assert len(shapes) == len(list(shapes)) == 5
        assert shapes[0] == next(iter(shapes))
        assert shapes[-2:] == (shapes[3], shapes[4])
        assert [len(shapes.of_neuron(neuron)) for neuron in shapes.neurons] == [2, 1, 2]
        assert repr(shapes) == "<Shapes: 5 functions, of which 4 matter>"

    def test_plain_data_has_every_number(self):
        shapes = read_shapes(make_two_layers())
        data = json.loads(json.dumps(shapes.to_dict(), allow_nan=False))
        assert data[0]["kind"] == "rising"
        assert data[0]["threshold"] == 54.5
        assert data[0]["between"] == list(shapes[0].between)
        assert data[0]["text"] == str(shapes[0])
        assert data[3]["weight"] == 3.0

    def test_a_data_frame_has_a_row_for_each_function(self):
        shapes = read_shapes(make_two_layers())
        frame = shapes.to_frame()
        assert len(frame) == 5
        assert list(frame["source"]) == ["age", "pulse", "age", "neuron 1.1", "neuron 1.2"]
        assert list(frame["text"]) == [str(shape) for shape in shapes]

    def test_without_pandas_the_error_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(InputError, match=r"newron-ian\[pandas\]"):
            read_shapes(make_two_layers()).to_frame()
