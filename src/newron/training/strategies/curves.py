"""Short by default, for networks of the engine: which curves, pairs or steps may be left out.

The terms of the network are left out one after the other, the least needed first. Up to 10,000
rows the same is done with a network of three quarters of them, and measured on the others; on
more rows all are looked at, with what the number of parameters is expected to cost on new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from newron.engine import EngineFit
from newron.model.model import Model
from newron.training.context import FitContext
from newron.training.decoding import finish
from newron.training.drafts import Drafts
from newron.training.folds import MANY_ROWS, split_folds
from newron.training.path import Trial, join_path, measure_trial
from newron.training.specification import WHOLE, FitResult, Specification
from newron.training.strategies.shortening import SIZES, choose_model
from newron.training.subsets import find_subsets
from newron.training.training_set import TrainingSet

_ROWS = 10_000  # distinct rows on which terms are compared
_FOLDS = 2  # of four; each is a fit of its own
_FEW_ROWS = 2_000  # by which numbers of networks that are not chosen are shortened


def walk_curves(
    fitted: EngineFit,
    whole: FitResult,
    data: TrainingSet,
    spec: Specification,
    context: FitContext,
    train: Callable[[TrainingSet], FitResult] | None = None,
) -> FitResult:
    """Return a fit of the engine with the path to its network, and the model that is wanted.

    ``train`` fits a network of the same kind to other rows; without it these rows measure.
    """
    if spec.size == WHOLE:
        return whole
    few = data.take_first(_ROWS)
    subsets = find_subsets(whole.model, few.X, spec.make_problem(few))
    if whole.interrupted or subsets is None:
        return whole
    sizes = [n for n in SIZES if n < len(subsets.order)]
    models = [subsets.make_model(n) for n in sizes]
    if train is None or data.n_rows >= MANY_ROWS:
        trial: Trial | None = _expect(fitted, [*models, whole.model], few, spec)
    else:
        trial = _validate(sizes, data, spec, context, train)
    if trial is None:
        return whole
    unit = "conditions" if whole.model.is_crisp else "curves"
    drafts = Drafts(models, partial(finish, data=data.take_first(_FEW_ROWS)))
    path = join_path(drafts, whole.model, trial, spec.objective.metric, unit)
    return choose_model(replace(whole, path=path), spec.size)


def _validate(
    sizes: list[int],
    data: TrainingSet,
    spec: Specification,
    context: FitContext,
    train: Callable[[TrainingSet], FitResult],
) -> Trial | None:
    """Return how good networks of these sizes, and the whole one, are on two quarters."""
    folds = split_folds(data, spec.objective, context.spawn(), n_used=_FOLDS)
    problem, trials = spec.make_problem(data), []
    for fold in folds:
        rows = data.take(fold.train)
        whole = train(rows).model
        subsets = find_subsets(whole, rows.X, problem.take(fold.train))
        models = [whole if subsets is None else subsets.make_model(n) for n in sizes]
        X = data.X[fold.validation.index]
        scores = [problem.scale.apply(model.score_rows(X)) for model in (*models, whole)]
        trials.append(measure_trial([*sizes, -1], scores, problem, data.weight, fold.validation))
    return Trial.join_rows(trials) if trials else None


def _expect(
    fitted: EngineFit, models: Sequence[Model], few: TrainingSet, spec: Specification
) -> Trial:
    """Return how good networks, the last one whole, are expected to be on new rows."""
    problem = spec.make_problem(few)
    scores = [problem.scale.apply(model.score_rows(few.X)) for model in models]
    part = few.make_part(few.count)
    trial = measure_trial(range(len(models)), scores, problem, few.weight, part)
    share = np.array([model.n_functions for model in models]) / max(models[-1].n_functions, 1)
    cost = np.stack([fitted.expect(losses) for losses in trial.loss]) - trial.loss
    return replace(trial, loss=trial.loss + share[:, None] * cost)
