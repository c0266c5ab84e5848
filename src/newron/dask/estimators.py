"""Estimators that train on Dask collections and predict them lazily."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from newron.dask.collections import Partitions, gather_table, is_collection
from newron.dask.tasks import Cluster
from newron.errors import InputError
from newron.estimators import NewronClassifier, NewronRegressor
from newron.estimators.streaming import know_columns
from newron.formatting import format_integer
from newron.model.model import Model
from newron.model.output import Classes
from newron.tables.table import EncodedTable
from newron.training.large import is_large

if TYPE_CHECKING:
    from newron.estimators.base import NewronEstimator
else:
    NewronEstimator = object

_HELD = "    Of the blocks that each worker holds, by its address; of a small table the client."
_Class = TypeVar("_Class", bound=type)


class _OnCollections(NewronEstimator):
    """What the estimators do with collections, in front of the estimator in memory."""

    _task: ClassVar[str]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on collections.

        Parameters
        ----------
        X : Dask data frame or array
        y : Dask collection, or str
            The target, or the name of its column in X.
        sample_weight : Dask collection, or str, optional
            As y.

        Returns
        -------
        DaskNewronClassifier or DaskNewronRegressor
            The estimator itself, fitted.
        """
        plain: Any = super()
        if isinstance(X, EncodedTable):  # of a verb that trains on parts of rows in memory
            fitted: Self = plain.fit(X, y, sample_weight)
            return fitted
        self._validate_params()
        if isinstance(self, NewronClassifier):
            self._check_objective()
        if self.objective == "ordinal":
            raise InputError(
                'objective: expected another one than "ordinal" for collections, since limits are '
                "found on rows in memory; give NewronClassifier a part of the rows"
            )
        cluster = Cluster.find()
        parts = Partitions.make(cluster, X, y, sample_weight)
        listed = self.categorical_features
        categories = () if listed is None or isinstance(listed, str) else tuple(listed)
        labelled = parts.survey(categories, self._task)
        encoded, sizes = parts.encode(labelled)
        if is_large(sum(sizes), len(labelled.fields)):
            rows = parts.to_rows(encoded, sizes, len(labelled.fields))
            del parts, encoded  # frames need not stay with the workers
            know_columns(self, labelled.fields)
            fitted = plain._fit_labelled(rows, labelled)
            self.rows_per_worker_ = rows.rows_per_worker
        else:
            table, target, weight = gather_table(cluster, encoded, labelled)
            fitted = plain.fit(table, target, weight)
            self.rows_per_worker_ = {"client": len(table)}
        if self.verbose:
            held = [f"{at} {format_integer(n)}" for at, n in self.rows_per_worker_.items()]
            print(f"rows per worker: {', '.join(held)}")
        return fitted

    def predict(self, X: Any) -> Any:
        """Return the prediction of each row; of a collection a lazy one.

        Parameters
        ----------
        X : Dask data frame or array, or a table in memory

        Returns
        -------
        Dask series or array, or ndarray
        """
        plain: Any = super()
        if not is_collection(X):
            return plain.predict(X)
        model = self._get_model()
        classes = model.output.array if isinstance(model.output, Classes) else np.zeros(0)
        return _map(X, partial(_predict, model), None, classes.dtype)


def _take_over(plain: type) -> Callable[[_Class], _Class]:
    """Return a decorator that appends what the estimator in memory says of its parameters."""

    def describe(cls: _Class) -> _Class:
        own, other = inspect.getdoc(cls) or "", inspect.getdoc(plain) or ""
        first, example = own.split("Examples\n")
        described = other[other.find("Parameters\n") :].split("Examples\n")[0]
        cls.__doc__ = f"{first}{described}rows_per_worker_ : dict\n{_HELD}\n\nExamples\n{example}"
        return cls

    return describe


def _map(X: Any, function: Any, columns: list[str] | None, dtype: Any) -> Any:
    """Return a lazy collection of what a function makes of each partition."""
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1})
        if columns is None:
            return X.map_blocks(function, drop_axis=1, dtype=dtype)
        chunks = (X.chunks[0], (len(columns),))
        return X.map_blocks(function, chunks=chunks, dtype=dtype)
    import pandas as pd

    meta: Any = pd.Series([], dtype=dtype)
    if columns is not None:
        meta = pd.DataFrame(dict.fromkeys(columns, meta))
    return X.map_partitions(_frame, function, columns, meta=meta)


def _frame(part: Any, function: Any, columns: list[str] | None) -> Any:
    """Return predictions of a partition as a frame, or a series, with its index."""
    import pandas as pd

    if columns is None:
        return pd.Series(function(part), index=part.index)
    return pd.DataFrame(function(part), index=part.index, columns=columns)


def _predict(model: Model, rows: Any) -> NDArray[Any]:
    return np.asarray(model.predict(rows))


def _predict_proba(model: Model, rows: Any) -> NDArray[Any]:
    return np.asarray(model.predict_proba(rows))


@_take_over(NewronClassifier)
class DaskNewronClassifier(_OnCollections, NewronClassifier):
    """A :class:`newron.NewronClassifier` that is trained on Dask collections.

    Large tables are trained by the default recipe in blocks of rows, as tasks of the cluster; the
    model is the same to the last bit as that of the table in memory, whatever the workers and
    partitions, also where a worker is lost. ``model_`` is a plain model that needs no cluster.

    Examples
    --------
    >>> from newron.dask import DaskNewronClassifier
    >>> DaskNewronClassifier("smooth").processing
    'smooth'
    """

    _task = "classes"

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class; of a collection a lazy one.

        Parameters
        ----------
        X : Dask data frame or array, or a table in memory

        Returns
        -------
        Dask data frame or array, or ndarray
        """
        if not is_collection(X):
            return super().predict_proba(X)
        names = list(map(str, self.classes_))
        return _map(X, partial(_predict_proba, self._get_model()), names, np.dtype(np.float64))


@_take_over(NewronRegressor)
class DaskNewronRegressor(_OnCollections, NewronRegressor):  # type: ignore[misc]
    """A :class:`newron.NewronRegressor` that is trained on Dask collections.

    As :class:`DaskNewronClassifier`, for one target, and without an offset.

    Examples
    --------
    >>> from newron.dask import DaskNewronRegressor
    >>> DaskNewronRegressor("smooth").processing
    'smooth'
    """

    _task = "regression"
