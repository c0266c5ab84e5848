"""What is printed, and where: results on standard output, all else on standard error.

Colours repeat what a word or a sign already says. There are none where the output is no
terminal, with NO_COLOR or TERM=dumb. Where the output is not UTF-8, signs are ASCII.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from typing import IO, TYPE_CHECKING, Any

from newron.formatting import clean, clean_lines, escape_unprintable, to_ascii

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.text import Text

WIDTH = 88
_LABEL = 11  # columns of "✓ proved   " and the like

Part = str | tuple[str, str]  # a text, or a text and its style


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
    """Return the blue that can be read: some terminals name their background."""
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


class Console:
    """Where a command prints.

    - ``command``: The command line, as it was given.
    - ``quiet``: Whether to print the result alone.
    - ``as_json``: Whether the result is JSON; then nothing else goes to standard output.
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
    def verbose(self) -> bool:
        """Whether to print more than the result."""
        return not (self.quiet or self.as_json)

    @property
    def width(self) -> int:
        """The number of columns."""
        return min(self._out.width, WIDTH) if self._out.is_terminal else WIDTH

    @property
    def unicode(self) -> bool:
        """Whether standard output can show signs."""
        return _is_utf8(self._out.file)

    @property
    def error_console(self) -> RichConsole:
        """The console of standard error, for progress."""
        return self._err

    # ---- results ----

    def print(self, *parts: Part) -> None:
        """Print a line of the result."""
        _print(self._out, parts)

    def print_lines(self, text: str, indent: str = "") -> None:
        """Print lines as they are."""
        for line in text.splitlines():
            self.print(f"{indent}{line}".rstrip())

    def print_record(self, kind: str, text: str, after: str = "") -> None:
        """Print a sign and a text, wrapped beside it; ``after`` is grey."""
        sign, style = _SIGNS[kind]
        word = encode_text(self._out.file, sign)
        width = max(_LABEL, len(word) + 2)
        for number, line in enumerate(self.wrap(f"{text} {after}".rstrip(), width + 2)):
            cut = after and line.endswith(after)
            parts: list[Part] = [line.removesuffix(after), dim(after)] if cut else [line]
            head: Part = (word.ljust(width), style) if number == 0 else " " * width
            self.print("  ", head, *parts)

    def wrap(self, text: str, taken: int = 2) -> list[str]:
        """Wrap a text into lines, never at a fixed space; ``taken`` columns are not for it."""
        width = max(self.width - taken, 20)
        joined = re.sub(r"(?<=\d) (?=%)", "\u00a0", text)
        lines = textwrap.wrap(joined, width, break_long_words=False, break_on_hyphens=False)
        return [line.replace("\u00a0", " ") for line in lines] or [""]

    def print_json(self, value: Any) -> None:
        """Print a result as JSON."""
        text = json.dumps(
            value, ensure_ascii=not self.unicode, indent=1, default=str, allow_nan=False
        )
        sys.stdout.write(escape_unprintable(text) + "\n")

    def write(self, text: str) -> None:
        """Print a text as it is, for other programs to read."""
        sys.stdout.write(encode_text(sys.stdout, clean_lines(text) if is_shown() else text))

    # ---- besides ----

    def note(self, *parts: Part) -> None:
        """Print a line to standard error, unless it shall be quiet."""
        if self.verbose:
            _print(self._err, parts)

    def warn(self, text: str) -> None:
        """Print a warning to standard error, also where it shall be quiet."""
        _print(self._err, [_SIGNS["note"], f"  {text}"])


def is_shown() -> bool:
    """Return whether standard output is a terminal, and no other program reads it."""
    return sys.stdout.isatty()


def _open_console(file: IO[str]) -> RichConsole:
    from rich.console import Console as RichConsole

    return RichConsole(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)


def _is_utf8(file: IO[str]) -> bool:
    return (getattr(file, "encoding", None) or "utf-8").lower().replace("-", "") in (
        "utf8",
        "utf8sig",
    )


def _print(console: RichConsole, parts: tuple[Part, ...] | list[Part]) -> None:
    console.print(make_text(console, *parts))


def make_text(console: RichConsole, *parts: Part) -> Text:
    """Put styled parts together, in signs that the console's file can take."""
    from rich.text import Text

    text = Text()
    for part in parts:
        plain, style = (part, "") if isinstance(part, str) else part
        text.append(encode_text(console.file, clean(plain, directions=False)), style)
    text.rstrip()
    return text


def encode_text(file: IO[str], text: str) -> str:
    """Return a text in signs that a file can take."""
    if _is_utf8(file):
        return text
    encoding = getattr(file, "encoding", None) or "ascii"
    return to_ascii(text).encode(encoding, "replace").decode(encoding)
