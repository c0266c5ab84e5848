"""Pruning: fewer literals, as few as validation rows allow.

A literal is a condition on a column that matters, see :func:`count_literals`. The
elimination gives a path of ever smaller networks; each size is evaluated on rows that neither
its network nor its pruning has seen; the smallest that is good enough is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from newron.model.model import Model
from newron.training import strategies
from newron.training.context import FitContext
from newron.training.decoding import bring_to_normal_form, snap
from newron.training.elimination import eliminate
from newron.training.folding import count_literals
from newron.training.folds import Fold, split_folds
from newron.training.last_layer import Task
from newron.training.path import ModelPath, Trial, check_choice, make_path, measure_trial
from newron.training.specification import Specification
from newron.training.training_set import TrainingSet

_MANY_ROWS = 5000  # from here on one third are validation rows, instead of five folds
_FOLDS = 5
_RIDGES = (1.0, 0.1, 0.01)
_OWN = 0.5  # how much the network's own scores count beside the rows' targets
_KEY = 0x9121E  # sets the seeds apart from those of the fit itself


@dataclass(frozen=True)
class PrunePlan:
    """How far to prune.

    ``tolerance`` and ``criterion`` are as in :meth:`ModelPath.choose`. With ``nested`` every
    fold trains a network of its own; without, all folds prune the one network, which has
    seen their rows.
    """

    tolerance: float = 1.0
    max_literals: int | None = None
    nested: bool = True
    criterion: str = "loss"

    def __post_init__(self) -> None:
        """Raise for what makes no sense."""
        check_choice(self.tolerance, self.max_literals, self.criterion, "max_literals")


def prune(
    data: TrainingSet,
    spec: Specification,
    strategy: str,
    model: Model,
    how: PrunePlan,
    context: FitContext,
) -> ModelPath:
    """Prune a model on rows, as far as validation rows allow.

    ``spec`` and ``strategy`` are those of the model's fit: folds repeat it.
    """
    seeds = _spawn(context.seed, 1 + _FOLDS)
    many = data.n_rows >= _MANY_ROWS
    n_folds, n_used = (3, 1) if many else (_FOLDS, _FOLDS)
    folds = split_folds(data, spec.objective, seeds[0], n_folds, n_used)
    trained = [model] * len(folds)
    if how.nested:
        apart = [replace(context, seed=seed, keeps=False) for seed in seeds[1:]]
        trained = [
            strategies.fit(strategy, data.take(fold.train), spec, own).model
            for fold, own in zip(folds, apart, strict=False)
        ]
    pairs = list(zip(folds, trained, strict=True))
    n_threads = context.n_threads
    ridge, trials = _choose_ridge(data, spec, pairs, _RIDGES[: 1 if many else None], n_threads)
    smaller = eliminate(_set_task(data, spec, model, ridge, n_threads), model)
    models = _list_path(
        model, [bring_to_normal_form(snap(each, data, n_threads), data) for each in smaller]
    )
    path = make_path(models, _join(models, trials), spec.objective.metric)
    return replace(path, chosen=path.choose(how.tolerance, how.max_literals, how.criterion))


def measure_fit(data: TrainingSet, spec: Specification, model: Model) -> float:
    """Return the loss of a model on rows, in the units of training."""
    problem = spec.make_problem(data)
    return problem.measure(problem.scale.apply(model.score_rows(data.X)))


def _choose_ridge(
    data: TrainingSet,
    spec: Specification,
    folds: list[tuple[Fold, Model]],
    ridges: Sequence[float],
    n_threads: int,
) -> tuple[float, list[Trial]]:
    """Prune in all folds; take the ridge of the lowest loss there.

    Noisy rows want to be held back; rows without noise want large weights. Where a weaker
    ridge gains nothing, none that is weaker still is tried.
    """
    ridge, lowest, trials = ridges[0], np.inf, list[Trial]()
    for trial in ridges:
        found = [_prune_fold(data, spec, fold, model, trial, n_threads) for fold, model in folds]
        loss = _find_lowest(found) if found else np.inf
        if loss >= lowest:
            break
        ridge, lowest, trials = trial, loss, found
    return ridge, trials


def _prune_fold(
    data: TrainingSet, spec: Specification, fold: Fold, model: Model, ridge: float, n_threads: int
) -> Trial:
    task = _set_task(data.take(fold.train), spec, model, ridge, n_threads)
    models = _list_path(model, eliminate(task, model))
    # Targets are scaled as those of all rows, so that folds compare.
    problem, rows = spec.make_problem(data), data.X[fold.validation.index]
    scores = [problem.scale.apply(each.score_rows(rows, n_threads=n_threads)) for each in models]
    sizes = [count_literals(each) for each in models]
    return measure_trial(sizes, scores, problem, data.weight, fold.validation)


# ---- pruning ----


def _set_task(
    data: TrainingSet, spec: Specification, model: Model, ridge: float, n_threads: int
) -> Task:
    """Return what the scores of a smaller network should be.

    Half of it is what the whole network predicts, which has less of the labels' noise.
    """
    problem = spec.make_problem(data)
    scores = problem.scale.apply(model.score_rows(data.X, n_threads=n_threads))
    own = problem.objective.inverse_link(scores)
    return Task(
        model.schema,
        spec.output,
        np.ascontiguousarray(data.X, np.float64),
        replace(problem, targets=(1.0 - _OWN) * problem.targets + _OWN * own),
        ridge,
        directions=spec.directions,
        n_threads=n_threads,
    )


def _list_path(model: Model, smaller: Sequence[Model]) -> list[Model]:
    """Return networks with ever more literals, the whole one last."""
    literals, models = [count_literals(model)], [model]
    for each in smaller:
        n = count_literals(each)
        if n < literals[-1]:
            literals.append(n)
            models.append(each)
    return models[::-1]


def _spawn(seed: np.random.SeedSequence, n: int) -> list[np.random.SeedSequence]:
    """Return seeds that do not depend on what the fit has drawn."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _KEY)).spawn(n)


def _join(models: Sequence[Model], trials: Sequence[Trial]) -> Trial | None:
    """Return what all folds measured of networks like these.

    In each fold a size stands for its largest network of at most that size; the last one
    for its whole network.
    """
    if not trials:
        return None
    sizes = [count_literals(model) for model in models[:-1]]
    return Trial.join_rows([_align(trial, sizes) for trial in trials])


def _align(trial: Trial, sizes: Sequence[int]) -> Trial:
    whole = trial.take([len(trial.sizes) - 1])
    return Trial.join_networks([trial.at(sizes), replace(whole, sizes=(-1,))])


def _find_lowest(trials: Sequence[Trial]) -> float:
    """Return the lowest loss of networks that were pruned, over all sizes."""
    sizes = sorted({n for trial in trials for n in trial.sizes[:-1]})
    joined = Trial.join_rows([_align(trial, sizes) for trial in trials])
    return float(joined.measure()[:-1].min(initial=np.inf))
