"""What the scores of a model add up: a term for each column, pair of columns, or more of them.

All functions of the last layer that read one column, directly or through neurons, are one term;
those that read two columns together are another. A score is the intercept and all its terms. Terms
of smooth networks have mean 0 over the training rows (``Model.means``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from newron.model.arithmetic import Floats
from newron.model.edits import pick_functions
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Targets

_ROWS = 16_384  # that are looked at together: their terms take memory


@dataclass(frozen=True)
class Term:
    """A part of the scores that depends on some columns alone.

    - ``columns``: The columns that it reads, in their order.
    - ``name``: Their names: "age", or "age × sex".
    - ``edges``: The functions of the last layer that it adds up, of all scores.
    """

    columns: tuple[int, ...]
    name: str
    edges: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Terms:
    """A model's scores as sums of terms.

    - ``terms``: Single columns first, then pairs, then more.
    - ``intercept`` of shape (n_scores,): What every row gets.
    - ``means`` of shape (n_terms, n_scores): What is taken from each term, and is part of the
      intercept.
    - ``network``: Its targets are what each term adds to each score, term by term.
    """

    model: Model
    terms: tuple[Term, ...]
    intercept: Floats
    means: Floats
    network: Model

    def evaluate(self, rows: Floats) -> Floats:
        """Return what each term adds to each score: shape (rows, terms, scores)."""
        shape = len(rows), len(self.terms), self.model.output.n_scores
        if not self.terms:
            return np.zeros(shape)
        return self.network.score_rows(rows).reshape(shape) - self.means + 0.0  # no -0.0

    def take(self, terms: tuple[Term, ...]) -> Terms:
        """Return other terms of the same model, without means."""
        means = np.zeros((len(terms), self.model.output.n_scores))
        return Terms(self.model, terms, self.intercept, means, _make_network(self.model, terms))

    def trace(self, term: Term, values: Floats, score: int = 0) -> Floats:
        """Return what a term adds to a score where its columns have some values.

        - ``values`` of shape (n, columns of the term): Numbers, or those of categories; NaN is a
          missing value.
        """
        target = self.model.layers[-1].target
        own = replace(term, edges=tuple(e for e in term.edges if target[e] == score))
        lows = [0.0 if c.n_categories else c.low for c in self.model.schema.columns]
        rows = np.tile(np.array(lows), (len(values), 1))
        rows[:, term.columns] = values
        found = _make_network(self.model, (own,)).score_rows(rows)[:, score]
        return np.asarray(found - self.means[self.terms.index(term), score] + 0.0)


def split_terms(model: Model) -> Terms:
    """Split the scores of a model by the columns that their parts read.

    Where the last layer takes a least, a greatest or a product, all of a score is one term.

    >>> from newron.model import Column, Schema
    >>> layer = Layer("linear", "sum", "identity", 1, target=[0, 0], source=[0, 1],
    ...               w=[[2.0], [1.0]], b=[[0.0], [0.0]], centre=[-1.5])
    >>> model = Model(Schema((Column("a", 0.0, 9.0), Column("b", 0.0, 9.0))), [layer],
    ...               Targets(("y",)))
    >>> terms = split_terms(model)
    >>> [term.name for term in terms.terms], terms.intercept.tolist()
    (['a', 'b'], [1.5])
    >>> terms.evaluate(np.array([[3.0, 4.0]]))[0, :, 0].tolist()
    [6.0, 4.0]
    """
    groups = _group_edges(model)
    fixed = groups.pop((), [])
    names = model.schema.names
    terms = tuple(
        Term(columns, " × ".join(names[i] for i in columns), tuple(edges))
        for columns, edges in sorted(groups.items(), key=lambda item: (len(item[0]), item[0]))
    )
    network = _make_network(model, terms) if terms else model
    none = (0.0,) * model.output.n_scores
    found = [model.means.get(_list_names(model, term), none) for term in terms]
    means = np.array(found, np.float64).reshape(len(terms), model.output.n_scores)
    constants = [_find_intercept(model, fixed), *means]
    intercept = np.array([sum_decimals(column) for column in np.transpose(constants).tolist()])
    return Terms(model, terms, intercept, means, network)


def sum_decimals(values: Iterable[float]) -> float:
    """Return a sum as decimals are added on paper: no 0.30000000000000004.

    >>> sum_decimals([0.1, 0.2])
    0.3
    """
    return float(sum(map(Decimal, map(repr, values)), Decimal(0)))


def _list_names(model: Model, term: Term) -> tuple[str, ...]:
    return tuple(model.schema.names[i] for i in term.columns)


def center_terms(model: Model, rows: Floats, weight: Floats) -> Model:
    """Return a smooth model whose curves have mean 0 over rows; crisp ones as they are.

    Their scores stay: what is taken from a curve is part of the intercept. Means are as short as
    leaves a thousandth of a curve's spread.

    >>> from newron.model import Column, Schema
    >>> layer = Layer("linear", "sum", "identity", 1, [0], [0], [[2.0]], [[0.0]], centre=[1.0])
    >>> model = Model(Schema((Column("a", 0.0, 9.0),)), [layer], Targets(("y",)))
    >>> model = center_terms(model, np.array([[1.0], [3.0]]), np.ones(2))
    >>> model.means, split_terms(model).intercept.tolist()
    ({('a',): (4.0,)}, [3.0])
    """
    bare = Model(model.schema, model.layers, model.output)
    terms = split_terms(bare)
    if model.is_crisp or not terms.terms or not len(rows):
        return model
    share = (weight / weight.sum())[:, None, None]
    parts = [slice(first, first + _ROWS) for first in range(0, len(rows), _ROWS)]
    means = np.sum([(terms.evaluate(rows[at]) * share[at]).sum(axis=0) for at in parts], axis=0)
    squares = [
        (np.square(terms.evaluate(rows[at]) - means) * share[at]).sum(axis=0) for at in parts
    ]
    spread = np.sqrt(np.sum(squares, axis=0))
    found = {
        _list_names(model, term): tuple(map(_round_mean, mean.tolist(), own.tolist()))
        for term, mean, own in zip(terms.terms, means, spread, strict=True)
    }
    return model.replace(means=found)


def _round_mean(mean: float, spread: float) -> float:
    if not 0.0 < spread < math.inf:
        return mean if math.isfinite(mean) else 0.0
    return round(mean, 3 - math.floor(math.log10(spread))) + 0.0


def regroup_terms(terms: Terms, groups: Sequence[Sequence[int]]) -> Terms:
    """Return other terms of the same model, each with these functions of the last layer.

    Functions of one group read the same columns.
    """
    own = {e: term for term in terms.terms for e in term.edges}
    made = tuple(Term(own[group[0]].columns, own[group[0]].name, tuple(group)) for group in groups)
    means = np.zeros((len(made), terms.model.output.n_scores))
    return Terms(terms.model, made, terms.intercept, means, _make_network(terms.model, made))


def _group_edges(model: Model) -> dict[tuple[int, ...], list[int]]:
    last, columns = model.layers[-1], _find_columns(model)
    own = [columns[source] for source in last.source.tolist()]
    if last.aggregation not in ("sum", "mean"):  # nothing that could be taken apart
        own = [frozenset().union(*own)] * len(own)
    groups: dict[tuple[int, ...], list[int]] = {}
    for e, read in enumerate(own):
        groups.setdefault(tuple(sorted(read)), []).append(e)
    return groups


def _find_columns(model: Model) -> list[frozenset[int]]:
    """Return the columns that each signal depends on."""
    found = [frozenset([i]) for i in range(len(model.schema))]
    for layer in model.layers[:-1]:
        own = [
            frozenset().union(*(found[s] for s in layer.source[a:b].tolist()))
            for a, b in zip(layer.begin[:-1], layer.begin[1:], strict=True)
        ]
        found += own
    return found


def _make_network(model: Model, terms: Sequence[Term]) -> Model:
    """Return a network with an output for each term and score."""
    last, n_scores = model.layers[-1], model.output.n_scores
    edges = np.array([e for term in terms for e in term.edges])
    term_of = np.repeat(np.arange(len(terms)), [len(term.edges) for term in terms])
    target = term_of * n_scores + last.target[edges]
    order = np.argsort(target, kind="stable")
    edges, target = edges[order], target[order]
    layer = _take_edges(last, edges, target, len(terms) * n_scores)
    names = tuple(f"{t}:{k}" for t in range(len(terms)) for k in range(n_scores))
    return Model(model.schema, (*model.layers[:-1], layer), Targets(names))


def _take_edges(
    last: Layer, edges: NDArray[np.intp], target: NDArray[np.intp], n_neurons: int
) -> Layer:
    alpha, aggregation = last.weights, last.aggregation
    if aggregation == "mean":
        alpha = alpha / np.diff(last.begin)[last.target]
        aggregation = "sum"
    return pick_functions(
        last,
        edges,
        aggregation=aggregation,
        n_neurons=n_neurons,
        target=target,
        alpha=alpha[edges],
        centre=None,
    )


def _find_intercept(model: Model, fixed: Sequence[int]) -> Floats:
    """Return what is added whatever a row holds: centres, and functions of constants."""
    last, n_scores = model.layers[-1], model.output.n_scores
    found = np.zeros(n_scores) if last.centre is None else 0.0 - last.centre
    if last.aggregation == "product":
        found[np.diff(last.begin) == 0] += 1.0
    if fixed:
        network = _make_network(model, [Term((), "", tuple(fixed))])
        lows = [[0.0 if c.n_categories else c.low for c in model.schema.columns]]
        found = found + network.score_rows(np.array(lows))[0]
    return found + 0.0
