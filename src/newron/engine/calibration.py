"""How far the scores of few rows may go, by leaving each row out.

The evidence finds how much every curve bends, from a normal approximation that is biased where
classes are separated well (scores come out too small) and where there is little signal (too
large). Of several classes, each is solved for given the others, as if these were known: where
classes are separated well, prior variances come out too small. What each row's score would be
without that row follows from the posterior, without another fit. The loss of these scores finds a
factor of the scores, and says whether wider priors of several classes are better for sure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from newron.engine.additive import Additive, Stage, widen_priors
from newron.model.arithmetic import Floats

_WIDER, _MOST_TIMES = 2.0, 4  # the prior variances, and how often
_SURE = 2.0  # standard errors by which wider priors must be better
_SPREAD = 0.5  # of the scores' factor's logarithm before anything is seen
_FARTHEST = 1.5  # its logarithm at most
_PRECISION = 1e-6


@dataclass(frozen=True, eq=False)
class _Stretch:
    """A factor of the scores around their means, and each row's loss when it is left out."""

    factor: float
    means: Floats
    losses: Floats


def calibrate(model: Additive, stage: Stage | None = None) -> Additive:
    """Return an additive model of classes on few rows with scaled scores, maybe wider priors.

    Where columns have directions the priors stay: wider ones would bend curves the other way.
    """
    best = _find_stretch(model)
    is_free = model.n_outputs > 1 and not any(model.directions)
    for _ in range(_MOST_TIMES if is_free else 0):
        wider = widen_priors(model, _WIDER, stage)
        found = _find_stretch(wider)
        if not _is_sure(model, best.losses - found.losses):
            break
        model, best = wider, found
    model.stretch_scores(best.factor, best.means)
    return model


def _is_sure(model: Additive, gain: Floats) -> bool:
    """Return whether a gain of rows is more than chance would give."""
    take, table = model.table.rows.take, model.table
    weight, count = take(None, table.weight), take(None, model.likelihood.sought.count)
    mean = float(weight @ gain / weight.sum())
    error = np.sqrt(weight**2 / np.maximum(count, 1.0) @ (gain - mean) ** 2) / weight.sum()
    return mean > _SURE * float(error)


def _find_stretch(model: Additive) -> _Stretch:
    """Return the factor of the lowest loss when each row is left out."""
    likelihood, table = model.likelihood, model.table
    sought, take = likelihood.sought, table.rows.take
    weight, targets = take(None, table.weight), take(None, sought.targets)
    scores = np.stack([take(None, part) for part in model.scores], axis=1)
    means = weight @ scores / weight.sum()
    apart = model.leave_out() - means

    def lose(factor: float) -> Floats:
        return likelihood.objective.loss(targets, means + factor * apart)

    def measure(logarithm: float) -> float:
        return float(weight @ lose(np.exp(logarithm))) + 0.5 * (logarithm / _SPREAD) ** 2

    bounds = (-_FARTHEST, _FARTHEST)
    found = minimize_scalar(measure, bounds=bounds, method="bounded", options={"xatol": _PRECISION})
    factor = float(np.exp(found.x))
    return _Stretch(factor, means, lose(factor))
