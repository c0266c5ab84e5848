"""Random models of every kind, for property tests."""

import numpy as np

from newron.model import Classes, Column, Layer, Model, RankScale, Schema, Targets

FUNCTIONS = ("heaviside", "sigmoid", "tanh_prod", "linear", "relu", "selu")
AGGREGATIONS = ("sum", "mean", "min", "max", "product")
END = float(np.nextafter(1e300, 0.0))  # the largest number of a table
ACTIVATIONS = ("identity", "sigmoid", "tanh", "relu")


def make_model(seed: int) -> Model:
    """Draw a network: any depth, sparse, with ranks, ties and thresholds on values."""
    rng = np.random.default_rng(seed)
    n_inputs = int(rng.integers(1, 6))
    schema = Schema(tuple(_make_column(i, rng) for i in range(n_inputs)))
    output = _make_output(rng)
    widths = [int(n) for n in rng.integers(1, 4, rng.integers(0, 3))]
    layers, n_signals = [], n_inputs
    for width in widths:
        layers.append(_make_layer(rng, width, n_signals, n_inputs, last=False))
        n_signals += width
    layers.append(_make_layer(rng, output.n_scores, n_signals, n_inputs, last=True))
    return Model(schema, layers, output)


def make_rows(model: Model, seed: int, n: int = 60):
    """Draw rows, thresholds themselves and extreme values included."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, len(model.schema))).round(1)
    for i in range(len(model.schema)):
        first = model.layers[0]
        places = first.b[first.source == i].ravel()
        if len(places):
            rows[: n // 3, i] = rng.choice(places, n // 3)
    rows[-1], rows[-2] = END, -END
    return rows


def _make_column(i, rng):
    scale = None
    if rng.random() < 0.5:
        knots = np.unique(rng.normal(size=rng.integers(2, 8)).round(2))
        if len(knots) >= 2:
            ranks = np.linspace(0, 1, len(knots))
            scale = RankScale(tuple(knots.tolist()), tuple(ranks.tolist()))
    return Column(f"column {i}", -3.0, 3.0, None, scale)


def _make_output(rng):
    kind = rng.integers(3)
    if kind == 0:
        return Classes(("no", "yes"))
    if kind == 1:
        return Classes((1, 2, 3))
    return Targets(tuple(f"y{k}" for k in range(rng.integers(1, 3))))


def _make_layer(rng, width, n_signals, n_inputs, *, last):
    processing = str(rng.choice(FUNCTIONS))
    factors = int(rng.integers(1, 4)) if processing == "tanh_prod" else 1
    counts = rng.integers(0, 2 * n_signals + 1, width)
    n = int(counts.sum())
    source = rng.integers(0, n_signals, n)
    return Layer(
        processing,
        str(rng.choice(AGGREGATIONS)),
        "identity" if last else str(rng.choice(ACTIVATIONS)),
        width,
        np.repeat(np.arange(width), counts),
        source,
        rng.choice([0.0, -1.0, 1.0, 0.37, -5.2], (n, factors)),
        rng.normal(size=(n, factors)).round(1),
        np.zeros(n, bool),
        rng.normal(size=n).round(2) if rng.random() < 0.7 else None,
        rng.normal(size=width).round(1) if rng.random() < 0.7 else None,
    )


def with_ranks(model: Model, seed: int) -> Model:
    """Let some functions read ranks."""
    rng = np.random.default_rng(seed)
    scaled = {i for i, c in enumerate(model.schema.columns) if c.rank_scale is not None}
    layers = [
        layer.replace(
            rank=np.isin(layer.source, list(scaled)) & (rng.random(len(layer.source)) < 0.5)
        )
        for layer in model.layers
    ]
    return Model(model.schema, layers, model.output)
