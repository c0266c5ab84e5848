"""Fuzzy rules: what the functions of a soft network ask, and how sharply.

As the paper tells them: a sigmoid is the rule ``x > b`` or ``x < b``, the sharper the larger
its w; nearly straight, it says that there is more the more there is of x; bells ask whether
x is near a place, or far from it; and a function that hardly varies says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from newron.errors import ModelError
from newron.formatting import format_rounded
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.model.processing import get_processing
from newron.shapes.sentence import (
    tell_centre,
    tell_factor,
    tell_label,
    tell_place,
    tell_points,
    tell_range,
    tell_shape,
    tell_value,
)
from newron.shapes.shape import Kind, Neuron, Shape, read_shapes

__all__ = ["FuzzyNeuron", "FuzzyRule", "FuzzyRules", "read_fuzzy_rules"]

_SHARP, _SOFT = 10.0, 2.0  # how many times the passage goes into the range
_HELD = 0.5  # a category belongs to a set from this membership on


@dataclass(frozen=True)
class FuzzyRule:
    """One function as a rule that holds more or less, from 0 to 1.

    Parameters
    ----------
    condition : str
        What it asks, such as ``age > 54.5 y`` or ``age near 50``.
    manner : str
        How: sharply, gradually, slowly, and over which range.
    weight : float, optional
        What it adds where it holds wholly; None in neurons that only count.
    kind : str
        The kind of its shape.
    least, greatest : float
        How much it holds at least and at most.
    missing : float, optional
        How much it holds for a gap, if the column has gaps.
    """

    condition: str
    manner: str
    weight: float | None
    kind: Kind
    least: float
    greatest: float
    missing: float | None = None

    def __str__(self) -> str:
        """Tell the rule in one line."""
        gap = "" if self.missing is None else f"; if missing {format_rounded(self.missing, 2)}"
        told = f"[{self.condition}]" if self.weight is not None else self.condition
        return f"{tell_factor(self.weight)}{told} ({self.manner}{gap})"


@dataclass(frozen=True)
class FuzzyNeuron:
    """The rules of a neuron or an output, and the parts that hardly vary."""

    name: str
    aggregation: str
    activation: str
    centre: float
    rules: tuple[FuzzyRule, ...]
    constants: tuple[FuzzyRule, ...]

    def __str__(self) -> str:
        """Tell the neuron, a line for each rule."""
        lines = [f"    {rule}" for rule in self.rules]
        if self.constants:
            lines.append(f"    hardly changing: {'; '.join(map(str, self.constants))}")
        if self.centre:
            lines.append(f"    {tell_centre(self.centre)}")
        after = "" if self.activation == "identity" else f", then {self.activation}"
        return "\n".join([f"{self.name} {_VERBS[self.aggregation]}{after}:", *lines])


@dataclass(frozen=True, repr=False)
class FuzzyRules:
    """The fuzzy rules of a network, neuron by neuron, and how the outputs decide."""

    neurons: tuple[FuzzyNeuron, ...]
    decision: str

    def __repr__(self) -> str:
        """Tell how many there are."""
        n_rules = sum(len(neuron.rules) for neuron in self.neurons)
        return f"<FuzzyRules: {n_rules} rules in {len(self.neurons)} neurons>"

    def __str__(self) -> str:
        """Tell all rules."""
        return "\n".join([*map(str, self.neurons), self.decision])

    def to_dict(self) -> dict[str, Any]:
        """Give the rules as plain data."""
        return asdict(self)


def read_fuzzy_rules(model: Model) -> FuzzyRules:
    """Tell the fuzzy rules of a network whose functions lie between 0 and 1.

    Parameters
    ----------
    model : Model
        A network of sigmoid, tanh_prod or heaviside functions.

    Returns
    -------
    FuzzyRules

    Raises
    ------
    ModelError
        If a layer has functions that do not lie between 0 and 1.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("sigmoid", "sum", "identity", 1, target=[0, 0], source=[0, 1],
    ...               w=[[0.34], [-0.01]], b=[[54.5], [150.0]], alpha=[3.0, 1.5], centre=[1.25])
    >>> columns = Column("age", 29.0, 77.0, unit="y"), Column("pulse", 70.0, 200.0)
    >>> model = Model(Schema(columns), [layer], Classes(("well", "ill")))
    >>> print(read_fuzzy_rules(model))
    score for 'ill' adds:
        +3 × [age > 54.5 y] (gradually, from 48 to 61)
        +1.5 × [the more pulse, the less] (nearly straight, from 0.69 to 0.38)
        less 1.25
    Score ≥ 0: ill. Otherwise: well.
    """
    for number, layer in enumerate(model.layers, 1):
        if not get_processing(layer.processing).bounded:
            raise ModelError(
                f"expected functions from 0 to 1 (sigmoid, tanh_prod or heaviside) for fuzzy "
                f"rules, got {layer.processing} in layer {number}; read_shapes tells those too"
            )
    shapes = read_shapes(model)
    neurons = [_make_neuron(neuron, shapes.of_neuron(neuron)) for neuron in shapes.neurons]
    return FuzzyRules(tuple(neurons), _tell_decision(model.output))


_VERBS = {
    "sum": "adds",
    "mean": "averages",
    "min": "holds as much as the least of",
    "max": "holds as much as the greatest of",
    "product": "multiplies",
}


def _make_neuron(neuron: Neuron, shapes: Sequence[Shape]) -> FuzzyNeuron:
    return FuzzyNeuron(
        neuron.name,
        neuron.aggregation,
        neuron.activation,
        neuron.centre,
        tuple(_make_rule(shape) for shape in shapes if shape.matters),
        tuple(_make_constant(shape) for shape in shapes if not shape.matters),
    )


def _make_rule(shape: Shape) -> FuzzyRule:
    condition, manner = _TELLERS[shape.kind](shape)
    manner = tell_points(shape) or manner
    limits = shape.least, shape.greatest
    missing = None if shape.kind == "levels" else shape.missing
    return FuzzyRule(condition, manner, shape.weight, shape.kind, *limits, missing)


def _make_constant(shape: Shape) -> FuzzyRule:
    limits = shape.least, shape.greatest
    return FuzzyRule(shape.source, tell_shape(shape), shape.weight, shape.kind, *limits)


def _tell_decision(output: Output) -> str:
    if not isinstance(output, Classes):
        return "The outputs are the amounts."
    if output.n_scores == 1:
        return f"Score ≥ 0: {output.labels[1]}. Otherwise: {output.labels[0]}."
    return "The highest score decides."


# ---- kinds ----


def _tell_sharpness(shape: Shape) -> str:
    sharpness = shape.sharpness or 0.0
    word = "slowly" if sharpness < _SOFT else "gradually" if sharpness < _SHARP else "sharply"
    return f"{word}, from {tell_range(shape).replace(' and ', ' to ')}"


def _tell_step(shape: Shape) -> tuple[str, str]:
    place = tell_place(shape, shape.threshold)
    if shape.between is None:
        return f"{shape.source} {'≥' if shape.kind == 'step up' else '≤'} {place}", "exactly"
    return f"{shape.source} {'>' if shape.kind == 'step up' else '<'} {place}", "as a step"


def _tell_slope(shape: Shape) -> tuple[str, str]:
    if not shape.has_place:
        return _tell_trend(shape)
    sign = ">" if shape.rises else "<"
    return f"{shape.source} {sign} {tell_place(shape, shape.threshold)}", _tell_sharpness(shape)


def _tell_trend(shape: Shape) -> tuple[str, str]:
    how = "nearly straight, " if shape.kind == "linear" else ""
    start, end = tell_value(shape, shape.start), tell_value(shape, shape.end)
    trend = f"the more {shape.source}, the {'more' if shape.rises else 'less'}"
    return trend, f"{how}from {start} to {end}"


def _tell_bell(shape: Shape) -> tuple[str, str]:
    place, height = shape.turns[0]
    word = "near" if shape.kind == "bell" else "not near"
    most = f"{'most' if shape.kind == 'bell' else 'least'} {tell_value(shape, height)}"
    within = f"half-way at {tell_range(shape)}"
    return f"{shape.source} {word} {tell_place(shape, place)}", f"{most}, {within}"


def _tell_wave(shape: Shape) -> tuple[str, str]:
    return f"{shape.source} in waves", tell_shape(shape).removeprefix("a wave: ")


def _tell_levels(shape: Shape) -> tuple[str, str]:
    held = [tell_label(label) for label, value in shape.levels if value >= _HELD]
    held += ["missing"] if shape.missing is not None and shape.missing >= _HELD else []
    return f"{shape.source} in {{{', '.join(held)}}}", tell_shape(shape)


def _tell_constant(shape: Shape) -> tuple[str, str]:
    """Tell a function that only tells gaps from what is there."""
    here = shape.missing is not None and shape.missing > shape.start
    return f"{shape.source}{'' if here else ' not'} missing", tell_shape(shape)


_TELLERS: dict[Kind, Callable[[Shape], tuple[str, str]]] = {
    "step up": _tell_step,
    "step down": _tell_step,
    "rising": _tell_slope,
    "falling": _tell_slope,
    "linear": _tell_trend,
    "hinge": _tell_trend,
    "bell": _tell_bell,
    "inverse bell": _tell_bell,
    "wave": _tell_wave,
    "levels": _tell_levels,
    "constant": _tell_constant,
}
