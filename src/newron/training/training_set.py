"""The rows to train on, in an order and number that do not depend on storage.

Rows of weight zero are dropped, equal rows are merged into one with the sum of their
weights, and the rest is sorted by a hash of its content, once, when the set is made. So a
row of weight two is the same as the row twice, and shuffling a table changes nothing.
Merging is a matter of speed alone: how many rows each distinct row stands for is kept,
and whatever counts rows counts these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.engine.rows import Rows
from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.tables.field import Field

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)
_MAX_COUNT = 1e9  # beyond it a whole weight is no number of rows

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Some rows of a training set: which distinct ones, how many of each, their weight."""

    index: NDArray[np.intp]
    count: Counts
    fraction: Floats  # of the distinct row's weight


@dataclass(frozen=True)
class TrainingSet:
    """Distinct rows of a checked table, with weights and true counts.

    Make one with :meth:`from_rows`.

    - ``X`` of shape (distinct rows, columns): Categories are their numbers, missing values NaN, see
      newron.tables.
    - ``y`` of shape (distinct rows, targets): Class numbers or regression targets.
    - ``weight`` of shape (distinct rows,): The sum of the weights of the rows that each stands for.
    - ``count`` of shape (distinct rows,): The number of rows that each stands for. A row whose
      weight is a whole number counts as so many rows, any other row once.
    - ``fields``: The columns.
    - ``row`` of shape (distinct rows,): The first row of the table that each stands for.
    - ``whole``: All rows in blocks, where these here are a sample of a large table.
    - ``group`` of shape (distinct rows,): Rows of one group are distinguished from others and stay
      together in folds: the periods of one subject.
    """

    X: Floats
    y: Floats
    weight: Floats
    count: Counts
    fields: tuple[Field, ...]
    row: NDArray[np.intp]
    whole: Rows | None = None
    group: NDArray[np.uint64] | None = None

    @classmethod
    def from_rows(
        cls,
        X: Floats,
        y: Floats,
        weight: Floats | None,
        fields: tuple[Field, ...],
        count: Counts | None = None,
        group: NDArray[np.uint64] | None = None,
    ) -> TrainingSet:
        """Choose, merge and order the rows of a table."""
        row = np.arange(len(X)) if weight is None else np.flatnonzero(weight != 0.0)
        if not len(row):
            raise InputError("expected a row with a positive sample weight, got none")
        keys = hash_rows(_list_varying(X, y), len(X))[row]
        if group is not None:
            # Mixed: a key may equal that of its group, where a subject's event ends an interval.
            keys += group[row] * _MIX
        order = np.argsort(keys, kind="stable")
        row, keys = row[order], keys[order]
        weights = np.ones(len(row)) if weight is None else np.asarray(weight, np.float64)[row]
        counts = count_rows(weights) if count is None else count[row]
        first = np.ones(len(row), bool)
        same_key = np.flatnonzero(keys[1:] == keys[:-1]) + 1
        if len(same_key):
            # A hash may collide: only rows that are equal are merged.
            here, before = row[same_key], row[same_key - 1]
            equal = _are_equal(X[here], X[before]) & _are_equal(y[here], y[before])
            if group is not None:
                equal &= group[here] == group[before]
            first[same_key[equal]] = False
            weights = np.add.reduceat(weights, np.flatnonzero(first))
            counts = np.add.reduceat(counts, np.flatnonzero(first))
        row = row[first]
        kept = None if group is None else group[row]
        return cls(X[row], y[row], weights, counts, fields, row, group=kept)

    def __len__(self) -> int:
        """Count the distinct rows."""
        return len(self.X)

    @property
    def n_rows(self) -> int:
        """How many rows there are, equal ones counted each."""
        return int(self.count.sum()) if self.whole is None else self.whole.n_rows

    def take(self, part: Part) -> TrainingSet:
        """Return some of the rows."""
        i = part.index
        weight = self.weight[i] * part.fraction
        known = None if self.group is None else self.group[i]
        rows = self.X[i], self.y[i], weight, part.count
        return TrainingSet(*rows, self.fields, self.row[i], group=known)

    def take_columns(self, index: NDArray[np.intp]) -> TrainingSet:
        """Return the rows with some of the columns."""
        if np.array_equal(index, np.arange(len(self.fields))):
            return self if self.whole is None else replace(self, whole=None)
        fields = tuple(self.fields[i] for i in index)
        X = np.ascontiguousarray(self.X[:, index])
        return replace(self, X=X, fields=fields, whole=None)

    def take_first(self, n: int) -> TrainingSet:
        """Return some distinct rows, the same for any order of storage."""
        if n >= len(self):
            return self if self.whole is None else replace(self, whole=None)
        return self.take(self.make_part(self.count, slice(n)))

    def make_part(self, count: Counts, among: slice = slice(None)) -> Part:
        """Return the part that has so many of the rows that each distinct row stands for."""
        index = np.flatnonzero(count[among])
        return Part(index, count[index], count[index] / self.count[index])


def count_rows(weight: Floats) -> Counts:
    """Return how many rows each stands for: its weight where that is a whole number, else one."""
    whole = (weight == np.round(weight)) & (weight <= _MAX_COUNT)
    return np.where(whole, weight, 1.0).astype(np.int64)


def _are_equal(a: Floats, b: Floats) -> NDArray[np.bool_]:
    # A missing value is NaN, and equal to another.
    return np.asarray(np.all((a == b) | (np.isnan(a) & np.isnan(b)), axis=1))


def _list_varying(*tables: Floats) -> Iterable[Floats]:
    """Yield the columns that are not constant: others do not distinguish rows."""
    for table in tables:
        for column in table.T:
            here = np.isnan(column[:1])
            if not np.all(np.isnan(column) if here.all() else column == column[:1]):
                yield column


def hash_rows(columns: Iterable[Floats], n_rows: int) -> NDArray[np.uint64]:
    """Return a key of each row; rows that are equal have the same."""
    keys = np.zeros(n_rows, np.uint64)
    for column in columns:
        # Adding zero turns -0.0 into 0.0, its equal.
        values = np.ascontiguousarray(column, np.float64) + 0.0
        values[np.isnan(values)] = np.nan  # of all its bit patterns, one
        keys = (keys ^ values.view(np.uint64)) * _MIX + _GOLDEN
        keys ^= keys >> _SHIFT
    return keys * _MIX
