"""Models that rise or fall with columns as they are told, everywhere and exactly."""

import numpy as np
import pytest

from model.networks import END
from newron import InputError, NewronClassifier, NewronRegressor

QUICK = {"max_iter": 40, "n_init": 2}
WAYS = {
    "steps, default": {"size": "whole", "max_iter": 30, "n_init": 2},
    "steps, grown": {"recipe": "grow", "max_terms": 12, "max_iter": 30},
    "steps, gradient": {"recipe": "gradient", **QUICK},
    "steps, two layers": {"recipe": "gradient", "hidden_layer_sizes": (3, 2), **QUICK},
    "steps, paper": {"recipe": "paper", "max_iter": 150},
    "sigmoid, default": {
        "processing": "sigmoid", "size": "whole", "max_iter": 30, "n_init": 2,
    },
    "sigmoid, gradient": {"processing": "sigmoid", "recipe": "gradient", **QUICK},
    "sigmoid, two layers": {
        "processing": "sigmoid", "recipe": "gradient", "hidden_layer_sizes": (3, 2),
        "functions_per_input": 2, "direct_inputs": True, "input_scale": "both", **QUICK,
    },
    "sigmoid, ranks": {
        "processing": "sigmoid", "recipe": "gradient", "input_scale": "rank", **QUICK,
    },
    "sigmoid, least": {
        "processing": "sigmoid", "recipe": "gradient", "aggregation": "min", **QUICK,
    },
    "tanh, default": {
        "processing": "tanh_prod", "size": "whole", "n_factors": 1, "max_iter": 30, "n_init": 2,
    },
    "tanh, gradient": {
        "processing": "tanh_prod", "n_factors": 1, "recipe": "gradient", "activation": "tanh",
        **QUICK,
    },
    "relu": {"processing": "relu", "recipe": "gradient", **QUICK},
    "selu": {"processing": "selu", "recipe": "gradient", "functions_per_input": 2, **QUICK},
    "linear": {"processing": "linear", "recipe": "gradient", **QUICK},
    "linear, no hidden": {"processing": "linear", "hidden_layer_sizes": (), **QUICK},
    "step of sigmoids": {"processing": ("sigmoid", "heaviside"), "recipe": "gradient", **QUICK},
}  # fmt: skip
DIRECTIONS = (1, -1, 0)


def make_rows(seed, n=150, *, gaps=True):
    """Draw rows and an effect that turns against the directions, so that they bind."""
    rng = np.random.default_rng(seed)
    X = np.stack([rng.normal(size=n), rng.gamma(2.0, size=n), rng.normal(size=n)], axis=1).round(2)
    effect = np.sin(2 * X[:, 0]) - X[:, 0] / 3 + np.cos(X[:, 1]) + X[:, 1] / 2 + X[:, 2]
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, effect + rng.normal(scale=0.3, size=n)


def make_grid(x):
    """Give places all over a column: its values, between them, and far outside."""
    values = np.unique(x[~np.isnan(x)])
    low, high = values[0], values[-1]
    between = (values[1:] + values[:-1]) / 2
    near = np.linspace(low - (high - low), high + (high - low), 301)
    far = np.array([-1e299, -1e100, -1e6, -1e3, 1e3, 1e6, 1e100, 1e299])
    return np.unique(np.concatenate([values, between, near, far]))


def check(score, X, directions=DIRECTIONS, n_rows=25, seed=0):
    """Check the directions at random rows; give how much the scores move at all."""
    rng = np.random.default_rng(seed)
    moved = 0.0
    for column, direction in enumerate(directions):
        if not direction:
            continue
        grid = make_grid(X[:, column])
        for row in rng.choice(len(X), n_rows, replace=False):
            rows = np.repeat(X[row : row + 1], len(grid), axis=0)
            rows[:, column] = grid
            scores = score(rows)
            steps = direction * np.diff(scores)
            # Beyond rounding of the score's own size there is no step back.
            assert np.all(steps >= -1e-12 * np.maximum(1.0, np.abs(scores[1:])))
            moved = max(moved, abs(scores[-1] - scores[0]))
    return moved


