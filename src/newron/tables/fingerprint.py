"""Which table it was, in 64 hexadecimal digits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.tables.field import Floats

_ROWS = 4_096  # that are hashed at a time


class TableHash:
    """The SHA-256 of names, encoded rows and targets; rows may come one part after the other.

    >>> table = TableHash(["age"])
    >>> table.add(np.array([[54.0]]))
    >>> table.finish([np.array([[1.0]])])[:8]
    '7d185abb'
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._digest = hashlib.sha256("\n".join(names).encode("utf-8", "surrogatepass"))

    def add(self, table: NDArray[Any]) -> None:
        """Add the next rows."""
        for first in range(0, len(table), _ROWS):
            self._digest.update(_clean(table[first : first + _ROWS]).tobytes())

    def finish(self, targets: Iterable[NDArray[Any]]) -> str:
        """Add the targets of all rows and return the digits."""
        for part in targets:
            self.add(part)
        return self._digest.hexdigest()


def hash_table(names: Sequence[str], X: Floats, y: NDArray[Any]) -> str:
    """Return the SHA-256 of names, encoded rows and targets, one or several for each row.

    >>> hash_table(["age"], np.array([[54.0]]), np.array([[1.0]]))[:8]
    '7d185abb'
    """
    digest = TableHash(names)
    digest.add(X)
    return digest.finish([y])


def _clean(table: NDArray[Any]) -> Floats:
    """Return numbers that are equal the same bits: one zero, one missing value."""
    values = np.array(table, np.float64, order="C") + 0.0
    values[np.isnan(values)] = np.nan
    return values
