"""The strategy "default": the best procedure for the processing function, by validation rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from newron.model.arithmetic import Floats
from newron.training.architecture import SMOOTH, Architecture
from newron.training.context import FitContext
from newron.training.distillation import fit_distilled
from newron.training.folds import MANY_ROWS, SURE, Fold, is_better, split_folds
from newron.training.gradient import fit_network
from newron.training.pairing import evaluate_mixture, fit_mixture
from newron.training.recipe import choose_decay
from newron.training.specification import FitResult, Specification
from newron.training.step_boosting import boost, count_steps
from newron.training.strategies.base import Strategy
from newron.training.strategies.growth import is_heaviside, plan_growth
from newron.training.training_set import TrainingSet

__all__ = ["Default"]

_TEACHERS = 8  # whose mean is distilled
_FEW_EPOCHS = 60  # of trials on many rows


class Default(Strategy):
    """Heaviside: the better of a grown network and one trained by gradients and polished.

    Sigmoid and tanh-prod: each input on two scales, without hidden layer, or with pairs of
    columns or a whole hidden layer where that is better. Others: by gradients.
    """

    def fit(self, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
        """Fit by the best procedure."""
        kinds = {layer.processing for layer in spec.architecture.layers}
        if is_heaviside(spec.architecture):
            return _fit_crisp(data, spec, context)
        if kinds <= set(SMOOTH) and spec.architecture.adds:
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
    spec: Specification,
    folds: Sequence[Fold],
    context: FitContext,
    fit: Callable[[], FitResult],
) -> _Candidate:
    """Train in each fold, and measure the loss on its validation rows."""
    problem = spec.make_problem(data)
    losses, trials = [], []
    for fold in folds:
        trial = fit_network(data.take(fold.train), spec, context)
        scores = trial.model.score_rows(data.X[fold.validation.index])
        losses.append(problem.take(fold.validation).measure(problem.scale.apply(scores)))
        trials.append(trial)
    context.evaluated(name, np.array(losses), trials[0])
    return _Candidate(name, np.array(losses), fit, trials)


def _shorten(spec: Specification, n_init: int, n_rows: int) -> Specification:
    """Return the specification of a trial: few starts, on many rows few epochs."""
    epochs = spec.recipe.max_iter
    return spec.adjust(
        n_init=n_init, max_iter=min(epochs, _FEW_EPOCHS) if n_rows > MANY_ROWS else epochs
    )


# ---- steps ----


def _fit_crisp(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    folds = split_folds(data, spec.objective, context.spawn())
    if not folds:
        return fit_network(data, spec, context)
    growth = plan_growth(data, spec, folds, context)
    n_init = 2 if data.n_rows > MANY_ROWS else min(spec.recipe.n_init, 4)
    fit = partial(fit_network, data, spec, context)
    trained = _evaluate("gradient", data, _shorten(spec, n_init, data.n_rows), folds, context, fit)
    if is_better(trained.losses, growth.losses):
        return trained.fit()
    grown = growth.fit()
    if is_better(growth.losses, trained.losses):
        return grown
    # A tie: the network that is read in fewer conditions.
    assert grown.path is not None  # noqa: S101 - it was grown
    size = np.mean([trial.model.n_functions for trial in trained.trials])
    return trained.fit() if size < grown.path.n_conditions[-1] else grown


# ---- smooth functions ----


def _fit_smooth(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit the best smooth network, of the kinds that the specification leaves open."""
    kinds = (spec.architecture, *spec.others)
    # Each kind does alone what it does here.
    chosen = [
        _choose(data, replace(spec, architecture=kind, others=()), context.fork(), len(kinds) == 1)
        for kind in kinds
    ]
    return min(chosen, key=lambda candidate: candidate.losses.mean()).fit()


