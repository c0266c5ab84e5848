"""Smaller networks: functions become constants, and constants are folded away.

Nothing here looks at rows. A constant goes into the centre of its neuron, or into the
positions of what reads the neuron; neurons that are constant or that nothing reads vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.model.aggregation import activate_limits, combine_limits
from newron.model.arithmetic import Floats
from newron.model.edits import Layers, drop_unread, pick_functions
from newron.model.model import Model
from newron.model.network import Layer, rank_edges
from newron.model.schema import Schema
from newron.training.naming import name_function, name_inputs, name_neurons

_FLAT = 1e-9  # a change of h that nobody notices
_GRID = np.linspace(0.0, 1.0, 33)  # where curves that rise and fall are looked at


# ---- what matters ----


def count_literals(model: Model) -> int:
    """Count the conditions on columns that a reader of the model meets.

    These are the functions that read a column, differ over what was observed of it and
    reach an output. One function of the last layer that adds to several outputs, such as a
    line of a score card for several classes, counts once.

    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> card = Layer("heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 0],
    ...              w=[[1.0], [1.0]], b=[[38.0], [50.0]], alpha=[2.0, 1.0], centre=[1.0])
    >>> schema = Schema((Column("temperature", 35.0, 42.0),))
    >>> count_literals(Model(schema, [card], Classes(("well", "ill"))))
    1
    """
    return len(list_literals(model))


def list_columns(model: Model) -> tuple[str, ...]:
    """Return the names of the columns that a reader meets, in the order of the schema."""
    read = {int(model.layers[at].source[e]) for at, e in list_literals(model)}
    return tuple(name for i, name in enumerate(model.schema.names) if i in read)


def list_literals(model: Model) -> list[tuple[int, int]]:
    """Return layer and function of each condition that matters, see :func:`count_literals`."""
    n_inputs, last = len(model.schema), len(model.layers) - 1
    spans = find_spans(model.schema, model.layers)
    first = n_inputs + sum(layer.n_neurons for layer in model.layers)
    read = np.zeros(first, bool)
    read[first - model.layers[-1].n_neurons :] = True
    found: list[tuple[int, int]] = []
    for at in range(last, -1, -1):
        layer = model.layers[at]
        first, end = first - layer.n_neurons, first
        bottom, top = _span_neurons(layer, spans[at])
        used = (read[first:end] & (bottom < top))[layer.target] & spans[at].differs
        if layer.alpha is not None:
            used &= layer.alpha != 0.0
        read[layer.source[used]] = True
        own = np.flatnonzero(used & (layer.source < n_inputs)).tolist()
        if at == last:
            own = list({name_function(layer, e): e for e in reversed(own)}.values())[::-1]
        found += [(at, e) for e in own]
    return sorted(found)


# ---- what functions can be ----


@dataclass(frozen=True)
class Span:
    """The least and the greatest value of each function of a layer."""

    low: Floats
    high: Floats
    bounded: bool

    @property
    def differs(self) -> NDArray[np.bool_]:
        """Which functions are not constant."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        return np.asarray(self.high - self.low > _FLAT * (1.0 if self.bounded else size))

    @property
    def middle(self) -> Floats:
        """The value of those that are constant."""
        return np.asarray(np.where(self.low == self.high, self.low, (self.low + self.high) / 2))


def find_spans(schema: Schema, layers: Sequence[Layer]) -> list[Span]:
    """Return what each function can be over the observed ranges."""
    ends = np.array([[column.low, column.high] for column in schema.columns]).T
    low, high = ends[0], ends[1]
    spans = []
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in layers:
            spans.append(_find_span(layer, schema, low, high))
            bottom, top = _span_neurons(layer, spans[-1])
            low, high = np.concatenate([low, bottom]), np.concatenate([high, top])
    return spans


