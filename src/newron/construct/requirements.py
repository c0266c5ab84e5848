"""Conditions on a column as people write them: intervals of numbers, sets of categories."""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from newron.errors import InputError
from newron.formatting import shorten
from newron.model.condition import Condition
from newron.tables.field import LARGEST_INPUT, Label

_CLOSED = ("left", "right", "both", "neither")
_SHOWN = 60


@dataclass(frozen=True)
class Interval:
    """The numbers between two ends.

    Parameters
    ----------
    low, high : float
        The ends; infinite ones are no condition.
    closed : {"left", "right", "both", "neither"}
        Which of the ends belong to it.
    missing : bool, optional
        Whether missing values pass. By default they pass where every number does.

    Examples
    --------
    >>> 2 in Interval(1, 2), 2 in Interval(1, 2, "both"), math.nan in Interval(1, missing=True)
    (False, True, True)
    """

    low: float = -math.inf
    high: float = math.inf
    closed: Literal["left", "right", "both", "neither"] = "left"
    missing: bool | None = None

    def __post_init__(self) -> None:
        """Check that some number may lie between the ends."""
        for name in ("low", "high"):
            object.__setattr__(self, name, _read_end(getattr(self, name)))
        if self.closed not in _CLOSED:
            raise InputError(f"expected closed among {', '.join(_CLOSED)}, got {self.closed!r}")
        if self.missing not in (None, True, False):
            raise InputError(f"expected missing that is True, False or None, got {self.missing!r}")
        point = self.low == self.high and self.closed == "both" and math.isfinite(self.low)
        if not (self.low < self.high or point):
            raise InputError(
                f"expected an interval with numbers in it, got low {self.low}, high {self.high} "
                f"and closed {self.closed!r}; leave the box out, or take MISSING for missing values"
            )

    def __contains__(self, value: float) -> bool:
        return bool(self.condition.holds(value))

    @property
    def condition(self) -> Condition:
        """The same with closed ends, in float64 and within what a network takes."""
        low, high = self.low, self.high
        if self.closed in ("right", "neither"):
            low = math.nextafter(low, math.inf)
        if self.closed in ("left", "neither"):
            high = math.nextafter(high, -math.inf)
        low = low if low > -LARGEST_INPUT else -math.inf
        high = high if high < LARGEST_INPUT else math.inf
        outside = low > LARGEST_INPUT or high < -LARGEST_INPUT
        found = Condition(() if outside else ((low, high),))
        missing = found.has_every_value if self.missing is None else self.missing
        return replace(found, missing=missing)


@dataclass(frozen=True)
class OneOf:
    """Some of the categories of a column; a set of labels says the same.

    Parameters
    ----------
    labels : iterable of labels
    missing : bool
        Whether missing values pass; unknown categories count as missing values.

    Examples
    --------
    >>> OneOf({"red", "blue"}).labels
    ('blue', 'red')
    """

    labels: Iterable[Label]
    missing: bool = False

    def __post_init__(self) -> None:
        """Put the labels in order, those of a set sorted."""
        if isinstance(self.labels, str) or not isinstance(self.labels, Iterable):
            raise InputError(f"expected a list or set of labels, got {show(self.labels)}")
        if self.missing not in (True, False):
            raise InputError(f"expected missing that is True or False, got {self.missing!r}")
        labels = [x.item() if isinstance(x, np.generic) else x for x in self.labels]
        if wrong := [x for x in labels if not isinstance(x, str | int | float)]:
            raise InputError(f"expected labels that are text or numbers, got {show(wrong[0])}")
        if isinstance(self.labels, AbstractSet):
            labels.sort(key=lambda x: (isinstance(x, str), x))
        object.__setattr__(self, "labels", tuple({identify(x): x for x in labels}.values()))


MISSING = OneOf((), missing=True)
"""The condition that a value is missing, in a column of either kind."""

BoxCondition = Interval | OneOf | AbstractSet[Label]
"""What a box may say of a column."""


def _read_end(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError(f"expected an end that is a number, got {show(value)}")
    return float(value)


def identify(label: Label) -> tuple[bool, Label]:
    """Return what a label is known by."""
    return isinstance(label, bool), label  # True is not the number 1 here


def show(value: Any) -> str:
    """Return a value for a message."""
    return shorten(repr(value), _SHOWN)
