"""What fit promises: seeds, threads, weights, restarts, interruption, odd data."""

import os
import signal
import threading

import numpy as np
import pytest

from newron import (
    Callback,
    InputError,
    InterruptedWarning,
    NewronClassifier,
    NewronRegressor,
    TrainingError,
)
from newron.demo import make_monk2
from newron.model.processing import processing_names
from training.support import make_blobs


class TestSameSeedSameResult:
    @pytest.mark.parametrize("processing", processing_names())
    @pytest.mark.parametrize("n_init", [1, 5])
    def test_for_any_number_of_threads(self, processing, n_init):
        X, y = make_blobs()
        models = [
            NewronClassifier(
                processing, n_init=n_init, max_iter=30, random_state=3, n_jobs=jobs
            ).fit(X, y)
            for jobs in (1, 2, 4)
        ]
        assert models[0].model_ == models[1].model_ == models[2].model_
        assert models[0].loss_curve_ == models[1].loss_curve_

    def test_where_a_restart_makes_no_error(self):
        # Later restarts end wherever the threads have come to: they must not be chosen.
        X, y = make_monk2()
        settings = {"hidden_layer_sizes": (1, 2), "recipe": "gradient", "n_init": 20}
        alone = NewronClassifier(**settings, random_state=3).fit(X, y)
        for n_jobs in (2, 3, 5):
            together = NewronClassifier(**settings, random_state=3, n_jobs=n_jobs).fit(X, y)
            assert together.model_ == alone.model_

    def test_where_a_large_batch_is_split_over_threads(self):
        X, y = make_blobs(5000, columns=20)
        models = [
            NewronClassifier(
                "sigmoid", hidden_layer_sizes=(32, 16), batch_size=2048, n_init=1, max_iter=4,
                random_state=0, n_jobs=jobs, recipe="gradient",
            ).fit(X, y).model_
            for jobs in (1, 2, 3)
        ]  # fmt: skip
        assert models[0] == models[1] == models[2]

    def test_another_seed_gives_another_model(self):
        X, y = make_blobs()
        settings = {"recipe": "gradient", "n_init": 1, "max_iter": 10}
        fit = [NewronClassifier(random_state=s, **settings).fit(X, y) for s in (0, 1)]
        assert fit[0].model_ != fit[1].model_

    def test_a_random_state_object_is_drawn_from(self):
        X, y = make_blobs()
        state = np.random.RandomState(0)
        a = NewronClassifier(n_init=1, max_iter=5, random_state=state).fit(X, y)
        b = NewronClassifier(n_init=1, max_iter=5, random_state=state).fit(X, y)
        assert a.model_ != b.model_

    def test_the_order_of_the_rows_does_not_matter(self):
        X, y = make_blobs()
        mixed = np.random.default_rng(1).permutation(len(X))
        make = {"n_init": 2, "max_iter": 20, "random_state": 0, "early_stopping": True}
        for processing in ("heaviside", "tanh_prod"):
            a = NewronClassifier(processing, **make).fit(X, y)
            b = NewronClassifier(processing, **make).fit(X[mixed], y[mixed])
            assert a.model_ == b.model_


class TestWeights:
    @pytest.mark.parametrize("recipe", ["gradient", "paper"])
    def test_a_weight_is_the_row_so_many_times(self, recipe):
        X, y = make_blobs()
        counts = np.random.default_rng(1).integers(0, 3, len(X))
        make = {"n_init": 2, "max_iter": 20, "random_state": 0, "recipe": recipe}
        weighted = NewronClassifier("sigmoid", **make).fit(X, y, sample_weight=counts)
        repeated = NewronClassifier("sigmoid", **make).fit(
            np.repeat(X, counts, axis=0), np.repeat(y, counts)
        )
        assert weighted.model_ == repeated.model_

    def test_balanced_classes_lift_the_rare_one(self):
        rng = np.random.default_rng(0)
        y = (rng.random(1000) < 0.05).astype(int)
        X = rng.normal(size=(1000, 2)) + y[:, None]
        found = [
            NewronClassifier("sigmoid", class_weight=w, n_init=1, random_state=0)
            .fit(X, y).predict(X)[y == 1].mean()
            for w in (None, "balanced", {0: 1.0, 1: 1000.0})
        ]  # fmt: skip
        assert found[0] < found[1] < found[2]

    def test_the_papers_recipe_is_balanced_and_ours_is_not(self):
        for recipe, expected in (("paper", "balanced"), ("gradient", None)):
            assert NewronClassifier(recipe=recipe)._requested_weights == expected

    def test_a_class_weight_for_nobody_is_refused(self):
        X, y = make_blobs()
        with pytest.raises(ValueError, match="not in class_weight"):
            NewronClassifier(class_weight={7: 1.0}).fit(X, y)
        with pytest.raises(InputError, match="positive weight"):
            NewronClassifier(class_weight={0: 0.0, 1: 0.0}).fit(X, y)
        for bad in (-1.0, np.nan, np.inf):
            with pytest.raises(InputError, match="from 0 on"):
                NewronClassifier(class_weight={0: 1.0, 1: bad}).fit(X, y)

    @pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1e308])
    def test_weights_of_any_size_count_by_their_ratios(self, size):
        X, y = make_blobs()
        fitted = NewronClassifier("sigmoid", n_init=1, max_iter=50, random_state=0)
        assert fitted.fit(X, y, sample_weight=np.full(len(X), size)).score(X, y) > 0.9


