"""Intervals and sets of classes as columns of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from newron.errors import InputError
from newron.model import Model, Targets
from newron.model.arithmetic import Floats
from newron.model.calibrated import get_conformal
from newron.model.labels import refuse_labels

LOW, HIGH, SET = "low", "high", "set"
_BETWEEN = "|"  # the classes of a set


def name_intervals(model: Model, coverage: float) -> list[str]:
    """Return the names of the columns; raise where the model's file has no intervals."""
    refuse_labels(model.output, "--interval")
    try:
        empty = np.empty((0, model.output.n_scores))
        list_intervals(model, empty, coverage)
    except InputError as error:
        raise InputError(f"--interval: {error}") from None
    output = model.output
    if not isinstance(output, Targets):
        return [SET]
    if output.n_scores == 1 or output.link == "sorted":
        return [LOW, HIGH]
    return [f"{name}_{end}" for name in output.names for end in (LOW, HIGH)]


def list_intervals(model: Model, scores: Floats, coverage: float) -> list[Sequence[Any]]:
    """Return the columns: both ends of each target, or the classes of the set as one text."""
    table, output = get_conformal(model), model.output
    if isinstance(output, Targets):
        ends = table.find_intervals(output, output.transform(scores), coverage)
        width = 2 if ends.ndim == 2 else 2 * ends.shape[1]
        return [column.tolist() for column in ends.reshape(len(scores), width).T]
    labels = [str(label) for label in output.labels]
    inside = table.find_sets(output.predict_proba(scores), coverage)
    names = {row: _join(labels, row) for row in set(map(tuple, inside.tolist()))}
    return [[names[row] for row in map(tuple, inside.tolist())]]


def _join(labels: list[str], inside: tuple[bool, ...]) -> str:
    """Join the classes of a set.

    >>> _join(["red", "green", "blue"], (True, False, True))
    'red|blue'
    """
    return _BETWEEN.join(label for label, is_in in zip(labels, inside, strict=True) if is_in)
