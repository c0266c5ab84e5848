"""The strategy "default": the best procedure for the processing function, by validation rows.

Additive networks, with pairs of columns, come from the engine on bins (:mod:`newron.engine`),
which needs no folds. What it cannot express, logic between several columns, is for networks
with a hidden layer that are trained by gradients: these take part only where cheap gates let
them (:mod:`newron.training.strategies.racing`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from newron.engine import EngineFit, has_pairs
from newron.engine.screening import WIDE
from newron.model.arithmetic import Floats
from newron.training.architecture import SMOOTH
from newron.training.binned import (
    allows_pairs,
    extend_additive,
    finish_binned,
    fit_pairs,
    keep_binned,
    keep_quick,
    try_binned,
)
from newron.training.context import FitContext
from newron.training.folds import MANY_ROWS, SURE, Fold, is_better, split_folds
from newron.training.gradient import fit_network
from newron.training.specification import WHOLE, FitResult, Specification
from newron.training.strategies.base import Strategy
from newron.training.strategies.curves import walk_curves
from newron.training.strategies.growth import Growth, is_heaviside, plan_growth
from newron.training.strategies.racing import find_winners
from newron.training.strategies.shortening import walk_path
from newron.training.strategies.steps import cut_surfaces, fit_steps
from newron.training.strategies.terms import TermPlan, plan_terms
from newron.training.training_set import TrainingSet

_MANY_CLASSES = 30  # beyond which polishing a network of gradients costs minutes
_FAR = 0.2  # of the loss of what is grown: so much more in one fold no other makes up for
_FIRST = 2  # folds; what is worse in each of them is not tried in the others


def uses_engine(spec: Specification, n_rows: int) -> bool:
    """Return whether a fit of so many rows is one of the engine, which works on blocks."""
    if is_heaviside(spec.architecture):
        return n_rows >= MANY_ROWS
    return _is_smooth(spec) and (
        any(spec.directions) or all(layer.n_factors <= 2 for layer in spec.architecture.layers)
    )


def _is_smooth(spec: Specification) -> bool:
    kinds = {layer.processing for layer in spec.architecture.layers}
    return kinds <= set(SMOOTH) and spec.architecture.adds


class Default(Strategy):
    """The best procedure for the processing function.

    Heaviside: the better of a grown network and one trained by gradients and polished; on many
    rows the engine's curves as steps, with grown terms on top where these are needed.
    Sigmoid and tanh-prod: curves of columns and of pairs of columns by the engine on bins, or
    a network with hidden layers where that is clearly better; curves of columns alone where
    columns have directions. Others: by gradients.
    """

    def fit(self, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
        """Fit by the best procedure."""
        if is_heaviside(spec.architecture):
            if uses_engine(spec, data.n_rows):
                keep_quick(data, spec, context, kind="heaviside")
                return fit_steps(data, spec, context)
            return _fit_crisp(data, spec, context)
        if not uses_engine(spec, data.n_rows):
            return fit_network(data, spec, context)
        if any(spec.directions):
            keep_quick(data, spec, context)
            return _fit_curves(data, spec, context)
        return _fit_smooth(data, spec, context)


@dataclass(frozen=True)
class _Candidate:
    """A way to fit, its losses on validation rows, and the networks of the folds."""

    name: str
    losses: Floats
    fit: Callable[[], FitResult]
    trials: Sequence[FitResult] = ()

    def join(self, other: _Candidate) -> _Candidate:
        """Return the candidate with the losses and networks of further folds."""
        losses = np.concatenate([self.losses, other.losses])
        return replace(self, losses=losses, trials=[*self.trials, *other.trials])


def _evaluate(
    name: str,
    data: TrainingSet,
    folds: Sequence[Fold],
    spec: Specification,
    context: FitContext,
    train: Callable[[TrainingSet], FitResult],
    fit: Callable[[], FitResult],
) -> _Candidate:
    """Train in each fold, measure the loss on its validation rows, and inform callbacks."""
    found = _try_folds(name, data, folds, spec, train, fit)
    context.evaluated(name, found.losses, found.trials[0])
    return found


def _try_folds(
    name: str,
    data: TrainingSet,
    folds: Sequence[Fold],
    spec: Specification,
    train: Callable[[TrainingSet], FitResult],
    fit: Callable[[], FitResult],
) -> _Candidate:
    problem = spec.make_problem(data)
    losses, trials = [], []
    for fold in folds:
        trial = train(data.take(fold.train))
        scores = trial.model.score_rows(data.X[fold.validation.index])
        losses.append(problem.take(fold.validation).measure(problem.scale.apply(scores)))
        trials.append(trial)
    return _Candidate(name, np.array(losses), fit, trials)


# ---- steps ----


def _fit_crisp(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    folds = split_folds(data, spec.objective, context.spawn())
    if not folds:
        return fit_network(data, spec, context)
    growth = plan_growth(data, spec, folds, context)
    if data.X.shape[1] > WIDE or spec.objective.n_scores > _MANY_CLASSES:
        folds = folds[: len(growth.tasks)]
        return walk_path(growth, folds, growth.fit(), growth.fit_folds(folds))
    corners = _fit_corners(growth, folds)
    if corners is not None:
        return corners
    few = spec.adjust(n_init=min(spec.recipe.n_init, 4))
    trial = partial(fit_network, spec=few, context=context)
    fit = partial(fit_network, data, spec, context)
    trained = _try_folds("gradient", data, folds[:1], spec, trial, fit)
    if trained.losses[0] - growth.losses[0] <= _FAR * abs(growth.losses[0]):
        trained = trained.join(_try_folds("gradient", data, folds[1:_FIRST], spec, trial, fit))
    context.evaluated("gradient", trained.losses, trained.trials[0])
    if np.all(trained.losses > growth.losses[: len(trained.losses)]):
        return walk_path(growth, folds, growth.fit(), growth.fit_folds(folds))
    if folds[_FIRST:]:
        rest = _evaluate("gradient, other folds", data, folds[_FIRST:], spec, context, trial, fit)
        trained = trained.join(rest)
    own = [trial.model for trial in trained.trials]
    if is_better(trained.losses, growth.losses):
        return walk_path(growth, folds, trained.fit(), own)
    grown = growth.fit()
    # A tie: the network that is read in fewer conditions.
    size = np.mean([model.n_functions for model in own])
    tied = not is_better(growth.losses, trained.losses)
    if tied and size < grown.n_conditions:
        return walk_path(growth, folds, trained.fit(), own)
    return walk_path(growth, folds, grown, growth.fit_folds(folds))


def _fit_corners(growth: Growth, folds: Sequence[Fold]) -> FitResult | None:
    """Return the engine's steps and corners where pairs stand out and these are clearly better.

    ``growth`` is what they must be better than, and how shorter networks are made.
    """
    data, spec, context = growth.data, growth.spec, growth.context
    curves = iter(growth.curves)
    if not allows_pairs(spec) or (growth.curves and not has_pairs(growth.curves[0])):
        return None
    aside = context.aside()

    def cut(rows: TrainingSet, own: FitContext) -> EngineFit:
        known = next(curves, None)  # all rows come first, then folds in turn
        return cut_surfaces(rows, spec, own) if known is None else extend_additive(known, spec, own)

    def train(rows: TrainingSet) -> FitResult:
        return try_binned(cut(rows, aside))

    def fit() -> FitResult:
        return finish_binned(fitted.model, data, spec, context)

    fitted = cut(data, context)
    stands_out = any(group.is_pair for part in fitted.parts for group in part.at.groups)
    if not stands_out or len(fitted.model.layers[-1].source) > spec.max_terms:
        return None
    first, rest = folds[:_FIRST], folds[_FIRST:] if spec.size != WHOLE else ()
    found = _evaluate("steps and corners", data, first, spec, aside, train, fit)
    keep_binned(fitted, data, spec, context, float(found.losses.mean()))
    if not is_better(found.losses, growth.losses[:_FIRST], SURE):
        return None
    trials = [*found.trials, *(train(data.take(fold.train)) for fold in rest)]
    return walk_path(growth, folds, fit(), [trial.model for trial in trials])


# ---- smooth functions ----


def _fit_curves(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit by the engine alone."""
    fitted = fit_pairs(data, spec, context)
    result = finish_binned(fitted.model, data, spec, context)
    train = partial(_try_pairs, spec=spec, context=context.aside())
    return walk_curves(fitted, result, data, spec, context, train)


