"""How the C library of a worker keeps the memory of arrays that were freed."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

_DASK = "65536"  # MALLOC_TRIM_THRESHOLD_ of workers, by Dask's own settings
# of mallopt: from how many bytes on an array has pages of its own, and how many stay at hand
_PAGES, _TRIM = (-3, 4 * 2**20), (-1, 32 * 2**20)


@cache
def keep_freed_memory() -> bool:
    """Keep up to 32 MB that tasks have freed for the next ones; return whether that was done.

    Dask lets workers return memory at once. Each array of a block would then be new pages, which
    doubles the time of a task. What users have set otherwise stays, and so do other C libraries.
    """
    if sys.platform != "linux":
        return False
    names = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")
    if [os.environ.get(name) for name in names] != [_DASK, None]:
        return False
    adjust = getattr(ctypes.CDLL(None), "mallopt", None)
    return adjust is not None and all([adjust(*_PAGES), adjust(*_TRIM)])
