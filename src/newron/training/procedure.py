"""Procedures of several steps: growing, and choosing on inner rows what to train.

A procedure sees the training rows alone. Where it must choose, it deals them into
folds, trains on one part and judges on the other, and then trains what it chose on
all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.output import Classes
from newron.training.architecture import Architecture, LayerPlan
from newron.training.callback import Progress
from newron.training.crisp import RankedTable
from newron.training.decoding import snap
from newron.training.encoding import describe_columns
from newron.training.fitting import (
    CoreFit,
    Data,
    Fitted,
    Plan,
    fit_network,
    make_sample,
    name_loss,
    scale_targets,
    weigh_rows,
)
from newron.training.growing import (
    MANY_ROWS,
    GrowPath,
    GrowPlan,
    GrowTask,
    Split,
    grow,
    judge_terms,
    measure_loss,
    split_rows,
    with_terms,
)
from newron.training.ranking import learn_ranking
from newron.training.table import Rows, settle_rows

__all__ = ["fit", "fit_default", "fit_grown"]

_FOLDS = 4
_BINS = (64, 255)  # of a column, on few and on many rows
_LEAST_ROWS = 20  # to deal into folds
_NOTHING = 0.003  # a difference of inner losses that no reader would notice
_SURE = 2.0  # standard errors by which a more complex way must be better


class _Stopped(Exception):  # noqa: N818 - not an error
    """Ctrl-C while judging: what was trained last is the best there is."""

    def __init__(self, fitted: Fitted) -> None:
        super().__init__()
        self.fitted = fitted


def fit(data: Data, plan: Plan, name: str, before: CoreFit | None = None) -> Fitted:
    """Fit by the recipe of this name; with ``before`` go on from there by gradients."""
    if before is not None or name not in ("grow", "default"):
        return fit_network(data, plan, before)
    try:
        return fit_grown(data, plan) if name == "grow" else fit_default(data, plan)
    except _Stopped as stopped:
        return stopped.fitted


# ---- growing ----


@dataclass(frozen=True)
class _Growth:
    """What to grow, how, and what rows held out said of it."""

    task: GrowTask
    path: GrowPath  # without networks yet
    plan: GrowPlan
    judged: Floats  # by split and number of terms; empty where nothing was held out

    @property
    def inner_losses(self) -> Floats:
        """The loss on each split's rows, with the number of terms that was chosen."""
        return np.asarray(self.judged[:, min(self.plan.max_terms, self.judged.shape[1] - 1)])


def fit_grown(data: Data, plan: Plan) -> Fitted:
    """Grow a Heaviside network."""
    if not _is_heaviside(plan.architecture):
        raise InputError(
            'recipe="grow" builds networks of steps: expected processing "heaviside" and '
            'aggregation "sum", got others; choose another recipe'
        )
    data = _settle(data)
    return _grow(_plan_growth(data, plan, _deal(data, plan)), data, plan)


def _plan_growth(data: Data, plan: Plan, splits: list[Split]) -> _Growth:
    """Choose the kind and number of terms on inner rows.

    Single conditions with a strong ridge are best on small noisy tables; terms of up
    to three conditions on logic and on many rows. The longer ones must be better by
    more than the spread between folds.
    """
    index = np.arange(len(data.X))
    many = len(data.X) > MANY_ROWS
    ranking = learn_ranking(data.X, index, _BINS[many])
    target_scale = scale_targets(data, plan, _all_rows(data))
    targets, weight = weigh_rows(data, plan, _all_rows(data), target_scale)
    total = _all_rows(data).weight.sum()  # equal rows were merged: back to how many there are
    table = RankedTable(ranking.encode(data.X), targets, weight * (total / len(weight)))
    loss, n_outputs = name_loss(plan.output), plan.output.n_scores
    task = GrowTask(table, ranking, loss, n_outputs, plan.n_threads)
    schema = describe_columns(data.X, index, data.names)
    path = GrowPath((), np.zeros(0), np.zeros(0), ranking, schema, plan.output, target_scale)
    least = min(5.0, 0.1 * total)
    plain = GrowPlan(plan.max_terms, max_conditions=1, ridge=5.0, least_weight=least)
    deep = GrowPlan(plan.max_terms, max_conditions=3, ridge=1.0, least_weight=2.0)
    if not splits:
        return _Growth(task, path, plain, np.zeros((0, 1)))
    chosen = None
    for way in [deep] if many else [plain, deep]:
        try:
            judged = judge_terms(task, way, splits)
        except KeyboardInterrupt:
            quick = _Growth(task, path, with_terms(way, 5), np.zeros((0, 1)))
            raise _Stopped(replace(_grow(quick, data, plan), interrupted=True)) from None
        best = _count_terms(judged)
        growth = _Growth(task, path, with_terms(way, best), judged)
        if chosen is None or _is_better(growth.inner_losses, chosen.inner_losses, _SURE):
            chosen = growth
    assert chosen is not None  # noqa: S101 - there is a first way
    return chosen


