"""A model in words: one line, or every function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from newron.formatting import format_count, format_number, list_some
from newron.model.aggregation import AnyAggregation
from newron.model.labels import Labels
from newron.model.network import Layer
from newron.model.output import Classes
from newron.model.schema import Column
from newron.tables.field import LARGEST_INPUT, Label

if TYPE_CHECKING:
    from newron.model.model import Model

NEVER = LARGEST_INPUT  # a threshold that no number reaches
_SATURATED = 19.5  # beyond it tanh is 1 to the last bit
_MAX_LISTED = 6  # classes or targets
_MAX_NEURON = 100.0  # more functions than a neuron of a product network adds up

VERBS = {
    "sum": "adds",
    "mean": "averages",
    "min": "takes the least of",
    "max": "takes the greatest of",
    "product": "multiplies",
}


def describe_aggregation(aggregation: AnyAggregation, verbs: dict[str, str] = VERBS) -> str:
    """Return what a neuron does with its functions, as a verb: "adds", "takes soft_max of"."""
    if isinstance(aggregation, str):
        return verbs[aggregation]
    return f"takes {aggregation} of"


def summarize(model: Model) -> str:
    """Describe a model in one line."""
    widths = "-".join(str(n) for n in [len(model.schema), *(x.n_neurons for x in model.layers)])
    kinds = list(dict.fromkeys(str(layer.processing) for layer in model.layers))
    if isinstance(model.output, Classes):
        what = "classes " + list_some([repr(label) for label in model.output.labels], _MAX_LISTED)
    else:
        kind = "labels" if isinstance(model.output, Labels) else "targets"
        what = f"{kind} " + list_some(model.output.names, _MAX_LISTED)
    count = format_count(model.n_functions, "function", separator="")
    return f"{' and '.join(kinds)} network {widths}, {count}, {what}"


def describe(model: Model) -> str:
    """Describe every function of a model, a line for each neuron and function."""
    lines = [summarize(model)]
    names = list(model.schema.names)
    labels = {i: c.categories for i, c in enumerate(model.schema.columns) if c.categories}
    gaps = {i for i, c in enumerate(model.schema.columns) if c.gaps}
    units = {i: c.unit for i, c in enumerate(model.schema.columns) if c.unit}
    points = _Points(labels, gaps, units, model.schema.columns)
    for number, layer in enumerate(model.layers, 1):
        own = name_neurons(model, number)
        for j in range(layer.n_neurons):
            lines += _describe_neuron(layer, j, own[j], names, points)
        names += own
    if isinstance(model.output, Classes) and model.output.is_ordered:
        reached = zip(model.output.labels[1:], model.output.bands, strict=True)
        described = [f"{label!r} from {format_number(limit)} on" for label, limit in reached]
        lines.append(", ".join(described))
    return "\n".join(lines)


def name_neurons(model: Model, number: int) -> list[str]:
    """Return the names of the neurons of a layer, counted from 1 on; the last one's are outputs."""
    layer = model.layers[number - 1]
    if number < len(model.layers):
        return [f"neuron {number}.{j}" for j in range(1, layer.n_neurons + 1)]
    if not isinstance(model.output, Classes):
        return [f"output {name}" for name in model.output.score_names]
    labels = model.output.labels
    if model.output.is_ordered:
        return [f"score from {labels[0]!r} to {labels[-1]!r}"]
    return [f"score for {label!r}" for label in model.output.scored]


@dataclass(frozen=True)
class _Points:
    """What is described of inputs besides their names: categories, missing values and units."""

    labels: dict[int, tuple[Label, ...]]
    gaps: set[int]
    units: dict[int, str]
    columns: tuple[Column, ...]


def _describe_neuron(
    layer: Layer, j: int, name: str, names: list[str], points: _Points
) -> list[str]:
    counts = layer.processing == "heaviside" and layer.alpha is None and layer.aggregation == "sum"
    head = "counts how many hold of" if counts else describe_aggregation(layer.aggregation)
    after = "" if layer.activation == "identity" else f", then {layer.activation}"
    lines = [f"{name} {head}{after}:"]
    # Functions of one input are one curve, and described on one line.
    curves: dict[int, list[str]] = {}
    for e in layer.list_edges(j):
        weight = "" if layer.alpha is None else f"{format_number(layer.alpha[e])} × "
        described = f"{weight}{_describe_function(layer, e, names[layer.source[e]], points)}"
        curves.setdefault(int(layer.source[e]), []).append(described)
    joins = {"sum": " + ", "mean": " + ", "product": " × "}
    join = joins.get(str(layer.aggregation), ", ")
    lines += ["    " + _join_signed(parts, join) for parts in curves.values()]
    if layer.centre is not None and layer.centre[j]:
        word = "less" if layer.centre[j] > 0.0 else "plus"
        lines.append(f"    {word} {format_number(abs(layer.centre[j]))}")
    return lines


