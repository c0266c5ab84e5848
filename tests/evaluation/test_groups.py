"""Groups of rows: measures by hand, intervals by simulation."""

import numpy as np
import pytest

from newron.errors import InputError
from newron.evaluation import compare_groups


def make_rows():
    """Make 100 rows of each of two groups; one is selected less often than it should be."""
    sex = np.array(["f"] * 100 + ["m"] * 110)
    truth = np.array([1] * 40 + [0] * 60 + [1] * 55 + [0] * 55)
    predicted = np.array([1] * 20 + [0] * 75 + [1] * 5 + [1] * 50 + [0] * 60)
    probability = np.where(predicted == 1, 0.8, 0.2)
    return sex, truth, predicted, probability


def test_measures_are_counts_of_each_group():
    found = compare_groups(*make_rows(), column="sex")
    assert found.column == "sex"
    assert [(group.name, group.n_rows) for group in found.groups] == [("m", 110), ("f", 100)]
    women = found.groups[1]
    want = {
        "selection rate": 0.25,
        "sensitivity": 0.5,
        "specificity": 55 / 60,
        "accuracy": 0.75,
        "calibration": 0.4 - (25 * 0.8 + 75 * 0.2) / 100,
    }
    assert {name: one.value for name, one in women.measures.items()} == pytest.approx(want)
    gap = women.differences["sensitivity"]
    assert gap.value == pytest.approx(0.5 - 50 / 55)
    assert gap.high < 0.0
    assert "sensitivity" in women.sure
    assert "calibration" not in women.sure
    assert not found.groups[0].differences


def test_chance_is_seldom_called_a_difference():
    rng = np.random.default_rng(0)
    names = ("selection rate", "sensitivity", "specificity", "accuracy", "calibration")
    called = dict.fromkeys(names, 0)
    for _ in range(300):
        probability = rng.uniform(0.1, 0.9, 200)
        truth = (rng.random(200) < probability).astype(int)
        groups = rng.integers(0, 2, 200)
        found = compare_groups(groups, truth, (probability > 0.5).astype(int), probability)
        for name in found.groups[1].sure:
            called[name] += 1
    assert all(count / 300 < 0.09 for count in called.values()), called


def test_numbers_are_compared_by_their_errors():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=200)
    groups = np.repeat([0.0, 1.0], 100)
    predicted = truth + 0.1 * rng.normal(size=200) + 0.5 * groups
    found = compare_groups(groups, truth, predicted)
    assert list(found.groups[0].measures) == ["mean error", "mean absolute error"]
    gap = found.groups[1].differences["mean error"]
    assert gap.value == pytest.approx(0.5, abs=0.05)
    assert found.groups[1].sure == ("mean error", "mean absolute error")


def test_several_classes_have_their_accuracy():
    found = compare_groups(["a"] * 20 + ["b"] * 20, [0, 1, 2, 1] * 10, [0, 1, 2, 2] * 10)
    assert found.groups[0].measures["accuracy"].value == 0.75
    assert list(found.groups[0].measures) == ["accuracy"]


def test_gaps_are_a_group_and_small_ones_are_left_out():
    groups = ["a"] * 30 + [None] * 15 + [float("nan")] * 5 + ["b"] * 9
    found = compare_groups(groups, [1] * 59, [1] * 59)
    assert [group.name for group in found.groups] == ["a", "missing"]
    assert found.left_out == ("b",)
    assert found.to_dict()["groups"][1]["n_rows"] == 20


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"] * 40, "at least two groups"),
        (["a"] * 39, "one value for each of 40 rows"),
        (np.arange(40), "at least two groups of 10 rows, got 0 among 40"),
    ],
)
def test_what_cannot_be_compared_is_refused(groups, message):
    with pytest.raises(InputError, match=message):
        compare_groups(groups, [1] * 40, [1] * 40)
