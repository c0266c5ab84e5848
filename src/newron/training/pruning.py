"""Pruning: fewer literals, as few as validation rows allow.

A literal is a condition on a column that matters, see :func:`count_literals`. The
elimination gives a path of ever smaller networks; each size is evaluated on rows that neither
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
from newron.training import strategies
from newron.training.context import FitContext
from newron.training.decoding import bring_to_normal_form, snap
from newron.training.elimination import Task, eliminate
from newron.training.folding import count_literals, list_columns
from newron.training.folds import Fold, split_folds
from newron.training.specification import Specification
from newron.training.training_set import Counts, TrainingSet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PrunePath", "PrunePlan", "count_literals", "list_columns", "measure_fit", "prune"]

_MANY_ROWS = 5000  # from here on one third are validation rows, instead of five folds
_FOLDS = 5
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
        """Raise for what makes no sense."""
        if not isinstance(self.tolerance, Real) or not 0.0 <= self.tolerance < np.inf:
            raise InputError(f"tolerance: expected a number from 0 on, got {self.tolerance!r}")
        most = self.max_literals
        if most is not None and (not isinstance(most, Integral) or most < 0):
            raise InputError(f"max_literals: expected None or a number from 0 on, got {most!r}")
        if self.criterion not in CRITERIA:
            names = " or ".join(map(repr, CRITERIA))
            raise InputError(f"criterion: expected {names}, got {self.criterion!r}")


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
        Accuracy, or R² of regression targets, on validation rows; NaN where none could be.
    error : ndarray
        The standard error of ``score``.
    loss, loss_error : ndarray
        The loss on validation rows, and its standard error.
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
        """Return the largest model with at most so many literals."""
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
        """Return the smallest number of literals that is good enough.

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
        if np.isnan(self.score).any():  # there were no validation rows
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
        """Return the curve as a data frame of pandas, a row for each size."""
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


def prune(
    data: TrainingSet,
    spec: Specification,
    strategy: str,
    model: Model,
    how: PrunePlan,
    context: FitContext,
) -> PrunePath:
    """Prune a model on rows, as far as validation rows allow.

    ``spec`` and ``strategy`` are those of the model's fit: folds repeat it.
    """
    seeds = _spawn(context.seed, 1 + _FOLDS)
    many = data.n_rows >= _MANY_ROWS
    n_folds, n_used = (3, 1) if many else (_FOLDS, _FOLDS)
    folds = split_folds(data, spec.objective, seeds[0], n_folds, n_used)
    trained = [model] * len(folds)
    if how.honest:
        apart = [replace(context, seed=seed, keeps=False) for seed in seeds[1:]]
        trained = [
            strategies.fit(strategy, data.take(fold.train), spec, own).model
            for fold, own in zip(folds, apart, strict=False)
        ]
    pairs = list(zip(folds, trained, strict=True))
    n_threads = context.n_threads
    ridge, evaluated = _choose_ridge(data, spec, pairs, _RIDGES[: 1 if many else None], n_threads)
    smaller = eliminate(_set_task(data, spec, model, ridge, n_threads), model)
    path = _list_path(
        model, [bring_to_normal_form(snap(each, data, n_threads), data) for each in smaller]
    )
    return _choose(path, evaluated, spec, how)


def measure_fit(data: TrainingSet, spec: Specification, model: Model) -> float:
    """Return the loss of a model on rows, in the units of training."""
    problem = spec.make_problem(data)
    return problem.measure(problem.scale.apply(model.score_rows(data.X)))


def _choose_ridge(
    data: TrainingSet,
    spec: Specification,
    folds: list[tuple[Fold, Model]],
    ridges: Sequence[float],
    n_threads: int,
) -> tuple[float, list[_Evaluated]]:
    """Prune in all folds; take the ridge of the lowest loss there.

    Noisy rows want to be held back; rows without noise want large weights. Where a weaker
    ridge gains nothing, none that is weaker still is tried.
    """
    ridge, lowest, evaluated = ridges[0], np.inf, list[_Evaluated]()
    for trial in ridges:
        found = [_prune_fold(data, spec, fold, model, trial, n_threads) for fold, model in folds]
        loss = _find_lowest(found) if found else np.inf
        if loss >= lowest:
            break
        ridge, lowest, evaluated = trial, loss, found
    return ridge, evaluated


def _prune_fold(
    data: TrainingSet, spec: Specification, fold: Fold, model: Model, ridge: float, n_threads: int
) -> _Evaluated:
    task = _set_task(data.take(fold.train), spec, model, ridge, n_threads)
    return _evaluate(_list_path(model, eliminate(task, model)), data, spec, fold, n_threads)


