"""The same seed gives the same model on every instruction set that this machine has."""

import os
import subprocess
import sys

import pytest

FIT = """
import sys
import numpy as np
from newron import NewronClassifier, NewronRegressor, _core
assert _core.instruction_set() == sys.argv[1], "the core of this machine has no such copy"
rng = np.random.default_rng(0)
X = rng.normal(size=(240, 4)).round(2)
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 3] > 1)
for processing in ("heaviside", "sigmoid", "tanh_prod", "linear", "relu", "selu"):
    for recipe in ("gradient", "paper"):
        made = NewronClassifier(processing, hidden_layer_sizes=(3,), recipe=recipe, max_iter=12,
                                n_init=2, random_state=0)
        print(processing, recipe, made.fit(X, y > 0).model_.fingerprint)
        print(processing, recipe, made.fit(X, y).model_.fingerprint)
made = NewronRegressor("tanh_prod", hidden_layer_sizes=(3,), n_factors=3, recipe="gradient",
                       aggregation="product", max_iter=12, n_init=1, random_state=0)
print(made.fit(X, X[:, 0] * X[:, 1]).model_.fingerprint)
print(NewronClassifier("heaviside", recipe="grow", random_state=0).fit(X, y).model_.fingerprint)
"""


def fit_on(name: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT, name], capture_output=True, text=True,
        env={**os.environ, "NEWRON_INSTRUCTION_SET": name},
    )  # fmt: skip
    if "has no such copy" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_models_are_the_same_to_the_last_bit():
    from newron import _core

    ours = _core.instruction_set()
    expected = fit_on(ours)
    assert len(expected.splitlines()) == 26
    for name in {"baseline", "v3"} - {ours}:
        assert fit_on(name) == expected, name
