"""Paths from short to long networks, and which of them a size takes."""

from dataclasses import replace

import numpy as np
import pytest

from newron import InputError, NewronClassifier, NewronRegressor
from newron.objectives import choose_objective
from newron.training.folding import count_literals
from newron.training.path import Trial, count_lines, make_path
from newron.training.problem import Problem
from newron.training.subsets import find_subsets
from newron.training.training_set import TrainingSet

SETTINGS = {"max_iter": 20, "n_init": 1, "random_state": 0}


def make_rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    chance = 1 / (1 + np.exp(-3.0 * (X[:, 0] > 0) - 2.0 * (X[:, 1] > 0.5) + 2.5))
    return X, (rng.random(n) < chance).astype(int)


@pytest.fixture(scope="module")
def short():
    X, y = make_rows()
    return X, y, NewronClassifier(size="auto", **SETTINGS).fit(X, y)


@pytest.fixture(scope="module")
def smooth():
    X, y = make_rows(seed=1)
    return X, y, NewronClassifier("smooth", size="auto", **SETTINGS).fit(X, y)


def test_notebooks_show_the_table_of_a_path(short):
    path = short[2].path_
    assert "accuracy" in path._repr_html_()
    assert "chosen" in path._repr_html_()


class TestHeaviside:
    def test_the_shortest_network_that_is_good_enough_is_taken(self, short):
        X, y, fitted = short
        path = fitted.path_
        assert fitted.model_ == path.model == path[path.chosen]
        assert count_literals(fitted.model_) == path.chosen < path.sizes[-1]
        best = int(np.argmin(path.loss))
        at = path.sizes.index(path.chosen)
        assert path.loss[at] <= path.loss[best] + path.pair_loss_error[best, at]
        assert fitted.score(X, y) > 0.7

    def test_sizes_are_those_of_the_models(self, short):
        path = short[2].path_
        assert list(path.sizes) == [count_lines(model) for model in path]
        assert list(path.sizes) == sorted(set(path.sizes))
        assert path.unit == "conditions"
        assert path.sizes[0] == 0

    def test_scores_are_of_rows_that_the_networks_have_not_seen(self, short):
        # Long networks are nearer to the rows of training than to others.
        X, y, fitted = short
        path = fitted.path_
        long = path.models[-1]
        seen = -np.mean(np.log(long.predict_proba(X)[np.arange(len(y)), y]))
        assert path.loss[-1] > seen
        assert np.all(path.error[1:] > 0.005)

    def test_a_number_takes_the_best_of_at_most_so_many_lines(self, short):
        X, y, fitted = short
        two = NewronClassifier(size=2, **SETTINGS).fit(X, y)
        assert two.path_.sizes == fitted.path_.sizes
        assert two.model_ == fitted.path_[two.path_.chosen]
        assert count_literals(two.model_) <= 2
        nothing = NewronClassifier(size=0, **SETTINGS).fit(X, y)
        assert count_literals(nothing.model_) == 0

    def test_the_best_has_the_lowest_loss_on_validation_rows(self, short):
        X, y, fitted = short
        best = NewronClassifier(size="best", **SETTINGS).fit(X, y).path_
        np.testing.assert_array_equal(best.loss, fitted.path_.loss)
        assert best.chosen == best.sizes[int(np.argmin(best.loss))]

    def test_the_whole_network_is_that_of_a_fit_without_a_path(self, short):
        X, y, fitted = short
        whole = NewronClassifier(size="whole", **SETTINGS).fit(X, y)
        assert whole.path_ is None
        assert fitted._fitted.whole == whole.model_
        assert whole.model_ in fitted.path_.models

    def test_logic_is_told_exactly_and_short(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, size=(300, 4)).astype(float)
        y = ((X[:, 0] == 2) | (X[:, 1] == 2)).astype(int)
        fitted = NewronClassifier(size="auto", **SETTINGS).fit(X, y)
        assert fitted.score(X, y) == 1.0
        assert fitted.path_.chosen == 2

    def test_same_seed_same_path_whatever_the_order_and_threads(self, short):
        X, y, fitted = short
        order = np.random.default_rng(3).permutation(len(X))
        other = NewronClassifier(size="auto", n_jobs=2, **SETTINGS).fit(X[order], y[order])
        assert other.path_.models == fitted.path_.models
        np.testing.assert_array_equal(other.path_.loss, fitted.path_.loss)

    def test_models_of_the_path_are_models_in_full_standing(self, short):
        X, y, fitted = short
        model = fitted.path_[3]
        assert model.rules().proof
        assert model.export("python")
        assert NewronClassifier.from_model(model).score(X, y) > 0.6

    def test_three_classes_and_regression(self):
        X, y = make_rows(180)
        three = NewronClassifier(size="auto", **SETTINGS).fit(X, y + (X[:, 2] > 0.8))
        assert three.path_.chosen == count_literals(three.model_)
        numbers = NewronRegressor(size=3, **SETTINGS).fit(X, 2.0 * X[:, 0])
        assert numbers.path_.metric == "r2"
        assert 0 < count_literals(numbers.model_) <= 3

    def test_few_rows_and_other_recipes_have_no_path_and_heed_a_number(self):
        X, y = make_rows(18)
        assert NewronClassifier(size="auto", **SETTINGS).fit(X, y).path_ is None
        X, y = make_rows(60)
        made = NewronClassifier(size=2, recipe="gradient", **SETTINGS).fit(X, y)
        assert count_literals(made.model_) <= 2

    @pytest.mark.parametrize("size", [-1, 2.5, "short", None])
    def test_nonsense_is_refused(self, size):
        with pytest.raises(ValueError, match="size"):
            NewronClassifier(size=size).fit(*make_rows(30))


