import numpy as np
import pytest

from builders.engine_tables import measure_loss, name_columns, number_classes
from newron.engine import Options, calibration, fit, fitting


def draw_groups(n, seed, apart):
    """Three classes around corners of a triangle."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 2)) + apart * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[y]
    return X, y.astype(float)


def fit_plain(X, y, n_classes, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(fitting, "calibrate", lambda model, stage: model)
        return fit(X, y, number_classes(n_classes), name_columns(X.shape[1]))


def test_scores_of_classes_apart_grow_and_lose_less_on_new_rows(monkeypatch):
    losses = []
    for seed in range(4):
        X, y = draw_groups(120, seed, 5.0)
        new = draw_groups(5000, 100 + seed, 5.0)
        own = fit(X, y, number_classes(3), name_columns(2))
        plain = fit_plain(X, y, 3, monkeypatch)
        assert own.parts[0].stretch > 1.0
        losses.append([measure_loss(each.model, *new) for each in (plain, own)])
    plain_loss, own_loss = np.mean(losses, axis=0)
    assert own_loss < plain_loss


def test_a_row_left_out_is_one_that_was_not_there(monkeypatch):
    X, y = draw_groups(90, 0, 1.5)
    y = np.minimum(y, 1.0)
    model = fit_plain(X, y, 2, monkeypatch).parts[0]
    scores = np.stack([part for block in model.scores for part in block])[:, None].reshape(-1, 1)
    left = model.leave_out()[:, 0]
    kept = np.arange(len(X)) != 7
    again = fit_plain(X[kept], y[kept], 2, monkeypatch).parts[0]
    assert again.score(X[7:8])[0, 0] == pytest.approx(left[7], abs=0.15)
    # Its own label would have moved the score: up where it is 1, down where it is 0.
    assert np.all((scores[:, 0] - left) * (2.0 * y - 1.0) > 0.0)


def test_equal_rows_are_left_out_one_at_a_time(monkeypatch):
    X, y = draw_groups(60, 1, 2.0)
    y = np.minimum(y, 1.0)
    often, labels = np.repeat(X, 5, axis=0), np.repeat(y, 5)
    merged = fit(X, y, number_classes(), name_columns(2), weight=np.full(60, 5.0))
    whole = fit(often, labels, number_classes(), name_columns(2))
    assert merged.parts[0].stretch == pytest.approx(whole.parts[0].stretch, rel=1e-3)


def draw_clusters(n, seed):
    """Eight classes of four clusters each, in four columns."""
    centers = np.random.default_rng(0).uniform(size=(32, 4))
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 32, n)
    cluster[:32] = np.arange(32)
    return centers[cluster] + 0.08 * rng.normal(size=(n, 4)), (cluster % 8).astype(float)


def fit_narrow(X, y, n_classes, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(calibration, "_MOST_TIMES", 0)
        return fit(X, y, number_classes(n_classes), name_columns(X.shape[1]))


def test_priors_of_many_classes_apart_are_wider_and_lose_less_on_new_rows(monkeypatch):
    X, y = draw_clusters(250, 1)
    new = draw_clusters(3000, 100)
    own = fit(X, y, number_classes(8), name_columns(4))
    plain = fit_narrow(X, y, 8, monkeypatch)
    assert np.all(own.parts[0].at.variance > 1.5 * plain.parts[0].at.variance)
    assert measure_loss(own.model, *new) < 0.97 * measure_loss(plain.model, *new)


def test_priors_stay_where_wider_ones_are_not_better_for_sure(monkeypatch):
    for seed in range(3):
        X, y = draw_groups(120, seed, 1.0)
        own = fit(X, y, number_classes(3), name_columns(2))
        assert own.model == fit_narrow(X, y, 3, monkeypatch).model


def test_priors_stay_where_columns_have_directions(monkeypatch):
    X, y = draw_clusters(100, 1)
    options = Options(processing="sigmoid", pairs=False, directions=(1, 0, 0, 0))
    monkeypatch.setattr(calibration, "widen_priors", lambda *args: pytest.fail("widened"))
    fit(X, y, number_classes(8), name_columns(4), options=options)


def test_a_weight_of_two_decides_as_the_row_twice():
    X, y = draw_clusters(150, 1)
    merged = fit(X, y, number_classes(8), name_columns(4), weight=np.full(150, 2.0))
    twice = fit(np.repeat(X, 2, 0), np.repeat(y, 2), number_classes(8), name_columns(4))
    found = [each.parts[0].at.variance for each in (merged, twice)]
    assert found[0] == pytest.approx(found[1], rel=1e-2)
