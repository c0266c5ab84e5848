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
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from newron import NewronSurvival
from newron.evaluation import estimate_brier, estimate_concordance, make_folds

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


def write_lines(results: dict[str, tuple[SurvivalTable, dict[str, np.ndarray]]]) -> Iterator[str]:
    """Yield the page's table: means over folds, and differences from Cox regression."""
    yield "| table | rows | events | model | concordance | − Cox | Brier | − Cox | CPU s |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, (table, scores) in results.items():
        for model, rows in scores.items():
            mean = rows.mean(axis=0)
            gaps = rows - scores[COX]
            errors = gaps.std(axis=0, ddof=1) / np.sqrt(len(rows))
            apart = [
                "" if model == COX else f"{gaps.mean(axis=0)[k]:+.3f} ± {errors[k]:.3f}"
                for k in (0, 1)
            ]
            yield (
                f"| {name} | {len(table.time)} | {int(table.event.sum())} | {model} | "
                f"{mean[0]:.3f} | {apart[0]} | {mean[1]:.4f} | {apart[1]} | {mean[2]:.1f} |"
            )
    for k, what in ((0, "concordance"), (1, "Brier score")):
        means = {
            model: np.mean([scores[model][:, k].mean() for _, scores in results.values()])
            for model in MODELS
        }
        listed = ", ".join(f"{model} {value:.4f}" for model, value in means.items())
        yield f"\nMean {what} over the tables: {listed}."


def main(arguments: list[str] | None = None) -> None:
    """Measure all tables, and print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survival", description=__doc__)
    parser.add_argument("tables", nargs="*", help="names of tables; by default all")
    parser.add_argument("--page", type=Path, help="write the results into a page")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    results = {}
    for table in load_tables():
        if not options.tables or table.name in options.tables:
            results[table.name] = table, measure(table)
            sys.stderr.write(f"{table.name} done\n")
    text = "\n".join(write_lines(results)) + "\n"
    sys.stdout.write(text)
    if options.page is not None:
        _, marker, _ = options.page.read_text(encoding="utf-8").partition("<!-- results -->\n")
        head = options.page.read_text(encoding="utf-8").split(marker)[0]
        options.page.write_text(f"{head}{marker}{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
