"""A function of a network as a curve: sampled where it is read, with every turn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.network import Layer
from newron.model.schema import Column, RankScale, Schema
from newron.neurons.processing import Processing

_POINTS = 513  # of the even grid over a range
_MIN_TURN = 0.1  # of the variation; smaller turns are smoothed out
_STRAIGHT = 0.05  # of the variation: how far a straight line may be missed
_LEVEL = 1e-9  # of the variation: what is as high as a turn
_AROUND = np.array([0.0, 0.5, 1.0, 2.0, 4.0, 8.0])  # distances from b, in units of 1 / w


def trace_function(schema: Schema, layer: Layer, e: int, x: Floats) -> Floats:
    """Return h of function e of a layer at positions x, which are numbers.

    Positions are in the column's units, also where the function reads ranks.
    """
    scale = _find_scale(schema, layer, e)
    b = layer.b[e : e + 1]
    if scale is not None:
        x, b = scale.rank(x), scale.rank(b)
    with np.errstate(over="ignore", invalid="ignore"):
        return layer.process(x[:, None], b, slice(e, e + 1))[:, 0]


def _find_scale(schema: Schema, layer: Layer, e: int) -> RankScale | None:
    return schema.columns[layer.source[e]].rank_scale if layer.rank[e] else None


@dataclass(frozen=True)
class Source:
    """A signal that functions read: its name and range, and the column if it is one."""

    name: str
    low: float
    high: float
    column: Column | None = None


class SampledCurve:
    """What can be seen of a curve at its positions: turns, crossings, whether it is straight."""

    source: Source

    @property
    @abstractmethod
    def x(self) -> Floats:
        """The positions, in order."""

    @property
    @abstractmethod
    def y(self) -> Floats:
        """The value at each position."""

    @property
    @abstractmethod
    def missing(self) -> float | None:
        """The value of a missing value, if the column has missing values."""

    @abstractmethod
    def trace(self, x: Floats) -> Floats:
        """Return the values at some positions."""

    @property
    def is_even(self) -> bool:
        """Whether a range is sampled, and not the values of a column that has few."""
        column = self.source.column
        return column is None or not (column.values or column.categories)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest value, that of a missing value included."""
        values = self.y if self.missing is None else np.append(self.y, self.missing)
        return float(values.min()), float(values.max())

    @property
    def variation(self) -> float:
        """The greatest less the least value of the positions."""
        return float(self.y.max() - self.y.min())

    @cached_property
    def turns(self) -> list[int]:
        """Which positions are highest or lowest, between rises and falls."""
        return _find_turns(self.y, _MIN_TURN * self.variation)

    @property
    def is_straight(self) -> bool:
        """Whether a straight line comes near to it."""
        x, y = self.x, self.y
        if len(x) < 3:
            return False
        line = y[0] + (y[-1] - y[0]) * ((x - x[0]) / (x[-1] - x[0]))
        return bool(np.abs(y - line).max() <= _STRAIGHT * self.variation)

    def find_place(self, level: float, first: int, last: int) -> float:
        """Return where it first crosses a level between two of the positions."""
        above = self.y[first : last + 1] >= level
        k = first + int(np.argmax(above != above[0]))
        if k == first:
            return float(self.x[first])
        return _find_crossing(self.trace, float(self.x[k - 1]), float(self.x[k]), level)

    def find_top(self, turn: int) -> float:
        """Return the position of a turn, and the middle of a flat one."""
        if not self.is_even:
            return float(self.x[turn])
        beside = np.abs(self.y - self.y[turn]) > _LEVEL * self.variation
        first = turn - int(np.argmax(np.append(beside[turn::-1], True))) + 1
        last = turn + int(np.argmax(np.append(beside[turn:], True))) - 1
        if first == last:
            return float(self.x[turn])
        return float(0.5 * (self.x[first] + self.x[last]))