@pytest.mark.parametrize("way", WAYS)
class TestEveryWay:
    @pytest.mark.parametrize("seed", range(2))
    def test_a_classifier_rises_and_falls_as_told(self, way, seed):
        X, effect = make_rows(seed)
        y = (effect > np.median(effect)).astype(int)
        fitted = NewronClassifier(
            monotonic_cst=list(DIRECTIONS), random_state=seed, **WAYS[way]
        ).fit(X, y)
        assert check(fitted.decision_function, X) > 0.0
        check(lambda rows: fitted.predict_proba(rows)[:, 1], X, n_rows=5)

    def test_a_regressor_rises_and_falls_as_told(self, way):
        X, effect = make_rows(7)
        fitted = NewronRegressor(
            monotonic_cst=list(DIRECTIONS), random_state=0, **WAYS[way]
        ).fit(X, 1e3 * effect - 50)  # fmt: skip
        assert check(lambda rows: fitted.predict(rows) / 1e3, X) > 0.0


class TestMeaning:
    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid"])
    @pytest.mark.parametrize("gaps", [False, True])
    def test_without_it_the_same_data_does_not_rise(self, processing, gaps):
        # Otherwise the tests above would show nothing.
        X, effect = make_rows(0, gaps=gaps)
        free = NewronRegressor(processing, recipe="gradient", random_state=0, **QUICK)
        with pytest.raises(AssertionError):
            check(free.fit(X, effect).predict, X)

    def test_names_and_places_say_the_same(self):
        pd = pytest.importorskip("pandas")
        X, effect = make_rows(0)
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        y = (effect > 0).astype(int)
        make = {"recipe": "gradient", "random_state": 0, **QUICK}
        models = [
            NewronClassifier(monotonic_cst=wanted, **make).fit(frame, y).model_
            for wanted in ({"b": -1, "a": 1}, [1, -1, 0], np.array([1, -1, 0]), (1, -1, 0))
        ]
        assert all(model == models[0] for model in models)
        assert models[0] != NewronClassifier(**make).fit(frame, y).model_
        free = NewronClassifier(monotonic_cst=[0, 0, 0], **make).fit(frame, y)
        assert free.model_ == NewronClassifier(**make).fit(frame, y).model_

    def test_every_network_of_a_grown_path_keeps_to_it(self):
        X, effect = make_rows(3)
        fitted = NewronClassifier(
            monotonic_cst=DIRECTIONS, recipe="grow", size="auto", max_terms=15, random_state=0
        ).fit(X, (effect > 0).astype(int))
        for model in fitted.path_:
            check(lambda rows, model=model: model.scores(rows)[:, 0], X, n_rows=5)

    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid"])
    def test_several_amounts_all_rise(self, processing):
        X, effect = make_rows(4)
        targets = np.stack([effect, X[:, 2] - effect], axis=1)
        targets[np.isnan(targets)] = 0.0
        fitted = NewronRegressor(
            processing, monotonic_cst=DIRECTIONS, recipe="gradient", random_state=0, **QUICK
        ).fit(X, targets)
        for k in range(2):
            check(lambda rows, k=k: fitted.predict(rows)[:, k], X, n_rows=8)

    def test_the_largest_number_is_no_gap(self):
        X, effect = make_rows(1)
        fitted = NewronClassifier(
            monotonic_cst=DIRECTIONS, random_state=1, recipe="gradient", **QUICK
        ).fit(X, effect > np.median(effect))
        assert "missing]" in str(fitted.model_)
        rows = np.array([[0.0, x, 0.0] for x in (-END, -1e299, 1e299, END)])
        assert np.all(np.diff(fitted.decision_function(rows)) <= 0.0)

    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid", "linear"])
    def test_going_on_with_training_keeps_to_it(self, processing):
        X, effect = make_rows(5, gaps=False)
        y = (effect > 0).astype(int)
        parts = NewronClassifier(
            processing, monotonic_cst=DIRECTIONS, recipe="gradient", random_state=0
        )
        for first in (0, 50, 100):
            parts.partial_fit(X[first : first + 50], y[first : first + 50], classes=[0, 1])
            check(parts.decision_function, X, n_rows=8)
        # A free network goes on with a direction, and with hardly any training.
        warm = NewronClassifier(
            processing, recipe="gradient", random_state=0, warm_start=True, **QUICK
        ).fit(X, y)
        warm.set_params(monotonic_cst=DIRECTIONS, max_iter=1, learning_rate_init=1e-7).fit(X, y)
        check(warm.decision_function, X)

    def test_early_stopping_keeps_to_it(self):
        X, effect = make_rows(6)
        fitted = NewronClassifier(
            "sigmoid", monotonic_cst=DIRECTIONS, recipe="gradient", early_stopping=True,
            random_state=0, **QUICK,
        ).fit(X, (effect > 0).astype(int))  # fmt: skip
        check(fitted.decision_function, X)


