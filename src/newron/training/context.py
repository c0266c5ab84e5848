"""What a fit runs in: seed, threads, callbacks, and the one way in which it ends early.

Ctrl-C and callbacks end a fit alike. While the core trains or grows, they end that training
and leave what it has (:meth:`FitContext.watch`); the next :meth:`FitContext.keep` raises
KeyboardInterrupt. Anywhere else KeyboardInterrupt is raised at once. Whatever a strategy
does inside needs no care for it: :func:`newron.training.strategies.run` catches it and
returns the best result that was kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from newron.training.callbacks import Callback, Progress, StopFit
from newron.training.specification import FitResult

_MAX_LOSS = math.inf


def copy_seed(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """Return a seed of its own with the same children still to come."""
    return np.random.SeedSequence(
        seed.entropy, spawn_key=seed.spawn_key, n_children_spawned=seed.n_children_spawned
    )


@dataclass
class _Run:
    """What all contexts of one fit share."""

    stopped: bool = False
    best: Callable[[], FitResult] | None = None
    best_loss: float = _MAX_LOSS


@dataclass(frozen=True)
class FitContext:
    """Seed, threads and callbacks of a fit, and the best result so far."""

    seed: np.random.SeedSequence
    n_threads: int = 1
    callbacks: Sequence[Callback] = ()
    keeps: bool = True  # whether what is trained here may be the fit's result
    run: _Run = field(default_factory=_Run, repr=False)

    def spawn(self) -> np.random.SeedSequence:
        """Return the next seed."""
        return self.seed.spawn(1)[0]

    def fork(self) -> FitContext:
        """Return the context with a seed of its own: what it draws changes nothing here."""
        return replace(self, seed=copy_seed(self.seed))

    def aside(self) -> FitContext:
        """Return the context of a training that cannot be the fit's result."""
        return replace(self, keeps=False)

    # ---- callbacks ----

    def start(self) -> None:
        """Inform the callbacks that the fit begins."""
        self._call(lambda callback: callback.on_start())

    def report(self, progress: Progress) -> None:
        """Inform the callbacks how a training goes."""
        self._call(lambda callback: callback.on_progress(progress))

    def end(self, result: FitResult | None) -> None:
        """Inform the callbacks that the fit is over."""
        for callback in self.callbacks:
            callback.on_end(None if result is None else result.model)

    def _call(self, hook: Callable[[Callback], bool | None]) -> None:
        try:
            stop = [hook(callback) for callback in self.callbacks]
        except StopFit:
            stop = [True]
        if any(stop):
            raise KeyboardInterrupt

    # ---- results, and an early end ----

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C or a callback ended a training."""
        return self.run.stopped

    def watch(self, step: Callable[[], bool], progress: Callable[[], Progress]) -> None:
        """Take steps while there are more; Ctrl-C or a callback ends it early."""
        try:
            more = True
            while more:
                more = step()
                self.report(progress())
        except KeyboardInterrupt:
            self.run.stopped = True

    def evaluated(self, name: str, losses: np.ndarray, trial: FitResult | None = None) -> None:
        """Inform the callbacks of a candidate; its trial is the result if nothing better comes."""
        loss = float(np.mean(losses))
        if trial is not None:
            self.keep(trial, loss)
        self._call(lambda callback: callback.on_candidate(name, loss))

    def keep(self, result: FitResult | Callable[[], FitResult], loss: float = _MAX_LOSS) -> None:
        """Keep a result in case the fit ends early; end it if it was stopped.

        ``loss`` is that of validation rows. A training that was cut short is kept only
        where there is nothing else; what is complete and of all rows, by a loss of -inf,
        in any case.
        """
        run = self.run
        better = loss == -math.inf or (loss <= run.best_loss and not run.stopped)
        if self.keeps and (better or run.best is None):
            run.best = result if callable(result) else lambda: result
            run.best_loss = loss
        if run.stopped:
            raise KeyboardInterrupt

    def best(self) -> FitResult:
        """Return the best result so far, of a fit that ends early."""
        if self.run.best is None:
            raise KeyboardInterrupt
        return replace(self.run.best(), interrupted=True)
