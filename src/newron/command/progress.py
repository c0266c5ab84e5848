"""Stages of work on standard error: a bar on a terminal, elsewhere a line at their end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from newron.command.terminal import Page, Part, blue, dim, make_text, tell_seconds

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

__all__ = ["Stage", "show_stage"]

_BAR = 24
_NAME = 13
_TIMES_A_SECOND = 10


class Stage:
    """A stage of work: a name, how much of it is done, and in words how much that is."""

    def __init__(self, page: Page, name: str) -> None:
        self._page, self._name = page, name
        self._begin = time.perf_counter()
        self._share, self._told = 0.0, ""
        self.ended = False

    def update(self, done: float, total: float, told: str = "") -> None:
        """Hear how much is done, and how that is told."""
        self._share = min(done / total, 1.0) if total else 0.0
        self._told = told

    def __rich__(self) -> Text:
        """Draw the line as it is now."""
        console = self._page.error_console
        filled = _BAR if self.ended else round(_BAR * self._share)
        seconds = tell_seconds(time.perf_counter() - self._begin)
        parts: list[Part] = [
            f"  {self._name:{_NAME}}  ",
            blue("━" * filled),
            " " * (_BAR - filled),
            f"  {self._told}   " if self._told else "  ",
            dim(seconds),
        ]
        line = make_text(console, *parts)
        line.no_wrap, line.overflow = True, "crop"  # a bar is drawn over, line by line
        return line


@contextmanager
def show_stage(page: Page, name: str, *, stays: bool = True) -> Iterator[Stage]:
    """Show a stage while it lasts. Its line stays, unless it fails or is not to."""
    stage = Stage(page, name)
    live = _start_live(page, stage)
    try:
        yield stage
        stage.ended = True
    finally:
        if live is not None:
            live.transient = not (stage.ended and stays)
            live.stop()
    if live is None and page.talks and stays:
        page.error_console.print(stage)


def _start_live(page: Page, stage: Stage) -> Live | None:
    console = page.error_console
    if not page.talks or not console.is_terminal or console.is_dumb_terminal:
        return None
    from rich.live import Live

    live = Live(stage, console=console, refresh_per_second=_TIMES_A_SECOND)
    live.start()
    return live
