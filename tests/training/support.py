"""Builders that several modules of tests here share."""

import numpy as np


def make_blobs(n=300, classes=2, columns=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, columns)) + y[:, None] * 1.5, y
