"""What each column, and each pair of columns, adds to the score of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes, Label
from newron.model.terms import Terms, split_terms
from newron.tables.frames import make_frame


def measure_contributions(model: Model, X: ArrayLike, *, output: Label | None = None) -> Any:
    """Return what columns and pairs of columns add to the scores of rows.

    They are the numbers of the model itself. The sum of a row is its score
    (``model.scores``), but for the rounding of floating-point sums: with two classes the
    log-odds of the second one, for regression the prediction. See :meth:`Model.contributions`.
    """
    terms = split_terms(model)
    own = model.output
    labels = list(own.scored if isinstance(own, Classes) else own.names)
    chosen = labels if output is None else [_find_output(labels, output)]
    rows = np.ascontiguousarray(model.read(X), np.float64)
    added = terms.evaluate(rows)
    names = _list_names(terms)
    found = {
        label: make_frame(_join(added, terms, labels.index(label)), names, X) for label in chosen
    }
    return found[chosen[0]] if len(chosen) == 1 else found


def name_contributions(model: Model) -> tuple[str, ...]:
    """Return what the columns of :func:`measure_contributions` are.

    Parameters
    ----------
    model : Model

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from newron.model import Column, Layer, Model, Schema, Targets
    >>> layer = Layer("linear", "sum", "identity", 1, [0], [0], [[2.0]], [[0.0]])
    >>> name_contributions(Model(Schema((Column("a", 0.0, 9.0),)), [layer], Targets(("y",))))
    ('a', 'intercept')
    """
    return _list_names(split_terms(model))


def _list_names(terms: Terms) -> tuple[str, ...]:
    names = [term.name for term in terms.terms]
    last = "intercept"
    while last in names:
        last += "_"
    return (*names, last)


def _join(added: Floats, terms: Terms, k: int) -> Floats:
    intercept = np.full((len(added), 1), terms.intercept[k])
    return np.concatenate([added[:, :, k], intercept], axis=1)


def _find_output(labels: list[Label], output: Label) -> Label:
    if output not in labels:
        raise InputError(f"output: expected one of {labels}, got {output!r}")
    return labels[labels.index(output)]
