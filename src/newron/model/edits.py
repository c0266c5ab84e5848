"""Networks with some of their functions, neurons or outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.labels import Labels
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Targets
from newron.model.schema import Schema

Layers = tuple[Layer, ...]


def pick_functions(layer: Layer, kept: NDArray[np.intp], **changes: Any) -> Layer:
    """Return the layer with some of its functions, and other changes."""
    picked = {
        "target": layer.target[kept],
        "source": layer.source[kept],
        "w": layer.w[kept],
        "b": layer.b[kept],
        "rank": layer.rank[kept],
        "parameters": layer.parameters[kept],
        "alpha": None if layer.alpha is None else layer.alpha[kept],
        "missing": layer.missing[kept],
        "levels": [layer.levels[e] for e in kept.tolist()],
    }
    return layer.replace(**{**picked, **changes})


def drop_unread(layers: Layers, n_inputs: int) -> Layers:
    """Take out hidden neurons that nothing reads; the same object where all are read."""
    ends = np.cumsum([n_inputs, *(layer.n_neurons for layer in layers)])
    read = np.zeros(int(ends[-1]), bool)
    read[:n_inputs] = True
    read[ends[-2] :] = True
    for layer in layers:
        read[layer.source] = True
    if read.all():
        return layers
    number = np.cumsum(read) - 1
    out = []
    for layer, first in zip(layers, ends[:-1].tolist(), strict=True):
        own = read[first : first + layer.n_neurons]
        if not own.any():
            continue
        kept, index = np.flatnonzero(own[layer.target]), np.cumsum(own) - 1
        out.append(
            pick_functions(
                layer,
                kept,
                n_neurons=int(own.sum()),
                target=index[layer.target[kept]],
                source=number[layer.source[kept]],
                centre=None if layer.centre is None else layer.centre[own],
            )
        )
    return tuple(out)


def open_functions(
    schema: Schema, hidden: Layers, layer: Layer, edges: Sequence[int] | None = None
) -> Model:
    """Return a network whose outputs are functions of a layer, one by one; 0 where there are none.

    - ``hidden``: The layers before, which it reads.
    - ``edges``: Which functions; by default all.
    """
    chosen = np.arange(len(layer.source)) if edges is None else np.array(edges, np.intp)
    n = max(len(chosen), 1)
    apart = pick_functions(
        layer, chosen, n_neurons=n, target=np.arange(len(chosen)), aggregation="sum",
        activation="identity", alpha=None, centre=None,
    )  # fmt: skip
    layers = (*hidden, apart)
    while (smaller := drop_unread(layers, len(schema))) is not layers:
        layers = smaller
    return Model(schema, layers, Targets(tuple(f"h{e}" for e in range(n))))


def take_label(model: Model, name: str) -> Model:
    """Return the part of a network that decides one of several labels, as two classes.

    - ``model``: Of :class:`Labels`.

    Returned: of the classes "not" the label and the label, with the same scores.
    """
    if not isinstance(model.output, Labels):
        raise ModelError("label: expected a model of several labels, got another")
    output, last = model.output.take(name), model.layers[-1]
    k = model.output.names.index(name)
    kept = np.flatnonzero(last.target == k)
    layer = pick_functions(
        last,
        kept,
        n_neurons=1,
        target=np.zeros(len(kept), np.intp),
        centre=None if last.centre is None else last.centre[k : k + 1],
    )
    layers = drop_unread((*model.layers[:-1], layer), len(model.schema))
    means = {columns: values[k : k + 1] for columns, values in model.means.items()}
    return Model(model.schema, layers, output, means=means)
