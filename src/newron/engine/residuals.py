"""What an additive model leaves over: whether several columns together explain the rest.

Trees are grown on one half of the rows towards the gradients that are left, and evaluated on
the other half. They see every interaction that a network with hidden layers could learn, cost
milliseconds, and find nothing where only noise is left.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.engine.additive import Additive
from newron.engine.rows import Index
from newron.model.arithmetic import Floats

_ROWS = 6_000  # of which trees are grown
_MANY = 1_000_000  # rows of which no permutation is made, for its memory
_TREES = 10
_FEATURES = 100  # columns that a split looks at, at most
_LEAF = 3  # rows of a leaf at least
_SEED = 6


def measure_rest(model: Additive) -> float:
    """Return by how many standard errors trees predict what a model leaves over.

    Parameters
    ----------
    model : Additive

    Returns
    -------
    float
        About 0 or below where nothing is left but noise.

    Examples
    --------
    >>> from newron.engine import fit
    >>> from newron.model import Classes
    >>> from newron.tables import Field
    >>> X = np.random.default_rng(0).normal(size=(3000, 3))
    >>> fields = [Field(name) for name in "abc"]
    >>> odd = (X.prod(axis=1) > 0.0).astype(float)
    >>> measure_rest(fit(X, odd, Classes(("no", "yes")), fields).parts[0]) > 10.0
    True
    """
    rows = _choose_rows(model.table.n_rows)
    codes = np.ascontiguousarray(model.table.rows.take_codes(rows).T, np.float32)
    left = np.stack([gradient for gradient, _ in model.differentiate(rows)], axis=1)
    half = len(rows) // 2
    first, second = slice(0, half), slice(half, None)
    agreement = np.concatenate(
        [
            _predict(codes[a], left[a], codes[b], seed) * left[b]
            for seed, (a, b) in enumerate([(first, second), (second, first)])
        ]
    ).sum(axis=1)
    error = float(agreement.std()) / math.sqrt(max(len(agreement), 1))
    return float(agreement.mean()) / error if error > 0.0 else 0.0


def _choose_rows(n_rows: int) -> Index:
    """Return some rows in any order."""
    random = np.random.default_rng(_SEED)
    if n_rows <= _MANY:
        return random.permutation(n_rows)[:_ROWS]
    return random.choice(n_rows, _ROWS, replace=False)


def _predict(codes: NDArray[Any], left: Floats, others: NDArray[Any], seed: int) -> Floats:
    """Return the mean of random trees; one by one, since a forest imports and starts much more."""
    from sklearn.tree import ExtraTreeRegressor

    total = np.zeros((len(others), left.shape[1]))
    features = min(0.5, _FEATURES / codes.shape[1])
    for i in range(_TREES):
        tree = ExtraTreeRegressor(
            max_features=features, min_samples_leaf=_LEAF, random_state=_TREES * seed + i
        )
        tree.fit(codes, left, check_input=False)
        total += tree.predict(others, check_input=False).reshape(total.shape)
    return total / _TREES