# ---- pruning ----


def _set_task(
    data: TrainingSet, spec: Specification, model: Model, ridge: float, n_threads: int
) -> Task:
    """Return what the scores of a smaller network should be.

    Half of it is what the whole network predicts, which has less of the labels' noise.
    """
    problem = spec.make_problem(data)
    scores = problem.scale.apply(model.score_rows(data.X, n_threads=n_threads))
    own = problem.objective.inverse_link(scores)
    return Task(
        model.schema,
        spec.output,
        np.ascontiguousarray(data.X, np.float64),
        replace(problem, targets=(1.0 - _OWN) * problem.targets + _OWN * own),
        ridge,
        directions=spec.directions,
        n_threads=n_threads,
    )


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


# ---- evaluating ----


def _spawn(seed: np.random.SeedSequence, n: int) -> list[np.random.SeedSequence]:
    """Return seeds that do not depend on what the fit has drawn."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _KEY)).spawn(n)


@dataclass(frozen=True)
class _Evaluated:
    """The networks of a path on validation rows, each array (networks, rows)."""

    literals: list[int]
    loss: Floats
    score: Floats  # what a row adds to the metric
    loss_weight: Floats
    weight: Floats
    count: Counts


def _evaluate(
    path: _Path, data: TrainingSet, spec: Specification, fold: Fold, n_threads: int
) -> _Evaluated:
    rows = data.take(fold.validation)
    # Targets are scaled as those of all rows, so that folds compare.
    problem = spec.make_problem(data).take(fold.validation)
    scores = [
        problem.scale.apply(model.score_rows(rows.X, n_threads=n_threads)) for model in path.models
    ]
    return _Evaluated(
        path.literals,
        np.array([problem.measure_rows(each) for each in scores]),
        np.array([problem.objective.score_rows(problem.targets, each) for each in scores]),
        problem.weight,
        rows.weight,
        rows.count,
    )


def _choose(
    path: _Path, evaluated: list[_Evaluated], spec: Specification, how: PrunePlan
) -> PrunePath:
    n = len(path.models)
    score = error = loss = loss_error = np.full(n, np.nan)
    pair_error = np.full((n, n), np.nan)
    if evaluated:
        loss, loss_error = _average(*_gather(path.literals, evaluated, "loss"))
        scores, weight, count = _gather(path.literals, evaluated, "score")
        score, error = _average(scores, weight, count)
        pair_error = np.array([_average(scores - own, weight, count)[1] for own in scores])
    whole = PrunePath(
        tuple(path.literals),
        score,
        error,
        loss,
        loss_error,
        pair_error,
        tuple(list_columns(model) for model in path.models),
        path.literals[-1],
        spec.objective.metric,
        tuple(path.models),
    )
    return replace(whole, chosen=whole.choose(how.tolerance, how.max_literals, how.criterion))


def _find_lowest(evaluated: list[_Evaluated]) -> float:
    """Return the lowest loss of networks that were pruned, over all sizes."""
    sizes = sorted({n for fold in evaluated for n in fold.literals[:-1]})
    # The last ones are the whole networks.
    losses, weight, count = _gather([*sizes, 0], evaluated, "loss")
    return float(_average(losses[:-1], weight, count)[0].min(initial=np.inf))


def _gather(
    literals: Sequence[int], evaluated: list[_Evaluated], what: str
) -> tuple[Floats, Floats, Counts]:
    """Return a value for each size and validation row, and the rows' weights and counts.

    In each fold a size stands for its largest network of at most that size; the last one
    for its whole network.
    """
    parts = []
    for fold in evaluated:
        sizes = [_find_size(fold.literals, n) for n in literals]
        sizes[-1] = len(fold.literals) - 1
        parts.append(getattr(fold, what)[sizes])
    weights = [fold.loss_weight if what == "loss" else fold.weight for fold in evaluated]
    counts = np.concatenate([fold.count for fold in evaluated])
    return np.concatenate(parts, axis=1), np.concatenate(weights), counts


def _find_size(literals: Sequence[int], max_literals: int) -> int:
    """Return the position of the largest size up to this one."""
    return int(np.searchsorted(np.array(literals), max_literals, side="right")) - 1


def _average(values: Floats, weight: Floats, count: Counts) -> tuple[Floats, Floats]:
    """Return the weighted mean of each line and its standard error, over true rows."""
    fraction, n = weight / weight.sum(), int(count.sum())
    mean = values @ fraction
    spread = np.sqrt(((values - mean[:, None]) ** 2) @ (fraction**2 / count))
    return mean, spread * np.sqrt(n / max(n - 1, 1))
