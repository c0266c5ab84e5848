"""Training by gradients, from a training set to a model: the flow of this package."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from newron.errors import InputError, NewronWarning
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.model.schema import Column
from newron.objectives import Objective
from newron.training.context import FitContext
from newron.training.core_trainer import AdamState, CoreTable, Trained, train_all
from newron.training.crisp import (
    CrispShape,
    RankedTable,
    can_be_polished,
    from_crisp,
    polish,
    to_crisp,
    to_params,
)
from newron.training.decoding import decode, finish, unscale
from newron.training.encoding import Encoding, learn_encoding
from newron.training.folds import split_fraction
from newron.training.problem import Problem
from newron.training.ranking import Ranking, learn_ranking
from newron.training.specification import CoreFit, FitResult, Specification
from newron.training.start import draw_start, find_limits
from newron.training.training_set import Counts, TrainingSet
from newron.training.wiring import Params, Wiring

# Parameters times rows beyond which only the three best restarts are polished.
_MUCH_WORK = 2e6
# Rows times conditions beyond which one sweep must do: it takes seconds already.
_MUCH_POLISH = 2e7


def fit_network(data: TrainingSet, spec: Specification, context: FitContext) -> FitResult:
    """Train a network by gradients, and polish it where the recipe has it so.

    With ``spec.resume`` its parameters are the start, on its encoding and targets' scale.
    """
    resumes = spec.resume is not None
    data = data if spec.resume is None else _fill_unseen(data, spec.resume.encoding)
    restarts = _train(data, spec, context)
    candidates = [
        (run, restarts.decode(run, spec, data, partial=resumes))
        for run in _choose_runs(restarts.runs, spec, len(data))
    ]
    trained, model = candidates[0]
    if spec.recipe.polish and not resumes and can_be_polished(model.layers):
        ranking = learn_ranking(data)
        table = RankedTable(ranking.encode(data.X), restarts.problem, directions=spec.directions)
        trained, model, shape = _polish(candidates, ranking, table, spec, context.n_threads)
        params = to_params(shape, ranking, restarts.wiring, restarts.encoding, trained.params)
        trained = replace(trained, params=params, state=AdamState.fresh(params))
    model = unscale(model, restarts.problem.scale)
    model = finish(model, data, context.n_threads, partial=resumes)
    core = restarts.keep(trained)
    result = FitResult(
        model, trained.loss_curve, trained.best_loss, interrupted=context.stopped, core=core
    )
    context.keep(result)
    return result


@dataclass(frozen=True)
class _Restarts:
    """What the core made of all starts, and how its channels and targets are scaled."""

    runs: list[Trained]
    wiring: Wiring
    encoding: Encoding
    problem: Problem

    def decode(
        self, run: Trained, spec: Specification, data: TrainingSet, *, partial: bool = False
    ) -> Model:
        """Return a run's network in the columns' units."""
        parts = (self.wiring, run.params, self.encoding, spec.output, data)
        return decode(*parts, partial=partial)

    def keep(self, run: Trained) -> CoreFit:
        """Return what a later fit resumes."""
        return CoreFit(run, self.wiring, self.encoding, self.problem.scale)


def _train(data: TrainingSet, spec: Specification, context: FitContext) -> _Restarts:
    before = spec.resume
    encoding = _learn_encoding(data, spec) if before is None else before.encoding
    points = tuple(channel.n_points for channel in encoding.channels)
    wiring = Wiring(spec.architecture, points, _find_turns(encoding, spec.periods))
    problem = spec.make_problem(data, None if before is None else before.target_scale)
    table = CoreTable(
        encoding.encode(data.X),
        problem.objective.encode_core(problem.targets),
        (problem.weight * (len(data) / data.n_rows)).astype(np.float32),
    )
    columns = spec.directions or (0,) * data.X.shape[1]
    signs = wiring.make_signs([columns[channel.column] for channel in encoding.channels])
    runs = _train_starts(table, data, spec, problem.objective, wiring, signs, context)
    return _Restarts(runs, wiring, encoding, problem)


def _learn_encoding(data: TrainingSet, spec: Specification) -> Encoding:
    return learn_encoding(
        data,
        scales=spec.input_scale,
        standardize=spec.recipe.standardize,
        keep_constant=spec.keep_constant,
        periods=spec.periods,
    )


def _find_turns(encoding: Encoding, periods: tuple[float, ...]) -> tuple[float, ...]:
    """Return w of one turn in the period of each channel's column, 0 without one."""
    if not any(periods):
        return ()
    own = [(channel.scale, periods[channel.column]) for channel in encoding.channels]
    return tuple(2.0 * np.pi * scale / period if period else 0.0 for scale, period in own)


