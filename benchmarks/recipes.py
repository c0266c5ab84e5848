"""``python -m benchmarks.recipes``: what each recipe makes of the paper's tables.

Monks on their original split, adult on its official test part, the others in five
folds. Everything that a recipe chooses it chooses on its training rows. ``--noisy``
adds the thirteen noisy tables, five folds twice, beside tuned peers on the same folds;
``--seeds`` counts how often MONK-2 is solved.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.paper_data import NOISY, load_parts, load_table, make_synthetic
from benchmarks.report import Report, open_report
from newron import NewronClassifier
from newron.demo import make_monk2
from newron.evaluation.splits import make_folds
from newron.training.folding import count_literals

SEED = 0
SPLIT = ("monks-1", "monks-2", "monks-3", "adult")
DRAWN = ("xor", "circle")
FOLDED = ("car", "image", "ionosphere")

RECIPES = {
    "heaviside": ("paper", "gradient", "grow", "default"),
    "sigmoid": ("paper", "gradient", "default"),
    "tanh_prod": ("paper", "gradient", "default"),
}


@dataclass(frozen=True)
class Outcome:
    """How good, how large, how long."""

    accuracy: float
    functions: float
    seconds: float


def load_splits(name: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Return training and test parts of a table."""
    if name in SPLIT:
        (X, y), (Xt, yt) = load_parts(name)
        return [(X, y, Xt, yt)]
    X, y = make_synthetic(name) if name in DRAWN else load_table(name)
    return [(X[a], y[a], X[b], y[b]) for a, b in make_folds(y, 5, SEED)]


def try_recipe(name: str, processing: str, recipe: str, jobs: int) -> Outcome:
    """Fit and test on every split of a table."""
    scores, sizes, begin = [], [], time.perf_counter()
    splits = load_splits(name)
    for X, y, Xt, yt in splits:
        model = NewronClassifier(processing, recipe=recipe, random_state=SEED, n_jobs=jobs)
        scores.append(model.fit(X, y).score(Xt, yt))
        sizes.append(count_literals(model.model_))
    seconds = (time.perf_counter() - begin) / len(splits)
    return Outcome(100 * float(np.mean(scores)), float(np.mean(sizes)), seconds)


def report_recipes(report: Report, names: Sequence[str], jobs: int) -> None:
    """One table for each processing function."""
    report.add(
        "\nEach cell: accuracy in %, conditions (grown) or functions of the network, seconds of "
        f"a fit on {jobs} threads. Hidden (4,), seed {SEED}."
    )
    for processing, recipes in RECIPES.items():
        report.add(f"\n## {processing}")
        rows = []
        for name in names:
            cells = [name]
            for recipe in recipes:
                got = try_recipe(name, processing, recipe, jobs)
                cells.append(f"{got.accuracy:.1f} / {got.functions:.0f} / {got.seconds:.1f} s")
                print(f"  {processing} {recipe} {name}: {cells[-1]}", file=sys.stderr, flush=True)
            rows.append(cells)
        report.table(["table", *recipes], rows)


def report_seeds(report: Report, n_seeds: int) -> None:
    """Count how often MONK-2 is solved."""
    everything = make_monk2()
    (X, y), test = load_parts("monks-2")
    rows = []
    trials = (("432 rows", everything, everything), ("169 rows", (X, y), test))
    for name, (A, b), test_part in trials:
        models = (
            NewronClassifier(hidden_layer_sizes=(1, 2), random_state=seed).fit(A, b)
            for seed in range(n_seeds)
        )
        solved = sum(model.score(*test_part) == 1 for model in models)
        rows.append([f"trained on {name}", f"{solved} of {n_seeds}"])
    report.add("\n## MONK-2, heaviside, hidden (1, 2), default recipe: right on all 432 rows")
    report.table(["", "seeds"], rows)


def make_peers() -> dict[str, Callable[[], object]]:
    """Return newron at its defaults and peers tuned on inner folds."""
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    boosting = GradientBoostingClassifier(random_state=SEED)
    grids = (
        (logistic, {"logisticregression__C": [0.03, 0.1, 0.3, 1, 3]}),
        (boosting, {"n_estimators": [50, 150], "max_depth": [1, 3], "learning_rate": [0.05, 0.1]}),
    )
    search = [partial(GridSearchCV, model, grid, cv=4, n_jobs=2) for model, grid in grids]
    return {
        "heaviside": partial(NewronClassifier, "heaviside", random_state=SEED, n_jobs=2),
        "tanh_prod": partial(NewronClassifier, "tanh_prod", random_state=SEED, n_jobs=2),
        "logistic regression": search[0],
        "gradient boosting": search[1],
    }


def report_noisy(report: Report, repeats: int) -> None:
    """Compare accuracies on the noisy tables, on the same folds."""
    report.add(f"\n## Thirteen noisy tables, five folds × {repeats}: accuracy in %")
    peers = make_peers()
    rows, means = [], {name: [] for name in peers}
    for table in NOISY:
        X, y = load_table(table)
        splits = [pair for seed in range(repeats) for pair in make_folds(y, 5, seed)]
        cells = [table]
        for name, make in peers.items():
            scores = [make().fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits]
            means[name].append(float(np.mean(scores)))
            cells.append(f"{100 * means[name][-1]:.1f}")
        print(f"  {cells}", file=sys.stderr, flush=True)
        rows.append(cells)
    rows.append(["mean", *(f"{100 * np.mean(means[name]):.2f}" for name in peers)])
    report.table(["table", *peers], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipes", description=__doc__)
    parser.add_argument("--tables", nargs="*", default=[*SPLIT[:3], *DRAWN, *FOLDED, SPLIT[3]])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=0, help="seeds of MONK-2 to count")
    parser.add_argument("--noisy", type=int, default=0, help="repeats of the noisy tables")
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    report = open_report("Recipes", parser, arguments, ["numpy", "scikit-learn"])
    if options.tables:
        report_recipes(report, options.tables, options.jobs)
    if options.seeds:
        report_seeds(report, options.seeds)
    if options.noisy:
        report_noisy(report, options.noisy)
    report.write(options.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
