"""Intervals and sets of a model: ranks by hand, coverage by simulation, files."""

import json
import pickle

import numpy as np
import pytest

import newron
from builders.models import make_card, make_regression
from newron.checker import check
from newron.errors import InputError, ModelError, ModelFileError
from newron.model import Targets
from newron.model.conformal import COVERAGES, Conformal, calibrate_classes, calibrate_targets

ONE = Targets(("y",))


def find_end(values, tail):
    """Return the row above which at most the tail of n + 1 places lies, by counting."""
    n = len(values)
    rank = int(np.ceil((n + 1) * (1.0 - tail) - 1e-9))
    return np.sort(values)[rank - 1] if rank <= n else None


@pytest.mark.parametrize("n", [2, 19, 20, 57, 1000])
def test_ends_are_order_statistics_of_the_errors(n):
    errors = np.random.default_rng(n).gamma(1.0, size=n) - 0.5
    table = calibrate_targets(ONE, errors[:, None], np.zeros((n, 1)))
    for coverage in COVERAGES:
        tail = 0.5 * (1.0 - coverage)
        high = find_end(errors, tail)
        assert (high is not None) == (coverage in table.coverages)
        if high is not None:
            place = table.coverages.index(coverage)
            low = -find_end(-errors, tail)
            assert table.ends[0][place] == pytest.approx(low, rel=1e-3)
            assert table.ends[1][place] == pytest.approx(high, rel=1e-3)
            assert table.ends[0][place] <= low  # rounded so that none is lost
            assert table.ends[1][place] >= high


def test_coverage_holds_over_many_calibrations():
    rng = np.random.default_rng(7)
    for n, coverage in ((19, 0.9), (50, 0.8), (200, 0.95)):
        inside = []
        for _ in range(600):
            errors = rng.exponential(size=(n + 1, 1))
            table = calibrate_targets(ONE, errors[:-1], np.zeros((n, 1)))
            low, high = table.find_intervals(ONE, np.zeros((1, 1)), coverage)[0]
            inside.append(low <= errors[-1, 0] <= high)
        # At least what it shall, and above it by no more than two places of n + 1.
        assert coverage - 0.04 < np.mean(inside) < coverage + 2.0 / (n + 1) + 0.04


def test_sets_hold_the_truth_of_so_many_rows():
    rng = np.random.default_rng(8)
    inside, sizes = [], []
    for _ in range(150):
        probabilities = rng.dirichlet([1.0, 1.0, 1.0], 120)
        truth = np.array([rng.choice(3, p=row) for row in probabilities])
        table = calibrate_classes(truth[:100], probabilities[:100])
        sets = table.find_sets(probabilities[100:], 0.8)
        inside.append(sets[np.arange(20), truth[100:]].mean())
        sizes.append(sets.sum(axis=1).mean())
    assert 0.78 < np.mean(inside) < 0.83
    assert 1.0 < np.mean(sizes) < 2.6


def test_a_weight_of_two_is_the_row_twice():
    rng = np.random.default_rng(9)
    errors, weight = rng.normal(size=40), rng.integers(1, 4, 40)
    weighed = calibrate_targets(ONE, errors[:, None], np.zeros((40, 1)), weight.astype(float))
    rows = np.repeat(errors, weight)
    assert weighed == calibrate_targets(ONE, rows[:, None], np.zeros((len(rows), 1)))


def test_amounts_have_intervals_that_grow_with_them_and_stay_positive():
    rng = np.random.default_rng(10)
    output = Targets(("cost",), "log", "gamma")
    mean = np.exp(rng.normal(size=(2000, 1)))
    table = calibrate_targets(output, mean * rng.gamma(2.0, 0.5, mean.shape), mean)
    found = table.find_intervals(output, np.array([[1.0], [10.0]]), 0.9)
    np.testing.assert_allclose(found[1], 10.0 * found[0])
    assert found[0, 0] >= 0.0
    counts = Targets(("claims",), "log", "poisson")
    few = calibrate_targets(counts, rng.poisson(mean).astype(float), mean)
    low, high = few.find_intervals(counts, np.array([[0.01], [100.0]]), 0.9).T
    assert low[0] == 0.0
    assert 10.0 < high[1] - low[1] < 60.0  # 2 · 1.64 · √100 if it were normal


def test_a_band_of_quantiles_is_moved_until_it_covers():
    rng = np.random.default_rng(11)
    output = Targets(("y at 0.1", "y at 0.5", "y at 0.9"), "sorted", "quantile:0.1,0.5,0.9")
    spread = rng.uniform(0.5, 3.0, 4000)
    y = spread * rng.normal(size=4000)
    narrow = spread[:, None] * np.array([-0.5, 0.0, 0.5])  # covers 38 %
    table = calibrate_targets(output, y[:2000, None], narrow[:2000])
    low, high = table.find_intervals(output, narrow[2000:], 0.9).T
    assert np.mean((low <= y[2000:]) & (y[2000:] <= high)) == pytest.approx(0.9, abs=0.02)
    assert np.corrcoef(high - low, spread[2000:])[0, 1] > 0.99


