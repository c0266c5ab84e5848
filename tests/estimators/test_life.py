"""The life of an estimator in any order: fitted, interrupted, saved, read, gone on with."""

import shutil
import tempfile
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import newron
from newron import Callback, NewronClassifier, NewronWarning
from newron.model.document import to_dict

NAMES = ("a.json", "b.json")


def make_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)).round(1)
    return X, np.where(X[:, 0] + rng.normal(scale=0.5, size=60) > 0, "up", "down")


class Interrupt(Callback):
    """Presses Ctrl-C when it has heard so much."""

    def __init__(self, after):
        self.left = after

    def on_candidate(self, name, loss):
        self.press()

    def on_progress(self, progress):
        self.press()

    def press(self):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


class Life(RuleBasedStateMachine):
    """Whatever happens: a model or the one before, files whole or as they were."""

    @initialize(processing=st.sampled_from(["heaviside", "sigmoid"]))
    def begin(self, processing):
        self.folder = Path(tempfile.mkdtemp())
        self.estimator = NewronClassifier(
            processing, recipe="gradient", hidden_layer_sizes=(), n_init=1, max_iter=12,
            random_state=0,
        )  # fmt: skip
        self.files = {}
        self.fresh = {}  # what a fit on some rows gives, whatever was before

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(seed=st.integers(0, 2))
    def fit(self, seed):
        self.estimator.set_params(warm_start=False, callbacks=None).fit(*make_rows(seed))
        model = self.estimator.model_
        assert self.fresh.setdefault(seed, model) == model

    @rule(seed=st.integers(0, 2), after=st.integers(0, 2))
    def fit_and_interrupt(self, seed, after):
        before = getattr(self.estimator, "model_", None)
        self.estimator.set_params(warm_start=False, callbacks=[Interrupt(after)])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NewronWarning)
                self.estimator.fit(*make_rows(seed))
        except KeyboardInterrupt:  # before there was anything to keep
            assert getattr(self.estimator, "model_", None) is before
        finally:
            self.estimator.set_params(callbacks=None)

    @precondition(lambda self: hasattr(self.estimator, "model_"))
    @rule(seed=st.integers(0, 2), way=st.sampled_from(["partial_fit", "warm_start"]))
    def go_on(self, seed, way):
        self.estimator.set_params(warm_start=way == "warm_start")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NewronWarning)
            fit = self.estimator.fit if way == "warm_start" else self.estimator.partial_fit
            fit(*make_rows(seed))

    @precondition(lambda self: hasattr(self.estimator, "model_"))
    @rule(name=st.sampled_from(NAMES))
    def save(self, name):
        self.estimator.save(self.folder / name)
        self.files[name] = self.estimator.model_

    @precondition(lambda self: hasattr(self.estimator, "model_"))
    @rule(
        name=st.sampled_from(NAMES),
        step=st.sampled_from(["os.fsync", "os.replace", "os.link"]),
        error=st.sampled_from([OSError("disk full"), KeyboardInterrupt()]),
    )
    def fail_to_save(self, name, step, error):
        with patch(step, side_effect=error):
            try:
                self.estimator.save(self.folder / name)
            except (OSError, KeyboardInterrupt):
                return
        self.files[name] = self.estimator.model_  # a system without that step

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def read(self, data):
        name = data.draw(st.sampled_from(sorted(self.files)))
        self.estimator = NewronClassifier.from_model(newron.load(self.folder / name)).set_params(
            recipe="gradient", hidden_layer_sizes=(), n_init=1, max_iter=12, random_state=0,
            processing=self.estimator.processing,
        )  # fmt: skip

    @invariant()
    def files_are_whole_and_no_others(self):
        if not hasattr(self, "files"):
            return
        assert {path.name for path in self.folder.iterdir()} == set(self.files)
        for name, model in self.files.items():
            assert newron.load(self.folder / name) == model

    @invariant()
    def what_is_fitted_predicts(self):
        model = getattr(getattr(self, "estimator", None), "model_", None)
        if model is not None:
            rows = make_rows(9)[0]
            scores = model.score_rows(rows)
            assert np.isfinite(scores).all()
            assert np.array_equal(scores, model.score_rows(rows, compiled=False))
            assert to_dict(model)["output"]["classes"] == ["down", "up"]


def test_any_order_of_fits_interruptions_and_files():
    limits = settings(
        max_examples=12, stateful_step_count=10, deadline=None, derandomize=True, database=None
    )
    run_state_machine_as_test(Life, settings=limits)
