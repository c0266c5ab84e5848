"""What comes of the trials: which structure is taken, and the table of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from newron.errors import TrainingError
from newron.model.arithmetic import Floats
from newron.search.exploration import Exploration

TIE_RULES = ("one_se", "best")


def choose_node(scores: Floats, sizes: ArrayLike, slack: float | str = "one_se") -> int:
    """Return the index of the structure to take.

    - ``scores`` of shape (structures, folds): Higher is better; NaN where training failed.
    - ``sizes`` of shape (structures,): Numbers of functions.
    - ``slack``: How much worse than the highest mean score a smaller network may be: one standard
      error of the best one's scores, or so much, or nothing.

    Returned: the smallest of those; of equal size that of the higher score, then the first.

    >>> scores = np.array([[0.90, 0.80], [0.91, 0.81], [0.50, 0.50]])
    >>> choose_node(scores, [3, 12, 2])
    0
    >>> choose_node(scores, [3, 12, 2], "best")
    1
    """
    means = scores.mean(axis=1)
    if np.isnan(means).all():
        raise TrainingError(
            "expected a structure that can be trained and scored on every fold, got none; fit "
            "the estimator alone to see why"
        )
    best = int(np.nanargmax(means))
    allowed = _read_slack(slack, scores[best])
    tied = np.flatnonzero(means >= means[best] - allowed)
    size = np.asarray(sizes)
    return int(min(tied, key=lambda index: (size[index], -means[index], index)))


def _read_slack(slack: float | str, best: Floats) -> float:
    if slack == "one_se":
        return measure_error(best)
    return 0.0 if isinstance(slack, str) else slack


def measure_error(scores: Floats) -> float:
    """Return the standard error of the mean of folds; 0 for one fold, which has no spread."""
    return float(scores.std(ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0


def make_table(exploration: Exploration, fixed: dict[str, Any], sizes: ArrayLike) -> dict[str, Any]:
    """Return the table of all structures, with the names of scikit-learn's searches.

    ``fixed`` are parameters that all of them have, ``sizes`` their numbers of functions.
    """
    nodes = exploration.tree.nodes
    scores = exploration.score_matrix()
    params = [{**node.candidate.settings, **fixed} for node in nodes]
    table: dict[str, Any] = _make_times(exploration)
    for name in dict.fromkeys(name for each in params for name in each):
        table[f"param_{name}"] = _mask(params, name)
    table["params"] = params
    for fold, column in enumerate(scores.T):
        table[f"split{fold}_test_score"] = column
    table["mean_test_score"] = scores.mean(axis=1)
    table["std_test_score"] = scores.std(axis=1)
    table["rank_test_score"] = _rank(table["mean_test_score"])
    table["n_functions"] = np.asarray(sizes)
    table["parent"] = np.array([-1 if n.parent is None else n.parent for n in nodes])
    table["patience"] = np.array([node.patience for node in nodes])
    return table


def _make_times(exploration: Exploration) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        values = np.array(
            [
                [getattr(outcome, name) for outcome in exploration.list_outcomes(node.candidate)]
                for node in exploration.tree.nodes
            ]
        )
        table[f"mean_{name}"], table[f"std_{name}"] = values.mean(axis=1), values.std(axis=1)
    return table


def _mask(params: list[dict[str, Any]], name: str) -> Any:
    """Return the values of a parameter, masked where it is none of a network's."""
    column: Any = np.ma.MaskedArray(np.empty(len(params), object), mask=True)
    for index, each in enumerate(params):
        if name in each:
            column[index] = each[name]
    return column


def _rank(means: Floats) -> NDArray[np.int32]:
    # As scikit-learn does: what failed is last, equals share the best rank.
    low = np.nanmin(means) - 1.0 if not np.isnan(means).all() else 0.0
    return np.asarray(rankdata(-np.nan_to_num(means, nan=low), method="min"), np.int32)