def _fill_unseen(data: TrainingSet, encoding: Encoding) -> TrainingSet:
    """Let missing values that the first fit had not count as a typical value of their column."""
    X = None
    for i, column in enumerate(encoding.schema.columns):
        missing = np.isnan(data.X[:, i])
        if column.gaps or not missing.any():
            continue
        X = np.array(data.X) if X is None else X
        X[missing, i] = _find_typical(data.X[~missing, i], column)
        warnings.warn(
            f"column {column.name!r}, row {int(data.row[missing].min())} (counted from 0): has a "
            "missing value or a new category, which the first fit had not; it counts as the "
            "median or the most frequent category; fit on all rows to learn its own",
            NewronWarning,
            stacklevel=8,
        )
    return data if X is None else replace(data, X=X)


def _find_typical(known: Floats, column: Column) -> float:
    if not len(known):
        return 0.0 if column.n_categories else column.low
    if column.n_categories:
        return float(np.bincount(known.astype(np.intp)).argmax())
    return float(np.median(known))


def _train_starts(
    table: CoreTable,
    data: TrainingSet,
    spec: Specification,
    objective: Objective,
    wiring: Wiring,
    signs: Params | None,
    context: FitContext,
) -> list[Trained]:
    before, recipe = spec.resume, spec.recipe
    seeds = context.seed.spawn(recipe.n_init if before is None else 1)
    if before is not None:
        start = before.trained.state.params
        # The fit before may have been free where this one is not.
        starts = [start if signs is None else np.where(signs * start < 0.0, 0.0, start)]
    else:
        ends = find_limits(table.x)
        starts = [draw_start(wiring, *ends, np.random.default_rng(s)) for s in seeds]
        if signs is not None:
            starts = [np.where(signs == 0.0, start, np.abs(start) * signs) for start in starts]
    table, validation = _split(table, data, spec, context)
    return train_all(
        wiring,
        table,
        recipe,
        objective,
        starts,
        [int(s.generate_state(1, np.uint64)[0]) for s in seeds],
        validation=validation,
        resume=before.trained.state if before is not None and not recipe.keep_best else None,
        measure_start=before is not None and recipe.keep_best,
        signs=signs,
        context=context,
    )


def _split(
    table: CoreTable, data: TrainingSet, spec: Specification, context: FitContext
) -> tuple[CoreTable, CoreTable | None]:
    """Split off validation rows for early stopping."""
    if spec.validation_fraction is None:
        return table, None
    rng = np.random.default_rng(context.spawn())
    held = split_fraction(data, spec.objective, spec.validation_fraction, rng)
    if not held.any() or np.all(held == data.count):
        raise InputError(
            f"early_stopping: expected rows enough to hold out a fraction of "
            f"{spec.validation_fraction}, got {data.n_rows} rows; add rows or switch it off"
        )
    return _take(table, data, data.count - held), _take(table, data, held)


def _take(table: CoreTable, data: TrainingSet, count: Counts) -> CoreTable:
    part = data.make_part(count)
    weight = (table.weight[part.index] * part.fraction).astype(np.float32)
    return CoreTable(table.x[part.index], table.targets[part.index], weight)


# ---- polishing ----


def _choose_runs(runs: list[Trained], spec: Specification, n_rows: int) -> list[Trained]:
    """Return the runs worth decoding, the best first: all small ones if they are polished."""
    best_first = sorted(runs, key=lambda run: (run.best_loss, run.run))
    if not spec.recipe.polish or spec.resume is not None:
        return best_first[:1]
    work = len(best_first[0].params) * n_rows
    return best_first[: 3 if work > _MUCH_WORK else None]


def _polish(
    candidates: list[tuple[Trained, Model]],
    ranking: Ranking,
    ranked: RankedTable,
    spec: Specification,
    n_threads: int,
) -> tuple[Trained, Model, CrispShape]:
    """Polish in turn; keep the first without an error, or else the lowest loss."""
    table = ranked.for_core(ranking)
    best = None
    for trained, model in candidates:
        start = to_crisp(model.layers, ranking)
        much = ranked.ranks.shape[1] * start.n_conditions > _MUCH_POLISH
        rounds, sweeps = (1, 1) if much else (3, 5)
        shape, loss, wrong = polish(
            start, table, ranking, rounds=rounds, sweeps=sweeps, n_threads=n_threads
        )
        right = wrong == 0 and isinstance(spec.output, Classes)
        if best is None or right or loss < best[0]:
            best = (loss, trained, model, shape)
        if right:
            break
    assert best is not None  # noqa: S101 - there is a candidate
    loss, trained, model, shape = best
    widths = [layer.n_neurons for layer in model.layers[:-1]]
    polished = from_crisp(shape, ranking, model.schema, spec.output, widths)
    return replace(trained, best_loss=loss), polished, shape
