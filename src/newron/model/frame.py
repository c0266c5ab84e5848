"""Tables of any kind as one matrix of numbers.

People bring data frames with texts, gaps and codes. :func:`learn_fields` looks at such a
table once and says what each column is; :func:`encode_table` then turns it, and every later
table, into float64: numbers as they are, categories as their place among the labels, gaps
as NaN.

Frames are read through narwhals, which is imported when the first one comes; neither pandas
nor polars is.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from numbers import Number
from types import NoneType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError, NewronWarning

__all__ = ["Field", "Label", "encode_table", "is_plain", "learn_fields"]

Label = str | int | float | bool

_MOST_CATEGORIES = 65_000
# From here on a text column counts as an identifier: so many different texts, in such a
# share of the rows that have one.
_MANY_TEXTS, _MOSTLY = 50, 0.9
_FLAGS = (bool, np.bool_)
_FRAME_SIGNS = ("columns", "__dataframe__", "__narwhals_dataframe__")
# What cells may not be: what we call it, and what to do about it.
_REFUSALS = {
    "date": (
        "dates or durations",
        "turn them into numbers, e.g. days since a date, or columns of year and month",
    ),
    "complex": ("complex numbers", "make two columns, e.g. the real and the imaginary part"),
    "nested": ("nested values", "expand them into columns of their own"),
    "bytes": ("bytes", "decode them into text"),
    "other": ("neither", "turn them into numbers or text, e.g. with str()"),
}
_REFUSED_DTYPES = {"M": "date", "m": "date", "c": "complex", "S": "bytes", "V": "nested"}


@dataclass(frozen=True)
class Field:
    """A column as it came: its name and, for categories, their labels in order.

    ``categories`` is None for numbers.
    """

    name: str
    categories: tuple[Label, ...] | None = None


@dataclass(frozen=True)
class _Column:
    """A column's cells, as plain numbers or as objects, and what they are."""

    name: str
    cells: NDArray[Any]
    kind: str  # number, boolean, text, or mixed: text beside something else
    categorical: bool = False  # its dtype says so
    declared: tuple[Label, ...] = ()  # the order of its dtype, where that has one


# ---- the three questions ----


def is_plain(X: Any) -> bool:
    """Tell whether NumPy alone makes a matrix of numbers of a table.

    Complex and sparse matrices count as plain, and so does what is no table at all:
    scikit-learn's own checks speak there. Frames, texts and dates do not.
    """
    if _is_frame(X):
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


def learn_fields(
    X: Any,
    categorical: str | Iterable[str] | Iterable[int] | Iterable[bool] | None = "from_dtype",
    *,
    index: NDArray[Any] | None = None,
) -> tuple[Field, ...]:
    """Find out what the columns of a table are: numbers, or which categories.

    Parameters
    ----------
    X : data frame, 2-d array or list of rows
    categorical : "from_dtype", names, places or a mask of the columns
        Which columns are categories. "from_dtype": those of text, booleans and
        categorical dtypes. Otherwise those that are listed, besides texts and
        categorical dtypes, which cannot be numbers; None lists none.
    index : array of row numbers or a mask, optional
        The rows whose categories count; all by default.

    Returns
    -------
    tuple of Field
        One for each column, in the order of the table.

    Examples
    --------
    >>> learn_fields([["red", 1.5], ["blue", None], ["red", 3.0]])
    (Field(name='x1', categories=('blue', 'red')), Field(name='x2', categories=None))
    """
    columns = _read_table(X)
    if not columns or not len(columns[0].cells):
        lack = "rows" if columns else "columns"
        raise InputError(f"expected a table with rows and columns, got no {lack}")
    listed = _choose_columns(categorical, [column.name for column in columns])
    from_dtype = isinstance(categorical, str)
    return tuple(
        _learn_field(column, from_dtype=from_dtype, listed=place in listed, index=index)
        for place, column in enumerate(columns)
    )


