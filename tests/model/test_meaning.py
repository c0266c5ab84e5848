"""What a model means, and that the compiled path says the same."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.networks import make_model, make_rows, with_ranks
from newron.errors import InputError, ModelError
from newron.model import Classes, Column, Layer, Model, RankScale, Schema, Targets
from newron.model.arithmetic import exp, sigmoid, softmax, tanh

SEEDS = st.integers(0, 10**6)


class TestArithmetic:
    def test_exp_is_right_to_the_last_place_or_two(self):
        x = np.linspace(-700, 700, 100_001)
        np.testing.assert_allclose(exp(x), np.exp(x), rtol=5e-16)

    def test_extreme_arguments_stay_finite(self):
        x = np.array([-np.inf, -1e308, -709.0, 0.0, 709.0, 1e308, np.inf])
        with np.errstate(over="ignore"):
            for function in (exp, sigmoid, tanh):
                assert np.all(np.isfinite(function(x)))
        assert sigmoid(x)[0] < 1e-300
        assert sigmoid(x)[-1] == 1.0

    def test_sigmoid_tanh_and_softmax_are_right(self):
        x = np.linspace(-40, 40, 10_001)
        np.testing.assert_allclose(sigmoid(x), 1 / (1 + np.exp(-x)), rtol=1e-15)
        np.testing.assert_allclose(tanh(x), np.tanh(x), atol=2e-16)
        np.testing.assert_allclose(softmax(np.array([[0.0, np.log(3.0)]])), [[0.25, 0.75]])


class TestCompiledPath:
    @given(SEEDS)
    @settings(max_examples=300, deadline=None)
    def test_it_gives_the_same_bits_on_any_network_and_row(self, seed):
        model = with_ranks(make_model(seed), seed)
        rows = make_rows(model, seed)
        slow, fast = model.scores(rows, compiled=False), model.scores(rows)
        assert model._evaluator is not None
        np.testing.assert_array_equal(slow, fast)
        assert np.all(np.isfinite(fast))

    @given(SEEDS)
    @settings(max_examples=50, deadline=None)
    def test_a_row_does_not_depend_on_the_rows_beside_it(self, seed):
        model = with_ranks(make_model(seed), seed)
        rows = make_rows(model, seed)
        for compiled in (True, False):
            whole = model.scores(rows, compiled=compiled)
            single = [model.scores(row[None], compiled=compiled)[0] for row in rows]
            np.testing.assert_array_equal(whole, single)

    def test_many_rows_and_threads_give_the_same(self):
        model = make_model(5)
        rows = np.random.default_rng(0).normal(size=(40_000, len(model.schema)))
        once = model.scores(rows)
        np.testing.assert_array_equal(once, model.scores(rows, n_threads=3))
        np.testing.assert_array_equal(once, model.scores(np.asfortranarray(rows)))
        np.testing.assert_array_equal(once, model.scores(rows, compiled=False))

    def test_single_precision_rows_are_read_as_they_are(self):
        model = make_model(5)
        rows = np.random.default_rng(0).normal(size=(100, len(model.schema))).astype(np.float32)
        np.testing.assert_array_equal(model.scores(rows), model.scores(rows.astype(np.float64)))


class TestHeaviside:
    def make(self, w, b):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0], [0], [[w]], [[b]], alpha=[2.0], centre=[1.0]
        )
        return Model(Schema((Column("x", 0.0, 1.0),)), [layer], Classes((0, 1)))

    @pytest.mark.parametrize(
        ("w", "b", "x", "holds"),
        [
            (1.0, 0.5, 0.5, True),
            (-1.0, 0.5, 0.5, True),
            (1.0, 0.5, np.nextafter(0.5, 0), False),
            (-1.0, 0.5, np.nextafter(0.5, 1), False),
            (0.0, 0.5, -7.0, True),
            (1e-30, 1e-20, 0.0, False),  # the product would underflow to -0
            (1e-300, 1.0, 1.0 - 1e-15, False),
            (1.0, 0.1, 0.1, True),
        ],
    )
    def test_it_compares_and_never_multiplies(self, w, b, x, holds):
        model = self.make(w, b)
        for compiled in (True, False):
            assert (model.scores([[x]], compiled=compiled)[0, 0] > 0) == holds


class TestRankScale:
    def test_values_go_there_and_back(self):
        scale = RankScale((0.0, 1.0, 10.0), (0.1, 0.5, 0.9))
        x = np.array([-5.0, 0.0, 0.3, 1.0, 7.0, 10.0, 99.0])
        np.testing.assert_allclose(scale.value(scale.rank(x)), x, rtol=1e-14)
        assert np.all(np.diff(scale.rank(x)) > 0)

    @pytest.mark.parametrize(
        ("knots", "ranks"),
        [
            ((1.0,), (0.5,)),
            ((1.0, 1.0), (0.0, 1.0)),
            ((0.0, 1.0), (1.0, 0.0)),
            ((0.0, np.inf), (0.0, 1.0)),
            ((0.0, 5e-324), (0.0, 1e300)),
            ((0.0, 1.0), (-1.7e308, 1.7e308)),
        ],
    )
    def test_a_map_that_does_not_increase_is_refused(self, knots, ranks):
        with pytest.raises(ModelError):
            RankScale(knots, ranks)


class TestModel:
    def test_it_does_not_change(self):
        model = make_model(1)
        with pytest.raises(AttributeError, match="does not change"):
            model.schema = None
        with pytest.raises(AttributeError, match="does not change"):
            del model.layers
        layer = model.layers[0]
        parts = [layer.w, layer.positions, layer.begin, Classes((0, 1)).array]
        parts += RankScale((0.0, 1.0), (0.0, 1.0)).segments
        for part in parts:
            with pytest.raises(ValueError, match="read-only"):
                part[:] = 0

    def test_models_are_equal_by_content(self):
        assert make_model(3) == make_model(3)
        assert hash(make_model(3)) == hash(make_model(3))
        assert make_model(3) != make_model(4)
        assert make_model(3) != "a model"

    def test_equal_models_hash_alike(self):
        def make(labels, centre):
            layer = Layer("linear", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]], centre=centre)
            return Model(Schema((Column("x", 0.0, 1.0),)), [layer], Classes(labels))

        assert make((0, 1), [0.0]) == make((0, 1), [-0.0])
        assert hash(make((0, 1), [0.0])) == hash(make((0, 1), [-0.0]))
        assert make((0, 1), [0.0]) != make((False, True), [0.0])

    def test_a_factor_that_is_always_one_is_not_described(self):
        layer = Layer(
            "tanh_prod", "sum", "identity", 1, [0, 0], [0, 0],
            w=[[2.0, 20.0], [2.0, 20.0]], b=[[0.5, -1000.0], [0.5, 1000.0]],
            alpha=[1.0, 1.0], centre=[0.0],
        )  # fmt: skip
        model = Model(Schema((Column("x", 0.0, 1.0),)), [layer], Classes((0, 1)))
        assert "(tanh(2 (x − 0.5)) + 1) / 2 + 1 × (−tanh(2 (x − 0.5)) + 1) / 2" in str(model)

    def test_repr_is_one_line_and_str_tells_every_function(self):
        model = make_model(7)
        assert repr(model).startswith("<Model: ")
        assert "\n" not in repr(model)
        for layer in model.layers:
            for b in layer.b.ravel():
                assert f"{abs(b):g}" in str(model)
        many = Model(
            Schema((Column("x", 0.0, 1.0),)),
            [Layer("linear", "sum", "identity", 3000, [0], [0], [[1.0]], [[0.0]])],
            Classes(tuple(range(3000))),
        )
        assert len(repr(many)) < 200

    def test_functions_of_one_input_are_told_on_one_line(self):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0, 0], [0, 0], [[1.0], [-1.0]], [[1.5], [4.0]],
            alpha=[2.0, 3.0],
        )  # fmt: skip
        text = str(Model(Schema((Column("age", 0.0, 9.0),)), [layer], Classes((0, 1))))
        assert "2 × [age ≥ 1.5] + 3 × [age ≤ 4]" in text

    def test_two_classes_are_decided_at_zero_and_more_by_the_first_highest(self):
        two, three = Classes(("a", "b")), Classes(("a", "b", "c"))
        assert two.predict(np.array([[0.0], [-1e-300]])).tolist() == ["b", "a"]
        assert three.predict(np.array([[1.0, 2.0, 2.0]])).tolist() == ["b"]

    def test_probabilities_add_up_and_agree_with_the_labels(self):
        scores = np.random.default_rng(0).normal(size=(50, 3))
        three = Classes((0, 1, 2))
        p = three.predict_proba(scores)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(p.argmax(axis=1), three.choose(scores))

    def test_amounts_have_no_probabilities(self):
        layer = Layer("linear", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]])
        model = Model(Schema((Column("x", 0.0, 1.0),)), [layer], Targets(("y",)))
        assert model.predict([[2.5]]).tolist() == [2.5]
        with pytest.raises(ModelError, match="use predict"):
            model.predict_proba([[1.0]])

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([[1.0, 2.0], [np.inf, 0.0]], r"'a', row 1.*got inf"),
            ([[1.0]], "2 columns"),
            ([1.0, 2.0], "2 columns"),
            ([["x", "y"]], "'a'.*number"),
            ([[1j, 2.0]], "numbers"),
        ],
    )
    def test_bad_rows_get_a_clear_error(self, rows, message):
        layer = Layer("linear", "sum", "identity", 1, [0, 0], [0, 1], [[1.0]] * 2, [[0.0]] * 2)
        columns = (Column("a", 0.0, 1.0), Column("b", 0.0, 1.0))
        with pytest.raises(InputError, match=message):
            Model(Schema(columns), [layer], Targets(("y",))).predict(rows)

    def test_a_frame_is_matched_by_name(self):
        pandas = pytest.importorskip("pandas")
        layer = Layer("linear", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [10.0]], [[0.0]] * 2)
        columns = (Column("a", 0.0, 1.0), Column("b", 0.0, 1.0))
        model = Model(Schema(columns), [layer], Targets(("y",)))
        frame = pandas.DataFrame({"b": [2.0], "a": [1.0]})
        assert model.predict(frame).tolist() == [21.0]
        with pytest.raises(InputError, match="'b'"):
            model.predict(frame[["a"]])
        assert model.predict(frame.assign(other="x")).tolist() == [21.0]
        with pytest.raises(InputError, match="twice"):
            model.predict(pandas.concat([frame, frame], axis=1))
        with pytest.raises(InputError, match="number"):
            model.predict(frame.assign(a="x"))

    def test_a_model_of_an_array_reads_a_frame_by_position(self):
        pandas = pytest.importorskip("pandas")
        layer = Layer("linear", "sum", "identity", 1, [0, 0], [0, 1], [[1.0], [10.0]], [[0.0]] * 2)
        columns = (Column("x1", 0.0, 1.0), Column("x2", 0.0, 1.0))
        model = Model(Schema(columns), [layer], Targets(("y",)))
        assert model.predict(pandas.DataFrame([[1.0, 2.0]])).tolist() == [21.0]
        frame = pandas.DataFrame({"x2": [2.0], "x1": [1.0]})
        assert model.predict(frame).tolist() == [21.0]

    def test_no_rows_give_no_predictions(self):
        assert len(make_model(2).predict(np.empty((0, len(make_model(2).schema))))) == 0

    @pytest.mark.parametrize(
        "change",
        [
            {"source": [9]},
            {"target": [1]},
            {"w": [[np.nan]]},
            {"b": [[np.inf]]},
            {"w": [[1.0, 2.0]], "b": [[1.0, 2.0]]},
            {"alpha": [1.0, 2.0]},
            {"centre": [1.0, 2.0]},
            {"processing": "none"},
            {"aggregation": "none"},
            {"activation": "none"},
            {"n_neurons": 0},
            {"rank": [True]},
            {"activation": "tanh"},
        ],
    )
    def test_parts_that_do_not_fit_are_refused(self, change):
        parts = {
            "processing": "heaviside", "aggregation": "sum", "activation": "identity",
            "n_neurons": 1, "target": [0], "source": [0], "w": [[1.0]], "b": [[0.0]],
        }  # fmt: skip
        with pytest.raises(ModelError):
            Model(Schema((Column("x", 0.0, 1.0),)), [Layer(**{**parts, **change})], Targets(("y",)))

    @pytest.mark.parametrize("columns", [(), (Column("x", 0.0, 1.0), Column("x", 0.0, 1.0))])
    def test_a_schema_needs_columns_that_differ(self, columns):
        with pytest.raises(ModelError):
            Schema(columns)

    @pytest.mark.parametrize("labels", [("a",), ("a", "a"), (0, float("inf")), (None, 1), ((), 1)])
    def test_classes_must_be_several_and_differ(self, labels):
        with pytest.raises(ModelError):
            Classes(labels)


def test_a_model_predicts_with_numpy_alone(tmp_path):
    """No scikit-learn, no compiled core: what a light scoring environment has."""
    model = make_model(11)
    model.save(tmp_path / "m.json")
    rows = make_rows(model, 0)
    np.save(tmp_path / "rows.npy", rows)
    code = f"""
import sys
for name in ("sklearn", "scipy", "joblib", "rich", "pandas", "newron._core"):
    sys.modules[name] = None
import numpy as np, newron
model = newron.load({str(tmp_path / "m.json")!r})
np.save({str(tmp_path / "out.npy")!r}, model.scores(np.load({str(tmp_path / "rows.npy")!r})))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), model.scores(rows))
