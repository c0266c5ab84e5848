"""The benchmark of accuracy against size."""

import numpy as np
import pandas as pd
import pytest
from benchmarks import frontier
from benchmarks.isolated import choose
from benchmarks.sized import SIZED, SIZES, ask, learn_newron, learn_tree
from benchmarks.trials import Journal, Trial

from newron import datasets


def make_journal(path):
    """Trials of two tables: newron is better on one, and of twenty lines on it."""
    journal = Journal(path)
    for table, own, default in (("heart", 0.8, 12), ("iris", 0.9, 20)):
        sizes = {str(n): [own, n] for n in SIZES}
        best = {"default": [own, default], "best": [own + 0.01, 40]}
        journal.add(Trial("frontier", table, "newron", 0), {"sizes": {**sizes, **best}})
        journal.add(Trial("frontier", table, "tree", 0), {"sizes": {n: [0.85, 1] for n in sizes}})
    return path


def test_the_page_compares_the_same_rows_and_counts_lines(tmp_path, capsys):
    made = make_journal(tmp_path / "trials.jsonl")
    page = tmp_path / "frontier.md"
    arguments = ["--as-it-is", "--journal", str(made), "--write", str(page), "--tables"]
    pytest.importorskip("matplotlib")
    assert frontier.main([*arguments, "heart", "iris", "crx", "--splits", "1"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "| newron / tree |      2 |      2 | 85.0 / 85.0 |" in text
    assert "At most 15 lines on **1 of 2** tables; in the mean **1.00** points are lost" in text
    assert page.with_suffix(".svg").exists()


def test_trials_are_those_that_can_be():
    trials = frontier.list_trials(["iris", "heart"], ["newron", "CORELS"], 3, "frontier")
    assert [t.split for t in trials] == sorted(t.split for t in trials)
    assert not any(t.table == "iris" and t.model == "CORELS" for t in trials)
    assert {t.split for t in trials if t.model == "CORELS"} == {0, 1}
    assert all(learner.how for learner in SIZED)


def test_questions_are_of_training_rows_and_name_what_is_missing():
    X = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0, 9.0], "b": list("xyxyz")})
    X["b"] = X["b"].astype("category")
    asked = ask(X, np.arange(4))
    # a: missing, two thresholds between the three known values; b: x, y, never z.
    assert asked.shape == (5, 5)
    assert asked[:, 0].tolist() == [False, False, True, False, False]
    assert asked[:, 1].tolist() == [False, True, False, True, True]


def test_of_fits_the_last_that_is_small_enough_is_taken():
    rows = {"test": np.zeros((2, 1)), "y": np.array([1, 1, 0]), "sizes": np.array([1, 4])}
    found = choose([(np.array([0, 1]), 3), (np.array([1, 0]), 4), (np.array([0, 0]), 9)], rows)
    assert found[1][0].tolist() == [1, 1]
    assert found[4][0].tolist() == [1, 0]


def test_nobody_has_more_conditions_than_asked_for():
    table = datasets.load("iris")
    split = np.arange(0, 150, 2), np.arange(1, 150, 2)
    for learn in (learn_newron, learn_tree):
        found = learn(table.X, table.y, split)
        assert all(found[str(n)].size <= n for n in SIZES)
        assert np.mean(found["5"].classes == table.y.iloc[split[1]].to_numpy()) > 0.85
    assert found.keys() == set(map(str, SIZES))