class TestInterruption:
    @pytest.fixture(autouse=True)
    def _listen(self):
        # A shell starts what runs in the background with Ctrl-C ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
        signal.signal(signal.SIGINT, before)

    def test_ctrl_c_keeps_the_best_so_far_with_a_warning(self):
        X, y = make_blobs(n=2000, columns=10)
        model = NewronClassifier("tanh_prod", hidden_layer_sizes=(16,), max_iter=10**6, n_init=2)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.warns(InterruptedWarning, match="best model so far"):
            model.fit(X, y)
        assert model.score(X, y) > 0.9

    @pytest.mark.parametrize(
        ("recipe", "n"), [("grow", 3_000), ("default", 3_000), ("default", 12_000)]
    )
    def test_ctrl_c_while_growing_keeps_what_is_there(self, recipe, n):
        X, y = make_blobs(n=n, columns=10)

        class PressCtrlC(Callback):
            def on_progress(self, progress):
                os.kill(os.getpid(), signal.SIGINT)

        model = NewronClassifier(recipe=recipe, random_state=0, callbacks=[PressCtrlC()])
        with pytest.warns(InterruptedWarning, match="best model so far"):
            model.fit(X, y)
        assert model.score(X, y) > 0.8

    def test_progress_is_silent_by_default_and_one_line_when_asked(self, capfd):
        X, y = make_blobs()
        NewronClassifier("sigmoid", max_iter=5, random_state=0).fit(X, y)
        assert capfd.readouterr() == ("", "")
        NewronClassifier("sigmoid", max_iter=5, random_state=0, verbose=1).fit(X, y)
        out, err = capfd.readouterr()
        assert out == ""
        assert "best loss" in err
        assert err.count("\n") == 1

    def test_a_terminal_sees_a_live_line(self, monkeypatch, capfd):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        X, y = make_blobs()
        NewronClassifier("sigmoid", max_iter=5, random_state=0, verbose=1).fit(X, y)
        err = capfd.readouterr().err
        assert "epoch" in err
        assert "loss" in err
        assert "best" in err


