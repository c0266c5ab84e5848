"""Small networks of every kind for reports, and rows for them."""

from functools import cache

import numpy as np

from newron.model import Classes, Column, Layer, Model, Schema, Targets
from newron.rules.scorecard import ScoreCard, read_card

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '" onfocus="alert(3)" x="',
    "line\u2028break 🙂 'quoted' & more",
    "גיל החולה",
    "long " * 60,
)


def make_card() -> Model:
    """Give a score card: a number with a unit, a category, a column with gaps, listed values."""
    columns = (
        Column("age", 29.0, 77.0, unit="y"),
        Column("pain", 0, 2, categories=("none", "some", "much")),
        Column("oldpeak", 0.0, 6.2, gaps=True, unit="mm"),
        Column("vessels", 0.0, 3.0, values=(0.0, 1.0, 2.0, 3.0)),
        Column("unused", 0.0, 1.0),
    )
    layer = Layer(
        "heaviside", "sum", "identity", 1, target=[0] * 4, source=[0, 1, 2, 3],
        w=[[1.0], [0.0], [1.0], [1.0]], b=[[54.5], [0.0], [1.7], [0.5]],
        alpha=[1.0, 2.0, 1.5, 2.5], centre=[3.0], missing=[0.0, 0.0, 1.0, 0.0],
        levels=[[], [0.0, 0.0, 1.0], [], []],
    )  # fmt: skip
    return Model(Schema(columns), [layer], Classes(("well", "ill")))


def make_count() -> Model:
    """Give a network with hidden layers whose rule is a count: exactly two of three."""
    columns = tuple(Column(f"a{i}", 1.0, 3.0, values=(1.0, 2.0, 3.0)) for i in (1, 2, 3))
    counts = Layer("heaviside", "sum", "identity", 1, [0] * 3, [0, 1, 2], [[-1.0]] * 3, [[1.5]] * 3)
    both = Layer(
        "heaviside", "sum", "identity", 1, [0, 0], [3, 3], [[1.0], [-1.0]], [[1.5], [2.5]],
        alpha=[1.0, 1.0], centre=[1.5],
    )  # fmt: skip
    return Model(Schema(columns), [counts, both], Classes((0, 1)))


def make_soft() -> Model:
    """Give a smooth network of three classes with a hidden neuron, categories and gaps."""
    columns = (
        Column("length", 1.0, 7.0, unit="cm", gaps=True),
        Column("width", 0.1, 2.5),
        Column("colour", 0, 2, categories=("red", "green", "blue"), gaps=True),
    )
    hidden = Layer(
        "sigmoid", "sum", "tanh", 1, [0, 0], [0, 2], [[2.0], [0.0]], [[3.0], [0.0]],
        alpha=[2.0, -1.5], centre=[0.5], missing=[0.4, 0.7], levels=[[], [0.1, 0.5, 0.9]],
    )  # fmt: skip
    last = Layer(
        "tanh_prod", "sum", "identity", 3, [0, 0, 1, 1, 2], [1, 3, 0, 1, 3],
        w=[[2.0, -2.0], [1.0, 1.0], [1.5, -1.0], [3.0, 1.0], [2.0, 1.0]],
        b=[[0.5, 1.5], [0.2, -2.0], [2.0, 5.0], [1.0, -1.0], [0.6, -3.0]],
        alpha=[2.0, -1.0, 3.0, 1.0, 2.0], centre=[0.3, 0.7, 0.1], missing=[0.0, 0.0, 0.3, 0.5, 0.0],
    )  # fmt: skip
    return Model(Schema(columns), [hidden, last], Classes(("setosa", "versicolor", "virginica")))


def make_amounts() -> Model:
    """Give a network of two amounts."""
    columns = Column("x", -2.0, 2.0), Column("kind", 0, 1, categories=("a", "b"))
    layer = Layer(
        "sigmoid", "sum", "identity", 2, [0, 0, 1], [0, 1, 0], [[3.0], [0.0], [-1.0]],
        [[0.5], [0.0], [0.0]], alpha=[10.0, 4.0, 5.0], centre=[-20.0, 1.0],
        levels=[[], [0.2, 0.9], []],
    )  # fmt: skip
    return Model(Schema(columns), [layer], Targets(("dose", "time")))


def make_hostile() -> Model:
    """Give a card whose columns, categories, units and classes have hostile names."""
    columns = (
        *(Column(name, 0.0, 10.0, unit=HOSTILE[(k + 1) % 6]) for k, name in enumerate(HOSTILE)),
        Column("kind", 0, 5, categories=HOSTILE, gaps=True),
    )
    n = len(columns)
    layer = Layer(
        "heaviside", "sum", "identity", 1, [0] * n, range(n), [[1.0]] * n, [[4.5]] * n,
        alpha=[1.0] * n, centre=[3.0], levels=[*[[]] * (n - 1), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]],
    )  # fmt: skip
    return Model(Schema(columns), [layer], Classes(HOSTILE[:2]))


def make_table(model: Model, n: int, seed: int = 0) -> np.ndarray:
    """Draw rows as people have them, with gaps where columns have them."""
    rng = np.random.default_rng(seed)
    table = np.empty((n, len(model.schema)), object)
    for i, column in enumerate(model.schema.columns):
        if column.categories is not None:
            table[:, i] = rng.choice(np.array(column.categories, object), n)
        elif column.values is not None:
            table[:, i] = rng.choice(column.values, n)
        else:
            table[:, i] = rng.uniform(column.low, column.high, n).round(2)
        if column.gaps:
            table[rng.random(n) < 0.2, i] = None
    return table


def make_whole() -> ScoreCard:
    """Give the card in whole points, each of which weighs a half."""
    model = make_card()
    last = model.layers[-1]
    points = last.replace(alpha=2.0 * last.alpha, centre=2.0 * last.centre)
    return read_card(Model(model.schema, [points], Classes(model.output.labels, unit=0.5)))


@cache
def make_example(kind: str, n: int = 80) -> tuple[Model | ScoreCard, np.ndarray, np.ndarray]:
    """Give a model or a card, rows, and answers of which some are wrong."""
    if kind == "whole":
        return make_whole(), *make_example("card", n)[1:]
    model = MODELS[kind]()
    table = make_table(model, n)
    rng, scores = np.random.default_rng(1), model.scores(table)
    if isinstance(model.output, Classes):
        number = model.output.choose(scores)
        other = rng.integers(0, len(model.output.labels), n)
        return model, table, model.output.array[np.where(rng.random(n) < 0.15, other, number)]
    return model, table, scores + rng.normal(size=scores.shape)


MODELS = {
    "card": make_card,
    "count": make_count,
    "soft": make_soft,
    "amounts": make_amounts,
    "hostile": make_hostile,
    "whole": make_whole,
}
