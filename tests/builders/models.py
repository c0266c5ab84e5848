"""Small models."""

from builders.tables import COLOURS
from newron.model import Classes, Column, Layer, Model, Schema, Targets


def make_card() -> Model:
    """Make a score card: age, which may be missing, and colour decide between no and yes."""
    columns = (
        Column("age", 0.0, 100.0, gaps=True),
        Column("colour", 0.0, 2.0, categories=COLOURS),
    )
    layer = Layer(
        "heaviside",
        "sum",
        "identity",
        1,
        target=[0, 0],
        source=[0, 1],
        w=[[1.0], [0.0]],
        b=[[50.0], [0.0]],
        alpha=[2.0, 1.0],
        centre=[1.5],
        levels=[[], [0.0, 0.0, 1.0]],
        missing=[0.0, 0.0],
    )
    return Model(Schema(columns), [layer], Classes(("no", "yes")))


def make_regression() -> Model:
    """Make a smooth model of a number."""
    columns = (Column("x", 0.0, 10.0), Column("y", 0.0, 10.0))
    layer = Layer(
        "sigmoid",
        "sum",
        "identity",
        1,
        target=[0, 0],
        source=[0, 1],
        w=[[1.0], [-0.5]],
        b=[[5.0], [3.0]],
        alpha=[2.0, 1.0],
        centre=[0.5],
    )
    return Model(Schema(columns), [layer], Targets(("price",)))


def make_pair() -> Model:
    """Make a smooth model of a number with a neuron that reads two columns together."""
    columns = (
        Column("x", 0.0, 10.0, gaps=True),
        Column("kind", 0.0, 1.0, categories=("a", "b")),
        Column("z", -1.0, 1.0),
    )
    neuron = Layer(
        "sigmoid",
        "sum",
        "identity",
        2,
        target=[0, 0, 1],
        source=[0, 1, 2],
        w=[[1.0], [0.0], [4.0]],
        b=[[5.0], [0.0], [0.25]],
        levels=[[], [0.1, 0.8], []],
        missing=[0.5, 0.0, 0.0],
    )
    last = Layer(
        "sigmoid",
        "sum",
        "identity",
        1,
        target=[0, 0, 0, 0],
        source=[0, 2, 3, 4],
        w=[[0.5], [2.0], [6.0], [3.0]],
        b=[[4.0], [0.0], [1.0], [0.5]],
        alpha=[1.5, -2.0, 4.0, 1.0],
        centre=[0.75],
        missing=[0.25, 0.0, 0.0, 0.0],
    )
    return Model(Schema(columns), [neuron, last], Targets(("price",)))


def make_flowers() -> Model:
    """Make a smooth model of three classes by two columns."""
    columns = (Column("length", 0.0, 7.0), Column("width", 0.0, 3.0))
    layer = Layer(
        "sigmoid",
        "sum",
        "identity",
        3,
        target=[0, 1, 1, 2],
        source=[0, 0, 1, 1],
        w=[[-2.0], [1.5], [2.0], [3.0]],
        b=[[2.5], [3.0], [1.0], [1.6]],
        alpha=[5.0, 2.0, 1.0, 4.0],
        centre=[1.0, 0.5, 2.0],
    )
    return Model(Schema(columns), [layer], Classes(("small", "middle", "large")))
