"""Heaviside networks on many rows."""

import numpy as np
import pandas as pd
import pytest

from newron import NewronClassifier, NewronRegressor
from newron.engine import Options, fit
from newron.model import Classes
from newron.tables import encode

N = 10_000


@pytest.fixture(scope="module")
def table():
    """Numbers with missing values and a category; an effect of two columns together."""
    rng = np.random.default_rng(1000)
    X = rng.normal(size=(N, 4)).round(2)
    kind = rng.choice(list("abc"), N)
    z = 2.0 * (X[:, 0] > 0.3) + 1.5 * (kind == "b") + 3.0 * ((X[:, 1] > 0) & (X[:, 2] > 0)) - 2.0
    X[rng.random(N) < 0.05, 3] = np.nan
    frame = pd.DataFrame(X, columns=list("pqrs")).assign(kind=pd.Categorical(kind))
    return frame, z, (rng.random(N) < 1.0 / (1.0 + np.exp(-z))).astype(int)


@pytest.fixture(scope="module")
def fitted(table):
    frame, _, y = table
    return NewronClassifier("heaviside", random_state=0, size="whole").fit(frame, y)


def test_steps_and_terms_are_nearer_to_the_truth_than_steps_alone(table, fitted):
    frame, z, y = table
    assert {layer.processing for layer in fitted.model_.layers} == {"heaviside"}
    assert len(fitted.model_.layers) == 2

    def measure_error(model):
        return np.abs(model.predict_proba(frame)[:, 1] - 1.0 / (1.0 + np.exp(-z))).mean()

    rows = encode(frame)
    classes = Classes(("0", "1"))
    alone = fit(rows.rows, y, classes, rows.fields, options=Options("heaviside", pairs=False)).model
    assert measure_error(fitted) < 0.5 * measure_error(alone)


def test_columns_that_matter_only_together_are_found_among_many():
    rng = np.random.default_rng(1004)
    X = rng.normal(size=(N, 20))
    same = (X[:, 17] > 0.2) == (X[:, 18] > -0.3)
    y = rng.random(N) < np.where(same, 0.9, 0.1)
    steps = NewronClassifier("heaviside", random_state=0, size="whole").fit(X, y)
    assert np.mean(steps.predict(X) == same) > 0.95
    assert {17, 18} <= set(steps.model_.layers[0].source.tolist()) < set(range(20))


def test_threads_change_nothing(table, fitted):
    frame, _, y = table
    threads = NewronClassifier("heaviside", random_state=0, n_jobs=2, size="whole").fit(frame, y)
    assert threads.model_ == fitted.model_


def test_a_sum_of_columns_has_no_hidden_layer(table):
    frame, _, _ = table
    rng = np.random.default_rng(1001)
    y = rng.random(N) < np.where(frame["p"] > 0.3, 0.8, 0.2)
    steps = NewronClassifier("heaviside", random_state=0, size="whole").fit(frame, y)
    assert len(steps.model_.layers) == 1


def test_regression_targets_keep_their_unit(table):
    frame, z, _ = table
    y = 1000.0 + 50.0 * z + np.random.default_rng(1002).normal(size=N)
    steps = NewronRegressor("heaviside", random_state=0, size="whole").fit(frame, y)
    assert steps.score(frame, y) > 0.97


def test_counts_are_grown_on_the_scale_of_their_link(table):
    frame, z, _ = table
    y = np.random.default_rng(1003).poisson(np.exp(0.3 * z))
    steps = NewronRegressor("heaviside", objective="poisson", random_state=0, size="whole").fit(
        frame, y
    )
    assert len(steps.model_.layers) == 2
    assert np.abs(np.log(steps.predict(frame)) - 0.3 * z).mean() < 0.1


def test_directions_are_kept(table):
    frame, _, y = table
    steps = NewronClassifier(
        "heaviside", size="whole", random_state=0, monotonic_cst={"p": 1, "q": 1}
    )
    steps.fit(frame, y)
    few = frame.iloc[:50]
    for name in "pq":
        low, high = (
            steps.predict_proba(few.assign(**{name: value}))[:, 1] for value in (-0.4, 0.6)
        )
        assert np.all(high >= low)


def test_few_rows_have_corners_where_a_pair_stands_out():
    rng = np.random.default_rng(1005)
    X = rng.normal(size=(1200, 8))
    z = 2.0 * X[:, 2] * X[:, 5] + X[:, 0]
    y = rng.random(1200) < 1.0 / (1.0 + np.exp(-z))
    kinds = {"size": "whole", "n_init": 1, "max_iter": 20, "random_state": 0}
    steps = NewronClassifier("heaviside", max_terms=100, **kinds).fit(X, y)
    assert set(steps.model_.layers[0].source.tolist()) == {2, 5}
    few = NewronClassifier("heaviside", max_terms=5, **kinds).fit(X, y)
    assert len(few.model_.layers[-1].source) < 20 < len(steps.model_.layers[-1].source)
