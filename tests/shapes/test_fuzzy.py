"""Fuzzy rules of soft networks."""

import json

import pytest

from newron.errors import ModelError
from newron.shapes.fuzzy import read_fuzzy_rules
from shapes.support import make_single, make_two_layers


class TestFuzzyRules:
    def test_directions_places_and_sharpness_are_told(self):
        assert str(read_fuzzy_rules(make_two_layers())).splitlines() == [
            "neuron 1.1 adds:",
            "    age > 54.5 (gradually, from 48 to 61)",
            "    hardly changing: pulse (nearly constant, 0.5)",
            "neuron 1.2 adds:",
            "    age < 40 (gradually, from 34 to 46)",
            "score for 'ill' adds:",
            "    +3 × [neuron 1.1 > 1] (gradually, from 0.78 to 1.22)",
            "    −2.5 × [the more neuron 1.2, the more] (nearly straight, from 0.27 to 0.72)",
            "    plus 1.25",
            "Score ≥ 0: ill. Otherwise: well.",
        ]

    @pytest.mark.parametrize(
        ("w", "b", "told"),
        [
            ([0.2, -0.2], [40.0, 60.0], "age near 50 (most 0.96, half-way at 40 and 60)"),
            ([0.2, 0.2], [40.0, 60.0], "age not near 50 (least 0.04, half-way at 40 and 60)"),
            ([2.0], [50.0], "age > 50 (sharply, from 49.5 to 50.5)"),
            ([50.0], [50.0], "age > 50 (as a step)"),
            ([-0.02], [50.0], "the more age, the less (nearly straight, from 0.7 to 0.25)"),
            ([0.05], [15.0], "the more age, the more (from 0.8 to 1)"),
        ],
    )
    def test_each_kind_is_told(self, w, b, told):
        rules = read_fuzzy_rules(make_single("tanh_prod", w, b, alpha=3.0))
        condition, manner = told.split(" (", 1)
        assert str(rules.neurons[0].rules[0]) == f"+3 × [{condition}] ({manner}"

    @pytest.mark.parametrize(("missing", "told"), [(0.9, "age missing"), (0.1, "age not missing")])
    def test_a_rule_may_be_about_gaps_alone(self, missing, told):
        rules = read_fuzzy_rules(make_single("sigmoid", [0.0], [0.0], missing=missing))
        assert rules.neurons[0].rules[0].condition == told

    def test_the_data_is_plain(self):
        rules = read_fuzzy_rules(make_two_layers())
        data = json.loads(json.dumps(rules.to_dict(), allow_nan=False))
        assert [len(neuron["rules"]) for neuron in data["neurons"]] == [1, 1, 2]
        assert data["neurons"][0]["rules"][0]["condition"] == "age > 54.5"
        assert repr(rules) == "<FuzzyRules: 4 rules in 3 neurons>"

    def test_functions_beyond_0_and_1_are_refused(self):
        with pytest.raises(ModelError, match=r"from 0 to 1.*got relu in layer 1"):
            read_fuzzy_rules(make_single("relu", [1.0], [0.0]))
