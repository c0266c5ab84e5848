"""Baselines on tables with categories and missing values."""

import numpy as np
import pandas as pd
import pytest

from newron.evaluation.baselines import make_baselines


def make_frame(n=40):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": pd.Categorical(rng.choice(["red", "blue"], n)),
            "empty": np.full(n, np.nan),
        }
    )
    frame.loc[::5, "size"] = np.nan
    frame.loc[1::5, "colour"] = np.nan
    return frame


@pytest.mark.parametrize("classification", [True, False])
def test_they_take_missing_values_and_categories(classification):
    X = make_frame()
    y = np.arange(40) % 2 if classification else np.linspace(0.0, 1.0, 40)
    for model in make_baselines(X, classification=classification).values():
        predicted = model.fit(X[:30], y[:30]).predict(X[30:])
        assert len(predicted) == 10
        assert not classification or set(predicted) <= {0, 1}


def test_a_category_that_training_rows_lack_is_none_of_theirs():
    X, y = pd.DataFrame({"c": ["a", "b"] * 10 + ["new"]}), [0, 1] * 10 + [1]
    model = make_baselines(X, classification=True)["logistic regression"]
    assert model.fit(X[:20], y[:20]).predict(X[20:]).tolist() in ([0], [1])


def test_numbers_can_be_declared_as_categories():
    X = np.array([[0.0], [1.0], [2.0]] * 20)
    y = (X[:, 0] == 1.0).astype(int)
    plain = make_baselines(X, classification=True)["logistic regression"].fit(X, y)
    made = make_baselines(X, classification=True, categorical_features=[0])
    assert plain.score(X, y) < 1.0
    assert made["logistic regression"].fit(X, y).score(X, y) == 1.0


def test_the_constant_is_the_most_frequent_class_or_the_median():
    X = np.zeros((5, 1))
    classes = make_baselines(X, classification=True)["constant"].fit(X, list("abbab"))
    values = make_baselines(X, classification=False)["constant"].fit(X, [1.0, 2.0, 9.0, 3.0, 0.0])
    assert classes.predict(X[:1]).tolist() == ["b"]
    assert values.predict(X[:1]).tolist() == [2.0]
