"""The walk over the tree, with trials that train nothing."""

import pytest
from joblib import parallel_config
from joblib.parallel import ThreadingBackend

from newron.search.exploration import Listener, Outcome, Trial, derive_seed, explore
from newron.search.structure import GrowthRule, Tree


def pretend(widths, fold):
    """Score by what the structure is."""
    return Outcome(derive_seed(0, widths, fold) / 2**32, 0.0, 0.0)


def prepare(trial, n_threads):
    return pretend, (trial.candidate.widths, trial.fold)


def walk(prepare=prepare, patience=3, **how):
    rule = GrowthRule(patience=patience, max_structures=20)
    return explore(Tree.start(rule), 3, prepare, **how)


class Diary(Listener):
    def __init__(self):
        self.heard = []

    def on_outcome(self, trial, outcome):
        self.heard.append(trial)


def test_it_is_the_same_for_any_number_of_jobs():
    alone = walk()
    assert alone.ending == "finished"
    assert len(alone.tree.nodes) > 5
    assert walk(n_jobs=2) == walk(n_jobs=4) == alone
    with parallel_config("sequential"):
        assert walk() == alone


def test_backends_that_give_all_results_at_once_will_do(monkeypatch):
    monkeypatch.setattr(ThreadingBackend, "supports_return_generator", False)
    assert walk(n_jobs=2) == walk()


def test_every_trial_is_heard_of_once():
    diary = Diary()
    found = walk(n_jobs=2, listeners=[diary])
    assert len(diary.heard) == len(set(diary.heard)) == 3 * len(found.tree.nodes)


def test_what_is_known_is_not_tried_again():
    whole, diary = walk(), Diary()
    known = dict(list(whole.outcomes.items())[: len(whole.outcomes) // 2])
    again = walk(known=known, listeners=[diary])
    assert again == whole
    assert set(diary.heard) == set(whole.outcomes) - set(known)


def test_when_time_is_over_the_first_structure_is_there():
    found = walk(max_time=0.0)
    assert found.ending == "time"
    assert [node.candidate.widths for node in found.tree.nodes] == [()]
    assert found.score_matrix().shape == (1, 3)


def test_ctrl_c_keeps_what_was_judged():
    def stop(trial, n_threads):
        if trial.candidate.widths == (1, 1):
            return _interrupt, ()
        return prepare(trial, n_threads)

    found = walk(stop)
    assert found.ending == "interrupt"
    assert [node.candidate.widths for node in found.tree.nodes] == [(), (1,), (2,)]


def test_ctrl_c_before_anything_was_judged_is_passed_on():
    with pytest.raises(KeyboardInterrupt):
        walk(lambda trial, n_threads: (_interrupt, ()))


def _interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_are_passed_on(n_jobs):
    with pytest.raises(ZeroDivisionError):
        walk(lambda trial, n_threads: (divmod, (1, 0)), n_jobs=n_jobs)


def test_few_trials_get_the_threads_that_others_do_not_want():
    seen = {}

    def look(trial, n_threads):
        seen[trial.candidate.widths] = n_threads
        return prepare(trial, n_threads)

    walk(look, n_jobs=6)
    assert seen[()] == 2
    assert seen[(2,)] == 1


def test_seeds_are_made_of_content():
    assert derive_seed(1, {"a": 1, "b": [2]}, 3) == derive_seed(1, {"b": [2], "a": 1}, 3)
    seeds = {derive_seed(s, [widths], fold) for s in (0, 1) for widths in (1, 2) for fold in (0, 1)}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_trials_with_the_same_content_are_equal():
    candidate = Tree.start(GrowthRule()).candidates[0]
    assert {Trial(candidate, 0): 1}[Trial(candidate, 0)] == 1
