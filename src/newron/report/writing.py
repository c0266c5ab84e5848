"""Words, numbers and tags of a page. Whatever comes from data goes through ``tell``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from html import escape
from typing import Any

from newron.evaluation import Estimate
from newron.figures.metrics import clean
from newron.model.output import Label
from newron.shapes.sentence import shorten

__all__ = [
    "count",
    "join_words",
    "make_table",
    "say_class",
    "tell",
    "write_count",
    "write_data",
    "write_per_cent",
    "write_range",
]

_THIN, _NARROW_SPACE = "\u202f", "\u00a0"


def tell(text: object) -> str:
    """Give a text of the data as HTML: as text, and turning nothing around it."""
    return f"<bdi>{escape(clean(text))}</bdi>"


def say_class(label: Label) -> str:
    """Give the name of a class in a sentence: numbers with the word "class"."""
    return str(label) if isinstance(label, str) else f"class {label}"


def write_count(n: int) -> str:
    """Write a whole number, with spaces from 10 000 on.

    Examples
    --------
    >>> write_count(9999), write_count(48842) == "48\u202f842"
    ('9999', True)
    """
    return str(n) if abs(n) < 10_000 else f"{n:,}".replace(",", _THIN)


def count(n: int, noun: str) -> str:
    """Write how many there are of something.

    Examples
    --------
    >>> count(1, "row"), count(3, "row"), count(2, "category")
    ('1 row', '3 rows', '2 categories')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{write_count(n)} {noun if n == 1 else plural}"


def write_per_cent(share: float, digits: int = 0) -> str:
    r"""Write a share in per cent; 0 and 100 only where it is that.

    Examples
    --------
    >>> write_per_cent(0.8379), write_per_cent(0.9996), write_per_cent(1.0, 1)
    ('84\xa0%', '> 99\xa0%', '100\xa0%')
    """
    told = round(100.0 * share, digits)
    least = 10.0**-digits
    if told >= 100.0 and share < 1.0:
        return f"> {_write(100.0 - least, digits)}{_NARROW_SPACE}%"
    if told <= 0.0 and share > 0.0:
        return f"< {_write(least, digits)}{_NARROW_SPACE}%"
    whole = told in (0.0, 100.0)
    return f"{_write(told, 0 if whole else digits)}{_NARROW_SPACE}%"


def _write(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


def write_range(estimate: Estimate) -> str:
    """Write the interval of a share, in per cent and without the sign: "79 to 88"."""
    low, high = (math.floor(100 * estimate.low + 0.5), math.floor(100 * estimate.high + 0.5))
    return f"{low} to {high}"


def write_interval(estimate: Estimate) -> str:
    """Write the interval of an amount."""
    return f"{shorten(estimate.low)} to {shorten(estimate.high)}"


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    every = list(words)
    return f"{', '.join(every[:-1])} {last} {every[-1]}" if len(every) > 1 else "".join(every)


def make_table(head: Iterable[str], rows: Iterable[Iterable[str]], *, style: str = "") -> str:
    """Make a table of HTML cells; the last column has numbers."""
    cells = list(head)
    ends = [*[""] * (len(cells) - 1), ' class="num"']
    top = "".join(f"<th scope=col{end}>{cell}</th>" for cell, end in zip(cells, ends, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{e}>{c}</td>" for c, e in zip(row, ends, strict=True)) + "</tr>"
        for row in rows
    )
    kind = f' class="{style}"' if style else ""
    return f"<table{kind}><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def write_data(data: Any) -> str:
    """Write JSON that stays data inside a script element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
