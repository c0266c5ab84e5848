"""Reports of estimators: they know their training rows; and notebooks."""

import re

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from newron import NewronClassifier, NewronRegressor, NewronWarning, datasets


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(3)
    return X, np.where(X[:, 0] + (X[:, 1] > 0) > 0.5, "ill", "well")


@pytest.fixture(scope="module")
def network(table):
    X, y = table
    return NewronClassifier(recipe="grow", max_terms=3, random_state=3).fit(X[:80], y[:80])


def read(network, path, X, y, **settings):
    network.report(path, X, y, **settings)
    return path.read_text("utf-8").replace("\u00a0", " ")


def test_a_report_tells_recipe_seed_and_rows(network, table, tmp_path):
    X, y = table
    page = read(network, tmp_path / "r.html", X[80:], y[80:], noun="patient")
    assert "None of these 40 patients is among those of training." in page
    for told in ("grow", "max_terms = 3", "80 rows", "scikit-learn", "Python"):
        assert told in page
    assert "<dt>Seed</dt><dd><bdi>3</bdi></dd>" in page


def test_rows_of_training_are_known_again(network, table, tmp_path):
    X, y = table
    path = tmp_path / "r.html"
    assert "the rows that the model was trained on" in read(network, path, X[:80], y[:80])
    assert "the rows that the model was trained on" in read(network, path, X[79::-1], y[79::-1])
    assert "30 of these 70 rows are among those of training" in read(network, path, X[50:], y[50:])


def test_rows_with_other_answers_are_other_rows(network, table, tmp_path):
    X, y = table
    turned = np.where(y[:80] == "ill", "well", "ill")
    page = read(network, tmp_path / "r.html", X[:80], turned)
    assert "None of these 80 rows is among those of training." in page


def test_a_card_of_whole_points_is_reported(network, table, tmp_path):
    X, y = table
    page = read(network, tmp_path / "r.html", X[80:], y[80:], max_points=3)
    assert re.search(r"At <b>−?\d+ points or more</b>", page)
    assert "Points are rounded: on 80" in page


def test_after_partial_fit_it_is_not_known(table, tmp_path):
    X, y = table
    network = NewronClassifier(recipe="gradient", hidden_layer_sizes=(), random_state=0)
    network.partial_fit(X, y)
    assert "is not known here" in read(network, tmp_path / "r.html", X, y)


def test_a_regressor_reports_too(table, tmp_path):
    X, _ = table
    y = X[:, 0] * 3 + 1
    network = NewronRegressor(recipe="grow", max_terms=4, random_state=0).fit(X, y)
    page = read(network, tmp_path / "r.html", X, y, target="dose")
    assert "Dose from" in page
    assert "off by" not in page.split('id="performance"')[0]
    assert "the rows that the model was trained on" in page


def test_a_report_of_the_adult_table_is_small(tmp_path):
    adult = datasets.load("adult")
    network = NewronClassifier(recipe="grow", max_terms=3, random_state=0)
    network.fit(adult.X[:300], adult.y[:300])
    with pytest.warns(NewronWarning, match="unknown categories"):
        page = read(network, tmp_path / "r.html", adult.X, adult.y)
    assert len(page.encode()) < 2_000_000
    assert "48\u202f842 rows" in page
    assert "300 of them, drawn at random, can be chosen above" in page


def test_an_estimator_that_is_not_fitted_has_no_report(table, tmp_path):
    X, y = table
    with pytest.raises(NotFittedError):
        NewronClassifier().report(tmp_path / "r.html", X, y)
    assert not list(tmp_path.iterdir())


class TestNotebooks:
    def test_before_fit_scikit_learn_speaks(self, network):
        html = clone(network)._repr_html_()
        assert "max_terms" in html
        assert "<svg xmlns" not in html

    def test_after_fit_the_network_is_shown_too(self, network):
        for html in (network._repr_html_(), network._repr_mimebundle_()["text/html"]):
            assert "max_terms" in html
            assert network.plot().to_html() in html

    def test_text_alone_stays_text(self, network):
        with sklearn.config_context(display="text"):
            assert not hasattr(network, "_repr_html_")
            assert list(network._repr_mimebundle_()) == ["text/plain"]

    def test_rules_and_explanations_are_html_with_names_as_text(self, network, table):
        told = network.explain(table[0][0])
        assert told._repr_html_().startswith("<pre ")
        assert "<table>" in network.rules()._repr_html_()
        assert "&lt;" in told._repr_html_() or "<" not in str(told)
