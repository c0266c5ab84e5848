"""Networks of the engine on bins, as results of a fit."""

from __future__ import annotations

import numpy as np

from newron import engine
from newron.training.architecture import SMOOTH
from newron.training.context import FitContext
from newron.training.decoding import finish
from newron.training.specification import FitResult, Specification
from newron.training.training_set import TrainingSet

__all__ = ["fit_additive", "fit_binned"]

_FEW_ROWS = 1_000  # of the network that is kept should the fit end early


def fit_binned(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit curves of columns, and of pairs where hidden layers are allowed."""
    pairs = len(spec.architecture.layers) > 1
    few = data.take_first(_FEW_ROWS)
    context.keep(lambda: _finish(fit_additive(few, spec, context.n_threads), data, spec, context))
    result = _finish(fit_additive(data, spec, context.n_threads, pairs=pairs), data, spec, context)
    context.keep(result, -np.inf)
    return result


def fit_additive(
    data: TrainingSet, spec: Specification, n_threads: int, *, pairs: bool = False
) -> engine.EngineFit:
    """Fit by the engine, without shortening numbers."""
    kind = spec.architecture.layers[-1].processing
    if spec.others or kind not in SMOOTH:
        kind = "smooth"
    return engine.fit(
        data.X,
        data.y,
        spec.output,
        data.fields,
        weight=data.weight,
        class_weight=spec.class_weight,
        options=engine.Options(kind, pairs=pairs, n_threads=n_threads),
    )


def _finish(
    fitted: engine.EngineFit, data: TrainingSet, spec: Specification, context: FitContext
) -> FitResult:
    model = finish(fitted.model, data, context.n_threads)
    problem = spec.make_problem(data)
    loss = problem.measure(problem.scale.apply(model.score_rows(data.X)))
    return FitResult(model, np.array([loss]), loss)
