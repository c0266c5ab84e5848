"""Where two models differ: on how many rows, and on which kind of rows most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.formatting import format_label, format_number
from newron.model.result import Result
from newron.tables import EncodedTable, Field

_CUTS = 10  # parts of a column of numbers that are looked at
_MIN_ROWS = 5  # of a region


@dataclass(frozen=True)
class Disagreement(Result):
    """On which rows two models differ.

    - ``n_rows``, ``n_differ``: All rows, and those on which they differ.
    - ``region``: The one condition on a column that separates these best from the others; empty
      where there is none.
    - ``n_region``, ``n_differ_region``: The rows of the region, and those of them on which the
      models differ.

    >>> X = EncodedTable((Field("age"),), np.arange(20.0)[:, None])
    >>> find_disagreement(X, np.arange(20) >= 14).region
    'age ≥ 14'
    """

    n_rows: int
    n_differ: int
    region: str
    n_region: int
    n_differ_region: int


def find_disagreement(X: EncodedTable, differ: NDArray[np.bool_]) -> Disagreement:
    """Describe the rows on which two models differ.

    >>> X = EncodedTable((Field("colour", ("blue", "red")),), np.array([[0.0], [1.0]] * 10))
    >>> find_disagreement(X, X.rows[:, 0] == 1)
    Disagreement(n_rows=20, n_differ=10, region='colour = red', n_region=10, n_differ_region=10)
    """
    best, region, inside = 0.0, "", np.zeros(len(X), bool)
    total = int(differ.sum())
    for name, mask in _list_regions(X):
        n = int(mask.sum())
        # More differences than chance would put there, in standard errors.
        gain = int((mask & differ).sum()) - total * n / len(X)
        spread = np.sqrt(n * (len(X) - n)) / len(X)
        if min(n, len(X) - n) >= _MIN_ROWS and gain / spread > best + 1e-9:
            best, region, inside = gain / spread, name, mask
    return Disagreement(len(X), total, region, int(inside.sum()), int((inside & differ).sum()))


def _list_regions(X: EncodedTable) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for i, one in enumerate(X.fields):
        cells = X.rows[:, i]
        yield f"{one.name} missing", np.isnan(cells)
        if one.categories is None:
            yield from _list_ranges(one, cells)
        else:
            for code, label in enumerate(one.categories):
                yield f"{one.name} = {format_label(label)}", cells == code


def _list_ranges(one: Field, cells: NDArray[np.float64]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    known = cells[~np.isnan(cells)]
    if not len(known):
        return
    levels = np.linspace(0.0, 1.0, _CUTS + 1)[1:-1]
    for cut in np.unique(np.quantile(known, levels, method="higher")):
        yield f"{one.name} ≥ {format_number(float(cut))}", cells >= cut
        yield f"{one.name} < {format_number(float(cut))}", cells < cut