def _find_span(layer: Layer, schema: Schema, low: Floats, high: Floats) -> Span:
    least, most = low[layer.source], high[layer.source]
    positions = np.concatenate(
        [least + (most - least) * _GRID[:, None], [most], np.clip(layer.b.T, least, most)]
    )
    for e in np.flatnonzero(layer.rank).tolist():
        scale = schema.columns[layer.source[e]].rank_scale
        if scale is not None:
            positions[:, e] = scale.rank(positions[:, e])
    heights = layer.process(positions, rank_edges(layer, schema))
    bottom, top = heights.min(axis=0), heights.max(axis=0)
    for e in np.flatnonzero(layer.source < len(schema)).tolist():
        column, levels = schema.columns[layer.source[e]], layer.levels[e]
        if len(levels):
            bottom[e], top[e] = levels.min(), levels.max()
        if column.gaps:
            gap = layer.missing[e]
            bottom[e], top[e] = min(bottom[e], gap), max(top[e], gap)
    return Span(bottom, top, layer.function.bounded)


def _span_neurons(layer: Layer, span: Span) -> tuple[Floats, Floats]:
    ends = np.stack([span.low, span.high])
    if layer.alpha is not None:
        ends = ends * layer.alpha
    bottom, top = ends.min(axis=0), ends.max(axis=0)
    pairs = [
        combine_limits(layer.aggregation, bottom[first:end], top[first:end])
        for first, end in zip(layer.begin[:-1], layer.begin[1:], strict=True)
    ]
    values = np.array(pairs) - layer.offsets[:, None]
    return activate_limits(layer.activation, values[:, 0], values[:, 1])


# ---- taking out ----


def drop_function(layers: Layers, n_inputs: int, at: int, e: int, value: float) -> Layers:
    """Return the network in which a function of layer ``at`` is this constant.

    In a neuron that takes the least or the greatest of its parts the function is left
    out, whatever the constant, unless it is the only one; so it is where the aggregation is a
    formula of one's own. ``mean`` must have been turned
    into sums by :func:`make_additive`.
    """
    layer = layers[at]
    j = int(layer.target[e])
    part = value if layer.alpha is None else float(layer.alpha[e]) * value
    kept = pick_functions(layer, np.delete(np.arange(len(layer.source)), e))
    empty = kept.begin[j] == kept.begin[j + 1]
    rest = (*layers[:at], kept, *layers[at + 1 :])
    if not isinstance(layer.aggregation, str):
        return rest
    if layer.aggregation == "sum" or empty:
        nothing = 1.0 if layer.aggregation == "product" else 0.0
        return _shift(rest, n_inputs, at, j, part - nothing)
    if layer.aggregation == "product" and part != 1.0:
        return (*layers[:at], _scale_first(kept, j, part), *layers[at + 1 :])
    return rest


def _scale_first(layer: Layer, j: int, factor: float) -> Layer:
    """Multiply a product: by way of the weight of its first function."""
    alpha = np.array(layer.weights)
    alpha[layer.begin[j]] *= factor
    return layer.replace(alpha=alpha)


def _shift(layers: Layers, n_inputs: int, at: int, j: int, amount: float) -> Layers:
    """Make up for a neuron's aggregate that is lower by this amount."""
    layer = layers[at]
    if amount == 0.0:
        return layers
    if at == len(layers) - 1 or layer.centre is not None or layer.activation != "identity":
        centre = np.array(layer.offsets)
        centre[j] -= amount
        return (*layers[:at], layer.replace(centre=centre), *layers[at + 1 :])
    # A count stays a count: whatever reads it asks for less.
    signal = n_inputs + sum(before.n_neurons for before in layers[:at]) + j
    after = [
        reader.replace(b=np.where(reader.source[:, None] == signal, reader.b - amount, reader.b))
        if np.any(reader.source == signal)
        else reader
        for reader in layers[at + 1 :]
    ]
    return (*layers[: at + 1], *after)


def fold(schema: Schema, layers: Layers) -> Layers:
    """Take out what is constant over the observed ranges, and what nothing reads.

    A step that asks a neuron of one condition becomes that condition. The outputs stay the
    same over the observed ranges, but for the rounding of sums.
    """
    while True:
        before = layers
        # From behind, so that numbers of functions stay true.
        for at, e, value in reversed(_find_constants(schema, layers)):
            layers = drop_function(layers, len(schema), at, e, value)
        if layers is before:
            layers = _skip_single(_join_twins(layers, len(schema)), len(schema))
            layers = merge_equal(drop_unread(layers, len(schema)))
        if layers is before:
            return layers


