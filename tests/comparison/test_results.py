"""What the comparisons make of trials: means, intervals, ranks, tests."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import paper, peers
from benchmarks.learner import limit_time
from benchmarks.trials import Journal, Trial
from scipy import stats


def make_journal(tmp_path, records):
    journal = Journal(tmp_path / "trials.jsonl")
    for trial, accuracy in records.items():
        journal.add(trial, {"accuracy": accuracy, "code": "0", "cpu_seconds": 1.0})
    return journal


class TestCells:
    def test_the_interval_is_corrected_for_overlap(self):
        values = [80.0, 90.0, 85.0, 95.0]
        plain, overlapping = paper.Cell(values), paper.Cell(values, 1 / 3)
        error = np.std(values, ddof=1) / 2 * stats.t.ppf(0.975, 3)
        assert plain.half_width == pytest.approx(error)
        assert overlapping.half_width == pytest.approx(error * math.sqrt(1 + 4 / 3))
        assert math.isnan(paper.Cell([80.0]).half_width)

    def test_splits_beyond_those_requested_do_not_count(self, tmp_path):
        journal = make_journal(
            tmp_path,
            {Trial("paper", "iris", "sigmoid", k): v for k, v in ((0, 0.9), (1, 0.7), (10, 0.1))},
        )
        cell = paper.gather(journal, "paper", 10, 1)["iris", "sigmoid"]
        assert cell.accuracies == [90.0, 70.0]
        assert cell.best == 90.0

    def test_the_better_one_of_structures_and_default_recipe_counts(self, tmp_path):
        names = ("sigmoid", f"sigmoid{paper.BY_DEFAULT}")
        accuracies = ((0.9, 0.8), (0.6, 0.7))  # of both, on two splits
        records = {
            Trial("paper", "iris", name, split): accuracies[split][number]
            for number, name in enumerate(names)
            for split in (0, 1)
        }
        cell = paper.gather(make_journal(tmp_path, records), "paper", 10, 1)["iris", "sigmoid"]
        assert cell.accuracies == [90.0, 70.0]

    def test_every_cell_of_the_paper_is_there(self):
        theirs = paper.read_paper()
        assert len(theirs) == 23 * 7
        assert theirs["monks-2", "heaviside"][0] == 100.0

    def test_the_difference_of_protocols_is_of_tables_split_alike(self):
        found = {
            "paper": {("iris", "sigmoid"): paper.Cell([90.0, 94.0]),
                      ("heart", "sigmoid"): paper.Cell([83.0]),
                      ("monks-1", "sigmoid"): paper.Cell([100.0])},
            "nested": {("iris", "sigmoid"): paper.Cell([91.0]),
                       ("heart", "sigmoid"): paper.Cell([80.0]),
                       ("monks-1", "sigmoid"): paper.Cell([50.0])},
        }  # fmt: skip
        lines = []
        page = SimpleNamespace(add=lines.append)
        paper.report_optimism(page, found, ["iris", "heart", "monks-1"])
        paper.report_optimism(page, found, ["iris"])
        paper.report_optimism(page, found, ["monks-1"])
        assert [text.split(": ")[1] for text in lines] == [
            "sigmoid +2.0 (2 tables).",
            "sigmoid +1.0 (1 tables).",
        ]

    def test_all_trials_have_work(self):
        for trial in paper.list_trials(["paper", "nested"], ["iris", "monks-1"], 2, 1):
            assert trial.model in paper.WORK[trial.protocol]


class TestRanks:
    def make(self, tmp_path, accuracies):
        """Make results of models by table; each table has five folds."""
        records = {
            Trial("nested", table, model, k): value
            for table, models in accuracies.items()
            for model, values in models.items()
            for k, value in enumerate(values)
        }
        journal = make_journal(tmp_path, records)
        return peers.gather(journal, list(accuracies), ["EBM", "FIGS", "RIPPER"], 1)

    def test_equals_share_and_who_has_none_is_last(self, tmp_path):
        results = self.make(
            tmp_path,
            {
                "iris": {"EBM": [0.9] * 5, "FIGS": [0.8] * 5},
                "glass": {"EBM": [0.7] * 5, "FIGS": [0.7] * 5, "RIPPER": [0.9] * 5},
            },
        )
        ranking = peers.rank(results, results.models)
        assert ranking.ranks == ((1, 2, 3), (2.5, 2.5, 1))

    def test_who_was_not_done_in_time_is_taken_for_the_best(self, tmp_path):
        self.make(tmp_path, {"iris": {"FIGS": [0.9] * 5, "RIPPER": [0.8] * 5}})
        journal = Journal(tmp_path / "trials.jsonl")
        journal.add(
            Trial("nested", "iris", "EBM", 0), {"error": "TimeoutError: not done", "code": "0"}
        )
        results = peers.gather(journal, ["iris"], ["EBM", "FIGS", "RIPPER"], 1)
        assert peers.rank(results, results.models).ranks == ((1, 2, 3),)
        assert math.isnan(results.average("iris", "EBM"))

    def test_a_model_with_a_fold_missing_has_no_result(self, tmp_path):
        results = self.make(tmp_path, {"iris": {"EBM": [0.9] * 4, "FIGS": [0.8] * 5}})
        assert math.isnan(results.average("iris", "EBM"))
        assert results.average("iris", "FIGS") == pytest.approx(0.8)

    def test_means_are_over_the_tables_that_all_but_ripper_have(self, tmp_path):
        results = self.make(
            tmp_path,
            {
                "iris": {"EBM": [0.9] * 5, "FIGS": [0.8] * 5},
                "glass": {"EBM": [0.7] * 4, "FIGS": [0.7] * 5, "RIPPER": [0.9] * 5},
            },
        )
        assert results.list_shared() == ["iris"]

    def test_a_table_waits_for_what_was_neither_run_nor_late(self, tmp_path):
        self.make(tmp_path, {"iris": {"EBM": [0.9] * 5, "FIGS": [0.8] * 4}})
        journal = Journal(tmp_path / "trials.jsonl")
        trials = peers.list_trials(["iris", "xor"], ["EBM", "FIGS", "RIPPER"], 1)
        late = Trial("nested", "xor", "EBM", 0)
        journal.add(late, {"error": "TimeoutError: not done", "code": "0"})
        assert peers.list_missing(journal, trials) == {"iris": ["FIGS"], "xor": ["FIGS", "RIPPER"]}

    def test_losses_are_listed_of_the_networks_that_were_run(self, tmp_path):
        table = {"EBM": [0.9] * 5, "newron sigmoid": [0.8] * 5}
        journal = make_journal(
            tmp_path,
            {Trial("nested", "iris", m, k): v for m, vs in table.items() for k, v in enumerate(vs)},
        )
        results = peers.gather(journal, ["iris"], ["newron smooth", *table], 1)
        rows = []
        peers.report_losses(
            SimpleNamespace(add=lambda _: None, table=lambda _, found: rows.extend(found)), results
        )
        assert rows == [["iris", "EBM", "+10.0"]]


def test_without_a_peer_nothing_is_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    journal = tmp_path / "trials.jsonl"
    with pytest.raises(SystemExit):
        peers.main(["--tables", "iris", "--models", "EBM", "--journal", str(journal)])
    assert "expected interpret, got none; run scripts/install_peers" in capsys.readouterr().err
    assert not journal.exists()


def test_a_learner_that_does_not_end_is_ended():
    def work():
        while True:
            pass

    with pytest.raises(TimeoutError, match="not done after 1 s"), limit_time(1):
        work()
    with limit_time(1):
        pass
