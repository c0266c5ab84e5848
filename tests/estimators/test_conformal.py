"""Intervals of the regressor and sets of the classifier, with rows new and of the fit."""

import numpy as np
import pytest
from sklearn.base import clone

from newron import NewronClassifier, NewronRegressor
from newron.errors import InputError, NewronWarning
from newron.tables import Target


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, 2.0 * X[:, 0] + rng.gamma(1.0, 1.0, n)


def measure_coverage(model, X, y, coverage=0.9, **how):
    low, high = model.predict_interval(X, coverage, **how).T
    return np.mean((low <= y) & (y <= high))


@pytest.fixture(scope="module")
def fitted():
    X, y = make_rows(300, 0)
    return NewronRegressor("linear", hidden_layer_sizes=(), random_state=0).fit(X, y), X, y


def test_a_fit_is_not_calibrated_by_itself(fitted):
    model, X, y = fitted
    with pytest.raises(InputError, match="calibrate"):
        clone(model).fit(X[:30], y[:30]).predict_interval(X)


def test_rows_of_the_fit_are_predicted_by_networks_of_other_rows(fitted):
    model, X, y = fitted
    assert model.calibrate(X, y) is model
    assert model.model_.conformal.protocol == "cross-validation"
    assert model.model_.conformal.n_rows == 300
    assert measure_coverage(model, *make_rows(4000, 1)) == pytest.approx(0.9, abs=0.04)
    order = np.random.default_rng(2).permutation(300)
    ends = model.model_.conformal.ends
    assert model.calibrate(X[order], y[order]).model_.conformal.protocol == "cross-validation"
    np.testing.assert_allclose(model.model_.conformal.ends, ends, atol=0.5)


def test_memorised_rows_do_not_make_intervals_small():
    rng = np.random.default_rng(3)
    X, y = rng.uniform(size=(80, 4)), rng.normal(size=80)
    model = NewronRegressor(recipe="gradient", hidden_layer_sizes=(8,), n_init=1, max_iter=300)
    model.set_params(random_state=0).fit(X, y)
    errors = np.abs(model.predict(X) - y)
    low, high = model.calibrate(X, y).predict_interval(X[:1])[0]
    assert high - low > 3.0 * np.quantile(errors, 0.9)


def test_new_rows_count_as_they_are(fitted):
    model, _, _ = fitted
    X, y = make_rows(500, 4)
    table = model.calibrate(X, y).model_.conformal
    assert (table.protocol, table.n_rows) == ("new rows", 500)
    assert table == model.model_.calibrate(X, y).conformal
    assert measure_coverage(model, *make_rows(4000, 5)) == pytest.approx(0.9, abs=0.03)


def test_curves_keep_their_means():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=200)
    model = NewronRegressor("sigmoid", hidden_layer_sizes=(), random_state=0).fit(X, y)
    means = model.model_.means
    assert means
    new = rng.normal(size=(50, 2))
    model.calibrate(new, np.sin(new[:, 0]))
    assert model.model_.means == means


def test_many_rows_of_training_among_others_are_noticed(fitted):
    model, X, y = fitted
    with pytest.warns(NewronWarning, match="200 of 200 rows to calibrate on are rows of training"):
        model.calibrate(X[:200], y[:200])


def test_weights_and_exposures_take_part():
    rng = np.random.default_rng(6)
    X, exposure = rng.uniform(size=(400, 1)), rng.uniform(0.5, 4.0, 400)
    y = rng.poisson(5.0 * exposure * np.exp(X[:, 0])).astype(float)
    offset = np.log(exposure)
    model = NewronRegressor("linear", objective="poisson", hidden_layer_sizes=(), random_state=0)
    model.fit(X, y, offset=offset).calibrate(X, y, offset=offset)
    assert model.model_.conformal.protocol == "cross-validation"
    assert model.model_.conformal.power == 1.0
    assert measure_coverage(model, X, y, offset=offset) == pytest.approx(0.9, abs=0.05)
    weight = np.where(np.arange(400) % 2, 2.0, 0.0)
    model.fit(X, y, weight, offset=offset).calibrate(X, y, weight, offset=offset)
    assert model.model_.conformal.n_rows == 400


def test_quantiles_are_a_band():
    rng = np.random.default_rng(7)
    X = rng.uniform(0.2, 2.0, (400, 1))
    y = X[:, 0] * rng.normal(size=400)
    model = NewronRegressor(
        "linear", objective="quantile:0.25,0.75", hidden_layer_sizes=(), random_state=0
    )
    band = model.fit(X, y).calibrate(X, y).predict_interval([[0.4], [1.6]], 0.9)
    width = band[:, 1] - band[:, 0]
    assert width[1] > 1.2 * width[0]
    assert measure_coverage(model, X, y) == pytest.approx(0.9, abs=0.05)


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(240, 2))
    labels = np.array(["low", "mid", "top"])
    y = labels[np.digitize(X[:, 0] + rng.normal(size=240), [-0.7, 0.7])]
    return X, y


@pytest.mark.parametrize("processing", ["linear", "heaviside"])
def test_sets_of_classes_hold_the_truth(classes, processing):
    X, y = classes
    model = NewronClassifier(processing, hidden_layer_sizes=(), max_terms=6, random_state=0)
    sets = model.fit(X[:160], y[:160]).calibrate(X[:160], y[:160]).predict_set(X[160:], 0.9)
    codes = np.searchsorted(model.classes_, y[160:])
    assert sets[np.arange(80), codes].mean() > 0.8
    assert 1.0 < sets.sum(axis=1).mean() < 3.0
    assert (sets.sum(axis=1) >= 1).all()
    assert sets[np.arange(80), np.searchsorted(model.classes_, model.predict(X[160:]))].all()


def test_an_order_of_classes_of_ones_own_is_kept(classes):
    X, y = classes
    labels = ("top", "low", "mid")
    target = Target("level", labels, np.array([labels.index(label) for label in y]))
    model = NewronClassifier("linear", hidden_layer_sizes=(), random_state=0).fit(X, target)
    own = model.calibrate(X, target).predict_set(X, 0.9)
    plain = NewronClassifier("linear", hidden_layer_sizes=(), random_state=0).fit(X, y)
    other = plain.calibrate(X, y).predict_set(X, 0.9)
    order = [labels.index(label) for label in plain.classes_]
    assert np.mean(own[:, order] == other) > 0.97


def test_a_rare_class_does_not_stop_it():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30, 1))
    y = np.array(["a", "b"] * 14 + ["c", "c"])
    model = NewronClassifier("linear", hidden_layer_sizes=(), random_state=0).fit(X, y)
    assert model.calibrate(X, y).predict_set(X).shape == (30, 3)
