"""Everything that a report shows, gathered before a word of it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, ModelError
from newron.evaluation import (
    ClassificationQuality,
    GroupComparison,
    RegressionQuality,
)
from newron.evaluation.groups import compare_model_groups
from newron.evaluation.measurement import fingerprint_rows, read_truth
from newron.evaluation.quality import measure_scores
from newron.explanations.importance import Importance, measure_importance
from newron.figures.diagram import Diagram
from newron.figures.diagram_reader import read_diagram
from newron.figures.figure import Picture, compose
from newron.figures.joining import join_inputs
from newron.model.arithmetic import Floats
from newron.model.conformal import Conformal
from newron.model.labels import refuse_labels
from newron.model.measurement import Measurement
from newron.model.model import Model
from newron.model.output import Classes, Output, Targets, add_offset, read_targets
from newron.model.survival import Survival, list_fields, read_subjects
from newron.model.terms import Terms, split_terms
from newron.report.labels import Labels, rename, rename_card
from newron.report.origin import Origin
from newron.report.survival_facts import SurvivalFacts, gather_survival, show_hazards
from newron.rules.axis import Axis, make_axes
from newron.rules.circuit import find_boundaries
from newron.rules.crisp import Fidelity, make_crisp, measure_fidelity
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet
from newron.rules.scorecard import ScoreCard
from newron.shapes.bands import has_bands, measure_bands
from newron.shapes.effects import Effects, read_effects
from newron.tables import EncodedTable

_MOST_PICKED, _MOST_CELLS = 300, 8000  # rows that a reader can choose, and their values
_MOST_WEIGHED = 2000  # rows on which importance and fidelity are measured
_MOST_WORK = 400_000_000  # rows by functions by functions held, where these are many
_MOST_CRISP = 60  # functions of a crisp network whose rules are worth a look
FEW_SEEN = 0.1  # the fraction of training rows that makes no great difference
_ROW_NAME = "the values above"


@dataclass(frozen=True)
class Facts:
    """What a report shows.

    - ``model``: The network that is shown, under the names of the page.
    - ``rewritten``: Whether it is the network of the rules, with the same scores, and not the one
      given.
    - ``fingerprint``: That of the model as it was given.
    - ``card``: The card, if one was given: then points are shown instead of weights.
    - ``measured``: How good the model was on new rows: the newest that its file has.
    - ``conformal``: What intervals of predictions, or sets of classes, are made of.
    - ``seen``: How many of the rows are rows of training; None if that is not known.
    - ``rows`` of shape (rows, columns): As ``model.read`` gives them.
    - ``truth``: The numbers of the true classes, or the true targets of shape (rows, targets).
    - ``offset``: What is added to the score of each row; None if nothing is.
    - ``picked``: The rows that a reader can choose.
    - ``groups``: How predictions differ between groups, where that was asked for.
    - ``quality``: None without truth.
    - ``rules``: Of crisp networks.
    - ``crisp``: Of soft networks, the nearest crisp one: its rules, and how faithful it is.
    - ``diagram``: All functions, with their readings, curves and influence; those of one input are
      one curve where a single sum adds them up.
    - ``axes``: The cells of the columns.
    - ``fixed``: The columns that stay as they are in changes.
    - ``pictures``: The network, wide and narrow.
    - ``survival``: When the event happens, of a network of hazards.
    """

    model: Model
    rewritten: bool
    fingerprint: str
    card: ScoreCard | None
    labels: Labels
    origin: Origin
    measured: Measurement | None
    conformal: Conformal | None
    seen: int | None
    rows: Floats
    truth: NDArray[Any] | None
    offset: ArrayLike | None
    scores: Floats
    picked: NDArray[np.intp]
    quality: ClassificationQuality | list[RegressionQuality] | None
    groups: GroupComparison | None
    rules: RuleSet | None
    crisp: tuple[RuleSet | None, Fidelity] | None
    diagram: Diagram
    importance: Importance
    axes: tuple[Axis, ...]
    fixed: tuple[int, ...]
    pictures: tuple[Picture, Picture]
    survival: SurvivalFacts | None = None

    @property
    def classes(self) -> Classes | None:
        """The classes; None for regression."""
        return self.model.output if isinstance(self.model.output, Classes) else None

    @property
    def predicted(self) -> Floats:
        """The predictions of the targets, of shape (rows, targets)."""
        assert isinstance(self.model.output, Targets)  # noqa: S101 - asked for regression
        return predict_targets(self.model.output, self.scores, self.offset)

    @property
    def is_binary(self) -> bool:
        """Whether one score decides between two classes."""
        return self.classes is not None and len(self.classes.labels) == 2

    @property
    def is_ordered(self) -> bool:
        """Whether one score decides between ordered classes."""
        return self.classes is not None and self.classes.is_ordered

    @property
    def bands(self) -> list[tuple[int, Fraction]]:
        """Numbers of classes and from which total on each is predicted, the highest first."""
        if self.card is not None:
            return self.card.bands
        assert self.classes is not None  # noqa: S101 - asked for one score of classes
        limits = enumerate(self.classes.thresholds, 1)
        return [(k, self._centre + Fraction(repr(limit))) for k, limit in limits][::-1]

    @property
    def is_crisp(self) -> bool:
        """Whether all functions are conditions."""
        return self.diagram.is_crisp

    @property
    def exhaustive(self) -> bool:
        """Whether the rows are all possible inputs: then nothing is estimated."""
        return isinstance(self.quality, ClassificationQuality) and self.quality.exhaustive

    @property
    def is_new(self) -> bool:
        """Whether the rows show how good the model is: hardly any is a row of training."""
        few = self.seen is not None and self.seen < max(FEW_SEEN * len(self.rows), 1)
        known = self.quality is not None
        if self.survival is not None:
            known = self.survival.quality is not None
        return known and (few or self.exhaustive)

    @cached_property
    def terms(self) -> Terms | None:
        """What columns and pairs add to the scores of a smooth network; None of others."""
        if self.is_crisp or self.model.layers[-1].aggregation != "sum":
            return None
        found = split_terms(self.model)
        return None if any(len(term.columns) > 2 for term in found.terms) else found

    @cached_property
    def effects(self) -> Effects | None:
        """The curves and surfaces of these terms, with bands where there are true answers."""
        if self.terms is None:
            return None
        if self.truth is None or not len(self.rows) or not has_bands(self.model):
            return read_effects(self.model)
        trained = self.origin.n_rows if self.measured is None else self.measured.n_trained
        return measure_bands(
            self.model, EncodedTable(self.model.fields, self.rows), self.truth, n_rows=trained
        )

    @property
    def limit(self) -> Fraction:
        """The total from which on the second of two classes is predicted, as it is shown."""
        return self._centre if self.card is None else self.card.threshold

    @property
    def _centre(self) -> Fraction:
        centre = self.model.layers[-1].centre
        return Fraction(0) if centre is None else Fraction(repr(float(centre[0])))

    @property
    def used(self) -> list[int]:
        """The columns that a function reads, the most important first."""
        read = {int(s) for layer in self.model.layers for s in layer.source}
        order = [self.model.schema.names.index(one.name) for one in self.importance]
        return [i for i in order if i in read]


def gather(
    model: Model | ScoreCard,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    labels: Labels | None = None,
    origin: Origin | None = None,
    seen: int | None = None,
    rules: RuleSet | None = None,
    fixed: str | Sequence[str] = (),
    groups: str | tuple[str, ArrayLike] | None = None,
    offset: ArrayLike | None = None,
    seconds: float = 5.0,
) -> Facts:
    """Gather what there is to show of a model on some rows; see :meth:`Model.report`."""
    labels = Labels() if labels is None else labels
    given = model.model if isinstance(model, ScoreCard) else model
    if isinstance(given.output, Survival):
        return _gather_hazards(
            model, X, y, labels, groups, seen=seen, fixed=fixed, origin=origin, seconds=seconds
        )
    rows, truth = _read(given, X, y, offset, seen)
    held = _find_columns(given, fixed)
    card = rename_card(model, labels) if isinstance(model, ScoreCard) else None
    named = rename(given, labels) if card is None else card.model
    if card is not None:
        found: RuleSet | None = card.rules
    else:
        found = rules if rules is not None and named == given else _find_rules(named, seconds)
    shown = named if found is None else _rewrite(named, found, rows)
    scores = shown.score_rows(rows)
    axes = make_axes(shown.schema, find_boundaries(shown))
    picked = _draw_rows(len(rows), min(_MOST_PICKED, max(_MOST_CELLS // rows.shape[1], 1)))
    few = max(_MOST_WORK // max(shown.n_functions, 1) ** 2, 20)
    some = EncodedTable(shown.fields, rows[_draw_rows(len(rows), min(_MOST_WEIGHED, few))])
    return Facts(
        model=shown,
        rewritten=shown != named,
        fingerprint=given.fingerprint,
        card=card,
        labels=labels,
        origin=Origin() if origin is None else origin,
        measured=given.measured[-1] if given.measured else None,
        conformal=given.conformal,
        seen=_count_seen(given, rows, truth) if seen is None else seen,
        rows=rows,
        truth=truth,
        offset=offset,
        scores=scores,
        picked=picked,
        quality=_measure(shown.output, rows, scores, truth, axes, offset),
        groups=_compare_groups(given, rows, truth, X, groups, offset),
        rules=None if found is None else _cover(found, shown, rows, truth),
        crisp=_find_crisp(shown, some, seconds) if found is None else None,
        diagram=_read_diagram(shown, card, rows),
        importance=measure_importance(shown, some, kind="drop"),
        axes=axes,
        fixed=held,
        pictures=_draw_pictures(shown if card is None else card, shown, rows),
    )


def _read(
    model: Model, X: ArrayLike, y: ArrayLike | None, offset: ArrayLike | None, seen: int | None
) -> tuple[Floats, NDArray[Any] | None]:
    """Return rows and their truth, of a model that has a report."""
    refuse_labels(model.output, "report")
    rows = np.ascontiguousarray(model.read(X), np.float64)
    if not len(rows):
        raise InputError("expected at least one row for a report, got none")
    if offset is not None and isinstance(model.output, Classes):
        raise InputError("offset: expected a model of numbers, got another one")
    if seen is not None and not 0 <= seen <= len(rows):
        raise InputError(f"seen: expected a number of the {len(rows)} rows, got {seen}")
    return rows, None if y is None else read_targets(model.output, y, len(rows))


def _draw_rows(n: int, limit: int) -> NDArray[np.intp]:
    """Draw so many of n rows, always the same ones, in their order; the first is among them."""
    if n <= limit:
        return np.arange(n)
    others = 1 + np.random.default_rng(0).choice(n - 1, limit - 1, replace=False)
    return np.concatenate([[0], np.sort(others)])


def _gather_hazards(
    model: Model | ScoreCard,
    X: ArrayLike,
    y: Any,
    labels: Labels,
    groups: str | tuple[str, ArrayLike] | None,
    *,
    seen: int | None,
    fixed: str | Sequence[str],
    **how: Any,
) -> Facts:
    """Gather what there is to show of a network of hazards, in the middle of the times."""
    given = model.model if isinstance(model, ScoreCard) else model
    card = rename_card(model, labels) if isinstance(model, ScoreCard) else None
    named = rename(given, labels) if card is None else card.model
    subjects = read_subjects(given, X)
    found = gather_survival(named, card, subjects, y)
    shown, rows = show_hazards(named, subjects)
    held = (*(named.schema.names[i] for i in _find_columns(given, fixed)), found.output.time)
    target = labels.target or str(found.output.labels[1])
    plain, table = Labels(noun=labels.noun, source=labels.source), EncodedTable(shown.fields, rows)
    truth = None if y is None else read_truth(given, y, len(subjects))
    return replace(
        gather(shown, table, labels=plain, seen=0, fixed=held, **how),
        survival=found,
        labels=replace(labels, target=f"{target} until {found.output.time}"),
        fingerprint=given.fingerprint,
        measured=given.measured[-1] if given.measured else None,
        seen=_count_seen(given, subjects, truth) if seen is None else seen,
        groups=_compare_groups(given, subjects, truth, X, groups, None),
    )


def _count_seen(model: Model, rows: Floats, truth: NDArray[Any] | None) -> int | None:
    """Return how many rows are those of training, where the model's file knows the table."""
    if truth is None or not model.measured:
        return None
    fingerprint = fingerprint_rows(model, rows, truth)
    for one in model.measured:
        if one.fingerprint == fingerprint and one.n_trained is not None:
            return min(one.n_trained, len(rows))
    return None


