"""Backward elimination: one cut after the other, the cheapest for each literal first.

A cut takes a condition out of the last layer or out of a hidden neuron, a whole neuron,
or a whole column. What it costs is guessed by a quadratic around the present weights, with
all weights moved to where they are then best; the cut of the lowest cost for each literal
is made, and the weights are refitted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from newron.engine.blas import use_one_thread
from newron.model.arithmetic import Floats
from newron.model.edits import Layers, drop_unread, pick_functions
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Output, Targets
from newron.model.processing import get_processing
from newron.model.schema import Schema
from newron.objectives import Expansion
from newron.training.folding import (
    copy_condition,
    drop_function,
    fold,
    fold_weights,
    make_additive,
    name_function,
    name_inputs,
    name_neurons,
    name_terms,
)
from newron.training.problem import Problem
from newron.training.refitting import (
    Weights,
    apply_curvature,
    cross,
    gather_gradient,
    pick_weights,
    refit,
)

Names = tuple[bytes, ...]

_LITTLE = 1e-6  # a ridge for what no row determines, such as a shift of all classes' scores


@dataclass(frozen=True)
class Task:
    """Rows to prune on, and what the scores should be there."""

    schema: Schema
    output: Output
    X: Floats
    problem: Problem
    ridge: float = 1.0
    directions: tuple[int, ...] = ()  # of the columns in which the model is monotone
    n_threads: int = 1

    def probe(self, hidden: Layers, last: Layer, edges: Sequence[int]) -> Floats:
        """Return the values of some functions that read these layers, of shape (rows, edges)."""
        n = len(edges)
        if not n:
            return np.zeros((len(self.X), 0))
        probe = pick_functions(
            last, np.array(edges, np.intp), n_neurons=n, target=np.arange(n), aggregation="sum",
            activation="identity", alpha=None, centre=None,
        )  # fmt: skip
        layers = (*hidden, probe)
        while (smaller := drop_unread(layers, len(self.schema))) is not layers:
            layers = smaller
        model = Model(self.schema, layers, Targets(tuple(map(str, range(n)))))
        return model.score_rows(self.X, n_threads=self.n_threads)

    def average(self, values: Floats) -> float:
        """Return the weighted mean over rows."""
        return float(self.problem.weight @ values / self.problem.weight.sum())


def eliminate(task: Task, model: Model) -> list[Model]:
    """Return ever smaller networks, each refitted, down to one that reads no column.

    The first has all that matters in the model, with no more functions than needed.
    """
    # Small products of matrices: threads cost more than they give, and may round otherwise.
    with use_one_thread():
        state = _refit_state(task, _make_state(task, fold(task.schema, make_additive(model))))
        memory, out = _Memory(), [_make_model(task, state)]
        while _count(state.layers, len(task.schema), state.names):
            state = _cut(task, state, memory)
            out.append(_make_model(task, state))
    return out


# ---- a network with its weights ----


@dataclass(frozen=True)
class _State:
    """A network, the names of its last layer's functions, and their weights.

    The first weights are those of the constant, one for each output.
    """

    layers: Layers
    names: Names
    columns: dict[bytes, int]  # the feature of each name
    weights: Weights

    @cached_property
    def indices(self) -> dict[tuple[bytes, int], int]:
        """Which weight belongs to a function and an output."""
        last = self.layers[-1]
        keys = zip(self.names, last.target.tolist(), strict=True)
        return {key: last.n_neurons + i for i, key in enumerate(keys)}


def _make_state(
    task: Task, layers: Layers, before: _State | None = None, names: Names | None = None
) -> _State:
    """Return a network's features and weights; what is known is taken over."""
    names = names or name_terms(layers, len(task.schema))
    columns = {name: c for c, name in enumerate(dict.fromkeys(names), 1)}
    known = {} if before is None else before.columns
    first = {name: e for e, name in reversed(list(enumerate(names)))}
    fresh = [name for name in columns if name not in known]
    features = np.empty((len(task.X), len(columns) + 1))
    features[:, 0] = 1.0
    if before is not None:
        kept = [name for name in columns if name in known]
        features[:, [columns[n] for n in kept]] = before.weights.features[
            :, [known[n] for n in kept]
        ]
    values = task.probe(layers[:-1], layers[-1], [first[name] for name in fresh])
    features[:, [columns[name] for name in fresh]] = values
    joined = _join_alike(layers, len(task.schema), [columns[n] for n in names], features)
    if joined is not layers:
        return _make_state(task, fold(task.schema, joined), before)
    state = _State(layers, names, columns, _make_weights(task, layers, names, columns, features))
    return state if before is None else _carry(state, before)


