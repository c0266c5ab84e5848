import numpy as np
import pytest

from builders.training import make_set
from newron.errors import InputError


def list_parts(X, y, weight=None):
    data = make_set(X, y, weight)
    return data.X, data.y, data.weight, data.count


def make(n=50, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (n, 3)).astype(float), rng.integers(0, 2, (n, 1)).astype(float)


def test_a_weight_of_two_is_the_row_twice():
    X, y = make()
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    weighted = list_parts(X, y, counts.astype(float))
    for a, b in zip(weighted, list_parts(X[repeated], y[repeated]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_order_of_storage_does_not_matter():
    X, y = make()
    mixed = np.random.default_rng(2).permutation(len(X))
    for a, b in zip(list_parts(X, y), list_parts(X[mixed], y[mixed]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_that_differ_in_the_target_alone_stay_apart():
    X, y = np.zeros((2, 1)), np.array([[0.0], [1.0]])
    assert len(make_set(X, y)) == 2


def test_zero_and_minus_zero_are_equal():
    X, y = np.array([[0.0], [-0.0]]), np.zeros((2, 1))
    assert make_set(X, y).weight.tolist() == [2.0]


def test_rows_without_weight_are_dropped():
    X, y = make()
    weight = np.zeros(len(X))
    weight[3] = 2.5
    assert make_set(X, y, weight).row.tolist() == [3]
    with pytest.raises(InputError, match="positive sample weight"):
        make_set(X, y, np.zeros(len(X)))


def test_a_whole_weight_counts_as_so_many_rows_and_any_other_once():
    X = np.array([[1.0], [2.0], [2.0], [3.0], [3.0]])
    data = make_set(X, np.zeros(5), np.array([3.0, 0.5, 2.0, 0.25, 1e12]))
    counts = dict(zip(data.X[:, 0].tolist(), data.count.tolist(), strict=True))
    assert counts == {1.0: 3, 2.0: 1 + 2, 3.0: 1 + 1}
    assert data.n_rows == 8
    assert data.weight.sum() == pytest.approx(3.0 + 2.5 + 0.25 + 1e12)


def test_parts_share_the_weight_of_a_row():
    X, y = make()
    data = make_set(X, y)
    some = data.make_part(data.count // 2)
    rest = data.make_part(data.count - data.count // 2)
    first, second = data.take(some), data.take(rest)
    assert first.n_rows + second.n_rows == data.n_rows == 50
    assert first.weight.sum() + second.weight.sum() == pytest.approx(50.0)
    np.testing.assert_array_equal(first.weight, first.count)


def test_a_constant_column_changes_nothing():
    X, y = make()
    wider = make_set(np.column_stack([X, np.full(len(X), 7.0)]), y)
    np.testing.assert_array_equal(wider.X[:, :3], make_set(X, y).X)
