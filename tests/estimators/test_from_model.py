"""An estimator of a network that was made elsewhere."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from builders.models import make_card, make_regression
from newron import NewronClassifier
from newron.errors import InputError

ROWS = [[60.0, "red"], [20.0, "blue"], [None, "green"]]


def test_it_predicts_as_the_model_does():
    model = make_card()
    estimator = NewronClassifier.from_model(model)
    assert estimator.predict(ROWS).tolist() == model.predict(ROWS).tolist()
    np.testing.assert_array_equal(estimator.predict_proba(ROWS), model.predict_proba(ROWS))
    assert estimator.classes_.tolist() == ["no", "yes"]
    assert make_pipeline(estimator).predict(ROWS).tolist() == model.predict(ROWS).tolist()


def test_the_reading_verbs_work():
    estimator = NewronClassifier.from_model(make_card())
    assert estimator.rules().proof.equal is True
    assert "age" in str(estimator.explain(ROWS[0]))


def test_a_clone_is_not_fitted_and_another_fit_forgets_the_network():
    estimator = NewronClassifier.from_model(make_card())
    with pytest.raises(NotFittedError):
        clone(estimator).predict(ROWS)
    estimator.set_params(recipe="gradient", max_iter=2, random_state=0)
    estimator.fit([[0.0], [1.0], [0.0], [1.0]], ["a", "b", "a", "b"])
    assert estimator.classes_.tolist() == ["a", "b"]


def test_what_cannot_be_is_one_line():
    with pytest.raises(InputError, match="expected a model of classes"):
        NewronClassifier.from_model(make_regression())
    with pytest.raises(InputError, match="from_model"):
        NewronClassifier.from_model(make_card()).prune(ROWS, ["yes", "no", "no"])
