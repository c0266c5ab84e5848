"""Random models with tables as people have them, and what the models predict for them."""

import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from model.networks import END, make_model, make_rows, with_ranks
from model.test_points import with_points
from newron.errors import NewronWarning
from newron.model import Classes, Column, Labels, Layer, Model, Schema, Targets
from newron.rules import RuleSet
from newron.rules.extraction import extract
from rules.networks import Wishes, make_layer, make_monk2
from rules.networks import make_model as make_crisp
from rules.networks import make_rows as make_crisp_rows
from rules.networks import make_table as make_labels

# Names that break out of careless quotes, comments, templates and identifiers.
NAMES = (
    'a"; DROP TABLE t; --',
    "select",
    "x'); DELETE FROM t; --",
    "line\nbreak\r\u2028",
    "größe 高さ 🙂",
    "*/ abort(); /*",
    "back\\slash\\",
    "</script><script>alert(1)",
    "${alert(1)} `tick` ??/",
    "__proto__",
    "[x] {y} %s {{z}}",
    "class",
)
LABELS = (
    "'); --",
    'say "hi"',
    "a\\",
    "\n",
    "</script>",
    "*/",
    "NULL",
    "nan",
    "`${x}`",
    "",
    "ü\u2029",
)
UNSEEN = {str: "never seen", int: 987654, float: 0.123, bool: 5}


@dataclass(frozen=True)
class RuleCase:
    """A crisp model, its rules, and a table inside their domain."""

    model: Model
    rules: RuleSet
    table: list
    predictions: list


@cache
def make_rule_cases(n: int = 30) -> list[RuleCase]:
    """Return crisp models of classes, told as lists and as points."""
    wishes = Wishes(outputs=("binary", "binary", "many"))
    cases = []
    for model in (make_monk2(), *(make_crisp(seed, wishes) for seed in range(n))):
        rows = make_crisp_rows(model, 0, 60)
        table = [[None if x != x else x for x in row] for row in make_labels(model, rows).tolist()]
        predicted = model.output.predict(model.score_rows(rows)).tolist()
        cases.append(RuleCase(model, extract(model, seconds=0.2), table, predicted))
    return cases


@dataclass(frozen=True)
class Case:
    """A model, a table in the columns' own words, and what the model predicts for its rows."""

    name: str
    model: Model
    table: list
    scores: np.ndarray
    predictions: np.ndarray
    probabilities: np.ndarray | None

    @property
    def classes(self) -> list:
        """Return the number of the class of each row."""
        return self.model.output.choose(self.scores).tolist()


def make_case(name: str, model: Model, table: list) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NewronWarning)  # unknown categories
        rows = model.read(np.array(table, dtype=object))
    scores = model.score_rows(np.ascontiguousarray(rows, np.float64))
    classes = isinstance(model.output, Classes)
    if isinstance(model.output, Labels):  # exports have their probabilities
        scores = model.output.transform(scores)
        return Case(name, model, table, scores, scores, None)
    return Case(
        name,
        model,
        table,
        scores,
        model.output.predict(scores),
        model.output.predict_proba(scores) if classes else None,
    )


