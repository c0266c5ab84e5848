"""The last layer's weights, refitted: a small convex problem, solved by Newton steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.training.fitting import Data, Plan, name_loss, scale_targets, weigh_rows
from newron.training.holdout import list_rows

__all__ = [
    "Bend",
    "Goal",
    "Weights",
    "bend_scores",
    "cross",
    "find_bend",
    "gather_slopes",
    "make_goal",
    "pick_weights",
    "refit",
]

_STEPS = 50
_DONE = 1e-9  # of the loss of one row, by which a step must promise to lower the sum


@dataclass(frozen=True)
class Goal:
    """What scores should be: the rows' targets, weights, and what they mean.

    ``kind`` is "binary", "categorical" or "squared"; ``targets`` are probabilities or
    amounts, of shape (rows, outputs).
    """

    kind: str
    targets: Floats
    weight: Floats

    def measure(self, scores: Floats) -> float:
        """Give the loss, summed over rows."""
        return float(self.weight @ self.measure_rows(scores))

    def measure_rows(self, scores: Floats) -> Floats:
        """Give the loss of each row, not weighed."""
        if self.kind == "squared":
            return np.asarray(0.5 * ((scores - self.targets) ** 2).sum(axis=1))
        if self.kind == "binary":
            return np.asarray(np.logaddexp(0.0, scores[:, 0]) - (self.targets * scores)[:, 0])
        top = scores.max(axis=1)
        norm = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
        return np.asarray(norm - (self.targets * scores).sum(axis=1))

    def expect(self, scores: Floats) -> Floats:
        """Give what the scores say of the targets."""
        if self.kind == "squared":
            return scores
        if self.kind == "binary":
            return np.asarray(0.5 + 0.5 * np.tanh(0.5 * scores))
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def make_goal(data: Data, plan: Plan) -> Goal:
    """Tell what the scores of rows should be, with weights of mean 1."""
    rows = list_rows(data)
    targets, weight = weigh_rows(data, plan, rows, scale_targets(data, plan, rows))
    kind = name_loss(plan.output)
    wanted = targets.astype(np.float64)
    if kind == "categorical":
        wanted = (wanted == np.arange(plan.output.n_scores)).astype(np.float64)
    return Goal(kind, wanted, weight)


@dataclass(frozen=True)
class Weights:
    """The weights of a last layer, one for each function and output it adds to.

    ``features`` are the functions' values, of shape (rows, functions); the first is 1
    and its weights are what every score begins with. Weight i is that of ``term[i]`` in
    the score ``output[i]``, has a ridge and stays on its ``side`` of 0 (0 for either).
    """

    features: Floats
    term: NDArray[np.intp]
    output: NDArray[np.intp]
    ridge: Floats
    side: Floats
    value: Floats

    def score(self, n_outputs: int) -> Floats:
        """Give the scores of all rows."""
        table = np.zeros((self.features.shape[1], n_outputs))
        np.add.at(table, (self.term, self.output), self.value)
        return np.asarray(self.features @ table)


@dataclass(frozen=True)
class Bend:
    """The loss around some scores: its slope and curvature by row."""

    slope: Floats  # (rows, outputs)
    odds: Floats
    weight: Floats
    kind: str

    def curve(self, k: int, m: int) -> Floats | None:
        """Give each row's second derivative by scores k and m; None for none."""
        if self.kind != "categorical":
            if k != m:
                return None
            own = self.odds[:, k] * (1.0 - self.odds[:, k]) if self.kind == "binary" else 1.0
            return np.asarray(self.weight * own)
        return np.asarray(self.weight * self.odds[:, k] * (float(k == m) - self.odds[:, m]))


def find_bend(goal: Goal, scores: Floats) -> Bend:
    """Give slope and curvature of the loss at these scores."""
    odds = goal.expect(scores)
    return Bend(goal.weight[:, None] * (odds - goal.targets), odds, goal.weight, goal.kind)


def gather_slopes(weights: Weights, slope: Floats) -> Floats:
    """Give the derivative of the loss by each weight, the ridge apart."""
    table = weights.features.T @ slope
    return np.asarray(table[weights.term, weights.output])


def cross(a: Weights, b: Weights, bend: Bend) -> Floats:
    """Give the second derivatives of the loss by weights of a and of b, the ridge apart."""
    out = np.zeros((len(a.term), len(b.term)))
    n_outputs = bend.slope.shape[1]
    for k in range(n_outputs):
        rows = np.flatnonzero(a.output == k)
        left = a.features[:, a.term[rows]].T
        for m in range(k if a is b else 0, n_outputs):
            columns = np.flatnonzero(b.output == m)
            curve = bend.curve(k, m)
            if curve is None or not len(rows) or not len(columns):
                continue
            block = left @ (b.features[:, b.term[columns]] * curve[:, None])
            out[np.ix_(rows, columns)] = block
            if a is b and m > k:
                out[np.ix_(columns, rows)] = block.T
    return out


def bend_scores(bend: Bend, change: Floats) -> Floats:
    """Give how the slopes change with the scores, to first order."""
    out = np.zeros(change.shape)
    for k in range(change.shape[1]):
        for m in range(change.shape[1]):
            curve = bend.curve(k, m)
            if curve is not None:
                out[:, k] += curve * change[:, m]
    return out


def pick_weights(weights: Weights, kept: NDArray[np.intp]) -> Weights:
    """Give some of the weights."""
    parts = ("term", "output", "ridge", "side", "value")
    return replace(weights, **{name: getattr(weights, name)[kept] for name in parts})


def refit(goal: Goal, weights: Weights) -> Weights:
    """Give the weights of the lowest loss and ridge, from these on."""
    n_outputs = goal.targets.shape[1]
    value = _clip(weights.value, weights.side)
    now = _measure(goal, weights, value, n_outputs)
    for _ in range(_STEPS):
        here = replace(weights, value=value)
        bend = find_bend(goal, here.score(n_outputs))
        slope = gather_slopes(here, bend.slope) + weights.ridge * value
        free = ~((weights.side != 0.0) & (value == 0.0) & (slope * weights.side > 0.0))
        curve = cross(here, here, bend)[np.ix_(free, free)] + np.diag(weights.ridge[free])
        step = np.zeros(len(value))
        step[free] = -np.linalg.solve(curve, slope[free])
        promised = -float(slope @ step)
        if promised <= _DONE * float(goal.weight.sum()):
            break
        value, now, moved = _walk(goal, weights, value, step, now)
        if not moved:
            break
    return replace(weights, value=value)


def _walk(
    goal: Goal, weights: Weights, value: Floats, step: Floats, now: float
) -> tuple[Floats, float, bool]:
    """Go along a step as far as it lowers the loss."""
    share = 1.0
    while share > 1e-6:
        trial = _clip(value + share * step, weights.side)
        loss = _measure(goal, weights, trial, goal.targets.shape[1])
        if loss < now:
            return trial, loss, True
        share *= 0.5
    return value, now, False


def _clip(value: Floats, side: Floats) -> Floats:
    return np.asarray(np.where(side * value < 0.0, 0.0, value))


def _measure(goal: Goal, weights: Weights, value: Floats, n_outputs: int) -> float:
    loss = goal.measure(replace(weights, value=value).score(n_outputs))
    return loss + 0.5 * float(weights.ridge @ value**2)
