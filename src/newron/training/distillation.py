"""Distillation: one network that learns from the mean of others.

Restarts differ by luck, and the one of lowest loss has learned most of the noise.
Their mean has not, but is many networks. So a single network, smooth or of steps, is
trained towards the scores of the mean: its soft targets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Targets
from newron.objectives import Squared, TargetScale
from newron.training.context import FitContext
from newron.training.core_trainer import AdamState
from newron.training.decoding import finish
from newron.training.gradient import fit_network, fit_restarts
from newron.training.problem import Problem
from newron.training.specification import CoreFit, FitResult, Specification
from newron.training.training_set import TrainingSet

__all__ = ["distil", "fit_distilled", "make_soft_targets", "mean_scores"]

_STUDENTS = 8  # starts of the student: some end in a poor minimum
_COPIES, _FOREIGN = 2, 0.25  # of the rows that are made up, and of their values
_STUDENT_DECAY = 0.01  # the teachers are regular already


def fit_distilled(
    data: TrainingSet, spec: Specification, n_teachers: int, context: FitContext
) -> FitResult:
    """Train restarts, and one network of their kind towards their mean."""
    teachers = fit_restarts(data, spec.adjust(n_init=n_teachers), context)
    scores = mean_scores([teacher.model for teacher in teachers], data.X)
    return _train_student(data, data.X, data.weight, spec, scores, _STUDENTS, context)


def distil(
    data: TrainingSet,
    spec: Specification,
    teach: Callable[[Floats], Floats],
    context: FitContext,
) -> FitResult:
    """Train a network towards a teacher's scores of rows, made-up ones among them.

    A network that can join columns is free between the rows that it sees: rows without
    a label, which the teacher can score, tie it down.
    """
    X = make_up_rows(data.X, np.random.default_rng(context.spawn()))
    # Three times the rows, so half of the starts and epochs: the work stays about the same.
    shorter = spec.adjust(max_iter=max(spec.recipe.max_iter // 2, 1))
    weight = np.tile(data.weight, 1 + _COPIES)
    return _train_student(data, X, weight, shorter, teach(X), _STUDENTS // 2, context)


def make_up_rows(X: Floats, rng: np.random.Generator) -> Floats:
    """Return the rows, and copies in which some values are those of other rows."""
    out = [X]
    for _ in range(_COPIES):
        foreign = rng.random(X.shape) < _FOREIGN
        from_row = rng.integers(0, len(X), X.shape)
        out.append(np.where(foreign, np.take_along_axis(X, from_row, axis=0), X))
    return np.concatenate(out)


def _train_student(
    data: TrainingSet,
    X: Floats,
    weight: Floats,
    spec: Specification,
    scores: Floats,
    n_students: int,
    context: FitContext,
) -> FitResult:
    """Train towards the scores of rows X, of which the first are those of the data."""
    names = tuple(f"score {k + 1}" for k in range(scores.shape[1]))
    # Here the lowest loss is the best: it is the nearest to the teachers.
    recipe = replace(spec.recipe, n_init=n_students, weight_decay=_STUDENT_DECAY)
    soft = weigh_scores(weight, spec, scores)
    student = fit_network(
        TrainingSet.from_rows(X, scores, soft, data.fields),
        replace(
            spec,
            recipe=recipe,
            output=Targets(names) if isinstance(spec.output, Classes) else spec.output,
            class_weight=None,
            validation_fraction=None,
        ),
        context.aside(),
    )
    return _give_meaning(student, data, spec, context)


def mean_scores(models: Sequence[Model], X: Floats) -> Floats:
    """Return the mean of networks' scores."""
    total = models[0].score_rows(X)
    for model in models[1:]:
        total += model.score_rows(X)
    return total / len(models)


def weigh_scores(weight: Floats, spec: Specification, scores: Floats) -> Floats:
    """Return the weight of each row: more where a small change of the score matters."""
    if not isinstance(spec.output, Classes):
        return weight
    probability = spec.output.predict_proba(scores)
    return np.asarray(weight * (0.02 + (probability * (1.0 - probability)).mean(axis=1)))


def make_soft_targets(data: TrainingSet, spec: Specification, scores: Floats) -> Problem:
    """Return the problem to come near to scores, in units of the loss, of all rows."""
    weight = weigh_scores(data.weight, spec, scores)
    objective = Squared(scores.shape[1])
    scale = objective.learn_scale(scores, weight)
    return Problem(objective, scale.apply(scores), weight * (data.n_rows / weight.sum()), scale)


def _give_meaning(
    student: FitResult, data: TrainingSet, spec: Specification, context: FitContext
) -> FitResult:
    """Turn targets that are scores back into what the scores mean."""
    model = Model(student.model.schema, student.model.layers, spec.output)
    model = finish(model, data, context.n_threads)
    assert student.core is not None  # noqa: S101 - it was trained by gradients
    core = _fold_scale(student.core) if isinstance(spec.output, Classes) else student.core
    problem = spec.make_problem(data)
    loss = problem.measure(problem.scale.apply(model.score_rows(data.X)))
    return replace(student, model=model, core=core, best_loss=loss)


def _fold_scale(core: CoreFit) -> CoreFit:
    """Put the scale of the scores into the output layer's weights."""
    scale, last = core.target_scale, core.wiring.layers[-1]
    params = np.array(core.trained.params)
    params[last.alpha] *= scale.scale[last.target]
    params[last.centre] = params[last.centre] * scale.scale - scale.shift
    trained = replace(core.trained, params=params, state=AdamState.fresh(params))
    return replace(core, trained=trained, target_scale=TargetScale.identity(len(scale.shift)))
