"""Labels of classes: which there are, in which order, and their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from newron.engine.rows import cut_rows, fold
from newron.errors import InputError, ModelError
from newron.formatting import shorten
from newron.model.arithmetic import Floats
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


def check_objects(labels: Any) -> None:
    """Raise where among labels that are objects one is missing, or texts are mixed with others."""
    values = np.asarray(labels)
    if values.dtype.kind != "O" or values.ndim != 1:
        return
    lacking = [row for row, label in enumerate(values.tolist()) if is_missing(label)]
    if lacking:
        raise InputError(
            f"y: expected a class in every row, got {len(lacking)} missing ones, the first in row "
            f"{lacking[0]} (counted from 0); leave these rows out"
        )
    texts = [label for label in values.tolist() if isinstance(label, str)]
    others = [label for label in values.tolist() if not isinstance(label, str)]
    if texts and others:
        raise InputError(
            "y: expected class labels of one kind, got "
            f"{shorten(repr(others[0]))} and {shorten(repr(texts[0]))}; turn them into text"
        )


def read_labels(targets: Any, y: Any) -> NDArray[Any]:
    """Return the labels of rows; raise where they name no classes."""
    if isinstance(y, Target) and y.labels is not None:
        return np.asarray(targets)  # whatever its labels are, they name classes
    check_objects(targets)
    check_classification_targets(targets)
    labels = np.asarray(column_or_1d(targets, warn=True))
    if labels.dtype.kind not in "OUSTbiuf":
        raise InputError(
            f"y: expected class labels that are text, whole numbers or booleans, "
            f"got {labels.dtype}; turn them into text"
        )
    return labels


def check_known(labels: NDArray[Any], known: NDArray[Any]) -> None:
    """Raise where a label is not among the classes."""
    unknown = np.setdiff1d(labels, known)
    if len(unknown):
        raise InputError(f"expected classes {known.tolist()}, got {unknown.tolist()[0]!r} in y")


def choose_classes(
    labels: NDArray[Any], given: ArrayLike | None, before: NDArray[Any] | None
) -> NDArray[Any]:
    """Return all classes of a fit in parts: those of the first part, or those that are given."""
    if before is not None:
        if given is not None and set(np.unique(given)) != set(before):
            raise InputError("classes: expected those of the first call, got others")
        known = np.asarray(before)
    else:
        known = np.unique(labels if given is None else np.asarray(given))
        if len(known) < 2:
            raise InputError(f"expected at least 2 classes, got {known.tolist()}: give classes")
    check_known(labels, known)
    return known


def weigh_classes(
    requested: dict[Any, float] | str | None,
    numbers: NDArray[np.intp],
    classes: NDArray[Any],
    weight: Floats | None,
) -> Floats | None:
    """Return the weight of each class as ``class_weight`` requests it; None for even ones."""
    if requested is None:
        return None
    if requested == "balanced":
        counts = _count_classes(numbers, weight, len(classes))
        return np.where(counts > 0, counts.sum() / (len(classes) * counts.clip(1e-300)), 0.0)
    weights = np.asarray(compute_class_weight(requested, classes=classes, y=classes[numbers]))
    if not np.all((weights >= 0.0) & (weights < 1e100)):
        raise InputError(f"class_weight: expected weights from 0 on, got {requested}")
    return weights


def _count_classes(numbers: NDArray[np.intp], weight: Floats | None, n_classes: int) -> Floats:
    """Return the summed weight of each class, added as those of blocks of rows are."""
    used = slice(None) if weight is None else np.flatnonzero(weight)
    own, weights = numbers[used], None if weight is None else weight[used]
    parts = [
        np.bincount(own[at], None if weights is None else weights[at], n_classes)
        for at in cut_rows(len(own))
    ]
    return np.asarray(fold(parts, np.add) if parts else np.zeros(n_classes), np.float64)
