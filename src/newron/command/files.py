"""Files that are written: whole or not at all, and never over others unless asked to."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from newron.errors import InputError

__all__ = ["check_free", "open_whole", "stage_folder"]


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Raise where a file exists, before work is done that would be lost.

    Raises
    ------
    InputError
        If one exists and ``force`` is not given, or there is no folder for it.
    """
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path}: expected the name of a file, got a folder")
        if not path.parent.is_dir():
            raise InputError(f"{path}: expected a folder {str(path.parent)!r}, got none; make it")
        if path.exists() and not force:
            raise InputError(
                f"{path} exists: expected a new file; choose another name with -o, or overwrite it "
                "with --force"
            )


@contextmanager
def open_whole(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file to write; it appears when all is written, and not otherwise."""
    check_free([path], force=force)
    target = Path(os.path.realpath(path))  # what a link points to, not the link
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_get_umask())
        check_free([path], force=force)  # somebody may have been faster
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def stage_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """Yield a folder to write files to, which move to ``folder`` when all are written.

    Other files of that folder stay.
    """
    target = Path(os.path.realpath(folder))
    stage = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield stage
        stage.chmod(0o777 & ~_get_umask())
        if not target.exists():
            os.replace(stage, target)
            return
        check_free([target / file.name for file in stage.iterdir()], force=force)
        for file in sorted(stage.iterdir()):
            os.replace(file, target / file.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _get_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
