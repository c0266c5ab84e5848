"""What is printed, and where: results on standard output, all else on standard error.

Colours repeat what a word or a sign already says. There are none where the output is no
terminal, with NO_COLOR or TERM=dumb. Where the output is not UTF-8, signs are ASCII.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "WIDTH",
    "Page",
    "Part",
    "blue",
    "bold",
    "clean",
    "count",
    "dim",
    "encode_text",
    "make_text",
    "tell_number",
    "tell_seconds",
]

WIDTH = 88
_LABEL = 11  # columns of "✓ proved   " and the like

Part = str | tuple[str, str]  # a text, or a text and its style

_ASCII = str.maketrans(
    {
        "≥": ">=", "≤": "<=", "≠": "!=", "−": "-", "✓": "ok", "●": "*", "○": "o", "━": "=",
        "─": "-", "│": "|", "├": "|", "┤": "|", "·": "-", "→": "->", "×": "x", "…": "...",
        "“": '"', "”": '"', "²": "^2", "±": "+-", "—": "-", "–": "-", "└": "`",
    }
)  # fmt: skip


_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), "\ufffd")


def bold(text: str) -> Part:
    """Make a text bold."""
    return text, "bold"


def dim(text: str) -> Part:
    """Make a text grey."""
    return text, "bright_black"


def blue(text: str) -> Part:
    """Make a text blue: conditions."""
    return text, _choose_blue()


def _choose_blue() -> str:
    """Give the blue that can be read: some terminals tell their background."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return "blue" if background in ("7", "15") else "bright_blue"


# What a line begins with, and its style.
_SIGNS: dict[str, tuple[str, str]] = {
    "proved": ("✓ proved", "bold green"),
    "not proved": ("! not proved", "bold red"),
    "refuted": ("! refuted", "bold red"),
    "faithful": ("~", "yellow"),
    "note": ("! note", "red"),
    "not used": ("not used", "bright_black"),
    "left out": ("left out", "bright_black"),
}


class Page:
    """Where a command prints.

    Parameters
    ----------
    command : str
        The command line, as it was given.
    quiet : bool
        Whether to keep back all that was not asked for.
    as_json : bool
        Whether the result is JSON; then nothing else goes to standard output.
    """

    def __init__(
        self, command: str = "newron", *, quiet: bool = False, as_json: bool = False
    ) -> None:
        self.command = command
        self.quiet = quiet
        self.as_json = as_json
        self._out = _open_console(sys.stdout)
        self._err = _open_console(sys.stderr)

    @property
    def talks(self) -> bool:
        """Whether to tell more than what was asked for."""
        return not (self.quiet or self.as_json)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return min(self._out.width, WIDTH) if self._out.is_terminal else WIDTH

    @property
    def unicode(self) -> bool:
        """Whether standard output can show signs."""
        return _is_utf8(self._out.file)

    @property
    def error_console(self) -> Console:
        """The console of standard error, for progress."""
        return self._err

    # ---- results ----

    def line(self, *parts: Part) -> None:
        """Print a line of the result."""
        _print(self._out, parts)

    def text(self, text: str, indent: str = "") -> None:
        """Print lines as they are."""
        for line in text.splitlines():
            self.line(f"{indent}{line}".rstrip())

    def record(self, kind: str, text: str, after: str = "") -> None:
        """Print a sign and what it says, wrapped beside it; ``after`` is grey."""
        sign, style = _SIGNS[kind]
        word = encode_text(self._out.file, sign)
        width = max(_LABEL, len(word) + 2)
        for number, line in enumerate(self.wrap(f"{text} {after}".rstrip(), width + 2)):
            cut = after and line.endswith(after)
            parts: list[Part] = [line.removesuffix(after), dim(after)] if cut else [line]
            head: Part = (word.ljust(width), style) if number == 0 else " " * width
            self.line("  ", head, *parts)

    def wrap(self, text: str, taken: int = 2) -> list[str]:
        """Part a text into lines; ``taken`` columns are not for it."""
        room = max(self.width - taken, 20)
        lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
        return lines or [""]

    def data(self, value: Any) -> None:
        """Print a result as JSON."""
        text = json.dumps(
            value, ensure_ascii=not self.unicode, indent=1, default=str, allow_nan=False
        )
        sys.stdout.write(text + "\n")

    def print_whole(self, text: str) -> None:
        """Print a text as it is, for other programs to read."""
        sys.stdout.write(encode_text(sys.stdout, text))

    # ---- what was not asked for ----

    def say(self, *parts: Part) -> None:
        """Print a line to standard error, unless asked to be quiet."""
        if self.talks:
            _print(self._err, parts)

    def warn(self, text: str) -> None:
        """Print a warning to standard error, whatever else is kept back."""
        _print(self._err, [_SIGNS["note"], f"  {text}"])


def _open_console(file: IO[str]) -> Console:
    from rich.console import Console

    return Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)


def _is_utf8(file: IO[str]) -> bool:
    return (getattr(file, "encoding", None) or "utf-8").lower().replace("-", "") in (
        "utf8",
        "utf8sig",
    )


def _print(console: Console, parts: tuple[Part, ...] | list[Part]) -> None:
    console.print(make_text(console, *parts))


def make_text(console: Console, *parts: Part) -> Text:
    """Put styled parts together, in signs that the console's file can take."""
    from rich.text import Text

    text = Text()
    for part in parts:
        plain, style = (part, "") if isinstance(part, str) else part
        text.append(encode_text(console.file, clean(plain)), style)
    text.rstrip()
    return text


def clean(text: str) -> str:
    r"""Give a text that steers no terminal: names in files may hold anything.

    Examples
    --------
    >>> clean("a\x1b[2Jb\nc")
    'a�[2Jb�c'
    """
    return text.translate(_CONTROLS)


def encode_text(file: IO[str], text: str) -> str:
    """Give a text in signs that a file can take."""
    if _is_utf8(file):
        return text
    encoding = getattr(file, "encoding", None) or "ascii"
    return text.translate(_ASCII).encode(encoding, "replace").decode(encoding)


# ---- words ----


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Tell a number of things, thousands apart.

    Examples
    --------
    >>> count(1, "row"), count(1166400, "cell"), count(2, "category", "categories")
    ('1 row', '1 166 400 cells', '2 categories')
    """
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{tell_number(number)} {word}"


def tell_number(number: int) -> str:
    """Tell a number, thousands apart."""
    return f"{number:,}".replace(",", " ")


def tell_seconds(seconds: float) -> str:
    """Tell a time: short ones by their first figures.

    Examples
    --------
    >>> tell_seconds(0.0312), tell_seconds(3.81), tell_seconds(95.2)
    ('0.03 s', '3.8 s', '95 s')
    """
    if seconds < 0.095:
        return f"{max(seconds, 0.01):.2f} s"
    return f"{seconds:.1f} s" if seconds < 60.0 else f"{seconds:.0f} s"
