"""What is written at a function's plot: the condition in few words, and where it changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from newron.drawing.text import isolate
from newron.explanations.conditions import FunctionCondition
from newron.explanations.row import get_value
from newron.formatting import clean, format_position, format_threshold
from newron.model.network import Layer
from newron.model.schema import Column
from newron.shapes.shape import Shape

_HYPHEN = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")  # the sign of a number


@dataclass(frozen=True)
class Mark:
    """Where something happens on the axis, and how that is written."""

    place: float
    text: str


def find_marks(shape: Shape, crisp: bool) -> tuple[Mark, ...]:
    """Return thresholds, the half-way places of a bell, the turns of a wave, a bend."""
    span = shape.high - shape.low
    if shape.levels or shape.kind in ("constant", "linear"):
        return ()
    places: tuple[float, ...] = ()
    if shape.kind in ("bell", "inverse bell"):
        places = shape.between or ()
    elif shape.kind == "wave":
        places = tuple(place for place, _ in shape.turns)
    elif shape.threshold is not None and shape.has_threshold:
        places = (shape.threshold,)
    inside = sorted({p for p in places if shape.low <= p <= shape.high})
    exact = crisp or shape.kind == "hinge"
    return tuple(
        Mark(p, format_threshold(p) if exact else format_position(p, span)) for p in inside
    )


def is_count(layer: Layer) -> bool:
    """Return whether the neurons of a layer count how many conditions hold."""
    crisp = layer.function.crisp
    plain = layer.aggregation == "sum" and layer.activation == "identity"
    return crisp and plain and layer.alpha is None and layer.centre is None


def caption_condition(condition: FunctionCondition, column: Column) -> str:
    """Return what a crisp function asks of a column, without its name."""
    assert condition.condition is not None  # noqa: S101 - it reads a column
    text = clean(condition.condition.format(column, named=False))
    return text if column.categories else _HYPHEN.sub("−", text)


def caption_count(condition: FunctionCondition, shape: Shape, *, counts: bool, rises: bool) -> str:
    """Return what a crisp function asks of a neuron, without its name."""
    if condition.counted is None or not counts:
        return f"{'≥' if rises else '≤'} {format_threshold(shape.threshold or 0.0)}"
    if condition.counted == 1:
        return "does not hold" if condition.negated else "holds"
    if condition.limit is None:
        return condition.text
    return f"{'≤' if condition.at_most else '≥'} {format_threshold(condition.limit)}"


def caption_joint(marks: Sequence[Mark], readings: Sequence[str], unit: str, *, crisp: bool) -> str:
    """Return what several functions of one input ask, in short."""
    if crisp:
        text = f"steps at {', '.join(mark.text for mark in marks)}" if marks else "by category"
        return f"{text} {unit}" if marks and unit else text
    return "; ".join(readings)


def caption_levels(shape: Shape, labels: tuple[str, ...]) -> str:
    """Return the categories that are high, where high and low ones are well apart."""
    values = [h for _, h in shape.levels]
    if shape.least < 0.0 or shape.greatest > 1.0 or any(0.1 < h < 0.9 for h in values):
        return "by category"
    high = [label for label, h in zip(labels, values, strict=True) if h >= 0.5]
    low = [label for label, h in zip(labels, values, strict=True) if h < 0.5]
    if not high or not low:
        return "by category"
    text = f"in {{{', '.join(high)}}}" if len(high) > 1 else f"= {high[0]}"
    if len(low) == 1 and len(high) > 1:
        text = f"≠ {low[0]}"
    return f"{text} or missing" if (shape.missing or 0.0) >= 0.5 else text


def caption_curve(shape: Shape) -> str:
    """Return what a curve does, in a few words."""
    unit = f" {isolate(shape.unit)}" if shape.unit else ""
    span = shape.high - shape.low
    turned = shape.weight is not None and shape.weight < 0.0  # what is drawn is upside down
    way = "rises" if shape.rises != turned else "falls"
    if shape.kind == "constant":
        return "nearly flat"
    if shape.kind in ("bell", "inverse bell"):
        word = "peak" if (shape.kind == "bell") != turned else "dip"
        return f"{word} at {format_position(shape.peak or 0.0, span)}{unit}"
    if shape.kind == "wave":
        return "goes up and down"
    if shape.kind == "hinge":
        return f"{way}, bends at {format_threshold(shape.threshold or 0.0)}{unit}"
    if shape.kind == "linear":
        return way
    if not shape.has_threshold:
        return f"{way} slowly"
    return f"{'>' if shape.rises else '<'} {format_position(shape.threshold or 0.0, span)}{unit}"


def format_input(column: Column, value: float) -> str:
    """Return the value of a row in a column, with its unit."""
    known = get_value(column, value)
    if column.categories is None and isinstance(known, float):
        exact = format_threshold(known)
        short = (
            exact if len(exact) <= 7 else format_position(known, 0.1 * (column.high - column.low))
        )
        return isolate(f"{short} {column.unit}" if column.unit else short)
    return "missing" if known is None else isolate(known)
