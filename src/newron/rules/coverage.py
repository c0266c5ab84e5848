"""Rows that rules are measured on: the cells of their values, and their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, number_classes
from newron.rules.axis import Axis, make_axes
from newron.rules.body import Body, Points
from newron.rules.node import CellRows


@dataclass(frozen=True)
class Coverage:
    """Some rows by the cells of their values, how many there are, and their classes.

    Rows of the same cells are kept once, with their number for each class.
    """

    cells: NDArray[np.int16]  # (rows, columns)
    values: tuple[Floats, ...]  # one of each cell of each column
    counts: NDArray[np.int64]  # (rows, classes), or (rows, 1) where there are none

    @classmethod
    def measure(
        cls,
        axes: Sequence[Axis],
        rows: NDArray[Any],
        classes: NDArray[np.intp],
        n_classes: int,
        count: NDArray[np.int64] | None = None,
    ) -> Coverage:
        """Count rows by the cells of their values; numbers are of one class, the first.

        ``count`` is how many rows each of them stands for, by default one.
        """
        codes = np.empty((len(rows), len(axes)), np.int16)
        for i, axis in enumerate(axes):
            codes[:, i] = axis.locate(np.asarray(rows[:, i], np.float64))
        kinds, place = np.unique(codes, axis=0, return_inverse=True)
        counts = np.zeros((len(kinds), n_classes), np.int64)
        np.add.at(counts, (place.reshape(-1), classes), 1 if count is None else count)
        # What lies outside stays outside: no listed value is infinite, no gap is one there.
        outside = [np.inf if axis.missing or axis.values is not None else np.nan for axis in axes]
        values = [np.append(axis.representatives, outside[i]) for i, axis in enumerate(axes)]
        return cls(kinds, tuple(values), counts)

    @classmethod
    def read(cls, model: Model, axes: Sequence[Axis], X: Any, y: ArrayLike | None) -> Coverage:
        """Count the rows of a table, by their classes where there are some."""
        rows, output = model.read(X), model.output
        if y is None or not isinstance(output, Classes):
            return cls.measure(axes, rows, np.zeros(len(rows), np.intp), 1)
        classes = number_classes(output, y, len(rows))
        return cls.measure(axes, rows, classes, len(output.labels))

    def locate_rows(self, axes: Sequence[Axis]) -> NDArray[np.intp]:
        """Return the cells of the rows on some axes."""
        pairs = enumerate(zip(axes, self.values, strict=True))
        return np.stack([axis.locate(own)[self.cells[:, i]] for i, (axis, own) in pairs], axis=1)

    def measure_body(self, body: Body, axes: Sequence[Axis]) -> list[tuple[int, float | None]]:
        """Return how many rows each rule covers, and its precision there.

        If/then rules cover what no rule before them does, and the last entry is the rest.
        Points have no precision.
        """
        rows = CellRows(axes, self.locate_rows(axes))
        if isinstance(body, Points):
            return [(self._count(rows.holds(term.node)), None) for term in body.terms]
        left = np.ones(len(rows), bool)
        out = []
        for branch in body.branches:
            covered = rows.holds(branch.node) & left
            out.append(self._measure(covered, branch.outcome))
            left &= ~covered
        return [*out, self._measure(left, body.default)]

    def _count(self, chosen: NDArray[np.bool_]) -> int:
        return int(self.counts[chosen].sum())

    def _measure(self, chosen: NDArray[np.bool_], outcome: int) -> tuple[int, float | None]:
        n = self._count(chosen)
        if n == 0 or self.counts.shape[1] == 1:
            return n, None
        return n, int(self.counts[chosen, outcome].sum()) / n


def cover_rows(model: Model, X: Any, y: ArrayLike) -> Coverage:
    """Count the rows of a table by the cells and classes that a crisp model distinguishes."""
    from newron.rules.circuit import find_boundaries

    axes = make_axes(model.schema, find_boundaries(model), gaps=True)
    return Coverage.read(model, axes, X, y)
