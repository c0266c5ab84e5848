"""Builders that several modules of tests here share."""

import numpy as np


def make_subjects(n=300, seed=0):
    """Make subjects whose hazard rises with age and sex; some are lost."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(30.0, 80.0, n), rng.integers(0, 2, n)])
    death = rng.exponential(20.0 * np.exp(-0.05 * (X[:, 0] - 50.0) - 0.8 * X[:, 1]))
    lost = rng.uniform(5.0, 40.0, n)
    kinds = [("death", bool), ("months", float)]
    pairs = zip(death <= lost, np.minimum(death, lost).round(1), strict=True)
    return X, np.array(list(pairs), kinds)
