"""Several labels for a row, from fit to every reader."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import get_scorer

import newron
from newron import NewronClassifier
from newron.checker import CertificateError, check
from newron.errors import InputError, ModelError
from newron.model import Labels

NAMES = ("funny", "sad", "loud")


def make_table(n=300, seed=2100):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(size=(n, 3)).round(2), columns=["a", "b", "c"])
    X.loc[::17, "b"] = np.nan
    sure = [X.a > 0.5, (X.a < 0.4) & (X.c > 0.3), X.b > 0.6]
    flip = rng.uniform(size=(n, 3)) < 0.08
    return X, pd.DataFrame(
        {k: s.to_numpy() ^ f for k, s, f in zip(NAMES, sure, flip.T, strict=True)}
    ).astype(int)


def make_estimator(processing="heaviside", **settings):
    return NewronClassifier(processing, **{"max_terms": 6, "random_state": 0} | settings)


@pytest.fixture(scope="module")
def crisp():
    return make_estimator().fit(*make_table())


@pytest.fixture(scope="module")
def soft():
    return make_estimator("smooth").fit(*make_table())


@pytest.fixture(scope="module", params=["crisp", "soft"])
def fitted(request):
    return request.getfixturevalue(request.param)


class TestFitting:
    def test_one_network_decides_each_label(self, fitted):
        X, Y = make_table(2000, seed=1)
        found = fitted.predict(X)
        assert found.shape == Y.shape
        assert set(np.unique(found)) == {0, 1}
        assert np.all((found == Y.to_numpy()).mean(axis=0) > 0.87)
        assert fitted.score(X, Y) == (found == Y.to_numpy()).all(axis=1).mean()
        np.testing.assert_array_equal(found, fitted.predict_proba(X) >= 0.5)
        assert fitted.model_.output == Labels(NAMES)

    @pytest.mark.parametrize("recipe", ["default", "gradient", "grow", "paper"])
    def test_every_recipe_learns(self, recipe):
        X, Y = make_table(200)
        model = make_estimator(recipe=recipe, max_iter=150, n_init=2).fit(X, Y)
        usual = np.maximum(Y.mean(), 1.0 - Y.mean()).mean()
        assert (model.predict(X) == Y.to_numpy()).mean() > usual + (
            0.0 if recipe == "paper" else 0.2
        )

    def test_matrices_frames_and_sparse_ones_are_alike(self):
        X, Y = make_table(80)
        kinds = [
            Y.to_numpy(),
            Y.to_numpy().astype(bool),
            csr_matrix(Y.to_numpy()),
            Y.values.tolist(),
        ]
        one, *others = (make_estimator("sigmoid").fit(X, y).model_ for y in kinds)
        assert all(other == one for other in others)
        assert one.output.names == ("y1", "y2", "y3")
        named = make_estimator("sigmoid").fit(X, pl.from_pandas(Y)).model_
        assert named.output.names == NAMES

    def test_weights_are_repetitions(self):
        X, Y = make_table(80)
        times = np.random.default_rng(2).integers(0, 3, len(X))
        at = np.repeat(np.arange(len(X)), times)
        weighed = make_estimator("sigmoid").fit(X, Y, sample_weight=times)
        assert weighed.model_ == make_estimator("sigmoid").fit(X.iloc[at], Y.iloc[at]).model_

    def test_a_label_that_all_rows_have_is_always_there(self):
        X, Y = make_table(120)
        for processing in ("sigmoid", "heaviside"):
            model = make_estimator(processing).fit(X, Y.assign(sad=0, loud=1))
            assert model.predict(X)[:, 1:].tolist() == [[0, 1]] * len(X)

    def test_parts_of_the_rows_go_on(self):
        X, Y = make_table(200)
        model = make_estimator("sigmoid", recipe="gradient").partial_fit(X[:100], Y[:100])
        before = model.model_
        assert model.partial_fit(X[100:], Y[100:]).model_ != before
        with pytest.raises(InputError, match="expected 3 labels, as in fit, got 2"):
            model.partial_fit(X, Y[["funny", "sad"]])

    def test_monotone_columns_hold_for_each(self):
        X, Y = make_table(200)
        model = make_estimator("sigmoid", monotonic_cst={"a": 1}).fit(X, Y)
        rise = pd.DataFrame({"a": np.linspace(0, 1, 40), "b": 0.5, "c": 0.5})
        assert np.all(np.diff(model.decision_function(rise), axis=0) >= 0.0)

    def test_pruning_and_sizes_leave_fewer_conditions(self, crisp):
        short = make_estimator(size=3).fit(*make_table())
        assert short.model_.n_functions < crisp.model_.n_functions
        assert short.rules().proof

    def test_scikit_learn_measures_it(self, soft):
        X, Y = make_table()
        assert get_scorer("roc_auc")(soft, X, Y) > 0.9
        two = make_estimator("sigmoid").fit(X, Y[["funny", "loud"]])
        assert get_scorer("average_precision")(two, X, Y[["funny", "loud"]]) > 0.85

    @pytest.mark.parametrize("setting", [{"objective": "ordinal"}, {"class_weight": "balanced"}])
    def test_what_does_not_apply_is_named(self, setting):
        with pytest.raises(InputError, match="for several labels, got"):
            make_estimator(**setting).fit(*make_table(40))


class TestReading:
    def test_the_network_of_a_label_has_its_scores(self, fitted):
        X, _ = make_table()
        scores = fitted.decision_function(X)
        for k, name in enumerate(NAMES):
            alone = fitted.label(name)
            np.testing.assert_array_equal(alone.scores(X)[:, 0], scores[:, k])
            np.testing.assert_array_equal(alone.predict(X) == name, fitted.predict(X)[:, k] == 1)
            assert alone.output.labels == (f"not {name}", name)
        with pytest.raises(ModelError, match="one of funny, sad, loud, got 'quiet'"):
            fitted.label("quiet")

    def test_compiled_and_defined_scores_are_the_same_bits(self, fitted):
        X, _ = make_table()
        own = fitted.model_.scores(X, compiled=False)
        np.testing.assert_array_equal(own, fitted.model_.scores(X))

    def test_rules_of_each_label_are_proved(self, crisp):
        X, _ = make_table()
        rules = crisp.rules()
        assert rules.proof
        np.testing.assert_array_equal(rules.predict(X), crisp.predict(X))
        assert "A label is there where its sum is 0 or more." in str(rules)
        for k, name in enumerate(NAMES):
            alone = crisp.label(name).rules()
            assert alone.proof
            np.testing.assert_array_equal(alone.predict(X) == name, crisp.predict(X)[:, k] == 1)

    def test_the_checker_accepts_them_and_refuses_a_change(self, crisp):
        text = crisp.rules().to_text(notes=False)
        document, certificate = crisp.model_.to_dict(), dict(crisp.rules().proof.certificate)
        check(text, document, certificate)
        number = next(word for word in text.split() if word.startswith("+"))
        with pytest.raises(CertificateError):
            check(text.replace(number, "+99", 1), document, certificate)

    def test_a_file_keeps_it(self, fitted, tmp_path):
        fitted.save(tmp_path / "model.json")
        loaded = newron.load(tmp_path / "model.json")
        assert loaded == fitted.model_
        assert loaded.output == Labels(NAMES)
        X, _ = make_table(30)
        again = NewronClassifier.from_model(loaded)
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))

    def test_an_explanation_says_which_labels_and_how_probable(self, crisp):
        X, _ = make_table()
        found = crisp.explain(X[:1])
        assert found.prediction == dict(zip(NAMES, crisp.predict(X[:1])[0].tolist(), strict=True))
        shares = crisp.predict_proba(X[:1])[0]
        np.testing.assert_array_equal([p for _, p in found.probabilities], shares)
        assert "(probability" in str(found)

    def test_importance_counts_right_labels(self, crisp):
        X, Y = make_table()
        found = crisp.importance(X, Y)
        assert found.baseline == (crisp.predict(X) == Y.to_numpy()).mean()
        assert "of the labels of 300 rows are right" in str(found)
        assert crisp.importance(X, kind="drop").percent

    def test_what_reads_one_answer_says_so(self, crisp, tmp_path):
        X, Y = make_table()
        for read in (
            crisp.scorecard,
            lambda: crisp.report(tmp_path / "report.html", X, Y),
            lambda: crisp.explain(X[:1], target="sad"),
            lambda: crisp.calibrate(X, Y),
            lambda: crisp.model_.calibrate(X, Y),
            lambda: crisp.predict_set(X),
        ):
            with pytest.raises(ModelError, match=r"got 3 labels; take one .* label\('funny'\)"):
                read()
        answers = np.where(Y["sad"], "sad", "not sad")
        crisp.label("sad").report(tmp_path / "report.html", X, answers)
        assert crisp.label("sad").scorecard().rows
