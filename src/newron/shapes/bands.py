"""How sure the curves of a model are: standard deviations of what columns and pairs add.

The weights of the last layer are taken as uncertain, its conditions and functions as given: the
posterior of the weights on some rows is a Gaussian at the weights themselves (Laplace), with a
prior as wide as each weight. What the choice of the functions adds is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.model.terms import Term, Terms, split_terms
from newron.shapes.effect import Effect
from newron.shapes.effects import Effects, list_scores, read_effects

_MIN_NOISE = 1e-4  # of the size of targets, which a network may hit exactly
_MAX_ROWS = 20_000  # more make hardly a difference to the shape of a band


def measure_bands(
    model: Model, X: ArrayLike, y: ArrayLike, *, n_rows: int | None = None
) -> Effects:
    """Return the effects of columns and pairs with their standard deviations.

    Parameters
    ----------
    model : Model
        Whose last layer adds up; of classes, or of a regression with squared or Poisson loss.
    X : table of shape (n_rows, n_columns)
        Rows, best those of the training.
    y : array of shape (n_rows,) or (n_rows, n_targets)
        Their classes or targets.
    n_rows : int, optional
        How many rows the network was trained on, where X has another number of rows like them.

    Returns
    -------
    Effects
        Each curve and surface with ``deviation``; twice of it on either side is a band.

    Raises
    ------
    InputError
        If the network has another objective, or does not add up.

    Examples
    --------
    >>> from newron.model import Column, Layer, Schema, Targets
    >>> layer = Layer("linear", "sum", "identity", 1, [0], [0], [[2.0]], [[0.0]], alpha=[1.0])
    >>> model = Model(Schema((Column("a", 0.0, 1.0),)), [layer], Targets(("y",)))
    >>> X = np.linspace(0.0, 1.0, 101)[:, None]
    >>> y = 2.0 * X[:, 0] + np.where(np.arange(101) % 2, 0.1, -0.1)
    >>> measure_bands(model, X, y)[0].deviation[-1].round(3)
    np.float64(0.017)
    """
    rows = np.ascontiguousarray(model.read(X), np.float64)
    truth = np.asarray(y)
    if len(truth) != len(rows):
        raise InputError(f"y: expected {len(rows)} values, got {len(truth)}")
    _check(model)
    step = max(-(-len(rows) // _MAX_ROWS), 1)
    some = rows[::step]
    weight = (len(rows) if n_rows is None else n_rows) / max(len(some), 1)
    posterior = _Posterior(model, some, truth[::step], weight)
    effects = read_effects(model)
    return Effects([posterior.measure(effect) for effect in effects], effects.outputs)


def has_bands(model: Model) -> bool:
    """Whether the uncertainty of a model's curves can be measured."""
    objective = "" if isinstance(model.output, Classes) else model.output.objective
    return model.layers[-1].aggregation == "sum" and objective in ("", "squared", "poisson")


def _check(model: Model) -> None:
    if not has_bands(model):
        objective = "" if isinstance(model.output, Classes) else model.output.objective
        raise InputError(
            "bands: expected a network that adds up, of classes or trained on squared or Poisson "
            f"loss, got {objective or model.layers[-1].aggregation}"
        )


class _Posterior:
    """The covariance of the weights, score by score, each in units of itself."""

    def __init__(self, model: Model, rows: Floats, truth: NDArray[Any], weight: float) -> None:
        self.model, self.terms = model, split_terms(model)
        self.labels = list(list_scores(model.output))
        edges = [e for term in self.terms.terms for e in term.edges]
        single = [Term(term.columns, f"{e}", (e,)) for term in self.terms.terms for e in term.edges]
        self.place = {e: k for k, e in enumerate(edges)}
        self.parts = _split(self.terms, single)
        features = self.parts.evaluate(rows)  # (rows, edges, scores)
        self.means = features.mean(axis=0) if not model.is_crisp else np.zeros(features.shape[1:])
        curvature = _measure_curvature(model, rows, truth) * weight
        self.covariance = []
        for k in range(model.output.n_scores):
            own = np.hstack([features[:, :, k] - self.means[:, k], np.ones((len(rows), 1))])
            hessian = own.T @ (own * curvature[:, k : k + 1])
            prior = np.diag([*np.ones(len(edges)), 1e-9])
            self.covariance.append(np.linalg.inv(hessian + prior)[:-1, :-1])

    def measure(self, effect: Effect) -> Effect:
        """Return an effect with its standard deviation at its positions."""
        if effect.kind == "joint":
            return effect
        k = self.labels.index(effect.output)
        names = self.model.schema.names
        columns = tuple(names.index(name) for name in effect.columns)
        edges = next(term.edges for term in self.terms.terms if term.columns == columns)
        own = [self.place[e] for e in edges]
        shape = np.meshgrid(*(scale.positions for scale in effect.scales), indexing="ij")
        places = np.stack([axis.ravel() for axis in shape], axis=1)
        lows = [0.0 if c.n_categories else c.low for c in self.model.schema.columns]
        rows = np.tile(np.array(lows), (len(places), 1))
        rows[:, columns] = places
        design = self.parts.evaluate(rows)[:, own, k] - self.means[own, k]
        block = self.covariance[k][np.ix_(own, own)]
        variance = np.einsum("ij,jk,ik->i", design, block, design)
        deviation = np.sqrt(variance.clip(0.0)).reshape(effect.values.shape)
        return replace(effect, deviation=deviation)


def _split(terms: Terms, single: Sequence[Term]) -> Terms:
    """Return the terms of single functions, without means."""
    bare = Model(terms.model.schema, terms.model.layers, terms.model.output)
    return split_terms(bare).take(tuple(single))


def _measure_curvature(model: Model, rows: Floats, truth: NDArray[Any]) -> Floats:
    """Return the second derivative of the loss by each score, in units of its dispersion."""
    scores = model.score_rows(rows)
    output = model.output
    if isinstance(output, Classes):
        p = output.predict_proba(scores)[:, -output.n_scores :]
        return np.asarray(output.unit**2 * p * (1.0 - p))
    predicted = output.transform(scores)
    if output.link == "log":
        return np.asarray(predicted)
    targets = truth.reshape(len(rows), -1).astype(np.float64)
    residual = targets - predicted
    n_parameters = len(model.layers[-1].source) + 1
    spread = np.square(residual).sum(axis=0) / max(len(rows) - n_parameters, 1)
    least = _MIN_NOISE**2 * np.square(targets).mean(axis=0)
    spread = np.maximum(spread, np.where(least > 0.0, least, 1.0))
    return np.asarray(np.broadcast_to(1.0 / spread, scores.shape))
