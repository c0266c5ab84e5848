"""What the core computes, in NumPy and double precision, to be read in one sitting.

A network here is a list of layers; a layer reads all signals before it that its
``source`` names, and its parameters are slices of one flat vector, exactly as in
the core: w, b, then alpha and centre where it has them.
"""

import math
from dataclasses import dataclass

import numpy as np

from newron.training.wiring import Wiring

SELU_SCALE, SELU_LOW = 1.0507009873554805, 1.7580993408473768


def sigmoid(z):
    return 0.5 * (1.0 + np.tanh(0.5 * z))


# ---- h: value and slope as functions of z = w (x - b); Heaviside's slope is its surrogate ----


def value(name, z, blend=1.0):
    if name == "heaviside":
        return blend * (z >= 0) + (1 - blend) * sigmoid(z)
    if name == "sigmoid":
        return sigmoid(z)
    if name == "linear":
        return z
    if name == "relu":
        return np.maximum(z, 0)
    return np.where(z > 0, SELU_SCALE * z, SELU_LOW * np.expm1(np.minimum(z, 0)))


def slope(name, z):
    if name in ("heaviside", "sigmoid"):
        return sigmoid(z) * (1 - sigmoid(z))
    if name == "linear":
        return np.ones_like(z)
    if name == "relu":
        return (z > 0) * 1.0
    return np.where(z > 0, SELU_SCALE, SELU_LOW * np.exp(np.minimum(z, 0)))


# ---- G over the last axis, and dG/dpart ----


def aggregate(name, parts):
    joins = {"sum": np.sum, "mean": np.mean, "min": np.min, "max": np.max, "product": np.prod}
    return joins[name](parts, axis=-1)


def aggregate_slope(name, parts):
    n = parts.shape[-1]
    if name in ("sum", "mean"):
        return np.full_like(parts, 1.0 if name == "sum" else 1.0 / n)
    if name == "product":
        others = [np.prod(np.delete(parts, i, axis=-1), axis=-1) for i in range(n)]
        return np.stack(others, axis=-1)
    hit = parts == aggregate(name, parts)[..., None]
    return hit / hit.sum(axis=-1, keepdims=True)  # ties share


def activate(name, z):
    functions = {"identity": lambda v: v, "sigmoid": sigmoid, "tanh": np.tanh}
    return np.maximum(z, 0) if name == "relu" else functions[name](z)


def activate_slope(name, y):
    if name == "identity":
        return np.ones_like(y)
    if name == "relu":
        return (y > 0) * 1.0
    return y * (1 - y) if name == "sigmoid" else 1 - y * y


# ---- losses: the mean over rows, and its gradient at the scores ----


def loss_of(kind, z, y, weight):
    n = len(z)
    if kind == "binary":
        loss = weight * (np.logaddexp(0, z[:, 0]) - y[:, 0] * z[:, 0])
        return loss.sum() / n, (weight * (sigmoid(z[:, 0]) - y[:, 0]))[:, None] / n
    if kind == "categorical":
        top = z.max(axis=1, keepdims=True)
        log_p = z - top - np.log(np.exp(z - top).sum(axis=1, keepdims=True))
        hit = np.eye(z.shape[1])[y[:, 0].astype(int)]
        return -(weight[:, None] * log_p * hit).sum() / n, weight[:, None] * (
            np.exp(log_p) - hit
        ) / n
    error = z - y
    mean = (weight[:, None] * error**2).mean(axis=1).sum() / n
    return mean, 2 * weight[:, None] * error / (n * z.shape[1])


# ---- forward and backward ----


@dataclass
class Pass:
    """What one layer's forward pass leaves for the backward pass."""

    x: np.ndarray
    z: np.ndarray
    h: np.ndarray
    parts: np.ndarray
    y: np.ndarray


def parameters(layer, params):
    shape = (layer.n_edges, layer.plan.n_factors)
    alpha = params[layer.alpha] if layer.plan.weighted else np.ones(layer.n_edges)
    centre = params[layer.centre] if layer.plan.centred else np.zeros(layer.plan.n_neurons)
    return params[layer.w].reshape(shape), params[layer.b].reshape(shape), alpha, centre


def forward(wiring: Wiring, params, X, blend=1.0):
    signals, passes = X, []
    for layer in wiring.layers:
        plan = layer.plan
        w, b, alpha, centre = parameters(layer, params)
        x = signals[:, layer.source]
        z = w * (x[:, :, None] - b)  # rows, functions, factors
        if plan.processing == "tanh_prod":
            h = (np.prod(np.tanh(z), axis=2) + 1) / 2
        else:
            h = value(plan.processing, z[:, :, 0], blend)
        parts = (alpha * h).reshape(len(X), plan.n_neurons, -1)
        y = activate(plan.activation, aggregate(plan.aggregation, parts) - centre)
        passes.append(Pass(x, z, h, parts, y))
        signals = np.concatenate([signals, y], axis=1)
    return passes


