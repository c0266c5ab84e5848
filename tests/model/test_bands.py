"""Bands of ordered classes: the most probable class never falls with the score."""

import numpy as np
import pytest

from newron.errors import ModelError
from newron.model import Classes
from newron.model.bands import find_bands

LABELS = ("a", "b", "c", "d", "e")


@pytest.mark.parametrize("unit", [1.0, 0.3])
def test_the_class_is_the_most_probable_one_and_never_falls(unit):
    rng = np.random.default_rng(1110)
    for _ in range(20):
        limits = tuple(np.cumsum(rng.gamma(1.0, 1.5 / unit, 4)).tolist())
        classes = Classes(LABELS, unit=unit, limits=limits)
        scores = np.sort(rng.uniform(-9.0, 18.0, 400) / unit)[:, None]
        chosen = classes.choose(scores)
        assert np.all(np.diff(chosen) >= 0)
        shares = classes.predict_proba(scores)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        best = shares.max(axis=1)
        np.testing.assert_allclose(shares[np.arange(len(scores)), chosen], best, rtol=1e-9)


def test_a_class_that_is_never_the_most_probable_has_an_empty_band():
    first, second = find_bands((0.0, 0.5))
    assert first == second == pytest.approx(0.25)


def test_two_classes_have_one_threshold():
    assert Classes(("no", "yes")).thresholds == (0.0,)
    assert Classes(("a", "b", "c")).thresholds == ()


@pytest.mark.parametrize(
    "given",
    [
        {"limits": (0.0,)},
        {"limits": (1.0, 0.0)},
        {"limits": (0.0, np.inf)},
        {"limits": (0.0, 1.0), "bands": (1.0, 0.0)},
        {"limits": (0.0, 1.0), "bands": (1.0,)},
        {"bands": (0.0, 1.0)},
    ],
)
def test_limits_that_do_not_fit_are_named(given):
    with pytest.raises(ModelError, match="expected"):
        Classes(("a", "b", "c"), **given)
