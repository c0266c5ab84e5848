"""Trials that are written down as they end and never run twice; folds that all models share."""

import json

import numpy as np
import pytest
from benchmarks.folds import count_splits, load, make_paper_split, make_split
from benchmarks.trials import Journal, Trial, run_trials

from newron import datasets
from newron.errors import InputError

TRIALS = [Trial("nested", "iris", model, split) for model in ("good", "bad") for split in (0, 1)]


def succeed(trial):
    return {"accuracy": 0.5 + trial.split / 10}


def fail(trial):
    raise ValueError(f"no {trial.split}\nand more")


def forbid(trial):
    raise AssertionError("was run again")


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path / "sub" / "trials.jsonl")
    run_trials(TRIALS, {"good": succeed, "bad": fail}, journal, jobs=1)
    return journal


class TestJournal:
    def test_every_trial_is_kept_a_failed_one_with_its_error(self, journal):
        again = Journal(journal.path)
        assert again.records == journal.records
        assert set(again.records) == set(TRIALS)
        assert again.records[TRIALS[1]]["accuracy"] == 0.6
        assert again.records[TRIALS[3]]["error"] == "ValueError: no 1"
        assert all("code" in r and r["cpu_seconds"] >= 0 for r in again.records.values())

    def test_what_is_there_is_not_run_again(self, journal):
        before = journal.path.read_bytes()
        run_trials(TRIALS, {"good": forbid, "bad": forbid}, Journal(journal.path), jobs=1)
        assert journal.path.read_bytes() == before

    def test_a_torn_line_is_run_again(self, journal):
        whole = journal.path.read_bytes()
        journal.path.write_bytes(whole[:-10])
        torn = Journal(journal.path)
        assert len(torn.records) == 3
        run_trials(TRIALS, {"good": forbid, "bad": fail}, torn, jobs=1)
        assert set(Journal(journal.path).records) == set(TRIALS)
        assert len(journal.path.read_text().splitlines()) == 4

    def test_what_was_late_once_is_not_tried_on_other_splits(self, tmp_path):
        def dawdle(trial):
            raise TimeoutError("not done after 1800 s")

        journal = Journal(tmp_path / "trials.jsonl")
        run_trials(TRIALS[:1], {"good": dawdle}, journal, jobs=1)
        run_trials(TRIALS, {"good": forbid, "bad": succeed}, journal, jobs=1)
        assert set(journal.records) == {TRIALS[0], *TRIALS[2:]}

    @pytest.mark.parametrize("line", ["nonsense", '{"accuracy": 1}', "[1]"])
    def test_a_foreign_line_is_an_error_and_stays(self, journal, line):
        text = line + "\n" + journal.path.read_text()
        journal.path.write_text(text)
        with pytest.raises(InputError, match="line 1: expected a trial"):
            Journal(journal.path)
        assert journal.path.read_text() == text

    def test_lines_are_json(self, journal):
        for line in journal.path.read_text().splitlines():
            assert set(json.loads(line)["trial"]) == {"protocol", "table", "model", "split"}


class TestFolds:
    def test_five_folds_test_each_row_once_in_each_repeat(self):
        for repeat in (0, 1):
            tests = [make_split("glass", 5 * repeat + k)[1] for k in range(5)]
            assert sorted(np.concatenate(tests)) == list(range(len(load("glass")[0])))
        assert not np.array_equal(make_split("glass", 0)[1], make_split("glass", 5)[1])

    @pytest.mark.parametrize("name", ["iris", "monks-2", "monks-2 (original)", "adult"])
    def test_nothing_is_trained_and_tested_on(self, name):
        X, _ = load(name)
        for split in range(count_splits(name, 1)):
            train, test = make_split(name, split)
            assert not set(train) & set(test)
            assert len(train) + len(test) == len(X)

    def test_the_monks_have_each_input_once(self):
        X, _ = load("monks-1")
        assert len(X) == len(X.drop_duplicates()) == 432

    def test_the_paper_tests_on_a_quarter_or_the_official_part(self):
        train, test = make_paper_split("iris", 3)
        assert len(test) == 38
        assert len(train) == 112
        official = datasets.load("image")
        np.testing.assert_array_equal(make_paper_split("image", 7)[1], official.test)


def test_trials_that_are_forgotten_leave_the_others(tmp_path):
    journal = Journal(tmp_path / "trials.jsonl")
    trials = [Trial("nested", "iris", model, 0) for model in ("EBM", "FIGS")]
    for trial in trials:
        journal.add(trial, {"accuracy": 0.9})
    journal.forget("paper", ["EBM"])
    assert list(Journal(journal.path).records) == trials
    journal.forget("nested", ["EBM"])
    assert list(Journal(journal.path).records) == trials[1:]
