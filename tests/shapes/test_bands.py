"""Bands of curves and points: as wide as the weights are unsure, for every kind of network."""

import numpy as np
import pytest

from newron import NewronClassifier, NewronRegressor
from newron.errors import InputError
from newron.model import Column, Layer, Model, Schema, Targets
from newron.shapes import measure_bands


def make_line(n, seed, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    return X, 1.0 + 2.0 * X[:, 0] + rng.normal(size=n) * noise


def make_fitted(X, y):
    """Return the least-squares line as a model."""
    slope, start = np.polyfit(X[:, 0], y, 1)
    layer = Layer(
        "linear", "sum", "identity", 1, [0], [0], [[1.0]], [[0.0]], alpha=[slope], centre=[-start]
    )
    return Model(Schema((Column("x", 0.0, 1.0),)), [layer], Targets(("y",)))


def test_the_band_of_a_line_is_the_error_of_its_slope():
    X, y = make_line(400, 0)
    model = make_fitted(X, y)
    effect = measure_bands(model, X, y)[0]
    residual = y - model.predict(X)
    error = np.sqrt(residual @ residual / 398 / np.square(X - X.mean()).sum())
    ends = np.abs(effect.scales[0].positions - X.mean())
    np.testing.assert_allclose(effect.deviation, error * ends, rtol=0.02)


def test_bands_hold_the_truth_as_often_as_they_say():
    held = []
    for seed in range(60):
        X, y = make_line(80, seed)
        model = make_fitted(X, y)
        effect = measure_bands(model, X, y)[0]
        slope = float(model.layers[-1].alpha[0])
        held.append(abs(slope - 2.0) <= 2.0 * effect.deviation[-1] / (1.0 - X.mean()))
    assert 0.85 <= np.mean(held) <= 1.0


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(240, 3)).astype(float)
    score = 2.0 * (X[:, 0] > 20) + (X[:, 1] > 10) - 1.5 + rng.normal(size=240)
    return X, score


def test_points_of_a_card_have_bands_that_shrink_with_rows(patients):
    X, score = patients
    card = NewronClassifier("heaviside", recipe="grow", max_terms=4, hidden_layer_sizes=())
    card.fit(X, score > 0)
    few = card.shapes(by="column", X=X[:60], y=score[:60] > 0)
    many = card.shapes(by="column", X=X, y=score > 0)
    pairs = [(a, b) for a, b in zip(few, many, strict=True) if a.kind != "joint"]
    assert pairs
    for a, b in pairs:
        assert a.deviation.min() == 0.0  # where the column adds no points
        assert b.deviation.max() < a.deviation.max()
        assert a.to_dict()["deviation"] == a.deviation.tolist()


def test_every_kind_of_network_has_bands(patients):
    X, score = patients
    smooth = NewronRegressor("sigmoid", recipe="gradient", max_iter=20, n_init=1, random_state=0)
    several = NewronClassifier("heaviside", recipe="grow", max_terms=3, random_state=0)
    for network, y in ((smooth, score), (several, np.digitize(score, [-1.0, 1.0]))):
        effects = network.fit(X, y).shapes(by="column", X=X, y=y)
        assert len(effects)
        for effect in effects:
            if effect.kind == "joint":
                continue
            assert effect.deviation.shape == effect.values.shape
            assert np.isfinite(effect.deviation).all()
    assert effects.to_frame()["deviation"].notna().any()


def test_what_has_no_posterior_is_refused(patients):
    X, score = patients
    model = make_fitted(*make_line(50, 0))
    quantile = Model(model.schema, model.layers, Targets(("y",), objective="quantile:0.9"))
    with pytest.raises(InputError, match="bands: expected a network that adds up"):
        measure_bands(quantile, X[:, :1], score)
    with pytest.raises(InputError, match="y: expected 240 values, got 3"):
        measure_bands(model, X[:, :1], score[:3])


def test_a_network_that_hits_every_target_has_narrow_bands():
    layer = Layer("linear", "sum", "identity", 1, [0, 0], [0, 0], [[1.0], [2.0]], [[0.0], [0.0]],
                  alpha=[1.0, 2.0])  # fmt: skip
    model = Model(Schema((Column("x", 0.0, 1.0),)), [layer], Targets(("y",)))
    X, _ = make_line(50, 0)
    for y in (model.predict(X), np.zeros(50)):
        deviation = measure_bands(model, X, y)[0].deviation
        assert np.isfinite(deviation).all()
    deviation = measure_bands(model, X, model.predict(X))[0].deviation
    assert deviation.max() < 1e-3
