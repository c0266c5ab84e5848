"""What a survey of a column warns of."""

import numpy as np
import pytest

from newron.tables.table import learn_fields
from tables.support import FRAMES, NAN, learn_one, pd, pl, raises


class TestSuspiciousCategories:
    @FRAMES
    def test_an_identifier_raises_unless_listed(self, make):
        texts = [f"id {i}" for i in range(980)] + ["id 0"] * 20 + [None] * 500
        with raises(
            "column 'c': expected categories that repeat, got 980 different texts in 1000 rows; "
            "drop it .an identifier says nothing about a new row. or list it in "
            "categorical_features to insist"
        ):
            learn_one(make, texts)
        with raises("980 different texts"):
            learn_one(make, texts, [])
        assert len(learn_one(make, texts, ["c"])) == 980

    @FRAMES
    @pytest.mark.parametrize(("n_texts", "n_rows"), [(50, 50), (90, 100)])
    def test_few_or_repeating_texts_are_categories(self, make, n_texts, n_rows):
        assert len(learn_one(make, [f"{i % n_texts}" for i in range(n_rows)])) == n_texts

    def test_a_categorical_dtype_insists_by_itself(self):
        texts = [str(i) for i in range(60)]
        assert len(learn_one(pd.DataFrame, pd.Categorical(texts))) == 60
        assert len(learn_one(pl.DataFrame, pl.Series(texts, dtype=pl.Categorical))) == 60

    def test_too_many_categories_raise(self):
        with raises("column 'x1': expected at most 65,000 categories, got 65,001"):
            learn_fields(np.arange(65_001)[:, None], [0])

    @pytest.mark.parametrize("first", [1, 2.5, True])
    def test_texts_among_numbers_raise_with_a_row_of_each(self, first):
        cells = [None, first, "a", 2, NAN]
        parts = ("column 'c'", "'a' in row 2", f"{first} in row 1 .counted from 0.; turn all")
        for categorical in ("from_dtype", ["c"]):
            with raises(*parts):
                learn_one(pd.DataFrame, pd.Series(cells, dtype=object), categorical)
        with raises("column 'x1'", *parts[1:]):
            learn_fields([[cell] for cell in cells])
