"""Estimators that train on Dask collections and predict them lazily."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from newron.dask.collections import Partitions, gather_table, is_collection
from newron.errors import InputError
from newron.estimators import NewronClassifier, NewronRegressor
from newron.estimators.streaming import know_columns
from newron.model.model import Model
from newron.tables.table import EncodedTable, Target
from newron.training.large import is_large

__all__ = ["DaskNewronClassifier", "DaskNewronRegressor"]


def _find_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise InputError(
            "expected Dask's distributed, got none installed: run pip install 'newron-ian[dask]'"
        ) from None
    try:
        return get_client()
    except ValueError:
        raise InputError(
            "expected a Dask client, got none; make one first: distributed.Client(...)"
        ) from None


def _fit(estimator: Any, X: Any, y: Any, sample_weight: Any, task: str) -> Any:
    """Train on collections; a table that is not large is trained by the client itself."""
    client = _find_client()
    parts = Partitions.make(client, X, y, sample_weight)
    listed = estimator.categorical_features
    categories = () if listed is None or isinstance(listed, str) else tuple(listed)
    labelled = parts.survey(categories, task)
    encoded, sizes = parts.encode(labelled)
    if is_large(sum(sizes), len(labelled.fields)):
        know_columns(estimator, labelled.fields)
        return estimator._fit_labelled(parts.to_rows(encoded, sizes), labelled)
    rows, values, weight = gather_table(client, encoded)
    labels = labelled.target.categories
    target = Target(
        labelled.target.name, labels, values if labels is None else values.astype(np.intp)
    )
    plain = None if labelled.weight is None else weight
    return super(type(estimator), estimator).fit(EncodedTable(labelled.fields, rows), target, plain)


def _map(X: Any, function: Any, columns: list[str] | None, dtype: Any) -> Any:
    """Return a lazy collection of what a function makes of each partition."""
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1})
        if columns is None:
            return X.map_blocks(function, drop_axis=1, dtype=dtype)
        chunks = (X.chunks[0], (len(columns),))
        return X.map_blocks(function, chunks=chunks, dtype=dtype)
    import pandas as pd

    if columns is None:
        return X.map_partitions(_ToSeries(function), meta=pd.Series([], dtype=dtype))
    meta = pd.DataFrame({name: pd.Series([], dtype=dtype) for name in columns})
    return X.map_partitions(_ToFrame(function, columns), meta=meta)


class _ToSeries:
    """Predictions of a partition as a series with its index."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, frame: Any) -> Any:
        import pandas as pd

        return pd.Series(self.function(frame), index=frame.index)


class _ToFrame:
    """Predictions of a partition as a frame with its index."""

    def __init__(self, function: Any, columns: list[str]) -> None:
        self.function, self.columns = function, columns

    def __call__(self, frame: Any) -> Any:
        import pandas as pd

        return pd.DataFrame(self.function(frame), index=frame.index, columns=self.columns)


def _predict(model: Model, rows: Any) -> NDArray[Any]:
    return np.asarray(model.predict(rows))


def _predict_proba(model: Model, rows: Any) -> NDArray[Any]:
    return np.asarray(model.predict_proba(rows))


class DaskNewronClassifier(NewronClassifier):
    """A :class:`newron.NewronClassifier` that is trained on Dask collections.

    Large tables are trained by the default recipe in blocks of rows, as tasks of the cluster; the
    model is the same to the last bit as that of the table in memory, whatever the workers and
    partitions, also where a worker is lost. ``model_`` is a plain model that needs no cluster.

    Parameters
    ----------
    processing, objective, n_factors, functions_per_input, hidden_layer_sizes
        As those of the estimator in memory.
    direct_inputs, aggregation, activation, input_scale, recipe, max_iter, batch_size
        As those of the estimator in memory.
    learning_rate_init, weight_decay, n_iter_no_change, tol, early_stopping
        As those of the estimator in memory.
    validation_fraction, n_init, max_terms, size, pruning, categorical_features, handle_unknown
        As those of the estimator in memory.
    monotonic_cst, domains, class_weight, warm_start, random_state, n_jobs, verbose
        As those of the estimator in memory.
    callbacks
        As those of :class:`newron.NewronClassifier`.

    Examples
    --------
    >>> from newron.dask import DaskNewronClassifier
    >>> DaskNewronClassifier("smooth").processing
    'smooth'
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on collections.

        Parameters
        ----------
        X : Dask data frame or array
        y : Dask collection, or str
            Class labels, or the name of their column in X.
        sample_weight : Dask collection, or str, optional
            As y.

        Returns
        -------
        DaskNewronClassifier
            The estimator itself, fitted.
        """
        self._validate_params()
        self._check_objective()
        fitted: Self = _fit(self, X, y, sample_weight, "classes")
        return fitted

    def predict(self, X: Any) -> Any:
        """Return the class of each row; of a collection a lazy one.

        Parameters
        ----------
        X : Dask data frame or array, or a table in memory

        Returns
        -------
        Dask series or array, or ndarray
        """
        if not is_collection(X):
            return super().predict(X)
        return _map(X, partial(_predict, self._get_model()), None, self.classes_.dtype)

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
        model = self._get_model()
        return _map(
            X, partial(_predict_proba, model), list(map(str, self.classes_)), np.dtype(np.float64)
        )


class DaskNewronRegressor(NewronRegressor):
    """A :class:`newron.NewronRegressor` that is trained on Dask collections.

    As :class:`DaskNewronClassifier`, for one target.

    Parameters
    ----------
    processing, objective, n_factors, functions_per_input, hidden_layer_sizes
        As those of the estimator in memory.
    direct_inputs, aggregation, activation, input_scale, recipe, max_iter, batch_size
        As those of the estimator in memory.
    learning_rate_init, weight_decay, n_iter_no_change, tol, early_stopping
        As those of the estimator in memory.
    validation_fraction, n_init, max_terms, size, pruning, categorical_features, handle_unknown
        As those of the estimator in memory.
    monotonic_cst, domains, warm_start, random_state, n_jobs, verbose, callbacks
        As those of :class:`newron.NewronRegressor`.

    Examples
    --------
    >>> from newron.dask import DaskNewronRegressor
    >>> DaskNewronRegressor("smooth").processing
    'smooth'
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Train on collections.

        Parameters
        ----------
        X : Dask data frame or array
        y : Dask collection, or str
            Numbers, or the name of their column in X.
        sample_weight : Dask collection, or str, optional
            As y.
        offset : None
            Not with collections.

        Returns
        -------
        DaskNewronRegressor
            The estimator itself, fitted.
        """
        if offset is not None:
            raise InputError("offset: expected none with a collection; subtract it from the target")
        self._validate_params()
        fitted: Self = _fit(self, X, y, sample_weight, "regression")
        return fitted

    def predict(self, X: Any, *, offset: Any = None) -> Any:
        """Return the predicted targets; of a collection a lazy one.

        Parameters
        ----------
        X : Dask data frame or array, or a table in memory
        offset : array-like, optional
            As that of :class:`newron.NewronRegressor`, of a table in memory.

        Returns
        -------
        Dask series or array, or ndarray
        """
        if not is_collection(X):
            return super().predict(X, offset=offset)
        return _map(X, partial(_predict, self._get_model()), None, np.dtype(np.float64))
