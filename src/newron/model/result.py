"""Measured values: plain values that can be written to a file."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """A result of plain values: numbers, texts, and tuples and dicts of these."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON can write it.

        Returns
        -------
        dict
            Results within it are dicts too, tuples are lists, NaN and infinity are None.

        Examples
        --------
        >>> from newron.evaluation import Estimate
        >>> Estimate(0.5, 0.25, 0.75).to_dict()
        {'value': 0.5, 'low': 0.25, 'high': 0.75}
        """
        return {field.name: _simplify(getattr(self, field.name)) for field in fields(self)}


def _simplify(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _simplify(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: _simplify(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_simplify(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True)
class Estimate(Result):
    """A measured value and its 95 % interval.

    Parameters
    ----------
    value, low, high : float

    Examples
    --------
    >>> Estimate(0.84, 0.79, 0.88).scale(100.0)
    Estimate(value=84.0, low=79.0, high=88.0)
    """

    value: float
    low: float
    high: float

    def scale(self, factor: float) -> Estimate:
        """Return the estimate in another unit, e.g. in per cent.

        Parameters
        ----------
        factor : float
            Positive.

        Returns
        -------
        Estimate
        """
        return Estimate(factor * self.value, factor * self.low, factor * self.high)
