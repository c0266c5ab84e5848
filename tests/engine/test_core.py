"""What the core's loops of the engine compute, against NumPy."""

import numpy as np
import pytest

from newron import _core


def make_rows(n=70_000, d=3):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 32, (d, n)).astype(np.uint8)
    values = rng.normal(size=n).astype(np.float32)
    return codes, values


def test_scores_are_look_ups_of_bins_and_cells():
    codes, _ = make_rows(5000)
    rng = np.random.default_rng(1)
    tables = rng.normal(size=(3, 256)).astype(np.float32)
    cells = rng.normal(size=(1, 1024)).astype(np.float32)
    pairs = np.array([[0, 2]], np.int32)
    scores = np.ones(5000, np.float32)
    _core.add_scores(codes, tables, codes, pairs, cells, scores, 1)
    expected = 1.0 + sum(tables[c][codes[c]] for c in range(3))
    expected += cells[0][32 * codes[0].astype(int) + codes[2]]
    assert scores == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_sums_over_bins_and_cells_do_not_depend_on_threads(n_threads):
    codes, values = make_rows()
    pairs = np.array([[0, 1], [1, 2]], np.int32)
    bins, cells = np.empty((3, 256)), np.empty((2, 1024))
    _core.sum_bins(codes, values, bins, codes, pairs, cells, n_threads)
    again, cells_again = np.empty((3, 256)), np.empty((2, 1024))
    _core.sum_bins(codes, values, again, codes, pairs, cells_again, 3)
    assert np.array_equal(bins, again)
    assert np.array_equal(cells, cells_again)
    for c in range(3):
        assert bins[c] == pytest.approx(np.bincount(codes[c], values, minlength=256), abs=1e-6)
    at = 32 * codes[1].astype(int) + codes[2]
    assert cells[1] == pytest.approx(np.bincount(at, values, minlength=1024), abs=1e-6)


def test_the_scan_of_pairs_sums_both_values_over_all_cells():
    codes, values = make_rows(4000)
    codes = codes % 16
    other = np.abs(values)
    out = np.empty((3, 16, 16, 2))
    _core.scan_pairs(codes, 16, values, other, out, 2)
    for q, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        at = 16 * codes[a].astype(int) + codes[b]
        for k, amount in enumerate((values, other)):
            expected = np.bincount(at, amount, minlength=256).reshape(16, 16)
            assert out[q, :, :, k] == pytest.approx(expected, abs=1e-6)


def read_curve(functions, constant, scales):
    out = np.full(scales.shape[1], constant)
    for bump, scale, w, b, w2, b2, weight in functions:
        h = np.tanh(w * (scales[int(scale)] - b))
        h = h * np.tanh(w2 * (scales[int(scale)] - b2)) if bump else h
        out += weight * 0.5 * (h + 1.0)
    return out


def make_axis(n=60):
    own = np.linspace(-2.0, 2.0, n)
    return np.stack([own, np.tanh(own) * 1.3])


def test_a_sigmoid_is_found_again_as_one_sigmoid():
    scales = make_axis()
    curve = 1.7 * 0.5 * (np.tanh(1.2 * (scales[0] - 0.4)) + 1.0) - 0.3
    functions, constant, error = _core.fit_curve(
        scales, curve, np.full(60, 10.0), 1e-2, 1e-4, 6, True, 0
    )
    assert len(functions) == 1
    assert functions[0, 0] == 0.0
    assert read_curve(functions, constant, scales) == pytest.approx(curve, abs=0.05)
    assert error < 1e-2


def test_more_functions_come_nearer_to_a_curve():
    scales = make_axis()
    curve = np.sin(3.0 * scales[0])
    errors = []
    for most in (1, 2, 4):
        functions, constant, error = _core.fit_curve(
            scales, curve, np.ones(60), 1e-4, 1e-3, most, True, 0
        )
        assert len(functions) <= most
        left = curve - read_curve(functions, constant, scales)
        assert error == pytest.approx(0.5 * float(left @ left), rel=1e-6)
        errors.append(error)
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize("direction", [1, -1])
def test_a_direction_is_kept_by_every_function(direction):
    scales = make_axis()
    curve = direction * np.maximum(scales[0], 0.0)
    functions, _, _ = _core.fit_curve(scales, curve, np.ones(60), 1e-4, 1e-3, 6, True, direction)
    assert len(functions)
    assert np.all(functions[:, 0] == 0.0)
    assert np.all(functions[:, 2] >= 0.0)
    assert np.all(direction * functions[:, 6] >= 0.0)


def test_a_neuron_explains_most_of_a_product_of_two_columns():
    a, b = np.linspace(-2.0, 2.0, 24), np.linspace(-2.0, 2.0, 20)
    mass_a, mass_b = np.full(24, 1 / 24), np.full(20, 1 / 20)
    surface = np.outer(a, b)
    w1, b1, w2, b2, v1, c1, v2, c2, weight = _core.fit_neuron(
        a, b, mass_a, mass_b, surface, 1e-4, True, 25
    )
    s = 0.5 * (np.tanh(w1 * (a - b1)) + 1.0)[:, None] + 0.5 * (np.tanh(w2 * (b - b2)) + 1.0)
    cells = weight * 0.5 * (np.tanh(v1 * (s - c1)) * np.tanh(v2 * (s - c2)) + 1.0)
    cells = cells - cells.mean(axis=0) - cells.mean(axis=1, keepdims=True) + cells.mean()
    assert np.mean((surface - cells) ** 2) < 0.05 * np.mean(surface**2)
