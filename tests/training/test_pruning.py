"""Pruned networks: folding that is exact, refits that are optimal, choices on held-out rows."""

import io
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from estimators.test_monotone import DIRECTIONS, check, make_rows
from newron import (
    InputError,
    InterruptedWarning,
    NewronClassifier,
    NewronRegressor,
    NewronWarning,
    load,
)
from newron.training import pruning, strategies
from newron.training.folding import (
    list_columns,
)
from newron.training.pruning import count_literals
from training.networks import GROWN, make_blobs

QUICK = {
    "recipe": "gradient", "hidden_layer_sizes": (2,), "max_iter": 40, "n_init": 2,
    "random_state": 0,
}  # fmt: skip
FEW = {**QUICK, "hidden_layer_sizes": (), "max_iter": 10, "n_init": 1}


@pytest.fixture(scope="module")
def grown():
    """Give rows, a grown network of them, and the same network pruned."""
    X, y = make_blobs(400)  # enough that a column of noise never seems to matter
    whole = NewronClassifier(**GROWN).fit(X, y)
    return X, y, whole, whole.prune(X, y)


class TestEstimators:
    def test_rows_without_noise_are_not_held_back(self):
        X = make_blobs(200)[0]
        y = (X[:, 0] > 0.3).astype(int)
        pruned = NewronClassifier(**FEW).fit(X, y).prune(X, y)
        assert pruned.path_.chosen == 1
        assert pruned.path_.loss[1] < 0.05

    def test_a_new_estimator_comes_out_and_the_old_one_stays(self, grown):
        X, y, whole, pruned = grown
        before = whole.model_
        assert whole.path_ is None
        assert type(pruned) is NewronClassifier
        assert pruned.get_params() == whole.get_params()
        assert count_literals(pruned.model_) < count_literals(before)
        assert set(list_columns(pruned.model_)) <= {"x1", "x2"}
        assert pruned.score(X, y) > 0.75
        assert pruned.path_.models[-1] == before
        assert pruned.best_loss_ == pytest.approx(
            -np.mean(np.log(pruned.predict_proba(X)[np.arange(len(y)), y])), rel=1e-5
        )
        assert not hasattr(clone(pruned), "model_")

    def test_the_option_does_the_same_inside_of_fit(self, grown):
        X, y, _, after = grown
        inside = NewronClassifier(pruning=True, **GROWN).fit(X, y)
        assert inside.model_ == after.model_
        assert inside.path_.sizes == after.path_.sizes
        np.testing.assert_array_equal(inside.path_.loss, after.path_.loss)
        assert inside.best_loss_ == after.best_loss_

    def test_neither_order_nor_threads_nor_repetition_change_it(self):
        X, y = make_blobs(90)
        pruned = NewronClassifier(pruning=True, **QUICK).fit(X, y)
        order = np.random.default_rng(1).permutation(len(X))
        weight = np.arange(90) % 2 + 1.0
        for other in (
            NewronClassifier(pruning=True, **QUICK).fit(X[order], y[order]),
            NewronClassifier(pruning=True, n_jobs=2, **QUICK).fit(X, y),
        ):
            assert other.model_ == pruned.model_
            np.testing.assert_array_equal(other.path_.score, pruned.path_.score)
        weighed = NewronClassifier(pruning=True, **QUICK).fit(X, y, sample_weight=weight)
        again = np.repeat(np.arange(90), weight.astype(int))
        repeated = NewronClassifier(pruning=True, **QUICK).fit(X[again], y[again])
        assert weighed.model_ == repeated.model_
        np.testing.assert_array_equal(weighed.path_.loss, repeated.path_.loss)

    def test_small_weights_do_not_prune_everything(self):
        X, y = make_blobs()
        whole = NewronClassifier(**QUICK).fit(X, y)
        pruned = whole.prune(X, y, np.full(len(y), 1e-6))
        assert pruned.score(X, y) > 0.75

    def test_the_path_tells_what_each_size_costs(self, grown):
        _, y, _, pruned = grown
        path = pruned.path_
        assert list(path.sizes) == sorted(set(path.sizes))
        assert path.sizes[0] == 0
        assert len(path) == len(path.models) == len(list(path))
        for n, model, columns in zip(path.sizes, path, path.columns, strict=True):
            assert count_literals(model) == n
            assert list_columns(model) == columns
            assert path[n] == model
        assert path[10_000] == path.models[-1]
        assert path.model == path[path.chosen] == pruned.model_
        with pytest.raises(IndexError, match="from 0 on, got -1"):
            path[-1]
        # With nothing read, every row gets the more frequent class.
        assert path.score[0] == pytest.approx(max(np.mean(y), 1 - np.mean(y)), abs=0.02)
        assert path.loss[0] > path.loss[-1]
        best = int(np.argmin(path.loss))
        chosen = path.sizes.index(path.chosen)
        assert path.score[chosen] >= path.score[best] - path.error[best]

    def test_the_path_as_a_frame(self, grown):
        pytest.importorskip("pandas")
        path = grown[-1].path_
        frame = path.to_frame()
        assert list(frame) == ["conditions", "columns", "accuracy", "error", "loss", "chosen"]
        assert frame.conditions.tolist() == list(path.sizes)
        assert frame.conditions[frame.chosen].tolist() == [path.chosen]
        assert frame["columns"].tolist() == [len(names) for names in path.columns]

    def test_tolerance_and_limit_say_how_far(self, grown):
        X, y, whole, _ = grown
        sizes = [
            count_literals(whole.prune(X, y, tolerance=t, nested=False).model_)
            for t in (0.0, 1.0, 3.0, 1e9)
        ]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] == 0
        one = whole.prune(X, y, max_literals=1, nested=False)
        assert count_literals(one.model_) <= 1
        assert one.path_.models[-1] == whole.model_

    def test_by_score_the_smallest_that_is_not_worse_by_pairs_is_taken(self, grown):
        X, y, whole, pruned = grown
        path = pruned.path_
        best = int(np.argmax(path.score))
        for tolerance in (0.0, 1.0, 2.0):
            chosen = path.choose(tolerance, criterion="score")
            gap = path.score[best] - path.score
            good = gap <= tolerance * path.pair_error[best]
            assert chosen == path.sizes[int(np.argmax(good))]
        again = whole.prune(X, y, tolerance=2.0, criterion="score")
        assert count_literals(again.model_) == path.choose(2.0, criterion="score")

    @pytest.mark.parametrize(
        ("how", "chosen"),
        [
            ({"tolerance": 0.0, "criterion": "score"}, 3),
            ({"tolerance": 1.0, "criterion": "score"}, 2),
            ({"tolerance": 1.9, "criterion": "score"}, 2),
            ({"tolerance": 2.0, "criterion": "score"}, 1),
            ({"tolerance": 9.0, "criterion": "score"}, 0),
            ({"tolerance": 0.0, "criterion": "score", "max_size": 2}, 2),
            ({"tolerance": 1.0, "criterion": "loss"}, 3),
            ({"tolerance": 3.0, "criterion": "loss"}, 1),
            ({"tolerance": 1.5, "criterion": "loss"}, 3),
        ],
    )
    def test_a_size_is_taken_at_its_very_tolerance(self, grown, how, chosen):
        # The gaps to the best score are 4, 2, 1, 0, 0 of its standard errors by pairs.
        score = 0.875 - np.array([4.0, 2.0, 1.0, 0.0, 0.0]) / 64
        path = replace(
            grown[3].path_,
            sizes=(0, 1, 2, 3, 4),
            score=score,
            error=np.full(5, 1 / 64),
            loss=np.array([0.75, 0.625, 0.5, 0.375, 0.25]),
            loss_error=np.full(5, 0.125),
            pair_error=np.full((5, 5), 1 / 64),
        )
        assert path.choose(**how) == chosen

    def test_errors_of_pairs_are_those_of_differences_on_the_same_rows(self, grown):
        error = grown[3].path_.pair_error
        np.testing.assert_allclose(error, error.T)
        assert (np.diag(error) == 0.0).all()
        assert (error >= 0.0).all()
        assert error.max() > 0.0

    @pytest.mark.parametrize(
        ("how", "message"),
        [
            ({"criterion": "auc"}, "criterion: expected 'loss' or 'score', got 'auc'"),
            ({"tolerance": -1.0}, "tolerance: expected a number from 0 on, got -1.0"),
            ({"tolerance": np.nan}, "tolerance"),
            ({"tolerance": "much"}, "tolerance"),
            ({"max_literals": -1}, "max_literals: expected None or a number from 0 on, got -1"),
            ({"max_literals": 2.5}, "max_literals"),
        ],
    )
    def test_nonsense_is_refused(self, how, message):
        X, y = make_blobs(40)
        with pytest.raises(InputError, match=message):
            NewronClassifier(**FEW).fit(X, y).prune(X, y, **how)

    def test_what_cannot_be_pruned_is_refused(self):
        X, y = make_blobs(40)
        with pytest.raises(NotFittedError):
            NewronClassifier().prune(X, y)
        fitted = NewronClassifier(**FEW).fit(X, y)
        with pytest.raises(InputError, match=r"expected classes \[0, 1\], got 2"):
            fitted.prune(X, y + 1)
        with pytest.raises(ValueError, match="4 features"):
            fitted.prune(X[:, :2], y)
        amounts = NewronRegressor(**FEW).fit(X, y)
        with pytest.raises(InputError, match="expected 1 targets, as in fit, got 2"):
            amounts.prune(X, np.column_stack([y, y]))

    def test_few_rows_are_not_held_out(self):
        X, y = make_blobs(15)
        whole = NewronClassifier(**FEW).fit(X, y)
        pruned = whole.prune(X, y)
        assert pruned.model_ == whole.model_
        assert np.all(np.isnan(pruned.path_.score))
        assert count_literals(whole.prune(X, y, max_literals=2).model_) <= 2

    def test_a_class_of_one_row_is_not_held_out(self):
        X, y = make_blobs(60)
        y = np.where(np.arange(60) == 7, 2, y)
        whole = NewronClassifier(**FEW).fit(X, y)
        assert whole.prune(X, y).model_ == whole.model_

    def test_many_rows_hold_out_a_third(self, monkeypatch):
        monkeypatch.setattr(pruning, "_MANY_ROWS", 100)
        seen = []
        self.listen(monkeypatch, seen)
        X, y = make_blobs(300)
        whole = NewronClassifier(**QUICK).fit(X, y)
        seen.clear()
        pruned = whole.prune(X, y)
        assert seen == [200]
        assert set(list_columns(pruned.model_)) <= {"x1", "x2"}

    def listen(self, monkeypatch, seen):
        """Note how many rows each fold's network is trained on."""
        fit = strategies.fit

        def fit_and_note(strategy, data, *rest):
            seen.append(len(data))
            return fit(strategy, data, *rest)

        monkeypatch.setattr(pruning.strategies, "fit", fit_and_note)

    def test_folds_train_networks_of_their_own_unless_told_not_to(self, monkeypatch):
        seen = []
        self.listen(monkeypatch, seen)
        X, y = make_blobs(100)
        whole = NewronClassifier(**FEW).fit(X, y)
        seen.clear()
        whole.prune(X, y)
        assert seen == [80] * 5
        whole.prune(X, y, nested=False)
        assert len(seen) == 5

    def test_ctrl_c_keeps_the_whole_network(self, monkeypatch):
        def interrupt(*_):
            raise KeyboardInterrupt

        X, y = make_blobs(60)
        whole = NewronClassifier(**FEW).fit(X, y)
        monkeypatch.setattr(pruning, "eliminate", interrupt)
        with pytest.warns(InterruptedWarning, match="whole network is kept") as told:
            kept = NewronClassifier(pruning=True, **FEW).fit(X, y)
        assert told[0].filename == __file__
        assert kept.model_ == whole.model_
        assert kept.path_ is None
        with pytest.raises(KeyboardInterrupt):
            whole.prune(X, y)

    def test_training_goes_on_from_the_whole_network(self):
        X, y = make_blobs(60)
        whole = NewronClassifier(**FEW).fit(X, y)
        pruned = whole.prune(X, y)
        with pytest.warns(NewronWarning, match="goes on from the network before") as told:
            pruned.partial_fit(X, y)
        assert told[0].filename == __file__
        assert pruned.path_ is None
        assert pruned.model_ == clone(whole).fit(X, y).partial_fit(X, y).model_
        warm = NewronClassifier(pruning=True, warm_start=True, **FEW).fit(X, y).fit(X, y)
        plain = NewronClassifier(warm_start=True, **FEW).fit(X, y).fit(X, y)
        assert warm.path_.models[-1] == plain.model_

    def test_a_grown_network_starts_anew_as_before(self, grown):
        X, y, _, pruned = grown
        with pytest.warns(NewronWarning, match="starts anew"):
            again = pickle.loads(pickle.dumps(pruned)).partial_fit(X, y)
        assert again.path_ is None
        with pytest.raises(InputError, match="a grown network cannot go on"):
            pickle.loads(pickle.dumps(pruned)).set_params(warm_start=True).fit(X, y)

    def test_parts_are_not_pruned(self):
        X, y = make_blobs(60)
        parts = NewronClassifier(pruning=True, **FEW).partial_fit(X, y).partial_fit(X, y)
        assert parts.path_ is None

    def test_files_keep_it(self, tmp_path):
        import skops.io

        X, y = make_blobs(60)
        pruned = NewronClassifier(**FEW).fit(X, y).prune(X, y)
        pruned.model_.save(tmp_path / "model.json")
        assert load(tmp_path / "model.json") == pruned.model_
        again = pickle.loads(pickle.dumps(pruned))
        data = skops.io.dumps(pruned)
        unknown = skops.io.get_untrusted_types(file=io.BytesIO(data))
        assert all(name.startswith("newron.") for name in unknown)
        for other in (again, skops.io.load(io.BytesIO(data), trusted=unknown)):
            assert other.model_ == pruned.model_
            assert other.path_.sizes == pruned.path_.sizes
            assert other.path_[1] == pruned.path_[1]

    def test_numbers_are_short(self, grown):
        for layer in grown[-1].model_.layers:
            for number in (*layer.b.ravel(), *(layer.alpha if layer.alpha is not None else ())):
                assert len(f"{abs(number):.15g}") <= 7

    @pytest.mark.filterwarnings("ignore")
    def test_scikit_learn_finds_nothing_wrong_with_the_option(self):
        settings = {**FEW, "max_iter": 40, "random_state": None}
        results = check_estimator(NewronRegressor("relu", pruning=True, **settings), on_skip=None)
        assert {result["status"] for result in results} == {"passed"}


