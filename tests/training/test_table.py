import numpy as np
import pytest

from newron.errors import InputError
from newron.training.table import settle_rows


def settled(X, y, weight=None):
    rows = settle_rows(X, y, weight)
    return X[rows.index], y[rows.index], rows.weight


def make(n=50, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n, 3)).astype(float), rng.integers(0, 2, (n, 1)).astype(float)


def test_a_weight_of_two_is_the_row_twice():
    X, y = make()
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    weighted = settled(X, y, counts.astype(float))
    for a, b in zip(weighted, settled(X[repeated], y[repeated]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_order_of_storage_does_not_matter():
    X, y = make()
    mixed = np.random.default_rng(2).permutation(len(X))
    for a, b in zip(settled(X, y), settled(X[mixed], y[mixed]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_that_differ_in_the_target_alone_stay_apart():
    X, y = np.zeros((2, 1)), np.array([[0.0], [1.0]])
    assert len(settle_rows(X, y).index) == 2


def test_zero_and_minus_zero_are_equal():
    X, y = np.array([[0.0], [-0.0]]), np.zeros((2, 1))
    assert settle_rows(X, y).weight.tolist() == [2.0]


def test_rows_without_weight_are_dropped():
    X, y = make()
    weight = np.zeros(len(X))
    weight[3] = 2.5
    assert settle_rows(X, y, weight).index.tolist() == [3]
    with pytest.raises(InputError, match="positive sample weight"):
        settle_rows(X, y, np.zeros(len(X)))
