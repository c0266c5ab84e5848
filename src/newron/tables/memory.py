"""Tables in memory: data frames of any library, arrays and lists of rows.

Frames are read through narwhals, which is imported when the first one comes; neither pandas
nor polars is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from numbers import Number
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from newron._extras import import_extra
from newron.errors import InputError
from newron.tables.cells import IN_MEMORY, is_missing, is_missing_type
from newron.tables.encoding import Encoder, describe_row, format_cell
from newron.tables.field import BOOLEANS, Field, Label, make_label, make_names
from newron.tables.survey import MAX_CATEGORIES, ColumnSurvey

_FRAME_SIGNS = ("columns", "__dataframe__", "__narwhals_dataframe__")
# What cells may not be: what we call it, and what to do about it.
_INVALID = {
    "date": (
        "dates or durations",
        "turn them into numbers, e.g. days since a date, or columns of year and month",
    ),
    "complex": ("complex numbers", "make two columns, e.g. the real and the imaginary part"),
    "nested": ("nested values", "expand them into columns of their own"),
    "bytes": ("bytes", "decode them into text"),
    "other": ("neither", "turn them into numbers or text, e.g. with str()"),
}
_INVALID_DTYPES = {"M": "date", "m": "date", "c": "complex", "S": "bytes", "V": "nested"}
# In this order: to NumPy a duration is a whole number, to Python a boolean is one.
_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("text", (str,)),
    ("boolean", BOOLEANS),
    ("date", (date, time, timedelta, np.datetime64, np.timedelta64)),
    ("complex", (complex, np.complexfloating)),
    ("number", (Number, np.number)),
    ("bytes", (bytes, bytearray)),
    ("nested", (Sequence, dict, set, frozenset, np.ndarray)),
)


@dataclass(frozen=True)
class RawColumn:
    """A column's cells, as plain numbers or as objects, and what they are."""

    name: str
    cells: NDArray[Any]
    kind: str  # number, boolean, text, or mixed: text beside something else
    categorical: bool = False  # its dtype says so
    declared: tuple[Label, ...] = ()  # the order of its dtype, where that has one


# ---- tables ----


def is_plain(X: Any) -> bool:
    """Whether NumPy alone makes a matrix of numbers of a table.

    Complex and sparse matrices count as plain, and so does what is no table at all:
    scikit-learn's own checks raise there. Frames, texts and dates do not.
    """
    if is_frame(X):
        return False
    if not isinstance(X, np.ndarray | list | tuple) and hasattr(X, "__array_namespace__"):
        return True  # an array of another library: these hold no text, and may be elsewhere
    try:
        array = np.asarray(X)
    except (TypeError, ValueError, RuntimeError):
        return True
    if array.dtype.kind == "O":
        return not any(issubclass(kind, str) for kind in set(map(type, array.flat)))
    return array.dtype.kind not in "USTMm"


def is_frame(X: Any) -> bool:
    """Whether a table looks like a data frame."""
    # The class comes first: the columns of a lazy frame take time, and polars warns.
    return any(hasattr(type(X), sign) or hasattr(X, sign) for sign in _FRAME_SIGNS)


def read_columns(X: Any, names: Sequence[str] | None = None) -> list[RawColumn]:
    """Read all columns of a table, or those of some names in their order."""
    if not is_frame(X):
        return _read_array(X, names)
    found, series = _open_frame(X)
    if names is None:
        return list(map(_read_series, found, series))
    positions = match_names(found, names)
    return [_read_series(name, series[i]) for name, i in zip(names, positions, strict=True)]


def _read_array(X: Any, names: Sequence[str] | None) -> list[RawColumn]:
    try:
        array = np.asarray(X)
        if array.dtype.kind == "U" and not isinstance(X, np.ndarray):
            array = np.asarray(X, dtype=object)  # NumPy made texts of the numbers among them
    except ValueError:
        raise InputError("expected rows of the same length, got rows that differ") from None
    if array.ndim != 2:
        raise InputError(
            f"expected a table with rows and columns, got {type(X).__name__} of shape "
            f"{array.shape}; bring a data frame, a 2-d array or a list of rows"
        )
    names = make_names(array.shape[1]) if names is None else names
    if array.shape[1] != len(names):
        raise InputError(f"expected {len(names)} columns, got {array.shape[1]}")
    return [RawColumn(name, *_read_cells(name, array[:, i])) for i, name in enumerate(names)]


