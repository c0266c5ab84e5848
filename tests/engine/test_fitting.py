import numpy as np
import pytest

from builders.engine_tables import (
    measure_loss,
    name_columns,
    number_classes,
    one_target,
    sum_of_curves,
)
from newron.engine import Options, extend, fit, has_pairs
from newron.model import Model
from newron.tables import Field


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = sum_of_curves()
    return fit(X, y, number_classes(), name_columns(3))


# ---- quality ----


def test_curves_are_found_by_few_functions(fitted):
    X, y, z = sum_of_curves(5000, seed=1)
    truth = float(np.mean(np.logaddexp(0.0, z) - y * z))
    assert measure_loss(fitted.model, X, y) < truth + 0.02
    assert fitted.model.n_functions <= 8
    noise = np.linspace([0.0, 0.0, -2.0], [0.0, 0.0, 2.0], 9)
    assert np.ptp(fitted.model.scores(noise)) < 0.5


def test_the_network_is_near_the_additive_model_that_it_is_made_of(fitted):
    X, y, _ = sum_of_curves(2000, seed=2)
    scores = fitted.parts[0].score(X)[:, 0]
    loss = float(np.mean(np.logaddexp(0.0, scores) - y * scores))
    assert abs(measure_loss(fitted.model, X, y) - loss) < 0.005


def test_scores_of_rows_are_those_of_the_curves_in_units_of_the_target(rng):
    X = rng.normal(size=(600, 3))
    y = 1e6 + 1e4 * np.sin(2.0 * X[:, 0]) + 1e3 * rng.normal(size=600)
    found = fit(X, y, one_target(), name_columns(3))
    scores = found.score(np.asfortranarray(X))
    assert np.std(scores[:, 0] - found.model.predict(X)) < 5e2
    assert np.mean(scores) == pytest.approx(1e6, rel=1e-2)


@pytest.mark.parametrize("n_rows", [600, 4000])
def test_pairs_that_are_added_to_curves_are_those_of_a_fit_with_pairs(rng, n_rows):
    X = rng.normal(size=(n_rows, 4))
    score = 2.0 * np.sin(2.0 * X[:, 0]) + 2.0 * X[:, 1] * X[:, 2]
    y = (score + rng.logistic(size=n_rows) > 0.0).astype(float)
    at_once = fit(X, y, number_classes(), name_columns(4))
    curves = fit(X, y, number_classes(), name_columns(4), options=Options(pairs=False))
    before = curves.score(X)
    assert has_pairs(curves)
    later = extend(curves, Options())
    assert later.score(X) == pytest.approx(at_once.score(X), abs=0.2)
    assert np.corrcoef(later.score(X)[:, 0], at_once.score(X)[:, 0])[0, 1] > 0.999
    np.testing.assert_array_equal(curves.score(X), before)


def test_where_columns_add_up_no_pairs_stand_out():
    X, y, _ = sum_of_curves()
    curves = fit(X, y, number_classes(), name_columns(3), options=Options(pairs=False))
    assert not has_pairs(curves)


def test_a_smaller_tolerance_takes_more_functions(fitted):
    sizes = [fitted.compress(t).n_functions for t in (1.0, 0.1, 0.001)]
    assert sizes[0] < sizes[-1]
    assert sizes == sorted(sizes)


def test_many_rows_find_the_same_curves_as_few():
    X, y, _ = sum_of_curves(20_000)
    model = fit(X, y, number_classes(), name_columns(3)).model
    X, y, z = sum_of_curves(5000, seed=1)
    truth = float(np.mean(np.logaddexp(0.0, z) - y * z))
    assert measure_loss(model, X, y) < truth + 0.003


def test_a_product_of_columns_is_found_as_hidden_neurons(rng):
    X = rng.normal(size=(1500, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1500) > 0).astype(float)
    model = fit(X[:1000], y[:1000], number_classes(), name_columns(3)).model
    assert len(model.layers) == 2
    assert np.mean(model.predict(X[1000:]) == y[1000:]) > 0.84


