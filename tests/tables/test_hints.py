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
        assert "as of an identifier" in make_hints(RNG.permutation(N))[0]

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
            "x: knows ill in every row by itself; is it known before? If not: --drop x"
        ]

    def test_categories_that_know_the_classes(self):
        assert make_hints(Y.values, categories=("left", "right"))[0].startswith("x: knows ill")

    def test_one_row_that_differs_is_enough(self):
        x = Y.values.copy()
        x[0] = 1 - x[0]
        assert make_hints(x, categories=("left", "right")) == []

    def test_many_categories_with_a_class_each_are_chance(self):
        x = np.arange(N)
        assert make_hints(x, categories=tuple(map(str, x))) == []

    def test_a_line_that_is_the_target(self):
        x = RNG.random(N)
        assert "knows price" in make_hints(x, y=Target("price", None, 3 * x + 1))[0]
        assert make_hints(x, y=Target("price", None, 3 * x + RNG.random(N))) == []


def test_more_than_fifty_categories_are_noted():
    x = RNG.integers(0, 60, 400)
    y = Target("ill", ("no", "yes"), RNG.integers(0, 2, 400))
    hints = make_hints(x, y=y, categories=tuple(map(str, range(60))))
    assert hints == ["many categories, of which each has few rows: x (60); join rare ones"]
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