def backward(wiring: Wiring, params, passes, g_scores, n_signals):
    n = len(g_scores)
    gradient = np.zeros_like(params)
    g_signals = np.zeros((n, n_signals))
    g_signals[:, n_signals - g_scores.shape[1] :] = g_scores
    end = n_signals
    for layer, done in zip(reversed(wiring.layers), reversed(passes), strict=True):
        plan = layer.plan
        w, b, alpha, _ = parameters(layer, params)
        g = g_signals[:, end - plan.n_neurons : end] * activate_slope(plan.activation, done.y)
        end -= plan.n_neurons
        if plan.centred:
            gradient[layer.centre] = -g.sum(axis=0)
        g_parts = g[:, :, None] * aggregate_slope(plan.aggregation, done.parts)
        g_parts = g_parts.reshape(n, layer.n_edges)
        if plan.weighted:
            gradient[layer.alpha] = (g_parts * done.h).sum(axis=0)
        g_z = (g_parts * alpha)[:, :, None] * slope_of(plan, done.z)
        gradient[layer.w] = (g_z * (done.x[:, :, None] - b)).sum(axis=0).ravel()
        gradient[layer.b] = -(g_z * w).sum(axis=0).ravel()
        np.add.at(g_signals.T, layer.source, (g_z * w).sum(axis=2).T)
    return gradient


def slope_of(plan, z):
    if plan.processing != "tanh_prod":
        return slope(plan.processing, z)
    t = np.tanh(z)
    return 0.5 * aggregate_slope("product", t) * (1 - t * t)


def differentiate(wiring: Wiring, params, X, y, weight, kind, blend=1.0):
    """Loss and gradient of one batch."""
    passes = forward(wiring, params, X, blend)
    loss, g = loss_of(kind, passes[-1].y, y, weight)
    n_signals = X.shape[1] + sum(layer.plan.n_neurons for layer in wiring.layers)
    return loss, backward(wiring, params, passes, g, n_signals)


# ---- the training loop ----


class Random:
    """splitmix64, as in cpp/core/random.h."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = ((self.next() >> 32) * (i + 1)) >> 32
            items[i], items[j] = items[j], items[i]


def rate_factor(schedule, u):
    def fall(v):
        return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * v))

    if schedule == "cosine":
        return fall(u)
    if schedule == "one_cycle":
        return 0.04 + 0.96 * u / 0.25 if u < 0.25 else fall((u - 0.25) / 0.75)
    return 1.0


@dataclass
class Result:
    params: np.ndarray
    history: list
    status: str


def train(wiring, X, y, weight, recipe, kind, start, seed):
    """Repeat the core's whole run; ``recipe`` is a newron.training.recipe.Recipe."""
    params = start.astype(np.float64)
    share, decay = wiring.make_trainable(), wiring.make_decay(recipe.weight_decay)
    mean, square, steps = np.zeros_like(params), np.zeros_like(params), 0
    order, random = list(range(len(X))), Random(seed)
    best, kept, reference, waited, history = math.inf, params, math.inf, 0, []
    size = min(recipe.batch_size, len(X))
    for epoch in range(recipe.max_iter):
        random.shuffle(order)
        blend = min(epoch / recipe.max_iter / recipe.blend_until, 1) if recipe.blend_until else 1.0
        total = 0.0
        for first in range(0, len(X), size):
            rows = order[first : first + size]
            loss, g = differentiate(wiring, params, X[rows], y[rows], weight[rows], kind, blend)
            total += loss * len(rows)
            steps += 1
            mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
            u = (epoch + first / len(X)) / recipe.max_iter
            rate = recipe.learning_rate_init * rate_factor(recipe.schedule, u) * share
            size_of = np.sqrt(square / (1 - 0.999**steps)) + 1e-7
            params = params - rate * (mean / (1 - 0.9**steps)) / size_of
            params = params * (1 - rate * decay)
        if recipe.monitor == "epoch":
            now = total / weight.sum()
        else:
            now = differentiate(wiring, params, X, y, weight, kind)[0] * len(X) / weight.sum()
        history.append(now)
        if now < best or not recipe.keep_best:
            best, kept = now, params
        if now < reference - recipe.tol:
            reference, waited = now, 0
        else:
            waited += 1
            if recipe.n_iter_no_change is not None and waited >= recipe.n_iter_no_change:
                return Result(kept, history, "stalled")
    return Result(kept, history, "finished")
