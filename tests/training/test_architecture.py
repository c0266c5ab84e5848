"""Architectures: every combination trains, predicts and is saved."""

import numpy as np
import pytest

from newron import NewronClassifier
from newron.model.processing import processing_names
from newron.training.architecture import PRESETS, plan_architecture
from training.support import make_blobs


class TestArchitectures:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_every_preset_learns(self, preset):
        X, y = make_blobs()
        fitted = NewronClassifier(**PRESETS[preset], n_init=1, random_state=0).fit(X, y)
        assert fitted.score(X, y) > 0.9

    @pytest.mark.parametrize("aggregation", ["sum", "mean", "min", "max", "product"])
    @pytest.mark.parametrize("processing", processing_names())
    @pytest.mark.parametrize("activation", ["identity", "sigmoid", "tanh", "relu"])
    def test_every_combination_trains_predicts_and_saves(
        self, processing, aggregation, activation, tmp_path
    ):
        import newron

        X, y = make_blobs(n=80, classes=3)
        fitted = NewronClassifier(
            processing, aggregation=aggregation, activation=activation, n_init=1, max_iter=10,
            functions_per_input=2, direct_inputs=True, input_scale="both", random_state=0,
        ).fit(X, y)  # fmt: skip
        assert np.all(np.isfinite(fitted.predict_proba(X)))
        fitted.model_.save(tmp_path / "m.json")
        np.testing.assert_array_equal(
            newron.load(tmp_path / "m.json").predict(X), fitted.predict(X)
        )

    def test_each_layer_may_have_its_own(self):
        X, y = make_blobs()
        fitted = NewronClassifier(
            ("tanh_prod", "heaviside", "sigmoid"), hidden_layer_sizes=(3, 2), n_factors=3,
            aggregation=("mean", "max", "sum"), activation=("tanh", "identity", "identity"),
            n_init=2, max_iter=30, random_state=0,
        ).fit(X, y)  # fmt: skip
        layers = fitted.model_.layers
        assert [x.processing for x in layers] == ["tanh_prod", "heaviside", "sigmoid"]
        assert [x.aggregation for x in layers] == ["mean", "max", "sum"]
        assert [x.n_factors for x in layers] == [3, 1, 1]

    def test_a_card_with_several_bins_tells_more(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (400, 1))
        y = (np.abs(X[:, 0]) < 0.5).astype(int)
        scores = [
            NewronClassifier(
                hidden_layer_sizes=(), functions_per_input=k, random_state=0, recipe="gradient"
            ).fit(X, y).score(X, y)
            for k in (1, 2)
        ]  # fmt: skip
        assert scores[0] < 0.8 < 0.97 < scores[1]

    def test_direct_inputs_reach_the_output(self):
        plan = plan_architecture((2,), 1, direct_inputs=True, functions_per_input=2)
        sources = plan.sources(3)
        assert sources[0].tolist() == [0, 0, 1, 1, 2, 2] * 2
        assert sources[1].tolist() == [0, 0, 1, 1, 2, 2, 3, 4]
