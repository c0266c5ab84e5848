"""The search inside of a fit: ``hidden_layer_sizes="auto"``.

It evaluates on validation rows of a table that is read already, as the default recipe does,
with quick trainings; so it sees neither names nor scikit-learn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.errors import TrainingError
from newron.search.exploration import (
    Call,
    Exploration,
    Listener,
    Outcome,
    Trial,
    derive_seed,
    explore,
)
from newron.search.progress import ProgressTree
from newron.search.results import choose_node
from newron.search.size import count_channels, count_functions
from newron.search.structure import GrowthRule, Tree, Widths
from newron.training.architecture import Architecture
from newron.training.context import FitContext
from newron.training.folds import MANY_ROWS, Fold, split_folds
from newron.training.gradient import fit_network
from newron.training.recipe import Recipe
from newron.training.specification import Specification
from newron.training.training_set import TrainingSet

FALLBACK: Widths = (4,)  # where rows do not suffice to evaluate
_RULE = GrowthRule(patience=2, max_structures=40)  # 5 takes ten times as long, and gains nothing
_STARTS, _QUICK_EPOCHS = (4, 1), 60  # of trials: with steps, without; on many rows
_ONE_FOLD = 0.005  # fraction of what a single fold's score lacks that stands for its error


@dataclass(frozen=True)
class InnerSearch:
    """What the search found: the hidden layers to take, and the tree."""

    widths: Widths
    tree: Tree | None
    interrupted: bool = False


def search_inside(
    data: TrainingSet,
    spec: Specification,
    context: FitContext,
    shape: Callable[[Widths], Architecture],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> InnerSearch:
    """Search for hidden layers by validation rows.

    - ``spec``: Of any structure.
    - ``shape``: Returns the architecture of hidden layers.
    - ``n_jobs``, ``verbose``: As the estimator has them.
    """
    folds = split_folds(data, spec.objective, context.spawn())
    if not folds:
        return InnerSearch(FALLBACK, None)
    seed = int(context.seed.generate_state(1)[0])
    recipe = _shorten(spec.recipe, data.n_rows)

    def prepare(trial: Trial, n_threads: int) -> Call:
        widths = trial.candidate.widths
        own = np.random.SeedSequence(derive_seed(seed, widths, trial.fold))
        quick = replace(spec, architecture=shape(widths), recipe=recipe)
        return _evaluate, (data, folds[trial.fold], quick, FitContext(own, n_threads))

    listeners: list[Listener] = [_Report(context)]
    found = explore(
        Tree.start(_RULE), len(folds), prepare, n_jobs=n_jobs,
        listeners=[*listeners, ProgressTree()] if verbose else listeners,
    )  # fmt: skip
    widths = [node.candidate.widths for node in found.tree.nodes]
    n_channels = data.X.shape[1] * count_channels(spec.input_scale)
    sizes = np.array([count_functions(shape(each), n_channels) for each in widths])
    return InnerSearch(widths[_choose(found, sizes)], found.tree, found.ending == "interrupt")


class _Report(Listener):
    """Notifies the callbacks of a fit of each trial; they may end the search."""

    def __init__(self, context: FitContext) -> None:
        self.context = context.aside()

    def on_outcome(self, trial: Trial, outcome: Outcome) -> None:
        """Report what is missing to a perfect score."""
        name = f"hidden layers {trial.candidate}, fold {trial.fold}"
        self.context.evaluated(name, np.array(1.0 - outcome.score))


def _shorten(recipe: Recipe, n_rows: int) -> Recipe:
    """Return the recipe of a trial: fewer starts, on many rows fewer epochs."""
    quick = replace(recipe, n_init=min(recipe.n_init, _STARTS[not recipe.polish]))
    if n_rows <= MANY_ROWS:
        return quick
    return replace(quick, n_init=1, max_iter=min(quick.max_iter, _QUICK_EPOCHS))


def _choose(found: Exploration, sizes: NDArray[np.intp]) -> int:
    scores = found.score_matrix()
    slack: float | str = "one_se"
    if found.n_folds == 1 and not np.isnan(scores).all():
        slack = _ONE_FOLD * max(0.0, 1.0 - float(np.nanmax(scores)))
    return choose_node(scores, sizes, slack)


def _evaluate(data: TrainingSet, fold: Fold, spec: Specification, context: FitContext) -> Outcome:
    start = time.perf_counter()
    try:
        fitted = fit_network(data.take(fold.train), spec, context)
    except TrainingError:
        return Outcome(math.nan, time.perf_counter() - start, 0.0)
    middle = time.perf_counter()
    rows = data.take(fold.validation)
    targets = spec.objective.encode_targets(rows.y)
    score = spec.objective.evaluate(targets, fitted.model.score_rows(rows.X), rows.weight)
    return Outcome(score, middle - start, time.perf_counter() - middle)
