"""Grown networks: how many terms, decided on inner rows, and the path to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.model.arithmetic import Floats
from newron.training.crisp import CrispShape, RankedTable, cut_path
from newron.training.ranking import Ranking

__all__ = ["GrowPlan", "Grown", "Split", "grow", "measure_loss", "split_rows"]

_PATIENCE = 12  # terms without a better inner loss
_MANY_ROWS = 10_000


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
class Split:
    """Rows to learn from and rows to judge by."""

    inside: NDArray[np.intp]
    outside: NDArray[np.intp]


@dataclass(frozen=True)
class Grown:
    """A grown network, its shorter forms, and what each costs."""

    shape: CrispShape
    path: tuple[CrispShape, ...]
    inner_loss: Floats  # by number of terms, on rows held out; empty without any
    interrupted: bool = False


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
    judged = range(1) if n > _MANY_ROWS else range(n_splits)
    return [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in judged]


def measure_loss(loss: str, scores: Floats, targets: NDArray[np.float32], weight: Floats) -> Floats:
    """Give the weighted loss of each row."""
    if loss == "squared":
        return np.asarray(weight * np.mean((scores - targets) ** 2, axis=1))
    labels = targets[:, 0]
    if loss == "binary":
        z = scores[:, 0]
        return np.asarray(weight * (np.logaddexp(0.0, z) - labels * z))
    top = scores.max(axis=1)
    norm = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
    return np.asarray(weight * (norm - scores[np.arange(len(scores)), labels.astype(np.intp)]))


def grow(
    table: RankedTable,
    ranking: Ranking,
    loss: str,
    n_outputs: int,
    plan: GrowPlan,
    splits: list[Split],
    *,
    n_threads: int = 1,
    report: Callable[[int, float], None] | None = None,
) -> Grown:
    """Grow a network with as many terms as rows held out want.

    Without splits it grows to the most terms allowed.
    """
    inner = np.zeros(0)
    if splits:
        inner = judge_terms(table, ranking, loss, n_outputs, plan, splits, n_threads=n_threads)
        plan = replace(plan, max_terms=max(int(np.argmin(inner)), 1))
    core = table.for_core(ranking, loss, n_outputs)
    grower = _core.Grower(core, plan.for_core(), n_threads)
    interrupted = False
    try:
        while grower.grow():
            if report is not None:
                report(grower.n_terms, grower.loss)
        grower.settle()
    except KeyboardInterrupt:
        interrupted = True
    shape = CrispShape.from_core(grower.shape())
    weights = grower.path(3, plan.ridge)
    n_columns = len(ranking.lows)
    path = [cut_path(shape, n, w, c, n_columns) for n, (w, c) in enumerate(weights)]
    return Grown(shape, tuple(path), inner, interrupted)


def judge_terms(
    table: RankedTable,
    ranking: Ranking,
    loss: str,
    n_outputs: int,
    plan: GrowPlan,
    splits: list[Split],
    *,
    n_threads: int,
) -> Floats:
    """Give the mean loss on rows held out, by number of terms."""
    curves = []
    for split in splits:
        inside, outside = table.take(split.inside), table.take(split.outside)
        core = inside.for_core(ranking, loss, n_outputs)
        grower = _core.Grower(core, plan.for_core(), n_threads)
        curves.append(list(_follow(grower, outside, loss)))
    longest = max(map(len, curves))
    # A run that ended earlier has no better network to offer: its last one counts.
    padded = [curve + [curve[-1]] * (longest - len(curve)) for curve in curves]
    return np.asarray(np.mean(padded, axis=0))


def _follow(grower: Any, outside: RankedTable, loss: str) -> Iterator[float]:
    best, waited = np.inf, 0
    growing = True
    while growing:
        scores = CrispShape.from_core(grower.shape()).score(outside.ranks)
        losses = measure_loss(loss, scores, outside.targets, outside.weight)
        now = float(losses.sum() / outside.weight.sum())
        yield now
        waited = 0 if now < best else waited + 1
        best = min(best, now)
        growing = waited < _PATIENCE and grower.grow()