def _find_constants(schema: Schema, layers: Layers) -> list[tuple[int, int, float]]:
    """Return functions that are constant, of one layer, and what they are there."""
    spans = find_spans(schema, layers)
    for at, (layer, span) in enumerate(zip(layers, spans, strict=True)):
        flat = ~span.differs
        if layer.alpha is not None:
            flat |= layer.alpha == 0.0
        found = [
            (at, int(e), float(span.middle[e]))
            for e in np.flatnonzero(flat)
            if _can_go(layer, span, int(e))
        ]
        if found and layer.aggregation in ("min", "max"):
            found = found[:1]  # what may go depends on what is left
        if found:
            return found
    return []


def _can_go(layer: Layer, span: Span, e: int) -> bool:
    """Return whether a constant can be left out: always, but of the least or greatest."""
    if not isinstance(layer.aggregation, str):
        return False
    if layer.aggregation not in ("min", "max"):
        return True
    weight = layer.weights
    others = np.flatnonzero(layer.target == layer.target[e])
    others = others[others != e]
    if not len(others):
        return True
    ends = np.stack([span.low, span.high]) * weight
    part = float(span.middle[e] * weight[e])
    if layer.aggregation == "min":
        return bool(part >= ends.max(axis=0)[others].min())
    return bool(part <= ends.min(axis=0)[others].max())


def _join_twins(layers: Layers, n_inputs: int) -> Layers:
    """Let whatever reads a neuron read the first one that computes the same."""
    signals = name_inputs(n_inputs)
    for layer in layers[:-1]:
        signals += name_neurons(layer, signals)
    first: dict[bytes, int] = {}
    number = np.array([first.setdefault(name, i) for i, name in enumerate(signals)])
    if len(first) == len(number):
        return layers
    joined = [layer.replace(source=number[layer.source]) for layer in layers]
    same = all(np.array_equal(a.source, b.source) for a, b in zip(joined, layers, strict=True))
    return layers if same else tuple(joined)


def _skip_single(layers: Layers, n_inputs: int) -> Layers:
    """Let steps that read a neuron of one condition read what the condition reads."""
    first = n_inputs
    for at, layer in enumerate(layers[:-1]):
        plain = layer.alpha is None and layer.centre is None and layer.activation == "identity"
        plain = plain and isinstance(layer.aggregation, str)
        if plain and layer.function.crisp:
            for j in np.flatnonzero(np.diff(layer.begin) == 1).tolist():
                layers = _skip_neuron(layers, at, int(layer.begin[j]), first + j)
        first += layer.n_neurons
    return layers


def _skip_neuron(layers: Layers, at: int, e: int, signal: int) -> Layers:
    layer = layers[at]
    out = list(layers)
    for number in range(at + 1, len(layers)):
        reader = layers[number]
        asks = np.flatnonzero(reader.source == signal)
        if reader.processing != layer.processing or not len(asks):
            continue
        # "Not so" can be written where there is a weight.
        weighed = number == len(layers) - 1 and reader.alpha is not None
        asks = asks[(reader.w[asks, 0] > 0.0) | weighed]
        out[number] = copy_condition(reader, asks, reader.w[asks, 0] < 0.0, layer, e)
    return tuple(out) if any(a is not b for a, b in zip(out, layers, strict=True)) else layers


def copy_condition(
    reader: Layer, asks: NDArray[np.intp], turned: NDArray[np.bool_], layer: Layer, e: int
) -> Layer:
    """Put condition e of a layer in the place of some of the reader's.

    Where it is turned, it is the opposite of what it stands for: that is the condition
    with the opposite weight.
    """
    if not len(asks):
        return reader
    flipped = asks[turned]
    fields = {name: np.array(getattr(reader, name)) for name in ("source", "w", "b", "rank")}
    for name, values in fields.items():
        values[asks] = getattr(layer, name)[e]
    missing, levels = np.array(reader.missing), list(reader.levels)
    missing[asks] = layer.missing[e]
    for ask in asks:
        levels[ask] = layer.levels[e]
    changed = reader.replace(**fields, missing=missing, levels=levels)
    if reader.alpha is None or not len(flipped):
        return changed
    alpha, centre = np.array(reader.alpha), np.zeros(reader.n_neurons)
    centre += 0.0 if reader.centre is None else reader.centre
    np.subtract.at(centre, reader.target[flipped], alpha[flipped])
    alpha[flipped] *= -1.0
    return changed.replace(alpha=alpha, centre=centre)


