"""Values as text: the one place that turns numbers, counts, labels and names into words.

Two kinds of text are made here. What is *exact* can be read back: :func:`format_number`,
:func:`format_fraction`, :func:`format_label` and :func:`quote` write models, rules and exports.
What is *rounded* is for people: :func:`format_rounded`, :func:`format_percent`,
:func:`format_count` and the like, with a true minus sign.

The module needs the standard library alone, so that the command line can use it before NumPy
is imported.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

MINUS = "−"
_HUGE = 10**15  # whole numbers from here on are rounded

Label = str | int | float | bool

_ASCII = str.maketrans(
    {
        "≥": ">=", "≤": "<=", "≠": "!=", MINUS: "-", "✓": "ok", "●": "*", "○": "o", "━": "=",
        "─": "-", "│": "|", "├": "|", "┤": "|", "·": "-", "→": "->", "×": "x", "…": "...",
        "“": '"', "”": '"', "²": "^2", "±": "+-", "—": "-", "–": "-", "└": "`",
    }
)  # fmt: skip

# What needs no quotes: what the grammar of rules does not use itself.
_PLAIN = re.compile(r"[^\W\d](?:[^\"\s;:—\[\]{}<>=≥≤≠!,]| (?! |$))*")
_RESERVED = re.compile(
    r"\b(if|then|otherwise|and|or|not|in|of|at|exactly|between|always|never|missing|sum|points|"
    r"start|highest|least|most|all|any|none|counts|true|false|class|let|be|to)\b",
    re.IGNORECASE,
)
# Words of the grammar that cannot be taken for the name of a column.
_FREE_IN_NAMES = re.compile(r"\b(class|true|false|counts|least|most)\b", re.IGNORECASE)
_NAMES_OF_GROUPS = re.compile(r"[A-Z]{1,2}")
_LINE_BREAKS = "\t\n\r\u2028\u2029\x0b\x0c\x85"
_KEPT = "\n\u200c\u200d"  # the joiners: Persian words and some emoji need them
# What turns the direction of the text after it, and all that has to do with it (Bidi_Control).
_TURNING = re.compile("[\u202a-\u202e\u2066\u2067]")
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


# ---- exact numbers ----


def format_number(value: float) -> str:
    """Return a number with the fewest digits that give it back, in ASCII.

    >>> format_number(0.1), format_number(3.0), format_number(-1e-12)
    ('0.1', '3', '-1e-12')
    """
    return repr(float(value)).removesuffix(".0")


def format_typographic(value: float) -> str:
    """Return a number with the fewest digits that give it back, and a true minus.

    >>> format_typographic(-0.5), format_typographic(-0.0)
    ('−0.5', '0')
    """
    return format_number(value + 0.0).replace("-", MINUS)


def format_threshold(value: float) -> str:
    """Return a threshold, or the shorter number right beside it.

    "x > 0.7" is stored as x ≥ the next number, and is printed as 0.7.

    >>> format_threshold(math.nextafter(0.7, 1.0)), format_threshold(-2.5)
    ('0.7', '−2.5')
    """
    near = value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf)
    return min(map(format_number, near), key=len).replace("-", MINUS)


def format_fraction(number: Fraction, *, signed: bool = False) -> str:
    """Return an exact number: a decimal where there is one.

    - ``signed``: Whether positive numbers have a plus sign.

    >>> format_fraction(Fraction(-21, 10)), format_fraction(Fraction(1, 2), signed=True)
    ('−2.1', '+0.5')
    >>> format_fraction(Fraction(1, 3))
    '1/3'
    """
    text = _format_magnitude(abs(number))
    if number < 0:
        return f"{MINUS}{text}"
    return f"+{text}" if signed and number else text


def _format_magnitude(number: Fraction) -> str:
    digits, rest = 0, number.denominator
    while rest != 1:  # one more digit divides the rest by 10, 5 or 2
        common = math.gcd(rest, 10)
        if common == 1:
            return str(number)
        digits, rest = digits + 1, rest // common
    if digits == 0:
        return str(number.numerator)
    figures = str(int(number * 10**digits)).rjust(digits + 1, "0")
    return f"{figures[:-digits]}.{figures[-digits:]}"


# ---- rounded numbers ----


def format_rounded(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits, and a true minus.

    >>> [format_rounded(x) for x in (0.9999, -0.0312, 1234.5, 1e-12)]
    ['1', '−0.0312', '1230', '1e−12']
    """
    return format_typographic(float(f"{value:.{digits}g}"))


