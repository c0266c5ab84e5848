"""``newron fit --event died --time months``: from a table to hazards that can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from newron.command.columns import take_column
from newron.command.fit_options import FitOptions
from newron.command.fit_task import TaskResult, attach_quality, finish_task
from newron.command.outputs import Outputs
from newron.command.progress import show_stage
from newron.command.rows import MAX_ROWS
from newron.command.terminal import Console, bold, dim
from newron.errors import InputError, ModelError
from newron.estimators import NewronSurvival
from newron.evaluation import SurvivalQuality
from newron.evaluation.splits import SplitPlan, make_splits
from newron.evaluation.task_validation import validate_survival
from newron.evaluation.times import Times
from newron.formatting import format_count, format_rounded
from newron.tables import EncodedTable, LabelledTable

CARD = "card.txt"


@dataclass(frozen=True)
class SurvivalTask:
    """What is asked for: the column of times, and the objective."""

    time: str
    objective: str = "survival"


def find_survival(
    objective: str | None, target: str | None, event: str | None, time: str | None
) -> SurvivalTask | None:
    """Return the task where the options name one of survival."""
    named = objective is not None and objective.partition(":")[0] == "survival"
    if not named and event is None and time is None:
        return None
    if event is None or time is None or target is not None:
        raise InputError("survival: expected --event and --time, and no --target, got others")
    if objective is not None and not named:
        raise InputError(f"--objective: expected survival with --event and --time, got {objective}")
    return SurvivalTask(time, objective or "survival")


def split_time(table: LabelledTable, time: str) -> tuple[EncodedTable, Times, int]:
    """Return the inputs, events and times of a table, and how many rows lack a time."""
    X, y = table.X, table.y
    if y.labels is None or len(y.labels) != 2:
        got = "numbers" if y.labels is None else format_count(len(y.labels), "class", "classes")
        raise InputError(f"--event: expected two values, whether it happened, got {got}")
    kinds = dict(zip(X.names, X.fields, strict=True))
    X, when = take_column(X, time, "--time")
    if kinds[time].categories is not None:
        raise InputError(f"--time: expected numbers in {time!r}, got text")
    known = ~np.isnan(when)
    if not (when[known] >= 0.0).all():
        raise InputError(f"--time: expected times from 0 on in {time!r}, got negative ones")
    times = Times(y.values[known] == 1, when[known], y.name, time)
    return X[known], times, int((~known).sum())


def fit_survival(
    console: Console,
    data: Path,
    table: LabelledTable,
    task: SurvivalTask,
    options: FitOptions,
    plan: SplitPlan,
    outputs: Outputs,
) -> None:
    """Announce the task, measure in folds or on a part, fit, print, write."""
    time = task.time
    X, times, n_lacking = split_time(table, time)
    _announce(console, X, times, n_lacking)
    units = {name: unit for name, unit in table.units.items() if name in (*X.names, time)}
    estimator = make_estimator(options, units).set_params(objective=task.objective)
    quality = _measure(console, estimator, X, times, plan, options.seed)
    with show_stage(console, "final fit") as stage:
        stage.update(0, 1, format_count(len(X), "row"))
        fitted = estimator.fit(X, times)
    if quality is not None:
        attach_quality(fitted, X, times, quality, plan, data.name, options.seed)
    measured = None if quality is None else quality.to_dict()

    def write_report(path: Path) -> None:
        rows = slice(None, MAX_ROWS)
        fitted.report(path, X[rows], times.take(np.arange(len(X))[rows]), source=data.name)

    measures, text = _list_measures(quality), _describe(fitted)
    result = TaskResult(fitted, measured, measures, text, CARD, write_report)
    finish_task(console, outputs, result)


def make_estimator(options: FitOptions, units: Mapping[str, str]) -> NewronSurvival:
    """Return the estimator, not fitted yet; by default columns and time are added up."""
    settings: dict[str, Any] = {"domains": dict(units)} if units else {}
    return NewronSurvival(
        options.processing,
        recipe=options.recipe,
        size=options.size,
        max_terms=options.terms,
        pruning=options.prune,
        hidden_layer_sizes=() if options.hidden is None else options.hidden,
        random_state=options.seed,
        n_jobs=options.jobs,
        **settings,
    )


def _announce(console: Console, X: EncodedTable, times: Times, n_lacking: int) -> None:
    if console.as_json or console.quiet:
        return
    happened = int(times.event.sum())
    console.print(
        bold(f"  Survival: {times.event_name} until {times.time_name}"),
        dim(f"  {happened} events in {format_count(len(times), 'row')}, {len(X.names)} inputs"),
    )
    if n_lacking:
        console.note(f"{format_count(n_lacking, 'row')} without {times.time_name} left out")


def _measure(
    console: Console,
    estimator: NewronSurvival,
    X: EncodedTable,
    times: Times,
    plan: SplitPlan,
    seed: int,
) -> SurvivalQuality | None:
    """Measure on rows that a network was not trained on, with all folds together."""
    splits = make_splits(times.event, plan, seed)
    if not splits:
        return None
    with show_stage(console, f"{len(splits)} folds" if plan.n_folds else "training") as stage:
        return validate_survival(
            estimator, X, times, splits, lambda k, n: stage.update(k, n, f"{k} of {n}")
        )


def _describe(fitted: NewronSurvival) -> str:
    """Return the card of risk, or the curves of what is no card."""
    if fitted.model_.is_crisp:
        try:
            return str(fitted.riskcard())
        except ModelError:
            return str(fitted.rules())
    return str(fitted.shapes(by="column"))


def _list_measures(quality: SurvivalQuality | None) -> list[str]:
    if quality is None:
        return []
    concordance, brier = quality.concordance, quality.brier
    low, high = format_rounded(concordance.low), format_rounded(concordance.high)
    return [
        f"Concordance on new rows {format_rounded(concordance.value)}, 95 % interval {low} to "
        f"{high} (chance 0.5).",
        f"Integrated Brier score {format_rounded(brier.value)}; one curve for all, "
        f"{format_rounded(quality.constant_brier.value)}.",
    ]
