"""``processing="smooth"``: sigmoids or products by the engine, and hidden layers by a race."""

import numpy as np
import pytest
from sklearn.base import clone

from newron import NewronClassifier, NewronRegressor
from newron.errors import InputError, NewronWarning
from newron.search import NewronSearchCV
from newron.training.context import copy_seed
from newron.training.strategies import default

QUICK = {"max_iter": 40, "n_init": 2, "random_state": 0}


def make_rows(kind, n=300):
    """A risk that rises with the first column, or that is highest in its middle."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, size=(n, 3)).round(2)
    z = 3 * X[:, 0] if kind == "rises" else 4 - 3 * np.abs(X[:, 0])
    return X, (z + rng.logistic(size=n) > 0).astype(int)


def fit_all(X, y, **settings):
    return {
        name: NewronClassifier(name, **{**QUICK, **settings}).fit(X, y)
        for name in ("sigmoid", "tanh_prod", "smooth")
    }


class TestChoice:
    @pytest.mark.parametrize("hidden", [(), (2,)], ids=str)
    def test_it_is_the_network_that_the_name_would_have_given(self, hidden):
        X, y = make_rows("rises", n=150)
        models = fit_all(X, y, hidden_layer_sizes=hidden)
        chosen = models["smooth"].processing_
        assert models["smooth"].model_.fingerprint == models[chosen].model_.fingerprint

    def test_a_bump_wants_a_product(self):
        X, y = make_rows("bump")
        model = NewronClassifier("smooth", hidden_layer_sizes=(), **QUICK)
        assert model.fit(X, y).processing_ == "tanh_prod"

    def test_threads_change_nothing(self):
        X, y = make_rows("bump", n=150)
        one, two = (NewronClassifier("smooth", n_jobs=n, **QUICK).fit(X, y) for n in (1, 2))
        assert one.model_.fingerprint == two.model_.fingerprint

    def test_amounts_categories_and_gaps(self):
        pd = pytest.importorskip("pandas")
        X, y = make_rows("bump", n=150)
        table = pd.DataFrame(X, columns=["a", "b", "c"])
        table.loc[::7, "b"] = np.nan
        table["c"] = np.where(X[:, 2] > 0, "<script>", "no")
        model = NewronRegressor("smooth", **QUICK).fit(table, X[:, 0] ** 2 + y)
        assert model.processing_ in ("sigmoid", "tanh_prod")
        assert np.isfinite(model.predict(table)).all()

    @pytest.mark.parametrize("n", [1, 3])
    def test_too_few_rows_to_judge(self, n):
        model = NewronRegressor("smooth", **QUICK).fit(np.arange(n)[:, None], np.arange(n))
        assert model.processing_ == "sigmoid"

    @pytest.mark.parametrize(
        ("directions", "kind"), [([1, 0, 0], "sigmoid"), ([0, 0, 0], "tanh_prod")], ids=str
    )
    def test_directions_make_it_sigmoid(self, directions, kind):
        X, y = make_rows("bump")
        model = NewronClassifier(
            "smooth", monotonic_cst=directions, hidden_layer_sizes=(), **QUICK
        ).fit(X, y)
        assert model.processing_ == kind

    def test_a_part_of_the_rows_is_not_judged(self):
        X, y = make_rows("bump")
        model = NewronClassifier("smooth", hidden_layer_sizes=(), **QUICK)
        assert clone(model).partial_fit(X, y, classes=[0, 1]).processing_ == "sigmoid"
        fitted = model.fit(X, y)
        with pytest.warns(NewronWarning, match="starts anew"):
            assert fitted.partial_fit(X, y).processing_ == "tanh_prod"

    def test_pruning_and_cloning(self):
        X, y = make_rows("bump", n=150)
        model = NewronClassifier("smooth", hidden_layer_sizes=(), pruning=True, **QUICK)
        fitted = clone(model).fit(X, y)
        assert fitted.path_ is not None
        assert fitted.prune(X, y, nested=False).processing_ == fitted.processing_
        assert not hasattr(clone(fitted), "processing_")
        named = fitted.set_params(processing="sigmoid", pruning=False).fit(X, y)
        assert not hasattr(named, "processing_")


class TestRefusals:
    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"recipe": "gradient"}, 'recipe "gradient": expected a named'),
            ({"aggregation": "max"}, "an aggregation or activation: expected a named"),
            ({"activation": "tanh"}, "an aggregation or activation: expected a named"),
            ({"hidden_layer_sizes": "auto"}, 'hidden_layer_sizes "auto": expected a named'),
            ({"warm_start": True}, "warm_start: expected a named"),
        ],
        ids=lambda value: str(next(iter(value))) if isinstance(value, dict) else "",
    )
    def test_what_it_does_not_go_with(self, settings, said):
        with pytest.raises(InputError, match=said):
            NewronClassifier("smooth", **settings).fit(*make_rows("rises"))

    @pytest.mark.parametrize("listed", [None, ["heaviside", "smooth"]], ids=str)
    def test_a_search(self, listed):
        with pytest.raises(InputError, match='list "sigmoid" and "tanh_prod"'):
            NewronSearchCV(NewronClassifier("smooth"), processing=listed).fit(*make_rows("rises"))

    def test_one_of_several_layers(self):
        with pytest.raises(InputError, match="got 'smooth'"):
            NewronClassifier(("smooth", "sigmoid")).fit(*make_rows("rises"))

    def test_what_means_the_same_is_not_refused(self):
        X, y = make_rows("rises", n=150)
        same = {"aggregation": np.array(["sum", "sum"]), "activation": "identity"}
        one, other = (
            NewronClassifier("smooth", hidden_layer_sizes=(2,), **how, **QUICK).fit(X, y)
            for how in ({}, same)
        )
        assert one.model_.fingerprint == other.model_.fingerprint


class TestHiddenLayers:
    def test_logic_between_columns_wants_one(self):
        """Three columns whose signs multiply: no curve of one or two columns can tell."""
        X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(600, 3)).round(2)
        y = (np.prod(np.sign(X + 0.001), axis=1) > 0).astype(int)
        model = NewronClassifier("tanh_prod", hidden_layer_sizes=(4,), random_state=0).fit(X, y)
        assert len(model.model_.layers) == 2
        assert model.score(X, y) > 0.9

    def test_a_risk_that_rises_wants_none(self):
        X, y = make_rows("rises")
        model = NewronClassifier("smooth", hidden_layer_sizes=(4,), random_state=0).fit(X, y)
        assert model.model_.n_functions < 12

    def test_none_is_tried_where_none_is_allowed(self, monkeypatch):
        monkeypatch.setattr(default, "fit_network", None)
        X, y = make_rows("rises")
        NewronClassifier("smooth", hidden_layer_sizes=(), random_state=0).fit(X, y)


def test_a_copied_seed_has_the_same_children():
    seed = np.random.SeedSequence(5)
    seed.spawn(3)
    copy = copy_seed(seed)
    assert (
        [s.spawn_key for s in copy.spawn(2)] == [s.spawn_key for s in seed.spawn(2)] == [(3,), (4,)]
    )
