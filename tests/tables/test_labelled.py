"""Tables with a target, read from files."""

import pytest

from builders.tables import write_csv
from newron.errors import InputError
from tables.support import load


class TestTarget:
    def test_few_whole_numbers_are_classes(self, tmp_path):
        rows = [["x", "y"], *([str(i), str(i % 3)] for i in range(30))]
        path = write_csv(tmp_path / "t.csv", rows)
        assert load(path, "y").y.labels == (0, 1, 2)
        assert load(path, "y", task="regression").y.labels is None

    def test_many_numbers_are_regression(self, tmp_path):
        rows = [["x", "y"], *([str(i), str(i / 2)] for i in range(30))]
        assert load(write_csv(tmp_path / "t.csv", rows), "y").y.labels is None

    def test_rows_without_a_target_are_left_out_and_reported(self, tmp_path):
        rows = [["x", "y"], ["1", "a"], ["2", ""], ["3", "b"]]
        table = load(write_csv(tmp_path / "t.csv", rows), "y")
        assert table.X.rows[:, 0].tolist() == [1.0, 3.0]
        assert table.n_unlabelled == 1

    def test_the_positive_class_comes_second(self, tmp_path):
        rows = [["x", "y"], ["1", "sick"], ["2", "well"], ["3", "sick"]]
        path = write_csv(tmp_path / "t.csv", rows)
        table = load(path, "y", positive="sick")
        assert table.y.labels == ("well", "sick")
        assert table.y.values.tolist() == [1, 0, 1]

    @pytest.mark.parametrize(
        ("rows", "wanted", "message"),
        [
            ([["1", ""], ["2", ""]], {}, "expected values, got 2 missing"),
            ([["1", "a"], ["2", "a"]], {}, "expected at least 2 classes, got 'a' in every row"),
            ([["1", "2.5"], ["2", "2.5"]], {}, "expected numbers that differ, got 2.5"),
            ([["1", "a"], ["2", "b"]], {"task": "regression"}, "expected numbers for regression"),
            ([["1", "a"], ["2", "b"]], {"task": "nonsense"}, "expected classes or regression"),
            ([["1", "a"], ["2", "b"]], {"positive": "c"}, "expected one of two classes, got 'c'"),
            ([["1", "1.5"], ["2", "2.5"]], {"positive": "c"}, "expected a target of classes"),
            ([["1", "a"], ["2", "b"]], {"drop": ["y"]}, "another column than the target"),
            ([["1", "a"], ["2", "b"]], {"drop": ["x"]}, "a column beside the target"),
            ([["1", "a"], ["2", "b"]], {"categories": ["z"]}, "expected a column 'z'"),
            ([["1", f"t{i}"] for i in range(80)], {}, "expected classes that repeat"),
        ],
    )  # fmt: skip
    def test_targets_that_cannot_be_raise(self, tmp_path, rows, wanted, message):
        path = write_csv(tmp_path / "t.csv", [["x", "y"], *rows])
        with pytest.raises(InputError, match=message):
            load(path, "y", **wanted)
