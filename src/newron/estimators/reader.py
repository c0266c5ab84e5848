"""Reading the tables that an estimator is given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_X_y, validate_data

from newron.data import Dataset
from newron.errors import InputError, NewronWarning
from newron.model.arithmetic import Floats
from newron.model.network import within_limits
from newron.tables.field import LARGEST_INPUT, Field, make_names
from newron.tables.table import encode_rows, is_plain, learn_fields


class TableReader(BaseEstimator):  # type: ignore[misc]
    """Turns tables and weights into arrays, by the columns that the first fit has learned."""

    categorical_features: Any
    handle_unknown: str
    warm_start: bool
    _fields: tuple[Field, ...]

    def _read_table(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        reset: bool,
        sample_weight: ArrayLike | None = None,
        **how: Any,
    ) -> tuple[Floats, NDArray[Any]]:
        reset = reset and not (self.warm_start and hasattr(self, "_fitted"))
        _refuse_dataset(X)
        if self._is_plain(X, reset):
            table, targets = validate_data(
                self,
                X,
                y,
                reset=reset,
                dtype=[np.float64, np.float32],
                ensure_min_samples=1,
                ensure_all_finite=False,
                **how,
            )
            if reset:
                self._fields = tuple(map(Field, make_names(table.shape[1])))
            _check_limits(table)
            return table, targets
        with warnings.catch_warnings():
            if reset:
                self._learn_fields(X, sample_weight)
                # What only rows without weight have is not a category, and no news.
                warnings.simplefilter("ignore", NewronWarning)
            unknown = "missing" if reset else self.handle_unknown
            matrix = encode_rows(X, self._fields, unknown=unknown)
        table, targets = check_X_y(
            matrix, y, ensure_min_samples=1, ensure_all_finite="allow-nan", **how
        )
        return table, targets

    def _is_plain(self, X: ArrayLike, reset: bool) -> bool:
        """Return whether a table is a matrix of numbers, read by position."""
        if not is_plain(X):
            return False
        if not reset:
            return not any(field.categories is not None for field in self._fields)
        return self.categorical_features is None or isinstance(self.categorical_features, str)

    def _learn_fields(self, X: ArrayLike, sample_weight: ArrayLike | None) -> None:
        weights = np.asarray(sample_weight)
        # What does not fit the rows gets its error later.
        fits = weights.ndim == 1 and weights.shape[:1] == np.shape(X)[:1]
        used = np.flatnonzero(weights != 0) if fits else None
        self._fields = learn_fields(X, self.categorical_features, index=used)
        _check_text(self._fields)
        self.n_features_in_ = len(self._fields)
        names = [field.name for field in self._fields]
        if set(names) <= set(getattr(X, "columns", getattr(X, "names", ()))):
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read_weights(self, sample_weight: ArrayLike | None, X: Floats) -> Floats | None:
        if sample_weight is None:
            return None
        weights = np.asarray(
            _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        )
        largest = float(weights.max())
        if largest > 0.0 and not 1e-100 < largest < 1e100:
            weights = weights / largest  # sums of them must neither overflow nor vanish
        return weights

    def _read_rows(self, X: ArrayLike) -> Floats:
        """Read rows to predict."""
        _refuse_dataset(X)
        if not self._is_plain(X, reset=False):
            return encode_rows(X, self._fields, unknown=self.handle_unknown)
        kinds = [np.float64, np.float32]
        rows = validate_data(self, X, reset=False, dtype=kinds, ensure_all_finite=False)
        _check_limits(rows)
        return np.asarray(rows)


def _refuse_dataset(X: Any) -> None:
    if isinstance(X, Dataset):
        raise InputError(
            "X: expected a table in memory, got a data set, which fit alone takes; bring a part of "
            "its rows, or predict its files by newron predict"
        )


def _check_text(fields: tuple[Field, ...]) -> None:
    for field in fields:
        for text in (field.name, *(field.categories or ())):
            try:
                str(text).encode()
            except UnicodeEncodeError:
                raise InputError(
                    f"column {field.name!r}: expected text that is Unicode, got {text!r}; "
                    "read the file again with its right encoding"
                ) from None


def _check_limits(rows: Floats) -> None:
    if within_limits(rows):
        return
    row, column = np.argwhere(np.abs(rows) >= LARGEST_INPUT)[0]
    raise InputError(
        f"column {column}, row {row} (both counted from 0): expected a number within "
        f"±{LARGEST_INPUT:g}, got {rows[row, column]}; a gap is NaN"
    )