def _compare_groups(
    model: Model,
    rows: Floats,
    truth: NDArray[Any] | None,
    X: Any,
    groups: str | tuple[str, ArrayLike] | None,
    offset: ArrayLike | None,
) -> GroupComparison | None:
    """Compare the groups of a column of the model or of the table, or those that are given."""
    if groups is None:
        return None
    if truth is None:
        raise InputError("groups: expected true answers to compare groups by, got none")
    values: Any
    if not isinstance(groups, str):
        name, values = groups
    elif groups in (known := {field.name: k for k, field in enumerate(list_fields(model))}):
        name, place = groups, known[groups]
        labels = list_fields(model)[place].categories
        codes = rows[:, place].tolist()
        values = [None if x != x else x if labels is None else labels[int(x)] for x in codes]
    elif groups in getattr(X, "columns", ()):
        name, values = groups, X[groups]
    else:
        raise InputError(f"groups: expected the name of a column, got {groups!r}")
    return compare_model_groups(model, rows, truth, values, name, offset)


def _find_columns(model: Model, fixed: str | Sequence[str]) -> tuple[int, ...]:
    names = [fixed] if isinstance(fixed, str) else list(fixed)
    for name in names:
        if name not in model.schema.names:
            raise InputError(f"fixed: expected names of columns, got {name!r}")
    return tuple(sorted({model.schema.names.index(name) for name in names}))


