"""Grown networks: how many terms, decided on inner rows, and the path to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Output
from newron.model.schema import Schema
from newron.training.crisp import CrispShape, RankedTable, cut_path, from_crisp
from newron.training.decoding import TargetScale, unscale
from newron.training.ranking import Ranking

__all__ = ["GrowPath", "GrowPlan", "Split", "grow", "judge_terms", "measure_loss", "split_rows"]

_PATIENCE = 12  # terms without a better inner loss
MANY_ROWS = 10_000


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
class GrowTask:
    """The rows to grow on and what they mean."""

    table: RankedTable
    ranking: Ranking
    loss: str
    n_outputs: int
    n_threads: int

    def start(self, plan: GrowPlan, index: NDArray[np.intp] | None = None) -> Any:
        """Give a grower of the core, on all rows or some."""
        table = self.table if index is None else self.table.take(index)
        core = table.for_core(self.ranking, self.loss, self.n_outputs)
        return _core.Grower(core, plan.for_core(), self.n_threads)


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
        return [shape.n_conditions for shape in self.shapes]

    def tell(self, shape: CrispShape) -> Model:
        """Tell a shape in the columns' and the targets' units."""
        widths = [len(shape.begin) - 1] if len(shape.begin) > 1 else []
        model = from_crisp(shape, self.ranking, self.schema, self.output, widths)
        return unscale(model, self.target_scale)


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to judge by."""

    inside: NDArray[np.intp]
    outside: NDArray[np.intp]


def split_rows(
    y: Floats, n_splits: int, rng: np.random.Generator, *, stratify: bool
) -> list[Split]:
    """Deal rows into folds, of every class its share; many rows get one fold judged."""
    n = len(y)
    fold = np.empty(n, np.intp)
    groups = y[:, 0] if stratify else np.zeros(n)
    start = 0
    for value in np.unique(groups):
        members = rng.permutation(np.flatnonzero(groups == value))
        fold[members] = (start + np.arange(len(members))) % n_splits
        start += len(members)
    judged = range(1) if n > MANY_ROWS else range(n_splits)
    return [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in judged]


def measure_loss(loss: str, scores: Floats, targets: NDArray[np.float32], weight: Floats) -> float:
    """Give the weighted mean loss of rows."""
    labels = targets[:, 0]
    if loss == "squared":
        losses = np.mean((scores - targets) ** 2, axis=1)
    elif loss == "binary":
        losses = np.logaddexp(0.0, scores[:, 0]) - labels * scores[:, 0]
    else:
        top = scores.max(axis=1)
        norm = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
        losses = norm - scores[np.arange(len(scores)), labels.astype(np.intp)]
    return float(weight @ losses / weight.sum())


def judge_terms(task: GrowTask, plan: GrowPlan, splits: list[Split]) -> Floats:
    """Give the loss on rows held out, of shape (splits, numbers of terms)."""
    curves = [
        list(_follow(task.start(plan, s.inside), task.table.take(s.outside), task.loss))
        for s in splits
    ]
    longest = max(map(len, curves))
    # A run that ended earlier has no better network to offer: its last one counts.
    return np.array([curve + [curve[-1]] * (longest - len(curve)) for curve in curves])


def _follow(grower: Any, outside: RankedTable, loss: str) -> Iterator[float]:
    best, waited = np.inf, 0
    growing = True
    while growing:
        scores = CrispShape.from_core(grower.shape()).score(outside.ranks)
        now = measure_loss(loss, scores, outside.targets, outside.weight)
        yield now
        waited = 0 if now < best else waited + 1
        best = min(best, now)
        growing = waited < _PATIENCE and grower.grow()


def grow(
    task: GrowTask, plan: GrowPlan, report: Callable[[int, float], None]
) -> tuple[list[CrispShape], Floats, bool]:
    """Grow to the number of terms that the plan names, and cut back along the path.

    Returns the networks by number of terms, their losses, and whether Ctrl-C ended
    the growth.
    """
    grower = task.start(plan)
    interrupted = False
    try:
        while grower.grow():
            report(grower.n_terms, grower.loss)
        grower.settle()
    except KeyboardInterrupt:
        interrupted = True
    last = CrispShape.from_core(grower.shape())
    weights = grower.path(3, plan.ridge)[:-1]
    n_columns = len(task.ranking.lows)
    shapes = [cut_path(last, n, w, c, n_columns) for n, (w, c) in enumerate(weights)] + [last]
    table = task.table
    losses = [
        measure_loss(task.loss, shape.score(table.ranks), table.targets, table.weight)
        for shape in shapes
    ]
    return shapes, np.array(losses), interrupted


def with_terms(plan: GrowPlan, n: int) -> GrowPlan:
    """Give the plan with another number of terms, one at least."""
    return replace(plan, max_terms=max(n, 1))
