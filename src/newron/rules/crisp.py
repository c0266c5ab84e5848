"""From a soft network to the nearest crisp one, and how near it is.

A function is cut at one half: where it is at least 0.5 the crisp one is 1, elsewhere 0.
So a sigmoid becomes ``x ≥ b`` or ``x ≤ b``, as a step that holds at its threshold, and a
tanh-prod the union of closed intervals between its positions b. Thresholds on hidden neurons
stay, and so do weights and centres unless rows are given to weigh the functions anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, ModelError
from newron.formatting import format_count, format_rounded
from newron.model.arithmetic import Floats
from newron.model.condition import Condition, Edge, make_layer
from newron.model.edits import open_functions
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes, Label
from newron.model.schema import Schema

_SOFT = ("sigmoid", "tanh_prod")
_WORST = 10  # rows that a Fidelity keeps, by default
_SHOWN = 3  # of them in its text


def make_crisp(model: Model, X: ArrayLike | None = None) -> Model:
    """Return the nearest crisp network: every function cut at one half; see :meth:`Model.crisp`.

    A function that is a half-line or a set of categories after the cut stays one
    function. Any other is a small neuron of its own that counts its half-lines, such as
    ``x ≥ 1`` and ``x ≤ 3``, and the function asks whether enough of them hold; these
    neurons lie in a layer of their own before the one that reads them. So the crisp
    network has the same weights and centres, with any aggregation.
    """
    _check_soft(model)
    if all(_is_crisp(layer) for layer in model.layers):
        return model
    layers: list[Layer] = []
    signals = list(range(len(model.schema)))  # where each signal of the model is now
    n_signals = len(signals)
    for layer in model.layers:
        made = _cut_layer(layer, np.array(signals), n_signals, model.schema)
        layers += made
        n_signals += sum(part.n_neurons for part in made)
        signals += range(n_signals - layer.n_neurons, n_signals)
    crisp = Model(model.schema, layers, model.output)
    return crisp if X is None else _weigh_anew(model, crisp, _read_some(model, X))


# ---- cutting ----


def _is_crisp(layer: Layer) -> bool:
    return layer.function.crisp


def _check_soft(model: Model) -> None:
    for number, layer in enumerate(model.layers, 1):
        if not _is_crisp(layer) and layer.processing not in _SOFT:
            raise ModelError(
                f"expected heaviside, sigmoid or tanh_prod functions to make crisp, "
                f"got {layer.processing} in layer {number}"
            )


def _cut_layer(
    layer: Layer, signals: NDArray[np.intp], n_signals: int, schema: Schema
) -> list[Layer]:
    """Return the crisp layer, after one of the neurons that it needs for intervals."""
    source = signals[layer.source]
    if _is_crisp(layer):
        return [layer.replace(source=source)]
    cuts = [_cut_function(layer, e, schema) for e in range(len(source))]
    edges = [_sort_ends(cut.to_edges(s)) for cut, s in zip(cuts, source.tolist(), strict=True)]
    many = [e for e, steps in enumerate(edges) if len(steps) > 1]
    helpers = [make_layer([edges[e] for e in many])] if many else []
    counted = dict(zip(many, range(n_signals, n_signals + len(many)), strict=True))
    chosen = [
        # Of a bounded interval one end holds everywhere, both inside.
        Edge(counted[e], 1.0, cuts[e].n_bounded + 0.5) if e in counted else steps[0]
        for e, steps in enumerate(edges)
    ]
    crisp = make_layer([chosen])
    return [
        *helpers,
        layer.replace(
            processing="heaviside",
            source=crisp.source,
            w=crisp.w,
            b=crisp.b,
            rank=None,
            missing=crisp.missing,
            levels=crisp.levels,
        ),
    ]


def _cut_function(layer: Layer, e: int, schema: Schema) -> Condition:
    condition = Condition.from_edge(layer, e)
    if layer.n_factors > 1 and layer.source[e] < len(schema):
        column = schema.columns[int(layer.source[e])]
        return condition.trim(column.low, column.high)
    return condition


def _sort_ends(edges: list[Edge]) -> list[Edge]:
    """Put lower ends before upper ones."""
    return sorted(edges, key=lambda edge: -edge.w)


# ---- weighing anew ----


def _weigh_anew(model: Model, crisp: Model, rows: NDArray[Any]) -> Model:
    """Let every function of the last layer add what it is on average, on and off."""
    last = crisp.layers[-1]
    if last.alpha is None or last.aggregation != "sum":
        raise ModelError("expected a last layer that adds weighted functions to weigh them anew")
    if not len(last.alpha):
        return crisp
    soft, hard = (
        open_functions(part.schema, part.layers[:-1], part.layers[-1]).score_rows(rows)
        for part in (model, crisp)
    )
    off, on = (_average(soft, hard == value, value) for value in (0.0, 1.0))
    centre = last.offsets.copy()
    np.subtract.at(centre, last.target, last.alpha * off)
    alpha = last.alpha * (on - off)
    decimals = _find_decimals(alpha)
    last = last.replace(alpha=alpha.round(decimals), centre=centre.round(decimals))
    return Model(crisp.schema, [*crisp.layers[:-1], last], crisp.output)


def _average(values: Floats, chosen: NDArray[np.bool_], fallback: float) -> Floats:
    """Return the mean of the chosen values of each column; where there are none, the fallback."""
    counts = chosen.sum(axis=0)
    sums = np.where(chosen, values, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), fallback)


def _find_decimals(alpha: Floats) -> int:
    """Return how many decimals leave four digits of the largest weight."""
    largest = float(np.abs(alpha).max())
    return 3 - math.floor(math.log10(largest)) if largest > 0.0 else 0


def _read_some(model: Model, X: ArrayLike) -> NDArray[Any]:
    rows = model.read(X)
    if not len(rows):
        raise InputError("expected at least one row, got none")
    return rows


# ---- measuring ----


@dataclass(frozen=True)
class Disagreement:
    """A row on which the two networks differ.

    ``soft`` and ``crisp`` are what the two predict for ``label``: for classes its probability,
    where ``label`` is the second of two classes, or of several the one for which they differ
    most; for regression the number, where it is the target for which they differ most.
    """

    row: int
    label: Label
    soft: float
    crisp: float
    same_class: bool = True

    @property
    def difference(self) -> float:
        """How far the two numbers are apart."""
        return abs(self.soft - self.crisp)


@dataclass(frozen=True)
class Fidelity:
    """How well a crisp network stands for a soft one on some rows.

    It says of these rows alone, and of no others.

    Parameters
    ----------
    n_rows : int
    n_equal : int, optional
        Rows with the same class; None for regression.
    r2 : float, optional
        R² of the crisp numbers against the soft ones; None for classes.
    largest : float
        The largest difference of a probability, or of a number.
    worst : tuple of Disagreement
        The rows furthest apart, the furthest first; at most as many as were requested.

    Examples
    --------
    >>> fidelity = Fidelity(n_rows=4, n_equal=3, r2=None, largest=0.2, worst=())
    >>> fidelity.fraction, fidelity.summary
    (0.75, '75 % faithful')
    """

    n_rows: int
    n_equal: int | None
    r2: float | None
    largest: float
    worst: tuple[Disagreement, ...]

    @property
    def fraction(self) -> float:
        """The fraction of rows with the same class; R² for regression."""
        if self.n_equal is not None:
            return self.n_equal / self.n_rows
        return 0.0 if self.r2 is None else self.r2

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data.

        Returns
        -------
        dict
        """
        return asdict(self)

    @property
    def summary(self) -> str:
        """How faithful the crisp network is, in a few words."""
        rounded = min(round(self.fraction, 3), 1.0 if self.fraction >= 1.0 else 0.999)
        if self.n_equal is None:
            return f"R² {format_rounded(rounded)}"
        return f"{100 * rounded:.4g} % faithful"

    @property
    def agreement(self) -> str:
        """What was compared, and on how many rows."""
        rows = format_count(self.n_rows, "row", separator="")
        if self.n_equal is None:
            against = "the predictions of the crisp network against those of the network"
            return f"{against} on {rows}"
        equal = "the crisp network gives the class of the network"
        return f"{equal} on {self.n_equal} of {rows}"

    def __str__(self) -> str:
        return f"{self.summary}: {self.agreement}; {self._describe_worst()}"

    def _describe_worst(self) -> str:
        if self.largest == 0.0:
            return "no row differs"
        if not self.worst:
            return f"largest difference {format_rounded(self.largest)}"
        of = "" if self.n_equal is None else "probability of "
        rows = [
            f"row {d.row} ({of}{d.label}: {format_rounded(d.soft)}, "
            f"crisp {format_rounded(d.crisp)})"
            for d in self.worst[:_SHOWN]
        ]
        return f"furthest apart: {', '.join(rows)}"