def test_a_jump_is_found_as_a_step(rng):
    X = rng.normal(size=(4000, 2))
    p = np.where(X[:, 0] > 0.5, 0.9, 0.2)
    y = (rng.random(4000) < p).astype(float)
    model = fit(X, y, number_classes(), name_columns(2)).model
    below, above = model.predict_proba(np.array([[0.47, 0.0], [0.53, 0.0]]))[:, 1]
    assert below < 0.3
    assert above > 0.8


@pytest.mark.parametrize("processing", ["smooth", "sigmoid", "tanh_prod"])
def test_the_model_consists_of_the_functions_that_were_asked_for(processing):
    X, y, _ = sum_of_curves()
    options = Options(processing=processing)
    model = fit(X, y, number_classes(), name_columns(3), options=options).model
    kinds = {layer.processing for layer in model.layers}
    if processing != "smooth":
        assert kinds == {processing}
    assert kinds <= {"sigmoid", "tanh_prod"}


def test_several_classes_have_a_score_each(rng):
    X = rng.normal(size=(900, 3))
    y = np.argmax(np.column_stack([X[:, 0], X[:, 1], 0.5 * np.ones(900)]), axis=1).astype(float)
    model = fit(X[:600], y[:600], number_classes(3), name_columns(3)).model
    assert np.mean(model.predict(X[600:]) == y[600:]) > 0.9


def test_targets_are_predicted_in_their_units(rng):
    X = rng.normal(size=(800, 3))
    y = 1e6 + 1e4 * (X[:, 0] + np.sin(2.0 * X[:, 1])) + 2e3 * rng.normal(size=800)
    model = fit(X[:500], y[:500], one_target(), name_columns(3)).model
    left = np.std(model.predict(X[500:]) - y[500:])
    assert left < 2.5e3


def test_several_targets_are_fitted_together(rng):
    X = rng.normal(size=(400, 2))
    y = np.column_stack([X[:, 0], 100.0 * X[:, 1]])
    from newron.model import Targets

    model = fit(X, y, Targets(("a", "b")), name_columns(2)).model
    assert np.std(model.predict(X) - y, axis=0) / y.std(axis=0) == pytest.approx(0.0, abs=0.1)


# ---- rows and their weights ----


def test_a_weight_of_two_is_a_row_twice(rng):
    X, y, _ = sum_of_curves(200)
    weight = rng.integers(0, 4, 200)
    weighed = fit(X, y, number_classes(), name_columns(3), weight=weight.astype(float))
    rows = np.repeat(np.arange(200), weight)
    repeated = fit(X[rows], y[rows], number_classes(), name_columns(3))
    assert weighed.model.scores(X) == pytest.approx(repeated.model.scores(X), abs=0.02)


def test_weights_that_cannot_count_rows_are_scaled():
    X, y, _ = sum_of_curves(300)
    plain = fit(X, y, number_classes(), name_columns(3))
    small = fit(X, y, number_classes(), name_columns(3), weight=np.full(300, 1e-6))
    assert small.model.scores(X) == pytest.approx(plain.model.scores(X), abs=1e-6)


def test_class_weights_move_the_border():
    X, y, _ = sum_of_curves()
    plain = fit(X, y, number_classes(), name_columns(3))
    weighed = fit(X, y, number_classes(), name_columns(3), class_weight=np.array([1.0, 5.0]))
    assert weighed.model.predict(X).mean() > plain.model.predict(X).mean() + 0.05


@pytest.mark.parametrize("n", [300, 9000])
def test_threads_change_no_bit(n):
    X, y, _ = sum_of_curves(n)
    one = fit(X, y, number_classes(), name_columns(3))
    two = fit(X, y, number_classes(), name_columns(3), options=Options(n_threads=2))
    assert one.model == two.model


