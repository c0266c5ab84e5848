"""The last layer's weights, refitted: a small convex problem, solved by Newton steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.objectives import Expansion
from newron.training.problem import Problem

_STEPS = 50
_DONE = 1e-9  # of the loss of one row, by which a step must promise to lower the sum


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
        """Return the scores of all rows."""
        table = np.zeros((self.features.shape[1], n_outputs))
        np.add.at(table, (self.term, self.output), self.value)
        return np.asarray(self.features @ table)


def gather_gradient(weights: Weights, gradient: Floats) -> Floats:
    """Return the derivative of the loss by each weight, the ridge apart."""
    table = weights.features.T @ gradient
    return np.asarray(table[weights.term, weights.output])


def cross(a: Weights, b: Weights, expansion: Expansion) -> Floats:
    """Return the second derivatives of the loss by weights of a and of b, the ridge apart."""
    out = np.zeros((len(a.term), len(b.term)))
    n_outputs = expansion.gradient.shape[1]
    for k in range(n_outputs):
        rows = np.flatnonzero(a.output == k)
        left = a.features[:, a.term[rows]].T
        for m in range(k if a is b else 0, n_outputs):
            columns = np.flatnonzero(b.output == m)
            curve = expansion.curvature(k, m)
            if curve is None or not len(rows) or not len(columns):
                continue
            block = left @ (b.features[:, b.term[columns]] * curve[:, None])
            out[np.ix_(rows, columns)] = block
            if a is b and m > k:
                out[np.ix_(columns, rows)] = block.T
    return out


def apply_curvature(expansion: Expansion, change: Floats) -> Floats:
    """Return how the gradient changes with the scores, to first order."""
    out = np.zeros(change.shape)
    for k in range(change.shape[1]):
        for m in range(change.shape[1]):
            curve = expansion.curvature(k, m)
            if curve is not None:
                out[:, k] += curve * change[:, m]
    return out


def pick_weights(weights: Weights, kept: NDArray[np.intp]) -> Weights:
    """Return some of the weights."""
    parts = ("term", "output", "ridge", "side", "value")
    return replace(weights, **{name: getattr(weights, name)[kept] for name in parts})


def refit(problem: Problem, weights: Weights) -> Weights:
    """Return the weights of the lowest loss and ridge, from these on."""
    n_outputs = problem.targets.shape[1]
    value = _clip(weights.value, weights.side)
    now = _measure(problem, weights, value, n_outputs)
    for _ in range(_STEPS):
        here = replace(weights, value=value)
        expansion = problem.expand(here.score(n_outputs))
        gradient = gather_gradient(here, expansion.gradient) + weights.ridge * value
        free = ~((weights.side != 0.0) & (value == 0.0) & (gradient * weights.side > 0.0))
        curve = cross(here, here, expansion)[np.ix_(free, free)] + np.diag(weights.ridge[free])
        step = np.zeros(len(value))
        step[free] = -np.linalg.solve(curve, gradient[free])
        promised = -float(gradient @ step)
        if promised <= _DONE * float(problem.weight.sum()):
            break
        value, now, moved = _walk(problem, weights, value, step, now)
        if not moved:
            break
    return replace(weights, value=value)


def _walk(
    problem: Problem, weights: Weights, value: Floats, step: Floats, now: float
) -> tuple[Floats, float, bool]:
    """Go along a step as far as it lowers the loss."""
    length = 1.0
    while length > 1e-6:
        trial = _clip(value + length * step, weights.side)
        loss = _measure(problem, weights, trial, problem.targets.shape[1])
        if loss < now:
            return trial, loss, True
        length *= 0.5
    return value, now, False


def _clip(value: Floats, side: Floats) -> Floats:
    return np.asarray(np.where(side * value < 0.0, 0.0, value))


def _measure(problem: Problem, weights: Weights, value: Floats, n_outputs: int) -> float:
    loss = problem.measure_likelihood(replace(weights, value=value).score(n_outputs))
    return loss + 0.5 * float(weights.ridge @ value**2)
