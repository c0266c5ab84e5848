"""hidden_layer_sizes="auto": the search inside of fit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from newron import InterruptedWarning, NewronClassifier, NewronRegressor
from newron.search import inner
from newron.search.structure import GrowthRule
from search.tables import make_corner, make_network, make_noisy, press_ctrl_c


def make_auto(processing="sigmoid", **settings):
    settings = {"random_state": 0, "recipe": "gradient", **settings}
    return make_network(processing, hidden_layer_sizes="auto", **settings)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(inner, "_RULE", GrowthRule(patience=1, max_structures=3))


def test_it_finds_a_hidden_layer_where_one_is_needed():
    X, y = make_corner(300)
    model = make_auto("tanh_prod", max_iter=100).fit(X, y)
    assert model.hidden_layer_sizes_ != ()
    assert model.score(*make_corner(300, seed=1)) > 0.9
    widths = tuple(layer.n_neurons for layer in model.model_.layers[:-1])
    assert widths == model.hidden_layer_sizes_


def test_and_none_where_none_is_needed():
    model = make_auto().fit(*make_noisy())
    assert model.hidden_layer_sizes_ == ()
    assert model.hidden_layer_sizes == "auto"
    assert len(model.tree_.nodes) > 2


def test_crisp_networks_and_amounts_too(short):
    X, y = make_corner()
    assert make_auto("heaviside").fit(X, y).tree_.nodes[0].score > 0.4
    X, y = load_diabetes(return_X_y=True)
    how = {"hidden_layer_sizes": "auto", "n_init": 1, "max_iter": 40, "random_state": 0}
    model = NewronRegressor("sigmoid", recipe="gradient", **how).fit(X, y)
    assert 0.3 < model.tree_.nodes[0].score < 0.6
    both = NewronRegressor("sigmoid", recipe="gradient", **how).fit(X, np.stack([y, -y], axis=1))
    assert 0.3 < both.tree_.nodes[0].score < 0.6


def test_the_default_recipe_may_use_what_was_found(short):
    X, y = make_corner(200)
    model = make_auto("tanh_prod", recipe="default").fit(X, y)
    assert model.hidden_layer_sizes_ in [node.candidate.widths for node in model.tree_.nodes]
    assert model.score(X, y) > 0.5


def test_many_rows_are_judged_once(short, monkeypatch):
    from newron.training import folds

    monkeypatch.setattr(folds, "MANY_ROWS", 100)
    X, y = make_corner(300)
    assert make_auto().fit(X, y).tree_ is not None


def test_it_is_the_same_for_any_number_of_threads_and_order_of_rows(short):
    X, y = make_corner()
    alone = make_auto().fit(X, y)
    mixed = np.random.default_rng(1).permutation(len(X))
    assert make_auto(n_jobs=2).fit(X, y).model_ == alone.model_
    assert make_auto(n_jobs=2).fit(X[mixed], y[mixed]).tree_ == alone.tree_


def test_a_weight_of_two_is_the_row_twice(short):
    X, y = make_corner()
    weight = np.arange(len(X)) % 3
    repeated = np.repeat(np.arange(len(X)), weight)
    weighed = make_auto().fit(X, y, sample_weight=weight)
    assert weighed.tree_ == make_auto().fit(X[repeated], y[repeated]).tree_


def test_few_rows_get_the_usual_layer():
    X, y = make_corner(16)
    model = make_auto().fit(X, y)
    assert model.hidden_layer_sizes_ == (4,)
    assert model.tree_ is None


def test_a_grown_network_is_not_searched_for():
    X, y = make_corner()
    assert make_auto("heaviside", recipe="grow", max_terms=3).fit(X, y).tree_ is None


def test_what_goes_on_keeps_its_structure(short):
    X, y = make_corner()
    model = make_auto(warm_start=True).fit(X, y)
    tree, widths = model.tree_, model.hidden_layer_sizes_
    model.fit(X, y).partial_fit(X, y)
    assert model.tree_ is tree
    assert model.hidden_layer_sizes_ == widths
    first = make_auto().partial_fit(X, y)
    assert first.partial_fit(X, y).hidden_layer_sizes_ == widths


def test_it_can_be_pruned_cloned_and_validated(short):
    X, y = make_corner()
    model = make_auto("heaviside").fit(X, y)
    pruned = model.prune(X, y, nested=False)
    assert pruned.hidden_layer_sizes_ == model.hidden_layer_sizes_
    assert not hasattr(clone(model), "hidden_layer_sizes_")
    assert len(cross_val_score(make_auto(), X, y, cv=2)) == 2


def test_other_words_are_refused():
    X, y = make_corner()
    with pytest.raises(ValueError, match="hidden_layer_sizes"):
        make_network(hidden_layer_sizes="automatic").fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_trains_the_best_structure_so_far(monkeypatch, n_jobs):
    fit = inner.fit_network
    with press_ctrl_c() as press:

        def stop(data, spec, context):
            if len(spec.architecture.layers) == 3:
                press()
            return fit(data, spec, context)

        monkeypatch.setattr(inner, "fit_network", stop)
        with pytest.warns(InterruptedWarning, match="the best structure so far is trained"):
            model = make_auto(n_jobs=n_jobs).fit(*make_corner())
    assert len(model.hidden_layer_sizes_) < 2


def test_progress_is_told(short, capsys):
    make_auto(verbose=1).fit(*make_corner())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("()  0.")
    assert lines[-1].startswith("epoch")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [NewronClassifier, NewronRegressor])
def test_the_whole_check_suite_passes(kind, monkeypatch):
    monkeypatch.setattr(inner, "_RULE", GrowthRule(patience=1, max_structures=2))
    model = kind("sigmoid", hidden_layer_sizes="auto", recipe="gradient", n_init=1, max_iter=60)
    results = check_estimator(model, on_skip=None)
    assert {result["status"] for result in results} == {"passed"}
