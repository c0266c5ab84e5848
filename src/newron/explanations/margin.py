"""Values in words, and how far they are from where a condition changes."""

from __future__ import annotations

from decimal import Decimal

from newron.explanations.conditions import FunctionCondition
from newron.formatting import format_number, format_rounded, format_value
from newron.model.schema import Column, Label

__all__ = ["subtract", "tell_asked", "tell_distance", "tell_reading", "tell_unit"]


def subtract(a: float, b: float) -> float:
    """Give a − b as decimals are subtracted on paper."""
    return float(Decimal(repr(a)) - Decimal(repr(b)))


def tell_unit(column: Column | None) -> str:
    """Write a column's unit after a number; nothing if there is none."""
    return f" {column.unit}" if column is not None and column.unit else ""


def tell_reading(value: Label | None, column: Column | None) -> str:
    """Tell what a function reads; without a column it is a neuron."""
    if value is None or column is None:
        return "missing" if value is None else format_rounded(float(value))
    return format_value(value) + tell_unit(column)


def tell_asked(
    asked: FunctionCondition, value: Label | None, margin: float | None, column: Column | None
) -> str:
    """Tell a value and how far it is from where the condition changes."""
    if asked.counted == 1:
        return ""
    if asked.counted is not None:
        told = f"{value} of {asked.counted}"
    else:
        told = tell_reading(value, column)
    if margin is None or asked.limit is None or asked.by_value:
        return told
    return f"{told}, {_tell_margin(margin, asked, tell_unit(column))}"


def _tell_margin(margin: float, asked: FunctionCondition, unit: str) -> str:
    """Tell a distance: "5 y below 55", "at the limit of 6", "1 short of 6"."""
    limit = format_number(asked.limit or 0.0)
    if margin == 0.0:
        return f"at the limit of {limit}"
    size = format_number(float(f"{abs(margin):.12g}"))
    if asked.counted is None:
        return f"{size}{unit} {'above' if margin > 0.0 else 'below'} {limit}"
    if margin > 0.0:
        return f"{size} over {limit}"
    return f"{size} {'below' if asked.at_most else 'short of'} {limit}"


def tell_distance(total: float, limit: float, digits: int) -> str:
    """Tell how far a sum is from its limit: "1 short of 3"."""
    margin = subtract(total, limit)
    told = format_rounded(limit, digits)
    if margin == 0.0:
        return f"at the limit of {told}"
    size = format_rounded(abs(margin), digits)
    return f"{size} over the limit of {told}" if margin > 0.0 else f"{size} short of {told}"
