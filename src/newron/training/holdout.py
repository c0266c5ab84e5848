"""Rows held out inside of a fit: dealing them, and judging by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.output import Classes
from newron.training.fitting import Data, Plan
from newron.training.table import Rows, settle_rows

__all__ = [
    "MANY_ROWS",
    "SURE",
    "Split",
    "count_terms",
    "deal",
    "is_better",
    "list_rows",
    "measure_loss",
    "settle",
    "split_rows",
    "take",
]

MANY_ROWS = 10_000
SURE = 2.0  # standard errors by which a more complex way must be better
_FOLDS = 4
_LEAST_ROWS = 20  # to deal into folds
_NOTHING = 0.003  # a difference of inner losses that no reader would notice


def settle(data: Data) -> Data:
    """Give the rows in the order and number that training sees them."""
    rows = settle_rows(data.X, data.y, data.weight)
    return Data(data.X[rows.index], data.y[rows.index], rows.weight, data.fields)


def list_rows(data: Data) -> Rows:
    """Give all rows as they are."""
    weight = np.ones(len(data.X)) if data.weight is None else data.weight
    return Rows(np.arange(len(data.X)), weight)


def take(data: Data, index: NDArray[np.intp]) -> Data:
    """Give some of the rows."""
    weight = None if data.weight is None else data.weight[index]
    return Data(data.X[index], data.y[index], weight, data.fields)


def deal(data: Data, plan: Plan) -> list[Split]:
    """Deal rows into folds; none where a fold would lack a class or rows."""
    stratify = isinstance(plan.output, Classes)
    if len(data.X) < _LEAST_ROWS:
        return []
    rng = np.random.default_rng(plan.seed.spawn(1)[0])
    splits = split_rows(data.y, _FOLDS, rng, stratify=stratify)
    if stratify:
        n_classes = len(plan.output.labels) if isinstance(plan.output, Classes) else 0
        if any(len(np.unique(data.y[s.inside, 0])) < n_classes for s in splits):
            return []
    return splits


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


def count_terms(judged: Floats) -> int:
    """Give the number of terms of the lowest inner loss.

    Where hardly any loss is left, more terms only make the sure surer: the fewest do.
    """
    mean = judged.mean(axis=0)
    slack = _NOTHING if mean.min() < 10 * _NOTHING else 0.0
    return int(np.flatnonzero(mean <= mean.min() + slack)[0])


def is_better(losses: Floats, than: Floats, by: float = 1.0) -> bool:
    """Tell whether losses on the same splits are lower, by so many standard errors."""
    gain = than - losses
    # One split, of many rows, has no spread of its own: half a percent stands for it.
    one = 0.005 * float(than.mean())
    spread = float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else one
    return float(gain.mean()) > by * spread
