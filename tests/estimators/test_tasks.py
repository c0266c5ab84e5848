"""Objectives of regression, from fit to prediction and back from a file."""

import numpy as np
import pytest
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.utils.estimator_checks import parametrize_with_checks

import newron
from newron import NewronRegressor
from newron.errors import InputError, ModelError
from newron.objectives import read_objective

OBJECTIVES = ["absolute", "huber", "quantile:0.8", "poisson", "gamma", "tweedie"]


@pytest.fixture(scope="module")
def counts():
    """Rates by two columns, exposures, and counts."""
    rng = np.random.default_rng(1000)
    X = rng.normal(size=(2000, 2))
    exposure = rng.uniform(0.2, 3.0, len(X))
    rate = np.exp(0.6 * X[:, 0] - 0.8 * (X[:, 1] > 0.5))
    return X, rng.poisson(rate * exposure).astype(float), exposure, rate


@pytest.fixture(scope="module", params=["sigmoid", "heaviside"])
def poisson(request, counts):
    X, y, exposure, _ = counts
    model = NewronRegressor(
        request.param, objective="poisson", hidden_layer_sizes=(), max_terms=12, random_state=0
    )
    return model.fit(X, y, offset=np.log(exposure))


@pytest.fixture(scope="module")
def quantiles(counts):
    X, y, _, _ = counts
    noisy = y + np.random.default_rng(1001).uniform(size=len(y))
    model = NewronRegressor(
        "sigmoid", objective="quantile:0.1,0.5,0.9", hidden_layer_sizes=(), random_state=0
    )
    return model.fit(X, noisy), X, noisy


