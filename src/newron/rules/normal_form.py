"""The normal form of crisp networks, with which a fit ends: all readers show its numbers.

The conditions of each column that add to a score become one step curve: points start at 0 and the
rest is in the intercept; two steps at neighbouring numbers are one where no row lies between them;
windows step up and down again. Hidden layers stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.condition import Condition, Edge, make_layer
from newron.model.model import Model
from newron.model.network import LARGEST_INPUT, Layer
from newron.rules.axis import Axis
from newron.rules.building import Builder
from newron.rules.circuit import Term, read_axes, read_circuit, read_mask, to_fraction
from newron.rules.node import Literal
from newron.rules.points import merge_literals

__all__ = ["normalise"]


def normalise(model: Model, X: Floats | None = None) -> Model:
    r"""Return a crisp network in normal form; others as they are.

    Parameters
    ----------
    model : Model
    X : array of shape (n_rows, n_columns), optional
        Encoded training rows. Where none of them lies exactly on a threshold, "at least" and
        "more than" it are the same condition; in columns without missing values, these count as
        the median or the most frequent category. Without rows, all inputs keep their score.

    Returns
    -------
    Model
        Its scores are those of the model, on the rows or on all inputs.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> last = Layer("heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 0],
    ...              w=[[1.0], [1.0]], b=[[54.5], [70.0]], alpha=[-2.0, -1.0], centre=[-1.5])
    >>> model = Model(Schema((Column("age", 18.0, 90.0),)), [last], Classes(("ill", "well")))
    >>> print(normalise(model, np.array([[54.0], [80.0]])).rules(form="points").to_text())
    Points for well
        +2  age ≤ 54.5
        +1  age ≤ 70
    Sum ≥ 1.5: well
    Otherwise: ill
    Missing values count as: age = 40
    """
    last = model.layers[-1]
    weighed = last.aggregation == "sum" and last.alpha is not None and last.centre is not None
    if not (model.is_crisp and weighed and len(last.source) and read_circuit(model).exact):
        return model
    made = _NormalForm(model, X).make_last()
    found = Model(model.schema, [*model.layers[:-1], made], model.output)
    return found if read_circuit(found).exact else model


class _NormalForm:
    def __init__(self, model: Model, X: Floats | None) -> None:
        self.model, self.X = model, X
        self.last = self._fill_missing(self._align(model.layers[-1]))
        self.axes: tuple[Axis, ...] = read_axes(
            Model(model.schema, [*model.layers[:-1], self.last], model.output)
        )
        self.builder = Builder(model.schema, self.axes)

    def _align(self, layer: Layer) -> Layer:
        """Turn "more than b" into "at least b" for columns in which no row has just b."""
        n_columns = len(self.model.schema)
        b = np.array(layer.b)
        for e in range(len(layer.source)):
            source, own = int(layer.source[e]), float(b[e, 0])
            if source < n_columns and layer.w[e, 0] < 0.0 and self._is_free(source, own):
                b[e, 0] = np.nextafter(own, -np.inf)
        return layer.replace(b=b)

    def _fill_missing(self, layer: Layer) -> Layer:
        """Let missing values that no row has count as one value of their column."""
        if self.X is None or not len(self.X):
            return layer
        missing = np.array(layer.gap_values)
        for source, column in enumerate(self.model.schema.columns):
            edges = np.flatnonzero(layer.source == source)
            if column.gaps or not len(edges):
                continue
            value = _find_typical(self.X[:, source], column.n_categories)
            for e in edges:
                missing[e] = Condition.from_edge(layer, int(e)).holds(value)
        return layer.replace(missing=missing)

    def _is_free(self, column: int, value: float) -> bool:
        """Return whether no row has just this value in a column of numbers."""
        if self.X is None or abs(value) >= LARGEST_INPUT:  # stands for "never"
            return False
        listed = self.model.schema.columns[column].values is not None
        return not listed and not np.any(self.X[:, column] == value)

    def make_last(self) -> Layer:
        layer, alpha, centre = self.last, self.last.alpha, self.last.centre
        assert alpha is not None  # noqa: S101 - checked before
        assert centre is not None  # noqa: S101 - checked before
        n_columns, n_scores = len(self.model.schema), layer.n_neurons
        literals: list[Term] = []
        neurons: list[list[tuple[Edge, float]]] = [[] for _ in range(n_scores)]
        constants = [-to_fraction(value) for value in centre.tolist()]
        for e in range(len(layer.source)):
            source, j = int(layer.source[e]), int(layer.target[e])
            if source >= n_columns:
                edge = Edge(source, float(layer.w[e, 0]), float(layer.b[e, 0]))
                neurons[j].append((edge, float(alpha[e])))
                continue
            weights = [to_fraction(0.0)] * n_scores
            weights[j] = to_fraction(alpha[e])
            mask = read_mask(self.axes[source], layer, e)
            literals.append(Term(Literal(source, mask), tuple(weights)))
        merged = merge_literals(self.axes, literals, tuple(constants))
        return self._write(neurons, merged.terms, [-float(c) for c in merged.constants])

    def _write(
        self,
        neurons: Sequence[list[tuple[Edge, float]]],
        terms: Sequence[Term],
        centre: Sequence[float],
    ) -> Layer:
        made = []
        for j, others in enumerate(neurons):
            own = [
                (self._shorten(edge), float(part))
                for term in terms
                if isinstance(term.node, Literal) and term.weights[j]
                for edge, part in self.builder.weigh_literal(term.node, term.weights[j])
            ]
            made.append([*own, *others])
        alpha = np.array([weight for neuron in made for _, weight in neuron])
        edges = [[edge for edge, _ in neuron] for neuron in made]
        return make_layer(edges, alpha, np.array(centre))

    def _shorten(self, edge: Edge) -> Edge:
        """Write "less than b" as "at most b" where no row has just b."""
        assert isinstance(edge.source, int)  # noqa: S101 - it reads a column
        above = float(np.nextafter(edge.b, np.inf)) + 0.0
        if edge.w < 0.0 and not edge.levels and self._is_free(edge.source, above):
            return replace(edge, b=above)
        return edge


def _find_typical(values: Floats, n_categories: int) -> float:
    """Return the median, a value that some row has, or the most frequent category."""
    if n_categories:
        return float(np.bincount(values.astype(np.intp), minlength=n_categories).argmax())
    middle = (len(values) - 1) // 2
    return float(np.partition(values, middle)[middle])
