"""Numbers and names as figures write them."""

from __future__ import annotations

import math

from newron.figures.metrics import clean, isolate
from newron.model.description import format_number
from newron.model.output import Label
from newron.shapes.sentence import shorten

__all__ = [
    "write_amount",
    "write_exact",
    "write_name",
    "write_place",
    "write_points",
    "write_share",
]

_MINUS = "−"


def write_exact(value: float) -> str:
    """Write a number with the fewest digits that give it back.

    A threshold that is the neighbour of a shorter number is written as that: "x > 0.7" is
    stored as x ≥ the next number.
    """
    near = value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf)
    return min(map(format_number, near), key=len).replace("-", _MINUS)


def write_place(value: float, span: float) -> str:
    """Write a place on an axis, to a hundredth of the axis's length or so.

    Examples
    --------
    >>> write_place(54.512, 48.0), write_place(-0.126, 1.0), write_place(12345.6, 90000.0)
    ('54.5', '−0.13', '12300')
    """
    if not span > 0.0:
        return shorten(value, 4)
    exponent = math.floor(math.log10(span)) - 2
    if exponent >= 0:
        value, exponent = round(value / 10.0**exponent) * 10.0**exponent, 0
    return format_number(float(f"{value:.{min(-exponent, 300)}f}") + 0.0).replace("-", _MINUS)


def write_amount(value: float, span: float = 1.0) -> str:
    """Write a sum or what a function adds: whole numbers in full, others by what they span.

    Examples
    --------
    >>> write_amount(3.0), write_amount(0.00209), write_amount(-4.8123), write_amount(812.4, 2000)
    ('3', '0', '−4.81', '810')
    """
    if value == round(value) and abs(value) < 1e6:
        return format_number(value + 0.0).replace("-", _MINUS)
    if abs(value) >= 1e6:
        return shorten(value)
    return write_place(value, span)


def write_points(value: float) -> str:
    """Write a weight with its sign."""
    return f"{'+' if value > 0.0 else ''}{shorten(value)}"


def write_share(value: float) -> str:
    """Write a probability in per cent; 0 and 100 only where it is that.

    Examples
    --------
    >>> write_share(0.594), write_share(0.9999), write_share(1.0)
    ('59 %', '> 99 %', '100 %')
    """
    told = round(100.0 * value)
    if told == 0 and value > 0.0:
        return "< 1 %"
    if told == 100 and value < 1.0:
        return "> 99 %"
    return f"{told} %"


def write_name(label: Label) -> str:
    """Write the name of a column, a category or a class, whatever it holds."""
    return isolate(clean(label))
