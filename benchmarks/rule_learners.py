"""Rule learners to compare with, and how long what they learn is.

A literal is one condition on one column of the raw table. All see the same rows; the tree
and FIGS read one-hot columns with medians for missing values, RIPPER categories as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from benchmarks.tables import encode
from newron.evaluation.splits import make_folds

try:
    from imodels import FIGSClassifier
except ImportError:
    FIGSClassifier = None
try:
    from wittgenstein import RIPPER
except ImportError:
    RIPPER = None

__all__ = [
    "RULE_LEARNERS",
    "FIGSClassifier",
    "RuleLearner",
    "Tested",
    "choose_alpha",
    "count_splits",
    "describe_rule_learners",
    "fill",
]

SEED = 0
INNER_FOLDS = 5
FIGS_SIZES = (5, 10, 20)
MAX_ALPHAS = 60
MISSING = "missing"
NONE = "–"


@dataclass(frozen=True)
class Tested:
    """What a model predicts of the test rows, and how many literals it needs."""

    predicted: np.ndarray
    sizes: tuple[int, ...]


Learn = Callable[[pd.DataFrame, pd.Series, np.ndarray, np.ndarray], Tested]


@dataclass(frozen=True)
class RuleLearner:
    """A learner, what its sizes count, and what it needs."""

    name: str
    counts: tuple[str, ...]
    learn: Learn
    package: str | None = None
    max_classes: int | None = None

    def find_obstacle(self, y: pd.Series) -> str | None:
        """Return why it cannot learn these classes; None if it can."""
        if self.package is not None:
            return f"not installed (pip install {self.package})"
        return NONE if self.max_classes is not None and y.nunique() > self.max_classes else None


# ---- the tree ----


@dataclass(frozen=True)
class Leaf:
    """A class."""

    label: Any


@dataclass(frozen=True)
class Fork:
    """A question about a column of the raw table."""

    column: str
    low: Leaf | Fork
    high: Leaf | Fork


def learn_tree(X: pd.DataFrame, y: pd.Series, train: np.ndarray, test: np.ndarray) -> Tested:
    """Fit a decision tree, pruned by cost-complexity as inner folds choose."""
    columns = encode(X, train)
    A, b = columns.iloc[train].to_numpy(), y.iloc[train].to_numpy()
    tree = DecisionTreeClassifier(random_state=SEED)
    tree.set_params(ccp_alpha=choose_alpha(tree, A, b)).fit(A, b)
    root = read_tree(tree, find_sources(X))
    predicted = tree.predict(columns.iloc[test].to_numpy())
    return Tested(predicted, (count_forks(root), count_rule_literals(root)))


def choose_alpha(tree: DecisionTreeClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """Return the alpha of the best inner accuracy, of equals the largest.

    Candidates are those of the tree's own path down to a single leaf, by Breiman's
    geometric means of neighbours; of many, some, the denser the smaller their trees are.
    """
    steps = np.maximum(tree.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0)
    alphas = np.unique(np.sqrt(steps * np.append(steps[1:], 4.0 * steps[-1])))
    if len(alphas) > MAX_ALPHAS:
        from_root = np.unique(np.geomspace(1, len(alphas), MAX_ALPHAS).astype(int))
        alphas = alphas[len(alphas) - from_root[::-1]]
    scores = [score_inner(clone(tree).set_params(ccp_alpha=a), X, y) for a in alphas]
    return float(alphas[len(alphas) - 1 - int(np.argmax(np.round(scores[::-1], 12)))])


def score_inner(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the accuracy in inner folds."""
    folds = make_folds(y, INNER_FOLDS, SEED)
    return float(np.mean(cross_val_score(model, X, y, cv=folds)))


def find_sources(X: pd.DataFrame) -> list[str]:
    """Name the raw column of each one-hot column."""
    sources = {name: c for c in X.columns for name in pd.get_dummies(X[[c]]).columns}
    return [sources[name] for name in pd.get_dummies(X).columns]


def read_tree(model: DecisionTreeClassifier, sources: Sequence[str]) -> Leaf | Fork:
    """Return a fitted tree; a question is left out where all below it is one class."""
    tree = model.tree_

    def read(node: int) -> Leaf | Fork:
        low, high = int(tree.children_left[node]), int(tree.children_right[node])
        if low < 0:
            return Leaf(model.classes_[int(np.argmax(tree.value[node][0]))])
        ends = read(low), read(high)
        if isinstance(ends[0], Leaf) and ends[0] == ends[1]:
            return ends[0]
        return Fork(sources[int(tree.feature[node])], *ends)

    return read(0)


