"""What each function of a network does over the observed range: its shape.

A column is looked at over its observed range, or at its values where it has few; a neuron
over the range that it can reach. Least and greatest values are exact. The kind is what
is left when turns of less than a tenth of the whole variation are smoothed out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from newron.drawing.printed import Listing
from newron.formatting import format_rounded
from newron.model.aggregation import (
    AnyActivation,
    AnyAggregation,
    activate_limits,
    combine_limits,
)
from newron.model.description import name_neurons
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Label
from newron.shapes.curve import Curve, SampledCurve, Source, SumCurve
from newron.shapes.sentence import describe_shape, format_factor, list_neuron
from newron.tables.frames import make_pandas

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Kind", "Neuron", "Shape", "Shapes", "read_shapes", "read_sum"]

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

_STEEP = 0.01  # of the range: what goes from 10 % to 90 % within it is a step
_NEGLIGIBLE = 0.02  # of the largest variation in the neuron, or of 0 to 1
_NOISE = 1e-9
_LARGEST = 1e100


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
        return f"{self.source}: {self.description}{_format_times(self.weight)}"


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
    >>> print(read_shapes(model))
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


def read_shapes(model: Model) -> Shapes:
    """Describe what every function of a model does over the observed range.

    Parameters
    ----------
    model : Model

    Returns
    -------
    Shapes

    Examples
    --------
    >>> from newron.model import Column, Layer, Model, Schema, Targets
    >>> layer = Layer("tanh_prod", "sum", "identity", 1, target=[0], source=[0],
    ...               w=[[0.2, -0.2]], b=[[40.0, 60.0]], alpha=[3.0])
    >>> model = Model(Schema((Column("age", 20.0, 80.0),)), [layer], Targets(("dose",)))
    >>> shape = read_shapes(model)[0]
    >>> shape.kind, shape.peak, shape.weight
    ('bell', 50.0, 3.0)
    >>> print(shape)
    age: a bell, highest (0.96) at 50, half-way down at 40 and 60; 0 at 20, 0 at 80, times 3
    """
    shapes: list[Shape] = []
    neurons: list[Neuron] = []
    sources = [Source(c.name, c.low, c.high, c) for c in model.schema.columns]
    for number, layer in enumerate(model.layers, 1):
        curves = [Curve(model.schema, layer, e, sources[s]) for e, s in enumerate(layer.source)]
        found = _read_layer(layer, number, curves)
        own = _list_neurons(model, number)
        for neuron in own:
            mine = [shape for shape in found if shape.neuron == neuron.number]
            sources.append(Source(neuron.name, *_find_reach(neuron, mine)))
        shapes += found
        neurons += own
    return Shapes(shapes, neurons)


# ---- neurons ----


def _list_neurons(model: Model, number: int) -> list[Neuron]:
    layer, names = model.layers[number - 1], name_neurons(model, number)
    centre = [0.0] * len(names) if layer.centre is None else layer.centre.tolist()
    return [
        Neuron(number, j, name, layer.aggregation, layer.activation, c)
        for j, (name, c) in enumerate(zip(names, centre, strict=True), 1)
    ]


def _find_reach(neuron: Neuron, shapes: Sequence[Shape]) -> tuple[float, float]:
    """Return the range of a neuron, from those of its functions."""
    ends = np.array([(s.least, s.greatest) for s in shapes]).reshape(-1, 2)
    ends *= np.array([1.0 if s.weight is None else s.weight for s in shapes]).reshape(-1, 1)
    reach = np.array(combine_limits(neuron.aggregation, ends.min(axis=1), ends.max(axis=1)))
    if neuron.aggregation == "product" and not np.all(np.abs(reach) <= _LARGEST):
        reach = np.array([-_LARGEST, _LARGEST])  # where a network stops multiplying
    low, high = activate_limits(neuron.activation, *(reach - neuron.centre)[:, None])
    return float(low[0]), float(high[0])


# ---- sums ----


def read_sum(curve: SumCurve, layer: int, neuron: int, function: int, largest: float) -> Shape:
    """Describe what all functions of a column add to a neuron; values are what is added.

    ``function`` is the first of them, ``largest`` what the strongest function of the neuron adds.
    """
    low, high = curve.limits
    column = curve.source.column
    common: dict[str, Any] = {
        "layer": layer,
        "neuron": neuron,
        "function": function,
        "source": curve.source.name,
        "low": float(curve.x[0]),
        "high": float(curve.x[-1]),
        "start": float(curve.y[0]),
        "end": float(curve.y[-1]),
        "least": low,
        "greatest": high,
        "missing": curve.missing,
        "matters": high - low >= _NEGLIGIBLE * largest,
        "unit": None if column is None else column.unit,
    }
    if not curve.is_even:
        common["points"] = tuple(zip(curve.x.tolist(), curve.y.tolist(), strict=True))
    if curve.variation <= _NOISE * largest:
        return Shape(kind="constant", **common)
    if curve.turns:
        return _read_turns(curve, common)
    kind: Kind = "rising" if curve.y[-1] > curve.y[0] else "falling"
    if curve.is_straight:
        return Shape(kind="linear", **common)
    return Shape(kind=kind, **common, **_find_middle(curve))


def _find_middle(curve: SumCurve) -> dict[str, Any]:
    """Return where a monotone curve is half-way, and where 10 % and 90 % are."""
    start, end, last = float(curve.y[0]), float(curve.y[-1]), len(curve.x) - 1
    low, half, high = (
        curve.find_place(start + part * (end - start), 0, last) for part in (0.1, 0.5, 0.9)
    )
    return {"threshold": half, "between": (low, high)}


# ---- functions ----


def _read_layer(layer: Layer, number: int, curves: Sequence[Curve]) -> list[Shape]:
    weights = np.ones(len(curves)) if layer.alpha is None else np.abs(layer.alpha)
    sizes = weights * np.array([curve.limits[1] - curve.limits[0] for curve in curves])
    shapes = []
    for e, curve in enumerate(curves):
        largest = float(sizes[layer.target == layer.target[e]].max())
        shapes.append(
            _read_function(curve, number, _find_min_variation(curve, float(weights[e]), largest))
        )
    return shapes


def _find_min_variation(curve: Curve, weight: float, largest: float) -> float:
    """Return the least variation of h that matters, beside the largest part of the neuron."""
    if curve.layer.alpha is None and curve.processing.bounded:
        return _NEGLIGIBLE
    return max(_NOISE, _NEGLIGIBLE * largest / weight) if weight else math.inf


def _read_function(curve: Curve, number: int, least: float) -> Shape:
    layer, e, column = curve.layer, curve.e, curve.source.column
    low, high = curve.limits
    common: dict[str, Any] = {
        "layer": number,
        "neuron": int(layer.target[e]) + 1,
        "function": e,
        "source": curve.source.name,
        "low": float(curve.x[0]),
        "high": float(curve.x[-1]),
        "start": float(curve.y[0]),
        "end": float(curve.y[-1]),
        "least": low,
        "greatest": high,
        "missing": curve.missing,
        "weight": None if layer.alpha is None else float(layer.alpha[e]),
        "matters": high - low >= least,
        "unit": None if column is None else column.unit,
    }
    if column is not None and column.categories:
        levels = tuple(zip(column.categories, curve.y.tolist(), strict=True))
        return Shape(kind="levels", levels=levels, **common)
    if not curve.is_even:
        common["points"] = tuple(zip(curve.x.tolist(), curve.y.tolist(), strict=True))
    if _is_flat(curve, least):
        return Shape(kind="constant", **common)
    return _read_curve(curve, common)


def _is_flat(curve: Curve, least: float) -> bool:
    """Return whether the function varies too little to matter, and to be seen."""
    seen = curve.processing.bounded and curve.variation >= _NEGLIGIBLE
    return curve.variation < least and not seen


def _read_curve(curve: Curve, common: dict[str, Any]) -> Shape:
    return _read_turns(curve, common) if curve.turns else _read_slope(curve, common)


def _read_turns(curve: SampledCurve, common: dict[str, Any]) -> Shape:
    turns = tuple((curve.find_top(t), float(curve.y[t])) for t in curve.turns)
    if len(turns) > 1:
        return Shape(kind="wave", turns=turns, **common)
    return _read_bell(curve, turns, common)


def _read_bell(
    curve: SampledCurve, turns: tuple[tuple[float, float], ...], common: dict[str, Any]
) -> Shape:
    top, (_, height), last = curve.turns[0], turns[0], len(curve.x) - 1
    left = curve.find_place(0.5 * (height + float(curve.y[0])), 0, top)
    right = curve.find_place(0.5 * (height + float(curve.y[-1])), top, last)
    kind: Kind = "bell" if height > curve.y[0] else "inverse bell"
    return Shape(kind=kind, turns=turns, between=(left, right), **common)


def _read_slope(curve: Curve, common: dict[str, Any]) -> Shape:
    """Read a function that only rises, or only falls."""
    up = curve.y[-1] > curve.y[0]
    threshold, between = _find_threshold(curve)
    kind: Kind = "rising" if up else "falling"
    if curve.processing.crisp or _is_steep(curve, between):
        kind = "step up" if up else "step down"
    elif curve.is_straight:
        kind = "linear"
    elif curve.layer.processing in ("relu", "selu") and curve.x[0] < threshold < curve.x[-1]:
        kind = "hinge"
    return Shape(kind=kind, threshold=threshold, between=between, **common)


def _is_steep(curve: Curve, between: tuple[float, float] | None) -> bool:
    if between is None or not curve.is_even:
        return False
    inside = curve.x[0] <= between[0] and between[1] <= curve.x[-1]
    return bool(inside and between[1] - between[0] <= _STEEP * (curve.x[-1] - curve.x[0]))


def _find_threshold(curve: Curve) -> tuple[float, tuple[float, float] | None]:
    """Return the threshold of a monotone function, and where 10 % and 90 % are."""
    layer, e = curve.layer, curve.e
    if layer.processing in ("heaviside", "linear", "relu", "selu"):
        return float(layer.b[e, 0]), None
    if layer.processing in ("sigmoid", "tanh_prod") and layer.n_factors == 1:
        return _solve_sigmoid(curve)
    start, end, last = float(curve.y[0]), float(curve.y[-1]), len(curve.x) - 1
    half = 0.5 * (start + end)
    if abs(half - 0.5) < 0.25 * abs(end - start):
        half = 0.5  # where the crisp network has its threshold
    places = [curve.find_place(start + part * (end - start), 0, last) for part in (0.1, 0.9)]
    return curve.find_place(half, 0, last), (places[0], places[1])


def _solve_sigmoid(curve: Curve) -> tuple[float, tuple[float, float]]:
    layer, e, scale = curve.layer, curve.e, curve.scale
    b = float(layer.b[e, 0])
    # tanh-prod of one factor is σ(2 w (x − b)).
    steepness = abs(float(layer.w[e, 0])) * (2.0 if layer.processing == "tanh_prod" else 1.0)
    reach = math.log(9.0) / steepness
    if scale is None:
        return b, (b - reach, b + reach)
    at = float(scale.rank(np.array(b)))
    low, high = scale.value(np.array([at - reach, at + reach])).tolist()
    return b, (low, high)
