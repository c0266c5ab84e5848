"""What the comparison of regressors makes of its trials."""

from types import SimpleNamespace

import numpy as np
from benchmarks import regression
from benchmarks.trials import Journal, Trial


def test_means_and_ranks_are_of_the_tables_that_all_have(tmp_path):
    journal = Journal(tmp_path / "trials.jsonl")
    scores = {("Wage", "ridge"): 0.3, ("Wage", "EBM"): 0.5, ("SLID", "EBM"): 0.9}
    for (table, model), r2 in scores.items():
        for k in range(5):
            record = {"r2": r2 + k / 100, "fit_seconds": 1.0, "size": 3}
            journal.add(Trial("regression", table, model, k), record)
    rows = {}
    page = SimpleNamespace(table=lambda _, found: rows.update({r[0]: r[1:] for r in found}))
    regression.report_scores(page, journal, ["Wage", "SLID"], ["ridge", "EBM"], 5)
    assert rows["Wage"] == ["0.320", "0.520"]
    assert rows["SLID"] == ["–", "0.920"]
    assert rows["mean, 1"] == ["0.320", "0.520"]
    assert rows["rank, all"] == ["2.00", "1.00"]


def test_splits_are_folds_of_all_rows():
    table = SimpleNamespace(X=np.zeros((23, 1)))
    parts = [regression.make_split(table, k) for k in range(5)]
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(23))
    assert all(len(np.intersect1d(train, test)) == 0 for train, test in parts)
    again = regression.make_split(table, 5)[1]  # the next repeat
    assert list(again) != list(parts[0][1])
