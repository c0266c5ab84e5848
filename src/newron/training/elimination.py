"""Backward elimination: one cut after the other, the cheapest for each literal first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from newron.engine.blas import use_one_thread
from newron.model.arithmetic import Floats
from newron.model.edits import Layers, pick_functions
from newron.model.model import Model
from newron.model.network import Layer
from newron.objectives import Expansion
from newron.training.folding import (
    drop_function,
    fold,
    make_additive,
)
from newron.training.last_layer import (
    Names,
    State,
    Task,
    count_remaining,
    make_model,
    make_state,
    measure_sizes,
    refit_state,
)
from newron.training.naming import (
    name_function,
    name_inputs,
    name_neurons,
    name_terms,
)
from newron.training.refitting import (
    Weights,
    apply_curvature,
    cross,
    gather_gradient,
    pick_weights,
)


def eliminate(task: Task, model: Model) -> list[Model]:
    """Return ever smaller networks, each refitted, down to one that reads no column.

    The first has all that matters in the model, with no more functions than needed.
    """
    # Small products of matrices: threads cost more than they give, and may round otherwise.
    with use_one_thread():
        state = refit_state(task, make_state(task, fold(task.schema, make_additive(model))))
        memory, out = _Memory(), [make_model(task, state)]
        while count_remaining(state.layers, len(task.schema), state.names):
            state = _cut(task, state, memory)
            out.append(make_model(task, state))
    return out


# ---- what a cut costs ----


@dataclass(frozen=True)
class _Cut:
    """A smaller network, its cost by a guess, and the weights that go with the guess."""

    layers: Layers
    names: Names
    cost: float
    removed: int  # literals
    value: dict[tuple[bytes, int], float]  # of functions and outputs
    start: Floats  # of the constants

    @property
    def price(self) -> float:
        return self.cost / self.removed


@dataclass(frozen=True)
class _View:
    """The loss around a state, from which guesses are made."""

    task: Task
    state: State

    @cached_property
    def expansion(self) -> Expansion:
        scores = self.state.weights.score(self.task.output.n_scores)
        return self.task.problem.expand(scores)

    @cached_property
    def curve(self) -> Floats:
        weights = self.state.weights
        return cross(weights, weights, self.expansion) + np.diag(weights.ridge)

    @cached_property
    def inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.curve))

    @cached_property
    def n_literals(self) -> int:
        return count_remaining(self.state.layers, len(self.task.schema), self.state.names)

    def price_terms(self) -> dict[bytes, float]:
        """Return the cost of each function of the last layer that reads a column."""
        last, names = self.state.layers[-1], self.state.names
        members: dict[bytes, list[int]] = {}
        for e in np.flatnonzero(last.source < len(self.task.schema)).tolist():
            members.setdefault(names[e], []).append(last.n_neurons + e)
        value = self.state.weights.value
        alone = 0.5 * value**2 / np.diag(self.inverse)
        return {
            name: float(alone[gone[0]]) if len(gone) == 1 else self._lose(np.array(gone))[0]
            for name, gone in members.items()
        }

    def drop_term(self, name: bytes) -> _Cut:
        """Return the cut of one function of the last layer, from all outputs."""
        layers, names = self.state.layers, self.state.names
        others = [e for e, other in enumerate(names) if other != name]
        last = pick_functions(layers[-1], np.array(others, np.intp))
        cut = self.guess((*layers[:-1], last), tuple(names[e] for e in others))
        assert cut is not None  # noqa: S101 - it reads a column
        return cut

    def _lose(self, gone: NDArray[np.intp]) -> tuple[float, Floats]:
        """Return the cost of losing some weights, and all weights after it."""
        value = self.state.weights.value
        if not len(gone):
            return 0.0, value
        push = np.linalg.solve(self.inverse[np.ix_(gone, gone)], value[gone])
        return 0.5 * float(value[gone] @ push), value - self.inverse[:, gone] @ push

    def guess(self, layers: Layers, names: Names) -> _Cut | None:
        """Guess what a network costs; None where it has no fewer literals."""
        removed = self.n_literals - count_remaining(layers, len(self.task.schema), names)
        if removed < 1:
            return None
        n_outputs, before = layers[-1].n_neurons, self.state.indices
        keys = list(zip(names, layers[-1].target.tolist(), strict=True))
        kept = [*range(n_outputs), *(before[key] for key in keys if key in before)]
        gone = np.setdiff1d(np.arange(len(self.state.weights.value)), kept)
        fresh = [e for e, key in enumerate(keys) if key not in before]
        if fresh:
            cost, old, new = self._exchange(np.array(kept), gone, layers, fresh)
        else:
            cost, moved = self._lose(gone)
            old, new = moved[kept], np.zeros(0)
        value = dict(zip([key for key in keys if key in before], old[n_outputs:], strict=True))
        value |= {keys[e]: float(v) for e, v in zip(fresh, new, strict=True)}
        return _Cut(layers, names, cost, removed, value, old[:n_outputs])

    def _exchange(
        self,
        kept: NDArray[np.intp],
        gone: NDArray[np.intp],
        layers: Layers,
        fresh: list[int],
    ) -> tuple[float, Floats, Floats]:
        """Guess the cost of losing weights for others; give the kept and the new ones."""
        weights, expansion = self.state.weights, self.expansion
        old, lost = pick_weights(weights, kept), pick_weights(weights, gone)
        new = self._make_new(layers, fresh)
        change = -lost.score(expansion.gradient.shape[1])
        bent = apply_curvature(expansion, change)
        moved = expansion.gradient + bent
        gradient = np.concatenate(
            [
                gather_gradient(old, moved) + old.ridge * old.value,
                gather_gradient(new, moved),
            ]
        )
        across = cross(old, new, expansion)
        own = cross(new, new, expansion) + np.diag(new.ridge)
        curve = np.block([[self.curve[np.ix_(kept, kept)], across], [across.T, own]])
        step = -np.linalg.solve(curve, gradient)
        cost = float(np.sum((expansion.gradient + 0.5 * bent) * change))
        cost += 0.5 * float(gradient @ step)
        cost -= 0.5 * float(lost.ridge @ lost.value**2)
        return cost, old.value + step[: len(kept)], step[len(kept) :]

    def _make_new(self, layers: Layers, fresh: list[int]) -> Weights:
        last = layers[-1]
        features = self.task.probe(layers[:-1], last, fresh)
        n = len(fresh)
        ridge = self.task.ridge * measure_sizes(self.task, last, features)
        output = last.target[fresh].astype(np.intp)
        return Weights(features, np.arange(n), output, ridge, np.zeros(n), np.zeros(n))


# ---- choosing a cut ----


@dataclass(frozen=True)
class _Edit:
    """A way to a smaller network that changes more than the last layer.

    ``rough`` is a name that does not change with what else is in the neuron.
    """

    name: bytes
    rough: bytes
    make: Callable[[], Layers]


@dataclass(frozen=True)
class _Memory:
    """What is known from earlier cuts, by name."""

    prices: dict[bytes, float] = field(default_factory=dict)
    means: dict[bytes, float] = field(default_factory=dict)  # of functions of columns

    def bound(self, edit: _Edit) -> float:
        """Return a price that an edit will hardly be under.

        Prices rise as networks get smaller, so that the last one is a bound; in a neuron
        that has changed since, half of it.
        """
        if edit.name in self.prices:
            return self.prices[edit.name]
        rough = self.prices.get(edit.rough, -np.inf)
        return rough - 0.5 * abs(rough)

    def learn(self, edit: _Edit, price: float) -> None:
        """Keep a price."""
        self.prices[edit.name] = self.prices[edit.rough] = price


def _cut(task: Task, state: State, memory: _Memory) -> State:
    """Make the cut of the lowest price."""
    cut = _choose(_View(task, state), memory)
    after = make_state(task, cut.layers, state, cut.names)
    value = np.array(after.weights.value)
    value[: len(cut.start)] = cut.start
    for key, i in after.indices.items():
        value[i] = cut.value.get(key, 0.0)
    return refit_state(task, replace(after, weights=replace(after.weights, value=value)))


def _choose(view: _View, memory: _Memory) -> _Cut:
    """Return the cut of the lowest cost for each literal; only what may be it is priced."""
    terms = view.price_terms()
    least, cheapest = min(((p, n) for n, p in terms.items()), default=(np.inf, b""))
    best: _Cut | None = None
    for edit in sorted(_list_edits(view, memory), key=memory.bound):
        if np.isfinite(least) and least <= memory.bound(edit):
            break
        layers = fold(view.task.schema, edit.make())
        cut = view.guess(layers, name_terms(layers, len(view.task.schema)))
        memory.learn(edit, np.inf if cut is None else cut.price)
        if cut is not None and cut.price < least:
            best, least = cut, cut.price
    return best or view.drop_term(cheapest)


def _list_edits(view: _View, memory: _Memory) -> Iterator[_Edit]:
    layers, n_inputs = view.state.layers, len(view.task.schema)
    signals = name_inputs(n_inputs)
    values: dict[tuple[int, int], float] = {}  # what a function becomes with its column
    for at, layer in enumerate(layers[:-1]):
        own = name_neurons(layer, signals)
        for j, name in enumerate(own):
            make = partial(_drop_neuron, view.task, layers, at, j)
            yield _Edit(b"neuron" + name, b"", make)
        for e in np.flatnonzero(layer.source < n_inputs).tolist():
            edits = _list_values(view.task, layers, at, e, own, memory)
            values[at, e] = min(edits, key=lambda value: memory.bound(edits[value]))
            yield from edits.values()
        signals += own
    for c in range(n_inputs):
        yield from _list_column(view, c, values)


def _list_column(view: _View, column: int, values: dict[tuple[int, int], float]) -> list[_Edit]:
    """Return the cut of a whole column, where that is more than one condition."""
    layers = view.state.layers
    readers = [
        (at, e)
        for at, layer in enumerate(layers)
        for e in np.flatnonzero(layer.source == column).tolist()
    ]
    last = len(layers) - 1
    parts = [
        view.state.names[e] if at == last else name_function(layers[at], e) for at, e in readers
    ]
    if len(set(parts)) < 2:
        return []
    name = b"column" + hashlib.sha256(b"|".join(parts)).digest()
    make = partial(_drop_all, layers, len(view.task.schema), readers, values)
    return [_Edit(name, b"", make)]


def _list_values(
    task: Task, layers: Layers, at: int, e: int, neurons: list[bytes], memory: _Memory
) -> dict[float, _Edit]:
    """Return the constants that a hidden function may become.

    A condition is taken to hold always or never: of a count one less must hold, or as
    many as before. A curve becomes its mean.
    """
    layer = layers[at]
    own = f"{layer.processing}".encode() + name_function(layer, e)
    if not layer.function.crisp:
        if own not in memory.means:
            memory.means[own] = task.average(task.probe(layers[:at], layer, [e])[:, 0])
        values = [memory.means[own]]
    else:
        values = [0.0, 1.0] if layer.aggregation == "sum" else [1.0]
    j = int(layer.target[e])
    place = e - int(layer.begin[j])
    return {
        value: _Edit(
            b"function %d %r" % (place, value) + neurons[j],
            b"%d %r" % (at, value) + own,
            partial(drop_function, layers, len(task.schema), at, e, value),
        )
        for value in values
    }


def _drop_neuron(task: Task, layers: Layers, at: int, j: int) -> Layers:
    """Return the network in which a neuron is constant: what it is mostly, or on average."""
    n_inputs = len(task.schema)
    signal = n_inputs + sum(layer.n_neurons for layer in layers[:at]) + j
    typical = 0.0  # for readers in the last layer, whose constants are refitted
    if any(np.any(layer.source == signal) for layer in layers[at + 1 : -1]):
        typical = _find_typical(task, layers, at, signal)
    for number in range(len(layers) - 1, at, -1):
        reader = layers[number]
        for e in np.flatnonzero(reader.source == signal)[::-1].tolist():
            h = reader.process(np.array([[typical]]), reader.b[e : e + 1], slice(e, e + 1))
            layers = drop_function(layers, n_inputs, number, e, float(h[0, 0]))
    return layers


def _find_typical(task: Task, layers: Layers, at: int, signal: int) -> float:
    one = np.ones((1, 1))
    place = np.array([signal], np.int32)
    ask = Layer("linear", "sum", "identity", 1, 0 * place, place, one, 0.0 * one)
    level = task.probe(layers[: at + 1], ask, [0])[:, 0]
    if not layers[at].function.crisp:
        return task.average(level)
    values, which = np.unique(level, return_inverse=True)
    return float(values[np.argmax(np.bincount(which, task.problem.weight))])


def _drop_all(
    layers: Layers,
    n_inputs: int,
    readers: list[tuple[int, int]],
    values: dict[tuple[int, int], float],
) -> Layers:
    """Return the network without some functions, each of them a constant."""
    direct = [e for at, e in readers if at == len(layers) - 1]
    # Constants of the last layer are refitted: no need to fold one by one.
    others = np.delete(np.arange(len(layers[-1].source)), direct)
    layers = (*layers[:-1], pick_functions(layers[-1], others))
    for at, e in reversed(readers[: len(readers) - len(direct)]):
        layers = drop_function(layers, n_inputs, at, e, values[at, e])
    return layers
