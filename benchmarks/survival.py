"""``python -m benchmarks.survival``: NewronSurvival against Cox regression and survival forests.

The tables are those inside the wheels of scikit-survival and lifelines, which must be installed
(in an environment of their own: they ask for an older pandas). Concordance and integrated Brier
score are means over five folds that all models share; a standard error is that of the mean of the
paired differences from Cox regression.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.report import open_report
from newron import NewronSurvival
from newron.evaluation import estimate_brier, estimate_concordance
from newron.evaluation.splits import make_folds

FOLDS, SEED, N_TIMES = 5, 0, 50
COX = "Cox regression"


@dataclass(frozen=True)
class SurvivalTable:
    """Rows, whether the event happened, and when."""

    name: str
    X: pd.DataFrame
    event: np.ndarray
    time: np.ndarray


def load_tables() -> Iterator[SurvivalTable]:
    """Yield the tables: clinical ones of scikit-survival, and lifelines' Rossi and lung."""
    from lifelines import datasets as lifelines
    from sksurv import datasets as sksurv

    for name, load in (
        ("veterans", sksurv.load_veterans_lung_cancer),
        ("whas500", sksurv.load_whas500),
        ("gbsg2", sksurv.load_gbsg2),
    ):
        X, y = load()
        event, time_name = y.dtype.names
        yield SurvivalTable(name, _clean(X), y[event].astype(bool), y[time_name].astype(float))
    rossi = lifelines.load_rossi()
    yield _split("rossi", rossi, "arrest", "week")
    lung = lifelines.load_lung().drop(columns="inst").dropna()
    yield _split("lung", lung, "status", "time")


def _split(name: str, frame: pd.DataFrame, event: str, when: str) -> SurvivalTable:
    X = frame.drop(columns=[event, when])
    happened = frame[event].to_numpy() > 0
    return SurvivalTable(name, _clean(X), happened, frame[when].to_numpy(float))


def _clean(X: pd.DataFrame) -> pd.DataFrame:
    text = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c])]
    return (
        X.reset_index(drop=True)
        .astype(dict.fromkeys(text, str))
        .astype({c: float for c in X.columns if c not in text})
    )


def _make_numbers(X: pd.DataFrame) -> np.ndarray:
    return pd.get_dummies(X, drop_first=True).to_numpy(float)


def fit_newron(processing: str) -> Callable[..., Any]:
    """Return the fit of NewronSurvival by its defaults."""

    def fit(X: pd.DataFrame, event: np.ndarray, when: np.ndarray) -> Any:
        return NewronSurvival(processing, random_state=SEED).fit(X, (event, when))

    return fit


def fit_cox(X: np.ndarray, event: np.ndarray, when: np.ndarray) -> Any:
    """Fit scikit-survival's Cox regression, with hardly any penalty."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    return CoxPHSurvivalAnalysis(alpha=1e-4).fit(X, _pair(event, when))


def fit_forest(X: np.ndarray, event: np.ndarray, when: np.ndarray) -> Any:
    """Fit scikit-survival's random survival forest."""
    from sksurv.ensemble import RandomSurvivalForest

    forest = RandomSurvivalForest(200, min_samples_leaf=10, random_state=SEED)
    return forest.fit(X, _pair(event, when))


def _pair(event: np.ndarray, when: np.ndarray) -> np.ndarray:
    return np.array(list(zip(event, when, strict=True)), [("event", bool), ("time", float)])


MODELS: dict[str, tuple[Callable[..., Any], bool]] = {
    "newron": (fit_newron("heaviside"), False),
    "newron smooth": (fit_newron("smooth"), False),
    COX: (fit_cox, True),
    "survival forest": (fit_forest, True),
}


def measure(table: SurvivalTable) -> dict[str, np.ndarray]:
    """Return concordance, Brier score and CPU seconds by model, of shape (folds, 3)."""
    numbers = _make_numbers(table.X)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in MODELS}
    for train, test in make_folds(table.event, FOLDS, SEED):
        # What training rows never saw cannot be weighed.
        seen = test[table.time[test] <= table.time[train].max()]
        event, when = table.event[seen], table.time[seen]
        end = min(np.quantile(when, 0.9), 0.99 * table.time[train].max())
        grid = np.linspace(np.quantile(when, 0.1), end, N_TIMES)
        for name, (fit, in_numbers) in MODELS.items():
            X: Any = numbers if in_numbers else table.X
            take = (lambda rows, X=X: X[rows]) if in_numbers else X.iloc.__getitem__
            begin = time.process_time()
            model = fit(take(train), table.event[train], table.time[train])
            spent = time.process_time() - begin
            risk = model.predict(take(seen))
            curves = np.array([_call(c, grid) for c in model.predict_survival_function(take(seen))])
            known = table.event[train], table.time[train]
            brier = estimate_brier(known, (event, when), curves, grid).value
            found[name].append((estimate_concordance(event, when, risk).value, brier, spent))
    return {name: np.array(rows) for name, rows in found.items()}


def _call(curve: Any, grid: np.ndarray) -> np.ndarray:
    """Return a curve at some times; step functions begin at their first event."""
    low, high = curve.domain
    return np.where(grid < low, 1.0, curve(np.clip(grid, low, high)))


def list_rows(
    results: dict[str, tuple[SurvivalTable, dict[str, np.ndarray]]],
) -> Iterator[list[str]]:
    """Yield the page's rows: means over folds, and differences from Cox regression."""
    for name, (table, scores) in results.items():
        size = [name, str(len(table.time)), str(int(table.event.sum()))]
        for model, rows in scores.items():
            mean = rows.mean(axis=0)
            apart = rows - scores[COX]
            errors = apart.std(axis=0, ddof=1) / np.sqrt(len(rows))
            cells = [
                "" if model == COX else f"{apart.mean(axis=0)[k]:+.3f} ± {errors[k]:.3f}"
                for k in (0, 1)
            ]
            yield [
                *size, model, f"{mean[0]:.3f}", cells[0], f"{mean[1]:.4f}", cells[1],
                f"{mean[2]:.1f}",
            ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Measure all tables, and print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survival", description=__doc__)
    parser.add_argument("tables", nargs="*", help="names of tables; by default all")
    parser.add_argument("--write", metavar="FILE", help="write the result as Markdown")
    options = parser.parse_args(arguments)
    report = open_report("Survival", parser, arguments, ["scikit-survival", "lifelines"])
    report.add(
        f"\n{FOLDS} folds (seed {SEED}) that all models share, NewronSurvival with its defaults "
        'and with `processing="smooth"`. ± is the standard error of the mean paired difference '
        "from Cox regression; a higher concordance and a lower Brier score are better. Test rows "
        "that were seen longer than the longest training row are left out. Risks, and how many "
        "intervals time has by default, were chosen on other partitions of these tables (seeds "
        "1000 and 1001), and how short the default is on seeds 8000 and 8001 of three of them."
    )
    results = {}
    for table in load_tables():
        if not options.tables or table.name in options.tables:
            results[table.name] = table, measure(table)
            sys.stderr.write(f"{table.name} done\n")
    head = ["table", "rows", "events", "model", "concordance", "− Cox", "Brier", "− Cox", "CPU s"]
    report.table(head, list(list_rows(results)))
    for k, what in ((0, "concordance"), (1, "Brier score")):
        means = [
            f"{model} {np.mean([scores[model][:, k].mean() for _, scores in results.values()]):.4f}"
            for model in MODELS
        ]
        report.add(f"Mean {what} over the tables: {', '.join(means)}.\n")
    report.write(options.write)


if __name__ == "__main__":
    main()
