"""The quality of predictions, beside scikit-learn; and on inputs at the edge."""

import json
import math

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss, r2_score, roc_auc_score

from newron.evaluation import measure_classification, measure_regression
from newron.model import Classes

TWO, THREE = Classes(("no", "yes")), Classes(("a", "b", "c"))


def draw(n=200, k=2, seed=0):
    """Return true classes, predicted ones, and probabilities that lean to the true ones."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), truth] += 1.0
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return truth, probabilities.argmax(axis=1), probabilities


class TestClassification:
    def test_two_classes_are_measured_as_scikit_learn_does(self):
        truth, predicted, probabilities = draw()
        found = measure_classification(truth, predicted, probabilities)
        assert found.n_correct == (predicted == truth).sum()
        expected = balanced_accuracy_score(truth, predicted)
        assert found.balanced_accuracy.value == pytest.approx(expected)
        assert found.auc.value == pytest.approx(roc_auc_score(truth, probabilities[:, 1]))
        assert found.log_loss.value == pytest.approx(log_loss(truth, probabilities))
        assert [list(row) for row in found.confusion] == [
            [int(((truth == i) & (predicted == j)).sum()) for j in (0, 1)] for i in (0, 1)
        ]
        assert found.majority_accuracy.value == pytest.approx(max(np.bincount(truth)) / len(truth))

    def test_scores_rank_rows_whose_probabilities_are_equal(self):
        probabilities = np.array([[0.0, 1.0]] * 4)
        found = measure_classification(
            [0, 1, 0, 1], [1] * 4, probabilities, scores=[40.0, 50.0, 41.0, 60.0]
        )
        assert found.auc.value == 1.0

    def test_several_classes_have_an_auc_against_the_rest(self):
        truth, predicted, probabilities = draw(k=3)
        found = measure_classification(truth, predicted, probabilities)
        expected = roc_auc_score(truth, probabilities, multi_class="ovr")
        assert found.auc.value == pytest.approx(expected)
        assert found.auc.low < expected < found.auc.high

    def test_a_class_without_rows_is_left_out(self):
        truth, predicted, probabilities = draw(k=3)
        some = truth != 2
        found = measure_classification(truth[some], predicted[some], probabilities[some])
        assert found.recalls[2] is None
        recalls = [part.value for part in found.recalls[:2]]
        assert found.balanced_accuracy.value == pytest.approx(np.mean(recalls))

    def test_one_class_alone_has_no_auc(self):
        truth, predicted, probabilities = draw()
        ones = truth == 1
        found = measure_classification(truth[ones], predicted[ones], probabilities[ones])
        assert found.auc is None
        assert found.majority_accuracy.value == 1.0

    def test_without_probabilities_classes_are_measured_alone(self):
        found = measure_classification([0, 1, 2], [0, 1, 1], n_classes=4)
        assert (found.log_loss, found.auc, found.calibration) == (None, None, None)
        assert len(found.recalls) == 4

    @pytest.mark.parametrize("n", [1, 2, 50])
    def test_perfect_and_hopeless_predictions_can_be_measured(self, n):
        truth = np.arange(n) % 2
        sure = np.eye(2)[truth]
        right = measure_classification(truth, truth, sure)
        assert right.accuracy.value == right.accuracy.high == 1.0
        assert right.log_loss.value == 0.0
        wrong = measure_classification(truth, 1 - truth, 1.0 - sure)
        assert wrong.accuracy.value == wrong.accuracy.low == 0.0
        assert math.isfinite(wrong.log_loss.value)

    def test_constant_probabilities_can_be_measured(self):
        truth, _, _ = draw()
        half = np.full((200, 2), 0.5)
        found = measure_classification(truth, np.zeros(200, int), half)
        assert found.auc.value == 0.5
        assert found.log_loss.value == pytest.approx(math.log(2.0))
        assert found.calibration.brier.value == 0.25

    def test_results_can_be_written_as_json(self):
        truth, predicted, probabilities = draw(k=3)
        found = measure_classification(truth, predicted, probabilities).to_dict()
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert found["accuracy"].keys() == {"value", "low", "high"}
        assert sum(one["n_rows"] for one in found["calibration"]["bins"]) == 200


class TestRegression:
    def test_values_are_measured_as_scikit_learn_does(self):
        rng = np.random.default_rng(0)
        truth = rng.normal(size=300)
        predicted = truth + rng.normal(scale=0.5, size=300)
        found = measure_regression(truth, predicted, name="dose")
        assert found.r2.value == pytest.approx(r2_score(truth, predicted))
        assert found.mae.value == pytest.approx(np.abs(predicted - truth).mean())
        assert found.rmse.value == pytest.approx(np.sqrt(((predicted - truth) ** 2).mean()))
        assert found.median_mae.value == pytest.approx(np.abs(truth - np.median(truth)).mean())
        for estimate in (found.r2, found.mae, found.rmse, found.median_mae):
            assert estimate.low < estimate.value < estimate.high

    def test_a_truth_that_never_changes_has_no_r2(self):
        found = measure_regression(np.full(3, 2.0), np.array([1.0, 2.0, 3.0]))
        assert found.r2 is None
        assert found.mae.value == pytest.approx(2 / 3)

    @pytest.mark.parametrize("n", [1, 2, 30, 30_000])
    def test_perfect_predictions_can_be_measured(self, n):
        truth = np.arange(n) / 3.0
        found = measure_regression(truth, truth)
        assert found.mae.value == found.rmse.value == found.rmse.high == 0.0
        assert found.r2 is None if n == 1 else found.r2.value == found.r2.low == 1.0
        json.dumps(found.to_dict())
