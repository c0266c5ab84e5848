"""What is written at a function's plot: the condition in few words, and the places that count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from newron.explanations.conditions import Conditions
from newron.explanations.row import get_value
from newron.figures.metrics import clean
from newron.figures.writing import write_exact, write_name, write_place
from newron.formatting import quote
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.processing import get_processing
from newron.model.schema import Column
from newron.shapes.shape import Shape

__all__ = ["Mark", "find_marks", "is_count", "tell_head", "tell_input", "tell_joint"]

_HYPHEN = re.compile(r"(?<![\w.])-(?=\d)|(?<=\de)-(?=\d)")  # the sign of a number


@dataclass(frozen=True)
class Mark:
    """A place on the axis where something happens, and how it is written."""

    place: float
    text: str


def find_marks(shape: Shape, crisp: bool) -> tuple[Mark, ...]:
    """Give thresholds, the half-way places of a bell, the turns of a wave, a bend."""
    span = shape.high - shape.low
    if shape.levels or shape.kind in ("constant", "linear"):
        return ()
    places: tuple[float, ...] = ()
    if shape.kind in ("bell", "inverse bell"):
        places = shape.between or ()
    elif shape.kind == "wave":
        places = tuple(place for place, _ in shape.turns)
    elif shape.threshold is not None and shape.has_place:
        places = (shape.threshold,)
    inside = sorted({p for p in places if shape.low <= p <= shape.high})
    exact = crisp or shape.kind == "hinge"
    return tuple(Mark(p, write_exact(p) if exact else write_place(p, span)) for p in inside)


def is_count(layer: Layer) -> bool:
    """Tell whether the neurons of a layer count how many conditions hold."""
    crisp = get_processing(layer.processing).crisp
    plain = layer.aggregation == "sum" and layer.activation == "identity"
    return crisp and plain and layer.alpha is None and layer.centre is None


def tell_head(shape: Shape, conditions: Conditions, model: Model, labels: tuple[str, ...]) -> str:
    """Say what a function asks of what it reads, without the name of that."""
    if get_processing(model.layers[shape.layer - 1].processing).crisp:
        return _tell_condition(shape, conditions, model)
    if labels:
        return _tell_levels(shape, labels)
    return _tell_curve(shape)


def _tell_condition(shape: Shape, conditions: Conditions, model: Model) -> str:
    source = int(model.layers[shape.layer - 1].source[shape.function])
    asked = conditions.read(shape.layer, shape.function)
    if source < len(model.schema):
        column = model.schema.columns[source]
        text = clean(asked.text.removeprefix(f"{quote(column.name)} "))
        return text if column.categories else _HYPHEN.sub("−", text)
    number, _ = conditions.find_neuron(source) or (1, 1)
    if asked.counted is None or not is_count(model.layers[number - 1]):
        sign = "≥" if model.layers[shape.layer - 1].w[shape.function, 0] > 0.0 else "≤"
        return f"{sign} {write_exact(shape.threshold or 0.0)}"
    if asked.counted == 1:
        return "does not hold" if asked.text.startswith("not ") else "holds"
    if asked.limit is None:
        return asked.text
    return f"{'≤' if asked.at_most else '≥'} {write_exact(asked.limit)}"


def tell_joint(marks: Sequence[Mark], readings: Sequence[str], unit: str, *, crisp: bool) -> str:
    """Say what several functions of one input ask, in short."""
    if crisp:
        told = f"steps at {', '.join(mark.text for mark in marks)}" if marks else "by category"
        return f"{told} {unit}" if marks and unit else told
    return "; ".join(readings)


def _tell_levels(shape: Shape, labels: tuple[str, ...]) -> str:
    """Name the categories that are high, where high and low ones are well apart."""
    values = [h for _, h in shape.levels]
    if shape.least < 0.0 or shape.greatest > 1.0 or any(0.1 < h < 0.9 for h in values):
        return "by category"
    high = [label for label, h in zip(labels, values, strict=True) if h >= 0.5]
    low = [label for label, h in zip(labels, values, strict=True) if h < 0.5]
    if not high or not low:
        return "by category"
    told = f"in {{{', '.join(high)}}}" if len(high) > 1 else f"= {high[0]}"
    if len(low) == 1 and len(high) > 1:
        told = f"≠ {low[0]}"
    return f"{told} or missing" if (shape.missing or 0.0) >= 0.5 else told


def _tell_curve(shape: Shape) -> str:
    unit = f" {write_name(shape.unit)}" if shape.unit else ""
    span = shape.high - shape.low
    turned = shape.weight is not None and shape.weight < 0.0  # what is drawn is upside down
    way = "rises" if shape.rises != turned else "falls"
    if shape.kind == "constant":
        return "nearly flat"
    if shape.kind in ("bell", "inverse bell"):
        word = "peak" if (shape.kind == "bell") != turned else "dip"
        return f"{word} at {write_place(shape.peak or 0.0, span)}{unit}"
    if shape.kind == "wave":
        return "goes up and down"
    if shape.kind == "hinge":
        return f"{way}, bends at {write_exact(shape.threshold or 0.0)}{unit}"
    if shape.kind == "linear":
        return way
    if not shape.has_place:
        return f"{way} slowly"
    return f"{'>' if shape.rises else '<'} {write_place(shape.threshold or 0.0, span)}{unit}"


def tell_input(column: Column, value: float) -> str:
    """Write the value of a row in a column, with its unit."""
    known = get_value(column, value)
    if column.categories is None and isinstance(known, float):
        exact = write_exact(known)
        short = exact if len(exact) <= 7 else write_place(known, 0.1 * (column.high - column.low))
        return write_name(f"{short} {column.unit}" if column.unit else short)
    return "missing" if known is None else write_name(known)
