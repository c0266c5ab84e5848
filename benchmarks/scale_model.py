"""What a fit takes on a cluster: a cost model fitted to the runs of ``benchmarks.scale``.

A fit is a number of rounds. Each round is a task for every group of blocks, which reads bytes of
codes and values, and a tree of sums. Four things take time: the work on rows, which threads share;
tasks, each of which occupies the scheduler for a moment; messages, one after the other along the
tree; and what the client does between rounds. :func:`simulate` plays the same rounds event by
event, with workers that differ, messages that are late and workers that are lost.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np

from benchmarks.report import Report
from benchmarks.scale import Journal, Run, Shape
from newron.dask.rows import _BLOCK, _SENT, _TASK, CODE_BYTES, choose_width
from newron.engine.rows import BLOCK_ROWS, WIDTH, fold

RECOVERY = 30.0  # seconds until a lost worker is noticed, at most
ROUNDS = 20  # that are played
PAIRS = 8  # of a table, as in the runs
WIDE = Shape(200_000, 100)  # so that rows and values have costs of their own


@dataclass(frozen=True)
class Cluster:
    """Workers and the network between them."""

    workers: int
    threads: int = 4
    latency: float = 0.001  # seconds of a message
    bandwidth: float = 1.25e9  # bytes a second: 10 Gbit/s
    failures: float = 0.0  # of a worker in an hour

    @property
    def all_threads(self) -> int:
        """How many threads there are."""
        return self.workers * self.threads


@dataclass(frozen=True)
class Costs:
    """Seconds, as they were measured.

    Attributes
    ----------
    row : float
        Of a row, whatever its columns.
    cell : float
        Of a value of a row in a column.
    fixed : float
        Of the client, whatever the rows.
    task, here : float
        Of a task on the worker, and in client and scheduler.
    rounds : float
        Rounds of a fit.
    """

    row: float
    cell: float
    fixed: float
    task: float
    here: float
    rounds: float

    def work(self, rows: float, columns: int) -> float:
        """Return the seconds of one thread for the work on rows."""
        return rows * (self.row + self.cell * columns)


@dataclass(frozen=True)
class Estimate:
    """Seconds of a fit, by what they are spent on."""

    work: float
    tasks: float
    messages: float
    client: float
    groups: int

    @property
    def total(self) -> float:
        """All seconds: tasks go out in order, and the last worker begins when all are sent."""
        return self.work + self.tasks + self.messages + self.client

    @property
    def bottleneck(self) -> str:
        """What takes longest."""
        parts = {
            "work on rows": self.work,
            "scheduler": self.tasks,
            "messages": self.messages,
            "client": self.client,
        }
        return max(parts, key=lambda name: parts[name])


def estimate(costs: Costs, cluster: Cluster, rows: float, columns: int) -> Estimate:
    """Return what a fit takes by the model."""
    groups = count_groups(cluster, rows, columns)
    share = costs.work(rows, columns) + costs.rounds * groups * costs.task
    depth = count_levels(groups)
    sums = 8.0 * (256 * columns + 1024 * PAIRS)  # bytes of a histogram
    message = cluster.latency + sums / cluster.bandwidth
    per_round = 2.0 * cluster.latency + depth * WIDTH**2 * message
    busiest = -(-groups // cluster.all_threads) * cluster.all_threads / groups  # some wait
    return Estimate(
        work=share / cluster.all_threads * busiest,
        tasks=costs.rounds * groups * costs.here,
        messages=costs.rounds * per_round,
        client=costs.fixed,
        groups=groups,
    )


def count_groups(cluster: Cluster, rows: float, columns: int) -> int:
    """Return into how many groups newron.dask puts the blocks."""
    n_blocks = -(-int(rows) // BLOCK_ROWS)
    most = CODE_BYTES // (BLOCK_ROWS * columns)
    return -(-n_blocks // choose_width(n_blocks, cluster.all_threads, most))


def count_levels(groups: int) -> int:
    """Return how many tasks, one after the other, add the sums of groups."""
    levels = 1
    while groups > WIDTH**2:
        groups, levels = -(-groups // WIDTH**2), levels + 1
    return levels


# ---- fitted to runs ----


def fit_costs(runs: dict[tuple[str, int, int], Run]) -> Costs:
    """Fit the model to what was measured, by least squares of relative errors, all from 0 on."""
    from scipy.optimize import nnls

    plain = [(key, run) for key, run in runs.items() if not run.workers]
    rows = np.array([key[1] for key, _ in plain], float)
    columns = np.array([key[2] for key, _ in plain], float)
    seconds = np.array([run.total for _, run in plain])
    design = np.stack([np.ones(len(rows)), rows, rows * columns], axis=1)
    fixed, row, cell = nnls(design / seconds[:, None], np.ones(len(rows)))[0]
    costs = Costs(row, cell, fixed, 0.0, 0.0, 0.0)
    dask = [(key, run) for key, run in runs.items() if run.workers and "killed" not in key[0]]
    tasks = np.array([run.tasks for _, run in dask], float)
    work = np.array([costs.work(key[1], key[2]) for key, _ in dask])
    started = np.array([len(run.workers) for _, run in dask], float)  # imports, in each process
    there = np.array([sum(run.workers) for _, run in dask]) - work
    here = np.array([run.client for _, run in dask]) - fixed
    return replace(
        costs,
        task=float(nnls(np.stack([tasks, started], axis=1), there)[0][0]),
        here=float(nnls(tasks[:, None], here)[0][0]),
        rounds=float(np.median([run.rounds for _, run in dask])),
    )


# ---- simulated ----


@dataclass(frozen=True)
class Simulated:
    """A fit of which some rounds were played.

    Attributes
    ----------
    seconds : float
    lost : int
        Workers that were lost in these rounds.
    same : bool
        Whether every sum had the bits of the one that a single process adds in order.
    others : int
        In how many rounds a sum in the order of arrival would have had other bits.
    """

    seconds: float
    lost: int
    same: bool
    others: int


def simulate(
    costs: Costs, cluster: Cluster, rows: float, columns: int, *, rounds: int, seed: int
) -> Simulated:
    """Play some rounds of a fit: late messages, lost workers, parts that come in any order."""
    random = np.random.default_rng(seed)
    groups = count_groups(cluster, rows, columns)
    work = costs.work(rows, columns) / costs.rounds / groups + costs.task
    parts = random.normal(size=groups) * 10.0 ** random.integers(-8, 9, groups)
    expected = fold(parts.tolist(), add)
    speed = random.lognormal(0.0, 0.1, cluster.workers)
    seconds, lost, same, others = 0.0, 0, True, 0
    for i in range(rounds):
        before = costs.rounds * (i + 0.5) / rounds
        ended, n_lost = _play_round(random, cluster, work, costs.here, speed, groups, before)
        order = np.argsort(ended, kind="stable")
        found, end = _reduce(random, cluster, parts, ended, order)
        seconds, lost, same = seconds + end, lost + n_lost, same and found == expected
        others += sum(parts[order].tolist()) != expected
    return Simulated(seconds * costs.rounds / rounds + costs.fixed, lost, same, others)


def _play_round(
    random: np.random.Generator,
    cluster: Cluster,
    work: float,
    here: float,
    speed: np.ndarray,
    groups: int,
    before: float,
) -> tuple[np.ndarray, int]:
    """Return when each group's task has ended, and how many workers were lost.

    What a lost worker had is computed again by all: the rounds ``before`` for its groups.
    """
    owner = np.arange(groups) * cluster.workers // groups
    sent = here * np.arange(1, groups + 1) + random.exponential(cluster.latency, groups)
    taken = work * speed[owner] * random.lognormal(0.0, 0.2, groups)
    length = max(float(sent[-1]), work * groups / cluster.all_threads)
    dead = random.random(cluster.workers) < 1.0 - np.exp(-cluster.failures * length / 3600.0)
    again = before * float(taken[dead[owner]].sum()) / cluster.all_threads
    noticed = float(dead.any()) * RECOVERY * random.random()
    ended = np.empty(groups)
    for worker in range(cluster.workers):
        free = [again + noticed * dead[worker]] * cluster.threads
        for g in np.flatnonzero(owner == worker):
            ended[g] = max(heapq.heappop(free), float(sent[g])) + taken[g]
            heapq.heappush(free, float(ended[g]))
    return ended, int(dead.sum())


def _reduce(
    random: np.random.Generator,
    cluster: Cluster,
    parts: np.ndarray,
    ended: np.ndarray,
    order: np.ndarray,
) -> tuple[float, float]:
    """Add parts as newron.dask does, each sum as soon as its own parts have come."""
    arrived = [(int(g), float(parts[g]), float(ended[g])) for g in order]
    while len(arrived) > WIDTH**2:
        waiting: dict[int, list[tuple[int, float, float]]] = {}
        last = max(g for g, *_ in arrived)
        sums = []
        for each in arrived:
            chunk = each[0] // WIDTH**2
            here = waiting.setdefault(chunk, [])
            here.append(each)
            if len(here) == min(WIDTH**2, last + 1 - chunk * WIDTH**2):
                total = fold([value for _, value, _ in sorted(here)], add)
                sums.append((chunk, total, each[2] + random.exponential(cluster.latency)))
        arrived = sorted(sums, key=lambda each: each[2])
    total = fold([value for _, value, _ in sorted(arrived)], add)
    return total, arrived[-1][2] + cluster.latency


# ---- report ----

CASES = (
    (1e9, 20, Cluster(25)),
    (1e9, 20, Cluster(100)),
    (1e9, 100, Cluster(100)),
    (1e11, 20, Cluster(100)),
    (1e11, 20, Cluster(1000)),
)


def report_model(report: Report, journal: Journal) -> None:
    """Fit the model, show what it says of larger tables, and check it by simulation."""
    journal.find(["Parquet, 50 files"], WIDE)
    runs = journal.read()
    costs = fit_costs(runs)
    report.add("\n## Cost model")
    report.add()
    report.add(
        f"CPU seconds = {costs.fixed:.1f} + rows × ({costs.row * 1e6:.2f} + {costs.cell * 1e6:.3f} "
        f"× columns) µs; a task takes {costs.task * 1e3:.1f} ms\non its worker and "
        f"{costs.here * 1e3:.1f} ms in client and scheduler; {costs.rounds:.0f} rounds. So a block "
        f"of 20 columns takes\n{costs.work(BLOCK_ROWS, 20) / costs.rounds * 1e3:.1f} ms in a "
        f"round; newron.dask chooses groups by {_BLOCK:g} ms of a block, and {_TASK:g} and "
        f"{_SENT:g} ms of a\ntask. Fitted to all runs of the journal:"
    )
    rows = []
    for (case, n, columns), run in runs.items():
        if "killed" in case:
            continue
        expected = costs.work(n, columns) + costs.fixed
        expected += run.tasks * (costs.task + costs.here)
        rows.append(
            [case, f"{n:,} × {columns}", str(run.pairs), f"{run.total:.0f}", f"{expected:.0f}"]
        )
    report.table(["run", "table", "pairs", "CPU s", "by the model"], rows)
    report.add("What larger tables would take, with 4 threads for each worker, 10 Gbit/s, messages")
    report.add(f"of 1 ms, {PAIRS} pairs, workers as fast as this machine's cores were under load:")
    rows = [_describe(costs, cluster, n, columns) for n, columns, cluster in CASES]
    report.table(
        ["table", "workers", "groups", "work", "scheduler", "messages", "client", "all",
         "bottleneck", "simulated", "with losses", "rounds"],
        rows,
    )  # fmt: skip
    report.add(
        "*Simulated*: 20 rounds, event by event, for workers whose speeds differ (10 %), tasks"
    )
    report.add(
        "that differ (20 %) and messages that take exponential times. *With losses*: each worker"
    )
    report.add(
        "is lost once in 10 hours and replaced within 30 s; how many were lost in the rounds"
    )
    report.add(
        "played is in brackets. Every sum of every round, added as its parts came, had the bits"
    )
    report.add("of the sum in order.")


def _describe(costs: Costs, cluster: Cluster, n: float, columns: int) -> list[str]:
    found = estimate(costs, cluster, n, columns)
    how: dict[str, Any] = {"rounds": ROUNDS, "seed": 1}
    plain = simulate(costs, cluster, n, columns, **how)
    losing = simulate(costs, replace(cluster, failures=0.1), n, columns, **how)
    if not (plain.same and losing.same):
        raise SystemExit("a sum of the simulation has other bits than the one in order")
    parts = [found.work, found.tasks, found.messages, found.client, found.total]
    return [
        f"{n:.0e} × {columns}".replace("e+", "e"),
        f"{cluster.workers:,}",
        f"{found.groups:,}",
        *map(_format, parts),
        found.bottleneck,
        _format(plain.seconds),
        f"{_format(losing.seconds)} ({losing.lost})",
        f"{losing.others} of {ROUNDS}",
    ]


def _format(seconds: float) -> str:
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000.0 else f"{seconds / 3600:.1f} h"
