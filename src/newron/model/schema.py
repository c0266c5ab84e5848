"""The columns that a model reads: names, kinds, ranges, rank scales."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from newron.errors import ModelError
from newron.model.arithmetic import Floats
from newron.tables.field import Label, make_names

MAX_KNOTS = 32


@dataclass(frozen=True)
class RankScale:
    """A strictly increasing piecewise-linear map from a column to its ranks.

    Between the first and the last knot it interpolates; outside it goes on with
    the average slope, so that every value of the column has one rank and back.

    Parameters
    ----------
    knots : tuple of float
        Values of the column, increasing.
    ranks : tuple of float
        The rank of each knot, increasing.

    Examples
    --------
    >>> scale = RankScale(knots=(0.0, 1.0, 10.0), ranks=(0.0, 0.5, 1.0))
    >>> scale.rank(np.array([0.5, 10.0, 20.0])).tolist()
    [0.25, 1.0, 2.0]
    """

    knots: tuple[float, ...]
    ranks: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check that the map is strictly increasing."""
        if not 2 <= len(self.knots) <= MAX_KNOTS or len(self.knots) != len(self.ranks):
            raise ModelError(
                f"a rank scale needs 2 to {MAX_KNOTS} knots and as many ranks, "
                f"got {len(self.knots)} and {len(self.ranks)}"
            )
        for values in (self.knots, self.ranks):
            increasing = all(a < b for a, b in pairwise(values))
            if not (increasing and all(abs(v) <= 1e300 for v in values)):
                raise ModelError(f"knots and ranks must increase within ±1e300, got {values}")
        with np.errstate(over="ignore"):
            slope = self.segments[2]
        if not np.all((slope > 1e-305) & (slope < 1e305)):
            raise ModelError("a rank scale is too steep or too flat to go there and back")

    @cached_property
    def segments(self) -> tuple[Floats, Floats, Floats]:
        """Start x, start rank and slope of each segment; one more than knots."""
        x, y = np.array(self.knots), np.array(self.ranks)
        outside = (y[-1] - y[0]) / (x[-1] - x[0])
        inside = np.diff(y) / np.diff(x)
        slope = np.concatenate([[outside], inside, [outside]])
        parts = np.concatenate([x[:1], x]), np.concatenate([y[:1], y]), slope
        for part in parts:
            part.flags.writeable = False
        return parts

    def rank(self, x: Floats) -> Floats:
        """Return the ranks of values of the column.

        Parameters
        ----------
        x : array

        Returns
        -------
        array
        """
        start, rank, slope = self.segments
        at = np.searchsorted(np.array(self.knots), x, side="right")
        return np.asarray(rank[at] + (x - start[at]) * slope[at])

    def value(self, rank: Floats) -> Floats:
        """Return the values of the column that have these ranks.

        Parameters
        ----------
        rank : array

        Returns
        -------
        array
        """
        start, ranks, slope = self.segments
        at = np.searchsorted(np.array(self.ranks), rank, side="right")
        return np.asarray(start[at] + (rank - ranks[at]) / slope[at])


@dataclass(frozen=True)
class Column:
    """One input: its name, its domain, and how it is shown.

    A column of categories has their labels; a row then holds the number of its
    category, from 0 on. A missing value is NaN in either kind.

    Parameters
    ----------
    name : str
    low, high : float
        The observed range; of categories the first and the last number.
    values : tuple of float, optional
        All values that the column can have, where they are few.
    rank_scale : RankScale, optional
        The ranks of the training rows, where functions may read them.
    categories : tuple of str, int, float or bool, optional
        The labels of the categories; None for a column of numbers.
    gaps : bool, default=False
        Whether values were missing in training.
    unit : str, optional
        What to print after numbers.
    required : bool, default=False
        Whether the column was declared never to have a missing value: a row without one
        is then an error.
    period : float, optional
        After how much the column begins again, such as 24 hours: functions that read it repeat.

    Examples
    --------
    >>> Column("age", 29.0, 77.0, unit="years").n_categories
    0
    >>> Column("colour", 0.0, 1.0, categories=("blue", "red")).n_categories
    2
    """

    name: str
    low: float
    high: float
    values: tuple[float, ...] | None = None
    rank_scale: RankScale | None = None
    categories: tuple[Label, ...] | None = None
    gaps: bool = False
    unit: str | None = None
    required: bool = False
    period: float | None = None

    def __post_init__(self) -> None:
        """Check that name, range and values fit."""
        if not isinstance(self.name, str):
            raise ModelError(f"expected a column name that is text, got {self.name!r}")
        if not (-1e300 <= self.low <= self.high <= 1e300):
            raise ModelError(
                f"column {self.name!r}: expected low <= high within ±1e300, "
                f"got {self.low} and {self.high}"
            )
        if self.values is not None and not all(abs(v) < 1e300 for v in self.values):
            raise ModelError(f"column {self.name!r}: expected values within ±1e300")
        if self.unit is not None and not isinstance(self.unit, str):
            raise ModelError(f"column {self.name!r}: expected a unit that is text")
        if self.required and self.gaps:
            raise ModelError(f"column {self.name!r}: expected no missing values in training")
        if self.period is not None and not 1e-300 <= self.period <= 1e300:
            raise ModelError(f"column {self.name!r}: expected a period above 0")
        if self.categories is not None:
            self._check_categories(self.categories)

    def _check_categories(self, labels: tuple[Label, ...]) -> None:
        if self.values is not None or self.rank_scale is not None or self.period is not None:
            raise ModelError(
                f"column {self.name!r}: categories have no values, no rank scale and no period"
            )
        if not all(isinstance(label, str | int | float) for label in labels):
            raise ModelError(f"column {self.name!r}: expected labels that are text or numbers")
        if len(set(labels)) != len(labels):  # no table can tell True from 1
            raise ModelError(f"column {self.name!r}: expected categories that differ")

    @property
    def n_categories(self) -> int:
        """How many categories there are; 0 for numbers."""
        return 0 if self.categories is None else len(self.categories)


@dataclass(frozen=True)
class Schema:
    """The columns in the order in which a model reads them.

    Parameters
    ----------
    columns : tuple of Column
        At least one; their names differ.

    Examples
    --------
    >>> Schema((Column("age", 0.0, 99.0), Column("bmi", 10.0, 60.0))).names
    ('age', 'bmi')
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        """Check that there are columns, and that their names differ."""
        if not self.columns:
            raise ModelError("a model needs at least one input")
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise ModelError(f"expected column names that differ, got {name!r} twice")
            seen.add(name)

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def unnamed(self) -> bool:
        """Whether the names are those that columns of an array get."""
        return self.names == make_names(len(self))
