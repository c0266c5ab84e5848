"""Terms of three columns beside the engine's curves."""

import numpy as np
import pandas as pd
import pytest

import newron
from newron import NewronClassifier
from training.strategies.test_racing import draw_noise, list_candidates

GROWN = "terms, folds"


def draw_lines(n, seed=0):
    """Draw nine letters of three, with the class of having one of three lines of three a's."""
    letters = np.random.default_rng(seed).integers(0, 3, (n, 9))
    y = (letters.reshape(n, 3, 3) == 0).all(axis=2).any(axis=1)
    frame = pd.DataFrame(np.array(["a", "b", "c"])[letters]).add_prefix("x")
    return frame.astype("category"), y


@pytest.fixture(scope="module")
def lines():
    X, y = draw_lines(800)
    return NewronClassifier("smooth", random_state=0, size="whole").fit(X, y)


def test_lines_of_three_are_found_and_right_on_new_rows(lines):
    X, y = draw_lines(2_000, 1)
    assert (lines.predict(X) == y).mean() > 0.995
    hidden = lines.model_.layers[0]
    assert np.bincount(hidden.target).max() == 3


def test_a_network_with_terms_is_written_and_read_as_any_other(lines, tmp_path):
    lines.save(tmp_path / "lines.json")
    X, _ = draw_lines(50, 2)
    again = newron.load(tmp_path / "lines.json")
    assert np.array_equal(again.predict_proba(X), lines.predict_proba(X))


def test_noise_has_no_terms():
    names, _ = list_candidates(*draw_noise(400))
    assert GROWN not in names


def test_terms_are_compared_on_folds_and_none_without_hidden_layers():
    X, y = draw_lines(800)
    names, _ = list_candidates(X, y, size="whole")
    assert GROWN in names
    names, _ = list_candidates(X, y, size="whole", hidden_layer_sizes=())
    assert names == []
