"""One condition on one column: which of its values fulfil it.

A condition is a set of values: closed intervals of numbers, or categories, and whether a missing
value is in it. In float64 every interval is a closed one, because "x < v" is x ≤ the number
before v. The same value is read from a function of a layer (:meth:`Condition.from_edge`), turned
into such functions (:meth:`Condition.to_edges`), evaluated, combined and written in words.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.formatting import format_label, format_number, quote, quote_unit
from newron.model.arithmetic import Floats
from newron.model.network import Layer
from newron.model.schema import Column
from newron.tables.field import LARGEST_INPUT

_MAX_LISTED = 1000  # values of a column that are kept apart

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Edge:
    """One Heaviside function of a layer: it is 1 where w (source − b) ≥ 0.

    - ``source``: The number of the signal that it reads, or what stands for a neuron without one
      yet.
    - ``w``, ``b``: Direction and threshold; 0 for a function that is 1 for every number.
    - ``missing``: Its value for a missing value.
    - ``levels``: Its value for each category; empty for numbers.
    """

    source: Hashable
    w: float = 0.0
    b: float = 0.0
    missing: float = 0.0
    levels: tuple[float, ...] = ()


@dataclass(frozen=True)
class Condition:
    """The values of a column that fulfil a condition.

    - ``intervals``: Closed intervals of numbers in ascending order, with gaps between them;
      infinite at open ends. Empty for a column of categories.
    - ``members``: For a column of categories, whether each of them fulfils the condition.
    - ``missing``: Whether a missing value does; an unknown category counts as one.

    >>> age = Column("age", 18.0, 90.0, unit="y", gaps=True)
    >>> window = Condition(((54.5, 70.0),))
    >>> window.format(age), window.complement().format(age)
    ('54.5 ≤ age ≤ 70 y', 'age < 54.5 y or > 70 y or missing')
    >>> window.holds([54.5, 80.0, float("nan")]).tolist()
    [True, False, False]
    """

    intervals: tuple[Bounds, ...] = ()
    members: tuple[bool, ...] = ()
    missing: bool = False

    # ---- layers ----

    @classmethod
    def from_edge(cls, layer: Layer, edge: int) -> Condition:
        """Return where a function of a layer is at least one half.

        - ``layer``: Of heaviside, sigmoid or tanh_prod functions.
        - ``edge``: The index of the function.

        >>> layer = Layer("tanh_prod", "sum", "identity", 1, [0], [0], [[1.0, -1.0]], [[1.0, 3.0]])
        >>> Condition.from_edge(layer, 0).intervals
        ((1.0, 3.0),)
        """
        missing = bool(layer.missing[edge] >= 0.5)
        if len(layer.levels[edge]):
            return cls((), tuple((layer.levels[edge] >= 0.5).tolist()), missing)
        return cls(_find_positive(layer.w[edge].tolist(), layer.b[edge].tolist()), (), missing)

    def to_edges(self, source: Hashable) -> list[Edge]:
        """Return the steps at the ends of the intervals, each interval's one after the other.

        Of one interval all steps hold inside and only there. Of several, one more holds inside
        than outside: ``n_bounded`` of them hold everywhere.

        - ``source``: What the functions read.
        """
        missing = float(self.missing)
        if self.members:
            return [Edge(source, missing=missing, levels=tuple(map(float, self.members)))]
        if not self.has_numbers:
            return [Edge(source, 1.0, LARGEST_INPUT, missing)]  # no number is so large
        ends = [(w, b) for low, high in self.intervals for w, b in ((1.0, low), (-1.0, high))]
        steps = [Edge(source, w, b, missing) for w, b in ends if math.isfinite(b)]
        return steps or [Edge(source, missing=missing)]

    # ---- sets ----

    @property
    def n_bounded(self) -> int:
        """How many intervals have two ends."""
        return sum(low > -inf and high < inf for low, high in self.intervals)

    @property
    def has_numbers(self) -> bool:
        """Whether some number fulfils it."""
        return any(low <= high and low < inf and high > -inf for low, high in self.intervals)

    @property
    def has_every_value(self) -> bool:
        """Whether every number or every category fulfils it."""
        return all(self.members) if self.members else self.intervals == ((-inf, inf),)

    @property
    def is_everything(self) -> bool:
        """Whether every value fulfils it, a missing one too."""
        return self.missing and self.has_every_value

    @property
    def is_empty(self) -> bool:
        """Whether no value fulfils it."""
        return not (self.missing or any(self.members) or self.has_numbers)

    @property
    def categories(self) -> tuple[int, ...]:
        """The numbers of the categories that fulfil it."""
        return tuple(k for k, inside in enumerate(self.members) if inside)

    @property
    def boundaries(self) -> list[float]:
        """The numbers from which on it begins to hold, or no longer holds."""
        ends = [(low, _after(high)) for low, high in self.intervals]
        return [end for pair in ends for end in pair if math.isfinite(end)]

    def __or__(self, other: Condition) -> Condition:
        """Return what fulfils one of two conditions on the same column."""
        size = max(len(self.members), len(other.members))
        mine, theirs = (c.members or (False,) * size for c in (self, other))
        return Condition(
            _unite([*self.intervals, *other.intervals]),
            tuple(a or b for a, b in zip(mine, theirs, strict=True)),
            self.missing or other.missing,
        )

    def __and__(self, other: Condition) -> Condition:
        """Return what fulfils both of two conditions on the same column."""
        shared = [(max(a, c), min(b, d)) for a, b in self.intervals for c, d in other.intervals]
        return Condition(
            tuple((low, high) for low, high in shared if low <= high),
            tuple(a and b for a, b in zip(self.members, other.members, strict=True)),
            self.missing and other.missing,
        )

    def complement(self) -> Condition:
        """Return what does not fulfil it."""
        missing = not self.missing
        if self.members:
            return Condition((), tuple(not inside for inside in self.members), missing)
        ends = [-inf]
        for low, high in self.intervals:
            ends += [_before(low), _after(high)]
        pairs = list(zip(ends[::2], [*ends[1::2], inf], strict=True))
        kept = [(a, b) for a, b in pairs if a <= b and a < inf and b > -inf]
        return Condition(tuple(kept), (), missing)

    def clip(self) -> Condition:
        """Return it for numbers below what stands for "never": ends beyond are open."""
        within = [(a, b) for a, b in self.intervals if a < LARGEST_INPUT and b > -LARGEST_INPUT]
        ends = [
            (a if a > -LARGEST_INPUT else -inf, b if b < LARGEST_INPUT else inf) for a, b in within
        ]
        return Condition(tuple(ends), self.members, self.missing)

    def trim(self, low: float, high: float) -> Condition:
        """Return it without intervals and ends beyond a range; as it is if none would be left.

        >>> Condition(((-1.3, 0.8),)).trim(0.1, 2.5).intervals
        ((-inf, 0.8),)
        """
        seen = [(a, b) for a, b in self.intervals if a <= high and b >= low]
        kept = tuple((a if a > low else -inf, b if b < high else inf) for a, b in seen)
        return Condition(kept or self.intervals, self.members, self.missing)

    # ---- values ----

    def holds(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Return which values fulfil it.

        - ``values``: Numbers, or the numbers of categories; NaN is a missing value.
        """
        x = np.asarray(values, np.float64)
        if self.members:
            known = (x >= 0) & (x < len(self.members))
            table = np.array([*self.members, self.missing])
            return np.asarray(table[np.where(known, x, len(self.members)).astype(np.intp)])
        inside = np.zeros(x.shape, bool)
        for low, high in self.intervals:
            inside |= (x >= low) & (x <= high)
        return np.where(np.isnan(x), self.missing, inside)

    # ---- words ----

    def format(self, column: Column, *, named: bool = True) -> str:
        """Return it in the words of rules, which can be read again.

        - ``column``: The column that it is about: for its name, labels, values and unit.
        - ``named``: Whether to name the column; without, "≥ 3" and "3 ≤ … ≤ 5".

        >>> rooms = Column("rooms", 1.0, 4.0, values=(1.0, 2.0, 3.0, 4.0), gaps=True)
        >>> several = Condition(((3.0, inf),), missing=True)
        >>> several.format(rooms), several.format(rooms, named=False)
        ('rooms ≥ 3 or missing', '≥ 3 or missing')
        """
        words = _Words(column, named)
        parts = self._list_parts(column, words)
        missing = self.missing and column.gaps
        if parts is None:
            return "always" if missing or not column.gaps else words.name("not missing")
        if not parts:
            return words.name("missing") if missing else "never"
        return " or ".join([*parts, "missing"] if missing else parts)

    def _list_parts(self, column: Column, words: _Words) -> list[str] | None:
        """Return what it says of values that are not missing; None where it holds for all."""
        values = list_values(column)
        if self.members or column.categories is not None:
            labels = [format_label(label) for label in column.categories or ()]
            inside: Sequence[bool] = self.members
        elif values is not None:
            labels = [format_number(value) for value in values]
            inside = self.holds(np.array(values)).tolist()
        else:
            return None if self.has_every_value else words.list_intervals(self.intervals)
        if all(inside):
            return None
        ordered = values is not None and not self.members
        return words.list_members(labels, inside, ordered) if any(inside) else []

    def names_values(self, column: Column) -> bool:
        """Return whether its words name single values, and no threshold."""
        values = list_values(column)
        if values is None:
            return bool(self.members)
        inside = self.holds(np.array(values))
        return min(int(inside.sum()), int((~inside).sum())) <= 1 or len(find_runs(inside)) > 1


