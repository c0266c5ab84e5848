"""Runs the compiled core: blocks of epochs without the GIL, callbacks between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron import _core
from newron.errors import TrainingError
from newron.model.arithmetic import Floats
from newron.objectives import Objective
from newron.training.callbacks import Progress
from newron.training.context import FitContext
from newron.training.recipe import Recipe
from newron.training.wiring import Params, Wiring

_BLOCK_SECONDS = 0.1  # how long Ctrl-C and progress may wait


@dataclass(frozen=True)
class CoreTable:
    """Rows as the core reads them."""

    x: Params
    targets: Params
    weight: Params


@dataclass(frozen=True)
class AdamState:
    """What continues a training where it ended."""

    params: Params
    mean: Params
    square: Params
    steps: int

    @classmethod
    def fresh(cls, params: Params) -> AdamState:
        """Return the state before the first step."""
        return cls(params, np.zeros_like(params), np.zeros_like(params), 0)


@dataclass(frozen=True)
class Trained:
    """The outcome: the kept run's parameters and how its loss went."""

    params: Params
    state: AdamState
    loss_curve: Floats
    best_loss: float
    best_epoch: int
    n_epochs: int
    run: int


def train_all(
    wiring: Wiring,
    table: CoreTable,
    recipe: Recipe,
    objective: Objective,
    starts: Sequence[Params],
    seeds: Sequence[int],
    *,
    validation: CoreTable | None = None,
    resume: AdamState | None = None,
    measure_start: bool = False,
    signs: Params | None = None,
    context: FitContext | None = None,
) -> list[Trained]:
    """Train all starts.

    The result lists those with a finite loss, in the order of their starts, up to the
    first without an error where the recipe ends there.

    With ``resume`` the first start goes on with that state of Adam. With
    ``measure_start`` the starts themselves count among the weights that may be
    kept. Ctrl-C ends training early and keeps the best so far.
    """
    context = FitContext(np.random.SeedSequence(0)) if context is None else context
    trainer = _core.Trainer(
        wiring.make_network(),
        _core.Table(table.x, table.targets, table.weight),
        None
        if validation is None
        else _core.Table(validation.x, validation.targets, validation.weight),
        _settings(recipe, objective, validation is not None, measure_start),
        np.stack(starts),
        np.array(seeds, np.uint64),
        wiring.make_trainable(),
        wiring.make_decay(recipe.weight_decay),
        signs,
        context.n_threads,
    )
    if resume is not None:
        trainer.resume(0, resume.mean, resume.square, resume.steps)
    runs = [trainer.run(i) for i in range(len(starts))]
    max_steps = recipe.max_iter * len(runs)
    context.watch(
        lambda: not trainer.advance(_BLOCK_SECONDS), lambda: _make_progress(runs, max_steps)
    )
    if recipe.stop_at_zero_error:
        # How far later runs came depends on the threads: they must not be seen.
        first = next((i for i, run in enumerate(runs) if run.wrong == 0), len(runs))
        runs = runs[: first + 1]
    trained = [_collect(run, number) for number, run in enumerate(runs)]
    finite = [each for each in trained if each is not None]
    if not finite:
        raise TrainingError(
            "expected a finite loss, got none from any start: the sums overflow; choose a lower "
            "learning_rate_init, a bounded processing function or another aggregation"
        )
    return finite


def train(*arguments: Any, **settings: Any) -> Trained:
    """Train all starts, as :func:`train_all` does, and keep the one of lowest loss."""
    return keep_lowest(train_all(*arguments, **settings))


def keep_lowest(runs: Sequence[Trained]) -> Trained:
    """Return the run of lowest loss, the first of equals."""
    return min(runs, key=lambda each: (_rank(each.best_loss), each.run))


def _make_progress(runs: Sequence[_core.Run], max_steps: int) -> Progress:
    moving = [run for run in runs if run.status == _core.Status.running and run.epoch] or runs
    done = sum(run.epoch for run in runs)
    unused = sum(run.status != _core.Status.running for run in runs)
    best = min(run.best for run in runs)
    return Progress(done, max_steps, moving[0].last, best, unused, len(runs))


def _rank(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf


def make_core_loss(objective: Objective) -> _core.Objective:
    """Return an objective as the core knows it."""
    own = objective.core
    return _core.Objective(
        getattr(_core.Loss, own.name),
        own.parameter,
        own.factor,
        list(own.levels),
        [tape.code for tape in own.codes],
        own.two_classes,
    )


def _settings(
    recipe: Recipe, objective: Objective, watch_validation: bool, measure_start: bool
) -> _core.Settings:
    settings = _core.Settings()
    settings.loss = make_core_loss(objective)
    settings.schedule = getattr(_core.Schedule, recipe.schedule)
    monitor = "validation" if watch_validation else recipe.monitor
    settings.monitor = getattr(_core.Monitor, monitor)
    settings.batch_size = recipe.batch_size
    settings.max_epochs = recipe.max_iter
    if recipe.n_iter_no_change is not None:
        settings.patience = recipe.n_iter_no_change
    settings.tolerance = recipe.tol
    settings.rate = recipe.learning_rate_init
    settings.blend_until = recipe.blend_until
    settings.keep_best = recipe.keep_best or watch_validation
    settings.measure_start = measure_start
    settings.stop_at_zero_error = recipe.stop_at_zero_error
    return settings


def _collect(run: _core.Run, number: int) -> Trained | None:
    params: NDArray[np.float32] = run.params()
    # A run stopped by Ctrl-C before its first epoch has no loss, and is no failure.
    diverged = run.status == _core.Status.diverged and not math.isfinite(run.best)
    if diverged or not np.all(np.isfinite(params)):
        return None
    state = AdamState(params, run.mean(), run.square(), run.steps)
    return Trained(params, state, run.history(), run.best, run.best_epoch, run.epoch, number)
