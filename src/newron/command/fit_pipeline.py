"""Training from a file to files: read, evaluate, fit, prove, write."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from newron.command.columns import Offset
from newron.command.fit_options import FitOptions
from newron.command.fit_result import NETWORK, FitResult, keep_known
from newron.command.options import parse_units
from newron.command.outputs import Outputs
from newron.command.printing import find_card, is_card
from newron.command.progress import show_stage
from newron.command.streaming import StreamedNetwork, hold_out, sample_table
from newron.command.terminal import Console
from newron.errors import InputError, NewronWarning
from newron.evaluation import Predictions, cross_predict
from newron.evaluation.baselines import make_baselines
from newron.evaluation.splits import Split, SplitPlan, make_splits
from newron.formatting import format_count
from newron.model import Classes, Model
from newron.rules import RuleSet
from newron.rules.coverage import cover_rows
from newron.rules.extraction import extract
from newron.rules.rounding import round_card
from newron.rules.scorecard import read_card
from newron.tables import EncodedTable, LabelledTable, Target
from newron.tables.labelled import open_labelled
from newron.training.large import is_large
from newron.training.path import ModelPath

_SECONDS = 3.0  # to look for shorter rules


class CardEstimator(BaseEstimator):  # type: ignore[misc]
    """Trains a network; the conditions of a score card then get whole points."""

    def __init__(self, network: Any, max_points: int = 0, offset: Offset | None = None) -> None:
        self.network = network
        self.max_points = max_points
        self.offset = offset

    def fit(self, X: EncodedTable, y: Target) -> Self:
        """Train on a table."""
        extra = {}
        if self.offset is not None:
            X, extra["offset"] = self.offset.split(X)
        fitted = clone(self.network).fit(X, y, **extra)
        model: Model = fitted.model_
        self.path_: ModelPath | None = fitted.path_
        if self.max_points and is_card(model) and read_card(model).points.terms:
            # Without time for improvements: these end by the clock, not when they are the same.
            rows = cover_rows(model, X, np.asarray(y))
            model = round_card(model, self.max_points, rows, seconds=0.0).model
        self.model_ = model
        return self

    def predict(self, X: EncodedTable) -> NDArray[Any]:
        """Predict classes or numbers."""
        with warnings.catch_warnings():
            # Validation rows may have categories that the others lack.
            warnings.simplefilter("ignore", NewronWarning)
            if self.offset is None:
                return self.model_.predict(X)
            X, offset = self.offset.split(X)
            return self.model_.predict(X, offset=offset)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of the probabilities."""
        return self._get_classes().array

    @available_if(lambda self: is_classifier(self))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: EncodedTable) -> NDArray[Any]:
        """Predict the probability of each class."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NewronWarning)
            return self.model_.predict_proba(X)

    def _get_classes(self) -> Classes:
        output = self.model_.output
        assert isinstance(output, Classes)  # noqa: S101 - of a classifier
        return output

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the network."""
        return get_tags(self.network)


def read_table(
    console: Console, data: Path, target: str, *, may_stream: bool = False, **columns: Any
) -> LabelledTable:
    """Read a table to train on, or a sample of a large one, and show how far that is."""
    with show_stage(console, "reading", stays=False) as stage:
        labelled = open_labelled(data, target, **columns, on_progress=stage.update)
        source = labelled.source

        def on_batch() -> None:
            stage.update(source.total + source.done, 2 * source.total)

        may_stream = may_stream and not labelled.ordered
        if may_stream and is_large(labelled.n_used, len(labelled.fields)):
            return sample_table(labelled, on_batch)
        return labelled.read(on_batch)


def prepare_table(
    console: Console,
    data: Path,
    target: str,
    options: FitOptions,
    units: list[str] | None,
    **columns: Any,
) -> LabelledTable:
    """Read a table, with what options say of its columns and classes."""
    table = read_table(console, data, target, **columns)
    if options.offset is not None:
        options.offset.split(table.X)  # raises where the column is none
    table = replace(table, units={**table.units, **parse_units(units, table.X.names)})
    if options.objective is None:
        return table
    ordered = options.objective == "ordinal"
    n_classes = len(table.y.labels or ())
    if ordered and n_classes < 3:
        raise InputError(f"--objective ordinal: expected at least 3 classes, got {n_classes}")
    return replace(table, y=replace(table.y, ordered=ordered))


def fit_table(
    console: Console,
    data: Path,
    table: LabelledTable,
    options: FitOptions,
    plan: SplitPlan,
    outputs: Outputs,
) -> tuple[FitResult, dict[str, str]]:
    """Evaluate, train, read rules, write all files; return the result and what was written."""
    begin = time.perf_counter()
    units = {name: unit for name, unit in table.units.items() if name in table.X.names}
    network = options.make_estimator(table.y, units)
    classification = table.y.labels is not None
    splits = (
        make_splits(table.y.values, plan, options.seed, stratify=classification) if plan else []
    )
    if table.whole is not None:
        network = StreamedNetwork(network, hold_out(table, splits), console)
    estimator = CardEstimator(network, options.points, options.offset)
    predictions = _predict_splits(console, table, estimator, splits, plan)
    if plan.test_size and predictions is not None:
        if not isinstance(predictions.fitted, CardEstimator):
            raise InputError("--test: expected at least 2 classes beside the test rows, got 1")
        fitted = predictions.fitted
    else:
        with show_stage(console, "final fit") as stage:
            stage.update(0, 1, format_count(table.n_rows, "row"))
            fitted = estimator.fit(table.X, table.y)
    model: Model = fitted.model_
    offset = None
    if options.offset is not None:
        X, offset = options.offset.split(table.X)
        table = replace(table, X=X)
    rules = _extract_rules(table, model) if model.is_crisp else None
    seconds = time.perf_counter() - begin
    result = FitResult(
        data, table, options, plan, predictions, model, rules, fitted.path_, seconds, offset
    )
    if result.measurement is not None:
        model = model.attach(result.measurement)
        result = replace(result, model=model.replace(conformal=result.conformal))
    written = outputs.write(
        result.model, rules, lambda path: result.write_report(path, console.command)
    )
    return result, written


def _predict_splits(
    console: Console,
    table: LabelledTable,
    estimator: Any,
    splits: Sequence[Split],
    plan: SplitPlan,
) -> Predictions | None:
    if not plan:
        return None
    classification = table.y.labels is not None
    baselines = make_baselines(table.X, classification=classification)
    rows = format_count(table.n_rows - sum(len(test) for _, test in splits), "row")
    with show_stage(console, f"{plan.n_folds} folds" if plan.n_folds else "training") as stage:
        return cross_predict(
            {NETWORK: estimator, **baselines},
            table.X,
            table.y,
            splits,
            lambda i, n: stage.update(i, n, f"{i} of {n}" if plan.n_folds else rows),
        )


def _extract_rules(table: LabelledTable, model: Model) -> RuleSet:
    # A card of many conditions is points anyhow; the search for shorter rules takes seconds.
    form = "shortest" if find_card(model) is None else "points"
    rules = extract(model, form=form, seconds=_SECONDS)
    index = keep_known(table.y, model)
    return rules.cover(table.X[index], np.asarray(table.y[index]))