def _open_frame(X: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Return the names and the narwhals series of a frame."""
    nw = import_extra("narwhals", "to read a data frame with")
    try:
        frame = nw.from_native(X, eager_only=True)
        names = list(frame.columns)
    except TypeError:
        raise InputError(
            f"expected a data frame in memory, as those of pandas and polars, got "
            f"{type(X).__module__}.{type(X).__name__}; collect it or turn it into one of these"
        ) from None
    except ValueError:
        _check_distinct(getattr(X, "column_names", None) or X.columns)
        raise
    _check_distinct(names)
    return _name_columns(names), list(frame.iter_columns())


def _check_distinct(names: Iterable[Any]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"expected column names that differ, got {twice[0]!r} twice; rename or drop one"
        )


def _name_columns(names: list[Any]) -> tuple[str, ...]:
    """Keep names that are text, and whole numbers as text; number columns of any other names."""
    other = [name for name in names if not isinstance(name, str)]
    if other and len(other) < len(names):
        raise InputError(
            f"expected column names that are all text, got {other[0]!r} among them; rename it"
        )
    if all(isinstance(name, str | int) for name in names):
        return tuple(map(str, names))
    return make_names(len(names))


def match_names(names: Sequence[str], requested: Sequence[str]) -> list[int]:
    """Find the position of each requested column among the names of a table."""
    positions = {name: i for i, name in enumerate(names)}
    if tuple(requested) == make_names(len(requested)) and not positions.keys() & set(requested):
        if len(names) != len(requested):
            raise InputError(f"expected {len(requested)} columns, got {len(names)}")
        return list(range(len(names)))  # learned from an array: by position
    for name in requested:
        if name not in positions:
            raise InputError(f"expected a column {name!r}, got none; add it, NaN where unknown")
    return [positions[name] for name in requested]


# ---- columns ----


def _read_series(name: str, series: Any) -> RawColumn:
    import narwhals as nw

    if str(series.dtype) in ("Int128", "UInt128"):
        series = series.cast(nw.Float64)  # NumPy has no such integers
    cells, kind = _read_cells(name, series.to_numpy())
    if not isinstance(series.dtype, nw.Categorical | nw.Enum):
        return RawColumn(name, cells, kind)
    return RawColumn(name, cells, kind, categorical=True, declared=_read_order(series))


def _read_order(series: Any) -> tuple[Label, ...]:
    """Return the categories that a dtype declares, as pandas' and the Enum of polars do.

    The Categorical of polars numbers its texts as they happen to come, in the whole
    process: that is no order to keep.
    """
    categories = getattr(getattr(series.to_native(), "dtype", None), "categories", None)
    to_list = getattr(categories, "to_list", None)
    if to_list is None:
        return ()
    # Where they are something else, a cell was invalid already or all are missing.
    plain = (value for value in to_list() if _name_kind(type(value)) not in _INVALID)
    return tuple(map(make_label, plain))


def _read_cells(name: str, cells: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return the cells as numbers or objects, and their kind."""
    code = cells.dtype.kind
    if cells.ndim > 1 or code in _INVALID_DTYPES:
        _raise_kind(f"column {name!r}", "nested" if cells.ndim > 1 else _INVALID_DTYPES[code])
    if code in "biuf":
        return cells, "boolean" if code == "b" else "number"
    cells = cells.astype(object, copy=False)
    kinds = _find_kinds(name, cells.tolist())
    if "text" in kinds:
        return cells, "text" if kinds == {"text"} else "mixed"
    if kinds == {"boolean"}:
        return cells, "boolean"
    numbers = IN_MEMORY.parse_numbers(cells)
    assert numbers is not None  # noqa: S101 - there are no texts
    return numbers, "number"


def _find_kinds(name: str, values: list[Any]) -> set[str]:
    """Return the kinds of the values that are not missing; raise where one is invalid."""
    types = {kind: _name_kind(kind) for kind in set(map(type, values))}
    if not _INVALID.keys().isdisjoint(types.values()):
        row = next(i for i, value in enumerate(values) if types[type(value)] in _INVALID)
        where = f"column {name!r}, {describe_row(row)}"
        _raise_kind(where, types[type(values[row])], f", {format_cell(values[row])}")
    kinds = set(types.values()) - {"missing"}
    if len(kinds) > 1 and "number" in kinds:
        # In pandas a missing value among texts or booleans is a number, NaN.
        numbers = (value for value in values if types[type(value)] == "number")
        if all(value != value for value in numbers):
            kinds.remove("number")
    return kinds


def _name_kind(kind: type) -> str:
    """Name what the values of a type are to us. NaN is a number that is missing."""
    if is_missing_type(kind):
        return "missing"
    names = (name for name, kinds in _KINDS if issubclass(kind, kinds))
    return next(names, "date" if kind.__name__ == "Period" else "other")


def _raise_kind(where: str, kind: str, cell: str = "") -> NoReturn:
    what, advice = _INVALID[kind]
    raise InputError(f"{where}: expected numbers or categories, got {what}{cell}; {advice}")


# ---- learning ----


def choose_columns(categorical: Any, names: Sequence[str]) -> set[int]:
    """Return the positions of the columns that are listed as categories."""
    if categorical is None or (isinstance(categorical, str) and categorical == "from_dtype"):
        return set()
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        _raise_choice(repr(categorical))
    chosen = list(categorical)
    if chosen and all(isinstance(item, BOOLEANS) for item in chosen):
        if len(chosen) != len(names):
            _raise_choice(f"a mask of length {len(chosen)} for {len(names)} columns")
        return {i for i, flag in enumerate(chosen) if flag}
    if all(isinstance(item, str) for item in chosen):
        for name in chosen:
            if name not in names:
                _raise_choice(f"{name!r}, which is not a column")
        return {names.index(name) for name in chosen}
    if not all(isinstance(item, int | np.integer) for item in chosen):
        _raise_choice(format_cell(chosen))
    for i in chosen:
        if isinstance(i, BOOLEANS) or not 0 <= i < len(names):
            _raise_choice(f"{format_cell(i)}, which is no position from 0 to {len(names) - 1}")
    return set(map(int, chosen))


def _raise_choice(got: str) -> NoReturn:
    raise InputError(
        "categorical features: expected 'from_dtype', a list of names or of positions of columns, "
        f"or a mask as long as there are columns, got {got}"
    )


def learn_field(
    column: RawColumn, *, from_dtype: bool, listed: bool, index: NDArray[Any] | None
) -> Field:
    """Find out what a column is; only the categories of the rows ``index`` count."""
    numbers = column.kind == "number"
    if numbers and column.cells.dtype.kind == "f" and np.all(np.isnan(column.cells)):
        return Field(column.name)  # nothing but missing values
    if column.kind == "mixed" and not column.categorical:
        _raise_mixture(column)
    by_itself = column.categorical or column.kind == "text"
    if not (by_itself or listed or (from_dtype and column.kind == "boolean")):
        return Field(column.name)
    if numbers:
        Encoder(()).encode_column(Field(column.name), column.cells)  # infinity is no category
    survey = ColumnSurvey(column.name)
    survey.add(column.cells if index is None else column.cells[np.asarray(index)])
    labels = _order_labels(survey.finish(), column.declared)
    if column.kind == "text" and not (listed or column.categorical) and survey.looks_unique:
        raise InputError(
            f"column {column.name!r}: expected categories that repeat, got {len(labels)} different "
            f"texts in {survey.n_values} rows; drop it (an identifier says nothing about a new "
            "row) or list it in categorical_features to insist"
        )
    if len(labels) > MAX_CATEGORIES:
        raise InputError(
            f"column {column.name!r}: expected at most {MAX_CATEGORIES:,} categories, got "
            f"{len(labels):,}; drop it or put rare ones together"
        )
    return Field(column.name, labels)


def _order_labels(survey: ColumnSurvey, declared: Sequence[Label]) -> tuple[Label, ...]:
    """Return the categories that occur: in the declared order, otherwise sorted."""
    if not declared:
        return survey.sort_labels()
    found = survey.count_labels() or ()
    return tuple(label for label in declared if label in found)


def _raise_mixture(column: RawColumn) -> NoReturn:
    values = column.cells.tolist()
    text = next(i for i, value in enumerate(values) if isinstance(value, str))
    other = next(
        i for i, value in enumerate(values) if not isinstance(value, str) and not is_missing(value)
    )
    raise InputError(
        f"column {column.name!r}: expected texts or numbers, got both, "
        f"{format_cell(values[text])} in row {text} and {format_cell(values[other])} in row "
        f"{other} (counted from 0); turn all into text, or the texts into numbers or missing values"
    )
