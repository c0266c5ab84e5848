"""Pruning: fewer literals, as few as rows held out allow.

A literal is a condition on a column that matters, see :func:`count_literals`. The
elimination gives a path of ever smaller networks; each size is judged on rows that neither
its network nor its pruning has seen; the smallest that is good enough is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.training.decoding import snap
from newron.training.elimination import Task, eliminate
from newron.training.fitting import (
    Data,
    Plan,
    make_sample,
    name_loss,
    scale_scores,
    scale_targets,
    weigh_rows,
)
from newron.training.folding import count_literals, list_columns
from newron.training.holdout import Split, list_rows, measure_loss, settle, split_rows, take
from newron.training.procedure import fit
from newron.training.refitting import Goal, make_goal

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PrunePath", "PrunePlan", "count_literals", "list_columns", "measure_fit", "prune"]

_MANY_ROWS = 5000  # from here on one third is held out, instead of five folds
_FOLDS = 5
_LEAST_ROWS = 20
_RIDGES = (1.0, 0.1, 0.01)
_OWN = 0.5  # how much the network's own scores count beside the rows' targets
CRITERIA = ("loss", "score")
_KEY = 0x9121E  # sets the seeds apart from those of the fit itself


@dataclass(frozen=True)
class PrunePlan:
    """How far to prune.

    ``tolerance`` and ``criterion`` are as in :meth:`PrunePath.choose`. With ``honest`` every
    fold trains a network of its own; without, all folds prune the one network, which has
    seen their rows.
    """

    tolerance: float = 1.0
    max_literals: int | None = None
    honest: bool = True
    criterion: str = "loss"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not isinstance(self.tolerance, Real) or not 0.0 <= self.tolerance < np.inf:
            raise InputError(f"tolerance: expected a number from 0 on, got {self.tolerance!r}")
        most = self.max_literals
        if most is not None and (not isinstance(most, Integral) or most < 0):
            raise InputError(f"max_literals: expected None or a number from 0 on, got {most!r}")
        if self.criterion not in CRITERIA:
            told = " or ".join(map(repr, CRITERIA))
            raise InputError(f"criterion: expected {told}, got {self.criterion!r}")


@dataclass(frozen=True, eq=False)
class PrunePath:
    """Networks from none of the literals to all of them, and what each costs.

    ``path[n]`` is the model with at most n literals, fitted on all rows; the last one is
    the network before pruning.

    Attributes
    ----------
    literals : tuple of int
        The sizes, rising.
    score : ndarray
        Accuracy, or R² of amounts, on rows held out; NaN where none could be.
    error : ndarray
        The standard error of ``score``.
    loss, loss_error : ndarray
        The loss on rows held out, and its standard error.
    pair_error : ndarray of shape (sizes, sizes)
        The standard error of the difference of two sizes' scores, on the same rows.
    columns : tuple of tuple of str
        The columns that each model reads.
    chosen : int
        The number of literals that was chosen.
    metric : {"accuracy", "r2"}
        What ``score`` is.
    """

    literals: tuple[int, ...]
    score: Floats
    error: Floats
    loss: Floats
    loss_error: Floats
    pair_error: Floats
    columns: tuple[tuple[str, ...], ...]
    chosen: int
    metric: str
    models: tuple[Model, ...]

    def __len__(self) -> int:
        """Count the models."""
        return len(self.models)

    def __iter__(self) -> Iterator[Model]:
        """Go through the models, the smallest first."""
        return iter(self.models)

    def __getitem__(self, n_literals: int) -> Model:
        """Give the largest model with at most so many literals."""
        if n_literals < 0:
            raise IndexError(f"expected a number of literals from 0 on, got {n_literals}")
        return self.models[_find_size(self.literals, n_literals)]

    @property
    def model(self) -> Model:
        """The model that was chosen."""
        return self[self.chosen]

    def choose(
        self, tolerance: float = 1.0, max_literals: int | None = None, criterion: str = "loss"
    ) -> int:
        """Give the smallest number of literals that is good enough.

        Parameters
        ----------
        tolerance : float, default 1.0
            In standard errors.
        max_literals : int, optional
            At most so many.
        criterion : {"loss", "score"}
            By "loss", neither loss nor score may be worse than those of the lowest loss by
            more than the tolerance. By "score", the score may not be lower than the highest
            by more than the tolerance, in standard errors of their difference on the same
            rows: shorter, and blind to how sure a network is.
        """
        return self.literals[self._place(PrunePlan(tolerance, max_literals, criterion=criterion))]

    def _place(self, how: PrunePlan) -> int:
        most = np.inf if how.max_literals is None else how.max_literals
        allowed = np.array(self.literals) <= most
        if np.isnan(self.score).any():  # nothing was held out
            return int(np.flatnonzero(allowed)[-1])
        if how.criterion == "score":
            best = int(np.argmax(np.where(allowed, self.score, -np.inf)))
            gap, slack = self.score[best] - self.score, self.pair_error[best]
            return int(np.argmax(allowed & (gap <= how.tolerance * slack)))
        best = int(np.argmin(np.where(allowed, self.loss, np.inf)))
        good = self.loss <= self.loss[best] + how.tolerance * self.loss_error[best]
        good &= self.score >= self.score[best] - how.tolerance * self.error[best]
        return int(np.argmax(allowed & good))

    def to_frame(self) -> pd.DataFrame:
        """Give the curve as a data frame of pandas, a row for each size."""
        import pandas as pd

        return pd.DataFrame(
            {
                "literals": self.literals,
                "columns": [len(names) for names in self.columns],
                self.metric: self.score,
                "error": self.error,
                "loss": self.loss,
                "chosen": [n == self.chosen for n in self.literals],
            }
        )


def prune(data: Data, plan: Plan, recipe: str, model: Model, how: PrunePlan) -> PrunePath:
    """Prune a model on rows, as far as rows held out allow.

    ``plan`` and ``recipe`` are those of the model's fit: folds repeat it.
    """
    data = settle(data)
    seeds = _spawn(plan.seed, 1 + _FOLDS)
    splits = _deal(data, plan, seeds[0])
    trained = [
        _train(take(data, split.inside), replace(plan, seed=seed, callbacks=()), recipe)
        if how.honest
        else model
        for split, seed in zip(splits, seeds[1:], strict=False)
    ]
    ridge, judged = _choose_ridge(data, plan, splits, trained)
    sample = make_sample(data)
    smaller = eliminate(_set_task(data, plan, model, ridge), model)
    path = _list_path(model, [snap(each, sample, plan.n_threads) for each in smaller])
    return _choose(path, judged, plan, how)


def measure_fit(data: Data, plan: Plan, model: Model) -> float:
    """Give the loss of a model on rows, in the units of training."""
    data = settle(data)
    scale = scale_targets(data, plan, list_rows(data))
    targets, weight = weigh_rows(data, plan, list_rows(data), scale)
    scores = scale_scores(model.score_rows(data.X), scale)
    return measure_loss(name_loss(plan.output), scores, targets, weight)


def _choose_ridge(
    data: Data, plan: Plan, splits: list[Split], trained: list[Model]
) -> tuple[float, list[_Judged]]:
    """Prune in all folds; take the ridge of the lowest loss there.

    Noisy rows want to be held back; rows without noise want large weights. Where a weaker
    ridge gains nothing, none that is weaker still is tried.
    """
    folds = list(zip(splits, trained, strict=True))
    ridge, least, judged = _RIDGES[0], np.inf, list[_Judged]()
    for trial in _RIDGES[: 1 if len(data.X) >= _MANY_ROWS else None]:
        found = [_prune_fold(data, plan, fold, trial) for fold in folds]
        loss = _find_least(found) if found else np.inf
        if loss >= least:
            break
        ridge, least, judged = trial, loss, found
    return ridge, judged


def _prune_fold(data: Data, plan: Plan, fold: tuple[Split, Model], ridge: float) -> _Judged:
    split, model = fold
    task = _set_task(take(data, split.inside), plan, model, ridge)
    return _judge(_list_path(model, eliminate(task, model)), data, plan, split)


# ---- pruning ----


def _train(data: Data, plan: Plan, recipe: str) -> Model:
    fitted = fit(data, plan, recipe)
    if fitted.interrupted:
        raise KeyboardInterrupt
    return fitted.model


def _set_task(data: Data, plan: Plan, model: Model, ridge: float) -> Task:
    """Tell what a smaller network should say of the rows.

    Half of it is what the whole network says, which has less of the labels' noise.
    """
    scale = scale_targets(data, plan, list_rows(data))
    goal = make_goal(data, plan)
    weight = goal.weight * (_count_rows(list_rows(data).weight) / len(data.X))
    scores = scale_scores(model.score_rows(data.X, n_threads=plan.n_threads), scale)
    targets = (1.0 - _OWN) * goal.targets + _OWN * goal.expect(scores)
    return Task(
        model.schema,
        plan.output,
        np.ascontiguousarray(data.X, np.float64),
        replace(goal, targets=targets, weight=weight),
        ridge,
        directions=plan.directions,
        target_scale=scale,
        n_threads=plan.n_threads,
    )


def _count_rows(weight: Floats) -> float:
    """Give how many rows weights stand for: their sum, unless they are all small."""
    total = float(weight.sum())
    return max(total, total**2 / float(weight @ weight))


@dataclass(frozen=True)
class _Path:
    """Networks with ever more literals."""

    literals: list[int]
    models: list[Model]


def _list_path(model: Model, smaller: Sequence[Model]) -> _Path:
    literals, models = [count_literals(model)], [model]
    for each in smaller:
        n = count_literals(each)
        if n < literals[-1]:
            literals.append(n)
            models.append(each)
    return _Path(literals[::-1], models[::-1])


# ---- judging ----


def _spawn(seed: np.random.SeedSequence, n: int) -> list[np.random.SeedSequence]:
    """Give seeds that do not depend on what the fit has drawn."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _KEY)).spawn(n)


