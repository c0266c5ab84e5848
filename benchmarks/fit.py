"""``python -m benchmarks.fit``: what a default fit costs and what it is worth.

Every learner at its defaults, on made tables of known truth and on adult, each fit in a
process of its own: CPU and wall seconds, the highest memory above what the process held
before the fit, log loss, accuracy and size. Learners take turns, several rounds in one run;
machines are shared, so read the ratios to HistGradientBoosting, not the seconds. EBM, which is
slow, takes part where ``--learners`` names it. The made tables have seed 0.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.report import Report, open_report

REFERENCE = "HistGradientBoosting"
_TEST_ROWS = 10_000
_SLOW = ("EBM",)  # learners that take part only where they are named
_LIMIT = 900.0  # seconds of a fit
Arrays = tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]


# ---- tables ----


@dataclass(frozen=True)
class Task:
    """A table to fit: how to make it, and how many rounds are worth their time."""

    name: str
    make: Callable[[], tuple[Arrays, float | None]]  # with the truth's log loss, where known
    rounds: int


def score_truth(X: np.ndarray) -> np.ndarray:
    """Return the log-odds of the made tables: a wave, steps, a bowl, a product, slopes."""
    curves = np.sin(2 * X[:, 0]) + 1.2 * (X[:, 1] > 0.5) + 0.5 * X[:, 2] ** 2
    window = -(np.abs(X[:, 3]) < 0.4).astype(float)
    z = curves + window + 0.7 * X[:, 4] * X[:, 5] + 0.3 * X[:, 6:10].sum(axis=1)
    return np.asarray(1.5 * (z - np.median(z)))


def draw_table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[Arrays, float]:
    """Return training and test parts of a made table, and the truth's log loss."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows + _TEST_ROWS, n_columns))
    p = 1.0 / (1.0 + np.exp(-score_truth(X)))
    y = (rng.random(len(p)) < p).astype(np.intp)
    frame = pd.DataFrame(X, columns=[f"x{i + 1}" for i in range(n_columns)])
    test = y[n_rows:]
    truth = -np.log(np.where(test == 1, p[n_rows:], 1.0 - p[n_rows:])).mean()
    return (frame.iloc[:n_rows], y[:n_rows], frame.iloc[n_rows:], test), float(truth)


def load_adult() -> tuple[Arrays, None]:
    """Return the official parts of adult; nobody knows its truth."""
    from newron import datasets

    table = datasets.load("adult")
    y = pd.factorize(table.y, sort=True)[0]
    train, test = table.train, table.test
    return (table.X.iloc[train], y[train], table.X.iloc[test], y[test]), None


def list_tasks() -> list[Task]:
    """Return all tables, the small ones with more rounds."""
    sizes = ((1_000, 20, 5), (10_000, 20, 3), (100_000, 20, 2), (1_000_000, 20, 1),
             (2_000, 2_000, 1), (50_000, 200, 1))  # fmt: skip
    made = [
        Task(f"{rows:,} × {columns:,}", lambda r=rows, c=columns: draw_table(r, c), rounds)
        for rows, columns, rounds in sizes
    ]
    return [*made, Task("adult", load_adult, 2)]


# ---- learners ----


def to_numbers(X: pd.DataFrame) -> np.ndarray:
    """Return one-hot columns for categories, medians for missing values."""
    wide = pd.get_dummies(X, dtype=float)
    return np.asarray(wide.fillna(wide.median()).to_numpy(np.float64))


def _count_threads() -> int:
    return int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))


def make_learner(name: str) -> Any:
    """Return an unfitted learner at its defaults."""
    if name.startswith("newron"):
        from newron import NewronClassifier

        return NewronClassifier(name.removeprefix("newron "), random_state=0)
    if name == REFERENCE:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    if name == "LightGBM":
        from lightgbm import LGBMClassifier

        # By itself it takes all cores, whatever OpenMP is told, and its threads wait by spinning.
        return LGBMClassifier(random_state=0, verbose=-1, n_jobs=_count_threads())
    if name == "XGBoost":
        from xgboost import XGBClassifier

        return XGBClassifier(random_state=0, enable_categorical=True, n_jobs=_count_threads())
    if name == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(random_state=0, n_jobs=_count_threads())
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    last = MLPClassifier(random_state=0) if name == "MLP" else LogisticRegression(max_iter=1000)
    return make_pipeline(FunctionTransformer(to_numbers), StandardScaler(), last)


LEARNERS = (
    "newron heaviside", "newron smooth", REFERENCE, "LightGBM", "XGBoost", "EBM",
    "logistic regression", "MLP",
)  # fmt: skip


# ---- one fit in a process of its own ----


