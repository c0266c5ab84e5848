"""A network that several tests of rules read."""

import pytest

from newron.model import Classes, Column, Model, Schema

from .networks import make_layer


@pytest.fixture
def patients():
    """Give a network on columns of every kind: two of three conditions."""
    columns = (
        Column("age", 18.0, 90.0, gaps=True, unit="years"),
        Column("pain <|>", 0.0, 2.0, categories=("none & such", "typical", "<b>")),
        Column("vessels", 0.0, 3.0, (0.0, 1.0, 2.0, 3.0)),
        Column("unused", 0.0, 1.0),
    )
    last = make_layer(
        1, [0, 0, 0], [0, 1, 2], [1.0] * 3, [54.5, 0.0, 1.0],
        alpha=[1.0] * 3, centre=[2.0], missing=[1.0, 0.0, 0.0], levels=[[], [0.0, 1.0, 1.0], []],
    )  # fmt: skip
    return Model(Schema(columns), [last], Classes(("well", "ill")))
