"""``python -m benchmarks.tables``: tables as they are against one-hot, imputed columns.

``raw`` fits the default recipe on raw frames, with their categories and missing values,
and on one-hot columns with medians for missing values, in the same five folds. ``speed`` times
fits of adult, newron on the raw frame and others on one-hot columns, in turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.report import Report, open_report
from benchmarks.speed import measure, ratio
from newron import NewronClassifier, datasets
from newron.evaluation.splits import make_folds
from newron.training.folding import count_literals

try:
    from interpret.glassbox import ExplainableBoostingClassifier
except ImportError:
    ExplainableBoostingClassifier = None

SEED = 0
UNORDERED = "-unordered"
TABLES = ("car", f"car{UNORDERED}", "crx", "german", "hepatitis", "adult")
PROCESSING = ("heaviside", "tanh_prod")
PARTS = ("raw", "speed")
EBM = "EBM on one-hot columns"
MISSING = "not installed (pip install interpret-core)"

Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Outcome:
    """What came of the fits: a score, a size and a time for each fold."""

    scores: list[float]
    sizes: list[float]
    seconds: list[float]

    @property
    def accuracy(self) -> float:
        """The mean accuracy."""
        return statistics.mean(self.scores)

    @property
    def spread(self) -> float:
        """The standard deviation over folds."""
        return statistics.stdev(self.scores)


# ---- tables ----


def load_table(name: str, max_rows: int | None) -> tuple[pd.DataFrame, pd.Series, list[Split]]:
    """Return a raw frame, its classes, and the rows to train and to test on."""
    table = datasets.load(name.removesuffix(UNORDERED))
    X = table.X.astype("category") if name.endswith(UNORDERED) else table.X
    rows = draw(np.arange(len(X)), max_rows)
    folds = make_folds(table.y.iloc[rows], 5, SEED)
    return X, table.y, [(rows[a], rows[b]) for a, b in folds]


def draw(rows: np.ndarray, max_rows: int | None) -> np.ndarray:
    """Draw at most so many rows."""
    if max_rows is None or max_rows >= len(rows):
        return rows
    return np.sort(np.random.default_rng(SEED).choice(rows, max_rows, replace=False))


def keep(X: pd.DataFrame, _: np.ndarray) -> pd.DataFrame:
    """Return the frame as it is."""
    return X


def encode(X: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """Return a column for each category, and the median of these rows for a missing number."""
    columns = pd.get_dummies(X, dtype=np.float64)
    return columns.fillna(X.iloc[rows].median(numeric_only=True))


# ---- raw against one-hot ----


def report_raw(report: Report, names: Sequence[str], max_rows: int | None, jobs: int) -> None:
    """One table for each processing function."""
    report.add(
        "\n## Raw against one-hot\n\n"
        f"`NewronClassifier(processing, random_state={SEED}, n_jobs={jobs})`, the default recipe, "
        "on the raw frame of `newron.datasets` and on one-hot columns with the median of the "
        "training rows for missing values. Accuracy in %, in five folds, the same for both, ± "
        "their standard deviation. The last column says whether raw is below one-hot by no "
        "more than the ± of one-hot. "
        "Size: conditions of a grown network, else functions; it and the seconds of a fit are "
        "raw / one-hot, means over the folds. `car` has neither categories nor missing values, so "
        f"that both are the same input, fitted once; `car{UNORDERED}` reads its columns, which are "
        "ordered words in the source, as categories."
    )
    head = [
        "table", "rows", "columns", "raw", "one-hot", "difference", "size", "seconds", "holds",
    ]  # fmt: skip
    for processing in PROCESSING:
        report.add(f"\n### {processing}")
        rows = [compare(name, processing, max_rows, jobs) for name in names]
        report.table(head, rows)


def compare(name: str, processing: str, max_rows: int | None, jobs: int) -> list[str]:
    """Return a row of the table."""
    X, y, splits = load_table(name, max_rows)
    coded = encode(X, splits[0][0])
    raw = try_table(X, y, splits, keep, processing, jobs)
    hot = raw if coded.equals(X) else try_table(X, y, splits, encode, processing, jobs)
    difference = raw.accuracy - hot.accuracy
    cells = [
        name,
        str(sum(map(len, splits[0]))),
        f"{X.shape[1]} / {coded.shape[1]}",
        *(f"{100 * got.accuracy:.1f} ± {100 * got.spread:.1f}" for got in (raw, hot)),
        f"{round(100 * difference, 1) + 0.0:+.1f}",  # no -0.0
        " / ".join(f"{statistics.mean(got.sizes):.0f}" for got in (raw, hot)),
        " / ".join(f"{statistics.mean(got.seconds):.1f}" for got in (raw, hot)),
        "yes" if difference >= -hot.spread else "no",
    ]
    show_progress(f"{processing} {' | '.join(cells)}")
    return cells


def try_table(
    X: pd.DataFrame,
    y: pd.Series,
    splits: Sequence[Split],
    view: Callable[[pd.DataFrame, np.ndarray], pd.DataFrame],
    processing: str,
    jobs: int,
) -> Outcome:
    """Fit and test on every split of a table, as a view shows it."""
    outcome = Outcome([], [], [])
    for train, test in splits:
        table = view(X, train)
        model = make_newron(processing, jobs)
        outcome.seconds.append(time_fit(model, table.iloc[train], y.iloc[train]))
        outcome.scores.append(model.score(table.iloc[test], y.iloc[test]))
        size = count_literals(model.model_)
        outcome.sizes.append(float(size))
    return outcome


# ---- speed ----


def report_speed(report: Report, max_rows: int | None, jobs: int, rounds: int) -> None:
    """Compare the seconds of a fit of adult."""
    contestants = make_contestants(max_rows, jobs)
    with threadpool_limits(jobs):
        times = measure(contestants, rounds)
    n_rows = len(draw(np.arange(len(datasets.load("adult").X)), max_rows))
    report.add(
        f"\n## Seconds of a fit of adult, {n_rows} rows, {jobs} threads\n\n"
        "newron at its default recipe on the raw frame; the others at their defaults "
        "(InterpretML's ExplainableBoostingClassifier, scikit-learn's MLPClassifier) on "
        "imputed one-hot columns, standardized for the perceptron. Making these columns is not "
        f"counted. One process, in turns; medians of rounds: {rounds}."
    )
    ours = list(contestants)[: len(PROCESSING)]
    rows = [
        [name, f"{statistics.median(times[name]):.1f}"]
        + [f"{ratio(times, name, our):.2f}×" for our in ours]
        for name in contestants
    ]
    if ExplainableBoostingClassifier is None:
        rows.append([EBM, MISSING, "", ""])
    report.table(["model", "seconds", *(f"/ {our}" for our in ours)], rows)


def make_contestants(max_rows: int | None, jobs: int) -> dict[str, Callable[[], float]]:
    """Return the fits to time, newron's first."""
    table = datasets.load("adult")
    rows = draw(np.arange(len(table.X)), max_rows)
    X, y = table.X.iloc[rows], table.y.iloc[rows]
    columns = encode(X, np.arange(len(X)))
    scaled = StandardScaler().fit_transform(columns)
    fits: dict[str, Callable[[], tuple[Any, Any]]] = {
        f"newron {processing}": lambda p=processing: (make_newron(p, jobs), X)
        for processing in PROCESSING
    }
    fits["MLPClassifier on one-hot columns"] = lambda: (MLPClassifier(random_state=SEED), scaled)
    if ExplainableBoostingClassifier is not None:
        fits[EBM] = lambda: (ExplainableBoostingClassifier(n_jobs=jobs), columns)

    def run(name: str) -> float:
        seconds = time_fit(*fits[name](), y)
        show_progress(f"{name}: {seconds:.1f} s")
        return seconds

    return {name: lambda n=name: run(n) for name in fits}


