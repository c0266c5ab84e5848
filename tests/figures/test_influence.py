"""Influence of functions: the fast way agrees with holding them one by one."""

import numpy as np
import pytest

from figures.networks import draw_any, make_card, make_patients
from newron.explanations.importance import hold_functions, measure_importance
from newron.figures.influence import measure_influence, measure_together
from newron.model import Classes
from newron.model.network import trace_signals


@pytest.mark.parametrize("seed", range(24))
def test_influence_is_what_dropping_a_function_changes(seed):
    model, table = draw_any(seed)
    rows = np.asarray(model.read(table), float)[:60]
    found = np.concatenate(measure_influence(model, rows))
    dropped = [one.value for one in measure_importance(model, table[:60], kind="drop").functions]
    if isinstance(model.output, Classes):
        assert found == pytest.approx(np.array(dropped), abs=1e-12)
    elif model.output.n_scores == 1:
        spread = model.score_rows(rows)[:, 0].std()
        expected = np.array(dropped) / spread if spread else np.zeros(len(dropped))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_functions_are_held_together():
    model, table = make_card(), make_patients()
    rows = np.asarray(model.read(table), float)
    found = measure_together(model, rows, [0, 1])
    held = hold_functions(model, {(0, 0): 0.0, (0, 1): 0.0})
    wider = np.concatenate([rows, np.zeros((len(rows), 1))], axis=1)
    changed = model.output.choose(model.score_rows(rows)) != held.output.choose(
        held.score_rows(wider)
    )
    assert 0.0 < found == pytest.approx(changed.mean())


@pytest.mark.parametrize("seed", range(6))
def test_the_last_neurons_are_the_scores(seed):
    model, table = draw_any(seed)
    rows = np.asarray(model.read(table), float)
    signals = trace_signals(model.schema, model.layers, rows)
    n_neurons = sum(layer.n_neurons for layer in model.layers)
    assert signals.shape[1] == rows.shape[1] + n_neurons
    assert np.array_equal(signals[:, -model.output.n_scores :], model.score_rows(rows))
