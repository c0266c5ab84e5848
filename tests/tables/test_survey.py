"""What a survey of a column warns of."""

import math
from collections import Counter
from functools import reduce

import numpy as np
import pytest

from newron.tables.cells import CellFormat
from newron.tables.survey import ColumnSurvey
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


class TestCountsOfArrays:
    @staticmethod
    def survey(values, size):
        form = CellFormat(frozenset(), typed=True)
        parts = []
        for first in range(0, len(values), size):
            parts.append(ColumnSurvey("x", form))
            parts[-1].add(values[first : first + size])
        return parts

    @pytest.mark.parametrize("digits", [0, 1, 2, 9])
    def test_numbers_are_counted_as_cells_one_by_one_however_they_are_cut(
        self, monkeypatch, digits
    ):
        monkeypatch.setattr("newron.tables.survey.MAX_CATEGORIES", 500)
        monkeypatch.setattr("newron.tables.survey._PIECE", 700)
        values = np.random.default_rng(0).normal(size=2_000).round(digits)
        values[::7] = np.nan
        known = Counter(None if math.isnan(value) else value for value in values.tolist())
        for size in (2_000, 300, 1):
            found = reduce(ColumnSurvey.merge, self.survey(values, size)).finish()
            assert (found.n_rows, found.n_missing, found.is_number) == (2_000, 286, True)
            assert found.counts == (known if len(known) <= 500 else None)

    def test_numbers_of_several_kinds_are_counted_together(self):
        one, other = self.survey(np.array([1.0, -0.0, np.nan, 2.5]), 2)
        other.add(np.array([1, 3]))
        merged = one.merge(other).finish()
        assert merged.counts == {0: 1, 1: 2, 2.5: 1, 3: 1, None: 1}
        assert (merged.n_rows, merged.n_missing, merged.is_number) == (6, 1, True)
