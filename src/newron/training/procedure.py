"""Procedures of several steps: growing, and choosing on inner rows what to train.

A procedure sees the training rows alone. Where it must choose, it deals them into
folds, trains on one part and judges on the other, and then trains what it chose on
all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.training.architecture import SMOOTH, Architecture
from newron.training.callback import Progress
from newron.training.correction import correct, count_corrections
from newron.training.crisp import RankedTable
from newron.training.decoding import settle_gaps, snap
from newron.training.encoding import describe_columns
from newron.training.fitting import (
    CoreFit,
    Data,
    Fitted,
    Plan,
    copy_seed,
    fit_network,
    fit_restarts,
    make_sample,
    name_loss,
    scale_scores,
    scale_targets,
    weigh_rows,
)
from newron.training.growing import (
    GrowPath,
    GrowPlan,
    GrowTask,
    Lesson,
    grow,
    judge_terms,
    with_terms,
)
from newron.training.holdout import (
    MANY_ROWS,
    SURE,
    Split,
    count_terms,
    deal,
    is_better,
    list_rows,
    measure_loss,
    settle,
    take,
)
from newron.training.pairing import Mixture, fit_mixture, judge_mixture
from newron.training.ranking import learn_ranking
from newron.training.recipe import Recipe
from newron.training.teaching import fit_taught, make_lesson, mean_scores

__all__ = ["fit", "fit_default", "fit_grown"]

_BINS = (64, 255)  # of a column, on few and on many rows
_TEACHERS = 8  # whose mean teaches a network
_TAUGHT_RIDGES = (1.0, 2.0, 5.0, 10.0)
_INNER_TEACHERS = 4  # the same on rows where it is only judged


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
    data = settle(data)
    return _grow(_plan_growth(data, plan, deal(data, plan)), data, plan)


def _plan_growth(data: Data, plan: Plan, splits: list[Split]) -> _Growth:
    """Choose the kind and number of terms on inner rows.

    Single conditions are best on small noisy tables, most often grown towards what
    smooth networks say, else with a strong ridge; terms of up to three conditions on
    logic and on many rows. The longer ones must be better by more than the spread
    between folds.
    """
    task, path = _set_growth(data, plan)
    total = list_rows(data).weight.sum()
    plain = GrowPlan(
        plan.max_terms, max_conditions=1, ridge=5.0, least_weight=min(5.0, 0.1 * total)
    )
    deep = GrowPlan(plan.max_terms, max_conditions=3, ridge=1.0, least_weight=2.0)
    if not splits:
        return _Growth(task, path, plain, np.zeros((0, 1)))
    tasks = [task] * len(splits)
    try:
        if len(data.X) > MANY_ROWS:
            return _judge_growth(task, path, deep, tasks, splits)
        chosen = _judge_growth(task, path, plain, tasks, splits)
        longer = _judge_growth(task, path, deep, tasks, splits)
        if is_better(longer.inner_losses, chosen.inner_losses, SURE):
            return longer
        taught = _teach_growth(data, plan, chosen, plain, splits)
        if is_better(chosen.inner_losses, taught.inner_losses, SURE):
            return chosen
    except KeyboardInterrupt:
        quick = _Growth(task, path, with_terms(plain, 5), np.zeros((0, 1)))
        raise _Stopped(replace(_grow(quick, data, plan), interrupted=True)) from None
    return taught


def _set_growth(data: Data, plan: Plan) -> tuple[GrowTask, GrowPath]:
    rows = list_rows(data)
    bins = _BINS[len(data.X) > MANY_ROWS]
    ranking = learn_ranking(data.X, rows.index, data.fields, bins, rows.weight)
    target_scale = scale_targets(data, plan, rows)
    targets, weight = weigh_rows(data, plan, rows, target_scale)
    total = rows.weight.sum()  # equal rows were merged: back to how many there are
    weight = weight * (total / len(weight))
    table = RankedTable(ranking.encode(data.X), targets, weight, directions=plan.directions)
    task = GrowTask(table, ranking, name_loss(plan.output), plan.output.n_scores, plan.n_threads)
    schema = describe_columns(data.X, rows.index, data.fields)
    path = GrowPath((), np.zeros(0), np.zeros(0), ranking, schema, plan.output, target_scale)
    return task, path


def _judge_growth(
    task: GrowTask, path: GrowPath, way: GrowPlan, tasks: list[GrowTask], splits: list[Split]
) -> _Growth:
    judged = judge_terms(tasks, way, splits)
    return _Growth(task, path, with_terms(way, count_terms(judged)), judged)


def _teach_growth(
    data: Data, plan: Plan, untaught: _Growth, way: GrowPlan, splits: list[Split]
) -> _Growth:
    """Judge growing towards the mean of smooth networks without hidden layer.

    Ridge and number of terms are those that come nearest to the teachers on rows that
    neither has seen: their scores have none of the labels' noise.
    """
    task, path = untaught.task, untaught.path
    tasks = [
        replace(task, lesson=_hear_teachers(data, plan, path, split.inside, _INNER_TEACHERS))
        for split in splits
    ]
    lesson = _hear_teachers(data, plan, path, np.arange(len(data.X)), _TEACHERS)
    scaled = replace(path, target_scale=lesson.scale.then(path.target_scale))
    best, nearest = way, np.inf
    for ridge in _TAUGHT_RIDGES:
        trial = replace(way, ridge=ridge)
        distances = judge_terms(tasks, trial, splits, GrowTask.measure_lesson).mean(axis=0)
        if distances.min() < nearest:
            best, nearest = with_terms(trial, int(distances.argmin())), float(distances.min())
    judged = judge_terms(tasks, best, splits)
    return _Growth(replace(task, lesson=lesson), scaled, best, judged)


def _hear_teachers(
    data: Data, plan: Plan, path: GrowPath, index: NDArray[np.intp], n_teachers: int
) -> Lesson:
    """Train smooth networks on some rows; give what they say of all, in units of the loss."""
    # A product of two is not monotone; a sigmoid is.
    kind = ("sigmoid", 1) if any(plan.directions) else ("tanh_prod", 2)
    last = replace(plan.architecture.layers[-1], processing=kind[0], n_factors=kind[1])
    smooth = replace(
        plan,
        architecture=Architecture((last,)),
        recipe=Recipe(
            weight_decay=_choose_decay(len(index)),
            n_init=n_teachers,
            max_iter=plan.recipe.max_iter,
            batch_size=plan.recipe.batch_size,
            learning_rate_init=plan.recipe.learning_rate_init,
        ),
        input_scale="both",
        validation_fraction=None,
        callbacks=(),
    )
    teachers = fit_restarts(take(data, index), smooth)
    if teachers[0].interrupted:
        raise KeyboardInterrupt
    scores = mean_scores([teacher.model for teacher in teachers], data.X)
    return make_lesson(data, plan, scale_scores(scores, path.target_scale))


def _grow(growth: _Growth, data: Data, plan: Plan) -> Fitted:
    report, end = _listen(plan, growth.plan.max_terms)
    shapes, losses, interrupted = grow(growth.task, growth.plan, report)
    end()
    inner = growth.judged.mean(axis=0) if len(growth.judged) else np.zeros(0)
    path = replace(growth.path, shapes=tuple(shapes), loss=losses, inner_loss=inner)
    sample = make_sample(data)
    model = settle_gaps(snap(path[-1], sample, plan.n_threads), sample)
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
    Sigmoid and tanh-prod: each input on two scales, without hidden layer, or with pairs of
    columns or a whole hidden layer where that is better. Others: by gradients.
    """
    kinds = {layer.processing for layer in plan.architecture.layers}
    if _is_heaviside(plan.architecture):
        return _choose_crisp(data, plan)
    if kinds <= set(SMOOTH) and plan.architecture.adds:
        return _choose_soft(data, plan)
    return fit_network(data, plan)