# ---- both ----


def make_newron(processing: str, jobs: int) -> NewronClassifier:
    """Return newron at its default recipe."""
    return NewronClassifier(processing, random_state=SEED, n_jobs=jobs)


def time_fit(model: Any, X: Any, y: pd.Series) -> float:
    """Return the seconds of a fit."""
    begin = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - begin


def show_progress(line: str) -> None:
    """Show progress."""
    print(f"  {line}", file=sys.stderr, flush=True)


def read_parts(text: str) -> list[str]:
    """Read the parts to run."""
    parts = text.split(",")
    if not set(parts) <= set(PARTS):
        raise argparse.ArgumentTypeError(f"expected some of {','.join(PARTS)}, got {text}")
    return parts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=TABLES, metavar="TABLE",
                        help=f"of the raw part: {', '.join(TABLES)}")  # fmt: skip
    parser.add_argument("--parts", type=read_parts, default=list(PARTS), metavar="PART,...",
                        help=f"what to run: {','.join(PARTS)}")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    parser.add_argument("--rounds", type=int, default=1, help="rounds of the speed part")
    parser.add_argument("--rows", type=int, help="rows of a table at most, for a quick try")
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    packages = ["numpy", "pandas", "scikit-learn", "interpret-core"]
    report = open_report("Tables as they are", parser, arguments, packages)
    if "raw" in options.parts:
        report_raw(report, options.tables, options.rows, options.jobs)
    if "speed" in options.parts:
        report_speed(report, options.rows, options.jobs, options.rounds)
    report.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
