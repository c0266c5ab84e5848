"""A row as it comes and as people know it, and what a network's functions make of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.edits import open_functions
from newron.model.model import Model
from newron.model.output import Label
from newron.model.schema import Column
from newron.tables.table import EncodedTable, encode_rows


def read_row(model: Model, row: Any) -> Floats:
    """Read one row, in whatever form, as an array of shape (1, columns).

    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[38.0]])
    >>> model = Model(Schema((Column("t", 35.0, 42.0),)), [layer], Classes(("well", "ill")))
    >>> [read_row(model, row).tolist() for row in ({"t": 37}, [37], [[37]])]
    [[[37.0]], [[37.0]], [[37.0]]]
    """
    named = _find_names(row)
    if named is not None:
        rows: NDArray[Any] = encode_rows(_arrange(named, model), model.fields)
    else:
        rows = model.read([list(row)] if _is_flat(row) else row)
    if len(rows) != 1:
        raise InputError(f"expected one row, got {len(rows)}; take one, for example X[:1]")
    return np.ascontiguousarray(rows, np.float64)


def _is_flat(row: Any) -> bool:
    """Return whether this is a sequence of values, and not of rows."""
    table = hasattr(row, "columns") or isinstance(row, EncodedTable)
    if table or not hasattr(row, "__len__") or np.ndim(row) == 0:
        return False
    return all(isinstance(value, str) or np.ndim(value) == 0 for value in row)


def _find_names(row: Any) -> Mapping[str, Any] | None:
    """Return the values by name, if the row has names."""
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "index") and hasattr(row, "to_dict") and not hasattr(row, "columns"):
        named: dict[Any, Any] = row.to_dict()  # a Series
        return named if all(isinstance(name, str) for name in named) else None
    return None


def _arrange(named: Mapping[str, Any], model: Model) -> NDArray[Any]:
    names = model.schema.names
    for name in names:
        if name not in named:
            raise InputError(f"expected a value of {name!r}, got none; add it, None where unknown")
    for name in named:
        if name not in names:
            raise InputError(f"expected no value of {name!r}, got one; leave it out")
    values = np.empty((1, len(names)), object)
    values[0] = [named[name] for name in names]
    return values


def get_value(column: Column, x: float) -> Label | None:
    """Return a value as people know it: a label, a number, or None for a missing value."""
    if column.categories is not None:
        known = 0.0 <= x < len(column.categories)
        return column.categories[int(x)] if known else None
    return None if math.isnan(x) else float(x)


def open_layers(model: Model) -> Callable[[Floats], list[Floats]]:
    """Return what evaluates every function: for rows, an array (rows, functions) a layer."""
    sizes = [len(layer.source) for layer in model.layers]
    hidden = model.layers[:-1]
    probes = [open_functions(model.schema, hidden, layer) for layer in model.layers]

    def evaluate(rows: Floats) -> list[Floats]:
        # One zero, with and without the compiled core.
        return [p.score_rows(rows)[:, :n] + 0.0 for p, n in zip(probes, sizes, strict=True)]

    return evaluate
