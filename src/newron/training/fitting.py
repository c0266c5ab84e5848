"""One fit from a checked table to a model: the flow of this package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Output
from newron.tables.field import Field
from newron.training.architecture import Architecture
from newron.training.callback import Callback
from newron.training.crisp import (
    CrispShape,
    RankedTable,
    can_be_polished,
    from_crisp,
    polish,
    to_crisp,
    to_params,
)
from newron.training.decoding import Sample, TargetScale, decode, settle_gaps, snap, unscale
from newron.training.encoding import Encoding, learn_encoding, scale_column
from newron.training.native import AdamState, CoreTable, Trained, train_all
from newron.training.ranking import Ranking, learn_ranking
from newron.training.recipe import Recipe
from newron.training.start import draw_start, find_limits
from newron.training.table import Rows, settle_rows
from newron.training.wiring import Params, Wiring

if TYPE_CHECKING:
    from newron.training.growing import GrowPath

__all__ = [
    "CoreFit",
    "Data",
    "Fitted",
    "Plan",
    "copy_seed",
    "fit_network",
    "fit_restarts",
    "make_sample",
    "name_loss",
    "scale_scores",
    "scale_targets",
    "weigh_rows",
]

# Parameters times rows beyond which only the three best restarts are polished.
_MUCH_WORK = 2e6
# Rows times conditions beyond which one sweep must do: it takes seconds already.
_MUCH_POLISH = 2e7


@dataclass(frozen=True)
class Data:
    """A checked table: float64 inputs, and class numbers or amounts, both 2-d.

    Categories are their numbers and gaps NaN, see newron.tables.
    """

    X: Floats
    y: Floats
    weight: Floats | None
    fields: tuple[Field, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(field.name for field in self.fields)


@dataclass(frozen=True)
class Plan:
    """Everything that a fit is told besides the data."""

    architecture: Architecture
    recipe: Recipe
    output: Output
    seed: np.random.SeedSequence
    input_scale: str = "own"
    class_weight: Floats | None = None
    directions: tuple[int, ...] = ()  # of the columns in which the model is monotone
    validation_fraction: float | None = None
    max_terms: int = 60
    keep_constant: bool = False  # rows that come later may differ in constant columns
    own_decay: bool = False  # the user named the decay
    own_starts: bool = False  # the user named the number of starts
    n_threads: int = 1
    callbacks: Sequence[Callback] = ()
    others: tuple[Architecture, ...] = ()  # to choose from beside the first, where rows can tell

    def list_kinds(self) -> list[Plan]:
        """Give a plan for each architecture; each would do alone what it does here."""
        return [
            replace(self, architecture=each, others=(), seed=copy_seed(self.seed))
            for each in (self.architecture, *self.others)
        ]

    def adjust(self, **settings: float) -> Plan:
        """Give a copy with other settings of its recipe."""
        return replace(self, recipe=self.recipe.adjust(**settings))


def copy_seed(seed: np.random.SeedSequence) -> np.random.SeedSequence:
    """Give a seed of its own with the same children still to come."""
    return np.random.SeedSequence(
        seed.entropy, spawn_key=seed.spawn_key, n_children_spawned=seed.n_children_spawned
    )


@dataclass(frozen=True)
class CoreFit:
    """What the core trained, and how its channels and targets were scaled."""

    trained: Trained
    wiring: Wiring
    encoding: Encoding
    target_scale: TargetScale | None


@dataclass(frozen=True)
class Fitted:
    """A model and how training went.

    ``core`` is what continues a network trained by gradients, ``path`` what a
    grown one can be cut back to.
    """

    model: Model
    loss_curve: Floats
    best_loss: float
    interrupted: bool
    core: CoreFit | None = None
    path: GrowPath | None = None


def fit_network(data: Data, plan: Plan, before: CoreFit | None = None) -> Fitted:
    """Train a network on a table by gradients, and polish it where the recipe says so.

    With ``before`` its parameters are the start, on its encoding and targets'
    scale.
    """
    rows = settle_rows(data.X, data.y, data.weight)
    restarts = _train(data, plan, rows, before)
    sample = make_sample(data, rows)
    candidates = [
        (run, restarts.decode(run, plan, sample, partial=before is not None))
        for run in _choose_runs(restarts.runs, plan, before, len(rows.index))
    ]
    trained, model = candidates[0]
    wiring, encoding, target_scale = restarts.wiring, restarts.encoding, restarts.target_scale
    if plan.recipe.polish and before is None and can_be_polished(model.layers):
        ranking = learn_ranking(data.X, rows.index, data.fields, weight=rows.weight)
        targets, weight = weigh_rows(data, plan, rows, target_scale)
        ranks = ranking.encode(data.X, rows.index)
        ranked = RankedTable(ranks, targets, weight, directions=plan.directions)
        trained, model, shape = _polish(candidates, ranking, ranked, plan)
        params = to_params(shape, ranking, wiring, encoding, trained.params)
        trained = replace(trained, params=params, state=AdamState.fresh(params))
    snapped = snap(unscale(model, target_scale), sample, plan.n_threads, partial=before is not None)
    snapped = settle_gaps(snapped, sample)
    core = CoreFit(trained, wiring, encoding, target_scale)
    curve, loss = trained.loss_curve, trained.best_loss
    return Fitted(snapped, curve, loss, trained.interrupted, core)


def fit_restarts(data: Data, plan: Plan) -> list[Fitted]:
    """Train by gradients and give all restarts, their numbers not shortened."""
    restarts = _train(data, plan, settle_rows(data.X, data.y, data.weight), None)
    sample = make_sample(data)
    out = []
    for run in restarts.runs:
        model = unscale(restarts.decode(run, plan, sample), restarts.target_scale)
        core = CoreFit(run, restarts.wiring, restarts.encoding, restarts.target_scale)
        out.append(Fitted(model, run.loss_curve, run.best_loss, run.interrupted, core))
    return out


@dataclass(frozen=True)
class _Restarts:
    """What the core made of all starts, and how its channels and targets are scaled."""

    runs: list[Trained]
    wiring: Wiring
    encoding: Encoding
    target_scale: TargetScale | None

    def decode(self, run: Trained, plan: Plan, sample: Sample, *, partial: bool = False) -> Model:
        """Tell a run in the columns' units."""
        parts = (self.wiring, run.params, self.encoding, plan.output, sample)
        return decode(*parts, partial=partial)


