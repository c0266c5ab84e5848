"""Steps where smoothness is not enough.

Gradients do not find a narrow window that holds few of many rows. So single
conditions are grown on top of a smooth network's scores, and join it as functions
of its own kind that are steep enough to be steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.arithmetic import Floats
from newron.model.decimals import round_to_digits, round_to_step
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.schema import Column
from newron.training.context import FitContext
from newron.training.crisp import CrispShape, RankedTable, merge_terms, to_step
from newron.training.decoding import finish
from newron.training.folds import Fold, choose_size, is_better
from newron.training.growing import GrowPlan, GrowTask, evaluate_terms, grow
from newron.training.ranking import Ranking, learn_ranking
from newron.training.specification import FitResult, Specification
from newron.training.training_set import TrainingSet

__all__ = ["boost", "count_steps"]

_STEEP = {"tanh_prod": 20.0, "sigmoid": 40.0}  # beyond which the function is 0 or 1
_FAR = 1000.0  # column spreads: where a factor that should stay 1 has its place
_BINS = 255
_PLAN = GrowPlan(max_conditions=1, ridge=1.0, least_weight=2.0)


def count_steps(
    data: TrainingSet,
    spec: Specification,
    bases: list[Model],
    folds: list[Fold],
    context: FitContext,
) -> tuple[int, Floats]:
    """Return how many steps validation rows want, and the losses on them.

    Each fold has its base.
    """
    start = _start(data, spec, context)
    tasks = [_add_to(start, base, data) for base in bases]
    losses = evaluate_terms(tasks, _PLAN.with_terms(spec.max_terms), folds)
    best = choose_size(losses)
    best = best if is_better(losses[:, best], losses[:, 0]) else 0
    return best, losses[:, best]


def boost(
    data: TrainingSet, spec: Specification, fitted: FitResult, n_terms: int, context: FitContext
) -> FitResult:
    """Add so many steps to a network without hidden layer."""
    task = _add_to(_start(data, spec, context), fitted.model, data)
    shapes, losses = grow(task, _PLAN.with_terms(n_terms), context)
    try:
        merged = _merge(fitted.model, shapes[-1], task.ranking, task.table.problem.scale.scale)
    except ModelError:  # a column so tiny or huge that no steep function fits its limits
        return fitted
    model = finish(merged, data, context.n_threads)
    # The steps are not the core's: there is nothing to go on from by gradients.
    stopped = context.stopped
    result = FitResult(model, fitted.loss_curve, float(losses[-1]), interrupted=stopped)
    context.keep(result, -np.inf)
    return result


def _start(data: TrainingSet, spec: Specification, context: FitContext) -> GrowTask:
    """Return the task to grow on nothing."""
    ranking = learn_ranking(data, _BINS, with_space=True)
    problem = spec.make_problem(data)
    table = RankedTable(ranking.encode(data.X), problem, directions=spec.directions)
    return GrowTask(table, ranking, context.n_threads)


def _add_to(task: GrowTask, base: Model, data: TrainingSet) -> GrowTask:
    """Return the task to add to a network's scores."""
    scores = base.score_rows(data.X, n_threads=task.n_threads)
    base_scores = task.table.problem.scale.apply(scores)
    return replace(task, table=replace(task.table, base=base_scores))


