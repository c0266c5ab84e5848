"""NewronSearchCV: what it finds, and citizenship in scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from newron import (
    InputError,
    InterruptedWarning,
    NewronClassifier,
    NewronRegressor,
    NewronWarning,
    TrainingError,
)
from newron.search import NewronSearchCV
from search.support import search_corner
from search.tables import make_corner, make_network, make_noisy, press_ctrl_c, tell


class TestWhatItFinds:
    def test_a_hidden_layer_where_one_is_needed(self):
        X, y = make_corner(300)
        network = make_network("tanh_prod", max_iter=100, n_init=5)
        search = NewronSearchCV(network, cv=3, patience=3, max_structures=6, random_state=0)
        search.fit(X, y)
        assert search.best_params_["hidden_layer_sizes"] != ()
        assert search.best_score_ > 0.9
        assert search.score(*make_corner(300, seed=1)) > 0.9

    def test_no_hidden_layer_where_none_is_needed(self):
        search = NewronSearchCV(make_network(), cv=3, max_structures=8, random_state=0)
        search.fit(*make_noisy())
        assert search.best_params_ == {"hidden_layer_sizes": (), "recipe": "gradient"}

    def test_the_network_has_exactly_the_structure_that_was_judged(self):
        search = search_corner()
        widths = [layer.n_neurons for layer in search.best_estimator_.model_.layers[:-1]]
        assert tuple(widths) == search.best_params_["hidden_layer_sizes"]

    def test_amounts_are_judged_by_r2(self):
        X, y = load_diabetes(return_X_y=True)
        network = NewronRegressor("sigmoid", n_init=1, max_iter=40)
        search = NewronSearchCV(network, cv=3, patience=1, random_state=0).fit(X, y)
        assert 0.3 < search.best_score_ < 0.6
        assert is_regressor(search)
        assert search.predict(X).shape == y.shape
        assert not hasattr(search, "predict_proba")


class TestTheSameResult:
    def test_for_any_number_of_jobs_and_any_backend(self):
        alone = tell(search_corner())
        assert tell(search_corner(n_jobs=2)) == alone
        assert tell(search_corner(n_jobs=3)) == alone
        with parallel_config("loky", n_jobs=2):
            assert tell(search_corner()) == alone

    def test_a_fold_trains_as_if_the_other_rows_were_not_there(self):
        X, y = make_corner()
        inside, outside = next(ShuffleSplit(1, random_state=0).split(X))
        cv = [(inside, outside)]
        search = NewronSearchCV(make_network(), cv=cv, max_structures=1, random_state=0).fit(X, y)
        seed = search_seed(search, fold=0)
        network = make_network(hidden_layer_sizes=(), recipe="gradient", random_state=seed)
        network.fit(X[inside], y[inside])
        assert network.score(X[outside], y[outside]) == search.best_score_

    def test_more_structures_do_not_change_the_first(self):
        few, many = search_corner(max_structures=4), search_corner(max_structures=8)
        for name in ("split0_test_score", "split2_test_score"):
            assert many.cv_results_[name][:4].tolist() == few.cv_results_[name].tolist()

    def test_choices_do_not_change_each_other(self):
        both = search_corner(weight_decay=[0.3, 0.03], max_structures=2)
        one = search_corner(weight_decay=[0.03], max_structures=2)
        of = [params["weight_decay"] == 0.03 for params in both.cv_results_["params"]]
        assert both.cv_results_["mean_test_score"][of].tolist() == (
            one.cv_results_["mean_test_score"].tolist()
        )

    def test_the_seed_is_the_estimators_unless_told(self):
        X, y = make_corner()
        how = {"cv": 3, "max_structures": 2}
        own = NewronSearchCV(make_network(random_state=5), **how).fit(X, y)
        told = NewronSearchCV(make_network(), random_state=5, **how).fit(X, y)
        other = NewronSearchCV(make_network(), random_state=6, **how).fit(X, y)
        assert tell(own) == tell(told) != tell(other)

    def test_a_random_state_object_is_drawn_from(self):
        X, y = make_corner()
        state = np.random.RandomState(0)
        search = NewronSearchCV(make_network(), cv=3, max_structures=2, random_state=state)
        assert tell(clone(search).fit(X, y)) == tell(clone(search).fit(X, y))
        assert tell(search.fit(X, y)) != tell(search.fit(X, y))


def search_seed(search, fold):
    from newron.search.exploration import derive_seed
    from newron.search.fingerprint import to_plain

    settings = search.tree_.nodes[search.best_index_].candidate.settings
    return derive_seed(search.random_state, to_plain(settings), fold)


class TestScoring:
    def test_any_score_of_scikit_learn_will_do(self):
        X, y = make_corner()
        search = search_corner(scoring="neg_log_loss", max_structures=3)
        assert search.best_score_ < 0
        assert search.score(X, y) < 0
        own = search_corner(scoring=make_scorer(accuracy_score), max_structures=3)
        assert own.best_score_ == search_corner(max_structures=3).best_score_

    def test_several_scores_are_refused(self):
        with pytest.raises(ValueError, match="scoring"):
            search_corner(scoring=["accuracy", "f1"])

    def test_weights_count_in_fitting_and_in_scoring(self):
        X, y = make_corner()
        weight = np.zeros(len(X))
        weight[:60] = 1.0
        cv = [(np.arange(0, 90), np.arange(30, 120))]
        part = [(np.arange(0, 60), np.arange(30, 60))]
        how = {"max_structures": 2, "random_state": 0}
        weighed = NewronSearchCV(make_network(), cv=cv, **how).fit(X, y, weight)
        plain = NewronSearchCV(make_network(), cv=part, **how).fit(X[:60], y[:60])
        assert tell(weighed) == tell(plain)

    def test_weights_for_a_score_without_them_are_refused(self):
        X, y = make_corner()
        search = NewronSearchCV(make_network(), scoring=lambda model, X, y: 0.0)
        with pytest.raises(InputError, match="can be weighed"):
            search.fit(X, y, sample_weight=np.ones(len(X)))


class TestFolds:
    def test_a_number_deals_shuffled_folds_of_every_class(self):
        X, y = load_iris(return_X_y=True)  # sorted by class
        search = NewronSearchCV(make_network(), cv=3, max_structures=1, random_state=0).fit(X, y)
        assert search.best_score_ > 0.8
        assert search.n_splits_ == 3

    def test_splitters_and_groups_are_heard(self):
        X, y = make_corner()
        how = {"max_structures": 1, "random_state": 0}
        assert NewronSearchCV(make_network(), cv=KFold(4), **how).fit(X, y).n_splits_ == 4
        groups = np.arange(len(X)) % 3
        search = NewronSearchCV(make_network(), cv=GroupKFold(3), **how).fit(X, y, groups=groups)
        assert search.n_splits_ == 3

    def test_a_category_that_a_fold_lacks_is_no_news(self):
        X, y = make_corner()
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        frame["colour"] = ["rare"] + ["red", "blue"] * 59 + ["red"]
        network = make_network(handle_unknown="missing")
        search = NewronSearchCV(network, cv=3, max_structures=2, random_state=0, n_jobs=2)
        search.fit(frame, y)
        assert search.feature_names_in_.tolist() == list(frame.columns)
        assert search.best_estimator_.model_.schema.columns[3].categories == ("blue", "rare", "red")


class TestEndings:
    def test_time_is_kept_and_the_best_so_far_taken(self):
        search = search_corner(max_time=0.0)
        assert search.ending_ == "time"
        assert search.best_params_["hidden_layer_sizes"] == ()
        assert search.predict(make_corner()[0]).shape == (120,)

    def test_what_cannot_be_trained_is_left_out(self, monkeypatch):
        fit = NewronClassifier.fit

        def fail(self, *rows, **weights):
            if self.hidden_layer_sizes == (1,):
                raise TrainingError("no finite loss")
            return fit(self, *rows, **weights)

        monkeypatch.setattr(NewronClassifier, "fit", fail)
        with pytest.warns(NewronWarning, match="1 of 2 structures could not be trained"):
            search = search_corner()
        assert search.best_params_["hidden_layer_sizes"] == ()
        assert search.cv_results_["rank_test_score"].tolist() == [1, 2]

    def test_other_errors_are_passed_on(self):
        X, y = make_corner()
        with pytest.raises(InputError, match="class_weight"):
            NewronSearchCV(make_network(class_weight={"same": -1.0}), cv=3).fit(X, y)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_ctrl_c_takes_the_best_so_far(self, n_jobs):
        with press_ctrl_c() as press:

            def score(model, X, y):
                if model.hidden_layer_sizes == (2,):
                    press()
                return 0.5

            with pytest.warns(InterruptedWarning, match="best structure so far"):
                search = search_corner(n_jobs, scoring=score)
        assert search.ending_ == "interrupt"
        assert search.best_params_["hidden_layer_sizes"] == ()


class TestCitizenship:
    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize("kind", [NewronClassifier, NewronRegressor])
    def test_the_check_suite_passes(self, kind):
        search = NewronSearchCV(kind("sigmoid", n_init=1, max_iter=100), cv=2, max_structures=1)
        reason = "equal rows may be dealt to different folds, a row of weight two cannot"
        expected = {"check_sample_weight_equivalence_on_dense_data": reason}
        results = check_estimator(
            search, on_skip=None, on_fail=None, expected_failed_checks=expected
        )
        others = {r["check_name"]: r["exception"] for r in results if r["status"] != "passed"}
        assert set(others) <= set(expected), others
        assert len(results) > 50

    def test_it_can_be_cloned_pickled_and_nested(self):
        X, y = make_corner()
        search = NewronSearchCV(make_network(), cv=2, max_structures=2, random_state=0)
        assert clone(search).get_params()["estimator__max_iter"] == 30
        fitted = clone(search).fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        assert len(cross_val_score(search, X, y, cv=2)) == 2

    def test_it_predicts_as_its_best_network(self):
        X, _ = make_corner()
        search = search_corner(max_structures=2)
        best = search.best_estimator_
        for name in ("predict", "predict_proba", "decision_function"):
            np.testing.assert_array_equal(getattr(search, name)(X), getattr(best, name)(X))
        assert search.classes_.tolist() == ["other", "same"]
        assert search.n_features_in_ == 3
        assert not hasattr(search, "feature_names_in_")
        assert is_classifier(search)

    def test_without_refit_it_tells_but_does_not_predict(self):
        search = search_corner(refit=False, max_structures=2)
        assert search.best_params_
        assert not hasattr(search, "best_estimator_")
        again = search.set_params(refit=True).fit(*make_corner())
        assert not hasattr(again.set_params(refit=False).fit(*make_corner()), "best_estimator_")
        with pytest.raises(AttributeError, match="refit=False"):
            search.predict(make_corner()[0])

    def test_before_fit_it_says_so(self):
        search = NewronSearchCV(make_network())
        with pytest.raises(NotFittedError):
            search.predict([[0.0]])
        assert not hasattr(search, "n_features_in_")

    def test_only_networks_of_newron_have_a_structure_to_search(self):
        X, y = make_corner()
        with pytest.raises(InputError, match="NewronClassifier or NewronRegressor"):
            NewronSearchCV(LogisticRegression()).fit(X, y)
        with pytest.raises(InputError, match="nothing to search"):
            NewronSearchCV(NewronClassifier(recipe="grow")).fit(X, y)

    def test_the_recipe_of_the_paper_is_kept(self):
        X, y = make_corner()
        search = NewronSearchCV(make_network(recipe="paper"), cv=2, max_structures=1).fit(X, y)
        assert search.best_params_ == {"hidden_layer_sizes": ()}
        assert search.best_estimator_.recipe == "paper"
