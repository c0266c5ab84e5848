"""Small models and tables for the tests of the command."""

import numpy as np

from newron.model import Classes, Column, Layer, Model, Schema, Targets

COLOURS = ("blue", "green", "red")


def make_card() -> Model:
    """Make a score card: age, with gaps, and colour decide between no and yes."""
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


def make_amounts() -> Model:
    """Make a smooth model of an amount."""
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


def make_table(n: int = 60, seed: int = 0) -> list[list[str]]:
    """Make rows of text: yes from an age of 50 on, or if red; header first."""
    rng = np.random.default_rng(seed)
    rows = [["age", "colour", "sick"]]
    for i in range(n):
        age, colour = int(rng.integers(20, 80)), COLOURS[int(rng.integers(3))]
        sick = "yes" if age >= 50 or colour == "red" else "no"
        rows.append(["" if i % 20 == 7 else str(age), colour, sick])
    return rows


def write_csv(path, rows, delimiter=",", encoding="utf-8"):
    """Write rows of text without quotes."""
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    path.write_bytes(text.encode(encoding))
    return path
