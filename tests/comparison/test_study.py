"""The study of depth, width, M, start and learning rate: its functions and its trials."""

import numpy as np
import pytest
from benchmarks import study
from benchmarks.trials import Journal


@pytest.mark.parametrize("name", study.FUNCTIONS)
def test_functions_have_two_classes_and_halves_that_differ(name):
    train, test, y_train, y_test = study.make_function(name, 0)
    assert train.shape == test.shape
    assert not np.array_equal(train, test)
    assert set(y_train) == set(y_test) == {0, 1}


def test_functions_are_what_their_names_say():
    rng = np.random.default_rng(0)
    X, y = study.make_parity(2, rng)
    assert np.array_equal(y, X[:, 0] != X[:, 1])
    X, y = study.make_count(4, rng)
    assert np.array_equal(y == 1, X.sum(axis=1) == 4)
    X, y = study.make_board(2, rng)
    assert np.array_equal(y == 1, (X[:, 0] >= 0.5) != (X[:, 1] >= 0.5))


def test_every_trial_can_be_run(tmp_path):
    questions, shapes = study.list_questions(["iris"]), study.list_shapes()
    assert len(set(questions)) == len(questions)
    assert len(set(shapes)) == len(shapes)
    journal = Journal(tmp_path / "study.jsonl")
    for trial, run in ((questions[0], study.run_question), (shapes[0], study.run_shape)):
        journal.add(trial, run(trial))
        assert 0.5 < study.average(journal, [trial], "accuracy") <= 1
