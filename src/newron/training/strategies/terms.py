"""Terms of three columns in smooth networks: what curves and pairs cannot express.

Terms of up to three conditions are grown on top of the engine's scores, those that each row would
have without itself. Where validation rows say that these help, the engine is fitted once more with
the terms as columns beside the table's: the evidence weighs them together with all curves. They
are kept where that network is clearly better on the validation rows of all folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from newron.engine import EngineFit, TermColumns
from newron.engine.residuals import measure_rest
from newron.engine.screening import WIDE
from newron.model.arithmetic import Floats
from newron.training.binned import fit_pairs, try_binned
from newron.training.context import FitContext
from newron.training.folds import Fold, choose_size, split_folds
from newron.training.growing import GrowPlan, evaluate_terms, grow
from newron.training.specification import FitResult, Specification
from newron.training.strategies.growth import Growth, start_growth
from newron.training.training_set import TrainingSet

_ROWS = 5_000  # distinct rows on which terms are grown
_EVIDENCE = 3.0  # standard errors by which trees must explain what is left over, on many rows
_GAIN = 0.02  # of the loss, by terms on the validation rows of one fold, and of all
_MANY_SCORES = 10  # of classes, beyond which terms are not tried
_PLAN = GrowPlan(max_terms=40, max_conditions=3, ridge=2.0, least_weight=2.0)


@dataclass(frozen=True)
class TermPlan:
    """How many terms a smooth network has beside its curves and pairs."""

    spec: Specification
    context: FitContext
    n_terms: int

    def fit(self, rows: TrainingSet, additive: EngineFit | None = None) -> EngineFit:
        """Fit the engine with terms, which are grown on top of its fit without."""
        aside = self.context.aside()
        fitted = fit_pairs(rows, self.spec, aside) if additive is None else additive
        growth = _start(rows.take_first(_ROWS), self.spec, aside, fitted)
        shape, _ = grow(growth.task, growth.plan.with_terms(self.n_terms), aside)
        terms = TermColumns.choose(growth.decoder.make_model(shape), rows.X)
        return fitted if terms is None else fit_pairs(rows, self.spec, self.context, terms)

    def try_rows(self, rows: TrainingSet) -> FitResult:
        """Fit to some rows, to measure on others."""
        return try_binned(self.fit(rows))


def plan_terms(
    data: TrainingSet, spec: Specification, context: FitContext, fitted: EngineFit
) -> TermPlan | None:
    """Return how many terms are worth a comparison, or None where none are.

    ``fitted`` is the engine's fit to all rows.
    """
    hidden = len(spec.architecture.layers) > 1
    small = data.X.shape[1] <= WIDE and spec.objective.n_scores <= _MANY_SCORES
    if not hidden or not small or data.whole is not None:
        return None
    if not fitted.parts[0].is_few and max(map(measure_rest, fitted.parts)) < _EVIDENCE:
        return None
    rows = data.take_first(_ROWS)
    folds = split_folds(rows, spec.objective, context.spawn())
    if not folds:
        return None
    growth = _start(rows, spec, context, fitted)
    if not _gains(_follow(growth, folds[:1]), _GAIN):
        return None
    losses = _follow(growth, folds)
    size = choose_size(losses)
    return TermPlan(spec, context, size) if size and _gains(losses, _GAIN) else None


def _gains(losses: Floats, part: float) -> bool:
    mean = losses.mean(axis=0)
    return bool(mean.min() < (1.0 - part) * mean[0])


def _follow(growth: Growth, folds: Sequence[Fold]) -> Floats:
    """Return the losses of growing on folds, of shape (folds, numbers of terms)."""
    return evaluate_terms([growth.task] * len(folds), growth.plan, folds)


def _start(
    rows: TrainingSet, spec: Specification, context: FitContext, fitted: EngineFit
) -> Growth:
    """Return a growth on top of the engine's scores, on few rows of each row without itself."""
    growth = start_growth(rows, spec, context)
    if fitted.parts[0].is_few:
        left = np.concatenate([part.leave_out() for part in fitted.parts], axis=1)
        scores = fitted.scale.undo(left)
    else:
        scores = fitted.model.score_rows(rows.X)
    base = growth.decoder.target_scale.apply(scores)
    table = replace(growth.task.table, base=base)
    return replace(growth, task=replace(growth.task, table=table), plan=_PLAN)
