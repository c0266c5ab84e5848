"""Packages that newron does not need but for some of what it does."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from newron.errors import InputError


def import_extra(package: str, purpose: str, extra: str = "") -> Any:
    """Return a package, or raise an error that says how to get it.

    - ``extra``: The extra of newron that brings it; none where it is installed by itself.

    >>> import_extra("json", "to read it with").__name__
    'json'
    """
    try:
        return import_module(package)
    except ImportError:
        name = f"'newron-ian[{extra}]'" if extra else package
        raise InputError(
            f"expected {package.partition('.')[0]} {purpose}, got none installed: run pip install "
            f"{name}"
        ) from None
