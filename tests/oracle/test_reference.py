"""The core equals the NumPy reference: forward, gradients and whole training runs."""

import numpy as np
import pytest

from newron.objectives import OBJECTIVES
from newron.training.core_trainer import CoreTable, train
from newron.training.recipe import Recipe, get_recipe
from oracle import reference
from oracle.networks import (
    ACTIVATIONS,
    AGGREGATIONS,
    FUNCTIONS,
    LOSSES,
    core_differentiate,
    make_start,
    make_table,
    make_wiring,
)


def compare_gradients(wiring, loss, n_rows=37, blend=1.0, seed=0):
    x, y, weight = make_table(n_rows, wiring.n_channels, loss, seed)
    params = make_start(wiring, x, seed)
    got_loss, got = core_differentiate(wiring, params, x, y, weight, loss, blend)
    double = [a.astype(np.float64) for a in (params, x, y, weight)]
    want_loss, want = reference.differentiate(wiring, *double, loss, blend)
    assert got_loss == pytest.approx(want_loss, rel=2e-5, abs=2e-5)
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-5 * max(1.0, np.abs(want).max()))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_of_every_combination_match(function, aggregation, activation):
    compare_gradients(make_wiring(function, aggregation, activation), "binary")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_of_every_loss_match(function, loss):
    compare_gradients(make_wiring(function, loss=loss), loss)


@pytest.mark.parametrize("factors", [1, 2, 3, 5])
def test_gradients_match_for_any_number_of_factors(factors):
    compare_gradients(make_wiring("tanh_prod", factors=factors), "binary")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_gradients_match_with_several_functions_per_input_and_direct_inputs(function, aggregation):
    wiring = make_wiring(
        function, per_input=3, direct=True, hidden=(2, 3), last_aggregation=aggregation
    )
    compare_gradients(wiring, "binary")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_match_without_a_hidden_layer(function):
    compare_gradients(make_wiring(function, hidden=(), loss="categorical"), "categorical")


@pytest.mark.parametrize("blend", [0.0, 0.3, 1.0])
def test_gradients_match_while_the_sigmoid_turns_into_a_step(blend):
    compare_gradients(make_wiring("heaviside", hidden=(3, 2)), "binary", blend=blend)


@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 300])
def test_gradients_match_for_any_number_of_rows(n_rows):
    compare_gradients(make_wiring("sigmoid"), "binary", n_rows=n_rows)


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f != "heaviside"])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_reference_gradients_match_finite_differences(function, aggregation, loss):
    wiring = make_wiring(function, aggregation, "tanh", loss=loss, direct=True)
    x, y, weight = (a.astype(np.float64) for a in make_table(20, 4, loss))
    params = make_start(wiring, x.astype(np.float32)).astype(np.float64)
    _, gradient = reference.differentiate(wiring, params, x, y, weight, loss)
    numeric = np.zeros_like(params)
    for i in range(len(params)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = params.copy()
            moved[i] += step
            ends.append(reference.differentiate(wiring, moved, x, y, weight, loss)[0])
        numeric[i] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-7)


def compare_runs(wiring, loss, recipe, n_rows=70, tolerance=2e-3):
    x, y, weight = make_table(n_rows, wiring.n_channels, loss)
    start, seed = make_start(wiring, x), 12345
    table = CoreTable(x, y, weight)
    objective = OBJECTIVES[loss](wiring.architecture.layers[-1].n_neurons)
    got = train(wiring, table, recipe, objective, [start], [seed])
    double = (a.astype(np.float64) for a in (x, y, weight))
    want = reference.train(wiring, *double, recipe, loss, start, seed)
    assert got.n_epochs == len(want.history)
    np.testing.assert_allclose(got.loss_curve, want.history, rtol=tolerance)
    np.testing.assert_allclose(got.params, want.params, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("function", ["sigmoid", "tanh_prod", "linear", "selu"])
@pytest.mark.parametrize("schedule", ["constant", "cosine", "one_cycle"])
@pytest.mark.parametrize("monitor", ["epoch", "exact"])
def test_a_whole_run_matches_step_by_step(function, schedule, monitor):
    recipe = Recipe(
        max_iter=15, batch_size=32, schedule=schedule, monitor=monitor, learning_rate_init=0.03
    )
    compare_runs(make_wiring(function, hidden=(3, 2)), "binary", recipe)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_whole_run_matches_for_every_loss(loss):
    recipe = Recipe(max_iter=15, batch_size=16, learning_rate_init=0.03)
    compare_runs(make_wiring("sigmoid", loss=loss), loss, recipe)


def test_a_run_with_frozen_places_matches():
    compare_runs(make_wiring("linear", activation="relu"), "binary", Recipe(max_iter=10))


def test_a_blended_heaviside_run_matches_while_it_is_soft():
    # A step's place in float32 can differ from float64's: compare the soft part.
    recipe = Recipe(max_iter=12, batch_size=64, blend_until=100.0, monitor="epoch")
    compare_runs(make_wiring("heaviside", hidden=(2,)), "binary", recipe)


def test_the_papers_recipe_runs_and_stops_as_told():
    recipe = get_recipe("paper", crisp=False).adjust(n_iter_no_change=12, tol=0.05)
    compare_runs(make_wiring("sigmoid"), "binary", recipe, tolerance=2e-2)
