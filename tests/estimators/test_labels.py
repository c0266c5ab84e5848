"""Labels of classes come out as they went in."""

import numpy as np
import pytest

import newron
from estimators.support import (
    CHEAP,
    GROW,
    draw_content,
    draw_labels,
    make_frame,
    pd,
    pl,
)
from newron import NewronClassifier
from newron.errors import InputError


class TestLabels:
    @pytest.mark.parametrize(
        "labels",
        [
            ["no", "yes"], [False, True], [3, 7], ["b", "a", "c"], [10, 20, 30], [-1.0, 1.0],
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("recipe", [CHEAP, GROW])
    def test_classes_come_back_as_they_were(self, labels, recipe, tmp_path):
        content = draw_content(3, 60, ["float", "text"])
        y = np.array(labels)[draw_labels(content, 3, len(labels))]
        frame = make_frame(content, "polars")
        fitted = NewronClassifier(**recipe).fit(frame, y)
        assert fitted.classes_.tolist() == sorted(labels)
        got = fitted.predict(frame)
        assert got.dtype == y.dtype
        assert set(got.tolist()) <= set(labels)
        assert fitted.predict_proba(frame).shape == (60, len(labels))
        fitted.model_.save(tmp_path / "m.json")
        assert newron.load(tmp_path / "m.json").predict(frame).tolist() == got.tolist()
        series = NewronClassifier(**recipe).fit(frame, pl.Series("y", y.tolist()))
        assert series.model_ == fitted.model_

    @pytest.mark.parametrize("labels", [[1, "1"], [True, "True", "no"], ["a", 1.5, 2.5]])
    def test_texts_and_others_are_not_mixed(self, labels):
        X = np.arange(30.0)[:, None]
        with pytest.raises(InputError, match=r"one kind, got .* and '.*'; turn them into text"):
            NewronClassifier().fit(X, np.array(labels * 30, object)[:30])

    def test_a_hundred_classes(self):
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(100), 4)
        frame = pd.DataFrame({"x": y + rng.normal(size=400), "c": rng.choice(list("ab"), 400)})
        frame.loc[::7, "x"] = np.nan
        fitted = NewronClassifier("sigmoid", hidden_layer_sizes=(), **CHEAP).fit(frame, y)
        odds = fitted.predict_proba(frame)
        assert odds.shape == (400, 100)
        np.testing.assert_allclose(odds.sum(axis=1), 1.0)

    @pytest.mark.parametrize("recipe", [CHEAP, GROW])
    def test_balanced_is_the_dict_of_inverse_frequencies(self, recipe):
        content = draw_content(5, 80, ["float", "text", "bool"])
        y = np.array(["rare", "common"])[(np.random.default_rng(5).random(80) > 0.2).astype(int)]
        frame = make_frame(content, "pandas")
        counts = {label: float(np.sum(y == label)) for label in ("rare", "common")}
        wanted = {label: 80 / (2 * count) for label, count in counts.items()}
        models = [
            NewronClassifier(class_weight=w, **recipe).fit(frame, y).model_
            for w in ("balanced", wanted, None)
        ]
        assert models[0] == models[1]
        assert models[0] != models[2]

    def test_weights_of_classes_and_rows_move_the_border(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"c": rng.choice(list("abc"), 300), "x": rng.normal(size=300)})
        frame.loc[rng.random(300) < 0.1, "c"] = None
        y = (rng.random(300) < frame["c"].map({"a": 0.1, "b": 0.3}).fillna(0.4)).astype(int)
        common = {"recipe": "gradient", "max_iter": 60, "n_init": 1, "random_state": 0}
        plain, classes, rows = (
            NewronClassifier("sigmoid", class_weight=w, **common)
            .fit(frame, y, sample_weight=s).predict_proba(frame)[:, 1].mean()
            for w, s in ((None, None), ({0: 1, 1: 3}, None), (None, 1.0 + 2.0 * y))
        )  # fmt: skip
        assert plain < classes - 0.1
        assert rows == pytest.approx(classes, abs=0.02)
