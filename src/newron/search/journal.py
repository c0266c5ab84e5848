"""The journal of a search: a file that outlives it.

One line of JSON for each trial that is done, after a line that names the search.
Every line ends with a checksum. Lines are only ever appended, and each is on the disk
before the search goes on; so a search that was killed goes on where it was. What the
kill tore, a last line without its end, is dropped; anything else that does not fit is
an error, and the file stays as it is.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from newron._version import __version__
from newron.errors import InputError
from newron.search.exploration import Listener, Outcome, Trial
from newron.search.structure import Candidate

_FORMAT = "newron search journal 1"


class Journal(Listener):
    """A file of outcomes.

    - ``path``: Where it is, or is to be.
    - ``prints``: Fingerprints of what results depend on, by name. A journal with others is of
      another search.

    - ``outcomes``: What the file knows already.
    """

    def __init__(self, path: str | os.PathLike[str], prints: Mapping[str, str]) -> None:
        self.path = Path(path)
        self._head = {"journal": _FORMAT, "newron": __version__, **prints}
        self.outcomes: dict[Trial, Outcome] = {}
        if self.path.exists() and (self.path.stat().st_size or not self.path.is_file()):
            self._read()
        else:
            self._create()

    def _create(self) -> None:
        # Whole or not at all: a journal never lacks its head.
        rough = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        try:
            with rough.open("wb") as file:
                _write_down(file, self._head)
            os.replace(rough, self.path)
        except OSError as error:
            self._refuse(f"it cannot be made: {error}")

    def on_outcome(self, trial: Trial, outcome: Outcome) -> None:
        """Write it down, and wait until it is on the disk."""
        with self.path.open("ab", buffering=0) as file:
            _write_down(file, _to_entry(trial, outcome))

    # ---- reading ----

    def _read(self) -> None:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            self._refuse(f"it cannot be read: {error}")
        whole, _, torn = content.rpartition(b"\n")
        lines = whole.split(b"\n")
        self._check_head(_unseal(lines[0]))
        for number, line in enumerate(lines[1:], start=2):
            trial, outcome = self._read_entry(line, number)
            if trial in self.outcomes:
                self._refuse(f"line {number} repeats a trial; take it out or give a new path")
            self.outcomes[trial] = outcome
        if torn:
            os.truncate(self.path, len(content) - len(torn))

    def _read_entry(self, line: bytes, number: int) -> tuple[Trial, Outcome]:
        entry = _unseal(line)
        if entry is None:
            self._refuse(f"line {number} is damaged; take it out or give a new path")
        try:
            return _from_entry(entry)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            self._refuse(f"line {number} is not a trial ({error}); take it out or give a new path")

    def _check_head(self, head: dict[str, Any] | None) -> None:
        if head is None or head.get("journal") != _FORMAT:
            self._refuse("its first line is not that of a journal; give another path")
        if head.get("newron") != __version__:
            self._refuse(
                f"it is of newron {head.get('newron')} and this is {__version__}, which may "
                "train otherwise; give a new path"
            )
        other = [name for name, value in self._head.items() if head.get(name) != value]
        if other:
            self._refuse(f"it is of a search with other {' and '.join(other)}; give a new path")

    def _refuse(self, why: str) -> NoReturn:
        raise InputError(
            f"journal {str(self.path)!r}: expected one of this search or a new file, but {why}"
        ) from None


# ---- lines ----


def _write_down(file: BinaryIO | FileIO, content: dict[str, Any]) -> None:
    file.write(_seal(content))
    file.flush()
    os.fsync(file.fileno())


def _seal(content: dict[str, Any]) -> bytes:
    return json.dumps({**content, "check": _sum(content)}).encode() + b"\n"


def _unseal(line: bytes) -> dict[str, Any] | None:
    """Return the content of a line, or None if it is not as it was written."""
    try:
        content = json.loads(line)
        check = content.pop("check")
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return None
    return content if check == _sum(content) else None


def _sum(content: dict[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(content).encode()):08x}"


def _to_entry(trial: Trial, outcome: Outcome) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": list(trial.candidate.widths),
        "choice": dict(trial.candidate.choice),
        "fold": trial.fold,
        **asdict(outcome),
        "score": None if math.isnan(outcome.score) else outcome.score,
    }


def _from_entry(entry: dict[str, Any]) -> tuple[Trial, Outcome]:
    expected = {"hidden_layer_sizes", "choice", "fold", "score", "fit_time", "score_time"}
    if entry.keys() != expected:
        raise ValueError(f"other keys: {', '.join(sorted(entry.keys() ^ expected))[:60]}")
    widths = tuple(_check_count(width, 1) for width in entry["hidden_layer_sizes"])
    choice = tuple(entry["choice"].items())
    hash(choice)  # lists and objects are no settings
    trial = Trial(Candidate(widths, choice), _check_count(entry["fold"], 0))
    score = math.nan if entry["score"] is None else _check_number(entry["score"])
    times = [_check_number(entry[key]) for key in ("fit_time", "score_time")]
    if not all(time >= 0.0 for time in times):
        raise ValueError("a time below 0")
    return trial, Outcome(score, *times)


def _check_count(value: Any, low: int) -> int:
    if type(value) is not int or value < low:
        raise ValueError(f"expected a whole number from {low} on, got {repr(value)[:40]}")
    return value


def _check_number(value: Any) -> float:
    if type(value) not in (int, float) or math.isnan(value):
        raise ValueError(f"expected a number, got {repr(value)[:40]}")
    return float(value)
