"""The verbs of a model that knows how far the truth lies from its predictions."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, ModelError
from newron.model.arithmetic import Floats
from newron.model.conformal import Conformal, calibrate_classes, calibrate_targets
from newron.model.labels import refuse_labels
from newron.model.output import Output, Targets, read_targets

if TYPE_CHECKING:
    from newron.model.model import Model

_HINT = (
    "calibrate it on rows that it was not trained on; an estimator's calibrate takes those of "
    "training too, and newron fit calibrates by itself"
)


class Calibrated:
    """Has intervals of predictions, or sets of classes."""

    __slots__ = ()

    @abstractmethod
    def _get_model(self) -> Model:
        """Return the network."""

    def calibrate(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Model:
        """Return the same model with what intervals, or sets of classes, are made of.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Rows that the model was not trained on, as those that it will meet.
        y : array of shape (n_rows,) or (n_rows, n_targets)
            Their true classes or values.
        sample_weight : array of shape (n_rows,), optional
            A weight of two is the same as the row twice.

        Returns
        -------
        Model
            Equal to this one; it has ``conformal``, and so has its file.

        Examples
        --------
        >>> from newron.model import Column, Layer, Model, Schema, Targets
        >>> layer = Layer("linear", "sum", "identity", 1, [0], [0], [[2.0]], [[0.0]])
        >>> model = Model(Schema((Column("x", 0.0, 1.0),)), [layer], Targets(("y",)))
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(size=(500, 1))
        >>> calibrated = model.calibrate(X, 2.0 * X[:, 0] + rng.normal(size=500))
        >>> calibrated.predict_interval([[0.5]], coverage=0.9).round(1).tolist()
        [[-0.7, 2.4]]
        """
        model = self._get_model()
        scores = model.scores(X)
        weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return model.replace(conformal=make_conformal(model.output, y, scores, weight))

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> Floats:
        """Return an interval for each row that holds the truth of so many new rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        coverage : float, default=0.9
            The part of new rows whose truth lies inside, where new rows are as those that
            the model was calibrated on.

        Returns
        -------
        array of shape (n_rows, 2), or (n_rows, n_targets, 2) for several targets
            The low and the high end. Of several targets each holds by itself.
        """
        model = self._get_model()
        refuse_labels(model.output, "predict_interval")
        if not isinstance(model.output, Targets):
            raise ModelError(
                "predict_interval: expected a regression, got classes: use predict_set"
            )
        table = get_conformal(model)
        predicted = model.output.transform(model.scores(X))
        return table.find_intervals(model.output, predicted, coverage)

    def predict_set(self, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return the classes of each row among which the truth of so many new rows is.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        coverage : float, default=0.9
            The part of new rows at least whose class is in the set, where new rows are as
            those that the model was calibrated on.

        Returns
        -------
        bool array of shape (n_rows, n_classes)
            In the order of the classes. The likeliest is always in the set.
        """
        model = self._get_model()
        refuse_labels(model.output, "predict_set")
        if isinstance(model.output, Targets):
            raise ModelError(
                "predict_set: expected classes, got a regression: use predict_interval"
            )
        return get_conformal(model).find_sets(model.predict_proba(X), coverage)


def get_conformal(model: Model) -> Conformal:
    """Return what intervals and sets are made of, or say how to get it."""
    if model.conformal is None:
        raise InputError(f"expected a model that is calibrated, got one that is not; {_HINT}")
    return model.conformal


def make_conformal(
    output: Output, y: Any, scores: Floats, weight: Floats | None = None
) -> Conformal:
    """Compare scores of rows that a model was not trained on with their truth."""
    refuse_labels(output, "calibrate")
    truth = read_targets(output, y, len(scores))
    if isinstance(output, Targets):
        return calibrate_targets(
            output, truth, output.transform(scores), weight, protocol="new rows"
        )
    return calibrate_classes(truth, output.predict_proba(scores), weight, protocol="new rows")
