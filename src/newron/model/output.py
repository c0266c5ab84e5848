"""What the outputs of a network mean: classes, regression targets or labels."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, ModelError
from newron.expressions.text import write_formula
from newron.model.arithmetic import Floats, exp, sigmoid, softmax
from newron.model.bands import find_bands
from newron.neurons.loss import Loss

Label = str | int | float | bool

_LARGEST_OFFSET = 100.0
_REACH = 1e6  # of scores where a prediction is looked for
LINKS = ("identity", "log", "sorted", "formula")


@dataclass(frozen=True)
class Classes:
    """Two classes by one score, one score for each of several classes, or ordered classes.

    With two classes a score of at least 0 is the second one; with more, the
    highest score wins, the first of equals. Ordered classes have one score and limits: the
    probability of a class above the k-th is sigmoid(unit (score - limit k)). The most probable
    class never falls with the score, so that each has a band of scores.

    Parameters
    ----------
    labels : tuple of str, int, float or bool
        The classes, in the order of the scores.
    unit : float, default 1.0
        What one point weighs in log-odds, where scores are sums of whole points.
    offset : float, default 0.0
        The log-odds of two classes at a score of 0: at least 0 and less than the unit, so that
        class and probability agree.
    loss : Loss, optional
        What two classes were trained on, where that is a loss of one's own.
    limits : tuple of float, default ()
        Of more than two ordered classes, from the lowest on: one limit less than classes, rising.
    bands : tuple of float, default ()
        Of ordered classes from which score on each one after the first is predicted; by default
        where it becomes the most probable one. A class whose band is empty begins with the next.

    Examples
    --------
    >>> classes = Classes(("well", "ill"))
    >>> classes.n_scores, classes.predict(np.array([[-1.0], [2.0]])).tolist()
    (1, ['well', 'ill'])
    >>> Classes(("well", "ill"), unit=0.5, offset=0.25).predict_proba(np.array([[-1.0]])).round(2)
    array([[0.56, 0.44]])
    >>> grades = Classes(("mild", "moderate", "severe"), limits=(0.0, 3.0))
    >>> grades.predict(np.array([[-1.0], [0.2], [4.0]])).tolist()
    ['mild', 'moderate', 'severe']
    >>> grades.predict_proba(np.array([[0.0]])).round(2)
    array([[0.5 , 0.45, 0.05]])
    """

    labels: tuple[Label, ...]
    unit: float = 1.0
    offset: float = 0.0
    loss: Loss | None = None
    limits: tuple[float, ...] = ()
    bands: tuple[float, ...] = ()

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
        if self.limits or self.bands:
            self._check_limits()
        if self.loss is not None:
            self._check_loss(self.loss)

    def _check_limits(self) -> None:
        rising = all(a < b for a, b in pairwise(self.limits))
        fits = len(self.labels) > 2 and len(self.limits) == len(self.labels) - 1
        if not (fits and rising and all(map(math.isfinite, self.limits))):
            raise ModelError(
                f"limits: expected rising numbers, one less than the classes, of which there are "
                f"more than two, got {list(self.limits)} for {len(self.labels)} classes"
            )
        if not self.bands:  # past the frozen __setattr__
            object.__setattr__(self, "bands", find_bands(self.limits, self.unit))
        falling = any(not a <= b for a, b in pairwise(self.bands))
        if falling or len(self.bands) != len(self.limits) or not np.isfinite(self.bands).all():
            raise ModelError(
                f"bands: expected a number for each of {len(self.limits)} limits, none lower than "
                f"the one before, got {list(self.bands)}"
            )

    def with_limits(self, limits: tuple[float, ...], bands: tuple[float, ...] = ()) -> Classes:
        """Return the same classes, ordered, with other limits.

        Parameters
        ----------
        limits, bands : tuple of float
            As above.

        Returns
        -------
        Classes
        """
        return replace(self, limits=limits, bands=bands)

    @property
    def is_ordered(self) -> bool:
        """Whether one score and several limits decide."""
        return bool(self.limits)

    def _check_loss(self, loss: Loss) -> None:
        link = write_formula(loss.inverse_link.expression)
        if len(self.labels) != 2:
            raise ModelError(
                f"objective {loss.name}: expected two classes for a loss of one's own, got "
                f"{len(self.labels)}; leave objective out"
            )
        if link != "sigmoid(x)":
            raise ModelError(
                f"objective {loss.name}: expected the inverse link sigmoid for classes, got "
                f"{link}; write @objective(inverse_link=sigmoid)"
            )

    @property
    def in_points(self) -> bool:
        """Whether scores are whole points, which weigh something else than 1 in log-odds."""
        return self.unit != 1.0 or self.offset != 0.0

    @property
    def n_scores(self) -> int:
        """How many output neurons there are."""
        return 1 if len(self.labels) == 2 or self.limits else len(self.labels)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """From which scores on the second class is predicted, and each one after it.

        Empty where the highest of several scores wins.
        """
        return self.bands or ((0.0,) if len(self.labels) == 2 else ())

    @property
    def scored(self) -> tuple[Label, ...]:
        """Whom each score speaks for: the second of two classes, the highest of ordered ones."""
        return self.labels[-self.n_scores :]

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
            return np.asarray((scores >= np.array(self.thresholds)).sum(axis=1), np.intp)
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
        if self.limits:
            at_least = sigmoid(self.unit * (scores - np.array(self.limits)))
            middle = np.maximum(at_least[:, :-1] - at_least[:, 1:], 0.0)
            return np.concatenate([1.0 - at_least[:, :1], middle, at_least[:, -1:]], axis=1)
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
    link : {"identity", "log", "sorted", "formula"}, default "identity"
        How predictions follow from scores: they are the scores, their exponentials, the
        scores of a row in rising order (quantiles, which must not cross), or what the loss of
        one's own says.
    objective : str, default "squared"
        What the network was trained on, such as "poisson" or "quantile:0.9".
    loss : Loss, optional
        That one, where it is a loss of one's own.

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
    loss: Loss | None = None

    def __post_init__(self) -> None:
        """Check that there is a target."""
        if not self.names or not all(isinstance(name, str) for name in self.names):
            raise ModelError(f"expected the names of the targets, got {self.names!r}")
        self._check_link()

    def _check_link(self) -> None:
        if self.link not in LINKS:
            raise ModelError(f"expected a link among {', '.join(LINKS)}, got {self.link!r}")
        if not isinstance(self.objective, str):
            raise ModelError(f"expected the name of an objective, got {self.objective!r}")
        own = (self.link, self.objective) if self.loss is None else (self.loss.link, self.loss.text)
        if own != (self.link, self.objective) or (self.loss is None and self.link == "formula"):
            raise ModelError(f"expected the link and the name of a loss, got {self.link!r}")

    @property
    def n_scores(self) -> int:
        """How many output neurons there are."""
        return len(self.names)

    @property
    def score_names(self) -> tuple[str, ...]:
        """What the scores are: the targets, or their logarithms."""
        if self.link == "formula":
            return tuple(f"score of {name}" for name in self.names)
        return tuple(f"log({name})" for name in self.names) if self.link == "log" else self.names

    def spread(self, truth: Floats) -> Floats:
        """Return true values with a column for each score: several quantiles are of one target.

        Parameters
        ----------
        truth : array of shape (n_rows,) or (n_rows, n_targets)

        Returns
        -------
        array of shape (n_rows, n_targets)
        """
        table = truth[:, None] if truth.ndim == 1 else truth
        alone = self.link == "sorted" and table.shape[1] == 1
        return np.repeat(table, self.n_scores, axis=1) if alone else table

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
        if self.loss is not None and self.link == "formula":
            return self.loss.inverse_link.value(scores)
        return np.sort(scores, axis=1) if self.link == "sorted" else scores

    def find_score(self, value: float) -> float:
        """Return the least score whose prediction is a value or more, of one target.

        Parameters
        ----------
        value : float

        Returns
        -------
        float
            Infinite where all predictions are at least the value, or none is.

        Examples
        --------
        >>> Targets(("claims",), "log", "poisson").find_score(1.0)
        0.0
        """
        if self.link == "log":
            return math.log(value) if value > 0.0 else -math.inf
        if self.loss is None or self.link != "formula":
            return value
        low, high = -_REACH, _REACH
        if not self._predict_one(low) < value <= self._predict_one(high):
            return -math.inf if self._predict_one(low) >= value else math.inf
        while high - low > 1e-12 * max(abs(low), abs(high), 1e-12):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self._predict_one(middle) >= value else (middle, high)
        return high

    def _predict_one(self, score: float) -> float:
        return float(self.transform(np.array([[score]]))[0, 0])


Output = Classes | Targets


def number_classes(output: Classes, y: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return the number of each row's class; raise for a label that is none of them."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise InputError(f"y: expected one class for each of {n_rows} rows, got {labels.shape}")
    known: dict[Any, int] = {label: k for k, label in enumerate(output.labels)}
    numbers = [known.get(x, -1) if isinstance(x, Hashable) else -1 for x in labels.tolist()]
    if -1 in numbers:
        row = numbers.index(-1)
        raise InputError(
            f"y: expected classes among {list(output.labels)}, got {labels.tolist()[row]!r} in row "
            f"{row} (counted from 0); leave such rows out"
        )
    return np.array(numbers, np.intp)


def read_targets(output: Output, y: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the numbers of the true classes, or the true values of shape (rows, scores)."""
    if isinstance(output, Classes):
        return number_classes(output, y, n_rows)
    try:
        truth = output.spread(np.asarray(y, np.float64))
    except (TypeError, ValueError):
        raise InputError("y: expected numbers, got values that are not numbers") from None
    expected = n_rows, output.n_scores
    if truth.shape != expected:
        raise InputError(f"y: expected values of shape {expected}, got {truth.shape}")
    if not np.isfinite(truth).all():
        raise InputError("y: expected finite numbers, got missing or infinite ones; leave them out")
    return truth


def add_offset(scores: Floats, offset: ArrayLike) -> Floats:
    """Return scores with an offset for each row added to them."""
    values = np.asarray(offset, np.float64)
    if values.shape != (len(scores),) or not np.all(np.abs(values) <= _LARGEST_OFFSET):
        raise InputError(
            f"offset: expected {len(scores)} finite numbers, one for each row, got shape "
            f"{values.shape} or others; of an exposure it is the logarithm"
        )
    return scores + values[:, None]
