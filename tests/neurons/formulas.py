"""Random formulas, and models of them."""

import numpy as np

from newron.model import Column, Layer, Model, Schema, Targets
from newron.neurons import (
    activation,
    aggregation,
    cos,
    exp,
    log,
    maximum,
    minimum,
    processing,
    sigmoid,
    sin,
    sqrt,
    tanh,
    where,
)

UNARY = (
    lambda a: -a,
    abs,
    lambda a: exp(-abs(a)),
    lambda a: log(1.0 + abs(a)),
    lambda a: sqrt(0.25 + a * a),
    lambda a: sin(9.0 * tanh(a)),
    lambda a: cos(9.0 * tanh(a)),
    sigmoid,
    tanh,
    lambda a: tanh(a) ** 3,
)
BINARY = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (1.0 + abs(b)),
    minimum,
    maximum,
    lambda a, b: where(a < b, a, 0.5 * b),
    lambda a, b: where((a > 0.1) & ~(b > 0.3), a, b),
)


def draw_term(random, terms, depth=4):
    """Return a random formula of some terms."""
    kind = random.randrange(5)
    if depth == 0 or kind == 0:
        number = random.choice([0.3, -1.7, 2.0])
        return random.choice(terms) * number if random.random() < 0.5 else random.choice(terms)
    if kind < 3:
        return random.choice(UNARY)(draw_term(random, terms, depth - 1))
    parts = [draw_term(random, terms, depth - 1) for _ in range(2)]
    return random.choice(BINARY)(*parts)


def draw_processing(random):
    """Return a random function of one factor, or of two, and a parameter."""

    def one(z, a=0.5):
        return draw_term(random, [z, z, a]) + 0.1 * z

    def two(z1, z2):
        return draw_term(random, [z1, z2]) + 0.1 * z1 * z2

    return processing(random.choice([one, two]))


def draw_aggregation(random):
    """Return a random aggregation."""

    def own(parts):
        inner = draw_term(random, [parts], 2) + 0.1 * parts
        total = getattr(inner, random.choice(["sum", "mean", "min", "max", "product"]))()
        return draw_term(random, [total], 2) + 0.1 * total

    return aggregation(own)


def draw_activation(random):
    """Return a random activation."""

    def bend(x):
        return draw_term(random, [x], 3) + 0.1 * x

    return activation(bend)


def draw_model(random):
    """Return a model of two layers with functions of its own everywhere."""
    functions = [draw_processing(random) for _ in range(2)]
    own, bend = draw_aggregation(random), draw_activation(random)
    if functions[0].name == functions[1].name:  # a file has one formula of a name
        functions[1] = functions[0]
    rng = np.random.default_rng(random.randrange(2**32))
    layers = []
    for function, n, signals in ((functions[0], 2, (0, 1)), (functions[1], 1, (2, 3))):
        m = len(function.factors)
        target, source = np.repeat(np.arange(n), 2), np.tile(signals, n)
        places = rng.normal(0.0, 1.5, (2, 2 * n, m))
        last = n == 1
        more = {"alpha": rng.normal(0.0, 2.0, 2)} if last else {}
        kinds = (function, "sum", "identity") if last else (function, own, bend)
        centre = rng.normal(0.0, 1.0, n)
        layers.append(Layer(*kinds, n, target, source, *places, centre=centre, **more))
    columns = tuple(Column(name, -3.0, 3.0) for name in "ab")
    return Model(Schema(columns), layers, Targets(("y",)))
