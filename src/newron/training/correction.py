"""Steps where smoothness is not enough.

Gradients do not find a narrow window that holds few of many rows. So single
conditions are grown on top of a smooth network's scores, and join it as functions
of its own kind that are steep enough to be steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.schema import Column
from newron.training.crisp import CrispShape, RankedTable
from newron.training.decimals import round_to_digits
from newron.training.decoding import TargetScale, snap
from newron.training.fitting import (
    Data,
    Fitted,
    Plan,
    make_sample,
    name_loss,
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
        scores = base.scores(data.X, n_threads=plan.n_threads)
        if self.target_scale is not None:
            scores = (scores - self.target_scale.shift) / self.target_scale.scale
        table = replace(self.table, base=scores)
        parts = (name_loss(plan.output), plan.output.n_scores, plan.n_threads)
        return GrowTask(table, self.ranking, *parts)


def count_corrections(data: Data, plan: Plan, bases: list[Model], splits: list[Split]) -> int:
    """Give how many steps rows held out want; each split has its base."""
    setting = _set(data, plan)
    tasks = [setting.task(base, data, plan) for base in bases]
    judged = judge_terms(tasks, with_terms(_PLAN, plan.max_terms), splits)
    best = count_terms(judged)
    return best if is_better(judged[:, best], judged[:, 0]) else 0


def correct(data: Data, plan: Plan, fitted: Fitted, n_terms: int) -> Fitted:
    """Add so many steps to a network without hidden layer."""
    setting = _set(data, plan)
    task = setting.task(fitted.model, data, plan)
    shapes, losses, interrupted = grow(task, with_terms(_PLAN, n_terms))
    merged = _merge(fitted.model, shapes[-1], setting)
    model = snap(merged, make_sample(data), plan.n_threads)
    # The steps are not the core's: there is nothing to go on from by gradients.
    return Fitted(model, fitted.loss_curve, float(losses[-1]), interrupted)


def _set(data: Data, plan: Plan) -> _Setting:
    rows = list_rows(data)
    ranking = learn_ranking(data.X, rows.index, _BINS)
    target_scale = scale_targets(data, plan, rows)
    targets, weight = weigh_rows(data, plan, rows, target_scale)
    weight = weight * (rows.weight.sum() / len(weight))
    table = RankedTable(ranking.encode(data.X), targets, weight)
    return _Setting(ranking, table, target_scale)


def _merge(model: Model, shape: CrispShape, setting: _Setting) -> Model:
    last = model.layers[-1]
    assert last.centre is not None  # noqa: S101 - an output layer is centred
    steep = [
        _to_steep(last.processing, last.n_factors, term, setting.ranking, model.schema.columns)
        for term in shape.terms
    ]
    scale = np.ones(last.n_neurons) if setting.target_scale is None else setting.target_scale.scale
    n_terms, n_outputs = shape.weight.shape
    target = np.concatenate([last.target, np.tile(np.arange(n_outputs), n_terms)])
    source = np.concatenate([last.source, np.repeat(shape.terms[:, 0], n_outputs)])
    w = np.concatenate([last.w, np.repeat([w for w, _ in steep], n_outputs, axis=0)])
    b = np.concatenate([last.b, np.repeat([b for _, b in steep], n_outputs, axis=0)])
    rank = np.concatenate([last.rank_flags, np.zeros(n_terms * n_outputs, bool)])
    alpha = np.concatenate([last.alpha, (shape.weight * scale).ravel()])
    order = np.argsort(target, kind="stable")
    centre = last.centre + shape.centre * scale
    joined = last.replace(
        target=target[order],
        source=source[order],
        w=w[order],
        b=b[order],
        rank=rank[order],
        alpha=alpha[order],
        centre=centre,
    )
    return Model(model.schema, [*model.layers[:-1], joined], model.output)


def _to_steep(
    processing: str,
    n_factors: int,
    term: NDArray[np.int32],
    ranking: Ranking,
    columns: tuple[Column, ...],
) -> tuple[Floats, Floats]:
    """Give w and b of a function that is 0 on one side of a cut and 1 on the other."""
    source, sign, cut = term.tolist()
    b = ranking.threshold(source, cut)
    below, above = float(ranking.highs[source][cut - 1]), float(ranking.lows[source][cut])
    gap = max(min(b - below, above - b), np.spacing(abs(b)))
    w = round_to_digits(np.array(1.1 * _STEEP[processing] / gap), 2)
    # The other factors stay at 1 over all values that a column can have.
    column = columns[source]
    spread = column.high - column.low
    far = round_to_digits(np.array(column.low - _FAR * spread), 3)
    flat = round_to_digits(np.array(_STEEP[processing] / spread), 2)
    rest = n_factors - 1
    return np.array([sign * w, *[flat] * rest]), np.array([b, *[far] * rest])
