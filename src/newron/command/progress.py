"""Stages of work on standard error: a bar on a terminal, elsewhere a line at their end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from newron.command.terminal import Console, Part, blue, dim, make_text
from newron.formatting import format_seconds

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_BAR = 24
_NAME = 13
_TIMES_A_SECOND = 10


class Stage:
    """A stage of work: a name, how much of it is done, and in words how much that is."""

    def __init__(self, console: Console, name: str) -> None:
        self._console, self._name = console, name
        self._begin = time.perf_counter()
        self._fraction, self._text = 0.0, ""
        self.ended = False

    def update(self, done: float, total: float, text: str = "") -> None:
        """Set how much is done, and that in words."""
        self._fraction = min(done / total, 1.0) if total else 0.0
        self._text = text

    def __rich__(self) -> Text:
        """Draw the line as it is now."""
        console = self._console.error_console
        filled = _BAR if self.ended else round(_BAR * self._fraction)
        seconds = format_seconds(time.perf_counter() - self._begin)
        parts: list[Part] = [
            f"  {self._name:{_NAME}}  ",
            blue("━" * filled),
            " " * (_BAR - filled),
            f"  {self._text}   " if self._text else "  ",
            dim(seconds),
        ]
        line = make_text(console, *parts)
        line.no_wrap, line.overflow = True, "crop"  # a bar is drawn over, line by line
        return line


@contextmanager
def show_stage(console: Console, name: str, *, stays: bool = True) -> Iterator[Stage]:
    """Show a stage while it lasts. Its line stays, unless it fails or is not to."""
    stage = Stage(console, name)
    live = _start_live(console, stage)
    try:
        yield stage
        stage.ended = True
    finally:
        if live is not None:
            live.transient = not (stage.ended and stays)
            live.stop()
    if live is None and console.verbose and stays:
        console.error_console.print(stage)


def _start_live(console: Console, stage: Stage) -> Live | None:
    errors = console.error_console
    if not console.verbose or not errors.is_terminal or errors.is_dumb_terminal:
        return None
    from rich.live import Live

    live = Live(stage, console=errors, refresh_per_second=_TIMES_A_SECOND)
    live.start()
    return live
