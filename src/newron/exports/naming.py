"""Names that other languages take: made from any text, and never the same twice."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Names", "simplify"]

_LONGEST = 40


def simplify(text: str) -> str:
    """Give the letters, digits and underscores of a text; empty if it has none to start with.

    Examples
    --------
    >>> simplify("chest pain"), simplify("bp(sys)"), simplify("<=50K"), simplify("größe")
    ('chest_pain', 'bp_sys', '', 'gr_e')
    """
    plain = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_")
    return plain[:_LONGEST] if plain[:1].isalpha() else ""


class Names:
    """Gives out names, each once, however letters are cased.

    Examples
    --------
    >>> names = Names(["select"])
    >>> names.take("age"), names.take("Age"), names.take("select")
    ('age', 'Age_2', 'select_2')
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}
        self._numbers: dict[str, int] = {}  # by wish, the last number that was given out

    def take(self, wish: str) -> str:
        """Give the name that is wished for, or one like it."""
        name, number = wish, self._numbers.get(wish, 1)
        while name.lower() in self._taken:
            number += 1
            name = f"{wish}_{number}"
        self._numbers[wish] = number
        self._taken.add(name.lower())
        return name
