"""Where one score turns from one ordered class to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

_FAR = 40.0  # log-odds beyond the outer limits, where nothing turns any more
_HALVINGS = 100


def find_bands(limits: Sequence[float], unit: float = 1.0) -> tuple[float, ...]:
    """Return from which scores on each ordered class after the first is the most probable one.

    The odds of more than the k-th class are exp(unit (score - limit k)). With a higher score the
    odds of a higher class to a lower one only rise, so that each class has one band of scores, or
    none: then its band begins and ends where the next one begins.

    - ``limits``: Rising.

    Returned: as many as limits; none is lower than the one before.

    >>> [round(x, 3) for x in find_bands((0.0, 3.0))]
    [0.105, 2.895]
    >>> [round(x, 3) for x in find_bands((0.0, 0.5))]
    [0.25, 0.25]
    """
    ends = [-math.inf, *(unit * limit for limit in limits), math.inf]
    bands: list[tuple[int, float]] = [(0, -math.inf)]  # classes that win somewhere, and from where
    for k in range(1, len(limits) + 1):
        while True:
            place = _find_turn(ends, bands[-1][0], k)
            if place > bands[-1][1] or len(bands) == 1:
                break
            bands.pop()
        bands.append((k, place))
    starts = dict(bands)
    out: list[float] = []
    for k in range(len(limits), 0, -1):  # a class that never wins begins with the next one
        out.append(starts[k] if k in starts else out[-1])
    return tuple(place / unit for place in reversed(out))


def _find_turn(ends: Sequence[float], low: int, high: int) -> float:
    """Return where the higher of two classes becomes the more probable one."""
    left, right = ends[1] - _FAR, ends[-2] + _FAR
    lead = partial(_measure, ends, high), partial(_measure, ends, low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (left + right)
        if lead[0](middle) < lead[1](middle):
            left = middle
        else:
            right = middle
    return right


def _measure(ends: Sequence[float], k: int, z: float) -> float:
    """Return the logarithm of the probability of a class."""
    below, above = ends[k], ends[k + 1]
    between = 0.0 if math.isinf(above - below) else math.log(-math.expm1(below - above))
    return between - _soften(below - z) - _soften(z - above)


def _soften(u: float) -> float:
    return max(u, 0.0) + math.log1p(math.exp(-abs(u)))
