"""Labels of classes: which there are, in which order, and their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError, ModelError
from newron.model.output import Classes
from newron.neurons.loss import Loss
from newron.tables.cells import is_missing
from newron.tables.table import Target


def read_order(y: Any) -> NDArray[Any] | None:
    """Return the categories of y in their order, where it is of an ordered kind.

    Those are pandas' ordered categoricals and Polars' enums.

    >>> import pandas as pd
    >>> grades = pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True)
    >>> read_order(pd.Series(grades)).tolist()
    ['b', 'a']
    >>> read_order(["b", "a"]) is None
    True
    """
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "columns") and len(y.columns) == 1:
        y = y[y.columns[0]]
    kind: Any = getattr(y, "dtype", None)
    is_enum = type(kind).__name__ == "Enum"
    if not (is_enum or getattr(kind, "ordered", False) is True):
        return None
    return np.array(list(kind.categories), dtype=object)


def is_ordered(y: Any) -> bool:
    """Return whether y says itself that its classes have an order: an enum alone does not."""
    if isinstance(y, Target):
        return y.ordered
    return read_order(y) is not None and type(getattr(y, "dtype", None)).__name__ != "Enum"


def order_classes(classes: NDArray[Any], y: Any) -> NDArray[Any]:
    """Return classes in the order of y's categories, where these have one."""
    order = read_order(y)
    if order is None:
        return classes
    place = {label: k for k, label in enumerate(order.tolist())}
    return np.array(sorted(classes.tolist(), key=lambda label: place[label]), dtype=classes.dtype)


def list_classes(labels: NDArray[Any], y: Any) -> NDArray[Any]:
    """Return the classes that occur, in the order of a Target, otherwise sorted."""
    if isinstance(y, Target) and y.labels is not None:
        return np.asarray(y.classes[np.unique(y.values)])
    return np.unique(labels)


def number_labels(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each label among the classes."""
    order = np.argsort(classes, kind="stable")  # a Target's classes have their own order
    return np.asarray(order[np.searchsorted(classes, labels, sorter=order)])


def name_classes(classes: NDArray[Any], objective: object = None) -> Classes:
    """Return classes as the output of a model, with a loss of one's own if there is one."""
    try:
        output = Classes(tuple(classes.tolist()))
    except ModelError as error:
        raise InputError(f"y: {error}; turn them into text") from None
    try:
        return replace(output, loss=objective) if isinstance(objective, Loss) else output
    except ModelError as error:
        raise InputError(str(error)) from None


def check_missing(labels: Any) -> None:
    """Raise where a class is missing among labels that are objects."""
    values = np.asarray(labels)
    if values.dtype.kind != "O" or values.ndim != 1:
        return
    lacking = [row for row, label in enumerate(values.tolist()) if is_missing(label)]
    if lacking:
        raise InputError(
            f"y: expected a class in every row, got {len(lacking)} missing ones, the first in row "
            f"{lacking[0]} (counted from 0); leave these rows out"
        )