def format_signed(value: float, digits: int = 3) -> str:
    """Return a rounded number with its sign; 0 counts as positive.

    >>> format_signed(0.12345), format_signed(-2.0), format_signed(0.0)
    ('+0.123', '−2', '+0')
    """
    return f"{'+' if value >= 0.0 else ''}{format_rounded(value, digits)}"


def format_fixed(value: float, digits: int = 1) -> str:
    """Return a number with so many decimals, and a true minus.

    >>> format_fixed(83.14), format_fixed(-2.5, 2)
    ('83.1', '−2.50')
    """
    return f"{value:.{digits}f}".replace("-", MINUS)


def format_to_exponent(value: float, exponent: int) -> str:
    """Return a number rounded to a power of ten.

    >>> format_to_exponent(12345.6, 2), format_to_exponent(0.12345, -2)
    ('12300', '0.12')
    """
    if exponent < 0:
        return format_typographic(float(f"{value:.{min(-exponent, 320)}f}"))
    return format_typographic(round(value / 10.0**exponent) * 10.0**exponent)


def format_position(value: float, span: float) -> str:
    """Return a position on an axis, to about a hundredth of the axis's length.

    - ``span``: The length of the axis; without one the number gets four digits.

    >>> format_position(54.512, 48.0), format_position(-0.126, 1.0)
    ('54.5', '−0.13')
    >>> format_position(12345.6, 90000.0)
    '12300'
    """
    if not span > 0.0:
        return format_rounded(value, 4)
    return format_to_exponent(value, max(math.floor(math.log10(span)) - 2, -300))


def format_amount(value: float, span: float = 1.0) -> str:
    """Return a sum or a contribution: whole numbers in full, others by what they span.

    >>> [format_amount(x) for x in (3.0, 0.00209, -4.8123)], format_amount(812.4, 2000)
    (['3', '0', '−4.81'], '810')
    """
    if value == round(value) and abs(value) < 1e6:
        return format_typographic(value)
    return format_rounded(value) if abs(value) >= 1e6 else format_position(value, span)


# ---- percentages ----


def format_percent(
    fraction: float, digits: int = 0, *, space: str = " ", limits: bool = True
) -> str:
    r"""Return a fraction in per cent.

    - ``fraction``: 1 is 100 %.
    - ``digits``: Decimals.
    - ``space``: What stands between number and sign.
    - ``limits``: Whether 0 and 100 are printed only where the fraction is just that, otherwise "< 1
      %" and "> 99 %".

    >>> format_percent(0.594), format_percent(0.9999), format_percent(1.0, 1)
    ('59 %', '> 99 %', '100 %')
    >>> format_percent(0.8379, 1), format_percent(-0.0004, 1, limits=False)
    ('83.8 %', '−0.0 %')
    """
    if not limits:
        return f"{format_fixed(100.0 * fraction, digits)}{space}%"
    rounded, unit = round(100.0 * fraction, digits), 10.0**-digits
    if rounded >= 100.0 and fraction < 1.0:
        return f"> {format_fixed(100.0 - unit, digits)}{space}%"
    if rounded <= 0.0 and fraction > 0.0:
        return f"< {format_fixed(unit, digits)}{space}%"
    whole = rounded in (0.0, 100.0)
    return f"{format_fixed(rounded, 0 if whole else digits)}{space}%"


