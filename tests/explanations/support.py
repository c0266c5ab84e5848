"""Builders that several modules of tests here share."""

from newron.model import Classes, Column, Layer, Model, Schema


def make_monk2():
    """Make the network that training finds for MONK-2: exactly two of six."""
    counts = Layer("heaviside", "sum", "identity", 1, [0] * 6, range(6), [[-1.0]] * 6, [[1.5]] * 6)
    ends = Layer("heaviside", "sum", "identity", 2, [0, 1], [6, 6], [[1.0], [-1.0]], [[1.5], [2.5]])
    both = Layer(
        "heaviside", "sum", "identity", 1, [0, 0], [7, 8], [[1.0], [1.0]], [[0.5], [0.5]],
        alpha=[1.0, 1.0], centre=[1.5],
    )  # fmt: skip
    sizes = (3, 3, 2, 3, 4, 2)
    columns = tuple(
        Column(f"a{i}", 1.0, float(n), tuple(float(v) for v in range(1, n + 1)))
        for i, n in enumerate(sizes, 1)
    )
    return Model(Schema(columns), [counts, ends, both], Classes((0, 1)))


def make_card(**changes):
    """Make a score card of numbers, few integers, categories and gaps."""
    layer = Layer(
        "heaviside", "sum", "identity", 1, [0] * 4, range(4),
        [[1.0], [1.0], [0.0], [-1.0]], [[55.0], [1.5], [0.0], [2.5]],
        alpha=[1.0, 3.0, -3.0, 2.0], centre=[6.0], missing=[0.0, 1.0, 0.0, 0.0],
        levels=[[], [], [1.0, 1.0, 0.0], []],
    )  # fmt: skip
    columns = (
        Column("age", 29.0, 77.0, unit="y"),
        Column("vessels", 0.0, 3.0, (0.0, 1.0, 2.0, 3.0), gaps=True),
        Column("pain", 0, 2, categories=("typical", "other", "absent")),
        Column("depression", 0.0, 6.2, unit="mm"),
    )
    model = Model(Schema(columns), [layer], Classes(("no disease", "disease")))
    return Model(model.schema, [layer.replace(**changes)], model.output)
