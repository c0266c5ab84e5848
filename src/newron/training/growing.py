"""Grown networks: how many terms, decided on inner rows, and the path to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Output
from newron.model.schema import Schema
from newron.training.crisp import (
    CrispShape,
    RankedTable,
    cut_path,
    from_crisp,
    merge_terms,
    score_table,
)
from newron.training.decoding import TargetScale, unscale
from newron.training.holdout import Split, measure_loss
from newron.training.ranking import Ranking

__all__ = [
    "GrowPath",
    "GrowPlan",
    "GrowTask",
    "Lesson",
    "grow",
    "judge_terms",
]

_PATIENCE = 12  # terms without a better inner loss


@dataclass(frozen=True)
class GrowPlan:
    """How to grow; see cpp/core/grow.h."""

    max_terms: int = 60
    max_conditions: int = 3
    ridge: float = 1.0
    least_weight: float = 2.0

    def for_core(self) -> Any:
        """Give the core's settings."""
        settings = _core.GrowSettings()
        for name in ("max_terms", "max_conditions", "ridge", "least_weight"):
            setattr(settings, name, getattr(self, name))
        return settings


@dataclass(frozen=True)
class Lesson:
    """Scores of a teacher to grow towards, in place of the rows' own targets."""

    targets: NDArray[np.float32]
    weight: Floats
    scale: TargetScale  # from what is grown to the teacher's scores


@dataclass(frozen=True)
class GrowTask:
    """The rows to grow on and what they mean."""

    table: RankedTable
    ranking: Ranking
    loss: str
    n_outputs: int
    n_threads: int
    lesson: Lesson | None = None

    def start(self, plan: GrowPlan, index: NDArray[np.intp] | None = None) -> Any:
        """Give a grower of the core, on all rows or some."""
        table, loss = self.table, self.loss
        if self.lesson is not None:
            table = replace(table, targets=self.lesson.targets, weight=self.lesson.weight)
            loss = "squared"
        table = table if index is None else table.take(index)
        core = table.for_core(self.ranking, loss, self.n_outputs)
        return _core.Grower(core, plan.for_core(), self.n_threads)

    def measure(self, shape: CrispShape, index: NDArray[np.intp] | None = None) -> float:
        """Give the loss on all rows or some, by their own targets."""
        table = self.table if index is None else self.table.take(index)
        scores = score_table(shape, table)
        if self.lesson is not None:
            scores = scores * self.lesson.scale.scale + self.lesson.scale.shift
        return measure_loss(self.loss, scores, table.targets, table.weight)

    def measure_lesson(self, shape: CrispShape, index: NDArray[np.intp]) -> float:
        """Give the squared distance from the teacher's scores on some rows."""
        assert self.lesson is not None  # noqa: S101 - asked of a taught task alone
        targets, weight = self.lesson.targets[index], self.lesson.weight[index]
        return measure_loss("squared", score_table(shape, self.table.take(index)), targets, weight)


@dataclass(frozen=True)
class GrowPath:
    """A grown network cut off after each number of terms: smaller, and what it costs.

    ``path[n]`` is the model of the first n terms, with weights of its own. ``loss`` is
    that of the training rows by number of terms, ``inner_loss`` that of rows held out
    while the number was chosen (empty where none were).
    """

    shapes: tuple[CrispShape, ...]
    loss: Floats
    inner_loss: Floats
    ranking: Ranking
    schema: Schema
    output: Output
    target_scale: TargetScale | None

    def __len__(self) -> int:
        """Count the models: one more than terms."""
        return len(self.shapes)

    def __getitem__(self, n_terms: int) -> Model:
        """Give the model with so many terms."""
        return self.tell(self.shapes[n_terms])

    @property
    def n_conditions(self) -> list[int]:
        """How many conditions each of the models has."""
        n_columns = len(self.schema)
        return [merge_terms(shape, n_columns).n_conditions for shape in self.shapes]

    def tell(self, shape: CrispShape) -> Model:
        """Tell a shape in the columns' and the targets' units."""
        shape = merge_terms(shape, len(self.schema))
        widths = [len(shape.begin) - 1] if len(shape.begin) > 1 else []
        model = from_crisp(shape, self.ranking, self.schema, self.output, widths)
        return unscale(model, self.target_scale)


def judge_terms(
    tasks: Sequence[GrowTask],
    plan: GrowPlan,
    splits: Sequence[Split],
    measure: Callable[[GrowTask, CrispShape, NDArray[np.intp]], float] = GrowTask.measure,
) -> Floats:
    """Give the loss on rows held out, of shape (splits, numbers of terms).

    Each split has its task: a teacher must not have seen the rows held out.
    """
    curves = [
        list(
            _follow(
                task.start(plan, split.inside), partial(measure, task), split.outside, task.ranking
            )
        )
        for task, split in zip(tasks, splits, strict=True)
    ]
    longest = max(map(len, curves))
    # A run that ended earlier has no better network to offer: its last one counts.
    return np.array([curve + [curve[-1]] * (longest - len(curve)) for curve in curves])


def _follow(
    grower: Any,
    measure: Callable[[CrispShape, NDArray[np.intp]], float],
    outside: NDArray[np.intp],
    ranking: Ranking,
) -> Iterator[float]:
    best, waited = np.inf, 0
    growing = True
    while growing:
        now = measure(CrispShape.from_core(grower.shape(), ranking), outside)
        yield now
        waited = 0 if now < best else waited + 1
        best = min(best, now)
        growing = waited < _PATIENCE and grower.grow()


def grow(
    task: GrowTask, plan: GrowPlan, report: Callable[[int, float], None] | None = None
) -> tuple[list[CrispShape], Floats, bool]:
    """Grow to the number of terms that the plan names, and cut back along the path.

    Returns the networks by number of terms, their losses, and whether Ctrl-C ended
    the growth.
    """
    grower = task.start(plan)
    interrupted = False
    try:
        while grower.grow():
            if report is not None:
                report(grower.n_terms, grower.loss)
        grower.settle()
    except KeyboardInterrupt:
        interrupted = True
    last = CrispShape.from_core(grower.shape(), task.ranking)
    weights = grower.path(3, plan.ridge)[:-1]
    n_columns = len(task.ranking.lows)
    shapes = [cut_path(last, n, w, c, n_columns) for n, (w, c) in enumerate(weights)] + [last]
    return shapes, np.array([task.measure(shape) for shape in shapes]), interrupted


def with_terms(plan: GrowPlan, n: int) -> GrowPlan:
    """Give the plan with another number of terms, one at least."""
    return replace(plan, max_terms=max(n, 1))
