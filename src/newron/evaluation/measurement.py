"""What was measured, as a model's file keeps it."""

from __future__ import annotations

import datetime as dt
import math
import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.evaluation.indicator import read_indicator
from newron.evaluation.label_quality import LabelQuality, measure_labels
from newron.evaluation.quality import (
    ClassificationQuality,
    RegressionQuality,
    measure_scores,
)
from newron.evaluation.survival import SurvivalQuality, measure_survival
from newron.evaluation.times import read_times
from newron.model import Classes, Labels, Measurement, Model, Survival, Targets
from newron.model.arithmetic import Floats
from newron.model.measurement import MODEL
from newron.model.output import add_offset, read_targets
from newron.model.result import Estimate
from newron.model.survival import (
    accumulate,
    find_hazards,
    find_risk,
    list_fields,
    make_curves,
    read_subjects,
)
from newron.objectives import Objective, Squared, choose_objective
from newron.tables.fingerprint import hash_table

CONSTANT = "constant"
_GROUPS, _WIDTH = 20, 2.0  # of rows that are left out; standard errors of a 95 % interval
Quality = ClassificationQuality | RegressionQuality | LabelQuality | SurvivalQuality


def measure_model(
    model: Model, X: Any, y: Any, *, source: str = "", offset: ArrayLike | None = None
) -> Measurement:
    """Measure a model on a table of rows that it was not trained on, to attach it.

    Parameters
    ----------
    model : Model
        Of classes, of one target, of several labels or of survival.
    X : data frame, 2-d array or list of rows
        At least two rows, none of which the model was trained on.
    y : array-like of shape (n,)
        Their true classes or values; of labels a matrix of 0 and 1, of survival an event and a
        time as :class:`newron.NewronSurvival` takes them.
    source : str
        The name of the table.
    offset : array-like of shape (n,), optional
        What is added to the score of each row, such as the logarithm of an exposure.

    Returns
    -------
    Measurement
        Beside a constant: always the most frequent class or labels, the median, or one survival
        curve, of these rows.

    Raises
    ------
    InputError
        If the table is the one that the model was trained on, as far as its file knows.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.0]],
    ...               alpha=[1.0], centre=[0.5])
    >>> model = Model(Schema((Column("age", 0.0, 99.0),)), [layer], Classes(("no", "yes")))
    >>> found = measure_model(model, [[50.0], [60.0], [70.0]], ["no", "yes", "no"])
    >>> found.scores["model"]["accuracy"].value, found.scores["constant"]["accuracy"].value
    (0.6666666666666666, 0.6666666666666666)
    """
    if offset is not None and (
        not isinstance(model.output, Targets) or isinstance(model.output, Labels)
    ):
        raise InputError("offset: expected a model of numbers, got another one")
    rows, truth = read_rows(model, X, y)
    if len(rows) < 2:
        raise InputError(f"expected at least 2 rows to measure on, got {len(rows)}")
    fingerprint = fingerprint_rows(model, rows, truth)
    _check_new(model, fingerprint)
    quality = _measure(model, rows, truth, offset)
    return make_measurement(quality, protocol="new rows", source=source, fingerprint=fingerprint)


def make_measurement(quality: Quality, **known: Any) -> Measurement:
    """Return what a model's file keeps of a quality, beside that of a constant."""
    return Measurement(
        n_rows=quality.n_rows,
        scores={MODEL: list_scores(quality), CONSTANT: list_constant(quality)},
        date=find_date(),
        **known,
    )


def read_rows(model: Model, X: Any, y: Any) -> tuple[Floats, NDArray[Any]]:
    """Return encoded rows, of survival without a time, and their truth by :func:`read_truth`."""
    found = read_subjects(model, X) if isinstance(model.output, Survival) else model.read(X)
    rows = np.ascontiguousarray(found, np.float64)
    return rows, read_truth(model, y, len(rows))


def _measure(model: Model, rows: Floats, truth: NDArray[Any], offset: ArrayLike | None) -> Quality:
    """Measure predictions of encoded rows."""
    output = model.output
    if isinstance(output, Survival):
        hazards = accumulate(find_hazards(model, rows))
        pair = truth[:, 0] > 0.0, truth[:, 1]
        return measure_survival(pair, pair, find_risk(hazards), list(make_curves(output, hazards)))
    scores = model.score_rows(rows)
    if isinstance(output, Labels):
        return measure_labels(truth, output.transform(scores), output.names)
    if isinstance(output, Classes):
        return measure_scores(output, scores, truth)
    shifted = scores if offset is None else add_offset(scores, offset)
    (quality,) = measure_scores(output, shifted, truth[:, None])
    return replace(quality, d2=_estimate_d2(output, truth[:, None], scores, offset))


