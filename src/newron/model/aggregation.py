"""Aggregations G and activations f, in double precision.

The order of the names is their numbering in the compiled core.
"""

from collections.abc import Callable

import numpy as np

from newron.errors import ModelError
from newron.model.arithmetic import Floats, sigmoid, tanh

__all__ = [
    "ACTIVATIONS",
    "AGGREGATIONS",
    "activate",
    "check_activation",
    "check_aggregation",
    "combine",
    "combine_limits",
]

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


def check_aggregation(name: object) -> str:
    """Return the name if it is one of an aggregation."""
    return _check("an aggregation", name, AGGREGATIONS)


def check_activation(name: object) -> str:
    """Return the name if it is one of an activation."""
    return _check("an activation", name, ACTIVATIONS)


def _check(what: str, name: object, known: dict[str, Callable[..., Floats]]) -> str:
    if not isinstance(name, str) or name not in known:
        raise ModelError(f"expected {what} among {', '.join(known)}, got {name!r}")
    return name


def combine(aggregation: str, so_far: Floats, part: Floats) -> Floats:
    """Take one more part into the aggregate."""
    return AGGREGATIONS[aggregation](so_far, part)


def activate(activation: str, z: Floats) -> Floats:
    """Apply the activation."""
    return ACTIVATIONS[activation](z)


def combine_limits(aggregation: str, low: Floats, high: Floats) -> tuple[float, float]:
    """Give the least and greatest aggregate of parts between low and high."""
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