# ---- one form for all ----


def make_additive(model: Model) -> Layers:
    """Return the same network with a last layer that adds, and without means.

    Where the last layer does not add, it becomes hidden, and one linear function for
    each score reads it. Equal functions of one output become one, with the sum of their
    weights; all of the last layer have one, see :func:`fold_weights`.
    """
    n_inputs = len(model.schema)
    layers = model.layers
    for at, layer in enumerate(layers):
        if layer.aggregation == "mean":
            layers = _add_up(layers, n_inputs, at)
    if layers[-1].aggregation != "sum":
        layers = (*layers, _read_scores(layers, n_inputs))
    last = layers[-1]
    if last.centre is None:
        last = last.replace(centre=np.zeros(last.n_neurons))
    if last.alpha is None:
        last = last.replace(alpha=np.ones(len(last.source)))
    return merge_equal((*layers[:-1], last))


def _add_up(layers: Layers, n_inputs: int, at: int) -> Layers:
    """Turn the means of a layer into sums."""
    layer = layers[at]
    counts = np.diff(layer.begin)
    plain = layer.alpha is None and layer.centre is None and layer.activation == "identity"
    if plain and at < len(layers) - 1 and layer.function.crisp:
        first = n_inputs + sum(before.n_neurons for before in layers[:at])
        after = [_ask_counts(reader, first, counts) for reader in layers[at + 1 :]]
        return (*layers[:at], layer.replace(aggregation="sum"), *after)
    changed = layer.replace(aggregation="sum", alpha=layer.weights / counts[layer.target])
    return (*layers[:at], changed, *layers[at + 1 :])


def _ask_counts(layer: Layer, first: int, counts: NDArray[np.int32]) -> Layer:
    """Let functions that read fractions of conditions read how many hold instead."""
    w, b = np.array(layer.w), np.array(layer.b)
    crisp = layer.function.crisp
    for e, source in enumerate(layer.source.tolist()):
        if not first <= source < first + len(counts) or not counts[source - first]:
            continue
        n = int(counts[source - first])
        if crisp:
            fractions = np.arange(n + 1) / n
            b[e] = np.sum(fractions < b[e] if w[e] > 0.0 else fractions <= b[e]) - 0.5
        else:
            w[e], b[e] = w[e] / n, b[e] * n
    return layer.replace(w=w, b=b)


def _read_scores(layers: Layers, n_inputs: int) -> Layer:
    n = layers[-1].n_neurons
    first = n_inputs + sum(layer.n_neurons for layer in layers[:-1])
    each, ones = np.arange(n, dtype=np.int32), np.ones((n, 1))
    return Layer("linear", "sum", "identity", n, each, first + each, ones, 0.0 * ones)


def merge_equal(layers: Layers) -> Layers:
    """Merge equal functions of one output, with the sum of their weights."""
    last = layers[-1]
    if last.alpha is None:
        return layers
    alpha, kept = np.array(last.alpha), []
    seen: dict[tuple[int, bytes], int] = {}
    for e, j in enumerate(last.target.tolist()):
        before = seen.setdefault((j, name_function(last, e)), e)
        if before == e:
            kept.append(e)
        else:
            alpha[before] += alpha[e]
    if len(kept) == len(alpha):
        return layers
    return (*layers[:-1], pick_functions(last.replace(alpha=alpha), np.array(kept, np.intp)))


def fold_weights(layers: Layers) -> Layers:
    """Put the weights of the last layer into w where that is a weight itself."""
    last = layers[-1]
    if last.alpha is None or not last.function.weighs:
        return layers
    folded = last.replace(
        w=last.w * last.alpha[:, None],
        missing=last.missing * last.alpha,
        levels=[values * a for values, a in zip(last.levels, last.alpha.tolist(), strict=True)],
        alpha=None,
    )
    return (*layers[:-1], folded)
