"""Where to draw the line between two classes."""

import numpy as np
import pytest

from newron.errors import InputError
from newron.evaluation import choose_threshold, measure_threshold

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 200)
PROBABILITY = np.clip(0.3 * TRUTH + RNG.random(200) * 0.7, 0.0, 1.0)


def cost(threshold, missed, alarm):
    found = measure_threshold(TRUTH, PROBABILITY, threshold)
    return missed * found.missed + alarm * found.alarms


@pytest.mark.parametrize("sensitivity", [0.5, 0.9, 0.95, 1.0])
def test_a_sensitivity_is_reached_by_the_highest_threshold(sensitivity):
    at = choose_threshold(TRUTH, PROBABILITY, sensitivity=sensitivity)
    assert measure_threshold(TRUTH, PROBABILITY, at).sensitivity.value >= sensitivity
    higher = PROBABILITY[at <= PROBABILITY].min() + 1e-12
    assert measure_threshold(TRUTH, PROBABILITY, higher).sensitivity.value < sensitivity + 0.01


@pytest.mark.parametrize("costs", [(1, 1), (10, 1), (1, 10), (0, 1), (1, 0)])
def test_no_threshold_costs_less(costs):
    at = choose_threshold(TRUTH, PROBABILITY, costs=costs)
    assert cost(at, *costs) == min(cost(t, *costs) for t in [0.0, *PROBABILITY, 1.0])


def test_counts_are_those_of_the_rows():
    found = measure_threshold(TRUTH, PROBABILITY, 0.5)
    assert found.found == int(((PROBABILITY >= 0.5) & (TRUTH == 1)).sum())
    assert found.found + found.missed + found.alarms + found.spared == 200


def test_a_class_without_rows_has_no_estimate():
    found = measure_threshold([1, 1], [0.2, 0.8], 0.5)
    assert found.specificity is None
    with pytest.raises(InputError, match="both classes"):
        choose_threshold([1, 1], [0.2, 0.8], sensitivity=0.5)


@pytest.mark.parametrize("wrong", [{}, {"sensitivity": 2.0}, {"costs": (-1, 1)}])
def test_what_makes_no_sense_is_an_error(wrong):
    with pytest.raises(InputError, match="expected"):
        choose_threshold([0, 1], [0.2, 0.8], **wrong)
