"""Labels of classes: which there are, in which order, and their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError, ModelError
from newron.model.output import Classes
from newron.neurons import Loss
from newron.tables.cells import is_missing
from newron.tables.table import Target

__all__ = ["check_missing", "list_classes", "name_classes", "number_labels"]


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
