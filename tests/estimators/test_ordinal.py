"""Ordered classes, from fit to every reader."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import newron
from newron import NewronClassifier, NewronWarning
from newron.checker import CertificateError, check
from newron.errors import InputError
from newron.rules import RuleSet
from newron.training.path import count_lines

ORDER = ["mild", "moderate", "severe"]


def make_table(n=400, seed=1120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    latent = 1.5 * X[:, 0] - 1.2 * (X[:, 1] > 0.3) + rng.logistic(size=n)
    return X, np.array(ORDER)[np.digitize(latent, [-0.5, 1.5])]


def make_estimator(processing="heaviside", **settings):
    given = {"hidden_layer_sizes": (), "max_terms": 5, "random_state": 0, "objective": "ordinal"}
    return NewronClassifier(processing, **given | settings)


@pytest.fixture(scope="module")
def crisp():
    return make_estimator(size="whole").fit(*make_table())


@pytest.fixture(scope="module")
def soft():
    return make_estimator("sigmoid").fit(*make_table())


@pytest.fixture(scope="module", params=["crisp", "soft"])
def fitted(request):
    return request.getfixturevalue(request.param)


class TestFitting:
    @pytest.mark.parametrize("recipe", ["default", "gradient", "grow", "paper"])
    def test_every_recipe_learns(self, recipe):
        X, y = make_table(200)
        model = make_estimator(recipe=recipe, max_iter=150, n_init=2).fit(X, y)
        assert model.model_.output.is_ordered
        assert model.score(X, y) > pd.Series(y).value_counts(normalize=True).max()

    def test_the_path_counts_the_lines_that_are_printed(self):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(300, 4))
        bent = X[:, 0] + 0.7 * (X[:, 1] > 0) - 0.3 * X[:, 2] ** 2
        y = np.digitize(bent + 0.5 * rng.normal(size=300), [-1.0, 0.0, 0.7])
        path = make_estimator(size=15, max_terms=60).fit(X, y).path_
        assert path.sizes == tuple(map(count_lines, path))
        assert count_lines(path.model) <= 15

    def test_probabilities_are_calibrated_and_classes_in_order(self, fitted):
        X, y = make_table(4000, seed=1)
        shares = fitted.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        for k, label in enumerate(ORDER):
            assert shares[:, k].mean() == pytest.approx((y == label).mean(), abs=0.05)
        scores = fitted.model_.scores(X)
        chosen = fitted.model_.output.choose(scores)[np.argsort(scores[:, 0])]
        assert np.all(np.diff(chosen) >= 0)
        np.testing.assert_allclose(np.exp(fitted.decision_function(X)), shares)
        np.testing.assert_array_equal(fitted.classes_[shares.argmax(axis=1)], fitted.predict(X))

    def test_an_ordered_categorical_is_announced(self):
        X, y = make_table(120)
        backwards = pd.Categorical(y, categories=ORDER[::-1], ordered=True)
        with pytest.warns(NewronWarning, match='objective="ordinal" is taken'):
            model = make_estimator("sigmoid", objective="auto").fit(X, pd.Series(backwards))
        assert model.classes_.tolist() == ORDER[::-1]
        assert model.model_.output.is_ordered

    def test_an_enum_has_its_order_where_one_is_asked_for(self):
        X, y = make_table(120)
        renamed = pl.Series([{"mild": "z", "moderate": "m", "severe": "a"}[v] for v in y])
        enum = renamed.cast(pl.Enum(["z", "m", "a"]))
        assert make_estimator("sigmoid").fit(X, enum).classes_.tolist() == ["z", "m", "a"]
        plain = make_estimator("sigmoid", objective="auto").fit(X, enum)
        assert not plain.model_.output.is_ordered

    def test_log_loss_keeps_a_score_for_each_class(self):
        X, y = make_table(120)
        ordered = pd.Categorical(y, categories=ORDER, ordered=True)
        model = make_estimator("sigmoid", objective="log_loss").fit(X, ordered)
        assert model.model_.output.n_scores == 3

    def test_two_classes_have_one_score_anyway(self):
        X, y = make_table(120)
        model = make_estimator("sigmoid").fit(X, y == "severe")
        assert not model.model_.output.is_ordered

    def test_an_unknown_objective_is_named(self):
        with pytest.raises(InputError, match="ordinal"):
            NewronClassifier(objective="cox").fit([[0.0], [1.0]], [0, 1])

    def test_weights_are_repetitions(self):
        X, y = make_table(80)
        times = np.random.default_rng(2).integers(0, 3, len(X))
        weighed = make_estimator("sigmoid").fit(X, y, sample_weight=times)
        repeated = make_estimator("sigmoid").fit(X.repeat(times, axis=0), y.repeat(times))
        assert weighed.model_ == repeated.model_

    def test_missing_values_directions_and_class_weights(self):
        X, y = make_table(300)
        X[::7, 0] = np.nan
        settings = {"monotonic_cst": [1, 0, 0], "class_weight": {"severe": 5.0}}
        plain, other = (make_estimator("sigmoid", **s).fit(X, y) for s in ({}, settings))
        rise = np.column_stack([np.linspace(-3.0, 3.0, 40), np.zeros(40), np.zeros(40)])
        assert np.all(np.diff(other.model_.scores(rise)[:, 0]) >= 0.0)
        assert (other.predict(X) == "severe").sum() > (plain.predict(X) == "severe").sum()
        assert np.isfinite(other.predict_proba([[np.nan, np.nan, np.nan]])).all()

    def test_pruning_leaves_fewer_conditions(self, crisp):
        X, y = make_table()
        pruned = crisp.prune(X, y, max_literals=2, nested=False)
        assert pruned.model_.n_functions <= 2
        assert pruned.model_.output.is_ordered
        assert pruned.rules().proof

    def test_partial_fit_keeps_its_limits(self):
        X, y = make_table(300)
        model = make_estimator("sigmoid", recipe="gradient", max_iter=5)
        model.partial_fit(X[:150], y[:150], classes=ORDER)
        before = model.model_.output
        model.partial_fit(X[150:], y[150:])
        assert model.model_.output == before


class TestReading:
    def test_rules_are_one_sum_with_bands(self, crisp):
        X, _ = make_table()
        rules = crisp.rules()
        text = rules.to_text(notes=False)
        assert text.startswith("Points from mild to severe\n")
        ends = [line for line in text.splitlines() if line.startswith(("Sum", "Otherwise"))]
        assert [line.rpartition(": ")[2] for line in ends] == ["severe", "moderate", "mild"]
        assert rules.proof.covers == ("class", "score", "probability")
        np.testing.assert_array_equal(rules.predict(X), crisp.predict(X))
        again = RuleSet.parse(text, crisp.model_)
        assert again.proof
        np.testing.assert_allclose(again.to_model().predict_proba(X), crisp.predict_proba(X))

    def test_the_checker_refuses_what_was_changed(self, crisp):
        rules = crisp.rules()
        text, document = rules.to_text(notes=False), crisp.model_.to_dict()
        certificate = dict(rules.proof.certificate)
        check(text, document, certificate)
        moved = json.loads(json.dumps(document))
        moved["output"]["bands"][1] = moved["output"]["bands"][0]
        with pytest.raises(CertificateError):
            check(text, moved, certificate)
        swapped = text.replace(": severe", ": X").replace(": moderate", ": severe")
        changed = swapped.replace(": X", ": moderate")
        with pytest.raises(InputError, match="lower ones below"):
            RuleSet.parse(changed, crisp.model_)

    def test_a_moved_limit_is_refuted_with_a_counterexample(self, crisp):
        text = crisp.rules().to_text(notes=False)
        line = next(one for one in text.splitlines() if one.endswith(": severe"))
        proof = RuleSet.parse(text.replace(line, "Sum ≥ 99: severe"), crisp.model_).proof
        assert proof.equal is False
        assert proof.predicted == ("moderate", "severe")

    def test_lists_of_rules_are_proved_too(self, crisp):
        rules = crisp.rules(form="rules")
        assert rules.proof
        assert rules.proof.covers == ("class",)

    def test_a_card_has_whole_points_and_bands(self, crisp):
        X, y = make_table(seed=3)
        card = crisp.scorecard(4, X, y)
        assert card.rules.proof.covers == ("class", "score", "probability")
        assert all(total.denominator == 1 for _, total in card.bands)
        assert [k for k, _ in card.bands] == [2, 1]
        assert card.after.accuracy == pytest.approx((card.model.predict(X) == y).mean())
        assert card.after.accuracy > card.before.accuracy - 0.05
        assert "mild %" in str(card)
        total = card.model.scores(X)[0, 0]  # points start at 0
        np.testing.assert_allclose(card.get_probabilities(total), card.model.predict_proba(X)[0])

    def test_the_file_keeps_limits_and_bands(self, fitted, tmp_path):
        X, _ = make_table()
        fitted.save(tmp_path / "model.json")
        model = newron.load(tmp_path / "model.json")
        assert model == fitted.model_
        np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))

    def test_what_reads_a_model_reads_it(self, fitted, tmp_path):
        X, y = make_table()
        assert "from 'mild' to 'severe'" in str(fitted.model_)
        explanation = fitted.explain(X[0])
        assert explanation.prediction == fitted.predict(X[:1])[0]
        assert dict(explanation.probabilities).keys() == set(ORDER)
        fitted.importance(X, y)
        fitted.report(tmp_path / "report.html", X, y)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "Otherwise: <bdi>mild</bdi>" in page
        svg = fitted.plot(X, row=X[0]).svg
        assert "at least moderate" in svg

    @pytest.mark.parametrize("target", ORDER)
    def test_a_change_reaches_any_class(self, crisp, target):
        X, _ = make_table()
        row = X[crisp.predict(X) != target][0]
        changes = crisp.explain(row, target=target).changes
        assert changes[0].prediction == target


@pytest.mark.parametrize("rules", [False, True])
class TestExports:
    def test_python_has_the_same_bits(self, fitted, rules):
        model, (X, _) = fitted.model_, make_table()
        names: dict[str, object] = {}
        exec(
            compile(str(model.export("python", rules=rules and model.is_crisp)), "m", "exec"), names
        )
        for row, label, shares in zip(
            X[:40].tolist(), fitted.predict(X[:40]), fitted.predict_proba(X[:40]), strict=True
        ):
            got = names["explain"](dict(zip(model.schema.names, row, strict=True)))
            assert got["prediction"] == label
            assert list(got["probabilities"]) == shares.tolist()

    def test_sql_and_onnx_agree(self, fitted, rules):
        duckdb = pytest.importorskip("duckdb")
        runtime = pytest.importorskip("onnxruntime")
        model, (X, _) = fitted.model_, make_table()
        rules = rules and model.is_crisp
        data = pd.DataFrame(X, columns=model.schema.names)  # noqa: F841 - read by the query
        found = duckdb.sql(model.export("sql", rules=rules).text).df()
        assert found["prediction"].tolist() == fitted.predict(X).tolist()
        session = runtime.InferenceSession(model.export("onnx", rules=rules).content)
        given = {name: X[:, [i]] for i, name in enumerate(model.schema.names)}
        label, shares = session.run(["label", "probabilities"], given)
        assert label.tolist() == fitted.predict(X).tolist()
        np.testing.assert_array_equal(shares, fitted.predict_proba(X))


@parametrize_with_checks([make_estimator("sigmoid")])
def test_check_estimator(estimator, check):
    check(estimator)
