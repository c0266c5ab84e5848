"""The cost model of a fit on a cluster, and the journal of its runs."""

import json
from dataclasses import replace

import pytest
from benchmarks.scale import Journal, Run, Shape
from benchmarks.scale_model import (
    FEW,
    GROUPS,
    WIDE,
    Cluster,
    Costs,
    compare_workers,
    estimate,
    find_loss,
    fit_costs,
    simulate,
)

from newron.dask.rows import COSTS, RoundCosts

TRUE = Costs(2.0, 0.05, 4e-6, 2e-8, ratio=1.2, process=1.5, task=0.001, here=0.0007, rounds=190.0)


def make_run(shape, n_workers=0, n_tasks=0):
    work = TRUE.work(shape.rows, shape.columns)
    client = TRUE.alone(shape.columns) + TRUE.here * n_tasks
    if not n_workers:
        return Run("", client + work)
    each = (TRUE.ratio * work + TRUE.task * n_tasks) / n_workers + TRUE.process
    return Run("", client, (each,) * n_workers, rounds=190, tasks=n_tasks)


@pytest.fixture
def runs():
    large = Shape(10_000_000)
    found = {("files", s.rows, s.columns): make_run(s) for s in (FEW, large, *WIDE)}
    for name, shape, n_workers, n_tasks in (
        (GROUPS[0], FEW, 1, 344),
        (GROUPS[1], FEW, 1, 2_600),
        ("two", large, 2, 2_000),
        ("four", large, 4, 3_000),
    ):
        found[name, shape.rows, shape.columns] = make_run(shape, n_workers, n_tasks)
    return found


def test_the_costs_of_runs_are_found(runs):
    found = fit_costs(runs)
    assert vars(found) == pytest.approx(vars(TRUE), rel=1e-6)
    for (_, rows, columns), run in runs.items():
        assert found.predict(rows, columns, run) == pytest.approx(run.total, rel=1e-6)


def test_larger_runs_and_those_with_a_lost_worker_do_not_count(runs):
    odd = Run("", 1e6, (1e6,), rounds=1, tasks=1)
    more = {("files", 50_000_000, 20): odd, ("one killed", 850_001, 20): odd}
    assert fit_costs(runs | more) == fit_costs(runs)


def test_groups_are_the_best_ones_by_the_costs_that_they_are_chosen_by():
    assert find_loss(COSTS) == 0.0
    assert find_loss(RoundCosts(COSTS.block, 0.0, 100.0 * COSTS.sent)) > 0.1


def test_the_simulated_tree_of_sums_has_the_bits_of_the_sum_in_order():
    cluster = Cluster(20, failures=1_000.0)
    found = simulate(TRUE, cluster, 1e9, 20, rounds=5, seed=0)
    assert found.same
    assert found.others > 0
    assert found.lost > 0
    calm = simulate(TRUE, Cluster(20), 1e9, 20, rounds=5, seed=0)
    assert calm.lost == 0
    assert calm.seconds < found.seconds


def test_workers_that_are_alike_take_what_the_model_says():
    cluster = Cluster(20, latency=0.0, spread=0.0)
    found = simulate(TRUE, cluster, 1e9, 20, rounds=5, seed=0)
    expected = estimate(TRUE, cluster, 1e9, 20)
    # Tasks are begun while others are sent.
    assert expected.work + expected.client < found.seconds < expected.total


def test_workers_that_cost_nothing_but_their_work_share_it():
    free = replace(TRUE, fixed=0.0, column=0.0, ratio=1.0, process=0.0, task=0.0, here=0.0)
    assert compare_workers(free, 10_000_000, 20) == pytest.approx((1.0, 2.0))
    over, faster = compare_workers(TRUE, 10_000_000, 20)
    assert over > 1.2
    assert 1.0 < faster < 2.0


def test_the_journal_has_the_runs_of_this_code_alone(tmp_path):
    journal = Journal(tmp_path / "runs.jsonl", None)
    line = {"case": "memory", "rows": 5, "columns": 2, "fingerprint": "a", "client": 1.0}
    lines = [line | {"code": journal.code, "workers": [1.0, 2.0]}, line | {"code": "other"}]
    journal.path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    assert journal.read() == {("memory", 5, 2): Run("a", 1.0, (1.0, 2.0))}
