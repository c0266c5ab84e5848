"""Recipes: what each of them trains."""

import pickle

import numpy as np
import pytest

from newron import InputError, NewronClassifier, NewronRegressor
from newron.demo import make_monk2
from newron.model.processing import processing_names
from training.support import make_blobs


def make_corner(n=600):
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, ((X[:, 0] > 0) & (X[:, 1] > 0)).astype(int)


def clone_fitted(model):
    return pickle.loads(pickle.dumps(model))


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