# ---- rules ----


def _find_rules(model: Model, seconds: float) -> RuleSet | None:
    if not model.is_crisp:
        return None
    try:
        return extract(model, seconds=seconds)
    except ModelError:  # a crisp network that rules cannot express, such as a product of weights
        return None


def _rewrite(model: Model, rules: RuleSet, rows: Floats) -> Model:
    """Return the network of the rules where it gives the same scores.

    A network may ask "not 4" and take points away where its rules say "4" and add them. One
    page should show one sum and one limit: those of the rules.
    """
    if rules.form != "points" or not rules.proof:
        return model
    other = rules.to_model()
    same = np.allclose(other.score_rows(rows), model.score_rows(rows), rtol=1e-12, atol=1e-12)
    return other if same else model


def _cover(rules: RuleSet, model: Model, rows: Floats, truth: NDArray[Any] | None) -> RuleSet:
    labels = None
    if truth is not None and isinstance(model.output, Classes):
        labels = model.output.array[truth]
    return rules.cover(EncodedTable(model.fields, rows), labels)


def _find_crisp(
    model: Model, some: EncodedTable, seconds: float
) -> tuple[RuleSet | None, Fidelity] | None:
    try:
        crisp = make_crisp(model, some)
    except ModelError:
        return None
    small = crisp.n_functions <= _MOST_CRISP
    return _find_rules(crisp, seconds) if small else None, measure_fidelity(model, crisp, some)