def test_stages_are_told_and_an_exception_ends_the_fit():
    X, y, _ = sum_of_curves()
    stages = []
    fit(X, y, number_classes(), name_columns(3), options=Options(progress=stages.append))
    assert stages[0] == "curves"
    assert "all pairs" in stages

    def stop(stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(X, y, number_classes(), name_columns(3), options=Options(progress=stop))


# ---- categories and missing values ----


def test_categories_have_a_value_each_and_unseen_ones_that_of_the_mean(rng):
    colour = rng.integers(0, 3, 900)
    y = (rng.random(900) < np.array([0.1, 0.5, 0.9])[colour]).astype(float)
    X = np.column_stack([colour, rng.normal(size=900)]).astype(float)
    fields = (Field("colour", ("red", "green", "blue", "grey")), Field("x"))
    model = fit(X, y, number_classes(), fields).model
    rows = np.column_stack([[0.0, 1.0, 2.0, np.nan], np.zeros(4)])
    odds = model.output.predict_proba(model.score_rows(rows))[:, 1]
    assert odds[:3] == pytest.approx([0.1, 0.5, 0.9], abs=0.08)
    assert 0.3 < odds[3] < 0.7


def test_missing_values_have_a_value_of_their_own(rng):
    X = rng.normal(size=(1000, 2))
    gone = rng.random(1000) < 0.3
    y = (rng.random(1000) < np.where(gone, 0.9, 0.3)).astype(float)
    X[gone, 0] = np.nan
    model = fit(X, y, number_classes(), name_columns(2)).model
    odds = model.predict_proba(np.array([[np.nan, 0.0], [0.0, 0.0]]))[:, 1]
    assert odds == pytest.approx([0.9, 0.3], abs=0.08)
    assert model.schema.columns[0].gaps


def test_where_training_has_no_missing_value_one_counts_as_the_mean():
    X, y, _ = sum_of_curves()
    model = fit(X, y, number_classes(), name_columns(3)).model
    score = model.scores(np.array([[np.nan, np.nan, np.nan]]))[0, 0]
    assert score == pytest.approx(float(model.scores(X).mean()), abs=0.3)


# ---- tables of all kinds ----


def check_sense(model, X, y):
    assert isinstance(model, Model)
    scores = model.scores(X)
    assert np.all(np.isfinite(scores))
    assert np.array_equal(scores, model.scores(X, compiled=False))
    base = np.bincount(y.astype(int)) / len(y)
    assert measure_loss(model, X, y) <= -float(base[base > 0] @ np.log(base[base > 0])) + 1e-3


def test_few_distinct_rows_with_many_copies(rng):
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    X = np.repeat(rows, 500, axis=0)
    y = (rng.random(2000) < np.repeat([0.1, 0.4, 0.6, 0.95], 500)).astype(float)
    model = fit(X, y, number_classes(), name_columns(2)).model
    assert model.predict_proba(rows)[:, 1] == pytest.approx([0.1, 0.4, 0.6, 0.95], abs=0.06)


def test_one_column_decides_all(rng):
    X = rng.normal(size=(300, 4))
    y = (X[:, 2] > 0.3).astype(float)
    model = fit(X, y, number_classes(), name_columns(4)).model
    assert np.mean(model.predict(X) == y) > 0.99
    check_sense(model, X, y)


def test_fifty_classes(rng):
    y = np.arange(1500) % 50
    X = rng.normal(size=(50, 6))[y] * 2.0 + 0.4 * rng.normal(size=(1500, 6))
    model = fit(X[:1000], y[:1000].astype(float), number_classes(50), name_columns(6)).model
    assert np.mean(model.predict(X[1000:]) == y[1000:]) > 0.8


def test_more_columns_than_rows(rng):
    X = rng.normal(size=(400, 1000))
    y = (X[:, :3].sum(axis=1) + rng.normal(size=400) > 0).astype(float)
    model = fit(X[:200], y[:200], number_classes(), name_columns(1000)).model
    assert measure_loss(model, X[200:], y[200:]) < 0.70


def test_a_category_of_five_hundred_levels(rng):
    effect = rng.normal(size=500) * 1.5
    level = rng.integers(0, 500, 8000)
    y = (rng.random(8000) < 1.0 / (1.0 + np.exp(-effect[level]))).astype(float)
    X = level[:, None].astype(float)
    fields = (Field("c", tuple(f"level {i}" for i in range(500))),)
    model = fit(X[:6000], y[:6000], number_classes(), fields).model
    scores = model.score_rows(np.arange(500.0)[:, None])[:, 0]
    assert np.corrcoef(scores, effect)[0, 1] > 0.75
    odds = model.output.predict_proba(model.score_rows(X[6000:]))
    loss = -np.log(odds[np.arange(2000), y[6000:].astype(int)]).mean()
    assert loss < 0.62


def test_one_class_is_nearly_all(rng):
    X = rng.normal(size=(1000, 3))
    y = (np.arange(1000) < 10).astype(float)
    check_sense(fit(X, y, number_classes(), name_columns(3)).model, X, y)


def test_integers_with_many_ties(rng):
    X = rng.integers(0, 4, (1500, 5)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=1500) > 7.5).astype(float)
    check_sense(fit(X, y, number_classes(), name_columns(5)).model, X, y)