@pytest.mark.parametrize("recipe", ["default", "gradient", "grow"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_recipe_learns_every_objective(recipe, objective):
    rng = np.random.default_rng(1002)
    X = rng.uniform(size=(120, 1))
    y = np.exp(1.5 * (X[:, 0] > 0.5)) * rng.gamma(5.0, 0.2, len(X))
    model = NewronRegressor(
        objective=objective,
        recipe=recipe,
        hidden_layer_sizes=(),
        n_init=2,
        max_iter=100,
        max_terms=3,
        random_state=0,
    ).fit(X, y)
    assert model.score(X, y) > 0.3
    assert np.all(model.predict(X) > 0.0)
    assert model.model_.output.objective == read_objective(objective).text


class TestCounts:
    def test_rates_are_found_through_exposures(self, poisson, counts):
        X, y, exposure, rate = counts
        predicted = poisson.predict(X, offset=np.log(exposure))
        np.testing.assert_allclose(predicted, poisson.predict(X) * exposure, rtol=1e-9)
        assert np.corrcoef(np.log(poisson.predict(X)), np.log(rate))[0, 1] > 0.9
        constant = exposure * y.sum() / exposure.sum()
        assert mean_poisson_deviance(y, predicted) < 0.9 * mean_poisson_deviance(y, constant)
        assert poisson.score(X, y, offset=np.log(exposure)) > 0.1

    def test_a_unit_of_exposure_changes_nothing_but_the_unit(self, counts):
        X, y, exposure, _ = counts
        fits = [
            NewronRegressor("sigmoid", objective="poisson", hidden_layer_sizes=()).fit(
                X, y, offset=np.log(unit * exposure)
            )
            for unit in (1.0, 12.0)
        ]
        years, months = (fit.predict(X) for fit in fits)
        np.testing.assert_allclose(years, 12.0 * months, rtol=0.01)

    def test_the_file_keeps_the_link(self, poisson, counts, tmp_path):
        poisson.model_.save(tmp_path / "model.json")
        model = newron.load(tmp_path / "model.json")
        assert model == poisson.model_
        np.testing.assert_array_equal(model.predict(counts[0]), poisson.predict(counts[0]))

    def test_exports_predict_the_same_bits(self, poisson, counts):
        names: dict[str, object] = {}
        exec(compile(str(poisson.model_.export("python")), "model.py", "exec"), names)
        columns = poisson.model_.schema.names
        rows = [dict(zip(columns, row, strict=True)) for row in counts[0][:20].tolist()]
        got = [names["predict"](row) for row in rows]
        np.testing.assert_array_equal(got, poisson.predict(counts[0][:20]))

    def test_what_reads_a_model_reads_it(self, poisson, counts, tmp_path):
        X, y, _, _ = counts
        assert poisson.explain(X[0]).prediction == pytest.approx(poisson.predict(X[:1])[0])
        assert "log(y)" in str(poisson.model_)
        poisson.report(tmp_path / "report.html", X, y)
        poisson.importance(X, y)
        poisson.plot()
        if poisson.model_.is_crisp:
            rules = poisson.rules()
            assert 'Add up for "log(y)"' in rules.to_text()
            assert rules.proof.equal
            np.testing.assert_allclose(rules.predict(X), poisson.predict(X), rtol=1e-9)
            with pytest.raises(ModelError, match="link"):
                poisson.model_.export("sql", rules=rules)

    def test_an_end_is_found_in_units_of_the_target(self, poisson, counts):
        X = counts[0]
        low = X[np.argmin(poisson.predict(X))]
        high = float(np.quantile(poisson.predict(X), 0.9))
        explanation = poisson.explain(low, target=(high, None))
        assert explanation.changes[0].prediction >= high * (1.0 - 1e-9)

    @pytest.mark.parametrize(
        ("objective", "y", "match"),
        [
            ("poisson", [1.0, -1.0], "from 0 on"),
            ("poisson", [0.0, 0.0], "above 0"),
            ("gamma", [1.0, 0.0], "above 0"),
        ],
    )
    def test_targets_that_do_not_fit_are_named(self, objective, y, match):
        with pytest.raises(InputError, match=match):
            NewronRegressor(objective=objective).fit([[0.0], [1.0]], y)

    def test_an_offset_that_does_not_fit_is_named(self, poisson, counts):
        with pytest.raises(InputError, match="offset"):
            poisson.predict(counts[0], offset=[1.0])

    def test_pruning_afterwards_says_why_not(self, poisson, counts):
        with pytest.raises(InputError, match="pruning=True"):
            poisson.prune(counts[0], counts[1])


class TestQuantiles:
    def test_levels_hold_and_never_cross(self, quantiles):
        model, X, y = quantiles
        predicted = model.predict(X)
        assert predicted.shape == (len(X), 3)
        assert np.all(np.diff(predicted, axis=1) >= 0.0)
        np.testing.assert_allclose(
            (y[:, None] <= predicted).mean(axis=0), [0.1, 0.5, 0.9], atol=0.03
        )

    def test_exports_sort_them_too(self, quantiles):
        model, X, _ = quantiles
        names: dict[str, object] = {}
        exec(compile(str(model.model_.export("python")), "model.py", "exec"), names)
        columns = model.model_.schema.names
        for row, want in zip(X[:20].tolist(), model.predict(X[:20]), strict=True):
            got = names["predict"](dict(zip(columns, row, strict=True)))
            np.testing.assert_array_equal(
                list(got.values()) if isinstance(got, dict) else got, want
            )


@pytest.mark.parametrize(
    ("objective", "oracle"),
    [
        ("poisson", PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=1000)),
        ("gamma", GammaRegressor(alpha=0.0, tol=1e-10, max_iter=1000)),
        (
            "tweedie:1.5",
            TweedieRegressor(power=1.5, link="log", alpha=0.0, tol=1e-10, max_iter=999),
        ),
    ],
)
def test_newton_s_steps_find_the_coefficients_of_scikit_learn(objective, oracle):
    rng = np.random.default_rng(1003)
    X = rng.normal(size=(300, 2))
    y = np.exp(0.3 + X @ [0.5, -0.2]) * rng.gamma(3.0, 1.0 / 3.0, len(X)) + 0.01
    weight = rng.uniform(0.5, 2.0, len(X))
    oracle.fit(X, y, sample_weight=weight)
    loss = read_objective(objective)
    design, found = np.column_stack([np.ones(len(X)), X]), np.zeros(3)
    for _ in range(30):
        expansion = loss.expand(y[:, None], (design @ found)[:, None])
        curvature = (weight * expansion.curvature(0, 0))[:, None] * design
        found -= np.linalg.solve(
            design.T @ curvature, design.T @ (weight * expansion.gradient[:, 0])
        )
    np.testing.assert_allclose(found, [oracle.intercept_, *oracle.coef_], atol=1e-4)


def list_failing(estimator):
    """Return the checks that draw negative targets whatever the tags say."""
    if estimator.objective in ("poisson", "gamma", "tweedie:1.5"):
        return {"check_regressor_multioutput": "draws negative targets, which are none"}
    return {}


@parametrize_with_checks(
    [
        # A short network of the absolute error scores just below what one check asks for.
        NewronRegressor(
            "sigmoid", objective=each, hidden_layer_sizes=(), size="whole", random_state=0
        )
        for each in ("absolute", "huber", "quantile:0.5", "poisson", "gamma", "tweedie:1.5")
    ],
    expected_failed_checks=list_failing,
)
def test_check_estimator(estimator, check):
    check(estimator)
