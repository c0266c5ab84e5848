"""What fit promises: seeds, threads, weights, restarts, interruption, odd data."""

import os
import pickle
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
from newron.model import processing_names
from newron.training.architecture import PRESETS, plan_architecture


def make_blobs(n=300, classes=2, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, columns)) + y[:, None] * 1.5, y


def make_corner(n=600):
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, ((X[:, 0] > 0) & (X[:, 1] > 0)).astype(int)


def clone_fitted(model):
    return pickle.loads(pickle.dumps(model))


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
        fit = [NewronClassifier(n_init=1, max_iter=10, random_state=s).fit(X, y) for s in (0, 1)]
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
        _, y = make_blobs()
        for recipe, expected in (("paper", True), ("gradient", False)):
            model = NewronClassifier(recipe=recipe)
            assert (model._weigh_classes(y, np.unique(y), None) is not None) is expected

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


class TestRecipes:
    def test_the_papers_recipe_is_what_the_paper_says(self):
        X, y = make_blobs()
        fitted = NewronClassifier("sigmoid", recipe="paper", random_state=0).fit(X, y)
        channels = fitted._fitted.core.encoding.channels
        assert all(c.scale == 1.0 for c in channels)  # centred, which changes nothing
        curve = np.array(fitted.loss_curve_)
        assert 250 < len(curve) < 10_000
        # The last 250 epochs brought no 0.01, and those before did.
        best_before = curve[:-250].min()
        assert curve[-250:].min() > best_before - 0.01 - 1e-9

    def test_restarts_never_end_worse(self):
        X, y = make_monk2()
        losses = [
            NewronClassifier(
                "sigmoid", hidden_layer_sizes=(1, 2), n_init=n, random_state=0, recipe="gradient"
            ).fit(X, y).best_loss_ for n in (1, 4, 16)
        ]  # fmt: skip
        assert losses[0] >= losses[1] >= losses[2]

    def test_a_regression_by_steps_trains_all_epochs(self):
        X = np.linspace(0.0, 1.0, 60)[:, None]
        fitted = NewronRegressor(
            "heaviside", recipe="gradient", max_iter=7, n_init=2, random_state=0
        ).fit(X, X[:, 0])
        assert fitted.n_iter_ == 7

    def test_monk2_is_solved_by_a_heaviside_network(self):
        X, y = make_monk2()
        fitted = NewronClassifier(hidden_layer_sizes=(1, 2), n_init=40, random_state=0).fit(X, y)
        assert fitted.score(X, y) == 1.0

    def test_settings_override_the_recipe(self):
        X, y = make_blobs()
        fitted = NewronClassifier("sigmoid", recipe="paper", max_iter=7, random_state=0).fit(X, y)
        assert fitted.n_iter_ == 7

    def test_early_stopping_watches_rows_held_out(self):
        X, y = make_blobs(n=200)
        fitted = NewronClassifier(
            "tanh_prod", hidden_layer_sizes=(8,), early_stopping=True, n_iter_no_change=5,
            max_iter=2000, n_init=1, random_state=0,
        ).fit(X, y)  # fmt: skip
        assert fitted.n_iter_ < 2000
        assert fitted.best_loss_ == pytest.approx(min(fitted.loss_curve_))
        with pytest.raises(InputError, match="hold out"):
            NewronClassifier(early_stopping=True).fit([[0.0], [1.0]], [0, 1])

    def test_warm_start_goes_on(self):
        X, y = make_blobs()
        model = NewronClassifier(
            "sigmoid", n_init=1, max_iter=5, warm_start=True, random_state=0, recipe="gradient"
        )
        first = model.fit(X, y).best_loss_
        for _ in range(5):
            model.fit(X, y)
        assert model.best_loss_ < first
        for other in ({"hidden_layer_sizes": (3,)}, {"input_scale": "both"}, {"recipe": "paper"}):
            with pytest.raises(InputError, match="fit before"):
                clone_fitted(model).set_params(**other).fit(X, y)
        with pytest.raises(ValueError, match="features"):
            model.fit(X[:, :2], y)
        assert model.score(X, y) > 0.9

    @pytest.mark.parametrize("processing", processing_names())
    def test_a_warm_start_never_ends_worse(self, processing):
        X, y = make_corner()
        model = NewronClassifier(
            processing, warm_start=True, random_state=0, recipe="gradient"
        ).fit(X, y)
        before = model.best_loss_
        model.set_params(max_iter=5).fit(X, y)
        assert model.best_loss_ <= before * 1.0001  # float32 against float64

    @pytest.mark.parametrize("processing", processing_names())
    def test_partial_fit_learns_steps_too(self, processing):
        X, y = make_corner()
        model = NewronClassifier(processing, random_state=0, learning_rate_init=0.03)
        for _ in range(100):
            model.partial_fit(X, y)
        assert model.score(X, y) > 0.85
        again = NewronClassifier(processing, random_state=0, recipe="gradient").fit(X, y)
        fitted = again.score(X, y)
        assert again.partial_fit(X, y).score(X, y) > fitted - 0.06

    def test_a_small_part_moves_no_threshold_by_itself(self):
        X, y = make_corner()
        model = NewronClassifier(hidden_layer_sizes=(), random_state=0, recipe="gradient").fit(X, y)
        before = model.predict_proba(X)
        model.set_params(learning_rate_init=1e-12).partial_fit(X[:2], y[:2])
        close = np.isclose(model.predict_proba(X), before, atol=1e-3).all(axis=1)
        assert close.mean() > 0.97

    def test_partial_fit_learns_from_parts(self):
        X, y = make_blobs(n=2000)
        model = NewronClassifier("sigmoid", random_state=0, learning_rate_init=0.05)
        for _ in range(30):
            for part in np.array_split(np.arange(len(X)), 4):
                model.partial_fit(X[part], y[part], classes=[0, 1])
        assert model.score(X, y) > 0.9
        assert model.n_iter_ == 120
        with pytest.raises(InputError, match="got 2"):
            model.partial_fit(X[:2], [0, 2])
        with pytest.raises(InputError, match="first call"):
            model.partial_fit(X[:2], [0, 1], classes=[0, 1, 2])
        amounts = NewronRegressor("sigmoid", random_state=0)
        for _ in range(60):
            amounts.partial_fit(X, X[:, 0])
        assert amounts.score(X, X[:, 0]) > 0.8

    def test_partial_fit_takes_a_part_with_one_class(self):
        X, y = make_blobs()
        model = NewronClassifier("sigmoid", random_state=0)
        model.partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
        assert model.predict_proba(X).shape == (len(X), 2)


