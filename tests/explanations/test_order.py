"""An explanation begins with what decided."""

from newron.explanations.explanation import explain
from newron.model import Classes, Column, Layer, Model, Schema


def test_a_condition_that_does_not_hold_may_decide():
    layer = Layer(
        "heaviside", "sum", "identity", 1, target=[0, 0], source=[0, 1], w=[[0.0], [1.0]],
        b=[[0.0], [10.0]], alpha=[2.5, 0.5], centre=[1.0], levels=[[1.0, 0.0], []],
    )  # fmt: skip
    columns = Column("sex", 0, 1, categories=("female", "male")), Column("fare", 0.0, 90.0)
    model = Model(Schema(columns), [layer], Classes(("died", "survived")))
    lines = str(explain(model, {"sex": "male", "fare": 20.0})).splitlines()
    assert lines[1].split() == ["○", "+2.5", "sex", "=", "female", "is", "male"]
    assert lines[2].split()[0] == "●"
