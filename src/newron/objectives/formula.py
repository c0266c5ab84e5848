"""Losses of one's own, written in the language of ``newron.neurons``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.optimize import brentq

from newron.errors import InputError
from newron.expressions.tape import Tape, record
from newron.expressions.tracing import Term, where
from newron.expressions.tree import (
    Expression,
    Number,
    Parameter,
    add,
    bound,
    multiply,
    substitute,
    subtract,
)
from newron.model.arithmetic import Floats
from newron.neurons import maximum
from newron.neurons.builtin import LOSSES
from newron.neurons.loss import Loss
from newron.objectives.base import CoreLoss, Objective, TargetScale
from newron.objectives.regression import Regression, measure_spread, scale_robustly

_REACH = 40.0  # of scores from the best constant, in units of the loss
_MANY = 4096  # targets beyond which their least losses are interpolated
_NEAR = 0.05  # errors below it do not make the curvature larger
_LARGEST = 1e15  # of targets: their squares are within single precision
_SCORE, _TARGET = Parameter("score"), Parameter("target")


@dataclass(frozen=True)
class Formula(Regression):
    """A loss of one's own for regression, with the scale on which it is trained.

    The loss is one of scores and targets in the user's units. Scores are trained on a scale, so
    the formula that is differentiated has ``shift + scale * score`` for the score, and with the
    identity link the same for the target.

    - ``unit``: See :class:`Regression`.
    - ``shift``, ``scale``: Of the scores, one for each.
    - ``least``: The mean loss of perfect scores, which is subtracted.

    >>> from newron.neurons import objective
    >>> @objective
    ... def fourth(score, target):
    ...     return (score - target) ** 4
    >>> Formula(definition=fourth).loss(np.array([[1.0]]), np.array([[3.0]]))
    array([16.])
    """

    definition: Loss = LOSSES["squared"]
    shift: tuple[float, ...] = (0.0,)
    scale: tuple[float, ...] = (1.0,)
    least: float = 0.0

    name = "formula"

    @property
    def text(self) -> str:
        return self.definition.text

    @property
    def link_name(self) -> str:  # type: ignore[override]
        return self.definition.link

    @property
    def core(self) -> CoreLoss:
        return CoreLoss("formula", 0.0, 1.0 / self.unit, codes=self._tapes)

    @property
    def _is_identity(self) -> bool:
        return self.definition.link == "identity"

    # ---- the formula on its scale ----

    @cached_property
    def _tapes(self) -> tuple[Tape, ...]:
        """Loss, gradient and curvature of each score."""
        known = {at: self._make_tape(*at) for at in dict.fromkeys(self._scales)}
        return tuple(known[at] for at in self._scales)

    @property
    def _scales(self) -> list[tuple[float, float]]:
        pairs = list(zip(self.shift, self.scale, strict=True))
        return pairs if len(pairs) == self.n_scores else pairs * self.n_scores

    def _make_tape(self, shift: float, scale: float) -> Tape:
        # A loss of the error alone needs no shift, which would cost digits.
        moved = 0.0 if self._is_identity and self.definition.of_error else shift
        score = _scale(_SCORE if self._is_identity else bound(_SCORE, _REACH), moved, scale)
        target = _scale(_TARGET, moved, scale) if self._is_identity else _TARGET
        formula = substitute(self.definition.formula, {"score": score, "target": target})
        value = subtract(formula, Number(self.least))
        slope = record(value, ("score", "target")).differentiate("score", even=True)
        both = slope.differentiate("score", output=1, even=True)
        results = (Parameter("value"), Parameter("slope"), self._bend().expression)
        return both.then(results, ("value", "slope", "curve"))

    def _bend(self) -> Term:
        """Return the curvature, which must be above 0.

        Where it is not, that of the parabola with the slope at the score and its least value at
        the target; of scores without units, the slope.
        """
        slope, curve = Term(Parameter("slope")), Term(Parameter("curve"))
        far = abs(Term(_SCORE) - Term(_TARGET)) if self._is_identity else 1.0
        secant = abs(slope) / maximum(far, _NEAR)
        return maximum(where(curve > 1e-9 * secant, curve, secant), 1e-9)

    def _evaluate(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats, Floats]:
        columns = [
            tape.evaluate({"score": scores[:, k], "target": targets[:, k]})
            for k, tape in enumerate(self._tapes)
        ]
        value, slope, curve = (np.stack(each, axis=1) for each in zip(*columns, strict=True))
        return value, slope, curve

    def _measure(self, targets: Floats, scores: Floats) -> Floats:
        return self._evaluate(targets, scores)[0]

    def _differentiate(self, targets: Floats, scores: Floats) -> tuple[Floats, Floats]:
        return self._evaluate(targets, scores)[1:]

    # ---- what depends on the rows ----

    def split(self) -> list[Objective]:
        alone = replace(self, n_scores=1, unit=1.0, least=0.0)
        return [replace(alone, shift=(shift,), scale=(scale,)) for shift, scale in self._scales]

    def adapt(self, targets: Floats, weight: Floats) -> Self:
        plain = replace(self, unit=1.0, least=0.0)
        least = float(weight @ plain._find_least(targets)) / float(weight.sum())
        return super(Formula, replace(plain, least=least / self.n_scores)).adapt(targets, weight)

    def _find_least(self, targets: Floats) -> Floats:
        """Return the least loss of each row, whatever its scores."""
        total = np.zeros(len(targets))
        for k, tape in enumerate(self._tapes):
            values, places = np.unique(targets[:, k], return_inverse=True)
            if self._is_identity and self.definition.of_error:
                total += _minimise(tape, values[:1], self._reach(values))
            elif len(values) <= _MANY:
                total += _minimise(tape, values, self._reach(values))[places]
            else:
                some = np.unique(values[np.linspace(0, len(values) - 1, _MANY).astype(np.intp)])
                total += np.interp(targets[:, k], some, _minimise(tape, some, self._reach(some)))
        return total

    def _reach(self, values: Floats) -> float:
        if not self._is_identity:
            return 0.999 * _REACH  # where the slope is not yet that of the bound
        return _REACH + 2.0 * float(np.abs(values).max(initial=0.0))

    # ---- targets ----

    def check_targets(self, y: Floats) -> None:
        low, high = self.definition.targets
        low, high = max(low, -_LARGEST), min(high, _LARGEST)
        if not np.all((y >= low) & (y <= high)):
            wrong = float(y[~((y >= low) & (y <= high))][0])
            raise InputError(
                f"objective {self.text}: expected targets from {low:g} to {high:g}, got {wrong:g}"
            )

    def absorb_offset(self, y: Floats, offset: Floats) -> tuple[Floats, Floats]:
        if self._is_identity and self.definition.of_error:
            return super().absorb_offset(y, offset)
        raise InputError(
            f"objective {self.text}: expected a loss of score - target alone to have an offset, "
            "got another one; newron's poisson, gamma and tweedie take offsets"
        )

    def learn_scale(self, y: Floats, weight: Floats) -> TargetScale:
        if self._is_identity:
            return scale_robustly(y, weight, self.n_scores)
        tape = record(self.definition.formula, ("score", "target")).differentiate(
            "score", even=True
        )
        reach = 600.0 if self.definition.unit_free else _LARGEST
        start = np.array([_find_best(tape, column, weight, reach) for column in y.T])
        if self.definition.unit_free:
            return TargetScale(start, np.ones(self.n_scores))
        slope = self.definition.inverse_link.training_tape.evaluate({"x": start})[1]
        spread = [max(measure_spread(column, weight), 1e-300) for column in y.T]
        return TargetScale(start, np.array(spread) / np.maximum(slope, 1e-12))

    def settle(self, scale: TargetScale) -> Self:
        return replace(self, shift=tuple(scale.shift.tolist()), scale=tuple(scale.scale.tolist()))

    def scale_targets(self, y: Floats, scale: TargetScale) -> Floats:
        return scale.apply(y) if self._is_identity else y

    # ---- scores and means ----

    def link(self, mean: Floats) -> Floats:
        if self._is_identity:
            return mean
        low, high = np.full_like(mean, -_REACH), np.full_like(mean, _REACH)
        for _ in range(60):
            middle = 0.5 * (low + high)
            under = self.inverse_link(middle) < mean
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return np.asarray(0.5 * (low + high))

    def inverse_link(self, scores: Floats) -> Floats:
        if self._is_identity:
            return scores
        return self.definition.inverse_link.value(
            scores * np.array(self.scale) + np.array(self.shift)
        )

    def start_scores(self, targets: Floats, weight: Floats) -> Floats:
        reach, columns = self._reach(targets), zip(self._tapes, targets.T, strict=True)
        return np.array([_find_best(tape, column, weight, reach) for tape, column in columns])

    # ---- what is printed ----

    def evaluate(self, targets: Floats, scores: Floats, weight: Floats) -> float:
        # Perfect scores need not have the loss 0.
        plain = replace(self, unit=1.0, least=0.0)
        start = np.broadcast_to(self.start_scores(targets, weight), targets.shape)
        least = float(weight @ plain._find_least(targets))
        lost, null = (
            float(weight @ plain._measure(targets, each).sum(axis=1)) - least
            for each in (scores, start)
        )
        return 1.0 - lost / (null if null > 0.0 else 1.0)


@dataclass(frozen=True)
class FormulaClasses(Formula):
    """A loss of one's own for two classes, whose log-odds are the score.

    It counts as a negative log-likelihood: twice the loss has half the decay.

    - ``unit``, ``definition``, ``shift``, ``scale``, ``least``: See :class:`Formula`.

    >>> from newron.neurons import exp, objective, sigmoid
    >>> @objective(inverse_link=sigmoid)
    ... def boosting(score, target):
    ...     return exp((0.5 - target) * score)
    >>> FormulaClasses(definition=boosting).loss(np.array([[1.0]]), np.array([[0.0]]))
    array([1.])
    """

    metric = "accuracy"
    stratified = True
    has_dispersion = False

    @property
    def likelihood_factor(self) -> float:
        return 1.0

    @property
    def core(self) -> CoreLoss:
        return CoreLoss("formula", codes=self._tapes, two_classes=True)

    def split(self) -> list[Objective]:
        return [self]

    def adapt(self, targets: Floats, weight: Floats) -> Self:
        del targets, weight
        return self

    def learn_scale(self, y: Floats, weight: Floats) -> TargetScale:
        del y, weight
        return TargetScale.identity(1)

    def score_rows(self, targets: Floats, scores: Floats) -> Floats:
        return np.asarray((scores[:, 0] >= 0.0) == (targets[:, 0] >= 0.5), np.float64)

    def evaluate(self, targets: Floats, scores: Floats, weight: Floats) -> float:
        return float(np.average(self.score_rows(targets, scores), weights=weight))


def _scale(part: Expression, shift: float, scale: float) -> Expression:
    scaled = multiply(Number(scale), part)
    return scaled if shift == 0.0 else add(scaled, Number(shift))


def _find_best(tape: Tape, targets: Floats, weight: Floats, reach: float) -> float:
    """Return the score at which the loss of all targets is least."""
    values, places = np.unique(targets, return_inverse=True)
    counts = np.bincount(places, weight)
    some = np.unique(np.linspace(0, len(values) - 1, _MANY).astype(np.intp))
    grid = _spread(reach)
    rough = [counts[some] @ _run(tape, score, values[some])[0] for score in grid]
    best = int(np.argmin(rough))
    low, high = grid[max(best - 2, 0)], grid[min(best + 2, len(grid) - 1)]

    def pull(score: float) -> float:
        return float(counts @ _run(tape, score, values)[1])

    if pull(low) < 0.0 < pull(high):
        return float(brentq(pull, low, high, xtol=1e-12, rtol=1e-12))
    return float(grid[best])  # it falls or rises all the way


def _minimise(tape: Tape, targets: Floats, reach: float) -> Floats:
    """Return the least loss of each target: on a grid, then where the slope turns."""
    grid = _spread(reach)
    values = np.stack([_run(tape, score, targets)[0] for score in grid])
    best = np.argmin(values, axis=0)
    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, len(grid) - 1)]
    for _ in range(50):
        middle = 0.5 * (low + high)
        falls = _run(tape, middle, targets)[1] < 0.0
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    return np.asarray(np.minimum(values.min(axis=0), _run(tape, high, targets)[0]))


def _run(tape: Tape, score: Floats | float, targets: Floats) -> list[Floats]:
    return tape.evaluate({"score": np.broadcast_to(score, targets.shape), "target": targets})


def _spread(reach: float) -> Floats:
    """Return places from -reach to reach, denser around 0."""
    half = np.sinh(np.linspace(0.0, np.arcsinh(reach), 40))
    return np.concatenate([-half[:0:-1], half])
