"""One fit of the engine, from a table to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from newron.engine.additive import Additive, fit_additive
from newron.engine.assembly import assemble
from newron.engine.binning import BinnedTable, Bins, NumberBins, bin_table
from newron.engine.compression import Compression, compress
from newron.engine.network import Network
from newron.engine.objective import make_objective
from newron.engine.refitting import refit_weights
from newron.engine.scales import make_scales
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.model.schema import Column, Schema
from newron.tables.field import Field

__all__ = ["EngineFit", "Options", "fit"]

_FEW_VALUES = 20


@dataclass(frozen=True)
class Options:
    """What a fit of the engine is asked for.

    Parameters
    ----------
    processing : {"smooth", "sigmoid", "tanh_prod"}
        Of which functions the network consists; smooth takes sigmoids and, where they are
        nearer to a curve, products of two tanh.
    tolerance : float
        How near the network comes to the curves, in parts of their own uncertainty.
    pairs : bool
        Whether hidden neurons may read pairs of columns.
    n_threads : int
        They change no result.
    progress : callable, optional
        Called with the name of each stage as it begins, and with "" between its rounds. What
        it raises ends the fit.
    """

    processing: str = "smooth"
    tolerance: float = 0.05
    pairs: bool = True
    n_threads: int = 1
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True, eq=False)
class EngineFit:
    """A model, and the additive model on bins that it was made of."""

    model: Model
    additive: Additive
    schema: Schema
    output: Output
    target_shift: Floats
    target_scale: Floats
    rows: Floats  # some of the training rows, and where they are
    index: NDArray[np.intp]

    def compress(self, settings: Compression) -> Model:
        """Return the model of other tolerances."""
        networks = compress(self.additive, settings)
        scaled = [
            _scale_network(network, float(shift), float(scale))
            for network, shift, scale in zip(
                networks, self.target_shift, self.target_scale, strict=True
            )
        ]
        made = assemble(scaled, self.schema, self.output)
        scores = self.additive.scores[:, self.index] * self.target_scale[:, None]
        curvature = [
            self.additive.objective.differentiate(self.additive.scores, k)[1][self.index]
            for k in range(len(networks))
        ]
        return refit_weights(
            made,
            self.rows,
            scores + self.target_shift[:, None],
            np.stack(curvature) / self.target_scale[:, None] ** 2,
            self.additive.directions,
        )


def fit(
    X: Floats,
    y: Floats,
    output: Output,
    fields: Sequence[Field],
    *,
    weight: Floats | None = None,
    class_weight: Floats | None = None,
    options: Options | None = None,
) -> EngineFit:
    """Fit a network by the engine on bins.

    Parameters
    ----------
    X : float array of shape (rows, columns)
        Categories are their numbers and missing values NaN.
    y : float array of shape (rows,) or (rows, targets)
        Class numbers, or regression targets.
    output : Classes or Targets
    fields : sequence of Field
        The columns.
    weight, class_weight : float arrays, optional
        Of rows and of classes.
    options : Options, optional

    Returns
    -------
    EngineFit
    """
    options = Options() if options is None else options
    X = np.ascontiguousarray(X, np.float64)
    y = np.asarray(y, np.float64).reshape(len(X), -1)
    if weight is not None and np.any(weight == 0.0):
        there = np.flatnonzero(weight)
        X, y, weight = X[there], y[there], weight[there]
    row_weight = _weigh(y, output, weight, class_weight)
    with _blas().limit(limits=1):
        fine = not isinstance(output, Classes)
        table = bin_table(X, row_weight, fields, fine=fine, n_threads=options.n_threads)
        shift, scale = _scale_targets(y, row_weight, output)
        objective = make_objective(output, (y - shift) / scale, row_weight)
        additive = fit_additive(
            table,
            objective,
            pairs=options.pairs,
            n_threads=options.n_threads,
            stage=options.progress,
        )
        schema = _describe_columns(fields, table, X)
        index = np.arange(len(X))
        if len(X) > 12000:
            index = np.sort(np.random.default_rng(4).choice(len(X), 12000, replace=False))
        made = EngineFit(
            Model.__new__(Model), additive, schema, output, shift, scale, X[index], index
        )
        settings = Compression(options.tolerance, options.processing != "sigmoid")
        return replace(made, model=made.compress(settings))


_controller: list[ThreadpoolController] = []


def _blas() -> Any:
    """Return the control of BLAS, whose threads would change the last digits."""
    if not _controller:
        _controller.append(ThreadpoolController())
    return _controller[0].select(user_api="blas")


def _weigh(y: Floats, output: Output, weight: Floats | None, class_weight: Floats | None) -> Floats:
    """Return the weights of rows.

    A weight of two is a row twice. Weights of less than 1 on average cannot count rows: they
    are scaled to a mean of 1. Class weights leave the sum as it is.
    """
    weights = np.ones(len(y)) if weight is None else np.array(weight, np.float64)
    there = int(np.sum(weights > 0.0))
    weights *= max(1.0, there / max(float(weights.sum()), 1e-300))
    if class_weight is not None and isinstance(output, Classes):
        weighed = weights * class_weight[y[:, 0].astype(np.intp)]
        weights = weighed * (weights.sum() / max(float(weighed.sum()), 1e-300))
    return weights


def _scale_targets(y: Floats, weight: Floats, output: Output) -> tuple[Floats, Floats]:
    if isinstance(output, Classes):
        return np.zeros(output.n_scores), np.ones(output.n_scores)
    part = weight / weight.sum()
    size = np.maximum(np.abs(y).max(axis=0), 1e-300)
    mean = part @ (y / size)
    spread = np.sqrt(part @ (y / size - mean) ** 2)
    return mean * size, np.where(spread > 1e-14, spread, 1.0) * size


def _scale_network(network: Network, shift: float, scale: float) -> Network:
    """Return a network in the units of its target."""
    if (shift, scale) == (0.0, 1.0):
        return network
    return Network(
        network.constant * scale + shift,
        [replace(f, weight=f.weight * scale) for f in network.functions],
        [replace(n, weight=n.weight * scale) for n in network.neurons],
    )


def _describe_columns(fields: Sequence[Field], table: BinnedTable, X: Floats) -> Schema:
    bins = {bins.source: bins for bins in table.columns}
    gaps = [bool(np.isnan(column).any()) for column in X.T]
    columns = [
        _describe_column(field, bins[source], gaps[source]) for source, field in enumerate(fields)
    ]
    return Schema(tuple(columns))


def _describe_column(field: Field, bins: Bins, gaps: bool) -> Column:
    if not isinstance(bins, NumberBins):
        high = max(len(field.categories or ()) - 1.0, 0.0)
        return Column(field.name, 0.0, high, categories=field.categories, gaps=gaps)
    if not np.any(bins.mass[:-1] > 0.0):
        return Column(field.name, 0.0, 0.0, gaps=True)
    scales = make_scales(bins)
    low, high = float(bins.lows.min()), float(bins.highs.max())
    values = _list_values(bins.lows, bins.highs)
    return Column(field.name, low, high, values, rank_scale=scales[-1].rank, gaps=gaps)


def _list_values(lows: Floats, highs: Floats) -> tuple[float, ...] | None:
    """Return a column's values where they are few and whole."""
    few = len(lows) <= _FEW_VALUES and np.array_equal(lows, highs)
    return tuple(lows.tolist()) if few and np.all(lows == np.round(lows)) else None
