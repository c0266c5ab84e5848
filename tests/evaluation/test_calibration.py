"""Calibration of probabilities."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from newron.evaluation import measure_calibration


def draw(n, seed=0):
    rng = np.random.default_rng(seed)
    probability = rng.uniform(size=n)
    return rng.uniform(size=n) < probability, probability


def test_bins_hold_all_rows_by_rising_probability():
    event, probability = draw(500)
    bins = measure_calibration(event, probability).bins
    assert sum(one.n_rows for one in bins) == 500
    assert sum(one.n_true for one in bins) == event.sum()
    centres = [one.probability for one in bins]
    assert centres == sorted(centres)
    assert len(bins) == 10


def test_few_probabilities_have_a_bin_each():
    bins = measure_calibration(np.tile([0, 1], 75), np.repeat([0.25, 0.6, 0.9], 50)).bins
    assert [one.n_rows for one in bins] == [50, 50, 50]
    assert [one.observed.value for one in bins] == [0.5, 0.5, 0.5]


def test_the_brier_score_is_scikit_learns():
    event, probability = draw(300)
    found = measure_calibration(event, probability).brier
    assert found.value == pytest.approx(brier_score_loss(event, probability))
    assert found.low < found.value < found.high


def test_true_probabilities_have_a_smaller_error_than_sharpened_ones():
    event, probability = draw(5000)
    honest = measure_calibration(event, probability)
    sharpened = measure_calibration(event, np.clip(2.0 * probability - 0.5, 0.0, 1.0))
    assert honest.expected_error < 0.03 < 0.1 < sharpened.expected_error
    inside = [one.observed.low <= one.probability <= one.observed.high for one in honest.bins]
    assert sum(inside) >= 9


@pytest.mark.parametrize(("events", "probabilities"), [([1], [1.0]), ([0, 0, 0], [0.5, 0.5, 0.5])])
def test_tiny_and_constant_inputs_have_one_bin(events, probabilities):
    found = measure_calibration(events, probabilities)
    assert len(found.bins) == 1
    assert 0.0 <= found.expected_error <= 1.0
