"""The demonstration: a network finds the rule of the MONK-2 problem.

MONK-2 (S. Thrun et al., 1991): six attributes of a robot; the class is 1 if
exactly two of them have their first value. ``newron demo`` shows it.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from newron.datasets.text import read_text
from newron.estimators import NewronClassifier
from newron.model import Model
from newron.model.arithmetic import Floats
from newron.tables import EncodedTable, Field

RESTARTS = 40
_SIZES = (3, 3, 2, 3, 4, 2)


def make_monk2() -> tuple[Floats, NDArray[np.int64]]:
    """Return all 432 robots of MONK-2 and their classes.

    >>> X, y = make_monk2()
    >>> X.shape, int(y.sum())
    ((432, 6), 142)
    """
    robots = np.array(list(product(*(range(1, n + 1) for n in _SIZES))), np.float64)
    return robots, ((robots == 1).sum(axis=1) == 2).astype(np.int64)


def load_training_rows() -> tuple[Floats, NDArray[np.int64]]:
    """Return the 169 robots of the problem's training part and their classes."""
    table = np.array(read_text("monks-2", part="train")[1:]).astype(np.int64)
    return table[:, :6].astype(np.float64), table[:, 6]


def train_monk2(X: Floats, y: NDArray[np.int64]) -> Model:
    """Train the smallest network that can learn the rule; its inputs are a1 to a6."""
    table = EncodedTable(tuple(Field(f"a{i}") for i in range(1, 7)), X)
    network = NewronClassifier(
        "heaviside", hidden_layer_sizes=(1, 2), n_init=RESTARTS, n_jobs=-1, random_state=0
    )
    return network.fit(table, y).model_
