"""Shapes in words, for a person who never saw a neural network.

A shape has two descriptions: what the function does over its range, and, for functions from 0
to 1, the fuzzy condition that it stands for and how sharp it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from newron.formatting import (
    clean,
    format_rounded,
    format_signed,
    format_to_exponent,
    format_typographic,
    format_unit,
    join_words,
)
from newron.model.description import VERBS, describe_aggregation
from newron.tables.field import Label

if TYPE_CHECKING:
    from newron.shapes.shape import Neuron, Shape

_MAX_LISTED = 5  # values that are named one by one
_SHARP, _SOFT = 10.0, 2.0  # how many times the passage goes into the range
_HELD = 0.5  # a category belongs to a fuzzy set from this membership on
_PLAIN_KINDS = {
    "rising": "rises:",
    "falling": "falls:",
    "linear": "nearly straight:",
    "hinge": "with a bend:",
    "bell": "a bell:",
    "inverse bell": "an inverse bell:",
    "wave": "a wave:",
}


def describe_shape(shape: Shape) -> str:
    """Return what a function does, without its source and weight."""
    numbers = _Numbers(shape)
    if numbers.points:
        text = f"{_PLAIN_KINDS[shape.kind]} {numbers.points}"
    else:
        text = _KINDS[shape.kind][0](shape, numbers)
    if shape.missing is None or shape.kind == "levels" or shape.least == shape.greatest:
        return text
    return f"{text}; {numbers.value(shape.missing)} if missing"


def describe_fuzzy(shape: Shape) -> tuple[str, str]:
    """Return the fuzzy condition of a function from 0 to 1, and how it holds."""
    numbers = _Numbers(shape)
    condition, manner = _KINDS[shape.kind][1](shape, numbers)
    return condition, numbers.points or manner


def format_factor(weight: float | None) -> str:
    """Return a weight before what it multiplies; nothing if there is none."""
    return "" if weight is None else f"{format_signed(weight)} × "


def format_contribution(value: float) -> str:
    """Return what is added to a score, with its sign: "+0.5", "−2", "0"."""
    return "0" if value == 0.0 else format_signed(value, 4)


def list_neuron(
    neuron: Neuron, lines: list[str], aside: str, verbs: dict[str, str] = VERBS
) -> tuple[str, list[str]]:
    """Return the heading of a neuron, and a line for each function and what is taken away."""
    after = "" if neuron.activation == "identity" else f", then {neuron.activation}"
    lines = [*lines, *([aside] if aside else [])]
    if neuron.centre:
        word = "less" if neuron.centre > 0.0 else "plus"
        lines.append(f"{word} {format_rounded(abs(neuron.centre), 4)}")
    heading = f"{neuron.name} {describe_aggregation(neuron.aggregation, verbs)}{after}:"
    return clean(heading, directions=False), [clean(line, directions=False) for line in lines]


# ---- numbers ----


@dataclass(frozen=True)
class _Numbers:
    """The numbers of one shape, each as fine as what it is compared with."""

    shape: Shape

    @property
    def unit(self) -> str:
        return format_unit(self.shape.unit)

    def value(self, h: float) -> str:
        """Write a value of h, finely enough for how much it varies."""
        exponent = _find_exponent(self.shape.greatest - self.shape.least)
        bounded = self.shape.least >= 0.0 and self.shape.greatest <= 1.0
        return format_to_exponent(h, min(-2, exponent - 1) if bounded else exponent - 2)

    def position(self, x: float | None) -> str:
        """Write a position on the axis and its unit, finely enough for what happens there."""
        shape = self.shape
        if shape.threshold == x and shape.between is None and x is not None:
            return format_typographic(x) + self.unit  # exact: a step or a bend
        exponent = _find_exponent(shape.high - shape.low) - 2
        if shape.width:
            exponent = min(exponent, _find_exponent(shape.width) - 1)
        return format_to_exponent(x or 0.0, exponent) + self.unit

    @property
    def threshold(self) -> str:
        return self.position(self.shape.threshold)

    @property
    def between(self) -> tuple[str, str]:
        low, high = self.shape.between or (0.0, 0.0)
        exponent = _find_exponent(high - low) - 1
        return format_to_exponent(low, exponent), format_to_exponent(high, exponent)

    @property
    def ends(self) -> tuple[str, str]:
        """The values of h at both ends of the range."""
        return self.value(self.shape.start), self.value(self.shape.end)

    @property
    def limits(self) -> tuple[str, str]:
        """Both ends of the range."""
        exponent = _find_exponent(self.shape.high - self.shape.low) - 3
        low, high = (format_to_exponent(x, exponent) for x in (self.shape.low, self.shape.high))
        return low, high

    @property
    def path(self) -> str:
        (start, end), (low, high) = self.ends, self.limits
        return f"from {start} at {low} to {end} at {high}{self.unit}"

    @property
    def points(self) -> str:
        """The value of h at each value of a column of few; empty for others and exact steps."""
        points = self.shape.points
        if not 0 < len(points) <= _MAX_LISTED or self.shape.kind not in _PLAIN_KINDS:
            return ""
        parts = [f"{self.value(h)} at {format_typographic(x)}" for x, h in points]
        return f"{', '.join(parts)}{self.unit}"

    @property
    def verb(self) -> str:
        return "rises" if self.shape.rises else "falls"


def _find_exponent(size: float) -> int:
    return math.floor(math.log10(size)) if size > 0.0 else 0


def _format_category(label: Label) -> str:
    return '"missing"' if label == "missing" else str(label)  # a category of that very name


# ---- what a function does ----


def _describe_step(shape: Shape, numbers: _Numbers) -> str:
    place = numbers.threshold
    if shape.between is None:
        up = shape.kind == "step up"
        return f"1 from {place} on, 0 below" if up else f"1 up to {place}, 0 above"
    start, end = numbers.ends
    return f"{shape.kind.replace('step', 'steps')} from {start} to {end} at {place}"


def _describe_slope(shape: Shape, numbers: _Numbers) -> str:
    if not shape.has_threshold:
        return f"{numbers.verb} {numbers.path}"
    (start, end), (low, high) = numbers.ends, numbers.between
    part = "10 % to 90 %" if shape.rises else "90 % to 10 %"
    where = f"around {numbers.threshold} ({part} between {low} and {high})"
    return f"{numbers.verb} from {start} to {end} {where}"


def _describe_line(_shape: Shape, numbers: _Numbers) -> str:
    return f"{numbers.verb} nearly straight {numbers.path}"


def _describe_hinge(shape: Shape, numbers: _Numbers) -> str:
    place, (start, end), (low, high) = numbers.threshold, numbers.ends, numbers.limits
    if shape.start == 0.0:
        return f"0 up to {place}, then rises straight to {end} at {high}"
    if shape.end == 0.0:
        return f"falls straight from {start} at {low} to 0 at {place}, 0 above"
    return f"{numbers.verb} {numbers.path}, with a bend at {place}"


def _describe_bell(shape: Shape, numbers: _Numbers) -> str:
    place, height = shape.turns[0]
    inverse = shape.kind == "inverse bell"
    what, way = ("an inverse bell, lowest", "up") if inverse else ("a bell, highest", "down")
    (start, end), (low, high), (a, b) = numbers.ends, numbers.limits, numbers.between
    return (
        f"{what} ({numbers.value(height)}) at {numbers.position(place)}, "
        f"half-way {way} at {a} and {b}; {start} at {low}, {end} at {high}"
    )


def _list_turns(shape: Shape, numbers: _Numbers) -> str:
    places = (shape.low, shape.start), *shape.turns, (shape.high, shape.end)
    return ", ".join(f"{numbers.value(h)} at {numbers.position(x)}" for x, h in places)


def _describe_wave(shape: Shape, numbers: _Numbers) -> str:
    return f"a wave: {_list_turns(shape, numbers)}"


def _describe_levels(shape: Shape, numbers: _Numbers) -> str:
    if shape.least == shape.greatest:
        return f"always {format_rounded(shape.least)}"
    pairs = [(_format_category(label), h) for label, h in shape.levels]
    pairs += [] if shape.missing is None else [("missing", shape.missing)]
    groups: dict[str, list[str]] = {}
    for label, h in sorted(pairs, key=lambda pair: -pair[1]):
        groups.setdefault(numbers.value(h), []).append(label)
    return "; ".join(f"{value} for {join_words(labels)}" for value, labels in groups.items())


def _describe_constant(shape: Shape, _numbers: _Numbers) -> str:
    if shape.start == shape.end:
        return f"always {format_rounded(shape.start)}"
    return f"nearly constant, {format_rounded(0.5 * (shape.start + shape.end), 2)}"


# ---- fuzzy conditions ----


def _read_step(shape: Shape, numbers: _Numbers) -> tuple[str, str]:
    up = shape.kind == "step up"
    if shape.between is None:
        return f"{shape.source} {'≥' if up else '≤'} {numbers.threshold}", "exactly"
    return f"{shape.source} {'>' if up else '<'} {numbers.threshold}", "as a step"


def _read_slope(shape: Shape, numbers: _Numbers) -> tuple[str, str]:
    if not shape.has_threshold:
        return _read_trend(shape, numbers)
    sharpness = shape.sharpness or 0.0
    word = "slowly" if sharpness < _SOFT else "gradually" if sharpness < _SHARP else "sharply"
    low, high = numbers.between
    condition = f"{shape.source} {'>' if shape.rises else '<'} {numbers.threshold}"
    return condition, f"{word}, from {low} to {high}"


def _read_trend(shape: Shape, numbers: _Numbers) -> tuple[str, str]:
    how = "nearly straight, " if shape.kind == "linear" else ""
    start, end = numbers.ends
    trend = f"the more {shape.source}, the {'more' if shape.rises else 'less'}"
    return trend, f"{how}from {start} to {end}"


def _read_bell(shape: Shape, numbers: _Numbers) -> tuple[str, str]:
    place, height = shape.turns[0]
    near, most = ("near", "most") if shape.kind == "bell" else ("not near", "least")
    low, high = numbers.between
    manner = f"{most} {numbers.value(height)}, half-way at {low} and {high}"
    return f"{shape.source} {near} {numbers.position(place)}", manner


def _read_wave(shape: Shape, numbers: _Numbers) -> tuple[str, str]:
    missing = "" if shape.missing is None else f"; {numbers.value(shape.missing)} if missing"
    return f"{shape.source} in waves", f"{_list_turns(shape, numbers)}{missing}"


def _read_levels(shape: Shape, numbers: _Numbers) -> tuple[str, str]:
    held = [_format_category(label) for label, value in shape.levels if value >= _HELD]
    held += ["missing"] if shape.missing is not None and shape.missing >= _HELD else []
    return f"{shape.source} in {{{', '.join(held)}}}", _describe_levels(shape, numbers)


def _read_constant(shape: Shape, _numbers: _Numbers) -> tuple[str, str]:
    """Read a function that only distinguishes missing values from others."""
    here = shape.missing is not None and shape.missing > shape.start
    return f"{shape.source}{'' if here else ' not'} missing", describe_shape(shape)


_Describe = Callable[["Shape", _Numbers], str]
_Read = Callable[["Shape", _Numbers], tuple[str, str]]

_KINDS: dict[str, tuple[_Describe, _Read]] = {
    "step up": (_describe_step, _read_step),
    "step down": (_describe_step, _read_step),
    "rising": (_describe_slope, _read_slope),
    "falling": (_describe_slope, _read_slope),
    "linear": (_describe_line, _read_trend),
    "hinge": (_describe_hinge, _read_trend),
    "bell": (_describe_bell, _read_bell),
    "inverse bell": (_describe_bell, _read_bell),
    "wave": (_describe_wave, _read_wave),
    "levels": (_describe_levels, _read_levels),
    "constant": (_describe_constant, _read_constant),
}