ANY_NUMBER = Condition(((-inf, inf),), missing=True)
"""No condition on a column of numbers."""

MISSING = Condition(missing=True)
"""The condition that a value is missing, for a column of numbers."""


# ---- words ----


@dataclass(frozen=True)
class _Words:
    """Writes conditions on one column; the name comes once, before the first part."""

    column: Column
    named: bool

    @property
    def _name(self) -> str:
        return quote(self.column.name) if self.named else ""

    @property
    def _unit(self) -> str:
        return f" {quote_unit(self.column.unit)}" if self.column.unit else ""

    def name(self, text: str) -> str:
        return f"{self._name} {text}".lstrip()

    def list_members(
        self, labels: Sequence[str], inside: Sequence[bool], ordered: bool
    ) -> list[str]:
        unit = "" if self.column.categories is not None else self._unit
        chosen = [label for label, held in zip(labels, inside, strict=True) if held]
        others = [label for label, held in zip(labels, inside, strict=True) if not held]
        runs = find_runs(inside)
        if ordered and len(chosen) > 1 and len(others) > 1 and len(runs) == 1:
            (first, last), end = runs[0], len(labels) - 1
            low = None if first == 0 else ("≥", labels[first])
            high = None if last == end else ("≤", labels[last])
            return [self._write_window(low, high, first=True)]
        if len(chosen) == 1:
            return [self.name(f"= {chosen[0]}{unit}")]
        if len(others) == 1:
            return [self.name(f"≠ {others[0]}{unit}")]
        if len(chosen) > 3 and len(chosen) > len(others):
            return [self.name(f"not in {{{', '.join(others)}}}{unit}")]
        return [self.name(f"in {{{', '.join(chosen)}}}{unit}")]

    def list_intervals(self, intervals: Sequence[Bounds]) -> list[str]:
        hole = _find_hole(intervals)
        if hole is not None:
            return [self.name(f"≠ {format_number(hole)}{self._unit}")]
        return [self._write_interval(*pair, first=k == 0) for k, pair in enumerate(intervals)]

    def _write_interval(self, low: float, high: float, *, first: bool) -> str:
        if low == high:
            text = f"= {format_number(low)}{self._unit}"
            return self.name(text) if first else text
        below = None if low == -inf else _shorter(low, "≥", ">")
        above = None if high == inf else _shorter(_after(high), "<", "≤")
        return self._write_window(below, above, first=first)

    def _write_window(
        self, low: tuple[str, str] | None, high: tuple[str, str] | None, *, first: bool
    ) -> str:
        if low is not None and high is not None:
            turned = {"≥": "≤", ">": "<"}[low[0]]
            return f"{low[1]} {turned} {self._name or '…'} {high[0]} {high[1]}{self._unit}"
        sign, number = low or high or ("", "")
        text = f"{sign} {number}{self._unit}"
        return self.name(text) if first else text


