"""The encoded table: made once, taken wherever X is."""

import re
import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import newron
from newron import NewronClassifier, NewronRegressor
from newron.errors import InputError, NewronWarning
from newron.tables import EncodedTable, Field, Target, encode
from newron.tables.table import learn_fields

pd = pytest.importorskip("pandas")

NAN = np.nan
QUICK = {"recipe": "gradient", "hidden_layer_sizes": (), "max_iter": 5, "n_init": 1}


def make_frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "colour": rng.choice(["blue", "green", "red"], n),
            "smokes": rng.choice([True, False], n),
        }
    )
    frame.loc[::9, "age"] = None
    frame.loc[4::9, "colour"] = None
    sick = (frame["age"].fillna(0) > 50) | (frame["colour"] == "red")
    return frame, np.where(sick, "yes", "no")


@pytest.fixture(scope="module")
def data():
    return make_frame()


@pytest.fixture(scope="module")
def fitted(data):
    return NewronClassifier(random_state=0, **QUICK).fit(*data)


class TestEncoding:
    def test_it_knows_names_categories_and_size(self, data):
        table = encode(data[0])
        assert table.names == ("age", "colour", "smokes")
        assert table.categorical == (1, 2)
        assert table.shape == (60, 3)
        assert len(table) == 60
        assert table.fields[1] == Field("colour", ("blue", "green", "red"))

    def test_some_rows_are_a_table_too(self, data):
        table = encode(data[0])
        for index in (slice(3, 9), np.array([5, 2]), np.arange(60) % 2 == 0):
            part = table[index]
            assert part.fields == table.fields
            np.testing.assert_array_equal(part.rows, table.rows[index])
        assert len(table[7]) == 1

    def test_a_row_is_read_back_with_its_labels(self):
        table = encode([["red", 1.5, None], [None, 2.0, None]])
        assert table.get_row(0) == {"x1": "red", "x2": 1.5, "x3": None}
        assert table.get_row(1) == {"x1": None, "x2": 2.0, "x3": None}

    def test_fields_and_rows_must_fit(self):
        with pytest.raises(InputError, match="expected rows with 1 columns"):
            EncodedTable((Field("a"),), np.zeros((2, 2)))

    def test_the_labels_of_some_rows_alone_are_learned(self):
        table = encode([["b", 1], ["a", 2], ["c", 3], [None, 4]])
        assert learn_fields(table, index=np.array([0, 2]))[0].categories == ("b", "c")
        assert learn_fields(table, index=np.array([3]))[0].categories == ()


class TestOtherFields:
    TABLE = EncodedTable(
        (Field("n"), Field("c", ("a", "b")), Field("k", (1, 2))),
        np.array([[1.0, 0.0, 1.0], [2.0, 1.0, NAN], [NAN, NAN, 0.0]]),
    )

    def test_the_same_fields_need_no_work(self):
        assert self.TABLE.encode_as(list(self.TABLE.fields)) is self.TABLE.rows

    def test_columns_are_matched_by_name_and_others_left_out(self):
        rows = self.TABLE.encode_as([Field("c", ("a", "b")), Field("n")])
        np.testing.assert_array_equal(rows, [[0, 1], [1, 2], [NAN, NAN]])

    def test_categories_are_matched_by_label(self):
        rows = self.TABLE.encode_as([Field("c", ("b", "x", "a"))])
        np.testing.assert_array_equal(rows, [[2], [0], [NAN]])

    def test_categories_become_numbers_and_numbers_categories(self):
        rows = self.TABLE.encode_as([Field("k"), Field("n", (2, 1))])
        np.testing.assert_array_equal(rows, [[2, 1], [NAN, 0], [1, NAN]])

    def test_unknown_categories_are_missing_with_a_warning_or_raise(self):
        fields = [Field("c", ("b",))]
        with pytest.warns(NewronWarning, match="column 'c': unknown categories in 1 row: 'a'"):
            rows = self.TABLE.encode_as(fields)
        np.testing.assert_array_equal(rows, [[NAN], [0], [NAN]])
        with pytest.raises(InputError, match=r"column 'c', row 0 .*1 categories 'b', got 'a'"):
            self.TABLE.encode_as(fields, unknown="error")

    def test_text_is_no_number(self):
        with pytest.raises(InputError, match=r"column 'c', row 0 .*expected a number, got 'a'"):
            self.TABLE.encode_as([Field("c")])

    def test_a_column_that_lacks_is_named(self):
        with pytest.raises(InputError, match="expected a column 'z', got none"):
            self.TABLE.encode_as([Field("z")])

    def test_fields_of_an_array_are_read_by_position(self):
        rows = self.TABLE.encode_as([Field("x1"), Field("x2", ("a", "b")), Field("x3", (1, 2))])
        np.testing.assert_array_equal(rows, self.TABLE.rows)