def _try_pairs(rows: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    return try_binned(fit_pairs(rows, spec, context))


def _fit_terms(
    data: TrainingSet, spec: Specification, context: FitContext, terms: TermPlan, fitted: EngineFit
) -> FitResult:
    """Fit the engine with terms of three columns beside its curves and pairs."""
    whole = terms.fit(data, fitted)
    result = finish_binned(whole.model, data, spec, context)
    return walk_curves(whole, result, data, spec, context, terms.try_rows)


def _fit_smooth(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit by the engine, or a network with hidden layers where that is clearly better."""
    keep_quick(data, spec, context)
    fitted = fit_pairs(data, spec, context)
    result = finish_binned(fitted.model, data, spec, context)
    terms = plan_terms(data, spec, context.fork(), fitted)
    deep = find_winners(data, spec, context.fork(), fitted, result.model)
    folds = split_folds(data, spec.objective, context.spawn()) if deep or terms else []
    train = partial(_try_pairs, spec=spec, context=context.aside())
    walk = partial(walk_curves, fitted, result, data, spec, context, train)
    if not folds:
        return walk()
    best = additive = _evaluate("additive, folds", data, folds, spec, context, train, walk)
    grown = None
    if terms is not None:
        fit = partial(_fit_terms, data, spec, context, terms, fitted)
        grown = _evaluate("terms, folds", data, folds, spec, context, terms.try_rows, fit)
    for each in deep:
        train = partial(fit_network, spec=each.adjust(n_init=1), context=context)
        fit = partial(fit_network, data, each, context)
        name = f"hidden layer, {each.architecture.layers[-1].processing}, folds"
        whole = _evaluate(name, data, folds, each, context, train, fit)
        best = whole if is_better(whole.losses, best.losses, SURE) else best
    if grown is not None and is_better(grown.losses, additive.losses, SURE):
        best = grown if grown.losses.mean() < best.losses.mean() else best
    return best.fit()
