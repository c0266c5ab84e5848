"""Tables of every kind: fitted, asked, saved and refused."""

import warnings
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import newron
from estimators.support import (
    CHEAP,
    GROW,
    draw_content,
    draw_labels,
    make_frame,
    pd,
    pl,
)
from newron import InputError, NewronClassifier, NewronRegressor, NewronWarning
from newron.model.processing import get_processing, processing_names
from newron.model.schema import RankScale

KINDS = ("float", "int", "bool", "text", "categorical", "enum")
BACKENDS = ("pandas", "polars")
FEW = settings(max_examples=15, deadline=None, derandomize=True)

tables = st.tuples(
    st.integers(0, 10**6),  # seed
    st.integers(30, 80),  # rows
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=5),
)


# ---- frames of the same content in both libraries ----


def ask(model, frame, names=()):
    """Predict; what is unknown is warned of by column and category, and nothing else."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = model.predict(frame)
    assert [w.category for w in caught] == [NewronWarning] * bool(names)
    for name in names:
        assert f"column {name!r}: unknown categories" in str(caught[0].message)
        assert "'new'" in str(caught[0].message)
    return out


def find_unseen(content, fitted):
    return [
        column.name
        for column in fitted.model_.schema.columns
        if column.categories is not None
        and set(content[column.name]) - {None} - set(column.categories)
    ]


ESTIMATORS = {
    "steps": lambda: NewronClassifier(**CHEAP),
    "sigmoids": lambda: NewronClassifier("sigmoid", input_scale="both", **CHEAP),
    "grown": lambda: NewronClassifier(**GROW),
    "amounts": lambda: NewronRegressor("tanh_prod", direct_inputs=True, **CHEAP),
    "grown amounts": lambda: NewronRegressor(**GROW),
}


class TestEveryKind:
    @pytest.mark.parametrize("name", ESTIMATORS)
    @given(tables, st.sampled_from(BACKENDS))
    @FEW
    def test_it_is_fitted_asked_and_saved(self, tmp_path_factory, name, table, backend):
        seed, n, kinds = table
        content = draw_content(seed, n, kinds)
        later = draw_content(seed + 1, 25, kinds, gaps=0.3, unseen=True)
        fitted = ESTIMATORS[name]().fit(make_frame(content, backend), draw_labels(content, seed))
        unseen = find_unseen(later, fitted)
        frame = make_frame(later, backend)
        got = ask(fitted, frame, unseen)
        assert len(got) == 25
        path = tmp_path_factory.mktemp("models") / "m.json"
        fitted.model_.save(path)
        again = newron.load(path)
        assert again == fitted.model_
        np.testing.assert_array_equal(ask(again, frame, unseen), got)
        # Columns are found by name, in any order.
        np.testing.assert_array_equal(ask(fitted, frame[frame.columns[::-1]], unseen), got)
        # Of an unknown category we know as much as of a missing one.
        for column in unseen:
            known = set(fitted.model_.schema.columns[list(later).index(column)].categories)
            later[column] = [c if c in known else None for c in later[column]]
        np.testing.assert_array_equal(ask(fitted, make_frame(later, backend)), got)

    @pytest.mark.parametrize("name", ["steps", "sigmoids", "grown"])
    @given(tables)
    @FEW
    def test_pandas_and_polars_give_the_same_model(self, name, table):
        seed, n, kinds = table
        content = draw_content(seed, n, kinds)
        y = draw_labels(content, seed)
        one, other = (
            ESTIMATORS[name]().fit(make_frame(content, backend), y) for backend in BACKENDS
        )
        assert one.model_ == other.model_
        np.testing.assert_array_equal(
            one.predict_proba(make_frame(content, "polars")),
            other.predict_proba(make_frame(content, "pandas")),
        )

    @pytest.mark.parametrize("name", ["steps", "sigmoids", "grown"])
    @given(tables)
    @FEW
    def test_weights_are_repeats_and_the_order_of_rows_is_nothing(self, name, table):
        seed, n, kinds = table
        content = draw_content(seed, n, kinds)
        y, rng = draw_labels(content, seed), np.random.default_rng(seed)
        frame, counts = make_frame(content, "pandas"), rng.integers(1, 3, n)
        index = np.repeat(np.arange(n), counts)
        weighted = ESTIMATORS[name]().fit(frame, y, sample_weight=counts)
        repeated = ESTIMATORS[name]().fit(frame.iloc[index].reset_index(drop=True), y[index])
        assert weighted.model_ == repeated.model_
        mixed = rng.permutation(n)
        shuffled = ESTIMATORS[name]().fit(frame.iloc[mixed], y[mixed], sample_weight=counts[mixed])
        assert weighted.model_ == shuffled.model_

    @pytest.mark.parametrize("name", ["steps", "sigmoids", "grown"])
    @given(tables, st.sampled_from(["float", "text", "nothing"]))
    @FEW
    def test_a_constant_column_changes_no_prediction(self, name, table, constant):
        seed, n, kinds = table
        content = draw_content(seed, n, kinds)
        cells = {"float 0": [7.0] * n, "text 0": ["same"] * n, "nothing 0": [None] * n}
        more = {f"{constant} 0".replace("nothing", "int"): cells[f"{constant} 0"], **content}
        scores = [
            ESTIMATORS[name]()
            .fit(make_frame(c, "pandas"), draw_labels(content, seed))
            .decision_function(make_frame(c, "pandas"))
            for c in (content, more)
        ]
        np.testing.assert_array_equal(*scores)

    @pytest.mark.parametrize("aggregation", ["sum", "mean", "product", "min", "max"])
    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid", "linear"])
    def test_a_table_of_constants_tells_how_frequent_classes_are(self, processing, aggregation):
        frame = make_frame(
            {"float 1": [1.0] * 40, "text 2": ["a"] * 40, "int 3": [None] * 40}, "pandas"
        )
        fitted = NewronClassifier(processing, aggregation=aggregation, **{**CHEAP, "max_iter": 100})
        odds = fitted.fit(frame, [0] * 30 + [1] * 10).predict_proba(frame)[:, 1]
        assert odds == pytest.approx(0.25, abs=0.02)

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_columns_of_nothing_but_gaps(self, name, backend):
        content = draw_content(0, 40, ["float", "text"])
        nothing = {k: [None] * 40 for k in ("float 7", "text 8", "bool 9", "enum 10")}
        frame = make_frame({**content, **nothing}, backend)
        fitted = ESTIMATORS[name]().fit(frame, draw_labels(content, 0))
        assert np.all(np.isfinite(fitted.model_.scores(frame)))
        columns = fitted.model_.schema.columns
        assert [(c.gaps, c.low, c.high) for c in columns[2:]] == [(True, 0.0, 0.0)] * 4

    def test_arrays_lists_and_frames_of_numbers_are_alike(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(50, 3)).round(1)
        X[rng.random(X.shape) < 0.2] = np.nan
        y = rng.integers(0, 2, 50)
        rows = [[None if v != v else v for v in row] for row in X.tolist()]
        scores = [
            NewronClassifier(**CHEAP).fit(table, y).decision_function(table)
            for table in (X, X.astype(np.float32).astype(float).round(1), rows, pd.DataFrame(X))
        ]
        for other in scores[1:]:
            np.testing.assert_array_equal(scores[0], other)

    def test_listed_columns_are_categories(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 4, (60, 2)).astype(float)
        y = np.isin(X[:, 0], [0, 3]).astype(int)
        X[5, 0] = np.nan
        frame = pd.DataFrame(X, columns=["a", "b"])
        models = [
            NewronClassifier(categorical_features=listed, **GROW).fit(table, y)
            for listed, table in ((["a"], frame), ([0], X), ([True, False], X))
        ]
        for fitted in models:
            assert fitted.model_.schema.columns[0].categories == (0, 1, 2, 3)
            assert fitted.model_.schema.columns[1].categories is None
            assert fitted.score(X if fitted is not models[0] else frame, y) > 0.95
        with pytest.warns(NewronWarning, match="'a': unknown categories in 1 row: 9"):
            models[0].predict(pd.DataFrame({"a": [9.0, 1.0], "b": [0.0, 0.0]}))


class TestAmounts:
    @pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
    @pytest.mark.parametrize("processing", processing_names())
    @pytest.mark.parametrize("direct", [False, True])
    def test_categories_and_gaps_are_told_in_the_units_of_the_targets(
        self, processing, direct, unit
    ):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"c": rng.choice(list("abc"), 150), "x": rng.normal(size=150)})
        frame.loc[::5, "x"] = np.nan
        y = unit * (frame["c"].map({"a": 0, "b": 1, "c": 3}) + frame["x"].fillna(2.0) - 9.0)
        fitted = NewronRegressor(
            processing, hidden_layer_sizes=(2,) if direct else (), direct_inputs=direct,
            recipe="gradient", max_iter=150, n_init=2, random_state=0,
        ).fit(frame, y)  # fmt: skip
        assert fitted.best_loss_ < 0.3
        assert fitted.score(frame, y) == pytest.approx(1.0 - fitted.best_loss_, abs=0.01)


# ---- bad input ----


def make_good(n=30):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.normal(size=n), "sex": rng.choice(["f", "m"], n)})


LABELS = [0, 1] * 15


class TestBadTables:
    @pytest.mark.parametrize("make", [NewronClassifier, NewronRegressor])
    @pytest.mark.parametrize(
        ("name", "cells", "message"),
        [
            ("age", [0.0, 1.0, np.inf], "column 'age', row 2 .*expected a number.*inf"),
            ("age", [0.0, -np.inf, 1.0], "column 'age', row 1 .*expected a number.*-inf"),
            ("age", [0.0, 1e301, 1.0], "column 'age', row 1 .*1e\\+301"),
            ("day", [date(2020, 1, 1)] * 3, "column 'day', row 0.*dates"),
            ("day", pd.to_datetime(["2020-01-01"] * 3), "column 'day'.*dates"),
            ("list", [[1], [2], [3]], "column 'list', row 0.*nested.*expand"),
            ("z", [1j, 2j, 3j], "column 'z'.*complex"),
            ("raw", [b"a", b"b", b"a"], "column 'raw', row 0.*bytes.*decode"),
            ("mix", ["a", 1, "b"], "column 'mix'.*got both, 'a' in row 0 and 1 in row 1"),
        ],
    )
    def test_a_cell_that_is_neither_number_nor_category(self, make, name, cells, message):
        frame = make_good()
        column = pd.Series([*cells, *[cells[0]] * 27], dtype=getattr(cells, "dtype", None))
        frame[name] = column.astype(object) if isinstance(cells[0], date | list) else column
        if hasattr(cells, "dtype"):
            frame[name] = column
        with pytest.raises(InputError, match=message):
            make(**CHEAP).fit(frame, LABELS)

    def test_infinity_in_an_array_is_told_by_place(self):
        X = np.zeros((30, 3))
        X[4, 1] = np.inf
        with pytest.raises(InputError, match="column 1, row 4"):
            NewronClassifier(**CHEAP).fit(X, LABELS)
        fitted = NewronClassifier(**CHEAP).fit(np.random.default_rng(0).random((30, 3)), LABELS)
        with pytest.raises(InputError, match="column 1, row 4"):
            fitted.predict(X)

    def test_texts_that_do_not_repeat_are_identifiers(self):
        frame = pd.DataFrame({"name": [f"person {i}" for i in range(80)], "x": range(80)})
        with pytest.raises(InputError, match=r"column 'name'.*80 different texts.*identifier"):
            NewronClassifier(**CHEAP).fit(frame, [0, 1] * 40)
        insisted = NewronClassifier(categorical_features=["name"], **CHEAP)
        assert insisted.fit(frame, [0, 1] * 40).model_.schema.columns[0].n_categories == 80

    def test_names_that_come_twice(self):
        frame = make_good()
        frame.columns = ["age", "age"]
        with pytest.raises(InputError, match="'age' twice"):
            NewronClassifier(**CHEAP).fit(frame, LABELS)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_columns_that_are_missing_or_ignored_later(self, backend):
        frame = make_good()
        if backend == "polars":
            frame = pl.DataFrame(frame.to_dict(orient="list"))
        fitted = NewronClassifier(**CHEAP).fit(frame, LABELS)
        with pytest.raises(InputError, match="expected a column 'sex', got none"):
            fitted.predict(frame[["age"]])
        more = make_good().assign(extra=1.0)
        if backend == "polars":
            more = pl.DataFrame(more.to_dict(orient="list"))
        assert (fitted.predict(more) == fitted.predict(frame)).all()
        with pytest.raises(InputError, match=r"column 'age', row 0.*expected a number, got 'old'"):
            fitted.predict(make_good(3).assign(age="old"))
        with pytest.raises(InputError, match="expected 2 columns, got 1"):
            fitted.predict([["f"]])
        np.testing.assert_array_equal(fitted.predict(frame[["sex", "age"]]), fitted.predict(frame))

    @pytest.mark.parametrize("make", [NewronClassifier, NewronRegressor])
    def test_tables_without_rows_or_columns(self, make):
        with pytest.raises(InputError, match="got no rows"):
            make(**CHEAP).fit(make_good().iloc[:0], [])
        with pytest.raises(InputError, match="got no columns"):
            make(**CHEAP).fit(make_good()[[]], LABELS)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            make(**CHEAP).fit(make_good(), LABELS[:-1])

    @pytest.mark.parametrize("recipe", [CHEAP, GROW])
    def test_one_row_or_one_class_is_nothing_to_tell_apart(self, recipe):
        for frame, y in ((make_good(1), [1]), (make_good(), ["a"] * 30)):
            with pytest.raises(InputError, match="at least 2 classes"):
                NewronClassifier(**recipe).fit(frame, y)
        with pytest.raises(InputError, match="at least 2 classes"):
            NewronClassifier(**recipe).fit(make_good(), LABELS, sample_weight=[0, 1] * 15)
        amounts = NewronRegressor(**recipe).fit(make_good(1), [3.5]).predict(make_good(1))
        assert amounts == pytest.approx([3.5], abs=0.05)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_an_unknown_category_is_an_error_where_it_is_to_be(self, backend):
        frame = make_good()
        fitted = NewronClassifier(handle_unknown="error", **CHEAP).fit(frame, LABELS)
        later = {"age": [1.0, 2.0], "sex": ["f", "x"]}
        with pytest.raises(
            InputError, match=r"column 'sex', row 1.*2 categories 'f', 'm', got 'x'"
        ):
            fitted.predict({"pandas": pd, "polars": pl}[backend].DataFrame(later))
        assert len(fitted.predict(pd.DataFrame({"age": [1.0], "sex": [None]}))) == 1


class TestSchema:
    def test_few_whole_numbers_are_told_as_values(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(
            {
                "children": rng.integers(0, 5, 60),
                "age": np.arange(60.0),
                "share": rng.choice([0.5, 1.0], 60),
                "grade": pd.array(rng.choice([1, 2, 3, None], 60), "Int64"),
            }
        )
        for recipe in (CHEAP, GROW):
            schema = NewronClassifier(**recipe).fit(frame, LABELS * 2).model_.schema
            values = [column.values for column in schema.columns]
            assert values == [(0.0, 1.0, 2.0, 3.0, 4.0), None, None, (1.0, 2.0, 3.0)]
            assert [column.gaps for column in schema.columns] == [False, False, False, True]
            assert (schema.columns[1].low, schema.columns[1].high) == (0.0, 59.0)

    @pytest.mark.parametrize("recipe", [CHEAP, GROW])
    def test_units_and_domains_are_kept(self, recipe, tmp_path):
        frame = make_good().assign(children=[0, 1, 2] * 10)
        frame.loc[3, "age"] = np.nan
        domains = {
            "age": {"unit": "years", "low": -10, "high": 120.5},
            "sex": "chromosomes",
            "children": {"values": [3, 2, 1, 0]},
        }
        fitted = NewronClassifier(domains=domains, **recipe).fit(frame, LABELS)
        fitted.model_.save(tmp_path / "m.json")
        for model in (fitted.model_, newron.load(tmp_path / "m.json")):
            age, sex, children = model.schema.columns
            assert (age.unit, age.low, age.high, age.gaps) == ("years", -10.0, 120.5, True)
            assert (sex.unit, sex.categories) == ("chromosomes", ("f", "m"))
            assert (children.low, children.high) == (0.0, 3.0)
            assert children.values == (0.0, 1.0, 2.0, 3.0)
        free = NewronClassifier(**recipe).fit(frame, LABELS)
        np.testing.assert_array_equal(
            free.decision_function(frame), fitted.decision_function(frame)
        )

    @pytest.mark.parametrize(
        ("domains", "message"),
        [
            ({"children": {"high": 1}}, "'children': row 2 .*has 2.0, which is outside"),
            ({"children": {"low": 1}}, "'children': row 0 .*has 0.0, which is outside"),
            ({"children": {"values": [0, 1]}}, "'children': row 2 .*has 2.0"),
            ({"children": {"values": []}}, "at least one value"),
            ({"children": {"low": np.nan}}, "finite numbers, got nan"),
            ({"children": {"low": "0"}}, "finite numbers, got '0'"),
            ({"children": {"lowest": 0}}, "expected a unit, or a dict with unit, values, low"),
            ({"children": {"unit": 3}}, "a unit that is text"),
            ({"children": 3}, "expected a unit"),
            ({"sex": {"low": 0}}, "categories have no range"),
            ({"nobody": "cm"}, "'nobody', which is none"),
        ],
    )
    def test_what_does_not_fit_a_domain_is_refused(self, domains, message):
        frame = make_good().assign(children=[0, 1, 2] * 10)
        with pytest.raises(InputError, match=message):
            NewronClassifier(domains=domains, **CHEAP).fit(frame, LABELS)

    @pytest.mark.parametrize(
        "domain", [{"values": 3}, {"low": 5, "high": 1}], ids=["no list", "low over high"]
    )
    def test_a_domain_that_is_none_is_an_input_error(self, domain):
        frame = make_good().assign(empty=np.nan)
        with pytest.raises(InputError, match="domains of 'empty'"):
            NewronClassifier(domains={"empty": domain}, **CHEAP).fit(frame, LABELS)


# ---- gaps where training had none ----


def weigh(values, weight):
    return float(np.asarray(values, float) @ weight / weight.sum())


class TestGapsThatTrainingHasNotSeen:
    @pytest.mark.parametrize("processing", ["sigmoid", "tanh_prod", "relu", "linear", "selu"])
    @pytest.mark.parametrize("input_scale", ["own", "both"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_smooth_function_keeps_its_mean(self, processing, input_scale, weighted):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"x": rng.gamma(2.0, size=70), "c": rng.choice(list("aabc"), 70)})
        y = (frame["x"] > 2) ^ (frame["c"] == "b")
        weight = rng.uniform(0.2, 3.0, 70) if weighted else np.ones(70)
        fitted = NewronClassifier(
            processing, hidden_layer_sizes=(2,), direct_inputs=True, input_scale=input_scale,
            **{**CHEAP, "max_iter": 30},
        ).fit(frame, y, sample_weight=weight if weighted else None)  # fmt: skip
        model = fitted.model_
        function = get_processing(processing)
        checked = 0
        for layer in model.layers:
            for e, source in enumerate(layer.source.tolist()):
                if source >= 2:
                    continue
                if source == 1:
                    heights = layer.levels[e][frame["c"].map({"a": 0, "b": 1, "c": 2})]
                else:
                    x, b = frame["x"].to_numpy(), layer.b[e]
                    if layer.rank[e]:
                        scale = model.schema.columns[0].rank_scale
                        assert isinstance(scale, RankScale)
                        x, b = scale.rank(x), scale.rank(b)
                    heights = function.value(x[:, None], layer.w[e : e + 1], b[None])[:, 0]
                mean = weigh(heights, weight)
                size = abs(mean) * 5.1e-3 + 1e-12
                assert layer.missing[e] == pytest.approx(mean, abs=size)
                assert heights.min() <= layer.missing[e] <= heights.max()
                checked += 1
        assert checked == 3 * 2 * (1 if input_scale == "own" else 1.5)

    def test_a_gap_scores_as_the_mean_of_a_score_card(self):
        rng = np.random.default_rng(1)
        frame = pd.DataFrame({"x": rng.normal(size=60), "c": rng.choice(list("aab"), 60)})
        y = (frame["x"] > 0) ^ (frame["c"] == "b")
        fitted = NewronClassifier("sigmoid", hidden_layer_sizes=(), **CHEAP).fit(frame, y)
        # Without hidden layer the score is a sum: its mean over all x is that of a gap.
        for c in "ab":
            want = fitted.decision_function(frame.assign(c=c)).mean()
            got = fitted.decision_function(pd.DataFrame({"x": [np.nan], "c": [c]}))
            assert got == pytest.approx([want], abs=5e-3)
        want = fitted.decision_function(frame).mean()
        with pytest.warns(NewronWarning, match="'z'"):
            got = fitted.decision_function(pd.DataFrame({"x": [np.nan], "c": ["z"]}))
        assert got == pytest.approx([want], abs=1e-2)

    @pytest.mark.parametrize("recipe", [CHEAP, GROW])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_step_has_its_more_frequent_value(self, recipe, weighted):
        rng = np.random.default_rng(2)
        frame = pd.DataFrame({"x": rng.normal(size=61), "c": rng.choice(list("aabc"), 61)})
        y = (frame["x"] > 0.4) ^ (frame["c"] == "b")
        weight = 5.0 ** rng.normal(size=61) if weighted else np.ones(61)
        fitted = NewronClassifier(hidden_layer_sizes=(2,), **recipe).fit(
            frame, y, sample_weight=weight if weighted else None
        )
        seen, x = set(), frame["x"].to_numpy()
        for layer in fitted.model_.layers:
            for e, source in enumerate(layer.source.tolist()):
                w, b = layer.w[e, 0], layer.b[e, 0]
                if source == 0:
                    held = x >= b if w > 0 else x <= b if w < 0 else np.ones(61, bool)
                elif source == 1:
                    held = layer.levels[e][frame["c"].map({"a": 0, "b": 1, "c": 2})] == 1.0
                else:
                    continue
                assert layer.missing[e] == float(weigh(held, weight) > 0.5)
                seen.add((source, layer.missing[e]))
        assert {source for source, _ in seen} == {0, 1}
        nothing = pd.DataFrame({"x": [np.nan], "c": [None]})
        assert np.all(np.isfinite(fitted.decision_function(nothing)))


class TestMoreRows:
    @pytest.mark.parametrize("processing", ["sigmoid", "heaviside", "linear"])
    @pytest.mark.parametrize("way", ["partial_fit", "warm_start"])
    @pytest.mark.parametrize("column", ["x", "c"])
    @pytest.mark.parametrize("first", ["gaps", "none"])
    def test_gaps_are_known_from_the_first_rows_or_announced(self, processing, way, column, first):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"x": rng.normal(size=80), "c": rng.choice(list("ab"), 80)})
        y = (frame["x"] > 0).astype(int)
        later = frame.copy()
        later.loc[7::4, column] = None
        fitted = NewronClassifier(
            processing, hidden_layer_sizes=(), warm_start=way == "warm_start", **CHEAP
        )
        fit = fitted.fit if way == "warm_start" else fitted.partial_fit
        if first == "none":
            fit(frame, y)
            with pytest.warns(NewronWarning, match=f"column '{column}', row 7 .*missing"):
                fit(later, y)
            assert np.all(np.isfinite(fitted.decision_function(later)))
        else:
            fit(later, y)
            fit(frame, y)
            assert np.all(np.isfinite(fit(later, y).decision_function(later)))
            assert fitted.model_.schema.columns[list(frame).index(column)].gaps

    @pytest.mark.parametrize("processing", ["sigmoid", "heaviside"])
    @pytest.mark.parametrize("way", ["partial_fit", "warm_start"])
    def test_a_category_that_comes_late_is_data(self, processing, way):
        frame = pd.DataFrame({"x": np.linspace(-1.0, 1.0, 80), "c": [*"aabb"] * 20})
        y = (frame["x"] > 0).astype(int)
        later = frame.assign(c=frame["c"].mask(np.arange(80) % 4 == 3, "new"))
        known = frame.assign(c=frame["c"].mask(np.arange(80) % 4 == 3, None))
        made = []
        for rows in (later, known):
            fitted = NewronClassifier(
                processing, hidden_layer_sizes=(), warm_start=way == "warm_start", **CHEAP
            )
            fit = fitted.fit if way == "warm_start" else fitted.partial_fit
            fit(frame, y)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                fit(rows, y)
            made.append(fitted.model_)
            words = " ".join(str(each.message) for each in caught)
            assert ("'c': unknown categories in 20 rows: 'new'" in words) == (rows is later)
            assert "column 'c', row 3 (counted from 0): has a missing value or a new" in words
        assert made[0].fingerprint == made[1].fingerprint  # as a missing value

    @pytest.mark.parametrize(
        "how",
        [
            {"hidden_layer_sizes": ()},
            {"hidden_layer_sizes": (3, 2), "direct_inputs": True},
            {"hidden_layer_sizes": (2,), "input_scale": "both"},
        ],
    )
    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid"])
    def test_going_on_begins_where_the_fit_ended(self, processing, how):
        content = draw_content(1, 80, ["float", "text", "bool", "enum", "int"])
        frame, y = make_frame(content, "pandas"), draw_labels(content, 1)
        fitted = NewronClassifier(processing, warm_start=True, **CHEAP, **how).fit(frame, y)
        before = fitted.decision_function(frame)
        fitted.set_params(max_iter=1, learning_rate_init=1e-9).fit(frame, y)
        np.testing.assert_allclose(fitted.decision_function(frame), before, atol=0.02)

    def test_threads_that_share_a_batch_change_nothing(self):
        content = draw_content(2, 3000, ["float", "text", "enum", "bool"] * 3)
        frame, y = make_frame(content, "pandas"), draw_labels(content, 2)
        models = [
            NewronClassifier(
                "sigmoid", hidden_layer_sizes=(16,), batch_size=2048, n_jobs=jobs, **CHEAP
            ).fit(frame, y).model_
            for jobs in (1, 2, 3)
        ]  # fmt: skip
        assert models[0] == models[1] == models[2]

    def test_the_path_and_the_model_say_the_same_of_a_gap(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(100, 2))
        fitted = NewronClassifier(size="auto", **GROW).fit(X, X[:, 0] > -0.5)
        rows = np.array([[np.nan, 0.3], [0.0, np.nan], [np.nan, np.nan]])
        for model in (fitted.path_.models[-1], fitted.path_[1]):
            assert model.predict(rows).tolist() == [True] * 3
        np.testing.assert_allclose(
            fitted.path_.model.scores(rows)[:, 0], fitted.decision_function(rows), atol=1e-2
        )

    @pytest.mark.parametrize("n", [20, 24, 40])
    def test_the_order_of_rows_does_not_decide_a_tie(self, n):
        X = np.array([[side, i] for side in (0.0, 1.0) for i in range(n // 2)])
        models = set()
        for seed in range(12):
            mixed = np.random.default_rng(seed).permutation(n)
            fitted = NewronClassifier(hidden_layer_sizes=(), **CHEAP).fit(X[mixed], X[mixed, 0])
            models.add(fitted.model_.fingerprint)
        assert len(models) == 1

    @pytest.mark.parametrize("processing", ["sigmoid", "heaviside"])
    def test_the_mean_is_that_of_all_rows_in_any_order(self, processing):
        rng = np.random.default_rng(5)
        X = np.sort(rng.normal(size=(11_000, 1)), axis=0)
        X = np.concatenate([X, X[:1000] - 10.0])
        y = (X[:, 0] > 0.0).astype(int)
        mixed = rng.permutation(len(X))
        models = [
            NewronClassifier(processing, hidden_layer_sizes=(), **CHEAP).fit(X[i], y[i]).model_
            for i in (np.arange(len(X)), mixed, np.arange(len(X))[::-1])
        ]
        assert models[0] == models[1]
        assert models[0] == models[2]

    def test_a_row_of_weight_zero_is_as_if_it_were_not_there(self):
        frame = make_good()
        more = pd.concat([frame, pd.DataFrame({"age": [0.0], "sex": ["x"]})], ignore_index=True)
        one = NewronClassifier(**CHEAP).fit(frame, LABELS)
        other = NewronClassifier(**CHEAP).fit(more, [*LABELS, 1], sample_weight=[1] * 30 + [0])
        assert one.model_ == other.model_