class TestArchitectures:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_every_preset_learns(self, preset):
        X, y = make_blobs()
        fitted = NewronClassifier(**PRESETS[preset], n_init=1, random_state=0).fit(X, y)
        assert fitted.score(X, y) > 0.9

    @pytest.mark.parametrize("aggregation", ["sum", "mean", "min", "max", "product"])
    @pytest.mark.parametrize("processing", processing_names())
    @pytest.mark.parametrize("activation", ["identity", "sigmoid", "tanh", "relu"])
    def test_every_combination_trains_predicts_and_saves(
        self, processing, aggregation, activation, tmp_path
    ):
        import newron

        X, y = make_blobs(n=80, classes=3)
        fitted = NewronClassifier(
            processing, aggregation=aggregation, activation=activation, n_init=1, max_iter=10,
            functions_per_input=2, direct_inputs=True, input_scale="both", random_state=0,
        ).fit(X, y)  # fmt: skip
        assert np.all(np.isfinite(fitted.predict_proba(X)))
        fitted.model_.save(tmp_path / "m.json")
        np.testing.assert_array_equal(
            newron.load(tmp_path / "m.json").predict(X), fitted.predict(X)
        )

    def test_each_layer_may_have_its_own(self):
        X, y = make_blobs()
        fitted = NewronClassifier(
            ("tanh_prod", "heaviside", "sigmoid"), hidden_layer_sizes=(3, 2), n_factors=3,
            aggregation=("mean", "max", "sum"), activation=("tanh", "identity", "identity"),
            n_init=2, max_iter=30, random_state=0,
        ).fit(X, y)  # fmt: skip
        layers = fitted.model_.layers
        assert [x.processing for x in layers] == ["tanh_prod", "heaviside", "sigmoid"]
        assert [x.aggregation for x in layers] == ["mean", "max", "sum"]
        assert [x.n_factors for x in layers] == [3, 1, 1]

    def test_a_card_with_several_bins_tells_more(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (400, 1))
        y = (np.abs(X[:, 0]) < 0.5).astype(int)
        scores = [
            NewronClassifier(
                hidden_layer_sizes=(), functions_per_input=k, random_state=0, recipe="gradient"
            ).fit(X, y).score(X, y)
            for k in (1, 2)
        ]  # fmt: skip
        assert scores[0] < 0.8 < 0.97 < scores[1]

    def test_direct_inputs_reach_the_output(self):
        plan = plan_architecture((2,), 1, direct_inputs=True, functions_per_input=2)
        sources = plan.sources(3)
        assert sources[0].tolist() == [0, 0, 1, 1, 2, 2] * 2
        assert sources[1].tolist() == [0, 0, 1, 1, 2, 2, 3, 4]


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
