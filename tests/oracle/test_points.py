"""The core's gradients where channels hold categories and gaps, by finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from newron.training.encoding import POINT
from newron.training.start import draw_start, find_limits
from oracle import reference
from oracle.networks import AGGREGATIONS, FUNCTIONS, LOSSES, core_differentiate, make_wiring

# Of each channel: three categories, plain numbers, numbers with gaps, two categories and gaps.
N_POINTS = (3, 0, 1, 3)
NUMBERS = (False, True, True, False)


def make_points(n_rows, loss, seed=0):
    """Draw rows as the core sees them; the first, which padding repeats, is all points."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, len(N_POINTS))).astype(np.float32)
    for c, (n, numbers) in enumerate(zip(N_POINTS, NUMBERS, strict=True)):
        if n:
            point = POINT * (1 + rng.integers(0, n, n_rows))
            there = numbers & (rng.random(n_rows) < 0.6)
            there[0] = False
            x[:, c] = np.where(there, x[:, c], point)
    if loss == "squared":
        y = rng.normal(size=(n_rows, LOSSES[loss]))
    else:
        y = rng.integers(0, max(LOSSES[loss], 2), size=(n_rows, 1))
    return x, y.astype(np.float32), rng.uniform(0.5, 2.0, n_rows).astype(np.float32)


def make_params(wiring, x, seed=0):
    rng = np.random.default_rng(seed)
    params = draw_start(wiring, *find_limits(x), rng)
    return params + rng.normal(scale=0.1, size=params.shape).astype(np.float32)


def read_signals(wiring, layer, params, signals):
    """Give what each function reads: a number, or its own place of a point."""
    x = signals[:, layer.source].copy()
    for e, source in enumerate(layer.source.tolist()):
        n = N_POINTS[source] if source < wiring.n_channels else 0
        for point in range(n):
            x[signals[:, source] == POINT * (point + 1), e] = params[layer.points[e]][point]
    assert np.all(np.abs(x) < 1e6)  # no point is left
    return x


def measure(wiring, params, x, y, weight, kind, blend, steps=None):
    """Give the mean loss in double precision, and z of each layer.

    With ``steps`` a Heaviside function keeps the value it had there and moves on with
    the sigmoid's slope: the surrogate gradient is the derivative of that.
    """
    signals, seen = x, []
    for number, layer in enumerate(wiring.layers):
        plan = layer.plan
        w, b, alpha, centre = reference.parameters(layer, params)
        z = w * (read_signals(wiring, layer, params, signals)[:, :, None] - b)
        seen.append(z)
        if plan.processing == "tanh_prod":
            h = (np.prod(np.tanh(z), axis=2) + 1) / 2
        else:
            h = reference.value(plan.processing, z[:, :, 0], blend)
        if plan.processing == "heaviside" and steps is not None:
            z0 = steps[number][:, :, 0]
            moved = reference.sigmoid(z[:, :, 0]) - reference.sigmoid(z0)
            h = reference.value("heaviside", z0, blend) + moved
        parts = (alpha * h).reshape(len(x), plan.n_neurons, -1)
        scores = reference.activate(
            plan.activation, reference.aggregate(plan.aggregation, parts) - centre
        )
        signals = np.concatenate([signals, scores], axis=1)
    return reference.loss_of(kind, scores, y, weight)[0], seen


def compare(wiring, loss="binary", n_rows=37, blend=1.0, seed=0):
    wiring = replace(wiring, n_points=N_POINTS)
    x, y, weight = make_points(n_rows, loss, seed)
    params = make_params(wiring, x, seed)
    got_loss, got = core_differentiate(wiring, params, x, y, weight, loss, blend)
    rows = [a.astype(np.float64) for a in (x, y, weight)]
    double = params.astype(np.float64)
    want_loss, steps = measure(wiring, double, *rows, loss, blend)
    want = np.zeros_like(double)
    for i in range(len(double)):
        ends = []
        for step in (1e-5, -1e-5):
            moved = double.copy()
            moved[i] += step
            ends.append(measure(wiring, moved, *rows, loss, blend, steps)[0])
        want[i] = (ends[0] - ends[1]) / 2e-5
    assert got_loss == pytest.approx(want_loss, rel=2e-5, abs=2e-5)
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=3e-5 * max(1.0, np.abs(want).max()))
    return wiring, got


def soften(aggregation):
    # Steps tie, and where parts tie the least and the greatest have no derivative.
    return 0.0 if aggregation in ("min", "max") else 1.0


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_points_match_for_every_function_and_loss(function, loss):
    wiring, got = compare(make_wiring(function, loss=loss), loss)
    places = [s for layer in wiring.layers for s in layer.points.values()]
    assert len(places) == 3 * 3  # of three neurons the functions of three channels
    if function != "relu":
        assert all(np.any(got[s] != 0.0) for s in places)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_several_functions_per_input_and_direct_inputs_have_places_each(function, aggregation):
    wiring = make_wiring(
        function, hidden=(2, 2), per_input=2, direct=True, last_aggregation=aggregation
    )
    wiring, _ = compare(wiring, n_rows=21, blend=soften(aggregation))
    taken = [
        (s.start, s.stop)
        for layer in wiring.layers
        for s in (layer.w, layer.b, layer.alpha, layer.centre, *layer.points.values())
        if s.start < s.stop
    ]
    # Every parameter has one meaning.
    assert sorted(i for s in taken for i in range(*s)) == list(range(wiring.n_params))
    assert len(wiring.layers[-1].points) == 2 * 3


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_gradients_of_points_match_for_every_aggregation(function, aggregation):
    wiring = make_wiring(function, aggregation, "tanh", hidden=(2,))
    compare(wiring, n_rows=21, blend=soften(aggregation), seed=1)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_of_points_match_without_a_hidden_layer(function):
    compare(make_wiring(function, hidden=(), loss="categorical", factors=3), "categorical")


@pytest.mark.parametrize("blend", [0.0, 0.4, 1.0])
def test_gradients_of_points_match_while_the_sigmoid_turns_into_a_step(blend):
    compare(make_wiring("heaviside", hidden=(3,), direct=True), blend=blend)


@pytest.mark.parametrize("n_rows", [1, 2, 31, 32, 33, 300])
@pytest.mark.parametrize("function", ["heaviside", "sigmoid"])
def test_padding_adds_nothing_to_points(function, n_rows):
    compare(make_wiring(function, hidden=(2,)), n_rows=n_rows)


def test_a_point_that_no_row_has_is_not_moved():
    wiring = replace(make_wiring("sigmoid"), n_points=N_POINTS)
    x, y, weight = make_points(40, "binary")
    x[x[:, 0] == np.float32(2 * POINT), 0] = POINT
    _, got = core_differentiate(wiring, make_params(wiring, x), x, y, weight, "binary")
    first = wiring.layers[0]
    places = [first.points[e] for e in first.points if first.source[e] == 0]
    assert len(places) == 3
    for place in places:
        assert got[place][1] == 0.0
        assert np.all(got[place][[0, 2]] != 0.0)
