"""Names and descriptions of functions of one's own."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from typing import Any

from newron.errors import DefinitionError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)
_MAX_ABOUT = 200


def describe(function: Callable[..., Any], kind: str) -> tuple[str, str]:
    """Return the name of a function, and the first line of its docstring."""
    if not callable(function):
        raise DefinitionError(f"{kind}: expected a function, got {function!r}")
    name = getattr(function, "__name__", "")
    if not _NAME.fullmatch(name):
        raise DefinitionError(
            f"{kind}: expected a function with a name of letters, digits and _ (at most 40), got "
            f"{name!r}; define it with def"
        )
    about = (inspect.getdoc(function) or "").strip().split("\n")[0]
    return name, about[:_MAX_ABOUT]


def check_new(name: str, kind: str, known: Collection[str]) -> None:
    """Raise an error for a name that newron has itself."""
    if name in known:
        raise DefinitionError(
            f"{kind}: expected a name of its own, got {name}, which newron has; rename it"
        )


def check_name(name: object, kind: str, data: object, known: set[str], needed: set[str]) -> str:
    """Check the name and the keys of a definition that was read; return what it is."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(f"expected the name of a definition, got {str(name)[:60]!r}")
    what = f"{kind} {name}"
    if not isinstance(data, dict):
        raise DefinitionError(f"{what}: expected an object, got {str(data)[:60]!r}")
    for key in sorted(needed - data.keys()):
        raise DefinitionError(f"{what}: expected {key!r}, which is not there")
    for key in sorted(map(str, data.keys() - known)):
        raise DefinitionError(f"{what}: does not know {key[:60]!r}")
    about = data.get("about", "")
    if not isinstance(about, str) or len(about) > _MAX_ABOUT:
        raise DefinitionError(f"{what}: expected a line of text about it")
    return what
