"""The protocol of objectives, and the scale on which targets are trained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from newron.expressions.tape import Tape
from newron.model.arithmetic import Floats


class CoreLoss(NamedTuple):
    """A loss of the compiled core.

    - ``parameter``: Of a Tweedie loss the power, of Huber's where it bends, of quantiles the
      smoothing.
    - ``factor``: Of the loss.
    - ``levels``: Of quantiles, one for each output.
    - ``codes``: Of a loss of one's own: value, slope and curvature by score and target, of each
      output.
    - ``two_classes``: Of a loss of one's own: whether a score from 0 on is the second class.

    >>> from newron.objectives import Tweedie
    >>> Tweedie(power=1.7).core[:3]
    ('tweedie', 1.7, 1.0)
    """

    name: str
    parameter: float = 0.0
    factor: float = 1.0
    levels: tuple[float, ...] = ()
    codes: tuple[Tape, ...] = ()
    two_classes: bool = False


@dataclass(frozen=True)
class TargetScale:
    """How targets are centred and scaled for training: (y - shift) / scale.

    >>> scale = TargetScale(np.array([10.0]), np.array([2.0]))
    >>> scale.apply(np.array([[14.0]])), scale.undo(np.array([[2.0]]))
    (array([[2.]]), array([[14.]]))
    """

    shift: Floats
    scale: Floats

    @classmethod
    def identity(cls, n_scores: int) -> TargetScale:
        """Return the scale that changes nothing."""
        return cls(np.zeros(n_scores), np.ones(n_scores))

    @property
    def is_identity(self) -> bool:
        """Whether the scale changes nothing."""
        return bool(np.all(self.shift == 0.0) and np.all(self.scale == 1.0))

    def apply(self, values: Floats) -> Floats:
        """Return values in the units of the loss."""
        return np.asarray((values - self.shift) / self.scale)

    def undo(self, values: Floats) -> Floats:
        """Return values in the units of the targets."""
        return np.asarray(values * self.scale + self.shift)

    def then(self, outer: TargetScale) -> TargetScale:
        """Return the scale whose ``undo`` is this one's followed by the outer one's."""
        return TargetScale(outer.undo(self.shift), self.scale * outer.scale)


@dataclass(frozen=True)
class Expansion:
    """A loss around some scores, to second order, row by row.

    - ``curvature``: ``curvature(k, m)`` returns the second derivatives by scores k and m, of shape
      (rows,), or None where they are 0.

    >>> from newron.objectives import Binary
    >>> expansion = Binary().expand(np.array([[1.0]]), np.array([[0.0]]))
    >>> expansion.gradient, expansion.curvature(0, 0)
    (array([[-0.5]]), array([0.25]))
    """

    gradient: Floats
    curvature: Callable[[int, int], Floats | None]


@dataclass(frozen=True)
class Objective(ABC):
    """A loss, and everything that training and reading want to know of it.

    *Targets* are of shape (rows, n_scores) and in the space of means: probabilities for
    classes (1 for the class of the row), scaled values for regression. *Scores* are what
    a network puts out, of the same shape. The methods work row by row and do not weigh.

    - ``n_scores``: Output neurons of a network.

    - ``name``: As users write it.
    - ``link_name``: How predictions follow from scores, as a model's output says it.
    - ``metric``: What ``evaluate`` measures, as it is printed.
    - ``stratified``: Whether folds keep the proportions of the targets' values.
    - ``has_dispersion``: Whether the likelihood has a scale of its own, such as the variance of
      noise.

    A new objective is one file and one line in ``OBJECTIVES``; to be trained by gradients
    or grown it needs a loss in the compiled core, see ``core``.

    >>> from newron.objectives import OBJECTIVES
    >>> sorted(OBJECTIVES)[:3]
    ['absolute', 'binary', 'categorical']
    """

    n_scores: int

    name: ClassVar[str]
    link_name: ClassVar[str] = "identity"
    metric: ClassVar[str]
    stratified: ClassVar[bool] = False
    has_dispersion: ClassVar[bool] = False

    @property
    def likelihood_factor(self) -> float:
        """What turns the loss into a negative log-likelihood, against which a ridge is set."""
        return 1.0

    @property
    def follows(self) -> bool:
        """Whether residuals determine something of it, see ``follow``."""
        return self.has_dispersion

    @property
    def text(self) -> str:
        """The objective as users write it, such as "quantile:0.9"."""
        return self.name

    @property
    def core(self) -> CoreLoss:
        """The compiled core's loss."""
        return CoreLoss(self.name)

    def split(self) -> list[Objective]:
        """Return an objective for each output where they have nothing in common, else this one."""
        return [self]

    # ---- what depends on the rows ----

    def adapt(self, targets: Floats, weight: Floats) -> Self:
        """Return the objective with the constants that targets determine."""
        del targets, weight
        return self

    def follow(self, targets: Floats, scores: Floats, weight: Floats) -> Self:
        """Return the objective with the constants that residuals determine."""
        del targets, scores, weight
        return self

    def center(self, targets: Floats, scores: Floats, weight: Floats) -> Floats | None:
        """Return what to add to all scores so that the loss's own statistic holds, if any."""
        del targets, scores, weight
        return None

    # ---- targets ----

    def check_targets(self, y: Floats) -> None:
        """Raise where a target is none of this objective."""
        del y

    def absorb_offset(self, y: Floats, offset: Floats) -> tuple[Floats, Floats]:
        """Return targets and weights that make an offset of the scores superfluous.

        - ``offset`` of shape (rows,): What is added to the scores of each row.

        Returned: the factors are those of the rows' weights.
        """
        return y - offset[:, None], np.ones(len(y))

    def learn_scale(self, y: Floats, weight: Floats) -> TargetScale:
        """Return the scale on which targets are trained; by default their own."""
        del y, weight
        return TargetScale.identity(self.n_scores)

    def settle(self, scale: TargetScale) -> Self:
        """Return the objective for scores on a scale, where it must know it."""
        del scale
        return self

    def scale_targets(self, y: Floats, scale: TargetScale) -> Floats:
        """Return targets in the units of the loss; ``scale`` is that of the scores."""
        return scale.apply(y)

    def encode_targets(self, y: Floats) -> Floats:
        """Return targets as means.

        - ``y`` of shape (rows, columns): Scaled values, or class numbers.
        """
        return np.asarray(y, np.float64)

    def encode_core(self, targets: Floats) -> NDArray[np.float32]:
        """Return targets as the compiled core reads them."""
        return np.ascontiguousarray(targets, np.float32)

    # ---- scores and means ----

    @abstractmethod
    def link(self, mean: Floats) -> Floats:
        """Return the scores of means."""

    @abstractmethod
    def inverse_link(self, scores: Floats) -> Floats:
        """Return the means that scores stand for."""

    def start_scores(self, targets: Floats, weight: Floats) -> Floats:
        """Return the scores of the best constant prediction."""
        return self.link(weight @ targets / weight.sum())

    # ---- the loss ----

    @abstractmethod
    def loss(self, targets: Floats, scores: Floats) -> Floats:
        """Return the loss of each row."""

    @abstractmethod
    def expand(self, targets: Floats, scores: Floats) -> Expansion:
        """Return gradient and curvature of the loss of each row."""

    # ---- what is printed ----

    @abstractmethod
    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        """Return what each row adds to the metric's mean; higher is better."""

    def evaluate(self, targets: Floats, scores: Floats, weight: Floats) -> float:
        """Return the metric over weighted rows; higher is better."""
        return float(np.average(self.score_rows(targets, scores), weights=weight))


def scale_column(x: Floats, weight: Floats) -> tuple[float, float]:
    """Return the weighted mean and standard deviation; 1 for a constant column."""
    if not len(x):
        return 0.0, 1.0
    size = float(np.abs(x).max()) or 1.0
    small, fraction = x / size, weight / weight.sum()
    mean = float(np.sum(small * fraction))
    spread = float(np.sqrt(np.sum((small - mean) ** 2 * fraction)))
    # A spread at the level of rounding is that of a constant. Its inverse must be finite.
    return mean * size, max(spread * size if spread > 1e-14 else size, 1e-300)
