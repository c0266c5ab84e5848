"""What a data set is: a table, a target, and where they come from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["category", "number"]


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, and what its licence requires to be named.

    Attributes
    ----------
    title : str
        What the source calls the set.
    donors : tuple of str
        Who made the data or gave them to the public.
    page : str
        The address of the source's page; nothing is read from it.
    licence : str
        Under which licence the source gives the data.
    citation : str
        How to cite the set.
    copy : str
        Where the shipped copy was taken from.

    Examples
    --------
    >>> from newron import datasets
    >>> source = datasets.load("heart").source
    >>> source.title, source.licence
    ('Statlog (Heart)', 'CC BY 4.0')
    """

    title: str
    donors: tuple[str, ...]
    page: str
    licence: str
    citation: str
    copy: str


# Two tables are not simply equal or not, so data sets are compared by identity.
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set as ``load`` returns it.

    Attributes
    ----------
    name : str
        The paper's short name.
    X : pandas.DataFrame
        The features. Categories have the dtype ``category``, numbers ``int64`` or
        ``float64``; missing values are NaN.
    y : pandas.Series
        The classes, as the source writes them.
    kinds : dict
        ``"category"`` or ``"number"`` for each column of X.
    train, test : ndarray or None
        The rows of the official parts; None without parts, or if one part was requested.
    source : Source
        Donors, page and licence.
    note : str
        What the classes mean, and what to know before using the set.

    Examples
    --------
    >>> from newron import datasets
    >>> datasets.load("iris")
    <Dataset iris: 150 rows, 4 numbers, 0 categories, 3 classes>
    """

    name: str
    X: pd.DataFrame
    y: pd.Series[Any]
    kinds: dict[str, Kind]
    train: NDArray[np.intp] | None
    test: NDArray[np.intp] | None
    source: Source
    note: str

    def __repr__(self) -> str:
        kinds = Counter(self.kinds.values())
        return (
            f"<Dataset {self.name}: {len(self.X)} rows, {kinds['number']} numbers, "
            f"{kinds['category']} categories, {self.y.nunique()} classes>"
        )
