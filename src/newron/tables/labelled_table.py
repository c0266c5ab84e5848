"""A table to train on, in memory: all rows of a file, or a sample of a large one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newron.tables.field import Floats, Label
from newron.tables.table import EncodedTable, Target

if TYPE_CHECKING:
    from newron.tables.labelled import LabelledSource


@dataclass(frozen=True)
class LabelledTable:
    """A table to train on: ``estimator.fit(table.X, table.y)``.

    Attributes
    ----------
    X : EncodedTable
        The inputs.
    y : Target
        What to predict.
    form : str
        What the file is, in words.
    missing : dict
        How many values each column lacks, of those that lack some.
    left_out : dict
        Columns that are no inputs, and why.
    n_unlabelled : int
        How many rows have no target: they are left out.
    odd_words : dict
        Columns that are read as text because of few words among numbers: these words, and
        how often they occur.
    units : dict
        What numbers are written with, of columns and the target: %, or a currency.
    notes : tuple of str
        What else should be known of the file.
    weight : array of shape (rows,), optional
        The weights of the rows, where a column has them.
    whole : LabelledSource, optional
        The whole table, where these rows are a sample of a large one.
    index : array of shape (rows,), optional
        Their numbers in it.

    Examples
    --------
    >>> from newron.tables import encode
    >>> y = Target("ill", ("no", "yes"), np.array([1, 0]))
    >>> len(LabelledTable(encode([[1.5], [2.5]]), y))
    2
    """

    X: EncodedTable
    y: Target
    form: str = ""
    missing: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    n_unlabelled: int = 0
    odd_words: Mapping[str, list[tuple[str, int]]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    weight: Floats | None = None
    whole: LabelledSource | None = None
    index: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.X)

    @property
    def n_rows(self) -> int:
        """How many rows the file has, also where these are a sample of them."""
        return len(self) if self.whole is None else self.whole.n_used

    def count_classes(self) -> dict[Label, int]:
        """Return how many rows of the file each class has.

        Returns
        -------
        dict
            By label.
        """
        return self.y.count_classes() if self.whole is None else self.whole.count_classes()
