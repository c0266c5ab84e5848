"""Short by default: networks of few conditions, and which of them validation rows allow.

Short networks are grown anew, size by size, with all conditions polished at each size; that
is cheap beside the fit, and better than cutting a long network back. They are grown in each
way that the fit has evaluated (towards the labels or towards smooth curves, of single
conditions or of terms of several), on all rows and on those of the folds; at each size the
way of the lowest loss on validation rows counts. The network of the fit is the end of the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from newron.model.arithmetic import sigmoid
from newron.model.model import Model
from newron.model.survival import Survival
from newron.objectives import Binary
from newron.training.crisp import CrispShape, RankedTable
from newron.training.decoding import finish
from newron.training.drafts import Drafts
from newron.training.folds import Fold
from newron.training.growing import GrowTask, count_conditions, grow_short
from newron.training.path import (
    READABLE,
    ModelPath,
    Trial,
    find_size,
    join_path,
    measure_trial,
)
from newron.training.problem import Problem
from newron.training.specification import WHOLE, FitResult
from newron.training.strategies.growth import Growth
from newron.training.training_set import Part, TrainingSet

_MOST = 20  # conditions of short networks
SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20)
_RIDGE = 1.0
_SOFT_RIDGE = 0.5  # towards a teacher's probabilities, which have none of the labels' noise
_EXCHANGE_EVERY = 3  # sizes of networks with terms of several conditions
_FAITHFUL = 0.95  # of what the whole network explains of hazards
_UNLIKELY = 0.01  # a class to which the teacher gives less is left out


def walk_path(
    growth: Growth, folds: Sequence[Fold], whole: FitResult, trials: Sequence[Model]
) -> FitResult:
    """Return a fit with the path to its network, and the model that its specification wants.

    ``trials`` are networks like that of the fit, trained on the rows of each fold.
    """
    if whole.interrupted or not folds or growth.spec.size == WHOLE:
        return whole
    path = _make_path(growth, folds, whole.model, trials)
    found = replace(whole, path=path)
    if growth.spec.size == "auto" and isinstance(growth.spec.output, Survival):
        return _take_model(found, path, _choose_faithful(path, growth.data))
    return choose_model(found, growth.spec.size)


def choose_model(fitted: FitResult, size: int | str) -> FitResult:
    """Return a fit with the model of a size that its path has: "auto", "best" or a number."""
    path = fitted.path
    if path is None:
        return fitted
    if size == "auto":
        chosen = path.choose_readable()
    else:
        chosen = path.choose(0.0, None if isinstance(size, str) else int(size))
    return _take_model(fitted, path, chosen)


def _take_model(fitted: FitResult, path: ModelPath, chosen: int) -> FitResult:
    path = replace(path, chosen=chosen)
    return replace(fitted, model=path.model, path=path, whole=fitted.model)


def _choose_faithful(path: ModelPath, data: TrainingSet) -> int:
    """Return the smallest size that explains nearly all that the whole network does of hazards.

    Few events say little about sizes: on validation rows one risk for all is often as good as
    the truth. The hazards of the whole network have none of that noise. Where no readable size
    explains so much, the one that explains most.
    """
    scores = [model.score_rows(data.X) for model in path.models]
    targets = sigmoid(scores[-1])
    mean = float(np.clip(np.average(targets[:, 0], weights=data.weight), 1e-15, 1.0 - 1e-15))
    scores.insert(0, np.full_like(targets, np.log(mean / (1.0 - mean))))
    loss = [np.average(Binary().loss(targets, each), weights=data.weight) for each in scores]
    gained = loss[0] - np.array(loss[1:])
    gained[np.array(path.sizes) > READABLE] = -np.inf
    most = _FAITHFUL * max(loss[0] - loss[-1], 0.0)
    return path.sizes[int(np.argmax(gained >= min(most, float(gained.max()))))]


# ---- short networks ----


@dataclass(frozen=True)
class _Kind:
    """A way to grow short networks, towards labels or the probabilities of a teacher."""

    growth: Growth
    is_soft: bool

    def grow(self, task: GrowTask, part: Part | None = None) -> dict[int, CrispShape]:
        """Return networks by their number of conditions, on all rows or some."""
        plan = replace(
            self.growth.plan.with_terms(self.growth.spec.max_terms),
            ridge=_SOFT_RIDGE if self.is_soft else _RIDGE,
            length_price=0.0,  # each number of conditions has networks of its own
            exchange_every=_EXCHANGE_EVERY if self.growth.plan.max_conditions > 1 else 0,
        )
        n_columns = len(self.growth.decoder.schema)
        table = task.table if part is None else task.table.take(part)
        shapes = grow_short(replace(task, table=_spread_classes(table)), plan, _MOST)
        return {count_conditions(shape, n_columns): shape for shape in shapes}

    def evaluate(self, folds: Sequence[Fold], problem: Problem) -> Trial:
        """Return how good the networks of all sizes are on the folds' validation rows."""
        pairs = zip(self.growth.tasks, folds, strict=True)
        return Trial.join_rows([self._evaluate_fold(task, fold, problem) for task, fold in pairs])

    def _evaluate_fold(self, task: GrowTask, fold: Fold, problem: Problem) -> Trial:
        shapes = self.grow(task, fold.train)
        sizes = sorted(shapes)
        ranks = task.table.take(fold.validation).ranks
        scale = self.growth.decoder.target_scale
        scores = [problem.scale.apply(scale.undo(shapes[n].score(ranks))) for n in sizes]
        weight = self.growth.data.weight
        return measure_trial(sizes, scores, problem, weight, fold.validation).at(SIZES)

    def make_models(self, sizes: Sequence[int]) -> list[Model]:
        """Return the networks of some sizes, grown on all rows; no number is shortened."""
        shapes = self.grow(self.growth.task)
        known = sorted(shapes)
        chosen = [shapes[known[find_size(known, size)]] for size in sizes]
        return [self.growth.decoder.make_model(shape) for shape in chosen]


