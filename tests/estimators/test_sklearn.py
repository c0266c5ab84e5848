"""Citizenship in scikit-learn."""

import io
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from newron import NewronClassifier, NewronRegressor
from newron.model.processing import processing_names

ESTIMATORS = [NewronClassifier, NewronRegressor]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("processing", processing_names())
def test_the_whole_check_suite_passes(estimator, processing):
    results = check_estimator(estimator(processing), on_skip=None)
    assert len(results) >= 55
    assert {result["status"] for result in results} == {"passed"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        NewronClassifier("tanh_prod", hidden_layer_sizes=(), functions_per_input=2,
                         input_scale="both"),
        NewronClassifier("heaviside", recipe="gradient", direct_inputs=True, n_init=2,
                         early_stopping=True),
        NewronClassifier("sigmoid", recipe="paper", max_iter=300),
        NewronRegressor(("sigmoid", "linear"), aggregation="max", input_scale="rank"),
        NewronClassifier("smooth", hidden_layer_sizes=(), n_init=2),
    ],
    ids=["card", "direct", "paper", "mixed", "smooth"],
)  # fmt: skip
def test_other_settings_pass_it_too(estimator):
    results = check_estimator(estimator, on_skip=None)
    assert {result["status"] for result in results} == {"passed"}


def test_it_works_in_pipelines_and_searches():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = NewronClassifier("sigmoid", n_init=1, random_state=0)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model)
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    assert pipeline.fit(X, y)[-1].model_.schema.names == tuple(X.columns)
    grid = {"newronclassifier__hidden_layer_sizes": [(), (2,)]}
    assert GridSearchCV(pipeline, grid, cv=3).fit(X, y).best_score_ > 0.9


def test_the_regressor_predicts_one_or_more_amounts():
    X, y = load_diabetes(return_X_y=True)
    model = NewronRegressor(
        "tanh_prod", hidden_layer_sizes=(), weight_decay=0.3, random_state=0, n_init=1
    )
    assert cross_val_score(model, X, y, cv=3).mean() > 0.35
    both = clone(model).fit(X, np.column_stack([y, -y]))
    assert both.predict(X).shape == (len(X), 2)
    assert both.score(X, np.column_stack([y, -y])) > 0.4
    assert clone(model).fit(X, y[:, None]).predict(X).shape == (len(X), 1)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pickle_and_skops_keep_everything(estimator):
    import skops.io

    X, y = load_iris(return_X_y=True)
    fitted = estimator("tanh_prod", n_init=1, max_iter=20, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.model_ == fitted.model_
    data = skops.io.dumps(fitted)
    unknown = skops.io.get_untrusted_types(file=io.BytesIO(data))
    assert all(name.startswith("newron.") for name in unknown)
    loaded = skops.io.load(io.BytesIO(data), trusted=unknown)
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.model_ == fitted.model_


def test_feature_names_are_kept_and_checked():
    X, y = load_iris(return_X_y=True, as_frame=True)
    fitted = NewronClassifier("sigmoid", n_init=1, max_iter=20, random_state=0).fit(X, y)
    assert fitted.feature_names_in_.tolist() == list(X.columns)
    np.testing.assert_array_equal(fitted.predict(X.iloc[:, ::-1]), fitted.predict(X))
    with pytest.raises(ValueError, match="petal width"):
        fitted.predict(X.iloc[:, :3])