def _deal(data: Data, plan: Plan, seed: np.random.SeedSequence) -> list[Split]:
    """Deal rows into five folds, or one third of many; none where they do not suffice."""
    n, classes = len(data.X), isinstance(plan.output, Classes)
    if n < _LEAST_ROWS:
        return []
    rng = np.random.default_rng(seed)
    if n < _MANY_ROWS:
        splits = split_rows(data.y, _FOLDS, rng, stratify=classes)
    else:
        splits = split_rows(data.y, 3, rng, stratify=classes)[:1]
    if isinstance(plan.output, Classes):
        n_classes = len(plan.output.labels)
        if any(len(np.unique(data.y[split.inside, 0])) < n_classes for split in splits):
            return []
    return splits


@dataclass(frozen=True)
class _Judged:
    """What rows held out say of the networks of a path, each array (networks, rows)."""

    literals: list[int]
    loss: Floats
    score: Floats  # 1 for a right class; for amounts what is missing to R²
    loss_weight: Floats
    weight: Floats


def _judge(path: _Path, data: Data, plan: Plan, split: Split) -> _Judged:
    # Targets are scaled as those of all rows, so that folds compare.
    rows = list_rows(data)
    scale = scale_targets(data, plan, rows)
    out, whole = split.outside, make_goal(data, plan)
    goal = Goal(whole.kind, whole.targets[out], whole.weight[out])
    losses, scores = [], []
    for model in path.models:
        told = model.score_rows(data.X[out], n_threads=plan.n_threads)
        if isinstance(plan.output, Classes):
            losses.append(goal.measure_rows(told))
            scores.append((plan.output.choose(told) == data.y[out, 0]).astype(np.float64))
        else:
            error = (scale_scores(told, scale) - goal.targets) ** 2
            losses.append(error.mean(axis=1))
            scores.append(1.0 - losses[-1])
    own = rows.weight[out]
    return _Judged(path.literals, np.array(losses), np.array(scores), goal.weight, own)