def _join_signed(parts: list[str], join: str) -> str:
    """Join parts; what is added with a minus is taken away: "2 × a - 3 × b"."""
    first, *rest = parts
    if join != " + ":
        return join.join(parts)
    signed = [f" - {part[1:]}" if part.startswith("-") else f" + {part}" for part in rest]
    return "".join([first, *signed])


def _describe_function(layer: Layer, e: int, name: str, points: _Points) -> str:
    missing = float(layer.missing[e])
    has_missing = int(layer.source[e]) in points.gaps
    if len(layer.levels[e]):
        return _describe_levels(layer, e, name, points.labels[int(layer.source[e])], has_missing)
    if layer.processing == "heaviside":
        return f"[{_describe_step(layer, e, name, has_missing, points)}]"
    source = int(layer.source[e])
    column = points.columns[source] if source < len(points.columns) else None
    described = _describe_curve(layer, e, name, column)
    return f"{described} ({format_number(missing)} if missing)" if has_missing else described


def _describe_step(layer: Layer, e: int, name: str, has_missing: bool, points: _Points) -> str:
    w, b = float(layer.w[e, 0]), float(layer.b[e, 0])
    missing = has_missing and layer.missing[e] == 1.0
    if w == 0.0:
        return f"{name} not missing" if has_missing and not missing else "always"
    if missing and w * b >= NEVER * abs(w):
        return f"{name} missing"
    unit = points.units.get(int(layer.source[e]), "")
    described = f"{name} {'≥' if w > 0 else '≤'} {format_number(b)} {unit}".rstrip()
    return f"{described} or missing" if missing else described


def _describe_levels(
    layer: Layer, e: int, name: str, labels: tuple[Label, ...], has_missing: bool
) -> str:
    # A category of that very name is not the missing value.
    words = ['"missing"' if label == "missing" else str(label) for label in labels]
    words += ["missing"] if has_missing else []
    values = [*layer.levels[e].tolist(), float(layer.missing[e])][: len(words)]
    if layer.processing == "heaviside":
        held = ", ".join(word for word, value in zip(words, values, strict=True) if value)
        return f"[{name} in {{{held}}}]"
    described = ", ".join(f"{w}: {format_number(v)}" for w, v in zip(words, values, strict=True))
    return f"{name} as {{{described}}}"


def _describe_curve(layer: Layer, e: int, name: str, column: Column | None) -> str:
    source = f"rank of {name}" if layer.rank[e] else name
    inner = [_describe_argument(w, b, source) for w, b in zip(layer.w[e], layer.b[e], strict=True)]
    if layer.processing == "tanh_prod":
        signs = [_find_sign(layer, e, m, column) for m in range(len(inner))]
        factors = [f"tanh({z})" for z, sign in zip(inner, signs, strict=True) if not sign]
        if signs.count(-1) % 2 and factors:
            factors[0] = f"−{factors[0]}"
        return f"({' × '.join(factors) or '1'} + 1) / 2"
    return inner[0] if layer.processing == "linear" else f"{layer.processing}({inner[0]})"


def _describe_argument(w: float, b: float, source: str) -> str:
    sign, place = ("+", -b) if b < 0.0 else ("−", b)
    return f"{format_number(w)} ({source} {sign} {format_number(place)})"


def _find_sign(layer: Layer, e: int, m: int, column: Column | None) -> int:
    """Return the value of a factor that is ±1 for every value of its input, and else 0."""
    low, high = (0.0, _MAX_NEURON) if column is None else (column.low, column.high)
    ends = np.array([low, high, layer.b[e, m]])
    if layer.rank[e] and column is not None and column.rank_scale is not None:
        ends = column.rank_scale.rank(ends)
    z = layer.w[e, m] * (ends[:2] - ends[2])
    return int(z.min() >= _SATURATED) - int(z.max() <= -_SATURATED)