def _shorter(boundary: float, at: str, beyond: str) -> tuple[str, str]:
    """Write a boundary by itself or by the number before it, whichever is shorter."""
    own = format_number(boundary)
    before = format_number(_before(boundary))
    return (beyond, before) if len(before) < len(own) else (at, own)


def _find_hole(intervals: Sequence[Bounds]) -> float | None:
    """Return the only number outside the intervals."""
    if len(intervals) != 2 or (intervals[0][0], intervals[1][1]) != (-inf, inf):
        return None
    hole = _after(intervals[0][1])
    return hole if _after(hole) == intervals[1][0] else None


# ---- helpers ----


def _after(value: float) -> float:
    """Return the next number; the one after the largest negative one is 0, and not -0."""
    return math.nextafter(value, inf) + 0.0


def _before(value: float) -> float:
    return math.nextafter(value, -inf) + 0.0


def list_values(column: Column) -> tuple[float, ...] | None:
    """Return the values of a column of few numbers in order; None for others."""
    values = column.values
    return None if values is None or len(values) > _MAX_LISTED else tuple(sorted(values))


def find_runs(flags: Iterable[object]) -> list[tuple[int, int]]:
    """Return the first and last index of each run of true flags.

    >>> find_runs([True, True, False, True])
    [(0, 1), (3, 3)]
    """
    runs: list[tuple[int, int]] = []
    for k, flag in enumerate(flags):
        if flag and runs and runs[-1][1] == k - 1:
            runs[-1] = (runs[-1][0], k)
        elif flag:
            runs.append((k, k))
    return runs


