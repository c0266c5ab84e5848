"""One row's way through a network: as data against the network, as text word for word."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explanations.test_counterfactual import (
    draw_row,
    list_values,
    make_crisp_model,
    make_dense_model,
    read_labels,
)
from model.networks import make_model, with_ranks
from model.test_points import make_point_rows, with_points
from newron.errors import InputError, NewronWarning
from newron.explanations.explanation import explain, name_functions
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.model.aggregation import activate
from newron.model.processing import get_processing
from newron.rules import RuleSet

SEEDS = st.integers(0, 10**6)


def make_monk2():
    """Make the network that training finds for MONK-2: exactly two of six."""
    counts = Layer("heaviside", "sum", "identity", 1, [0] * 6, range(6), [[-1.0]] * 6, [[1.5]] * 6)
    ends = Layer("heaviside", "sum", "identity", 2, [0, 1], [6, 6], [[1.0], [-1.0]], [[1.5], [2.5]])
    both = Layer(
        "heaviside", "sum", "identity", 1, [0, 0], [7, 8], [[1.0], [1.0]], [[0.5], [0.5]],
        alpha=[1.0, 1.0], centre=[1.5],
    )  # fmt: skip
    sizes = (3, 3, 2, 3, 4, 2)
    columns = tuple(
        Column(f"a{i}", 1.0, float(n), tuple(float(v) for v in range(1, n + 1)))
        for i, n in enumerate(sizes, 1)
    )
    return Model(Schema(columns), [counts, ends, both], Classes((0, 1)))


def make_card(**changes):
    """Make a score card of numbers, few integers, categories and gaps."""
    layer = Layer(
        "heaviside", "sum", "identity", 1, [0] * 4, range(4),
        [[1.0], [1.0], [0.0], [-1.0]], [[55.0], [1.5], [0.0], [2.5]],
        alpha=[1.0, 3.0, -3.0, 2.0], centre=[6.0], missing=[0.0, 1.0, 0.0, 0.0],
        levels=[[], [], [1.0, 1.0, 0.0], []],
    )  # fmt: skip
    columns = (
        Column("age", 29.0, 77.0, unit="y"),
        Column("vessels", 0.0, 3.0, (0.0, 1.0, 2.0, 3.0), gaps=True),
        Column("pain", 0, 2, categories=("typical", "other", "absent")),
        Column("depression", 0.0, 6.2, unit="mm"),
    )
    model = Model(Schema(columns), [layer], Classes(("no disease", "disease")))
    return Model(model.schema, [layer.replace(**changes)], model.output)


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


class TestText:
    def test_monk_2_is_told_step_by_step(self):
        assert str(explain(make_monk2(), [1, 3, 1, 2, 4, 2])) == (
            "neuron 1.1: 2 of 6 hold\n"
            "    a1 = 1   a2 = 1   a3 = 1   a4 = 1   a5 = 1   a6 = 1\n"
            "    ● 1      ○ 3      ● 1      ○ 2      ○ 4      ○ 2\n"
            "score for class 1\n"
            "    ● +1  neuron 2.1\n"
            "        ● at least 2 of neuron 1.1  2 of 6, at the limit of 2\n"
            "    ● +1  neuron 2.2\n"
            "        ● at most 2 of neuron 1.1  2 of 6, at the limit of 2\n"
            "    sum 2, 0.5 over the limit of 1.5 → class 1 (probability 62 %)\n"
            "\n"
            "One change would make it class 0, for example a1: 1 → 2.\n"
            "Also: a4: 2 → 1; a2: 3 → 1; a3: 1 → 2; a5: 4 → 1.\n"
            "No smaller change exists."
        )

    def test_counts_that_fall_short_say_by_how_much(self):
        text = explain(make_monk2(), [1, 3, 2, 2, 4, 2], max_changes=0).to_text()
        assert "    ○ +1  neuron 2.1\n" in text
        assert "○ at least 2 of neuron 1.1  1 of 6, 1 short of 2" in text
        assert "● at most 2 of neuron 1.1  1 of 6, 1 below 2" in text
        text = explain(make_monk2(), [1, 1, 1, 2, 4, 2], max_changes=0).to_text()
        assert "● at least 2 of neuron 1.1  3 of 6, 1 over 2" in text

    def test_a_card_is_told_by_points(self):
        row = {"age": 50, "vessels": 3, "pain": "absent", "depression": 2.5}
        told = explain(make_card(), row, fixed=["age"])
        assert str(told) == (
            "score for disease\n"
            "    ● +3  vessels ≥ 2 or missing  is 3, 1 above 2\n"
            "    ○ −3  pain ≠ absent           is absent\n"
            "    ● +2  depression ≤ 2.5 mm     is 2.5 mm, at the limit of 2.5\n"
            "    ○ +1  age ≥ 55 y              is 50 y, 5 y below 55\n"
            "    sum 5, 1 short of 6 → no disease (probability 73 %)\n"
            "\n"
            "No change of up to 3 inputs within the observed ranges would make it disease.\n"
            "Held fixed: age."
        )

    def test_gaps_are_told(self):
        row = {"age": None, "vessels": None, "pain": "absent", "depression": 1.4}
        text = explain(make_card(), row, max_changes=0).to_text()
        assert "● +3  vessels ≥ 2 or missing  is missing\n" in text
        assert "is 1.4 mm, 1.1 mm below 2.5" in text
        assert text.endswith("age is missing, which training did not see.")

    def test_values_outside_are_noted(self):
        row = {"age": 95, "vessels": 1, "pain": "absent", "depression": 1.4}
        told = explain(make_card(), row, max_changes=0)
        assert told.notes == ("age lies outside the observed range, 29 to 77 y.",)

    def test_unknown_categories_warn_once(self):
        row = {"age": 50, "vessels": 1, "pain": "strange", "depression": 1.4}
        with pytest.warns(NewronWarning, match="unknown categories") as warned:
            explain(make_card(), row)
        assert len(warned) == 1

    def test_it_can_be_told_in_ascii(self):
        text = explain(make_monk2(), [1, 3, 1, 2, 4, 2]).to_text(unicode=False)
        assert text.isascii()
        assert "    * 1      o 3      * 1" in text
        assert "-> class 1" in text
        card = explain(make_card(), [50, 3, "absent", 2.5]).to_text(unicode=False)
        assert "* +3  vessels >= 2 or missing  is 3, 1 above 2\n" in card
        assert "o +1  age >= 55 y              is 50 y, 5 y below 55\n" in card

    def test_of_many_functions_the_strongest_are_told(self):
        n = 30
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0] * n, range(n), [[1.0]] * n, [[0.5]] * n,
            alpha=np.arange(n) / 10, centre=[1.0],
        )  # fmt: skip
        columns = tuple(Column(f"c{i}", 0.0, 1.0) for i in range(n))
        model = Model(Schema(columns), [layer], Classes((0, 1)))
        row = np.arange(n) % 2
        text = explain(model, row, max_changes=0).to_text()
        lines = text.splitlines()
        assert lines[1].startswith("    ● +2.9  c29 ≥ 0.5  is 1")
        assert lines[2].startswith("    ○ +2.8  c28 ≥ 0.5  is 0")
        assert lines[9] == "    … and 22 more, 11 of them hold, together +12.1"
        assert len(lines) == 11
        assert (
            len(explain(model, row, max_changes=0).to_text(max_functions=50).splitlines()) == n + 2
        )

    def test_smooth_functions_are_told_by_their_values(self):
        layer = Layer(
            "sigmoid", "sum", "identity", 1, [0, 0, 0], [0, 0, 1], [[0.2], [-1.0], [1.0]],
            [[50.0], [40.0], [0.0]], alpha=[4.0, -2.0, 3.0], centre=[2.0],
            levels=[[], [], [0.1, 0.9]],
        )  # fmt: skip
        columns = Column("age", 20.0, 80.0, unit="y"), Column("sex", 0, 1, categories=("f", "m"))
        model = Model(Schema(columns), [layer], Classes(("well", "ill")))
        assert explain(model, [40, "m"], max_changes=0).to_text() == (
            "score for ill\n"
            "    +2.7     sex = m\n"
            "    −0.5232  age = 40 y\n"
            "    −2       to start with\n"
            "    sum 0.1768, 0.1768 over the limit of 0 → ill (probability 54 %)"
        )

    def test_a_hidden_neuron_of_two_columns_is_told_by_their_names(self):
        hidden = Layer("sigmoid", "sum", "identity", 1, [0, 0], [0, 1], [[1.0]] * 2, [[0.0]] * 2)
        last = Layer("sigmoid", "mean", "identity", 2, [0, 0, 1], [0, 2, 2], [[1.0]] * 3,
                     [[0.0], [1.0], [1.0]], alpha=[1.0, 2.0, 3.0], centre=[0.5, 0.0])  # fmt: skip
        columns = Column("a", -1.0, 1.0), Column("b", -1.0, 1.0)
        model = Model(Schema(columns), [hidden, last], Targets(("p", "q")))
        assert explain(model, [0.0, 0.0]).to_text() == (
            "p = 0.25\n"
            "    +0.5   a = 0 and b = 0\n"
            "    +0.25  a = 0\n"
            "    −0.5   to start with\n"
            "q = 1.5\n"
            "    +1.5  a = 0 and b = 0\n"
            "    +0    to start with"
        )

    def test_hidden_smooth_neurons_of_many_columns_are_told_before_what_reads_them(self):
        hidden = Layer("sigmoid", "sum", "identity", 1, [0] * 3, range(3), [[1.0]] * 3, [[0.0]] * 3)
        last = Layer("sigmoid", "mean", "identity", 2, [0, 0, 1], [0, 3, 3], [[1.0]] * 3,
                     [[0.0], [1.5], [1.5]], alpha=[1.0, 2.0, 3.0], centre=[0.5, 0.0])  # fmt: skip
        columns = tuple(Column(name, -1.0, 1.0) for name in "abc")
        model = Model(Schema(columns), [hidden, last], Targets(("p", "q")))
        assert explain(model, [0.0, 0.0, 0.0]).to_text() == (
            "neuron 1.1 = 1.5\n"
            "    +0.5  a = 0\n"
            "    +0.5  b = 0\n"
            "    +0.5  c = 0\n"
            "p = 0.25\n"
            "    +0.5   neuron 1.1 = 1.5  2 × 0.5\n"
            "    +0.25  a = 0             1 × 0.5\n"
            "    less 0.5\n"
            "q = 1.5\n"
            "    +1.5  neuron 1.1 = 1.5  3 × 0.5"
        )

    def test_several_classes_are_compared(self):
        layer = Layer(
            "heaviside", "sum", "identity", 5, range(5), [0] * 5, [[1.0]] * 5, [[0.5]] * 5,
            alpha=[1.0, 2.0, 3.0, 4.0, 5.0], centre=[0.0, 0.0, 0.0, 0.0, 3.0],
        )  # fmt: skip
        model = Model(Schema((Column("a", 0.0, 1.0),)), [layer], Classes(tuple("vwxyz")))
        assert explain(model, [1.0], max_changes=0).to_text() == (
            "score for x = 3\n"
            "    ● +3  a ≥ 0.5  is 1, 0.5 above 0.5\n"
            "score for y = 4\n"
            "    ● +4  a ≥ 0.5  is 1, 0.5 above 0.5\n"
            "→ y (probability 59 %), 1 ahead of x"
        )

    def test_ties_are_said_to_be_ties(self):
        layer = Layer("heaviside", "sum", "identity", 3, [0], [0], [[1.0]], [[0.5]])
        model = Model(Schema((Column("a", 0.0, 1.0),)), [layer], Classes((1, 2, 3)))
        text = explain(model, [0.0], max_changes=0).to_text()
        assert text.endswith("→ class 1 (probability 33 %), before its equal class 2")

    def test_certainty_is_never_claimed(self):
        text = explain(make_card(alpha=[90.0, 3.0, -3.0, 2.0]), [60, 0, "absent", 9.0]).to_text()
        assert "(probability over 99 %)" in text

    def test_long_sentences_are_wrapped(self):
        model = make_dense_model(3, ())
        text = explain(model, read_labels(model, draw_row(model, 3))).to_text(width=60)
        told = text.split("\n\n")[1].splitlines()
        assert max(map(len, told)) <= 60


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
