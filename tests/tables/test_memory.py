"""Tables of any kind become one matrix: what is read, what raises, and in which words."""

import subprocess
import sys
import warnings
from collections import UserList
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pytest

from model.networks import END
from newron.errors import NewronWarning
from newron.tables import Field, memory
from newron.tables.table import encode_rows, is_plain, learn_fields
from tables.support import FRAMES, NAN, encode_one, learn_one, objects, pd, pl, raises

pytest.importorskip("narwhals")

PETS = {"pet": ["dog", None, "cat", "dog"], "age": [3.0, 1.5, NAN, 7.0], "tame": [True, False] * 2}
PET_FIELDS = (
    Field("pet", ("cat", "dog")),
    Field("age"),
    Field("tame", (False, True)),
)
PET_MATRIX = np.array([[1, 3, 1], [NAN, 1.5, 0], [0, NAN, 1], [1, 7, 0]])


def rows_of(table):
    return [list(row) for row in zip(*table.values(), strict=True)]


class TestPlain:
    @pytest.mark.parametrize(
        "X",
        [
            np.ones((2, 2)),
            np.ones((2, 2), bool),
            np.ones((2, 2), np.uint8),
            np.ones((2, 2), complex),
            [[1, 2.5], [True, 3]],
            [[1, None]],
            ((1, 2), (3, 4)),
            [[1], [2, 3]],
            [],
            UserList([[1, 2]]),
            np.array([[1, None], [2.5, pd.NA]], object),
            np.array([[{"a": "b"}, 1]], object),
            {"a": ["b"]},
            None,
        ],
        ids=repr,
    )
    def test_numbers_are_plain_and_so_is_what_is_no_table(self, X):
        assert is_plain(X)

    def test_sparse_matrices_and_arrays_of_other_libraries_are_plain(self):
        sparse = pytest.importorskip("scipy.sparse")
        strict = pytest.importorskip("array_api_strict")
        assert is_plain(sparse.eye(3, format="csr"))
        assert is_plain(strict.asarray([[1.0, 2.0]]))

    @pytest.mark.parametrize(
        "X",
        [
            pd.DataFrame({"a": [1.0]}),
            pl.DataFrame({"a": [1.0]}),
            pl.LazyFrame({"a": [1.0]}),
            [[1, "a"]],
            [["1", "2"]],
            np.array([["a"]]),
            np.array([["a", 1]], object),
            np.array([[np.str_("a"), 1]], object),
            np.array([["2020-01-01"]], "M8[D]"),
        ],
        ids=lambda X: type(X).__name__,
    )
    def test_frames_texts_and_dates_are_not(self, X):
        assert not is_plain(X)


