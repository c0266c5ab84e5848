"""What a table may hide: identifiers, columns that give the target away, many categories."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection

import numpy as np

from newron.formatting import list_some
from newron.tables.field import Field, Floats
from newron.tables.table import EncodedTable, Target

MANY_CATEGORIES = 50  # above so many, a column deserves a note
_MAX_NAMED = 4
_ENOUGH = 20  # rows from which on it is no chance that one column knows the target
_NAMED = re.compile(r"(^|[_\W])(?i:id|key|nr|no|number|index|row)$|(?<=[a-z])(ID|Id|Nr|No)$")


def find_hints(X: EncodedTable, y: Target, *, explained: Collection[str] = ()) -> list[str]:
    """Return what should be looked at before a network of a table is trusted.

    ``explained`` names columns of which another note says why they have many categories.

    >>> X = EncodedTable((Field("id"),), np.arange(30.0)[:, None])
    >>> find_hints(X, Target("ill", ("no", "yes"), np.arange(30) % 2))
    ['id has another whole number in every row, as identifiers have; leave it out: --drop id']
    """
    identifiers = _list_names(X, _is_identifier)
    givers = _list_names(X, lambda one, x: _knows(x, y, one))
    same = [name for name in _list_names(X, _is_constant) if name not in explained]
    hints = []
    if identifiers:
        have = "has" if len(identifiers) == 1 else "have"
        hints.append(
            f"{list_some(identifiers, _MAX_NAMED)} {have} another whole number in every row, as "
            f"identifiers have; leave {_name_them(identifiers)} out: {_list_options(identifiers)}"
        )
    if givers:
        give, them = ("gives" if len(givers) == 1 else "give"), _name_them(givers)
        hints.append(
            f"{list_some(givers, _MAX_NAMED)} {give} {y.name} away in every row; unless "
            f"{them} can be known before {y.name} is, leave {them} out: {_list_options(givers)}"
        )
    if same:
        hints.append(f"the same value in every row, of no use: {list_some(same, _MAX_NAMED)}")
    many = [one for one in X.fields if _count(one) > MANY_CATEGORIES and one.name not in explained]
    if many:
        named = list_some([f"{one.name} ({_count(one)})" for one in many], _MAX_NAMED)
        hints.append(
            f"many categories with few rows each, so that what is found may be chance: {named}; "
            "put rare ones together in the table"
        )
    return hints


def _list_names(X: EncodedTable, test: Callable[[Field, Floats], bool]) -> list[str]:
    return [one.name for i, one in enumerate(X.fields) if test(one, X.rows[:, i])]


def _name_them(names: Collection[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _list_options(names: list[str]) -> str:
    return " ".join(f"--drop {shlex.quote(name)}" for name in names[:_MAX_NAMED])


def _is_constant(one: Field, x: Floats) -> bool:  # noqa: ARG001 - a test of columns
    return len(x) >= _ENOUGH and not np.isnan(x).any() and bool(x.min() == x.max())


def _count(one: Field) -> int:
    return len(one.categories or ())


def _is_identifier(one: Field, x: Floats) -> bool:
    """Whether numbers count the rows, or differ in all rows of a column with such a name."""
    if one.categories is not None or len(x) < _ENOUGH or np.isnan(x).any():
        return False
    if len(np.unique(x)) < len(x) or np.any(x != np.round(x)):
        return False
    return bool(_NAMED.search(one.name)) or bool(np.ptp(x) == len(x) - 1)


def _knows(x: Floats, y: Target, one: Field) -> bool:
    """Whether every value, or every range of numbers, of a column has one target of its own."""
    known = ~np.isnan(x)
    x, values = x[known], np.asarray(y.values)[known]
    if len(x) < max(_ENOUGH, 0.5 * len(known)) or len(np.unique(values)) < 2:
        return False
    order = np.lexsort((values, x))
    x, values = x[order], values[order]
    same = x[1:] == x[:-1]
    if np.any(same & (values[1:] != values[:-1])):
        return False  # one value, two targets
    if y.labels is None:
        return _rises(x, values)
    if one.categories is not None:
        return len(np.unique(x)) <= max(len(y.labels), len(x) // 10)
    return int((values[1:] != values[:-1]).sum()) == len(np.unique(values)) - 1


def _rises(x: Floats, values: Floats) -> bool:
    """Whether a target is a straight line of a column."""
    if len(np.unique(x)) < _ENOUGH:
        return False
    return bool(abs(np.corrcoef(x, values)[0, 1]) > 1.0 - 1e-9)
