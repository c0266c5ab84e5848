"""Training strategies, by the names that ``recipe=`` knows."""

from __future__ import annotations

from newron.training.context import FitContext
from newron.training.specification import FitResult, Specification
from newron.training.strategies.base import Gradient, Strategy
from newron.training.strategies.default import Default
from newron.training.strategies.grow import Grow
from newron.training.training_set import TrainingSet

__all__ = ["STRATEGIES", "Strategy", "fit", "run"]

STRATEGIES: dict[str, Strategy] = {
    "default": Default(),
    "gradient": Gradient(),
    "grow": Grow(),
    "paper": Gradient(),
}


def fit(name: str, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit by the strategy of this name; what resumes another fit goes on by gradients."""
    strategy = STRATEGIES["gradient" if spec.resume is not None else name]
    return strategy.fit(data, spec, context)


def run(name: str, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit, with callbacks around; a fit that ends early returns the best so far."""
    result = None
    try:
        context.start()
        result = fit(name, data, spec, context)
    except KeyboardInterrupt:
        result = context.best()
    finally:
        context.end(result)
    return result