class TestOddData:
    @pytest.mark.parametrize("processing", processing_names())
    @pytest.mark.parametrize("recipe", ["gradient", "paper"])
    def test_numbers_of_any_size_make_a_good_model_or_a_clear_error(self, processing, recipe):
        X, y = make_blobs()
        for scale in (1e-300, 1e-30, 1e-6, 1e6, 1e30, 1e299):
            column = X[:, :1] * scale
            model = NewronClassifier(
                processing, recipe=recipe, n_init=2, max_iter=100, random_state=0
            )
            if recipe == "paper" and scale > 1e15:
                with pytest.raises(InputError, match="choose another recipe"):
                    model.fit(column, y)
                continue
            p = model.fit(column, y).predict_proba(column)
            assert np.all(np.isfinite(p))
            assert recipe == "paper" or model.score(column, y) > 0.7, (processing, scale)

    @pytest.mark.parametrize("processing", processing_names())
    def test_a_constant_column_and_a_huge_offset_do_no_harm(self, processing):
        X, y = make_blobs()
        X = np.column_stack([X, np.full(len(X), 7.0), np.zeros(len(X)), np.full(len(X), 1e200)])
        X[:, 0] += 1e9
        fitted = NewronClassifier(processing, n_init=2, random_state=0).fit(X, y)
        assert fitted.score(X, y) > 0.85

    @pytest.mark.parametrize("processing", processing_names())
    def test_an_all_equal_target(self, processing):
        X, _ = make_blobs()
        with pytest.raises(InputError, match="2 classes in y, got 1 class"):
            NewronClassifier(processing).fit(X, np.zeros(len(X)))
        fitted = NewronRegressor(processing, random_state=0).fit(X, np.full(len(X), 42.0))
        np.testing.assert_allclose(fitted.predict(X), 42.0, atol=0.5)

    def test_amounts_of_any_size(self):
        X, _ = make_blobs()
        for scale in (1e-60, 1e-6, 1e6, 1e60):
            target = X[:, 0] * scale
            fitted = NewronRegressor("sigmoid", n_init=1, random_state=0).fit(X, target)
            assert fitted.score(X, target) > 0.8
        with pytest.raises(InputError, match="targets within"):
            NewronRegressor().fit(X, X[:, 0] * 1e95)

    def test_an_overflow_ends_in_a_clear_error(self):
        X = np.random.default_rng(0).normal(size=(50, 200)) * 1e4
        y = (X[:, 0] > 0).astype(int)
        model = NewronClassifier(
            "linear", aggregation="product", activation="identity", recipe="paper", max_iter=5,
            random_state=0,
        )  # fmt: skip
        with pytest.raises(TrainingError, match="finite loss"):
            model.fit(X, y)

    def test_numbers_under_all_others_are_a_constant(self):
        X, y = make_blobs()
        X[:, 0] *= 5e-322
        model = NewronClassifier("sigmoid", n_init=1, random_state=0)
        without = model.fit(X[:, 1:], y).score(X[:, 1:], y)
        assert abs(model.fit(X, y).score(X, y) - without) < 0.02

    def test_amounts_far_from_their_inputs(self):
        X, _ = make_blobs()
        fitted = NewronRegressor("linear", n_init=1, max_iter=20, random_state=0)
        assert np.all(np.isfinite(fitted.fit(X * 1e-290, X[:, 0] * 1e20).predict(X * 1e-290)))

    def test_dates_are_no_labels(self):
        X, y = make_blobs()
        days = np.array(["2026-01-01", "2026-01-02"], "datetime64[D]")
        for labels in (days, days.astype("datetime64[ns]"), days.astype(object)):
            with pytest.raises((InputError, ValueError), match=r"text|label"):
                NewronClassifier(n_init=1, max_iter=2).fit(X, labels[y])

    def test_a_hundred_classes(self):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(100), 5)
        X = np.column_stack([y % 10, y // 10]) + rng.normal(scale=0.05, size=(500, 2))
        fitted = NewronClassifier(
            "tanh_prod", hidden_layer_sizes=(), n_init=1, random_state=0, functions_per_input=4
        ).fit(X, y)
        assert fitted.predict_proba(X).shape == (500, 100)
        assert fitted.score(X, y) > 0.8

    @pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [0.5, 1.5]])
    def test_labels_come_back_as_they_were(self, labels):
        X, y = make_blobs()
        if labels == [0.5, 1.5]:
            with pytest.raises(ValueError, match="Unknown label type"):
                NewronClassifier().fit(X, np.array(labels)[y])
            return
        fitted = NewronClassifier(n_init=1, max_iter=20, random_state=0).fit(X, np.array(labels)[y])
        assert fitted.classes_.tolist() == labels
        assert set(fitted.predict(X).tolist()) <= set(labels)
        assert fitted.model_.predict(X).tolist() == fitted.predict(X).tolist()


class TestArguments:
    @pytest.mark.parametrize(
        ("setting", "value"),
        [
            ("processing", "tanh"),
            ("processing", ("sigmoid",)),
            ("n_factors", 0),
            ("functions_per_input", 0),
            ("hidden_layer_sizes", (0,)),
            ("hidden_layer_sizes", (2, "a")),
            ("aggregation", "median"),
            ("activation", "step"),
            ("activation", ("identity", "tanh")),
            ("input_scale", "log"),
            ("recipe", "magic"),
            ("max_iter", 0),
            ("batch_size", 0),
            ("batch_size", 10**12),
            ("max_iter", 10**12),
            ("learning_rate_init", 0.0),
            ("weight_decay", -1.0),
            ("validation_fraction", 1.0),
            ("n_init", 0),
            ("class_weight", "unbalanced"),
        ],
    )
    def test_a_bad_one_is_told_in_one_line(self, setting, value):
        X, y = make_blobs()
        with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
            NewronClassifier(**{setting: value}).fit(X, y)
        assert len(str(caught.value)) < 400

    def test_columns_of_the_same_name_are_refused(self):
        pandas = pytest.importorskip("pandas")
        X, y = make_blobs(columns=2)
        with pytest.raises(InputError, match="'a' twice"):
            NewronClassifier().fit(pandas.DataFrame(X, columns=["a", "a"]), y)

    def test_negative_weights_are_refused(self):
        X, y = make_blobs()
        with pytest.raises(ValueError, match=r"[Nn]egative"):
            NewronClassifier().fit(X, y, sample_weight=-np.ones(len(X)))


@pytest.mark.parametrize(
    "settings",
    [
        {"processing": "sigmoid", "recipe": "gradient", "hidden_layer_sizes": (3, 2)},
        {"processing": "heaviside"},
        {"processing": "smooth", "size": "whole"},
    ],
)
def test_hidden_layer_sizes_are_those_of_the_network(settings):
    X, y = make_blobs()
    fitted = NewronClassifier(**settings, max_iter=20, n_init=1, random_state=0).fit(X, y)
    sizes = tuple(layer.n_neurons for layer in fitted.model_.layers)
    assert (*fitted.hidden_layer_sizes_, sizes[-1]) == sizes
    if "hidden_layer_sizes" in settings:
        assert fitted.hidden_layer_sizes_ == settings["hidden_layer_sizes"]