class TestImpossible:
    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"processing": "tanh_prod"}, "product of 2 factors.*n_factors=1"),
            ({"processing": ("tanh_prod", "sigmoid")}, "product of 2 factors"),
            ({"processing": "sigmoid", "aggregation": "product"}, "product"),
            ({"processing": "linear", "aggregation": "product"}, "product"),
            ({"processing": "sigmoid", "aggregation": ("sum", "product")}, "product"),
            ({"monotonic_cst": [1, 0]}, "each of 3 columns.*got 2"),
            ({"monotonic_cst": [1, 0, 0, 0]}, "each of 3 columns.*got 4"),
            ({"monotonic_cst": [2, 0, 0]}, "'x1': expected -1, 0 or 1, got 2"),
            ({"monotonic_cst": {"x2": 2}}, "'x2': expected -1, 0 or 1, got 2"),
            ({"monotonic_cst": [0.5, 0, 0]}, "expected -1, 0 or 1, got 0.5"),
            ({"monotonic_cst": {"x2": "up"}}, "expected -1, 0 or 1, got 'up'"),
            ({"monotonic_cst": {"nobody": 1}}, "'nobody', which is none"),
        ],
    )
    @pytest.mark.parametrize("recipe", ["default", "gradient"])
    def test_it_is_refused_with_what_to_do(self, how, message, recipe):
        X, effect = make_rows(0, 30)
        for make, y in ((NewronClassifier, effect > 0), (NewronRegressor, effect)):
            with pytest.raises(InputError, match=f"monotonic_cst.*{message}"):
                make(**{"monotonic_cst": [1, 0, 0], "recipe": recipe, **how}).fit(X, y)

    def test_of_three_classes_not_all_can_rise(self):
        X, effect = make_rows(0, 60)
        y = np.digitize(effect, [-0.5, 1.0])
        with pytest.raises(InputError, match=r"monotonic_cst.*two classes.*3 classes"):
            NewronClassifier(monotonic_cst=[1, 0, 0]).fit(X, y)
        NewronClassifier(monotonic_cst=[0, 0, 0], recipe="gradient", **QUICK).fit(X, y)

    def test_categories_have_no_order_to_rise_along(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"age": np.arange(40.0), "sex": ["f", "m"] * 20})
        y = [0] * 20 + [1] * 20
        with pytest.raises(InputError, match="'sex' holds categories"):
            NewronClassifier(monotonic_cst={"sex": 1}).fit(frame, y)
        with pytest.raises(InputError, match="'age' holds categories"):
            NewronClassifier(monotonic_cst=[1, 0], categorical_features=["age"]).fit(frame, y)
        fitted = NewronClassifier(monotonic_cst={"age": 1}, recipe="gradient", **QUICK)
        assert fitted.fit(frame, y).score(frame, y) > 0.9


@pytest.mark.parametrize(
    "how",
    [
        {"processing": "heaviside", "max_iter": 60, "n_init": 4},
        {"processing": "heaviside", "recipe": "grow", "max_iter": 100},
        {"processing": "heaviside", "recipe": "gradient"},
        {"processing": "sigmoid", "max_iter": 100},
        {"processing": "sigmoid", "recipe": "gradient", "n_init": 2},
        {"processing": "linear", "recipe": "gradient", "n_init": 2},
    ],
    ids=lambda how: f"{how['processing']}, {how.get('recipe', 'default')}",
)
class TestTrueDirections:
    def make(self, n=200):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(2 * n, 3)).round(2)
        effect = np.tanh(2 * X[:, 0]) - X[:, 1] + 0.5 * X[:, 2] ** 2
        return X, effect, rng

    def test_a_classifier_is_about_as_good_as_the_free_one(self, how):
        X, effect, rng = self.make()
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-3 * (effect - effect.mean())))).astype(int)
        good = [
            NewronClassifier(random_state=0, monotonic_cst=cst, **how)
            .fit(X[:200], y[:200]).score(X[200:], y[200:])
            for cst in (None, DIRECTIONS)
        ]  # fmt: skip
        assert good[0] > 0.7
        assert good[1] > good[0] - 0.05

    def test_a_regressor_is_about_as_good_as_the_free_one(self, how):
        X, effect, rng = self.make()
        y = effect + rng.normal(scale=0.3, size=len(X))
        good = [
            NewronRegressor(random_state=0, monotonic_cst=cst, **how)
            .fit(X[:200], y[:200]).score(X[200:], y[200:])
            for cst in (None, DIRECTIONS)
        ]  # fmt: skip
        assert good[0] > 0.5
        assert good[1] > good[0] - 0.08