class TestSmooth:
    def test_curves_are_left_out(self, smooth):
        _, _, fitted = smooth
        path = fitted.path_
        assert path.unit == "curves"
        assert path.chosen == path.sizes[-1] == count_lines(fitted.model_) <= 15
        assert path.choose() <= 3
        assert set(path.columns[path.sizes.index(2)]) == {"x1", "x2"}

    def test_many_rows_are_expected_to_cost_their_parameters(self):
        X, y = make_rows(10_000)
        fitted = NewronClassifier("smooth", size="auto", **SETTINGS).fit(X, y)
        path = fitted.path_
        assert path.choose() < 5
        seen = -np.mean(np.log(path.models[-1].predict_proba(X)[np.arange(len(y)), y]))
        assert path.loss[-1] > seen

    def test_steps_on_many_rows(self):
        X, y = make_rows(10_000)
        fitted = NewronClassifier(size=4, **SETTINGS).fit(X, y)
        assert 2 <= count_literals(fitted.model_) <= 4
        assert {"x1", "x2"} <= set(fitted.path_.columns[fitted.path_.sizes.index(2)])

    def test_all_terms_are_the_whole_network(self, smooth):
        X, y, fitted = smooth
        whole = fitted._fitted.whole
        data = TrainingSet.from_rows(X, y[:, None].astype(float), None, fitted._fields)
        problem = Problem.of(data, choose_objective(whole.output))
        subsets = find_subsets(whole, data.X, problem)
        every = subsets.make_model(len(subsets.order))
        assert np.corrcoef(every.scores(X)[:, 0], whole.scores(X)[:, 0])[0, 1] > 0.99
        assert count_lines(subsets.make_model(1)) == 1


