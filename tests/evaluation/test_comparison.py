"""Comparisons of predictors, beside SciPy and published tables."""

import math

import numpy as np
import pytest
from scipy import stats

from newron.evaluation import (
    compare_classifiers,
    compare_errors,
    compare_folds,
    compare_tables,
    rank_models,
)


def make_pair(both, only_first, only_second, neither):
    """Return the truth and two predictions with so many rows of each outcome."""
    counts = [both, only_first, only_second, neither]
    first, second = np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)
    return np.ones(sum(counts), int), first, second


class TestClassifiers:
    @pytest.mark.parametrize(
        ("counts", "low", "high"),
        [
            # Newcombe (1998), paired proportions, method 10.
            ((36, 12, 2, 0), 0.0569, 0.3404),
            ((54, 0, 0, 0), -0.0664, 0.0664),
            ((0, 30, 0, 0), 0.8395, 1.0),
        ],
    )
    def test_the_interval_is_newcombes(self, counts, low, high):
        found = compare_classifiers(*make_pair(*counts)).difference
        assert (found.low, found.high) == pytest.approx((low, high), abs=2e-4)

    def test_only_rows_on_which_they_differ_count(self):
        found = compare_classifiers(*make_pair(50, 12, 3, 9))
        assert found.p_value == pytest.approx(stats.binomtest(12, 15).pvalue)
        assert found.sign == 1
        swapped = compare_classifiers(*make_pair(50, 3, 12, 9))
        assert (swapped.p_value, swapped.sign) == (found.p_value, -1)

    def test_equal_predictors_do_not_differ(self):
        found = compare_classifiers([0, 1], [0, 0], [0, 0])
        assert (found.difference.value, found.p_value, found.sign) == (0.0, 1.0, 0)


class TestErrors:
    def test_they_are_compared_by_a_paired_t_test(self):
        rng = np.random.default_rng(0)
        truth = rng.normal(size=50)
        first, second = truth + rng.normal(size=50), truth + 2.0 * rng.normal(size=50)
        found = compare_errors(truth, first, second)
        expected = stats.ttest_rel(np.abs(first - truth), np.abs(second - truth))
        assert found.p_value == pytest.approx(expected.pvalue)
        assert found.sign == -1

    @pytest.mark.parametrize("n", [1, 2, 10])
    def test_equal_predictors_do_not_differ(self, n):
        found = compare_errors(np.arange(n), np.ones(n), np.ones(n))
        assert (found.difference.value, found.p_value) == (0.0, 1.0)


def test_folds_differ_only_beyond_their_spread():
    base = np.array([0.8, 0.82, 0.78, 0.81, 0.79])
    sure = base + np.array([0.1, 0.11, 0.1, 0.09, 0.1])
    assert compare_folds(sure, base).sign == 1
    assert compare_folds(base, sure).sign == -1
    assert compare_folds(base + np.array([0.1, -0.1, 0.05, 0.0, 0.01]), base).sign == 0
    assert compare_folds(base, base).sign == 0
    assert compare_folds(base + 0.1, base).sign == 1
    assert compare_folds(base[:1] + 1, base[:1]).sign == 0


def test_tables_are_compared_by_their_signed_ranks():
    first = np.array([0.9, 0.8, 0.7, math.nan, 0.95])
    second = np.array([0.8, 0.75, 0.72, 0.5, 0.9])
    found = compare_tables(first, second)
    known = [0, 1, 2, 4]
    assert found.p_value == pytest.approx(stats.wilcoxon((first - second)[known]).pvalue)
    assert found.n == 4
    assert compare_tables([0.5, 0.6], [0.5, 0.6]).p_value == 1.0


class TestRanks:
    def test_equals_have_the_mean_of_their_ranks(self):
        found = rank_models([[0.9, 0.8, -math.inf], [0.7, 0.7, 0.9]])
        assert found.ranks == ((1.0, 2.0, 3.0), (2.5, 2.5, 1.0))
        assert found.mean_ranks == (1.75, 2.25, 2.0)
        assert math.isnan(found.p_value)

    def test_the_test_is_friedmans(self):
        scores = np.random.default_rng(0).uniform(size=(8, 4))
        expected = stats.friedmanchisquare(*scores.T)
        assert rank_models(scores).p_value == pytest.approx(expected.pvalue)
        assert rank_models(np.ones((5, 3))).p_value == 1.0

    def test_the_critical_difference_is_demsars(self):
        # Demšar (2006), table 5: q = 2.343 for 3 and 2.728 for 5 models at 5 %.
        for n_models, n_tables, q in ((3, 10, 2.343), (5, 30, 2.728)):
            expected = q * math.sqrt(n_models * (n_models + 1) / (6 * n_tables))
            found = rank_models(np.zeros((n_tables, n_models))).critical_difference
            assert found == pytest.approx(expected, rel=1e-3)
