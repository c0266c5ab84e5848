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