@dataclass(frozen=True)
class Curve(SampledCurve):
    """A function over the range of what it reads, or over the values where there are few.

    For categories ``x`` are their numbers and ``y`` their levels.
    """

    schema: Schema
    layer: Layer
    e: int
    source: Source

    @property
    def processing(self) -> Processing:
        """What kind of function it is."""
        return self.layer.function

    @property
    def scale(self) -> RankScale | None:
        """The rank scale on which it is read, if any."""
        return _find_scale(self.schema, self.layer, self.e)

    @property
    def levels(self) -> Floats:
        """The h of each category; empty for numbers."""
        return self.layer.levels[self.e]

    @property
    def missing(self) -> float | None:
        """The h of a missing value, if the column has missing values."""
        column = self.source.column
        return float(self.layer.missing[self.e]) if column and column.gaps else None

    @cached_property
    def x(self) -> Floats:
        """The positions, in order."""
        column, low, high = self.source.column, self.source.low, self.source.high
        if len(self.levels):
            return np.arange(len(self.levels), dtype=np.float64)
        if column is not None and column.values:
            return np.unique(np.array(column.values, np.float64))
        places = np.concatenate([np.linspace(low, high, _POINTS), self._find_special()])
        return np.unique(places[(places >= low) & (places <= high)])

    @cached_property
    def y(self) -> Floats:
        """The h of each position."""
        return self.levels if len(self.levels) else self.trace(self.x)

    def trace(self, x: Floats) -> Floats:
        """Return h at some positions."""
        return trace_function(self.schema, self.layer, self.e, x)

    def _find_special(self) -> Floats:
        """Return where something may happen between two points of an even grid."""
        w, b, scale = np.abs(self.layer.w[self.e]), self.layer.b[self.e], self.scale
        own = b if scale is None else scale.rank(b)
        bent = w > 0.0
        with np.errstate(over="ignore"):
            reach = (_AROUND / w[bent, None]).ravel()
        at = np.repeat(own[bent], len(_AROUND))
        found = [at - reach, at + reach]
        if self.layer.processing == "tanh_prod" and np.all(bent):
            found.append(_find_turns_of_product(w, own))
        places = np.concatenate(found)
        if scale is not None:
            places = np.concatenate([scale.value(places), np.array(scale.knots)])
        return np.concatenate([places, b, np.nextafter(b, -np.inf), np.nextafter(b, np.inf)])


@dataclass(frozen=True)
class SumCurve(SampledCurve):
    """What all functions of a column add to a score.

    ``members`` are the functions, whose positions it takes; ``measure`` returns what is added at
    some values of the column.
    """

    source: Source
    members: Sequence[Curve]
    measure: Callable[[Floats], Floats]

    @cached_property
    def x(self) -> Floats:
        """The positions of all members."""
        return np.unique(np.concatenate([member.x for member in self.members]))

    @cached_property
    def y(self) -> Floats:
        """What is added at each position."""
        return self.trace(self.x)

    @cached_property
    def missing(self) -> float | None:
        """What a missing value adds, if the column has missing values."""
        column = self.source.column
        if column is None or not column.gaps:
            return None
        return float(self.measure(np.array([np.nan]))[0])

    def trace(self, x: Floats) -> Floats:
        """Return what is added at some positions."""
        return self.measure(x)


def _find_turns(y: Floats, least: float) -> list[int]:
    """Return where y turns between rises and falls of more than ``least``."""
    turns: list[int] = []
    direction = low = high = 0
    values = y.tolist()
    for i, value in enumerate(values):
        high = i if value > values[high] else high
        low = i if value < values[low] else low
        if direction >= 0 and values[high] - value > least:
            turns += [high] if direction else []
            direction, low = -1, i
        elif direction <= 0 and value - values[low] > least:
            turns += [low] if direction else []
            direction, high = 1, i
    return turns


def _find_turns_of_product(w: Floats, b: Floats) -> Floats:
    """Return where a product of tanh turns: once between each two neighbours of its zeros.

    There log |tanh| of each factor is concave, so the sum of their slopes, 2 w / sinh 2 w
    (x − b), falls from ∞ to −∞ and is zero once.
    """
    zeros = np.unique(b).tolist()
    return np.array([_find_balance(w, b, low, high) for low, high in pairwise(zeros)])


def _find_balance(w: Floats, b: Floats, low: float, high: float) -> float:
    for _ in range(60):
        middle = 0.5 * low + 0.5 * high
        if not low < middle < high:
            break
        left = b < middle
        rise, fall = (
            _add_slopes(w[left], middle - b[left]),
            _add_slopes(w[~left], b[~left] - middle),
        )
        low, high = (middle, high) if rise > fall else (low, middle)
    return 0.5 * low + 0.5 * high


def _add_slopes(w: Floats, distance: Floats) -> float:
    """Return log of the sum of w / sinh(2 w d), which itself may be too small for a number."""
    with np.errstate(over="ignore", divide="ignore"):
        z = 2.0 * w * distance
        logs = np.log(w) - z - np.log(-np.expm1(-2.0 * z))
    return float(np.logaddexp.reduce(logs))


def _find_crossing(
    trace: Callable[[Floats], Floats], low: float, high: float, level: float
) -> float:
    """Return where h crosses a level that lies between its values at two positions."""
    for _ in range(7):
        x = np.linspace(low, high, 65)
        above = trace(x) >= level
        k = int(np.argmax(above != above[0]))
        if k == 0:
            break
        low, high = float(x[k - 1]), float(x[k])
    return 0.5 * low + 0.5 * high
