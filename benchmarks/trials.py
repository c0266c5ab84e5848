"""Trials that are run in processes, written down as they end, and never run twice."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

import newron
from newron.errors import InputError

__all__ = ["Journal", "Record", "Trial", "hash_sources", "is_late", "run_trials", "show_progress"]

Record = dict[str, Any]
SOURCES = (
    "model",
    "objectives",
    "engine",
    "training",
    "training/strategies",
    "estimators",
    "search",
)  # what decides a result of newron
_CODE = ("*.py", "*.cpp", "*.h")


@dataclass(frozen=True, order=True)
class Trial:
    """One model on one split of one table."""

    protocol: str
    table: str
    model: str
    split: int

    def __str__(self) -> str:
        return f"{self.protocol}/{self.table}/{self.model}/{self.split}"


class Journal:
    """A file with one line of JSON for each trial that ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[Trial, Record] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        whole, _, torn = text.rpartition("\n")  # a kill tears the last line
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                record = json.loads(line)
                trial = Trial(**record.pop("trial"))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(
                    f"{self.path}, line {number}: expected a trial, got {line[:60]!r}; "
                    "name another journal or mend the line"
                ) from error
            self.records[trial] = record
        if torn:
            os.truncate(self.path, len(whole.encode()) + bool(whole))

    def is_late(self, trial: Trial) -> bool:
        """Return whether the model was not done in time on a split of the table."""
        return any(
            (other.protocol, other.table, other.model) == (trial.protocol, trial.table, trial.model)
            and is_late(record)
            for other, record in self.records.items()
        )

    def forget(self, protocol: str, models: Sequence[str]) -> None:
        """Drop the trials of some models, which are then run anew."""
        old = [t for t in self.records if t.protocol == protocol and t.model in models]
        if not old:
            return
        for trial in old:
            del self.records[trial]
        lines = [self._write_line(trial, record) for trial, record in self.records.items()]
        fresh = self.path.with_suffix(".part")
        fresh.write_text("".join(lines), encoding="utf-8")
        os.replace(fresh, self.path)

    @staticmethod
    def _write_line(trial: Trial, record: Record) -> str:
        return json.dumps({"trial": vars(trial), **record}, ensure_ascii=False) + "\n"

    def add(self, trial: Trial, record: Record) -> None:
        """Keep a result; it is on the disk before this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self._write_line(trial, record))
            file.flush()
            os.fsync(file.fileno())
        self.records[trial] = record


def is_late(record: Record) -> bool:
    """Return whether a trial was not done in time."""
    return str(record.get("error")).startswith("TimeoutError")


def hash_sources(folders: Sequence[str] = SOURCES) -> str:
    """Return a short name of the code that trains, so that a page can name what made it."""
    digest = hashlib.sha256()
    root = Path(newron.__file__).parent
    for folder in folders:
        for file in sorted(chain.from_iterable(map((root / folder).glob, _CODE))):
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:8]


def run_trials(
    trials: Sequence[Trial], work: Mapping[str, Callable[[Trial], Record]], journal: Journal,
    jobs: int,
) -> None:  # fmt: skip
    """Run what the journal does not have; ``work`` has a function for each model.

    A trial that fails is printed and kept with its error: one peer's defect must not end
    the others' run.
    """
    code = hash_sources()
    open_ = [trial for trial in trials if trial not in journal.records]
    show_progress(f"{len(trials) - len(open_)} of {len(trials)} trials are in {journal.path}")
    begin = time.monotonic()
    # Checked when its turn comes: what was late once is not tried on other splits.
    calls = (
        delayed(_try)(work[trial.model], trial) for trial in open_ if not journal.is_late(trial)
    )
    done: Iterable[tuple[Trial, Record]] = Parallel(jobs, return_as="generator_unordered")(calls)
    for n, (trial, record) in enumerate(done, 1):
        journal.add(trial, {**record, "code": code})
        left = (time.monotonic() - begin) / n * (len(open_) - n)
        result = record.get("error") or f"{100 * record['accuracy']:.1f} %"
        show_progress(f"{n} of {len(open_)}, about {left / 60:.0f} min left: {trial} {result}")


def _try(work: Callable[[Trial], Record], trial: Trial) -> tuple[Trial, Record]:
    warnings.simplefilter("ignore")
    begin, cpu = time.perf_counter(), time.process_time()
    try:
        with threadpool_limits(1):
            record = work(trial)
    except Exception as error:
        traceback.print_exc()
        record = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    return trial, {
        **record,
        "seconds": round(time.perf_counter() - begin, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
    }


def show_progress(text: str) -> None:
    """Show progress."""
    print(text, file=sys.stderr, flush=True)
