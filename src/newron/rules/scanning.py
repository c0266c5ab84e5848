"""A line of text that is read word by word, and the lines of a text with their blocks."""

from __future__ import annotations

import re
from fractions import Fraction

from newron.errors import InputError
from newron.formatting import shorten
from newron.tables.field import LARGEST_INPUT

NUMBER = re.compile(r"[+\-−]?(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?(?:/\d+)?")
_OPERATORS = {
    "≥": "≥", "≤": "≤", ">=": "≥", "<=": "≤", ">": ">", "<": "<", "≠": "≠", "!=": "≠", "=": "=",
}  # fmt: skip
OPERATOR = re.compile("|".join(sorted(map(re.escape, _OPERATORS), key=len, reverse=True)))
_BLOCK_HEAD = re.compile(
    r"(?:^Let [A-Z]{1,2} be|\b(?:all|any|none|exactly \d+|at least \d+|at most \d+|"
    r"between \d+ and \d+) of)$"
)
_MAX_LINE = 1_000_000  # characters of a line, with its indented block
_MAX_TEXT = 10 * _MAX_LINE
MAX_DEPTH = 100  # brackets, blocks and groups inside each other
_LARGEST_NUMBER = 1e303  # sums of many are numbers, too
_MAX_DIGITS = 1000  # of a number: a sum of 1e100 and 5e-324 has 424, a mean of them more
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


class Scanner:
    """Reads words, signs and numbers of a line from left to right."""

    def __init__(self) -> None:
        self.number = 0
        self.text = ""
        self.at = 0

    def _begin(self, number: int, text: str) -> None:
        """Begin to read a line."""
        self.number, self.text, self.at = number, text, 0
        if len(text) > _MAX_LINE:
            raise InputError(f"expected a line of at most {_MAX_LINE} characters")

    def _read_number(self) -> Fraction:
        self._blank()
        found = NUMBER.match(self.text, self.at)
        if not found:
            raise InputError("expected a number")
        self.at = found.end()
        if len(found[0]) > _MAX_DIGITS or _find_exponent(found[0]) > _MAX_DIGITS:
            raise InputError(f"expected a number of at most {_MAX_DIGITS} digits")
        try:
            number = Fraction(found[0].replace("−", "-"))
        except (ValueError, ZeroDivisionError):  # 5./5 and 5/0
            raise InputError(f"expected a number, got {found[0]}") from None
        if abs(number) > _LARGEST_NUMBER:
            raise InputError(f"expected a number within ±{_LARGEST_NUMBER:g}")
        return number

    def _read_float(self) -> float:
        number = self._read_number()
        if abs(number) > LARGEST_INPUT:
            raise InputError(f"expected a number within ±{LARGEST_INPUT:g}")
        return float(number)

    def _read_operator(self) -> str:
        self._blank()
        found = OPERATOR.match(self.text, self.at)
        if not found:
            raise InputError("expected one of ≥ ≤ > < = ≠")
        self.at = found.end()
        return _OPERATORS[found[0]]

    def _blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1

    def _skip(self, what: str) -> bool:
        self._blank()
        if not self.text.startswith(what, self.at):
            return False
        end = self.at + len(what)
        # A word must not go on: "ill" is not the start of "illness".
        if what[-1].isalnum() and end < len(self.text) and _goes_on(self.text[end]):
            return False
        self.at = end
        return True

    def _take(self, what: str) -> None:
        if not self._skip(what):
            raise InputError(f"expected {what!r} at {self.text[self.at : self.at + 20]!r}")

    def _end(self) -> None:
        self._blank()
        if self.at < len(self.text):
            raise InputError(f"expected the end of the line at {shorten(self.text[self.at :])!r}")


def _goes_on(character: str) -> bool:
    return character.isalnum() or character == "_"


def fold_blocks(text: str) -> list[tuple[int, str]]:
    """Turn indented blocks into lists in brackets; drop notes and empty lines."""
    if len(text) > _MAX_TEXT:
        raise InputError(f"rules: expected a text of at most {_MAX_TEXT} characters")
    rows: list[tuple[int, int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > _MAX_LINE:
            raise InputError(f"rules, line {number}: expected at most {_MAX_LINE} characters")
        kept = _cut_note(line).rstrip()
        if kept.strip():
            rows.append((number, len(kept) - len(kept.lstrip()), kept.strip()))

    def fold(k: int, level: int) -> tuple[str, int]:
        number, depth, line = rows[k]
        if level > MAX_DEPTH:
            raise InputError(f"rules, line {number}: expected at most {MAX_DEPTH} blocks")
        k += 1
        if not _BLOCK_HEAD.search(line):
            return line, k
        parts: list[str] = []
        while k < len(rows) and rows[k][1] > depth:
            part, k = fold(k, level + 1)
            parts.append(part)
        return f"{line} [{'; '.join(parts)}]", k

    out: list[tuple[int, str]] = []
    k = 0
    while k < len(rows):
        number = rows[k][0]
        line, k = fold(k, 0)
        out.append((number, line))
    return out


def _find_exponent(number: str) -> int:
    """Return the size of the exponent of a number that is written with one."""
    digits = re.split("[eE]", number)[-1].strip("+-").split("/")[0] if "e" in number.lower() else ""
    return _MAX_DIGITS + 1 if len(digits) > 9 else int(digits or 0)


def _cut_note(line: str) -> str:
    """Cut what follows a dash, unless it is inside quotes."""
    hidden = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), line)
    at = hidden.find(" — ")
    return line if at < 0 else line[:at]
