"""Aggregations G and activations f, in double precision.

The order of the names is their numbering in the compiled core. Those of one's own are formulas
(:mod:`newron.neurons`): an aggregation transforms each part, reduces as one of these, and finishes.
"""

from collections.abc import Callable

import numpy as np

from newron.errors import ModelError
from newron.model.arithmetic import Floats, sigmoid, tanh
from newron.neurons.activation import Activation
from newron.neurons.aggregation import Aggregation

AnyAggregation = str | Aggregation
"""G by its name, or one of one's own."""
AnyActivation = str | Activation
"""f by its name, or one of one's own."""

_LARGEST = 1e100


def _multiply(a: Floats, b: Floats) -> Floats:
    return np.maximum(np.minimum(a * b, _LARGEST), -_LARGEST)


# mean adds here and divides at the end.
AGGREGATIONS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "sum": np.add,
    "mean": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "product": _multiply,
}

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda z: z,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "relu": lambda z: np.maximum(z, 0.0),
}


def check_aggregation(given: object) -> AnyAggregation:
    """Return an aggregation of one's own, or the name of one that there is."""
    if isinstance(given, Aggregation):
        return given.name if given.name in AGGREGATIONS else given
    return _check("an aggregation", given, AGGREGATIONS)


def check_activation(given: object) -> AnyActivation:
    """Return an activation of one's own, or the name of one that there is."""
    if isinstance(given, Activation):
        return given.name if given.name in ACTIVATIONS else given
    return _check("an activation", given, ACTIVATIONS)


def _check(what: str, name: object, known: dict[str, Callable[..., Floats]]) -> str:
    if not isinstance(name, str) or name not in known:
        raise ModelError(f"expected {what} among {', '.join(known)}, got {name!r}")
    return name


def get_reduction(aggregation: AnyAggregation) -> str:
    """Return by which of the names an aggregation reduces its parts."""
    return aggregation if isinstance(aggregation, str) else aggregation.reduce


def transform(aggregation: AnyAggregation, part: Floats) -> Floats:
    """Return what an aggregation reduces in place of a part."""
    return part if isinstance(aggregation, str) else aggregation.transformation.value(part)


def combine(aggregation: AnyAggregation, so_far: Floats, part: Floats) -> Floats:
    """Take one more part, which is transformed, into the total."""
    return AGGREGATIONS[get_reduction(aggregation)](so_far, part)


def finish(aggregation: AnyAggregation, total: Floats) -> Floats:
    """Return the aggregate of the total of all parts."""
    return total if isinstance(aggregation, str) else aggregation.finishing.value(total)


def activate(activation: AnyActivation, z: Floats) -> Floats:
    """Apply the activation."""
    return activation.value(z) if isinstance(activation, Activation) else ACTIVATIONS[activation](z)


def activate_limits(activation: AnyActivation, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return bounds of the activation for numbers between low and high."""
    if isinstance(activation, Activation):
        return activation.limits(low, high)
    return activate(activation, low), activate(activation, high)


def combine_limits(aggregation: AnyAggregation, low: Floats, high: Floats) -> tuple[float, float]:
    """Return the least and greatest aggregate of parts between low and high."""
    if isinstance(aggregation, Aggregation):
        ends = combine_limits(aggregation.reduce, *aggregation.transformation.limits(low, high))
        bottom, top = aggregation.finishing.limits(*map(np.array, ends))
        return float(bottom), float(top)
    if aggregation == "sum":
        return float(low.sum()), float(high.sum())
    if not len(low):  # a neuron without functions, see network.py
        return (1.0, 1.0) if aggregation == "product" else (0.0, 0.0)
    if aggregation == "mean":
        return float(low.mean()), float(high.mean())
    if aggregation == "min":
        return float(low.min()), float(high.min())
    if aggregation == "max":
        return float(low.max()), float(high.max())
    least, greatest = 1.0, 1.0
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        corners = [least * a, least * b, greatest * a, greatest * b]
        least, greatest = min(corners), max(corners)
    return least, greatest
