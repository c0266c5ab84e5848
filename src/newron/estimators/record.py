"""What a fit keeps of its rows: enough to name them and to know them again."""

from __future__ import annotations

import hashlib
import inspect
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray

from newron._version import __version__
from newron.model.arithmetic import Floats
from newron.training.fitting import Data

__all__ = ["count_seen", "list_settings", "record_training"]

_MOST_KEPT = 200_000  # training rows that are known again

_MIX = np.uint64(0xBF58476D1CE4E5B9)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)

_NO_SETTINGS = ("recipe", "random_state", "n_jobs", "verbose", "warm_start")


def record_training(data: Data) -> dict[str, Any]:
    """Give the number of training rows, their hash, a key of each, and the versions."""
    used = slice(None) if data.weight is None else data.weight != 0.0
    X, y = data.X[used], data.y[used]
    keys = np.sort(_hash_rows(X, y)) if len(X) <= _MOST_KEPT else None
    return {
        "rows": len(X),
        "fingerprint": _hash_table([field.name for field in data.fields], X, y),
        "keys": keys,
        "versions": {
            "newron": __version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }


def count_seen(record: Mapping[str, Any], data: Data) -> int | None:
    """Count the rows that are rows of training; None if that is not known any more."""
    if record["keys"] is None:
        return None
    return int(np.isin(_hash_rows(data.X, data.y), record["keys"]).sum())


def list_settings(estimator: Any) -> dict[str, Any]:
    """Give the settings of an estimator that are not as they are by default."""
    usual = inspect.signature(type(estimator)).parameters
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in _NO_SETTINGS and repr(value) != repr(usual[name].default)
    }


def _hash_table(names: list[str], X: Floats, y: Floats) -> str:
    digest = hashlib.sha256("\n".join(names).encode())
    for table in (X, y):
        digest.update(_clean(table).tobytes())
    return digest.hexdigest()


def _hash_rows(X: Floats, y: Floats) -> NDArray[np.uint64]:
    """Give a key of each row and its target, whatever rows stand beside it."""
    keys = np.zeros(len(X), np.uint64)
    for table in (X, y):
        for bits in _clean(table).view(np.uint64).T:
            keys = (keys ^ bits) * _MIX + _GOLDEN
            keys ^= keys >> _SHIFT
    return keys


def _clean(table: Floats) -> Floats:
    """Give numbers that are equal the same bits: one zero, one gap."""
    values = np.array(table, np.float64, order="C") + 0.0
    values[np.isnan(values)] = np.nan
    return values
