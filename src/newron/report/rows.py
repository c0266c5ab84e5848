"""Rows of a report: read, drawn, and given back as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, number_classes


def read_rows(model: Model, X: ArrayLike) -> Floats:
    """Read a table of at least one row."""
    rows = np.ascontiguousarray(model.read(X), np.float64)
    if not len(rows):
        raise InputError("expected at least one row for a report, got none")
    return rows


def read_truth(model: Model, y: ArrayLike | None, n: int) -> NDArray[Any] | None:
    """Read the numbers of the true classes, or the true values of shape (rows, targets)."""
    if y is None:
        return None
    if isinstance(model.output, Classes):
        return number_classes(model.output, y, n)
    try:
        truth = np.asarray(y, np.float64)
    except (TypeError, ValueError):
        raise InputError("y: expected numbers, got values that are not numbers") from None
    truth = model.output.spread(truth)
    expected = n, model.output.n_scores
    if truth.shape != expected:
        raise InputError(f"y: expected values of shape {expected}, got {truth.shape}")
    if not np.isfinite(truth).all():
        raise InputError("y: expected finite numbers, got missing or infinite ones; leave them out")
    return truth


def draw_rows(n: int, limit: int) -> NDArray[np.intp]:
    """Draw so many of n rows, always the same ones, in their order; the first is among them."""
    if n <= limit:
        return np.arange(n)
    others = 1 + np.random.default_rng(0).choice(n - 1, limit - 1, replace=False)
    return np.concatenate([[0], np.sort(others)])


def list_rows(model: Model, rows: Floats) -> NDArray[Any]:
    """Return rows as a table that the model can read: labels instead of their numbers."""
    if not any(column.n_categories for column in model.schema.columns):
        return rows
    table = rows.astype(object)
    for i, column in enumerate(model.schema.columns):
        if column.categories is not None:
            n = len(column.categories)
            labels = np.empty(n + 1, object)
            labels[:n] = column.categories
            known = (rows[:, i] >= 0) & (rows[:, i] < n)
            table[:, i] = labels[np.where(known, rows[:, i], n).astype(np.intp)]
    return table
