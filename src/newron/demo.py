"""The demonstration: a network finds the rule of the MONK-2 problem.

MONK-2 (S. Thrun et al., 1991): six attributes of a robot; the class is 1 if
exactly two of them have their first value.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from newron._version import __version__
from newron.estimators import NewronClassifier
from newron.model import Model, Schema
from newron.model.arithmetic import Floats

__all__ = ["make_monk2", "run_demo"]

_SIZES = (3, 3, 2, 3, 4, 2)


def make_monk2() -> tuple[Floats, NDArray[np.int64]]:
    """Give all 432 robots of MONK-2 and their classes.

    Examples
    --------
    >>> X, y = make_monk2()
    >>> X.shape, int(y.sum())
    ((432, 6), 142)
    """
    robots = np.array(list(product(*(range(1, n + 1) for n in _SIZES))), np.float64)
    return robots, ((robots == 1).sum(axis=1) == 2).astype(np.int64)


def _rename(model: Model) -> Model:
    """Call the inputs a1 to a6, as the problem does."""
    columns = [replace(c, name=f"a{i}") for i, c in enumerate(model.schema.columns, 1)]
    return Model(Schema(tuple(columns)), model.layers, model.output)


def run_demo() -> str:
    """Train on MONK-2 and tell the network that was found."""
    X, y = make_monk2()
    start = time.perf_counter()
    network = NewronClassifier(
        "heaviside", hidden_layer_sizes=(1, 2), n_init=40, n_jobs=-1, random_state=0
    ).fit(X, y)
    seconds = time.perf_counter() - start
    right = int((network.predict(X) == y).sum())
    text = str(_rename(network.model_)).replace("\n", "\n  ")
    return (
        f"newron {__version__} · demo · MONK-2: 6 attributes, {len(X)} rows\n\n"
        f"  Right for {right} of {len(X)} inputs, after 40 restarts in {seconds:.2f} s.\n\n"
        f"  {text}\n\n"
        "  Next: from newron import NewronClassifier; see README.md\n"
    )
