"""Intervals, beside SciPy, published examples and simulations."""

import math

import numpy as np
import pytest
from scipy import stats

from newron.errors import InputError
from newron.evaluation.intervals import (
    average_proportions,
    bootstrap_means,
    estimate_auc,
    estimate_difference,
    estimate_mean,
    estimate_proportion,
)


def wilson(count, n):
    """Compute Wilson's limits by the roots of his quadratic equation."""
    z2, p = stats.norm.ppf(0.975) ** 2, count / n
    return sorted(np.roots([1.0 + z2 / n, -(2.0 * p + z2 / n), p * p]))


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (84, 100), (1, 3), (999, 1000), (1, 1)])
def test_a_proportion_has_wilsons_interval(count, n):
    found = estimate_proportion(count, n)
    assert (found.low, found.high) == pytest.approx(wilson(count, n), abs=1e-9)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert (found.low == 0.0) == (count == 0)
    assert (found.high == 1.0) == (count == n)


def test_a_proportion_of_nothing_is_unknown():
    found = estimate_proportion(0, 0)
    assert math.isnan(found.value)
    assert found.to_dict() == {"value": None, "low": 0.0, "high": 1.0}
    with pytest.raises(InputError, match="count: expected 0 to 3, got 4"):
        estimate_proportion(4, 3)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 10), 0.6075, 1.0)],
)
def test_a_difference_of_proportions_has_newcombes_interval(first, second, low, high):
    # Newcombe (1998), independent proportions, method 10.
    found = estimate_difference(estimate_proportion(*first), estimate_proportion(*second))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_the_interval_of_an_auc_covers_the_truth():
    rng, hits, n_positive, n_negative = np.random.default_rng(0), 0, 25, 40
    auc = 0.8413447460685429  # of two normal distributions that lie √2 apart
    for _ in range(400):
        high = rng.normal(np.sqrt(2.0), 1.0, n_positive)
        low = rng.normal(0.0, 1.0, n_negative)
        found = estimate_auc(float((high[:, None] > low).mean()), n_positive, n_negative)
        hits += found.low <= auc <= found.high
    assert 0.92 <= hits / 400 <= 0.985


@pytest.mark.parametrize("auc", [0.0, 5e-324, 1e-13, 0.5, 1 - 1e-13, 1 - 2**-53, 1.0, 1 + 2**-52])
@pytest.mark.parametrize(("n", "m"), [(20, 30), (1, 1), (100_000, 3)])
def test_an_auc_at_or_near_an_end_has_an_interval(auc, n, m):
    found = estimate_auc(auc, n, m)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.high - found.low > 1e-3


@pytest.mark.parametrize("auc", [0.0, 0.5, 1.0])
def test_the_interval_of_an_auc_is_of_a_plausible_width(auc):
    found = estimate_auc(auc, 20, 30)
    assert 0.05 < found.high - found.low < 0.5


def test_a_mean_of_proportions_is_surer_than_its_parts():
    parts = [estimate_proportion(40, 50), estimate_proportion(30, 50)]
    joined = average_proportions(parts)
    assert joined.value == pytest.approx(0.7)
    assert joined.high - joined.low < min(part.high - part.low for part in parts)


class TestMean:
    def test_its_interval_is_students(self):
        values = [1.0, 4.0, 2.0, 8.0]
        low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
        found = estimate_mean(values)
        assert (found.low, found.high) == pytest.approx((low, high))

    def test_overlapping_training_rows_widen_it(self):
        plain, wide = estimate_mean([1.0, 4.0, 2.0]), estimate_mean([1.0, 4.0, 2.0], test_ratio=0.5)
        ratio = (wide.high - wide.low) / (plain.high - plain.low)
        assert ratio == pytest.approx(math.sqrt(1 + 3 / 2))

    def test_limits_cut_it(self):
        found = estimate_mean([0.0, 0.0, 1.0], low=0.0, high=1.0)
        assert (found.low, found.high) == (0.0, 1.0)

    @pytest.mark.parametrize(("values", "value"), [([], math.nan), ([3.0], 3.0)])
    def test_of_one_value_or_none_nothing_is_known(self, values, value):
        found = estimate_mean(values, low=0.0)
        assert found.value == pytest.approx(value, nan_ok=True)
        assert (found.low, found.high) == (0.0, math.inf)
        assert found.to_dict()["high"] is None

    def test_equal_values_have_an_interval_without_width(self):
        found = estimate_mean([2.0] * 5)
        assert (found.low, found.high) == (2.0, 2.0)


class TestBootstrap:
    def test_a_mean_has_about_students_interval(self):
        values = np.random.default_rng(0).normal(size=400)
        (found,) = bootstrap_means(values[:, None], [lambda means: float(means[0])])
        exact = estimate_mean(values)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.01)

    def test_many_rows_are_as_good_without_being_drawn(self):
        values = np.random.default_rng(0).normal(size=50_000)
        (found,) = bootstrap_means(values[:, None], [lambda means: float(means[0])])
        exact = estimate_mean(values)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-3)

    def test_what_no_sample_has_is_the_value_itself(self):
        (found,) = bootstrap_means([[1.0], [1.0]], [lambda _: math.nan])
        assert math.isnan(found.value)
        assert math.isnan(found.low)
