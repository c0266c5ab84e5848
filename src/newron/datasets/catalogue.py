"""The list of all data sets, read from ``data/sets.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from newron.datasets.dataset import Kind, Source
from newron.errors import InputError

DATA: Traversable = files("newron.datasets") / "data"


@dataclass(frozen=True)
class Entry:
    """One set of the catalogue; a column that it does not name is a number."""

    name: str
    source: Source
    note: str
    categories: frozenset[str]
    numbers: Mapping[str, Mapping[str, int]]
    missing: Mapping[str, str]  # how the source marks a missing value, by column

    def get_kind(self, column: str) -> Kind:
        """Return whether a column holds categories or numbers."""
        return "category" if column in self.categories else "number"


def names() -> tuple[str, ...]:
    """Return the names of all data sets, in the order of the paper's table.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from newron import datasets
    >>> len(datasets.names()), datasets.names()[:3]
    (23, ('adult', 'australian', 'b-c-w'))
    """
    return tuple(_read_catalogue())


def find_entry(name: str) -> Entry:
    """Return the entry of a set; the error of an unknown name lists those like it."""
    entries = _read_catalogue()
    if not isinstance(name, str) or name not in entries:
        close = get_close_matches(str(name).lower(), entries)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "choose one of them"
        raise InputError(f"expected a name of newron.datasets.names(), got {name!r}: {hint}")
    return entries[name]


@cache
def _read_catalogue() -> dict[str, Entry]:
    text = (DATA / "sets.json").read_text(encoding="utf-8")
    return {name: _read_entry(name, item) for name, item in json.loads(text).items()}


def _read_entry(name: str, item: dict[str, Any]) -> Entry:
    texts = ("title", "page", "licence", "citation", "copy")
    return Entry(
        name=name,
        source=Source(donors=tuple(item["donors"]), **{key: item[key] for key in texts}),
        note=item["note"],
        categories=frozenset(item.get("categories", ())),
        numbers=item.get("numbers", {}),
        missing=item.get("gaps", {}),
    )
