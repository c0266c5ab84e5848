"""Where values lie on an axis, and which round ones are written beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Linear:
    """An axis from ``low`` to ``high``, drawn from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def list_ticks(self, n: int) -> list[float]:
        """Return about n round values between the ends.

        >>> Linear(43.0, 97.0, 0.0, 100.0).list_ticks(6)
        [50.0, 60.0, 70.0, 80.0, 90.0]
        """
        step = find_step((self.high - self.low) / n)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [step * k for k in range(first, last + 1)]


def find_step(size: float) -> float:
    """Return the next larger of 1, 2, 5, 10, ... times a power of ten.

    >>> find_step(3.1), find_step(0.2)
    (5.0, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(size))
    return next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= size * (1 - 1e-9))