def _choose(path: _Path, judged: list[_Judged], plan: Plan, how: PrunePlan) -> PrunePath:
    n = len(path.models)
    score = error = loss = loss_error = np.full(n, np.nan)
    pair_error = np.full((n, n), np.nan)
    if judged:
        loss, loss_error = _average(*_gather(path.literals, judged, "loss"))
        scores, weight = _gather(path.literals, judged, "score")
        score, error = _average(scores, weight)
        pair_error = np.array([_average(scores - own, weight)[1] for own in scores])
    whole = PrunePath(
        tuple(path.literals),
        score,
        error,
        loss,
        loss_error,
        pair_error,
        tuple(list_columns(model) for model in path.models),
        path.literals[-1],
        "accuracy" if isinstance(plan.output, Classes) else "r2",
        tuple(path.models),
    )
    return replace(whole, chosen=whole.choose(how.tolerance, how.max_literals, how.criterion))


def _find_least(judged: list[_Judged]) -> float:
    """Give the lowest loss of networks that were pruned, over all sizes."""
    sizes = sorted({n for fold in judged for n in fold.literals[:-1]})
    losses, weight = _gather([*sizes, 0], judged, "loss")  # the last are the whole networks
    return float(_average(losses[:-1], weight)[0].min(initial=np.inf))


def _gather(literals: Sequence[int], judged: list[_Judged], what: str) -> tuple[Floats, Floats]:
    """Give a value for each size and row held out, and the rows' weights.

    In each fold a size stands for its largest network of at most that size; the last one
    for its whole network.
    """
    parts = []
    for fold in judged:
        sizes = [_find_size(fold.literals, n) for n in literals]
        sizes[-1] = len(fold.literals) - 1
        parts.append(getattr(fold, what)[sizes])
    weights = [fold.loss_weight if what == "loss" else fold.weight for fold in judged]
    return np.concatenate(parts, axis=1), np.concatenate(weights)


def _find_size(literals: Sequence[int], most: int) -> int:
    """Give the place of the largest size up to this one."""
    return int(np.searchsorted(np.array(literals), most, side="right")) - 1


def _average(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Give the weighted mean of each row and its standard error."""
    share = weight / weight.sum()
    mean = values @ share
    spread = np.sqrt(((values - mean[:, None]) ** 2) @ share**2)
    return mean, spread * np.sqrt(len(share) / max(len(share) - 1, 1))
