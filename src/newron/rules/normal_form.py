"""The normal form of crisp networks, with which a fit ends: all readers show its numbers.

What a column adds to a score becomes one step curve, and so does what the count of a hidden neuron
adds: points start at 0 and the rest is in the intercept; "at least" and "more than" are one where
no row lies on the threshold; windows step up and down again. Hidden neurons that are always or
never active, equal or opposite to others, or conditions on one column, are merged. Of several
classes the points of each condition start at 0 over the classes.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.condition import Condition
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Classes
from newron.rules.body import Points
from newron.rules.building import build_model
from newron.rules.circuit import Circuit, Term, adds_exactly, read_circuit
from newron.rules.points import is_sparse, make_points
from newron.tables.field import LARGEST_INPUT

_MAX_ROUNDS = 8


def normalise(model: Model, X: Floats | None = None) -> Model:
    r"""Return a crisp network in normal form; others as they are.

    - ``X`` of shape (n_rows, n_columns): Encoded training rows. Where none of them lies exactly on
      a threshold, "at least" and "more than" it are the same condition; in columns without missing
      values, these count as the median or the most frequent category. Without rows, all inputs keep
      their score.

    Returned: its scores are those of the model, on the rows or on all inputs.

    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> last = Layer("heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 0],
    ...              w=[[1.0], [1.0]], b=[[54.5], [70.0]], alpha=[-2.0, -1.0], centre=[-1.5])
    >>> model = Model(Schema((Column("age", 18.0, 90.0),)), [last], Classes(("ill", "well")))
    >>> print(normalise(model, np.array([[54.0], [80.0]])).rules(form="points").to_text())
    Points for well
        +1  age ≤ 70
        +2  age ≤ 54.5
    Sum ≥ 1.5: well
    Otherwise: ill
    Missing values count as: age = 40
    """
    last = model.layers[-1]
    weighed = last.aggregation == "sum" and last.alpha is not None and last.centre is not None
    if not (model.is_crisp and weighed and adds_exactly(model)):
        return model
    found = _NormalForm(model, X).make()
    return found if adds_exactly(found) else model


class _NormalForm:
    def __init__(self, model: Model, X: Floats | None) -> None:
        self.model, self.X = model, X

    def make(self) -> Model:
        schema, output = self.model.schema, self.model.output
        layers = [self._fill_missing(self._align(layer)) for layer in self.model.layers]
        circuit = read_circuit(Model(schema, layers, output))
        points = make_points(circuit)
        if isinstance(output, Classes) and output.n_scores > 1:
            points = _start_at_zero(circuit, points)
        made = build_model(schema, circuit.axes, points, output)
        # A condition outside of a window is two functions: a missing value is in that of its value.
        shown = [self._fill_missing(self._shorten(layer)) for layer in made.layers]
        return Model(schema, shown, made.output)  # ordered classes have other limits

    def _align(self, layer: Layer) -> Layer:
        """Turn "at most b" into "less than b" for columns in which no row has just b."""
        return self._move(layer, layer.b[:, 0], np.nextafter(layer.b[:, 0], -np.inf))

    def _shorten(self, layer: Layer) -> Layer:
        """Write "less than b" as "at most b" where no row has just b."""
        above = np.nextafter(layer.b[:, 0], np.inf) + 0.0
        return self._move(layer, above, above)

    def _move(self, layer: Layer, values: Floats, to: Floats) -> Layer:
        """Move thresholds of "at most" where no row has just a value."""
        b = np.array(layer.b)
        at_most = (layer.source < len(self.model.schema)) & (layer.w[:, 0] < 0.0)
        reached = np.abs(layer.b[:, 0]) < LARGEST_INPUT  # others stand for "never"
        for e in np.flatnonzero(at_most & reached):
            if self._is_free(int(layer.source[e]), float(values[e])):
                b[e, 0] = to[e]
        return layer.replace(b=b)

    def _fill_missing(self, layer: Layer) -> Layer:
        """Let missing values that no row has count as one value of their column."""
        if self.X is None or not len(self.X):
            return layer
        missing = np.array(layer.missing)
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
        if self.X is None:
            return False
        listed = self.model.schema.columns[column].values is not None
        return not listed and not np.any(self.X[:, column] == value)


def _start_at_zero(circuit: Circuit, points: Points) -> Points:
    """Let the points of each condition start at 0 over the classes.

    What is added to all classes alike changes neither class nor probability.
    """
    for _ in range(_MAX_ROUNDS):
        shifted = [Term(term.node, _shift(term.weights)) for term in points.terms]
        constants = _shift(points.constants)
        before, points = (
            points,
            make_points(replace(circuit, terms=tuple(shifted), constants=constants)),
        )
        if points == before:
            break
    return points


def _shift(weights: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Return weights from 0 upward, or downward where more of them then are 0; few stay."""
    if is_sparse(weights):
        return weights
    least, most = min(weights), max(weights)
    start = most if weights.count(most) > max(weights.count(least), 1) else least
    return tuple(weight - start for weight in weights)


def _find_typical(values: Floats, n_categories: int) -> float:
    """Return the median, a value that some row has, or the most frequent category."""
    if n_categories:
        return float(np.bincount(values.astype(np.intp), minlength=n_categories).argmax())
    middle = (len(values) - 1) // 2
    return float(np.partition(values, middle)[middle])
