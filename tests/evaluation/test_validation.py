"""Models measured on rows that they were not trained on."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron

from newron import NewronClassifier, NewronRegressor, NewronSurvival
from newron.errors import InputError
from newron.evaluation import cross_predict, cross_validate, estimate_concordance
from newron.evaluation.splits import SplitPlan, make_folds, make_splits


def make_rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2))
    X[:, 0] += 2.0 * y
    return X, y


def test_every_row_is_predicted_once_in_folds():
    X, y = make_rows()
    calls = []
    found = cross_predict(
        {"model": LogisticRegression()}, X, y, make_folds(y, 3), lambda *call: calls.append(call)
    )
    assert sorted(found.index.tolist()) == list(range(60))
    np.testing.assert_array_equal(found.truth, y[found.index])
    assert found.probabilities["model"].shape == (60, 2)
    assert calls == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_the_model_of_a_test_part_is_kept():
    X, y = make_rows()
    ((train, test),) = splits = make_splits(y, SplitPlan(test_size=0.25))
    found = cross_predict({"model": LogisticRegression()}, X, y, splits)
    same = LogisticRegression().fit(X[train], y[train])
    np.testing.assert_array_equal(found.fitted.predict(X[test]), same.predict(X[test]))
    np.testing.assert_array_equal(found.predicted["model"], same.predict(X[test]))


def test_a_network_is_measured_beside_baselines_on_the_same_rows():
    X, y = make_rows()
    network = NewronClassifier(recipe="gradient", hidden_layer_sizes=(), n_jobs=1, random_state=0)
    found = cross_validate(network, X, np.where(y, "yes", "no"), n_folds=3)
    assert list(found.qualities) == ["model", "logistic regression", "constant"]
    assert found.labels == ("no", "yes")
    assert found.quality.accuracy.value > 0.7
    assert found.qualities["constant"].accuracy.value == pytest.approx(0.5)
    json.dumps(found.to_dict(), allow_nan=False)


def test_values_are_measured_by_their_errors():
    X, _ = make_rows(100)
    y = 3.0 * X[:, 0] + 1.0
    found = cross_validate(LinearRegression(), X, y, test_size=0.3)
    assert (found.n_rows, found.n_splits, found.labels) == (30, 1, None)
    assert list(found.qualities) == ["model", "ridge regression", "constant"]
    assert found.quality.mae.value == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: columns])
def test_tables_of_any_kind_are_split_by_rows(make):
    X, y = make_rows(40)
    table = X.tolist() if make is not pd.DataFrame and make is not pl.DataFrame else None
    frame = make({"a": X[:, 0], "b": X[:, 1]}) if table is None else table
    found = cross_validate(DummyClassifier(), frame, y)
    assert found.qualities["logistic regression"].accuracy.value > 0.6


def test_a_class_that_a_training_part_lacks_has_probability_zero():
    y = np.array(["a", "b", "c"] * 6 + ["rare"])
    X = np.arange(19.0)[:, None]
    found = cross_predict({"model": DummyClassifier()}, X, y, make_folds(y, 3))
    assert found.labels == ("a", "b", "c", "rare")
    at = found.index.tolist().index(18)
    assert found.probabilities["model"][at, 3] == 0.0


def test_a_training_part_of_one_class_predicts_it():
    y = np.array([0] * 5 + [1])
    found = cross_predict({"m": LogisticRegression()}, np.zeros((6, 1)), y, [(np.arange(5), [5])])
    assert found.predicted["m"].tolist() == [0]


def test_a_classifier_without_probabilities_is_measured_by_its_classes():
    X, y = make_rows()
    found = cross_validate(Perceptron(), X, y)
    assert found.quality.log_loss is None
    assert found.qualities["constant"].log_loss is not None


def test_too_few_rows_are_an_error():
    with pytest.raises(InputError, match="got 4 rows, too few"):
        cross_validate(DummyClassifier(), np.zeros((4, 1)), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (LogisticRegression(), ["a"] * 30),
        (LinearRegression(), [1.0] * 30),
        (LogisticRegression(), ["a"] * 29 + ["b"]),
        (LogisticRegression(), ["a", "b"]),
        (LinearRegression(), [0.0, 1.0]),
    ],
)
def test_constant_and_tiny_tables_can_be_measured(estimator, y):
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    found = cross_validate(estimator, X, y, n_folds=2)
    assert found.n_rows == len(y)
    json.dumps(found.to_dict(), allow_nan=False)


class TestTasks:
    def test_labels_are_validated_together(self):
        rng = np.random.default_rng(4)
        X = rng.normal(size=(60, 2))
        Y = np.column_stack([X[:, 0] > 0.0, X[:, 1] > 0.5]).astype(int)
        model = NewronClassifier(recipe="grow", max_terms=2, random_state=0)
        found = cross_validate(model, X, Y, n_folds=3, seed=2)
        assert (found.n_rows, found.n_splits) == (60, 3)
        kept = found.to_measurement(n_trained=60).scores
        assert kept["model"]["subset accuracy"].value > kept["constant"]["subset accuracy"].value

    def test_survival_is_validated_by_concordance(self):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(90, 1))
        time = rng.exponential(np.exp(-X[:, 0]))
        model = NewronSurvival(
            "sigmoid", objective="survival:4", hidden_layer_sizes=(), recipe="gradient",
            max_iter=20, random_state=0,
        )  # fmt: skip
        found = cross_validate(model, X, (np.ones(90), time), n_folds=3)
        by_hand = [
            clone(model).fit(X[train], (np.ones(len(train)), time[train])).predict(X[test])
            for train, test in make_splits(np.ones(90), SplitPlan(3))
        ]
        tests = [test for _, test in make_splits(np.ones(90), SplitPlan(3))]
        index = np.concatenate(tests)
        want = estimate_concordance(np.ones(90), time[index], np.concatenate(by_hand)).value
        assert found.quality.concordance.value == want

    def test_offsets_go_to_the_model_alone(self):
        rng = np.random.default_rng(6)
        X, years = rng.normal(size=(80, 1)), rng.uniform(0.1, 9.0, 80)
        y = rng.poisson(years)
        model = NewronRegressor("linear", objective="poisson", hidden_layer_sizes=(),
                                recipe="gradient", max_iter=30, random_state=0)  # fmt: skip
        with_years = cross_validate(model, X, y, n_folds=2, offset=np.log(years))
        without = cross_validate(model, X, y, n_folds=2)
        assert with_years.quality.mae.value < 0.7 * without.quality.mae.value
        constant = with_years.qualities["constant"]
        assert constant.mae == without.qualities["constant"].mae

    def test_an_offset_of_classes_is_refused(self):
        with pytest.raises(InputError, match="offset: expected a regressor"):
            cross_validate(
                NewronClassifier(), np.eye(20), np.eye(20, 2), n_folds=2, offset=np.ones(20)
            )
