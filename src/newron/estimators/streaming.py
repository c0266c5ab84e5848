"""Fits of data sets: of files and batches that need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from newron.data import Dataset
from newron.engine.rows import Rows
from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.tables.field import Field
from newron.tables.labelled import LabelledSource
from newron.tables.labelled_table import LabelledTable
from newron.training.large import DatasetRows, is_large
from newron.training.specification import Specification
from newron.training.strategies.default import uses_engine

if TYPE_CHECKING:
    from newron.estimators.base import NewronEstimator


def streams(estimator: NewronEstimator, spec: Specification, n_rows: int) -> bool:
    """Return whether an estimator can train on blocks of rows."""
    whole = estimator.pruning or estimator.warm_start or estimator._is_auto
    return estimator.recipe == "default" and not whole and uses_engine(spec, n_rows)


def count_used(n_rows: int, weight: Floats | None) -> int:
    """Return how many rows have a weight."""
    return n_rows if weight is None else int(np.count_nonzero(weight))


def read_dataset(
    data: Dataset, y: Any, sample_weight: Any, *, task: str
) -> LabelledTable | LabelledSource:
    """Survey a data set, and read it whole where it is not large."""
    for what, name in (("y", y), ("sample_weight", sample_weight)):
        if not isinstance(name, str) and not (name is None and what == "sample_weight"):
            raise InputError(
                f"{what}: expected the name of one column of the data set, got "
                f"{type(name).__name__}; its columns are {', '.join(data.names[:8])}"
            )
    labelled = data.survey(y, sample_weight, task=task)
    if is_large(labelled.n_used, len(labelled.fields)):
        return labelled
    return labelled.read()


def open_rows(
    estimator: NewronEstimator,
    data: Dataset,
    labelled: LabelledSource,
    check: Callable[[Floats], None] | None = None,
) -> DatasetRows:
    """Return the rows of a large data set, and let the estimator know its columns.

    ``check`` raises where a target is none.
    """
    know_columns(estimator, labelled.fields)
    return DatasetRows(labelled, data, effective_n_jobs(estimator.n_jobs), check)


def know_columns(estimator: NewronEstimator, fields: tuple[Field, ...]) -> None:
    """Let an estimator know the columns of a table."""
    estimator._fields = fields
    estimator.n_features_in_ = len(fields)
    estimator.feature_names_in_ = np.array([one.name for one in fields], object)


def count_classes(rows: Rows, n_classes: int) -> Floats:
    """Return the summed weight of each class."""
    total: Floats = rows.total(_CountClasses(n_classes))
    return total


class _CountClasses:
    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def __call__(self, block: Any) -> Floats:
        found = np.bincount(block.y[:, 0].astype(np.intp), block.weight, self.n_classes)
        return np.asarray(found, np.float64)