def _train(data: Data, plan: Plan, rows: Rows, before: CoreFit | None) -> _Restarts:
    encoding = before.encoding if before is not None else _learn_encoding(data, plan, rows)
    wiring = Wiring(plan.architecture, tuple(c.n_points for c in encoding.channels))
    target_scale = before.target_scale if before is not None else scale_targets(data, plan, rows)
    _check_gaps(data, rows, encoding)
    # Held here alone: what follows looks at the user's rows, so the data is held once.
    table = _make_table(data, plan, rows, encoding, target_scale)
    columns = plan.directions or (0,) * data.X.shape[1]
    signs = wiring.make_signs([columns[channel.column] for channel in encoding.channels])
    runs = _train_starts(table, data.y[rows.index], plan, wiring, before, signs)
    return _Restarts(runs, wiring, encoding, target_scale)


def _choose_runs(
    runs: list[Trained], plan: Plan, before: CoreFit | None, n_rows: int
) -> list[Trained]:
    """Give the runs worth decoding, the best first: all small ones if they are polished."""
    best_first = sorted(runs, key=lambda run: (run.best_loss, run.run))
    if not plan.recipe.polish or before is not None:
        return best_first[:1]
    work = len(best_first[0].params) * n_rows
    return best_first[: 3 if work > _MUCH_WORK else None]


def _polish(
    candidates: list[tuple[Trained, Model]], ranking: Ranking, ranked: RankedTable, plan: Plan
) -> tuple[Trained, Model, CrispShape]:
    """Polish in turn; keep the first without an error, or else the lowest loss."""
    table = ranked.for_core(ranking, name_loss(plan.output), plan.output.n_scores)
    best = None
    for trained, model in candidates:
        start = to_crisp(model.layers, ranking)
        much = len(ranked.weight) * start.n_conditions > _MUCH_POLISH
        rounds, sweeps = (1, 1) if much else (3, 5)
        shape, loss, wrong = polish(
            start, table, ranking, rounds=rounds, sweeps=sweeps, n_threads=plan.n_threads
        )
        right = wrong == 0 and isinstance(plan.output, Classes)
        if best is None or right or loss < best[0]:
            best = (loss, trained, model, shape)
        if right:
            break
    assert best is not None  # noqa: S101 - there is a candidate
    loss, trained, model, shape = best
    widths = [layer.n_neurons for layer in model.layers[:-1]]
    polished = from_crisp(shape, ranking, model.schema, plan.output, widths)
    return replace(trained, best_loss=loss), polished, shape


