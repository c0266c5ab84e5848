"""BLAS on one thread: its threads would change the last digits, and cost more than they give."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


def use_one_thread() -> Any:
    """Return a context in which BLAS runs on one thread."""
    return _find_blas().limit(limits=1)


@cache
def _find_blas() -> Any:
    """Return the control of BLAS; to look for it takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")
