"""What the outputs of a network mean: classes or regression targets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.arithmetic import Floats, exp, sigmoid, softmax

__all__ = ["Classes", "Label", "Output", "Targets"]

Label = str | int | float | bool

LINKS = ("identity", "log", "sorted")


@dataclass(frozen=True)
class Classes:
    """Two classes by one score, or one score for each of several classes.

    With two classes a score of at least 0 is the second one; with more, the
    highest score wins, the first of equals.

    Parameters
    ----------
    labels : tuple of str, int, float or bool
        The classes, in the order of the scores.
    unit : float, default 1.0
        What one point weighs in log-odds, where scores are sums of whole points.
    offset : float, default 0.0
        The log-odds of two classes at a score of 0: at least 0 and less than the unit, so that
        class and probability agree.

    Examples
    --------
    >>> classes = Classes(("well", "ill"))
    >>> classes.n_scores, classes.predict(np.array([[-1.0], [2.0]])).tolist()
    (1, ['well', 'ill'])
    >>> Classes(("well", "ill"), unit=0.5, offset=0.25).predict_proba(np.array([[-1.0]])).round(2)
    array([[0.56, 0.44]])
    """

    labels: tuple[Label, ...]
    unit: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Check that there are classes, and that they differ."""
        if len(self.labels) < 2:
            raise ModelError(f"expected at least 2 classes, got {list(self.labels)}")
        for label in self.labels:
            if not isinstance(label, str | int | float) or label in (math.inf, -math.inf):
                raise ModelError(f"expected classes that are text or numbers, got {label!r}")
        if len(set(self.labels)) != len(self.labels):
            raise ModelError(f"expected classes that differ, got {list(self.labels)}")
        if not 0.0 < self.unit < math.inf:
            raise ModelError(f"unit: expected a positive number, got {self.unit}")
        if not 0.0 <= self.offset < self.unit or (self.offset and len(self.labels) > 2):
            raise ModelError(
                f"offset: expected a number from 0 to less than the unit {self.unit}, of two "
                f"classes alone, got {self.offset}"
            )

    @property
    def in_points(self) -> bool:
        """Whether scores are whole points, which weigh something else than 1 in log-odds."""
        return self.unit != 1.0 or self.offset != 0.0

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
            second = sigmoid(self.unit * scores[:, 0] + self.offset)
            return np.stack([1.0 - second, second], axis=1)
        return softmax(self.unit * scores)


@dataclass(frozen=True)
class Targets:
    """Regression targets, one score for each.

    Parameters
    ----------
    names : tuple of str
        The names of the targets.
    link : {"identity", "log", "sorted"}, default "identity"
        How predictions follow from scores: they are the scores, their exponentials, or the
        scores of a row in rising order (quantiles, which must not cross).
    objective : str, default "squared"
        What the network was trained on, such as "poisson" or "quantile:0.9".

    Examples
    --------
    >>> Targets(("price",)).predict(np.array([[1.5], [2.0]])).tolist()
    [1.5, 2.0]
    >>> Targets(("claims",), "log", "poisson").predict(np.array([[0.0]])).tolist()
    [1.0]
    """

    names: tuple[str, ...]
    link: str = "identity"
    objective: str = "squared"

    def __post_init__(self) -> None:
        """Check that there is a target."""
        if not self.names or not all(isinstance(name, str) for name in self.names):
            raise ModelError(f"expected the names of the targets, got {self.names!r}")
        if self.link not in LINKS:
            raise ModelError(f"expected a link among {', '.join(LINKS)}, got {self.link!r}")
        if not isinstance(self.objective, str):
            raise ModelError(f"expected the name of an objective, got {self.objective!r}")

    @property
    def n_scores(self) -> int:
        """How many output neurons there are."""
        return len(self.names)

    @property
    def score_names(self) -> tuple[str, ...]:
        """What the scores are: the targets, or their logarithms."""
        return tuple(f"log({name})" for name in self.names) if self.link == "log" else self.names

    def predict(self, scores: Floats) -> Floats:
        """Return the predicted targets.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        array of shape (n_rows,) for one target, else (n_rows, n_targets)
        """
        values = self.transform(scores)
        return values[:, 0] if self.n_scores == 1 else values

    def transform(self, scores: Floats) -> Floats:
        """Return the predictions that scores stand for, in the same shape.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        array of shape (n_rows, n_scores)
        """
        if self.link == "log":
            return exp(scores)
        return np.sort(scores, axis=1) if self.link == "sorted" else scores


Output = Classes | Targets
