"""``python -m benchmarks.scale``: one model from all sources, its memory, and what Dask costs.

Tables are made on the spot, the same rows by their numbers alone. Every fit runs in a process of
its own, whose processor seconds and peak of memory are reported: wall time means little on a
machine that others use. What this code has run stands in a journal, and is not run again.
``benchmarks.scale_model`` fits a cost model to the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Report, open_report
from benchmarks.trials import SOURCES, hash_sources

# What Dask does by the clock: on a machine that others use, it would count several times.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.system-monitor.interval": "10s",
}
PIECE = 250_000  # rows that are drawn together
PROCESSING = "smooth"
LITTLE = "Parquet, 50 files, memory of 25 MB"


@dataclass(frozen=True)
class Shape:
    """How many rows and columns a table has."""

    rows: int
    columns: int = 20

    @property
    def names(self) -> list[str]:
        """The names of the inputs."""
        return [f"x{i + 1}" for i in range(self.columns)]

    @property
    def size(self) -> str:
        """Rows and columns in words."""
        return f"{self.rows:,} × {self.columns}"


@dataclass(frozen=True)
class Run:
    """What a fit took: seconds of processors and bytes of the largest process."""

    fingerprint: str
    client: float
    workers: tuple[float, ...] = ()
    peak: int = 0
    rounds: int = 0
    tasks: int = 0
    pairs: int = 0
    held: tuple[int, ...] = ()  # rows of each worker

    @property
    def total(self) -> float:
        """The seconds of all processes."""
        return self.client + sum(self.workers)

    @property
    def path(self) -> float:
        """The seconds that no further processor could save: the client and the busiest worker."""
        return self.client + max(self.workers, default=0.0)


# ---- tables ----


def draw(shape: Shape, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows by their numbers, and their classes: curves, a step and a pair, with noise."""
    parts = []
    for piece in range(first // PIECE, -(-end // PIECE)):
        random = np.random.default_rng([7, piece])
        X = random.normal(size=(PIECE, shape.columns))
        score = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + (X[:, 3] > 0.5) + 0.5 * X[:, 4]
        y = (score + random.logistic(size=PIECE) > 0.5).astype(np.int64)
        at = slice(max(first - piece * PIECE, 0), end - piece * PIECE)
        parts.append((X[at], y[at]))
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def write_parquet(shape: Shape, folder: Path, n_files: int) -> Path:
    """Write files of odd sizes, the second of which is empty where there are several."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    cuts = np.random.default_rng(n_files).integers(0, shape.rows, n_files - 1).tolist()
    if cuts:
        cuts[0] = min(cuts)
        cuts[1:2] = cuts[:1]
    ends = [0, *sorted(cuts), shape.rows]
    for i, (first, end) in enumerate(pairwise(ends)):
        names = [*shape.names, "y"]
        fields = [(n, pa.int64() if n == "y" else pa.float64()) for n in names]
        with pq.ParquetWriter(
            folder / f"{i:03}.parquet", pa.schema(fields), compression="none", use_dictionary=False
        ) as file:
            for begin in range(first, end, PIECE):
                X, y = draw(shape, begin, min(begin + PIECE, end))
                file.write_table(pa.table([*X.T, y], names=names))
    return folder


def write_arrays(shape: Shape, folder: Path) -> None:
    """Write X and y as arrays to be mapped."""
    X, y = draw(shape, 0, shape.rows)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)


# ---- fits, each in a process of its own ----


def fit_memory(shape: Shape, n_jobs: int) -> Any:
    """Fit a table in memory."""
    import pandas as pd

    from newron import NewronClassifier

    X, y = draw(shape, 0, shape.rows)
    frame = pd.DataFrame(X, columns=shape.names)
    begin = time.process_time()
    return NewronClassifier(PROCESSING, n_jobs=n_jobs).fit(frame, y), begin, {}


def fit_mapped(folder: Path, n_jobs: int) -> Any:
    """Fit a memory-mapped array."""
    from newron import NewronClassifier

    X, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "Xy")
    begin = time.process_time()
    return NewronClassifier(PROCESSING, n_jobs=n_jobs).fit(X, np.array(y)), begin, {}


def fit_files(folder: Path, n_jobs: int, memory: str = "512MB") -> Any:
    """Fit Parquet files, with so much memory for what is made of them."""
    import newron.data
    from newron import NewronClassifier

    begin = time.process_time()
    data = newron.data.open(folder, memory=memory)
    return NewronClassifier(PROCESSING, n_jobs=n_jobs).fit(data, "y"), begin, {}


@contextmanager
def open_cluster(n_workers: int) -> Iterator[Any]:
    """Return the client of worker processes on this machine."""
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set(QUIET), LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True,
        memory_limit=0, dashboard_address=":0",
    ) as cluster, Client(cluster) as client:  # fmt: skip
        yield client


def fit_dask(folder: Path, n_workers: int, *, kill: bool = False, width: int = 0) -> Any:
    """Fit the files as partitions of a cluster; with ``kill`` one worker is killed half way.

    A ``width`` is how many blocks a group has, where newron.dask shall not choose it.
    """
    import dask.dataframe as dd
    import pandas as pd

    import newron.dask.collections
    from newron import Callback
    from newron.dask import DaskNewronClassifier
    from newron.dask.tasks import Cluster

    class Kill(Callback):
        done = False

        def on_progress(self, progress: Any) -> None:
            if kill and not self.done and progress.stage == "pairs":
                self.done = True
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    counted = {"rounds": 0, "tasks": 0}
    begin_map = Cluster.map

    def count(self: Any, function: Any, *columns: Any, **how: Any) -> Any:
        counted["rounds"] += 1
        counted["tasks"] += len(columns[0])
        return begin_map(self, function, *columns, **how)

    Cluster.map = count  # type: ignore[method-assign]
    if width:
        newron.dask.collections.choose_width = lambda *_: width
    with open_cluster(n_workers) as client:
        paths = sorted(folder.glob("*.parquet"))
        frame = dd.from_map(pd.read_parquet, paths, meta=pd.read_parquet(paths[0]).iloc[:0])
        begin = time.process_time()
        before = client.run(time.process_time)
        fitted = DaskNewronClassifier(PROCESSING, callbacks=Kill()).fit(frame, "y")
        after = client.run(time.process_time)
        found: dict[str, Any] = dict(counted)
        found["workers"] = tuple(after[w] - before.get(w, 0.0) for w in after)
        found["held"] = tuple(fitted.rows_per_worker_.values())
        found["client"] = time.process_time() - begin
    return fitted, begin, found


CASES: dict[str, Callable[[Path, Shape], Any]] = {
    "memory, 1 thread": lambda _, shape: fit_memory(shape, 1),
    "memory, 2 threads": lambda _, shape: fit_memory(shape, 2),
    "memory, 4 threads": lambda _, shape: fit_memory(shape, 4),
    "memory-mapped": lambda folder, _: fit_mapped(folder, 1),
    "Parquet, 1 file": lambda folder, _: fit_files(folder / "1", 1),
    "Parquet, 50 files": lambda folder, _: fit_files(folder / "50", 2),
    LITTLE: lambda folder, _: fit_files(folder / "50", 2, "25MB"),
    "Dask, 1 worker": lambda folder, _: fit_dask(folder / "50", 1),
    "Dask, 2 workers": lambda folder, _: fit_dask(folder / "50", 2),
    "Dask, 4 workers": lambda folder, _: fit_dask(folder / "50", 4),
    "Dask, 2 workers, one killed": lambda folder, _: fit_dask(folder / "50", 2, kill=True),
    "Dask, 1 worker, groups of 16": lambda folder, _: fit_dask(folder / "50", 1, width=16),
    "Dask, 1 worker, groups of 1": lambda folder, _: fit_dask(folder / "50", 1, width=1),
}


def run_case(name: str, folder: Path, shape: Shape) -> None:
    """Fit, and print what that took as JSON."""
    fitted, begin, found = CASES[name](folder, shape)
    model = fitted.model_
    hidden = model.layers[:-1]
    run = {
        "fingerprint": model.fingerprint,
        "client": time.process_time() - begin,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "pairs": sum(layer.n_neurons for layer in hidden),
        **found,
    }
    print(json.dumps(run))


def measure(name: str, folder: Path, shape: Shape) -> dict[str, Any]:
    """Run a case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--case", name, "--folder", str(folder)]
    command += ["--rows", str(shape.rows), "--columns", str(shape.columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@dataclass(frozen=True)
class Journal:
    """The runs of a file, and where tables are made for those that are missing."""

    path: Path
    where: str | None

    @cached_property
    def code(self) -> str:
        """The code as it is, a change of which changes bits and costs."""
        return hash_sources((*SOURCES, "data", "tables", "dask", "../../cpp/core"))

    def read(self) -> dict[tuple[str, int, int], Run]:
        """Return the runs of this code by case, rows and columns."""
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        runs = {}
        for line in map(json.loads, lines):
            key = line.pop("case"), line.pop("rows"), line.pop("columns")
            lists = {name: tuple(each) for name, each in line.items() if isinstance(each, list)}
            if line.pop("code") == self.code:
                runs[key] = Run(**{**line, **lists})
        return runs

    def find(self, names: Sequence[str], shape: Shape) -> dict[str, Run]:
        """Return the runs of some cases; those that are missing are run now."""
        known = self.read()
        missing = [name for name in names if (name, shape.rows, shape.columns) not in known]
        if missing:
            self._run(missing, shape)
            known = self.read()
        return {name: known[name, shape.rows, shape.columns] for name in names}

    def _run(self, names: Sequence[str], shape: Shape) -> None:
        with open_folder(self.where, 24.0 * shape.rows * shape.columns) as folder:
            if "memory-mapped" in names:
                write_arrays(shape, folder)
            if "Parquet, 1 file" in names:
                write_parquet(shape, folder / "1", 1)
            write_parquet(shape, folder / "50", 50)
            for name in names:
                line = {"case": name, "rows": shape.rows, "columns": shape.columns}
                line["code"] = self.code
                line |= measure(name, folder, shape)
                with self.path.open("a") as file:
                    file.write(json.dumps(line) + "\n")
                print(line, file=sys.stderr, flush=True)


@contextmanager
def open_folder(where: str | None, n_bytes: float) -> Iterator[Path]:
    """Return a folder with room for so many bytes; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="newron-scale-", dir=where) as name:
        if shutil.disk_usage(name).free < 1.2 * n_bytes:
            raise SystemExit(f"expected {1.2 * n_bytes / 1e9:.0f} GB free in {name}, got less")
        yield Path(name)


# ---- parts of the report ----


def compare_sources(report: Report, journal: Journal, shape: Shape) -> None:
    """Compare the models of all sources to the last bit."""
    report.add(f"\n## One result: {shape.size}")
    runs = journal.find(list(CASES), shape)
    first = runs["memory, 1 thread"]
    rows = [
        [
            name,
            run.fingerprint[:12],
            "yes" if run.fingerprint == first.fingerprint else "NO",
            f"{run.total:.0f}",
            ", ".join(f"{n:,}" for n in run.held),
        ]
        for name, run in runs.items()
    ]
    report.table(["source", "fingerprint", "same bits", "CPU s", "rows per worker"], rows)
    report.add("The 50 files, and so the partitions, have odd sizes; one of them is empty.")
    report.add("What the killed worker had taken is not counted.")


def measure_memory(report: Report, journal: Journal, gigabytes: float, *some: Shape) -> None:
    """Measure the peak on tables that grow, with little memory for bins, and on a large one."""
    report.add("\n## Memory")
    for shape in some:
        journal.find([LITTLE], shape)
    known = sorted((key, run) for key, run in journal.read().items() if key[0] == LITTLE)
    runs = [(Shape(*key[1:]), "25 MB", run) for key, run in known]
    if gigabytes:
        shape, name = Shape(round(gigabytes * 1e9 / 8 / 20)), "Parquet, 50 files"
        runs.append((shape, "512 MB", journal.find([name], shape)[name]))
    rows = [
        [
            shape.size,
            f"{8e-9 * shape.rows * shape.columns:.2f} GB",
            memory,
            f"{run.peak / 1e9:.2f} GB",
            f"{run.total:.0f}",
            f"{run.total / shape.rows * 1e6:.1f}",
        ]
        for shape, memory, run in runs
    ]
    report.table(
        ["50 files", "as float64", "memory=", "peak", "CPU s", "CPU s per million rows"], rows
    )


def measure_speed(report: Report, journal: Journal, shape: Shape) -> None:
    """Measure what Dask costs over threads, and what a second worker saves."""
    report.add(f"\n## Speed: {shape.size}")
    names = ["Parquet, 50 files", "Dask, 1 worker", "Dask, 2 workers"]
    runs = journal.find(names, shape)
    files = runs[names[0]]
    rows = [
        [
            name,
            f"{run.client:.0f}",
            ", ".join(f"{each:.0f}" for each in run.workers),
            f"{run.total:.0f}",
            f"{run.total / files.total:.2f}",
            f"{runs[names[1]].path / run.path:.2f}" if run.workers else "",
            str(run.rounds or ""),
            f"{run.tasks:,}" if run.tasks else "",
        ]
        for name, run in runs.items()
    ]
    report.table(
        ["", "client CPU s", "workers CPU s", "all", "÷ files", "speed", "rounds", "tasks"], rows
    )
    report.add("*Speed* is that of one worker over this one, where client and busiest worker take")
    report.add("turns: their seconds added, which no further processor could save. Dask's profiler")
    report.add("and monitors, which work by the clock, are off.")


PARTS = ("bits", "memory", "speed", "edges", "model")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--rows", type=int, default=850_001, help="of the table of all sources")
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--gigabytes", type=float, default=10.0, help="of a large table")
    parser.add_argument("--speed-rows", type=int, default=10_000_000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--folder", help="where to make the tables; by default the system's")
    parser.add_argument("--journal", default="docs/results/scale.jsonl")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--write", metavar="FILE", help="write the report as Markdown")
    options = parser.parse_args(arguments)
    if options.case:
        run_case(options.case, Path(options.folder), Shape(options.rows, options.columns))
        return
    report = open_report(
        "Scale", parser, arguments, ["numpy", "pyarrow", "pandas", "dask", "distributed"]
    )
    journal = Journal(Path(options.journal), options.folder)
    report.add(f"\nCode of newron (hash of its sources): {journal.code}.")
    sources, speed = (Shape(n, options.columns) for n in (options.rows, options.speed_rows))
    if "bits" in options.parts:
        compare_sources(report, journal, sources)
    if "memory" in options.parts:
        measure_memory(report, journal, options.gigabytes, sources, speed)
    if "speed" in options.parts:
        measure_speed(report, journal, speed)
    if "edges" in options.parts:
        from benchmarks.scale_edges import report_edges

        report_edges(report)
    if "model" in options.parts:
        from benchmarks.scale_model import report_model

        report_model(report, journal)
    report.write(options.write)


if __name__ == "__main__":
    main()
