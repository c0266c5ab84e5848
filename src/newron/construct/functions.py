"""A continuous function on a cube, approximated by a step function on boxes.

The cube is cut into a grid so fine that the function changes little within a cell; cells
are then merged into boxes as large as the distance allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.construct.boxes import Box, assemble
from newron.errors import InputError
from newron.model import Column, Model, Schema, Targets
from newron.model.condition import Condition
from newron.tables.field import LARGEST_INPUT, make_names

Floats = NDArray[np.float64]
Corners = tuple[tuple[int, ...], tuple[int, ...]]

# How much of epsilon a cell may use up, and how many cells there may be then: finer grids
# allow larger boxes, and take longer.
_GRIDS = ((1 / 64, 2**14), (1 / 16, 2**14), (1 / 4, 2**18), (1 / 2, 2**20), (1.0, 2**22))
_ROUNDING = 1.0 + 1e-12  # so that a grid of 10 cells is not one of 11


def from_function(
    f: Callable[[Floats], ArrayLike],
    low: float | Sequence[float],
    high: float | Sequence[float],
    epsilon: float,
    *,
    lipschitz: float | Sequence[float] | None = None,
    modulus: Callable[[float], float] | None = None,
    outside: float | None = None,
    names: Sequence[str] | None = None,
    max_boxes: int = 10_000,
) -> Model:
    """Approximate a continuous function on a cube within epsilon, everywhere.

    Parameters
    ----------
    f : callable
        Takes rows, an array of shape (rows, columns), and gives a number for each.
    low, high : float or sequence of float
        The ends of the cube, for all columns or for each; two numbers are a cube of one
        column.
    epsilon : float
        The greatest distance between the model and f in the cube.
    lipschitz : float or sequence of float
        How fast f changes: ``|f(x) - f(y)|`` is at most ``lipschitz`` times the greatest
        ``|x[i] - y[i]|``; or, with a number for each column, at most the sum of
        ``lipschitz[i] |x[i] - y[i]|``. Epsilon is guaranteed if this is true.
    modulus : callable, instead of lipschitz
        A modulus of continuity: ``|f(x) - f(y)|`` is at most ``modulus(d)`` where d is the
        greatest ``|x[i] - y[i]|``. It must not fall as d grows.
    outside : float, optional
        The value outside of the cube. By default the boxes at its border go on, so that the
        model is there what it is at the nearest position in the cube, and is smaller.
    names : sequence of str, optional
        The names of the columns; x1, x2, ... by default.
    max_boxes : int
        An error is raised if there would be more.

    Returns
    -------
    Model
        Every position of the cube is in one box: boxes have their lower ends, and only those at
        the upper border have the upper ones too. Missing values have no meaning here.

    Examples
    --------
    >>> model = from_function(lambda x: abs(x[:, 0]), -1, 1, 0.25, lipschitz=1)
    >>> print(model)
    heaviside network 1-1-1, 5 functions, targets y
    neuron 1.1 counts how many hold of:
        [x1 ≥ -0.5] + [x1 ≤ 0.49999999999999994]
    output y adds:
        0.75 × [x1 ≤ -0.5000000000000001] + 0.75 × [x1 ≥ 0.5]
        0.25 × [neuron 1.1 ≥ 1.5]
    """
    lows, highs = _read_cube(low, high)
    names = make_names(len(lows)) if names is None else tuple(names)
    if len(names) != len(lows):
        raise InputError(f"expected a name for each of {len(lows)} columns, got {len(names)}")
    _check_number("epsilon", epsilon, above=0.0)
    _check_number("max_boxes", max_boxes, above=0.0)
    _check_number("outside", outside or 0.0, above=-math.inf)
    pace = _read_pace(lipschitz, modulus, highs - lows)
    edges = _cut(lows, highs, pace, float(epsilon))
    samples = _sample(f, edges)
    boxes = _merge(samples, 2.0 * (epsilon * _ROUNDING - _bound_cell(edges, pace)), max_boxes)
    values = np.array([_value(samples[_slice(corners)]) for corners in boxes])
    return assemble(
        _make_schema(names, lows, highs),
        [_make_box(corners, edges, closed=outside is not None) for corners in boxes],
        values.reshape(-1, 1),
        np.array([0.0 if outside is None else outside]),
        Targets(("y",)),
    )


def _read_cube(low: Any, high: Any) -> tuple[Floats, Floats]:
    try:
        pair = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
    except (TypeError, ValueError):
        raise InputError("expected the ends of the cube as numbers, as many low as high") from None
    lows, highs = (np.atleast_1d(ends) for ends in pair)
    # Written so that NaN fails as well.
    if lows.ndim != 1 or not np.all((lows >= -LARGEST_INPUT) & (lows <= highs)):
        raise InputError(f"expected low up to high, from {-LARGEST_INPUT}, got {low} and {high}")
    if not np.all(highs <= LARGEST_INPUT):
        raise InputError(f"expected high up to {LARGEST_INPUT}, got {high}")
    return lows, highs


def _check_number(name: str, value: Any, above: float) -> None:
    if not (isinstance(value, int | float | np.number) and above < value < math.inf):
        what = "a finite number" if above == -math.inf else f"a number above {above:g}"
        raise InputError(f"expected {name} to be {what}, got {value!r}")


def _make_schema(names: Sequence[str], lows: Floats, highs: Floats) -> Schema:
    ends = zip(names, lows.tolist(), highs.tolist(), strict=True)
    return Schema(tuple(Column(name, low, high) for name, low, high in ends))


# ---- how fast the function changes ----


@dataclass(frozen=True)
class _Pace:
    """How far f can be at most from its value at the centre of a cell."""

    bound: Callable[[Floats], float]
    """From the half widths of a cell to the distance."""
    fit: Callable[[float], Floats]
    """From a distance to half widths of cells that keep it."""


def _read_pace(lipschitz: Any, modulus: Any, sides: Floats) -> _Pace:
    if (lipschitz is None) == (modulus is None):
        raise InputError(
            "expected either lipschitz or modulus: how fast the function changes at most; "
            "nothing can be guaranteed without"
        )
    if modulus is not None:
        return _read_modulus(modulus, float(sides.max()) / 2.0)
    try:
        slopes = np.asarray(lipschitz, np.float64)
    except (TypeError, ValueError):
        slopes = np.array(np.nan)
    if slopes.shape not in ((), sides.shape) or not np.all((slopes >= 0) & (slopes < np.inf)):
        raise InputError(
            f"expected lipschitz as a number from 0 on, or {len(sides)} of them, got {lipschitz!r}"
        )
    if slopes.ndim == 0:
        return _Pace(
            lambda radii: float(slopes * radii.max()),
            lambda distance: _divide(distance, np.full(len(sides), slopes)),
        )
    active = max(int(np.count_nonzero(slopes * sides)), 1)
    return _Pace(
        lambda radii: float(slopes @ radii),
        lambda distance: _divide(distance / active, slopes),
    )


def _divide(distance: float, slopes: Floats) -> Floats:
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(distance / slopes)


def _read_modulus(modulus: Callable[[float], float], most: float) -> _Pace:
    def fit(distance: float) -> Floats:
        if modulus(most) <= distance:
            return np.array([most])
        low, high = 0.0, most
        for _ in range(60):
            middle = (low + high) / 2.0
            low, high = (middle, high) if modulus(middle) <= distance else (low, middle)
        return np.array([low])

    return _Pace(lambda radii: float(modulus(float(radii.max()))), fit)


# ---- cells ----


def _cut(lows: Floats, highs: Floats, pace: _Pace, epsilon: float) -> list[Floats]:
    """Return the edges of the cells along each column: the finest grid that is not too large."""
    for share, most in _GRIDS:
        counts = _count_cells(highs - lows, pace.fit(share * epsilon * _ROUNDING))
        if counts.prod() <= most:
            parts = zip(lows, highs, counts.astype(int), strict=True)
            return [np.linspace(low, high, count + 1) for low, high, count in parts]
    raise InputError(
        f"expected a grid of at most {most} cells, got about {counts.prod():.3g} that "
        f"epsilon={epsilon:g} needs; raise epsilon"
    )


def _count_cells(sides: Floats, radii: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        counts = np.ceil(sides / 2.0 / radii)
    return np.where(sides == 0.0, 1.0, np.maximum(counts, 1.0))


def _bound_cell(edges: list[Floats], pace: _Pace) -> float:
    """Return the greatest distance of f from its value at the centre of a cell."""
    radii = []
    for edge in edges:
        centre = (edge[:-1] + edge[1:]) / 2.0
        radii.append(max((edge[1:] - centre).max(), (centre - edge[:-1]).max()))
    return pace.bound(np.array(radii))


def _sample(f: Callable[[Floats], ArrayLike], edges: list[Floats]) -> Floats:
    """Return f at the centres of the cells."""
    axes = [(edge[:-1] + edge[1:]) / 2.0 for edge in edges]
    shape = tuple(len(axis) for axis in axes)
    rows = np.stack([grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")], axis=1)
    values = np.asarray(f(rows), np.float64)
    if values.shape != (len(rows),):
        raise InputError(
            f"expected a function from rows, {rows.shape} here, to {len(rows)} numbers, "
            f"got shape {values.shape}"
        )
    if not np.all(np.isfinite(values)):
        row = rows[np.flatnonzero(~np.isfinite(values))[0]].tolist()
        raise InputError(f"expected a function with finite values, got another one at {row}")
    return values.reshape(shape)


# ---- boxes ----


def _merge(samples: Floats, allowed: float, max_boxes: int) -> list[Corners]:
    """Merge cells into boxes whose samples differ by at most this much, first come first served."""
    free = np.ones(samples.shape, bool)
    flat = free.reshape(-1)
    boxes: list[Corners] = []
    for cell in range(free.size):
        if not flat[cell]:
            continue
        if len(boxes) == max_boxes:
            about = round(free.size / (free.size - np.count_nonzero(free)) * max_boxes)
            raise InputError(
                f"expected at most {max_boxes} boxes, got about {about} that epsilon needs; "
                "raise epsilon or max_boxes"
            )
        corners = _grow(samples, free, np.unravel_index(cell, free.shape), allowed)
        free[_slice(corners)] = False
        boxes.append(corners)
    return boxes


def _grow(samples: Floats, free: NDArray[np.bool_], cell: Any, allowed: float) -> Corners:
    """Return the box of free cells that grows from a cell, by one layer of cells at a time.

    The next layer is the one that takes up least of the allowed range for the fraction of cells
    that it adds.
    """
    begin = tuple(int(i) for i in cell)
    end = [i + 1 for i in begin]
    low = high = float(samples[begin])
    while True:
        ways = []
        for axis in range(free.ndim):
            if (reach := _try_layer(samples, free, begin, end, axis, low, high)) is not None:
                spread = reach[1] - reach[0]
                size = end[axis] - begin[axis]
                if spread <= allowed:
                    ways.append(((spread - (high - low)) * size, size, axis, reach))
        if not ways:
            return begin, tuple(end)
        _, _, axis, (low, high) = min(ways)
        end[axis] += 1


def _try_layer(
    samples: Floats,
    free: NDArray[np.bool_],
    begin: Sequence[int],
    end: Sequence[int],
    axis: int,
    low: float,
    high: float,
) -> tuple[float, float] | None:
    """Return the range of samples with one more layer of cells, or None if they are not free."""
    layer = [slice(a, b) for a, b in zip(begin, end, strict=True)]
    layer[axis] = slice(end[axis], end[axis] + 1)
    here = tuple(layer)
    if end[axis] == free.shape[axis] or not free[here].all():
        return None
    return min(low, float(samples[here].min())), max(high, float(samples[here].max()))


def _slice(corners: Corners) -> tuple[slice, ...]:
    return tuple(slice(a, b) for a, b in zip(*corners, strict=True))


def _value(samples: Floats) -> float:
    return float(samples.min() / 2.0 + samples.max() / 2.0)


def _make_box(corners: Corners, edges: list[Floats], *, closed: bool) -> Box:
    """Return the box between two corners; closed ones stop at the border of the cube."""
    box: dict[int, Condition] = {}
    for axis, (begin, end) in enumerate(zip(*corners, strict=True)):
        edge = edges[axis]
        low = float(edge[begin]) if begin or closed else -math.inf
        high = math.inf
        if end < len(edge) - 1:
            high = math.nextafter(float(edge[end]), -math.inf)
        elif closed:
            high = float(edge[end])
        found = Condition(((low, high),))
        box[axis] = replace(found, missing=found.has_every_value)
    return box
