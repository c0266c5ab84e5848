"""Networks of the engine on bins, as results of a fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from newron import engine
from newron.model.model import Model
from newron.training.architecture import SMOOTH
from newron.training.callbacks import Progress
from newron.training.context import FitContext
from newron.training.decoding import finish
from newron.training.specification import FitResult, Specification
from newron.training.training_set import TrainingSet

STAGES = ("curves", "steps", "pairs", "all pairs", "directions")
STEPS = 1 / 3  # tolerance of curves as steps: on many rows what they are unsure of is small
_FEW_ROWS = 1_000  # of the network that is kept should the fit end early


def fit_pairs(
    data: TrainingSet,
    spec: Specification,
    context: FitContext,
    terms: engine.TermColumns | None = None,
) -> engine.EngineFit:
    """Fit curves of columns, and of pairs where hidden layers are allowed, maybe beside terms.

    Where columns have directions there are no pairs: the sum of curves keeps them.
    """
    return fit_additive(data, spec, context, pairs=allows_pairs(spec), terms=terms)


def allows_pairs(spec: Specification) -> bool:
    """Return whether hidden layers are allowed, of columns without directions."""
    return len(spec.architecture.layers) > 1 and not any(spec.directions)


def finish_binned(
    model: Model, data: TrainingSet, spec: Specification, context: FitContext
) -> FitResult:
    """Return a network of the engine as the result of a fit."""
    result = _finish(model, data, spec, context)
    context.keep(result, -np.inf)
    return result


def try_binned(fitted: engine.EngineFit) -> FitResult:
    """Return a fit of the engine as a result to measure: no number of its model is shortened."""
    return FitResult(fitted.model, np.zeros(0), math.nan)


def keep_binned(
    fitted: engine.EngineFit,
    data: TrainingSet,
    spec: Specification,
    context: FitContext,
    loss: float = -np.inf,
) -> None:
    """Keep a fit of the engine, which is finished only if the fit ends before a better result."""
    context.keep(lambda: _finish(fitted.model, data, spec, context), loss)


def keep_quick(
    data: TrainingSet, spec: Specification, context: FitContext, *, kind: str | None = None
) -> None:
    """Keep curves of some rows, which are fitted only if the fit ends before a better result."""
    few = data.take_first(_FEW_ROWS)
    alone = FitContext(context.seed, context.n_threads)
    fit = partial(fit_additive, few, spec, alone, kind=kind)
    context.keep(lambda: _finish(fit().model, data, spec, alone))


def fit_additive(
    data: TrainingSet,
    spec: Specification,
    context: FitContext,
    *,
    pairs: bool = False,
    kind: str | None = None,
    tolerance: float = engine.Options.tolerance,
    terms: engine.TermColumns | None = None,
) -> engine.EngineFit:
    """Fit curves, and pairs where they are wanted, without shortening numbers."""
    options = _make_options(spec, context, kind or _choose_kind(spec), tolerance, pairs=pairs)
    options = replace(options, terms=terms)
    if data.whole is not None:
        return engine.fit_rows(
            data.whole, spec.output, data.fields, class_weight=spec.class_weight, options=options
        )
    return engine.fit(
        data.X,
        data.y,
        spec.output,
        data.fields,
        weight=data.weight,
        count=data.count.astype(np.float64),
        class_weight=spec.class_weight,
        options=options,
    )


def extend_additive(
    fitted: engine.EngineFit, spec: Specification, context: FitContext
) -> engine.EngineFit:
    """Add pairs of columns to a fit of curves, which stays as it is."""
    kind, tolerance = fitted.processing, fitted.tolerance
    return engine.extend(fitted, _make_options(spec, context, kind, tolerance, pairs=True))


def _make_options(
    spec: Specification, context: FitContext, kind: str, tolerance: float, *, pairs: bool
) -> engine.Options:
    return engine.Options(
        kind,
        tolerance,
        pairs=pairs,
        directions=spec.directions,
        n_threads=context.n_threads,
        progress=_Stages(context),
    )


def _choose_kind(spec: Specification) -> str:
    kind = spec.architecture.layers[-1].processing
    if any(spec.directions):
        return "sigmoid"  # a product rises and falls
    return "smooth" if spec.others or kind not in SMOOTH else kind


@dataclass
class _Stages:
    """Reports the stages of the engine as progress; callbacks may end the fit there."""

    context: FitContext
    stage: str = STAGES[0]

    def __call__(self, stage: str) -> None:
        """Report a stage that begins, or goes on where it has no name."""
        self.stage = stage or self.stage
        step = STAGES.index(self.stage)
        self.context.report(Progress(step, len(STAGES), math.nan, math.nan, stage=self.stage))


def _finish(model: Model, data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    model = finish(model, data, context.n_threads)
    problem = spec.make_problem(data)
    loss = problem.measure(problem.scale.apply(model.score_rows(data.X)))
    return FitResult(model, np.array([loss]), loss)