def encode_table(
    X: Any, fields: Sequence[Field], *, unknown: str = "missing"
) -> NDArray[np.float64]:
    """Turn a table into a matrix with one column for each field.

    Parameters
    ----------
    X : data frame, 2-d array or list of rows
        The columns of a frame are found by name, in any order, those of the rest by
        place. Where all fields are named as those of an array, and no column is, a
        frame is read by place too.
    fields : sequence of Field
        From :func:`learn_fields`.
    unknown : {"missing", "error"}
        What to do with a category that is not among the labels: read it as missing,
        and warn once, or raise.

    Returns
    -------
    C-contiguous array of shape (rows, fields)
        Numbers, places among the labels, and NaN for what is missing.

    Examples
    --------
    >>> colour = Field("colour", ("blue", "red"))
    >>> encode_table([["red", 1.5], [None, 3]], [colour, Field("size")])
    array([[1. , 1.5],
           [nan, 3. ]])
    """
    if unknown not in ("missing", "error"):
        raise InputError(f"unknown: expected 'missing' or 'error', got {unknown!r}")
    columns = _read_table(X, fields)
    matrix = np.empty((len(columns[0].cells) if columns else 0, len(columns)))
    surprises: list[str] = []
    for place, (column, field) in enumerate(zip(columns, fields, strict=True)):
        if field.categories is None:
            matrix[:, place] = _encode_numbers(column)
            continue
        matrix[:, place] = codes = _encode_categories(column, field.categories)
        strange = np.flatnonzero(codes == -1.0)
        if len(strange):
            if unknown == "error":
                _refuse_category(column, int(strange[0]), field.categories)
            surprises.append(_tell_unknown(column, strange))
            matrix[strange, place] = np.nan
    if surprises:
        _warn_outside("; ".join(surprises) + "; they are read as missing")
    return matrix


# ---- reading tables ----


def _is_frame(X: Any) -> bool:
    # The class is asked first: the columns of a lazy frame are dear, and polars warns.
    return any(hasattr(type(X), sign) or hasattr(X, sign) for sign in _FRAME_SIGNS)


def _read_table(X: Any, fields: Sequence[Field] | None = None) -> list[_Column]:
    """Read all columns, or those of the fields in their order."""
    if not _is_frame(X):
        return _read_array(X, fields)
    names, series = _open_frame(X)
    if fields is not None:
        wanted = [field.name for field in fields]
        places = _match_names(names, wanted)
        return [_read_series(name, series[i]) for name, i in zip(wanted, places, strict=True)]
    return [_read_series(name, column) for name, column in zip(names, series, strict=True)]


def _read_array(X: Any, fields: Sequence[Field] | None) -> list[_Column]:
    from newron.model.schema import make_names

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
    n_columns = array.shape[1]
    if fields is not None and n_columns != len(fields):
        raise InputError(f"expected {len(fields)} columns, got {n_columns}")
    names = make_names(n_columns) if fields is None else [field.name for field in fields]
    return [_Column(name, *_read_cells(name, array[:, place])) for place, name in enumerate(names)]


def _open_frame(X: Any) -> tuple[tuple[str, ...], list[Any]]:
    """Give the names and the narwhals series of a frame."""
    try:
        import narwhals as nw
    except ImportError:
        raise InputError(
            "expected narwhals to read a data frame with, got none; pip install narwhals"
        ) from None
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
    """Keep names that are text; count columns where none is, as for an array."""
    from newron.model.schema import make_names

    other = [name for name in names if not isinstance(name, str)]
    if other and len(other) < len(names):
        raise InputError(
            f"expected column names that are all text, got {other[0]!r} among them; rename it"
        )
    return make_names(len(names)) if other else tuple(map(str, names))


def _match_names(names: tuple[str, ...], wanted: list[str]) -> list[int]:
    """Find the place of each wanted column among the names of a frame."""
    from newron.model.schema import make_names

    places = {name: place for place, name in enumerate(names)}
    if tuple(wanted) == make_names(len(wanted)) and not places.keys() & set(wanted):
        if len(names) != len(wanted):
            raise InputError(f"expected {len(wanted)} columns, got {len(names)}")
        return list(range(len(names)))  # learned from an array: by place
    for name in wanted:
        if name not in places:
            raise InputError(f"expected a column {name!r}, got none; add it, NaN where unknown")
    surplus = [name for name in names if name not in set(wanted)]
    if surplus:
        raise InputError(f"expected no column {surplus[0]!r}, got one; drop it")
    return [places[name] for name in wanted]


