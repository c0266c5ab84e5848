"""Risks and survival curves as columns of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from newron.errors import InputError
from newron.model import Model, Survival
from newron.model.arithmetic import Floats
from newron.model.survival import accumulate, find_hazards, find_risk, get_survival

RISK = "risk"
_TIMES = 5


def is_survival(model: Model) -> bool:
    """Return whether a model predicts when an event happens."""
    return isinstance(model.output, Survival)


def name_curves(model: Model, requested: dict[str, bool]) -> list[str]:
    """Return the names of the columns: the risk, and survival until some times."""
    for name, is_requested in requested.items():
        if is_requested:
            raise InputError(f"{name}: expected a model of classes or numbers, got survival")
    ends = get_survival(model).ends
    return [RISK, *(f"survival_{ends[place]:g}" for place in _choose(ends))]


def list_curves(model: Model, rows: Floats) -> list[Sequence[Any]]:
    """Return the columns, of rows without a time."""
    hazards = accumulate(find_hazards(model, rows))
    risk = find_risk(hazards)
    places = _choose(get_survival(model).ends)
    return [risk.tolist(), *(np.exp(-hazards[:, place]).tolist() for place in places)]


def _choose(ends: Sequence[float]) -> list[int]:
    """Return the intervals at whose ends survival is printed: at fifths of the events.

    >>> _choose(range(25)), _choose(range(2))
    ([4, 9, 14, 19, 24], [0, 1])
    """
    n = len(ends)
    return sorted({max(round(n * (k + 1) / _TIMES) - 1, 0) for k in range(_TIMES)})
