"""Files that are written: whole or not at all, and never over others without force."""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from newron import _files
from newron.errors import InputError


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Raise where a file exists, before work is done that would be lost.

    Raises InputError: If one exists and ``force`` is not given, or there is no folder for it.
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


def check_apart(inputs: Iterable[Any], output: Path | None) -> None:
    """Raise where a command would overwrite a file that it reads, with or without force.

    - ``inputs``: All that the command was given; what is no path to a file is passed over.
    """
    if output is None or not output.exists():
        return
    if any(isinstance(path, Path) and path.exists() and output.samefile(path) for path in inputs):
        raise InputError(f"{output}: expected another file than the input, got the input itself")


def format_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV, whose lines end alike everywhere."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@contextmanager
def open_whole(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file to write; it appears when all is written, and not otherwise."""
    check_free([path], force=force)
    with _files.open_whole(path) as file:
        yield file
        check_free([path], force=force)  # somebody may have been faster


@contextmanager
def stage_folder(folder: Path, *, force: bool) -> Iterator[Path]:
    """Yield a folder to write files to, which move to ``folder`` when all are written.

    Other files of that folder stay.
    """
    target = Path(os.path.realpath(folder))
    stage = _files.make_rough_path(target)
    stage.mkdir()
    try:
        yield stage
        if not target.exists():
            os.replace(stage, target)
            return
        check_free([target / file.name for file in stage.iterdir()], force=force)
        for file in sorted(stage.iterdir()):
            os.replace(file, target / file.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
