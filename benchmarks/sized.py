"""Learners at sizes: what each of them predicts with at most so many conditions.

A condition is a question about a column: a line of a card, a split of a tree, an antecedent of a
rule. FasterRisk, GOSDT and CORELS run in environments of their own (``scripts/install_frontier``),
since they pin old packages or must be built: ``benchmarks/isolated.py`` is what runs there.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from benchmarks.rule_learners import FIGSClassifier, count_splits, fill
from benchmarks.tables import Split, encode
from newron import NewronClassifier
from newron.evaluation.splits import make_folds
from newron.model import Model
from newron.training.path import count_lines

__all__ = ["ENVIRONMENTS", "SEED", "SIZED", "SIZES", "Predicted", "SizedLearner"]

SEED = 0
SIZES = (3, 5, 8, 12, 20)
INNER_FOLDS = 4
MAX_ALPHAS = 60
CUTS = 9  # thresholds of a column for those that read yes or no alone
FEW_ROWS = 5_000  # at most, for those that search long
MAX_SECONDS = 900  # of all sizes of a learner of another environment
ENVIRONMENTS = Path(__file__).parent.parent / ".frontier"

Frame, Labels = pd.DataFrame, pd.Series


@dataclass(frozen=True)
class Predicted:
    """The classes of the test rows, and how many conditions tell them."""

    classes: np.ndarray
    size: int


Learn = Callable[[Frame, Labels, Split], dict[str, Predicted]]


@dataclass(frozen=True)
class SizedLearner:
    """A learner, how it is held to a size, and where it runs."""

    name: str
    how: str
    learn: Learn
    only_two: bool = False
    environment: str = ""  # a folder of .frontier
    package: str = ""
    n_splits: int = 5  # of a table


# ---- newron ----


def learn_newron(X: Frame, y: Labels, split: Split) -> dict[str, Predicted]:
    """Fit at the defaults; the sizes are those of the path of this one fit."""
    train, test = split
    fitted = NewronClassifier(random_state=SEED, n_jobs=1).fit(X.iloc[train], y.iloc[train])
    path, rows = fitted.path_, X.iloc[test]

    def take(model: Model) -> Predicted:
        return Predicted(np.asarray(model.predict(rows)), count_lines(model))

    if path is None:
        return {"default": take(fitted.model_), "best": take(fitted.model_)}
    found = {str(n): take(path[path.choose(0.0, n)]) for n in SIZES}
    return {**found, "default": take(path.model), "best": take(path[path.choose(0.0)])}


# ---- trees ----


def learn_tree(X: Frame, y: Labels, split: Split) -> dict[str, Predicted]:
    """Prune a tree by cost-complexity; of at most n splits, inner folds choose the subtree."""
    train, test = split
    columns = encode(X, train).to_numpy()
    A, b = columns[train], y.iloc[train].to_numpy()
    trees = _prune(A, b)
    scores = np.zeros((INNER_FOLDS, max(SIZES) + 1))
    for k, (i, j) in enumerate(make_folds(y.iloc[train], INNER_FOLDS, SEED)):
        inner = _prune(A[i], b[i])
        sizes = np.array([_count_forks(tree) for tree in inner])
        right = [tree.score(A[j], b[j]) for tree in inner]
        for n in range(max(SIZES) + 1):
            scores[k, n] = right[int(np.flatnonzero(sizes <= n)[-1])]
    mean = scores.mean(axis=0).round(12)
    found = {}
    for n in SIZES:
        few = [tree for tree in trees if _count_forks(tree) <= n]
        best = max(few, key=lambda tree: (mean[_count_forks(tree)], -_count_forks(tree)))
        found[str(n)] = Predicted(best.predict(columns[test]), _count_forks(best))
    return found


def _prune(A: np.ndarray, b: np.ndarray) -> list[DecisionTreeClassifier]:
    """Return the subtrees of the tree's own path, the smallest first."""
    tree = DecisionTreeClassifier(random_state=SEED)
    steps = np.unique(np.maximum(tree.cost_complexity_pruning_path(A, b).ccp_alphas, 0.0))
    alphas = np.sqrt(steps * np.append(steps[1:], 4.0 * steps[-1]))[-MAX_ALPHAS:]
    return [clone(tree).set_params(ccp_alpha=a).fit(A, b) for a in alphas[::-1]]


def _count_forks(tree: DecisionTreeClassifier) -> int:
    return int(np.sum(tree.tree_.children_left >= 0))


