"""Small networks and tables for the oracles, one for each combination."""

import numpy as np

from newron import _core
from newron.training.architecture import Architecture, LayerPlan
from newron.training.start import draw_start
from newron.training.wiring import Wiring

FUNCTIONS = ("heaviside", "sigmoid", "tanh_prod", "linear", "relu", "selu")
AGGREGATIONS = ("sum", "mean", "min", "max", "product")
ACTIVATIONS = ("identity", "sigmoid", "tanh", "relu")
LOSSES = {"binary": 1, "categorical": 3, "squared": 2}


def make_wiring(
    function,
    aggregation="sum",
    activation="identity",
    *,
    loss="binary",
    hidden=(3,),
    factors=2,
    per_input=1,
    direct=False,
    n_channels=4,
    last_aggregation="sum",
):
    n_factors = factors if function == "tanh_prod" else 1
    centred = activation != "identity"
    layers = [
        LayerPlan(function, aggregation, activation, width, n_factors, centred=centred)
        for width in hidden
    ]
    layers.append(
        LayerPlan(
            function,
            last_aggregation,
            "identity",
            LOSSES[loss],
            n_factors,
            weighted=True,
            centred=True,
        )
    )
    return Wiring(Architecture(tuple(layers), per_input, direct), (0,) * n_channels)


def make_table(n_rows, n_channels, loss, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, n_channels)).astype(np.float32)
    if loss == "squared":
        y = rng.normal(size=(n_rows, LOSSES[loss]))
    else:
        y = rng.integers(0, max(LOSSES[loss], 2), size=(n_rows, 1))
    weight = rng.uniform(0.5, 2.0, n_rows)
    return x, y.astype(np.float32), weight.astype(np.float32)


def make_start(wiring, x, seed=0):
    rng = np.random.default_rng(seed)
    params = draw_start(wiring, x.min(axis=0), x.max(axis=0), rng)
    # Away from zero, where centres start, so that every slope shows.
    return params + rng.normal(scale=0.05, size=params.shape).astype(np.float32)


def core_differentiate(wiring, params, x, y, weight, loss, blend=1.0):
    table = _core.Table(x, y, weight)
    return _core.differentiate(
        wiring.make_network(), table, params, getattr(_core.Loss, loss), blend
    )
