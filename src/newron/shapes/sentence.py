"""Shapes in words, for a person who never saw a neural network."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from newron.formatting import (
    format_rounded,
    format_signed,
    format_to_exponent,
    format_typographic,
    join_words,
)
from newron.model.schema import Label

if TYPE_CHECKING:
    from newron.shapes.shape import Shape

__all__ = [
    "shorten",
    "tell_centre",
    "tell_factor",
    "tell_label",
    "tell_place",
    "tell_points",
    "tell_range",
    "tell_shape",
    "tell_value",
]

shorten = format_rounded  # the old name, until figures and reports use the new one
_MOST_LISTED = 5  # values that are told one by one


def tell_shape(shape: Shape) -> str:
    """Tell what a function does, without its source and weight."""
    points = tell_points(shape)
    told = f"{_HEADS[shape.kind]} {points}" if points else _TELLERS[shape.kind](shape)
    if shape.missing is None or shape.kind == "levels" or shape.least == shape.greatest:
        return told
    return f"{told}; {tell_value(shape, shape.missing)} if missing"


def tell_factor(weight: float | None) -> str:
    """Write a weight before what it multiplies; nothing if there is none."""
    if weight is None:
        return ""
    return f"{format_signed(weight)} × "


def tell_centre(centre: float) -> str:
    """Write what is taken away from a sum, or added to it."""
    return f"{'less' if centre > 0.0 else 'plus'} {format_rounded(abs(centre), 4)}"


def tell_value(shape: Shape, value: float) -> str:
    """Write a value of h, finely enough for how much it varies."""
    exponent = _find_exponent(shape.greatest - shape.least)
    bounded = shape.least >= 0.0 and shape.greatest <= 1.0
    return format_to_exponent(value, min(-2, exponent - 1) if bounded else exponent - 2)


def tell_place(shape: Shape, place: float | None) -> str:
    """Write a place on the axis and its unit, finely enough for what happens there."""
    if shape.threshold == place and shape.between is None and place is not None:
        return format_typographic(place) + _tell_unit(shape)  # exact: a step or a bend
    exponent = _find_exponent(shape.high - shape.low) - 2
    if shape.width:
        exponent = min(exponent, _find_exponent(shape.width) - 1)
    return format_to_exponent(place or 0.0, exponent) + _tell_unit(shape)


def tell_range(shape: Shape) -> str:
    """Write the two places of ``between``."""
    low, high = shape.between or (0.0, 0.0)
    exponent = _find_exponent(high - low) - 1
    return f"{format_to_exponent(low, exponent)} and {format_to_exponent(high, exponent)}"


def tell_label(label: Label) -> str:
    """Write a category; one that is called missing is not the gap."""
    return '"missing"' if label == "missing" else str(label)


def tell_points(shape: Shape) -> str:
    """Write h at each value of a column of few; nothing for others, and for exact steps."""
    if not 0 < len(shape.points) <= _MOST_LISTED or shape.kind not in _HEADS:
        return ""
    told = [f"{tell_value(shape, h)} at {format_typographic(x)}" for x, h in shape.points]
    return f"{', '.join(told)}{_tell_unit(shape)}"


# ---- numbers ----


def _find_exponent(size: float) -> int:
    return math.floor(math.log10(size)) if size > 0.0 else 0


def _tell_unit(shape: Shape) -> str:
    return f" {shape.unit}" if shape.unit else ""


def _tell_ends(shape: Shape) -> tuple[str, str]:
    """Tell h at both ends of the range."""
    return tell_value(shape, shape.start), tell_value(shape, shape.end)


def _tell_limits(shape: Shape) -> tuple[str, str]:
    """Tell both ends of the range."""
    exponent = _find_exponent(shape.high - shape.low) - 3
    return format_to_exponent(shape.low, exponent), format_to_exponent(shape.high, exponent)


def _tell_way(shape: Shape) -> str:
    start, end = _tell_ends(shape)
    low, high = _tell_limits(shape)
    return f"from {start} at {low} to {end} at {high}{_tell_unit(shape)}"


# ---- kinds ----


def _tell_step(shape: Shape) -> str:
    place = tell_place(shape, shape.threshold)
    if shape.between is None:
        up, down = f"1 from {place} on, 0 below", f"1 up to {place}, 0 above"
        return up if shape.kind == "step up" else down
    start, end = _tell_ends(shape)
    return f"{shape.kind.replace('step', 'steps')} from {start} to {end} at {place}"


def _tell_slope(shape: Shape) -> str:
    verb, first = ("rises", "10 % to 90 %") if shape.rises else ("falls", "90 % to 10 %")
    if not shape.has_place:
        return f"{verb} {_tell_way(shape)}"
    start, end = _tell_ends(shape)
    around = tell_place(shape, shape.threshold)
    return f"{verb} from {start} to {end} around {around} ({first} between {tell_range(shape)})"


def _tell_line(shape: Shape) -> str:
    return f"{'rises' if shape.rises else 'falls'} nearly straight {_tell_way(shape)}"


def _tell_hinge(shape: Shape) -> str:
    place = tell_place(shape, shape.threshold)
    (start, end), (low, high) = _tell_ends(shape), _tell_limits(shape)
    if shape.start == 0.0:
        return f"0 up to {place}, then rises straight to {end} at {high}"
    if shape.end == 0.0:
        return f"falls straight from {start} at {low} to 0 at {place}, 0 above"
    return f"{'rises' if shape.rises else 'falls'} {_tell_way(shape)}, with a bend at {place}"


def _tell_bell(shape: Shape) -> str:
    place, height = shape.turns[0]
    words = "a bell, highest", "down"
    if shape.kind == "inverse bell":
        words = "an inverse bell, lowest", "up"
    (start, end), (low, high) = _tell_ends(shape), _tell_limits(shape)
    return (
        f"{words[0]} ({tell_value(shape, height)}) at {tell_place(shape, place)}, "
        f"half-way {words[1]} at {tell_range(shape)}; {start} at {low}, {end} at {high}"
    )


def _tell_wave(shape: Shape) -> str:
    places = (shape.low, shape.start), *shape.turns, (shape.high, shape.end)
    told = [f"{tell_value(shape, h)} at {tell_place(shape, x)}" for x, h in places]
    return f"a wave: {', '.join(told)}"


def _tell_levels(shape: Shape) -> str:
    if shape.least == shape.greatest:
        return f"always {format_rounded(shape.least)}"
    pairs = [(tell_label(label), h) for label, h in shape.levels]
    pairs += [] if shape.missing is None else [("missing", shape.missing)]
    groups: dict[str, list[str]] = {}
    for label, value in sorted(pairs, key=lambda pair: -pair[1]):
        groups.setdefault(tell_value(shape, value), []).append(label)
    return "; ".join(f"{value} for {join_words(labels)}" for value, labels in groups.items())


def _tell_constant(shape: Shape) -> str:
    if shape.start == shape.end:
        return f"always {format_rounded(shape.start)}"
    return f"nearly constant, {format_rounded(0.5 * (shape.start + shape.end), 2)}"


_TELLERS: dict[str, Callable[[Shape], str]] = {
    "step up": _tell_step,
    "step down": _tell_step,
    "rising": _tell_slope,
    "falling": _tell_slope,
    "linear": _tell_line,
    "hinge": _tell_hinge,
    "bell": _tell_bell,
    "inverse bell": _tell_bell,
    "wave": _tell_wave,
    "levels": _tell_levels,
    "constant": _tell_constant,
}

_HEADS = {
    "rising": "rises:",
    "falling": "falls:",
    "linear": "nearly straight:",
    "hinge": "with a bend:",
    "bell": "a bell:",
    "inverse bell": "an inverse bell:",
    "wave": "a wave:",
}
