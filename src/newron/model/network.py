"""Layers as plain arrays, and what they compute.

A layer is a list of functions (edges). Function e of a layer reads the signal
``source[e]`` and adds to the neuron ``target[e]``. Signals are numbered: the
inputs first, then the neurons of each layer in order, so that any layer may
read any earlier signal. b is a place on the axis of what the function reads, in
the column's own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.aggregation import (
    AnyActivation,
    AnyAggregation,
    activate,
    check_activation,
    check_aggregation,
    combine,
    finish,
    get_reduction,
    transform,
)
from newron.model.arithmetic import Floats
from newron.model.processing import get_processing
from newron.model.schema import Schema
from newron.neurons.builtin import PROCESSING
from newron.neurons.processing import MAX_PARAMETER, Processing
from newron.tables.field import LARGEST_INPUT

Integers = NDArray[np.int32]

# How large numbers may be, so that no sum or difference overflows.
_MOST = {"w": 1e300, "b": 1e300, "alpha": 1e100, "centre": 1e100}

# Weights of so many decimals, and with sums so large, are added as whole numbers.
_MOST_DECIMALS = 15
_MOST_WHOLE = 2.0**50


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of generalized neurons.

    Parameters
    ----------
    processing : str or Processing
        h by its name, or one of your own (:func:`newron.neurons.processing`).
    aggregation, activation : str, Aggregation or Activation
        G and f, by their names or of your own.
    n_neurons : int
    target, source : int arrays of shape (n_functions,)
        The neuron that a function belongs to (not decreasing), and the signal
        that it reads.
    w, b : float arrays of shape (n_functions, n_factors)
    rank : bool array of shape (n_functions,), optional
        Whether the function reads its input on the rank scale.
    alpha : float array of shape (n_functions,), optional
        The weights of the last layer.
    centre : float array of shape (n_neurons,), optional
        f(z - centre).
    missing : float array of shape (n_functions,), optional
        h of a missing value in the column; 0 by default.
    levels : sequence of float arrays, optional
        For each function that reads categories, h of each of them; empty for
        functions of numbers.
    parameters : float array of shape (n_functions, n_parameters), optional
        Further parameters of functions of your own; their starts by default.

    Examples
    --------
    One neuron that adds 2 where the first column is at least 54:

    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.0]], alpha=[2.0])
    >>> layer.n_factors, layer.replace(alpha=[3.0]).alpha.tolist()
    (1, [3.0])
    """

    processing: str | Processing
    aggregation: AnyAggregation
    activation: AnyActivation
    n_neurons: int
    target: Integers
    source: Integers
    w: Floats
    b: Floats
    # What is left out is filled in: a layer that is made has an array.
    rank: NDArray[np.bool_] = None  # type: ignore[assignment]
    alpha: Floats | None = None
    centre: Floats | None = None
    missing: Floats = None  # type: ignore[assignment]
    levels: Sequence[Floats] = ()
    parameters: Floats = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Freeze the arrays and check that they fit together."""
        function = get_processing(self.processing)
        object.__setattr__(self, "aggregation", check_aggregation(self.aggregation))
        object.__setattr__(self, "activation", check_activation(self.activation))
        self._freeze("target", np.int32)
        self._freeze("source", np.int32)
        self._freeze("w", np.float64)
        self._freeze("b", np.float64)
        if self.rank is None:
            object.__setattr__(self, "rank", np.zeros(len(self.target), bool))
        self._freeze("rank", np.bool_)
        self._freeze("alpha", np.float64)
        self._freeze("centre", np.float64)
        if self.missing is None:
            object.__setattr__(self, "missing", np.zeros(len(self.target)))
        self._freeze("missing", np.float64)
        levels = self.levels if len(self.levels) else [()] * len(self.target)
        object.__setattr__(self, "levels", tuple(_freeze(values) for values in levels))
        if isinstance(self.processing, Processing) and self.w.ndim == 2:
            own = function.with_factors(self.w.shape[1])
            built_in = PROCESSING.get(function.name) is function
            object.__setattr__(self, "processing", function.name if built_in else own)
        if self.parameters is None or not function.parameters:
            starts = [start for _, start in function.parameters]
            object.__setattr__(self, "parameters", np.tile(starts, (len(self.target), 1)))
        self._freeze("parameters", np.float64)
        self._check()

    def _freeze(self, name: str, dtype: Any) -> None:
        value = getattr(self, name)
        if value is not None:
            array = np.array(value, dtype=dtype)
            if dtype is np.float64:
                array += 0.0  # turns -0.0 into 0.0, its equal
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _check(self) -> None:
        n = len(self.target)
        functions = self.function
        if self.n_neurons < 1:
            raise ModelError(f"a layer needs a neuron, got {self.n_neurons}")
        if self.w.ndim != 2 or self.w.shape != self.b.shape or self.w.shape[1] < 1:
            raise ModelError(
                f"w and b need one row for each function, got {self.w.shape} and {self.b.shape}"
            )
        if self.w.shape[1] != 1 and not functions.many_factors:
            raise ModelError(f"{self.processing} has one factor, got {self.w.shape[1]}")
        shapes = {
            "source": self.source.shape,
            "rank": self.rank.shape,
            "missing": self.missing.shape,
            "levels": (len(self.levels),),
        }
        if self.alpha is not None:
            shapes["alpha"] = self.alpha.shape
        for name, shape in {**shapes, "w": self.w.shape[:1]}.items():
            if shape != (n,):
                raise ModelError(f"{name} needs one entry for each of {n} functions, got {shape}")
        if self.centre is not None and self.centre.shape != (self.n_neurons,):
            raise ModelError(f"centre needs one entry for each neuron, got {self.centre.shape}")
        if n and (self.target.min() < 0 or self.target.max() >= self.n_neurons):
            raise ModelError(f"target must name neurons 0 to {self.n_neurons - 1}")
        if np.any(np.diff(self.target) < 0):
            raise ModelError("the functions of a layer must lie neuron by neuron")
        shape = (n, len(functions.parameters))
        if self.parameters.shape != shape or not np.all(np.abs(self.parameters) <= MAX_PARAMETER):
            raise ModelError(
                f"{self.processing}: expected parameters of shape {shape}, within "
                f"±{MAX_PARAMETER:g}, got shape {self.parameters.shape}"
            )
        for name in ("w", "b", "alpha", "centre"):
            values = getattr(self, name)
            # Written so that NaN fails as well.
            if values is not None and not np.all(np.abs(values) <= _MOST[name]):
                raise ModelError(f"{name} has a value that is not a number within ±{_MOST[name]}")
        self._check_points(functions)

    def _check_points(self, functions: Processing) -> None:
        """Check values of functions for missing values and categories."""
        for values in (self.missing, *filter(len, self.levels)):
            if not np.all(np.abs(values) <= _MOST["alpha"]):
                raise ModelError(f"a level is not a number within ±{_MOST['alpha']}")
            if functions.bounded and not np.all((values >= 0.0) & (values <= 1.0)):
                raise ModelError(f"{self.processing}: expected levels from 0 to 1")
            if functions.crisp and not np.all((values == 0.0) | (values == 1.0)):
                raise ModelError(f"{self.processing}: expected levels that are 0 or 1")

    def process(
        self, x: Floats, b: Floats, edges: NDArray[np.integer[Any]] | slice | None = None
    ) -> Floats:
        """Return h(x) of some functions, by default of all.

        Parameters
        ----------
        x : array of shape (n_rows, n_functions)
            What they read; missing values and categories are not looked at.
        b : array of shape (n_functions, n_factors)
            Positions of these functions, on the scale of x.
        edges : array of int, or slice, optional
            Which functions.

        Returns
        -------
        array of shape (n_rows, n_functions)
        """
        chosen = slice(None) if edges is None else edges
        return self.function.value(x, self.w[chosen], b, self.parameters[chosen])

    @property
    def n_factors(self) -> int:
        """M: the number of pairs w, b of each function."""
        return int(self.w.shape[1])

    @cached_property
    def begin(self) -> Integers:
        """The first function of each neuron, and the end."""
        ends = np.searchsorted(self.target, np.arange(self.n_neurons + 1)).astype(np.int32)
        ends.flags.writeable = False
        return ends

    @property
    def function(self) -> Processing:
        """The processing function h, also where ``processing`` is its name."""
        return get_processing(self.processing)

    @cached_property
    def weights(self) -> Floats:
        """``alpha``, or 1 for each function where a layer has none."""
        return _freeze(np.ones(len(self.source))) if self.alpha is None else self.alpha

    @cached_property
    def offsets(self) -> Floats:
        """``centre``, or 0 for each neuron where a layer has none."""
        return _freeze(np.zeros(self.n_neurons)) if self.centre is None else self.centre

    def list_edges(self, neuron: int) -> range:
        """Return the numbers of a neuron's functions.

        Parameters
        ----------
        neuron : int
            From 0 on.

        Returns
        -------
        range
        """
        return range(int(self.begin[neuron]), int(self.begin[neuron + 1]))

    @cached_property
    def positions(self) -> Integers:
        """Functions by place: row p holds the p-th function of each neuron, or -1."""
        counts = np.diff(self.begin)
        table = np.full((int(counts.max(initial=0)), self.n_neurons), -1, np.int32)
        for j, (first, count) in enumerate(zip(self.begin, counts, strict=False)):
            table[:count, j] = np.arange(first, first + count)
        table.flags.writeable = False
        return table

    @cached_property
    def divisors(self) -> Floats | None:
        """What to divide whole scores by, for each neuron; None where weights are not decimals.

        Where conditions are weighed by short decimals, the network takes these as whole
        numbers and divides at the end. So sums have no rounding, and a tie is a tie in
        whatever order they are added.
        """
        plain = isinstance(self.aggregation, str) and self.aggregation != "product"
        if self.activation != "identity" or not plain:
            return None
        if not self.function.crisp:
            return None
        scale = self._find_scale()
        if scale is None:
            return None
        counts = np.maximum(np.diff(self.begin), 1) if self.aggregation == "mean" else 1.0
        divisors = np.full(self.n_neurons, scale) * counts
        divisors.flags.writeable = False
        return divisors

    def _find_scale(self) -> float | None:
        """Return the power of ten that makes whole numbers of all weights and centres."""
        own = self.weights
        numbers = own if self.centre is None else np.append(own, self.centre)
        most = float(max(len(numbers), 1))
        for digits in range(_MOST_DECIMALS + 1):
            scale = 10.0**digits
            whole = np.round(numbers * scale)
            if np.abs(whole).max(initial=1.0) * most >= _MOST_WHOLE:
                return None
            if np.array_equal(whole / scale, numbers):
                return scale
        return None

    @cached_property
    def scaled(self) -> Layer:
        """The layer with whole numbers for weights: its scores are ``divisors`` times."""
        if self.divisors is None:
            return self
        scale = self._find_scale() or 1.0
        return self.replace(
            aggregation="sum" if self.aggregation == "mean" else self.aggregation,
            alpha=np.round(self.weights * scale),
            centre=None if self.centre is None else np.round(self.centre * self.divisors),
        )

    def replace(self, **changes: Any) -> Layer:
        """Return a copy with some fields changed, as :func:`dataclasses.replace` does.

        Parameters
        ----------
        **changes : any
            New values of parameters of the class.

        Returns
        -------
        Layer
        """
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return Layer(**{**kept, **changes})


def _freeze(values: Any) -> Floats:
    if isinstance(values, np.ndarray) and values.base is None and not values.flags.writeable:
        frozen = values.dtype == np.float64 and values.ndim == 1
        if frozen:  # of another layer
            return values
    array = np.array(values, np.float64).reshape(-1) + 0.0
    array.flags.writeable = False
    return array


def within_limits(rows: NDArray[Any]) -> bool:
    """Return whether all values are missing or numbers that a network can take."""
    # Without a copy of the rows; where all are gaps, so are the least and the greatest.
    low = float(np.fmin.reduce(rows, axis=None))
    high = float(np.fmax.reduce(rows, axis=None))
    return not (low <= -LARGEST_INPUT or high >= LARGEST_INPUT)


def rank_edges(layer: Layer, schema: Schema) -> Floats:
    """Return b as the functions use it: on the rank scale where they read ranks."""
    if not layer.rank.any():
        return layer.b
    b = np.array(layer.b)
    for e in np.flatnonzero(layer.rank):
        scale = schema.columns[layer.source[e]].rank_scale
        if scale is None:
            raise ModelError(f"column {schema.names[layer.source[e]]!r} has no rank scale")
        b[e] = scale.rank(b[e])
    return b


def evaluate(schema: Schema, layers: tuple[Layer, ...], x: Floats) -> Floats:
    """Return the outputs of the last of the layers on rows x.

    This is the definition of what a model means.

    Parts are taken in one by one, in fixed order: so a row's scores do not
    depend on the rows beside it, and the compiled path can match every bit.
    """
    return trace_signals(schema, layers, x)[:, -layers[-1].n_neurons :]


def trace_signals(schema: Schema, layers: tuple[Layer, ...], x: Floats) -> Floats:
    """Return rows x with the value of every neuron behind them, layer by layer."""
    ranks = np.array(x)
    for i, column in enumerate(schema.columns):
        if column.rank_scale is not None:
            ranks[:, i] = column.rank_scale.rank(x[:, i])
    signals = x
    # A product may overflow on its way into a bounded function, and gaps are NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in layers:
            divisors = layer.divisors if layer is layers[-1] else None
            part = layer if divisors is None else layer.scaled
            out = _evaluate_layer(part, schema, signals, ranks)
            if divisors is not None:
                out = out / divisors
            signals = np.concatenate([signals, out], axis=1)
    return signals


def _place_points(layer: Layer, edges: Integers, n_inputs: int, x: Floats, h: Floats) -> Floats:
    """Set the values of functions for what has no order: missing values and categories."""
    for i, e in enumerate(edges):
        if layer.source[e] >= n_inputs:
            continue
        levels = layer.levels[e]
        if len(levels):
            known = (x[:, i] >= 0.0) & (x[:, i] < len(levels))
            h[:, i] = layer.missing[e]
            h[known, i] = levels[x[known, i].astype(np.intp)]
        else:
            h[np.isnan(x[:, i]), i] = layer.missing[e]
    return h


def _evaluate_layer(layer: Layer, schema: Schema, signals: Floats, ranks: Floats) -> Floats:
    reduction = get_reduction(layer.aggregation)
    empty = 1.0 if reduction == "product" else 0.0
    out = np.full((len(signals), layer.n_neurons), empty)
    b = rank_edges(layer, schema)
    for p, edges in enumerate(layer.positions):
        here = np.flatnonzero(edges >= 0)
        e = edges[here]
        x = signals[:, layer.source[e]]
        if layer.rank[e].any():
            on_rank = np.flatnonzero(layer.rank[e])
            x[:, on_rank] = ranks[:, layer.source[e[on_rank]]]
        part = _place_points(layer, e, len(schema), x, layer.process(x, b[e], e))
        if layer.alpha is not None:
            part = part * layer.alpha[e]
        part = transform(layer.aggregation, part)
        out[:, here] = part if p == 0 else combine(layer.aggregation, out[:, here], part)
    if reduction == "mean":
        counts = np.diff(layer.begin)
        out = np.where(counts > 0, out / np.maximum(counts, 1), out)
    out = finish(layer.aggregation, out)
    if layer.centre is not None:
        out = out - layer.centre
    return activate(layer.activation, out)
