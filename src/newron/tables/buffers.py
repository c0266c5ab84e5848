"""Arrays of Arrow as arrays of NumPy, read from their buffers.

pyarrow's own conversion imports pandas where that is installed, and its compute functions take
as long to import as a hundred thousand rows to read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.tables.cells import CodedCells

_KINDS = {"double": "float64", "float": "float32", "halffloat": "float16"}
_WHOLE = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


def has_numbers(array: Any) -> bool:
    """Whether an array holds floats or whole numbers of the machine's."""
    return str(array.type) in _KINDS or str(array.type) in _WHOLE


def read_numbers(array: Any) -> NDArray[np.float64]:
    """Return numbers of Arrow, NaN where there is none."""
    values, missing = _read_values(array)
    numbers = values.astype(np.float64, copy=missing is not None)
    if missing is not None:
        numbers[missing] = np.nan
    return numbers


def read_dictionary(array: Any) -> CodedCells:
    """Return texts of Arrow as the different ones among them, and which one each cell is."""
    texts = array.dictionary.to_pylist()
    codes, missing = _read_values(array.indices)
    if missing is None:
        return CodedCells(texts, codes)
    return CodedCells([*texts, None], np.where(missing, len(texts), codes))


def make_array(values: NDArray[Any], kind: Any) -> Any:
    """Return numbers or truths as an array of Arrow of that kind; NaN is no value."""
    import pyarrow as pa

    there, is_truth = None, values.dtype.kind == "b"
    if values.dtype.kind == "f" and np.isnan(values).any():
        there = pa.py_buffer(np.packbits(~np.isnan(values), bitorder="little"))
    own = np.packbits(values, bitorder="little") if is_truth else np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, len(values), [there, pa.py_buffer(own)])


def _read_values(array: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the values of an array, and where there are none, if anywhere."""
    there, values = array.buffers()
    kind = np.dtype(_KINDS.get(str(array.type), str(array.type)))
    n, first = len(array), array.offset
    if not n:
        return np.empty(0, kind), None
    found = np.frombuffer(values, kind, n, first * kind.itemsize)
    if not array.null_count:
        return found, None
    bits = np.frombuffer(there, np.uint8, (first + n + 7) // 8)
    return found, np.unpackbits(bits, count=first + n, bitorder="little")[first:] == 0
