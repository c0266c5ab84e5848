"""Predictions as columns of a data frame: their names and types, and what makes them of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.model import Model
from newron.model.output import Classes


def read_model(model: Any) -> Model:
    """Return a model, or that of a fitted estimator."""
    found = model._get_model() if hasattr(model, "_get_model") else None
    if not isinstance(found, Model):
        raise InputError(f"expected a model or a fitted estimator, got {type(model).__name__}")
    return found


@dataclass(frozen=True)
class Predictions:
    """What a model predicts, as a function of a data frame.

    - ``names``: Of several columns; empty where there is one without a name.
    - ``kind``: str, int, float or bool.
    - ``shares``: Whether they are the probabilities of the classes.
    """

    model: Model
    names: tuple[str, ...]
    kind: type
    shares: bool = False

    @classmethod
    def make(cls, model: Any, *, shares: bool = False) -> Predictions:
        """Return the predictions of a model, or the probabilities of its classes."""
        found = read_model(model)
        output = found.output
        if not isinstance(output, Classes):
            if shares:
                raise InputError("expected a model of classes, got a regression: use predict")
            names = tuple(output.names)
            return cls(found, names if len(names) > 1 else (), float)
        if shares:
            return cls(found, tuple(map(str, output.labels)), float, shares=True)
        kinds = {type(label) for label in output.labels}
        return cls(found, (), kinds.pop() if len(kinds) == 1 else str)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return an array with a column for each name, or of one axis."""
        if not self.shares:
            found = np.asarray(self.model.predict(rows))
            return np.array([str(one) for one in found], object) if self.kind is str else found
        return np.asarray(self.model.predict_proba(rows))
