"""What verbose=1 shows."""

import io
import sys

import pytest

from newron.search import NewronSearchCV
from newron.search.exploration import Outcome, Trial, explore
from newron.search.progress import ProgressTree
from newron.search.structure import GrowthRule, Tree
from search.tables import make_corner, make_network


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run_search(**settings):
    X, y = make_corner()
    how = {"cv": 2, "max_structures": 4, "random_state": 0, "verbose": 1, **settings}
    return NewronSearchCV(make_network(), **how).fit(X, y)


def test_elsewhere_than_on_a_terminal_every_structure_has_its_line(capsys):
    search = run_search(n_jobs=2)
    told = capsys.readouterr()
    assert told.out == ""
    lines = told.err.splitlines()
    assert len(lines) == len(search.tree_.nodes) == 4
    assert lines[0].startswith("()  0.")
    assert all("best 0." in line and line.endswith(" left") for line in lines)
    best = max(search.cv_results_["mean_test_score"])
    assert f"4 of about 4 structures, best {best:.4f}" in lines[-1]


def test_a_terminal_shows_the_tree(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    search = run_search()
    assert "└─" in screen.getvalue()
    assert "━" in screen.getvalue()
    assert f"best {max(search.cv_results_['mean_test_score']):.4f}" in screen.getvalue()


def test_silence_is_the_default(capsys):
    run_search(verbose=0)
    assert capsys.readouterr() == ("", "")


def test_the_time_left_counts_what_is_to_come():
    progress = ProgressTree()
    progress.on_start(2, 4)
    tree = Tree.start(GrowthRule(patience=1))
    (root,) = tree.candidates
    trials = [Trial(root, 0), Trial(root, 1)]
    outcomes = {}
    progress.on_level(tree, trials, outcomes)
    outcomes[trials[0]] = Outcome(0.5, 6.0, 2.0)
    progress.on_outcome(trials[0], outcomes[trials[0]])
    # One trial is left, and two of the structure to come; four work at 8 s each.
    assert progress._estimate() == pytest.approx(3 * 8.0 / 4)


def test_the_drawing_ends_if_the_search_fails():
    class Watch(ProgressTree):
        ended = False

        def on_end(self):
            Watch.ended = True

    with pytest.raises(ZeroDivisionError):
        explore(Tree.start(GrowthRule()), 2, lambda *_: (divmod, (1, 0)), listeners=[Watch()])
    assert Watch.ended
