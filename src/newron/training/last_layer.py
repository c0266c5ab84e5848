"""Networks that get smaller, with the weights of their last layer refitted to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from newron.model.arithmetic import Floats
from newron.model.edits import Layers, open_functions, pick_functions
from newron.model.model import Model
from newron.model.network import Layer
from newron.model.output import Output
from newron.model.schema import Schema
from newron.training.folding import (
    copy_condition,
    fold,
    fold_weights,
)
from newron.training.naming import (
    name_terms,
)
from newron.training.problem import Problem
from newron.training.refitting import (
    Weights,
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
        if not len(edges):
            return np.zeros((len(self.X), 0))
        model = open_functions(self.schema, hidden, last, edges)
        return model.score_rows(self.X, n_threads=self.n_threads)

    def average(self, values: Floats) -> float:
        """Return the weighted mean over rows."""
        return float(self.problem.weight @ values / self.problem.weight.sum())


@dataclass(frozen=True)
class State:
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


def make_state(
    task: Task, layers: Layers, before: State | None = None, names: Names | None = None
) -> State:
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
        return make_state(task, fold(task.schema, joined), before)
    state = State(layers, names, columns, _make_weights(task, layers, names, columns, features))
    return state if before is None else _carry(state, before)


def _join_alike(layers: Layers, n_inputs: int, columns: list[int], features: Floats) -> Layers:
    """Merge conditions that hold for the same rows, or for all others, into one of them.

    They would share a weight, and a ridge holds back the one that is left.
    """
    last = layers[-1]
    if not last.function.crisp:
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


def _carry(state: State, before: State) -> State:
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
    ridge = task.ridge * measure_sizes(task, last, features)[term]
    ridge[:n_outputs] = _LITTLE
    return Weights(
        features,
        term,
        np.concatenate([np.arange(n_outputs), last.target]).astype(np.intp),
        ridge,
        np.concatenate([np.zeros(n_outputs), np.sign(last.alpha) * _find_bound(task, layers)]),
        np.concatenate([-(last.centre + shift) / scale, last.alpha / scale[last.target]]),
    )


def measure_sizes(task: Task, last: Layer, features: Floats) -> Floats:
    """Return the square of each function's size, so that a ridge does not depend on units."""
    if last.function.bounded:
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


def refit_state(task: Task, state: State) -> State:
    """Refit the weights; functions that get none, being bound, are left out."""
    while True:
        state = replace(state, weights=refit(task.problem, state.weights))
        used = state.weights.value[task.output.n_scores :] != 0.0
        if used.all():
            return state
        last = pick_functions(state.layers[-1], np.flatnonzero(used))
        state = make_state(task, fold(task.schema, (*state.layers[:-1], last)), state)


def make_model(task: Task, state: State) -> Model:
    """Return the network as a model in the user's units."""
    n, value = task.output.n_scores, state.weights.value
    shift, scale = task.problem.scale.shift, task.problem.scale.scale
    last = state.layers[-1]
    alpha = value[n:] * scale[last.target]
    last = last.replace(alpha=alpha, centre=-(value[:n] * scale + shift))
    return Model(task.schema, fold_weights((*state.layers[:-1], last)), task.output)


def count_remaining(layers: Layers, n_inputs: int, names: Names) -> int:
    """Count the literals of a folded network, in which every function matters."""
    hidden = sum(int(np.sum(layer.source < n_inputs)) for layer in layers[:-1])
    return hidden + len({names[e] for e in np.flatnonzero(layers[-1].source < n_inputs)})
