"""One row's way through a network: as data against the network, as text word for word."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explanations.support import make_card, make_monk2
from explanations.test_counterfactual import (
    draw_row,
    list_values,
    make_crisp_model,
    make_dense_model,
    read_labels,
)
from model.networks import make_model, with_ranks
from model.test_points import make_point_rows, with_points
from newron.errors import InputError
from newron.explanations.conditions import name_functions
from newron.explanations.explanation import explain
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.model.aggregation import activate
from newron.model.processing import get_processing
from newron.rules import RuleSet

SEEDS = st.integers(0, 10**6)


def make_any_model(seed):
    return with_points(with_ranks(make_model(seed), seed), seed)


def explain_plainly(model, row):
    return explain(model, read_labels(model, np.asarray(row)), max_changes=0)


def aggregate(stage):
    parts = [part.contribution for part in stage.parts]
    if stage.aggregation == "product":
        return math.prod(parts)
    if stage.aggregation in ("sum", "mean"):
        return sum(parts)
    return (min if stage.aggregation == "min" else max)(parts, default=0.0)


class TestData:
    @given(SEEDS)
    @settings(max_examples=120, deadline=None)
    def test_the_parts_of_any_network_make_up_its_neurons_and_scores(self, seed):
        model = make_any_model(seed)
        for row in make_point_rows(model, seed, 6)[:3]:
            told = explain_plainly(model, keep_known(model, row))
            check_stages(model, told)
            np.testing.assert_array_equal(
                [stage.value for stage in told.scores],
                model.score_rows(keep_known(model, row)[None, :])[0],
            )

    @given(SEEDS)
    @settings(max_examples=60, deadline=None)
    def test_it_is_ready_for_json_and_ascii(self, seed):
        model = make_any_model(seed)
        row = keep_known(model, make_point_rows(model, seed, 6)[2])
        told = explain_plainly(model, row)
        again = json.loads(json.dumps(told.to_dict(), allow_nan=False))
        assert len(again["neurons"]) == sum(layer.n_neurons for layer in model.layers)
        parts = [part for neuron in again["neurons"] for part in neuron["parts"]]
        assert len(parts) == model.n_functions
        assert told.to_text(unicode=False).isascii()

    @given(SEEDS)
    @settings(max_examples=80, deadline=None)
    def test_conditions_are_those_of_rules_and_hold_where_they_say(self, seed):
        model = make_crisp_model(seed)
        yes = Model(
            model.schema,
            [make_constant(model.schema.columns[0])],
            Classes(("no", "yes")),
        )
        row = draw_row(model, seed)
        for i, column in enumerate(model.schema.columns):
            if math.isnan(row[i]) and not column.gaps:
                row[i] = list_values(model, i)[0]  # outside the domain rules say nothing
        told = explain_plainly(model, row)
        for part in (part for stage in told.stages for part in stage.parts):
            if part.origin is not None or part.condition in ("always", "never"):
                continue
            rules = RuleSet.parse(f"If {part.condition}, then yes\nOtherwise no", yes)
            frame = [[told.row[name] for name in model.schema.names]]
            assert (rules.predict(frame)[0] == "yes") == part.holds

    @given(SEEDS, st.sampled_from([(), (3,), (3, 2)]))
    @settings(max_examples=80, deadline=None)
    def test_margins_say_what_is_missing(self, seed, hidden):
        model = make_dense_model(seed, hidden)
        told = explain_plainly(model, draw_row(model, seed))
        for part in (part for stage in told.stages for part in stage.parts):
            assert part.holds == (part.h == 1.0)
            if part.margin is None:
                continue
            assert part.margin == pytest.approx(part.value - part.limit, abs=1e-12)
            w = model.layers[part.layer - 1].w[part.function, 0]
            assert part.holds == (part.margin >= 0.0 if w > 0.0 else part.margin <= 0.0)

    def test_counts_are_told_by_what_is_asked_of_them(self):
        told = explain(make_monk2(), [1, 3, 1, 2, 4, 2], max_changes=0)
        asked = [part for stage in told.stages[1:3] for part in stage.parts]
        assert [part.condition for part in asked] == [
            "at least 2 of neuron 1.1", "at most 2 of neuron 1.1",
        ]  # fmt: skip
        assert [(part.value, part.limit, part.margin) for part in asked] == [(2, 2.0, 0.0)] * 2

    @pytest.mark.parametrize(
        ("aggregation", "b", "words"),
        [
            ("min", 0.5, "all of neuron 1.1"),
            ("product", 0.5, "all of neuron 1.1"),
            ("max", 0.5, "any of neuron 1.1"),
            ("mean", 0.3, "at least 2 of neuron 1.1"),
        ],
    )
    def test_other_aggregations_count_too(self, aggregation, b, words):
        model = make_monk2()
        first = model.layers[0].replace(aggregation=aggregation)
        last = Layer("heaviside", "sum", "identity", 1, [0], [6], [[1.0]], [[b]], alpha=[1.0])
        told = explain(Model(model.schema, [first, last], model.output), [1, 1, 2, 2, 2, 2])
        assert told.stages[-1].parts[0].condition == words

    def test_the_prediction_and_its_probability_are_the_models(self):
        model = make_card()
        row = {"age": 60, "vessels": 2, "pain": "absent", "depression": 1.0}
        told = explain(model, row)
        rows = [list(row.values())]
        assert told.prediction == model.predict(rows)[0] == "disease"
        assert [share for _, share in told.probabilities] == model.predict_proba(rows)[0].tolist()
        assert told.probability == told.probabilities[1][1]

    def test_a_column_may_be_called_like_a_neuron(self):
        model = make_monk2()
        columns = (replace(model.schema.columns[0], name="neuron 2.1"), *model.schema.columns[1:])
        told = explain(Model(Schema(columns), model.layers, model.output), [1, 3, 1, 2, 4, 2])
        assert told.stages[0].parts[0].origin is None
        assert told.stages[-1].parts[0].origin == (2, 1)
        assert str(told)


def pairs(model, row):
    return zip(model.schema.columns, row.tolist(), strict=True)


def keep_known(model, row):
    """Make gaps of numbers that are no category."""
    known = [c.categories is None or 0 <= x < len(c.categories) for c, x in pairs(model, row)]
    return np.where(known, row, np.nan)


def make_constant(column):
    levels = [[0.0] * column.n_categories] if column.categories else None
    return Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]], levels=levels or ())


def check_stages(model, told):
    for stage in told.stages:
        layer = model.layers[stage.layer - 1]
        total = aggregate(stage)
        size = 1.0 + sum(abs(part.contribution) for part in stage.parts) + abs(stage.centre)
        assert stage.total == pytest.approx(total, abs=1e-9 * size)
        if abs(total) < 1e99:  # beyond, products are cut off
            value = float(activate(layer.activation, np.array(total - stage.centre)))
            assert stage.value == pytest.approx(value, abs=1e-9 * size)
        crisp = get_processing(layer.processing).crisp
        assert all((part.holds is not None) == crisp for part in stage.parts)


class TestAsking:
    def test_amounts_have_no_changes_unless_a_range_is_given(self):
        layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[0.5]], alpha=[3.0],
                      centre=[-1.0])  # fmt: skip
        model = Model(Schema((Column("a", 0.0, 1.0),)), [layer], Targets(("dose",)))
        told = explain(model, [0.2])
        assert told.changes is None
        assert told.prediction == 1.0
        assert str(told) == "dose = 1\n    ○ +3  a ≥ 0.5  is 0.2, 0.3 below 0.5\n    plus 1"
        assert explain(model, [0.2], target=(2, None)).changes[0].prediction == 4.0

    def test_changes_take_their_settings(self):
        told = explain(make_monk2(), [1, 3, 1, 2, 4, 2], fixed=["a1", "a4"], limit=2)
        assert [str(change) for change in told.changes] == ["a2: 3 → 1", "a3: 1 → 2"]
        assert "Held fixed: a1, a4." in str(told)

    def test_rows_that_cannot_be_read_are_refused(self):
        with pytest.raises(InputError, match="expected a value of 'a2'"):
            explain(make_monk2(), {"a1": 1})

    def test_functions_are_named_by_what_they_ask(self):
        assert name_functions(make_monk2()) == [
            ["a1 = 1", "a2 = 1", "a3 = 1", "a4 = 1", "a5 = 1", "a6 = 1"],
            ["at least 2 of neuron 1.1", "at most 2 of neuron 1.1"],
            ["neuron 2.1", "neuron 2.2"],
        ]
