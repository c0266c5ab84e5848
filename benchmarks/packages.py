"""Learners of other packages, each imported only when it is used (``scripts/install_peers``)."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier

from benchmarks.learner import Fitted, Frame, Labels, Learner, keep_missing, tune, wrap
from benchmarks.rule_learners import FIGSClassifier, count_splits, fill
from benchmarks.tables import encode

__all__ = ["PACKAGED"]

FIGS_SIZES = (5, 10, 20)


# ---- readable ----


def fit_ebm(X: Frame, y: Labels, _: int) -> Fitted:
    """Fit an explainable boosting machine at its own defaults."""
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = ["nominal" if X[c].dtype == object else "continuous" for c in X.columns]
    model = ExplainableBoostingClassifier(feature_types=kinds, n_jobs=1)
    model.fit(X, y.to_numpy())
    return Fitted(model.classes_, model.predict_proba, len(model.term_names_))


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


def fit_aplr(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit automatic piecewise linear regression at its defaults, which choose by inner folds."""
    from aplr import APLRClassifier

    model = APLRClassifier(random_state=seed, n_jobs=1)
    labels = np.unique(y)
    codes = np.searchsorted(labels, y).astype(str)
    model.fit(X.to_numpy(float), codes.tolist())
    order = [int(name) for name in model.get_categories()]

    def predict(rows: Frame) -> np.ndarray:
        out = np.zeros((len(rows), len(labels)))
        out[:, order] = model.predict_class_probabilities(rows.to_numpy(float))
        return out

    return Fitted(labels, predict, len(model.get_unique_term_affiliations()))


# ---- for reference ----


def fit_lightgbm(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit LightGBM, its size, leaves and rate by inner folds."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)
    grid = {"n_estimators": [100], "num_leaves": [4, 15, 31], "learning_rate": [0.05, 0.2]}
    found = tune(model, grid, X, y)
    trees = found.best_estimator_.booster_.dump_model()["tree_info"]
    return wrap(found, sum(tree["num_leaves"] - 1 for tree in trees), str(found.best_params_))


def fit_catboost(X: Frame, y: Labels, seed: int) -> Fitted:
    """Fit CatBoost at its defaults, on raw columns."""
    from catboost import CatBoostClassifier

    words = [c for c in X.columns if X[c].dtype == object]
    model = CatBoostClassifier(
        random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False, cat_features=words
    )
    model.fit(X, y.to_numpy())
    return Fitted(model.classes_, model.predict_proba, model.tree_count_)


def fit_network(name: str) -> Callable[[Frame, Labels, int], Fitted]:
    """Return the fit of a network of pytabkit at its tuned defaults."""

    def fit(X: Frame, y: Labels, seed: int) -> Fitted:
        os.environ.setdefault("PYTORCH_LIGHTNING_DISABLE_TIPS", "1")
        logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
        import pytabkit
        import torch

        torch.set_num_threads(1)
        make = getattr(pytabkit, name)
        model = make(device="cpu", random_state=seed, n_threads=1, verbosity=0).fit(X, y)
        return Fitted(model.classes_, model.predict_proba, 0)

    return fit


PACKAGED = (
    Learner(
        "EBM", "curves and pairs", True, "InterpretML's own defaults, raw columns", keep_missing,
        fit_ebm, package="interpret", max_repeats=1,
    ),
    Learner(
        "FIGS", "splits", True, "max_rules 5, 10, 20 by inner folds", encode, fit_figs,
        package="imodels",
    ),
    Learner(
        "RuleFit", "conditions", True,
        "imodels' defaults (penalty chosen inside), several classes one against all", encode,
        fit_rulefit, package="imodels",
    ),
    Learner(
        "RIPPER", "conditions", True, "wittgenstein's defaults, two classes alone", fill,
        fit_ripper, only_two=True, package="wittgenstein",
    ),
    Learner(
        "APLR", "terms", True, "its defaults (steps chosen by five inner folds)", encode, fit_aplr,
        package="aplr", max_repeats=1,
    ),
    Learner(
        "LightGBM", "splits", False, "100 trees; 4, 15, 31 leaves, rate 0.05, 0.2 by inner folds",
        encode, fit_lightgbm, package="lightgbm",
    ),
    Learner(
        "CatBoost", "trees", False, "its defaults (1000 trees), raw columns", keep_missing,
        fit_catboost, package="catboost", max_repeats=1,
    ),
    Learner(
        "RealMLP", "–", False, "pytabkit's RealMLP-TD, tuned defaults", fill,
        fit_network("RealMLP_TD_Classifier"), package="pytabkit", max_repeats=1,
    ),
    Learner(
        "TabM", "–", False, "pytabkit's TabM-D, defaults", fill,
        fit_network("TabM_D_Classifier"), package="pytabkit", max_repeats=1,
    ),
)  # fmt: skip
