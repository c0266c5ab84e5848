"""Learners of the comparison: whatever they choose, they choose on training rows.

Newron, EBM and RIPPER read tables as they are; the others read one-hot columns with the
median of the training rows for missing values. Each predicts probabilities where it has
them, and has a size as a person would count it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.rule_learners import FIGSClassifier, choose_alpha, count_splits, fill
from benchmarks.tables import Split, encode
from newron import NewronClassifier
from newron.evaluation import make_folds
from newron.training.pruning import count_literals

__all__ = ["LEARNERS", "Learner", "limit_time", "measure"]

SEED = 0
INNER = 4
MANY_ROWS = 10_000  # boosting by histograms from here on
MAX_SECONDS = 1800  # of a fit, on one core
FIGS_SIZES = (5, 10, 20)
Frame, Labels = pd.DataFrame, pd.Series


@dataclass(frozen=True)
class Fitted:
    """What a learner learned."""

    classes: np.ndarray
    predict: Callable[[Frame], np.ndarray]  # probabilities, or classes where it has none
    size: int
    note: str = ""


@dataclass(frozen=True)
class Learner:
    """A learner, what its size counts, and how it is tuned."""

    name: str
    counts: str
    readable: bool
    how: str
    prepare: Callable[[Frame, np.ndarray], Frame]
    fit: Callable[[Frame, Labels, int], Fitted]
    only_two: bool = False


def measure(learner: Learner, X: Frame, y: Labels, split: Split) -> dict[str, Any]:
    """Fit on one part, test on the other, and return the record."""
    train, test = split
    table = learner.prepare(X, train)
    with limit_time(MAX_SECONDS):
        begin = time.process_time()  # of one thread; other work on the machine does not count
        fitted = learner.fit(table.iloc[train], y.iloc[train], SEED)
        middle = time.process_time()
        predicted = fitted.predict(table.iloc[test])
        end = time.process_time()
    true = y.iloc[test].to_numpy()
    soft = predicted.ndim == 2
    chosen = fitted.classes[np.argmax(predicted, axis=1)] if soft else predicted
    record = {
        "accuracy": float(np.mean(chosen == true)),
        "size": fitted.size,
        "fit_seconds": round(middle - begin, 4),
        "predict_seconds": round(end - middle, 5),
        "note": fitted.note,
    }
    return {**record, **(measure_probabilities(predicted, fitted.classes, true) if soft else {})}


def measure_probabilities(
    predicted: np.ndarray, classes: np.ndarray, true: np.ndarray
) -> dict[str, float]:
    """Return log loss and the area under the ROC curve, of several classes one against all."""
    predicted = predicted / predicted.sum(axis=1, keepdims=True)
    out = {"log_loss": float(log_loss(true, np.clip(predicted, 1e-6, 1.0), labels=classes))}
    if len(np.unique(true)) == len(classes):
        score = predicted[:, 1] if len(classes) == 2 else predicted
        out["auc"] = float(roc_auc_score(true, score, multi_class="ovr", labels=classes))
    return out


@contextmanager
def limit_time(seconds: int) -> Iterator[None]:
    """Raise TimeoutError where it takes longer, by the processor's time."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# ---- newron ----


def keep(X: Frame, _: np.ndarray) -> Frame:
    """Return the frame as it is."""
    return X


def fit_newron(processing: str, **settings: Any) -> Callable[[Frame, Labels, int], Fitted]:
    """Return the fit of a network."""

    def fit(X: Frame, y: Labels, seed: int) -> Fitted:
        model = NewronClassifier(processing, random_state=seed, n_jobs=1, **settings).fit(X, y)
        found = getattr(model, "processing_", getattr(model, "hidden_layer_sizes_", ""))
        return Fitted(model.classes_, model.predict_proba, count_literals(model.model_), str(found))

    return fit


# ---- scikit-learn ----


def tune(model: Any, grid: dict[str, list[Any]], X: Frame, y: Labels) -> Any:
    """Fit the setting of the best accuracy in inner folds."""
    folds = make_folds(y, INNER, SEED)
    return GridSearchCV(model, grid, cv=folds).fit(X.to_numpy(), y.to_numpy())