def test_units_of_columns_do_not_matter():
    X, y, _ = sum_of_curves(400)
    units = np.array([1e-9, 1e9, 1e-250])
    plain = fit(X, y, number_classes(), name_columns(3)).model
    scaled = fit(X * units, y, number_classes(), name_columns(3)).model
    assert scaled.scores(X * units) == pytest.approx(plain.scores(X), abs=1e-3)


def test_duplicated_columns_share_a_curve():
    X, y, _ = sum_of_curves(400)
    doubled = np.column_stack([X, X[:, 0], X[:, 0]])
    once = fit(X, y, number_classes(), name_columns(3)).model
    twice = fit(doubled, y, number_classes(), name_columns(5)).model
    assert measure_loss(twice, doubled, y) == pytest.approx(measure_loss(once, X, y), abs=0.02)


def test_heavy_tails(rng):
    X = np.exp(5.0 * rng.normal(size=(500, 3))) * np.sign(rng.normal(size=(500, 3)))
    y = (X[:, 0] > 0).astype(float)
    model = fit(X, y, number_classes(), name_columns(3)).model
    assert np.mean(model.predict(X) == y) > 0.97


@pytest.mark.parametrize("n", [2, 3, 8])
def test_hardly_any_rows(n, rng):
    X, y = rng.normal(size=(n, 3)), (np.arange(n) % 2).astype(float)
    check_sense(fit(X, y, number_classes(), name_columns(3)).model, X, y)


def test_columns_that_say_nothing():
    X, y, _ = sum_of_curves(300)
    X = np.column_stack([X, np.full(300, 7.0), np.full(300, np.nan)])
    model = fit(X, y, number_classes(), name_columns(5)).model
    assert not np.any(np.isin(model.layers[-1].source, [3, 4]))


def test_a_constant_target(rng):
    X = rng.normal(size=(50, 2))
    model = fit(X, np.full(50, 5.0), one_target(), name_columns(2)).model
    assert model.predict(X) == pytest.approx(np.full(50, 5.0))


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e5, 1e80])
@pytest.mark.parametrize("processing", ["smooth", "heaviside"])
def test_the_unit_of_a_target_changes_its_unit_alone(rng, processing, unit, request):
    if unit == 1e-300 and processing == "smooth":
        reason = "near the least normal numbers one row of 300 is .034 away"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=False))
    X = rng.normal(size=(300, 3))
    y = np.sin(2 * X[:, 0]) + (X[:, 1] > 0.3) + rng.normal(size=300) * 0.3
    options = Options(processing)
    model = fit(X, y, one_target(), name_columns(3), options=options).model
    other = fit(X, y * unit, one_target(), name_columns(3), options=options).model
    atol = 0.02 if unit == 1e-300 else 1e-9
    np.testing.assert_allclose(other.predict(X) / unit, model.predict(X), atol=atol)


def test_a_class_that_no_row_has(rng):
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(float)
    model = fit(X, y, number_classes(3), name_columns(2)).model
    assert set(model.predict(X).tolist()) <= {0, 1}