def count_forks(root: Leaf | Fork) -> int:
    """Count the questions."""
    return 0 if isinstance(root, Leaf) else 1 + count_forks(root.low) + count_forks(root.high)


def count_rule_literals(root: Leaf | Fork) -> int:
    """Count the literals of the leaves' rules without those of the class that has most.

    All conditions of a rule on one column are one literal, an interval or a set.
    """
    totals: dict[Any, int] = {}

    def visit(node: Leaf | Fork, columns: frozenset[str]) -> None:
        if isinstance(node, Leaf):
            totals[node.label] = totals.get(node.label, 0) + len(columns)
        else:
            visit(node.low, columns | {node.column})
            visit(node.high, columns | {node.column})

    visit(root, frozenset())
    return sum(totals.values()) - max(totals.values())


# ---- FIGS ----


def learn_figs(X: pd.DataFrame, y: pd.Series, train: np.ndarray, test: np.ndarray) -> Tested:
    """Fit a sum of trees with as many splits as inner folds choose, of equals the fewest."""
    np.random.seed(SEED)  # noqa: NPY002 - its stumps do not get its random_state
    columns = encode(X, train).to_numpy()
    A, b = columns[train], y.iloc[train].to_numpy()
    models = [FIGSClassifier(max_rules=n, random_state=SEED) for n in FIGS_SIZES]
    scores = [score_inner(model, A, b) for model in models]
    model = models[int(np.argmax(np.round(scores, 12)))].fit(A, b)
    return Tested(model.predict(columns[test]), (sum(map(count_splits, model.trees_)),))


def count_splits(node: Any) -> int:
    """Count the splits of one of its trees."""
    if node is None or node.left is None:
        return 0
    return 1 + count_splits(node.left) + count_splits(node.right)


# ---- RIPPER ----


def learn_ripper(X: pd.DataFrame, y: pd.Series, train: np.ndarray, test: np.ndarray) -> Tested:
    """Fit rules for the rarer class."""
    table = fill(X, train)
    labels, counts = np.unique(y.iloc[train].to_numpy(), return_counts=True)
    other, rare = labels[np.argsort(-counts, kind="stable")].tolist()  # of equals the last
    model = RIPPER(random_state=SEED)
    model.fit(table.iloc[train].reset_index(drop=True), y=y.iloc[train].tolist(), pos_class=rare)
    yes = np.array(model.predict(table.iloc[test].reset_index(drop=True)), bool)
    predicted = np.where(yes, np.array([rare], object), np.array([other], object))
    return Tested(predicted, (int(model.ruleset_.count_conds()),))


def fill(X: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """Return words for categories, and the median of these rows for a missing number."""
    columns = {}
    for name in X.columns:
        column = X[name]
        if column.dtype == "category":
            columns[name] = column.astype(object).where(column.notna(), MISSING).astype(str)
        else:
            columns[name] = column.astype(np.float64).fillna(column.iloc[rows].median())
    return pd.DataFrame(columns)


# ---- all ----


RULE_LEARNERS = (
    RuleLearner("tree", ("splits", "rule literals"), learn_tree),
    RuleLearner("FIGS", ("splits",), learn_figs, None if FIGSClassifier else "imodels"),
    RuleLearner(
        "RIPPER", ("conditions",), learn_ripper, None if RIPPER else "wittgenstein", max_classes=2
    ),
)


def describe_rule_learners() -> str:
    """Describe how the learners are fitted and counted."""
    return (
        "Other rule learners on the same rows. **tree**: scikit-learn's DecisionTreeClassifier, "
        f"pruned by cost-complexity: the ccp_alpha of the best accuracy in {INNER_FOLDS} inner "
        f"folds, of equals the largest, among the values of its own path (at most {MAX_ALPHAS}). "
        f"**FIGS**: imodels' FIGSClassifier, max_rules of {', '.join(map(str, FIGS_SIZES))} by "
        f"{INNER_FOLDS} inner folds, of equals the fewest. Both read one-hot columns with the "
        "median of the training rows for missing values. **RIPPER**: wittgenstein's, at its "
        "defaults, rules for the rarer class; it reads categories as they are, a missing value "
        f"as one of them, and learns two classes alone ({NONE} elsewhere)."
        "\n\n"
        "Literals, in favour of the others where in doubt. The tree is counted in two ways: "
        "*splits*, its questions as a printed tree shows them, without those below which all "
        "leaves are one class; and *rule literals*, the conditions of its leaves as if/then "
        "rules, all conditions on one column of the raw table merged to one (an interval, or a "
        "set of categories), and the class with the most literals left out as the default. "
        "FIGS: splits of all its trees. RIPPER: conditions of its rules."
    )
