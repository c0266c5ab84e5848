"""What scores can be where some columns change, so that sets of columns are ruled out.

What a column adds to the scores directly is bounded by the best of its values, what it does
through hidden neurons by intervals that are carried through the layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from newron.explanations.objective import Demands
from newron.explanations.space import Space
from newron.model.aggregation import AnyAggregation, activate_limits
from newron.model.arithmetic import Floats
from newron.model.network import Layer
from newron.neurons.aggregation import Aggregation

Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_SLACK = 1e-9  # what bounds leave to rounding
_LARGEST = 1e100
_MONOTONE = ("heaviside", "sigmoid", "linear", "relu", "selu")


@dataclass(frozen=True)
class Bounds:
    """What scores can be where some columns take any of their options, for one way."""

    start: Floats  # (demands): the row's own, without what functions of neurons add
    direct: Floats  # (columns, options, demands): what an option adds to that
    hidden: Floats  # (demands, functions of neurons): their factors
    bounds: Floats

    @cached_property
    def gain(self) -> Floats:
        """The most that a column adds, (columns, demands)."""
        return np.asarray(self.direct.max(axis=1, initial=-np.inf))

    @cached_property
    def slack(self) -> Floats:
        """What is left to rounding, for each demand."""
        sizes = np.abs(np.where(np.isfinite(self.direct), self.direct, 0.0))
        most = sizes.max(axis=(0, 1), initial=0.0) + np.abs(self.hidden).sum(axis=1)
        return np.asarray(_SLACK * (1.0 + np.abs(self.start) + np.abs(self.bounds) + most))

    def list_slack(self, sets: Ints, reach: tuple[Floats, Floats]) -> Floats:
        """Return for sets of columns by how much demands are met at best, (sets, demands)."""
        low, high = reach
        most = [np.maximum(low * factors, high * factors).sum(axis=1) for factors in self.hidden]
        added = np.stack(most, axis=1) + self.gain[sets].sum(axis=1)
        return np.asarray(self.start + added - self.bounds)

    def list_useful(self, sets: Ints, margin: Floats, p: int) -> Bools:
        """Return which options of the p-th column of sets leave the demands possible."""
        left = margin - self.gain[sets[:, p]]
        return np.asarray((left[:, None, :] + self.direct[sets[:, p]] >= -self.slack).all(axis=2))

    def list_possible(self, chosen: Ints, margin: Floats, picks: Ints) -> Bools:
        """Return which combinations of options leave the demands possible."""
        left = margin - self.gain[chosen].sum(axis=0)
        moved = self.direct[chosen[None, :], picks].sum(axis=1)
        return np.asarray((left + moved >= -self.slack).all(axis=1))


def make_bounds(space: Space, demands: Demands, scores: Floats) -> Bounds:
    """Return the bounds of one way to the objective, for a row with these scores."""
    last = space.model.layers[-1]
    direct = np.where(np.isnan(space.values), -np.inf, 0.0)[:, :, None]
    direct = np.repeat(direct, len(demands.bounds), axis=2)
    if last.aggregation not in ("sum", "mean"):
        unlimited = np.full(len(demands.bounds), _LARGEST**2)
        return Bounds(unlimited, direct, np.zeros((len(demands.bounds), 0)), demands.bounds)
    factors = demands.factors[:, last.target] * _list_weights(last)
    first = len(space.now) - len(last.source)
    now = space.now[first:]
    for c, one in enumerate(space.options):
        mine = one.edges >= first
        edges = one.edges[mine] - first
        direct[c, : len(one.values)] += (one.then[:, mine] - now[edges]) @ factors[:, edges].T
    hidden = last.source >= len(space.model.schema)
    start = demands.factors @ scores - factors[:, hidden] @ now[hidden]
    return Bounds(start, direct, factors[:, hidden], demands.bounds)


def _list_weights(layer: Layer) -> Floats:
    """Return what h of each function is multiplied by on its way into the sum."""
    if layer.aggregation != "mean":
        return layer.weights
    return np.asarray(layer.weights / np.diff(layer.begin)[layer.target])


class Reach:
    """How far neurons go where some columns take any of their options."""

    def __init__(self, space: Space) -> None:
        last = space.model.layers[-1]
        self._n_inputs = len(space.model.schema)
        self._last = last
        self._hidden = np.flatnonzero(last.source >= self._n_inputs)
        self._layers: list[_LayerReach] = []
        if len(self._hidden) and last.aggregation in ("sum", "mean"):
            first = 0
            for layer in space.model.layers[:-1]:
                self._layers.append(_LayerReach(space, layer, first))
                first += len(layer.source)

    def spread(self, sets: Ints) -> tuple[Floats, Floats]:
        """Return the least and greatest h of the last layer's functions of neurons."""
        ends = np.zeros((2, len(sets), 0))  # of all neurons so far
        if not self._layers:
            return ends[0], ends[1]
        for reach in self._layers:
            ends = np.concatenate([ends, reach.bound(sets, ends)], axis=2)
        low, high = _bound_functions(self._last, self._hidden, ends, self._n_inputs)
        return low, high


