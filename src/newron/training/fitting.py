"""One fit from a checked table to a model: the flow of this package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.training.architecture import Architecture
from newron.training.callback import Callback
from newron.training.decoding import Sample, TargetScale, decode, snap
from newron.training.encoding import Encoding, learn_encoding, scale_column
from newron.training.native import CoreTable, Trained, train
from newron.training.recipe import Recipe
from newron.training.start import draw_start
from newron.training.table import Rows, settle_rows
from newron.training.wiring import Params, Wiring

__all__ = ["Data", "Fitted", "Plan", "fit_network"]


@dataclass(frozen=True)
class Data:
    """A checked table: float64 inputs, and class numbers or amounts, both 2-d."""

    X: Floats
    y: Floats
    weight: Floats | None
    names: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Everything that a fit is told besides the data."""

    architecture: Architecture
    recipe: Recipe
    output: Output
    seed: np.random.SeedSequence
    input_scale: str = "own"
    class_weight: Floats | None = None
    validation_fraction: float | None = None
    n_threads: int = 1
    callbacks: Sequence[Callback] = ()


@dataclass(frozen=True)
class Fitted:
    """A model, how training went, and what continues it."""

    model: Model
    trained: Trained
    wiring: Wiring
    encoding: Encoding
    target_scale: TargetScale | None


def fit_network(data: Data, plan: Plan, before: Fitted | None = None) -> Fitted:
    """Train a network on a table.

    With ``before`` its parameters are the start, on its encoding and targets'
    scale.
    """
    rows = settle_rows(data.X, data.y, data.weight)
    encoding = before.encoding if before is not None else _learn_encoding(data, plan, rows)
    wiring = Wiring(plan.architecture, len(encoding.channels))
    target_scale = before.target_scale if before is not None else _scale_targets(data, plan, rows)
    table = _make_table(data, plan, rows, encoding, target_scale)
    y = data.y[rows.index]
    del rows
    trained = _train(table, y, plan, wiring, before)
    del table, y  # decoding looks at the user's rows alone: hold the data once
    sample = _make_sample(data)
    partial = before is not None  # rows of earlier calls are not here
    model = decode(
        wiring, trained.params, encoding, plan.output, sample, target_scale, partial=partial
    )
    snapped = snap(model, sample, plan.n_threads, partial=partial)
    return Fitted(snapped, trained, wiring, encoding, target_scale)


def _train(
    table: CoreTable, y: Floats, plan: Plan, wiring: Wiring, before: Fitted | None
) -> Trained:
    seeds = plan.seed.spawn(plan.recipe.n_init if before is None else 1)
    if before is not None:
        starts: list[Params] = [before.trained.state.params]
    else:
        low, high = table.x.min(axis=0), table.x.max(axis=0)
        starts = [draw_start(wiring, low, high, np.random.default_rng(s)) for s in seeds]
    table, validation = _split(table, y, plan)
    return train(
        wiring,
        table,
        plan.recipe,
        _name_loss(plan.output),
        starts,
        [int(s.generate_state(1, np.uint64)[0]) for s in seeds],
        validation=validation,
        resume=before.trained.state if before is not None and not plan.recipe.keep_best else None,
        measure_start=before is not None and plan.recipe.keep_best,
        n_threads=plan.n_threads,
        callbacks=plan.callbacks,
    )


def _name_loss(output: Output) -> str:
    if not isinstance(output, Classes):
        return "squared"
    return "binary" if output.n_scores == 1 else "categorical"


def _learn_encoding(data: Data, plan: Plan, rows: Rows) -> Encoding:
    return learn_encoding(
        data.X,
        rows.weight,
        rows.index,
        data.names,
        scales=plan.input_scale,
        standardize=plan.recipe.standardize,
    )


def _scale_targets(data: Data, plan: Plan, rows: Rows) -> TargetScale | None:
    if isinstance(plan.output, Classes):
        return None
    pairs = [scale_column(column, rows.weight) for column in data.y[rows.index].T]
    shift, scale = np.array(pairs).T
    return TargetScale(shift, scale)


def _make_table(
    data: Data, plan: Plan, rows: Rows, encoding: Encoding, target_scale: TargetScale | None
) -> CoreTable:
    y, weight = data.y[rows.index], rows.weight
    if plan.class_weight is not None:
        weight = weight * plan.class_weight[y[:, 0].astype(np.intp)]
    if target_scale is not None:
        y = (y - target_scale.shift) / target_scale.scale
    if not weight.sum() > 0.0:
        raise InputError("expected a class with a positive weight, got none")
    weight = weight * (len(weight) / weight.sum())
    return CoreTable(
        encoding.encode(data.X, rows.index), y.astype(np.float32), weight.astype(np.float32)
    )


def _split(table: CoreTable, y: Floats, plan: Plan) -> tuple[CoreTable, CoreTable | None]:
    """Hold out rows to watch, of every class its share."""
    if plan.validation_fraction is None:
        return table, None
    rng = np.random.default_rng(plan.seed.spawn(1)[0])
    classes = y[:, 0] if isinstance(plan.output, Classes) else np.zeros(len(y))
    held = np.zeros(len(y), bool)
    for value in np.unique(classes):
        members = rng.permutation(np.flatnonzero(classes == value))
        held[members[: round(plan.validation_fraction * len(members))]] = True
    if not held.any():  # few rows: one of the largest class
        values, counts = np.unique(classes, return_counts=True)
        members = rng.permutation(np.flatnonzero(classes == values[np.argmax(counts)]))
        held[members[: min(1, len(members) - 1)]] = True
    if not held.any() or held.all():
        raise InputError(
            f"early_stopping: expected rows enough to hold out a share of "
            f"{plan.validation_fraction}, got {len(y)} distinct rows; add rows or switch it off"
        )
    return _take(table, ~held), _take(table, held)


def _take(table: CoreTable, mask: NDArray[np.bool_]) -> CoreTable:
    return CoreTable(table.x[mask], table.targets[mask], table.weight[mask])


def _make_sample(data: Data) -> Sample:
    if data.weight is None:
        return Sample(data.X, data.y, np.ones(len(data.X)))
    if np.all(data.weight != 0.0):
        return Sample(data.X, data.y, data.weight)
    used = np.flatnonzero(data.weight != 0.0)
    return Sample(data.X[used], data.y[used], data.weight[used])
