"""Networks with some of the terms of a larger one: which to leave out, and their weights.

A term is a curve of a column or a surface of several, or, in crisp networks, a function of the
last layer. What leaving one out costs is a quadratic around the larger network: the squared
distance of scores, weighed by how much they matter, with all other terms weighed anew. It needs
one matrix of products for all sizes; the weights of the sizes that are requested are then fitted
to the rows by Newton steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from newron.engine.blas import use_one_thread
from newron.model.arithmetic import Floats
from newron.model.edits import drop_unread, pick_functions
from newron.model.model import Model
from newron.model.terms import Terms, regroup_terms, split_terms
from newron.training.naming import name_function
from newron.training.problem import Problem
from newron.training.refitting import Weights, refit

_RIDGE = 1.0  # of a term's weight, which is 1 in the larger network


@dataclass(frozen=True)
class Subsets:
    """The terms of a network in the order in which they are added, and rows to weigh them on."""

    terms: Terms
    order: tuple[int, ...]  # the one that is left out last is first
    values: Floats  # what each adds: (rows, terms, scores), in units of the loss
    scores: Floats  # of all of them
    problem: Problem

    def make_model(self, n_terms: int) -> Model:
        """Return the network of the first terms, with weights of their own."""
        model, last = self.terms.model, self.terms.model.layers[-1]
        assert last.alpha is not None  # noqa: S101 - find_subsets looked
        kept = sorted(self.order[:n_terms])
        factor, start = self._weigh(kept)
        scale = self.problem.scale
        alpha, edges = np.array(last.alpha), []
        for t, own in zip(kept, factor, strict=True):
            here = list(self.terms.terms[t].edges)
            alpha[here] *= own[last.target[here]]
            edges += here
        used = np.array(sorted(edges), np.intp)
        centre = -(start * scale.scale + scale.shift)
        changed = pick_functions(last.replace(alpha=alpha, centre=centre), used)
        layers = drop_unread((*model.layers[:-1], changed), len(model.schema))
        return Model(model.schema, layers, model.output)

    def _weigh(self, kept: Sequence[int]) -> tuple[Floats, Floats]:
        """Return what multiplies each term, of shape (terms, scores), and the constants."""
        n_rows, _, n_scores = self.values.shape
        features = [np.ones((n_rows, 1)), *(self.values[:, t] for t in kept)]
        term = [0] * n_scores + list(range(1, 1 + len(kept) * n_scores))
        output = np.tile(np.arange(n_scores), 1 + len(kept))
        free = np.repeat([0.0, 1.0], [n_scores, len(kept) * n_scores])
        # What is left out counts as its mean.
        weight = self.problem.weight / self.problem.weight.sum()
        start = weight @ (self.scores - self.values[:, list(kept)].sum(axis=1))
        weights = Weights(
            np.concatenate(features, axis=1),
            np.array(term, np.intp),
            output.astype(np.intp),
            np.where(free == 0.0, 1e-6, _RIDGE),
            free,  # a curve keeps its direction
            np.concatenate([start, np.ones(len(kept) * n_scores)]),
        )
        with use_one_thread():
            found = refit(self.problem, weights).value
        return found[n_scores:].reshape(len(kept), n_scores), found[:n_scores]


def find_subsets(model: Model, X: Floats, problem: Problem) -> Subsets | None:
    """Order the terms of a network by what each of them is needed for; None where it has none.

    ``X`` are encoded rows and ``problem`` what their scores should be.
    """
    last = model.layers[-1]
    if last.aggregation != "sum" or last.alpha is None:
        return None
    model = Model(model.schema, model.layers, model.output)  # curves as they are, not of mean 0
    terms = split_terms(model)
    if model.is_crisp:
        terms = _split_functions(terms)
    if not terms.terms:
        return None
    values = terms.evaluate(X) / problem.scale.scale
    scores = problem.scale.apply(model.score_rows(X))
    order = _order_terms(values, problem, scores)
    return Subsets(terms, order, values, scores, problem)


def _split_functions(terms: Terms) -> Terms:
    """Return terms of single functions of the last layer; equal ones of several scores are one."""
    last, found = terms.model.layers[-1], dict[bytes, list[int]]()
    for term in terms.terms:
        for e in term.edges:
            found.setdefault(name_function(last, e), []).append(e)
    return regroup_terms(terms, list(found.values()))


def _order_terms(values: Floats, problem: Problem, scores: Floats) -> tuple[int, ...]:
    """Return the terms, those that cost most to leave out first."""
    n_terms, n_scores = values.shape[1:]
    expansion = problem.expand(scores)
    inverses = []
    for k in range(n_scores):
        curve = expansion.curvature(k, k)
        assert curve is not None  # noqa: S101 - of a score by itself
        weight = np.maximum(curve, 0.0)
        own = values[:, :, k]
        own = own - weight @ own / max(float(weight.sum()), 1e-300)
        inverses.append(np.linalg.inv(own.T @ (weight[:, None] * own) + _RIDGE * np.eye(n_terms)))
    factors, left, order = [np.ones(n_terms)] * n_scores, list(range(n_terms)), list[int]()
    while left:
        cost = sum(f[left] ** 2 / np.diag(i)[left] for f, i in zip(factors, inverses, strict=True))
        gone = left.pop(int(np.argmin(cost)))
        order.append(gone)
        for k, inverse in enumerate(inverses):
            column = inverse[:, gone] / inverse[gone, gone]
            factors[k] = factors[k] - column * factors[k][gone]
            inverses[k] = inverse - np.outer(column, inverse[gone])
    return tuple(order[::-1])
