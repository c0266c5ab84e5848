"""What was measured, as a model's file keeps it."""

from __future__ import annotations

import datetime as dt
import math
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.evaluation.quality import (
    ClassificationQuality,
    RegressionQuality,
    measure_classification,
    measure_regression,
)
from newron.model import Classes, Measurement, Model
from newron.model.labels import refuse_labels
from newron.model.measurement import MODEL
from newron.model.result import Estimate
from newron.tables.fingerprint import hash_table

_BASELINE = "constant"


def measure_model(model: Model, X: Any, y: ArrayLike, *, source: str = "") -> Measurement:
    """Measure a model on a table of rows that it was not trained on, to attach it.

    Parameters
    ----------
    model : Model
        Of classes or of one target.
    X : data frame, 2-d array or list of rows
        At least two rows, none of which the model was trained on.
    y : array-like of shape (n,)
        Their true classes or values.
    source : str
        The name of the table.

    Returns
    -------
    Measurement
        Beside a constant: always the most frequent class, or the median, of these rows.

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
    refuse_labels(model.output, "measure")
    rows = np.ascontiguousarray(model.read(X), np.float64)
    truth = read_truth(model, y, len(rows))
    if len(rows) < 2:
        raise InputError(f"expected at least 2 rows to measure on, got {len(rows)}")
    fingerprint = fingerprint_rows(model, rows, truth)
    _check_new(model, fingerprint)
    scores = model.score_rows(rows)
    quality: ClassificationQuality | RegressionQuality
    if isinstance(model.output, Classes):
        chosen, soft = model.output.choose(scores), model.output.predict_proba(scores)
        ranking = scores[:, 0] if len(model.output.labels) == 2 else None
        quality = measure_classification(truth, chosen, soft, scores=ranking)
        constant = {"accuracy": quality.majority_accuracy}
    else:
        predicted = model.output.transform(scores)[:, 0]
        quality = measure_regression(truth, predicted, name=model.output.names[0])
        constant = {"mean absolute error": quality.median_mae}
    return Measurement(
        protocol="new rows",
        n_rows=len(rows),
        scores={MODEL: list_scores(quality), _BASELINE: constant},
        source=source,
        fingerprint=fingerprint,
        date=find_date(),
    )


def _check_new(model: Model, fingerprint: str) -> None:
    if any(one.fingerprint == fingerprint and one.protocol != "new rows" for one in model.measured):
        raise InputError(
            "expected rows that the model was not trained on, got the table of its training; "
            "on these rows it looks better than it is: measure on others"
        )


def read_truth(model: Model, y: ArrayLike, n: int) -> NDArray[Any]:
    """Return the numbers of the true classes, or the true values of one target."""
    values = np.asarray(y)
    if values.shape != (n,):
        raise InputError(f"y: expected one value for each of {n} rows, got shape {values.shape}")
    if isinstance(model.output, Classes):
        codes = {label: code for code, label in enumerate(model.output.labels)}
        found = [codes.get(label, -1) for label in values.tolist()]
        if -1 in found:
            row = found.index(-1)
            raise InputError(
                f"y, row {row} (counted from 0): expected a class of the model, got "
                f"{values.tolist()[row]!r}; leave such rows out"
            )
        return np.array(found, np.intp)
    if model.output.n_scores > 1:
        raise InputError(f"expected a model of one target, got {model.output.n_scores}")
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise InputError("y: expected finite numbers, got missing or infinite ones; leave them out")
    return numbers


def fingerprint_rows(model: Model, rows: NDArray[Any], truth: NDArray[Any]) -> str:
    """Return which table it is, from encoded rows and their truth as :func:`read_truth` has it."""
    return hash_table(model.schema.names, rows, truth[:, None].astype(np.float64))


def list_scores(quality: ClassificationQuality | RegressionQuality) -> dict[str, Estimate]:
    """Return the measures that a model's file keeps, its headline first."""
    if isinstance(quality, RegressionQuality):
        found = {
            "mean absolute error": quality.mae,
            "r2": quality.r2,
            "root mean squared error": quality.rmse,
        }
    else:
        found = {
            "accuracy": quality.accuracy,
            "balanced accuracy": quality.balanced_accuracy,
            "auc": quality.auc,
            "log loss": quality.log_loss,
        }
    return {name: one for name, one in found.items() if one is not None and _is_finite(one)}


def _is_finite(estimate: Estimate) -> bool:
    return all(map(math.isfinite, (estimate.value, estimate.low, estimate.high)))


def find_date() -> str:
    """Return the day, or that of SOURCE_DATE_EPOCH, by which files are made reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = dt.datetime.now(dt.UTC)
    return (dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch.isdigit() else now).strftime(
        "%Y-%m-%d"
    )