def _choose_crisp(data: Data, plan: Plan) -> Fitted:
    settled = settle(data)
    splits = deal(settled, plan)
    if not splits:
        return fit_network(data, plan)
    growth = _plan_growth(settled, plan, splits)
    quick = replace(plan.recipe, n_init=min(plan.recipe.n_init, 4))
    if len(settled.X) > MANY_ROWS:
        quick = replace(quick, n_init=2, max_iter=min(quick.max_iter, 60))
    trial = replace(plan, recipe=quick, callbacks=())
    losses, trained = _judge(settled, trial, splits)
    if is_better(losses, growth.inner_losses):
        return fit_network(data, plan)
    if is_better(growth.inner_losses, losses):
        return _grow(growth, settled, plan)
    # A tie: the network that is read in fewer conditions.
    grown = _grow(growth, settled, plan)
    assert grown.path is not None  # noqa: S101 - it was grown
    smaller = (
        np.mean([fitted.model.n_functions for fitted in trained]) < grown.path.n_conditions[-1]
    )
    return fit_network(data, plan) if smaller else grown


@dataclass(frozen=True)
class _Way:
    """A way to fit, and its loss on rows held out."""

    losses: Floats
    fit: Callable[[], Fitted]
    trial: Fitted | None = None  # of most of the rows, where it was judged


