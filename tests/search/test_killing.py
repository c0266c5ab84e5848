"""A search that is killed with -9 goes on where it was."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from newron import InputError
from newron.search import NewronSearchCV, search
from newron.search.fold_trial import evaluate_trial
from search.tables import make_corner, make_network, tell

TESTS = Path(__file__).parents[1]

# Waits for ever after some trials, to be killed in the middle of the search.
VICTIM = """
import sys, threading
from search.test_killing import run_search
from newron.search.journal import Journal

write, left = Journal.on_outcome, [int(sys.argv[2])]

def write_some(self, trial, outcome):
    write(self, trial, outcome)
    left[0] -= 1
    if not left[0]:
        print("now", flush=True)
        threading.Event().wait()

Journal.on_outcome = write_some
run_search(sys.argv[1])
"""


def run_search(journal=None, **settings):
    X, y = make_corner()
    how = {"cv": 3, "patience": 3, "max_structures": 6, "random_state": 0, **settings}
    return NewronSearchCV(make_network(), n_jobs=2, journal=journal, **how).fit(X, y)


def kill_after(n_trials, path):
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(path), str(n_trials)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
        stdout=subprocess.PIPE,
    )
    assert victim.stdout.readline() == b"now\n"
    victim.send_signal(signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL
    victim.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_search_killed_twice_ends_as_one_that_was_not(tmp_path, monkeypatch):
    path = tmp_path / "search.jsonl"
    kill_after(5, path)
    kill_after(4, path)
    done = len(path.read_text().splitlines()) - 1
    assert done == 9
    tried = []
    monkeypatch.setattr(
        search, "evaluate_trial", lambda *given: tried.append(1) or evaluate_trial(*given)
    )
    again = run_search(path)
    whole = len(again.tree_.nodes) * 3
    assert len(tried) == whole - done
    assert tell(again) == tell(run_search())


def test_a_finished_search_is_read_from_its_journal(tmp_path, monkeypatch):
    path = tmp_path / "search.jsonl"
    first = run_search(path)
    monkeypatch.setattr(search, "evaluate_trial", None)  # nothing is tried
    again = run_search(path)
    assert tell(again) == tell(first)
    assert (
        again.cv_results_["mean_fit_time"].tolist() == first.cv_results_["mean_fit_time"].tolist()
    )


def test_a_search_that_ran_out_of_time_goes_on(tmp_path):
    path = tmp_path / "search.jsonl"
    assert len(run_search(path, max_time=0.0).tree_.nodes) == 1
    assert tell(run_search(path)) == tell(run_search())


def test_limits_and_choices_may_change_from_one_run_to_the_next(tmp_path):
    path = tmp_path / "search.jsonl"
    run_search(path, max_structures=2)
    more = run_search(path, weight_decay=[0.03, 0.3], tie_rule="best", patience=2)
    assert len(more.tree_.nodes) > 6


class TestItRefuses:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "search.jsonl"
        run_search(path, max_structures=1)
        return path

    @pytest.mark.parametrize(
        ("change", "part"),
        [
            ({"cv": 4}, "folds"),
            ({"scoring": "f1_macro"}, "settings"),
            ({"random_state": 1}, "folds and settings"),
        ],
    )
    def test_other_settings(self, path, change, part):
        before = path.read_bytes()
        with pytest.raises(InputError, match=f"with other {part}; give a new path"):
            run_search(path, **change)
        assert path.read_bytes() == before

    def test_other_rows_labels_weights_and_networks(self, path):
        X, y = make_corner()
        how = {"cv": 3, "random_state": 0, "journal": path}
        other = X.copy()
        other[3, 1] += 1e-9
        frame = pd.DataFrame(X, columns=list("abc"))
        search = NewronSearchCV(make_network(), **how)
        for rows in (other, frame):
            with pytest.raises(InputError, match="with other data"):
                search.fit(rows, y)
        with pytest.raises(InputError, match="with other data"):
            search.fit(X, np.where(y == "same", "equal", y))
        with pytest.raises(InputError, match="with other folds"):
            search.fit(X, y, sample_weight=np.full(len(X), 2.0))
        with pytest.raises(InputError, match="with other settings"):
            NewronSearchCV(make_network(weight_decay=0.1), **how).fit(X, y)

    def test_a_seed_that_cannot_be_had_again(self, path):
        with pytest.raises(InputError, match="random_state: expected a whole number"):
            run_search(path, random_state=None)

    def test_what_does_not_matter_may_change(self, path):
        X, y = make_corner()
        network = make_network(n_jobs=2, verbose=0, hidden_layer_sizes=(7,), recipe="gradient")
        how = {"cv": 3, "random_state": 0, "max_structures": 1}
        NewronSearchCV(network, journal=path, **how).fit(X, y)