def wrap(model: Any, size: int, note: str = "") -> Fitted:
    """Return a fitted classifier of scikit-learn's kind."""
    return Fitted(model.classes_, lambda X: model.predict_proba(X.to_numpy()), size, note)


def fit_logistic(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit logistic regression, C by inner folds."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=3000, random_state=seed))
    grid = {"logisticregression__C": [0.01, 0.03, 0.1, 0.3, 1, 3, 10]}
    found = tune(model, grid, X, y)
    return wrap(found, X.shape[1], str(found.best_params_))


def fit_tree(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit a tree, pruned by cost-complexity as inner folds choose."""
    A, b = X.to_numpy(), y.to_numpy()
    tree = DecisionTreeClassifier(random_state=seed)
    tree.set_params(ccp_alpha=choose_alpha(tree, A, b)).fit(A, b)
    return wrap(tree, int(np.sum(tree.tree_.children_left >= 0)))


def fit_boosting(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit gradient boosting, its size, depth and rate by inner folds."""
    if len(X) >= MANY_ROWS:
        model: Any = HistGradientBoostingClassifier(random_state=seed)
        found = tune(model, {"max_iter": [100, 300], "learning_rate": [0.1]}, X, y)
        size = sum(len(p.nodes) // 2 for step in found.best_estimator_._predictors for p in step)
        return wrap(found, size, str(found.best_params_))
    model = GradientBoostingClassifier(random_state=seed)
    grid = {"n_estimators": [100], "max_depth": [1, 3], "learning_rate": [0.05, 0.2]}
    found = tune(model, grid, X, y)
    trees = found.best_estimator_.estimators_.ravel()
    return wrap(found, count_nodes(trees), str(found.best_params_))


def fit_forest(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit a random forest at its defaults, with more trees."""
    model = RandomForestClassifier(300, random_state=seed, n_jobs=1)
    model.fit(X.to_numpy(), y.to_numpy())
    return wrap(model, count_nodes(model.estimators_))


def fit_perceptron(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit scikit-learn's network, its penalty by inner folds."""
    network = MLPClassifier(max_iter=400, random_state=seed)
    grid = {"hidden_layer_sizes": [(32,)], "alpha": [1e-3, 1e-1, 3.0]}
    if len(X) >= MANY_ROWS:  # early stopping
        network.set_params(early_stopping=True)
        grid["alpha"] = [1e-3, 1e-1]
    named = {f"mlpclassifier__{name}": values for name, values in grid.items()}
    found = tune(make_pipeline(StandardScaler(), network), named, X, y)
    size = sum(w.size for w in found.best_estimator_[-1].coefs_)
    return wrap(found, size, str(found.best_params_))


def count_nodes(trees: Any) -> int:
    """Count the splits of trees."""
    return sum(int(np.sum(tree.tree_.children_left >= 0)) for tree in trees)


# ---- others ----


def fit_ebm(X: Frame, y: Labels, _: int) -> Fitted:
    """Fit an explainable boosting machine at its own defaults."""
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["nominal" if X[c].dtype == object else "continuous" for c in X.columns]
    model = ExplainableBoostingClassifier(feature_types=kinds, n_jobs=1)
    model.fit(X, y.to_numpy())
    return Fitted(model.classes_, model.predict_proba, len(model.term_names_))


def keep_missing(X: Frame, _: np.ndarray) -> Frame:
    """Return words for categories; missing numbers stay missing."""
    words = {
        c: X[c].astype(object).where(X[c].notna(), "missing").astype(str).astype(object)
        for c in X.columns
        if X[c].dtype == "category"
    }
    numbers = {c: X[c].astype(np.float64) for c in X.columns if c not in words}
    return pd.DataFrame({c: words.get(c, numbers.get(c)) for c in X.columns})


def fit_figs(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit a sum of trees with as many splits as inner folds choose."""
    np.random.seed(seed)  # noqa: NPY002 - its stumps do not get its random_state
    found = tune(FIGSClassifier(random_state=seed), {"max_rules": list(FIGS_SIZES)}, X, y)
    size = sum(map(count_splits, found.best_estimator_.trees_))
    return wrap(found, size, str(found.best_params_))


def fit_rulefit(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit RuleFit at its defaults, which choose its penalty inside; several classes by one each."""
    from imodels import RuleFitClassifier

    model: Any = RuleFitClassifier(random_state=seed)
    labels = np.unique(y)
    if len(labels) > 2:
        model = OneVsRestClassifier(model).fit(X.to_numpy(), y.to_numpy())
        return wrap(model, sum(map(count_rulefit, model.estimators_)))
    codes = (y.to_numpy() == labels[1]).astype(int)  # it needs 0 and 1
    model.fit(X.to_numpy(), codes)
    return Fitted(labels, lambda A: model.predict_proba(A.to_numpy()), count_rulefit(model))


def count_rulefit(model: Any) -> int:
    """Count conditions of rules, and columns, with a weight."""
    rules = model._get_rules()
    return int(sum(1 + str(rule).count(" and ") for rule in rules[rules.coef != 0].rule))


def fit_ripper(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit rules for the rarer class, at its defaults."""
    from wittgenstein import RIPPER

    labels, counts = np.unique(y.to_numpy(), return_counts=True)
    other, rare = labels[np.argsort(-counts, kind="stable")].tolist()
    model = RIPPER(random_state=seed)
    model.fit(X.reset_index(drop=True), y=y.tolist(), pos_class=rare)

    def predict(rows: Frame) -> np.ndarray:
        yes = np.array(model.predict(rows.reset_index(drop=True)), bool)
        return np.where(yes, np.array([rare], labels.dtype), np.array([other], labels.dtype))

    return Fitted(labels, predict, int(model.ruleset_.count_conds()))


# ---- all ----

_SEARCH = {"hidden_layer_sizes": "auto"}
_ALL = (
    *(
        Learner(f"newron {name.replace('_', '-')}", counts, True, how, keep, fit_newron(name))
        for name, counts, how in (
            ("heaviside", "conditions", "the default recipe"),
            ("sigmoid", "curves", "the default recipe"),
            ("tanh_prod", "curves", "the default recipe"),
            ("smooth", "curves", "the default recipe, sigmoid or tanh-prod by inner folds"),
        )
    ),
    Learner(
        "neural network", "weights", False,
        'NewronClassifier("linear", hidden_layer_sizes="auto", recipe="gradient"), the standard '
        "neuron with relu, its structure searched inside",
        keep, fit_newron("linear", recipe="gradient", **_SEARCH),
    ),
    Learner(
        "logistic regression", "coefficients", True,
        "C of seven values by inner folds, standardised columns", encode, fit_logistic,
    ),
    Learner(
        "decision tree", "splits", True,
        "cost-complexity pruning by inner folds", encode, fit_tree,
    ),
    Learner(
        "gradient boosting", "splits", False,
        "100 trees, depth 1, 3 and rate 0.05, 0.2 by inner folds; from 10,000 rows on "
        "HistGradientBoosting of 100 or 300", encode, fit_boosting,
    ),
    Learner(
        "EBM", "curves and pairs", True, "InterpretML's own defaults, raw columns", keep_missing,
        fit_ebm,
    ),
    Learner("FIGS", "splits", True, "max_rules 5, 10, 20 by inner folds", encode, fit_figs),
    Learner(
        "RuleFit", "conditions", True,
        "imodels' defaults (penalty chosen inside), several classes one against all", encode,
        fit_rulefit,
    ),
    Learner(
        "RIPPER", "conditions", True, "wittgenstein's defaults, two classes alone", fill,
        fit_ripper, only_two=True,
    ),
    Learner(
        "random forest", "splits", False, "300 trees, else its defaults", encode,
        fit_forest,
    ),
    Learner(
        "MLP", "weights", False, "scikit-learn's, 32 hidden neurons, penalty by inner folds",
        encode, fit_perceptron,
    ),
)  # fmt: skip
LEARNERS = {learner.name: learner for learner in _ALL}
