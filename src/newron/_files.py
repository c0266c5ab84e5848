"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO


def write_whole(content: bytes, path: str | PathLike[str]) -> None:
    """Write a file that appears whole or not at all."""
    with open_whole(path) as file:
        file.write(content)


@contextmanager
def open_whole(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write, which appears when the block ends without an error.

    Where the system can do it, the file has no name before: then even a kill leaves nothing
    behind. A file that is replaced passes its permissions on.
    """
    target = Path(os.path.realpath(path))  # what a link points to, not the link
    rough = make_rough_path(target)
    mode = _get_mode(target)
    handle = _open_unnamed(target.parent)
    unnamed = handle is not None
    if handle is None:
        handle = os.open(
            rough, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else mode
        )
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(handle, mode)
            os.fsync(handle)
            if unnamed:
                _name(handle, rough)
        os.replace(rough, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(rough)
        raise


def make_rough_path(target: Path) -> Path:
    """Return a new hidden path beside a target."""
    return target.with_name(f".newron-{secrets.token_hex(8)}")


def _get_mode(target: Path) -> int | None:
    try:
        return stat.S_IMODE(target.stat().st_mode) & 0o777
    except FileNotFoundError:
        return None


def _open_unnamed(folder: Path) -> int | None:
    """Open a file without a name in a folder; None where that cannot be done."""
    flag = getattr(os, "O_TMPFILE", 0)  # Linux, and not on every file system
    if not flag or not os.path.isdir("/proc/self/fd"):  # noqa: PTH112
        return None
    try:
        return os.open(folder, flag | os.O_WRONLY, 0o666)
    except OSError:
        return None


def _name(handle: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # With a folder given, Python follows the link to the open file.
        os.link(f"/proc/self/fd/{handle}", path.name, dst_dir_fd=folder)
    finally:
        os.close(folder)
