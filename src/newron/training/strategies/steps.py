"""Heaviside networks on many rows: the engine's curves as steps, and grown terms on top.

The steps come from all rows, and so do corners: pairs of conditions, of which the surfaces of two
columns are made. Where there are surfaces, or trees find that something is left over, terms of
several conditions are grown on some of the rows, with the steps' scores as what they add to; a
quarter of these rows decides how many, and whether corners are clearly better.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from newron.engine import EngineFit
from newron.engine.additive import scan_pairs
from newron.engine.residuals import measure_rest
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.network import Layer
from newron.training.binned import STEPS, allows_pairs, finish_binned, fit_additive, keep_binned
from newron.training.context import FitContext
from newron.training.folds import SURE, Fold, is_better, split_folds
from newron.training.growing import GrowPlan, grow
from newron.training.specification import FitResult, Specification
from newron.training.strategies.curves import walk_curves
from newron.training.strategies.growth import start_growth
from newron.training.training_set import TrainingSet

_ROWS = 20_000  # distinct rows on which terms are grown
_EVIDENCE = 3.0  # standard errors by which trees must explain what is left over
_HOPELESS = 0.02  # of the loss of steps and corners: terms so much worse are never taken
_COLUMNS = 12  # of which terms are grown, where pairs of columns stand out
_PLAN = GrowPlan(max_terms=40, max_conditions=3, ridge=5.0, least_weight=10.0, beam=12)


def fit_steps(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Fit steps of columns, and terms of several conditions where they are needed."""
    fitted = cut_surfaces(data, spec, context)
    keep_binned(fitted, data, spec, context)
    model, corners = None, len(fitted.model.layers) > 1
    if corners or max(map(measure_rest, fitted.parts)) >= _EVIDENCE:
        model = _grow_terms(fitted, data, spec, context)
    result = finish_binned(model or fitted.model, data, spec, context)
    return walk_curves(fitted, result, data, spec, context)


def cut_surfaces(data: TrainingSet, spec: Specification, context: FitContext) -> EngineFit:
    """Fit curves and, where hidden layers are allowed, surfaces as steps and corners."""
    pairs = allows_pairs(spec)
    return fit_additive(data, spec, context, pairs=pairs, kind="heaviside", tolerance=STEPS)


def _grow_terms(
    fitted: EngineFit, data: TrainingSet, spec: Specification, context: FitContext
) -> Model | None:
    """Return the steps with terms grown on top, or None where these would not help.

    They take the place of the corners that surfaces became, unless these are clearly better.
    """
    rows = data.take_first(_ROWS)
    folds = split_folds(rows, spec.objective, context.spawn(), n_used=1)
    if not folds:
        return None
    steps = fitted.compress(STEPS, pairs=False)
    columns = _choose_columns(fitted)
    chosen = replace(spec, directions=tuple(spec.directions[c] for c in columns if spec.directions))
    growth = start_growth(rows.take_columns(columns), chosen, context)
    base = growth.decoder.target_scale.apply(steps.score_rows(rows.X))
    table = replace(growth.task.table, base=base)
    most = replace(_PLAN, max_terms=min(_PLAN.max_terms, spec.max_terms))
    growth = replace(growth, task=replace(growth.task, table=table), plan=most)
    reached = _measure_fold(fitted.model, rows, spec, folds[0])
    limit = float(reached[0]) + _HOPELESS * abs(float(reached[0]))
    growth = growth.evaluate("steps and terms", [growth.task], folds, limit)
    if is_better(reached, growth.losses, SURE):
        return None
    if len(fitted.model.layers) == 1 and not is_better(growth.losses, reached, SURE):
        return None
    grown, _ = grow(growth.task, growth.plan, context)
    scale = growth.decoder.target_scale
    # What is added has the targets' unit, but not their zero.
    shifted = replace(scale, shift=np.zeros_like(scale.shift))
    decoder = replace(growth.decoder, target_scale=shifted)
    return _add(steps, decoder.make_model(grown), columns)


def _measure_fold(model: Model, rows: TrainingSet, spec: Specification, fold: Fold) -> Floats:
    """Return the loss of a model on the validation rows of a fold."""
    problem = spec.make_problem(rows)
    scores = model.score_rows(rows.X[fold.validation.index])
    return np.array([problem.take(fold.validation).measure(problem.scale.apply(scores))])


def _choose_columns(fitted: EngineFit) -> NDArray[np.intp]:
    """Return the columns of the strongest pairs, or all where no pair stands out.

    A column that does nothing by itself would not be tried as the first condition of a term
    among many others.
    """
    scans = [(scan, part) for part in fitted.parts for scan in scan_pairs(part)]
    scans.sort(key=lambda found: -found[0].gain)
    chosen: list[int] = []
    for scan, part in scans:
        sources = {part.table.columns[c].source for c in scan.pair} - set(chosen)
        if len(chosen) + len(sources) <= _COLUMNS:
            chosen += sorted(sources)
    return np.array(sorted(chosen) or range(len(fitted.schema)), np.intp)


def _add(steps: Model, terms: Model, columns: NDArray[np.intp]) -> Model:
    """Return the model whose scores are the sum of those of two models of steps.

    The second one reads ``columns`` alone.
    """
    first = steps.layers[-1]
    *hidden, second = [_renumber(layer, columns, len(steps.schema)) for layer in terms.layers]
    order = np.argsort(np.concatenate([first.target, second.target]), kind="stable")
    levels = [*first.levels, *second.levels]

    def join(name: str) -> np.ndarray:
        parts = [getattr(layer, name) for layer in (first, second)]
        return np.asarray(np.concatenate(parts)[order])

    assert first.centre is not None  # noqa: S101 - last layers have intercepts
    assert second.centre is not None  # noqa: S101
    last = Layer(
        "heaviside",
        "sum",
        "identity",
        first.n_neurons,
        target=join("target"),
        source=join("source"),
        w=join("w"),
        b=join("b"),
        alpha=join("alpha"),
        centre=first.centre + second.centre,
        missing=join("missing"),
        levels=[levels[i] for i in order.tolist()],
    )
    return Model(steps.schema, [*hidden, last], steps.output)


def _renumber(layer: Layer, columns: NDArray[np.intp], n_columns: int) -> Layer:
    """Return a layer that reads columns by their numbers in the whole table."""
    neurons = n_columns + np.arange(max(int(layer.source.max(initial=0)) + 1 - len(columns), 0))
    return layer.replace(source=np.concatenate([columns, neurons])[layer.source])
