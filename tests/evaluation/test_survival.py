"""Concordance and the Brier score of survival, by hand and by scikit-survival."""

import json

import numpy as np
import pytest
import scipy.integrate

from newron.errors import InputError
from newron.evaluation import estimate_brier, estimate_concordance, measure_survival
from newron.evaluation.intervals import estimate_proportion
from newron.evaluation.survival import estimate_kaplan_meier, measure_survival_bins


def draw(n, seed, ties=False):
    rng = np.random.default_rng(seed)
    event, time, risk = rng.random(n) < 0.6, rng.exponential(size=n), rng.normal(size=n)
    return (event, time.round(1) + 0.1, risk.round(1)) if ties else (event, time, risk)


def count_by_hand(event, time, risk):
    right = pairs = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if event[i] and later:
                pairs += 1.0
                right += 0.5 if abs(risk[i] - risk[j]) <= 1e-8 else float(risk[i] > risk[j])
    return right / pairs


@pytest.mark.parametrize("ties", [False, True])
def test_concordance_counts_pairs(ties):
    rows = draw(80, 1, ties)
    assert estimate_concordance(*rows).value == pytest.approx(count_by_hand(*rows))


def test_its_interval_holds_the_truth_nineteen_times_of_twenty():
    rng = np.random.default_rng(2)
    held = []
    for _ in range(300):
        x = rng.normal(size=100)
        found = estimate_concordance(np.ones(100), rng.exponential(np.exp(-x)), x)
        held.append(found.low <= 0.7314 <= found.high)  # of 4 · 10⁶ pairs
    assert 0.91 < np.mean(held) < 0.985


def test_kaplan_and_meier_by_hand():
    curve = estimate_kaplan_meier([1, 0, 1, 1], [1.0, 2.0, 2.0, 3.0])
    np.testing.assert_allclose(curve([0.0, 1.0, 2.0, 3.0]), [1.0, 0.75, 0.5, 0.0])


def test_without_losses_the_brier_score_is_a_mean_square():
    rng = np.random.default_rng(3)
    time, grid = rng.exponential(size=50), np.linspace(0.2, 1.0, 9)
    survival = rng.random((50, 9))
    seen = (np.ones(50), time)
    by_time = ((survival - (time[:, None] > grid)) ** 2).mean(axis=0)
    want = scipy.integrate.trapezoid(by_time, grid) / 0.8
    assert estimate_brier(seen, seen, survival, grid).value == pytest.approx(want)


def test_the_true_curve_is_better_than_others_though_rows_are_lost():
    rng = np.random.default_rng(4)
    x = rng.normal(size=3000)
    death, lost = rng.exponential(np.exp(-x)), rng.exponential(1.5, 3000)
    pair = death <= lost, np.minimum(death, lost)
    grid = np.linspace(0.1, 1.5, 20)
    true = np.exp(-grid * np.exp(x)[:, None])
    score = estimate_brier(pair, pair, true, grid).value
    for other in (true**2, np.sqrt(true), true[::-1]):
        assert estimate_brier(pair, pair, other, grid).value > score + 0.005
    whole = ((true - (death[:, None] > grid)) ** 2).mean()
    assert score == pytest.approx(whole, abs=0.01)


def test_both_are_those_of_scikit_survival():
    metrics = pytest.importorskip("sksurv.metrics", reason="scikit-survival is not installed")
    for ties in (False, True):
        train, test = draw(200, 5, ties), draw(150, 6, ties)
        inside = test[1] < train[1].max()
        test = tuple(part[inside] for part in test)
        kinds = [("event", bool), ("time", float)]
        y, z = (np.array(list(zip(*part[:2], strict=True)), kinds) for part in (train, test))
        want = metrics.concordance_index_censored(*test)[0]
        assert estimate_concordance(*test).value == pytest.approx(want)
        grid = np.linspace(np.quantile(test[1], 0.1), np.quantile(test[1], 0.8), 15)
        survival = np.exp(-grid * np.exp(test[2])[:, None])
        want = metrics.integrated_brier_score(y, z, survival, grid)
        assert estimate_brier(train[:2], test[:2], survival, grid).value == pytest.approx(want)


def test_a_quality_has_the_curve_of_all_rows_beside():
    event, time, risk = draw(300, 7)
    curves = [lambda t: np.exp(-t)] * 100
    found = measure_survival(
        (event[:200], time[:200]), (event[200:], time[200:]), risk[200:], curves
    )
    assert (found.n_rows, found.n_events) == (100, int(event[200:].sum()))
    assert found.constant_brier.value == pytest.approx(found.brier.value, abs=0.1)
    over = scipy.integrate.trapezoid(found.brier_by_time, found.times) / (
        found.times[-1] - found.times[0]
    )
    assert found.brier.value == pytest.approx(over)
    assert json.loads(json.dumps(found.to_dict()))["calibrated_at"] == found.calibrated_at


def test_calibration_compares_probabilities_with_what_happened_though_rows_are_lost():
    rng = np.random.default_rng(8)
    rate = rng.choice([0.3, 2.0], 2000)
    death, lost = rng.exponential(1.0 / rate), rng.exponential(2.0, 2000)
    event, time = death <= lost, np.minimum(death, lost)
    right = 1.0 - np.exp(-0.7 * rate)
    found = measure_survival_bins(event, time, right, 0.7)
    assert [one.n_rows for one in found] == [int((rate == x).sum()) for x in (0.3, 2.0)]
    for one in found:
        assert one.observed.low < one.probability < one.observed.high
    wrong = measure_survival_bins(event, time, right**2, 0.7)
    assert all(one.observed.low > one.probability for one in wrong)


def test_a_group_without_losses_is_a_proportion():
    time = np.arange(1.0, 41.0)
    found = measure_survival_bins(np.ones(40), time, np.full(40, 0.5), 10.0)
    want = estimate_proportion(10, 40)
    assert found[0].observed.to_dict() == pytest.approx(want.to_dict())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e, t, r: (e, t, r[:-1]), "a finite number for each of 5 rows"),
        (lambda e, t, r: (e[:-1], t, r), "an event and a time for each row"),
        (lambda e, t, r: (np.zeros(5), t, r), "pairs of rows"),
    ],
)
def test_bad_rows_are_refused(change, message):
    rows = np.ones(5), np.arange(5.0), np.arange(5.0)
    with pytest.raises(InputError, match=message):
        estimate_concordance(*change(*rows))
