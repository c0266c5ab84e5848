"""Thresholds in the columns' units, short, and without effect on the training rows."""

import numpy as np
import pytest

from builders.training import make_set
from newron import NewronClassifier, NewronRegressor
from newron.demo import make_monk2
from newron.training import decoding


def make_table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([
        rng.normal(54, 9, n).round(),          # years
        rng.lognormal(5, 1, n),                # an amount
        rng.integers(0, 4, n),                 # a code
        rng.normal(0, 1e-6, n),                # tiny
        rng.normal(3e9, 1e9, n),               # huge
    ])  # fmt: skip
    y = (X[:, 0] > 54) ^ (X[:, 2] > 1)
    return X, y.astype(int)


@pytest.mark.parametrize("input_scale", ["own", "rank", "both"])
@pytest.mark.parametrize("hidden", [(), (3,), (2, 2)])
def test_heaviside_thresholds_are_short_and_split_as_the_core_does(
    monkeypatch, input_scale, hidden
):
    monkeypatch.setattr(decoding, "normalise", lambda model, _: model)  # function by function
    X, y = make_table()
    fitted = NewronClassifier(
        hidden_layer_sizes=hidden, input_scale=input_scale, functions_per_input=2,
        direct_inputs=True, n_init=2, max_iter=40, random_state=0, recipe="paper",
    ).fit(X, y)  # fmt: skip
    model, trained = fitted.model_, fitted._fitted.core
    for layer, places in zip(model.layers, trained.wiring.layers, strict=True):
        params = trained.trained.params
        for e, source in enumerate(places.source):
            if source >= len(trained.encoding.channels):
                continue
            channel = trained.encoding.channels[source]
            seen = channel.encode(X[:, channel.column])
            core = params[places.w][e] * (seen - params[places.b][e]) >= 0
            column, w, b = X[:, layer.source[e]], layer.w[e, 0], layer.b[e, 0]
            np.testing.assert_array_equal(core, column >= b if w > 0 else column <= b)
            # No number between its neighbours is much shorter.
            near = np.sort(np.abs(column - b))[0]
            assert len(f"{b:.17g}") > 17 or near == 0 or len(repr(float(b))) <= 14


def test_counts_are_asked_between_whole_numbers():
    X, y = make_monk2()
    model = NewronClassifier(
        hidden_layer_sizes=(1, 2), n_init=20, random_state=1
    ).fit(X, y).model_  # fmt: skip
    for layer in model.layers[1:]:
        np.testing.assert_array_equal(layer.b % 1.0, 0.5)
    np.testing.assert_array_equal(model.layers[0].b % 1.0, 0.5)


@pytest.mark.parametrize("aggregation", ["mean", "min", "max", "product"])
def test_steps_on_other_aggregates_fall_between_their_values(aggregation):
    X, y = make_table()
    fitted = NewronClassifier(
        hidden_layer_sizes=(3,),
        aggregation=aggregation,
        n_init=2,
        max_iter=40,
        random_state=0,
        recipe="gradient",
    ).fit(X, y)
    last = fitted.model_.layers[-1]
    assert np.all([len(repr(float(b))) <= 9 for b in last.b[:, 0]])


@pytest.mark.parametrize("processing", ["sigmoid", "tanh_prod", "linear", "relu", "selu"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_shortened_numbers_change_no_class_of_a_training_row(processing, n_classes):
    X, y = make_table()
    if n_classes == 3:
        y = y + (X[:, 2] > 2)
    fitted = NewronClassifier(
        processing, n_init=1, max_iter=60, random_state=0, recipe="gradient"
    ).fit(X, y)
    for layer in fitted.model_.layers:
        digits = [repr(float(v)).lstrip("-0.").replace(".", "") for v in layer.w.ravel()]
        assert max(len(d.split("e")[0]) for d in digits) <= 11
    from newron.training.decoding import decode

    parts = fitted._fitted.core
    raw = decode(
        parts.wiring, parts.trained.params, parts.encoding, fitted.model_.output,
        make_set(X, y),
    )  # fmt: skip
    np.testing.assert_array_equal(raw.predict(X), fitted.model_.predict(X))


@pytest.mark.parametrize("aggregation", ["sum", "mean", "min", "max", "product"])
@pytest.mark.parametrize("processing", ["heaviside", "sigmoid", "linear"])
def test_amounts_come_back_in_their_units(aggregation, processing):
    X, _ = make_table()
    y = np.column_stack([1e6 + 1e3 * X[:, 0], 1e-3 * X[:, 2] - 5])
    last = (processing, processing)
    fitted = NewronRegressor(
        last, hidden_layer_sizes=(3,), aggregation=("sum", aggregation), random_state=0,
        n_init=1, max_iter=50, recipe="gradient",
    ).fit(X, y)  # fmt: skip
    from newron import _core

    scale = fitted._fitted.core.target_scale
    table = _core.Table(
        fitted._fitted.core.encoding.encode(X),
        ((y - scale.shift) / scale.scale).astype(np.float32),
        np.ones(len(X), np.float32),
    )
    loss, _ = _core.evaluate(
        fitted._fitted.core.wiring.make_network(), table, fitted._fitted.core.trained.params,
        _core.Loss.squared,
    )  # fmt: skip
    told = np.mean(((fitted.predict(X) - y) / scale.scale) ** 2)
    assert told == pytest.approx(loss, rel=2e-3, abs=1e-5)


def test_the_core_and_the_model_agree_on_training_rows():
    X, y = make_table()
    from newron import _core

    for processing in ("heaviside", "sigmoid", "tanh_prod"):
        fitted = NewronClassifier(
            processing, input_scale="both", random_state=0, recipe="gradient"
        ).fit(X, y)
        parts = fitted._fitted.core
        table = _core.Table(
            parts.encoding.encode(X), y[:, None].astype(np.float32), np.ones(len(X), np.float32)
        )
        _, wrong = _core.evaluate(
            parts.wiring.make_network(), table, parts.trained.params, _core.Loss.binary
        )
        assert wrong == (fitted.predict(X) != y).sum()
