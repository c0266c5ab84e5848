"""Trees of scikit-learn and their networks: the same prediction for every row."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from construct.rows import check_file, check_paths, draw_rows, surround_float32
from newron.construct import from_tree
from newron.construct.trees import find_cut, score_leaves
from newron.errors import InputError
from newron.model import Classes, Column, Schema

SEEDS = st.integers(0, 10**6)
BIG = float(np.finfo(np.float32).max)


def draw_table(rng, *, gaps):
    """Draw rows of columns of several kinds: smooth, rounded, whole, tiny, huge."""
    n, n_columns = int(rng.integers(5, 200)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, n_columns)) * 10.0 ** rng.integers(-6, 7, n_columns)
    for i in range(n_columns):
        kind = rng.integers(4)
        if kind == 0:
            X[:, i] = rng.integers(0, 5, n)
        elif kind == 1:
            X[:, i] = X[:, i].round(1)
    if gaps:
        X[rng.random(X.shape) < rng.choice([0.1, 0.5])] = np.nan
    return X


def draw_trials(rng, tree, X, *, gaps):
    """Draw rows at and around the thresholds, and those of the table."""
    pools = []
    for i in range(X.shape[1]):
        own = tree.tree_.threshold[tree.tree_.feature == i]
        seen = X[~np.isnan(X[:, i]), i]
        pool = np.concatenate([surround_float32(own), seen, seen + 0.01, [0.0, -1e30, 1e30, BIG]])
        pools.append(pool)
    rows = draw_rows(rng, pools, 2000, 0.1 if gaps else 0.0)
    return np.concatenate([rows, X])


def draw_growth(rng):
    """Draw how a tree is grown."""
    depth = int(rng.integers(1, 9))
    ways = (
        {"max_depth": depth},
        {"max_depth": depth, "min_samples_leaf": 3},
        {"max_leaf_nodes": int(rng.integers(2, 20))},
        {"max_depth": depth, "ccp_alpha": 0.01},
        {"max_depth": depth, "splitter": "random"},
    )
    return {**ways[rng.integers(len(ways))], "random_state": int(rng.integers(100))}


def check_equal(model, tree, rows):
    scores = check_paths(model, rows)
    np.testing.assert_array_equal(model.output.predict(scores), tree.predict(rows))


class TestClassifier:
    @given(SEEDS, st.integers(2, 5), st.booleans(), st.booleans())
    @settings(max_examples=120, deadline=None)
    def test_it_has_the_tree_s_classes(self, seed, n_classes, gaps, probabilities):
        rng = np.random.default_rng(seed)
        X = draw_table(rng, gaps=gaps)
        y = rng.integers(0, n_classes, len(X))
        y[:n_classes] = np.arange(n_classes)[: len(y)]
        labels = np.array(["b", "a", "c", "e", "d"])[y] if seed % 2 else y
        if len(set(y.tolist())) < 2:
            return
        tree = DecisionTreeClassifier(**draw_growth(rng)).fit(X, labels)
        model = from_tree(tree, probabilities=probabilities)
        rows = draw_trials(rng, tree, X, gaps=True)  # gaps that training has not seen go too
        check_equal(model, tree, rows)
        if probabilities:
            got = model.predict_proba(rows)
            np.testing.assert_allclose(got, tree.predict_proba(rows), rtol=0, atol=1e-12)

    def test_of_classes_that_are_level_the_first_wins(self):
        X = [[0], [0], [1], [1], [1], [2], [2], [2], [2]]
        for y in ("abbabcacc", "bababcaac", "ababababa"):
            tree = DecisionTreeClassifier().fit(X, list(y))
            for probabilities in (False, True):
                model = from_tree(tree, probabilities=probabilities)
                check_equal(model, tree, np.array([[0.0], [1.0], [2.0], [np.nan]]))

    def test_nearly_level_probabilities_do_not_turn_a_class_around(self):
        rng = np.random.default_rng(0)
        X = np.zeros((6, 1))
        y = np.array([0, 1, 2, 0, 1, 2])
        for _ in range(100):
            weights = 1.0 + rng.integers(0, 4, 6) * 1e-16 * rng.integers(0, 3)
            for n in (2, 3):
                kept = y < n
                tree = DecisionTreeClassifier().fit(X[kept], y[kept], weights[kept])
                check_equal(from_tree(tree, probabilities=True), tree, X)

    def test_the_class_stays_ahead_where_logarithms_are_level(self):
        first = np.random.default_rng(0).uniform(0.3, 0.36, 200)
        second = np.nextafter(first, 1.0)
        values = np.stack([first, second, 1.0 - first - second], axis=1)
        logs = np.log(values)
        assert np.any(logs[:, 0] == logs[:, 1])
        winners = np.argmax(values, axis=1)
        output = Classes(("a", "b", "c"))
        scores = score_leaves(values, winners, output)
        np.testing.assert_array_equal(output.choose(scores), winners)
        np.testing.assert_allclose(output.predict_proba(scores), values, rtol=1e-14)

    def test_leaves_of_one_class_under_one_node_are_one_box(self):
        X = np.arange(40.0)[:, None]
        y = np.array(["a"] * 20 + ["b"] * 20)
        y[[3, 30]] = "a", "b"
        y[35] = "a"
        tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
        model = from_tree(tree)
        check_equal(model, tree, X)
        assert model.n_functions == 4  # 19.5 ≤ x < 34.5, x ≥ 35.5
        assert from_tree(tree, probabilities=True).n_functions >= model.n_functions

    def test_paths_have_at_most_two_conditions_for_a_column(self):
        rng = np.random.default_rng(3)
        X = rng.normal(size=(300, 2))
        tree = DecisionTreeClassifier().fit(X, rng.integers(0, 3, 300))
        hidden = from_tree(tree).layers[0]
        for j in range(hidden.n_neurons):
            sources = hidden.source[hidden.begin[j] : hidden.begin[j + 1]]
            assert np.bincount(sources).max() <= 2

    def test_names_and_labels_are_the_tree_s(self):
        frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "sex": [0, 1, 0, 1]})
        tree = DecisionTreeClassifier().fit(frame, [True, False, True, True])
        model = from_tree(tree)
        assert model.schema.names == ("age", "sex")
        assert model.output.labels == (False, True)
        assert model.predict(frame[["sex", "age"]]).tolist() == tree.predict(frame).tolist()

    def test_a_tree_that_is_one_leaf_is_a_constant(self, tmp_path):
        tree = DecisionTreeClassifier(max_depth=1).fit([[1.0], [1.0], [1.0]], [1, 2, 2])
        model = from_tree(tree)
        assert model.n_functions == 0
        check_equal(model, tree, np.array([[0.0], [np.nan]]))
        check_file(model, tmp_path, np.array([[0.0], [np.nan]]))


class TestRegressor:
    @given(SEEDS, st.booleans())
    @settings(max_examples=80, deadline=None)
    def test_it_has_the_tree_s_amounts(self, seed, gaps):
        rng = np.random.default_rng(seed)
        X = draw_table(rng, gaps=gaps)
        y = rng.normal(size=len(X)) * 10.0 ** float(rng.integers(-9, 10))
        y = y.round(1) if seed % 2 else y
        tree = DecisionTreeRegressor(**draw_growth(rng)).fit(X, y)
        check_equal(from_tree(tree), tree, draw_trials(rng, tree, X, gaps=True))

    @pytest.mark.parametrize("left", [0, 1])
    def test_a_threshold_that_is_no_number_parts_the_missing_values(self, left):
        """Trees of scikit-learn 1.6 have such ones where small values are missing."""
        X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [np.nan]] * 5)
        tree = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 1.5)
        tree.tree_.threshold[0], tree.tree_.missing_go_to_left[0] = np.nan, left
        assert len(set(tree.predict(X).tolist())) == 1 + left
        check_equal(from_tree(tree), tree, X)

    @pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
    def test_other_criteria_are_as_good(self, criterion):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(80, 2)), rng.integers(0, 4, 80)
        tree = DecisionTreeRegressor(criterion=criterion, max_depth=5).fit(X, y)
        check_equal(from_tree(tree), tree, draw_trials(rng, tree, X, gaps=False))

    def test_extra_trees_are_trees(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(80, 2)), rng.integers(0, 4, 80)
        for kind in (ExtraTreeRegressor, ExtraTreeClassifier):
            tree = kind(max_depth=6, random_state=0).fit(X, y)
            check_equal(from_tree(tree), tree, draw_trials(rng, tree, X, gaps=False))

    def test_it_comes_back_from_its_file(self, tmp_path):
        rng = np.random.default_rng(0)
        X = draw_table(rng, gaps=True)
        tree = DecisionTreeRegressor(max_depth=6).fit(X, rng.normal(size=len(X)))
        check_file(from_tree(tree), tmp_path, draw_trials(rng, tree, X, gaps=True))


class TestGaps:
    def test_a_split_between_gaps_and_numbers(self):
        X = np.array([[np.nan], [np.nan], [1.0], [2.0], [3.0]])
        for y in ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]):
            tree = DecisionTreeClassifier().fit(X, y)
            assert np.isinf(tree.tree_.threshold[0])
            model = from_tree(tree)
            check_equal(model, tree, np.array([[np.nan], [-BIG], [0.0], [BIG]]))
            assert model.n_functions == 1
            assert model.schema.columns[0].gaps

    def test_columns_have_gaps_where_the_tree_shows_them(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 2))
        y = (X[:, 0] > 0.5) & (X[:, 1] > 0.5)
        tree = DecisionTreeClassifier(max_depth=4).fit(X, y)
        assert [column.gaps for column in from_tree(tree).schema.columns] == [False, False]
        X[y & (rng.random(300) < 0.7), 1] = np.nan
        tree = DecisionTreeClassifier(max_depth=4).fit(X, y)
        assert [column.gaps for column in from_tree(tree).schema.columns] == [False, True]


class TestSchema:
    def test_ranges_go_from_the_least_to_the_greatest_threshold(self):
        X = [[1, 7], [2, 7], [3, 7], [4, 7]]
        columns = from_tree(DecisionTreeRegressor().fit(X, [1, 5, 2, 8])).schema.columns
        assert columns == (
            Column("x1", find_cut(1.5), find_cut(3.5)),
            Column("x2", 0.0, 1.0),
        )

    def test_a_schema_may_be_given(self):
        tree = DecisionTreeRegressor().fit([[1.0], [2.0]], [1, 2])
        schema = Schema((Column("age", 0.0, 120.0, unit="years"),))
        assert from_tree(tree, schema).schema is schema


def round_once(x):
    return float(np.float32(x))  # not left a float32: comparisons would round the other side


class TestFindCut:
    @given(st.floats(-BIG, BIG, exclude_max=True))
    @settings(max_examples=500, deadline=None)
    @example(0.0)
    @example(-0.0)
    @example(5e-324)
    @example(-5e-324)
    @example(1e-45)
    @example(-1e-45)
    @example(7.006492321624085e-46)
    @example(-7.006492321624085e-46)
    @example(1.1754943508222875e-38)
    @example(-BIG)
    @example(2.0**24 + 1)
    def test_it_is_the_last_float64_that_goes_left(self, threshold):
        cut = find_cut(threshold)
        assert round_once(cut) <= threshold < round_once(math.nextafter(cut, math.inf))

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=500, deadline=None)
    def test_it_knows_where_halves_go(self, bits):
        threshold = float(np.array(bits, np.uint32).view(np.float32))
        if abs(threshold) < BIG:
            cut = find_cut(threshold)
            assert round_once(cut) <= threshold < round_once(math.nextafter(cut, math.inf))

    def test_thresholds_beyond_float32_are_no_condition(self):
        assert find_cut(math.inf) == find_cut(BIG) == math.inf
        assert find_cut(-math.inf) == -math.inf


class TestErrors:
    def test_errors_say_what_was_expected(self):
        X = [[1.0], [2.0]]
        two = DecisionTreeRegressor().fit(X, [[1, 2], [3, 4]])
        one = DecisionTreeRegressor().fit(X, [1, 2])
        categories = Schema((Column("c", 0.0, 1.0, categories=("a", "b")),))
        wide = Schema((Column("a", 0.0, 1.0), Column("b", 0.0, 1.0)))
        for arguments, message in (
            ((DecisionTreeRegressor(),), "expected a fitted tree"),
            ((two,), "one output, got 2; fit a tree for each"),
            (("tree",), "expected a DecisionTreeClassifier .* got str"),
            ((DecisionTreeClassifier().fit(X, [1, 1]),), "2 classes or more"),
            ((one, wide), "the tree's 1 columns, got 2"),
            ((one, categories), "column 'c': expected numbers"),
        ):
            with pytest.raises(InputError, match=message) as caught:
                from_tree(*arguments)
            assert "\n" not in str(caught.value)
