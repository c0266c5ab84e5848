"""Rows that lie where step functions change: at their ends, and beside them."""

import numpy as np


def surround(values):
    """Give numbers and the float64 on either side of each, sorted, without repetition."""
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values)]
    near = [np.nextafter(values, -np.inf), values, np.nextafter(values, np.inf)]
    return np.unique(np.clip(np.concatenate(near), -1e300, 1e300))


def surround_float32(values):
    """Give thresholds of float32 comparisons and all float64 at which these may change."""
    near = np.asarray(values, np.float64)
    near = near[np.isfinite(near)].astype(np.float32)
    parts = [near]
    for direction in (-np.inf, np.inf):
        step = near
        for _ in range(2):
            step = np.nextafter(step, np.float32(direction))
            parts.append(step)
    steps = np.unique(np.concatenate(parts)).astype(np.float64)
    middles = (steps[1:] + steps[:-1]) / 2.0
    return surround(np.concatenate([steps, middles, np.asarray(values, np.float64)]))


def draw_rows(rng, pools, n, gaps=0.0):
    """Draw rows whose values come from the pool of each column, with gaps."""
    rows = np.stack([rng.choice(pool, n) for pool in pools], axis=1)
    rows[rng.random(rows.shape) < gaps] = np.nan
    return rows


def check_paths(model, rows):
    """Give the scores, after checking that the compiled ones are the same."""
    fast, slow = model.score_rows(rows), model.score_rows(rows, compiled=False)
    np.testing.assert_array_equal(fast, slow)
    return fast


def check_file(model, tmp_path, rows):
    """Check that a model comes back from its file."""
    from newron import load

    path = tmp_path / "model.json"
    model.save(path)
    again = load(path)
    assert again == model
    np.testing.assert_array_equal(again.score_rows(rows), model.score_rows(rows))
