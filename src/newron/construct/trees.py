"""A decision tree of scikit-learn, as the Heaviside network that is equal to it.

A leaf is a box: its path, with what the path says of one column merged. scikit-learn
compares float32(x) with a threshold; here x itself is compared with the last float64 that
scikit-learn sends to the left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.construct.boxes import (
    Box,
    assemble,
    list_edges,
    make_number_column,
    score_classes,
)
from newron.errors import InputError
from newron.model import Classes, Column, Model, Schema, Targets
from newron.model.condition import ANY_NUMBER, Condition
from newron.tables.field import make_names

Floats = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float32).max)
_MIN_PROBABILITY = 1e-30  # stands for the probability 0, which has no logarithm
_HAIR = float(np.finfo(np.float64).eps)


def from_tree(tree: Any, schema: Schema | None = None, *, probabilities: bool = False) -> Model:
    """Build the Heaviside network equal to a decision tree.

    Parameters
    ----------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted, with one output.
    schema : Schema, optional
        The columns, all of numbers. By default they have the names that the tree was fitted
        with, or x1, x2, ..., go from the least to the greatest threshold (0 to 1 where there
        is none), and have missing values where the tree shows that its training rows had some.
    probabilities : bool
        Whether the scores are the logarithms of the leaves' probabilities, so that
        ``predict_proba`` is that of the tree but for rounding. Otherwise the network is
        smaller: it has the tree's classes, and its scores mean no more than that.

    Returns
    -------
    Model
        It predicts what the tree predicts: for every row that scikit-learn takes, with missing
        values too, and at the thresholds.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> rows = [[1, 5], [2, 5], [3, 5], [4, 9], [5, 5]]
    >>> tree = DecisionTreeClassifier().fit(rows, ["a", "a", "b", "a", "b"])
    >>> print(from_tree(tree))
    heaviside network 2-1-1, 3 functions, classes 'a', 'b'
    neuron 1.1 counts how many hold of:
        [x1 ≥ 2.50000011920929]
        [x2 ≤ 7.000000238418579]
    score for 'b' adds:
        2 × [neuron 1.1 ≥ 1.5]
        less 1
    """
    _check_tree(tree)
    schema = _make_schema(tree) if schema is None else _check_schema(schema, tree)
    if not hasattr(tree, "classes_"):
        outcomes = np.array(tree.tree_.value[:, 0, :1], np.float64)
        return _make_model(tree, schema, outcomes, Targets(("y",)))
    output = Classes(tuple(_read_labels(tree.classes_)))
    winners = np.argmax(tree.tree_.value[:, 0, :], axis=1)
    if probabilities:
        scores = score_leaves(tree.tree_.value[:, 0, :], winners, output)
        return _make_model(tree, schema, scores, output)
    boxes, leaves = _make_boxes(tree.tree_, winners[:, None])
    classes = winners[leaves].tolist()
    default = _choose_default(boxes, classes, len(output.labels))
    return assemble(schema, boxes, *score_classes(classes, default, output), output)


def _make_model(tree: Any, schema: Schema, outcomes: Floats, output: Classes | Targets) -> Model:
    boxes, leaves = _make_boxes(tree.tree_, outcomes)
    return assemble(schema, boxes, outcomes[leaves], np.zeros(output.n_scores), output)


def _check_tree(tree: Any) -> None:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if not isinstance(tree, DecisionTreeClassifier | DecisionTreeRegressor):
        raise InputError(
            "expected a DecisionTreeClassifier or DecisionTreeRegressor of scikit-learn, "
            f"got {type(tree).__name__}"
        )
    if not hasattr(tree, "tree_"):
        raise InputError(f"expected a fitted tree, got {tree}; call fit first")
    if tree.n_outputs_ != 1:
        raise InputError(
            f"expected a tree with one output, got {tree.n_outputs_}; fit a tree for each"
        )
    if hasattr(tree, "classes_") and len(tree.classes_) < 2:
        raise InputError(f"expected a tree with 2 classes or more, got {list(tree.classes_)}")


# ---- scores ----


def _read_labels(classes: NDArray[Any]) -> list[Any]:
    return [x.item() if isinstance(x, np.generic) else x for x in classes.tolist()]


def score_leaves(values: Floats, winners: NDArray[np.intp], output: Classes) -> Floats:
    """Return the logarithms of the probabilities, with each leaf's class ahead of the others."""
    logs = np.log(np.maximum(values / values.sum(axis=1, keepdims=True), _MIN_PROBABILITY))
    scores = logs[:, 1:] - logs[:, :1] if output.n_scores == 1 else logs
    for row in np.flatnonzero(output.choose(scores) != winners):
        if output.n_scores == 1:  # level, and scikit-learn takes the first
            scores[row] = _HAIR if winners[row] else -_HAIR
        else:
            scores[row, winners[row]] = math.nextafter(scores[row].max(), math.inf)
    return np.asarray(scores)