def format_probability(probability: float) -> str:
    """Return a probability in whole per cent, never as certain.

    >>> format_probability(0.412), format_probability(0.9999), format_probability(0.0)
    ('41 %', 'over 99 %', 'under 1 %')
    """
    if probability > 0.995:
        return "over 99 %"
    return "under 1 %" if probability < 0.005 else f"{100 * probability:.0f} %"


# ---- counts, times, lists ----


def format_integer(number: int, *, separator: str = " ", minimum: int = 1000) -> str:
    """Return a whole number, thousands apart from ``minimum`` on; rounded where it is huge.

    >>> format_integer(1166400), format_integer(9999, minimum=10_000)
    ('1 166 400', '9999')
    >>> format_integer(10**63 + 7)
    '1.00 × 10^63'
    """
    if abs(number) >= _HUGE:
        size, exponent = f"{Decimal(number):.2e}".split("e+")
        return f"{size} × 10^{int(exponent)}".replace("-", MINUS)
    return str(number) if abs(number) < minimum else f"{number:,}".replace(",", separator)


def format_count(
    number: int,
    noun: str,
    plural: str | None = None,
    *,
    separator: str = " ",
    minimum: int = 1000,
) -> str:
    """Return how many there are of something.

    - ``noun``: In the singular.
    - ``plural``: By default the noun with "s", or "ies" for "y".
    - ``separator``, ``minimum``: As in :func:`format_integer`.

    >>> format_count(1, "row"), format_count(1166400, "cell"), format_count(2, "category")
    ('1 row', '1 166 400 cells', '2 categories')
    """
    if plural is None:
        ending_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
        plural = f"{noun[:-1]}ies" if ending_y else f"{noun}s"
    figure = format_integer(number, separator=separator, minimum=minimum)
    return f"{figure} {noun if number == 1 else plural}"


def format_seconds(seconds: float) -> str:
    """Return a time: short ones by their first figures.

    >>> format_seconds(0.0312), format_seconds(3.81), format_seconds(95.2)
    ('0.03 s', '3.8 s', '95 s')
    """
    if seconds < 0.095:
        return f"{max(seconds, 0.01):.2f} s"
    return f"{seconds:.1f} s" if seconds < 60.0 else f"{seconds:.0f} s"


