"""Categories and gaps in a model: what they mean, how they are told, kept and refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import newron
from model.networks import END, FUNCTIONS, make_model, make_rows, with_ranks
from model.support import make_colours
from newron.errors import ModelFileError
from newron.model import Column, Layer, Model, RankScale, Schema, Targets
from newron.model.processing import get_processing

SEEDS = st.integers(0, 10**6)
LABELS = (("red", "green", "blue", ""), (1, 2, 30), (False, True), (0.5, 1.5, "a", 7), ("only",))


def draw_levels(rng, processing, n):
    function = get_processing(processing)
    if function.crisp:
        return rng.integers(0, 2, n).astype(float)
    return rng.random(n).round(3) if function.bounded else rng.normal(scale=3.0, size=n).round(3)


def with_points(model, seed):
    """Turn some inputs into categories, and give every function values for gaps."""
    rng = np.random.default_rng(seed)
    columns = []
    for column in model.schema.columns:
        column = replace(column, gaps=bool(rng.random() < 0.5))
        if column.rank_scale is None and rng.random() < 0.6:
            labels = LABELS[rng.integers(len(LABELS))]
            column = Column(column.name, 0, len(labels) - 1, categories=labels, gaps=column.gaps)
        columns.append(column)
    sizes = [column.n_categories for column in columns]
    layers = []
    for layer in model.layers:
        counts = [sizes[s] if s < len(sizes) else 0 for s in layer.source.tolist()]
        levels = [draw_levels(rng, layer.processing, n) for n in counts]
        missing = draw_levels(rng, layer.processing, len(counts))
        layers.append(layer.replace(levels=levels, missing=missing))
    return Model(Schema(tuple(columns)), layers, model.output)


def make_point_rows(model, seed, n=60):
    """Draw rows with gaps, and with numbers that are no category."""
    rng = np.random.default_rng(seed)
    rows = make_rows(model, seed, n)
    for i, column in enumerate(model.schema.columns):
        if column.categories is not None:
            rows[:, i] = rng.integers(-1, column.n_categories + 1, n)
            rows[-1, i] = END
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[0] = np.nan
    return rows


class TestCompiledPath:
    @given(SEEDS)
    @settings(max_examples=120, deadline=None)
    def test_it_gives_the_same_bits_for_categories_gaps_and_ranks(self, seed):
        model = with_points(with_ranks(make_model(seed), seed), seed)
        rows = make_point_rows(model, seed)
        slow, fast = model.score_rows(rows, compiled=False), model.score_rows(rows)
        assert model._evaluator is not None
        np.testing.assert_array_equal(slow, fast)
        assert np.all(np.isfinite(fast))
        np.testing.assert_array_equal(fast, model.score_rows(rows, n_threads=2))

    def test_many_rows_and_threads_give_the_same(self):
        model = with_points(with_ranks(make_model(32), 32), 32)
        assert any(column.categories for column in model.schema.columns)
        rows = make_point_rows(model, 0, 20_000)
        once = model.score_rows(rows)
        np.testing.assert_array_equal(once, model.score_rows(rows, n_threads=2))
        np.testing.assert_array_equal(once, model.score_rows(rows, compiled=False))

    @pytest.mark.parametrize("processing", FUNCTIONS)
    @pytest.mark.parametrize("rank", [False, True])
    def test_a_function_takes_the_values_that_it_says(self, processing, rank):
        rng = np.random.default_rng(0)
        scale = RankScale((0.0, 1.0, 4.0), (0.0, 0.7, 1.0))
        columns = (
            Column("x", 0.0, 4.0, rank_scale=scale, gaps=True),
            Column("c", 0.0, 2.0, categories=("a", "b", "c")),
        )
        levels, missing = draw_levels(rng, processing, 3), draw_levels(rng, processing, 2)
        layer = Layer(
            processing, "sum", "identity", 1, [0, 0], [0, 1], [[1.5], [9.0]], [[0.8], [9.0]],
            rank=[rank, False], alpha=[10.0, 100.0], centre=[0.25],
            missing=missing, levels=[[], levels],
        )  # fmt: skip
        model = Model(Schema(columns), [layer], Targets(("y",)))
        x = float(scale.rank(np.array(2.0))) if rank else 2.0
        z = 1.5 * (x - (float(scale.rank(np.array(0.8))) if rank else 0.8))
        there = {
            "heaviside": 1.0, "sigmoid": 1 / (1 + math.exp(-z)),
            "tanh_prod": (math.tanh(z) + 1) / 2,
            "linear": z, "relu": z, "selu": 1.0507009873554805 * z,
        }[processing]  # fmt: skip
        nan = np.nan
        rows = [[2.0, "a"], [2.0, "c"], [nan, "b"], [2.0, None], [None, None]]
        want = [
            10 * there + 100 * levels[0],
            10 * there + 100 * levels[2],
            10 * missing[0] + 100 * levels[1],
            10 * there + 100 * missing[1],
            10 * missing[0] + 100 * missing[1],
        ]
        for compiled in (True, False):
            got = model.scores(rows, compiled=compiled)[:, 0] + 0.25
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


class TestFile:
    @given(SEEDS)
    @settings(max_examples=40, deadline=None)
    def test_a_model_comes_back_with_its_fingerprint_and_scores(self, tmp_path_factory, seed):
        model = with_points(with_ranks(make_model(seed), seed), seed)
        path = tmp_path_factory.mktemp("models") / "m.json"
        model.save(path)
        again = newron.load(path)
        assert again.fingerprint == model.fingerprint
        assert again.schema == model.schema
        assert [c.categories for c in again.schema.columns] == [
            c.categories for c in model.schema.columns
        ]
        rows = make_point_rows(model, seed)
        np.testing.assert_array_equal(again.score_rows(rows), model.score_rows(rows))

    @pytest.mark.parametrize("change", ["levels", "missing", "gaps", "categories", "unit"])
    def test_everything_said_of_points_is_in_the_fingerprint(self, change):
        model = make_colours("sigmoid", [0.2, 0.4, 0.6], 0.5)
        layer, column = model.layers[0], model.schema.columns[1]
        other = {
            "levels": lambda: layer.replace(levels=[[], [0.2, 0.4, 0.7]]),
            "missing": lambda: layer.replace(missing=[0.0, 0.6]),
            "gaps": lambda: replace(column, gaps=True),
            "categories": lambda: replace(column, categories=("red", "green", "grey")),
            "unit": lambda: replace(column, unit="paint"),
        }[change]()
        schema = model.schema
        if isinstance(other, Column):
            schema, other = Schema((schema.columns[0], other)), layer
        assert Model(schema, [other], model.output).fingerprint != model.fingerprint

    @pytest.mark.parametrize(
        ("where", "value", "message"),
        [
            ("categories", ["red", "green"], "expected 2 levels .* got 3"),
            ("categories", ["red", "green", "blue", "grey"], "expected 4 levels"),
            ("categories", ["red", "green", "red"], "differ"),
            ("categories", [1, 2, 1.0], "differ"),
            ("categories", ["red", None, "blue"], "text or numbers"),
            ("categories", "red", "a list"),
            ("levels", [0.2, 0.4], "expected 3 levels .* got 2"),
            ("levels", [], "w and b"),
            ("levels", [0.2, 0.4, 1.4], "from 0 to 1"),
            ("levels", [0.2, 0.4, -0.4], "from 0 to 1"),
            ("levels", [0.2, 0.4, "1"], "a number"),
            ("levels", 0.2, "a list"),
            ("missing", 1.5, "from 0 to 1"),
            ("missing", None, "a number"),
            ("missing", 1e200, "within"),
            ("w", 1.0, "does not know 'w'"),
            ("scale", "rank", "does not know 'scale'"),
            ("low", 0.0, "does not know 'low'"),
            ("gaps", 1, "true or false"),
            ("unit", 3, "text"),
            ("number levels", [1.0], "expected 0 levels"),
            ("no low", None, "expected 'low'"),
            ("no high", None, "expected 'high'"),
            ("values too", None, "does not know 'values'"),
            ("neuron levels", None, "does not know 'neuron'|expected 'input'"),
        ],
    )
    def test_files_with_points_that_do_not_fit_are_refused(self, tmp_path, where, value, message):
        document = make_colours("sigmoid", [0.2, 0.4, 0.6], 0.5).to_dict()
        age, colour = document["inputs"]
        first, second = document["layers"][0]["neurons"][0]["functions"]
        if where in ("categories", "low", "gaps", "unit"):
            colour[where] = value
        elif where == "number levels":
            first.pop("w"), first.pop("b")
            first["levels"] = value
        elif where.startswith("no "):
            del age[where.removeprefix("no ")]
        elif where == "values too":
            colour["values"] = [0.0, 1.0, 2.0]
        elif where == "neuron levels":
            second["neuron"] = second.pop("input")
        else:
            second[where] = value
        path = tmp_path / "bad.json"
        path.write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match=message) as caught:
            newron.load(path)
        assert str(caught.value).startswith(str(path))


def test_thresholds_are_told_with_their_unit():
    layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.5]], alpha=[1.0])
    model = Model(Schema((Column("age", 20.0, 80.0, unit="years"),)), [layer], Targets(("y",)))
    assert "[age ≥ 54.5 years]" in str(model)
