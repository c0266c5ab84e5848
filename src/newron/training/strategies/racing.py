"""Which networks with hidden layers take part in a default fit: gates that cost little.

The engine's additive model is fitted anyway. Hidden layers can only be better where columns do
something together that it cannot express, so that they are trained in earnest only where

- on few rows, a short training on three quarters of them is not clearly worse, on the other
  quarter, than what the additive model is expected to be on new rows;
- on many rows or columns, trees explain some of what the additive model leaves over;
- and then a long training on one split of at most ``RACE_ROWS`` rows is clearly better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from newron.engine import EngineFit
from newron.engine.residuals import measure_rest
from newron.engine.screening import WIDE
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.training.architecture import Architecture
from newron.training.binned import fit_pairs
from newron.training.context import FitContext
from newron.training.folds import MANY_ROWS, SURE, Fold, split_folds
from newron.training.gradient import fit_network
from newron.training.problem import Problem
from newron.training.recipe import Recipe, choose_decay
from newron.training.specification import Specification
from newron.training.training_set import TrainingSet

RACE_ROWS = 2_500  # distinct rows of a race
_EPOCHS, _SHORT = 1_000, 250  # of networks with hidden layers, and of the first trial
_MIN_EPOCHS = 10
_VISITS = 10_000_000  # rows times epochs of one training
_WORK = 500_000_000  # functions of columns times rows times epochs of one trial on a wide table
_EVIDENCE = 3.0  # standard errors by which trees must explain what is left over


def find_winners(
    data: TrainingSet, spec: Specification, context: FitContext, additive: EngineFit, model: Model
) -> list[Specification]:
    """Return the networks with hidden layers that are worth a comparison on all folds.

    ``additive`` and its network ``model`` were fitted to all rows.
    """
    kinds = [kind for kind in (spec.architecture, *spec.others) if len(kind.layers) > 1]
    many = len(data) > RACE_ROWS or data.X.shape[1] > WIDE
    if not kinds or (many and max(map(measure_rest, additive.parts)) < _EVIDENCE):
        return []
    rows = data.take_first(RACE_ROWS)
    folds = split_folds(rows, spec.objective, context.spawn(), n_used=1)
    if not folds:
        return []
    race = _Race.start(rows, spec, folds[0], context)
    deep = [_allow_hidden(spec, kind, data.n_rows) for kind in kinds]
    if not many:
        expected = additive.expect(race.measure("additive, rows of its own", model))
        deep = [each for each in deep if race.compare(each, expected, _SHORT, -1.0)]
    if not deep:
        return []
    fitted = fit_pairs(race.train, spec, context.aside())
    reached = race.measure("additive", fitted.model)
    return [each for each in deep if race.compare(each, reached, _EPOCHS, SURE)]


@dataclass(frozen=True)
class _Race:
    """One split of some rows, on which networks are compared."""

    train: TrainingSet
    rows: Floats  # to validate by
    problem: Problem
    n_rows: int
    context: FitContext

    @classmethod
    def start(
        cls, data: TrainingSet, spec: Specification, fold: Fold, context: FitContext
    ) -> _Race:
        """Split the rows."""
        part = fold.validation
        problem = spec.make_problem(data).take(part)
        n_rows = max(int(part.count.sum()), 2)
        return cls(data.take(fold.train), data.X[part.index], problem, n_rows, context)

    def measure(self, name: str, model: Model) -> Floats:
        """Return the loss of each validation row."""
        scores = model.score_rows(self.rows)
        losses = self.problem.measure_rows(self.problem.scale.apply(scores))
        self.context.evaluated(name, np.array([self._average(losses)]))
        return losses

    def compare(self, deep: Specification, losses: Floats, epochs: int, errors: float) -> bool:
        """Return whether a network is better than losses, by so many standard errors."""
        n_rows, n_columns = self.train.X.shape
        if n_columns > WIDE:
            epochs = min(epochs, max(_WORK // (n_rows * n_columns), _MIN_EPOCHS))
        epochs = min(epochs, deep.recipe.max_iter)
        trial = deep.adjust(n_init=1, max_iter=epochs)
        model = fit_network(self.train, trial, self.context.aside()).model
        name = f"hidden layer, {deep.architecture.layers[-1].processing}, {epochs} epochs"
        gain = losses - self.measure(name, model)
        mean = self._average(gain)
        return mean > errors * math.sqrt(self._average((gain - mean) ** 2) / (self.n_rows - 1))

    def _average(self, values: Floats) -> float:
        return float(self.problem.weight @ values / self.problem.weight.sum())


def _allow_hidden(spec: Specification, kind: Architecture, n_rows: int) -> Specification:
    """Return the specification of a network with hidden layers, for tables without noise.

    Hardly any decay, and time to find the exact border: on many rows fewer epochs, each of
    more steps, and fewer starts. What the user has named stays.
    """
    recipe = spec.recipe
    decay = recipe.weight_decay if spec.own_decay else min(0.003, choose_decay(n_rows))
    epochs = recipe.max_iter
    if epochs == Recipe().max_iter:
        epochs = int(np.clip(_VISITS // n_rows, _MIN_EPOCHS, _EPOCHS))
    n_init = recipe.n_init
    if n_rows > MANY_ROWS and not spec.own_starts:
        n_init = 1
    return replace(
        spec.adjust(weight_decay=decay, max_iter=epochs, n_init=n_init),
        architecture=replace(kind, direct_inputs=True),
        input_scale="both",
        others=(),
    )
