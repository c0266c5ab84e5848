"""Texts of a model inside other languages: quoted so that they stay texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

__all__ = ["quote_c", "quote_json", "quote_line", "quote_note", "write_data"]

WIDTH = 96

_PLAIN = re.compile(r"[\w .,()%°/+-]*")


def quote_json(text: str) -> str:
    r"""Write a text as a JSON string that is harmless inside a page and inside a comment.

    Examples
    --------
    >>> print(quote_json("größe\n*/</script>"))
    "größe\n*\u002f\u003c\u002fscript>"
    """
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() and c not in "</" else _escape(c) for c in quoted)


def _escape(c: str) -> str:
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else json.dumps(c)[1:-1]


def quote_note(text: str) -> str:
    r"""Write any text so that it stays one line of a comment, in every language.

    Examples
    --------
    >>> print(quote_note("chest pain"), quote_note("a*/;</script>"))
    chest pain "a*\u002f;\u003c\u002fscript>"
    """
    if _PLAIN.fullmatch(text) and text.isprintable() and not text.endswith(" "):
        return text
    # In quotes no line ends with a backslash, which would go on with the next line in C.
    return quote_json(text)


def quote_line(text: str) -> str:
    r"""Write a line of prose so that it stays one line of a comment, in every language.

    Examples
    --------
    >>> print(quote_line("If größe ≥ 3, then */ \\"))
    If größe ≥ 3, then *\u002f \u005c
    """
    shown = "".join(c if c.isprintable() else _escape(c) for c in text).replace("*/", "*\\u002f")
    return shown[:-1] + _escape("\\") if shown.endswith("\\") else shown


def quote_c(text: str) -> str:
    r"""Write a text as a string of C: its bytes in UTF-8, with no trigraphs.

    Examples
    --------
    >>> print(quote_c('größe??/"\n'))
    "gr\303\266\303\237e\?\?/\"\012"
    """
    raw = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(_escape_byte(byte) for byte in raw) + '"'


def _escape_byte(byte: int) -> str:
    if chr(byte) in '"\\?':
        return f"\\{byte:c}"
    # Always three digits, so that a digit after it stays one.
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def write_data(value: Any, write_atom: Callable[[Any], str], indent: str = "") -> str:
    """Write plain data with one line for whatever fits into one."""
    flat = _write_flat(value, write_atom)
    if len(flat) + len(indent) <= WIDTH or not isinstance(value, dict | list):
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        inner = [
            f"{write_atom(key)}: {write_data(part, write_atom, deeper)}"
            for key, part in value.items()
        ]
        opening, closing = "{", "}"
    else:
        inner = [write_data(part, write_atom, deeper) for part in value]
        opening, closing = "[", "]"
    lines = "".join(f"{deeper}{part},\n" for part in inner)
    return f"{opening}\n{lines}{indent}{closing}"


def _write_flat(value: Any, write_atom: Callable[[Any], str]) -> str:
    if isinstance(value, dict):
        parts = (f"{write_atom(k)}: {_write_flat(v, write_atom)}" for k, v in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_write_flat(part, write_atom) for part in value)}]"
    return write_atom(value)
