"""``newron fit --labels funny,sad``: from a table to a network of several labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from newron.command.columns import read_presence, take_column
from newron.command.fit_options import FitOptions
from newron.command.fit_task import TaskResult, attach_quality, finish_task
from newron.command.outputs import Outputs
from newron.command.progress import show_stage
from newron.command.terminal import Console, bold, dim
from newron.errors import InputError
from newron.estimators import NewronClassifier
from newron.evaluation.indicator import Indicator
from newron.evaluation.label_quality import LabelQuality
from newron.evaluation.splits import SplitPlan, make_splits
from newron.evaluation.task_validation import validate_labels
from newron.formatting import format_count, format_percent
from newron.tables import EncodedTable, LabelledTable

_OBJECTIVES = (None, "log_loss")


def parse_labels(text: str | None, others: Sequence[object], options: FitOptions) -> list[str]:
    """Return the columns that are labels; none where the option is not given.

    >>> parse_labels("funny, sad", (None, None), FitOptions())
    ['funny', 'sad']
    """
    if text is None:
        return []
    names = [word.strip() for word in text.split(",")]
    if len(set(names)) < 2 or len(set(names)) < len(names) or "" in names:
        raise InputError(f"--labels: expected different columns such as funny,sad, got {text!r}")
    if any(other is not None for other in others) or options.objective not in _OBJECTIVES:
        raise InputError("--labels: expected no --target, --event, --order or --objective, got one")
    if options.class_weight is not None:
        raise InputError("--labels: expected no --class-weight, got one")
    return names


def split_labels(table: LabelledTable, names: Sequence[str]) -> tuple[EncodedTable, Indicator, int]:
    """Return the inputs and labels of a table, and how many rows lack a label."""
    X, y = table.X, table.y
    first = y.values.astype(np.float64)
    columns = [read_presence(first, y.labels, names[0])]
    for name in names[1:]:
        kinds = dict(zip(X.names, X.fields, strict=True))
        X, codes = take_column(X, name, "--labels")
        columns.append(read_presence(codes, kinds[name].categories, name))
    values = np.column_stack(columns)
    known = ~np.isnan(values).any(axis=1)
    rows = EncodedTable(X.fields, X.rows[known])
    return rows, Indicator(tuple(names), values[known]), int((~known).sum())


def fit_labels(
    console: Console,
    data: Path,
    table: LabelledTable,
    names: Sequence[str],
    options: FitOptions,
    plan: SplitPlan,
    outputs: Outputs,
) -> None:
    """Announce the task, measure in folds or on a part, fit, print, write."""
    X, labels, n_lacking = split_labels(table, names)
    _announce(console, X, labels, n_lacking)
    units = {name: unit for name, unit in table.units.items() if name in X.names}
    estimator = NewronClassifier(**options.list_settings(units))
    found = _measure(console, estimator, X, labels, plan, options.seed)
    with show_stage(console, "final fit") as stage:
        stage.update(0, 1, format_count(len(X), "row"))
        fitted = estimator.fit(X, labels)  # type: ignore[arg-type]
    if found is not None:
        attach_quality(fitted, X, labels, found, plan, data.name, options.seed)
    measured = None if found is None else found.to_dict()
    result = TaskResult(fitted, measured, _list_measures(found), _describe(fitted), "rules.txt")
    finish_task(console, outputs, result)


def _announce(console: Console, X: EncodedTable, labels: Indicator, n_lacking: int) -> None:
    if console.as_json or console.quiet:
        return
    console.print(bold(f"  Labels: {', '.join(labels.names)}"))
    shares = [
        f"{name} in {format_percent(part)}"
        for name, part in zip(labels.names, labels.values.mean(axis=0).tolist(), strict=True)
    ]
    console.print(dim(f"  {format_count(len(X), 'row')}, {len(X.names)} inputs"))
    console.print(dim(f"  {', '.join(shares)}"))
    if n_lacking:
        console.note(f"{format_count(n_lacking, 'row')} without a label's value left out")


def _measure(
    console: Console,
    estimator: NewronClassifier,
    X: EncodedTable,
    labels: Indicator,
    plan: SplitPlan,
    seed: int,
) -> LabelQuality | None:
    """Measure on rows that a network was not trained on, with all folds together."""
    # Folds keep the proportions of how many labels a row has, as far as they can.
    splits = make_splits(labels.values.sum(axis=1), plan, seed, stratify=False) if plan else []
    if not splits:
        return None
    with show_stage(console, f"{plan.n_folds} folds" if plan.n_folds else "training") as stage:
        return validate_labels(
            estimator, X, labels, splits, lambda k, n: stage.update(k, n, f"{k} of {n}")
        )


def _list_measures(found: LabelQuality | None) -> list[str]:
    """Return how often all labels of a row, and each one, are right, in lines."""
    if found is None:
        return []
    whole, usual = found.subset_accuracy, found.constant_accuracy.value
    low, high = format_percent(whole.low), format_percent(whole.high)
    lines = [
        f"All labels right for {format_percent(whole.value)} of new rows, 95 % interval {low} to "
        f"{high}; always the most frequent ones, {format_percent(usual)}.",
    ]
    width = max(map(len, found.labels))
    for name, one in found.labels.items():
        right, same = one.accuracy.value, one.majority_accuracy.value
        lines.append(
            f"{name:{width}}  {format_percent(right)} right, always the same {format_percent(same)}"
        )
    return lines


def _describe(fitted: NewronClassifier) -> str:
    """Return the rules of each label, or the curves of what has none."""
    model = fitted.model_
    if not model.is_crisp:
        return str(fitted.shapes(by="column"))
    blocks = [str(model.label(name).rules()) for name in model.output.names]  # type: ignore[union-attr]
    return "\n\n".join(blocks)
