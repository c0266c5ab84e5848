"""Fuzzy rules: what the functions of a soft network ask, and how sharply.

As the paper has them: a sigmoid is the rule ``x > b`` or ``x < b``, the sharper the larger
its w; nearly straight, it says that there is more the more there is of x; bells ask whether
x is near a position, or far from it; and a function that hardly varies says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from newron.drawing.printed import Printed
from newron.errors import ModelError
from newron.formatting import format_number, format_rounded
from newron.model.aggregation import AnyActivation, AnyAggregation
from newron.model.description import VERBS
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.shapes.sentence import describe_fuzzy, describe_shape, format_factor, list_neuron
from newron.shapes.shape import Kind, Neuron, Shape
from newron.shapes.shape_reader import read_shapes

_VERBS = VERBS | {"min": "holds as much as the least of", "max": "holds as much as the greatest of"}


@dataclass(frozen=True)
class FuzzyRule:
    """One function as a rule that holds more or less, from 0 to 1.

    - ``condition``: What it asks, such as ``age > 54.5 y`` or ``age near 50``.
    - ``manner``: How: sharply, gradually, slowly, and over which range.
    - ``weight``: What it adds where it holds wholly; None in neurons that only count.
    - ``kind``: The kind of its shape.
    - ``least``, ``greatest``: How much it holds at least and at most.
    - ``missing``: How much it holds for a missing value, if the column has some.
    """

    condition: str
    manner: str
    weight: float | None
    kind: Kind
    least: float
    greatest: float
    missing: float | None = None

    def __str__(self) -> str:
        missing = "" if self.missing is None else f"; if missing {format_rounded(self.missing, 2)}"
        condition = self.condition if self.weight is None else f"[{self.condition}]"
        return f"{format_factor(self.weight)}{condition} ({self.manner}{missing})"


@dataclass(frozen=True)
class FuzzyNeuron:
    """The rules of a neuron or an output, and the parts that hardly vary.

    - ``name``, ``aggregation``, ``activation``, ``centre``: As in :class:`newron.shapes.Neuron`.
    - ``rules``, ``constants``: The functions that matter, and the others.
    """

    name: str
    aggregation: AnyAggregation
    activation: AnyActivation
    centre: float
    rules: tuple[FuzzyRule, ...]
    constants: tuple[FuzzyRule, ...]

    @property
    def heading(self) -> str:
        """What the neuron does with its functions."""
        return self._list()[0]

    @property
    def lines(self) -> list[str]:
        """A line for each rule, for the constants and for what is taken from the sum."""
        return self._list()[1]

    def _list(self) -> tuple[str, list[str]]:
        constants = "; ".join(map(str, self.constants))
        aside = f"hardly changing: {constants}" if constants else ""
        neuron = Neuron(0, 0, self.name, self.aggregation, self.activation, self.centre)
        return list_neuron(neuron, [str(rule) for rule in self.rules], aside, _VERBS)

    def __str__(self) -> str:
        return "\n".join([self.heading, *(f"    {line}" for line in self.lines)])


@dataclass(frozen=True, repr=False)
class FuzzyRules(Printed):
    """The fuzzy rules of a network.

    Parameters
    ----------
    neurons : tuple of FuzzyNeuron
        In the order of the layers.
    decision : str
        How the outputs decide.

    Examples
    --------
    See :func:`read_fuzzy_rules`, which makes them.

    >>> FuzzyRules((), "The highest score decides.")
    <FuzzyRules: 0 rules in 0 neurons>
    """

    neurons: tuple[FuzzyNeuron, ...]
    decision: str

    def __repr__(self) -> str:
        n_rules = sum(len(neuron.rules) for neuron in self.neurons)
        return f"<FuzzyRules: {n_rules} rules in {len(self.neurons)} neurons>"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.neurons), self.decision])

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain data.

        Returns
        -------
        dict
        """
        return asdict(self)


def read_fuzzy_rules(model: Model) -> FuzzyRules:
    """Return the fuzzy rules of a network whose functions lie between 0 and 1."""
    for number, layer in enumerate(model.layers, 1):
        if not layer.function.bounded:
            raise ModelError(
                f"expected functions from 0 to 1 (sigmoid, tanh_prod or heaviside) for fuzzy "
                f"rules, got {layer.processing} in layer {number}; read_shapes describes those too"
            )
    shapes = read_shapes(model)
    neurons = [_make_neuron(neuron, shapes.of_neuron(neuron)) for neuron in shapes.neurons]
    return FuzzyRules(tuple(neurons), _describe_decision(model.output))


def _make_neuron(neuron: Neuron, shapes: Sequence[Shape]) -> FuzzyNeuron:
    return FuzzyNeuron(
        neuron.name,
        neuron.aggregation,
        neuron.activation,
        neuron.centre,
        tuple(_make_rule(shape) for shape in shapes if shape.matters),
        tuple(_make_rule(shape) for shape in shapes if not shape.matters),
    )


def _make_rule(shape: Shape) -> FuzzyRule:
    limits = shape.least, shape.greatest
    if not shape.matters:
        return FuzzyRule(shape.source, describe_shape(shape), shape.weight, shape.kind, *limits)
    condition, manner = describe_fuzzy(shape)
    missing = None if shape.kind == "levels" else shape.missing
    return FuzzyRule(condition, manner, shape.weight, shape.kind, *limits, missing)


def _describe_decision(output: Output) -> str:
    if not isinstance(output, Classes):
        return "The outputs are the predictions."
    if output.is_ordered:
        bands = reversed(list(zip(output.labels[1:], output.bands, strict=True)))
        described = [f"Score ≥ {format_number(limit)}: {label}." for label, limit in bands]
        return " ".join([*described, f"Otherwise: {output.labels[0]}."])
    if output.n_scores == 1:
        return f"Score ≥ 0: {output.labels[1]}. Otherwise: {output.labels[0]}."
    return "The highest score decides."
