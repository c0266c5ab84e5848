"""Grown networks: how many terms, decided on inner rows, and short ones by size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from newron import _core
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Output
from newron.model.schema import Schema
from newron.objectives import TargetScale
from newron.training.callbacks import Progress
from newron.training.context import FitContext
from newron.training.crisp import (
    CrispShape,
    RankedTable,
    from_crisp,
    merge_terms,
    score_table,
)
from newron.training.decoding import unscale
from newron.training.folds import Fold
from newron.training.problem import Problem
from newron.training.ranking import Ranking
from newron.training.training_set import Part

_PATIENCE = 12  # terms without a better inner loss
_RECENT = 10  # terms by which it is known what further ones may gain at most


@dataclass(frozen=True)
class GrowPlan:
    """How to grow; see cpp/core/grow.h."""

    max_terms: int = 60
    max_conditions: int = 3
    ridge: float = 1.0
    least_weight: float = 2.0
    beam: int = 6
    length_price: float = 0.1
    polish_every: int = 10
    exchange_every: int = 0
    sweeps: int = 2

    def with_terms(self, n: int) -> GrowPlan:
        """Return the plan with another number of terms, one at least."""
        return replace(self, max_terms=max(n, 1))

    def for_core(self) -> Any:
        """Return the core's settings."""
        settings = _core.GrowSettings()
        for each in fields(self):
            setattr(settings, each.name, getattr(self, each.name))
        return settings


@dataclass(frozen=True)
class GrowTask:
    """The rows to grow on and what their scores should be.

    With ``teacher`` the network grows towards these soft targets instead of the rows' own.
    """

    table: RankedTable
    ranking: Ranking
    n_threads: int = 1
    teacher: Problem | None = None

    def start(self, plan: GrowPlan, part: Part | None = None) -> Any:
        """Return a grower of the core, on all rows or some."""
        table = self.table
        if self.teacher is not None:
            table = replace(table, problem=self.teacher)
        table = table if part is None else table.take(part)
        return _core.Grower(table.for_core(self.ranking), plan.for_core(), self.n_threads)

    def take(self, part: Part) -> GrowTask:
        """Return the task of some rows."""
        teacher = None if self.teacher is None else self.teacher.take(part)
        return replace(self, table=self.table.take(part), teacher=teacher)

    def score(self, shape: CrispShape) -> Floats:
        """Return the scores of the rows."""
        return score_table(shape, self.table)

    def measure(self, scores: Floats) -> float:
        """Return the loss by the rows' own targets."""
        if self.teacher is not None:
            scores = self.teacher.scale.undo(scores)
        return self.table.problem.measure(scores)

    def measure_distance(self, scores: Floats) -> float:
        """Return the squared distance from the teacher's scores."""
        assert self.teacher is not None  # noqa: S101 - of a distilled task alone
        return self.teacher.measure(scores)


@dataclass(frozen=True)
class Decoder:
    """What turns shapes of the core into models: the columns' and the targets' units."""

    ranking: Ranking
    schema: Schema
    output: Output
    target_scale: TargetScale

    def make_model(self, shape: CrispShape) -> Model:
        """Return the model of a shape in the columns' and the targets' units."""
        shape = merge_terms(shape, len(self.schema))
        widths = [len(shape.begin) - 1] if len(shape.begin) > 1 else []
        model = from_crisp(shape, self.ranking, self.schema, self.output, widths)
        return unscale(model, self.target_scale)


def evaluate_terms(
    tasks: Sequence[GrowTask],
    plan: GrowPlan,
    folds: Sequence[Fold],
    measure: Callable[[GrowTask, Floats], float] = GrowTask.measure,
    limit: float = np.inf,
) -> Floats:
    """Return the loss on validation rows, of shape (folds, numbers of terms).

    Each fold has its task: a teacher must not have seen the validation rows. Growth ends early
    where it cannot be expected to come down to a limit.
    """
    curves = []
    for task, fold in zip(tasks, folds, strict=True):
        grower = task.start(plan, fold.train)
        validation = task.take(fold.validation)
        rows = validation.table.for_core(task.ranking)
        curve = list[float]()
        for loss in _follow(grower, rows, partial(measure, validation)):
            curve.append(loss)
            if not _may_reach(curve, plan.max_terms, limit):
                break
        curves.append(curve)
    longest = max(map(len, curves))
    # A run that ended earlier has no better network to offer: its last one counts.
    return np.array([curve + [curve[-1]] * (longest - len(curve)) for curve in curves])


def _may_reach(losses: list[float], most: int, limit: float) -> bool:
    """Return whether a loss may come down to a limit: terms gain less and less."""
    if len(losses) <= _RECENT:
        return True
    gain = max(losses[-1 - _RECENT] - losses[-1], 0.0) / _RECENT
    return losses[-1] - gain * (most + 1 - len(losses)) <= limit


def _follow(grower: Any, rows: Any, measure: Callable[[Floats], float]) -> Iterator[float]:
    best, waited = np.inf, 0
    growing = True
    while growing:
        now = measure(grower.score(rows))
        yield now
        waited = 0 if now < best else waited + 1
        best = min(best, now)
        growing = waited < _PATIENCE and grower.grow()


def grow(
    task: GrowTask, plan: GrowPlan, context: FitContext, part: Part | None = None
) -> tuple[CrispShape, Floats]:
    """Grow to the number of terms that the plan names, on all rows or some.

    Returns the network, and the loss after each term, by what it was grown towards.
    """
    grower = task.start(plan, part)
    losses = [grower.loss]

    def step() -> bool:
        more = bool(grower.grow())
        if more:
            losses.append(grower.loss)
        return more

    context.watch(step, lambda: Progress(grower.n_terms, plan.max_terms, grower.loss, grower.loss))
    if not context.stopped:
        grower.settle()
        losses[-1] = grower.loss
    return CrispShape.from_core(grower.shape(), task.ranking), np.array(losses)


def grow_short(
    task: GrowTask, plan: GrowPlan, most: int, part: Part | None = None
) -> list[CrispShape]:
    """Return networks of no condition, one condition and so on, up to so many.

    After each step every condition may move, to another threshold or column: a search for
    the best few conditions by exchange, with exact losses.
    """
    plan = replace(plan.with_terms(min(plan.max_terms, most)), sweeps=5)
    grower = task.start(plan, part)
    shapes = [CrispShape.from_core(grower.shape(), task.ranking)]
    while count_conditions(shapes[-1], len(task.ranking.lows)) < most and grower.grow_size():
        shapes.append(CrispShape.from_core(grower.shape(), task.ranking))
    return shapes


def count_conditions(shape: CrispShape, n_columns: int) -> int:
    """Count the conditions on columns, equal ones of the last layer once."""
    merged = merge_terms(shape, n_columns)
    return len(merged.conditions) + int(np.sum(merged.terms[:, 0] < n_columns))
