"""Several labels, each there or not: an output of its own kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.errors import ModelError
from newron.model.arithmetic import Floats, sigmoid
from newron.model.output import Classes, Output, Targets


@dataclass(frozen=True)
class Labels(Targets):
    """Several labels, each there or not, whatever the others: one score for each, its log-odds.

    Parameters
    ----------
    names : tuple of str
        The names of the labels.
    link, objective, loss
        As of :class:`Targets`; they are always these.

    Examples
    --------
    >>> labels = Labels(("funny", "sad"))
    >>> labels.predict(np.array([[1.0, -2.0]])).tolist()
    [[1, 0]]
    >>> labels.transform(np.array([[1.0, -2.0]])).round(2)
    array([[0.73, 0.12]])
    """

    link: str = "sigmoid"
    objective: str = "labels"

    def _check_link(self) -> None:
        if (self.link, self.objective, self.loss) != ("sigmoid", "labels", None):
            raise ModelError("labels: expected no other link or objective than their own")

    @property
    def score_names(self) -> tuple[str, ...]:
        """What the scores are: log-odds."""
        return tuple(f"logit({name})" for name in self.names)

    def choose(self, scores: Floats) -> NDArray[np.intp]:
        """Return 1 for each label whose score is at least 0, otherwise 0.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        int array of shape (n_rows, n_labels)
        """
        return np.asarray(scores >= 0.0, np.intp)

    def predict(self, scores: Floats) -> NDArray[Any]:
        """Return which labels are there, as an indicator matrix.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        int array of shape (n_rows, n_labels)
        """
        return self.choose(scores)

    def transform(self, scores: Floats) -> Floats:
        """Return the probability of each label.

        Parameters
        ----------
        scores : array of shape (n_rows, n_scores)

        Returns
        -------
        array of shape (n_rows, n_labels)
        """
        return sigmoid(scores)

    def take(self, name: str) -> Classes:
        """Return one label as two classes: not there, and there.

        Parameters
        ----------
        name : str

        Returns
        -------
        Classes

        Examples
        --------
        >>> Labels(("funny", "sad")).take("sad").labels
        ('not sad', 'sad')
        """
        if name not in self.names:
            raise ModelError(f"label: expected one of {', '.join(self.names)}, got {name!r}")
        return Classes((f"not {name}", name))


def refuse_labels(output: Output, what: str) -> None:
    """Raise where something reads one answer for a row, and there are several labels."""
    if isinstance(output, Labels):
        raise ModelError(
            f"{what}: expected one answer for each row, got {len(output.names)} labels; take one "
            f"after the other, as the two classes of label({output.names[0]!r})"
        )
