"""What may change in a row: for each column the values that it may take instead.

A column that steps alone read has an option for each of its cells; others have a grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newron.explanations.row import open_layers
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.schema import Column
from newron.rules.axis import Axis, make_axes
from newron.rules.circuit import find_boundaries

Ints = NDArray[np.intp]

_CLOSE = 0.025  # of the range: how much further than needed a short decimal may lie
_GRID = 50  # steps of a range that is searched on a grid
_AROUND = np.array([-4.0, 0.0, 4.0])  # positions beside the b of a smooth function, by 1 / w


@dataclass(frozen=True)
class Options:
    """The values that a column may take instead of the row's own, the nearest first."""

    column: int
    values: Floats
    costs: Floats
    edges: Ints  # the column's functions, counted over all layers
    then: Floats  # h of them, (options, functions)
    smooth: bool  # whether the values are a grid


@dataclass(frozen=True)
class Space:
    """A row and its options; positions of columns are those among the options."""

    model: Model
    row: Floats
    options: tuple[Options, ...]
    now: Floats  # h of all functions for the row itself
    exact: bool

    @cached_property
    def values(self) -> Floats:
        """The options of all columns, NaN where there are fewer."""
        return _pad([one.values for one in self.options], np.nan)

    @cached_property
    def costs(self) -> Floats:
        """How large the steps to them are, infinite where there are fewer."""
        return _pad([one.costs for one in self.options], np.inf)

    def make_rows(self, chosen: Ints, picks: Ints) -> Floats:
        """Return rows with the picked options of the chosen columns."""
        rows = np.repeat(self.row[None, :], len(picks), axis=0)
        for p, c in enumerate(chosen):
            rows[:, self.options[c].column] = self.values[c, picks[:, p]]
        return rows


def _pad(parts: Sequence[Floats], filler: float) -> Floats:
    out = np.full((len(parts), max(map(len, parts), default=0)), filler)
    for line, part in zip(out, parts, strict=True):
        line[: len(part)] = part
    return out


def make_space(model: Model, row: Floats, fixed: set[int]) -> Space:
    """Return the options of all columns that are read and not fixed."""
    source = np.concatenate([layer.source for layer in model.layers])
    axes = make_axes(model.schema, find_boundaries(model))
    read = [i for i in range(len(axes)) if i not in fixed and (source == i).any()]
    smooth = {i: not (axes[i].listed or reads_steps(model, i)) for i in read}
    evaluate = open_layers(model)
    now = np.concatenate(evaluate(row[None, :]), axis=1)[0]
    options = []
    for i in read:
        old, column, edges = float(row[i]), axes[i].column, np.flatnonzero(source == i)
        x = _make_grid(model, i) if smooth[i] else np.array(list(_enter_cells(axes[i], old)))
        costs = measure_steps(column, old, x)
        order = np.argsort(costs, kind="stable")
        rows = np.repeat(row[None, :], len(x), axis=0)
        rows[:, i] = x[order]
        then = np.concatenate(evaluate(rows), axis=1)[:, edges]
        kept = _drop_same(then, now[edges], smooth[i])
        if kept:
            nearest = order[kept]
            options.append(Options(i, x[nearest], costs[nearest], edges, then[kept], smooth[i]))
    return Space(model, row, tuple(options), now, not any(smooth.values()))


def reads_steps(model: Model, column: int) -> bool:
    """Return whether steps alone read a column, on its own scale."""
    for layer in model.layers:
        mine = layer.source == column
        crisp = layer.function.crisp and not layer.rank[mine].any()
        if mine.any() and not crisp:
            return False
    return True


def _drop_same(h: Floats, now: Floats, smooth: bool) -> list[int]:
    """Return the options that differ from the row and, for steps, from nearer options."""
    seen = {now.tobytes()}
    kept = []
    for k, values in enumerate(h):
        key = values.tobytes()
        if key not in seen:
            kept.append(k)
            seen |= set() if smooth else {key}
    return kept


def measure_steps(column: Column, old: float, new: Floats) -> Floats:
    """Return how large steps from the old value to new ones are."""
    width = column.high - column.low
    if column.categories is not None or math.isnan(old) or not width > 0.0:
        return np.where(new == old, 0.0, 1.0)
    with np.errstate(over="ignore"):
        far = np.abs(new - old)
        if column.period is None:
            return far / width
        around = np.mod(far, column.period)  # the shorter way, maybe across the seam
        return np.asarray(np.minimum(around, column.period - around) / width)


def _enter_cells(axis: Axis, old: float) -> Iterator[float]:
    """Return a value of every cell: a short decimal near the old one; never a missing value."""
    if axis.listed:
        yield from axis.representatives[: axis.n_values].tolist()
        return
    column = axis.column
    for low, high in pairwise([-math.inf, *axis.boundaries, math.inf]):
        first, last = max(low, column.low), min(math.nextafter(high, -math.inf), column.high)
        if first <= last:
            edge = 0.5 * first + 0.5 * last if math.isnan(old) else min(max(old, first), last)
            yield find_decimal(edge, old, column, partial(_is_between, first, last))


def _is_between(first: float, last: float, x: float) -> bool:
    return first <= x <= last


def _make_grid(model: Model, i: int) -> Floats:
    """Return positions over the observed range, and some where smooth functions are steep."""
    column = model.schema.columns[i]
    places = [np.linspace(column.low, column.high, _GRID + 1)]
    for layer in model.layers:
        own = (layer.source == i) & ~layer.rank
        w, b = np.abs(layer.w[own]).ravel(), layer.b[own].ravel()
        with np.errstate(over="ignore"):
            reach = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0.0)
            places.append((b[:, None] + _AROUND * reach[:, None]).ravel())
    found = np.unique(np.concatenate(places))
    return found[(found >= column.low) & (found <= column.high)]


# ---- short decimals ----


def find_decimal(edge: float, old: float, column: Column, fits: Callable[[float], bool]) -> float:
    """Return the shortest decimal that fits, at an edge or a little further from the old value.

    It has no more decimals than the old value where that is possible.
    """
    width = column.high - column.low
    rounding = ROUND_FLOOR if edge < old else ROUND_CEILING
    least = (math.floor(math.log10(abs(edge))) if edge else 0) - 16
    for exponent in range(_find_start(old, width), least - 1, -1):
        step = Decimal(1).scaleb(exponent)
        value = float(Decimal(repr(edge)).quantize(step, rounding=rounding))
        if abs(value - edge) <= _CLOSE * width and fits(value):
            return value
    return edge


def _find_start(old: float, width: float) -> int:
    """Return the power of ten from which on to look for a short decimal."""
    fine = min(0, math.floor(math.log10(0.01 * width))) if width > 0.0 else 0
    if math.isnan(old):
        return fine
    return max(fine, min(0, int(Decimal(repr(old)).normalize().as_tuple().exponent)))
