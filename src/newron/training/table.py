"""The rows to train on, in an order and number that do not depend on storage.

Rows of weight zero are dropped, equal rows are merged into one with the sum of
their weights, and the rest is sorted by a hash of its content. So a row of
weight two is the same as the row twice, and shuffling a table changes nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats

__all__ = ["Rows", "settle_rows"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


@dataclass(frozen=True)
class Rows:
    """Which rows of a table to use, in which order, with which weights."""

    index: NDArray[np.intp]
    weight: Floats


def settle_rows(X: Floats, y: Floats, weight: Floats | None = None) -> Rows:
    """Choose, merge and order the rows of X (n, columns) with targets y (n, k)."""
    index = np.arange(len(X)) if weight is None else np.flatnonzero(weight != 0.0)
    if not len(index):
        raise InputError("expected a row with a positive sample weight, got none")
    keys = _hash_rows(X, y)[index]
    order = np.argsort(keys, kind="stable")
    index, keys = index[order], keys[order]
    weights = np.ones(len(index)) if weight is None else np.asarray(weight, np.float64)[index]
    fresh = np.ones(len(index), bool)
    same_key = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    if len(same_key):
        # A hash may collide: only rows that are equal are merged.
        here, before = index[same_key], index[same_key - 1]
        equal = _are_equal(X[here], X[before]) & _are_equal(y[here], y[before])
        fresh[same_key[equal]] = False
        weights = np.add.reduceat(weights, np.flatnonzero(fresh))
    return Rows(index[fresh], weights)


def _are_equal(a: Floats, b: Floats) -> NDArray[np.bool_]:
    # A gap is NaN, and equal to a gap.
    return np.asarray(np.all((a == b) | (np.isnan(a) & np.isnan(b)), axis=1))


def _hash_rows(X: Floats, y: Floats) -> NDArray[np.uint64]:
    keys = np.zeros(len(X), np.uint64)
    for table in (X, y):
        for column in table.T:
            # Adding zero turns -0.0 into 0.0, its equal.
            values = np.ascontiguousarray(column, np.float64) + 0.0
            values[np.isnan(values)] = np.nan  # of all its bit patterns, one
            bits = values.view(np.uint64)
            if np.all(bits == bits[:1]):
                continue  # a constant tells rows apart no more than no column
            keys = (keys ^ bits) * _MIX + _GOLDEN
            keys ^= keys >> _SHIFT
    return keys * _MIX
