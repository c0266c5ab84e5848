"""Training from a file to files: read, evaluate, fit, prove, write."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from newron._version import __version__
from newron.command.columns import Offset
from newron.command.outputs import Outputs
from newron.command.printing import find_card, is_card
from newron.command.progress import show_stage
from newron.command.streaming import StreamedNetwork, hold_out, sample_table
from newron.command.terminal import Console
from newron.errors import InputError, NewronWarning
from newron.estimators import NewronClassifier, NewronRegressor
from newron.evaluation import Evaluation, Predictions, cross_predict, evaluate
from newron.evaluation.baselines import make_baselines
from newron.evaluation.splits import Split, SplitPlan, choose_plan, make_splits
from newron.formatting import format_count
from newron.model import Classes, Measurement, Model, Targets
from newron.model.conformal import Conformal, calibrate_classes, calibrate_targets
from newron.model.processing import processing_names
from newron.objectives import read_objective
from newron.report import Origin
from newron.rules import RuleSet
from newron.rules.coverage import cover_rows
from newron.rules.extraction import extract
from newron.rules.rounding import round_card
from newron.rules.scorecard import read_card
from newron.tables import EncodedTable, LabelledTable, Target, read_labelled
from newron.tables.fingerprint import hash_table
from newron.tables.labelled import open_labelled
from newron.training.large import is_large
from newron.training.path import ModelPath
from newron.training.recipe import RECIPES

NETWORK = "network"
_CLASS_OBJECTIVES = ("log_loss", "ordinal")
_SECONDS = 3.0  # to look for shorter rules
_MAX_REPORTED = 20_000  # rows of a report


# ---- options ----


@dataclass(frozen=True)
class FitOptions:
    """How a network is trained; None leaves a choice to newron."""

    processing: str = "heaviside"
    hidden: tuple[int, ...] | str | None = None
    recipe: str = "default"
    size: int | str = "auto"
    terms: int = 60
    points: int = 5
    prune: bool = False
    class_weight: str | None = None
    objective: str | None = None
    offset: Offset | None = None
    seed: int = 0
    jobs: int = -1

    def find_task(self, task: str | None) -> str | None:
        """Return what the target must be for the objective; what the user said, without one."""
        if self.offset is not None and self.objective in _CLASS_OBJECTIVES:
            raise InputError(f"{self.offset.option}: expected numbers to predict, got classes")
        if self.objective is None:
            return task if self.offset is None else "regression"
        needed = "classes" if self.objective in _CLASS_OBJECTIVES else "regression"
        if task not in (None, needed):
            raise InputError(
                f"--objective {self.objective}: expected --task {needed}, got {task!r}"
            )
        return needed

    def check(self) -> None:
        """Raise where a name does not exist, in the words of the command line."""
        for option, value, known in (
            ("--processing", self.processing, (*processing_names(), "smooth")),
            ("--recipe", self.recipe, tuple(RECIPES)),
            ("--class-weight", self.class_weight, (None, "balanced")),
        ):
            if value not in known:
                names = ", ".join(name for name in known if name is not None)
                raise InputError(f"{option}: expected {names}, got {value!r}")
        if self.objective is not None and self.objective not in _CLASS_OBJECTIVES:
            try:
                n_scores = read_objective(self.objective).n_scores
            except InputError as error:
                others = " or ".join(_CLASS_OBJECTIVES)
                raise InputError(f"--{error}; for classes {others}") from None
            if n_scores > 1:
                raise InputError(
                    f"--objective {self.objective}: expected one quantile, got {n_scores}; fit "
                    "one network for each, or several at once in Python"
                )
        chosen = self.recipe == "default" and self.hidden != "auto"
        if self.processing == "smooth" and not chosen:
            raise InputError(
                "--processing smooth: expected the default recipe and not --hidden auto, got "
                "others; name sigmoid or tanh_prod"
            )

    @property
    def may_stream(self) -> bool:
        """Whether large tables can be trained in blocks."""
        kinds = ("heaviside", "smooth", "sigmoid", "tanh_prod")
        whole = self.prune or self.hidden == "auto" or self.recipe != "default"
        whole = whole or self.objective == "ordinal"  # limits are found first
        whole = whole or self.offset is not None
        return self.processing in kinds and not whole

    def make_estimator(self, y: Target, units: Mapping[str, str] | None = None) -> Any:
        """Return the estimator for a target, not fitted yet; ``units`` are those of columns."""
        settings: dict[str, Any] = {
            "recipe": self.recipe,
            "size": self.size,
            "max_terms": self.terms,
            "pruning": self.prune,
            "random_state": self.seed,
            "n_jobs": self.jobs,
        }
        if units:
            settings["domains"] = dict(units)
        if self.hidden is not None:
            settings["hidden_layer_sizes"] = self.hidden
        if self.objective is not None or y.ordered:
            settings["objective"] = self.objective or "ordinal"
        if y.labels is None:
            return NewronRegressor(self.processing, **settings)
        return NewronClassifier(self.processing, class_weight=self.class_weight, **settings)


def parse_hidden(text: str | None) -> tuple[int, ...] | str | None:
    """Parse the option for hidden layers.

    >>> parse_hidden("4,2"), parse_hidden("0"), parse_hidden("auto")
    ((4, 2), (), 'auto')
    """
    if text is None or text == "auto":
        return text
    try:
        widths = tuple(int(word) for word in text.split(","))
    except ValueError:
        widths = (-1,)
    if widths == (0,):
        return ()
    if min(widths) < 1:
        raise InputError(f"--hidden: expected numbers such as 4,2, or auto, or 0, got {text!r}")
    return widths


def parse_size(text: str) -> int | str:
    """Parse the option for the size of the network.

    >>> parse_size("auto"), parse_size("12")
    ('auto', 12)
    """
    if text in ("auto", "best", "whole"):
        return text
    if not text.isdecimal():
        raise InputError(f"--size: expected auto, best, whole or a number of lines, got {text!r}")
    return int(text)


def plan_splits(y: Target, folds: int | None, test: float | None) -> SplitPlan:
    """Decide on which rows to evaluate, in the words of the command line."""
    if folds is not None and test is not None:
        raise InputError("expected --folds or --test, got both")
    try:
        return choose_plan(
            y.values, classification=y.labels is not None, n_folds=folds, test_size=test
        )
    except InputError as error:
        raise InputError(f"{'--test' if folds is None else '--folds'}: {error}") from None


# ---- fitting ----


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


@dataclass(frozen=True)
class FitResult:
    """What a fit found: all that is printed and reported."""

    data: Path
    table: LabelledTable
    options: FitOptions
    plan: SplitPlan
    predictions: Predictions | None  # of the rows that were evaluated on
    model: Model
    rules: RuleSet | None  # of a crisp network
    path: ModelPath | None  # to shorter and longer networks
    seconds: float

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """How good network and baselines are on rows that they were not trained on."""
        return None if self.predictions is None else evaluate(self.predictions)

    @cached_property
    def measurement(self) -> Measurement | None:
        """What the model's file keeps of the evaluation."""
        if self.evaluation is None or self.evaluation.n_rows < 2:
            return None
        y, X = self.table.y, self.table.X
        known = replace(
            self.evaluation,
            seed=self.options.seed,
            fingerprint=hash_table(X.names, X.rows, y.values[:, None].astype(np.float64)),
        )
        return known.to_measurement(source=self.data.name, n_trained=self.n_trained)

    @cached_property
    def conformal(self) -> Conformal | None:
        """What intervals and sets are made of: the network's errors on rows it did not see."""
        if self.predictions is None or len(self.predictions.truth) < 2:
            return None
        protocol = "cross-validation" if self.plan.n_folds else "test rows"
        truth, output = self.predictions.truth, self.model.output
        if isinstance(output, Targets):
            predicted = self.predictions.predicted[NETWORK].reshape(len(truth), -1)
            values = truth.reshape(len(truth), -1)
            return calibrate_targets(output, values, predicted, protocol=protocol)
        labels = self.predictions.labels or ()
        places = [labels.index(label) for label in output.labels]
        known = np.isin(truth, places)  # test rows may have other classes
        probabilities = self.predictions.probabilities[NETWORK][known][:, places]
        order = np.zeros(len(labels), np.intp)
        order[places] = np.arange(len(places))
        numbers, own = order[truth[known]], None
        if self.plan.n_folds:
            index = self.predictions.index[known]
            own = numbers, self.model.predict_proba(self.table.X[index])
        return calibrate_classes(numbers, probabilities, own=own, protocol=protocol)

    @property
    def unused(self) -> list[str]:
        """The columns that no function reads."""
        used = {int(source) for layer in self.model.layers for source in layer.source}
        return [name for i, name in enumerate(self.model.schema.names) if i not in used]

    @property
    def n_trained(self) -> int:
        """How many rows the network was trained on."""
        return self.table.n_rows - (0 if self._test_rows is None else len(self._test_rows))

    @property
    def _test_rows(self) -> NDArray[np.intp] | None:
        if self.predictions is None or self.plan.n_folds:
            return None
        return self.predictions.index

    def count_agreement(self) -> int:
        """Return on how many rows of the table rules and network agree."""
        X = self.table.X
        return (
            0 if self.rules is None else int((self.rules.predict(X) == self.model.predict(X)).sum())
        )

    def write_report(self, path: Path, command: str) -> None:
        """Write the report: of the test rows, or of all rows where there are none."""
        from newron.command.advice import list_fit_notes  # which reads results

        index = keep_known(self.table.y, self.model, self._test_rows)[:_MAX_REPORTED]
        truth = np.asarray(self.table.y[index])
        options = asdict(self.options)
        self.model.report(
            path,
            self.table.X[index],
            truth if self.options.offset is None else None,  # of other exposures
            target=self.table.y.name,
            source=self.data.name,
            seen=len(index) if self._test_rows is None else 0,
            origin=Origin(
                recipe=options.pop("recipe"),
                seed=str(options.pop("seed")),
                settings={name: value for name, value in options.items() if value is not None},
                versions={"newron": __version__, "Python": platform.python_version()},
                n_rows=self.n_trained,
                command=command,
                notes=tuple(list_fit_notes(self)),
            ),
            rules=self.rules,
        )


