"""What a figure shows: functions, neurons and axes, what is folded and what is left out.

Here are the parts; :mod:`newron.figures.diagram_reader` reads them from a model, and layouts
place them. Numbers of layers and neurons go from 1 on, functions are numbered in their
layer from 0 on, as in :class:`newron.shapes.Shape`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from newron.explanations.path import Part, Stage
from newron.figures.captions import Mark
from newron.model.aggregation import AnyActivation, AnyAggregation
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.shapes.shape import Shape


@dataclass(frozen=True)
class Axis:
    """What a function reads: a column, or a neuron; with how many rows lie where.

    ``labels`` are those of categories; ``values`` are all values where they are few.
    ``density`` counts rows: for each category, for each value, or in equal parts of the range.
    """

    name: str
    low: float
    high: float
    unit: str = ""
    labels: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    density: tuple[int, ...] = ()
    has_missing: bool = False
    n_missing: int = 0

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the axis as it is drawn: values have half a step beside them."""
        if not self.values and self.high > self.low:
            return self.low, self.high
        steps = np.diff(self.values) if len(self.values) > 1 else np.ones(1)
        half = 0.5 * float(steps.min())
        places = self.values or (self.low,)
        return places[0] - half, places[-1] + half


@dataclass(frozen=True, eq=False)
class Function:
    """One function to be drawn, or all functions of a neuron that read one input: their sum.

    ``x`` and ``y`` are the curve of what it adds to its neuron, weight times h; for categories
    one point each. ``low`` and ``high`` are the ends of its y axis. ``strength`` is the
    influence for line widths, beside that of the strongest function. ``place`` is the value of
    the row; ``limit`` is where a condition on numbers changes. ``joined`` are the functions of
    the model whose sum it is; empty if it is one of them.
    """

    shape: Shape
    signal: int
    axis: Axis
    name: str
    reading: str
    marks: tuple[Mark, ...]
    x: Floats
    y: Floats
    low: float
    high: float
    influence: float
    strength: float
    crisp: bool
    bounded: bool
    part: Part | None = None
    place: float = math.nan
    limit: float | None = None
    joined: tuple[Function, ...] = ()

    @property
    def members(self) -> tuple[Function, ...]:
        """The functions of the model that it is."""
        return self.joined or (self,)

    @property
    def key(self) -> str:
        """Its name in the picture: layer and function, of each member."""
        return " ".join(f"{m.shape.layer}:{m.shape.function}" for m in self.members)

    @property
    def weight(self) -> float:
        """What h is multiplied by."""
        return 1.0 if self.shape.weight is None else self.shape.weight

    @property
    def size(self) -> float:
        """By how much what it adds varies."""
        if not self.joined:
            return abs(self.weight) * (self.shape.greatest - self.shape.least)
        values = self.y if self.missing is None else np.append(self.y, self.missing)
        return float(values.max() - values.min())

    @property
    def missing(self) -> float | None:
        """What a missing value adds, if the column has missing values."""
        values = [m.weight * m.shape.missing for m in self.members if m.shape.missing is not None]
        return sum(values) if values else None

    @property
    def head(self) -> str:
        """What it reads, and what it asks of it."""
        return f"{self.name} {self.reading}"

    @property
    def added(self) -> float:
        """What it adds for the row that is drawn."""
        return sum(m.weight * m.part.h for m in self.members if m.part is not None)

    @property
    def on(self) -> bool:
        """Whether its condition holds for the row; of a curve, whether it is at least half up."""
        if self.joined:
            return any(member.on for member in self.joined)
        if self.part is None:
            return False
        return self.part.h >= 0.5 if self.bounded else self.added > 0.0

    @property
    def whole(self) -> bool:
        """Whether it adds whole points or nothing."""
        return all(m.crisp and m.weight == round(m.weight) for m in self.members)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What each member does, in words."""
        return tuple(str(member.shape) for member in self.members)


@dataclass(frozen=True, eq=False)
class Neuron:
    """One neuron: its functions that are drawn, and how many are not.

    ``low`` and ``high`` are the limits of the total, before centre and activation.
    """

    layer: int
    number: int
    name: str
    aggregation: AnyAggregation
    activation: AnyActivation
    centre: float
    low: float
    high: float
    functions: tuple[Function, ...]
    folded: tuple[Function, ...] = ()
    n_left_out: int = 0
    n_functions: int = 0
    density: tuple[int, ...] = ()
    counts: bool = False
    stage: Stage | None = None

    @property
    def key(self) -> str:
        """Its name in the picture."""
        return f"{self.layer}:{self.number}"

    @property
    def is_tall(self) -> bool:
        """Whether its sum has something to add up."""
        plain = self.centre == 0.0 and self.activation == "identity"
        return not plain or self.n_functions != 1 or len(self.functions) != 1

    @property
    def limit(self) -> float:
        """The total from which on the second class is predicted."""
        return self.centre


@dataclass(frozen=True)
class Input:
    """A column as it is written beside the picture: its name, and the value of the row."""

    index: int
    name: str
    value: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What the network predicts for the row: scores, probabilities and the class."""

    scores: tuple[float, ...]
    probabilities: tuple[float, ...] = ()
    chosen: int = 0


