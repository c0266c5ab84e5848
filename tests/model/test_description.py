"""Models as text."""

import pytest

from model.support import make_colours


class TestDescription:
    @pytest.mark.parametrize(
        ("levels", "missing", "gaps", "told"),
        [
            ([1, 0, 1], 0, False, "3 × [colour in {red, blue}]"),
            ([1, 0, 1], 1, False, "3 × [colour in {red, blue}]"),  # no gap was seen
            ([1, 0, 1], 1, True, "3 × [colour in {red, blue, missing}]"),
            ([0, 0, 0], 1, True, "3 × [colour in {missing}]"),
            ([0, 1, 0], 0, True, "3 × [colour in {green}]"),
        ],
    )
    def test_a_set_of_categories(self, levels, missing, gaps, told):
        text = str(make_colours("heaviside", levels, missing, gaps=gaps))
        assert f"    {told}" in text.splitlines()

    @pytest.mark.parametrize(
        ("age", "gaps", "told"),
        [
            ((1.0, 54.0, 0.0), True, "2 × [age ≥ 54]"),
            ((1.0, 54.0, 1.0), True, "2 × [age ≥ 54 or missing]"),
            ((-1.0, 54.5, 1.0), True, "2 × [age ≤ 54.5 or missing]"),
            ((1.0, 54.0, 1.0), False, "2 × [age ≥ 54]"),
            ((1.0, 1e300, 1.0), True, "2 × [age missing]"),
            ((0.0, 0.0, 0.0), True, "2 × [age not missing]"),
            ((0.0, 0.0, 1.0), True, "2 × [always]"),
        ],
    )
    def test_a_step_with_a_gap(self, age, gaps, told):
        text = str(make_colours("heaviside", [1, 0, 1], 0, age=age, gaps=gaps))
        assert f"    {told}" in text.splitlines()

    def test_soft_functions_tell_each_value(self):
        text = str(make_colours("sigmoid", [0.2, 0.45, 1.0], 0.5, age=(2.0, 54.0, 0.3), gaps=True))
        assert "    2 × sigmoid(2 (age − 54)) (0.3 if missing)" in text.splitlines()
        line = "    3 × colour as {red: 0.2, green: 0.45, blue: 1, missing: 0.5}"
        assert line in text.splitlines()
        text = str(make_colours("sigmoid", [0.2, 0.45, 1.0], 0.5, age=(2.0, 54.0, 0.3)))
        assert "    2 × sigmoid(2 (age − 54))" in text.splitlines()
        assert "    3 × colour as {red: 0.2, green: 0.45, blue: 1}" in text.splitlines()

    def test_labels_of_any_kind_are_told(self):
        model = make_colours("heaviside", [1, 0, 1, 1], 0, categories=(True, 2, 3.5, "x, y"))
        assert "[colour in {True, 3.5, x, y}]" in str(model)

    def test_what_is_told_is_what_is_predicted(self):
        model = make_colours("heaviside", [1, 0, 1], 0, age=(1.0, 54.0, 1.0), gaps=True)
        rows = [[60, "red"], [None, "green"], [20, "blue"], [20, None]]
        assert model.scores(rows)[:, 0].tolist() == [4.0, 1.0, 2.0, -1.0]
