"""Networks to draw: small ones by hand, hostile names, and all kinds at random."""

from functools import cache
from itertools import product

import numpy as np

from model.networks import make_model as make_any
from model.networks import make_rows as make_any_rows
from model.networks import with_ranks
from newron.model import Classes, Column, Layer, Model, Schema, Targets
from rules.networks import make_model as make_crisp
from rules.networks import make_rows as make_crisp_rows
from rules.networks import make_table

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quotes\" & 'apostrophes' ]]> <!-- -->",
    "👩‍⚕️🫀 heart & 心臓",
    "a" * 300,
    "long name with words " * 15,
    "גיל המטופל",
    "ضغط الدم",
    "\u202eturned\u2066 around",
    "line\nbreak\ttab\x00nul\x1b[31m\ud800",
    "--nw-bg:url(https://example.com)",
    "",
)


def make_monk2() -> Model:
    """Give the network of the paper: six counted, and asked twice."""
    sizes = (3, 3, 2, 3, 4, 2)
    columns = tuple(
        Column(f"a{i}", 1.0, float(n), tuple(map(float, range(1, n + 1))))
        for i, n in enumerate(sizes, 1)
    )
    count = _steps(1, [0] * 6, range(6), [-1.0] * 6, [1.5] * 6)
    asked = _steps(2, [0, 1], [6, 6], [1.0, -1.0], [1.5, 2.5])
    last = _steps(1, [0, 0], [7, 8], [1.0] * 2, [0.5] * 2, alpha=[4.0, 4.0], centre=[6.0])
    return Model(Schema(columns), [count, asked, last], Classes(("class 0", "class 1")))


def list_robots() -> np.ndarray:
    """Give all 432 rows of MONK-2."""
    return np.array(list(product(*(range(1, n + 1) for n in (3, 3, 2, 3, 4, 2)))), float)


def make_card() -> Model:
    """Give a score card with units, categories, gaps, an interval and a negative weight."""
    columns = (
        Column("age", 29.0, 77.0, unit="y"),
        Column("chest pain", 0.0, 3.0, categories=("typical", "atypical", "other", "none")),
        Column("vessels", 0.0, 3.0, values=(0.0, 1.0, 2.0, 3.0), gaps=True),
        Column("cholesterol", 126.0, 564.0, unit="mg/dl"),
        Column("unused", 0.0, 1.0),
    )
    layer = _steps(
        1,
        [0] * 6,
        [0, 0, 1, 2, 3, 3],
        [1.0, 1.0, 1.0, 1.0, 1.0, -1.0],
        [55.0, 65.0, 0.0, 0.5, 190.0, 236.0],
        alpha=[1.0, 2.0, -3.0, 3.0, -1.0, -1.0],
        centre=[1.5],
        missing=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        levels=[(), (), (1.0, 1.0, 1.0, 0.0), (), (), ()],
    )
    return Model(Schema(columns), [layer], Classes(("no disease", "disease")))


CARD_ROW = {"age": 50, "chest pain": "other", "vessels": None, "cholesterol": 233, "unused": 0}


def make_patients(n: int = 200) -> np.ndarray:
    """Give rows of the score card, some with gaps, as numbers of the table."""
    rng = np.random.default_rng(3)
    rows = np.stack(
        [
            rng.integers(29, 78, n),
            rng.integers(0, 4, n),
            np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 4, n)),
            rng.integers(126, 400, n),
            rng.random(n),
        ],
        axis=1,
    )
    return make_table(make_card(), rows)


def make_flowers() -> Model:
    """Give a network of bells for three classes."""
    columns = (
        Column("petal length", 1.0, 6.9, unit="cm"),
        Column("petal width", 0.1, 2.5, unit="cm"),
    )
    w, b = [[1.0, 1.2], [2.0, -2.0]], [[2.4, 5.1], [0.8, 1.7]]
    layer = Layer(
        "tanh_prod",
        "sum",
        "identity",
        3,
        [0, 0, 1, 1, 2, 2],
        [0, 1, 0, 1, 0, 1],
        [*w, *w, *w],
        [*b, *b, *b],
        alpha=[-3.0, -2.0, 2.5, 3.5, 1.0, 4.0],
        centre=[-1.0, 1.25, 0.5],
    )
    return Model(Schema(columns), [layer], Classes(("setosa", "versicolor", "virginica")))


