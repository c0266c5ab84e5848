"""``python -m benchmarks.predict``: what ``newron predict`` costs beside a database.

Rows of heart are drawn with replacement (seed 0) and written as CSV and Parquet; a Heaviside
network is fitted on heart itself. Each way of predicting them is a process of its own, in turns:
``newron predict``, DuckDB running the SQL that newron exports, and pyarrow reading the columns
and writing one of them, which is reading and writing alone. Processor seconds hold the start of
the process, which a file of one row shows by itself. The labels of newron and DuckDB are compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.report import Report, open_report
from newron import NewronClassifier
from newron.datasets import load

SIZES = (200_000, 1_000_000)

_DUCKDB = """
import duckdb
base = duckdb.connect()
base.execute("SET threads = 1")
base.execute("CREATE VIEW rows AS SELECT * FROM '{data}'")
base.execute({copy!r})
"""
_PYARROW = {
    "csv": """
import pyarrow as pa, pyarrow.csv as csv
pa.set_cpu_count(1)
table = csv.read_csv("{data}", read_options=csv.ReadOptions(use_threads=False))
csv.write_csv(table.select([0]), "{output}")
""",
    "parquet": """
import pyarrow.parquet as pq
table = pq.read_table("{data}", use_threads=False)
pq.write_table(table.select([0]), "{output}")
""",
}


def run(command: Sequence[str]) -> float:
    """Run a process to its end; return its processor seconds."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            raise RuntimeError(f"{command}: {errors.read().decode()}")
    return used.ru_utime + used.ru_stime


def write_tables(folder: Path, sizes: Sequence[int]) -> None:
    """Write a model, and tables of rows of heart in both forms."""
    heart = load("heart")
    model = NewronClassifier(random_state=0).fit(heart.X, heart.y).model_
    model.save(folder / "model.json")
    (folder / "query.sql").write_text(model.export("sql", dialect="duckdb", table="rows").text)
    random = np.random.default_rng(0)
    for size in (1, *sizes):
        index = random.integers(0, len(heart.X), size)
        rows = pd.DataFrame(heart.X).iloc[index].reset_index(drop=True)
        rows.to_csv(folder / f"{size}.csv", index=False)
        rows.to_parquet(folder / f"{size}.parquet", index=False)


def list_ways(folder: Path, size: int, form: str, *, proba: bool) -> dict[str, Callable[[], float]]:
    """Return what predicts, or reads and writes, a table of a form."""
    data, python = folder / f"{size}.{form}", [sys.executable, "-c"]
    own = ["-m", "newron", "predict", str(folder / "model.json"), str(data), "--force"]
    own += ["-o", str(folder / f"newron.{form}"), *(["--proba"] if proba else [])]
    query = (folder / "query.sql").read_text().strip().rstrip(";")
    columns = "*" if proba else "prediction"
    output = folder / f"duckdb.{form}"
    copy = f"COPY (SELECT {columns} FROM ({query})) TO '{output}'"
    database = _DUCKDB.format(data=data, copy=copy)
    ways = {
        "newron predict": lambda: run([sys.executable, *own]),
        "DuckDB": lambda: run([*python, database]),
    }
    if not proba:
        alone = _PYARROW[form].format(data=data, output=folder / f"pyarrow.{form}")
        ways["pyarrow, no model"] = lambda: run([*python, alone])
    return ways


def compare_labels(folder: Path, form: str) -> None:
    """Raise where newron and DuckDB predict other labels."""
    read = pd.read_csv if form == "csv" else pd.read_parquet
    own, other = (read(folder / f"{name}.{form}")["prediction"] for name in ("newron", "duckdb"))
    if own.astype(str).tolist() != other.astype(str).tolist():
        raise RuntimeError(f"{form}: newron and DuckDB predict other labels")


def report_size(report: Report, folder: Path, size: int, rounds: int) -> None:
    """Measure all ways on tables of a size, in turns."""
    report.add(f"\n## {size:,} rows")
    rows = []
    for form, proba in (("csv", False), ("csv", True), ("parquet", False), ("parquet", True)):
        ways = list_ways(folder, size, form, proba=proba)
        found: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, way in ways.items():
                found[name].append(way())
        compare_labels(folder, form)
        for name, costs in found.items():
            pairs = zip(costs, found["DuckDB"], strict=True)
            ratio = statistics.median(a / b for a, b in pairs)
            what = f"{form}{', --proba' if proba else ''}"
            rows.append([what, name, f"{min(costs):.2f}", f"{ratio:.2f}"])
    head = ["", "", "CPU s", "ratio to DuckDB"]
    report.table(head, rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.predict", description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES), metavar="ROWS")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each table")
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    packages = ["pyarrow", "duckdb", "numpy"]
    report = open_report("The cost of predicting a file", parser, arguments, packages)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, options.sizes)
        start = min(list_ways(folder, 1, "csv", proba=False)["newron predict"]()
                    for _ in range(options.rounds))  # fmt: skip
        report.add(
            "\nRows of heart, 13 columns, drawn with replacement; a Heaviside network. One thread "
            "each. CPU: processor seconds of the process, its start included, the least of the "
            f"rounds; ratio: the median over the rounds. One row takes newron {start:.2f} s."
        )
        for size in options.sizes:
            report_size(report, folder, size, options.rounds)
    report.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