def _choose_soft(data: Data, plan: Plan) -> Fitted:
    """Fit the best smooth network, of the kinds that the plan leaves open."""
    data = settle(data)
    judged: list[_Way] = []
    for kind in plan.list_kinds():
        try:
            judged.append(_choose_way(data, kind, alone=not plan.others))
        except _Stopped as stopped:
            # What was judged to the end is better than what was stopped.
            whole = next((way.trial for way in judged if way.trial is not None), stopped.fitted)
            raise _Stopped(replace(whole, interrupted=True)) from None
    return min(judged, key=lambda way: way.losses.mean()).fit()


def _choose_way(data: Data, plan: Plan, *, alone: bool) -> _Way:
    """Choose how to fit one kind; where it is ``alone`` nothing is judged in vain."""
    decay = plan.recipe.weight_decay if plan.own_decay else _choose_decay(len(data.X))
    two_scales = replace(plan.adjust(weight_decay=decay), input_scale="both")
    additive = replace(two_scales, architecture=_without_hidden(plan.architecture))
    deep = replace(two_scales, architecture=replace(plan.architecture, direct_inputs=True))
    splits = deal(data, plan)
    if not splits:
        return _Way(np.zeros(1), partial(fit_network, data, additive))
    if len(data.X) > MANY_ROWS:
        return _choose_corrected(data, additive, deep, splits)
    n = _count_teachers(plan)
    taught = partial(fit_taught, data, additive, n)
    plain = taught if n > 1 else partial(fit_network, data, additive)
    if len(plan.architecture.layers) > 1:
        return _choose_depth(data, additive, deep, splits, plain)
    if alone:
        return _Way(np.zeros(1), plain)
    # Alone it is not judged: seeds that judging takes must not change what is trained.
    aside = replace(additive, seed=copy_seed(additive.seed))
    losses, trained = _judge(data, _try_once(aside), splits)
    return _Way(losses, plain, trained[0])


def _count_teachers(plan: Plan) -> int:
    return plan.recipe.n_init if plan.own_starts else _TEACHERS