def make_perceptron() -> Model:
    """Give an ordinary network for an amount: linear, with activations."""
    columns = Column("x", -2.0, 2.0), Column("y", 0.0, 10.0, unit="kg")
    hidden = Layer(
        "linear", "sum", "relu", 2, [0, 0, 1, 1], [0, 1, 0, 1],
        [[1.0], [-0.3], [2.0], [0.1]], [[0.2], [5.0], [-1.0], [2.0]], centre=[0.5, -1.0],
    )  # fmt: skip
    last = Layer("linear", "sum", "identity", 1, [0, 0], [2, 3], [[3.0], [-2.0]], [[0.0], [0.0]])
    return Model(Schema(columns), [hidden, last], Targets(("dose",)))


def make_wide(n_inputs: int = 60, n_neurons: int = 8, *, direct: int = 0) -> Model:
    """Give a large network of conditions: every neuron reads every input."""
    rng = np.random.default_rng(0)
    columns = tuple(Column(f"input number {i} of the table", 0.0, 100.0) for i in range(n_inputs))
    n = n_inputs * n_neurons
    hidden = _steps(
        n_neurons,
        np.repeat(np.arange(n_neurons), n_inputs),
        np.tile(np.arange(n_inputs), n_neurons),
        rng.choice([-1.0, 1.0], n),
        rng.integers(5, 95, n),
    )
    asked = [*range(n_inputs, n_inputs + n_neurons), *range(direct)]
    thresholds = [*(n_inputs // 2 + rng.integers(-2, 3, n_neurons) + 0.5), *[50.0] * direct]
    size = n_neurons + direct
    weights = np.round(rng.normal(0, 1.5, size), 2)
    last = _steps(1, [0] * size, asked, [1.0] * size, thresholds, alpha=weights, centre=[0.3])
    return Model(Schema(columns), [hidden, last], Classes(("repaid", "default")))


def make_hostile(names: tuple[str, ...] = HOSTILE) -> Model:
    """Give a network whose columns, units, categories and classes have hostile names."""
    labels = tuple(f"{name}?" for name in names[:4])
    columns = tuple(
        Column(name, 0.0, 3.0, categories=labels, gaps=True)
        if i % 3 == 2
        else Column(name, 0.0, 3.0, unit=names[i - 1])
        for i, name in enumerate(names)
    )
    n = len(names)
    levels = [(1.0, 0.0, 1.0, 0.0) if i % 3 == 2 else () for i in range(n)]
    hidden = _steps(
        2, [0] * n + [1] * n, [*range(n)] * 2, [1.0] * 2 * n, [1.5] * 2 * n, levels=levels * 2
    )
    last = _steps(
        1, [0] * 3, [n, n + 1, 0], [1.0] * 3, [2.5, 4.5, 1.0], alpha=[1.0, -2.0, 0.5], centre=[0.1]
    )
    return Model(Schema(columns), [hidden, last], Classes((names[0], names[1])))


@cache
def draw_any(seed: int) -> tuple[Model, np.ndarray]:
    """Give a random network of any kind, and a table of rows for it."""
    if seed % 2:
        model = with_ranks(make_any(seed), seed)
        return model, make_any_rows(model, seed)
    model = make_crisp(seed)
    return model, make_table(model, make_crisp_rows(model, seed, 200))


def _steps(n_neurons, target, source, w, b, **more):
    n = len(target)
    w, b = (np.array(values, float).reshape(n, 1) for values in (w, b))
    return Layer("heaviside", "sum", "identity", n_neurons, target, list(source), w, b, **more)
