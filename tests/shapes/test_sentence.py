"""What a function does, as a sentence."""

import json

import pytest
from hypothesis import given, settings

from newron.model import Column, Layer, Model, Schema, Targets
from newron.shapes.shape_reader import read_shapes
from shapes.support import SEEDS, make_any_model, make_single, make_two_layers


class TestSentences:
    @pytest.mark.parametrize(
        ("made", "told"),
        [
            (("heaviside", [2.0], [54.5]), "1 from 54.5 y on, 0 below"),
            (("heaviside", [-2.0], [54.5]), "1 up to 54.5 y, 0 above"),
            (("heaviside", [2.0], [20.0]), "always 1"),
            (("heaviside", [0.0], [0.0]), "always 1"),
            (
                ("sigmoid", [0.34], [54.5]),
                "rises from 0 to 1 around 54.5 y (10 % to 90 % between 48 and 61)",
            ),
            (
                ("sigmoid", [-0.34], [54.5]),
                "falls from 1 to 0 around 54.5 y (90 % to 10 % between 48 and 61)",
            ),
            (("sigmoid", [50.0], [54.5]), "steps up from 0 to 1 at 54.5 y"),
            (("sigmoid", [0.1], [15.0]), "rises from 0.8 at 29 to 1 at 77 y"),
            (("sigmoid", [-0.02], [54.5]), "falls nearly straight from 0.62 at 29 to 0.39 at 77 y"),
            (("sigmoid", [0.0001], [54.5]), "nearly constant, 0.5"),
            (("sigmoid", [0.0], [54.5]), "always 0.5"),
            (
                ("tanh_prod", [0.2, -0.2], [40.0, 60.0]),
                "a bell, highest (0.96) at 50 y, half-way down at 40 and 60; 0.01 at 29, 0 at 77",
            ),
            (
                ("tanh_prod", [0.2, 0.2], [40.0, 60.0]),
                "an inverse bell, lowest (0.04) at 50 y, half-way up at 40 and 60; "
                "0.99 at 29, 1 at 77",
            ),
            (
                ("tanh_prod", [0.4, 0.4, 0.4], [35.0, 50.0, 65.0]),
                "a wave: 0.01 at 29 y, 1 at 42.5 y, 0 at 57.5 y, 1 at 77 y",
            ),
            (("linear", [2.0], [30.0]), "rises nearly straight from −2 at 29 to 94 at 77 y"),
            (("relu", [2.0], [54.5]), "0 up to 54.5 y, then rises straight to 45 at 77"),
            (("relu", [-2.0], [54.5]), "falls straight from 51 at 29 to 0 at 54.5 y, 0 above"),
            (
                ("selu", [1.0], [54.5]),
                "rises from −1.8 at 29 to 23.6 at 77 y, with a bend at 54.5 y",
            ),
        ],
    )
    def test_each_kind_is_told(self, made, told):
        assert str(read_shapes(make_single(*made, unit="y"))[0]) == f"age: {told}"

    def test_gaps_weights_and_few_values_are_told(self):
        shape = read_shapes(make_single("heaviside", [1.0], [54.5], missing=1.0, alpha=-2.0))[0]
        assert str(shape) == "age: 1 from 54.5 on, 0 below; 1 if missing, times −2"
        shape = read_shapes(make_single("sigmoid", [2.0], [0.5], low=0, high=1, values=(0, 1)))[0]
        assert str(shape) == "age: rises: 0.27 at 0, 0.73 at 1"

    @pytest.mark.parametrize(
        ("levels", "gaps", "told"),
        [
            ([1.0, 0.0, 1.0], False, 'c: 1 for a and "missing"; 0 for b'),
            ([0.2, 0.87, 0.2], True, 'c: 0.87 for b; 0.5 for missing; 0.2 for a and "missing"'),
            ([0.5, 0.5, 0.5], True, "c: always 0.5"),
        ],
    )
    def test_categories_are_told_by_their_values(self, levels, gaps, told):
        column = Column("c", 0.0, 2.0, categories=("a", "b", "missing"), gaps=gaps)
        layer = Layer(
            "sigmoid", "sum", "identity", 1, [0], [0], [[0.0]], [[0.0]],
            missing=[0.5], levels=[levels],
        )  # fmt: skip
        assert str(read_shapes(Model(Schema((column,)), [layer], Targets(("y",))))[0]) == told

    def test_the_whole_text_is_grouped_by_neuron(self):
        assert str(read_shapes(make_two_layers())).splitlines() == [
            "neuron 1.1 adds:",
            "    age: rises from 0 to 1 around 54.5 (10 % to 90 % between 48 and 61)",
            "    hardly matters: pulse (nearly constant, 0.5)",
            "neuron 1.2 adds:",
            "    age: falls from 0.98 to 0 around 40 (90 % to 10 % between 34 and 46)",
            "score for 'ill' adds:",
            "    +3 × neuron 1.1: rises from 0.01 to 0.99 around 1 "
            "(10 % to 90 % between 0.78 and 1.22)",
            "    −2.5 × neuron 1.2: rises nearly straight from 0.27 at 0 to 0.72 at 0.9832",
            "    plus 1.25",
        ]

    @given(SEEDS)
    @settings(max_examples=60, deadline=None)
    def test_every_model_can_be_told(self, seed):
        model = make_any_model(seed)
        shapes = read_shapes(model)
        assert len(shapes) == model.n_functions
        text = str(shapes)
        assert sum(not line.startswith(" ") for line in text.splitlines()) == len(shapes.neurons)
        assert "None" not in text
        assert "nan" not in text
        json.dumps(shapes.to_dict(), allow_nan=False)
