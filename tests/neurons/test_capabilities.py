"""Functions of one's own with all that built-in ones can do; what they cannot, an error names."""

import numpy as np
import pandas as pd
import pytest

from newron import NewronClassifier, NewronRegressor, load
from newron.errors import InputError, NewronError
from newron.neurons import exp, maximum, minimum, processing, where

QUICK = {"recipe": "gradient", "max_iter": 120, "n_init": 2, "random_state": 0}


@processing
def bell(z):
    return exp(-z * z)


@processing
def ramp(z):
    return maximum(minimum(0.5 + 0.5 * z, 1.0), 0.0)


@processing
def leaky(z, a=0.1):
    return maximum(z, a * z)


@processing(surrogate="sigmoid")
def own_step(z):
    return where(z >= 0.0, 1.0, 0.0)


every_function = pytest.mark.parametrize("function", [bell, ramp, leaky, own_step], ids=str)


def make_rows(n=240):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, np.where(np.abs(X[:, 0]) < 0.5, "in", "out")


def make_frame(n=240):
    rng = np.random.default_rng(1)
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.uniform(0.0, 10.0, n)
    y = (colour == "red") | (size > 8.0)
    return pd.DataFrame({"colour": colour, "size": size}), y


class TestCategoriesAndGaps:
    @every_function
    def test_categories_are_learned(self, function, tmp_path):
        X, y = make_frame()
        model = NewronClassifier(function, functions_per_input=2, **QUICK).fit(X, y)
        assert model.score(X, y) > 0.85
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json").predict_proba(X)
        np.testing.assert_array_equal(again, model.predict_proba(X))

    @every_function
    def test_gaps_are_learned(self, function):
        X, y = make_rows()
        X[::3, 0], y = np.nan, np.array(y)
        y[::3] = "in"
        model = NewronClassifier(function, functions_per_input=2, **QUICK).fit(X, y)
        assert model.score(X[::3], y[::3]) > 0.95
        assert (model.predict([[np.nan, 0.0]]) == "in").all()


class TestScales:
    @pytest.mark.parametrize("scale", ["own", "rank", "both"])
    @every_function
    def test_units_of_a_column_change_nothing(self, function, scale):
        X, y = make_rows()
        settings = {"input_scale": scale, "hidden_layer_sizes": (), **QUICK}
        first = NewronClassifier(function, **settings).fit(X, y)
        other = NewronClassifier(function, **settings).fit(1000.0 * X + 64.0, y)
        agree = first.predict(X) == other.predict(1000.0 * X + 64.0)
        assert agree.mean() > 0.97

    @every_function
    def test_numbers_are_short(self, function):
        X, y = make_rows()
        model = NewronClassifier(function, hidden_layer_sizes=(), **QUICK).fit(X, y)
        layer = model.model_.layers[-1]
        numbers = [*layer.w.ravel(), *layer.b.ravel(), *layer.alpha]
        digits = [len(f"{abs(number):.15g}".replace(".", "").lstrip("0")) for number in numbers]
        assert np.mean(digits) < 7.0


class TestConstraints:
    @pytest.mark.parametrize("function", [ramp, own_step], ids=str)
    def test_a_rising_function_keeps_directions(self, function):
        X, _ = make_rows()
        y = X[:, 0] + 0.5 * np.sin(6.0 * X[:, 0])
        model = NewronRegressor(function, monotonic_cst=[1, 0], **QUICK).fit(X, y)
        path = np.stack([np.linspace(-1.0, 1.0, 200), np.zeros(200)], axis=1)
        assert np.all(np.diff(model.predict(path)) >= -1e-12)
        assert model.score(X, y) > 0.5

    @pytest.mark.parametrize("function", [bell, leaky], ids=str)
    def test_what_may_fall_is_refused(self, function):
        X, y = make_rows(60)
        with pytest.raises(InputError, match=f"never fall, got {function}"):
            NewronClassifier(function, monotonic_cst=[1, 0], **QUICK).fit(X, y)


class TestSmaller:
    @every_function
    def test_pruning_keeps_what_matters(self, function):
        X, y = make_rows()
        shared = {"functions_per_input": 3, "hidden_layer_sizes": (), **QUICK}
        model = NewronClassifier(function, **shared).fit(X, y)
        small = model.prune(X, y, nested=False)
        assert small.model_.n_functions < model.model_.n_functions
        assert small.score(X, y) > model.score(X, y) - 0.05

    @every_function
    def test_a_fit_goes_on_in_parts(self, function):
        X, y = make_rows()
        model = NewronClassifier(function, functions_per_input=2, random_state=0)
        scores = [model.partial_fit(X, y, classes=["in", "out"]).score(X, y)]
        scores += [model.partial_fit(X, y).score(X, y) for _ in range(25)]
        assert max(scores[-5:]) >= scores[0]


class TestWhatHeavisideAloneCan:
    @every_function
    def test_rules_name_the_function_that_they_need(self, function):
        X, y = make_rows(60)
        model = NewronClassifier(function, hidden_layer_sizes=(), **QUICK).fit(X, y)
        with pytest.raises(NewronError, match="heaviside"):
            model.rules()

    @every_function
    def test_growing_names_the_function_that_it_needs(self, function):
        X, y = make_rows(60)
        with pytest.raises(InputError, match="heaviside"):
            NewronClassifier(function, recipe="grow").fit(X, y)

    @every_function
    def test_the_nearest_crisp_network_names_the_functions_that_it_needs(self, function):
        X, y = make_rows(60)
        model = NewronClassifier(function, hidden_layer_sizes=(), **QUICK).fit(X, y)
        with pytest.raises(NewronError, match=f"heaviside, sigmoid or tanh_prod.*got {function}"):
            model.crisp(X)