def _join_alike(layers: Layers, n_inputs: int, columns: list[int], features: Floats) -> Layers:
    """Merge conditions that hold for the same rows, or for all others, into one of them.

    They would share a weight, and a ridge holds back the one that is left.
    """
    last = layers[-1]
    if not get_processing(last.processing).crisp:
        return layers
    first: dict[bytes, tuple[int, bool]] = {}  # by the rows it holds for; whether turned
    # Conditions on columns first: they are the shorter ones.
    for e in sorted(range(len(columns)), key=lambda e: bool(layers[-1].source[e] >= n_inputs)):
        holds = features[:, columns[e]] > 0.5
        by, turned = first.setdefault(np.packbits(holds).tobytes(), (e, False))
        if by == e:
            first.setdefault(np.packbits(~holds).tobytes(), (e, True))
        elif columns[by] != columns[e]:
            last = copy_condition(last, np.array([e]), np.array([turned]), layers[-1], by)
    return layers if last is layers[-1] else (*layers[:-1], last)


def _carry(state: _State, before: _State) -> _State:
    """Take over the weights of functions that were there before; new ones begin at 0."""
    n_outputs = state.layers[-1].n_neurons
    value = np.zeros(len(state.weights.value))
    value[:n_outputs] = before.weights.value[:n_outputs]
    for key, i in state.indices.items():
        value[i] = before.weights.value[before.indices[key]] if key in before.indices else 0.0
    return replace(state, weights=replace(state.weights, value=value))


def _make_weights(
    task: Task, layers: Layers, names: Names, columns: dict[bytes, int], features: Floats
) -> Weights:
    last = layers[-1]
    assert last.alpha is not None and last.centre is not None  # noqa: S101, PT018 - additive
    n_outputs = last.n_neurons
    shift, scale = task.problem.scale.shift, task.problem.scale.scale
    term = np.array([0] * n_outputs + [columns[name] for name in names], np.intp)
    ridge = task.ridge * _size(task, last, features)[term]
    ridge[:n_outputs] = _LITTLE
    return Weights(
        features,
        term,
        np.concatenate([np.arange(n_outputs), last.target]).astype(np.intp),
        ridge,
        np.concatenate([np.zeros(n_outputs), np.sign(last.alpha) * _find_bound(task, layers)]),
        np.concatenate([-(last.centre + shift) / scale, last.alpha / scale[last.target]]),
    )


def _size(task: Task, last: Layer, features: Floats) -> Floats:
    """Return the square of each function's size, so that a ridge does not depend on units."""
    if get_processing(last.processing).bounded:
        return np.ones(features.shape[1])
    fraction = task.problem.weight / task.problem.weight.sum()
    return np.asarray(np.maximum(fraction @ (features - fraction @ features) ** 2, 1e-200))


def _find_bound(task: Task, layers: Layers) -> Floats:
    """Return which functions of the last layer a direction binds: 1, or 0 for none."""
    bound = np.array(task.directions or [0] * len(task.schema)) != 0
    for layer in layers[:-1]:
        own = np.zeros(layer.n_neurons, bool)
        np.logical_or.at(own, layer.target, bound[layer.source])
        bound = np.concatenate([bound, own])
    return np.asarray(bound[layers[-1].source], np.float64)


def _refit_state(task: Task, state: _State) -> _State:
    """Refit the weights; functions that get none, being bound, are left out."""
    while True:
        state = replace(state, weights=refit(task.problem, state.weights))
        used = state.weights.value[task.output.n_scores :] != 0.0
        if used.all():
            return state
        last = pick_functions(state.layers[-1], np.flatnonzero(used))
        state = _make_state(task, fold(task.schema, (*state.layers[:-1], last)), state)


def _make_model(task: Task, state: _State) -> Model:
    """Return the network as a model in the user's units."""
    n, value = task.output.n_scores, state.weights.value
    shift, scale = task.problem.scale.shift, task.problem.scale.scale
    last = state.layers[-1]
    alpha = value[n:] * scale[last.target]
    last = last.replace(alpha=alpha, centre=-(value[:n] * scale + shift))
    return Model(task.schema, fold_weights((*state.layers[:-1], last)), task.output)


def _count(layers: Layers, n_inputs: int, names: Names) -> int:
    """Count the literals of a folded network, in which every function matters."""
    hidden = sum(int(np.sum(layer.source < n_inputs)) for layer in layers[:-1])
    return hidden + len({names[e] for e in np.flatnonzero(layers[-1].source < n_inputs)})


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
    state: _State

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
        return _count(self.state.layers, len(self.task.schema), self.state.names)

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
        removed = self.n_literals - _count(layers, len(self.task.schema), names)
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
        ridge = self.task.ridge * _size(self.task, last, features)
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


def _cut(task: Task, state: _State, memory: _Memory) -> _State:
    """Make the cut of the lowest price."""
    cut = _choose(_View(task, state), memory)
    after = _make_state(task, cut.layers, state, cut.names)
    value = np.array(after.weights.value)
    value[: len(cut.start)] = cut.start
    for key, i in after.indices.items():
        value[i] = cut.value.get(key, 0.0)
    return _refit_state(task, replace(after, weights=replace(after.weights, value=value)))


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
    if not get_processing(layer.processing).crisp:
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
    if not get_processing(layers[at].processing).crisp:
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
