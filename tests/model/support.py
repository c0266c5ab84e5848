"""Builders that several modules of tests here share."""

from newron.model import Classes, Column, Layer, Model, Schema


def make_colours(processing, levels, missing, *, age=(1.0, 54.0, 0.0), gaps=False, categories=None):
    """Make a model of one function of age and one of colour."""
    categories = categories or ("red", "green", "blue")
    w, b, age_missing = age
    columns = (
        Column("age", 29.0, 77.0, gaps=gaps),
        Column("colour", 0.0, len(categories) - 1.0, categories=categories, gaps=gaps),
    )
    layer = Layer(
        processing, "sum", "identity", 1, [0, 0], [0, 1], [[w], [0.0]], [[b], [0.0]],
        alpha=[2.0, 3.0], centre=[1.0], missing=[age_missing, missing], levels=[[], levels],
    )  # fmt: skip
    return Model(Schema(columns), [layer], Classes(("well", "ill")))