class TestPath:
    def test_it_is_printed_as_a_table_with_the_chosen_size_marked(self, short):
        path = short[2].path_
        lines = str(path).splitlines()
        assert len(lines) == 1 + len(path)
        (marked,) = [line for line in lines if line.endswith("← chosen")]
        assert int(marked.split()[0]) == path.chosen
        assert repr(path) == f"ModelPath({len(path)} models, {path.chosen} conditions chosen)"

    def test_plain_values_for_json(self, short):
        path = short[2].path_
        found = path.to_dict()
        assert [row["size"] for row in found["sizes"]] == list(path.sizes)
        assert found["sizes"][1]["loss"] == path.loss[1]

    def test_without_validation_rows_the_longest_is_taken(self, short):
        models = short[2].path_.models
        path = make_path(models, None, "accuracy")
        assert path.choose() == path.sizes[-1]
        assert path.choose(max_size=3) == 3
        assert "not measured" in str(path)
        assert "loss" not in path.to_dict()["sizes"][0]

    def test_where_hardly_any_loss_is_left_the_sure_need_not_become_surer(self, short):
        path = short[2].path_
        n = len(path)
        loss = np.full(n, 0.5)
        loss[2:] = 0.02
        loss[-1] = 0.0001
        sure = replace(
            path, loss=loss, loss_error=np.full(n, 1e-4), score=np.where(loss < 0.1, 1.0, 0.5),
            pair_error=np.full((n, n), 1e-3),
        )  # fmt: skip
        assert sure.choose() == path.sizes[2]
        assert sure.choose(0.0) == path.sizes[-1]

    @pytest.mark.parametrize(
        ("gain", "error", "chosen"),
        [(0.015, 0.01, 12), (0.025, 0.01, 40), (0.015, 0.001, 40), (0.008, 0.001, 12)],
    )
    def test_more_than_fifteen_lines_must_gain_two_points_or_one_for_sure(
        self, short, gain, error, chosen
    ):
        path = short[2].path_
        n, score = 4, np.array([0.5, 0.7, 0.8, 0.8 + gain])
        long = replace(
            path, sizes=(0, 5, 12, 40), models=path.models[:n], score=score,
            loss=np.array([0.7, 0.6, 0.5, 0.4]), loss_error=np.ones(n),
            pair_error=np.full((n, n), error), pair_loss_error=np.full((n, n), 0.001),
        )  # fmt: skip
        assert long.choose_readable() == chosen
        assert long.choose_readable(4) == 40
        level = replace(long, pair_error=np.ones((n, n)), pair_loss_error=np.ones((n, n)))
        assert level.choose_readable() == 5  # within one standard error of the difference

    @pytest.mark.parametrize(
        ("gain", "drop", "chosen"), [(0.005, 0.001, 12), (0.015, 0.001, 40), (0.005, 0.1, 40)]
    )
    def test_all_curves_are_taken_and_more_than_fifteen_where_they_are_better(
        self, smooth, gain, drop, chosen
    ):
        path, n = smooth[2].path_, 4
        long = replace(
            path, sizes=(0, 5, 12, 40), models=(tuple(path.models) * n)[:n],
            score=np.array([0.5, 0.7, 0.8, 0.8 + gain]), loss=np.array([0.7, 0.6, 0.5, 0.5 - drop]),
            loss_error=np.ones(n), pair_error=np.ones((n, n)),
            pair_loss_error=np.full((n, n), 0.01),
        )  # fmt: skip
        assert long.choose_readable() == chosen
        assert long.choose_readable(50) == 40
        assert long.choose_readable(5) == 40

    def test_a_longer_number_stands_for_the_largest_up_to_it(self):
        ones = np.ones(3)
        rows = {"loss_weight": ones, "weight": ones, "count": np.ones(3, np.int64)}
        trial = Trial((0, 2, 5), np.diag([1.0, 2.0, 3.0]), np.eye(3), **rows)
        assert trial.at([1, 2, 9]).loss.sum(axis=1).tolist() == [1.0, 2.0, 3.0]
        both = Trial.join_rows([trial, trial])
        np.testing.assert_allclose(both.measure(), trial.measure())

    def test_a_size_below_zero_is_an_error(self, short):
        with pytest.raises(IndexError, match="got -1"):
            short[2].path_[-1]
        with pytest.raises(InputError, match="max_size"):
            short[2].path_.choose(max_size=-1)
