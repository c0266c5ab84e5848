"""The trials of the paper's table: what is fitted on each split, by both protocols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.folds import (
    MONKS,
    OFFICIAL,
    count_splits,
    load,
    make_paper_split,
    make_split,
    name_original,
)
from benchmarks.learner import measure
from benchmarks.learners import LEARNERS, MANY_ROWS
from benchmarks.tables import encode
from benchmarks.trials import Record, Trial
from newron import NewronClassifier, datasets
from newron.search import NewronSearchCV

SEED = 0
# The paper's names of models, and ours.
MODELS = {
    "heaviside": "newron heaviside",
    "sigmoid": "newron sigmoid",
    "tanh_prod": "newron tanh-prod",
    "logistic_regression": "logistic regression",
    "decision_tree": "decision tree",
    "gbdt": "gradient boosting",
    "neural_network": "neural network",
}
IAN = ("heaviside", "sigmoid", "tanh_prod")
BY_DEFAULT = ", default recipe"
STRUCTURES, MAX_NEURONS, STARTS = 30, 16, 3
STRUCTURES_OF_MANY = 3  # structures tried on adult


# ---- as the paper ----


def try_network(processing: str, trial: Trial) -> Record:
    """Search for a structure by the accuracy on the test part, as the paper seems to do."""
    table = datasets.load(trial.table)
    train, test = make_paper_split(trial.table, trial.split)
    many = len(train) >= MANY_ROWS
    network = NewronClassifier(processing, recipe="gradient", n_init=STARTS, n_jobs=1)
    if many:
        network.set_params(n_init=1, max_iter=60)
    search = NewronSearchCV(
        network,
        cv=[(train, test)],
        refit=False,
        tie_rule="best",
        widening="each",
        max_structures=STRUCTURES_OF_MANY if many else STRUCTURES,
        max_neurons=MAX_NEURONS,
        random_state=trial.split,
    ).fit(table.X, table.y)
    note = str(search.best_params_["hidden_layer_sizes"])
    return {"accuracy": float(search.best_score_), "note": note}


def try_default(processing: str, trial: Trial) -> Record:
    """Fit the default recipe: one more network to take the best of."""
    table = datasets.load(trial.table)
    train, test = make_paper_split(trial.table, trial.split)
    network = NewronClassifier(processing, size="whole", random_state=trial.split, n_jobs=1)
    network.fit(table.X.iloc[train], table.y.iloc[train])
    accuracy = network.score(table.X.iloc[test], table.y.iloc[test])
    return {"accuracy": float(accuracy), "note": "default recipe"}


def try_grid(list_models: Callable[[int], list[Any]], trial: Trial) -> Record:
    """Take the setting of the best accuracy on the test part."""
    table = datasets.load(trial.table)
    train, test = make_paper_split(trial.table, trial.split)
    X, y = encode(table.X, train).to_numpy(), table.y.to_numpy()
    scores = [
        (float(model.fit(X[train], y[train]).score(X[test], y[test])), -n, str(model))
        for n, model in enumerate(list_models(len(train)))
    ]
    accuracy, _, name = max(scores)
    return {"accuracy": accuracy, "note": " ".join(name.split())}


def list_logistic(_: int) -> list[Any]:
    """Return logistic regressions: the appendix names no grid."""
    return [
        make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=3000))
        for c in (0.01, 0.1, 1.0, 10.0, 100.0)
    ]


def list_trees(_: int) -> list[Any]:
    """Return trees over the appendix's ranges, with and without weights of classes."""
    return [
        DecisionTreeClassifier(
            min_samples_split=split, min_samples_leaf=leaf, class_weight=weight, random_state=SEED
        )
        for weight in ("balanced", None)
        for split in (2, 5, 10, 20, 40)
        for leaf in (1, 2, 5, 10, 20)
    ]


def list_boosting(n_rows: int) -> list[Any]:
    """Return boosting of 1000 trees over the appendix's ranges, two points of them."""
    if n_rows >= MANY_ROWS:
        return [
            HistGradientBoostingClassifier(
                max_iter=1000, min_samples_leaf=leaf, early_stopping=False, random_state=SEED
            )
            for leaf in (20,)
        ]
    return [
        GradientBoostingClassifier(
            n_estimators=1000, min_samples_split=split, min_samples_leaf=leaf, random_state=SEED
        )
        for split, leaf in ((2, 1), (40, 20))
    ]


WORK: dict[str, dict[str, Callable[[Trial], Record]]] = {
    "paper": {
        "heaviside": partial(try_network, "heaviside"),
        "sigmoid": partial(try_network, "sigmoid"),
        "tanh_prod": partial(try_network, "tanh_prod"),
        "neural_network": partial(try_network, "linear"),
        # Trials of their own: they are run anew with a new recipe, the structures are not.
        **{name + BY_DEFAULT: partial(try_default, name) for name in IAN},
        "logistic_regression": partial(try_grid, list_logistic),
        "decision_tree": partial(try_grid, list_trees),
        "gbdt": partial(try_grid, list_boosting),
    }
}


# ---- nested cross-validation ----


def run_nested(trial: Trial) -> Record:
    """Fit and test a learner that chooses everything on its training rows."""
    X, y = load(trial.table)
    return measure(LEARNERS[trial.model], X, y, make_split(trial.table, trial.split))


WORK["nested"] = dict.fromkeys(LEARNERS, run_nested)


def list_trials(
    protocols: Sequence[str], tables: Sequence[str], n_splits: int, repeats: int
) -> list[Trial]:
    """Return all trials of the table, tables with many rows first."""
    by_size = sorted(tables, key=lambda name: -len(datasets.load(name).X))
    trials = []
    if "paper" in protocols:
        for table in by_size:
            for model in MODELS:
                # A tree on an official part is the same for every seed.
                seeded = table not in OFFICIAL or model in (*IAN, "neural_network")
                n = (n_splits if table != "adult" else 1) if seeded else 1
                names = [model, model + BY_DEFAULT] if model in IAN else [model]
                trials += [
                    Trial("paper", table, name, split) for name in names for split in range(n)
                ]
    if "nested" in protocols:
        for table in [*by_size, *(name_original(name) for name in tables if name in MONKS)]:
            for model in MODELS.values():
                n = count_splits(table, repeats)
                trials += [Trial("nested", table, model, split) for split in range(n)]
    return trials