def format_duration(seconds: float) -> str:
    """Return a time in its largest unit.

    >>> [format_duration(seconds) for seconds in (0.4, 59.0, 61.0, 7200.0)]
    ['0 s', '59 s', '1 min', '2 h']
    """
    if seconds < 60.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 3600.0 else f"{seconds / 3600.0:.0f} h"


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Return words joined as in a sentence.

    >>> join_words(["a", "b", "c"]), join_words(["a", "b"], "or"), join_words([])
    ('a, b and c', 'a or b', '')
    """
    *most, final = list(words) or [""]
    return f"{', '.join(most)} {last} {final}" if most else final


def list_some(words: Sequence[str], limit: int) -> str:
    """Return the first words, and how many more there are.

    >>> list_some(["a", "b", "c", "d"], 2), list_some(["a", "b"], 2)
    ('a, b and 2 more', 'a, b')
    """
    rest = len(words) - limit
    return ", ".join(words[:limit]) + (f" and {rest} more" if rest > 0 else "")


def shorten(text: str, width: int = 200) -> str:
    """Return the beginning of a text that is longer than a line may be.

    >>> shorten("abcdef", 4), shorten("abcd", 4)
    ('abc…', 'abcd')
    """
    return text if len(text) <= width else f"{text[: width - 1]}…"


# ---- labels and names ----


@lru_cache(maxsize=20_000)
def quote(name: str, *, value: bool = False) -> str:
    """Return a name so that the grammar of rules can read it again.

    - ``value``: Whether it is a label, and no column.

    >>> quote("chest pain"), quote("class"), quote("a or b"), quote("class", value=True)
    ('chest pain', 'class', '"a or b"', '"class"')
    """
    words = name if value else _FREE_IN_NAMES.sub("", name)
    plain = name.isprintable() and _PLAIN.fullmatch(name) and not _RESERVED.search(words)
    if value and ("(" in name or ")" in name):
        plain = False  # "c = b)" could be the end of a bracket
    if plain and (value or not _NAMES_OF_GROUPS.fullmatch(name)):
        return name
    return escape_unprintable(json.dumps(name, ensure_ascii=False))


def quote_unit(unit: str) -> str:
    """Return a unit so that the grammar of rules can read it again."""
    plain = re.fullmatch(r'[^\s"—;,\[\]{}()]+', unit) and not _RESERVED.search(unit)
    if plain and unit.isprintable():
        return unit
    return escape_unprintable(json.dumps(unit, ensure_ascii=False))


def format_label(label: Label) -> str:
    """Return a category or class so that the grammar of rules can read it again.

    >>> [format_label(x) for x in ("ill", "a or b", True, 3, 2.0)]
    ['ill', '"a or b"', 'True', '3', '2']
    """
    if isinstance(label, str):
        return quote(label, value=True)
    return str(label) if isinstance(label, int) else format_number(label)


def format_value(value: Label | None) -> str:
    """Return a value of a column; None is a missing value.

    >>> format_value(None), format_value(2.5), format_value("Third")
    ('missing', '2.5', 'Third')
    """
    return "missing" if value is None else format_label(value)


def format_class(label: Label) -> str:
    """Return a class in a sentence: numbers with the word "class".

    >>> format_class("ill"), format_class(1)
    ('ill', 'class 1')
    """
    return format_label(label) if isinstance(label, str) else f"class {format_label(label)}"


def name_class(label: Label) -> str:
    """Return a class as lay readers know it: as it is, numbers with the word "class".

    >>> name_class("if"), name_class(2)
    ('if', 'class 2')
    """
    return label if isinstance(label, str) else f"class {label}"


def format_unit(unit: str | None) -> str:
    """Return a unit as it follows a number, with its space; nothing if there is none.

    >>> format_unit("mm"), format_unit(None)
    (' mm', '')
    """
    return f" {clean(unit, directions=False)}" if unit else ""


# ---- characters ----


def escape_unprintable(text: str) -> str:
    r"""Return JSON, or a string of it, with an escape for all that does not print.

    Such characters steer terminals, end lines, or turn the direction of the text around them;
    line ends themselves and joiners stay.

    >>> print(escape_unprintable('"a\u2028b\x9b"'))
    "a\u2028b\u009b"
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _KEPT else json.dumps(c)[1:-1] for c in text)


def clean(text: object, *, directions: bool = True) -> str:
    r"""Return a text as one line without control characters: names may hold anything.

    What is left steers no terminal, XML can hold it, and it does not turn the text after it.

    - ``directions``: Whether marks of direction are kept, and what isolates names that have one of
      their own.

    >>> clean("a\x1b[2Jb\nc"), clean("a\u202eb", directions=False)
    ('a�[2Jb c', 'a�b')
    """
    line = str(text)
    if line.isprintable():
        return line
    line = (_TURNING if directions else _DIRECTIONS).sub("\ufffd", line)
    return "".join(map(_clean_character, line))


def clean_lines(text: str) -> str:
    r"""Return lines that steer no terminal, whatever names they hold.

    >>> clean_lines("a\x1b[2J\nb")
    'a�[2J\nb'
    """
    return "\n".join(clean(line, directions=False) for line in text.split("\n"))


def _clean_character(character: str) -> str:
    if character in _LINE_BREAKS:
        return " "
    unprintable = unicodedata.category(character) in ("Cc", "Cs")
    return "\ufffd" if unprintable or ord(character) & 0xFFFE == 0xFFFE else character


def to_ascii(text: str) -> str:
    """Return a text whose signs are written in ASCII; letters stay as they are.

    >>> to_ascii("age ≥ 55 → ill")
    'age >= 55 -> ill'
    """
    return text.translate(_ASCII)
