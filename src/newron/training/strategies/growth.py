"""Growing Heaviside networks, term by term: of which kind, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from newron.engine import EngineFit
from newron.engine.screening import WIDE
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.training.architecture import Architecture
from newron.training.binned import STEPS, fit_additive
from newron.training.context import FitContext
from newron.training.crisp import RankedTable, merge_terms
from newron.training.decoding import finish
from newron.training.distillation import make_soft_targets
from newron.training.encoding import describe_columns
from newron.training.folds import MANY_ROWS, SURE, Fold, choose_size, is_better
from newron.training.growing import Decoder, GrowPlan, GrowTask, evaluate_terms, grow
from newron.training.problem import Problem
from newron.training.ranking import learn_ranking
from newron.training.specification import FitResult, Specification
from newron.training.training_set import TrainingSet

_BINS = (64, 255)  # of a column, on few and on many rows
_RIDGES = (1.0, 2.0, 5.0, 10.0)  # of distilled networks


def is_heaviside(architecture: Architecture) -> bool:
    """Return whether a network consists of steps that are added up."""
    steps = all(layer.processing == "heaviside" for layer in architecture.layers)
    return steps and architecture.adds


@dataclass(frozen=True)
class Growth:
    """What to grow, how, and its losses on validation rows."""

    data: TrainingSet
    spec: Specification
    context: FitContext
    task: GrowTask
    decoder: Decoder
    plan: GrowPlan
    evaluated: Floats  # by fold and number of terms; empty without folds
    tasks: Sequence[GrowTask] = ()  # of each fold
    others: Sequence[Growth] = ()  # what else was evaluated
    curves: Sequence[EngineFit] = ()  # of all rows and of each fold, where teachers have them

    @property
    def losses(self) -> Floats:
        """The loss of each fold, with the number of terms that was chosen."""
        last = self.evaluated.shape[1] - 1
        return np.asarray(self.evaluated[:, min(self.plan.max_terms, last)])

    def evaluate(
        self,
        name: str,
        tasks: Sequence[GrowTask],
        folds: Sequence[Fold],
        limit: float = np.inf,
    ) -> Growth:
        """Return the growth with the number of terms that the folds want.

        What cannot be expected to come down to a limit is not grown to its end.
        """
        evaluated = evaluate_terms(tasks, self.plan, folds, limit=limit)
        plan = self.plan.with_terms(choose_size(evaluated))
        chosen = replace(self, plan=plan, evaluated=evaluated, tasks=tuple(tasks))
        self.context.evaluated(name, chosen.losses)
        return chosen

    def fit(self) -> FitResult:
        """Grow on all rows."""
        shape, losses = grow(self.task, self.plan, self.context)
        model = finish(self.decoder.make_model(shape), self.data, self.context.n_threads)
        loss, stopped = self.task.measure(self.task.score(shape)), self.context.stopped
        n_conditions = merge_terms(shape, len(self.decoder.schema)).n_conditions
        result = FitResult(model, losses, loss, interrupted=stopped, n_conditions=n_conditions)
        self.context.keep(result, -np.inf)
        return result

    def fit_folds(self, folds: Sequence[Fold]) -> list[Model]:
        """Grow on the rows of each fold."""
        grown = [
            grow(task, self.plan, self.context.aside(), fold.train)[0]
            for task, fold in zip(self.tasks, folds, strict=True)
        ]
        return [self.decoder.make_model(shape) for shape in grown]


def plan_growth(
    data: TrainingSet, spec: Specification, folds: Sequence[Fold], context: FitContext
) -> Growth:
    """Choose the kind and number of terms by validation rows.

    Single conditions are best on small noisy tables, most often grown towards what
    smooth networks predict, else with a strong ridge; terms of up to three conditions on
    logic and on many rows. The longer ones must be better by more than the spread
    between folds. On wide tables only single conditions are tried.
    """
    single = start_growth(data, spec, context)
    longer = replace(single, plan=GrowPlan(spec.max_terms, 3, ridge=1.0, least_weight=2.0))
    # Should the fit end before anything is evaluated.
    alone = FitContext(context.seed, context.n_threads)
    context.keep(replace(single, plan=single.plan.with_terms(5), context=alone).fit)
    if not folds:
        return single
    if data.X.shape[1] > WIDE:
        return _plan_wide(single, folds[:2])
    tasks = [single.task] * len(folds)
    if data.n_rows > MANY_ROWS:
        return longer.evaluate("grow, up to 3 conditions", tasks, folds)
    chosen = single.evaluate("grow, single conditions", tasks, folds)
    longer = longer.evaluate("grow, up to 3 conditions", tasks, folds)
    if is_better(longer.losses, chosen.losses, SURE):
        return replace(longer, others=(chosen,))
    distilled = _distil_growth(single, folds)
    if is_better(chosen.losses, distilled.losses, SURE):
        return replace(chosen, others=(longer, distilled), curves=distilled.curves)
    return replace(distilled, others=(chosen, longer))


def start_growth(data: TrainingSet, spec: Specification, context: FitContext) -> Growth:
    """Return a growth of single conditions, nothing of which is evaluated yet."""
    ranking = learn_ranking(data, _BINS[data.n_rows > MANY_ROWS])
    problem = spec.make_problem(data)
    table = RankedTable(ranking.encode(data.X), problem, directions=spec.directions)
    schema = describe_columns(data.X, data.fields)
    decoder = Decoder(ranking, schema, spec.output, problem.scale)
    plan = GrowPlan(spec.max_terms, 1, ridge=5.0, least_weight=min(5.0, 0.1 * data.n_rows))
    task = GrowTask(table, ranking, context.n_threads)
    return Growth(data, spec, context, task, decoder, plan, np.zeros((0, 1)))


def _distil_growth(single: Growth, folds: Sequence[Fold]) -> Growth:
    """Evaluate growing towards the smooth curves of the engine on bins.

    Ridge and number of terms are those that come nearest to the teacher on rows that
    neither has seen: its scores have none of the labels' noise, so that two folds suffice.
    """
    data = single.data
    parts = [data, *(data.take(fold.train) for fold in folds)]
    teacher, *others = [_train_teacher(single, rows) for rows in parts]
    tasks = [replace(single.task, teacher=each.problem) for each in others]
    distilled = _choose_ridge(single, teacher.problem, tasks, folds)
    evaluated = evaluate_terms(tasks, distilled.plan, folds)
    curves = [each.curves for each in (teacher, *others) if each.curves is not None]
    if len(curves) <= len(others):
        curves = []
    distilled = replace(distilled, evaluated=evaluated, tasks=tuple(tasks), curves=curves)
    single.context.evaluated("grow, distilled", distilled.losses)
    return distilled


def _plan_wide(single: Growth, folds: Sequence[Fold]) -> Growth:
    """Choose between the rows' own targets and the engine's curves, with few fits."""
    chosen = single.evaluate("grow, single conditions", [single.task] * len(folds), folds)
    distilled = _distil_growth(single, folds)
    if is_better(chosen.losses, distilled.losses):
        return replace(chosen, others=(distilled,))
    return replace(distilled, others=(chosen,))


def _choose_ridge(
    single: Growth, teacher: Problem, tasks: Sequence[GrowTask], folds: Sequence[Fold]
) -> Growth:
    """Return the growth whose ridge and number of terms come nearest to a teacher."""
    best, nearest = single.plan, np.inf
    for ridge in _RIDGES:
        plan = replace(single.plan, ridge=ridge)
        near = evaluate_terms(tasks[:2], plan, folds[:2], GrowTask.measure_distance)
        distances = near.mean(axis=0)
        if distances.min() < nearest:
            best, nearest = plan.with_terms(int(distances.argmin())), float(distances.min())
    return replace(
        single,
        task=replace(single.task, teacher=teacher),
        decoder=replace(
            single.decoder, target_scale=teacher.scale.then(single.decoder.target_scale)
        ),
        plan=best,
    )


@dataclass(frozen=True)
class _Teacher:
    """Soft targets of all rows, and the curves that they are, where these have all columns."""

    problem: Problem
    curves: EngineFit | None


def _train_teacher(growth: Growth, rows: TrainingSet) -> _Teacher:
    """Fit smooth curves to some rows; what they predict of all are soft targets."""
    varying = np.flatnonzero([_varies(column) for column in rows.X.T])
    if not len(varying):
        varying = np.arange(1)
    directions = tuple(growth.spec.directions[i] for i in varying) if growth.spec.directions else ()
    spec = replace(growth.spec, directions=directions)
    few, X = rows.take_columns(varying), growth.data.X[:, varying]
    smooth = fit_additive(few, spec, growth.context, kind="heaviside", tolerance=STEPS)
    scores = growth.decoder.target_scale.apply(smooth.score(X))
    problem = make_soft_targets(growth.data, growth.spec, scores)
    return _Teacher(problem, smooth if X.shape[1] == growth.data.X.shape[1] <= WIDE else None)


def _varies(column: Floats) -> bool:
    """Return whether a column distinguishes rows: others are no part of a teacher."""
    missing = np.isnan(column)
    return not (missing.all() or bool(np.all(column == column[0])))
