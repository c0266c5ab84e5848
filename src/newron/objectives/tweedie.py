"""Counts, positive values and what is between: Tweedie deviances with a log link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.objectives.base import CoreLoss, TargetScale
from newron.objectives.regression import Regression

_LARGEST = 40.0  # of a score, in units of the mean: as in the compiled core


@dataclass(frozen=True)
class Tweedie(Regression):
    """Half the Tweedie deviance of positive targets, whose mean is exp(score).

    The variance of a target is proportional to its mean to some power: many zeros and
    positive values between, as the claims of a year.

    - ``unit``: See :class:`Regression`.
    - ``power``: Between 1 (Poisson) and 2 (gamma).

    >>> objective = Tweedie(power=1.5)
    >>> objective.loss(np.array([[1.0]]), np.array([[0.0]])).round(12) + 0.0
    array([0.])
    >>> objective.text
    'tweedie:1.5'
    """

    power: float = 1.5

    name = "tweedie"
    link_name = "log"

    def __post_init__(self) -> None:
        """Check the power."""
        if not 1.0 <= self.power <= 2.0:
            raise InputError(f"objective tweedie: expected a power from 1 to 2, got {self.power}")

    @property
    def text(self) -> str:
        return f"tweedie:{self.power:g}"

    @property
    def core(self) -> CoreLoss:
        return CoreLoss("tweedie", self.power, 1.0 / self.unit)

    # ---- targets ----

    def check_targets(self, y: Floats) -> None:
        if self.power >= 2.0:
            if not np.all(y > 0.0):
                raise InputError(
                    f"objective {self.name}: expected targets above 0, got {float(y.min()):g}; "
                    'with zeros choose "tweedie" or "poisson"'
                )
            return
        if not np.all(y >= 0.0):
            raise InputError(
                f"objective {self.name}: expected targets from 0 on, got {float(y.min()):g}"
            )
        if not np.all(y.sum(axis=0) > 0.0):
            raise InputError(f"objective {self.name}: expected a target above 0, got zeros alone")

    def absorb_offset(self, y: Floats, offset: Floats) -> tuple[Floats, Floats]:
        # The deviance of y with mean e·m is e^(2-p) times that of y/e with mean m.
        return y / np.exp(offset)[:, None], np.exp((2.0 - self.power) * offset)

    def learn_scale(self, y: Floats, weight: Floats) -> TargetScale:
        mean = np.maximum(weight @ y / weight.sum(), 1e-300)
        return TargetScale(np.log(mean), np.ones(self.n_scores))

    def scale_targets(self, y: Floats, scale: TargetScale) -> Floats:
        return np.asarray(y / np.exp(scale.shift))

    def encode_core(self, targets: Floats) -> NDArray[np.float32]:
        both = np.concatenate([targets, self._saturate(targets)], axis=1)
        return np.ascontiguousarray(both, np.float32)

    def _saturate(self, y: Floats) -> Floats:
        """Return what makes the loss of a perfect score 0."""
        rise, fall = 2.0 - self.power, 1.0 - self.power
        with np.errstate(divide="ignore", invalid="ignore"):
            if fall == 0.0:
                return np.where(y > 0.0, y * np.log(y) - y, 0.0)
            if rise == 0.0:
                return np.asarray(-np.log(y) - 1.0)
        return np.asarray(y**rise / (fall * rise))

    # ---- scores and means ----

    def link(self, mean: Floats) -> Floats:
        return np.log(np.maximum(mean, 1e-300))

    def inverse_link(self, scores: Floats) -> Floats:
        return np.exp(np.clip(scores, -_LARGEST, _LARGEST))

    # ---- the loss ----

    def _take_parts(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats, Floats]:
        z = np.clip(scores, -_LARGEST, _LARGEST)
        return z, np.exp((2.0 - self.power) * z), targets * np.exp((1.0 - self.power) * z)

    def _measure(self, targets: Floats, scores: Floats) -> Floats:
        z, up, down = self._take_parts(targets, scores)
        rise, fall = 2.0 - self.power, 1.0 - self.power
        first = z if rise == 0.0 else up / rise
        second = -targets * z if fall == 0.0 else -down / fall
        return np.asarray(first + second + self._saturate(targets))

    def _differentiate(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        _, up, down = self._take_parts(targets, scores)
        return up - down, (2.0 - self.power) * up - (1.0 - self.power) * down


@dataclass(frozen=True)
class Poisson(Tweedie):
    """Half the Poisson deviance of counts or rates, whose mean is exp(score).

    The variance may be any multiple of the mean (quasi-Poisson): it is estimated.

    - ``unit``: See :class:`Regression`.

    >>> Poisson().expand(np.array([[3.0]]), np.array([[0.0]])).gradient
    array([[-2.]])
    """

    power: float = 1.0

    name: ClassVar[str] = "poisson"

    @property
    def text(self) -> str:
        return self.name


@dataclass(frozen=True)
class Gamma(Tweedie):
    """Half the gamma deviance of positive values, whose mean is exp(score).

    - ``unit``: See :class:`Regression`.

    >>> Gamma().expand(np.array([[3.0]]), np.array([[0.0]])).gradient
    array([[-2.]])
    """

    power: float = 2.0

    name: ClassVar[str] = "gamma"

    @property
    def text(self) -> str:
        return self.name
