"""The encoded table: rows of numbers, and what its columns are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.tables import memory
from newron.tables.encoding import Encoder
from newron.tables.field import Field, Floats, Label


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table as a network reads it, made once and taken wherever X is.

    Numbers are as they were, categories their index among the labels, missing values NaN.
    Make one with :func:`encode` of a frame, an array or a list of rows, or with
    :func:`newron.tables.read` of a file.

    Parameters
    ----------
    fields : tuple of Field
        The columns: names, and the labels of categories.
    rows : array of shape (rows, columns)
        In float64; it is shared, not copied, so do not change it.

    Examples
    --------
    >>> table = encode([["red", 1.5], ["blue", None]])
    >>> table
    <EncodedTable: 2 rows, 2 columns, 1 of them categories>
    >>> table.rows
    array([[1. , 1.5],
           [0. , nan]])
    """

    fields: tuple[Field, ...]
    rows: Floats = field(repr=False)

    def __post_init__(self) -> None:
        """Check that there is a field for each column."""
        rows = np.ascontiguousarray(self.rows, np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.fields):
            raise InputError(
                f"expected rows with {len(self.fields)} columns, as fields, got shape {rows.shape}"
            )
        object.__setattr__(self, "rows", rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __getitem__(self, index: Any) -> EncodedTable:
        """Return the table of some rows: an index, a slice, an array of indices or a mask."""
        if isinstance(index, tuple):  # scikit-learn takes rows by X[index, ...]
            index = index[0]
        return EncodedTable(self.fields, np.atleast_2d(self.rows[index]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the rows."""
        return np.array(self.rows, dtype) if copy else np.asarray(self.rows, dtype)

    def __repr__(self) -> str:
        """Return the size in one line."""
        n, m = self.shape
        return f"<EncodedTable: {n} rows, {m} columns, {len(self.categorical)} of them categories>"

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        n, m = self.rows.shape
        return n, m

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in self.fields)

    @cached_property
    def categorical(self) -> tuple[int, ...]:
        """The positions of the columns that hold categories."""
        return tuple(i for i, one in enumerate(self.fields) if one.categories is not None)

    def get_row(self, index: int) -> dict[str, Label | None]:
        """Return one row by the names of its columns, with labels.

        Parameters
        ----------
        index : int

        Returns
        -------
        dict
            A label or a number for each column, None where it is missing.

        Examples
        --------
        >>> encode([["red", 1.5], ["blue", None]]).get_row(1)
        {'x1': 'blue', 'x2': None}
        """
        return {
            one.name: _decode(one, value)
            for one, value in zip(self.fields, self.rows[index].tolist(), strict=True)
        }

    def encode_as(self, fields: Sequence[Field], *, unknown: str = "missing") -> Floats:
        """Return rows for other fields: columns are matched by name, categories by label.

        Parameters
        ----------
        fields : sequence of Field
            Those of a model. Columns besides them are left out.
        unknown : {"missing", "error"}
            What to do with a category that is not among their labels.

        Returns
        -------
        array of shape (rows, fields)
            The rows themselves, without a copy, where the fields are the same.

        Examples
        --------
        >>> table = encode([["red", 1.5], ["blue", None]])
        >>> table.encode_as([Field("x1", ("blue", "green", "red"))])
        array([[2.],
               [0.]])
        """
        if self.fields == tuple(fields):
            return self.rows
        positions = memory.match_names(self.names, [one.name for one in fields])
        encoder = Encoder(fields, unknown=unknown)
        rows = np.empty((len(self), len(fields)))
        for i, (one, at) in enumerate(zip(fields, positions, strict=True)):
            rows[:, i] = self._encode_column(encoder, one, at)
        encoder.warn_unknown()
        return rows

    def _encode_column(self, encoder: Encoder, one: Field, at: int) -> Floats:
        cells, labels = self.rows[:, at], self.fields[at].categories
        if labels == one.categories:
            return cells
        if labels is None:
            return encoder.encode_column(one, cells)
        return encoder.recode_column(one, cells, labels)


def _decode(one: Field, value: float) -> Label | None:
    if value != value:
        return None
    return value if one.categories is None else one.categories[int(value)]


def _reduce_field(one: Field, codes: Floats) -> Field:
    if one.categories is None:
        return one
    found = np.unique(codes[~np.isnan(codes)]).astype(np.intp)
    return Field(one.name, tuple(one.categories[code] for code in found))


@dataclass(frozen=True, eq=False)
class Target:
    """What to predict: taken wherever y is, with its name and the order of its classes.

    Parameters
    ----------
    name : str
    labels : tuple of labels, optional
        The classes in order; None for regression.
    values : array of shape (rows,)
        The index of each row's class, or its number.
    ordered : bool, default False
        Whether the order of the classes is one of rank, from the lowest to the highest.

    Examples
    --------
    >>> y = Target("ill", ("no", "yes"), np.array([1, 0, 1]))
    >>> np.asarray(y).tolist()
    ['yes', 'no', 'yes']
    """

    name: str
    labels: tuple[Label, ...] | None
    values: NDArray[Any] = field(repr=False)
    ordered: bool = False

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def __getitem__(self, index: Any) -> Target:
        """Return the target of some rows: a slice, an array of indices or a mask."""
        return Target(self.name, self.labels, self.values[index], self.ordered)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the class or the number of each row."""
        values = self.values if self.labels is None else self.classes[self.values]
        return np.array(values, dtype) if copy else np.asarray(values, dtype)

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (len(self.values),)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels as an array."""
        kinds = set(map(type, self.labels or ()))
        return np.array(self.labels or (), object if len(kinds) > 1 else None)

    def count_classes(self) -> dict[Label, int]:
        """Return the number of rows of each class.

        Returns
        -------
        dict
            By label.

        Examples
        --------
        >>> Target("ill", ("no", "yes"), np.array([1, 0, 1])).count_classes()
        {'no': 1, 'yes': 2}
        """
        counts = np.bincount(self.values, minlength=len(self.classes))
        return dict(zip(self.labels or (), counts.tolist(), strict=True))


# ---- from memory ----


def is_plain(X: Any) -> bool:
    """Whether NumPy alone makes a matrix of numbers of a table, see :mod:`.memory`."""
    return not isinstance(X, EncodedTable) and memory.is_plain(X)


def learn_fields(
    X: Any, categorical: Any = "from_dtype", *, index: NDArray[Any] | None = None
) -> tuple[Field, ...]:
    """Find out what the columns of a table are: numbers, or which categories.

    Which columns are categories, and only the categories of the rows ``index`` count; an
    encoded table knows its own.

    >>> learn_fields([["red", 1.5], ["blue", None], ["red", 3.0]])
    (Field(name='x1', categories=('blue', 'red')), Field(name='x2', categories=None))
    """
    if isinstance(X, EncodedTable):
        _check_size(*X.shape)
        rows = X.rows if index is None else X.rows[index]
        return tuple(_reduce_field(one, rows[:, i]) for i, one in enumerate(X.fields))
    columns = memory.read_columns(X)
    _check_size(len(columns[0].cells) if columns else 0, len(columns))
    listed = memory.choose_columns(categorical, [column.name for column in columns])
    from_dtype = isinstance(categorical, str)
    return tuple(
        memory.learn_field(column, from_dtype=from_dtype, listed=i in listed, index=index)
        for i, column in enumerate(columns)
    )


def _check_size(n_rows: int, n_columns: int) -> None:
    if not (n_rows and n_columns):
        lack = "rows" if n_columns else "columns"
        raise InputError(f"expected a table with rows and columns, got no {lack}")


def encode_rows(X: Any, fields: Sequence[Field], *, unknown: str = "missing") -> Floats:
    """Turn a table into a matrix with one column for each field.

    The columns of a frame are found by name, in any order, those of an array by position.
    Where all fields are named as those of an array, and no column is, a frame is read by
    position too. A category that is not among the labels is missing, with one warning, or
    raises with ``unknown="error"``.

    >>> colour = Field("colour", ("blue", "red"))
    >>> encode_rows([["red", 1.5], [None, 3]], [colour, Field("size")])
    array([[1. , 1.5],
           [nan, 3. ]])
    """
    if isinstance(X, EncodedTable):
        return X.encode_as(fields, unknown=unknown)
    encoder = Encoder(fields, unknown=unknown)
    columns = memory.read_columns(X, [one.name for one in fields])
    rows = encoder.encode([column.cells for column in columns])
    encoder.warn_unknown()
    return rows


def encode(X: Any, categorical: Any = "from_dtype") -> EncodedTable:
    """Encode a table once, for all that follows.

    Parameters
    ----------
    X : data frame, 2-d array or list of rows
    categorical : "from_dtype", names, positions or a mask of the columns
        Which columns are categories. "from_dtype": those of text, booleans and
        categorical dtypes. Otherwise those that are listed, besides texts and
        categorical dtypes, which cannot be numbers; None lists none.

    Returns
    -------
    EncodedTable

    Examples
    --------
    >>> encode([["red", 1.5], ["blue", None]]).fields[0].categories
    ('blue', 'red')
    """
    fields = learn_fields(X, categorical)
    return EncodedTable(fields, encode_rows(X, fields))
