"""What a table may hide."""

import shlex

import numpy as np
import pytest

from builders.tables import write_csv
from newron.tables import EncodedTable, Field, Target, read_labelled
from newron.tables.hints import find_hints

RNG = np.random.default_rng(0)
N = 40
Y = Target("ill", ("no", "yes"), RNG.integers(0, 2, N))


def make_hints(x, name="x", y=Y, categories=None, explained=()):
    table = EncodedTable((Field(name, categories),), np.asarray(x, float)[:, None])
    return find_hints(table, y, explained=explained)


class TestIdentifiers:
    def test_rows_that_are_counted(self):
        assert "as identifiers have" in make_hints(RNG.permutation(N))[0]

    @pytest.mark.parametrize("name", ["patient_id", "Id", "row number", "patientID"])
    def test_whole_numbers_that_differ_by_their_name(self, name):
        assert f"--drop {shlex.quote(name)}" in make_hints(3 * RNG.permutation(N), name)[0]

    @pytest.mark.parametrize("name", ["income", "paid", "humid"])
    def test_other_numbers_that_differ_are_none(self, name):
        assert make_hints(3 * RNG.permutation(N), name) == []


class TestLeaks:
    def test_a_threshold_that_knows_the_classes(self):
        x = Y.values + 0.5 * RNG.random(N)
        assert make_hints(x) == [
            "x gives ill away in every row; unless it can be known before ill is, leave it out: "
            "--drop x"
        ]

    def test_categories_that_know_the_classes(self):
        assert make_hints(Y.values, categories=("left", "right"))[0].startswith("x gives ill away")

    def test_one_row_that_differs_is_enough(self):
        x = Y.values.copy()
        x[0] = 1 - x[0]
        assert make_hints(x, categories=("left", "right")) == []

    def test_many_categories_with_a_class_each_are_chance(self):
        x = np.arange(N)
        assert make_hints(x, categories=tuple(map(str, x))) == []

    def test_a_line_that_is_the_target(self):
        x = RNG.random(N)
        assert "gives price away" in make_hints(x, y=Target("price", None, 3 * x + 1))[0]
        assert make_hints(x, y=Target("price", None, 3 * x + RNG.random(N))) == []


def test_more_than_fifty_categories_are_noted():
    x = RNG.integers(0, 60, 400)
    y = Target("ill", ("no", "yes"), RNG.integers(0, 2, 400))
    hints = make_hints(x, y=y, categories=tuple(map(str, range(60))))
    assert hints == [
        "many categories with few rows each, so that what is found may be chance: x (60); put "
        "rare ones together in the table"
    ]
    explained = make_hints(x, y=y, categories=tuple(map(str, range(60))), explained=("x",))
    assert explained == []


@pytest.mark.parametrize(
    ("first", "second", "positive"),
    [
        ("ja", "nein", "ja"),
        ("yes", "no", "yes"),
        ("a", "b", "b"),
        ("sick", "well", "sick"),
        ("+", "-", "+"),
    ],
)
def test_the_positive_class_is_no_word_for_no(tmp_path, first, second, positive):
    rows = [["x", "y"], *([str(i), (first, second)[i % 2]] for i in range(8))]
    path = write_csv(tmp_path / "t.csv", rows)
    assert read_labelled(path, "y").y.labels[1] == positive
    assert read_labelled(path, "y", positive=second).y.labels[1] == second


@pytest.mark.parametrize(("n_rare", "positive"), [(3, "a_fraud"), (15, "b_usual")])
def test_a_rare_class_is_the_positive_one_where_the_words_say_nothing(tmp_path, n_rare, positive):
    rows = [["x", "y"], *([str(i), "a_fraud" if i < n_rare else "b_usual"] for i in range(40))]
    path = write_csv(tmp_path / "t.csv", rows)
    assert read_labelled(path, "y").y.labels[1] == positive
    assert read_labelled(path, "y", positive="a_fraud").y.labels[1] == "a_fraud"


def test_numbers_keep_their_order_however_rare_one_is(tmp_path):
    rows = [["x", "y"], *([str(i), str(int(i > 3))] for i in range(40))]
    assert read_labelled(write_csv(tmp_path / "t.csv", rows), "y").y.labels == (0, 1)


def test_columns_of_one_value_are_of_no_use():
    assert make_hints(np.full(N, 3.0)) == ["the same value in every row, of no use: x"]
    assert (
        make_hints(np.append(np.full(N - 1, 3.0), np.nan)) == []
    )  # whether it is missing may help