def read_table(
    console: Console, data: Path, target: str, *, may_stream: bool = False, **columns: Any
) -> LabelledTable:
    """Read a table to train on, or a sample of a large one, and show how far that is."""
    with show_stage(console, "reading", stays=False) as stage:
        if not may_stream:
            return read_labelled(data, target, **columns, on_progress=stage.update)
        labelled = open_labelled(data, target, **columns, on_progress=stage.update)
        source = labelled.source

        def on_batch() -> None:
            stage.update(source.total + source.done, 2 * source.total)

        if is_large(labelled.n_used, len(labelled.fields)) and not labelled.ordered:
            return sample_table(labelled, on_batch)
        return labelled.read(on_batch)


def rank_classes(table: LabelledTable, options: FitOptions) -> LabelledTable:
    """Return the table whose classes are said to be ordered, or not, by the objective."""
    several = table.y.labels is not None and len(table.y.labels) > 2
    if options.objective == "ordinal" and not several:
        n = len(table.y.labels or ())
        raise InputError(f"--objective ordinal: expected at least 3 classes, got {n}")
    if options.objective is None:
        return table
    return replace(table, y=replace(table.y, ordered=options.objective == "ordinal"))


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
    if options.offset is not None:
        table = replace(table, X=options.offset.split(table.X)[0])
    rules = _extract_rules(table, model) if model.is_crisp else None
    seconds = time.perf_counter() - begin
    result = FitResult(data, table, options, plan, predictions, model, rules, fitted.path_, seconds)
    if result.measurement is not None:
        model = model.attach(result.measurement)
        parts = model.schema, model.layers, model.output, model.measured
        result = replace(result, model=Model(*parts, result.conformal, model.means))
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


def keep_known(y: Target, model: Model, index: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Return the rows whose class a model knows: test rows may have others."""
    chosen = np.arange(len(y)) if index is None else index
    if y.labels is None or not isinstance(model.output, Classes):
        return chosen
    codes = [y.labels.index(label) for label in model.output.labels]
    return np.asarray(chosen[np.isin(y.values[chosen], codes)])