class _LayerReach:
    """How far the neurons of a hidden layer go."""

    def __init__(self, space: Space, layer: Layer, first: int) -> None:
        self._layer = layer
        self._n_inputs = len(space.model.schema)
        self._deep = np.flatnonzero(layer.source >= self._n_inputs)
        self._weights = layer.weights
        self._sums = layer.aggregation in ("sum", "mean")
        self._exact = layer.function.crisp and layer.alpha is None
        parts = space.now[first : first + len(layer.source)] * self._weights
        parts[self._deep] = 0.0
        # Of each column, by how much it moves neurons, or functions where they are not added.
        self._now = self._add(parts) if self._sums else parts
        ends = np.zeros((2, len(space.options), len(self._now)))
        for c, one in enumerate(space.options):
            mine = (one.edges >= first) & (one.edges < first + len(layer.source))
            edges = one.edges[mine] - first
            moved = np.zeros((len(one.values), len(parts)))
            moved[:, edges] = one.then[:, mine] * self._weights[edges] - parts[edges]
            moved = self._add(moved) if self._sums else moved
            ends[0, c], ends[1, c] = moved.min(axis=0, initial=0.0), moved.max(axis=0, initial=0.0)
        self._ends = ends

    def _add(self, parts: Floats) -> Floats:
        """Add functions up to neurons, along the last axis."""
        padded = np.concatenate([parts, np.zeros((*parts.shape[:-1], 1))], axis=-1)
        begin = self._layer.begin
        sums = np.add.reduceat(padded, begin[:-1], axis=-1)
        return np.asarray(np.where(np.diff(begin) > 0, sums, 0.0))

    def bound(self, sets: Ints, ends: Floats) -> Floats:
        """Return the least and greatest value of the neurons, (2, sets, neurons)."""
        layer = self._layer
        parts = self._now + np.stack([part[sets].sum(axis=1) for part in self._ends])
        h = _bound_functions(layer, self._deep, ends, self._n_inputs)
        deep = np.sort(h * self._weights[self._deep], axis=0)
        if self._sums:
            among = np.zeros((2, len(sets), len(layer.source)))
            among[:, :, self._deep] = deep
            out = parts + self._add(among)
            out = out / np.maximum(np.diff(layer.begin), 1) if layer.aggregation == "mean" else out
        else:
            parts[:, :, self._deep] = deep
            out = np.stack(
                [
                    _combine(layer.aggregation, parts[:, :, begin:end])
                    for begin, end in pairwise(layer.begin.tolist())
                ],
                axis=2,
            )
        out = out if layer.centre is None else out - layer.centre
        if not self._exact:  # what may be rounded in another way
            out += np.array([-_SLACK, _SLACK])[:, None, None] * (1.0 + np.abs(out))
        return np.stack(activate_limits(layer.activation, out[0], out[1]))


def _bound_functions(layer: Layer, edges: Ints, ends: Floats, n_inputs: int) -> Floats:
    """Return the least and greatest h of functions of neurons."""
    function = layer.function
    x = ends[:, :, layer.source[edges] - n_inputs]
    if layer.processing in _MONOTONE:
        h = np.stack([layer.process(part, layer.b[edges], edges) for part in x])
        return np.sort(h, axis=0)
    least, most = (0.0, 1.0) if function.bounded else (-_LARGEST, _LARGEST)
    return np.stack([np.full(x[0].shape, least), np.full(x[0].shape, most)])


def _combine(aggregation: AnyAggregation, parts: Floats) -> Floats:
    """Aggregate intervals: (2, sets, functions) becomes (2, sets)."""
    if isinstance(aggregation, Aggregation):
        ends = _combine(aggregation.reduce, np.stack(aggregation.transformation.limits(*parts)))
        ends += np.array([[-_SLACK], [_SLACK]]) * (1.0 + np.abs(ends))
        return np.stack(aggregation.finishing.limits(*ends))
    if aggregation in ("sum", "mean"):
        total = parts.sum(axis=2)
        return np.asarray(total / max(parts.shape[2], 1) if aggregation == "mean" else total)
    if aggregation == "product":
        ends = np.ones(parts.shape[:2])
        for part in np.moveaxis(parts, 2, 0):
            corners = np.clip(ends[:, None] * part[None, :], -_LARGEST, _LARGEST)
            ends = np.stack([corners.min(axis=(0, 1)), corners.max(axis=(0, 1))])
        return ends
    if not parts.shape[2]:
        return np.zeros(parts.shape[:2])
    return np.asarray(parts.min(axis=2) if aggregation == "min" else parts.max(axis=2))
