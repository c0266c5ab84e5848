"""NewronRegressor."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from newron.errors import InputError
from newron.estimators.base import NewronEstimator
from newron.model.arithmetic import Floats
from newron.model.output import Targets
from newron.tables.table import Target

__all__ = ["NewronRegressor"]

_LARGEST_TARGET = 1e90


class NewronRegressor(RegressorMixin, NewronEstimator):  # type: ignore[misc]
    """A network of generalized neurons that predicts one or more amounts.

    Trained on the squared error. The parameters are those of
    :class:`~newron.NewronClassifier`, without ``class_weight``, and with
    ``direct_inputs=True``: an amount is a sum of what each input adds, besides
    what the hidden neurons add.

    Attributes
    ----------
    model_ : Model
        The network: readable, saved with ``model_.save(path)``.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Where X had names that are text.
    n_iter_ : int
        Epochs of the kept restart.
    loss_curve_ : list of float
        The squared error of the scaled targets after each epoch.
    best_loss_ : float
    path_ : GrowPath or None
    prune_path_ : PrunePath or None
        Of a pruned network: ``prune_path_[n]`` is the model with at most n
        conditions, ``prune_path_.to_frame()`` tells what each number costs.
    processing_ : str
        What ``processing="smooth"`` chose.
    hidden_layer_sizes_ : tuple of int
        What ``hidden_layer_sizes="auto"`` found.
    tree_ : Tree or None
        What it explored; None where rows did not suffice for a search.

    Examples
    --------
    >>> from newron import NewronRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = NewronRegressor("sigmoid", hidden_layer_sizes=(), random_state=0)
    >>> bool(model.fit(X, [0.0, 0.0, 5.0, 5.0]).predict([[2.5]])[0] > 4)
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on a table.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional
            A weight of two is the same as the row twice.
        """
        self._validate_params()
        return self._fit_targets(X, y, sample_weight, reset=True)

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Go over a part of the data once; the first call learns the scales."""
        self._validate_params()
        first = not hasattr(self, "_fitted")
        return self._fit_targets(X, y, sample_weight, reset=first, one_pass=True)

    def _fit_targets(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        reset: bool,
        one_pass: bool = False,
    ) -> Self:
        rows, targets, weight, flat = self._read_targets(X, y, sample_weight, reset=reset)
        own = y.name if isinstance(y, Target) else "y"
        names = [own] if flat else [f"y{k + 1}" for k in range(targets.shape[1])]
        self._fit_rows(rows, targets, weight, Targets(tuple(names)), None, one_pass=one_pass)
        self._flat = flat
        return self

    def _read_targets(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
    ) -> tuple[Floats, Floats, Floats | None, bool]:
        """Read X, y and weights; and whether y is one column without a second axis."""
        rows, targets = self._read_table(
            X, y, reset=reset, sample_weight=sample_weight, multi_output=True, y_numeric=True
        )
        values = np.asarray(targets, np.float64)
        table = values[:, None] if values.ndim == 1 else values
        if not np.abs(table).max() <= _LARGEST_TARGET:
            raise InputError(f"expected targets within ±{_LARGEST_TARGET:g}, got larger ones")
        weight = self._read_weights(sample_weight, rows)
        return rows, table, weight, values.ndim == 1

    def _read_again(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Floats, Floats, Floats | None, Floats | None]:
        rows, targets, weight, _ = self._read_targets(X, y, sample_weight, reset=False)
        n_targets = self.model_.output.n_scores
        if targets.shape[1] != n_targets:
            raise InputError(f"expected {n_targets} targets, as in fit, got {targets.shape[1]}")
        return rows, targets, weight, None

    def predict(self, X: ArrayLike) -> Floats:
        """Give the amounts: (n_rows,), or (n_rows, n_targets) as y was."""
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that several targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
