"""Changes of a row, searched without the rest of its explanation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from newron.explanations.counterfactual import Changes, search_changes
from newron.explanations.row import read_row
from newron.model import Model


def find_changes(
    model: Model,
    row: Any,
    *,
    target: Any = None,
    max_changes: int = 3,
    fixed: str | Iterable[str] = (),
    limit: int = 5,
    max_evaluations: int = 500_000,
) -> Changes:
    """Find changes as ``explain`` does, with its defaults."""
    values = read_row(model, row)
    return search_changes(model, values, target, max_changes, fixed, limit, max_evaluations)
