"""``python -m benchmarks.streaming``: how ``newron predict`` passes files larger than memory.

Two CSV files are made on the spot, one ten times as long as the other, and predicted by a
process of its own; its peak of memory and its rows per second are
reported. Labels are compared with those of ``Model.predict`` on the rows that the files repeat.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.report import open_report
from newron.model import Classes, Column, Layer, Model, Schema

BLOCK = 50_000  # different rows; a file repeats them
CITIES = ("Aachen", "Bonn", "Celle", "Dresden", "Essen", "Fulda")


@dataclass(frozen=True)
class Run:
    """What one file took."""

    n_bytes: int
    n_rows: int
    seconds: float
    peak: int  # bytes


def make_model() -> Model:
    """Make a score card of ten columns: nine numbers and a category."""
    numbers = [Column(f"x{i}", -4.0, 4.0, gaps=i == 1) for i in range(1, 10)]
    columns = (*numbers, Column("city", 0.0, 5.0, categories=CITIES))
    n = len(columns)
    layer = Layer(
        "heaviside",
        "sum",
        "identity",
        1,
        target=[0] * n,
        source=list(range(n)),
        w=[[1.0]] * (n - 1) + [[0.0]],
        b=[[0.1 * i] for i in range(n - 1)] + [[0.0]],
        alpha=[float(i % 3 + 1) for i in range(n)],
        centre=[9.5],
        levels=[[]] * (n - 1) + [[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]],
    )
    return Model(Schema(columns), [layer], Classes(("no", "yes")))


def make_rows(seed: int = 0) -> list[list[object]]:
    """Draw rows with gaps in the first column."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(BLOCK, 9)).round(4)
    places = rng.integers(len(CITIES), size=BLOCK)
    gaps = rng.random(BLOCK) < 0.1
    return [
        ["" if gap else row[0], *row[1:], CITIES[place]]
        for row, place, gap in zip(numbers.tolist(), places, gaps, strict=True)
    ]


def write_file(path: Path, names: Sequence[str], rows: list[list[object]], n_bytes: int) -> int:
    """Write a CSV file of about so many bytes; give the number of its rows."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    block = text.getvalue().encode()
    times = max(round(n_bytes / len(block)), 1)
    with path.open("wb") as file:
        file.write((",".join(names) + "\n").encode())
        for _ in range(times):
            file.write(block)
    return times * len(rows)


def predict(model: Path, data: Path, output: Path) -> tuple[float, int]:
    """Run the command in a process of its own; give its seconds and its peak memory."""
    command = [sys.executable, "-m", "newron", "predict", str(model), str(data), "-o", str(output)]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--quiet"])
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"newron predict ended with status {status}")
    return seconds, used.ru_maxrss * 1024


def check(output: Path, expected: Sequence[str], n_rows: int) -> None:
    """Compare all labels that were written with those of the model."""
    with output.open(encoding="utf-8") as file:
        if next(file).strip() != "prediction":
            raise SystemExit("expected the header 'prediction'")
        lines = (line.rstrip("\n") for line in file)
        count = 0
        for got, label in zip(lines, itertools.cycle(expected), strict=False):
            count += 1
            if got != label:
                raise SystemExit(f"row {count}: expected {label!r}, got {got!r}")
    if count != n_rows:
        raise SystemExit(f"expected {n_rows} rows, got {count}")


@contextmanager
def open_folder(where: str | None, n_bytes: int) -> Iterator[Path]:
    """Return a folder with room for the files; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="newron-streaming-", dir=where) as name:
        free = shutil.disk_usage(name).free
        if free < 1.5 * n_bytes:
            raise SystemExit(f"expected {1.5 * n_bytes / 1e9:.1f} GB free in {name}, got less")
        yield Path(name)


def measure(folder: Path, n_bytes: int) -> Run:
    """Make a file, predict it, compare, remove it."""
    model, rows = make_model(), make_rows()
    model.save(folder / "model.json")
    data, output = folder / "data.csv", folder / "out.csv"
    n_rows = write_file(data, model.schema.names, rows, n_bytes)
    size = data.stat().st_size
    seconds, peak = predict(folder / "model.json", data, output)
    table = [[None if cell == "" else cell for cell in row] for row in rows]
    check(output, model.predict(table).tolist(), n_rows)
    data.unlink()
    output.unlink()
    return Run(size, n_rows, seconds, peak)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure two sizes and report what they took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streaming", description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=5.0, help="of the larger file")
    parser.add_argument("--folder", help="where to make the files; by default the system's")
    parser.add_argument("--write", metavar="FILE", help="write the table as Markdown")
    options = parser.parse_args(arguments)
    n_bytes = round(options.gigabytes * 1e9)
    report = open_report("Files larger than memory", parser, arguments, ["numpy"])
    report.add()
    report.add("`newron predict` on a CSV file of nine numbers and a category, to a CSV file.")
    with open_folder(options.folder, n_bytes) as folder:
        runs = [measure(folder, size) for size in (n_bytes // 10, n_bytes)]
    report.table(
        ["file", "rows", "seconds", "rows a second", "MB a second", "peak memory"],
        [
            [
                f"{run.n_bytes / 1e9:.2f} GB",
                f"{run.n_rows:,}",
                f"{run.seconds:.1f}",
                f"{run.n_rows / run.seconds:,.0f}",
                f"{run.n_bytes / run.seconds / 1e6:.0f}",
                f"{run.peak / 1e6:.0f} MB",
            ]
            for run in runs
        ],
    )
    report.add("All labels are those of `Model.predict`.")
    report.write(options.write)


if __name__ == "__main__":
    main()
