"""A line of rules, read word by word by the checker itself: signs, numbers, names and labels."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from newron.checker.network import CertificateError

_WORDS = re.compile(
    r"\b(?:if|then|otherwise|and|or|not|in|of|at|exactly|between|always|never|missing|sum|points|"
    r"start|highest|least|most|all|any|none|counts|true|false|class|let|be|to)\b",
    re.IGNORECASE,
)
_FREE_IN_NAMES = re.compile(r"\b(class|true|false|counts|least|most)\b", re.IGNORECASE)
_PLAIN = re.compile(r'[^\W\d](?:[^"\s;:—\[\]{}<>=≥≤≠!,]| (?! |$))*')
NUMBER = re.compile(r"[+\-−]?(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?(?:/\d+)?")
_SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", **{sign: sign for sign in "≥≤≠><="}}
SIGN = re.compile(">=|<=|!=|[≥≤≠><=]")
_MAX_DIGITS = 1000


class Words:
    """Reads words, signs, numbers and labels of one line after the other."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.line, self.at = "", 0
        self.spelled: dict[int, tuple[Any, dict[str, int], list[int]]] = {}

    def fail(self, expected: str) -> CertificateError:
        """Return the error that something else was expected here."""
        return CertificateError(f"expected {expected} at {self.line[self.at : self.at + 30]!r}")

    def next_line(self) -> bool:
        """Go to the next line; return whether there is one."""
        self.at = 0
        self.line = self.lines.pop(0) if self.lines else ""
        return bool(self.line)

    def skip(self, word: str) -> bool:
        """Go on behind a word where it stands here; return whether it does."""
        self.blank()
        end = self.at + len(word)
        goes_on = word[-1].isalnum() and re.match(r"\w", self.line[end : end + 1])
        if not self.line.startswith(word, self.at) or goes_on:
            return False
        self.at = end
        return True

    def take(self, word: str) -> None:
        """Go on behind a word, which must stand here."""
        if not self.skip(word):
            raise self.fail(repr(word))

    def blank(self) -> None:
        """Go on behind spaces."""
        while self.line.startswith(" ", self.at):
            self.at += 1

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Go on behind what a pattern matches."""
        self.blank()
        found = pattern.match(self.line, self.at)
        if found:
            self.at = found.end()
        return found

    def end(self) -> None:
        """Raise unless the line ends here."""
        self.blank()
        if self.at < len(self.line):
            raise self.fail("the end of the line")

    def choose(self, labels: Sequence[Any], *, names: bool = False) -> int | None:
        """Read the longest label or name that stands here."""
        key = id(labels)
        if key not in self.spelled:
            found = dict(_spell(labels, names=names))
            lengths = sorted(set(map(len, found)), reverse=True)
            self.spelled[key] = labels, found, lengths
        _, known, lengths = self.spelled[key]
        self.blank()
        texts = (self.line[self.at : self.at + length] for length in lengths)
        return next((known[text] for text in texts if text in known and self.skip(text)), None)

    def number(self) -> Fraction:
        """Read an exact number."""
        found = self.match(NUMBER)
        if not found or len(found[0]) > _MAX_DIGITS:
            raise self.fail("a number")
        exponent = re.search(r"[eE][+\-]?0*(\d+)", found[0])
        if exponent and (len(exponent[1]) > 3 or int(exponent[1]) > _MAX_DIGITS):
            raise self.fail("a number")
        try:
            number = Fraction(found[0].replace("−", "-"))
        except (ValueError, ZeroDivisionError):
            raise self.fail("a number") from None
        if abs(number) > 10**303:
            raise self.fail("a number within ±1e303")
        return number

    def value(self) -> float:
        """Read a number of a column."""
        number = self.number()
        if abs(number) > 10**300:
            raise self.fail("a number within ±1e300")
        return float(number)

    def sign(self) -> str:
        """Read a comparison."""
        found = self.match(SIGN)
        if not found:
            raise self.fail("one of ≥ ≤ > < = ≠")
        return _SIGNS[found[0]]


def _spell(labels: Sequence[Any], *, names: bool = False) -> list[tuple[str, int]]:
    """Return how labels or names may be written."""
    out: list[tuple[str, int]] = []
    for k, label in enumerate(labels):
        if isinstance(label, str):
            out += [(text, k) for text in quote(label)]
            if _is_plain(label, names=names):
                out.append((label, k))
        else:
            out += [(text, k) for text in _spell_number(label)]
    return out


def quote(text: str) -> set[str]:
    """Return a text in quotes, as it is and with an escape for what does not print."""
    quoted = json.dumps(text, ensure_ascii=False)
    plain = (c if c.isprintable() or c in "\u200c\u200d" else json.dumps(c)[1:-1] for c in quoted)
    return {quoted, "".join(plain)}


def _spell_number(label: Any) -> set[str]:
    if isinstance(label, bool | int):
        return {str(label)}
    text = repr(float(label))
    short = re.sub(r"\.0$", "", text)
    return {text, short, re.sub(r"e([+\-])0*", lambda found: "e" + found[1].strip("+"), short)}


def _is_plain(label: str, *, names: bool) -> bool:
    words = _FREE_IN_NAMES.sub("", label) if names else label
    if not label.isprintable() or not _PLAIN.fullmatch(label) or _WORDS.search(words):
        return False
    return not re.fullmatch("[A-Z]{1,2}", label) if names else "(" not in label and ")" not in label
