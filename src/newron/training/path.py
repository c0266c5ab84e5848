"""The path from short to long networks, and how good each of them is on validation rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from newron.drawing.printed import Printed
from newron.errors import InputError
from newron.formatting import format_count
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.schema import Schema
from newron.model.terms import split_terms
from newron.tables.frames import make_pandas
from newron.training.drafts import Drafts
from newron.training.folding import count_literals, list_columns
from newron.training.problem import Problem
from newron.training.training_set import Counts, Part

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("loss", "score")
READABLE = 15  # lines that are read without effort
_NOTHING = 0.03  # a log loss with which hardly any row is in doubt
_LITTLE = 0.1  # a log loss with which the sure need not become surer
_PART = 0.15  # of the shortest network's log loss: where a class is rare, all have little
_LEVEL = 0.25  # standard errors of scores, which are much less sure than losses
_ROUNDING = 1e-9  # of scores that are equal
_WORTH = 0.025  # of accuracy or R²: what more conditions than that must gain
_WORTH_CURVES = 0.01  # what more curves must gain
_WORTH_SURE = (0.01, 3.0)  # and what more conditions must gain for sure, by standard errors


@dataclass(frozen=True, eq=False)
class ModelPath(Printed):
    """Models from short to long, and how good each of them is on validation rows.

    ``path[n]`` is the largest model of at most n lines, fitted on all rows; going through the
    path gives all of them, the shortest first.

    Attributes
    ----------
    sizes : tuple of int
        How many lines each model prints, rising.
    unit : {"conditions", "curves"}
        What a line is: a condition of a crisp network, a curve or surface of a smooth one.
    score : ndarray
        Accuracy, or R² of regression targets, on validation rows; NaN where none could be.
    error : ndarray
        The standard error of ``score``.
    loss, loss_error : ndarray
        The loss on validation rows, and its standard error.
    pair_error, pair_loss_error : ndarray of shape (sizes, sizes)
        The standard error of the difference of two sizes' scores or losses, on the same rows.
    columns : tuple of tuple of str
        The columns that each model reads.
    chosen : int
        The size that was chosen.
    metric : {"accuracy", "r2"}
        What ``score`` is.
    models : sequence of Model
        Each is finished when it is first read.

    Examples
    --------
    >>> from newron import NewronClassifier
    >>> X = [[k % 10, k % 7] for k in range(140)]
    >>> y = [int(a >= 5 or b >= 6) for a, b in X]
    >>> path = NewronClassifier(size="auto", random_state=0).fit(X, y).path_
    >>> path.chosen, path[1].n_functions
    (2, 1)
    """

    sizes: tuple[int, ...]
    models: Sequence[Model]
    score: Floats
    error: Floats
    loss: Floats
    loss_error: Floats
    pair_error: Floats
    pair_loss_error: Floats
    columns: tuple[tuple[str, ...], ...]
    chosen: int
    metric: str
    unit: str = "conditions"

    def __len__(self) -> int:
        """Count the models."""
        return len(self.models)

    def __iter__(self) -> Iterator[Model]:
        """Go through the models, the shortest first."""
        return iter(self.models)

    def __getitem__(self, size: int) -> Model:
        """Return the largest model of at most so many lines, or the shortest of all."""
        if size < 0:
            raise IndexError(f"expected a number of lines from 0 on, got {size}")
        return self.models[max(find_size(self.sizes, size), 0)]

    @property
    def model(self) -> Model:
        """The model that was chosen."""
        return self[self.chosen]

    @property
    def is_measured(self) -> bool:
        """Whether there were validation rows."""
        return not bool(np.isnan(self.loss).any())

    def choose(
        self, tolerance: float = 1.0, max_size: int | None = None, criterion: str = "loss"
    ) -> int:
        """Return the smallest size that is good enough.

        Parameters
        ----------
        tolerance : float, default 1.0
            In standard errors; 0 takes the best.
        max_size : int, optional
            At most so many lines, or the shortest model where all are longer.
        criterion : {"loss", "score"}
            By "loss", neither loss nor score may be worse than those of the lowest loss by
            more than the tolerance, of the loss and of the difference of scores on the same
            rows. By "score", the score may not be lower than the highest
            by more than the tolerance: shorter, and blind to how sure a network is.

        Returns
        -------
        int
            ``path[size]`` is its model.
        """
        check_choice(tolerance, max_size, criterion)
        allowed = np.array(self.sizes) <= (np.inf if max_size is None else max_size)
        allowed[0] = True
        if not self.is_measured:
            return self.sizes[int(np.flatnonzero(allowed)[-1])]
        if criterion == "score":
            best = int(np.argmax(np.where(allowed, self.score, -np.inf)))
            good = self.score[best] - self.score <= tolerance * self.pair_error[best]
            return self.sizes[int(np.argmax(allowed & good))]
        best = int(np.argmin(np.where(allowed, self.loss, np.inf)))
        good = self.loss <= self.loss[best] + tolerance * self.loss_error[best]
        if self.metric == "accuracy" and tolerance > 0.0:  # the sure need not become surer
            good |= self.loss <= min(_NOTHING, _PART * self.loss[0])
        good &= self.score[best] - self.score <= tolerance * self.pair_error[best]
        return self.sizes[int(np.argmax(allowed & good))]

    def choose_readable(self, max_size: int = READABLE) -> int:
        """Return the size that ``size="auto"`` takes.

        Of conditions it is the smallest whose loss is within one standard error of the lowest,
        and whose score is within a quarter of one of the score there, of the differences on the
        same rows: one error of scores would be points on few rows. Where little log loss is left
        (0.1, and 0.15 of the shortest network's), the score alone counts. Where that has more than
        ``max_size`` lines, these must be worth it: the lowest loss of at most so many is taken,
        unless its score is lower than that of the lowest loss of all by more than 2.5 points
        (0.025), or by more than one point and three standard errors of the difference, as is
        known on many rows alone.

        Of curves it is all that there are: what is not needed was left out by evidence, which
        is surer than validation rows. Of more than ``max_size`` curves the lowest loss of at
        most so many is taken, unless its score is lower than that of all curves by more than a
        point, or its loss higher by more than one standard error.

        Parameters
        ----------
        max_size : int, default 15

        Returns
        -------
        int
            ``path[size]`` is its model.
        """
        if not self.is_measured:
            return self.sizes[-1]
        is_crisp = self.unit == "conditions"
        size = self._choose_short() if is_crisp else self.sizes[-1]
        if size <= max_size:
            return size
        few = self.choose(0.0, max_size)
        i, j = self.sizes.index(few), int(np.argmin(self.loss)) if is_crisp else -1
        lost = self.score[j] - self.score[i]
        if is_crisp:
            points, errors = _WORTH_SURE
            is_sure = lost > max(points, errors * self.pair_error[j, i])
            return size if lost > _WORTH or is_sure else few
        is_worse = self.loss[i] - self.loss[j] > self.pair_loss_error[j, i]
        return size if lost > _WORTH_CURVES or is_worse else few

    def _choose_short(self) -> int:
        best = int(np.argmin(self.loss))
        good = self.loss <= self.loss[best] + self.pair_loss_error[best]
        if self.metric == "accuracy":
            good |= self.loss <= min(_LITTLE, _PART * self.loss[0])
        good &= self.score[best] - self.score <= _LEVEL * self.pair_error[best] + _ROUNDING
        return self.sizes[int(np.argmax(good))]

    def declare(self, schema: Schema) -> ModelPath:
        """Return the path with more declared of the columns: units, what they may hold.

        Parameters
        ----------
        schema : Schema

        Returns
        -------
        ModelPath
        """
        models = Drafts.hold(self.models).map(partial(declare_model, schema=schema))
        return replace(self, models=models)

    def to_frame(self) -> pd.DataFrame:
        """Return the path as a data frame of pandas, a row for each size.

        Returns
        -------
        DataFrame
        """
        columns: dict[str, Iterable[Any]] = {
            self.unit: self.sizes,
            "columns": [len(names) for names in self.columns],
            self.metric: self.score,
            "error": self.error,
            "loss": self.loss,
            "chosen": [n == self.chosen for n in self.sizes],
        }
        return make_pandas(zip(*columns.values(), strict=True), list(columns), "the path")

    def to_dict(self) -> dict[str, Any]:
        """Return the path in plain values, for JSON.

        Returns
        -------
        dict
            "unit", "metric", "chosen", and "sizes": a dict for each size.
        """
        numbers = {"score": self.score, "error": self.error, "loss": self.loss}
        rows = []
        for i, size in enumerate(self.sizes):
            own = {name: float(values[i]) for name, values in numbers.items()}
            rows.append({"size": size, **(own if self.is_measured else {})})
        return {"unit": self.unit, "metric": self.metric, "chosen": self.chosen, "sizes": rows}

    def to_text(self) -> str:
        """Return the path as a short table, the chosen size marked.

        Returns
        -------
        str
        """
        word = {"accuracy": "accuracy", "r2": "R²"}.get(self.metric, self.metric)
        lines = [f"{self.unit:>10}  {word:>16}  {'loss':>7}  columns"]
        for i, size in enumerate(self.sizes):
            mark = "  ← chosen" if size == self.chosen else ""
            lines.append(f"{size:>10}  {self._describe(i)}  {len(self.columns[i]):>7}{mark}")
        return "\n".join(lines)

    __str__ = to_text

    def __repr__(self) -> str:
        """Return how many models there are, and which was chosen."""
        models = format_count(len(self), "model")
        return f"ModelPath({models}, {self.chosen} {self.unit} chosen)"

    def _describe(self, i: int) -> str:
        if not self.is_measured:
            return f"{'not measured':>16}  {'':>7}"
        if self.metric == "accuracy":
            score = f"{100 * self.score[i]:.1f} ± {100 * self.error[i]:.1f} %"
        else:
            score = f"{self.score[i]:.3f} ± {self.error[i]:.3f}"
        return f"{score:>16}  {self.loss[i]:>7.4f}"


def check_choice(
    tolerance: float, max_size: int | None, criterion: str, name: str = "max_size"
) -> None:
    """Raise for a way to choose a size that makes no sense."""
    if not isinstance(tolerance, Real) or not 0.0 <= tolerance < np.inf:
        raise InputError(f"tolerance: expected a number from 0 on, got {tolerance!r}")
    if max_size is not None and (not isinstance(max_size, Integral) or max_size < 0):
        raise InputError(f"{name}: expected None or a number from 0 on, got {max_size!r}")
    if criterion not in CRITERIA:
        names = " or ".join(map(repr, CRITERIA))
        raise InputError(f"criterion: expected {names}, got {criterion!r}")


def declare_model(model: Model, schema: Schema) -> Model:
    """Return a model with more declared of its columns."""
    return Model(schema, model.layers, model.output, means=model.means)


def find_size(sizes: Sequence[int], size: int) -> int:
    """Return the position of the largest size up to this one, -1 where there is none."""
    return int(np.searchsorted(np.array(sizes), size, side="right")) - 1


def count_lines(model: Model) -> int:
    """Count the lines of a printed model: conditions, or curves and surfaces of columns.

    Parameters
    ----------
    model : Model

    Returns
    -------
    int
    """
    return count_literals(model) if model.is_crisp else len(split_terms(model).terms)


# ---- evaluating ----


@dataclass(frozen=True)
class Trial:
    """Networks of rising size on the validation rows of a fold, each array (networks, rows)."""

    sizes: tuple[int, ...]
    loss: Floats
    score: Floats  # what a row adds to the metric
    loss_weight: Floats
    weight: Floats
    count: Counts

    def take(self, places: Sequence[int]) -> Trial:
        """Return the trial of some of the networks."""
        sizes = tuple(self.sizes[i] for i in places)
        return replace(
            self, sizes=sizes, loss=self.loss[list(places)], score=self.score[list(places)]
        )

    def at(self, sizes: Sequence[int]) -> Trial:
        """Return the trial of other sizes: each stands for the largest up to it."""
        return self.take([max(find_size(self.sizes, size), 0) for size in sizes])

    def measure(self) -> Floats:
        """Return the mean loss of each network."""
        return np.asarray(self.loss @ self.loss_weight / self.loss_weight.sum())

    @classmethod
    def join_rows(cls, trials: Sequence[Trial]) -> Trial:
        """Return the trial of networks of the same sizes on the rows of several folds."""
        parts = {
            name: np.concatenate([getattr(trial, name) for trial in trials], axis=-1)
            for name in ("loss", "score", "loss_weight", "weight", "count")
        }
        return cls(trials[0].sizes, **parts)

    @classmethod
    def join_networks(cls, trials: Sequence[Trial]) -> Trial:
        """Return the trial of all networks, on the same rows."""
        return replace(
            trials[0],
            sizes=tuple(size for trial in trials for size in trial.sizes),
            loss=np.concatenate([trial.loss for trial in trials]),
            score=np.concatenate([trial.score for trial in trials]),
        )


def measure_trial(
    sizes: Sequence[int], scores: Sequence[Floats], problem: Problem, weight: Floats, part: Part
) -> Trial:
    """Measure networks on the rows of a part, by their scores in units of the loss.

    ``problem`` and ``weight`` are those of all rows, so that folds compare.
    """
    own = problem.take(part)
    return Trial(
        tuple(sizes),
        np.array([own.measure_rows(each) for each in scores]),
        np.array([own.objective.score_rows(own.targets, each) for each in scores]),
        own.weight,
        weight[part.index] * part.fraction,
        part.count,
    )


def make_path(
    models: Sequence[Model], trial: Trial | None, metric: str, unit: str = "conditions"
) -> ModelPath:
    """Return the path of models, the shortest first, and what was measured of each.

    The longest model is chosen.
    """
    models, n = Drafts.hold(models), len(models)
    sizes = tuple(_count(model, unit) for model in models.drafts)
    columns = tuple(list_columns(model) for model in models.drafts)
    score = error = loss = loss_error = np.full(n, np.nan)
    pair_error = pair_loss_error = np.full((n, n), np.nan)
    if trial is not None:
        score, error = average_rows(trial.score, trial.weight, trial.count)
        loss, loss_error = average_rows(trial.loss, trial.loss_weight, trial.count)
        pair_error = _compare(trial.score, trial.weight, trial.count)
        pair_loss_error = _compare(trial.loss, trial.loss_weight, trial.count)
    return ModelPath(
        sizes, models, score, error, loss, loss_error, pair_error, pair_loss_error,
        columns, sizes[-1], metric, unit,
    )  # fmt: skip


def join_path(
    models: Drafts, whole: Model, trial: Trial, metric: str, unit: str = "conditions"
) -> ModelPath:
    """Return the path of models, of each size the best, to the whole network, which comes last.

    ``trial`` has the models and then the whole network. What is longer than that stays only
    where it is better.
    """
    every = models.append(whole)
    losses, sizes = trial.measure(), [_count(model, unit) for model in every.drafts]
    kept: list[int] = []
    for i in sorted(range(len(every)), key=lambda i: (sizes[i], losses[i])):
        new = not kept or sizes[i] > sizes[kept[-1]]
        if new and (sizes[i] <= sizes[-1] or losses[i] < losses[-1]):
            kept.append(i)
    return make_path(every.take(kept), trial.take(kept), metric, unit)


def _count(model: Model, unit: str) -> int:
    return count_literals(model) if unit == "conditions" else count_lines(model)


def _compare(values: Floats, weight: Floats, count: Counts) -> Floats:
    return np.array([average_rows(values - own, weight, count)[1] for own in values])


def average_rows(values: Floats, weight: Floats, count: Counts) -> tuple[Floats, Floats]:
    """Return the weighted mean of each line and its standard error, over true rows."""
    fraction, n = weight / weight.sum(), int(count.sum())
    mean = values @ fraction
    spread = np.sqrt(((values - mean[:, None]) ** 2) @ (fraction**2 / count))
    return mean, spread * np.sqrt(n / max(n - 1, 1))
