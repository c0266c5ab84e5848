"""Tables of many rows of which few are distinct: survey answers, risk groups, codes."""

import numpy as np
import pytest

from newron import NewronClassifier, NewronRegressor

PAPER = {"recipe": "paper", "class_weight": {0: 1.0, 1: 1.0}, "max_iter": 300}
WAYS = [
    *((name, {}) for name in ("heaviside", "sigmoid", "tanh_prod", "smooth")),
    *((name, {"recipe": "default"}) for name in ("linear", "relu", "selu")),
    *(
        (name, {"recipe": "gradient"})
        for name in ("heaviside", "sigmoid", "tanh_prod", "linear", "relu", "selu")
    ),
    ("heaviside", {"recipe": "grow"}),
    *((name, PAPER) for name in ("sigmoid", "tanh_prod")),
]
every_way = pytest.mark.parametrize(
    ("processing", "settings"), WAYS, ids=lambda value: str(value)[:40]
)


def make_codes(n=3000, seed=1):
    """Three columns of two codes each, and the probability of the second class."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 3))
    p = 1 / (1 + np.exp(-(X @ np.array([1.8, -1.5, 0.9]) - 0.5)))
    return X.astype(float), (rng.random(n) < p).astype(int), p


def make_groups(X, y):
    """Return the distinct rows, and how often each is there."""
    rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    return rows[:, :-1], rows[:, -1].astype(int), counts


def measure(p, y):
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def make(processing, settings):
    settings = {"random_state": 0, "categorical_features": [0, 1, 2], **settings}
    return NewronClassifier(processing, **settings)


@every_way
class TestEveryFunctionAndRecipe:
    def test_learns_the_probabilities(self, processing, settings):
        X, y, p = make_codes()
        fitted = make(processing, settings).fit(X, y)
        assert measure(fitted.predict_proba(X)[:, 1], y) < measure(p, y) + 0.005

    def test_makes_the_same_model_of_weights(self, processing, settings):
        X, y, _ = make_codes()
        rows, labels, counts = make_groups(X, y)
        repeated = make(processing, settings).fit(X, y)
        weighed = make(processing, settings).fit(rows, labels, sample_weight=counts)
        assert weighed.model_ == repeated.model_


def test_steps_of_the_paper_learn_more_than_the_frequency():
    # It blends nothing into its steps and lands in poor minima more often than not.
    X, y, p = make_codes()
    fitted = make("heaviside", {**PAPER, "n_init": 10}).fit(X, y)
    assert measure(fitted.predict_proba(X)[:, 1], y) < measure(p, y) + 0.02


@pytest.mark.parametrize("processing", ["heaviside", "smooth"])
def test_many_rows_are_learned_as_well(processing):
    X, y, p = make_codes(12_000)
    fitted = make(processing, {}).fit(X, y)
    assert measure(fitted.predict_proba(X)[:, 1], y) < measure(p, y) + 0.005


@pytest.mark.parametrize("processing", ["heaviside", "sigmoid", "smooth"])
def test_regression_targets_that_repeat_are_learned(processing):
    X, y, _ = make_codes()
    rows, labels, counts = make_groups(X, y)
    make = NewronRegressor(processing, random_state=0)
    repeated = make.fit(X, y).model_
    means = np.array([y[(row == X).all(axis=1)].mean() for row in rows])
    missed = np.average((repeated.predict(rows) - means) ** 2, weights=counts)
    assert missed < 0.01 * y.var()
    assert make.fit(rows, labels, sample_weight=counts).model_ == repeated


def test_pruning_counts_true_rows():
    X, y, _ = make_codes()
    rows, labels, counts = make_groups(X, y)
    whole = make("heaviside", {"recipe": "gradient", "n_init": 2, "hidden_layer_sizes": ()})
    repeated = whole.fit(X, y).prune(X, y)
    weighed = whole.fit(rows, labels, sample_weight=counts).prune(rows, labels, counts)
    assert repeated.model_ == weighed.model_
    path, other = repeated.path_, weighed.path_
    np.testing.assert_array_equal(path.score, other.score)
    np.testing.assert_array_equal(path.error, other.error)
    # The standard error is that of 3,000 rows, not of 16.
    p = path.score[-1]
    assert path.error[-1] == pytest.approx(np.sqrt(p * (1 - p) / len(X)), rel=0.01)


def test_the_support_of_rules_counts_true_rows():
    X, y, _ = make_codes()
    rows, labels, counts = make_groups(X, y)
    fitted = make("heaviside", {"recipe": "gradient"})
    assert int(fitted.fit(X, y)._coverage.counts.sum()) == 3000
    assert int(fitted.fit(rows, labels, counts)._coverage.counts.sum()) == 3000
