"""Folds are split over true rows: equal rows are a matter of speed alone."""

import numpy as np
import pytest

from builders.training import make_set
from newron.objectives import Binary, Squared
from newron.training.folds import choose_size, is_better, split_folds, split_fraction

SEED = np.random.SeedSequence(0)
every_objective = pytest.mark.parametrize("objective", [Binary(), Squared()], ids=repr)


def make_groups(n=3000, seed=0):
    """Many rows, few of them distinct."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 3)).astype(float)
    return X, (rng.random(n) < 0.2 + 0.2 * X.sum(axis=1)).astype(float)


@every_objective
class TestFolds:
    def test_copies_of_a_row_are_spread_over_all_of_them(self, objective):
        data = make_set(*make_groups())
        assert len(data) <= 16
        folds = split_folds(data, objective, SEED)
        held = np.zeros((4, len(data)), np.int64)
        for k, fold in enumerate(folds):
            held[k, fold.validation.index] = fold.validation.count
            whole = np.zeros(len(data), np.int64)
            np.add.at(whole, fold.train.index, fold.train.count)
            np.testing.assert_array_equal(whole + held[k], data.count)
        np.testing.assert_array_equal(held.sum(axis=0), data.count)
        assert np.all(np.ptp(held, axis=0) <= 1)
        assert np.ptp(held.sum(axis=1)) <= 1

    def test_weights_are_as_so_many_rows(self, objective):
        X, y = make_groups()
        repeated = make_set(X, y)
        weighed = make_set(repeated.X, repeated.y, repeated.weight)
        pairs = zip(*(split_folds(d, objective, SEED) for d in (repeated, weighed)), strict=True)
        for a, b in pairs:
            for one, other in ((a.train, b.train), (a.validation, b.validation)):
                np.testing.assert_array_equal(one.index, other.index)
                np.testing.assert_array_equal(one.count, other.count)
                np.testing.assert_array_equal(one.fraction, other.fraction)

    def test_distinct_rows_are_in_one_fold_each(self, objective):
        X = np.random.default_rng(0).normal(size=(101, 2))
        data = make_set(X, X[:, 0] > 0)
        folds = split_folds(data, objective, SEED)
        held = np.concatenate([fold.validation.index for fold in folds])
        assert sorted(held.tolist()) == list(range(101))
        assert all(np.all(fold.train.fraction == 1.0) for fold in folds)

    def test_few_rows_have_none_and_many_rows_one(self, objective):
        X, y = make_groups(19)
        assert split_folds(make_set(X, y), objective, SEED) == []
        assert len(split_folds(make_set(*make_groups(10_001)), objective, SEED)) == 1


def test_a_class_that_a_training_part_lacks_makes_no_folds():
    X, y = make_groups(60)
    y[:] = 0.0
    y[7] = 1.0
    assert split_folds(make_set(X, y), Binary(), SEED) == []
    assert len(split_folds(make_set(X, y), Squared(), SEED)) == 4


@every_objective
@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
def test_a_fraction_of_true_rows_is_held_out(objective, fraction):
    data = make_set(*make_groups())
    held = split_fraction(data, objective, fraction, np.random.default_rng(0))
    assert np.all((held >= 0) & (held <= data.count))
    for value in (0.0, 1.0) if objective.stratified else ():
        own = data.y[:, 0] == value
        assert held[own].sum() == round(fraction * data.count[own].sum())
    assert held.sum() == pytest.approx(fraction * data.n_rows, abs=2)


def test_of_few_rows_one_is_held_out():
    data = make_set(np.arange(3.0)[:, None], np.array([0.0, 0.0, 1.0]))
    held = split_fraction(data, Binary(), 0.1, np.random.default_rng(0))
    assert held.sum() == 1
    assert data.y[held == 1] == 0.0


def test_sizes_that_differ_by_nothing_are_the_smallest():
    assert choose_size(np.array([[0.5, 0.002, 0.001]])) == 1
    assert choose_size(np.array([[0.5, 0.402, 0.401]])) == 2


def test_a_candidate_is_better_by_more_than_the_spread_of_folds():
    than = np.array([0.5, 0.5, 0.5, 0.5])
    assert is_better(than - 0.01, than, 2.0)
    assert not is_better(than - np.array([0.05, -0.04, 0.02, 0.0]), than)
