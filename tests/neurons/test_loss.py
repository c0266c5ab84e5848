"""Losses of one's own: defined, trained by every recipe, saved as data, and read by whoever."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.changes import find_changes
from neurons.formulas import draw_term
from newron import NewronClassifier, NewronRegressor, load
from newron.errors import DefinitionError, InputError, ModelError, ModelFileError
from newron.model import Classes, Model, Targets
from newron.neurons import exp, log, maximum, minimum, objective, sigmoid
from newron.neurons.builtin import LOSSES
from newron.neurons.loss import Loss
from newron.objectives import (
    Absolute,
    Binary,
    Formula,
    FormulaClasses,
    Gamma,
    Huber,
    Poisson,
    Quantile,
    Squared,
    TargetScale,
    Tweedie,
)


@objective
def my_huber(score, target, bend=1.345):
    """Squared for small errors, straight for large ones."""
    inside = minimum(abs(score - target), bend)
    return inside * (abs(score - target) - 0.5 * inside)


@objective
def cauchy(score, target, width=1.0):
    return log(1.0 + ((score - target) / width) ** 2)


@objective(inverse_link=exp, targets=(0.0, float("inf")))
def counts(score, target):
    return exp(score) - target * score


def soften(x):
    return maximum(x, 0.0) + log(1.0 + exp(-abs(x)))


@objective(inverse_link=soften, targets=(0.0, float("inf")))
def soft_counts(score, target):
    mean = soften(score)
    return mean - target * log(mean + 1e-9)


@objective(inverse_link=sigmoid)
def my_log_loss(score, target):
    return maximum(score, 0.0) + log(1.0 + exp(-abs(score))) - target * score


@objective(inverse_link=sigmoid)
def boosting(score, target):
    return exp((0.5 - target) * score)


ADDITIVE = {"hidden_layer_sizes": (), "random_state": 0}
# The same losses in the core's and NumPy's own words.
TWINS = {
    "binary": (Binary(), {}),
    "squared": (Squared(), {}),
    "huber": (Huber(epsilon=1.345), {"bend": 1.345}),
    "quantile": (Quantile(levels=(0.3,), width=0.4), {"level": 0.3, "width": 0.4}),
    "absolute": (Absolute(width=0.4), {"width": 0.4}),
    "poisson": (Poisson(), {}),
    "gamma": (Gamma(), {}),
    "tweedie": (Tweedie(power=1.3), {"power": 1.3}),
}


def draw_rows(loss, n=200):
    rng = np.random.default_rng(3)
    scores = rng.normal(scale=2.0, size=(n, 1))
    if loss.targets == (0.0, 1.0):
        return rng.integers(0, 2, (n, 1)).astype(float), scores
    return (
        rng.gamma(2.0, size=(n, 1)) if loss.targets[0] == 0.0 else rng.normal(size=(n, 1))
    ), scores


def make_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    truth = 1000.0 + 30.0 * np.sin(2.0 * X[:, 0]) + 10.0 * X[:, 1]
    y = truth + 3.0 * rng.normal(size=n)
    y[::10] += 300.0 * rng.normal(size=len(y[::10]))
    return X, y, truth


def make_classes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 1.0, "yes", "no")


def measure_error(model, X, truth):
    return np.sqrt(np.mean((model.predict(X) - truth) ** 2)) / truth.std()


class TestBuiltIn:
    def test_every_loss_of_newron_is_in_the_language(self):
        assert set(LOSSES) == set(TWINS)

    @pytest.mark.parametrize("name", TWINS)
    def test_value_gradient_and_curvature_are_those_of_its_kernel(self, name):
        kernel, given_settings = TWINS[name]
        loss = LOSSES[name](**given_settings)
        own = (FormulaClasses if name == "binary" else Formula)(definition=loss)
        targets, scores = draw_rows(loss)
        np.testing.assert_allclose(
            own.loss(targets, scores), kernel.loss(targets, scores), rtol=1e-12, atol=1e-13
        )
        got, want = own.expand(targets, scores), kernel.expand(targets, scores)
        np.testing.assert_allclose(got.gradient, want.gradient, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(got.curvature(0, 0), want.curvature(0, 0), rtol=1e-8)

    @pytest.mark.parametrize("name", TWINS)
    def test_predictions_of_a_score_are_those_of_its_kernel(self, name):
        scores = np.linspace(-5.0, 5.0, 11)[:, None]
        own = LOSSES[name].inverse_link.value(scores)
        np.testing.assert_allclose(own, TWINS[name][0].inverse_link(scores), rtol=1e-14)


class TestDefinition:
    def test_settings_are_changed_by_a_call(self):
        assert my_huber(bend=2.0).text == "my_huber(bend=2)"
        assert my_huber.text == "my_huber(bend=1.345)"
        assert float(my_huber(bend=2.0).value(np.array(5.0), np.array(0.0))) == 8.0

    def test_it_knows_whether_the_error_is_all_that_counts(self):
        assert my_huber.of_error
        assert cauchy.of_error
        assert not counts.of_error

    def test_links_are_known_by_their_formula(self):
        assert [each.link for each in (my_huber, counts, soft_counts)] == [
            "identity",
            "log",
            "formula",
        ]

    @pytest.mark.parametrize(
        ("function", "link", "match"),
        [
            (lambda s, t: (s - t) ** 2, None, "define it with def"),
            ("def f(score): return score * score", None, r"expected \(score, target\)"),
            ("def f(score, target, a): return score * a", None, "settings with numbers as default"),
            ("def f(score, target, a='x'): return score", None, "number within"),
            ("def f(score, target): return score / target", None, "divisor that is never 0"),
            ("def f(score, target): return 2.0 * score - target", None, "slope 2 everywhere"),
            ("def f(score, target): return target * target", None, "slope 0 everywhere"),
            ("def f(score, target): return (score - target) ** 2", abs, "proved to rise"),
            ("def huber(score, target): return (score - target) ** 2", None, "name of its own"),
        ],
    )
    def test_what_is_no_loss_says_why(self, function, link, match):
        if isinstance(function, str):
            space: dict = {}
            exec(function, space)
            function = next(each for name, each in space.items() if name != "__builtins__")
        with pytest.raises(DefinitionError, match=match):
            objective(inverse_link=link)(function)

    @pytest.mark.parametrize(("given", "match"), [({"b": 1.0}, "bend"), ({"bend": "x"}, "number")])
    def test_wrong_settings_say_what_there_is(self, given, match):
        with pytest.raises(DefinitionError, match=match):
            my_huber(**given)


class TestDerivatives:
    @given(st.randoms(use_true_random=False))
    @settings(max_examples=25, deadline=None)
    def test_random_losses_have_the_slope_of_finite_differences(self, random):
        def drawn(score, target):
            return draw_term(random, [score, target, score - target]) + (score - target) ** 2

        own = Formula(definition=objective(drawn))
        rng = np.random.default_rng(0)
        targets, scores = rng.normal(size=(2, 40, 1))
        ahead, behind = (own.loss(targets, scores + step) for step in (1e-6, -1e-6))
        got = own.expand(targets, scores).gradient[:, 0]
        close = np.abs(got - (ahead - behind) / 2e-6) <= 1e-4 * (1.0 + np.abs(got))
        assert close.mean() >= 0.9  # random formulas have kinks and steps

    @pytest.mark.parametrize("loss", [my_huber, cauchy, counts, soft_counts, LOSSES["absolute"]])
    def test_scales_change_the_units_of_the_scores_and_nothing_else(self, loss):
        targets, scores = draw_rows(loss)
        scale = TargetScale(np.array([0.4]), np.array([2.5]))
        plain = Formula(definition=loss)
        moved = plain.settle(scale)
        got = moved.loss(moved.scale_targets(targets, scale), scale.apply(scores))
        np.testing.assert_allclose(got, plain.loss(targets, scores), rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("loss", [my_huber, cauchy, counts, soft_counts])
    def test_the_curvature_is_above_zero_everywhere(self, loss):
        targets, scores = draw_rows(loss)
        assert np.all(Formula(definition=loss).expand(targets, 5.0 * scores).curvature(0, 0) > 0.0)

    @pytest.mark.parametrize("loss", [my_huber, counts, soft_counts])
    def test_perfect_scores_explain_everything(self, loss):
        targets, _ = draw_rows(loss)
        own, weight = Formula(definition=loss), np.ones(len(targets))
        perfect = own.link(targets)
        assert own.evaluate(targets, perfect, weight) == pytest.approx(1.0, abs=1e-6)
        start = np.broadcast_to(own.start_scores(targets, weight), targets.shape)
        assert own.evaluate(targets, start, weight) == pytest.approx(0.0, abs=1e-9)


class TestTraining:
    @pytest.mark.parametrize(
        ("kind", "recipe"),
        [("sigmoid", "default"), ("sigmoid", "gradient"), ("heaviside", "grow")],
    )
    def test_outliers_do_not_rule_a_robust_loss(self, kind, recipe):
        X, y, truth = make_table()
        shared = {"recipe": recipe, "max_terms": 8, "random_state": 0}
        model = NewronRegressor(kind, objective=my_huber(bend=4.0), **shared)
        plain = NewronRegressor(kind, **shared).fit(X, y)
        own = measure_error(model.fit(X, y), X, truth)
        assert own < 0.6 * measure_error(plain, X, truth)
        assert own < 0.35

    def test_huber_is_trained_as_the_built_in_one_is(self):
        X, y, truth = make_table()
        own = NewronRegressor("sigmoid", objective=my_huber(bend=4.0), **ADDITIVE).fit(X, y)
        built_in = NewronRegressor("sigmoid", objective="huber", **ADDITIVE).fit(X, y)
        apart = np.abs(own.predict(X) - built_in.predict(X)).mean()
        assert apart < 0.05 * truth.std()

    def test_a_loss_without_convexity_is_trained(self):
        X, y, truth = make_table()
        model = NewronRegressor("sigmoid", objective=cauchy(width=4.0), **ADDITIVE).fit(X, y)
        assert measure_error(model, X, truth) < 0.1

    @pytest.mark.parametrize("loss", [counts, soft_counts])
    def test_counts_are_predicted_by_their_mean(self, loss):
        rng = np.random.default_rng(1)
        X = rng.uniform(-1.0, 1.0, (800, 1))
        mean = np.exp(1.0 + X[:, 0])
        y = rng.poisson(mean).astype(float)
        model = NewronRegressor("sigmoid", objective=loss, **ADDITIVE).fit(X, y)
        assert np.all(model.predict(X) > 0.0)
        assert np.abs(model.predict(X) / mean - 1.0).mean() < 0.1
        built_in = NewronRegressor("sigmoid", objective="poisson", **ADDITIVE).fit(X, y)
        assert model.score(X, y) == pytest.approx(built_in.score(X, y), abs=0.01)

    @pytest.mark.parametrize("recipe", ["default", "gradient"])
    def test_log_loss_in_the_language_trains_the_network_of_log_loss(self, recipe):
        X, y = make_classes()
        shared = {"recipe": recipe, "hidden_layer_sizes": (), "random_state": 0}
        own = NewronClassifier("sigmoid", objective=my_log_loss, **shared).fit(X, y)
        plain = NewronClassifier("sigmoid", **shared).fit(X, y)
        np.testing.assert_allclose(own.predict_proba(X), plain.predict_proba(X), atol=1e-4)

    def test_log_loss_in_the_language_grows_as_good_conditions(self):
        X, y = make_classes()
        shared = {"recipe": "grow", "max_terms": 6, "random_state": 0}
        own = NewronClassifier(objective=my_log_loss, **shared).fit(X, y)
        plain = NewronClassifier(**shared).fit(X, y)
        assert own.best_loss_ == pytest.approx(plain.best_loss_, abs=0.03)
        assert own.score(X, y) > 0.75

    def test_several_targets_have_a_scale_each(self):
        X, y, truth = make_table()
        both = np.stack([y, 1e-3 * y], axis=1)
        model = NewronRegressor(
            "sigmoid", objective=cauchy(width=4.0), recipe="gradient", random_state=0
        ).fit(X, both)
        assert measure_error_of(model.predict(X)[:, 0], truth) < 0.35

    def test_the_same_seed_gives_the_same_model_in_any_number_of_threads(self):
        X, y, _ = make_table(300)
        models = [
            NewronRegressor(
                "sigmoid", objective=my_huber, recipe="gradient", n_jobs=n, random_state=0
            ).fit(X, y)
            for n in (1, 2)
        ]
        assert models[0].model_ == models[1].model_

    @pytest.mark.parametrize(
        ("estimator", "y", "match"),
        [
            (NewronRegressor(objective=counts), [-1.0, 2.0, 3.0, 4.0], "targets from 0"),
            (NewronClassifier(objective=my_huber), [0, 1, 0, 1], "inverse link sigmoid"),
            (NewronClassifier(objective=my_log_loss), [0, 1, 2, 1], "two classes"),
        ],
    )
    def test_what_does_not_fit_is_one_clear_error(self, estimator, y, match):
        with pytest.raises(InputError, match=match):
            estimator.fit([[0.0], [1.0], [2.0], [3.0]], y)

    def test_an_offset_needs_a_loss_of_the_error(self):
        X, y, _ = make_table(100)
        with pytest.raises(InputError, match="score - target alone"):
            NewronRegressor(objective=counts).fit(X, np.abs(y), offset=np.zeros(100))


def measure_error_of(predicted, truth):
    return np.sqrt(np.mean((predicted - truth) ** 2)) / truth.std()


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (300, 2))
    y = rng.poisson(np.exp(1.0 + X[:, 0])).astype(float)
    return NewronRegressor("sigmoid", objective=soft_counts, **ADDITIVE).fit(X, y), X


class TestFile:
    @pytest.mark.parametrize("loss", [my_huber(bend=2.0), counts, soft_counts])
    def test_a_definition_is_read_as_it_was_written(self, loss):
        assert Loss.from_dict(json.loads(json.dumps(loss.to_dict()))) == loss

    def test_a_process_that_never_saw_the_loss_predicts_the_same(self, fitted, tmp_path):
        model, _ = fitted
        model.save(tmp_path / "counts.json")
        program = "import newron, sys; print(newron.load(sys.argv[1]).predict([[0.3, 0.4]])[0])"
        command = [sys.executable, "-c", program, str(tmp_path / "counts.json")]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert float(done.stdout) == model.predict([[0.3, 0.4]])[0]
        assert load(tmp_path / "counts.json") == model.model_
        assert "soft_counts" in model.model_.output.objective

    def test_classes_keep_their_loss(self, tmp_path):
        X = [[0.0], [1.0], [2.0], [3.0]] * 5
        y = [0, 0, 1, 1] * 5
        model = NewronClassifier("sigmoid", objective=boosting, random_state=0).fit(X, y)
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert isinstance(again.output, Classes)
        assert again.output.loss == boosting

    @pytest.mark.parametrize(
        "change",
        [
            {"formula": ["__import__", "os"]},
            {"formula": "z"},
            {"settings": {"bend": "1"}},
            {"inverse link": ["*", "score", "score"]},
            {"low": "0"},
            {"low": 5.0, "high": 1.0},
            {"code": 1},
            {"name": "a b"},
            {"formula": ["/", "score", "target"]},
        ],
    )
    def test_a_damaged_definition_is_one_clear_error(self, fitted, change):
        document = fitted[0].model_.to_dict()
        document["output"]["loss"] |= change
        with pytest.raises(ModelFileError) as caught:
            Model.from_dict(document)
        assert "\n" not in str(caught.value)

    def test_a_link_without_its_loss_is_refused(self, fitted):
        document = fitted[0].model_.to_dict()
        del document["output"]["loss"]
        document["output"]["link"] = "formula"
        with pytest.raises(ModelError, match="link"):
            Model.from_dict(document)


class TestReaders:
    def test_python_predicts_the_same_bits(self, fitted):
        model, X = fitted
        space: dict = {"__name__": "exported"}
        exec(model.model_.export("python").text, space)
        found = [space["predict"](row) for row in X[:50].tolist()]
        np.testing.assert_array_equal(np.ravel(found), model.predict(X[:50]))

    def test_sql_predicts_the_same(self, fitted):
        duckdb = pytest.importorskip("duckdb")
        pytest.importorskip("sqlglot")
        model, X = fitted
        with duckdb.connect() as database:
            database.execute("CREATE TABLE data (x1 DOUBLE, x2 DOUBLE)")
            database.executemany("INSERT INTO data VALUES (?, ?)", X[:50].tolist())
            table = database.execute(model.model_.export("sql", dialect="duckdb").text)
            last = [row[-1] for row in table.fetchall()]
        np.testing.assert_allclose(np.sort(last), np.sort(model.predict(X[:50])), rtol=1e-13)

    def test_pages_changes_and_shapes_are_made(self, fitted, tmp_path):
        model, X = fitted
        assert "score of y" in str(model.model_)
        model.report(tmp_path / "page.html", X, model.predict(X))
        assert (tmp_path / "page.html").stat().st_size > 1000
        found = find_changes(model.model_, X[:1], target=(6.0, None))
        assert "6" in str(found)

    def test_scores_are_found_from_predictions(self):
        output = Targets(("y",), "formula", soft_counts.text, soft_counts)
        for value in (0.01, 0.5, 3.0):
            score = output.find_score(value)
            assert output.transform(np.array([[score]]))[0, 0] == pytest.approx(value)
        assert output.find_score(-1.0) == -np.inf
        assert output.find_score(1e9) == np.inf

    def test_pruning_and_rules_keep_the_loss(self):
        X, _, _ = make_table(100)
        truth, own = 1000.0 + 30.0 * (X[:, 0] > 0.1), my_huber(bend=4.0)
        y = truth + np.random.default_rng(0).normal(size=100)
        model = NewronRegressor(objective=own, recipe="grow", max_terms=2, **ADDITIVE)
        small = model.fit(X, y).prune(X, y)
        assert small.model_.output.objective == "my_huber(bend=4)"
        assert measure_error(small, X, truth) < 0.3
        assert "x1 ≥" in str(small.rules())
