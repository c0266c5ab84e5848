"""The interface of training strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod

from newron.training.context import FitContext
from newron.training.gradient import fit_network
from newron.training.specification import FitResult, Specification
from newron.training.training_set import TrainingSet


class Strategy(ABC):
    """A procedure of training, from rows and a specification to a network.

    It sees the training rows alone; where it must choose, it splits them into folds. It
    draws seeds from the context, notifies it of every candidate that it evaluated, and keeps
    results there, so that a fit that ends early has the best so far.
    """

    @abstractmethod
    def fit(self, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
        """Train a network on rows."""


class Gradient(Strategy):
    """One training by gradients, with restarts; "paper" is the same with its settings."""

    def fit(self, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
        """Fit by gradients.

        Only classes can all be right: a regression would end after its first epoch.
        """
        if not spec.objective.stratified:
            spec = spec.adjust(stop_at_zero_error=False)
        return fit_network(data, spec, context)