def learn_figs(X: Frame, y: Labels, split: Split) -> dict[str, Predicted]:
    """Grow a sum of trees of at most n splits."""
    train, test = split
    columns = encode(X, train).to_numpy()
    found = {}
    for n in SIZES:
        np.random.seed(SEED)  # noqa: NPY002 - its stumps do not get its random_state
        model = FIGSClassifier(max_rules=n, random_state=SEED)
        model.fit(columns[train], y.iloc[train].to_numpy())
        size = sum(map(count_splits, model.trees_))
        found[str(n)] = Predicted(np.asarray(model.predict(columns[test])), size)
    return found


def learn_ripper(X: Frame, y: Labels, split: Split) -> dict[str, Predicted]:
    """Learn rules for the rarer class, of at most n conditions in all."""
    from wittgenstein import RIPPER

    train, test = split
    table = fill(X, train)
    labels, counts = np.unique(y.iloc[train].to_numpy(), return_counts=True)
    other, rare = labels[np.argsort(-counts, kind="stable")].tolist()
    found = {}
    for n in SIZES:
        model = RIPPER(random_state=SEED, max_total_conds=n)
        rows = table.iloc[train].reset_index(drop=True)
        model.fit(rows, y=y.iloc[train].tolist(), pos_class=rare)
        yes = np.array(model.predict(table.iloc[test].reset_index(drop=True)), bool)
        classes = np.where(yes, np.array([rare], labels.dtype), np.array([other], labels.dtype))
        found[str(n)] = Predicted(classes, int(model.ruleset_.count_conds()))
    return found


# ---- learners in environments of their own ----


def learn_apart(name: str) -> Learn:
    """Return what learns by a package of another environment, from yes or no alone."""

    def learn(X: Frame, y: Labels, split: Split) -> dict[str, Predicted]:
        train, test = split
        if len(train) > FEW_ROWS:
            train = np.sort(np.random.default_rng(SEED).choice(train, FEW_ROWS, replace=False))
        labels, codes = np.unique(y.to_numpy(), return_inverse=True)
        asked = ask(X, train)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npz"
            np.savez(path, train=asked[train], test=asked[test], y=codes[train], sizes=SIZES)
            python = ENVIRONMENTS / name / "bin" / "python"
            script = Path(__file__).with_name("isolated.py")
            done = subprocess.run(
                [python, script, name, path], capture_output=True, text=True, check=False,
                timeout=4 * MAX_SECONDS,
            )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        found = json.loads(done.stdout.splitlines()[-1])
        return {n: Predicted(labels[np.array(p)], size) for n, (p, size) in found.items()}

    return learn


def ask(X: Frame, rows: np.ndarray) -> np.ndarray:
    """Return columns of yes or no: categories, missing values, thresholds at quantiles."""
    columns = []
    for name in X.columns:
        column = X[name]
        if column.isna().any():
            columns.append(column.isna().to_numpy())
        if column.dtype == "category":
            columns += [(column == value).to_numpy() for value in column.cat.categories]
            continue
        values = column.astype(np.float64).to_numpy()
        known = values[rows][~np.isnan(values[rows])]
        distinct = np.unique(known)
        middles = (distinct[1:] + distinct[:-1]) / 2
        if len(middles) > CUTS:
            middles = np.unique(np.quantile(known, np.arange(1, CUTS + 1) / (CUTS + 1)))
        columns += [values >= cut for cut in middles]
    asked = np.stack(columns, axis=1)
    seen = asked[rows].any(axis=0) & ~asked[rows].all(axis=0)
    return np.asarray(asked[:, seen])


SIZED = (
    SizedLearner(
        "newron", "`NewronClassifier()`, the networks of its path with the lowest loss on its "
        "validation rows", learn_newron,
    ),
    SizedLearner(
        "tree", "scikit-learn's, pruned by cost-complexity; inner folds choose the subtree",
        learn_tree,
    ),
    SizedLearner("FIGS", "imodels', `max_rules`", learn_figs, package="imodels"),
    SizedLearner(
        "RIPPER", "wittgenstein's, `max_total_conds`, two classes alone", learn_ripper,
        only_two=True, package="wittgenstein",
    ),
    SizedLearner(
        "FasterRisk", "0.1.10; `k`, and `select_top_m=1`; two classes alone",
        learn_apart("fasterrisk"), only_two=True, environment="fasterrisk", n_splits=2,
    ),
    SizedLearner(
        "GOSDT", "1.0.4; depth 5; the smallest regularization of 0.1, 0.05, 0.02, 0.01 whose tree "
        "is small enough, of 10 s by the clock each", learn_apart("gosdt"), environment="gosdt",
        n_splits=2,
    ),
    SizedLearner(
        "CORELS", "1.1.29; rules of up to two conditions; the smallest `c` of 0.1, 0.03, 0.01, "
        "0.003, 0.001 whose list is short enough; two classes alone", learn_apart("corels"),
        only_two=True, environment="corels", n_splits=2,
    ),
)  # fmt: skip
