"""``load``: a data set by its name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from newron.datasets.catalogue import Entry, find_entry
from newron.datasets.dataset import Dataset
from newron.datasets.drawing import DRAWN, draw_table
from newron.datasets.table import read_table
from newron.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_Rows = NDArray[np.intp]


def load(name: str, *, part: Literal["train", "test"] | None = None, seed: int = 0) -> Dataset:
    """Load one of the paper's data sets.

    Parameters
    ----------
    name : str
        One of ``names()``.
    part : {"train", "test"}, optional
        Return the rows of this official part only; adult, image and the MONK's have parts.
    seed : int, default=0
        The seed of the drawn sets: bisector, xor, parabola and circle. Others ignore it.

    Returns
    -------
    Dataset
        Features, target, the kinds of the columns, the parts and the source.

    Raises
    ------
    InputError
        If the name is unknown, the set has no such part, or pandas is not installed.

    Examples
    --------
    >>> from newron import datasets
    >>> heart = datasets.load("heart")
    >>> heart
    <Dataset heart: 270 rows, 10 numbers, 3 categories, 2 classes>
    >>> heart.kinds["chest_pain"], heart.source.licence
    ('category', 'CC BY 4.0')
    >>> datasets.load("monks-2", part="train").X.shape
    (169, 6)
    """
    entry = find_entry(name)
    if part not in (None, "train", "test"):
        raise InputError(f"expected 'train', 'test' or None as part, got {part!r}")
    _require_pandas()
    table = draw_table(name, seed) if name in DRAWN else read_table(entry)
    parts = _split_off(table)
    if part is None:
        return _make_dataset(entry, table, *parts)
    rows = parts[0] if part == "train" else parts[1]
    if rows is None:
        raise InputError(
            f"expected a set with official parts for part={part!r}, got {name!r} without: "
            "leave part out and split the rows yourself"
        )
    return _make_dataset(entry, table.iloc[rows].reset_index(drop=True), None, None)


def _require_pandas() -> None:
    if find_spec("pandas") is None:
        raise InputError(
            "expected pandas for the tables of newron.datasets, got none installed: "
            "run pip install pandas"
        )


def _split_off(table: pd.DataFrame) -> tuple[_Rows | None, _Rows | None]:
    """Take the column of the parts out of the table; return the row numbers of each part."""
    if "part" not in table:
        return None, None
    part = table.pop("part")
    return np.flatnonzero(part == "train"), np.flatnonzero(part == "test")


def _make_dataset(
    entry: Entry, table: pd.DataFrame, train: _Rows | None, test: _Rows | None
) -> Dataset:
    *columns, target = table.columns
    return Dataset(
        name=entry.name,
        X=table[columns],
        y=table[target],
        kinds={column: entry.get_kind(column) for column in columns},
        train=train,
        test=test,
        source=entry.source,
        note=entry.note,
    )
