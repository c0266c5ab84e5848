"""What a model means, and that the compiled path says the same."""

import subprocess
import sys

import numpy as np
import pytest

from model.networks import make_model, make_rows
from newron.model import Classes, Column, Layer, Model, Schema


class TestHeaviside:
    def make(self, w, b):
        layer = Layer(
            "heaviside", "sum", "identity", 1, [0], [0], [[w]], [[b]], alpha=[2.0], centre=[1.0]
        )
        return Model(Schema((Column("x", 0.0, 1.0),)), [layer], Classes((0, 1)))

    @pytest.mark.parametrize(
        ("w", "b", "x", "holds"),
        [
            (1.0, 0.5, 0.5, True),
            (-1.0, 0.5, 0.5, True),
            (1.0, 0.5, np.nextafter(0.5, 0), False),
            (-1.0, 0.5, np.nextafter(0.5, 1), False),
            (0.0, 0.5, -7.0, True),
            (1e-30, 1e-20, 0.0, False),  # the product would underflow to -0
            (1e-300, 1.0, 1.0 - 1e-15, False),
            (1.0, 0.1, 0.1, True),
        ],
    )
    def test_it_compares_and_never_multiplies(self, w, b, x, holds):
        model = self.make(w, b)
        for compiled in (True, False):
            assert (model.scores([[x]], compiled=compiled)[0, 0] > 0) == holds


def test_what_a_layer_leaves_out_is_one_and_zero():
    ones, level = [[1.0]] * 3, [[0.0]] * 3
    layer = Layer("linear", "sum", "identity", 2, [0, 1, 1], [0, 0, 0], ones, level)
    assert layer.weights.tolist() == [1.0, 1.0, 1.0]
    assert layer.offsets.tolist() == [0.0, 0.0]
    assert [list(layer.list_edges(j)) for j in range(2)] == [[0], [1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        layer.weights[0] = 2.0
    full = layer.replace(alpha=[1.0, 2.0, 3.0], centre=[4.0, 5.0])
    assert full.weights.tolist() == [1.0, 2.0, 3.0]
    assert full.offsets.tolist() == [4.0, 5.0]


def test_a_model_predicts_with_numpy_alone(tmp_path):
    """No scikit-learn, no compiled core: what a light scoring environment has."""
    model = make_model(11)
    model.save(tmp_path / "m.json")
    rows = make_rows(model, 0)
    np.save(tmp_path / "rows.npy", rows)
    code = f"""
import sys
for name in ("sklearn", "scipy", "joblib", "rich", "pandas", "newron._core"):
    sys.modules[name] = None
import numpy as np, newron
model = newron.load({str(tmp_path / "m.json")!r})
np.save({str(tmp_path / "out.npy")!r}, model.scores(np.load({str(tmp_path / "rows.npy")!r})))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), model.scores(rows))