@dataclass(frozen=True, eq=False)
class Diagram:
    """All that is drawn of a model.

    ``sample`` are the rows on which influence is measured; ``link`` makes
    probabilities of scores. ``unused`` are the inputs that no function reads, ``idle`` those that
    only functions read which hardly matter.
    """

    model: Model
    title: str
    subtitle: str
    layers: tuple[tuple[Neuron, ...], ...]
    inputs: dict[int, Input]
    outputs: tuple[str, ...]
    outcome: Outcome | None = None
    row_name: str = ""
    n_rows: int = 0
    sample: Floats | None = None
    link: Classes | None = None
    unused: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    def get_probability(self, scores: Floats) -> Floats:
        """Return the probabilities of the second of two classes.

        Of ordered classes those to be at least the second one, at least the third, and so on, in
        columns.
        """
        assert self.link is not None  # noqa: S101 - asked for classes alone
        shares = self.link.predict_proba(scores[:, None])[:, 1:]
        reached = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]
        return reached if self.link.is_ordered else reached[:, 0]

    def list_limits(self, neuron: Neuron) -> list[float]:
        """Return the totals of the one score from which on each later class is predicted."""
        assert self.classes is not None  # noqa: S101 - asked for classes alone
        return [neuron.limit + limit for limit in self.classes.thresholds]

    @property
    def neurons(self) -> tuple[Neuron, ...]:
        """All neurons that are drawn."""
        return tuple(neuron for layer in self.layers for neuron in layer)

    @property
    def functions(self) -> tuple[Function, ...]:
        """All functions that are drawn."""
        return tuple(function for neuron in self.neurons for function in neuron.functions)

    @cached_property
    def n_drawn(self) -> int:
        """How many functions are drawn."""
        return sum(len(function.members) for function in self.functions)

    @cached_property
    def n_folded(self) -> int:
        """How many matter a little and are only counted."""
        return sum(len(f.members) for neuron in self.neurons for f in neuron.folded)

    @property
    def n_left_out(self) -> int:
        """How many do not matter over the observed range."""
        return self.model.n_functions - self.n_drawn - self.n_folded

    @property
    def n_measured(self) -> int:
        """On how many rows influence is measured."""
        return 0 if self.sample is None else len(self.sample)

    @property
    def classes(self) -> Classes | None:
        """The classes; None for regression."""
        return self.model.output if isinstance(self.model.output, Classes) else None

    @property
    def has_one_score(self) -> bool:
        """Whether one score decides between two classes, or between ordered ones."""
        return self.classes is not None and self.classes.n_scores == 1

    @property
    def is_crisp(self) -> bool:
        """Whether all functions are conditions."""
        return self.model.is_crisp

    def find_signal(self, neuron: Neuron) -> int:
        """Return the number by which functions read a neuron."""
        before = sum(layer.n_neurons for layer in self.model.layers[: neuron.layer - 1])
        return len(self.model.schema) + before + neuron.number - 1

    def fold(self, choose: Callable[[Neuron], Iterable[Function]]) -> Diagram:
        """Return the diagram with fewer functions: of each neuron those that are chosen."""
        return replace(
            self,
            layers=tuple(tuple(_fold(neuron, choose) for neuron in layer) for layer in self.layers),
        )


def _fold(neuron: Neuron, choose: Callable[[Neuron], Iterable[Function]]) -> Neuron:
    kept = tuple(choose(neuron))
    keys = {function.key for function in kept}
    rest = tuple(function for function in neuron.functions if function.key not in keys)
    return replace(neuron, functions=kept, folded=neuron.folded + rest)
