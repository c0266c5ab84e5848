"""Whether edges of bins that come from a sample of rows cost accuracy: against all rows.

Edges of all rows are what any sketch of quantiles comes near to, so that they are its bound.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.report import Report
from newron import NewronClassifier

ROWS, NEW, TABLES = 400_000, 200_000, 6
RARE = 1 / 20_000  # of the rows have a code
NAMES = ("normal", "lognormal, σ = 3", "Pareto, α = 0.8", "grade, or −999")
WAYS: dict[str, dict[str, Any]] = {
    "all rows": {"EDGE_SAMPLE": (10**9, 0)},
    "50,000 rows, few values counted (as it is)": {},
    "50,000 rows alone": {"MOST_COUNTED": -1},
}


def draw(n: int, seed: int, rare: float = RARE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows in the order of their first column, classes, and which rows have the code."""
    random = np.random.default_rng(seed)
    X = np.stack(
        [
            random.normal(size=n),
            random.lognormal(sigma=3.0, size=n),
            random.pareto(0.8, size=n),
            random.integers(0, 200, n).astype(float),
        ],
        axis=1,
    )
    X[random.random(n) < rare, 3] = -999.0
    X = X[np.argsort(X[:, 0])]
    coded = X[:, 3] == -999.0
    tails = np.tanh(np.log(X[:, 1]) / 2.0) + np.minimum(np.log1p(X[:, 2]), 8.0) / 4.0
    score = np.sin(2.0 * X[:, 0]) + tails - 1.0 + np.where(coded, 4.0, X[:, 3] / 200.0)
    return X, (score + random.logistic(size=n) > 0.0).astype(int), coded


def measure(seed: int) -> dict[str, np.ndarray]:
    """Return the log loss of each way on new rows without the code, and with it."""
    X, y, _ = draw(ROWS, seed)
    new, truth, coded = draw(NEW, 1_000 + seed, rare=0.1)
    found = {}
    for name, changes in WAYS.items():
        with patch.multiple("newron.engine.binning", **changes) if changes else nullcontext():
            fitted = NewronClassifier("smooth", hidden_layer_sizes=(), random_state=0).fit(X, y)
        probabilities = fitted.predict_proba(new)
        parts = (~coded, coded)
        found[name] = np.array([log_loss(truth[at], probabilities[at]) for at in parts])
    return found


def report_edges(report: Report) -> None:
    """Compare edges of the sample, of all rows, and of the sample without counted values."""
    report.add(f"\n## Edges of bins: {ROWS:,} rows in order, {', '.join(NAMES)}")
    losses = [measure(seed) for seed in range(1, TABLES + 1)]
    rows = []
    for name in WAYS:
        cells = [name]
        for part in range(2):
            lost = np.array([each[name][part] for each in losses])
            worse = lost - [each["all rows"][part] for each in losses]
            error = worse.std(ddof=1) / np.sqrt(TABLES)
            cells += [f"{lost.mean():.5f}", f"{worse.mean():+.5f} ± {error:.5f}"]
        rows.append(cells)
    report.table(
        ["edges from", "log loss on new rows", "more than by all rows",
         "on those of −999", "more than by all rows"],
        rows,
    )  # fmt: skip
    report.add(
        f"Means of {TABLES} tables with their standard errors. One row of {round(1 / RARE):,} has "
        "−999, of new rows\nevery tenth."
    )