# ---- reading columns ----


def _read_series(name: str, series: Any) -> _Column:
    import narwhals as nw

    if str(series.dtype) in ("Int128", "UInt128"):
        series = series.cast(nw.Float64)  # NumPy has no such integers
    cells, kind = _read_cells(name, series.to_numpy())
    if not isinstance(series.dtype, nw.Categorical | nw.Enum):
        return _Column(name, cells, kind)
    return _Column(name, cells, kind, categorical=True, declared=_read_order(series))


def _read_order(series: Any) -> tuple[Label, ...]:
    """Give the categories that a dtype declares, as pandas' and the Enum of polars do.

    The Categorical of polars numbers its texts as they happen to come, in the whole
    process: that is no order to keep.
    """
    categories = getattr(getattr(series.to_native(), "dtype", None), "categories", None)
    to_list = getattr(categories, "to_list", None)
    if to_list is None:
        return ()
    # Where they are something else, a cell was refused already or all are missing.
    plain = (value for value in to_list() if _name_type(type(value)) not in _REFUSALS)
    return tuple(map(_make_label, plain))


def _read_cells(name: str, cells: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Give the cells as numbers or objects, and their kind; refuse what is neither."""
    code = cells.dtype.kind
    if cells.ndim > 1 or code in _REFUSED_DTYPES:
        _refuse_kind(f"column {name!r}", "nested" if cells.ndim > 1 else _REFUSED_DTYPES[code])
    if code in "biuf":
        return cells, "boolean" if code == "b" else "number"
    return _read_objects(name, cells.astype(object, copy=False))


def _read_objects(name: str, cells: NDArray[Any]) -> tuple[NDArray[Any], str]:
    values = cells.tolist()
    types = {kind: _name_type(kind) for kind in set(map(type, values))}
    if not _REFUSALS.keys().isdisjoint(types.values()):
        row = next(i for i, value in enumerate(values) if types[type(value)] in _REFUSALS)
        _refuse_kind(f"column {name!r}, {_tell_row(row)}", types[type(values[row])], values[row])
    kinds = set(types.values()) - {"gap"}
    if len(kinds) > 1 and "number" in kinds:
        # In pandas a gap among texts or booleans is a number, NaN.
        numbers = (value for value in values if types[type(value)] == "number")
        if all(value != value for value in numbers):
            kinds.remove("number")
    if "text" in kinds:
        return cells, "text" if kinds == {"text"} else "mixed"
    return (cells, "boolean") if kinds == {"boolean"} else (_to_floats(values), "number")


def _name_type(kind: type) -> str:
    """Say what the values of a type are to us. NaN is a number that is missing."""
    if kind is NoneType or kind.__name__ in ("NAType", "NaTType"):
        return "gap"
    # In this order: to NumPy a duration is a whole number, to Python a truth is one.
    for name, kinds in (
        ("text", (str,)),
        ("boolean", _FLAGS),
        ("date", (date, time, timedelta, np.datetime64, np.timedelta64)),
        ("complex", (complex, np.complexfloating)),
        ("number", (Number, np.number)),
        ("bytes", (bytes, bytearray)),
        ("nested", (Sequence, dict, set, frozenset, np.ndarray)),
    ):
        if issubclass(kind, kinds):
            return name
    return "date" if kind.__name__ == "Period" else "other"


def _to_floats(values: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array(values, np.float64)  # None is NaN to it
    except (TypeError, OverflowError):
        return np.array([_to_float(value) for value in values], np.float64)


def _to_float(value: Any) -> float:
    try:
        return np.nan if _name_type(type(value)) == "gap" else float(value)
    except OverflowError:
        return np.inf


# ---- learning ----


def _choose_columns(categorical: Any, names: list[str]) -> set[int]:
    """Give the places of the columns that are listed as categories."""
    if categorical is None or (isinstance(categorical, str) and categorical == "from_dtype"):
        return set()
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        _refuse_choice(repr(categorical))
    chosen = list(categorical)
    if not chosen:
        return set()
    if all(isinstance(item, _FLAGS) for item in chosen):
        return _choose_by_mask(chosen, names)
    if all(isinstance(item, str) for item in chosen):
        return _choose_by_name(chosen, names)
    if not all(isinstance(item, int | np.integer) for item in chosen):
        _refuse_choice(_show(chosen))
    return _choose_by_place(chosen, names)


def _choose_by_mask(mask: list[bool], names: list[str]) -> set[int]:
    if len(mask) != len(names):
        _refuse_choice(f"a mask of length {len(mask)} for {len(names)} columns")
    return {place for place, flag in enumerate(mask) if flag}


def _choose_by_name(chosen: list[str], names: list[str]) -> set[int]:
    places = {name: place for place, name in enumerate(names)}
    for name in chosen:
        if name not in places:
            _refuse_choice(f"{name!r}, which is not a column")
    return {places[name] for name in chosen}


def _choose_by_place(chosen: list[int], names: list[str]) -> set[int]:
    for place in chosen:
        if isinstance(place, _FLAGS) or not 0 <= place < len(names):
            _refuse_choice(f"{_show(place)}, which is no place from 0 to {len(names) - 1}")
    return {int(place) for place in chosen}


def _refuse_choice(got: str) -> NoReturn:
    raise InputError(
        "categorical features: expected 'from_dtype', a list of names or of places of columns, "
        f"or a mask as long as there are columns, got {got}"
    )


def _learn_field(
    column: _Column, *, from_dtype: bool, listed: bool, index: NDArray[Any] | None
) -> Field:
    numbers = column.kind == "number"
    if numbers and column.cells.dtype.kind == "f" and np.all(np.isnan(column.cells)):
        return Field(column.name)  # nothing but gaps
    if column.kind == "mixed" and not column.categorical:
        _refuse_mixture(column)
    by_itself = column.categorical or column.kind == "text"
    if not (by_itself or listed or (from_dtype and column.kind == "boolean")):
        return Field(column.name)
    if numbers:
        _encode_numbers(column)  # for its checks: infinity is no category
    cells = column.cells if index is None else column.cells[np.asarray(index)]
    labels = _find_labels(column, cells)
    if column.kind == "text" and not (listed or column.categorical):
        _check_repetition(column.name, len(labels), cells)
    if len(labels) > _MOST_CATEGORIES:
        raise InputError(
            f"column {column.name!r}: expected at most {_MOST_CATEGORIES:,} categories, got "
            f"{len(labels):,}; drop it or put rare ones together"
        )
    return Field(column.name, labels)


def _find_labels(column: _Column, cells: NDArray[Any]) -> tuple[Label, ...]:
    """Give the categories that occur: in the declared order, otherwise sorted."""
    found = {value for value in set(cells.tolist()) if not _is_missing(value)}
    if column.declared:
        return tuple(label for label in column.declared if label in found)
    return tuple(map(_make_label, sorted(found)))


def _make_label(value: Any) -> Label:
    """Turn a category into a plain value of Python; whole numbers into int."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, _FLAGS):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    # Beyond, not every whole number is a float, and digits would be made up.
    return int(number) if number.is_integer() and abs(number) < 2.0**53 else number


def _check_repetition(name: str, n_texts: int, cells: NDArray[Any]) -> None:
    if n_texts <= _MANY_TEXTS:
        return
    n_rows = sum(isinstance(value, str) for value in cells.tolist())
    if n_texts > _MOSTLY * n_rows:
        raise InputError(
            f"column {name!r}: expected categories that repeat, got {n_texts} different texts in "
            f"{n_rows} rows; drop it (an identifier says nothing about a new row) or list it in "
            "categorical_features to insist"
        )


# ---- encoding ----


def _encode_numbers(column: _Column) -> NDArray[np.float64]:
    from newron.model.network import LARGEST_INPUT

    if column.kind in ("text", "mixed"):
        values = column.cells.tolist()
        row = next(i for i, value in enumerate(values) if isinstance(value, str))
        _refuse_cell(column, row, "a number", "turn it into one, or into a gap if it means none")
    if column.cells.dtype.kind == "O":
        return _to_floats(column.cells.tolist())
    with np.errstate(over="ignore"):  # a longer float may become infinite, and is told below
        numbers = column.cells.astype(np.float64)
    large = np.flatnonzero(np.abs(numbers) > LARGEST_INPUT)
    if len(large):
        what = f"a number within ±{LARGEST_INPUT:g}"
        _refuse_cell(column, int(large[0]), what, "correct it or leave it missing")
    return numbers


def _encode_categories(column: _Column, labels: tuple[Label, ...]) -> NDArray[np.float64]:
    """Give the place of each cell among the labels; NaN if missing, -1 if unknown."""
    values = column.cells.tolist()
    keys: list[Any] = list(labels)
    if len({isinstance(label, str) for label in labels}) > 1:
        # Beside text a truth is not a number, though Python holds True equal to 1.
        keys, values = list(map(_mark_flag, keys)), list(map(_mark_flag, values))
    places = {key: float(place) for place, key in enumerate(keys)}
    # Each different value is looked at once; the cells then only look it up.
    codes = {
        value: places.get(value, np.nan if _is_missing(value) else -1.0) for value in set(values)
    }
    return np.fromiter(map(codes.__getitem__, values), np.float64, len(values))


def _mark_flag(value: Any) -> Any:
    return ("flag", bool(value)) if isinstance(value, _FLAGS) else value


def _is_missing(value: Any) -> bool:
    return _name_type(type(value)) == "gap" or bool(value != value)


# ---- errors and warnings ----


def _tell_unknown(column: _Column, rows: NDArray[np.intp]) -> str:
    different = list(dict.fromkeys(column.cells[rows].tolist()))
    shown = ", ".join(map(_show, different[:3])) + (", ..." if len(different) > 3 else "")
    where = f"{len(rows)} row" + ("s" if len(rows) > 1 else "")
    return f"column {column.name!r}: unknown categories in {where}: {shown}"


def _warn_outside(message: str) -> None:
    """Warn at the line that called newron, however deep we are."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] == "newron":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, NewronWarning, stacklevel=level)


def _refuse_category(column: _Column, row: int, labels: tuple[Label, ...]) -> NoReturn:
    known = ", ".join(map(_show, labels[:3])) + (", ..." if len(labels) > 3 else "")
    what = f"one of the {len(labels)} categories {known}"
    _refuse_cell(column, row, what, "correct it or leave it missing")


def _refuse_cell(column: _Column, row: int, expected: str, advice: str) -> NoReturn:
    raise InputError(
        f"column {column.name!r}, {_tell_row(row)}: expected {expected}, got "
        f"{_show(column.cells[row])}; {advice}"
    )


def _refuse_mixture(column: _Column) -> NoReturn:
    values = column.cells.tolist()
    text = next(i for i, value in enumerate(values) if isinstance(value, str))
    other = next(
        i for i, value in enumerate(values) if not isinstance(value, str) and not _is_missing(value)
    )
    raise InputError(
        f"column {column.name!r}: expected texts or numbers, got both, {_show(values[text])} in "
        f"row {text} and {_show(values[other])} in row {other} (counted from 0); turn all into "
        "text, or the texts into numbers or gaps"
    )


def _refuse_kind(where: str, kind: str, *value: Any) -> NoReturn:
    what, advice = _REFUSALS[kind]
    shown = f", {_show(value[0])}" if value else ""
    raise InputError(f"{where}: expected numbers or categories, got {what}{shown}; {advice}")


def _tell_row(row: int) -> str:
    return f"row {row} (counted from 0)"


def _show(value: Any) -> str:
    """Give a value as people write it, in one line and not too long."""
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 60 else text[:57] + "..."