@cache
def make_cases(n: int = 60) -> list[Case]:
    """Return smooth and crisp models of every kind, a third of them with hostile names."""
    cases = [make_hostile(), make_widest(), make_steep(), make_ties(), make_points(), make_bands()]
    cases.append(make_several())
    for seed in range(n):
        model = with_points(with_ranks(make_model(seed), seed), seed)
        if seed % 3 == 0:
            model = rename(model, seed)
        cases.append(
            make_case(f"smooth {seed}", model, make_table(model, make_rows(model, seed), seed))
        )
    for seed in range(n // 2):
        model = make_crisp(seed)
        rows = make_crisp_rows(model, seed, 60)
        cases.append(make_case(f"crisp {seed}", model, make_table(model, rows, seed)))
    return cases


def make_table(model: Model, rows: np.ndarray, seed: int) -> list:
    """Turn rows into a table with missing values, labels never seen, and thresholds."""
    rng = np.random.default_rng([seed, 3])
    table = []
    for row in rows:
        out = []
        for i, (column, x) in enumerate(zip(model.schema.columns, row.tolist(), strict=True)):
            if rng.random() < 0.15 or x != x:
                out.append(None)
            elif column.categories is not None:
                out.append(pick_label(column.categories, rng))
            else:
                out.append(pick_number(model, i, x, rng))
        table.append(out)
    table[0] = [None] * len(model.schema)
    return table


def pick_label(labels, rng):
    if rng.random() < 0.15:
        return UNSEEN[type(labels[0])]
    return labels[rng.integers(len(labels))]


def pick_number(model, i, x, rng):
    if rng.random() < 0.4:
        places = np.concatenate([y.b[(y.source == i)].ravel() for y in model.layers])
        if len(places):
            x = float(rng.choice(places))
    side = rng.random()
    if side < 0.1:
        return float(np.nextafter(x, 9.0))
    return -0.0 if side < 0.12 else float(np.nextafter(x, -9.0)) if side < 0.2 else x


def rename(model: Model, seed: int) -> Model:
    """Return the columns, categories and classes of a model hostile names."""
    rng = np.random.default_rng([seed, 4])
    names = rng.permutation(NAMES)
    columns = []
    for name, column in zip(names.tolist(), model.schema.columns, strict=False):
        if column.categories is not None and isinstance(column.categories[0], str):
            labels = rng.permutation(LABELS)[: column.n_categories].tolist()
            column = replace(column, categories=tuple(labels))
        columns.append(replace(column, name=name))
    output = model.output
    if isinstance(output, Classes):
        output = Classes(tuple(rng.permutation(LABELS)[: len(output.labels)].tolist()))
    else:
        output = Targets(tuple(rng.permutation(NAMES)[: len(output.names)].tolist()))
    return Model(Schema(tuple(columns)), model.layers, output)


def make_hostile() -> Case:
    """Return a model that reads a column of every hostile name and every hostile label."""
    columns = [Column(name, -1.0, 1.0) for name in NAMES]
    columns.append(Column("c\" -- '", 0.0, len(LABELS) - 1.0, categories=LABELS, gaps=True))
    n = len(columns)
    levels = [[]] * (n - 1) + [np.arange(len(LABELS)) % 2.0]
    layer = make_layer(
        1, [0] * n, range(n), [1.0] * n, [0.5] * n, alpha=[2.0**k for k in range(n)],
        centre=[2.0 ** (n - 1)], levels=levels,
    )  # fmt: skip
    model = Model(Schema(tuple(columns)), [layer], Classes(("'); --", 'x" */ </script>')))
    rng = np.random.default_rng(0)
    table = [
        [*rng.choice([0.0, 0.5, 1.0], n - 1).tolist(), label]
        for label in (*LABELS, None, "never seen") * 3
    ]
    return make_case("hostile", model, table)


def make_widest() -> Case:
    """Return a model with a sum and a product of more parts than printers may nest."""
    n, m = 1500, 400
    columns = (Column("x", 0.0, float(n)), Column("y", 0.0, 1.0))
    total = make_layer(1, [0] * n, [0] * n, [1.0] * n, range(n))
    product = make_layer(
        1, [0] * m, [2] * m, [1.0] * m, np.arange(m) / 10, aggregation="product"
    )  # fmt: skip
    last = make_layer(1, [0, 0], [2, 3], [-1.0, 1.0], [n / 2, 0.5], alpha=[1.0, 1.0], centre=[2.0])
    model = Model(Schema(columns), [total, product, last], Classes(("low", "high")))
    return make_case("widest", model, [[float(x), 1.0] for x in range(0, n, 37)])


def make_points() -> Case:
    """Return a card of whole points, which weigh something else than 1 in log-odds."""
    columns = (Column("x", 0.0, 9.0), Column("y", 0.0, 9.0))
    last = make_layer(1, [0] * 3, [0, 0, 1], [1.0, 1.0, -1.0], [2.5, 6.0, 4.0],
                      alpha=[3.0, 1.0, 2.0], centre=[4.0])  # fmt: skip
    output = Classes(("low", "high"), unit=0.313, offset=0.195)
    table = [[float(x), float(y)] for x in range(10) for y in (1, 4, 8)]
    return make_case("points", Model(Schema(columns), [last], output), table)


def make_bands() -> Case:
    """Return ordered classes, one of which is never the most probable."""
    model = make_points().model
    labels = ("none", "mild", "moderate", "severe")
    output = Classes(labels, unit=0.5, limits=(-3.0, 0.5, 0.75))
    table = [*make_points().table, [None, 3.0], [4.0, None]]
    return make_case("bands", Model(model.schema, model.layers, output), table)


def make_several() -> Case:
    """Return three labels, one of which reads nothing."""
    columns = (Column("x", 0.0, 9.0), Column("y", 0.0, 9.0))
    last = make_layer(3, [0, 0, 1], [0, 1, 1], [1.0, -1.0, 1.0], [2.5, 6.0, 4.0],
                      alpha=[3.1, 1.0, 2.0], centre=[1.0, 1.5, -0.3])  # fmt: skip
    table = [[float(x), float(y)] for x in range(10) for y in (1, 4, 8)]
    output = Labels(NAMES[:3])
    return make_case("labels", Model(Schema(columns), [last], output), [*table, [None, 3.0]])


def make_steep() -> Case:
    """Return a model whose products leave the range of numbers, in either direction."""
    w = [1e20, -1e20, 1e250, 1e-250, 0.3, 1e-300]
    n = len(w)
    parts = (1, [0] * n, [0] * n, np.reshape(w, (n, 1)), np.zeros((n, 1)))
    alpha = [1e-40, 1.0, -1e100, 0.1, 1.0, 1e-9]
    smooth = Layer("sigmoid", "product", "identity", *parts)
    straight = Layer("linear", "mean", "identity", *parts, alpha=alpha)
    last = Layer("linear", "sum", "identity", 2, [0, 1], [1, 2], [[1.0], [1e-30]], [[0.0], [0.0]])
    model = Model(Schema((Column("x", -1.0, 1.0),)), [smooth, straight, last], Targets(("a", "b")))
    sizes = [0.0, 5e-324, 1e-323, 1e-310, 1e-160, 1e-20, 3.5e-18, 1.0, 1e100, END]
    return make_case("steep", model, [[sign * x] for x in sizes for sign in (1.0, -1.0)])


def make_ties() -> Case:
    """Return a model whose scores are 0 but for rounding: only the same bits decide alike."""
    layer = Layer(
        "sigmoid", "sum", "identity", 1, [0] * 3, [0] * 3, [[1.0]] * 3, [[0.0]] * 3,
        alpha=[0.1, 0.2, -0.3],
    )  # fmt: skip
    model = Model(Schema((Column("x", -9.0, 9.0),)), [layer], Classes(("no", "yes")))
    rows = np.random.default_rng(0).normal(scale=4.0, size=(200, 1))
    case = make_case("ties", model, rows.tolist())
    assert 0 < sum(case.classes) < len(rows)
    return case
