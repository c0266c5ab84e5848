"""Which hidden layers take part in a default fit."""

import numpy as np
import pandas as pd
import pytest

from newron import Callback, NewronClassifier


class Names(Callback):
    """Keeps the names of the candidates."""

    def __init__(self):
        self.names = []

    def on_candidate(self, name, loss):
        self.names.append(name)


def list_candidates(X, y, kind="smooth", **settings):
    seen = Names()
    frame = pd.DataFrame(X).add_prefix("x")
    learner = NewronClassifier(kind, random_state=0, callbacks=[seen], **settings)
    return seen.names, learner.fit(frame, y)


def draw_noise(n):
    rng = np.random.default_rng(1000)
    X = rng.normal(size=(n, 4))
    return X, rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))


def test_on_many_rows_noise_costs_no_network():
    names, _ = list_candidates(*draw_noise(3_000))
    assert names == []


def test_on_few_rows_noise_costs_a_short_training_of_each_kind():
    names, _ = list_candidates(*draw_noise(400))
    assert names[0] == "additive, rows of its own"
    assert [name.endswith("250 epochs") for name in names[1:]] == [True, True]


@pytest.mark.parametrize(("n_classes", "is_trained"), [(3, True), (31, False)])
def test_of_many_classes_nothing_is_trained_by_gradients(n_classes, is_trained):
    X = np.random.default_rng(1000).normal(size=(186, 2)) + np.arange(186)[:, None] % n_classes
    settings = {"max_terms": 4, "max_iter": 5, "n_init": 1, "size": "whole"}
    names, _ = list_candidates(X, np.arange(186) % n_classes, "heaviside", **settings)
    assert ("gradient" in names) == is_trained


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("smooth", []), ("heaviside", ["grow, single conditions", "grow, distilled"])],
)
def test_on_many_columns_noise_costs_no_network(kind, expected):
    rng = np.random.default_rng(1000)
    X = rng.normal(size=(200, 160))
    names, _ = list_candidates(X, rng.random(200) < 0.5, kind=kind)
    assert names == expected


@pytest.mark.parametrize("n_rows", [800, 3_000])
def test_parity_of_three_columns_is_learned_by_a_hidden_layer(n_rows):
    X = np.random.default_rng(1000).uniform(-1.0, 1.0, size=(n_rows, 3)).round(1)
    y = np.sum(X > 0.25, axis=1) % 2 == 1
    names, fitted = list_candidates(X, y, n_init=1, max_iter=100)
    assert names[-1].startswith("hidden layer")
    assert names[-1].endswith("folds")
    assert len(fitted.model_.layers) > 1
    assert fitted.score(pd.DataFrame(X).add_prefix("x"), y) > 0.98
