"""Unusual tables, measured on new rows: a default fit is no worse than a simple reference."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from newron import NewronClassifier

KINDS = ["smooth", "heaviside"]


def draw_noise(rng):
    """Nothing to be found."""
    return rng.normal(size=(400, 6)), np.full(400, 0.3)


def draw_ties(rng):
    """Small whole numbers, one of which decides."""
    X = rng.integers(0, 4, (400, 4)).astype(float)
    return X, np.where(X[:, 1] >= 2.0, 0.85, 0.15)


def draw_copies(rng):
    """Four distinct rows, each a hundred times."""
    X = rng.integers(0, 2, (400, 2)).astype(float)
    return X, np.array([[0.1, 0.3], [0.6, 0.9]])[tuple(X.astype(int).T)]


def draw_rare(rng):
    """One row in fifty is of the second class."""
    X = rng.normal(size=(1000, 4))
    return X, 1.0 / (1.0 + np.exp(5.0 - 1.5 * X[:, 0]))


def draw_tails(rng):
    """Values of any size, a border among the small ones."""
    X = rng.standard_cauchy((400, 3)) ** 3
    return X, np.where(X[:, 0] > 0.2, 0.9, 0.1)


def draw_doubles(rng):
    """Every column four times, in nanometres and in dollars."""
    X = rng.normal(size=(400, 2))
    return np.tile(X, 4) * np.repeat([1e-9, 1.0, 1e4, 1e6], 2), 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))


DRAWS = [draw_noise, draw_ties, draw_copies, draw_rare, draw_tails, draw_doubles]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__.removeprefix("draw_"))
@pytest.mark.parametrize("size", ["best", "auto"])
def test_new_rows_are_predicted_as_well_as_by_a_simple_reference(draw, kind, size, request):
    if (draw, kind, size) == (draw_doubles, "heaviside", "auto"):
        reason = "15 conditions lose .019 of log loss where a line is the truth"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=False))
    rng = np.random.default_rng(7)
    X, chances = draw(rng)
    y = rng.random(len(X)) < chances
    new, new_chances = map(np.concatenate, zip(*(draw(rng) for _ in range(5)), strict=True))
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    references = [line.predict_proba(new)[:, 1], np.full(len(new), y.mean())]
    reached = min(measure(each, new_chances) for each in references)
    model = NewronClassifier(kind, size=size, random_state=0, max_iter=50, n_init=2).fit(X, y)
    assert measure(model.predict_proba(new)[:, 1], new_chances) < reached + 0.015


def measure(odds, chances):
    """Return the expected log loss where the chance of every row is known."""
    labels = np.repeat([True, False], len(odds))
    return log_loss(labels, np.tile(odds, 2), sample_weight=np.concatenate([chances, 1 - chances]))


# ---- logic and geometry ----


def parity(X):
    """Three of ten columns."""
    return (X[:, [1, 4, 7]] > 0.0).sum(axis=1) % 2 == 1


def ring(X):
    """Neither near the middle nor far from it."""
    return np.abs(np.hypot(X[:, 0], X[:, 1]) - 1.2) < 0.5


def board(X):
    """A chessboard of sixteen fields."""
    return np.floor(X[:, :2]).sum(axis=1) % 2 == 0


@pytest.mark.parametrize(
    ("rule", "n_columns", "whole", "least"),
    [(parity, 10, True, 0.99), (ring, 2, False, 0.95), (board, 2, False, 0.93)],
)
def test_smooth_networks_find_logic_and_geometry(rule, n_columns, whole, least):
    rng = np.random.default_rng(3)
    X = rng.uniform(-2.0, 2.0, (2000, n_columns))
    X = np.sign(X) if whole else X
    model = NewronClassifier("smooth", random_state=0).fit(X[:1000], rule(X[:1000]))
    assert model.score(X[1000:], rule(X[1000:])) > least
