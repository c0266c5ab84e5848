"""The limits of ordered classes: found before training, set anew for what was trained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from newron import engine
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.objectives import choose_objective, fit_limits
from newron.training.decoding import bring_to_normal_form
from newron.training.problem import Problem
from newron.training.training_set import TrainingSet

_DECIMALS = range(2, 16)  # of limits; the first that leave them apart and the loss as it is
_FINE = 6  # decimals of bands of scores that are any numbers: class and probability agree
_ALLOWED = 1e-4  # the part by which the loss may grow


def find_limits(
    data: TrainingSet, output: Output, class_weight: Floats | None, n_threads: int
) -> Output:
    """Return ordered classes with the limits that scores are trained towards; others as they are.

    How far limits lie apart depends on how much the columns explain. They are those of the additive
    model, with few decimals: scores follow.
    """
    if not (isinstance(output, Classes) and output.is_ordered):
        return output
    found = engine.fit(
        data.X,
        data.y,
        output,
        data.fields,
        weight=data.weight,
        count=data.count.astype(np.float64),
        class_weight=class_weight,
        options=engine.Options("sigmoid", pairs=False, limits=True, n_threads=n_threads),
    ).output
    assert isinstance(found, Classes)  # noqa: S101 - as it was given
    found = found.with_limits(_round(found.limits, 2))
    # With bands of many digits crisp networks would not be in normal form while they are compared.
    return found.with_limits(found.limits, _round(found.bands, _FINE))


def settle_limits(model: Model, data: TrainingSet, class_weight: Floats | None) -> Model:
    """Return a network of ordered classes with the limits that are best for its scores.

    The intercept becomes part of the limits, and points start at 0.
    """
    output, last = model.output, model.layers[-1]
    if not (isinstance(output, Classes) and output.is_ordered) or output.in_points:
        return model
    if last.centre is not None:
        centre = float(last.centre[0])
        last = last.replace(centre=np.zeros(1))
        output = output.with_limits(tuple(limit + centre for limit in output.limits))
    moved = Model(model.schema, [*model.layers[:-1], last], output)
    problem = Problem.of(data, choose_objective(output), class_weight)
    scores = moved.score_rows(data.X)
    best = fit_limits(problem.targets, scores, problem.weight, output.limits)
    short = _shorten(output, best, problem, scores)
    least = _DECIMALS[0] if model.is_crisp else _FINE
    found = Model(moved.schema, moved.layers, _shorten_bands(short, scores, least))
    return bring_to_normal_form(found, data)  # limits of many digits had kept it from that


def _shorten(
    output: Classes, limits: tuple[float, ...], problem: Problem, scores: Floats
) -> Classes:
    """Return the classes with limits of few decimals."""
    whole = output.with_limits(limits)
    allowed = replace(problem, objective=choose_objective(whole)).measure(scores) * (1 + _ALLOWED)
    for decimals in _DECIMALS:
        made = output.with_limits(_round(limits, decimals))
        if replace(problem, objective=choose_objective(made)).measure(scores) <= allowed + 1e-6:
            return made
    return whole


def _shorten_bands(output: Classes, scores: Floats, least: int) -> Classes:
    """Return the classes with bands of few decimals, as far as no row notices."""
    chosen = output.choose(scores)
    for decimals in range(least, _DECIMALS[-1] + 1):
        bands = tuple(round(band, decimals) + 0.0 for band in output.bands)
        made = output.with_limits(output.limits, bands)
        if np.array_equal(made.choose(scores), chosen):
            return made
    return output


def _round(limits: tuple[float, ...], decimals: int) -> tuple[float, ...]:
    """Return rounded limits, or the limits themselves where two would be one."""
    short = tuple(round(limit, decimals) + 0.0 for limit in limits)
    return short if len(set(short)) == len(short) else limits