def _choose_depth(
    data: Data, additive: Plan, deep: Plan, splits: list[Split], plain: Callable[[], Fitted]
) -> _Way:
    """Choose among no hidden layer, pairs of columns, and a whole hidden layer."""
    losses, trained = _judge(data, _try_once(additive), splits)
    way = _Way(losses, plain, trained[0])
    n = _count_teachers(additive)
    mixture = _judge_pairs(data, deep, trained, splits) if n > 1 else None
    if mixture is not None and is_better(mixture.losses, losses):
        mixed = partial(fit_mixture, data, additive, deep, mixture, max(n // 2, 1))
        way = _Way(mixture.losses, mixed, trained[0])
    # For tables without noise: hardly any decay, and time to find the exact border.
    exact = deep.adjust(weight_decay=0.003, max_iter=1000)
    for whole in [deep] if deep.own_decay else [deep, exact]:
        losses, trained = _judge(data, _try_once(whole), splits)
        if is_better(losses, way.losses, SURE):
            way = _Way(losses, partial(fit_network, data, whole), trained[0])
    return way


def _judge_pairs(
    data: Data, deep: Plan, additive: list[Fitted], splits: list[Split]
) -> Mixture | None:
    try:
        return judge_mixture(data, replace(deep, callbacks=()), additive, splits)
    except KeyboardInterrupt:
        # The trial, of most of the rows, is the best there is.
        raise _Stopped(replace(additive[0], interrupted=True)) from None


def _choose_corrected(data: Data, additive: Plan, deep: Plan, splits: list[Split]) -> _Way:
    """Choose on many rows: without hidden layer and with steps on top, or with it."""
    losses, trials = _judge(data, _try_once(additive, many=True), splits)
    try:
        n_terms, corrected = count_corrections(data, additive, [t.model for t in trials], splits)
    except KeyboardInterrupt:
        # The trial, of most of the rows, is the best there is.
        raise _Stopped(replace(trials[0], interrupted=True)) from None
    best = corrected if n_terms else losses
    if len(deep.architecture.layers) > 1:
        losses, deeper = _judge(data, _try_once(deep, many=True), splits)
        if is_better(losses, best, SURE):
            return _Way(losses, partial(fit_network, data, deep), deeper[0])
    return _Way(best, partial(_fit_corrected, data, additive, n_terms), trials[0])


def _fit_corrected(data: Data, additive: Plan, n_terms: int) -> Fitted:
    if not additive.own_starts:  # on many rows starts differ little
        additive = additive.adjust(n_init=2)
    fitted = fit_network(data, additive)
    if not n_terms or fitted.interrupted:
        return fitted
    return correct(data, additive, fitted, n_terms)


def _try_once(plan: Plan, *, many: bool = False) -> Plan:
    """Give the plan as it is judged on inner rows: one start, fewer epochs on many rows."""
    epochs = min(plan.recipe.max_iter, 60) if many else plan.recipe.max_iter
    return replace(plan.adjust(n_init=1, max_iter=epochs), callbacks=())


def _choose_decay(n_rows: int) -> float:
    return min(0.3, 240.0 / n_rows)


def _judge(data: Data, plan: Plan, splits: list[Split]) -> tuple[Floats, list[Fitted]]:
    """Train on each split and give the losses on its other rows, and what was trained."""
    losses, trained = [], []
    target_scale = scale_targets(data, plan, list_rows(data))
    targets, weight = weigh_rows(data, plan, list_rows(data), target_scale)
    for split in splits:
        fitted = fit_network(take(data, split.inside), plan)
        scores = fitted.model.score_rows(data.X[split.outside])
        scores = scale_scores(scores, target_scale)
        out = split.outside
        losses.append(measure_loss(name_loss(plan.output), scores, targets[out], weight[out]))
        trained.append(fitted)
        if fitted.interrupted:
            raise _Stopped(fitted)
    return np.array(losses), trained


# ---- architectures ----


def _is_heaviside(architecture: Architecture) -> bool:
    steps = all(layer.processing == "heaviside" for layer in architecture.layers)
    return steps and architecture.adds


def _without_hidden(architecture: Architecture) -> Architecture:
    return replace(architecture, layers=architecture.layers[-1:], direct_inputs=False)
