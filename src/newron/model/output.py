"""What the outputs of a network mean: classes or regression targets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.arithmetic import Floats, sigmoid, softmax

__all__ = ["Classes", "Label", "Output", "Targets"]

Label = str | int | float | bool


@dataclass(frozen=True)
class Classes:
    """Two classes by one score, or one score for each of several classes.

    With two classes a score of at least 0 is the second one; with more, the
    highest score wins, the first of equals.

    Parameters
    ----------
    labels : tuple of str, int, float or bool
        The classes, in the order of the scores.

    Examples
    --------
    >>> classes = Classes(("well", "ill"))
    >>> classes.n_scores, classes.predict(np.array([[-1.0], [2.0]])).tolist()
    (1, ['well', 'ill'])
    """

    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        """Check that there are classes, and that they differ."""
        if len(self.labels) < 2:
            raise ModelError(f"expected at least 2 classes, got {list(self.labels)}")
        for label in self.labels:
            if not isinstance(label, str | int | float) or label in (math.inf, -math.inf):
                raise ModelError(f"expected classes that are text or numbers, got {label!r}")
        if len(set(self.labels)) != len(self.labels):
            raise ModelError(f"expected classes that differ, got {list(self.labels)}")

    @property
    def n_scores(self) -> int:
        """How many output neurons there are."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    @cached_property
    def array(self) -> NDArray[Any]:
        """The labels as an array."""
        kinds = {type(label) for label in self.labels}
        # NumPy's own texts lose what comes after their last character that is not NUL.
        cut = any(isinstance(label, str) and label.endswith("\0") for label in self.labels)
        labels = np.array(self.labels, dtype=object if cut or len(kinds) > 1 else None)
        labels.flags.writeable = False
        return labels

    def choose(self, scores: Floats) -> NDArray[np.intp]:
        """Return the index of the predicted class of each row.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        int array of shape (n_rows,)
        """
        if self.n_scores == 1:
            return (scores[:, 0] >= 0.0).astype(np.intp)
        return np.asarray(np.argmax(scores, axis=1), np.intp)

    def predict(self, scores: Floats) -> NDArray[Any]:
        """Return the predicted label of each row.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        array of shape (n_rows,)
        """
        return np.asarray(self.array[self.choose(scores)])

    def predict_proba(self, scores: Floats) -> Floats:
        """Return the probability of each class, in the order of the labels.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        if self.n_scores == 1:
            second = sigmoid(scores[:, 0])
            return np.stack([1.0 - second, second], axis=1)
        return softmax(scores)


@dataclass(frozen=True)
class Targets:
    """Regression targets: the scores themselves, one for each target.

    Parameters
    ----------
    names : tuple of str
        The names of the targets.

    Examples
    --------
    >>> Targets(("price",)).predict(np.array([[1.5], [2.0]])).tolist()
    [1.5, 2.0]
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that there is a target."""
        if not self.names or not all(isinstance(name, str) for name in self.names):
            raise ModelError(f"expected the names of the targets, got {self.names!r}")

    @property
    def n_scores(self) -> int:
        """How many output neurons there are."""
        return len(self.names)

    def predict(self, scores: Floats) -> Floats:
        """Return the predicted targets.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        array of shape (n_rows,) for one target, else (n_rows, n_targets)
        """
        return scores[:, 0] if self.n_scores == 1 else scores


Output = Classes | Targets
