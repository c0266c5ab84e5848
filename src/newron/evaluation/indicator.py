"""Several labels as users give them: a matrix of 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.labels import Labels


@dataclass(frozen=True)
class Indicator:
    """Which rows have which labels.

    - ``values`` of shape (rows, labels): 1 where a row has a label, otherwise 0.
    """

    names: tuple[str, ...]
    values: Floats

    @property
    def output(self) -> Labels:
        """The labels as the output of a model."""
        return Labels(self.names)

    def check(self, known: tuple[str, ...]) -> None:
        """Raise where there are other labels than those of the first fit."""
        if len(known) != len(self.names):
            raise InputError(f"y: expected {len(known)} labels, as in fit, got {len(self.names)}")


def read_indicator(y: Any) -> Indicator | None:
    """Return an indicator matrix of at least two labels; None where y is something else.

    >>> read_indicator([[0, 1], [1, 1]]).names
    ('y1', 'y2')
    >>> read_indicator([0, 1]) is None
    True
    """
    if isinstance(y, Indicator):
        return y
    table = y.toarray() if issparse(y) else y
    try:
        values = np.asarray(table)
    except ValueError:  # rows of several lengths
        return None
    if values.ndim != 2 or values.shape[1] < 2 or not len(values):
        return None
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        return None
    if not np.isin(numbers, (0.0, 1.0)).all():
        return None
    names = getattr(table, "columns", None)
    given = [f"y{k + 1}" for k in range(values.shape[1])] if names is None else map(str, names)
    return Indicator(tuple(given), numbers)
