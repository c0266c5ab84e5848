"""One fit of the engine, from a table to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from newron.engine.additive import Additive, fit_additive
from newron.engine.binning import BinnedTable, bin_table
from newron.engine.description import describe_columns
from newron.engine.likelihood import Likelihood
from newron.engine.result import EngineFit, Sample
from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.output import Classes, Output
from newron.objectives import Objective, choose_objective
from newron.tables.field import Field

__all__ = ["PROCESSING", "Options", "fit"]

PROCESSING = ("smooth", "sigmoid", "tanh_prod", "heaviside")
_SAMPLE = 12_000  # rows on which weights are refitted


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
    n_threads : int
        They change no result.
    progress : callable, optional
        Called with the name of each stage as it begins, and with "" between its rounds. What
        it raises ends the fit.

    Examples
    --------
    >>> Options(processing="sigmoid", directions=(1, 0)).has_directions
    True
    """

    processing: str = "smooth"
    tolerance: float = 0.05
    pairs: bool = True
    directions: tuple[int, ...] = ()
    n_threads: int = 1
    progress: Callable[[str], None] | None = None

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
    y = np.asarray(y, np.float64).reshape(len(X), -1)
    if weight is not None and np.any(weight == 0.0):
        there = np.flatnonzero(weight)
        X, y, weight = X[there], y[there], weight[there]
        count = None if count is None else count[there]
    rows = _weigh(y, output, weight, class_weight)
    with _blas().limit(limits=1):
        fine = not isinstance(output, Classes)
        table = bin_table(X, rows, fields, fine=fine, n_threads=options.n_threads)
        objective = choose_objective(output)
        scale = objective.learn_scale(y, rows)
        targets = objective.encode_targets(objective.scale_targets(y, scale))
        likelihoods = _make_likelihoods(objective, targets, rows, count)
        parts = tuple(_fit_part(table, likelihood, options) for likelihood in likelihoods)
        schema = describe_columns(fields, table, X, ranks=options.processing != "heaviside")
        sample = Sample.take(X, _SAMPLE)
        made = EngineFit(parts, schema, output, scale, sample, options.processing)
        return replace(made, model=made.compress(options.tolerance))


def _make_likelihoods(
    objective: Objective, targets: Floats, weight: Floats, count: Floats | None
) -> list[Likelihood]:
    """Return one likelihood for all classes, or one for each of several targets."""
    alone = objective.split()
    if len(alone) == 1:
        return [Likelihood(alone[0], targets, weight, count)]
    return [Likelihood(each, targets[:, k : k + 1], weight, count) for k, each in enumerate(alone)]


def _fit_part(table: BinnedTable, likelihood: Likelihood, options: Options) -> Additive:
    return fit_additive(
        table,
        likelihood,
        pairs=options.pairs and options.processing != "heaviside",
        directions=options.directions if options.has_directions else (),
        n_threads=options.n_threads,
        stage=options.progress,
    )


_controller: list[ThreadpoolController] = []


def _blas() -> Any:
    """Return the control of BLAS, whose threads would change the last digits."""
    if not _controller:
        _controller.append(ThreadpoolController())
    return _controller[0].select(user_api="blas")


def _weigh(y: Floats, output: Output, weight: Floats | None, class_weight: Floats | None) -> Floats:
    """Return the weights of rows.

    Weights of less than 1 on average cannot count rows: they are scaled to a mean of 1.
    Class weights leave the sum as it is.
    """
    weights = np.ones(len(y)) if weight is None else np.array(weight, np.float64)
    weights *= max(1.0, len(weights) / max(float(weights.sum()), 1e-300))
    if class_weight is not None and isinstance(output, Classes):
        weighed = weights * class_weight[y[:, 0].astype(np.intp)]
        weights = weighed * (weights.sum() / max(float(weighed.sum()), 1e-300))
    return weights
