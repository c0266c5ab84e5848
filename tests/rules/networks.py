"""Random crisp networks of every kind, and rows that hit all their edges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

import numpy as np

from newron.model import Classes, Column, Labels, Layer, Model, Schema, Survival, Targets
from newron.model.network import evaluate

AGGREGATIONS = ("sum", "mean", "min", "max", "product")
ACTIVATIONS = ("identity", "identity", "relu", "sigmoid", "tanh")

NAMES = ("age", "x1", "x10", "chest pain", "a1", "bp(sys)", "größe")
ODD_NAMES = (
    "a or b",
    "x",
    "x ≥ 3",
    "then",
    "now then what",
    'say "hi"',
    '"A"',
    "A",
    "not in",
    "3rd",
    "missing",
    "a; b",
    "all of [x]",
    "to be",
    "p — q",
    "If",
    "<b>|&</b>",
)
LABELS = ("red", "blue", "green", "dark red", "grey-ish")
ODD_LABELS = (
    ("missing", "<=50K", ">50K"),
    (False, True),
    (1, 1.5, 15),
    ("A", "a or b", "be", "x, y"),
    ("b", "b)", "(b"),
    ("True", "1", "1.5", 'q"'),
)
CLASSES = (("well", "ill"), (0, 1), (False, True), ("<=50K", ">50K"), ("no", "not sure"), (1, 1.5))
MANY_CLASSES = (
    ("a", "b", "c"),
    (1, 2, 3),
    ("missing", "A", "then", "class A"),
    ("or", 1, 1.5),
)
UNITS = ("years", "mg/dl", "%", "°C")

# Names, labels and units that look like rules, like each other, or do not print.
HOSTILE_NAMES = (
    "Sum", "Let", "A", "AA", "Let A be", "1e5", "-1", "e5", "x\ny", " x", "x ", "x  y", "", "é",
    "e\u0301", "ﬁ", "fi", "x — y", "Otherwise", "Always", "Missing values count as:", "+1",
    "years", "x years", "[", "]", "all of [", "at least 2 of", "a,b", "a;b", "\"", "\\", "\\n",
    "\u202ex", "\u200d", "x\u2028y", "\u0000", "\u001b[31m", "=", "≥", "x = 3", "x ≥ 3 or y",
    "class", "class a", "true", "not missing", "𝟙", "٣", "x٣", "−1", "inf", "nan", "null", "#",
    "%s", ".5", "İ", "a.", "a.b", "a - b", "a/b", "a or", "or", "then b", "points",
)  # fmt: skip
HOSTILE_UNITS = (
    "or", "and", "≥ 3", "; x", "]", "— x", "x — y", "1", "e5", "/2", "\"", "years or x ≥ 3",
    "then ill", "\n", "", " ", "\\", "E", "5", "−", "[", "{", ",", "A",
)  # fmt: skip
HOSTILE_LABELS = (
    ("missing", "not missing", "x"),
    ("a", "a ", "a  b"),
    (1, "1", "1.0"),
    (True, "True", "true"),
    ("", "x", "y"),
    ("{", "}", ","),
    ("or", "and", "then"),
    (-1, 1, -1.5),
    (1e16, 1e-7, 0.1),
    ("a\nb", "a", "b"),
    ("\u202e", "\x00", "a"),
    ("}, x", "a", "class a"),
    ("to", "of", "be"),
    (0.1, 0.30000000000000004, 0.2),
    ("−1", "-1", -1),
    ("1e5", 100000, 1e6),
    ("A", "AA", "B"),
)
LIMITS = (-3.0, -2.0, -0.5, 0.0, 0.1, 0.3, 0.5, 1.0, 1 / 3, 2.0, 1e-9, 1e6)
BANDS = (-2.0, -1.0, 0.0, 0.1, 0.3, 0.30000000000000004, 0.5, 1.0, 1 / 3, 2.0)

PLACES = (-1.5, -1.0, 0.0, 0.1, 0.1, 0.5, 1.0, 1e-320, 0.30000000000000004)
DECIMALS = (0.1, 0.2, 0.3, -0.1, -0.2, -0.3, 0.7, -1.1)
ROUNDED = (1 / 3, 2 / 3, -1 / 3, 1e-17, 1.0)
FAR = (1e16, 1.0, -1e16, -1.0, 0.5)
WHOLE = (-3.0, -2.0, -1.0, -1.0, 1.0, 1.0, 1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Wishes:
    """What kind of networks are drawn."""

    most_columns: int = 4
    least_columns: int = 1
    depth: int | None = None  # layers; drawn from 1 to 3 by default
    odd: float = 0.3  # how often names and labels are odd
    kinds: tuple[str, ...] = ("real", "real", "whole", "category")
    aggregations: tuple[str, ...] = ("sum", "sum", *AGGREGATIONS)
    activations: tuple[str, ...] = ACTIVATIONS
    last: tuple[str, ...] = ("sum", "sum", "sum", "sum", "sum", "mean", "min", "max", "product")
    outputs: tuple[str, ...] = ("binary", "binary", "many", "amounts")
    places: tuple[float, ...] = PLACES  # thresholds of real numbers
    rounded: bool = False  # whether weights may have sums that float64 rounds
    gaps: float = 0.3  # how many columns have missing values
    required: float = 0.0  # how many of the others are never missing
    classes: int | None = None  # how many there are of "many"
    card: bool = False  # whole points, which weigh something else than 1 in log-odds
    hostile: bool = False  # whether names, units and labels look like rules


@cache
def make_model(seed: int, wishes: Wishes = Wishes()) -> Model:
    """Draw a crisp network: sparse, with ties, gaps and thresholds on values.

    Thresholds of counts and sums lie where some rows are on either side, mostly: so few of
    the networks are constant.
    """
    for attempt in range(6):
        rng = np.random.default_rng([seed, attempt, 5])
        model = _draw_model(rng, wishes)
        said = model.output.predict(model.score_rows(_draw_rows(rng, model.schema)))
        if np.any(said != said[0]) or seed % 40 == 0:
            break
    return model


def _draw_model(rng, wishes):
    n = int(rng.integers(wishes.least_columns, wishes.most_columns + 1))
    schema = Schema(tuple(_make_columns(rng, n, wishes)))
    output = _make_output(rng, wishes, schema)
    depth = wishes.depth or int(rng.integers(1, 4))
    layers, signals = [], _draw_rows(rng, schema)
    for k in range(depth):
        last = k == depth - 1
        width = output.n_scores if last else int(rng.integers(1, 4))
        layers.append(_make_layer(rng, schema, width, signals, wishes, last=last))
        out = evaluate(schema, tuple(layers), signals[:, :n])
        signals = np.concatenate([signals, out], axis=1)
    if rng.random() < 0.8:
        layers[-1] = _centre(rng, layers[-1], out, whole=wishes.card)
    return Model(schema, layers, output)


def _draw_rows(rng, schema, n=200):
    columns = []
    for column in schema.columns:
        choices = PLACES if column.values is None else column.values
        if column.categories is not None:
            choices = range(column.n_categories)
        x = rng.choice(list(choices), n).astype(float)
        columns.append(np.where(rng.random(n) < 0.2 * column.gaps, np.nan, x))
    return np.stack(columns, axis=1)


def _centre(rng, layer, scores, *, whole=False):
    """Put the centre of each score on one that occurs, or between two."""
    middle = [rng.choice(np.unique(scores[:, j])) for j in range(layer.n_neurons)]
    beside = 0.0 if whole else rng.choice([0.0, 0.0, 0.5, -0.25])
    return layer.replace(centre=np.round(np.array(middle) + beside, 4))


def _make_columns(rng, n, wishes):
    odd = rng.random() < wishes.odd
    choices = HOSTILE_NAMES if wishes.hostile else ODD_NAMES if odd else NAMES
    if n > len(choices):
        choices = [f"x{i}" for i in range(1, n + 1)]
    names = rng.choice(choices, n, replace=False).tolist()
    for name in names:
        gaps = bool(rng.random() < wishes.gaps)
        never = not gaps and wishes.required > 0.0 and bool(rng.random() < wishes.required)
        kind = rng.choice(wishes.kinds)
        units = HOSTILE_UNITS if wishes.hostile else UNITS
        unit = units[rng.integers(len(units))] if rng.random() < 0.3 else None
        if kind == "real":
            yield Column(name, -2.0, 2.0, gaps=gaps, unit=unit, required=never)
        elif kind == "whole":
            n_values = int(rng.integers(1, 6))
            values = (np.arange(n_values) * rng.choice([1.0, 1.0, 10.0]) - 1.0).tolist()
            yield Column(
                name, min(values), max(values), tuple(values), gaps=gaps, unit=unit, required=never
            )
        else:
            labels = LABELS[: rng.integers(1, 6)]
            if wishes.hostile or rng.random() < wishes.odd:
                kinds = HOSTILE_LABELS if wishes.hostile else ODD_LABELS
                labels = kinds[rng.integers(len(kinds))]
            ends = 0.0, len(labels) - 1.0
            yield Column(name, *ends, categories=labels, gaps=gaps, required=never)


def _make_output(rng, wishes, schema):
    kind = rng.choice(wishes.outputs)
    if kind == "ordered":
        return _make_ordered(rng, wishes)
    if kind == "labels":
        return Labels(("funny", "sad", "not sad")[: rng.integers(1, 4)])
    if kind == "hazards":
        return Survival(("no death", "death"), time=schema.names[-1], ends=(0.1, 1.0, 2.0))
    if kind == "binary":
        labels = CLASSES[rng.integers(len(CLASSES))]
        if wishes.hostile:
            labels = HOSTILE_LABELS[rng.integers(len(HOSTILE_LABELS))][:2]
        return Classes(labels, unit=0.25, offset=0.125) if wishes.card else Classes(labels)
    if kind == "many" and wishes.classes:
        return Classes(tuple(range(wishes.classes)))
    if kind == "many":
        return Classes(MANY_CLASSES[rng.integers(len(MANY_CLASSES))])
    return Targets(("y", "blood sugar")[: rng.integers(1, 3)])


def _make_ordered(rng, wishes):
    """Draw ordered classes: bands where they belong, or anywhere, some of them empty."""
    n = int(rng.integers(3, 6))
    labels = ("lo", "mid", "hi", "class lo", "top")[:n] if rng.random() < 0.5 else tuple(range(n))
    limits = tuple(np.sort(rng.choice(LIMITS, n - 1, replace=False)).tolist())
    bands = tuple(np.sort(rng.choice(BANDS, n - 1)).tolist()) if rng.random() < 0.6 else ()
    return Classes(labels, 0.25 if wishes.card else 1.0, limits=limits, bands=bands)


def _make_layer(rng, schema, width, signals, wishes, *, last):
    least = 0 if rng.random() < 0.05 else 2
    counts = rng.integers(least, 6, width)
    n, n_inputs, n_signals = int(counts.sum()), len(schema), signals.shape[1]
    hidden = rng.random(n) < 0.8 if n_signals > n_inputs else np.zeros(n, bool)
    source = np.where(
        hidden,
        rng.integers(min(n_inputs, n_signals - 1), n_signals, n),
        rng.integers(n_inputs, size=n),
    )
    columns = schema.columns
    levels = [
        rng.integers(0, 2, columns[s].n_categories if s < n_inputs else 0).astype(float)
        for s in source
    ]
    w = rng.choice([1.0, -1.0, 0.3, -7.0, 1e-30, 0.0], n, p=[0.3, 0.3, 0.16, 0.16, 0.05, 0.03])
    b = [
        _draw_place(rng, columns[s], wishes)
        if s < n_inputs
        else _draw_level(rng, signals[:, s], w[e])
        for e, s in enumerate(source)
    ]
    aggregation = str(rng.choice(wishes.last if last else wishes.aggregations))
    centre = None
    if not last and rng.random() < 0.2:
        centre = rng.choice([0.0, 1.0, 0.5, 1.0 / 3.0], width)
    return Layer(
        "heaviside",
        aggregation,
        "identity" if last else str(rng.choice(wishes.activations)),
        width,
        np.repeat(np.arange(width), counts),
        source,
        w.reshape(n, 1),
        np.array(b).reshape(n, 1),
        alpha=_draw_weights(rng, n, aggregation, wishes) if last else None,
        centre=centre,
        missing=rng.integers(0, 2, n).astype(float),
        levels=levels,
    )


def _draw_place(rng, column, wishes):
    if column.values is not None:
        return float(rng.choice([*column.values, *(v + 0.5 for v in column.values)]))
    return float(rng.choice(wishes.places))


def _draw_level(rng, signal, w):
    """Draw a threshold of a neuron: a value that it has, between two, or anything."""
    values = np.unique(signal)
    if rng.random() < 0.1 or len(values) < 2:
        return float(rng.choice([0.0, 1.0, 1.5, 2.0, 1 / 3, -1.0]))
    k = int(rng.integers(1, len(values)))
    if rng.random() < 0.5:
        return float(values[k] if w > 0 else values[k - 1])
    return round(float(values[k] + values[k - 1]) / 2, 3)


def _draw_weights(rng, n, aggregation, wishes):
    if wishes.rounded and rng.random() < 0.6:
        kind = rng.integers(4)
        choices = {1: ROUNDED, 2: FAR, 3: DECIMALS}
        return rng.normal(size=n) if kind == 0 else rng.choice(choices[int(kind)], n)
    # Products of decimals are rounded: these get whole numbers.
    kind = 2 if aggregation == "product" or wishes.card else rng.integers(5)
    if kind == 0:
        return np.ones(n) * rng.choice([1.0, 0.1, -2.0])
    if kind == 1:
        return rng.choice(DECIMALS, n)
    return rng.choice(WHOLE, n) if kind < 4 else rng.normal(size=n).round(2)


# ---- rows ----


def list_values(model: Model, i: int, extra: Sequence[float] = ()) -> list[float]:
    """Give the values of a column where something may happen; NaN where it has gaps."""
    column = model.schema.columns[i]
    gap = [] if column.required else [np.nan]
    if column.categories is not None:
        return [*map(float, range(column.n_categories)), *gap]
    if column.values is not None:
        return [*column.values, *gap]
    places = {float(b) for layer in model.layers for b in layer.b[layer.source == i, 0]}
    places |= set(extra)
    near = {near for b in places for near in (b, np.nextafter(b, -9), np.nextafter(b, 9))}
    inner = sorted({*places, column.low, column.high})
    between = {(a + b) / 2 for a, b in pairwise(inner)}
    return [*sorted({*near, *between, column.low, column.high, -1e299, 1e299}), *gap]


def make_rows(
    model: Model,
    seed: int = 0,
    most: int = 1500,
    extra: Mapping[int, Sequence[float]] | None = None,
) -> np.ndarray:
    """Give all combinations of such values, or some of them where there are too many."""
    extra = extra or {}
    lists = [list_values(model, i, extra.get(i, ())) for i in range(len(model.schema))]
    if np.prod([float(len(values)) for values in lists]) <= most:
        return np.array(list(product(*lists)))
    rng = np.random.default_rng([seed, 6])
    return np.stack([rng.choice(values, most) for values in lists], axis=1)


def make_table(model: Model, rows: np.ndarray) -> np.ndarray:
    """Turn rows into a table as a user has it: labels for categories, None for gaps."""
    table = rows.astype(object)
    for i, column in enumerate(model.schema.columns):
        gap = np.isnan(rows[:, i])
        if column.categories is not None:
            table[~gap, i] = [column.categories[int(c)] for c in rows[~gap, i]]
            table[gap, i] = None
    return table


# ---- networks by hand ----


def make_layer(n_neurons, target, source, w, b, *, aggregation="sum", **more):
    """Give a Heaviside layer, with w and b as plain lists."""
    n = len(target)
    return Layer(
        "heaviside",
        aggregation,
        "identity",
        n_neurons,
        target,
        source,
        np.array(w, float).reshape(n, 1),
        np.array(b, float).reshape(n, 1),
        **more,
    )


def make_step(column: Column, b: float, labels=("well", "ill"), *, w: float = 1.0, **more) -> Model:
    """Give the network that says the second class from b on."""
    layer = make_layer(1, [0], [0], [w], [b], alpha=[2.0], centre=[1.0], **more)
    return Model(Schema((column,)), [layer], Classes(labels))


def make_score(n: int, alpha, centre, labels=("well", "ill"), **more) -> Model:
    """Give a network without hidden layer: points for x1 ≥ 1, x2 ≥ 1, ..."""
    columns = tuple(Column(f"x{i}", 0.0, 2.0) for i in range(1, n + 1))
    layer = make_layer(
        1, [0] * n, range(n), [1.0] * n, [1.0] * n, alpha=alpha, centre=[centre], **more
    )
    return Model(Schema(columns), [layer], Classes(labels))


def make_monk2() -> Model:
    """Give MONK-2: exactly two of six attributes have their first value."""
    sizes = (3, 3, 2, 3, 4, 2)
    columns = tuple(
        Column(f"a{i}", 1.0, float(n), tuple(map(float, range(1, n + 1))))
        for i, n in enumerate(sizes, 1)
    )
    count = make_layer(1, [0] * 6, range(6), [-1.0] * 6, [1.0] * 6)
    last = make_layer(1, [0, 0], [6, 6], [1.0, -1.0], [1.5, 2.5], alpha=[1.0, 1.0], centre=[2.0])
    return Model(Schema(columns), [count, last], Classes((0, 1)))


def make_wide(n: int, width: int, seed: int = 0) -> Model:
    """Give a dense network on many columns: far too many cells to enumerate."""
    rng = np.random.default_rng([seed, 8])
    columns = tuple(Column(f"x{i}", -2.0, 2.0, gaps=i % 5 == 0) for i in range(n))
    size = n * width
    hidden = make_layer(
        width,
        np.repeat(np.arange(width), n),
        np.tile(np.arange(n), width),
        rng.choice([-1.0, 1.0], size),
        rng.normal(size=size).round(1),
        missing=rng.integers(0, 2, size).astype(float),
    )
    last = make_layer(
        1,
        [0] * (width + 2),
        [*range(n, n + width), 0, 1],
        rng.choice([-1.0, 1.0], width + 2),
        [*(n // 2 + rng.integers(-3, 4, width)), 0.5, -0.5],
        alpha=rng.choice([-1.0, 0.5, 1.0, 2.0], width + 2),
        centre=[0.5],
    )
    return Model(Schema(columns), [hidden, last], Classes(("well", "ill")))
