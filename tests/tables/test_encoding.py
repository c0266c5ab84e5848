"""Encoding: cells to codes."""

from decimal import Decimal

import numpy as np
import pytest

from tables.support import FRAMES, NAN, encode_one, learn_one, objects, pd, pl, raises


class TestEncoding:
    MISSING = (None, NAN, np.float32(NAN), pd.NA, pd.NaT, Decimal("NaN"))

    @pytest.mark.parametrize("missing", MISSING, ids=repr)
    def test_missing_values_are_nan_in_numbers_and_categories(self, missing):
        for X in (objects(missing, 1), pd.DataFrame({"c": pd.Series([missing, 1], dtype=object)})):
            np.testing.assert_array_equal(encode_one(X), [NAN, 1])
            np.testing.assert_array_equal(encode_one(X, (0, 1)), [NAN, 1])
        np.testing.assert_array_equal(encode_one(objects(missing, "b"), ("a", "b")), [NAN, 1])
        np.testing.assert_array_equal(encode_one(objects(missing, True), (False, True)), [NAN, 1])

    @pytest.mark.parametrize(
        ("cells", "numbers"),
        [
            (pl.Series([1, None]), [1, NAN]),
            (pl.Series([Decimal("1.5"), None]), [1.5, NAN]),
            (pl.Series([2**100, None], dtype=pl.Int128), [2.0**100, NAN]),
            (pl.Series([True, None]), [1, NAN]),
            (pd.Series([1, None], dtype="Int64"), [1, NAN]),
            (pd.Series([True, None], dtype="boolean"), [1, NAN]),
            (pd.Series([Decimal("1.5"), None], dtype=object), [1.5, NAN]),
            (pd.Categorical([2, None]), [2, NAN]),
            (pd.arrays.SparseArray([0.0, NAN]), [0, NAN]),
        ],
    )
    def test_numbers_come_as_they_are(self, cells, numbers):
        X = (pl if isinstance(cells, pl.Series) else pd).DataFrame({"c": cells})
        np.testing.assert_array_equal(encode_one(X), numbers)

    @pytest.mark.parametrize("cell", [1, 1.0, np.int64(1), np.float32(1), Decimal(1), True])
    @pytest.mark.parametrize("labels", [(0, 1), (0.0, 1.0), (False, True)])
    def test_labels_match_what_is_equal_in_meaning(self, cell, labels):
        assert encode_one(objects(cell), labels, unknown="error") == [1]
        assert encode_one(pd.DataFrame({"c": [cell]}), labels, unknown="error") == [1]
        assert encode_one(pd.DataFrame({"c": pd.Categorical([cell])}), labels) == [1]

    @pytest.mark.parametrize(
        ("cell", "labels"),
        [("1", (0, 1)), (1, ("0", "1")), (True, ("a", 1)), (1, ("a", True)), (np.True_, (1, "a"))],
    )
    def test_labels_do_not_match_another_meaning(self, cell, labels):
        with raises("row 0", "expected one of the 2 categories", f"got {cell!r}".split("np.")[0]):
            encode_one(objects(cell), labels, unknown="error")

    def test_true_and_one_stay_distinct_beside_text(self):
        assert encode_one(objects(1, True, "a", np.True_, 1.0), (1, True, "a")) == [0, 1, 2, 1, 0]

    @FRAMES
    def test_a_decimal_matches_the_number_it_writes(self, make):
        X = make({"c": [Decimal("0.1"), Decimal("0.2")]})
        assert learn_one(make, [Decimal("0.1"), Decimal("0.2")], ["c"]) == (0.1, 0.2)
        assert encode_one(X, (0.1, 0.2), unknown="error") == [0, 1]

    def test_other_libraries_and_dtypes_bring_the_same_labels(self):
        texts, labels = ["b", None, "a"], ("a", "b")
        for X in (
            pd.DataFrame({"c": pd.Categorical(texts)}),
            pd.DataFrame({"c": pd.Series(texts, dtype="string")}),
            pl.DataFrame({"c": texts}),
            pl.DataFrame({"c": pl.Series(texts, dtype=pl.Categorical)}),
            pl.DataFrame({"c": pl.Series(texts, dtype=pl.Enum(["b", "a"]))}),
            [[text] for text in texts],
        ):
            np.testing.assert_array_equal(encode_one(X, labels), [1, NAN, 0])
