"""The strategy "default": the best procedure for the processing function, by validation rows.

Additive networks, with pairs of columns, come from the engine on bins (:mod:`newron.engine`),
which needs no folds. What it cannot express, logic between several columns, is for networks
with a hidden layer that are trained by gradients: these take part only where they win a race
on one split of few rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.training.architecture import SMOOTH, Architecture
from newron.training.binned import fit_binned, keep_quick
from newron.training.context import FitContext
from newron.training.folds import MANY_ROWS, SURE, Fold, is_better, split_folds
from newron.training.gradient import fit_network
from newron.training.recipe import Recipe, choose_decay
from newron.training.specification import FitResult, Specification
from newron.training.strategies.base import Strategy
from newron.training.strategies.growth import is_heaviside, plan_growth
from newron.training.training_set import TrainingSet

__all__ = ["Default"]

_RACE_ROWS = 3_000  # distinct rows of a race
_EPOCHS = 1_000  # of networks with hidden layers
_FEW_EPOCHS = 60  # of trials on many rows


class Default(Strategy):
    """Heaviside: the better of a grown network and one trained by gradients and polished.

    Sigmoid and tanh-prod: curves of columns and of pairs of columns by the engine on bins, or
    a network with hidden layers where that is clearly better; curves of columns alone where
    columns have directions. Others: by gradients.
    """

    def fit(self, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
        """Fit by the best procedure."""
        layers = spec.architecture.layers
        if is_heaviside(spec.architecture):
            return _fit_crisp(data, spec, context)
        smooth = {layer.processing for layer in layers} <= set(SMOOTH) and spec.architecture.adds
        if smooth and any(spec.directions):
            keep_quick(data, spec, context)
            return fit_binned(data, spec, context)
        if smooth and all(layer.n_factors <= 2 for layer in layers):
            return _fit_smooth(data, spec, context)
        return fit_network(data, spec, context)


@dataclass(frozen=True)
class _Candidate:
    """A way to fit, its losses on validation rows, and the networks of the folds."""

    name: str
    losses: Floats
    fit: Callable[[], FitResult]
    trials: Sequence[FitResult] = ()


def _evaluate(
    name: str,
    data: TrainingSet,
    folds: Sequence[Fold],
    spec: Specification,
    context: FitContext,
    train: Callable[[TrainingSet], FitResult],
    fit: Callable[[], FitResult],
) -> _Candidate:
    """Train in each fold, and measure the loss on its validation rows."""
    problem = spec.make_problem(data)
    losses, trials = [], []
    for fold in folds:
        trial = train(data.take(fold.train))
        scores = trial.model.score_rows(data.X[fold.validation.index])
        losses.append(problem.take(fold.validation).measure(problem.scale.apply(scores)))
        trials.append(trial)
    context.evaluated(name, np.array(losses), trials[0])
    return _Candidate(name, np.array(losses), fit, trials)


# ---- steps ----


def _fit_crisp(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    folds = split_folds(data, spec.objective, context.spawn())
    if not folds:
        return fit_network(data, spec, context)
    growth = plan_growth(data, spec, folds, context)
    n_init = 2 if data.n_rows > MANY_ROWS else min(spec.recipe.n_init, 4)
    trial = partial(fit_network, spec=_shorten(spec, n_init, data.n_rows), context=context)
    fit = partial(fit_network, data, spec, context)
    trained = _evaluate("gradient", data, folds, spec, context, trial, fit)
    if is_better(trained.losses, growth.losses):
        return trained.fit()
    grown = growth.fit()
    if is_better(growth.losses, trained.losses):
        return grown
    # A tie: the network that is read in fewer conditions.
    assert grown.path is not None  # noqa: S101 - it was grown
    size = np.mean([trial.model.n_functions for trial in trained.trials])
    return trained.fit() if size < grown.path.n_conditions[-1] else grown


def _shorten(spec: Specification, n_init: int, n_rows: int) -> Specification:
    """Return the specification of a trial: few starts, on many rows few epochs."""
    epochs = spec.recipe.max_iter
    return spec.adjust(
        n_init=n_init, max_iter=min(epochs, _FEW_EPOCHS) if n_rows > MANY_ROWS else epochs
    )


# ---- smooth functions ----


def _fit_smooth(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit by the engine, or a network with hidden layers where a race says so."""
    keep_quick(data, spec, context)
    deep = _race(data, spec, context.fork())
    fit = partial(fit_binned, data, spec, context)
    folds = split_folds(data, spec.objective, context.spawn()) if deep else []
    if not folds:
        return fit()
    train = partial(fit_binned, spec=spec, context=context)
    best = _evaluate("additive, folds", data, folds, spec, context, train, fit)
    for each in deep:
        train = partial(fit_network, spec=each.adjust(n_init=1), context=context)
        fit = partial(fit_network, data, each, context)
        name = f"hidden layer, {each.architecture.layers[-1].processing}, folds"
        whole = _evaluate(name, data, folds, each, context, train, fit)
        best = whole if is_better(whole.losses, best.losses, SURE) else best
    return best.fit()


def _race(data: TrainingSet, spec: Specification, context: FitContext) -> list[Specification]:
    """Return the networks with hidden layers that are clearly better on one split of few rows."""
    kinds = [kind for kind in (spec.architecture, *spec.others) if len(kind.layers) > 1]
    rows = data.take_first(_RACE_ROWS)
    folds = split_folds(rows, spec.objective, context.spawn(), n_used=1) if kinds else []
    if not folds:
        return []
    train, validation = rows.take(folds[0].train), folds[0].validation
    problem = spec.make_problem(rows).take(validation)
    weight = problem.weight / problem.weight.sum()
    n_rows = max(int(validation.count.sum()), 2)

    def measure(name: str, model: Model) -> Floats:
        scores = model.score_rows(rows.X[validation.index])
        losses = problem.measure_rows(problem.scale.apply(scores))
        context.evaluated(name, np.array([weight @ losses]))
        return losses

    aside = context.aside()
    additive = measure("additive", fit_binned(train, spec, aside).model)
    winners = []
    for kind in kinds:
        deep = _allow_hidden(spec, kind, data.n_rows)
        model = fit_network(train, deep.adjust(n_init=1), aside).model
        gain = additive - measure(f"hidden layer, {kind.layers[-1].processing}", model)
        mean = float(weight @ gain)
        error = math.sqrt(float(weight @ (gain - mean) ** 2) / (n_rows - 1))
        if mean > SURE * error:
            winners.append(deep)
    return winners


def _allow_hidden(spec: Specification, kind: Architecture, n_rows: int) -> Specification:
    """Return the specification of a network with hidden layers, for tables without noise.

    Hardly any decay, and time to find the exact border.
    """
    decay = spec.recipe.weight_decay if spec.own_decay else min(0.003, choose_decay(n_rows))
    epochs = spec.recipe.max_iter
    if epochs == Recipe().max_iter:  # the user has named no other number
        epochs = _EPOCHS
    return replace(
        spec.adjust(weight_decay=decay, max_iter=epochs),
        architecture=replace(kind, direct_inputs=True),
        input_scale="both",
        others=(),
    )
