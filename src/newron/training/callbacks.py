"""Callbacks of a fit: what a user may listen to and stop, and the progress line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from newron.model.model import Model


class StopFit(Exception):  # noqa: N818 - not an error
    """Raised by a callback to end a fit early: the best network so far is kept.

    Examples
    --------
    >>> from newron import Callback, StopFit
    >>> class StopAtFirstCandidate(Callback):
    ...     def on_candidate(self, name, loss):
    ...         raise StopFit
    """


@dataclass(frozen=True)
class Progress:
    """Where a training stands, over all of its restarts.

    Parameters
    ----------
    step, max_steps : int
        Epochs that are done and epochs at most, or terms of a network that is grown.
    loss, best_loss : float
        Of the training rows: now, and the lowest so far.
    finished_runs, n_runs : int
        Restarts.
    stage : str
        What the engine on bins is about, which has stages instead of epochs and no loss
        to report; empty for all other trainings.

    Examples
    --------
    >>> Progress(step=5, max_steps=200, loss=0.61, best_loss=0.6).n_runs
    1
    """

    step: int
    max_steps: int
    loss: float
    best_loss: float
    finished_runs: int = 0
    n_runs: int = 1
    stage: str = ""


class Callback:
    """Hooks of a fit; override those that you want, and pass instances as ``callbacks=``.

    ``on_start``, ``on_progress`` and ``on_candidate`` may end the fit early, by returning
    True or raising :class:`StopFit`. The best network so far is then kept, with a warning,
    as after Ctrl-C.

    Examples
    --------
    >>> from newron import Callback, NewronClassifier
    >>> class Candidates(Callback):
    ...     def __init__(self):
    ...         self.names = []
    ...     def on_candidate(self, name, loss):
    ...         self.names.append(name)
    >>> seen = Candidates()
    >>> X = [[x] for x in range(40)]
    >>> model = NewronClassifier(callbacks=[seen], max_iter=20, random_state=0)
    >>> _ = model.fit(X, [x > 17 for x in range(40)])
    >>> seen.names[:3]
    ['grow, single conditions', 'grow, up to 3 conditions', 'grow, distilled']
    """

    def on_start(self) -> bool | None:
        """Run when the fit begins.

        Returns
        -------
        bool or None
            True ends the fit.
        """

    def on_progress(self, progress: Progress) -> bool | None:
        """Run when a training has advanced; about ten times a second.

        Parameters
        ----------
        progress : Progress

        Returns
        -------
        bool or None
            True ends the fit.
        """

    def on_candidate(self, name: str, loss: float) -> bool | None:
        """Run when a candidate was evaluated.

        Parameters
        ----------
        name : str
        loss : float
            The mean loss on validation rows.

        Returns
        -------
        bool or None
            True ends the fit.
        """

    def on_end(self, model: Model | None) -> None:
        """Run when the fit is over, by itself or early.

        Parameters
        ----------
        model : Model or None
            The network that is kept; None where the fit failed.
        """


class ProgressLine(Callback):
    """One live line on standard error: epoch, loss, best, and the time left of this training.

    The stages of the engine take unequal times that nobody knows before: of them it shows which
    one it is, and the time that has passed. Where standard error is no terminal, one line at
    the end.
    """

    def __init__(self) -> None:
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._last: Progress | None = None

    def on_start(self) -> None:
        """Begin the line."""
        # Imported here: most fits are silent and need no terminal.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.fields[where]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TimeRemainingColumn(),
        )
        console = Console(file=sys.stderr)
        self._bar = RichProgress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=None, where="", text="", left="")
        self._bar.start()

    def on_progress(self, progress: Progress) -> None:
        """Draw the line over."""
        before = self._last
        if not progress.stage:
            self._last = progress
        if self._bar is None or self._task is None:
            return
        text = ""
        if self._last is not None:
            text = f"loss {self._last.loss:.4f}  best {self._last.best_loss:.4f}"
        if progress.n_runs > 1:
            text += f"  run {progress.finished_runs} of {progress.n_runs} done"
        task = self._bar.tasks[self._task]
        # Another training goes at another speed: what is left is estimated from this one alone.
        if task.total != self._find_total(progress) or _is_new(progress, before):
            started = task.start_time
            self._bar.reset(self._task)
            task.total, task.start_time = self._find_total(progress), started
        where = progress.stage or f"epoch {progress.step} of {progress.max_steps}"
        left = "" if progress.stage else "left"
        self._bar.update(self._task, completed=progress.step, where=where, text=text, left=left)

    def _find_total(self, progress: Progress) -> float | None:
        return None if progress.stage else progress.max_steps

    def on_end(self, model: Model | None) -> None:
        """End the line."""
        del model
        if self._bar is None:
            return
        last = self._last
        if not self._bar.disable:  # rich 14.0 ends a line that was never begun
            self._bar.stop()
        elif last is not None:
            print(f"epoch {last.step}  best loss {last.best_loss:.4f}", file=sys.stderr)
        self._bar = None


def _is_new(progress: Progress, before: Progress | None) -> bool:
    """Return whether a training begins: it has done less than what was reported before."""
    return before is not None and not progress.stage and progress.step < before.step
