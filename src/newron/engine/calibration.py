"""How sure the scores of few rows should be: one factor, by leaving each row out.

The evidence finds how much every curve bends, from a normal approximation that is biased where
classes are told apart well (scores come out too small) and where there is little to tell (too
large). What each row's score would be without that row follows from the posterior, without
another fit; the factor is that of the lowest loss of these scores.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from newron.engine.additive import Additive
from newron.model.arithmetic import Floats

_SPREAD = 0.5  # of the factor's logarithm before anything is seen
_FARTHEST = 1.5  # its logarithm at most
_MIN_FREE = 0.05  # of a row's own part that it leaves to the others
_PRECISION = 1e-6


def calibrate(model: Additive) -> None:
    """Scale the scores of an additive model of classes on few rows, around their means."""
    likelihood, table = model.likelihood, model.table
    sought, take = likelihood.sought, table.rows.take
    weight, targets = take(None, table.weight), take(None, sought.targets)
    scores = np.stack([take(None, part) for part in model.scores], axis=1)
    means = weight @ scores / weight.sum()
    apart = _leave_out(model, scores, take(None, sought.count)) - means

    def measure(logarithm: float) -> float:
        moved = means + np.exp(logarithm) * apart
        loss = float(weight @ likelihood.objective.loss(targets, moved))
        return loss + 0.5 * (logarithm / _SPREAD) ** 2

    bounds = (-_FARTHEST, _FARTHEST)
    found = minimize_scalar(measure, bounds=bounds, method="bounded", options={"xatol": _PRECISION})
    model.stretch_scores(float(np.exp(found.x)), means)


def _leave_out(model: Additive, scores: Floats, count: Floats) -> Floats:
    """Return what the score of every row would be had it not been there, once."""
    functions = model.expand_rows()
    out, copies = np.empty_like(scores), np.maximum(count, 1.0)
    for k, (gradient, curvature) in enumerate(model.differentiate(None)):
        variance = model.at.posteriors[k].spread(functions, slice(None)) ** 2
        free = np.maximum(1.0 - variance * curvature / copies, _MIN_FREE)
        out[:, k] = scores[:, k] - variance * gradient / (copies * free)
    return out
