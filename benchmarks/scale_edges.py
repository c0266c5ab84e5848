"""Whether edges of bins that come from a sample of rows cost accuracy: against all rows."""

from __future__ import annotations

from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.report import Report
from newron import NewronClassifier

ROWS, NEW = 400_000, 200_000
RARE = 20_000  # one row of so many has a code
NAMES = ("normal", "lognormal, σ = 3", "Pareto, α = 0.8", "grade, or −999")


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    rare = random.random(n) < 1.0 / RARE
    X[rare, 3] = -999.0
    X = X[np.argsort(X[:, 0])]
    rare = X[:, 3] == -999.0
    tails = np.tanh(np.log(X[:, 1]) / 2.0) + np.minimum(np.log1p(X[:, 2]), 8.0) / 4.0
    score = np.sin(2.0 * X[:, 0]) + tails - 1.0 + np.where(rare, 4.0, X[:, 3] / 200.0)
    return X, (score + random.logistic(size=n) > 0.0).astype(int), rare


def report_edges(report: Report) -> None:
    """Fit with edges of the sample, of all rows, and of the sample without counted values."""
    X, y, _ = draw(ROWS, 1)
    new, truth, rare = draw(NEW, 2)
    report.add(f"\n## Edges of bins: {ROWS:,} rows in order, {', '.join(NAMES)}")
    ways = {
        "50,000 rows, few values counted (as it is)": {},
        "all rows": {"EDGE_SAMPLE": (10**9, 0)},
        "50,000 rows alone": {"MOST_COUNTED": -1},
    }
    rows = []
    for name, changes in ways.items():
        with patch.multiple("newron.engine.binning", **changes) if changes else nullcontext():
            fitted = NewronClassifier("smooth", hidden_layer_sizes=(), random_state=0).fit(X, y)
        odds = fitted.predict_proba(new)
        seen = [log_loss(truth[at], odds[at], labels=[0, 1]) for at in (slice(None), rare)]
        rows.append([name, f"{seen[0]:.5f}", f"{seen[1]:.3f}"])
    report.table(["edges from", "log loss on new rows", f"on the {rare.sum()} of −999"], rows)