def measure_fidelity(
    model: Model, crisp: Model, X: ArrayLike, *, n_worst: int = _WORST
) -> Fidelity:
    """Measure on rows how well a crisp network stands for a soft one.

    Parameters
    ----------
    model, crisp : Model
        The network, and the crisp one made from it; they have the same columns and outputs.
    X : table
        Rows as for ``model.predict``.
    n_worst : int, default=10
        How many of the rows furthest apart are kept.

    Returns
    -------
    Fidelity

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> slope = Layer("sigmoid", "sum", "identity", 1, target=[0], source=[0],
    ...               w=[[0.2]], b=[[54.0]], alpha=[4.0], centre=[1.0])
    >>> model = Model(Schema((Column("age", 20.0, 80.0),)), [slope], Classes(("well", "ill")))
    >>> rows = [[30.0], [50.0], [60.0]]
    >>> print(measure_fidelity(model, model.crisp(), rows, n_worst=1))
    66.7 % faithful: the crisp network gives the class of the network on 2 of 3 rows;
    furthest apart: row 1 (probability of ill: 0.56, crisp 0.269)
    """
    if (model.schema.names, model.output) != (crisp.schema.names, crisp.output):
        raise ModelError("expected two models of the same columns and outputs to compare")
    rows = _read_some(model, X)
    pair = model.score_rows(rows), crisp.score_rows(rows)
    if isinstance(model.output, Classes):
        return _compare_classes(model.output, *pair, n_worst)
    return _compare_numbers(model.output.names, *pair, n_worst)


