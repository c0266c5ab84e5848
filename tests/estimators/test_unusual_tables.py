"""Tables that break assumptions: what a default fit must make of each, as a matter of sense."""

import numpy as np
import pandas as pd
import pytest

from newron import NewronClassifier, NewronRegressor

KINDS = ["smooth", "heaviside"]


def fit(kind, X, y, **settings):
    """Fit curves of single columns, or a few terms."""
    if kind == "heaviside":
        settings = {"max_terms": 8, "max_iter": 50, "n_init": 2} | settings
    return NewronClassifier(kind, hidden_layer_sizes=(), random_state=0, **settings).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_one_column_that_decides_all(kind):
    X = np.random.default_rng(0).normal(size=(200, 5))
    model = fit(kind, X, X[:, 2] > 0.3)
    new = np.random.default_rng(1).normal(size=(500, 5))
    assert model.score(new, new[:, 2] > 0.3) > 0.97


@pytest.mark.parametrize("kind", KINDS)
def test_few_distinct_rows_with_many_copies(kind):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    rows, y = np.repeat(X, 100, axis=0), np.tile(np.arange(100), 4)
    y = y < np.repeat([10, 30, 60, 90], 100)  # of each row 10 to 90 in a hundred
    chances = fit(kind, rows, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(chances, [0.1, 0.3, 0.6, 0.9], atol=0.09)


@pytest.mark.parametrize("kind", KINDS)
def test_nearly_all_rows_of_one_class(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = np.zeros(1000, int)
    y[np.argsort(X[:, 0])[-10:]] = 1
    model = fit(kind, X, y)
    chances = model.predict_proba(X)[:, 1]
    assert chances[y == 1].min() > np.quantile(chances[y == 0], 0.95)
    assert abs(chances.mean() - 0.01) < 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_units_do_not_matter(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X.sum(axis=1) > 0
    own = fit(kind, X * [1e-9, 1e6], y)  # nanometres in metres, beside dollars
    assert own.score(X * [1e-9, 1e6], y) > 0.93
    plain = fit(kind, X, y)
    assert abs(own.score(X * [1e-9, 1e6], y) - plain.score(X, y)) < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_heavy_tails(kind):
    X = np.random.default_rng(0).standard_cauchy(size=(400, 3)) ** 3
    new = np.random.default_rng(1).standard_cauchy(size=(400, 3)) ** 3
    assert fit(kind, X, X[:, 0] > 0.2).score(new, new[:, 0] > 0.2) > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_integers_with_many_ties(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(500, 4))
    y = rng.random(500) < np.where(X[:, 1] >= 2, 0.85, 0.15)
    new = rng.integers(0, 4, size=(500, 4))
    assert np.mean(fit(kind, X, y).predict(new) == (new[:, 1] >= 2)) > 0.97


@pytest.mark.parametrize("kind", KINDS)
def test_duplicated_columns_are_as_good_as_one(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))
    new = rng.normal(size=(500, 2))
    once = fit(kind, X, y).predict_proba(new)[:, 1]
    often = fit(kind, np.repeat(X, 5, axis=1), y).predict_proba(np.repeat(new, 5, axis=1))[:, 1]
    assert np.abs(once - often).mean() < 0.06


def test_fifty_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 12)
    X = np.column_stack([y % 10, y // 10]) + rng.normal(scale=0.1, size=(600, 2))
    assert fit("smooth", X, y).score(X, y) > 0.9


def test_a_category_of_five_hundred_levels():
    rng = np.random.default_rng(0)
    names = np.array([f"place {i}" for i in range(500)])
    level = rng.integers(0, 500, 3000)
    X = pd.DataFrame({"place": pd.Categorical(names[level], names), "x": rng.normal(size=3000)})
    high = level < 250
    y = rng.random(3000) < np.where(high, 0.9, 0.1)
    model = fit("smooth", X, y)
    assert np.mean(model.predict(X) == high) > 0.9
    assert model.predict_proba(X.iloc[:1].assign(place=pd.NA)).sum() == pytest.approx(1.0)


def test_more_columns_than_rows():
    X = np.random.default_rng(0).normal(size=(120, 800))
    new = np.random.default_rng(1).normal(size=(500, 800))
    model = fit("smooth", X, X[:, 7] > 0)
    assert model.score(new, new[:, 7] > 0) > 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_regression_of_heavy_tails_and_tiny_units(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_t(2, size=(300, 3))
    y = 1e-9 * (np.tanh(X[:, 0]) + 0.1 * rng.normal(size=300))
    model = NewronRegressor(kind, hidden_layer_sizes=(), max_terms=8, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