def _choose_default(boxes: list[Box], classes: list[int], n_classes: int) -> int:
    """Return the class whose boxes cost most: it needs none if it is the one outside."""
    costs = [0] * n_classes
    for box, chosen in zip(boxes, classes, strict=True):
        costs[chosen] += len(list_edges(box))
    return costs.index(max(costs))


# ---- boxes ----


def _make_boxes(tree: Any, outcomes: NDArray[Any]) -> tuple[list[Box], list[int]]:
    """Return the box of each leaf that rows can reach, and the leaf's number."""
    whole = _find_whole(tree, outcomes)
    pairs = list(_walk(tree, whole))
    return [box for box, _ in pairs], [node for _, node in pairs]


def _find_whole(tree: Any, outcomes: NDArray[Any]) -> list[bool]:
    """Return of each node whether all leaves under it have one outcome, and set it in outcomes."""
    whole = [True] * tree.node_count
    for node in reversed(range(tree.node_count)):  # children come after their parents
        left, right = tree.children_left[node], tree.children_right[node]
        if left >= 0:
            same = bool(np.all(outcomes[left] == outcomes[right]))
            whole[node] = whole[left] and whole[right] and same
            if whole[node]:
                outcomes[node] = outcomes[left]
    return whole


def _walk(tree: Any, whole: list[bool]) -> Iterator[tuple[Box, int]]:
    stack: list[tuple[dict[int, Condition], int]] = [({}, 0)]
    while stack:
        box, node = stack.pop()
        if whole[node]:
            yield dict(sorted(box.items())), node
            continue
        column, cut = int(tree.feature[node]), find_cut(float(tree.threshold[node]))
        lower = () if cut == -math.inf else ((-math.inf, cut),)
        left = Condition(lower, missing=bool(tree.missing_go_to_left[node]))
        before = box.get(column, ANY_NUMBER)
        sides = (left.complement(), tree.children_right), (left, tree.children_left)
        for side, child in sides:
            part = before & side
            if not part.is_empty:
                stack.append(({**box, column: part}, int(child[node])))


def find_cut(threshold: float) -> float:
    """Return the last float64 that is at most the threshold once it is rounded to float32.

    >>> find_cut(2.5), find_cut(0.1)
    (2.5000001192092896, 0.09999999776482582)
    """
    if math.isnan(threshold):  # scikit-learn 1.6 has such ones: no number is at most NaN
        return -math.inf
    if not -_LARGEST <= threshold < _LARGEST:
        return math.copysign(math.inf, threshold)
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    middle = (float(below) + float(above)) / 2.0
    # What lies in the middle is rounded to the even one of the two.
    return middle if np.float32(middle) == below else math.nextafter(middle, -math.inf)


# ---- schema ----


def _make_schema(tree: Any) -> Schema:
    n = tree.n_features_in_
    names = getattr(tree, "feature_names_in_", None)
    names = make_names(n) if names is None else tuple(str(name) for name in names)
    return Schema(tuple(_make_column(tree.tree_, i, name) for i, name in enumerate(names)))


def _make_column(tree: Any, column: int, name: str) -> Column:
    nodes = np.flatnonzero((tree.children_left >= 0) & (tree.feature == column))
    cuts = [find_cut(float(threshold)) for threshold in tree.threshold[nodes]]
    return make_number_column(name, cuts, _has_missing(tree, nodes))


def _has_missing(tree: Any, nodes: NDArray[np.intp]) -> bool:
    """Return whether missing values go where they would not without some in training.

    Those that scikit-learn has not seen go where most rows go.
    """
    size = tree.n_node_samples
    usual = size[tree.children_left[nodes]] > size[tree.children_right[nodes]]
    return bool(np.any(tree.missing_go_to_left[nodes].astype(bool) != usual)) or bool(
        np.any(~np.isfinite(tree.threshold[nodes]))
    )


def _check_schema(schema: Schema, tree: Any) -> Schema:
    if len(schema) != tree.n_features_in_:
        raise InputError(
            f"expected a schema with the tree's {tree.n_features_in_} columns, got {len(schema)}"
        )
    for column in schema.columns:
        if column.categories is not None:
            raise InputError(
                f"column {column.name!r}: expected numbers, as the tree reads them, got categories"
            )
    return schema
