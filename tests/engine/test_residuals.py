"""What an additive model leaves over."""

import numpy as np

from builders.engine_tables import name_columns, number_classes, one_target, sum_of_curves
from newron.engine import fit
from newron.engine.residuals import measure_rest


def test_a_sum_of_curves_leaves_only_noise():
    X, y, _ = sum_of_curves(3_000)
    assert measure_rest(fit(X, y, number_classes(), name_columns(3)).parts[0]) < 2.0


def test_products_of_three_columns_are_left_over():
    X = np.random.default_rng(1000).normal(size=(3_000, 4))
    y = X[:, :3].prod(axis=1)
    assert measure_rest(fit(X, y, one_target(), name_columns(4)).parts[0]) > 5.0
    three = np.digitize(y, [-0.2, 0.2]).astype(float)
    assert measure_rest(fit(X, three, number_classes(3), name_columns(4)).parts[0]) > 5.0


def test_the_same_rows_have_the_same_rest():
    X, y, _ = sum_of_curves(500)
    part = fit(X, y, number_classes(), name_columns(3)).parts[0]
    assert measure_rest(part) == measure_rest(part)


def test_losses_of_new_rows_are_expected_to_be_higher():
    X, y, z = sum_of_curves(400)
    classes = fit(X, y, number_classes(), name_columns(3))
    assert np.all(classes.expect(np.ones(2)) > 1.0)
    target = fit(X, z + np.random.default_rng(1).normal(size=400), one_target(), name_columns(3))
    assert target.expect(np.array([0.0, 1.0]))[0] == 0.0
    assert target.expect(np.array([0.0, 1.0]))[1] > 1.0
