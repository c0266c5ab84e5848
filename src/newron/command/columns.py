"""Columns of a table that are no inputs: times, labels, exposures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.tables import EncodedTable

_NO, _YES = ("0", "no", "n", "false"), ("1", "yes", "y", "true")


@dataclass(frozen=True)
class Offset:
    """A column whose numbers, or logarithms, are added to the scores."""

    column: str
    is_exposure: bool

    @property
    def option(self) -> str:
        """The option that names it."""
        return "--exposure" if self.is_exposure else "--offset"

    def read(self, values: Floats) -> Floats:
        """Return what is added to the score of each row."""
        least = "above 0" if self.is_exposure else "in every row"
        good = np.isfinite(values) & (not self.is_exposure or values > 0.0)
        if not good.all():
            row = int(np.argmin(good))
            raise InputError(
                f"{self.option}: expected numbers {least} in {self.column!r}, got "
                f"{values[row]:g} in row {row + 1}"
            )
        return np.log(values) if self.is_exposure else values

    def split(self, X: EncodedTable) -> tuple[EncodedTable, Floats]:
        """Return a table without the column, and what is added to the scores."""
        kinds = {field.name: field.categories for field in X.fields}
        rest, values = take_column(X, self.column, self.option)
        if kinds[self.column] is not None:
            raise InputError(f"{self.option}: expected numbers in {self.column!r}, got text")
        return rest, self.read(values)


def find_offset(offset: str | None, exposure: str | None) -> Offset | None:
    """Return the offset that options name.

    >>> find_offset(None, "years")
    Offset(column='years', is_exposure=True)
    """
    if offset is not None and exposure is not None:
        raise InputError("expected --offset or --exposure, got both")
    name = exposure if offset is None else offset
    return None if name is None else Offset(name, exposure is not None)


def take_column(X: EncodedTable, name: str, option: str) -> tuple[EncodedTable, Floats]:
    """Return a table without a column, and the codes or numbers of that column."""
    if name not in X.names:
        raise InputError(f"{option}: expected a column of {', '.join(X.names[:8])}, got {name!r}")
    place = X.names.index(name)
    fields = tuple(field for field in X.fields if field.name != name)
    return EncodedTable(fields, np.delete(X.rows, place, axis=1)), X.rows[:, place]


def read_presence(codes: Floats, categories: Sequence[object] | None, name: str) -> Floats:
    """Return 1 where a label is there, 0 where it is not, and NaN where that is missing.

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
