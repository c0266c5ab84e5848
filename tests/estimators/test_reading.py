"""What a fitted estimator can be asked besides predictions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import newron
from newron import InputError, ModelError, NewronClassifier, NewronRegressor
from newron.model import Model


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 300).astype(float),
            "colour": rng.choice(["red", "blue", "green"], 300),
            "noise": rng.normal(size=300),
        }
    )
    X.loc[::17, "age"] = np.nan
    y = np.where((X["age"] >= 55) & (X["colour"] != "green"), "ill", "well")
    return X, y


@pytest.fixture(scope="module")
def fitted(table):
    return NewronClassifier("heaviside", recipe="grow", max_terms=4, random_state=0).fit(*table)


def test_rules_tell_the_training_rows(fitted, table):
    X, y = table
    rules = fitted.rules()
    assert rules.proof
    assert np.array_equal(rules.predict(X), fitted.predict(X))
    frame = fitted.rules(form="rules").to_frame()
    assert frame["support"].sum() == len(X)
    right = (frame["support"] * frame["precision"].fillna(0)).sum() / len(X)
    assert right == pytest.approx(fitted.score(X, y))


def test_rules_tell_other_rows(fitted, table):
    X, y = table
    frame = fitted.rules(X[:100], y[:100], form="rules").to_frame()
    assert frame["support"].sum() == 100
    with pytest.raises(InputError, match="one class for each"):
        fitted.rules(X, y[:5])


def test_a_pickled_estimator_tells_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert again.rules().to_text() == fitted.rules().to_text()


def test_rows_of_no_weight_are_not_covered(table):
    X, y = table
    weight = np.ones(len(X))
    weight[:40] = 0.0
    model = NewronClassifier("heaviside", recipe="grow", max_terms=2, random_state=0)
    model.fit(X, y, sample_weight=weight)
    assert model.rules(form="rules").to_frame()["support"].sum() == len(X) - 40


def test_amounts_add_up(table):
    X, _ = table
    y = 3.0 * (X["age"] >= 40) + (X["colour"] == "red")
    model = NewronRegressor("heaviside", recipe="grow", max_terms=4, random_state=0).fit(X, y)
    rules = model.rules()
    assert rules.form == "points"
    assert rules.proof
    assert np.allclose(rules.predict(X), model.predict(X), rtol=1e-12, atol=1e-12)


def test_one_row_shapes_and_importance(fitted, table):
    X, y = table
    path = fitted.explain(X.iloc[0])
    assert path.prediction == fitted.predict(X[:1])[0]
    assert len(fitted.shapes()) == fitted.model_.n_functions
    measured = fitted.importance(X, y)
    assert measured.of("noise").value <= measured.of("age").value


def test_smooth_networks_name_the_way_to_rules(table):
    X, y = table
    smooth = NewronClassifier(
        "sigmoid", hidden_layer_sizes=(), recipe="gradient", max_iter=20, n_init=1, random_state=0
    ).fit(X, y)
    with pytest.raises(ModelError, match=r"model\.crisp\(\)"):
        smooth.rules()
    assert smooth.model_.crisp(X).rules().proof


@pytest.mark.parametrize("ask", ["rules", "scorecard", "shapes"])
def test_before_fit_there_is_nothing_to_read(ask):
    with pytest.raises(NotFittedError):
        getattr(NewronClassifier(), ask)()


def test_a_fitted_estimator_is_saved_as_its_model(tmp_path):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 5), np.array([0, 0, 1, 1] * 5)
    fitted = NewronClassifier(recipe="gradient", max_iter=5, random_state=0).fit(X, y)
    fitted.save(tmp_path / "model.json")
    loaded = newron.load(tmp_path / "model.json")
    assert loaded == fitted.model_ == Model.from_dict(loaded.to_dict())
