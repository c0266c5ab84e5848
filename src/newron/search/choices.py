"""Settings that a search chooses besides the structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from newron.errors import InputError, ModelError
from newron.model.processing import get_processing
from newron.search.structure import Choice


def list_choices(requested: Mapping[str, Any], processing: Any) -> list[Choice]:
    """Combine lists of values; ``processing`` is the function where none is listed.

    M, the number of factors, is left out where the function has none.

    >>> for choice in list_choices(
    ...     {"processing": ["sigmoid", "tanh_prod"], "n_factors": [1, 2]}, "heaviside"
    ... ):
    ...     print(choice)
    (('processing', 'sigmoid'),)
    (('processing', 'tanh_prod'), ('n_factors', 1))
    (('processing', 'tanh_prod'), ('n_factors', 2))
    """
    given = {
        name: _read_values(name, values) for name, values in requested.items() if values is not None
    }
    combinations = (dict(zip(given, values, strict=True)) for values in product(*given.values()))
    listed = [_leave_out(each, each.get("processing", processing)) for each in combinations]
    return list(dict.fromkeys(listed))


def _read_values(name: str, values: Any) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name}: expected a list of values to choose from, got {values!r}")
    listed = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not listed:
        raise InputError(f"{name}: expected at least one value to choose from, got none")
    return listed


def _leave_out(combination: dict[str, Any], processing: Any) -> Choice:
    if not isinstance(processing, str):
        raise InputError(
            "processing: expected one function for all layers, whose number the search "
            f"chooses, got {processing!r}"
        )
    if processing == "smooth":
        raise InputError(
            'processing: expected functions to choose from, got "smooth", which chooses by '
            'itself; list "sigmoid" and "tanh_prod"'
        )
    try:
        factors = get_processing(processing).many_factors
    except ModelError as error:
        raise InputError(f"processing: {error}") from None
    return tuple((name, v) for name, v in combination.items() if factors or name != "n_factors")
