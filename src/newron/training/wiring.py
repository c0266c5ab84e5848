"""The flat parameters of a network in the core, and where each one lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.aggregation import ACTIVATIONS, AGGREGATIONS
from newron.model.processing import get_processing
from newron.training.architecture import Architecture, LayerPlan

__all__ = ["Params", "Wiring"]

Params = NDArray[np.float32]


@dataclass(frozen=True)
class LayerPlaces:
    """Where the parameters of one layer lie, and which signals it reads."""

    plan: LayerPlan
    source: NDArray[np.int32]
    w: slice
    b: slice
    alpha: slice
    centre: slice

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
    layer has them.
    """

    architecture: Architecture
    n_channels: int

    @cached_property
    def layers(self) -> tuple[LayerPlaces, ...]:
        """The places of each layer's parameters."""
        out, at = [], 0
        sources = self.architecture.sources(self.n_channels)
        for plan, source in zip(self.architecture.layers, sources, strict=True):
            sizes = [
                len(source) * plan.n_factors,
                len(source) * plan.n_factors,
                len(source) if plan.weighted else 0,
                plan.n_neurons if plan.centred else 0,
            ]
            ends = np.cumsum([at, *sizes]).tolist()
            parts = [slice(a, b) for a, b in pairwise(ends)]
            out.append(LayerPlaces(plan, source, *parts))
            at = ends[-1]
        return tuple(out)

    @property
    def n_params(self) -> int:
        """How many parameters there are."""
        return int(self.layers[-1].centre.stop)

    def make_network(self) -> Any:
        """Give the network to the core."""
        names = _core.function_names()
        network = _core.Network(self.n_channels)
        for layer in self.layers:
            plan = layer.plan
            per_neuron = layer.n_edges // plan.n_neurons
            network.add_layer(
                names.index(plan.processing),
                list(AGGREGATIONS).index(plan.aggregation),
                list(ACTIVATIONS).index(plan.activation),
                plan.weighted,
                plan.centred,
                plan.n_factors,
                plan.n_neurons,
                layer.source,
                np.arange(plan.n_neurons + 1, dtype=np.int32) * np.int32(per_neuron),
            )
        return network

    def make_shares(self) -> Params:
        """Give 1 for each parameter that is trained, 0 for each that stays."""
        share = np.ones(self.n_params, np.float32)
        for layer in self.layers:
            if get_processing(layer.plan.processing).weighs:
                share[layer.b] = 0.0
        return share

    def make_decay(self, amount: float) -> Params:
        """Give the decay of each parameter: of w and alpha, never of a place."""
        decay = np.zeros(self.n_params, np.float32)
        for places in self._weights():
            decay[places] = amount
        return decay

    def _weights(self) -> Iterator[slice]:
        for layer in self.layers:
            yield layer.w
            yield layer.alpha