# ---- measures ----


def _measure(
    output: Output,
    rows: Floats,
    scores: Floats,
    truth: NDArray[Any] | None,
    axes: Sequence[Axis],
    offset: ArrayLike | None,
) -> ClassificationQuality | list[RegressionQuality] | None:
    if truth is None:
        return None
    shifted = scores if offset is None else add_offset(scores, offset)
    return measure_scores(output, shifted, truth, exhaustive=_is_whole(rows, axes))


def predict_targets(output: Targets, scores: Floats, offset: ArrayLike | None) -> Floats:
    """Return the predictions of scores and what is added to them."""
    return output.transform(scores if offset is None else add_offset(scores, offset))


def _is_whole(rows: Floats, axes: Sequence[Axis]) -> bool:
    """Return whether the rows are all inputs of a domain that can be listed, each once."""
    size = 1
    for axis in axes:
        size *= axis.n_cells if axis.listed else 0
        if not 0 < size <= len(rows):
            return False
    inside = all(axis.contains(rows[:, i]).all() for i, axis in enumerate(axes))
    return size == len(rows) and inside and len(np.unique(rows, axis=0)) == size


def _read_diagram(model: Model, card: ScoreCard | None, rows: Floats) -> Diagram:
    diagram = read_diagram(model if card is None else card.rules.to_model(), rows)
    single = len(model.layers) == 1 and model.output.n_scores == 1
    return join_inputs(diagram) if single else diagram


def _draw_pictures(drawn: Model | ScoreCard, model: Model, rows: Floats) -> tuple[Picture, Picture]:
    table = EncodedTable(model.fields, rows)
    wide, narrow = (
        compose(drawn, table, row=table[:1], row_name=_ROW_NAME, narrow=narrow)
        for narrow in (False, True)
    )
    return wide, narrow