class TestKinds:
    @pytest.mark.parametrize(
        ("processing", "hidden"),
        [
            ("heaviside", (2,)),
            ("sigmoid", ()),
            ("tanh_prod", (2,)),
            ("linear", ()),
            ("linear", (2,)),
            ("relu", (2,)),
            ("selu", ()),
        ],
    )
    def test_every_function_can_be_pruned(self, processing, hidden):
        X, y = make_blobs(120, columns=3)
        make = {**QUICK, "hidden_layer_sizes": hidden, "direct_inputs": bool(hidden)}
        whole = NewronClassifier(processing, **make).fit(X, y)
        pruned = whole.prune(X, y, max_literals=4, nested=False)
        assert count_literals(pruned.model_) <= 4
        assert pruned.score(X, y) > 0.75
        amounts = NewronRegressor(processing, **make).fit(X, 1e3 * y + 5)
        fewer = amounts.prune(X, 1e3 * y + 5, nested=False)
        assert count_literals(fewer.model_) <= count_literals(amounts.model_)
        path = fewer.path_
        assert path.metric == "r2"
        assert path.score[0] == pytest.approx(0.0, abs=0.1)
        chosen = path.sizes.index(path.chosen)
        assert path.score[chosen] == pytest.approx(1.0 - path.loss[chosen])

    @pytest.mark.parametrize(
        "how",
        [
            {"hidden_layer_sizes": (2, 2), "direct_inputs": True},
            {"hidden_layer_sizes": (2, 2), "processing": "sigmoid", "aggregation": "mean"},
            {"hidden_layer_sizes": (2,), "aggregation": "min"},
            {"hidden_layer_sizes": (2,), "aggregation": "product", "processing": "sigmoid"},
            {"hidden_layer_sizes": (2,), "aggregation": ("sum", "product"),
             "processing": "sigmoid"},
            {"hidden_layer_sizes": (2,), "activation": "tanh", "processing": "tanh_prod"},
            {"hidden_layer_sizes": (2,), "processing": ("sigmoid", "heaviside")},
            {"processing": "sigmoid", "input_scale": "both", "hidden_layer_sizes": ()},
        ],
        ids=lambda how: str(list(how.values())),
    )  # fmt: skip
    def test_every_shape_can_be_pruned(self, how):
        X, y = make_blobs(100, columns=3)
        whole = NewronClassifier(**{**FEW, "max_iter": 40, **how}).fit(X, y)
        pruned = whole.prune(X, y, nested=False)
        assert count_literals(pruned.model_) <= count_literals(whole.model_)
        assert whole.score(X, y) - pruned.score(X, y) < 0.1

    def test_several_classes(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 5)).round(2)
        y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
        for how in ({"hidden_layer_sizes": ()}, {"hidden_layer_sizes": (2,)}, GROWN):
            whole = NewronClassifier(**{**QUICK, **how}).fit(X, y)
            pruned = whole.prune(X, y)
            assert list_columns(pruned.model_) == ("x1",)
            assert count_literals(pruned.model_) <= 4
            assert pruned.score(X, y) > 0.95

    def test_several_amounts(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(150, 4)).round(2)
        y = np.column_stack([1e4 * (X[:, 0] > 0), 1e-3 * (X[:, 1] > 0) + 7.0])
        pruned = NewronRegressor(**{**QUICK, "hidden_layer_sizes": ()}).fit(X, y).prune(X, y)
        assert list_columns(pruned.model_) == ("x1", "x2")
        assert pruned.predict(X).shape == (150, 2)
        assert pruned.score(X, y) > 0.9

    @pytest.mark.parametrize("processing", ["heaviside", "sigmoid"])
    def test_categories_and_gaps(self, processing):
        pd = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        n = 240
        frame = pd.DataFrame({
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": rng.normal(size=n).round(1),
            "noise": rng.choice(list("abcd"), n),
            "more": rng.normal(size=n),
        })  # fmt: skip
        frame.loc[rng.random(n) < 0.3, "size"] = np.nan
        y = np.where((frame.colour == "red") | frame["size"].isna(), "yes", "no")
        whole = NewronClassifier(processing, **{**QUICK, "hidden_layer_sizes": ()}).fit(frame, y)
        pruned = whole.prune(frame, y)
        assert list_columns(pruned.model_) == ("colour", "size")
        assert pruned.score(frame, y) > 0.95
        assert pruned.feature_names_in_.tolist() == list(frame)
        # Columns that nothing reads stay in the schema, and are asked for.
        assert pruned.model_.schema.names == tuple(frame)
        odd = frame.assign(colour="violet")
        with pytest.warns(NewronWarning, match="violet"):
            assert len(pruned.predict(odd)) == n

    def test_weights_of_classes_and_domains(self):
        X, y = make_blobs(150)
        X, y = X[y + np.arange(150) % 4 > 0], y[y + np.arange(150) % 4 > 0]
        domains = {"x1": {"unit": "mm", "low": -9, "high": 9}}
        make = {**QUICK, "class_weight": {0: 1.0, 1: 20.0}, "domains": domains}
        pruned = NewronClassifier(**make).fit(X, y).prune(X, y)
        assert pruned.model_.schema.columns[0].unit == "mm"
        recall = pruned.predict(X)[y == 1].mean()
        plain = NewronClassifier(**QUICK).fit(X, y).prune(X, y)
        assert recall >= plain.predict(X)[y == 1].mean()

    @pytest.mark.parametrize(
        "how",
        [
            {"hidden_layer_sizes": ()},
            {"hidden_layer_sizes": (2, 2)},
            GROWN,
            {"processing": "sigmoid", "direct_inputs": True},
            {"processing": "linear"},
            {"processing": "sigmoid", "aggregation": "min"},
        ],
        ids=["card", "deep", "grown", "sigmoid", "linear", "least"],
    )
    def test_directions_hold_along_the_whole_path(self, how):
        X, effect = make_rows(2)
        y = (effect > np.median(effect)).astype(int)
        make = {**QUICK, **how, "monotonic_cst": list(DIRECTIONS)}
        path = NewronClassifier(**make).fit(X, y).prune(X, y, nested=False).path_
        for model in path:
            check(lambda rows, model=model: model.scores(rows)[:, 0], X, n_rows=5)
        amounts = NewronRegressor(**make).fit(X, effect).prune(X, effect, nested=False)
        for model in amounts.path_:
            check(lambda rows, model=model: model.scores(rows)[:, 0], X, n_rows=5)