def _find_positive(w: Sequence[float], b: Sequence[float]) -> tuple[Bounds, ...]:
    """Return where the product of w_m (x − b_m) is not negative.

    That is where tanh-prod, or with one factor sigmoid and heaviside, is at least one half.
    """
    if not all(w):
        return ((-inf, inf),)
    ends = [-inf, *sorted(b), inf]
    first = sum(value > 0.0 for value in w) % 2  # left of all b the sign is (−1)^first
    touching: list[Bounds] = []
    for low, high in list(pairwise(ends))[first::2]:
        if touching and touching[-1][1] == low:
            touching[-1] = (touching[-1][0], high)
        else:
            touching.append((low, high))
    return tuple(touching)


def _unite(intervals: Sequence[Bounds]) -> tuple[Bounds, ...]:
    """Sort intervals, and join those that overlap or touch."""
    out: list[Bounds] = []
    for low, high in sorted(intervals):
        if out and low <= _after(out[-1][1]):
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return tuple(out)


def make_layer(
    neurons: Sequence[Sequence[Edge]], alpha: Floats | None = None, bias: Floats | None = None
) -> Layer:
    """Return a layer of Heaviside functions that are added up.

    - ``neurons``: The functions of each neuron; their sources are numbers.
    - ``alpha``: The weights of all functions, neuron by neuron.
    - ``bias``: What is taken from each neuron's sum.
    """
    edges = [edge for neuron in neurons for edge in neuron]
    return Layer(
        "heaviside",
        "sum",
        "identity",
        len(neurons),
        target=np.repeat(np.arange(len(neurons)), [len(neuron) for neuron in neurons]),
        source=np.array([edge.source for edge in edges], np.int32),
        w=np.array([edge.w for edge in edges]).reshape(-1, 1),
        b=np.array([edge.b for edge in edges]).reshape(-1, 1),
        alpha=alpha,
        centre=bias,
        missing=np.array([edge.missing for edge in edges], np.float64),
        levels=[np.array(edge.levels, np.float64) for edge in edges],
    )
