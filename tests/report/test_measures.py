"""Measures and their intervals, beside SciPy, scikit-learn and simulations."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score

from newron.model import Classes
from newron.report.measures import (
    estimate_area,
    estimate_share,
    join_shares,
    measure_amounts,
    measure_classes,
)

TWO, THREE = Classes(("no", "yes")), Classes(("a", "b", "c"))


def draw_scores(n=200, k=1, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, max(k, 2), n)
    scores = rng.normal(size=(n, k))
    if k == 1:
        return scores + (2.0 * truth - 1.0)[:, None], truth
    scores[np.arange(n), truth] += 1.0
    return scores, truth


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (84, 100), (1, 3), (999, 1000)])
def test_shares_have_wilsons_interval(count, n):
    found = estimate_share(count, n)
    wanted = binomtest(count, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert found.low <= found.value <= found.high


def test_the_interval_of_an_area_covers_the_truth():
    rng, hits, n_true, n_false = np.random.default_rng(0), 0, 25, 40
    area = 0.8413447460685429  # of two normal distributions that lie √2 apart
    for _ in range(400):
        high = rng.normal(np.sqrt(2.0), 1.0, n_true)
        low = rng.normal(0.0, 1.0, n_false)
        found = estimate_area(float((high[:, None] > low).mean()), n_true, n_false)
        hits += found.low <= area <= found.high
    assert 0.92 <= hits / 400 <= 0.985


@pytest.mark.parametrize("area", [0.0, 0.5, 1.0])
def test_areas_at_the_ends_have_an_interval_inside(area):
    found = estimate_area(area, 20, 30)
    assert 0.0 <= found.low <= area <= found.high <= 1.0
    assert 0.05 < found.high - found.low < 0.5


def test_a_mean_of_shares_is_surer_than_its_parts():
    parts = [estimate_share(40, 50), estimate_share(30, 50)]
    joined = join_shares(parts)
    assert joined.value == pytest.approx(0.7)
    assert joined.high - joined.low < min(part.high - part.low for part in parts)


def test_two_classes_are_measured_as_scikit_learn_does():
    scores, truth = draw_scores()
    found = measure_classes(TWO, scores, truth)
    said = (scores[:, 0] >= 0).astype(int)
    assert found.n_right == (said == truth).sum()
    assert found.balanced.value == pytest.approx(balanced_accuracy_score(truth, said))
    assert found.area.value == pytest.approx(roc_auc_score(truth, scores[:, 0]))
    assert found.confusion.tolist() == [
        [int(((truth == i) & (said == j)).sum()) for j in (0, 1)] for i in (0, 1)
    ]
    assert found.baseline.value == pytest.approx(max(np.bincount(truth)) / len(truth))


def test_several_classes_have_an_area_against_the_rest():
    scores, truth = draw_scores(k=3)
    found = measure_classes(THREE, scores, truth)
    shares = THREE.predict_proba(scores)
    wanted = roc_auc_score(truth, shares, multi_class="ovr")
    assert found.area.value == pytest.approx(wanted)
    assert found.area.low < wanted < found.area.high


def test_a_class_without_rows_is_left_out():
    scores, truth = draw_scores(k=3)
    some = truth != 2
    found = measure_classes(THREE, scores[some], truth[some])
    assert found.found[2] is None
    shares = [part.value for part in found.found[:2]]
    assert found.balanced.value == pytest.approx(np.mean(shares))


def test_one_class_alone_has_no_area():
    scores, truth = draw_scores()
    assert measure_classes(TWO, scores[truth == 1], truth[truth == 1]).area is None


def test_calibration_parts_all_rows_by_probability():
    scores, truth = draw_scores(500)
    bins = measure_classes(TWO, scores, truth).calibration
    assert sum(one.n_rows for one in bins) == 500
    assert sum(one.n_true for one in bins) == truth.sum()
    places = [one.probability for one in bins]
    assert places == sorted(places)
    assert len(bins) == 10


def test_few_probabilities_have_a_group_each():
    scores = np.repeat([-1.0, 0.5, 2.0], 50)[:, None]
    truth = np.tile([0, 1], 75)
    bins = measure_classes(TWO, scores, truth).calibration
    assert [one.n_rows for one in bins] == [50, 50, 50]


def test_amounts_are_measured_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=300)
    said = truth + rng.normal(scale=0.5, size=300)
    found = measure_amounts("dose", said, truth)
    assert found.r2.value == pytest.approx(r2_score(truth, said))
    assert found.error.value == pytest.approx(np.abs(said - truth).mean())
    assert found.root.value == pytest.approx(np.sqrt(((said - truth) ** 2).mean()))
    assert found.baseline.value == pytest.approx(np.abs(truth - np.median(truth)).mean())
    for estimate in (found.r2, found.error, found.root, found.baseline):
        assert estimate.low < estimate.value < estimate.high


def test_amounts_that_never_change_have_no_r2():
    found = measure_amounts("dose", np.array([1.0, 2.0, 3.0]), np.full(3, 2.0))
    assert found.r2 is None
    assert found.error.value == pytest.approx(2 / 3)
