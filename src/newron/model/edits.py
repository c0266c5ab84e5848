"""Networks with some of their functions, neurons or outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.labels import Labels
from newron.model.network import Layer

if TYPE_CHECKING:
    from newron.model.model import Model

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
    return type(model)(model.schema, layers, output, means=means)
