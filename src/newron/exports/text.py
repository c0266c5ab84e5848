"""Names, labels and texts of a model inside other languages, where they must stay texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from newron.formatting import escape_unprintable, format_label
from newron.tables.field import Label

_MAX_LENGTH = 40
_PLAIN = re.compile(r"[\w .,()%°/+-]*")


# ---- names ----


def simplify(text: str) -> str:
    """Return the letters, digits and underscores of a text; empty if it has none to start with.

    >>> simplify("chest pain"), simplify("bp(sys)"), simplify("<=50K"), simplify("größe")
    ('chest_pain', 'bp_sys', '', 'gr_e')
    """
    plain = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_")
    return plain[:_MAX_LENGTH] if plain[:1].isalpha() else ""


class Names:
    """Hands out names, each once, however letters are cased.

    >>> names = Names(["select"])
    >>> names.take("age"), names.take("Age"), names.take("select")
    ('age', 'Age_2', 'select_2')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}
        self._numbers: dict[str, int] = {}  # the last number that was appended to each base

    def take(self, base: str) -> str:
        """Return this name, or one like it."""
        name, number = base, self._numbers.get(base, 1)
        while name.lower() in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._numbers[base] = number
        self._taken.add(name.lower())
        return name


# ---- labels of categories and classes, where a language has one type for them ----


def has_text(labels: Sequence[Label]) -> bool:
    """Return whether labels are compared as texts: some are."""
    return any(isinstance(label, str) for label in labels)


def label_text(label: Label) -> str:
    """Return a label as text."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return label if isinstance(label, str) else format_label(label)


# ---- quotes ----


def quote_json(text: str) -> str:
    r"""Write a text as a JSON string that is harmless inside a page and inside a comment.

    >>> print(quote_json("größe\n*/</script>"))
    "größe\n*\u002f\u003c\u002fscript>"
    """
    quoted = escape_unprintable(json.dumps(text, ensure_ascii=False))
    return quoted.replace("<", "\\u003c").replace("/", "\\u002f")


def quote_note(text: str) -> str:
    r"""Write any text so that it stays one line of a comment, in every language.

    >>> print(quote_note("chest pain"), quote_note("a*/;</script>"))
    chest pain "a*\u002f;\u003c\u002fscript>"
    """
    if _PLAIN.fullmatch(text) and text.isprintable() and not text.endswith(" "):
        return text
    # In quotes no line ends with a backslash, which would go on with the next line in C.
    return quote_json(text)


def quote_line(text: str) -> str:
    r"""Write a line of prose so that it stays one line of a comment, in every language.

    >>> print(quote_line("If größe ≥ 3, then */ \\"))
    If größe ≥ 3, then *\u002f \u005c
    """
    shown = escape_unprintable(text).replace("\n", "\\n").replace("*/", "*\\u002f")
    return f"{shown[:-1]}\\u005c" if shown.endswith("\\") else shown


def quote_c(text: str) -> str:
    r"""Write a text as a string of C: its bytes in UTF-8, with no trigraphs.

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
