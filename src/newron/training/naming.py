"""Names of functions and neurons: what has the same name computes the same."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from newron.model.edits import Layers
from newron.model.network import Layer


def name_terms(layers: Layers, n_inputs: int) -> tuple[bytes, ...]:
    """Name the last layer's functions."""
    signals = name_inputs(n_inputs)
    for layer in layers[:-1]:
        signals += name_neurons(layer, signals)
    return tuple(_name_readers(layers[-1], signals))


def name_inputs(n_inputs: int) -> list[bytes]:
    """Name the columns."""
    return [b"input %d" % i for i in range(n_inputs)]


def name_neurons(layer: Layer, signals: list[bytes]) -> list[bytes]:
    """Name the neurons of a layer, by the names of what it can read."""
    kind = f"{layer.processing!r} {layer.aggregation!r} {layer.activation!r}".encode()
    readers, out = _name_readers(layer, signals), []
    for j in range(layer.n_neurons):
        parts = [kind, b"" if layer.centre is None else layer.centre[j].tobytes()]
        for e in layer.list_edges(j):
            parts += [readers[e]]
            parts += [b"" if layer.alpha is None else layer.alpha[e].tobytes()]
        out.append(hashlib.sha256(b"|".join(parts)).digest())
    return out


def _name_readers(layer: Layer, signals: list[bytes]) -> list[bytes]:
    """Name the functions of a layer by the names of what they read."""
    return [
        hashlib.sha256(signals[source] + b"/" + own[8:]).digest()  # without the number it reads
        for source, own in zip(layer.source.tolist(), name_functions(layer), strict=True)
    ]


@lru_cache(maxsize=64)  # layers are values, and asked for one function after the other
def name_functions(layer: Layer) -> list[bytes]:
    """Return what distinguishes functions of a layer: all but target and weight."""
    w = np.sign(layer.w) if layer.function.crisp else layer.w
    flags = [layer.source, layer.rank, layer.missing]
    numbers = np.ascontiguousarray(np.column_stack([*flags, w, layer.b]), np.float64)
    rows = zip(numbers, layer.levels, strict=True)
    return [row.tobytes() + levels.tobytes() for row, levels in rows]


def name_function(layer: Layer, e: int) -> bytes:
    """Return what distinguishes one function from others of its layer."""
    return name_functions(layer)[e]