# ---- what the rest of the library does with it ----


def test_the_model_is_saved_and_loaded_without_loss(fitted, tmp_path):
    from newron.model import load

    fitted.model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == fitted.model


def test_the_model_is_read_and_exported(fitted):
    assert "x1" in str(fitted.model)
    assert fitted.model.shapes()
    assert "def " in str(fitted.model.export("python"))


# ---- steps ----


def test_heaviside_is_a_network_of_steps(rng):
    X, y, _ = sum_of_curves()
    model = fit(X, y, number_classes(), name_columns(3), options=Options("heaviside")).model
    assert [layer.processing for layer in model.layers] == ["heaviside"]
    test, labels, z = sum_of_curves(3000, seed=1)
    truth = float(np.mean(np.logaddexp(0.0, z) - labels * z))
    assert measure_loss(model, test, labels) < truth + 0.05


def test_steps_lie_between_values_at_short_decimals(rng):
    X = rng.integers(0, 10, (500, 1)).astype(float)
    y = (rng.random(500) < np.where(X[:, 0] >= 6.0, 0.9, 0.1)).astype(float)
    model = fit(X, y, number_classes(), name_columns(1), options=Options("heaviside")).model
    layer = model.layers[-1]
    strongest = int(np.argmax(np.abs(layer.alpha)))
    assert layer.b[strongest, 0] == 5.5


def test_categories_and_missing_values_become_sets_of_steps(rng):
    colour = rng.integers(0, 4, 1200).astype(float)
    p = np.array([0.1, 0.1, 0.9, 0.9])[colour.astype(int)]
    colour[::5] = np.nan
    p[::5] = 0.5
    y = (rng.random(1200) < p).astype(float)
    fields = (Field("colour", ("red", "green", "blue", "grey")),)
    found = fit(colour[:, None], y, number_classes(), fields, options=Options("heaviside"))
    rows = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan]])
    odds = found.model.output.predict_proba(found.model.score_rows(rows))[:, 1]
    assert odds == pytest.approx([0.1, 0.1, 0.9, 0.9, 0.5], abs=0.1)
    assert found.model.n_functions <= 3
    assert found.model.rules()


def test_heaviside_has_corners_for_what_two_columns_do_together(rng):
    X = np.column_stack([rng.normal(size=6000), rng.integers(0, 3, 6000)])
    X[:600, 0] = np.nan
    slope = np.array([-2.0, 0.0, 2.0])[X[:, 1].astype(int)]
    z = np.where(np.isnan(X[:, 0]), 0.0, X[:, 0]) * slope
    y = (rng.random(6000) < 1.0 / (1.0 + np.exp(-z))).astype(float)
    fields = (Field("x"), Field("colour", ("red", "green", "blue")))
    apart, both = (
        fit(X, y, number_classes(), fields, options=Options("heaviside", pairs=pairs)).model
        for pairs in (False, True)
    )
    hidden, last = both.layers
    assert set(np.bincount(hidden.target)) == {2}
    assert last.b[last.source >= 2] == pytest.approx(1.5)
    truth = float(np.mean(np.logaddexp(0.0, z) - y * z))
    losses = [
        float(np.mean(np.logaddexp(0.0, score) - y * score))
        for score in (model.score_rows(X)[:, 0] for model in (apart, both))
    ]
    assert losses[0] > truth + 0.1
    assert losses[1] < truth + 0.02
    assert both.rules()


# ---- directions ----


@pytest.mark.parametrize("processing", ["smooth", "heaviside"])
@pytest.mark.parametrize("n", [400, 4000])
def test_directions_are_kept(processing, n):
    X, y, _ = sum_of_curves(n)
    options = Options(processing, directions=(1, -1, 0))
    model = fit(X, y, number_classes(), name_columns(3), options=options).model
    for column, sign in ((0, 1.0), (1, -1.0)):
        rows = np.zeros((300, 3))
        rows[:, column] = np.linspace(-6.0, 6.0, 300)
        assert np.all(sign * np.diff(model.scores(rows)[:, 0]) >= 0.0)
    assert measure_loss(model, X, y) < 0.55


