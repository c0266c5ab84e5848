"""What one passage over the rows finds is what several would."""

import numpy as np
import pytest

from builders.engine_tables import name_columns
from newron.engine import Options, fit
from newron.engine.evidence import Settings, solve
from newron.engine.passage import find_slope, sum_derivatives, try_step
from newron.engine.rows import MemoryRows
from newron.engine.storage import Budget, KeptRows
from newron.model import Classes, Targets


@pytest.fixture(scope="module", params=[Classes(("l", "m", "h")), Targets(("y",))])
def model(request):
    random = np.random.default_rng(0)
    X = random.normal(size=(4_000, 3))
    score = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + random.normal(size=len(X))
    y = np.digitize(score, [-0.5, 1.0]) if isinstance(request.param, Classes) else score
    options = Options(block_rows=700)
    return fit(X, y, request.param, name_columns(3), options=options).parts[0]


def test_a_slope_is_gradient_curvature_and_loss_of_passages_of_their_own(model):
    likelihood, design = model.likelihood, model.design()
    for k in range(model.n_outputs):
        slope = find_slope(design, likelihood, model.scores, k, lost=True)
        gradient, curvature = likelihood.differentiate(model.scores, k)
        assert np.array_equal(slope.downhill, design.project(gradient))
        assert np.array_equal(slope.curvature, design.rows.take(design.sample, curvature))
        assert slope.loss == likelihood.loss(model.scores)
        assert find_slope(design, likelihood, model.scores, k, lost=False).loss is None


def test_a_step_is_tried_as_scores_and_their_loss(model):
    likelihood, design = model.likelihood, model.design()
    step = np.random.default_rng(1).normal(size=design.size)
    for k in range(model.n_outputs):
        scores, lost = try_step(design, likelihood, model.scores, k, step, 0.5)
        moved = [
            start + 0.5 * move
            for start, move in zip(model.scores[k], design.score(step), strict=True)
        ]
        own = [*model.scores[:k], moved, *model.scores[k + 1 :]]
        assert all(map(np.array_equal, scores, moved))
        assert lost == likelihood.loss(own)


def test_derivatives_of_several_outputs_are_summed_together(model):
    design = model.design()
    sums, totals = sum_derivatives(model.likelihood, model.scores, range(model.n_outputs))
    for k, (bins, total) in enumerate(zip(sums, totals, strict=True)):
        values = model.likelihood.differentiate(model.scores, k)
        for found, one in zip(bins, values, strict=True):
            whole = np.concatenate(list(one))
            columns = [np.bincount(code, whole, 256) for code in model.table.codes]
            assert np.allclose(found, columns, rtol=1e-4, atol=1e-2)
        assert total == pytest.approx(float(np.concatenate(list(values[1])).sum()))
    assert design.size > 3


def test_a_newton_step_takes_two_passages_for_each_output(model, monkeypatch):
    run, passages = MemoryRows.run, []

    def count(self, function, *values):
        passages.append(function)
        return run(self, function, *values)

    design, settings = model.design(), Settings(3)
    design.gram(find_slope(design, model.likelihood, model.scores, 0, lost=False).curvature, 0)
    # A dispersion and what else residuals determine take a passage or two of their own.
    further = 2 if model.likelihood.objective.follows else 0
    monkeypatch.setattr(MemoryRows, "run", count)
    solve(design, model.likelihood, model.at, settings)
    assert len(passages) <= model.n_outputs + 3 * (2 * model.n_outputs + further)


def test_values_and_a_sum_are_the_same_in_memory_and_on_disk(model, tmp_path):
    class OnDisk(KeptRows):
        def run(self, function, *values):
            return model.table.rows.run(function, *values)

    def pass_on(block, values):
        return values * 2.0, float(values.sum())

    rows = model.table.rows
    weight = rows.cut(np.random.default_rng(2).random(4_000))
    (one,), total = rows.make_total(1, pass_on, weight)
    (other,), again = OnDisk(rows.sizes, Budget(0, tmp_path), 1).make_total(1, pass_on, weight)
    assert total == again == rows.total(lambda _, values: float(values.sum()), weight)
    assert all(map(np.array_equal, one, other))
