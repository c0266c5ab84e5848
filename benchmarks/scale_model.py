"""What a fit takes on a cluster: a cost model fitted to the runs of ``benchmarks.scale``.

A fit is a number of rounds. Each round is a task for every group of blocks, which reads bytes of
codes and values, and a tree of sums. Four things take time: the work on rows, which threads share;
tasks, each of which occupies the scheduler for a moment; messages, one after the other along the
tree; and what the client does between rounds. :func:`simulate` plays the same rounds event by
event, with workers that differ, messages that are late and workers that are lost.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np

from benchmarks.report import Report
from benchmarks.scale import Journal, Run, Shape
from newron.dask.rows import CODE_BYTES, COSTS, RoundCosts, choose_width, list_widths
from newron.engine.rows import BLOCK_ROWS, WIDTH, fold

RECOVERY = 30.0  # seconds until a lost worker is noticed, at most
FAILURES = 1.0  # of each worker in an hour
PAIRS = 8  # of a table, as in the runs
FEW = Shape(850_001)  # of which there are runs of Dask with other groups
WIDE = Shape(200_000, 100), Shape(600_000, 100)  # so that rows, columns and values differ
GROUPS = "Dask, 1 worker, groups of 16", "Dask, 1 worker, groups of 1"
LARGEST = 20_000_000  # rows of a run that the model is fitted to: larger ones check it


@dataclass(frozen=True)
class Cluster:
    """Workers and the network between them."""

    workers: int
    threads: int = 4
    latency: float = 0.001  # seconds of a message
    bandwidth: float = 1.25e9  # bytes a second: 10 Gbit/s
    failures: float = 0.0  # of a worker in an hour
    spread: float = 1.0  # of the speeds of workers, and twice as much of the times of tasks: 10 %

    @property
    def all_threads(self) -> int:
        """How many threads there are."""
        return self.workers * self.threads


@dataclass(frozen=True)
class Costs:
    """Seconds, as they were measured.

    Attributes
    ----------
    fixed, column : float
        Of the client, whatever the rows: of a fit, and for each column.
    row, cell : float
        Of a row, whatever its columns, and of a value of a row in a column.
    ratio : float
        What the work on rows costs workers, by what it costs where files are read.
    process : float
        Of a worker that begins: it imports newron.
    task, here : float
        Of a task on the worker, and in client and scheduler.
    rounds : float
        Rounds of a fit.
    """

    fixed: float
    column: float
    row: float
    cell: float
    ratio: float = 1.0
    process: float = 0.0
    task: float = 0.0
    here: float = 0.0
    rounds: float = 1.0

    def alone(self, columns: int) -> float:
        """Return the seconds of the client that no worker can take."""
        return self.fixed + self.column * columns

    def work(self, rows: float, columns: int) -> float:
        """Return the seconds of one thread for the work on rows."""
        return rows * (self.row + self.cell * columns)

    def predict(self, rows: int, columns: int, run: Run) -> float:
        """Return the seconds of all processors of a run, by its numbers of workers and tasks."""
        work = self.work(rows, columns)
        if not run.workers:
            return self.alone(columns) + work
        begun = self.process * len(run.workers) + run.tasks * (self.task + self.here)
        return self.alone(columns) + self.ratio * work + begun

    @property
    def round_costs(self) -> RoundCosts:
        """The same as newron.dask counts: milliseconds, of blocks of 20 columns."""
        block = self.ratio * self.work(BLOCK_ROWS, 20) / self.rounds
        return RoundCosts(1e3 * block, 1e3 * self.task, 1e3 * self.here)


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
    share = costs.ratio * costs.work(rows, columns) + costs.rounds * groups * costs.task
    depth = count_levels(groups)
    sums = 8.0 * (256 * columns + 1024 * PAIRS)  # bytes of a histogram
    message = cluster.latency + sums / cluster.bandwidth
    per_round = 2.0 * cluster.latency + depth * WIDTH**2 * message
    busiest = -(-groups // cluster.all_threads) * cluster.all_threads / groups  # some wait
    return Estimate(
        work=share / cluster.all_threads * busiest,
        tasks=costs.rounds * groups * costs.here,
        messages=costs.rounds * per_round,
        client=costs.alone(columns),
        groups=groups,
    )


def count_groups(cluster: Cluster, rows: float, columns: int) -> int:
    """Return into how many groups newron.dask puts the blocks."""
    n_blocks = -(-int(rows) // BLOCK_ROWS)
    most = CODE_BYTES // (BLOCK_ROWS * columns)
    return -(-n_blocks // choose_width(n_blocks, cluster.workers, cluster.all_threads, most))


def count_levels(groups: int) -> int:
    """Return how many tasks, one after the other, add the sums of groups."""
    levels = 1
    while groups > WIDTH**2:
        groups, levels = -(-groups // WIDTH**2), levels + 1
    return levels


# ---- fitted to runs ----


def fit_costs(runs: dict[tuple[str, int, int], Run]) -> Costs:
    """Fit the model to what was measured, by least squares of relative errors, all from 0 on.

    What a task costs is the difference of two runs that differ in the number of tasks alone.
    """
    few, many = (runs[name, FEW.rows, FEW.columns] for name in GROUPS)
    more = many.tasks - few.tasks
    task = (sum(many.workers) - sum(few.workers)) / more
    here = (many.client - few.client) / more
    used = {key: run for key, run in runs.items() if key[1] <= LARGEST and "killed" not in key[0]}
    plain = [(key, run) for key, run in used.items() if not run.workers]
    rows, columns = (np.array([key[i] for key, _ in plain], float) for i in (1, 2))
    terms = np.stack([np.ones(len(plain)), columns, rows, rows * columns], axis=1)
    costs = Costs(*_solve(terms, np.array([run.total for _, run in plain])))
    dask = [(key, run) for key, run in used.items() if run.workers]
    work = [costs.work(*key[1:]) for key, _ in dask]
    terms = np.stack([work, [len(run.workers) for _, run in dask]], axis=1)
    taken = np.array([sum(run.workers) - run.tasks * task for _, run in dask])
    ratio, process = _solve(terms, taken)
    rounds = float(np.median([run.rounds for _, run in dask]))
    return replace(costs, ratio=ratio, process=process, task=task, here=here, rounds=rounds)


def _solve(terms: np.ndarray, seconds: np.ndarray) -> list[float]:
    from scipy.optimize import nnls

    found: list[float] = nnls(terms / seconds[:, None], np.ones(len(seconds)))[0].tolist()
    return found


def find_loss(costs: RoundCosts) -> float:
    """Return how much longer a round is, at most, than with groups chosen by these costs."""
    lost, most = 0.0, CODE_BYTES // (20 * BLOCK_ROWS)
    for n_blocks in (13, 153, 954, 15_259, 1_525_879):
        for n_workers in (1, 2, 4, 25, 100, 1_000):
            n_threads = n_workers * Cluster(n_workers).threads
            found = {
                width: costs.estimate(n_blocks, n_threads, width)
                for width in list_widths(n_blocks, n_workers, most)
            }
            chosen = found[choose_width(n_blocks, n_workers, n_threads, most)]
            lost = max(lost, chosen / min(found.values()) - 1.0)
    return lost


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
    work = costs.ratio * costs.work(rows, columns) / costs.rounds / groups + costs.task
    parts = random.normal(size=groups) * 10.0 ** random.integers(-8, 9, groups)
    expected = fold(parts.tolist(), add)
    speed = random.lognormal(0.0, 0.1 * cluster.spread, cluster.workers)
    seconds, lost, same, others = 0.0, 0, True, 0
    for i in range(rounds):
        before = costs.rounds * (i + 0.5) / rounds
        ended, n_lost = _play_round(random, cluster, work, costs.here, speed, groups, before)
        order = np.argsort(ended, kind="stable")
        found, end = _reduce(random, cluster, parts, ended, order)
        seconds, lost, same = seconds + end, lost + n_lost, same and found == expected
        others += sum(parts[order].tolist()) != expected
    seconds = seconds * costs.rounds / rounds + costs.alone(columns)
    return Simulated(seconds, lost, same, others)


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
    taken = work * speed[owner] * random.lognormal(0.0, 0.2 * cluster.spread, groups)
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
    journal.find(GROUPS, FEW)
    for shape in WIDE:
        journal.find(["Parquet, 50 files"], shape)
    runs = journal.read()
    costs = fit_costs(runs)
    report.add("\n## Cost model")
    report.add()
    report.add(
        f"CPU seconds = {costs.fixed:.1f} + {costs.column:.3f} × columns + rows × "
        f"({costs.row * 1e6:.2f} + {costs.cell * 1e6:.3f} × columns) µs. On a cluster the\nwork "
        f"on rows takes {costs.ratio:.2f} times as much, a worker {costs.process:.1f} s to begin, "
        f"a task {costs.task * 1e3:.2f} ms on its worker and\n{costs.here * 1e3:.2f} ms in client "
        f"and scheduler; {costs.rounds:.0f} rounds. Fitted to the runs of at most "
        f"{LARGEST / 1e6:.0f} million\nrows; larger ones check it."
    )
    rows = []
    for (case, n, columns), run in sorted(runs.items(), key=lambda item: item[0][1:]):
        if "killed" not in case:
            cells = [case, f"{n:,} × {columns}", f"{run.tasks:,}", str(run.pairs)]
            expected = costs.predict(n, columns, run)
            rows.append([*cells, f"{run.total:.1f}", f"{expected:.1f}"])
    report.table(["run", "table", "tasks", "pairs", "CPU s", "by the model"], rows)
    over, faster = compare_workers(costs, 10_000_000, 20)
    report.add(
        f"By the model, a fit of 10 million × 20 takes {over:.2f} times as much on one worker as "
        f"in files, and two\nworkers are {faster:.2f} times as fast.\n"
    )
    _report_widths(report, costs.round_costs)
    report.add("What larger tables would take, with 4 threads for each worker, 10 Gbit/s, messages")
    report.add(f"of 1 ms, {PAIRS} pairs, workers as fast as this machine's cores were under load:")
    rows = [_describe(costs, cluster, n, columns) for n, columns, cluster in CASES]
    report.table(
        ["table", "workers", "groups", "work", "scheduler", "messages", "client", "all",
         "bottleneck", "simulated", "with losses", "rounds"],
        rows,
    )  # fmt: skip
    report.add("*Simulated*: each round, event by event, for workers whose speeds differ (10 %),")
    report.add("tasks that differ (20 %) and messages that take exponential times. *With losses*:")
    report.add(f"each worker is lost once in {60.0 / FAILURES:.0f} minutes and replaced within")
    report.add(
        f"{RECOVERY:.0f} s; in brackets how many were lost. *Rounds*: in how many a sum in the"
    )
    report.add("order in which parts came would have had other bits. Added in the tree, every sum")
    report.add("of every round had the bits of the sum in order.")


def compare_workers(costs: Costs, rows: int, columns: int) -> tuple[float, float]:
    """Return what one worker of one thread costs over files, and how much faster two are."""
    alone, work = costs.alone(columns), costs.work(rows, columns)
    paths, totals = [], []
    for n_workers in (1, 2):
        groups = count_groups(Cluster(n_workers, threads=1), rows, columns)
        tasks = costs.rounds * groups
        client = alone + tasks * costs.here
        each = costs.process + (costs.ratio * work + tasks * costs.task) / n_workers
        paths.append(client + each)
        totals.append(client + n_workers * each)
    return totals[0] / (alone + work), paths[0] / paths[1]


def _report_widths(report: Report, costs: RoundCosts) -> None:
    """Report whether newron.dask chooses good groups by its numbers."""
    half = RoundCosts(costs.block, costs.task / 2.0, costs.sent / 2.0)
    double = RoundCosts(costs.block, 2.0 * costs.task, 2.0 * costs.sent)
    report.add(
        f"A block of 20 columns takes {costs.block:.1f} ms in a round. newron.dask chooses groups "
        f"by {COSTS.block:g} ms for a block and\n{COSTS.task:g} and {COSTS.sent:g} ms for a task. "
        "By the costs measured, rounds with these groups are at most "
        f"{100.0 * find_loss(costs):.0f} % longer than\nwith the best ones (13 to 1.5 million "
        "blocks, 1 to 1,000 workers); where tasks cost half as much "
        f"{100.0 * find_loss(half):.0f} %, and where\nthey cost twice as much "
        f"{100.0 * find_loss(double):.0f} %.\n"
    )


def _describe(costs: Costs, cluster: Cluster, n: float, columns: int) -> list[str]:
    found = estimate(costs, cluster, n, columns)
    how: dict[str, Any] = {"rounds": round(costs.rounds), "seed": 1}
    plain = simulate(costs, cluster, n, columns, **how)
    losing = simulate(costs, replace(cluster, failures=FAILURES), n, columns, **how)
    if not (plain.same and losing.same):
        raise SystemExit("a sum of the simulation has other bits than the one in order")
    parts = [found.work, found.tasks, found.messages, found.client, found.total]
    return [
        f"10^{math.log10(n):.0f} × {columns}",
        f"{cluster.workers:,}",
        f"{found.groups:,}",
        *map(_format, parts),
        found.bottleneck,
        _format(plain.seconds),
        f"{_format(losing.seconds)} ({losing.lost})",
        f"{losing.others} of {costs.rounds:.0f}",
    ]


def _format(seconds: float) -> str:
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000.0 else f"{seconds / 3600:.1f} h"
