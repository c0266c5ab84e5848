"""Growing terms on ranks."""

from dataclasses import fields, replace

import numpy as np
import pytest

from builders.training import LOSSES, keep_order, make_context, make_part
from newron import _core
from newron.objectives import Binary, Squared
from newron.tables.field import Field
from newron.training.callbacks import Callback
from newron.training.crisp import CrispShape
from newron.training.folds import Fold, split_folds
from newron.training.growing import GrowPlan, count_conditions, evaluate_terms, grow, grow_short
from newron.training.ranking import Ranking
from oracle import crisp as naive
from training.networks import list_core, make_task


class Steps(Callback):
    def __init__(self):
        self.steps = []

    def on_progress(self, progress):
        self.steps.append(progress.step)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
class TestGrow:
    def test_the_histograms_find_the_best_term_of_brute_force(self, loss, seed):
        task, _ = make_task(loss, seed=seed)
        plan = GrowPlan(max_terms=10, max_conditions=2, ridge=1.0, least_weight=3.0)
        settings = plan.for_core()
        settings.beam = 0  # conditions and windows alone, as the naive way
        t = task.table
        grower = _core.Grower(t.for_core(task.ranking), settings, 1)
        targets, weight = list_core(task)
        for _ in range(4):
            scores = CrispShape.from_core(grower.shape(), task.ranking).score(t.ranks)
            slope, curve = naive.slopes(loss, scores, targets, weight)
            want = naive.best_term(
                t.ranks, task.ranking.n_bins, slope, curve, weight, 1.0, 3.0, 0.1
            )
            gain, conditions, _, _ = grower.find_best()
            assert gain / (1 + 0.1 * (len(conditions) - 1)) == pytest.approx(want, rel=1e-9)
            grower.grow()

    def test_other_rows_are_scored_as_by_the_shape(self, loss, seed):
        task, _ = make_task(loss, seed=seed)
        grower = task.start(GrowPlan(max_terms=10, max_conditions=3))
        for _ in range(6):
            grower.grow()
        n_rows = task.table.ranks.shape[1]
        some = task.take(make_part(np.arange(0, n_rows, 3)))
        shape = CrispShape.from_core(grower.shape(), task.ranking)
        found = grower.score(some.table.for_core(task.ranking))
        assert found == pytest.approx(some.score(shape), rel=1e-12, abs=1e-12)
        other, _ = make_task(loss, seed=seed)
        fewer = Ranking(*(getattr(other.ranking, f.name)[:-1] for f in fields(Ranking)))
        ranks = np.ascontiguousarray(other.table.ranks[:-1])
        with pytest.raises(ValueError, match="other columns"):
            grower.score(replace(other.table, ranks=ranks).for_core(fewer))

    def test_no_term_raises_what_is_minimised(self, loss, seed):
        task, _ = make_task(loss, seed=seed)
        plan = GrowPlan(max_terms=25, ridge=1.0)
        grower = task.start(plan)
        objectives = [grower.objective(plan.ridge)]
        while grower.grow():
            objectives.append(grower.objective(plan.ridge))
        grower.settle()
        objectives.append(grower.objective(plan.ridge))
        assert np.all(np.diff(objectives) <= 1e-9)
        assert objectives[-1] < 0.8 * objectives[0]

    def test_the_loss_after_each_term_is_told(self, loss, seed):
        task, _ = make_task(loss, seed=seed)
        heard = Steps()
        context = make_context(callbacks=[heard])
        shape, losses = grow(task, GrowPlan(max_terms=12), context)
        assert not context.stopped
        assert sorted(set(heard.steps)) == list(range(1, len(shape.terms) + 1))
        assert len(losses) == len(shape.terms) + 1
        assert losses[-1] < losses[0]

    def test_short_networks_have_a_term_more_each_up_to_so_many_conditions(self, loss, seed):
        task, _ = make_task(loss, seed=seed)
        shapes = grow_short(task, GrowPlan(max_conditions=1), 8)
        assert [len(shape.terms) for shape in shapes] == list(range(len(shapes)))
        n_columns = len(task.ranking.lows)
        assert all(count_conditions(shape, n_columns) < 8 for shape in shapes[:-1])
        losses = [task.measure(task.score(shape)) for shape in shapes]
        assert losses[-1] < losses[1] < losses[0]

    def test_terms_of_several_conditions_leave_no_size_out(self, loss, seed):
        task, _ = make_task(loss, seed=seed)
        plan = GrowPlan(max_conditions=3, length_price=0.0)
        shapes = grow_short(task, plan, 8)
        n_columns = len(task.ranking.lows)
        assert {count_conditions(shape, n_columns) for shape in shapes} >= set(range(5))

    def test_no_size_raises_what_is_minimised(self, loss, seed):
        task, _ = make_task(loss, seed=seed)
        plan = GrowPlan(max_conditions=3, length_price=0.0, exchange_every=2)
        grower = task.start(plan)
        objectives = [grower.objective(plan.ridge)]
        while len(objectives) < 9 and grower.grow_size():
            objectives.append(grower.objective(plan.ridge))
        assert np.all(np.diff(objectives) <= 1e-9)
        assert len(objectives) == 9

    def test_threads_change_nothing(self, loss, seed):
        plan = GrowPlan(max_terms=6)
        shapes = [
            grow(make_task(loss, 5000, seed=seed, n_threads=n)[0], plan, make_context())[0]
            for n in (1, 3)
        ]
        for a, b in zip(shapes[0].for_core(), shapes[1].for_core(), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_rows_held_out_are_judged_for_every_number_of_terms(self, loss, seed):
        task, _ = make_task(loss, n=80, seed=seed)
        data = keep_order(np.zeros((80, 1)), [Field("x")], list_core(task)[0])
        objective = Squared(1) if loss == "squared" else Binary()  # two classes of rows
        folds = split_folds(data, objective, np.random.SeedSequence(0))
        validation = np.sort(np.concatenate([f.validation.index for f in folds]))
        np.testing.assert_array_equal(validation, np.arange(80))
        assert all(not set(f.train.index) & set(f.validation.index) for f in folds)
        losses = evaluate_terms([task] * len(folds), GrowPlan(max_terms=8), folds)
        assert losses.shape[0] == 4
        assert losses.mean(axis=0).argmin() > 0

    def test_growth_that_cannot_come_down_to_a_limit_ends_early(self, loss, seed):
        rng = np.random.default_rng(12)
        task, _ = make_task(loss, n=80, seed=9 + seed)
        folds = [Fold(make_part(np.arange(50)), make_part(np.sort(rng.permutation(80)[:60])))]
        plan = GrowPlan(max_terms=40, ridge=20.0)
        whole = evaluate_terms([task], plan, folds)
        reached = evaluate_terms([task], plan, folds, limit=float(whole.max()))
        np.testing.assert_array_equal(reached, whole)
        hopeless = evaluate_terms([task], plan, folds, limit=-1e3)
        assert 2 < hopeless.shape[1] < whole.shape[1]
        np.testing.assert_array_equal(hopeless, whole[:, : hopeless.shape[1]])