def test_a_direction_that_the_rows_have_anyway_costs_nothing():
    X, y, _ = sum_of_curves()
    free = fit(X, y, number_classes(), name_columns(3)).model
    options = Options(directions=(1, 0, 0))
    held = fit(X, y, number_classes(), name_columns(3), options=options).model
    assert measure_loss(held, X, y) < measure_loss(free, X, y) + 0.02


# ---- uncertainty, and shorter networks ----


def test_the_bands_of_scores_hold_the_truth_as_often_as_they_should():
    inside = []
    for seed in range(5):
        X, y, _ = sum_of_curves(1500, seed=seed)
        found = fit(X, y, number_classes(), name_columns(3))
        test, _, z = sum_of_curves(500, seed=100 + seed)
        away = np.abs(found.parts[0].score(test)[:, 0] - z)
        inside.append(np.mean(away < 1.96 * found.deviation(test)[:, 0]))
    assert 0.85 < np.mean(inside) <= 1.0


def draw_curves(n, seed):
    """Return rows of five columns, classes, and the true curves: a wave, lines, nothing, a step."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    curves = [lambda x: 1.2 * np.sin(2 * x), lambda x: 0.8 * x, lambda x: 0.0 * x,
              lambda x: 0.6 * (x > 0.3), lambda x: 0.3 * x]  # fmt: skip
    z = sum(curve(x) for curve, x in zip(curves, X.T, strict=True))
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-z))).astype(float), curves


def measure_coverage(n, seed):
    """Return for each curve the part of the rows at which its band of 90 % holds the truth."""
    X, y, curves = draw_curves(n, seed)
    found = fit(X, y, number_classes(), name_columns(5), options=Options(pairs=False))
    parts = []
    for c, curve in enumerate(curves):
        band, bins = found.band(c), found.parts[0].table.columns[c]
        away = band.curve - curve(band.values)
        away -= bins.fraction @ away  # a curve's mean is the constant's
        parts.append(bins.fraction @ (np.abs(away) < 1.645 * band.deviation))
    return parts


@pytest.mark.parametrize(("n", "least"), [(60, 0.84), (100, 0.86), (300, 0.86)])
def test_the_bands_of_curves_hold_the_truth_on_few_rows(n, least):
    inside = np.mean([measure_coverage(n, 2000 + seed) for seed in range(30)], axis=0)
    assert least < inside.mean() < 0.98
    assert inside.min() > 0.57  # of the wave, which needs most rows


def test_the_band_of_a_curve_is_wider_where_rows_are_few(fitted):
    band = fitted.band(0)
    assert band.missing is None
    assert len(band.values) == len(band.curve) == len(band.deviation)
    middle = np.abs(band.values) < 0.5
    assert band.deviation[middle].mean() < band.deviation[[0, -1]].mean()


def test_the_path_goes_from_short_to_near(fitted):
    X, y, _ = sum_of_curves()
    models = fitted.path()
    sizes = [model.n_functions for model in models]
    assert sizes == sorted(set(sizes))
    losses = [measure_loss(model, X, y) for model in models]
    assert losses[-1] == pytest.approx(measure_loss(fitted.model, X, y), abs=0.01)


def test_wide_tables_find_columns_that_matter_only_together():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 160))
    z = 2.0 * X[:, 7] * X[:, 110] + X[:, 3]
    y = (rng.random(3000) < 1.0 / (1.0 + np.exp(-z))).astype(float)
    model = fit(X, y, number_classes(), name_columns(160)).model
    hidden = model.layers[0]
    assert set(hidden.source.tolist()) == {7, 110}
    new = rng.normal(size=(2000, 160))
    truth = 2.0 * new[:, 7] * new[:, 110] + new[:, 3]
    assert np.corrcoef(model.score_rows(new)[:, 0], truth)[0, 1] > 0.95
