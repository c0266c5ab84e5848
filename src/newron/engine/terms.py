"""Terms of several conditions in a smooth network: columns of the engine that others have found.

Curves and pairs cannot express what three columns do together. Terms that were grown for it
(crisp functions, 1 where their conditions hold) become columns of 0 and 1 of the table, whose
weights the evidence finds together with all curves. In the network each is a hidden neuron that
reads its columns by functions as steep as steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from newron.engine.functions import make_steep
from newron.engine.network import Function, Network, Neuron
from newron.model.arithmetic import Floats
from newron.model.edits import open_functions
from newron.model.model import Model
from newron.model.network import Layer
from newron.tables.field import Field

_NEXT = 0.5  # from a threshold of a number of conditions to the next whole number


@dataclass(frozen=True, eq=False)
class TermColumns:
    """Functions of the last layer of a crisp network, as columns beside those of the table.

    ``rows`` are the training rows: a function's step lies between their values.
    """

    model: Model
    edges: tuple[int, ...]
    rows: Floats

    @classmethod
    def choose(cls, model: Model, rows: Floats) -> TermColumns | None:
        """Take the functions that tell rows apart, each once; None where there are none."""
        last = model.layers[-1]
        holds = _evaluate(model, np.arange(len(last.source)), rows) > 0.0
        found: dict[bytes, int] = {}
        for e, held in enumerate(holds.T):
            if held.any() and not held.all():
                found.setdefault(min(held.tobytes(), (~held).tobytes()), e)
        return cls(model, tuple(found.values()), rows) if found else None

    @property
    def n_inputs(self) -> int:
        """How many columns the table has."""
        return len(self.model.schema)

    @property
    def fields(self) -> list[Field]:
        """The columns of the terms."""
        return [Field(f"term {i + 1}") for i in range(len(self.edges))]

    def add(self, rows: Floats) -> Floats:
        """Return rows with the columns of the terms."""
        return np.concatenate([rows, _evaluate(self.model, self.edges, rows)], axis=1)

    def replace(self, network: Network) -> Network:
        """Return a network that reads the table's own columns alone."""
        here = [f for f in network.functions if f.source < self.n_inputs]
        neurons = list(network.neurons)
        for function in network.functions:
            if function.source >= self.n_inputs:
                part = self._parts[function.source - self.n_inputs]
                if isinstance(part, Neuron):
                    neurons.append(replace(part, weight=function.weight))
                else:
                    here.append(replace(part, weight=function.weight))
        return Network(network.constant, here, neurons)

    @cached_property
    def _parts(self) -> list[Function | Neuron]:
        """What each term is: a function of a column, or a neuron of several."""
        last = self.model.layers[-1]
        return [self._write(last, e) for e in self.edges]

    def _write(self, last: Layer, e: int) -> Function | Neuron:
        source = int(last.source[e])
        if source < self.n_inputs:
            return self._steepen(last, e)
        hidden = self.model.layers[0]
        inputs = np.flatnonzero(hidden.target == source - self.n_inputs)
        steep = make_steep(float(last.w[e, 0]), _NEXT)
        read = tuple(self._steepen(hidden, i) for i in inputs.tolist())
        return Neuron(read, (steep,), (float(last.b[e, 0]),), 1.0)

    def _steepen(self, layer: Layer, e: int) -> Function:
        """Return the function that is a step's value at all training rows."""
        source, missing = int(layer.source[e]), float(layer.missing[e])
        if len(layer.levels[e]):
            return Function(source, missing=missing, levels=np.asarray(layer.levels[e]))
        threshold = float(layer.b[e, 0])
        apart = np.abs(self.rows[:, source] - threshold)
        apart = apart[apart > 0.0]  # NaN is not
        steep = make_steep(float(layer.w[e, 0]), float(apart.min(initial=np.inf)))
        return Function(source, (steep,), (threshold,), missing=missing, is_step=True)


def _evaluate(model: Model, edges: Sequence[int] | NDArray[np.intp], rows: Floats) -> Floats:
    *hidden, last = model.layers
    return open_functions(model.schema, tuple(hidden), last, list(edges)).score_rows(rows)
