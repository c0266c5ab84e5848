"""Validation rows inside of a fit: splitting them off, and comparing by them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.objectives import Objective
from newron.training.training_set import Counts, Part, TrainingSet

MANY_ROWS = 10_000
SURE = 2.0  # standard errors by which a more complex candidate must be better
_MIN_ROWS = 20  # to split into folds
_NOTHING = 0.003  # a difference of validation losses that no reader would notice


@dataclass(frozen=True)
class Fold:
    """Rows to train on and rows to validate by; equal rows may be in both."""

    train: Part
    validation: Part


def split_folds(
    data: TrainingSet,
    objective: Objective,
    seed: np.random.SeedSequence,
    n_folds: int = 4,
    n_used: int | None = None,
) -> list[Fold]:
    """Split rows into folds; none where rows are few or a training part lacks a class.

    Rows are true ones: those that are equal are spread over the folds. On many rows the
    first fold alone is used, else ``n_used`` of them.
    """
    if data.n_rows < _MIN_ROWS:
        return []
    rng = np.random.default_rng(seed)
    if n_used is None:
        n_used = 1 if data.n_rows > MANY_ROWS else n_folds
    folds = []
    if data.group is not None:
        turns = _split_groups(data, rng)
        parts = [np.where(turns % n_folds == k, data.count, 0) for k in range(n_used)]
        folds = [Fold(data.make_part(data.count - held), data.make_part(held)) for held in parts]
    lines = [] if folds else _line_up(data.y, data.count, objective, rng)
    for k in range(n_used if lines else 0):
        held = np.zeros(len(data), np.int64)
        for members, begin in lines:
            end = begin + data.count[members]
            # How many of the positions from begin to end fall to fold k, in turn.
            held[members] = (end - k - 1) // n_folds - (begin - k - 1) // n_folds
        folds.append(Fold(data.make_part(data.count - held), data.make_part(held)))
    if objective.stratified:
        n_classes = max(objective.n_scores, 2)
        if any(len(np.unique(data.y[f.train.index, 0])) < n_classes for f in folds):
            return []
    return folds


def _split_groups(data: TrainingSet, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the turn of each row's group: those with an event in turn, then the others."""
    assert data.group is not None  # noqa: S101 - checked by the caller
    names, places = np.unique(data.group, return_inverse=True)
    has_event = np.zeros(len(names), bool)
    np.logical_or.at(has_event, places, data.y[:, 0] > 0.0)
    order = rng.permutation(len(names))
    order = order[np.argsort(~has_event[order], kind="stable")]
    turns = np.empty(len(names), np.intp)
    turns[order] = np.arange(len(names))
    return np.asarray(turns[places])


def split_fraction(
    data: TrainingSet, objective: Objective, fraction: float, rng: np.random.Generator
) -> Counts:
    """Return how many of each distinct row to hold out, of every class its proportion."""
    y, count = data.y, data.count
    if data.group is not None:
        part = max(round(1.0 / fraction), 2)
        return np.where(_split_groups(data, rng) % part == 0, count, 0)
    held = np.zeros(len(y), np.int64)
    lines = _line_up(y, count, objective, rng)
    for members, begin in lines:
        first, total = int(begin[0]), int(count[members].sum())
        held[members] = np.clip(first + round(fraction * total) - begin, 0, count[members])
    if not held.any():  # few rows: one of the largest class
        members, _ = max(lines, key=lambda line: int(count[line[0]].sum()))
        members = rng.permutation(np.sort(members))
        held[members[0]] = min(1, int(count[members].sum()) - 1)
    return held


def _line_up(
    y: Floats, count: Counts, objective: Objective, rng: np.random.Generator
) -> list[tuple[NDArray[np.intp], Counts]]:
    """Return distinct rows in random order, class by class, and the position of each."""
    groups = y[:, 0] if objective.stratified else np.zeros(len(y))
    lines, start = [], 0
    for value in np.unique(groups):
        members = rng.permutation(np.flatnonzero(groups == value))
        ends = start + np.cumsum(count[members])
        lines.append((members, ends - count[members]))
        start = int(ends[-1])
    return lines


def choose_size(losses: Floats) -> int:
    """Return the size of the lowest mean loss, of losses (folds, sizes).

    Where hardly any loss is left, more terms only make the sure surer: the fewest do.
    """
    mean = losses.mean(axis=0)
    slack = _NOTHING if mean.min() < 10 * _NOTHING else 0.0
    return int(np.flatnonzero(mean <= mean.min() + slack)[0])


def is_better(losses: Floats, than: Floats, by: float = 1.0) -> bool:
    """Return whether losses on the same folds are lower, by so many standard errors."""
    gain = than - losses
    # One fold, of many rows, has no spread of its own: half a percent stands for it.
    one = 0.005 * float(than.mean())
    spread = float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else one
    return float(gain.mean()) > by * spread
