"""What a column of a table is: its name, and the labels of its categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Label = str | int | float | bool

LARGEST_INPUT = 1e300  # numbers of a table lie below it in size; it stands for "never" itself
BOOLEANS = (bool, np.bool_)


@dataclass(frozen=True)
class Field:
    """A column as a table brings it.

    Parameters
    ----------
    name : str
    categories : tuple of labels, optional
        The labels of the categories in the order of their codes; None for numbers.

    Examples
    --------
    >>> Field("colour", ("blue", "red"))
    Field(name='colour', categories=('blue', 'red'))
    """

    name: str
    categories: tuple[Label, ...] | None = None


def make_names(n: int) -> tuple[str, ...]:
    """Name the columns of an array: x1, x2, ... as in the paper."""
    return tuple(f"x{i}" for i in range(1, n + 1))


def make_label(value: Any) -> Label:
    """Turn a category into a plain value of Python; whole numbers into int.

    >>> make_label(2.0), make_label(np.str_("a")), make_label(np.True_), make_label(0.5)
    (2, 'a', True, 0.5)
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, BOOLEANS):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    # Beyond, not every whole number is a float, and digits would be made up.
    return int(number) if number.is_integer() and abs(number) < 2.0**53 else number
