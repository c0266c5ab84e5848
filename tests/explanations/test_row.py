"""What a network's functions make of a row."""

import numpy as np

from newron.explanations.row import open_layers
from newron.model import Column, Layer, Model, Schema, Targets


def test_functions_have_one_zero_with_and_without_the_core(monkeypatch):
    layer = Layer("relu", "sum", "identity", 1, [0], [0], [[-1.0]], [[0.0]], alpha=[1.0])
    model = Model(Schema((Column("x", -1.0, 1.0),)), [layer], Targets(("y",)))
    rows = np.array([[0.0], [1.0]])
    compiled = open_layers(model)(rows)[0]
    monkeypatch.setattr("newron.model.compiled.make_evaluator", lambda *_: None)
    plain = open_layers(model)(rows)[0]
    assert compiled.tobytes() == plain.tobytes()
