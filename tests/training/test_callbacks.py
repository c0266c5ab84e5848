"""Callbacks hear how a fit goes, and may end it."""

import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from newron import Callback, InputError, InterruptedWarning, NewronClassifier, StopFit
from newron.training.callbacks import Progress, ProgressLine

QUICK = {"max_iter": 30, "random_state": 0}


def make_rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    return X, (X[:, 0] - X[:, 1] + rng.logistic(scale=0.5, size=n) > 0).astype(int)


class Record(Callback):
    """Notes every call, and ends the fit at one of them."""

    def __init__(self, stop=None, how="return"):
        self.stop, self.how, self.calls = stop, how, []

    def on_start(self):
        return self.note("start")

    def on_progress(self, progress):
        assert progress.step <= progress.max_steps
        return self.note("progress")

    def on_candidate(self, name, loss):
        assert np.isfinite(loss)
        return self.note(name)

    def on_end(self, model):
        self.calls.append("end" if model is not None else "failed")

    def note(self, what):
        self.calls.append(what)
        if what == self.stop:
            if self.how == "raise":
                raise StopFit
            return True
        return None


def list_candidates(record):
    return [call for call in record.calls if call not in ("start", "progress", "end")]


@pytest.mark.parametrize(
    ("processing", "hidden", "wanted"),
    [
        (
            "heaviside", (2,),
            ["grow, single conditions", "grow, up to 3 conditions", "grow, distilled", "gradient"],
        ),
        ("sigmoid", (), []),
        (
            "smooth", (2,),
            ["additive, rows of its own", "hidden layer, sigmoid, 30 epochs",
             "hidden layer, tanh_prod, 30 epochs", "additive", "hidden layer, sigmoid, 30 epochs",
             "hidden layer, tanh_prod, 30 epochs", "additive, folds",
             "hidden layer, sigmoid, folds"],
        ),
        ("relu", (2,), []),
    ],
)  # fmt: skip
def test_candidates_are_named_in_order(processing, hidden, wanted):
    record = Record()
    NewronClassifier(processing, hidden_layer_sizes=hidden, callbacks=record, **QUICK).fit(
        *make_rows()
    )
    assert list_candidates(record) == wanted
    assert record.calls[0] == "start"
    assert record.calls[-1] == "end"
    assert record.calls.count("start") == record.calls.count("end") == 1
    assert "progress" in record.calls


@pytest.mark.parametrize("recipe", ["default", "gradient", "grow", "paper"])
@pytest.mark.parametrize("how", ["return", "raise"])
def test_any_recipe_can_be_ended_while_it_trains(recipe, how):
    X, y = make_rows()
    model = NewronClassifier(
        recipe=recipe, callbacks=[Record("progress", how)], max_iter=10**6, random_state=0
    )
    with pytest.warns(InterruptedWarning, match="the best model so far is kept"):
        model.fit(X, y)
    assert model.model_.output.labels == (0, 1)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("processing", "candidate", "layers"),
    [("heaviside", "grow, single conditions", 1), ("heaviside", "gradient", 2),
     ("sigmoid", "additive, rows of its own", 2),
     ("sigmoid", "hidden layer, sigmoid, 30 epochs", 2),
     ("smooth", "hidden layer, tanh_prod, 30 epochs", 2)],
)  # fmt: skip
def test_the_best_candidate_so_far_is_kept(processing, candidate, layers):
    X, y = make_rows()
    record = Record(candidate)
    model = NewronClassifier(processing, callbacks=[record], **QUICK)
    with pytest.warns(InterruptedWarning):
        model.fit(X, y)
    assert list_candidates(record)[-1] == candidate
    assert len(model.model_.layers) <= layers
    assert model.score(X, y) > 0.7


def test_nothing_trained_yet_is_no_result():
    X, y = make_rows()
    model = NewronClassifier(callbacks=[Record("start")], **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "model_")


def test_an_error_ends_it_too():
    record = Record()
    X, y = make_rows()
    with pytest.raises(InputError, match="builds networks of steps"):
        NewronClassifier("sigmoid", recipe="grow", callbacks=record).fit(X, y)
    assert record.calls == ["start", "failed"]


def test_listening_changes_no_model():
    X, y = make_rows()
    plain = NewronClassifier("smooth", **QUICK).fit(X, y)
    heard = NewronClassifier("smooth", callbacks=[Record()], **QUICK).fit(X, y)
    assert plain.model_ == heard.model_


def test_estimators_with_callbacks_are_cloned_and_kept():
    record = Record()
    model = NewronClassifier(callbacks=[record], **QUICK)
    assert model.get_params()["callbacks"] == [record]
    copy = clone(model)
    assert copy.callbacks[0] is not record
    copy.fit(*make_rows())
    assert record.calls == []
    assert copy.callbacks[0].calls[-1] == "end"
    assert pickle.loads(pickle.dumps(copy)).model_ == copy.model_


def test_what_is_no_callback_is_an_error():
    with pytest.raises(InputError, match=r"callbacks: expected instances of newron.Callback"):
        NewronClassifier(callbacks=[print]).fit(*make_rows())


def test_a_search_for_hidden_layers_can_be_ended():
    class StopSearch(Callback):
        def on_candidate(self, name, loss):
            return name.startswith("hidden layers (1,)")

    X, y = make_rows()
    model = NewronClassifier(
        hidden_layer_sizes="auto", recipe="gradient", n_init=1, callbacks=[StopSearch()], **QUICK
    )
    with pytest.warns(InterruptedWarning, match="the search was interrupted"):
        model.fit(X, y)
    assert model.hidden_layer_sizes_ == ()


def test_the_line_gives_stages_no_time_left_and_each_training_its_own(monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    line = ProgressLine()
    line.on_start()
    line.on_progress(Progress(1, 5, math.nan, math.nan, stage="pairs"))
    assert line._bar.tasks[0].time_remaining is None
    assert line._bar.tasks[0].fields["where"] == "pairs"
    started = line._bar.tasks[0].start_time
    for max_steps in (20, 20):
        for step in range(1, 4):
            line.on_progress(Progress(step, max_steps, 0.5, 0.4))
        task = line._bar.tasks[0]
        assert (task.completed, task.total) == (3, 20)
        assert len(task._progress) <= 3  # what the speed is estimated by: this training's steps
    assert task.start_time == started
    line.on_end(None)
    err = capfd.readouterr().err
    assert "epoch 3 of 20" in err
    assert "of 5" not in err