class TestWholeTables:
    @FRAMES
    def test_frames(self, make):
        X = make(PETS)
        assert learn_fields(X) == PET_FIELDS
        matrix = encode_rows(X, PET_FIELDS)
        np.testing.assert_array_equal(matrix, PET_MATRIX)
        assert matrix.dtype == np.float64
        assert matrix.flags.c_contiguous

    @pytest.mark.parametrize("wrap", [list, tuple, lambda rows: np.array(rows, object)])
    def test_rows_and_arrays_of_objects_get_names_by_place(self, wrap):
        X = wrap(rows_of(PETS))
        fields = learn_fields(X)
        assert [field.name for field in fields] == ["x1", "x2", "x3"]
        assert [field.categories for field in fields] == [f.categories for f in PET_FIELDS]
        np.testing.assert_array_equal(encode_rows(X, PET_FIELDS), PET_MATRIX)

    def test_arrays_of_texts(self):
        X = np.array([["b", "1"], ["a", "2"]])
        fields = learn_fields(X)
        assert [field.categories for field in fields] == [("a", "b"), ("1", "2")]
        assert {type(label) for field in fields for label in field.categories} == {str}
        assert encode_rows(X, fields).tolist() == [[1, 0], [0, 1]]

    @pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint64, bool, np.longdouble])
    def test_plain_arrays_are_numbers(self, dtype):
        X = np.asfortranarray(np.array([[0, 1], [1, 0], [1, 1]], dtype))
        fields = learn_fields(X, None)
        assert fields == (Field("x1"), Field("x2"))
        matrix = encode_rows(X, fields)
        np.testing.assert_array_equal(matrix, X)
        assert matrix.dtype == np.float64
        assert matrix.flags.c_contiguous

    @FRAMES
    def test_columns_are_found_by_name_in_any_order(self, make):
        X = make({name: PETS[name] for name in ("tame", "pet", "age")})
        np.testing.assert_array_equal(encode_rows(X, PET_FIELDS), PET_MATRIX)

    @FRAMES
    def test_a_missing_column_is_named_and_others_are_ignored(self, make):
        with raises("expected a column 'tame', got none"):
            encode_rows(make({"pet": ["dog"], "age": [1]}), PET_FIELDS)
        wider = encode_rows(make({"extra": [0] * 4, **PETS}), PET_FIELDS)
        np.testing.assert_array_equal(wider, PET_MATRIX)

    @FRAMES
    def test_fields_of_an_array_read_a_frame_by_place(self, make):
        fields = learn_fields(rows_of(PETS))
        np.testing.assert_array_equal(encode_rows(make(PETS), fields), PET_MATRIX)
        with raises("expected 3 columns, got 2"):
            encode_rows(make({"a": [1], "b": [2]}), fields)
        with raises("expected a column 'x2', got none"):
            encode_rows(make({"x1": ["dog"], "b": [2], "c": [3]}), fields)

    def test_the_number_of_columns_of_arrays_must_match(self):
        with raises("expected 3 columns, got 2"):
            encode_rows([[1, 2]], PET_FIELDS)

    @pytest.mark.parametrize(
        ("names", "known"),
        [
            ([0, 1, 2], ["0", "1", "2"]),
            ([("a", 1), ("a", 2), ("b", 1)], ["x1", "x2", "x3"]),
        ],
    )
    def test_whole_numbers_are_names_and_others_as_those_of_an_array(self, names, known):
        X = pd.DataFrame(rows_of(PETS))
        X.columns = pd.Index(names)
        fields = learn_fields(X)
        assert [field.name for field in fields] == known
        np.testing.assert_array_equal(encode_rows(X, fields), PET_MATRIX)

    def test_names_of_text_and_others_together_raise(self):
        with raises("all text, got 0 among them"):
            learn_fields(pd.DataFrame([[1, 2]], columns=["a", 0]))

    @pytest.mark.parametrize("name", ["a", 0])
    def test_names_must_differ(self, name):
        with raises(f"names that differ, got {name!r} twice"):
            learn_fields(pd.DataFrame([[1, 2]], columns=[name, name]))

    @FRAMES
    def test_an_empty_table_raises_at_fit_alone(self, make):
        with raises("got no columns"):
            learn_fields(make({}))
        with raises("got no rows"):
            learn_fields(make({"a": []}))
        with raises("got no rows"):
            learn_fields(np.empty((0, 2)))
        assert encode_rows(make(PETS)[:0], PET_FIELDS).shape == (0, 3)

    @pytest.mark.parametrize("X", [[1, 2], ["a"], {"a": ["b"]}, None, "text", [[[1]]]], ids=repr)
    def test_what_has_no_rows_and_columns_raises(self, X):
        with raises("expected a table with rows and columns, got"):
            learn_fields(X)

    def test_rows_must_be_of_one_length(self):
        with raises("rows of the same length"):
            learn_fields([["a", 1], ["b"]])

    def test_lazy_and_foreign_frames_raise(self):
        with raises("in memory", "LazyFrame", "collect it"):
            learn_fields(pl.LazyFrame({"a": [1]}))

        class Foreign:
            columns = ("a",)

        with raises("in memory", "Foreign"):
            encode_rows(Foreign(), [Field("a")])

    def test_narwhals_is_named_where_it_is_missing(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "narwhals", None)
        with raises("pip install narwhals"):
            learn_fields(pd.DataFrame({"a": [1]}))

    def test_nothing_but_numpy_is_imported_for_arrays(self):
        code = (
            "import sys\n"
            "from newron.tables.table import encode_rows, learn_fields\n"
            "X = [['a', 1.0], ['b', None]]\n"
            "encode_rows(X, learn_fields(X))\n"
            "assert not {'narwhals', 'pandas', 'polars'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class TestLabels:
    @pytest.mark.parametrize(
        ("cells", "labels"),
        [
            (["b", "a", None, "b"], ("a", "b")),
            (pd.Series(["b", "a", None], dtype="string"), ("a", "b")),
            (pd.Series(["b", "a", NAN], dtype=object), ("a", "b")),
            (pd.Series(["b", "a", None, pd.NA, pd.NaT, NAN], dtype=object), ("a", "b")),
            ([True, True], (True,)),
            (pd.Series([True, None, False], dtype="boolean"), (False, True)),
            (pd.Series([True, NAN, False], dtype=object), (False, True)),
            (pd.Categorical(["x", None, "y"], ["z", "y", "x"]), ("y", "x")),
            (pd.Categorical(["x", "y"], ["y", "x"], ordered=True), ("y", "x")),
            (pd.Categorical([3.0, 1.0, None, 2.5], [3.0, 2.5, 1.0]), (3, 2.5, 1)),
            (pd.Categorical([2, 1, None]), (1, 2)),
            (pd.Categorical([False, True]), (False, True)),
            (pd.Categorical(["a", 1], ["a", 1]), ("a", 1)),
        ],
    )
    def test_categories_of_pandas(self, cells, labels):
        found = learn_one(pd.DataFrame, cells)
        assert found == labels
        assert list(map(type, found)) == list(map(type, labels))

    @pytest.mark.parametrize(
        ("cells", "labels"),
        [
            (["b", "a", None, "b"], ("a", "b")),
            ([True, None, False], (False, True)),
            (pl.Series(["x", None, "y"], dtype=pl.Enum(["z", "y", "x"])), ("y", "x")),
            # The Categorical of polars declares no order.
            (pl.Series(["y", None, "x"], dtype=pl.Categorical), ("x", "y")),
        ],
    )
    def test_categories_of_polars(self, cells, labels):
        found = learn_one(pl.DataFrame, cells)
        assert found == labels
        assert list(map(type, found)) == list(map(type, labels))

    @pytest.mark.parametrize(
        "cells",
        [
            [1, 2],
            [1.5, None],
            pd.Series([1, 2.5, None, pd.NA, NAN], dtype=object),
            pd.Series([True, 2, None], dtype=object),
            pd.Series([Decimal("1.5"), None], dtype=object),
            pd.Series([1, None], dtype="Int64"),
            pd.Series([1.5, None], dtype="Float64"),
            pd.arrays.SparseArray([0.0, 1.0]),
        ],
    )
    def test_numbers_of_pandas(self, cells):
        assert learn_one(pd.DataFrame, cells) is None

    @pytest.mark.parametrize(
        "cells",
        [[1, None], [1.5, None], [Decimal("1.5"), None], pl.Series([1, None], dtype=pl.Int128)],
    )
    def test_numbers_of_polars(self, cells):
        assert learn_one(pl.DataFrame, cells) is None

    @pytest.mark.parametrize(
        "X",
        [
            pd.DataFrame({"c": [None, None]}),
            pd.DataFrame({"c": pd.Series([None, None], dtype="str")}),
            pd.DataFrame({"c": pd.Series([pd.NA, pd.NaT], dtype=object)}),
            pd.DataFrame({"c": pd.Categorical([None, None], ["a"])}),
            pd.DataFrame({"c": pd.Categorical([None, None], pd.interval_range(0, 2))}),
            pl.DataFrame({"c": [None, None]}),
            pl.DataFrame({"c": [None, None]}, schema={"c": pl.String}),
            pl.DataFrame({"c": [None, None]}, schema={"c": pl.Categorical}),
            [[None], [NAN]],
        ],
        ids=lambda X: type(X).__module__,
    )
    @pytest.mark.parametrize("categorical", ["from_dtype", [0]])
    def test_a_column_of_missing_values_is_numbers(self, X, categorical):
        (field,) = learn_fields(X, categorical)
        assert field.categories is None
        assert np.all(np.isnan(encode_rows(X, [field])))

    @FRAMES
    def test_rows_outside_the_index_bring_no_labels(self, make):
        cells = ["b", "a", "c", "a"]
        assert learn_one(make, cells, index=np.array([1, 2])) == ("a", "c")
        assert learn_one(make, cells, index=np.array([True, False, False, False])) == ("b",)
        assert learn_one(make, ["a", None], index=np.array([1])) == ()


class TestChoice:
    X = pd.DataFrame({"code": [2.0, 1.0, 2.5], "flag": [True, False, True], "word": list("aba")})
    CODES, FLAGS, WORDS = (1, 2, 2.5), (False, True), ("a", "b")

    @pytest.mark.parametrize(
        ("categorical", "labels"),
        [
            ("from_dtype", (None, FLAGS, WORDS)),
            (None, (None, None, WORDS)),
            ([], (None, None, WORDS)),
            (["code"], (CODES, None, WORDS)),
            (("code", "word"), (CODES, None, WORDS)),
            (np.array(["flag"]), (None, FLAGS, WORDS)),
            ([0, 0], (CODES, None, WORDS)),
            (np.array([0, 1]), (CODES, FLAGS, WORDS)),
            ([True, False, False], (CODES, None, WORDS)),
            (np.array([False, True, True]), (None, FLAGS, WORDS)),
        ],
    )
    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_names_places_and_masks(self, categorical, labels, library):
        X = self.X if library == "pandas" else pl.DataFrame(self.X.to_dict("list"))
        fields = learn_fields(X, categorical)
        assert tuple(field.categories for field in fields) == labels
        kinds = [type(label) for label in fields[0].categories or ()]
        assert kinds in ([], [int, int, float])

    @pytest.mark.parametrize(
        ("categorical", "message"),
        [
            ("auto", "got 'auto'"),
            (3, "got 3"),
            (["code", "size"], "got 'size', which is not a column"),
            ([0, 3], "got 3, which is no position from 0 to 2"),
            ([-1], "got -1, which is no position"),
            ([True, 1, 2], "got True, which is no position"),
            ([True, False], "got a mask of length 2 for 3 columns"),
            (["code", 1], r"got \['code', 1\]"),
            ([0.5], r"got \[0.5\]"),
        ],
    )
    def test_a_wrong_choice_raises(self, categorical, message):
        with raises("categorical features: expected 'from_dtype'", message):
            learn_fields(self.X, categorical)

    def test_columns_of_arrays_are_chosen_by_place_or_by_their_names(self):
        X = np.array([[2, 0], [1, 0]])
        fields = (Field("x1", (1, 2)), Field("x2"))
        assert learn_fields(X, [0]) == learn_fields(X, ["x1"]) == fields
        assert encode_rows(X, fields).tolist() == [[1, 0], [0, 0]]

    def test_whole_numbers_are_labels_to_the_last_digit(self):
        X = np.array([[2**53], [2**53 + 1]])
        (field,) = learn_fields(X, [0])
        assert field.categories == (2**53, 2**53 + 1)
        assert encode_one(X, field.categories) == [0, 1]

    def test_infinity_is_no_category(self):
        with raises("column 'x1', row 1 .counted from 0.", "got inf"):
            learn_fields(np.array([[1.0], [np.inf]]), [0])


class TestUnknownCategories:
    FIELDS = (Field("pet", ("cat", "dog")), Field("size", (1, 2)))
    TABLE = {"pet": ["emu", "dog", None, "fox", "asp", "cow", "emu"], "size": [1, 2, 2, 2, 2, 2, 7]}  # noqa: RUF012

    @FRAMES
    def test_they_are_missing_with_one_warning_at_the_callers_line(self, make):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            matrix = encode_rows(make(self.TABLE), self.FIELDS)
        pet, size = matrix.T
        np.testing.assert_array_equal(pet, [NAN, 1, *[NAN] * 5])
        np.testing.assert_array_equal(size, [0, 1, 1, 1, 1, 1, NAN])
        (warning,) = caught
        assert warning.category is NewronWarning
        assert warning.filename == __file__
        assert str(warning.message) == (
            "column 'pet': unknown categories in 5 rows: 'emu', 'fox', 'asp', ...; "
            "column 'size': unknown categories in 1 row: 7; they are read as missing"
        )

    @FRAMES
    def test_they_are_errors_on_demand(self, make):
        with raises("column 'pet', row 0 .counted from 0.", "2 categories 'cat', 'dog', got 'emu'"):
            encode_rows(make(self.TABLE), self.FIELDS, unknown="error")

    def test_numbers_are_unknown_among_texts(self):
        with pytest.warns(NewronWarning, match="column 'x1': unknown categories in 2 rows: 1, 2;"):
            assert np.all(np.isnan(encode_rows([[1], [2]], [Field("x1", ("a",))])))

    def test_there_are_two_ways_alone(self):
        with raises("unknown: expected 'missing' or 'error', got 'ignore'"):
            encode_rows([[1]], [Field("x1")], unknown="ignore")


class TestInvalidCells:
    @FRAMES
    def test_texts_among_numbers(self, make):
        with raises("column 'c', row 1 .counted from 0.: expected a number, got 'many'"):
            encode_one(make({"c": [None, "many", "9"]}))

    def test_texts_in_other_tables(self):
        for X in ([[1], ["many"]], pd.DataFrame({"c": pd.Categorical([1, "many"], [1, "many"])})):
            with raises("column 'c', row 1 .counted from 0.: expected a number, got 'many'"):
                encode_one(X)

    @pytest.mark.parametrize("number", [np.inf, -np.inf, 1e300, -1e300])
    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, "array", "objects"])
    def test_infinite_and_huge_numbers(self, make, number):
        cells = [NAN, END, -END, number]
        X = make({"c": cells}) if callable(make) else np.array(cells)[:, None]
        X = X.astype(object) if isinstance(make, str) and make == "objects" else X
        with raises("column 'c', row 3 .counted from 0.: expected a number within ±1e.300, got"):
            encode_one(X)

    def test_huge_whole_numbers_and_long_floats(self):
        for X in (objects(None, 10**400), np.array([[1], ["1e4000"]], np.longdouble)):
            with raises("column 'c', row 1 .counted from 0.: expected a number within"):
                encode_one(X)

    @pytest.mark.parametrize(
        ("cells", "what"),
        [
            ([date(2020, 1, 1)], "date"),
            ([datetime(2020, 1, 1)], "date"),
            ([timedelta(1)], "date"),
            ([time(1)], "date"),
            ([[1, 2]], "nested"),
            ([{"a": 1}], "nested"),
            ([b"a"], "bytes"),
        ],
    )
    @FRAMES
    def test_dates_nested_cells_and_bytes(self, make, cells, what):
        self.check(make({"c": cells}), what)

    @pytest.mark.parametrize(
        ("cells", "what"),
        [
            (pd.to_datetime(["2020-01-01"], utc=True), "date"),
            (pd.period_range("2020", periods=1, freq="M"), "date"),
            (pd.Categorical(pd.to_datetime(["2020-01-01"])), "date"),
            (pd.Series([None, date(2020, 1, 1)], dtype=object), "date"),
            (pd.Series(["a", [1]], dtype=object), "nested"),
            (pd.Series([(1,), 2], dtype=object), "nested"),
            ([1j], "complex"),
            (pd.Series([1j, None], dtype=object), "complex"),
            (pd.cut([1], [0, 2]), "other"),
            (pd.Series([object()]), "other"),
        ],
    )
    def test_what_pandas_alone_has(self, cells, what):
        self.check(pd.DataFrame({"c": cells}), what)

    @pytest.mark.parametrize(
        ("cells", "what"),
        [
            (pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2)), "nested"),
            (pl.Series([{"a": 1, "b": "x"}, {"a": 2, "b": None}]), "nested"),
            (pl.Series([object()], dtype=pl.Object), "other"),
        ],
    )
    def test_what_polars_alone_has(self, cells, what):
        self.check(pl.DataFrame({"c": cells}), what)

    @pytest.mark.parametrize(
        ("X", "what"),
        [
            (np.array([["2020-01-01"]], "M8[D]"), "date"),
            (np.array([[1]], "m8[D]"), "date"),
            (np.array([[1j]]), "complex"),
            (np.array([[b"a"]]), "bytes"),
            (objects(np.timedelta64(1, "D")), "date"),
            (objects({1}), "nested"),
        ],
    )
    def test_what_arrays_have(self, X, what):
        self.check(X, what)

    @staticmethod
    def check(X, what):
        told, advice = memory._INVALID[what]
        for labels in (None, ("a", "b")):
            with raises("column 'c'", f"got {told}", advice[:20]):
                encode_one(X, labels)
        with raises("column '(c|x1)'", f"got {told}", advice[:20]):
            learn_fields(X)

    def test_the_first_row_is_named_and_long_values_are_cut(self):
        with raises("row 2 .counted from 0.", "got nested values, .0, 1, 2", "…; expand"):
            learn_fields(objects(1, None, list(range(100)), {}))
