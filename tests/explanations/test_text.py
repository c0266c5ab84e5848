"""Explanations as text."""

import numpy as np
import pytest

from explanations.support import make_card, make_monk2
from explanations.test_counterfactual import draw_row, make_dense_model, read_labels
from newron.errors import NewronWarning
from newron.explanations.explanation import explain
from newron.model import Classes, Column, Layer, Model, Schema, Targets


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

    def test_a_step_up_and_the_step_back_are_one_window(self):
        columns = Column("age", 18.0, 90.0), Column("rooms", 1.0, 5.0, values=(1.0, 2.0, 3.0, 5.0))
        last = Layer(
            "heaviside", "sum", "identity", 1, [0] * 4, [0, 0, 1, 1], [[1.0]] * 4,
            [[40.0], [60.0], [1.5], [4.0]], alpha=[2.0, -2.0, 3.0, -3.0], centre=[2.5],
        )  # fmt: skip
        model = Model(Schema(columns), [last], Classes(("no", "yes")))
        found = explain(model, [45, 5], max_changes=0)
        assert str(found) == (
            "score for yes\n"
            "    ○ +3  2 ≤ rooms ≤ 3  is 5\n"
            "    ● +2  40 ≤ age < 60  is 45\n"
            "    sum 2, 0.5 short of 2.5 → no (probability 62 %)"
        )
        assert [part.function for part in found.stages[0].parts] == [0, 2]
        assert found.stages[0].total == 2.0

    def test_steps_of_other_weights_are_no_window(self):
        last = Layer(
            "heaviside", "sum", "identity", 1, [0] * 2, [0, 0], [[1.0]] * 2, [[40.0], [60.0]],
            alpha=[2.0, -1.0], centre=[0.5],
        )  # fmt: skip
        model = Model(Schema((Column("age", 18.0, 90.0),)), [last], Classes(("no", "yes")))
        text = str(explain(model, [45], max_changes=0))
        assert "● +2  age ≥ 40" in text
        assert "○ −1  age ≥ 60" in text

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
