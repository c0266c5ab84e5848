"""The strategy "grow": a Heaviside network, term by term."""

from __future__ import annotations

from newron.errors import InputError
from newron.training.context import FitContext
from newron.training.folds import split_folds
from newron.training.specification import FitResult, Specification
from newron.training.strategies.base import Strategy
from newron.training.strategies.growth import is_heaviside, plan_growth
from newron.training.strategies.shortening import walk_path
from newron.training.training_set import TrainingSet


class Grow(Strategy):
    """Grow a Heaviside network; folds choose the kind and number of its terms."""

    def fit(self, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
        """Fit by growing."""
        if not is_heaviside(spec.architecture):
            raise InputError(
                'recipe="grow" builds networks of steps: expected processing "heaviside" and '
                'aggregation "sum", got others; choose another recipe'
            )
        folds = split_folds(data, spec.objective, context.spawn())
        growth = plan_growth(data, spec, folds, context)
        folds = folds[: len(growth.tasks)]
        return walk_path(growth, folds, growth.fit(), growth.fit_folds(folds))
