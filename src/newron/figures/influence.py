"""How many decisions hang on each function: what line widths and folding go by.

The measure is that of ``measure_importance(kind="drop")`` for single functions. Here a held
function changes one neuron only, and just the layers after it are evaluated again: large
networks are drawn in a second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newron.explanations.importance import find_constant
from newron.explanations.row import open_layers
from newron.model.aggregation import activate, combine, finish, get_reduction, transform
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer, trace_signals
from newron.model.output import Classes, Output
from newron.model.schema import Column, Schema

FULL = 0.4  # the influence whose line is as thick as can be, unless one is larger
_DIGITS = 9  # sums are added in another order here: a tie stays a tie
_BLOCK = 4_000_000  # numbers of signals that are evaluated at once


def measure_influence(model: Model, rows: Floats) -> list[Floats]:
    """Return the influence of every function on some rows, an array for each layer.

    For classes that is the fraction of rows whose class changes when the function is held
    constant: a step at its more frequent value, any other function at its mean. For
    regression it is the mean change, as a fraction of the standard deviation of the target.
    """
    signals = trace_signals(model.schema, model.layers, rows)
    before = signals[:, -model.output.n_scores :]
    n_signals = len(model.schema)
    found = []
    for k, (layer, h) in enumerate(zip(model.layers, open_layers(model)(rows), strict=True)):
        rest = _cut_model(model, k)
        known = signals[:, : n_signals + layer.n_neurons]
        held = [_hold(layer, h, [e]) for e in range(len(layer.source))]
        found.append(_compare(model.output, before, rest, known, n_signals + layer.target, held))
        n_signals += layer.n_neurons
    return found


def measure_together(model: Model, rows: Floats, edges: Sequence[int]) -> float:
    """Return the influence of some functions of one neuron of the last layer, held together."""
    layer, h = model.layers[-1], open_layers(model)(rows)[-1]
    before = model.score_rows(rows)
    after = np.array(before)
    after[:, int(layer.target[edges[0]])] = _hold(layer, h, edges)
    return _measure_change(model.output, before, after)


def _cut_model(model: Model, k: int) -> Model | None:
    """Return the layers after layer k as a model of all signals before; None after the last."""
    if k == len(model.layers) - 1:
        return None
    n_neurons = sum(layer.n_neurons for layer in model.layers[: k + 1])
    taken, extra = set(model.schema.names), []
    for j in range(n_neurons):
        name = f"neuron {j}"
        while name in taken:
            name += "_"
        taken.add(name)
        extra.append(Column(name, 0.0, 0.0))
    return Model(Schema((*model.schema.columns, *extra)), model.layers[k + 1 :], model.output)


def _hold(layer: Layer, h: Floats, held: Sequence[int]) -> Floats:
    """Return the value of a neuron when some of its functions are held constant."""
    j = int(layer.target[held[0]])
    edges = layer.list_edges(j)
    total: Floats | None = None
    for i in edges:
        part = np.full(len(h), find_constant(layer, h[:, i])) if i in held else h[:, i]
        if layer.alpha is not None:
            part = part * layer.alpha[i]
        part = transform(layer.aggregation, part)
        total = part if total is None else combine(layer.aggregation, total, part)
    assert total is not None  # noqa: S101 - what is held is among the edges
    if get_reduction(layer.aggregation) == "mean":
        total = total / len(edges)
    total = finish(layer.aggregation, total)
    return activate(layer.activation, total - layer.offsets[j])


def _compare(
    output: Output,
    before: Floats,
    rest: Model | None,
    known: Floats,
    places: NDArray[np.integer],
    held: Sequence[Floats],
) -> Floats:
    """Return how much the scores change with each of the held neurons in its place."""
    n_rows, n = len(before), len(held)
    found = np.zeros(n)
    step = max(_BLOCK // max(known.size, 1), 1)
    for first in range(0, n, step):
        some = range(first, min(first + step, n))
        stacked = np.tile(known, (len(some), 1))
        for i, e in enumerate(some):
            stacked[i * n_rows : (i + 1) * n_rows, places[e]] = held[e]
        after = stacked[:, -output.n_scores :] if rest is None else rest.score_rows(stacked)
        for i, e in enumerate(some):
            found[e] = _measure_change(output, before, after[i * n_rows : (i + 1) * n_rows])
    return found


def _measure_change(output: Output, before: Floats, after: Floats) -> float:
    if isinstance(output, Classes):
        chosen = output.choose(np.round(before, _DIGITS)), output.choose(np.round(after, _DIGITS))
        return float(np.mean(chosen[0] != chosen[1]))
    spread = before.std(axis=0)
    change = np.abs(before - after).mean(axis=0)
    return float(np.max(np.where(spread > 0.0, change / np.where(spread > 0.0, spread, 1.0), 0.0)))


def estimate_influence(sizes: Sequence[Floats]) -> list[Floats]:
    """Return a stand-in for the influence where there are no rows.

    It is the range of what a function adds, beside the largest of its layer.
    """
    return [size / max(float(size.max(initial=0.0)), 1e-300) for size in sizes]
