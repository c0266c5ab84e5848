"""Callbacks of training: empty hooks, and the progress line that uses them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = ["Callback", "Progress", "ProgressLine"]


@dataclass(frozen=True)
class Progress:
    """Where training stands, over all restarts."""

    epochs: int
    loss: float
    best: float
    finished_runs: int
    n_runs: int


class Callback:
    """Called before, between and after blocks of epochs."""

    def on_start(self, most_epochs: int) -> None:
        """Hear that training begins, with at most so many epochs."""

    def on_progress(self, progress: Progress) -> None:
        """Hear that a block of epochs is done."""

    def on_end(self) -> None:
        """Hear that training is over, by itself or by Ctrl-C."""


class ProgressLine(Callback):
    """One live line on standard error: epoch, loss, best, time left.

    Where standard error is no terminal, one line at the end.
    """

    def __init__(self) -> None:
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._last: Progress | None = None

    def on_start(self, most_epochs: int) -> None:
        """Begin the line."""
        # Imported here: most fits are silent and need no terminal.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("epoch {task.completed:.0f} of {task.total:.0f}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[text]}"),
            TimeRemainingColumn(),
        )
        console = Console(file=sys.stderr)
        self._bar = RichProgress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task("", total=most_epochs, text="")
        self._bar.start()

    def on_progress(self, progress: Progress) -> None:
        """Draw the line over."""
        self._last = progress
        if self._bar is None or self._task is None:
            return
        text = f"loss {progress.loss:.4f}  best {progress.best:.4f}"
        if progress.n_runs > 1:
            text += f"  run {progress.finished_runs} of {progress.n_runs} done"
        self._bar.update(self._task, completed=progress.epochs, text=text)

    def on_end(self) -> None:
        """End the line."""
        if self._bar is None:
            return
        self._bar.stop()
        if self._bar.disable and self._last is not None:
            last = self._last
            print(f"epoch {last.epochs}  best loss {last.best:.4f}", file=sys.stderr)
        self._bar = None