def _train_starts(
    table: CoreTable,
    y: Floats,
    plan: Plan,
    wiring: Wiring,
    before: CoreFit | None,
    signs: Params | None,
) -> list[Trained]:
    seeds = plan.seed.spawn(plan.recipe.n_init if before is None else 1)
    if before is not None:
        start = before.trained.state.params
        # The fit before may have been free where this one is not.
        starts = [start if signs is None else np.where(signs * start < 0.0, 0.0, start)]
    else:
        ends = find_limits(table.x)
        starts = [draw_start(wiring, *ends, np.random.default_rng(s)) for s in seeds]
        if signs is not None:
            starts = [np.where(signs == 0.0, start, np.abs(start) * signs) for start in starts]
    table, validation = _split(table, y, plan)
    return train_all(
        wiring,
        table,
        plan.recipe,
        name_loss(plan.output),
        starts,
        [int(s.generate_state(1, np.uint64)[0]) for s in seeds],
        validation=validation,
        resume=before.trained.state if before is not None and not plan.recipe.keep_best else None,
        measure_start=before is not None and plan.recipe.keep_best,
        signs=signs,
        n_threads=plan.n_threads,
        callbacks=plan.callbacks,
    )


def _check_gaps(data: Data, rows: Rows, encoding: Encoding) -> None:
    for column, told in zip(data.X.T, encoding.schema.columns, strict=True):
        gap = np.isnan(column[rows.index])
        if not told.gaps and gap.any():
            row = int(rows.index[gap].min())
            raise InputError(
                f"column {told.name!r}, row {row} (counted from 0): has a gap or a category that "
                "the rows of the first fit had not; begin with rows that have them, or fit on all"
            )


def name_loss(output: Output) -> str:
    """Give the core's name of the loss."""
    if not isinstance(output, Classes):
        return "squared"
    return "binary" if output.n_scores == 1 else "categorical"


def _learn_encoding(data: Data, plan: Plan, rows: Rows) -> Encoding:
    return learn_encoding(
        data.X,
        rows.weight,
        rows.index,
        data.fields,
        scales=plan.input_scale,
        standardize=plan.recipe.standardize,
        keep_constant=plan.keep_constant,
    )


def scale_targets(data: Data, plan: Plan, rows: Rows) -> TargetScale | None:
    """Learn how amounts are centred and scaled; classes are not."""
    if isinstance(plan.output, Classes):
        return None
    pairs = [scale_column(column, rows.weight) for column in data.y[rows.index].T]
    shift, scale = np.array(pairs).T
    return TargetScale(shift, scale)


def scale_scores(scores: Floats, target_scale: TargetScale | None) -> Floats:
    """Give scores in the units of the loss."""
    if target_scale is None:
        return scores
    return np.asarray((scores - target_scale.shift) / target_scale.scale)


def weigh_rows(
    data: Data, plan: Plan, rows: Rows, target_scale: TargetScale | None
) -> tuple[NDArray[np.float32], Floats]:
    """Give the targets as the core wants them, and weights of mean 1."""
    y, weight = data.y[rows.index], rows.weight
    if plan.class_weight is not None:
        weight = weight * plan.class_weight[y[:, 0].astype(np.intp)]
    if target_scale is not None:
        y = (y - target_scale.shift) / target_scale.scale
    if not weight.sum() > 0.0:
        raise InputError("expected a class with a positive weight, got none")
    return y.astype(np.float32), weight * (len(weight) / weight.sum())


def _make_table(
    data: Data, plan: Plan, rows: Rows, encoding: Encoding, target_scale: TargetScale | None
) -> CoreTable:
    targets, weight = weigh_rows(data, plan, rows, target_scale)
    return CoreTable(encoding.encode(data.X, rows.index), targets, weight.astype(np.float32))


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


def make_sample(data: Data, rows: Rows | None = None) -> Sample:
    """Give the rows that shortened numbers must not disturb."""
    lead = settle_rows(data.X, data.y, data.weight) if rows is None else rows
    if data.weight is None:
        return Sample(data.X, data.y, np.ones(len(data.X)), lead)
    if np.all(data.weight != 0.0):
        return Sample(data.X, data.y, data.weight, lead)
    return Sample(data.X[lead.index], data.y[lead.index], lead.weight)