def _make_path(
    growth: Growth, folds: Sequence[Fold], whole: Model, trials: Sequence[Model]
) -> ModelPath:
    problem = growth.spec.make_problem(growth.data)
    ways = _list_ways(growth)
    kinds = [_Kind(_soften(each), each.task.teacher is not None) for each in ways]
    evaluated = [kind.evaluate(folds, problem) for kind in kinds]
    best = np.argmin([trial.measure() for trial in evaluated], axis=0)
    models: dict[int, Model] = {}
    for k, kind in enumerate(kinds):
        places = np.flatnonzero(best == k)
        if len(places):
            made = kind.make_models([SIZES[i] for i in places])
            models |= dict(zip(places.tolist(), made, strict=True))
    rows = [evaluated[k].take([i]) for i, k in enumerate(best.tolist())]
    rows.append(_evaluate_whole(growth, folds, problem, trials))
    end = partial(finish, data=growth.data, n_threads=growth.context.n_threads)
    drafts = Drafts([models[i] for i in range(len(SIZES))], end)
    return join_path(drafts, whole, Trial.join_networks(rows), growth.spec.objective.metric)


def _list_ways(growth: Growth) -> list[Growth]:
    """Return the ways to grow short networks.

    Single conditions towards the labels are left out where terms of several conditions, which have
    them as their first ones, grow towards the labels, too.
    """
    every = (growth, *growth.others)
    of_labels = [each.plan.max_conditions for each in every if each.task.teacher is None]
    longest = max(of_labels, default=1)
    return [
        each
        for each in every
        if each is growth or each.task.teacher is not None or each.plan.max_conditions == longest
    ]


def _evaluate_whole(
    growth: Growth, folds: Sequence[Fold], problem: Problem, trials: Sequence[Model]
) -> Trial:
    data, parts = growth.data, []
    for fold, model in zip(folds, trials, strict=True):
        part = fold.validation
        scores = problem.scale.apply(model.score_rows(data.X[part.index]))
        parts.append(measure_trial([0], [scores], problem, data.weight, part))
    return Trial.join_rows(parts)


def _soften(growth: Growth) -> Growth:
    """Return a distilled growth with the teacher's probabilities in the place of the labels."""
    if growth.task.teacher is None:
        return growth
    task = growth.task
    return replace(
        growth,
        task=_soften_task(task),
        tasks=tuple(map(_soften_task, growth.tasks)),
        decoder=replace(growth.decoder, target_scale=task.table.problem.scale),
    )


def _soften_task(task: GrowTask) -> GrowTask:
    assert task.teacher is not None  # noqa: S101 - the caller looked
    problem = task.table.problem
    scores = task.teacher.scale.undo(task.teacher.targets)
    targets = problem.objective.inverse_link(scores)
    table = replace(task.table, problem=replace(problem, targets=targets))
    return replace(task, table=table, teacher=None)


def _spread_classes(table: RankedTable) -> RankedTable:
    """Return a table with a row for each of several classes that a row may be of.

    The core has no soft targets for several classes: each of these rows weighs as much as its
    class is likely.
    """
    problem = table.problem
    if not problem.objective.stratified or problem.objective.n_scores == 1:
        return table
    row, k = np.nonzero(problem.targets > _UNLIKELY)
    likely = problem.targets[row, k]
    weight = problem.weight[row] * likely / np.bincount(row, likely)[row]
    targets = np.eye(problem.objective.n_scores)[k]
    ranks = np.ascontiguousarray(table.ranks[:, row])
    return replace(table, ranks=ranks, problem=replace(problem, targets=targets, weight=weight))
