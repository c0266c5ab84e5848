"""Models: what is checked, predicted and printed."""

import numpy as np
import pytest

from model.networks import make_model
from newron.errors import InputError, ModelError
from newron.model import Classes, Column, Layer, Model, RankScale, Schema, Targets


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
