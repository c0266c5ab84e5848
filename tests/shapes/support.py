"""Builders that several modules of tests here share."""

from hypothesis import strategies as st

from model.networks import make_model, with_ranks
from model.test_points import with_points
from newron.model import Classes, Column, Layer, Model, Schema, Targets


def make_single(
    processing, w, b, *, low=29.0, high=77.0, alpha=None, missing=None, unit=None, **column
):
    layer = Layer(
        processing, "sum", "identity", 1, [0], [0], [w], [b],
        rank=["rank_scale" in column], alpha=None if alpha is None else [alpha],
        missing=None if missing is None else [missing],
    )  # fmt: skip
    column = Column("age", low, high, unit=unit, gaps=missing is not None, **column)
    return Model(Schema((column,)), [layer], Targets(("y",)))


def make_two_layers():
    columns = Column("age", 29.0, 77.0), Column("pulse", 60.0, 100.0)
    hidden = Layer(
        "sigmoid", "sum", "identity", 2, [0, 0, 1], [0, 1, 0],
        [[0.34], [1e-4], [-0.37]], [[54.5], [80.0], [40.0]],
    )  # fmt: skip
    last = Layer(
        "sigmoid", "sum", "identity", 1, [0, 0], [2, 3], [[10.0], [2.0]], [[1.0], [0.5]],
        alpha=[3.0, -2.5], centre=[-1.25],
    )  # fmt: skip
    return Model(Schema(columns), [hidden, last], Classes(("well", "ill")))


SEEDS = st.integers(0, 10**6)


def make_any_model(seed):
    return with_points(with_ranks(make_model(seed), seed), seed)
