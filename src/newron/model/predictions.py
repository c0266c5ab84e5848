"""Predictions as columns of a data frame: their names and types, and what makes them of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import InputError
from newron.model.labels import Labels
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
        if isinstance(output, Labels):  # one column for each, also of a single label
            return cls(found, output.names, float if shares else int, shares=shares)
        if not isinstance(output, Classes):
            if shares:
                raise InputError("expected a model of classes, got a regression: use predict")
            names = tuple(output.names)
            return cls(found, names if len(names) > 1 else (), float)
        words = tuple(map(str, output.labels))
        if len(set(words)) < len(words):
            raise InputError(
                f"expected classes that differ as texts for columns of a frame, got {words}"
            )
        if shares:
            return cls(found, words, float, shares=True)
        kinds = {type(label) for label in output.labels}
        mixed = float if kinds == {int, float} else str
        return cls(found, (), kinds.pop() if len(kinds) == 1 else mixed)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Return an array with a column for each name, or of one axis."""
        if not self.shares:
            found = np.asarray(self.model.predict(rows))
            if self.kind is str:
                return np.array([str(one) for one in found], object)
            return found.astype(self.kind)  # of classes 1 and 1.5 they are objects
        return np.asarray(self.model.predict_proba(rows))