def run_child(folder: Path, learner: str, limit: float) -> dict[str, Any]:
    """Fit one learner on the table in a folder and return what was measured.

    The limit is one of processor time: a busy machine makes nobody late.
    """
    used, most = math.ceil(time.process_time() + limit), resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (used, most))
    X, Xt = pd.read_pickle(folder / "X.pkl"), pd.read_pickle(folder / "Xt.pkl")
    y, yt = np.load(folder / "y.npy"), np.load(folder / "yt.npy")
    model = make_learner(learner)
    warm = np.random.default_rng(0).normal(size=(60, 2))
    make_learner(learner).fit(pd.DataFrame(warm, columns=["a", "b"]), warm[:, 0] > 0)  # imports
    importlib.import_module("sklearn.tree")  # what newron imports at its first large fit
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    p = np.clip(model.predict_proba(Xt), 1e-6, 1.0)
    loss = -np.log(p[np.arange(len(yt)), yt] / p.sum(axis=1)).mean()
    accuracy = np.mean(p.argmax(axis=1) == yt)
    size = model.model_.n_functions if hasattr(model, "model_") else None
    return {
        "cpu": cpu, "wall": wall, "megabytes": (after - before) / 1024, "log_loss": float(loss),
        "accuracy": float(accuracy), "size": size,
    }  # fmt: skip


def measure(folder: Path, learner: str, limit: float) -> dict[str, Any]:
    """Measure one fit; a dictionary with ``error`` where there is no result."""
    command = [sys.executable, "-m", "benchmarks.fit", "--child", str(folder), learner, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        return {"error": f"not done after {limit:g} CPU s"}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def write_task(task: Task, folder: Path) -> float | None:
    """Write the arrays of a task where the processes read them; return the truth's log loss."""
    (X, y, Xt, yt), truth = task.make()
    X.to_pickle(folder / "X.pkl")
    Xt.to_pickle(folder / "Xt.pkl")
    np.save(folder / "y.npy", y)
    np.save(folder / "yt.npy", yt)
    return truth


# ---- the report ----


def report_task(
    report: Report, task: Task, learners: Sequence[str], rounds: int | None, limit: float
) -> None:
    """Measure a table in turns and add its rows to the report."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in learners}
    with tempfile.TemporaryDirectory() as name:
        truth = write_task(task, Path(name))
        for _ in range(task.rounds if rounds is None else rounds):
            for learner in learners:
                failed = found[learner] and "error" in found[learner][-1]
                if not failed:
                    found[learner].append(measure(Path(name), learner, limit))
    report.add(f"\n## {task.name}")
    if truth is not None:
        report.add(f"\nThe log loss of the truth on the test rows is {truth:.4f}.")
    base = found.get(REFERENCE, [])
    rows = [_make_row(learner, found[learner], base) for learner in learners]
    head = ["", "CPU s", "ratio", "wall s", "peak MB", "log loss", "accuracy", "functions"]
    report.table(head, rows)


def _make_row(learner: str, runs: list[dict[str, Any]], base: list[dict[str, Any]]) -> list[str]:
    if "error" in runs[-1]:
        return [learner, runs[-1]["error"], *[""] * 6]
    pairs = [a["cpu"] / b["cpu"] for a, b in zip(runs, base, strict=False) if "cpu" in b]
    last = runs[-1]
    return [
        learner,
        f"{min(run['cpu'] for run in runs):.2f}",
        f"{statistics.median(pairs):.2f}" if pairs else "–",
        f"{min(run['wall'] for run in runs):.2f}",
        f"{last['megabytes']:.0f}",
        f"{last['log_loss']:.4f}",
        f"{100 * last['accuracy']:.2f}",
        "–" if last["size"] is None else str(last["size"]),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    tasks = {task.name.replace(" ", "").replace(",", "").replace("×", "x"): task
             for task in list_tasks()}  # fmt: skip
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=tasks, default=list(tasks), metavar="TABLE",
                        help=f"some of {', '.join(tasks)}")  # fmt: skip
    parser.add_argument("--learners", nargs="*", choices=LEARNERS, metavar="NAME",
                        default=[name for name in LEARNERS if name not in _SLOW],
                        help=f"some of {', '.join(LEARNERS)}; by default all but "
                             f"{', '.join(_SLOW)}")  # fmt: skip
    parser.add_argument("--rounds", type=int, metavar="N",
                        help="turns of each table; by default more of the small ones")  # fmt: skip
    parser.add_argument("--limit", type=float, default=_LIMIT, metavar="SECONDS",
                        help=f"of processor time of a fit, by default {_LIMIT:g}")  # fmt: skip
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        folder, learner, limit = options.child
        print(json.dumps(run_child(Path(folder), learner, float(limit))))
        return 0
    packages = ["numpy", "scikit-learn", "lightgbm", "xgboost-cpu", "interpret-core"]
    report = open_report("The cost of a fit", parser, arguments, packages)
    report.add(
        f"\nDefaults of every learner but for their threads: {_count_threads()}. Ratio: CPU "
        f"seconds to those of {REFERENCE} in the same round, median over the rounds. Peak: memory "
        "above what the process held before the fit."
    )
    for name in options.tables:
        report_task(report, tasks[name], options.learners, options.rounds, options.limit)
        report.write(options.write)  # a run that is ended keeps the tables that it has
    return 0


if __name__ == "__main__":
    sys.exit(main())
