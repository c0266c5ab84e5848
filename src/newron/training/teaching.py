"""A network taught by others.

Restarts differ by luck, and the one of lowest loss has learned most of the noise.
Their mean has not, but is many networks. So it teaches one: the scores of the mean
are what a single network, smooth or of steps, is trained towards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Targets
from newron.training.decoding import TargetScale, settle_gaps, snap
from newron.training.encoding import scale_column
from newron.training.fitting import (
    CoreFit,
    Data,
    Fitted,
    Plan,
    fit_network,
    fit_restarts,
    make_sample,
    name_loss,
    scale_scores,
    scale_targets,
    weigh_rows,
)
from newron.training.growing import Lesson
from newron.training.holdout import list_rows, measure_loss, settle
from newron.training.native import AdamState

__all__ = ["fit_taught", "keep_best", "make_lesson", "mean_scores", "teach_more"]

_STUDENTS = 8  # starts of the one that is taught: some end in a poor place
_COPIES, _FOREIGN = 2, 0.25  # of the rows that are made up, and of their values
_STUDENT_DECAY = 0.01  # the teachers are regular already


def fit_taught(data: Data, plan: Plan, n_teachers: int) -> Fitted:
    """Train restarts, and one network of their kind towards their mean."""
    data = settle(data)
    teachers = fit_restarts(data, plan.adjust(n_init=n_teachers))
    if teachers[0].interrupted:
        return keep_best(teachers, data, plan)
    return _teach(data, data, plan, mean_scores([t.model for t in teachers], data.X), teachers)


def teach_more(
    data: Data, plan: Plan, hear: Callable[[Floats], Floats], teachers: Sequence[Fitted]
) -> Fitted:
    """Train a network towards what is heard of rows, made-up ones among them.

    A network that can join columns is free between the rows that it sees: rows that
    nobody labelled, but the teachers can judge, tie it down.
    """
    rows = make_up_rows(data, np.random.default_rng(plan.seed.spawn(1)[0]))
    # Three times the rows, so half of the starts and epochs: the work stays about the same.
    shorter = plan.adjust(max_iter=max(plan.recipe.max_iter // 2, 1))
    return _teach(data, rows, shorter, hear(rows.X), teachers, n_students=_STUDENTS // 2)


def make_up_rows(data: Data, rng: np.random.Generator) -> Data:
    """Give the rows, and copies in which some values are those of other rows."""
    X = [data.X]
    for _ in range(_COPIES):
        copy = data.X.copy()
        foreign = rng.random(copy.shape) < _FOREIGN
        from_row = rng.integers(0, len(copy), copy.shape)
        X.append(np.where(foreign, np.take_along_axis(copy, from_row, axis=0), copy))
    weight = None if data.weight is None else np.tile(data.weight, len(X))
    return Data(np.concatenate(X), np.tile(data.y, (len(X), 1)), weight, data.fields)


def _teach(
    data: Data,
    rows: Data,
    plan: Plan,
    scores: Floats,
    teachers: Sequence[Fitted],
    n_students: int = _STUDENTS,
) -> Fitted:
    """Train towards the scores of rows; should Ctrl-C come, the best teacher must do."""
    names = tuple(f"score {k + 1}" for k in range(scores.shape[1]))
    # Here the lowest loss is the best: it is the nearest to the teachers.
    recipe = replace(plan.recipe, n_init=n_students, weight_decay=_STUDENT_DECAY)
    lessons = Data(rows.X, scores, weigh_scores(rows, plan, scores), data.fields)
    student = fit_network(
        lessons,
        replace(
            plan,
            recipe=recipe,
            output=Targets(names) if isinstance(plan.output, Classes) else plan.output,
            class_weight=None,
            validation_fraction=None,
            callbacks=(),
        ),
    )
    if student.interrupted:
        return keep_best(teachers, data, plan)
    return _give_meaning(student, data, plan)


def keep_best(teachers: Sequence[Fitted], data: Data, plan: Plan) -> Fitted:
    """Give the restart of lowest loss: Ctrl-C came before one could be taught."""
    best = min(teachers, key=lambda fitted: fitted.best_loss)
    sample = make_sample(data)
    model = settle_gaps(snap(best.model, sample, plan.n_threads), sample)
    return replace(best, model=model, interrupted=True)


def mean_scores(models: Sequence[Model], X: Floats) -> Floats:
    """Give the mean of networks' scores."""
    total = models[0].score_rows(X)
    for model in models[1:]:
        total += model.score_rows(X)
    return total / len(models)


def weigh_scores(data: Data, plan: Plan, scores: Floats) -> Floats:
    """Give the weight of each row: more where a small change of the score matters."""
    weight = np.ones(len(data.X)) if data.weight is None else data.weight
    if isinstance(plan.output, Classes):
        odds = plan.output.predict_proba(scores)
        weight = weight * (0.02 + (odds * (1.0 - odds)).mean(axis=1))
    return weight


def make_lesson(data: Data, plan: Plan, scores: Floats) -> Lesson:
    """Give a teacher's scores, in units of the loss's targets, as something to grow towards."""
    weight = weigh_scores(data, plan, scores)
    pairs = np.array([scale_column(column, weight) for column in scores.T])
    scale = TargetScale(pairs[:, 0], pairs[:, 1])
    total = list_rows(data).weight.sum()
    targets = scale_scores(scores, scale).astype(np.float32)
    return Lesson(targets, weight * (total / weight.sum()), scale)


def _give_meaning(student: Fitted, data: Data, plan: Plan) -> Fitted:
    """Turn amounts that are scores back into what the scores mean."""
    sample = make_sample(data)
    model = Model(student.model.schema, student.model.layers, plan.output)
    model = settle_gaps(snap(model, sample, plan.n_threads), sample)
    assert student.core is not None  # noqa: S101 - it was trained by gradients
    core = student.core
    if isinstance(plan.output, Classes):
        core = _fold_scale(core)
    rows = list_rows(data)
    scale = scale_targets(data, plan, rows)
    targets, weight = weigh_rows(data, plan, rows, scale)
    scores = model.score_rows(data.X)
    scores = scale_scores(scores, scale)
    loss = measure_loss(name_loss(plan.output), scores, targets, weight)
    return replace(student, model=model, core=core, best_loss=loss)


def _fold_scale(core: CoreFit) -> CoreFit:
    """Put the scale of the scores into the output layer's weights."""
    scale, last = core.target_scale, core.wiring.layers[-1]
    if scale is None:
        return core
    params = np.array(core.trained.params)
    params[last.alpha] *= scale.scale[last.target]
    params[last.centre] = params[last.centre] * scale.scale - scale.shift
    trained = replace(core.trained, params=params, state=AdamState.fresh(params))
    return replace(core, trained=trained, target_scale=None)
