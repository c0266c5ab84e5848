"""Which rows are trained on and which are validated on."""

import numpy as np
import pytest

from newron.errors import InputError
from newron.evaluation.splits import SplitPlan, choose_plan, make_folds, make_splits


@pytest.mark.parametrize(
    ("n", "n_folds", "test_size", "plan"),
    [
        (100, None, None, SplitPlan(n_folds=5)),
        (2001, None, None, SplitPlan(test_size=0.2)),
        (100, 3, None, SplitPlan(n_folds=3)),
        (100, None, 0.5, SplitPlan(test_size=0.5)),
        (100, None, 0.0, SplitPlan()),
        (100, 0, None, SplitPlan()),
        (10, None, None, SplitPlan()),
    ],
)
def test_the_plan_is_decided_by_the_rows(n, n_folds, test_size, plan):
    y = np.arange(n) % 2
    assert choose_plan(y, classification=True, n_folds=n_folds, test_size=test_size) == plan


def test_a_class_of_few_rows_gets_as_few_folds():
    y = np.repeat(["often", "rare"], [47, 3])
    assert choose_plan(y, classification=True) == SplitPlan(n_folds=3)
    assert choose_plan(y[:48], classification=True) == SplitPlan()
    assert choose_plan(np.arange(50.0), classification=False) == SplitPlan(n_folds=5)


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ({"n_folds": 1}, "folds: expected 0, or 2 to 40 as there are rows, got 1"),
        ({"n_folds": 41}, "folds: expected 0, or 2 to 40"),
        ({"test_size": 1.0}, "test size: expected a fraction .* got 1"),
        ({"test_size": 0.001}, "test size: expected a fraction"),
        ({"n_folds": 5, "test_size": 0.2}, "folds or a test size, got both"),
    ],
)
def test_plans_that_cannot_be_are_errors(requested, message):
    with pytest.raises(InputError, match=message):
        choose_plan(np.arange(40) % 2, classification=True, **requested)


class TestFolds:
    def test_each_row_is_validated_once_with_its_part_of_every_class(self):
        y = np.repeat(["a", "b"], [30, 60])
        folds = make_folds(y, 3, seed=7)
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(90))
        for train, test in folds:
            assert sorted([*train, *test]) == list(range(90))
            assert (y[test] == "a").sum() == 10

    def test_they_go_by_the_seed(self):
        y = np.arange(40) % 2
        (first, _), (again, _), (other, _) = (make_folds(y, 2, seed)[0] for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)

    def test_a_class_of_fewer_rows_than_folds_is_split_as_it_comes(self):
        folds = make_folds([0] * 9 + [1], 5)
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(10))

    def test_values_are_not_stratified(self):
        folds = make_folds(np.linspace(0.0, 1.0, 10), 5, stratify=False)
        assert [len(test) for _, test in folds] == [2] * 5


class TestParts:
    @pytest.mark.parametrize("y", [[0, 1] * 20, [0] * 39 + [1], [0.5] * 40])
    def test_a_test_part_has_its_size_whatever_the_classes(self, y):
        ((train, test),) = make_splits(y, SplitPlan(test_size=0.25))
        assert (len(train), len(test)) == (30, 10)
        assert not set(train) & set(test)

    def test_no_plan_has_no_splits(self):
        assert make_splits([0, 1], SplitPlan()) == []
