"""Short decimals: numbers that can be printed without changing them."""

import math

import numpy as np

from newron.model.arithmetic import Floats


def shortest_between(low: float, high: float) -> float | None:
    """Return the shortest decimal in the middle half of the gap between two numbers.

    None if no number lies strictly between them.

    >>> shortest_between(54.0, 55.0), shortest_between(123.4, 130.2)
    (54.5, 127.0)
    """
    width = high - low
    middle = low + 0.5 * width
    if not low < middle < high:
        return None
    for exponent in range(math.floor(math.log10(width)) + 1, -324, -1):
        candidate = _nearest_multiple(middle, exponent)
        if low + 0.25 * width <= candidate <= high - 0.25 * width and low < candidate < high:
            return candidate
        if 10.0**exponent < width * 1e-3:
            break
    return middle


def _nearest_multiple(value: float, exponent: int) -> float:
    if exponent >= 0:
        step = 10**exponent
        return float(round(value / step) * step)
    return round(value, -exponent)


def round_to_digits(values: Floats, digits: int) -> Floats:
    """Round each value to so many significant digits."""
    return np.array([float(f"{v:.{digits - 1}e}") for v in values.ravel()]).reshape(values.shape)


def round_to_step(values: Floats, size: Floats, digits: int) -> Floats:
    """Round each value to so many digits of a quantity of this size."""
    out = [
        _round_place(float(v), float(s), digits)
        for v, s in zip(values.ravel(), np.broadcast_to(size, values.shape).ravel(), strict=True)
    ]
    return np.array(out).reshape(values.shape)


def _round_place(value: float, size: float, digits: int) -> float:
    if not size > 0.0 or not math.isfinite(value):
        return value
    exponent = math.floor(math.log10(size)) - digits + 1
    # float() of the text, so that the result is the double nearest to a short decimal.
    return float(f"{value:.{-exponent}f}") if exponent < 0 else _nearest_multiple(value, exponent)