def test_several_targets_have_an_interval_each():
    rng = np.random.default_rng(12)
    output = Targets(("a", "b"))
    errors = rng.normal(size=(500, 2)) * [1.0, 10.0]
    found = calibrate_targets(output, errors, np.zeros((500, 2))).find_intervals(
        output, np.array([[0.0, 5.0]])
    )
    assert found.shape == (1, 2, 2)
    width = np.diff(found[0], axis=1)[:, 0]
    assert 7.0 < width[1] / width[0] < 14.0


def make_calibrated():
    model = make_regression()
    rng = np.random.default_rng(13)
    X = rng.uniform(0.0, 10.0, (300, 2))
    return model, model.calibrate(X, model.predict(X) + rng.normal(size=300))


class TestFiles:
    def test_the_table_travels_in_files_and_pickles(self, tmp_path):
        model, calibrated = make_calibrated()
        calibrated.save(tmp_path / "m.json")
        loaded = newron.load(tmp_path / "m.json")
        assert loaded.conformal == calibrated.conformal
        assert pickle.loads(pickle.dumps(calibrated)).conformal == calibrated.conformal
        X = [[1.0, 2.0], [3.0, 4.0]]
        np.testing.assert_array_equal(loaded.predict_interval(X), calibrated.predict_interval(X))
        assert loaded == model
        assert len((tmp_path / "m.json").read_text()) < 4000

    def test_a_certificate_stays_one_of_the_model(self):
        card = make_card()
        rows = [[float(age), colour] for age in range(0, 100, 7) for colour in ("red", "blue")]
        calibrated = card.calibrate(rows, ["no", "yes"] * 15)
        rules = card.rules()
        check(rules.to_text(notes=False), calibrated.to_dict(), rules.proof.certificate)
        assert calibrated.predict_set(rows, 0.5).shape == (30, 2)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"coverages": [0.9, 0.8]}, "rising coverages"),
            ({"coverages": [1.5]}, "rising coverages"),
            ({"ends": [[1.0]]}, "a finite end for each coverage"),
            ({"ends": []}, "a finite end for each coverage"),
            ({"rows": 0}, "0 rows or power"),
            ({"power": 9}, "power 9"),
            ({"protocol": "guess"}, "expected one of"),
            ({"more": 1}, "more"),
        ],
    )
    def test_hostile_parts_are_refused(self, changes, message, tmp_path):
        document = make_calibrated()[1].to_dict()
        document["conformal"] |= changes
        (tmp_path / "m.json").write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match=message):
            newron.load(tmp_path / "m.json")

    def test_a_table_of_another_output_is_refused(self):
        document = make_calibrated()[1].to_dict()
        document["conformal"]["ends"] = document["conformal"]["ends"][:1]
        with pytest.raises(ModelError, match="expected 2 rows of ends"):
            newron.Model.from_dict(document)


class TestErrors:
    def test_a_model_that_is_not_calibrated_says_how(self):
        with pytest.raises(InputError, match="calibrate it on rows"):
            make_regression().predict_interval([[1.0, 2.0]])

    def test_more_than_the_rows_allow_is_refused(self):
        table = calibrate_targets(ONE, np.arange(30.0)[:, None], np.zeros((30, 1)))
        with pytest.raises(InputError, match=r"at most 0\.93, as 30 rows allow, got 0\.99"):
            table.find_intervals(ONE, np.zeros((1, 1)), 0.99)

    @pytest.mark.parametrize("coverage", [0.0, 1.0, 90.0, -0.1])
    def test_coverages_are_between_0_and_1(self, coverage):
        with pytest.raises(InputError, match="between 0 and 1"):
            make_calibrated()[1].predict_interval([[1.0, 2.0]], coverage)

    def test_intervals_are_of_regression_and_sets_of_classes(self):
        with pytest.raises(ModelError, match="use predict_set"):
            make_card().predict_interval([[30.0, "red"]])
        with pytest.raises(ModelError, match="use predict_interval"):
            make_regression().predict_set([[1.0, 2.0]])

    def test_one_row_is_too_few(self):
        with pytest.raises(InputError, match="too few"):
            make_regression().calibrate([[1.0, 2.0]], [3.0])

    def test_other_classes_are_refused(self):
        with pytest.raises(InputError, match="expected classes among"):
            make_card().calibrate([[30.0, "red"]] * 3, ["no", "yes", "perhaps"])


def test_words_name_both_ends():
    table = Conformal("new rows", 50, (0.9,), ((-1.0,), (2.0,)))
    assert table.describe() == "90 % of new rows lie from 1 below to 2 above the prediction"
    relative = Conformal("new rows", 50, (0.9,), ((-0.5,), (2.0,)), 2.0)
    assert relative.describe() == "90 % of new rows are 0.5 to 3 times what is predicted"
    assert "widen" in Conformal("new rows", 50, (0.9,), ((-0.5,), (2.0,)), 1.0).describe()
    sets = Conformal("new rows", 50, (0.9,), ((0.25,),))
    assert sets.describe() == "90 % of new rows are of a class whose probability is at least 25 %"
