"""Which table it was, in 64 hexadecimal digits."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from newron.tables.field import Floats

__all__ = ["hash_table"]


def hash_table(names: Sequence[str], X: Floats, y: Floats) -> str:
    """Return the SHA-256 of names, encoded rows and targets, of shape (rows, targets).

    Examples
    --------
    >>> hash_table(["age"], np.array([[54.0]]), np.array([[1.0]]))[:8]
    '7d185abb'
    """
    digest = hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass"))
    for table in (X, y):
        digest.update(_clean(table).tobytes())
    return digest.hexdigest()


def _clean(table: Floats) -> Floats:
    """Return numbers that are equal the same bits: one zero, one missing value."""
    values = np.array(table, np.float64, order="C") + 0.0
    values[np.isnan(values)] = np.nan
    return values
