"""An objective on weighed rows as a likelihood: what coefficients and variances are found by.

Scores are values of the rows, block by block, for each output; they are float32 on many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.engine.rows import Block, Index, Rows, Values
from newron.model.arithmetic import Floats
from newron.objectives import Objective

Scores = Sequence[Values]  # for each output

STATISTICS_ROWS = 262_144  # of which an objective learns its constants
_SEED = 7

_MIN_FREE = 0.05  # of the rows: so many are left to estimate the dispersion by
_MIN_DISPERSION = 1e-6


@dataclass(frozen=True, eq=False)
class Sought:
    """Targets of rows with their weights, and how many rows each stands for."""

    targets: Values  # as the objective encodes them, (rows, n_scores)
    weight: Values
    count: Values


class Likelihood:
    """The negative log-likelihood of targets, summed over weighed rows.

    Parameters
    ----------
    objective : Objective
    rows : Rows
    sought : Sought
    """

    def __init__(self, objective: Objective, rows: Rows, sought: Sought) -> None:
        self.rows, self.sought = rows, sought
        self._some = rows.sample(STATISTICS_ROWS, _SEED)
        self._targets = rows.take(self._some, sought.targets)
        self._weight = weigh_sample(rows, self._some, sought.weight)
        self._total = float(rows.total(_sum, sought.count))
        self.objective = objective.adapt(self._targets, self._weight)
        self.n_outputs = objective.n_scores
        self.dispersion = 0.5 if objective.has_dispersion else 1.0
        expansion = objective.expand(self._targets[:1], np.zeros((1, self.n_outputs)))
        self.shift_free = self.n_outputs > 1 and expansion.curvature(0, 1) is not None
        """Whether a constant added to all scores changes nothing."""

    @property
    def factor(self) -> float:
        """By which the summed loss of the objective is multiplied."""
        return self.objective.likelihood_factor / self.dispersion

    def start(self) -> Floats:
        """Return constant scores to begin with: those of the mean, and of one row of no score."""
        none = self.objective.inverse_link(np.zeros((1, self.n_outputs)))
        rows = np.concatenate([self._targets, none])
        return self.objective.start_scores(rows, np.append(self._weight, 1.0))

    def loss(self, scores: Scores) -> float:
        """Return the summed loss."""
        sought = self.sought
        lost = self.rows.total(self.lose_block(), sought.targets, sought.weight, *scores)
        return self.factor * float(lost)

    def lose_block(self) -> Callable[..., float]:
        """Return the function that sums the loss of a block, without the factor."""
        return partial(_sum_loss, self.objective)

    def differentiate_block(self, output: int) -> Callable[..., tuple[NDArray[Any], NDArray[Any]]]:
        """Return the function of a block's negative gradient and curvature by an output's score."""
        return partial(_differentiate, self.objective, self.factor, output)

    def differentiate(self, scores: Scores, output: int) -> tuple[Values, Values]:
        """Return the negative gradient and the curvature by one output's scores, by row."""
        step = self.differentiate_block(output)
        made = self.rows.make(2, step, self.sought.targets, self.sought.weight, *scores)
        return made[0], made[1]

    def differentiate_at(
        self, index: Index | None, scores: Scores
    ) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Return gradient and curvature of some rows, or of all, for each output."""
        sought = self.sought
        slopes = [self.differentiate_block(k) for k in range(self.n_outputs)]
        if index is None:
            values = [self.rows.take(None, part) for part in (sought.targets, sought.weight)]
            own = [self.rows.take(None, part) for part in scores]
            return [slope(None, *values, *own) for slope in slopes]
        task = partial(_differentiate_some, slopes)
        found = self.rows.gather(index, task, sought.targets, sought.weight, *scores)
        return [(found[:, 2 * k], found[:, 2 * k + 1]) for k in range(self.n_outputs)]

    def update(self, scores: Scores, n_effective: float) -> None:
        """Estimate what residuals determine: the dispersion by the rows that parameters leave."""
        if not self.objective.follows:
            return
        own = np.stack([self.rows.take(self._some, part) for part in scores]).T
        self.objective = self.objective.follow(self._targets, own, self._weight)
        if not self.objective.has_dispersion:
            return
        free = max(self._total - n_effective, _MIN_FREE * self._total)
        sought = self.sought
        lost, bent = self.rows.total(
            partial(_sum_squares, self.objective),
            sought.targets, sought.weight, sought.count, *scores,
        )  # fmt: skip
        self.dispersion = max(lost / free * (self._total / max(bent, 1e-300)), _MIN_DISPERSION)


def weigh_sample(rows: Rows, index: Index | None, weight: Values) -> Floats:
    """Return the weights of some rows, which sum to those of all."""
    taken = rows.take(index, weight)
    if index is None:
        return taken
    return taken * (float(rows.total(_sum, weight)) / max(float(taken.sum()), 1e-300))


def _sum(block: Block, values: Floats) -> float:
    del block
    return float(values.sum())


def _sum_loss(
    objective: Objective, block: Block, targets: Floats, weight: Floats, *scores: NDArray[Any]
) -> float:
    del block
    return float(objective.loss(targets, np.stack(scores).T) @ weight)


def _differentiate(
    objective: Objective,
    factor: float,
    output: int,
    block: Block | None,
    targets: Floats,
    weight: Floats,
    *scores: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    del block
    expansion = objective.expand(targets, np.stack(scores).T)
    curvature = expansion.curvature(output, output)
    bent = np.zeros(len(weight)) if curvature is None else curvature
    weight = factor * weight
    return -weight * expansion.gradient[:, output], weight * np.maximum(bent, 0.0)


def _differentiate_some(
    slopes: Sequence[Callable[..., Any]], block: Block, places: Index, *values: NDArray[Any]
) -> Floats:
    """Return gradients and curvatures of some rows of a block, side by side."""
    own = [part[places] for part in values]
    return np.column_stack([column for slope in slopes for column in slope(block, *own)])


def _sum_squares(
    objective: Objective,
    block: Block,
    targets: Floats,
    weight: Floats,
    count: Floats,
    *scores: NDArray[Any],
) -> tuple[float, float]:
    """Return the variance of the gradient, and the curvature, which are equal in truth."""
    del block
    expansion, factor = objective.expand(targets, np.stack(scores).T), objective.likelihood_factor
    lost = float(weight**2 / count @ (factor * expansion.gradient[:, 0]) ** 2)
    curvature = expansion.curvature(0, 0)
    bent = float(count.sum()) if curvature is None else float(weight @ (factor * curvature))
    return lost, bent
