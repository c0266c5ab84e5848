"""Quantiles, the median among them: the pinball loss, slightly smoothed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.objectives.base import CoreLoss, Objective, TargetScale
from newron.objectives.regression import (
    Regression,
    find_quantile,
    measure_spread,
    scale_robustly,
)

_MAX_LEVELS = 16
_WIDTH = 0.58  # of smoothing, times n^(-1/5): as wide as a density's estimate wants it
_NARROWEST = 0.02


@dataclass(frozen=True)
class Quantile(Regression):
    """The pinball loss of one or several levels, smoothed near zero.

    The smoothing is that of a logistic kernel, as wide as a density's estimate wants it; in the
    end scores are shifted so that the level holds on the training rows. Several levels are one
    output each; a model predicts them in rising order, so that they never cross.

    - ``unit``: See :class:`Regression`.
    - ``levels``: Between 0 and 1, rising.
    - ``width``: Of the smoothing, in spreads of the errors; ``adapt`` finds it.
    - ``spread``: Of the errors, which ``follow`` finds.

    >>> objective = Quantile(2, levels=(0.1, 0.9))
    >>> objective.text
    'quantile:0.1,0.9'
    >>> objective.loss(np.array([[10.0, 10.0]]), np.array([[0.0, 0.0]]))
    array([5.])
    """

    levels: tuple[float, ...] = (0.5,)
    width: float = 0.1
    spread: float = 1.0

    name = "quantile"

    def __post_init__(self) -> None:
        """Check the levels."""
        rising = all(a < b for a, b in zip(self.levels, self.levels[1:], strict=False))
        inside = all(0.0 < level < 1.0 for level in self.levels)
        if not (self.levels and rising and inside and len(self.levels) <= _MAX_LEVELS):
            given = ", ".join(map(str, self.levels))
            raise InputError(
                f"objective {self.name}: expected 1 to {_MAX_LEVELS} rising levels between 0 and "
                f"1, got {given or 'none'}"
            )

    @property
    def text(self) -> str:
        return f"{self.name}:" + ",".join(f"{level:g}" for level in self.levels)

    @property
    def _all_levels(self) -> Floats:
        return np.broadcast_to(np.array(self.levels), (self.n_scores,))

    @property
    def core(self) -> CoreLoss:
        levels = tuple(self._all_levels.tolist())
        return CoreLoss("quantile", self._smoothing, 1.0 / self.unit, levels)

    @property
    def _smoothing(self) -> float:
        return self.width * self.spread

    def split(self) -> list[Objective]:
        alone = replace(self, n_scores=1, unit=1.0)
        return [replace(alone, levels=(level,)) for level in self._all_levels.tolist()]

    # ---- what depends on the rows ----

    def adapt(self, targets: Floats, weight: Floats) -> Self:
        width = max(_WIDTH * max(float(weight.sum()), 1.0) ** -0.2, _NARROWEST)
        return super(Quantile, replace(self, width=width)).adapt(targets, weight)

    def follow(self, targets: Floats, scores: Floats, weight: Floats) -> Self:
        errors = [measure_spread(column, weight) for column in (targets - scores).T]
        return replace(self, spread=max(float(np.mean(errors)), 1e-4))

    def center(self, targets: Floats, scores: Floats, weight: Floats) -> Floats | None:
        errors = zip((targets - scores).T, self._all_levels.tolist(), strict=True)
        return np.array([find_quantile(column, weight, level) for column, level in errors])

    # ---- targets ----

    def learn_scale(self, y: Floats, weight: Floats) -> TargetScale:
        return scale_robustly(y, weight, self.n_scores)

    def start_scores(self, targets: Floats, weight: Floats) -> Floats:
        columns = zip(targets.T, self._all_levels.tolist(), strict=True)
        return np.array([find_quantile(column, weight, level) for column, level in columns])

    # ---- the loss ----

    def _measure(self, targets: Floats, scores: Floats) -> Floats:
        u = (targets - scores) / self._smoothing
        return np.asarray(self._smoothing * (np.logaddexp(0.0, u) + (self._all_levels - 1.0) * u))

    def _differentiate(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        above = 0.5 + 0.5 * np.tanh(0.5 * (targets - scores) / self._smoothing)
        return 1.0 - self._all_levels - above, above * (1.0 - above) / self._smoothing

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        error = targets - scores
        pinball = np.maximum(self._all_levels * error, (self._all_levels - 1.0) * error)
        return np.asarray(1.0 - self._factor * pinball.sum(axis=1))

    def evaluate(self, targets: Floats, scores: Floats, weight: Floats) -> float:
        start = np.broadcast_to(self.start_scores(targets, weight), targets.shape)
        lost = weight @ (1.0 - self.score_rows(targets, scores))
        null = weight @ (1.0 - self.score_rows(targets, start))
        return 1.0 - float(lost) / (float(null) if null > 0.0 else 1.0)


@dataclass(frozen=True)
class Absolute(Quantile):
    """The absolute error: the median.

    - ``unit``, ``levels``, ``width``, ``spread``: See :class:`Quantile`.

    >>> Absolute().text
    'absolute'
    """

    name: ClassVar[str] = "absolute"

    @property
    def text(self) -> str:
        return self.name