def _choose(data: TrainingSet, spec: Specification, context: FitContext, alone: bool) -> _Candidate:
    """Choose how to fit one kind; where it is ``alone`` nothing is evaluated in vain."""
    decay = spec.recipe.weight_decay if spec.own_decay else choose_decay(data.n_rows)
    two_scales = replace(spec.adjust(weight_decay=decay), input_scale="both")
    additive = replace(two_scales, architecture=_without_hidden(spec.architecture))
    deep = replace(two_scales, architecture=replace(spec.architecture, direct_inputs=True))
    n = spec.recipe.n_init if spec.own_starts else _TEACHERS
    kind, folds = spec.architecture.layers[-1].processing, []
    folds = split_folds(data, spec.objective, context.spawn())
    if not folds:
        return _Candidate(kind, np.zeros(1), partial(fit_network, data, additive, context))
    if data.n_rows > MANY_ROWS:
        return _choose_boosted(data, additive, deep, folds, context)
    distilled = partial(fit_distilled, data, additive, n, context)
    plain = distilled if n > 1 else partial(fit_network, data, additive, context)
    if len(spec.architecture.layers) > 1:
        return _choose_depth(data, additive, deep, folds, context, plain, n)
    if alone:
        return _Candidate(kind, np.zeros(1), plain)
    # Alone it is not evaluated: seeds that this takes must not change what is trained.
    trial = _shorten(additive, 1, data.n_rows)
    return _evaluate(kind, data, trial, folds, context.fork(), plain)


def _choose_depth(
    data: TrainingSet,
    additive: Specification,
    deep: Specification,
    folds: list[Fold],
    context: FitContext,
    plain: Callable[[], FitResult],
    n_teachers: int,
) -> _Candidate:
    """Choose between no hidden layer, pairs of columns, and a whole hidden layer.

    Pairs join what there is with coefficients found by validation rows, so they need not
    be sure; a whole hidden layer replaces it and must be.
    """
    kind, n_rows = additive.architecture.layers[-1].processing, data.n_rows
    best = _evaluate(kind, data, _shorten(additive, 1, n_rows), folds, context, plain)
    if n_teachers > 1:
        mixture = evaluate_mixture(data, deep, best.trials, folds, context)
        if mixture is not None:
            context.evaluated(f"{kind}, pairs", mixture.losses)
            if is_better(mixture.losses, best.losses):
                n = max(n_teachers // 2, 1)
                fit = partial(fit_mixture, data, additive, deep, mixture, n, context)
                best = _Candidate(f"{kind}, pairs", mixture.losses, fit)
    # For tables without noise: hardly any decay, and time to find the exact border.
    exact = deep.adjust(weight_decay=0.003, max_iter=1000)
    for whole, name in [(deep, "hidden layer"), (exact, "hidden layer, exact")]:
        if whole is exact and deep.own_decay:
            continue
        fit = partial(fit_network, data, whole, context)
        trial = _shorten(whole, 1, n_rows)
        candidate = _evaluate(f"{kind}, {name}", data, trial, folds, context, fit)
        best = candidate if is_better(candidate.losses, best.losses, SURE) else best
    return best


def _choose_boosted(
    data: TrainingSet,
    additive: Specification,
    deep: Specification,
    folds: list[Fold],
    context: FitContext,
) -> _Candidate:
    """Choose on many rows: without hidden layer and with steps on top, or with it."""
    kind, n_rows = additive.architecture.layers[-1].processing, data.n_rows
    fit = partial(_fit_boosted, data, additive, 0, context)
    best = _evaluate(kind, data, _shorten(additive, 1, n_rows), folds, context, fit)
    bases = [trial.model for trial in best.trials]
    n_terms, losses = count_steps(data, additive, bases, folds, context)
    if n_terms:
        context.evaluated(f"{kind}, steps", losses)
        fit = partial(_fit_boosted, data, additive, n_terms, context)
        best = _Candidate(f"{kind}, steps", losses, fit)
    if len(deep.architecture.layers) > 1:
        fit = partial(fit_network, data, deep, context)
        trial = _shorten(deep, 1, n_rows)
        whole = _evaluate(f"{kind}, hidden layer", data, trial, folds, context, fit)
        best = whole if is_better(whole.losses, best.losses, SURE) else best
    return best


def _fit_boosted(
    data: TrainingSet, additive: Specification, n_terms: int, context: FitContext
) -> FitResult:
    if not additive.own_starts:  # on many rows starts differ little
        additive = additive.adjust(n_init=2)
    fitted = fit_network(data, additive, context)
    return boost(data, additive, fitted, n_terms, context) if n_terms else fitted


def _without_hidden(architecture: Architecture) -> Architecture:
    return replace(architecture, layers=architecture.layers[-1:], direct_inputs=False)
