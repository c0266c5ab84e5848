"""One fit of the engine, from a table to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from newron.engine.additive import Additive, extend_pairs, fit_additive, scan_pairs
from newron.engine.binning import (
    BinnedTable,
    RawBlock,
    RawWeights,
    TermBins,
    bin_blocks,
    learn_columns,
)
from newron.engine.blas import use_one_thread
from newron.engine.calibration import calibrate
from newron.engine.description import describe_columns
from newron.engine.likelihood import STATISTICS_ROWS, Likelihood, Sought, weigh_sample
from newron.engine.result import EngineFit, Sample
from newron.engine.rows import BLOCK_ROWS, Block, MemoryRows, Rows, Values, cut_rows
from newron.engine.terms import TermColumns
from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.output import Classes, Output
from newron.objectives import Objective, Ordinal, TargetScale, choose_objective
from newron.tables.field import Field

PROCESSING = ("smooth", "sigmoid", "tanh_prod", "heaviside")
REFIT_SAMPLE = 12_000, 4  # rows on which weights are refitted, and the seed of their choice
_SEED = 7


@dataclass(frozen=True)
class Options:
    """Options of a fit of the engine.

    Parameters
    ----------
    processing : {"smooth", "sigmoid", "tanh_prod", "heaviside"}
        Of which functions the network consists; smooth takes sigmoids and, where they are
        nearer to a curve, products of two tanh.
    tolerance : float
        How near the network comes to the curves, in parts of their own uncertainty.
    pairs : bool
        Whether hidden neurons may read pairs of columns.
    directions : tuple of int
        For each column 1 where scores may only rise with it, -1 fall, 0 for either; empty
        where all are free.
    limits : bool
        Whether the limits of ordered classes are found together with the curves.
    terms : TermColumns, optional
        Terms of several columns that the network has beside curves and pairs.
    n_threads : int
        They change no result.
    progress : callable, optional
        Called with the name of each stage as it begins, and with "" between its rounds. What
        it raises ends the fit.
    block_rows : int
        Rows of a block, of those in memory. Sums are added in the order of blocks, so that
        another number changes last digits; tests have small ones.

    Examples
    --------
    >>> Options(processing="sigmoid", directions=(1, 0)).has_directions
    True
    """

    processing: str = "smooth"
    tolerance: float = 0.05
    pairs: bool = True
    directions: tuple[int, ...] = ()
    limits: bool = False
    terms: TermColumns | None = None
    n_threads: int = 1
    progress: Callable[[str], None] | None = None
    block_rows: int = BLOCK_ROWS

    def __post_init__(self) -> None:
        """Check the kind of functions."""
        if self.processing not in PROCESSING:
            known = ", ".join(PROCESSING)
            raise InputError(f"expected processing among {known}, got {self.processing!r}")

    @property
    def has_directions(self) -> bool:
        """Whether a column has a direction."""
        return any(self.directions)


def fit(
    X: Floats,
    y: Floats,
    output: Output,
    fields: Sequence[Field],
    *,
    weight: Floats | None = None,
    count: Floats | None = None,
    class_weight: Floats | None = None,
    options: Options | None = None,
) -> EngineFit:
    """Fit a network by the engine on bins.

    Nothing is random, and threads change no bit. A weight of two is a row twice; equal rows
    that are merged make a fit cheaper.

    Parameters
    ----------
    X : ndarray of shape (rows, columns)
        In float64; categories are their codes and missing values NaN.
    y : ndarray of shape (rows,) or (rows, targets)
        Class numbers, or regression targets.
    output : Classes or Targets
    fields : sequence of Field
        The columns.
    weight : ndarray of shape (rows,), optional
    count : ndarray of shape (rows,), optional
        How many rows each stands for where that is not its weight.
    class_weight : ndarray of shape (classes,), optional
    options : Options, optional

    Returns
    -------
    EngineFit

    Examples
    --------
    >>> from newron.model import Classes
    >>> X = np.linspace(0.0, 10.0, 200)[:, None]
    >>> found = fit(X, (X[:, 0] > 6.0).astype(float), Classes(("low", "high")), [Field("x")])
    >>> found.model.predict([[2.0], [8.0]]).tolist()
    ['low', 'high']
    """
    options = Options() if options is None else options
    X = np.ascontiguousarray(X, np.float64)
    if options.terms is not None:
        X, fields = options.terms.add(X), [*fields, *options.terms.fields]
    y = np.asarray(y, np.float64).reshape(len(X), -1)
    weights = np.ones(len(X)) if weight is None else np.asarray(weight, np.float64)
    if np.any(weights == 0.0):
        there = np.flatnonzero(weights)
        X, y, weights = X[there], y[there], weights[there]
        count = None if count is None else count[there]
    blocks = [
        RawBlock(X[at], y[at], weights[at], None if count is None else count[at])
        for at in cut_rows(len(X), options.block_rows)
    ]
    raw = MemoryRows(blocks, options.n_threads)
    return fit_rows(raw, output, fields, class_weight=class_weight, options=options)


def fit_rows(
    raw: Rows,
    output: Output,
    fields: Sequence[Field],
    *,
    class_weight: Floats | None = None,
    options: Options,
) -> EngineFit:
    """Fit a network to rows in blocks (of RawBlock), wherever these are kept."""
    with use_one_thread():
        fine = not isinstance(output, Classes)
        weights, total = _weigh(raw, output, class_weight)
        columns = learn_columns(raw, fields, weights, total, fine=fine)
        if options.terms is not None:
            n = options.terms.n_inputs
            columns = [TermBins.mark(bins) if bins.source >= n else bins for bins in columns]
            fields = fields[:n]
        sample = Sample.take(raw, weights, *REFIT_SAMPLE)
        table, y, count, gaps = bin_blocks(raw, columns, weights, options.n_threads)
        objective = choose_objective(output)
        if isinstance(objective, Ordinal):
            objective = replace(objective, free=options.limits)
        scale = _learn_scale(objective, table, y)
        objective = objective.settle(scale)
        targets = table.rows.make_one(partial(_encode, objective, scale), y)
        likelihoods = _make_likelihoods(objective, table, targets, count)
        parts = tuple(_fit_part(table, likelihood, options) for likelihood in likelihoods)
        schema = describe_columns(fields, table, gaps, ranks=options.processing != "heaviside")
        output = _take_limits(output, parts[0].likelihood.objective)
        return EngineFit(
            parts,
            schema,
            output,
            scale,
            sample,
            options.processing,
            options.tolerance,
            options.terms,
        )


def _take_limits(output: Output, objective: Objective) -> Output:
    """Return ordered classes with the limits that were found; others as they are."""
    if isinstance(output, Classes) and isinstance(objective, Ordinal):
        return output.with_limits(objective.limits)
    return output


def _learn_scale(objective: Objective, table: BinnedTable, y: Values) -> TargetScale:
    some = table.rows.sample(STATISTICS_ROWS, _SEED)
    return objective.learn_scale(
        table.rows.take(some, y), weigh_sample(table.rows, some, table.weight)
    )


def _encode(objective: Objective, scale: TargetScale, block: Block, y: Floats) -> Floats:
    del block
    return objective.encode_targets(objective.scale_targets(y, scale))


def _make_likelihoods(
    objective: Objective, table: BinnedTable, targets: Values, count: Values
) -> list[Likelihood]:
    """Return one likelihood for all classes, or one for each of several targets."""
    alone, rows = objective.split(), table.rows
    if len(alone) == 1:
        return [Likelihood(alone[0], rows, Sought(targets, table.weight, count))]
    return [
        Likelihood(
            each,
            rows,
            Sought(rows.make_one(partial(_take_target, k), targets), table.weight, count),
        )
        for k, each in enumerate(alone)
    ]


def _take_target(k: int, block: Block, targets: Floats) -> Floats:
    del block
    return targets[:, k : k + 1]


def _fit_part(table: BinnedTable, likelihood: Likelihood, options: Options) -> Additive:
    model = fit_additive(
        table,
        likelihood,
        pairs=options.pairs,
        directions=options.directions if options.has_directions else (),
        n_threads=options.n_threads,
        stage=options.progress,
    )
    return _calibrate(model, options)


def _calibrate(model: Additive, options: Options) -> Additive:
    objective = model.likelihood.objective
    if model.is_few and model.at.groups and objective.stratified and not objective.follows:
        return calibrate(model, options.progress)
    return model


def has_pairs(fitted: EngineFit) -> bool:
    """Return whether pairs of columns stand out beyond a fit of curves."""
    with use_one_thread():
        return any(scan_pairs(part.copy()) for part in fitted.parts)


def extend(fitted: EngineFit, options: Options) -> EngineFit:
    """Add pairs of columns to a fit of curves, which stays as it is."""
    parts = []
    with use_one_thread():
        for part in fitted.parts:
            model = part.copy()
            extend_pairs(model, stage=options.progress)
            parts.append(_calibrate(model, options))
    return replace(fitted, parts=tuple(parts))


def _weigh(raw: Rows, output: Output, class_weight: Floats | None) -> tuple[RawWeights, float]:
    """Return how rows are weighed, and the summed weight of all.

    Weights of less than 1 on average cannot count rows: they are scaled to a mean of 1.
    Class weights leave the sum as it is.
    """
    by_class = class_weight if isinstance(output, Classes) else None
    if by_class is None and raw.is_unweighed:
        return RawWeights(), float(raw.n_rows)
    total, weighed = raw.total(partial(_sum_weights, by_class))
    factor = max(1.0, raw.n_rows / max(total, 1e-300))
    if by_class is None:
        return RawWeights(factor), factor * total
    return RawWeights(factor, by_class, total / max(weighed, 1e-300)), factor * total


def _sum_weights(by_class: Floats | None, block: RawBlock) -> tuple[float, float]:
    """Return the summed weights of a block, without and with those of classes."""
    weighed = RawWeights(1.0, by_class).weigh(block)
    return float(block.weight.sum()), float(weighed.sum())
