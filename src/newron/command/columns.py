"""Columns of a table that are no inputs: times, labels, exposures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.tables import EncodedTable

__all__ = ["read_presence", "take_column"]

_NO, _YES = ("0", "no", "n", "false"), ("1", "yes", "y", "true")


def take_column(X: EncodedTable, name: str, option: str) -> tuple[EncodedTable, Floats]:
    """Return a table without a column, and the codes or numbers of that column."""
    if name not in X.names:
        raise InputError(f"{option}: expected a column of {', '.join(X.names[:8])}, got {name!r}")
    place = X.names.index(name)
    fields = tuple(field for field in X.fields if field.name != name)
    return EncodedTable(fields, np.delete(X.rows, place, axis=1)), X.rows[:, place]


def read_presence(codes: Floats, categories: Sequence[object] | None, name: str) -> Floats:
    """Return 1 where a label is there, 0 where it is not, and NaN where that is missing.

    Examples
    --------
    >>> read_presence(np.array([0.0, 1.0, np.nan]), ("yes", "no"), "funny").tolist()
    [1.0, 0.0, nan]
    """
    known = np.unique(codes[~np.isnan(codes)])
    texts = [f"{value:g}" for value in known.tolist()]
    if categories is not None:
        texts = [str(categories[int(code)]).strip().lower() for code in known.tolist()]
    if not all(text in _NO + _YES for text in texts):
        raise InputError(
            f"--labels: expected 0 and 1, no and yes, or false and true in {name!r}, got "
            f"{', '.join(map(repr, texts[:4]))}"
        )
    presence = np.array([text in _YES for text in texts], np.float64)
    out = np.full(len(codes), np.nan)
    there = ~np.isnan(codes)
    out[there] = presence[np.searchsorted(known, codes[there])]
    return out
