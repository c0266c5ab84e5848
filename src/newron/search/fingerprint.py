"""What results depend on, in a few hexadecimal digits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from newron.tables.table import encode_rows, is_plain, learn_fields


def hash_table(X: Any, categorical: Any = "from_dtype") -> str:
    """Hash what an estimator reads of a table: names, categories, numbers.

    A frame of pandas and the same frame of polars are one table.

    >>> hash_table([[1, 2.5]]) == hash_table(np.array([[1.0, 2.5]]))
    True
    """
    if is_plain(X) and (categorical is None or isinstance(categorical, str)):
        return hash_arrays(np.asarray(X, np.float64))
    fields = learn_fields(X, categorical)
    labels = [[field.name, [repr(label) for label in field.categories or ()]] for field in fields]
    return _shorten(json.dumps(labels) + hash_arrays(encode_rows(X, fields)))


def hash_arrays(*arrays: Any) -> str:
    """Hash arrays by their shape and values; None counts as itself."""
    digest = hashlib.sha256()
    for array in arrays:
        for part in _to_bytes(array):
            digest.update(part)
    return digest.hexdigest()[:16]


def _to_bytes(array: Any) -> Sequence[bytes | memoryview]:
    if array is None:
        return [b"None"]
    values: NDArray[Any] = np.asarray(array)
    head = f"{values.dtype.kind}{values.shape}".encode()
    if values.dtype.kind not in "biuf":
        return [head, json.dumps([repr(value) for value in values.ravel().tolist()]).encode()]
    kind = {"b": np.uint8, "i": np.int64, "u": np.uint64, "f": np.float64}[values.dtype.kind]
    return [head, np.ascontiguousarray(values, kind).reshape(-1).view(np.uint8).data]


def hash_settings(settings: Mapping[str, Any]) -> str:
    """Hash settings of any kind, in any order."""
    return _shorten(json.dumps(to_plain(settings), sort_keys=True))


def to_plain(value: Any) -> Any:
    """Convert a value to what JSON has: numbers, texts, lists, dicts with texts as keys.

    >>> to_plain({"sizes": (4, np.int64(2)), 1: None})
    {"'sizes'": [4, 2], '1': None}
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, Mapping):
        return {repr(key): to_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(each) for each in value]
    return _name(value)


def _name(value: Any) -> str:
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = repr(value)
    if " at 0x" not in text:
        return text
    # What shows its address would be another value in the next session.
    return f"{type(value).__qualname__} {joblib.hash(value)}"


def _shorten(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
