"""What a fit is to train, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Output
from newron.objectives import Objective, TargetScale, choose_objective
from newron.training.architecture import Architecture
from newron.training.encoding import Encoding
from newron.training.problem import Problem
from newron.training.recipe import Recipe
from newron.training.training_set import TrainingSet
from newron.training.wiring import Wiring

if TYPE_CHECKING:
    from newron.training.core_trainer import Trained
    from newron.training.path import ModelPath

WHOLE = "whole"  # the size of a fit without a path


@dataclass(frozen=True)
class Specification:
    """Everything that describes a fit besides the rows and the context it runs in."""

    architecture: Architecture
    recipe: Recipe
    output: Output
    input_scale: str = "own"
    class_weight: Floats | None = None
    directions: tuple[int, ...] = ()  # of the columns in which the model is monotone
    periods: tuple[float, ...] = ()  # of the columns, 0 for those that do not repeat
    validation_fraction: float | None = None
    max_terms: int = 60
    size: int | str = WHOLE  # of the model that is taken from the path
    keep_constant: bool = False  # rows that come later may differ in constant columns
    own_decay: bool = False  # the user named the decay
    own_starts: bool = False  # the user named the number of starts
    others: tuple[Architecture, ...] = ()  # to choose from beside the first
    resume: CoreFit | None = None  # a fit to continue by gradients

    @cached_property
    def objective(self) -> Objective:
        """The objective of what is predicted."""
        return choose_objective(self.output)

    def adjust(self, **settings: float) -> Specification:
        """Return a copy with other settings of its recipe."""
        return replace(self, recipe=self.recipe.adjust(**settings))

    def make_problem(self, data: TrainingSet, scale: TargetScale | None = None) -> Problem:
        """Return what the scores of rows should be."""
        return Problem.of(data, self.objective, self.class_weight, scale)


@dataclass(frozen=True)
class CoreFit:
    """What the core trained, and how its channels and targets were scaled."""

    trained: Trained
    wiring: Wiring
    encoding: Encoding
    target_scale: TargetScale


@dataclass(frozen=True)
class FitResult:
    """A model and how training went.

    ``core`` is what continues a network trained by gradients, ``path`` has shorter networks
    and how good these are.
    """

    model: Model
    loss_curve: Floats
    best_loss: float
    interrupted: bool = False
    core: CoreFit | None = None
    path: ModelPath | None = None
    whole: Model | None = None  # what was trained, where the model is a shorter one
    n_conditions: int = 0  # of a grown network, before its normal form
