"""Parts of a model's file: each is read with a check of its kind."""

from __future__ import annotations

import math
from typing import Any

from newron.errors import ModelFileError
from newron.formatting import shorten
from newron.model.output import Label


def check_keys(item: Any, known: set[str], needed: set[str], where: str) -> None:
    """Raise unless a part of a file is an object with the keys that it needs, and no others."""
    if not isinstance(item, dict):
        raise ModelFileError(f"{where}: expected an object, got {show(item)}")
    if lacking := needed - item.keys():
        raise ModelFileError(f"{where}: expected {sorted(lacking)[0]!r}, which is not there")
    if surplus := item.keys() - known:
        raise ModelFileError(f"{where}: does not know {min(surplus)!r}")


def read_list(value: Any, where: str) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise ModelFileError(f"{where}: expected a list, got {show(value)}")
    return value


def read_some(value: Any, where: str) -> list[Any]:
    """Return a list that is not empty."""
    if not read_list(value, where):
        raise ModelFileError(f"{where}: expected at least one, got none")
    return list(value)


def read_text(value: Any, where: str) -> str:
    """Return a text of whole characters."""
    if not isinstance(value, str):
        raise ModelFileError(f"{where}: expected text, got {show(value)}")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise ModelFileError(f"{where}: expected Unicode text, got half a character, {show(value)}")
    return value


def read_whole(value: Any, where: str) -> int:
    """Return a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ModelFileError(f"{where}: expected a whole number, got {show(value)}")
    return value


def read_number(value: Any, where: str) -> float:
    """Return a number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ModelFileError(f"{where}: expected a number, got {show(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ModelFileError(f"{where}: expected a number, got one beyond 1e308") from None


def read_numbers(value: Any, where: str) -> tuple[float, ...]:
    """Return a list of numbers."""
    return tuple(read_number(x, where) for x in read_list(value, where))


def read_one(value: Any, where: str) -> tuple[float, ...]:
    """Return a number, as a list of one."""
    return (read_number(value, where),)


def read_label(value: Any, where: str) -> Label:
    """Return a label: a text or a finite number."""
    if isinstance(value, str):
        return read_text(value, where)
    if not isinstance(value, int | float):
        raise ModelFileError(f"{where}: expected text or numbers, got {show(value)}")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ModelFileError(f"{where}: expected whole numbers of 64 bits, got {show(value)}")
    if not math.isfinite(value):
        raise ModelFileError(f"{where}: expected finite numbers, got {value}")
    return value


def read_flag(value: Any, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ModelFileError(f"{where}: expected true or false, got {show(value)}")
    return value


def show(value: Any) -> str:
    """Return a value for an error message."""
    return shorten(repr(value), 60)
