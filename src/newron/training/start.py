"""Where training starts from: the paper's initialisation."""

import numpy as np

from newron.model.aggregation import activate_limits, combine_limits
from newron.model.arithmetic import Floats
from newron.training.encoding import POINT
from newron.training.wiring import LayerSlices, Params, Wiring


def draw_start(wiring: Wiring, low: Floats, high: Floats, rng: np.random.Generator) -> Params:
    """Draw parameters to start from.

    w and alpha are Glorot-uniform. b is uniform between the least and greatest
    value of what the function reads: of each channel (``low``, ``high``), and
    in later layers of what the neuron before can give.
    """
    params = np.zeros(wiring.n_params, np.float64)
    low, high = low.astype(np.float64), high.astype(np.float64)
    for layer in wiring.layers:
        _draw_layer(layer, params, low[layer.source], high[layer.source], rng)
        fixed = np.repeat(wiring.list_turns(layer), layer.plan.n_factors)
        params[layer.w] = np.where(fixed == 0.0, params[layer.w], fixed)
        least, greatest = _limits(layer, params, low, high)
        low, high = np.concatenate([low, least]), np.concatenate([high, greatest])
    for layer in wiring.layers:
        for e, points in layer.points.items():
            ends = low[layer.source[e]], high[layer.source[e]]
            params[points] = rng.uniform(*ends, points.stop - points.start)
    return params.astype(np.float32)


def find_limits(x: Params) -> tuple[Floats, Floats]:
    """Return the least and greatest value of each channel, points apart."""
    values = np.where(x < POINT, x, np.nan)
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    nothing = np.isnan(low)  # all are points: places as wide as those of a scaled column
    return np.where(nothing, -1.5, low), np.where(nothing, 1.5, high)


def _draw_layer(
    layer: LayerSlices, params: Floats, low: Floats, high: Floats, rng: np.random.Generator
) -> None:
    plan = layer.plan
    limit = np.sqrt(6.0 / (layer.n_edges / plan.n_neurons + plan.n_neurons))
    shape = (layer.n_edges, plan.n_factors)
    params[layer.w] = rng.uniform(-limit, limit, shape).ravel()
    if not plan.function.weighs:
        params[layer.b] = rng.uniform(low[:, None], high[:, None], shape).ravel()
    starts = [start for _, start in plan.function.parameters]
    params[layer.parameters] = np.tile(starts, layer.n_edges)
    if plan.weighted:
        params[layer.alpha] = rng.uniform(-limit, limit, layer.n_edges)


def _limits(layer: LayerSlices, params: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the least and greatest output of each neuron of a layer."""
    plan = layer.plan
    shape = (layer.n_edges, plan.n_factors)
    w, b = params[layer.w].reshape(shape), params[layer.b].reshape(shape)
    least, greatest = plan.function.limits(w, b, low[layer.source], high[layer.source])
    target = layer.target
    ends = np.array(
        [
            combine_limits(plan.aggregation, least[target == j], greatest[target == j])
            for j in range(plan.n_neurons)
        ]
    )
    return activate_limits(plan.activation, ends[:, 0], ends[:, 1])
