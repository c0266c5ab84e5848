"""All learners of the comparison: whatever they choose, they choose on training rows.

Newron, EBM, CatBoost, the networks of pytabkit and RIPPER read tables as they are; the others read
one-hot columns with the median of the training rows for missing values. Each predicts
probabilities where it has them, and has a size as a person would count it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.learner import Fitted, Frame, Labels, Learner, keep, tune, wrap
from benchmarks.packages import PACKAGED
from benchmarks.rule_learners import choose_alpha
from benchmarks.tables import encode
from newron import NewronClassifier
from newron.training.pruning import count_literals

__all__ = ["LEARNERS", "MANY_ROWS"]

MANY_ROWS = 10_000  # boosting by histograms from here on


# ---- newron ----


def fit_newron(processing: str, **settings: Any) -> Callable[[Frame, Labels, int], Fitted]:
    """Return the fit of a network."""

    def fit(X: Frame, y: Labels, seed: int) -> Fitted:
        model = NewronClassifier(processing, random_state=seed, n_jobs=1, **settings).fit(X, y)
        found = getattr(model, "processing_", getattr(model, "hidden_layer_sizes_", ""))
        return Fitted(model.classes_, model.predict_proba, count_literals(model.model_), str(found))

    return fit


# ---- scikit-learn ----


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


# ---- all ----

_SEARCH = {"hidden_layer_sizes": "auto"}
_ALL = (
    *(
        Learner(f"newron {name.replace('_', '-')}", counts, True, how, keep,
                fit_newron(name, size="whole"))
        for name, counts, how in (
            ("heaviside", "conditions", 'the default recipe, size="whole"'),
            ("sigmoid", "curves", 'the default recipe, size="whole"'),
            ("tanh_prod", "curves", 'the default recipe, size="whole"'),
            ("smooth", "curves", 'the default recipe, size="whole"'),
        )
    ),
    *(
        Learner(f"newron {name} short", counts, True, "as it installs: short by validation rows",
                keep, fit_newron(name))
        for name, counts in (("heaviside", "conditions"), ("smooth", "curves"))
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
    *PACKAGED,
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
