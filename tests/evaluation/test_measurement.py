"""Models measured on tables of one's own, and evaluations as files keep them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from newron import NewronClassifier
from newron.errors import InputError
from newron.evaluation import cross_validate, measure_model
from newron.model import Column, Layer, Model, Schema, Targets


def make_rows(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] > 0.0, "yes", "no")


def fit(X, y):
    network = NewronClassifier(recipe="grow", max_terms=2, hidden_layer_sizes=(), random_state=0)
    return network.fit(X, y)


def test_new_rows_are_measured_beside_a_constant():
    X, y = make_rows()
    found = measure_model(fit(X[:40], y[:40]).model_, X[40:], y[40:], source="new.csv")
    right = np.mean(fit(X[:40], y[:40]).predict(X[40:]) == y[40:])
    assert found.value.value == right
    assert (found.protocol, found.n_rows, found.source) == ("new rows", 20, "new.csv")
    assert list(found.scores) == ["model", "constant"]


def test_the_table_of_training_is_refused():
    X, y = make_rows()
    measured = cross_validate(fit(X, y), X, y, n_folds=3, seed=7).to_measurement(n_trained=60)
    assert (measured.n_folds, measured.seed, measured.n_rows) == (3, 7, 60)
    model = fit(X, y).model_.attach(measured)
    with pytest.raises(InputError, match="got the table of its training"):
        measure_model(model, X, y)
    assert measure_model(model, X[:30], y[:30]).n_rows == 30  # another table, as far as it knows


def test_the_fingerprint_is_that_of_the_fit():
    X, y = make_rows()
    network = fit(X, y)
    assert cross_validate(LogisticRegression(), X, y).fingerprint == (
        network._get_origin().fingerprint
    )


def test_a_class_that_the_model_does_not_know_is_an_error():
    X, y = make_rows()
    with pytest.raises(InputError, match=r"expected classes among .*'maybe' in row 1 "):
        measure_model(fit(X, y).model_, X[:3], ["no", "maybe", "yes"])


def test_a_link_is_applied_before_predictions_are_measured():
    column = Column("x", 0.0, 9.0)
    layer = Layer("heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[5.0]], alpha=[1.0])
    model = Model(Schema((column,)), [layer], Targets(("claims",), "log", "poisson"))
    found = measure_model(model, [[1.0], [2.0], [7.0]], [1.0, 1.0, float(np.e)])
    assert found.scores["model"]["mean absolute error"].value == pytest.approx(0.0, abs=1e-12)
