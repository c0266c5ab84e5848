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
from newron.training.crisp import CrispShape, RankedTable, merge_terms, to_step
from newron.training.decoding import TargetScale, settle_gaps, snap
from newron.training.fitting import (
    Data,
    Fitted,
    Plan,
    make_sample,
    name_loss,
    scale_scores,
    scale_targets,
    weigh_rows,
)
from newron.training.growing import GrowPlan, GrowTask, grow, judge_terms, with_terms
from newron.training.holdout import Split, count_terms, is_better, list_rows
from newron.training.ranking import Ranking, learn_ranking

__all__ = ["correct", "count_corrections"]

_STEEP = {"tanh_prod": 20.0, "sigmoid": 40.0}  # beyond which the function is 0 or 1
_FAR = 1000.0  # column spreads: where a factor that should stay 1 has its place
_BINS = 255
_PLAN = GrowPlan(max_conditions=1, ridge=1.0, least_weight=2.0)


@dataclass(frozen=True)
class _Setting:
    """The rows on which steps are grown."""

    ranking: Ranking
    table: RankedTable
    target_scale: TargetScale | None

    def task(self, base: Model, data: Data, plan: Plan) -> GrowTask:
        """Give the task to add to a network's scores."""
        scores = base.score_rows(data.X, n_threads=plan.n_threads)
        table = replace(self.table, base=scale_scores(scores, self.target_scale))
        parts = (name_loss(plan.output), plan.output.n_scores, plan.n_threads)
        return GrowTask(table, self.ranking, *parts)


def count_corrections(
    data: Data, plan: Plan, bases: list[Model], splits: list[Split]
) -> tuple[int, Floats]:
    """Give how many steps rows held out want, and the losses on them.

    Each split has its base.
    """
    setting = _set(data, plan)
    tasks = [setting.task(base, data, plan) for base in bases]
    judged = judge_terms(tasks, with_terms(_PLAN, plan.max_terms), splits)
    best = count_terms(judged)
    best = best if is_better(judged[:, best], judged[:, 0]) else 0
    return best, judged[:, best]


def correct(data: Data, plan: Plan, fitted: Fitted, n_terms: int) -> Fitted:
    """Add so many steps to a network without hidden layer."""
    setting = _set(data, plan)
    task = setting.task(fitted.model, data, plan)
    shapes, losses, interrupted = grow(task, with_terms(_PLAN, n_terms))
    try:
        merged = _merge(fitted.model, shapes[-1], setting)
    except ModelError:  # a column so tiny or huge that no steep function fits its limits
        return replace(fitted, interrupted=interrupted)
    sample = make_sample(data)
    model = settle_gaps(snap(merged, sample, plan.n_threads), sample)
    # The steps are not the core's: there is nothing to go on from by gradients.
    return Fitted(model, fitted.loss_curve, float(losses[-1]), interrupted)


def _set(data: Data, plan: Plan) -> _Setting:
    rows = list_rows(data)
    ranking = learn_ranking(data.X, rows.index, data.fields, _BINS, rows.weight, with_room=True)
    target_scale = scale_targets(data, plan, rows)
    targets, weight = weigh_rows(data, plan, rows, target_scale)
    weight = weight * (rows.weight.sum() / len(weight))
    table = RankedTable(ranking.encode(data.X), targets, weight, directions=plan.directions)
    return _Setting(ranking, table, target_scale)


def _merge(model: Model, shape: CrispShape, setting: _Setting) -> Model:
    last = model.layers[-1]
    assert last.centre is not None  # noqa: S101 - an output layer is centred
    ranking, columns = setting.ranking, model.schema.columns
    none = np.zeros(0, np.uint8)
    shape = _keep_steps(merge_terms(shape, len(columns)), ranking)
    steep = [
        _to_steep(last, term, shape.term_free[t] if shape.term_free else none, ranking, columns)
        for t, term in enumerate(shape.terms)
    ]
    scale = np.ones(last.n_neurons) if setting.target_scale is None else setting.target_scale.scale
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
    """Tell whether a number lies between the bins that a cut parts."""
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
    """Give the function that is 0 on one side of a cut and 1 on the other."""
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
    # Told to a spread: in digits of its own size it could land on the other side.
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