def _count_terms(judged: Floats) -> int:
    """Give the number of terms of the lowest inner loss.

    Where hardly any loss is left, more terms only make the sure surer: the fewest do.
    """
    mean = judged.mean(axis=0)
    slack = _NOTHING if mean.min() < 10 * _NOTHING else 0.0
    return int(np.flatnonzero(mean <= mean.min() + slack)[0])


def _is_better(losses: Floats, than: Floats, by: float = 1.0) -> bool:
    """Tell whether losses on the same splits are lower, by so many standard errors."""
    gain = than - losses
    # One split, of many rows, has no spread of its own: half a percent stands for it.
    one = 0.005 * float(than.mean())
    spread = float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else one
    return float(gain.mean()) > by * spread


def _grow(growth: _Growth, data: Data, plan: Plan) -> Fitted:
    report, end = _listen(plan, growth.plan.max_terms)
    shapes, losses, interrupted = grow(growth.task, growth.plan, report)
    end()
    inner = growth.judged.mean(axis=0) if len(growth.judged) else np.zeros(0)
    path = replace(growth.path, shapes=tuple(shapes), loss=losses, inner_loss=inner)
    model = snap(path[-1], make_sample(data), plan.n_threads)
    return Fitted(model, losses, float(losses[-1]), interrupted, path=path)


def _listen(plan: Plan, most: int) -> tuple[Callable[[int, float], None], Callable[[], None]]:
    """Tell the callbacks of terms as of epochs."""
    for callback in plan.callbacks:
        callback.on_start(most)

    def report(n_terms: int, loss: float) -> None:
        for callback in plan.callbacks:
            callback.on_progress(Progress(n_terms, loss, loss, 0, 1))

    def end() -> None:
        for callback in plan.callbacks:
            callback.on_end()

    return report, end


# ---- the default ----


def fit_default(data: Data, plan: Plan) -> Fitted:
    """Fit by the best procedure for the processing function, as inner rows judge it.

    Heaviside: the better of a grown network and one trained by gradients and polished.
    Sigmoid and tanh-prod: each input on two scales, without hidden layer, or with it
    where that is better. Others: by gradients.
    """
    kinds = {layer.processing for layer in plan.architecture.layers}
    if _is_heaviside(plan.architecture):
        return _choose_crisp(data, plan)
    if kinds <= {"sigmoid", "tanh_prod"} and _adds(plan.architecture):
        return _choose_soft(data, plan)
    return fit_network(data, plan)


def _choose_crisp(data: Data, plan: Plan) -> Fitted:
    settled = _settle(data)
    splits = _deal(settled, plan)
    if not splits:
        return fit_network(data, plan)
    growth = _plan_growth(settled, plan, splits)
    quick = replace(plan.recipe, n_init=min(plan.recipe.n_init, 4))
    if len(settled.X) > MANY_ROWS:
        quick = replace(quick, n_init=2, max_iter=min(quick.max_iter, 60))
    trial = replace(plan, recipe=quick, callbacks=())
    losses, sizes = _judge(settled, trial, splits, growth.path)
    if _is_better(losses, growth.inner_losses):
        return fit_network(data, plan)
    if _is_better(growth.inner_losses, losses):
        return _grow(growth, settled, plan)
    # A tie: the network that is read in fewer conditions.
    grown = _grow(growth, settled, plan)
    assert grown.path is not None  # noqa: S101 - it was grown
    smaller = np.mean(sizes) < grown.path.n_conditions[-1]
    return fit_network(data, plan) if smaller else grown


