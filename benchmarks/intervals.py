"""``python -m benchmarks.intervals``: how many new rows 90 % intervals and sets cover.

Regression tables of scikit-learn (one measured, three of functions of known truth) and classes of
``newron.datasets``: a network is fitted and calibrated on the rows of four folds, and the rows of
the fifth are counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3

from benchmarks.report import open_report
from newron import NewronClassifier, NewronRegressor, datasets
from newron.evaluation.intervals import estimate_proportion
from newron.evaluation.splits import make_folds

COVERAGE, FOLDS, SEED, ROWS = 0.9, 5, 0, 500
CLASSES = ("iris", "glass", "heart")


def load_numbers() -> Iterator[tuple[str, Any, Any]]:
    """Yield regression tables."""
    yield "diabetes", *load_diabetes(return_X_y=True)
    yield "friedman1", *make_friedman1(ROWS, noise=1.0, random_state=SEED)
    yield "friedman2", *make_friedman2(ROWS, noise=100.0, random_state=SEED)
    yield "friedman3", *make_friedman3(ROWS, noise=0.1, random_state=SEED)


def cover_numbers(X: Any, y: Any, objective: str) -> tuple[int, float]:
    """Return how many rows lie in their interval, and its mean width in deviations of y."""
    inside, widths = 0, []
    for train, test in make_folds(y, FOLDS, SEED, stratify=False):
        model = NewronRegressor(
            "sigmoid", objective=objective, hidden_layer_sizes=(), random_state=SEED
        )
        model.fit(X[train], y[train]).calibrate(X[train], y[train])
        low, high = model.predict_interval(X[test], COVERAGE).T
        inside += int(((low <= y[test]) & (y[test] <= high)).sum())
        widths.append(np.mean(high - low))
    return inside, float(np.mean(widths) / y.std())


def cover_classes(X: Any, y: Any) -> tuple[int, float]:
    """Return how many rows have their class in the set, and the mean size of sets."""
    inside, sizes = 0, []
    for train, test in make_folds(y, FOLDS, SEED):
        model = NewronClassifier("sigmoid", hidden_layer_sizes=(), random_state=SEED)
        model.fit(X.iloc[train], y.iloc[train]).calibrate(X.iloc[train], y.iloc[train])
        sets = model.predict_set(X.iloc[test], COVERAGE)
        codes = np.searchsorted(model.classes_, y.iloc[test])
        inside += int(sets[np.arange(len(test)), codes].sum())
        sizes.append(sets.sum(axis=1).mean())
    return inside, float(np.mean(sizes))


def main(arguments: list[str] | None = None) -> None:
    """Measure all tables, and print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    report = open_report("Coverage of 90 % intervals", parser, arguments, ["scikit-learn"])
    report.add(f"\nFitted and calibrated on {FOLDS - 1} folds (seed {SEED}), counted on the other.")
    found: dict[str, list[float]] = {}
    rows = []
    for name, X, y in load_numbers():
        for objective in ("squared", "quantile:0.05,0.95"):
            what = "interval" if objective == "squared" else "quantile band"
            inside, size = cover_numbers(X, y, objective)
            rows.append(_describe(name, len(y), what, inside, f"{size:.2f} sd wide"))
            found.setdefault(what, []).append(inside / len(y))
    for name in CLASSES:
        table = datasets.load(name)
        inside, size = cover_classes(table.X, table.y)
        rows.append(_describe(name, len(table.y), "set", inside, f"{size:.2f} classes"))
        found.setdefault("set", []).append(inside / len(table.y))
    report.table(["table", "rows", "what", "covered", "95 % interval", "size"], rows)
    means = ", ".join(f"{what} {100 * np.mean(parts):.1f} %" for what, parts in found.items())
    report.add(f"Mean over the tables: {means}.")
    report.write(options.write)


def _describe(name: str, n: int, what: str, inside: int, size: str) -> list[str]:
    part = estimate_proportion(inside, n)
    limits = f"{100 * part.low:.1f} to {100 * part.high:.1f}"
    return [name, str(n), what, f"{100 * part.value:.1f} %", limits, size]


if __name__ == "__main__":
    main()
