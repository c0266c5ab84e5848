"""The search inside of a fit: ``hidden_layer_sizes="auto"``.

It judges on rows held out of a table that is read already, as the default recipe does,
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
from newron.model.arithmetic import Floats
from newron.model.output import Classes, Output
from newron.search.exploration import Call, Exploration, Outcome, Trial, derive_seed, explore
from newron.search.progress import ProgressTree
from newron.search.results import choose_node
from newron.search.size import count_channels, count_functions
from newron.search.structure import GrowthRule, Tree, Widths
from newron.training.architecture import Architecture
from newron.training.fitting import Data, Plan, fit_network
from newron.training.holdout import MANY_ROWS, Split, deal, settle, take
from newron.training.recipe import Recipe

__all__ = ["FALLBACK", "InnerSearch", "search_inside"]

FALLBACK: Widths = (4,)  # where rows do not suffice to judge
_RULE = GrowthRule(patience=2, max_structures=40)  # 5 takes ten times as long, and gains nothing
_STARTS, _QUICK_EPOCHS = (4, 1), 60  # of trials: with steps, without; on many rows
_ONE_FOLD = 0.005  # share of what a single fold's score lacks that stands for its error


@dataclass(frozen=True)
class InnerSearch:
    """What the search found: the hidden layers to take, and the tree."""

    widths: Widths
    tree: Tree | None
    interrupted: bool = False


def search_inside(
    data: Data,
    plan: Plan,
    shape: Callable[[Widths], Architecture],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> InnerSearch:
    """Search for hidden layers on rows held out.

    Parameters
    ----------
    data : Data
    plan : Plan
        Of any structure.
    shape : callable
        Gives the architecture of hidden layers.
    n_jobs, verbose
        As the estimator has them.
    """
    settled = settle(data)
    splits = deal(settled, plan)
    if not splits:
        return InnerSearch(FALLBACK, None)
    seed = int(plan.seed.generate_state(1)[0])

    def prepare(trial: Trial, n_threads: int) -> Call:
        widths = trial.candidate.widths
        own = np.random.SeedSequence(derive_seed(seed, widths, trial.fold))
        recipe = _hurry(plan.recipe, len(settled.X))
        quick = replace(
            plan, architecture=shape(widths), recipe=recipe, seed=own, n_threads=n_threads,
            callbacks=(),
        )  # fmt: skip
        return _judge, (settled, splits[trial.fold], quick)

    found = explore(
        Tree.start(_RULE), len(splits), prepare, n_jobs=n_jobs,
        listeners=[ProgressTree()] if verbose else [],
    )  # fmt: skip
    widths = [node.candidate.widths for node in found.tree.nodes]
    n_channels = settled.X.shape[1] * count_channels(plan.input_scale)
    sizes = np.array([count_functions(shape(each), n_channels) for each in widths])
    return InnerSearch(widths[_choose(found, sizes)], found.tree, found.ending == "interrupt")


def _hurry(recipe: Recipe, n_rows: int) -> Recipe:
    """Give the recipe of a trial: fewer starts, on many rows fewer epochs."""
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


def _judge(data: Data, split: Split, plan: Plan) -> Outcome:
    start = time.perf_counter()
    try:
        fitted = fit_network(take(data, split.inside), plan)
    except TrainingError:
        return Outcome(math.nan, time.perf_counter() - start, 0.0)
    if fitted.interrupted:
        raise KeyboardInterrupt
    middle = time.perf_counter()
    held = take(data, split.outside)
    score = _score(plan.output, fitted.model.score_rows(held.X), held)
    return Outcome(score, middle - start, time.perf_counter() - middle)


def _score(output: Output, scores: Floats, held: Data) -> float:
    """Give the accuracy of classes, or R² of amounts, the mean over them."""
    weight = np.ones(len(scores)) if held.weight is None else held.weight
    if isinstance(output, Classes):
        return float(np.average(output.choose(scores) == held.y[:, 0], weights=weight))
    centre = np.average(held.y, axis=0, weights=weight)
    lost = weight @ (held.y - scores) ** 2
    spread = weight @ (held.y - centre) ** 2
    return float(np.mean(1.0 - lost / np.where(spread > 0.0, spread, 1.0)))