def _choose_soft(data: Data, plan: Plan) -> Fitted:
    n_rows = len(data.X)
    decay = plan.recipe.weight_decay if plan.own_decay else min(0.3, 240.0 / n_rows)
    recipe = replace(plan.recipe, weight_decay=decay)
    two_scales = replace(plan, recipe=recipe, input_scale="both")
    additive = replace(two_scales, architecture=_without_hidden(plan.architecture))
    deep = replace(two_scales, architecture=replace(plan.architecture, direct_inputs=True))
    # For tables without noise: hardly any decay, and time to find the exact border.
    exact = replace(deep, recipe=replace(recipe, weight_decay=0.003, max_iter=1000))
    if len(plan.architecture.layers) == 1:
        return fit_network(data, additive)
    settled = _settle(data)
    splits = _deal(settled, plan)
    if not splits:
        return fit_network(data, additive)
    chosen, best = additive, None
    for way in (
        [additive, deep] if n_rows > MANY_ROWS or plan.own_decay else [additive, deep, exact]
    ):
        quick = replace(way.recipe, n_init=1)
        if n_rows > MANY_ROWS:
            quick = replace(quick, max_iter=min(quick.max_iter, 60))
        losses, _ = _judge(settled, replace(way, recipe=quick, callbacks=()), splits, None)
        if best is None or _is_better(losses, best, _SURE):
            chosen, best = way, losses
    return fit_network(data, chosen)


def _judge(
    data: Data, plan: Plan, splits: list[Split], scaled_by: GrowPath | None
) -> tuple[Floats, list[int]]:
    """Train on each split and give the losses on its other rows, and the sizes."""
    losses, sizes = [], []
    target_scale = scaled_by.target_scale if scaled_by is not None else None
    if target_scale is None:
        target_scale = scale_targets(data, plan, _all_rows(data))
    targets, weight = weigh_rows(data, plan, _all_rows(data), target_scale)
    for split in splits:
        fitted = fit_network(_take(data, split.inside), plan)
        scores = fitted.model.scores(data.X[split.outside])
        if target_scale is not None:
            scores = (scores - target_scale.shift) / target_scale.scale
        out = split.outside
        losses.append(measure_loss(name_loss(plan.output), scores, targets[out], weight[out]))
        sizes.append(fitted.model.n_functions)
        if fitted.interrupted:
            raise _Stopped(fitted)
    return np.array(losses), sizes


# ---- rows ----


def _settle(data: Data) -> Data:
    """Give the rows in the order and number that training sees them."""
    rows = settle_rows(data.X, data.y, data.weight)
    return Data(data.X[rows.index], data.y[rows.index], rows.weight, data.names)


def _all_rows(data: Data) -> Rows:
    weight = np.ones(len(data.X)) if data.weight is None else data.weight
    return Rows(np.arange(len(data.X)), weight)


def _take(data: Data, index: NDArray[np.intp]) -> Data:
    weight = None if data.weight is None else data.weight[index]
    return Data(data.X[index], data.y[index], weight, data.names)


def _deal(data: Data, plan: Plan) -> list[Split]:
    """Deal rows into folds; none where a fold would lack a class or rows."""
    stratify = isinstance(plan.output, Classes)
    if len(data.X) < _LEAST_ROWS:
        return []
    rng = np.random.default_rng(plan.seed.spawn(1)[0])
    splits = split_rows(data.y, _FOLDS, rng, stratify=stratify)
    if stratify:
        n_classes = len(plan.output.labels) if isinstance(plan.output, Classes) else 0
        if any(len(np.unique(data.y[s.inside, 0])) < n_classes for s in splits):
            return []
    return splits


# ---- architectures ----


def _is_heaviside(architecture: Architecture) -> bool:
    steps = all(layer.processing == "heaviside" for layer in architecture.layers)
    return steps and _adds(architecture)


def _adds(architecture: Architecture) -> bool:
    return all(
        layer.aggregation == "sum" and layer.activation == "identity"
        for layer in architecture.layers
    )


def _without_hidden(architecture: Architecture) -> Architecture:
    last: LayerPlan = architecture.layers[-1]
    return replace(architecture, layers=(last,), direct_inputs=False)
