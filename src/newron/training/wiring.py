"""The flat parameters of a network in the core, and where each one lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.aggregation import ACTIVATIONS, AGGREGATIONS, get_reduction
from newron.model.compiled import list_curves
from newron.training.architecture import Architecture, LayerPlan

Params = NDArray[np.float32]


@dataclass(frozen=True)
class LayerSlices:
    """Where the parameters of one layer lie, and which signals it reads."""

    plan: LayerPlan
    source: NDArray[np.int32]
    w: slice
    b: slice
    alpha: slice
    centre: slice
    parameters: slice
    points: dict[int, slice]  # the places of an edge's points, for edges that have some

    @property
    def n_edges(self) -> int:
        """How many functions the layer has."""
        return len(self.source)

    @property
    def target(self) -> NDArray[np.int32]:
        """The neuron of each function."""
        n = self.plan.n_neurons
        return np.repeat(np.arange(n, dtype=np.int32), self.n_edges // n)


@dataclass(frozen=True)
class Wiring:
    """An architecture on a number of input channels.

    The parameters lie flat, layer by layer: w, b, then alpha and centre where a
    layer has them, then further parameters; last the places of points: ``n_points`` for
    each function that reads a channel with categories or gaps.
    """

    architecture: Architecture
    n_points: tuple[int, ...]  # of each channel
    turns: tuple[float, ...] = ()  # of each channel the w of one turn in a period, or 0

    @property
    def n_channels(self) -> int:
        """How many channels there are."""
        return len(self.n_points)

    @cached_property
    def layers(self) -> tuple[LayerSlices, ...]:
        """The places of each layer's parameters."""
        out, at = [], 0
        sources = self.architecture.sources(self.n_channels)
        for plan, source in zip(self.architecture.layers, sources, strict=True):
            sizes = [
                len(source) * plan.n_factors,
                len(source) * plan.n_factors,
                len(source) if plan.weighted else 0,
                plan.n_neurons if plan.centred else 0,
                len(source) * len(plan.function.parameters),
            ]
            ends = np.cumsum([at, *sizes]).tolist()
            w, b, alpha, centre, more = (slice(first, last) for first, last in pairwise(ends))
            out.append(LayerSlices(plan, source, w, b, alpha, centre, more, {}))
            at = ends[-1]
        for places in out:
            for e, channel in enumerate(places.source.tolist()):
                n = self.n_points[channel] if channel < self.n_channels else 0
                if n:
                    places.points[e] = slice(at, at + n)
                    at += n
        return tuple(out)

    @cached_property
    def n_params(self) -> int:
        """How many parameters there are."""
        points = [s.stop - s.start for layer in self.layers for s in layer.points.values()]
        return int(self.layers[-1].parameters.stop + sum(points))

    def make_network(self) -> Any:
        """Return the network to the core."""
        names = _core.function_names()
        network = _core.Network(self.n_channels)
        places = [(layer, e) for layer in self.layers for e in layer.points]
        for layer, e in places:
            channel = int(layer.source[e])
            network.add_place(channel, self.n_points[channel])
        signal = self.n_channels  # of the next place
        for layer in self.layers:
            plan = layer.plan
            # Functions with points read their place, and neurons come after all places.
            source = np.where(
                layer.source < self.n_channels, layer.source, layer.source + len(places)
            ).astype(np.int32)
            for e in layer.points:
                source[e] = signal
                signal += 1
            per_neuron = layer.n_edges // plan.n_neurons
            network.add_layer(
                names.index(plan.processing if plan.processing in names else "formula"),
                list(AGGREGATIONS).index(get_reduction(plan.aggregation)),
                list(ACTIVATIONS).index(
                    plan.activation if isinstance(plan.activation, str) else "identity"
                ),
                plan.weighted,
                plan.centred,
                plan.n_factors,
                plan.n_neurons,
                source,
                np.arange(plan.n_neurons + 1, dtype=np.int32) * np.int32(per_neuron),
            )
            if plan.processing not in names:
                tape, reach = plan.function.training_tape, plan.function.reach
                code, constants, n_registers = tape.code
                sizes = len(tape.inputs), len(tape.outputs), n_registers
                network.set_code(code, constants, *sizes, reach)
            for role, curve in list_curves(plan.aggregation, plan.activation):
                network.set_curve(role, *curve.training_tape.code, curve.reach)
        return network

    def make_trainable(self) -> Params:
        """Return 1 for each parameter that is trained, 0 for each that stays."""
        mask = np.ones(self.n_params, np.float32)
        for layer in self.layers:
            if layer.plan.function.weighs:
                mask[layer.b] = 0.0
            mask[layer.w] *= np.repeat(self.list_turns(layer) == 0.0, layer.plan.n_factors)
        return mask

    def list_turns(self, layer: LayerSlices) -> NDArray[np.float64]:
        """Return the w of functions that read a column with a period, 0 for the others.

        The first function of a neuron that reads the column turns once in a period, the second
        twice, and so on: with these w all of them join at the ends.
        """
        turns = np.array([*self.turns, *[0.0] * (int(layer.source.max(initial=-1)) + 1)])
        number: dict[tuple[int, int], int] = {}
        out = np.zeros(layer.n_edges)
        if not any(self.turns):
            return out
        for e, key in enumerate(zip(layer.target.tolist(), layer.source.tolist(), strict=True)):
            number[key] = number.get(key, 0) + 1
            out[e] = number[key] * turns[key[1]] if key[1] < self.n_channels else 0.0
        return out

    def make_decay(self, amount: float) -> Params:
        """Return the decay of each parameter: of w, alpha and points, never of b."""
        decay = np.zeros(self.n_params, np.float32)
        for places in self._weights():
            decay[places] = amount
        return decay

    def _weights(self) -> Iterator[slice]:
        for layer in self.layers:
            yield layer.w
            yield layer.alpha
            yield from layer.points.values()

    def make_signs(self, directions: Sequence[int]) -> Params | None:
        """Return the side of 0 on which each parameter must stay, 0 for either; or None.

        ``directions`` are those of the channels: the outputs rise with it (1), fall
        (-1) or are free (0). A neuron that reads a channel with a direction rises with
        it, and what comes after it rises with the neuron.
        """
        if not any(directions):
            return None
        signs = np.zeros(self.n_params, np.float32)
        rising = list(directions)  # of each signal
        for layer in self.layers:
            side = np.array([rising[s] for s in layer.source.tolist()], np.float32)
            signs[layer.w] = np.repeat(side, layer.plan.n_factors)
            if layer.plan.weighted:
                signs[layer.alpha] = np.abs(side)
            bound = np.zeros(layer.plan.n_neurons, int)
            np.maximum.at(bound, layer.target, np.abs(side).astype(int))
            rising += bound.tolist()
        return signs