def _estimate_d2(
    output: Targets, truth: Floats, scores: Floats, offset: ArrayLike | None
) -> Estimate | None:
    """Estimate the fraction of the best constant's loss that is saved; None of squared errors."""
    objective = choose_objective(output)
    if isinstance(objective, Squared):
        return None
    objective.check_targets(truth)
    targets, weight = truth, np.ones(len(truth))
    if offset is not None:
        values = add_offset(np.zeros((len(truth), 1)), offset)[:, 0]
        targets, weight = objective.absorb_offset(truth, values)
    value = measure_d2(objective, targets, scores, weight)
    groups = min(_GROUPS, len(truth))
    left = [weight * (np.arange(len(truth)) % groups != k) for k in range(groups)]
    parts = np.array([measure_d2(objective, targets, scores, each) for each in left])
    spread = float(parts.std()) * (groups - 1.0) ** 0.5  # of groups left out (jackknife)
    return Estimate(value, value - _WIDTH * spread, min(value + _WIDTH * spread, 1.0))


def measure_d2(
    objective: Objective, targets: Floats, scores: Floats, weight: Floats | None
) -> float:
    """Measure the fraction of the best constant's loss that scores save."""
    weights = np.ones(len(targets)) if weight is None else weight
    scale = objective.learn_scale(targets, weights)
    settled = objective.settle(scale)
    encoded = settled.encode_targets(settled.scale_targets(targets, scale))
    return settled.evaluate(encoded, scale.apply(scores), weights)


def _check_new(model: Model, fingerprint: str) -> None:
    if any(one.fingerprint == fingerprint and one.protocol != "new rows" for one in model.measured):
        raise InputError(
            "expected rows that the model was not trained on, got the table of its training; "
            "on these rows it looks better than it is: measure on others"
        )


def read_truth(model: Model, y: Any, n: int) -> NDArray[Any]:
    """Return the numbers of the true classes, the true values of one target, labels, or times.

    Returned: labels are of shape (rows, labels); of survival there are two columns, the event
    and the time.
    """
    output = model.output
    if isinstance(output, Survival):
        times = read_times(y, n)
        return np.column_stack([times.event, times.time])
    if isinstance(output, Labels):
        return _read_labels(output, y, n)
    if isinstance(output, Classes):
        return read_targets(output, y, n)
    if output.n_scores > 1:
        raise InputError(f"expected a model of one target, got {output.n_scores}")
    return read_targets(output, y, n)[:, 0]


def _read_labels(output: Labels, y: Any, n: int) -> Floats:
    found = read_indicator(y)
    if found is None or len(found.values) != n:
        raise InputError(
            f"y: expected 0 or 1 for each of {n} rows and {len(output.names)} labels, got others"
        )
    found.check(output.names)
    return found.values


def fingerprint_rows(model: Model, rows: NDArray[Any], truth: NDArray[Any]) -> str:
    """Return which table it is, from encoded rows and their truth as :func:`read_truth` has it."""
    names = tuple(field.name for field in list_fields(model))
    return hash_table(names, rows, truth)


def list_scores(quality: Quality) -> dict[str, Estimate]:
    """Return the measures that a model's file keeps, its headline first."""
    found: dict[str, Estimate | None]
    if isinstance(quality, RegressionQuality):
        found = {
            "mean absolute error": quality.mae,
            "r2": quality.r2,
            "d2": quality.d2,
            "root mean squared error": quality.rmse,
        }
    elif isinstance(quality, LabelQuality):
        found = {
            "subset accuracy": quality.subset_accuracy,
            "label accuracy": quality.label_accuracy,
            "log loss": quality.log_loss,
        }
    elif isinstance(quality, SurvivalQuality):
        found = {
            "concordance": quality.concordance,
            "integrated brier score": quality.brier,
        }
    else:
        found = {
            "accuracy": quality.accuracy,
            "balanced accuracy": quality.balanced_accuracy,
            "auc": quality.auc,
            "log loss": quality.log_loss,
        }
    return {name: one for name, one in found.items() if one is not None and _is_finite(one)}


def list_constant(quality: Quality) -> dict[str, Estimate]:
    """Return the measures of the constant prediction, its headline first."""
    if isinstance(quality, RegressionQuality):
        return {"mean absolute error": quality.median_mae}
    if isinstance(quality, LabelQuality):
        return {"subset accuracy": quality.constant_accuracy}
    if isinstance(quality, SurvivalQuality):  # all risks are equal
        chance = Estimate(0.5, 0.5, 0.5)
        return {"concordance": chance, "integrated brier score": quality.constant_brier}
    return {"accuracy": quality.majority_accuracy}


def _is_finite(estimate: Estimate) -> bool:
    return all(map(math.isfinite, (estimate.value, estimate.low, estimate.high)))


def find_date() -> str:
    """Return the day, or that of SOURCE_DATE_EPOCH, by which files are made reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = dt.datetime.now(dt.UTC)
    return (dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch.isdigit() else now).strftime(
        "%Y-%m-%d"
    )