class TestWhereverXIs:
    def test_fit_gives_the_model_of_the_frame(self, data, fitted):
        again = NewronClassifier(random_state=0, **QUICK).fit(encode(data[0]), data[1])
        assert again.model_ == fitted.model_
        assert again.feature_names_in_.tolist() == ["age", "colour", "smokes"]
        assert again.n_features_in_ == 3

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
    def test_predictions_are_those_of_the_frame(self, data, fitted, method):
        X, ask = data[0], getattr(fitted, method)
        np.testing.assert_array_equal(ask(encode(X)), ask(X))

    def test_score_rules_and_importance(self, data, fitted):
        (X, y), table = data, encode(data[0])
        assert fitted.score(table, y) == fitted.score(X, y)
        rules = fitted.rules(table, y)
        assert rules.to_text() == fitted.rules(X, y).to_text()
        np.testing.assert_array_equal(rules.predict(table), rules.predict(X))
        assert str(fitted.importance(table, y)) == str(fitted.importance(X, y))
        assert fitted.plot(table).svg == fitted.plot(X).svg

    def test_one_row_is_explained(self, data, fitted):
        table = encode(data[0])
        expected = str(fitted.explain(table.get_row(3), max_changes=0))
        assert str(fitted.explain(table[3:4], max_changes=0)) == expected

    def test_the_report(self, data, fitted, tmp_path):
        table = encode(data[0])
        fitted.report(tmp_path / "a.html", table, data[1])
        fitted.report(tmp_path / "b.html", data[0], data[1])
        pages = [(tmp_path / name).read_text("utf-8") for name in ("a.html", "b.html")]
        first, second = (re.sub(r"[\d.e-]+ s\b", "", page) for page in pages)
        assert first == second

    def test_a_model_reads_its_own_fields_at_once_and_others_by_name(self, data, fitted):
        table, model = encode(data[0]), fitted.model_
        assert model.read(table) is table.rows
        part = encode(data[0][data[0]["colour"] != "green"][["smokes", "colour", "age"]])
        assert part.fields[1].categories == ("blue", "red")
        frame = data[0][data[0]["colour"] != "green"]
        np.testing.assert_array_equal(model.read(part), model.read(frame))

    def test_scikit_learn_splits_it(self, data):
        (X, y), table = data, encode(data[0])
        network = NewronClassifier(random_state=0, **QUICK)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NewronWarning)
            np.testing.assert_array_equal(
                cross_val_score(network, table, y, cv=3), cross_val_score(network, X, y, cv=3)
            )


class TestTarget:
    def test_classes_keep_their_order(self, data):
        X, y = data
        codes = (y == "no").astype(np.intp)
        target = Target("sick", ("yes", "no"), codes)
        network = NewronClassifier(random_state=0, **QUICK).fit(X, target)
        assert network.classes_.tolist() == ["yes", "no"]
        assert network.model_.output.labels == ("yes", "no")
        assert set(network.predict(X)) <= {"yes", "no"}
        assert network.score(X, y) == network.score(X, target)

    def test_classes_that_do_not_occur_are_none_of_the_model(self):
        target = Target("t", ("a", "b", "c"), np.array([2, 0, 2, 0]))
        network = NewronClassifier(**QUICK).fit([[1.0], [2.0], [1.0], [2.0]], target)
        assert network.model_.output.labels == ("a", "c")

    def test_numbers_may_name_classes_whatever_they_are(self):
        target = Target("t", (1, 2.5), np.array([1, 0, 1, 0]))
        network = NewronClassifier(**QUICK).fit([[1.0], [2.0], [1.0], [2.0]], target)
        assert network.model_.output.labels == (1, 2.5)
        assert [type(label) for label in network.model_.output.labels] == [int, float]

    def test_a_regression_has_the_name_of_its_target(self):
        target = Target("price", None, np.array([1.0, 2.0, 1.5]))
        network = NewronRegressor(**QUICK).fit([[1.0], [2.0], [1.0]], target)
        assert network.model_.output.names == ("price",)

    def test_it_is_an_array_of_what_is_predicted(self):
        target = Target("t", ("a", "b"), np.array([1, 0, 1]))
        assert np.asarray(target).tolist() == ["b", "a", "b"]
        assert np.asarray(target[1:]).tolist() == ["a", "b"]
        assert target.count_classes() == {"a": 1, "b": 2}
        assert len(target) == 3


def test_the_package_is_there_after_importing_newron():
    assert newron.tables.EncodedTable is EncodedTable
