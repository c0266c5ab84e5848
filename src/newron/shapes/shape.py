"""The shapes of functions: what each of them does over the observed range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from newron.drawing.printed import Listing
from newron.formatting import clean, format_rounded
from newron.model.aggregation import (
    AnyActivation,
    AnyAggregation,
)
from newron.model.output import Label
from newron.shapes.sentence import describe_shape, format_factor, list_neuron
from newron.tables.frames import make_pandas

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal[
    "step up",
    "step down",
    "rising",
    "falling",
    "linear",
    "hinge",
    "bell",
    "inverse bell",
    "wave",
    "levels",
    "constant",
]


@dataclass(frozen=True)
class Shape:
    """What one function does over the observed range of what it reads.

    Places are on the axis of what is read, in the column's units; values are those of h,
    before the weight.

    Parameters
    ----------
    layer, neuron : int
        Numbers from 1 on of the neuron that the function belongs to.
    function : int
        The function's index in its layer, from 0 on.
    source : str
        What it reads: a column, or "neuron 1.2".
    kind : str
        step up, step down, rising, falling, linear, hinge, bell, inverse bell, wave,
        levels or constant.
    low, high : float
        The range that is looked at; for categories their first and last number.
    start, end : float
        h at low and at high.
    least, greatest : float
        Of h over the range or all categories, and a missing value if the column has missing values.
    threshold : float, optional
        Where a step steps, a hinge bends, or a curve is half-way: for sigmoids b, which may
        lie outside the range, otherwise where h is 0.5 if that is in the middle half of its
        way, or half-way between its ends.
    turns : tuple of (position, h)
        Where it is highest or lowest within the range: one for a bell, several for a wave.
    between : tuple of float, optional
        For rising and falling, where 10 % and 90 % are; for bells, where h is half-way
        between its turn and its ends.
    points : tuple of (position, h)
        For columns of few values, all of them.
    levels : tuple of (category, h)
        For categories.
    missing : float, optional
        h of a missing value, if the column has missing values.
    weight : float, optional
        The alpha by which the neuron multiplies h.
    matters : bool
        Whether it changes the neuron by at least a fiftieth of what the function that
        changes it most does; where h lies between 0 and 1 and there are no weights, whether
        h varies by at least 0.02.
    unit : str, optional
        The unit of positions.

    Examples
    --------
    >>> step = Shape(1, 1, 0, "age", "step up", 18, 90, 0, 1, 0, 1, threshold=54.5, unit="y")
    >>> print(step)
    age: 1 from 54.5 y on, 0 below
    """

    layer: int
    neuron: int
    function: int
    source: str
    kind: Kind
    low: float
    high: float
    start: float
    end: float
    least: float
    greatest: float
    threshold: float | None = None
    turns: tuple[tuple[float, float], ...] = ()
    between: tuple[float, float] | None = None
    points: tuple[tuple[float, float], ...] = ()
    levels: tuple[tuple[Label, float], ...] = ()
    missing: float | None = None
    weight: float | None = None
    matters: bool = True
    unit: str | None = None

    @property
    def rises(self) -> bool:
        """Whether h is higher at the end of the range than at its start."""
        return self.end > self.start

    @property
    def has_threshold(self) -> bool:
        """Whether what it does it does at its threshold, within the range."""
        if self.threshold is None or not self.low <= self.threshold <= self.high:
            return False
        return self.width is None or self.width <= self.high - self.low

    @property
    def peak(self) -> float | None:
        """Where a bell is highest, or an inverse bell lowest."""
        return self.turns[0][0] if self.kind in ("bell", "inverse bell") else None

    @property
    def width(self) -> float | None:
        """How long ``between`` is."""
        return None if self.between is None else self.between[1] - self.between[0]

    @property
    def sharpness(self) -> float | None:
        """How many times ``width`` goes into the range; infinite for an exact step."""
        if self.kind in ("step up", "step down") and not self.width:
            return math.inf
        return (self.high - self.low) / self.width if self.width else None

    def to_dict(self) -> dict[str, Any]:
        """Return the shape as plain data.

        Returns
        -------
        dict
        """
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        data["turns"] = [list(turn) for turn in self.turns]
        data["points"] = [list(point) for point in self.points]
        data["between"] = None if self.between is None else list(self.between)
        data["levels"] = [{"category": label, "value": value} for label, value in self.levels]
        return {**data, "peak": self.peak, "width": self.width, "text": str(self)}

    @property
    def description(self) -> str:
        """What the function does, without what it reads and its weight."""
        return describe_shape(self)

    def __str__(self) -> str:
        times = _format_times(self.weight)
        return clean(f"{self.source}: {self.description}{times}", directions=False)


@dataclass(frozen=True)
class Neuron:
    """A neuron, without its functions."""

    layer: int
    number: int
    name: str
    aggregation: AnyAggregation
    activation: AnyActivation
    centre: float


class Shapes(Listing[Shape]):
    """The shapes of all functions of a model, in the order of its layers.

    A sequence of :class:`Shape`; as text it is grouped by neuron.

    Parameters
    ----------
    shapes : sequence of Shape
    neurons : sequence of Neuron
        In the order of the layers.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("sigmoid", "sum", "identity", 1, target=[0, 0], source=[0, 1],
    ...               w=[[0.34], [0.01]], b=[[54.5], [1.0]], alpha=[3.0, 1.5], centre=[1.25])
    >>> columns = Column("age", 29.0, 77.0, unit="y"), Column("visits", 0.0, 2.0)
    >>> model = Model(Schema(columns), [layer], Classes(("well", "ill")))
    >>> print(model.shapes())
    score for 'ill' adds:
        +3 × age: rises from 0 to 1 around 54.5 y (10 % to 90 % between 48 and 61)
        hardly matters: visits (nearly constant, 0.5, times 1.5)
        less 1.25
    """

    _parts = "_shapes"

    def __init__(self, shapes: Sequence[Shape], neurons: Sequence[Neuron]) -> None:
        self._shapes = tuple(shapes)
        self.neurons = tuple(neurons)

    def of_neuron(self, neuron: Neuron) -> tuple[Shape, ...]:
        """Return the shapes of the functions of one neuron.

        Parameters
        ----------
        neuron : Neuron
            One of ``neurons``.

        Returns
        -------
        tuple of Shape
        """
        place = neuron.layer, neuron.number
        return tuple(shape for shape in self if (shape.layer, shape.neuron) == place)

    def __repr__(self) -> str:
        """Return how many there are."""
        return f"<Shapes: {len(self)} functions, of which {sum(s.matters for s in self)} matter>"

    def __str__(self) -> str:
        blocks = (self.list_lines(neuron) for neuron in self.neurons)
        return "\n".join("\n    ".join([heading, *lines]) for heading, lines in blocks)

    def list_lines(self, neuron: Neuron) -> tuple[str, list[str]]:
        """Return what a neuron does with its functions, and a line for each of them.

        Parameters
        ----------
        neuron : Neuron
            One of ``neurons``.

        Returns
        -------
        heading : str
        lines : list of str
        """
        shapes = self.of_neuron(neuron)
        lines = [
            f"{format_factor(s.weight)}{s.source}: {s.description}" for s in shapes if s.matters
        ]
        rest = [shape for shape in shapes if not shape.matters]
        described = [f"{s.source} ({s.description}{_format_times(s.weight)})" for s in rest]
        verb = "matters" if len(rest) == 1 else "matter"
        return list_neuron(neuron, lines, f"hardly {verb}: {'; '.join(described)}" if rest else "")

    def to_dict(self) -> list[dict[str, Any]]:
        """Return all shapes as plain data.

        Returns
        -------
        list of dict
        """
        return [shape.to_dict() for shape in self]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each function, as a data frame of pandas.

        Returns
        -------
        DataFrame
        """
        records = ([shape.to_dict()[name] for name in _RECORD] for shape in self)
        return make_pandas(records, _RECORD, "shapes")


_RECORD = (
    "layer", "neuron", "source", "kind", "threshold", "peak", "width", "least", "greatest",
    "missing", "weight", "matters", "text",
)  # fmt: skip


def _format_times(weight: float | None) -> str:
    return "" if weight is None else f", times {format_rounded(weight)}"
