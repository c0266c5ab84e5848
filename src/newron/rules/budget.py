"""How much work may be done: seconds at a fixed rate, so that no result depends on the clock."""

from __future__ import annotations

import time

_RATE = 100_000_000  # steps on numbers in arrays that count as a second
_SAFETY = 20.0  # times the seconds after which even a slow machine gives up


class Budget:
    """Work that may still be done.

    The same seconds allow the same work on every machine. A clock is looked at for safety
    alone: where that stops something, nothing is said to be proved or minimal.

    >>> budget = Budget(1.0)
    >>> budget.spend(60_000_000), budget.spend(60_000_000)
    (True, False)
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.left = int(max(seconds, 0.0) * _RATE)
        self._end = time.monotonic() + _SAFETY * max(seconds, 1.0) + 10.0

    def spend(self, work: int) -> bool:
        """Take away work that is about to be done; return whether there was enough."""
        self.left -= work
        return self.left >= 0 and time.monotonic() < self._end

    def split(self, parts: int) -> Budget:
        """Return a budget that has a part of what is left, taken from this one."""
        part = Budget(max(self.left, 0) / parts / _RATE)
        part._end = self._end
        self.left -= part.left
        return part

    @property
    def safety(self) -> float:
        """The seconds after which a solver must stop, whatever it has found."""
        return max(self._end - time.monotonic(), 1.0)