def _compare_classes(output: Classes, soft: Floats, crisp: Floats, n_worst: int) -> Fidelity:
    equal = output.choose(soft) == output.choose(crisp)
    n = len(output.labels) if output.is_ordered else output.n_scores  # of two the second one
    parts = [output.predict_proba(scores)[:, -n:] for scores in (soft, crisp)]
    worst = _find_worst(output.labels[-n:], parts[0], parts[1], equal, n_worst)
    largest = float(np.abs(parts[0] - parts[1]).max())
    return Fidelity(len(soft), int(equal.sum()), None, largest, worst)


def _compare_numbers(names: Sequence[str], soft: Floats, crisp: Floats, n_worst: int) -> Fidelity:
    worst = _find_worst(names, soft, crisp, np.ones(len(soft), bool), n_worst)
    largest = float(np.abs(soft - crisp).max())
    return Fidelity(len(soft), None, score_r2(soft, crisp), largest, worst)


def _find_worst(
    labels: Sequence[Label], soft: Floats, crisp: Floats, equal: NDArray[np.bool_], n_worst: int
) -> tuple[Disagreement, ...]:
    """Return the rows that differ, the largest difference first, of equals the first row."""
    apart = np.abs(soft - crisp)
    at = apart.argmax(axis=1)
    order = np.argsort(-apart.max(axis=1), kind="stable")[:n_worst]
    return tuple(
        Disagreement(i, labels[k], float(soft[i, k]), float(crisp[i, k]), bool(equal[i]))
        for i, k in zip(order.tolist(), at[order].tolist(), strict=True)
        if apart[i, k] > 0.0
    )


def score_r2(truth: Floats, predicted: Floats) -> float:
    """Return the mean R² of the targets; where one is constant, 1 if it is hit and else 0."""
    left = ((truth - predicted) ** 2).sum(axis=0)
    total = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    flat = np.where(left > 0.0, 0.0, 1.0)
    return float(np.where(total > 0.0, 1.0 - left / np.where(total > 0.0, total, 1.0), flat).mean())
