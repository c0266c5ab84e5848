"""Columns that begin again: hours, months, angles."""

import numpy as np
import pytest

from newron import NewronClassifier, NewronRegressor, load
from newron.errors import InputError, ModelError
from newron.explanations.space import measure_steps
from newron.model import Column

DAY = {"x1": {"period": 24, "unit": "h"}}


def make_day(n=300):
    rng = np.random.default_rng(0)
    X = np.stack([rng.uniform(0.0, 24.0, n), rng.normal(size=n)], axis=1)
    wave = 3.0 * np.cos(2.0 * np.pi * (X[:, 0] - 22.0) / 24.0) + np.sin(np.pi * X[:, 0] / 6.0)
    return X, 5.0 + wave + 0.2 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    model = NewronRegressor(
        "cosine", domains=DAY, functions_per_input=2, hidden_layer_sizes=(), random_state=0
    )
    return model.fit(*make_day())


def check_seam(model):
    other = np.linspace(-2.0, 2.0, 9)
    start, end = (model.predict(np.stack([np.full(9, hour), other], 1)) for hour in (0.0, 24.0))
    np.testing.assert_allclose(start, end, rtol=1e-12)


def test_the_end_of_a_period_is_its_begin(fitted):
    check_seam(fitted)
    assert fitted.score(*make_day()) > 0.97


def test_functions_turn_whole_times_in_the_period(fitted):
    layer = fitted.model_.layers[-1]
    turns = layer.w[layer.source == 0, 0] * 24.0 / (2.0 * np.pi)
    np.testing.assert_allclose(turns, [1.0, 2.0], rtol=1e-14)


def test_hidden_layers_join_too():
    X, y = make_day()
    model = NewronClassifier("cosine", domains=DAY, input_scale="both", max_iter=60, random_state=0)
    model.fit(X, y > 5.0)
    assert not model.model_.layers[0].rank[model.model_.layers[0].source == 0].any()
    start, end = model.predict_proba([[0.0, 0.5], [24.0, 0.5]])
    np.testing.assert_allclose(start, end, rtol=1e-12)


def test_pruned_and_loaded_networks_still_join(fitted, tmp_path):
    small = fitted.prune(*make_day(), nested=False)
    check_seam(small)
    small.save(tmp_path / "day.json")
    again = load(tmp_path / "day.json")
    assert again.schema.columns[0].period == 24.0
    assert again == small.model_


def test_a_day_may_be_continued_in_parts():
    X, y = make_day()
    model = NewronRegressor("cosine", domains=DAY, hidden_layer_sizes=(), random_state=0)
    for _ in range(3):
        model.partial_fit(X, y)
    check_seam(model)


def test_changes_go_the_shorter_way_around():
    column = Column("hour", 0.0, 24.0, period=24.0)
    steps = measure_steps(column, 23.0, np.array([1.0, 21.0, 23.0]))
    np.testing.assert_allclose(steps, np.array([2.0, 2.0, 0.0]) / 24.0)


@pytest.mark.parametrize(
    ("processing", "domain", "match"),
    [
        ("sigmoid", {"period": 24}, 'choose processing="cosine"'),
        (("cosine", "heaviside"), {"period": 24}, "got heaviside"),
        ("cosine", {"period": 0}, "period above 0"),
        ("cosine", {"period": "day"}, "finite numbers"),
    ],
)
def test_what_cannot_repeat_is_one_clear_error(processing, domain, match):
    X, y = make_day(50)
    with pytest.raises(InputError, match=match):
        NewronRegressor(processing, domains={"x1": domain}).fit(X, y)


def test_categories_have_no_period():
    with pytest.raises(ModelError, match="no period"):
        Column("colour", 0.0, 1.0, categories=("a", "b"), period=2.0)
