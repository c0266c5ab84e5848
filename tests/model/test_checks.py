"""What no model may have."""

import numpy as np
import pytest

from model.support import make_colours
from newron.errors import ModelError
from newron.model import Column, Layer, Model, RankScale, Schema, Targets


class TestChecks:
    @pytest.mark.parametrize(
        ("processing", "value", "fine"),
        [
            ("heaviside", 1.0, True),
            ("heaviside", 0.5, False),
            ("heaviside", 2.0, False),
            ("sigmoid", 0.5, True),
            ("sigmoid", 1.0 + 1e-9, False),
            ("sigmoid", -1e-9, False),
            ("tanh_prod", 1.5, False),
            ("tanh_prod", 0.0, True),
            ("linear", -7.5, True),
            ("relu", 7.5, True),
            ("selu", -1.5, True),
            ("linear", 1e101, False),
            ("linear", np.nan, False),
            ("sigmoid", np.nan, False),
            ("heaviside", np.nan, False),
            ("linear", np.inf, False),
        ],
    )
    @pytest.mark.parametrize("where", ["levels", "missing"])
    def test_values_of_points_are_those_that_the_function_can_take(
        self, processing, value, fine, where
    ):
        levels, missing = ([value, 0, 0], 0) if where == "levels" else ([0, 0, 0], value)
        if fine:
            make_colours(processing, levels, missing)
        else:
            with pytest.raises(ModelError, match="level"):
                make_colours(processing, levels, missing)

    @pytest.mark.parametrize("levels", [[], [0.1], [0.1, 0.2], [0.1, 0.2, 0.3, 0.4]])
    def test_a_category_without_a_level_is_refused(self, levels):
        with pytest.raises(ModelError, match=f"expected 3 levels for signal 1, got {len(levels)}"):
            make_colours("sigmoid", levels, 0)

    def test_levels_of_numbers_and_neurons_are_refused(self):
        schema = Schema((Column("x", 0.0, 1.0),))
        hidden = Layer("sigmoid", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]])
        for source, layers in ((0, []), (1, [hidden])):
            last = Layer(
                "sigmoid", "sum", "identity", 1, [0], [source], [[1.0]], [[0.0]], levels=[[0.5]]
            )
            with pytest.raises(ModelError, match="expected 0 levels"):
                Model(schema, [*layers, last], Targets(("y",)))

    @pytest.mark.parametrize("count", [1, 3])
    def test_there_are_as_many_levels_and_gaps_as_functions(self, count):
        layer = make_colours("sigmoid", [0.1] * 3, 0).layers[0]
        with pytest.raises(ModelError, match=f"levels needs one entry for each of 2.*{count}"):
            layer.replace(levels=[[0.1] * 3] * count)
        with pytest.raises(ModelError, match=f"missing needs one entry for each of 2.*{count}"):
            layer.replace(missing=[0.1] * count)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"categories": ("a", "b", "a")}, "differ"),
            ({"categories": (1, 1.0)}, "differ"),
            ({"categories": ("a", None)}, "text or numbers"),
            ({"categories": ("a", "b"), "values": (0.0, 1.0)}, "no values"),
            ({"categories": ("a", "b"), "rank_scale": RankScale((0, 1), (0, 1))}, "no rank scale"),
            ({"unit": 3}, "unit that is text"),
        ],
    )
    def test_columns_that_contradict_themselves_are_refused(self, changes, message):
        with pytest.raises(ModelError, match=message):
            Column("colour", 0.0, 1.0, **changes)

    @pytest.mark.parametrize("labels", [(True, 1), (0, False), (1, 1.0)])
    def test_categories_that_no_table_tells_apart_are_refused(self, labels):
        with pytest.raises(ModelError, match="expected categories that differ"):
            Column("c", 0.0, 1.0, categories=labels)

    def test_levels_do_not_change(self):
        layer = make_colours("sigmoid", [0.1] * 3, 0).layers[0]
        for values in (layer.levels[1], layer.missing):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 0.5
