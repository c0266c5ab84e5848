"""The compiled path of prediction: hands a model's arrays to the core."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from newron.model.aggregation import (
    ACTIVATIONS,
    AGGREGATIONS,
    AnyActivation,
    AnyAggregation,
    get_reduction,
)
from newron.model.network import Layer, rank_edges
from newron.model.schema import Schema
from newron.neurons.activation import Activation
from newron.neurons.aggregation import Aggregation
from newron.neurons.processing import Processing


def make_evaluator(schema: Schema, layers: tuple[Layer, ...]) -> Any:
    """Return the core's evaluator, or None where the core is not installed."""
    try:
        from newron import _core
    except ImportError:
        return None
    names = _core.function_names()
    evaluator = _core.Evaluator()
    channel_of = _add_channels(evaluator, schema, layers)
    n_inputs, n_channels = len(schema), len(channel_of)
    for layer in (*layers[:-1], layers[-1].scaled):
        channels = [
            channel_of[int(s), bool(r)] if s < n_inputs else int(s) - n_inputs + n_channels
            for s, r in zip(layer.source, layer.rank, strict=True)
        ]
        evaluator.add_layer(
            _find_kernel(names, layer.processing),
            list(AGGREGATIONS).index(get_reduction(layer.aggregation)),
            list(ACTIVATIONS).index(
                layer.activation if isinstance(layer.activation, str) else "identity"
            ),
            layer.n_factors,
            layer.n_neurons,
            np.array(channels, np.int32),
            np.array(layer.begin),
            np.array(layer.w).ravel(),
            np.array(rank_edges(layer, schema)).ravel(),
            np.array([] if layer.alpha is None else layer.alpha, np.float64),
            np.array([] if layer.centre is None else layer.centre, np.float64),
            np.array(layer.missing),
            np.cumsum([0, *(len(values) for values in layer.levels)]).astype(np.int32),
            np.concatenate([np.zeros(0), *layer.levels]),
        )
        if layer.processing not in names:
            function = layer.function.with_factors(layer.n_factors)
            code, constants, n_registers = function.tape.code
            sizes = len(function.arguments), n_registers
            further = np.array(layer.parameters).ravel()
            evaluator.set_code(code, constants, *sizes, function.reach, further)
        for role, curve in list_curves(layer.aggregation, layer.activation):
            evaluator.set_curve(role, *curve.tape.code, curve.reach)
    evaluator.seal()
    return evaluator


def list_curves(
    aggregation: AnyAggregation, activation: AnyActivation
) -> list[tuple[str, Activation]]:
    """Return the formulas of one number of a layer's own aggregation and activation, by role."""
    out = []
    if isinstance(aggregation, Aggregation):
        out += [("transform", aggregation.transformation), ("finish", aggregation.finishing)]
    if isinstance(activation, Activation):
        out.append(("activate", activation))
    return out


def _find_kernel(names: Sequence[str], processing: str | Processing) -> int:
    """Return the number of a kernel: that of formulas where there is none of the name."""
    return names.index(processing if processing in names else "formula")


def _add_channels(
    evaluator: Any, schema: Schema, layers: tuple[Layer, ...]
) -> dict[tuple[int, bool], int]:
    """Add each way in which an input is read, and number them."""
    channels = [(i, False) for i in range(len(schema))]
    ranked = {int(s) for layer in layers for s in layer.source[layer.rank]}
    channels += [(i, True) for i in sorted(ranked)]
    none = np.array([], np.float64)
    for column, on_rank in channels:
        scale = schema.columns[column].rank_scale if on_rank else None
        if scale is None:
            evaluator.add_channel(column, none, none, none, none)
        else:
            evaluator.add_channel(column, np.array(scale.knots), *scale.segments)
    return {key: number for number, key in enumerate(channels)}