def _merge(model: Model, shape: CrispShape, ranking: Ranking, scale: Floats) -> Model:
    last, columns = model.layers[-1], model.schema.columns
    assert last.centre is not None  # noqa: S101 - an output layer is centred
    none = np.zeros(0, np.uint8)
    shape = _keep_steps(merge_terms(shape, len(columns)), ranking)
    steep = [
        _to_steep(last, term, shape.term_free[t] if shape.term_free else none, ranking, columns)
        for t, term in enumerate(shape.terms)
    ]
    n_terms, n_outputs = shape.weight.shape
    target = np.concatenate([last.target, np.tile(np.arange(n_outputs), n_terms)])
    order = np.argsort(target, kind="stable")

    def join(old: Any, new: list[Any]) -> NDArray[Any]:
        parts = np.array(new).reshape(n_terms, *old.shape[1:])
        return np.concatenate([old, np.repeat(parts, n_outputs, axis=0)])[order]

    levels = [*last.levels, *(s.levels for s in steep for _ in range(n_outputs))]
    alpha = np.concatenate([last.alpha, (shape.weight * scale).ravel()])
    joined = last.replace(
        target=target[order],
        source=join(last.source, shape.terms[:, 0].tolist()),
        w=join(last.w, [s.w for s in steep]),
        b=join(last.b, [s.b for s in steep]),
        rank=join(last.rank_flags, [False] * n_terms),
        alpha=alpha[order],
        centre=last.centre + shape.centre * scale,
        missing=join(last.gap_values, [s.missing for s in steep]),
        levels=[levels[i] for i in order],
    )
    return Model(model.schema, [*model.layers[:-1], joined], model.output)


def _keep_steps(shape: CrispShape, ranking: Ranking) -> CrispShape:
    """Leave out terms that never hold, and put those that always hold into the centre."""
    none = np.zeros(0, np.uint8)
    kept, always = [], []
    for t, term in enumerate(shape.terms):
        step = to_step(term, shape.term_free[t] if shape.term_free else none, ranking)
        if step is not None and step.w == 0.0 and not step.levels and step.missing == 1.0:
            always.append(t)
        elif step is not None and _has_room(term, ranking):
            kept.append(t)
    return replace(
        shape,
        terms=shape.terms[kept],
        only=shape.only[kept],
        weight=shape.weight[kept],
        term_free=tuple(shape.term_free[t] for t in kept) if shape.term_free else (),
        centre=shape.centre - shape.weight[always].sum(axis=0),
    )


def _has_room(term: NDArray[np.int32], ranking: Ranking) -> bool:
    """Return whether a number lies between the bins that a cut parts."""
    source, _, cut = term.tolist()
    if not 0 < cut < len(ranking.lows[source]):
        return True
    below, above = float(ranking.highs[source][cut - 1]), float(ranking.lows[source][cut])
    return below < ranking.threshold(source, cut) < above


@dataclass(frozen=True)
class _Steep:
    """A step as a function that changes steeply."""

    w: Floats
    b: Floats
    missing: float
    levels: Floats


def _to_steep(
    layer: Layer,
    term: NDArray[np.int32],
    free: NDArray[np.uint8],
    ranking: Ranking,
    columns: tuple[Column, ...],
) -> _Steep:
    """Return the function that is 0 on one side of a cut and 1 on the other."""
    source, sign, cut = term.tolist()
    n_categories, column = ranking.n_categories[source], columns[source]
    step = to_step(term, free, ranking)
    missing = 0.0 if step is None else step.missing
    levels = free[:n_categories].astype(np.float64)
    if n_categories:
        nothing = np.zeros(layer.n_factors)
        return _Steep(nothing, nothing, missing, levels)
    most = _STEEP[layer.processing]
    spread = column.high - column.low or 1.0
    # Rounded by the spread: in digits of its own size it could land on the other side.
    far = round_to_step(np.array(_far_ends(column, spread)), np.array(spread), 1)
    flat = round_to_digits(np.array(most / spread), 2)
    if 0 < cut < len(ranking.lows[source]):
        b = ranking.threshold(source, cut)
        below, above = float(ranking.highs[source][cut - 1]), float(ranking.lows[source][cut])
        gap = min(b - below, above - b)
        w = sign * round_to_digits(np.array(1.1 * most / gap), 2)
    else:  # all numbers are on the same side: only gaps differ
        w, b = sign * flat, float(far[0] if cut <= 0 else far[1])
    # The other factors stay at 1 over all values that a column can have.
    rest = layer.n_factors - 1
    return _Steep(np.array([w, *[flat] * rest]), np.array([b, *[far[0]] * rest]), missing, levels)


def _far_ends(column: Column, spread: float) -> tuple[float, float]:
    return column.low - _FAR * spread, column.high + _FAR * spread
