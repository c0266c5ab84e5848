"""What a network looks like before it is trained: layers, widths, functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError, ModelError
from newron.model.aggregation import (
    AnyActivation,
    AnyAggregation,
    check_activation,
    check_aggregation,
)
from newron.model.processing import get_processing, processing_names
from newron.neurons.activation import Activation
from newron.neurons.aggregation import Aggregation
from newron.neurons.processing import Processing


@dataclass(frozen=True)
class LayerPlan:
    """One layer to be trained: h, G, f, its width and its number of factors."""

    processing: str | Processing
    aggregation: AnyAggregation
    activation: AnyActivation
    n_neurons: int
    n_factors: int = 1
    weighted: bool = False
    centred: bool = False

    @property
    def function(self) -> Processing:
        """What the processing function is, with its factors."""
        return get_processing(self.processing).with_factors(self.n_factors)


@dataclass(frozen=True)
class Architecture:
    """Layers, and how the inputs enter.

    ``functions_per_input`` functions of each neuron read each input, and with
    ``direct_inputs`` the output layer reads the inputs besides the last hidden
    layer. With ``reads`` each neuron of the first layer reads some inputs alone, all
    of them as many.
    """

    layers: tuple[LayerPlan, ...]
    functions_per_input: int = 1
    direct_inputs: bool = False
    reads: tuple[tuple[int, ...], ...] = ()

    @property
    def adds(self) -> bool:
        """Whether every neuron sums its functions and leaves it at that."""
        return all(
            layer.aggregation == "sum" and layer.activation == "identity" for layer in self.layers
        )

    def sources(self, n_channels: int) -> list[NDArray[np.int32]]:
        """Return the signals that each neuron of each layer reads, in order."""
        inputs = np.repeat(np.arange(n_channels), self.functions_per_input)
        out, first = [], n_channels
        for number, layer in enumerate(self.layers):
            if number == 0:
                reads = inputs
            else:
                before = self.layers[number - 1].n_neurons
                reads = np.arange(first, first + before)
                first += before
                if self.direct_inputs and number == len(self.layers) - 1:
                    reads = np.concatenate([inputs, reads])
            everywhere = np.tile(reads, layer.n_neurons)
            own = number == 0 and self.reads
            out.append((np.ravel(self.reads) if own else everywhere).astype(np.int32))
        return out


# What processing="smooth" chooses from; of equals the first, whose curves are simpler.
SMOOTH = ("sigmoid", "tanh_prod")

# The networks of the paper, and the ordinary perceptron, as settings of the same thing.
PRESETS: dict[str, dict[str, Any]] = {
    "heaviside": {"processing": "heaviside", "aggregation": "sum", "activation": "identity"},
    "sigmoid": {"processing": "sigmoid", "aggregation": "sum", "activation": "identity"},
    "tanh_prod": {"processing": "tanh_prod", "aggregation": "sum", "activation": "identity"},
    "mlp": {"processing": "linear", "aggregation": "sum", "activation": "relu"},
}


def plan_architecture(
    hidden: Sequence[int],
    n_outputs: int,
    *,
    processing: str | Processing | Sequence[str | Processing] = "heaviside",
    aggregation: AnyAggregation | Sequence[AnyAggregation] = "sum",
    activation: AnyActivation | Sequence[AnyActivation] | None = None,
    n_factors: int = 2,
    functions_per_input: int = 1,
    direct_inputs: bool = False,
) -> Architecture:
    """Plan a network.

    ``processing``, ``aggregation`` and ``activation`` are one name, or one for
    each layer, the output layer last. One aggregation or activation is that of
    the hidden layers: the output layer then sums its weighted functions.

    >>> plan = plan_architecture((4,), 1, **PRESETS["mlp"])
    >>> [layer.processing for layer in plan.layers]
    ['linear', 'linear']
    """
    n_layers = len(hidden) + 1
    names = _spread("processing", processing, n_layers, last=None)
    _check_processing(names)
    joins = _spread("aggregation", aggregation, n_layers, last="sum")
    if activation is None:
        # A standard neuron without a nonlinearity would collapse into its successor.
        chosen = ["relu" if _weighs(name) else "identity" for name in names[:-1]] + ["identity"]
    else:
        chosen = _spread("activation", activation, n_layers, last="identity")
    if chosen[-1] != "identity":
        raise InputError(
            f"the output layer gives scores: expected activation identity, got {chosen[-1]!s:.60}"
        )
    if isinstance(joins[-1], Aggregation):
        raise InputError(
            "the output layer gives scores: expected aggregation sum, mean, min, max or product "
            f"there, got {joins[-1]}"
        )
    layers = [
        _plan_layer(name, join, act, width, n_factors, last=number == n_layers - 1)
        for number, (name, join, act, width) in enumerate(
            zip(names, joins, chosen, [*hidden, n_outputs], strict=True)
        )
    ]
    return Architecture(tuple(layers), functions_per_input, direct_inputs and bool(hidden))


def _plan_layer(
    processing: str | Processing,
    aggregation: AnyAggregation,
    activation: AnyActivation,
    width: int,
    n_factors: int,
    *,
    last: bool,
) -> LayerPlan:
    try:
        function = get_processing(processing)
        aggregation, activation = check_aggregation(aggregation), check_activation(activation)
    except ModelError as error:
        raise InputError(str(error)) from None
    return LayerPlan(
        function if processing_names().count(function.name) == 0 else function.name,
        aggregation,
        activation,
        int(width),
        n_factors if function.function is not None else len(function.factors),
        weighted=last and not function.weighs,
        centred=last or function.weighs or activation != "identity",
    )


def _weighs(name: str | Processing) -> bool:
    try:
        return get_processing(name).weighs
    except ModelError as error:
        raise InputError(str(error)) from None


def _check_processing(names: Sequence[Any]) -> None:
    known = processing_names()
    for name in names:
        if not isinstance(name, Processing) and name not in known:
            # "smooth" is a choice for the whole network, not for one of its layers.
            listed = ", ".join([*known, *(["smooth"] if name != "smooth" else [])])
            raise InputError(f"expected a processing function among {listed}, got {name!r}")


def _spread(what: str, value: Any, n_layers: int, last: str | None) -> list[Any]:
    if isinstance(value, str | Processing | Aggregation | Activation):
        return [value] * (n_layers - 1) + [value if last is None else last]
    out = list(value)
    if len(out) != n_layers:
        raise InputError(
            f"{what}: expected one name, or one for each of {n_layers} layers "
            f"(the output layer last), got {len(out)}"
        )
    return out
