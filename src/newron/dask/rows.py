"""Rows in the memory of Dask workers: every step of a fit is a set of tasks.

A task works on a *group* of neighbouring blocks, which is a part of the tree in which sums are
added (:func:`newron.engine.rows.fold`). So the number of blocks in a group changes no bit: there
are as many as make a round short. Tasks are pure: they read blocks and return new
values, so that what a lost worker had is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newron.dask.memory import keep_freed_memory
from newron.dask.tasks import Cluster
from newron.engine.rows import WIDTH, Block, Index, Rows, Values, add, fold

__all__ = ["CODE_BYTES", "COSTS", "RAW_BYTES", "DaskRows", "Group", "choose_width"]

CODE_BYTES, RAW_BYTES = 2**29, 2**27  # of a group at most, as codes and before


@dataclass(frozen=True)
class Group:
    """Neighbouring blocks: their sizes, and what makes them of the results of futures."""

    sizes: tuple[int, ...]
    read: Callable[..., Any]
    futures: Sequence[Any]


class _Parts(list[Any]):
    """A value of the rows: for each group, futures of tuples, an entry of which is the value."""

    def __init__(self, futures: Sequence[Sequence[Any]], entry: int) -> None:
        super().__init__(futures)
        self.entry = entry


class DaskRows(Rows):
    """Blocks in groups, made of futures.

    Parameters
    ----------
    cluster : Cluster
    groups : sequence of Group
    width : int
        How many groups are joined when they become codes.
    """

    fingerprint = ""  # raw rows do not come to the client

    def __init__(self, cluster: Cluster, groups: Sequence[Group], width: int = 1) -> None:
        super().__init__([size for group in groups for size in group.sizes])
        self._cluster, self._groups, self._width = cluster, list(groups), width
        self.rows_per_worker: dict[str, int] = {}  # of the codes

    def _start(self, task: Any, among: slice, *values: Values, **how: Any) -> list[Any]:
        """Begin a task for each of some groups."""
        own = self._groups[among]
        task = _Work(task, [part.entry if isinstance(part, _Parts) else None for part in values])
        return self._cluster.map(
            _call,
            [self._cluster.share(task)] * len(own),
            [group.read for group in own],
            [list(group.futures) for group in own],
            *(self._split(part)[among] for part in values),
            **how,
        )

    def _split(self, values: Values) -> Sequence[Any]:
        """Return a value of the rows by group."""
        if isinstance(values, _Parts):
            return values
        ends = list(accumulate(len(group.sizes) for group in self._groups))
        return [values[end - len(g.sizes) : end] for g, end in zip(self._groups, ends, strict=True)]

    def run(self, function: Callable[..., Any], *values: Values) -> Iterator[Any]:
        """Yield the results of a function of each block."""
        waiting = self._start(_List(function), slice(None), *values)
        while waiting:
            yield from self._cluster.find_result(waiting.pop(0))  # and its memory is freed

    def merge(
        self, merge: Callable[[Any, Any], Any], function: Callable[..., Any], *values: Values
    ) -> Any:
        """Return what a function returns of each block, merged in the tree."""
        parts = self._start(_Fold(function, merge), slice(None), *values)
        return self._cluster.merge(parts, merge)

    def make(self, n: int, function: Callable[..., Any], *values: Values) -> list[Values]:
        """Return values of the rows, which stay with the workers."""
        made = [[one] for one in self._start(_Transpose(function), slice(None), *values)]
        return [_Parts(made, i) for i in range(n)]

    def make_total(
        self, n: int, function: Callable[..., Any], *values: Values
    ) -> tuple[list[Values], Any]:
        """Return values of the rows, which stay with the workers, and a sum."""
        made = self._start(_Store(function, add), slice(None), *values)
        total = self._cluster.merge(self._cluster.map(_get_last, made), add)
        parts = [[one] for one in made]
        return [_Parts(parts, i) for i in range(n)], total

    def locate(self, index: Index | None) -> Values:
        """Return where some rows are in each block; that is sent once."""
        return self.make_one(_pass, super().locate(index))

    def store(
        self, n: int, function: Callable[..., Any], merge: Callable[[Any, Any], Any]
    ) -> tuple[Rows, list[Values], Any]:
        """Return rows as codes, values of them, and what they sum up to.

        Groups are dealt out to the workers in order, by their threads.
        """
        made: list[Any] = []
        for worker, among in self._deal():
            wish = {"workers": [worker], "allow_other_workers": True}
            made += self._start(_StoreCodes(function, merge), among, **wish)
        total = self._cluster.merge(self._cluster.map(_get_last, made), merge)
        firsts = range(0, len(made), self._width)
        joined = [made[first : first + self._width] for first in firsts]
        sizes = [
            tuple(chain.from_iterable(one.sizes for one in self._groups[i : i + self._width]))
            for i in firsts
        ]
        groups = [Group(*each) for each in zip(sizes, repeat(_read_codes), joined, strict=False)]
        rows = DaskRows(self._cluster, groups)
        self.rows_per_worker = rows._count_rows()
        return rows, [_Parts(joined, 1 + i) for i in range(n)], total

    def _deal(self) -> list[tuple[str, slice]]:
        """Return which groups each worker shall have."""
        threads = self._cluster.count_threads()
        n = -(-len(self._groups) // self._width)
        ends = [round(n * end / sum(threads.values())) for end in accumulate(threads.values())]
        begins = [0, *ends[:-1]]
        return [
            (worker, slice(begin * self._width, end * self._width))
            for worker, begin, end in zip(threads, begins, ends, strict=True)
            if begin < end
        ]

    def take(self, index: Index | None, values: Values) -> NDArray[Any]:
        """Return a value of some rows, or of all."""
        if index is None and isinstance(values, _Parts):
            values = list(self.run(_pass, values))
        return super().take(index, values)

    def _count_rows(self) -> dict[str, int]:
        """Return how many rows the blocks of each worker have."""
        count = dict.fromkeys(self._cluster.count_threads(), 0)
        held = self._cluster.client.who_has([group.futures[0] for group in self._groups])
        for group in self._groups:
            for worker in list(held.get(group.futures[0].key, ()))[:1]:
                count[worker] = count.get(worker, 0) + sum(group.sizes)
        return count


class RoundCosts(NamedTuple):
    """Milliseconds of processors in a round.

    Of a block, and of a task on its worker and in client and scheduler together.
    """

    block: float
    task: float
    sent: float

    def estimate(self, n_blocks: int, n_threads: int, width: int) -> float:
        """Return how long a round is with so many blocks in a group."""
        groups = -(-n_blocks // width)
        turns = -(-groups // n_threads)
        return turns * (width * self.block + self.task) + groups * self.sent


COSTS = RoundCosts(2.0, 1.0, 1.0)  # about what benchmarks.scale measures, calm and under load


def list_widths(n_blocks: int, n_workers: int, most: int) -> list[int]:
    """Return how many blocks a group may have: parts of the tree, enough for all workers."""
    widths, widest = [1], min(most, (n_blocks - 1) // max(n_workers - 1, 1))
    while widths[-1] * WIDTH <= widest:
        widths.append(widths[-1] * WIDTH)
    return widths


def choose_width(n_blocks: int, n_workers: int, n_threads: int, most: int) -> int:
    """Return how many blocks a group has, at most so many, so that a round takes least.

    Every worker has a group where there are so many blocks; a thread may have none, where the
    scheduler would take longer with more groups than the others then work.

    Examples
    --------
    >>> [choose_width(n, 2, 2, 100) for n in (3, 13, 153)], choose_width(15_259, 100, 400, 100)
    ([1, 4, 16], 64)
    """
    widths = list_widths(n_blocks, n_workers, most)
    return min(widths, key=partial(COSTS.estimate, n_blocks, n_threads))


# ---- what tasks do ----


def _pass(block: Any, values: NDArray[Any]) -> NDArray[Any]:
    del block
    return values


def _call(work: Any, read: Callable[..., Any], parts: list[Any], *values: Any) -> Any:
    keep_freed_memory()
    return work(read(*parts), *values)


def _read_codes(*stored: tuple[Any, ...]) -> list[Block]:
    return [block for parts in stored for block in parts[0]]


def _get_last(stored: tuple[Any, ...]) -> Any:
    return stored[-1]


@dataclass(frozen=True)
class _Work:
    """A task of blocks and values, some of which are entries of tuples."""

    task: Callable[..., Any]
    entries: list[int | None]

    def __call__(self, blocks: Any, *values: Any) -> Any:
        return self.task(blocks, *map(_pick, self.entries, values))


def _pick(entry: int | None, value: list[Any]) -> list[Any]:
    return value if entry is None else [block for parts in value for block in parts[entry]]


@dataclass(frozen=True)
class _List:
    """The results of a function of each block."""

    function: Callable[..., Any]

    def __call__(self, blocks: Any, *values: Any) -> list[Any]:
        return list(self.run(blocks, *values))

    def run(self, blocks: Any, *values: Any) -> Iterator[Any]:
        """Yield them."""
        return (self.function(*each) for each in zip(blocks, *values, strict=True))


@dataclass(frozen=True)
class _Fold(_List):
    """What results sum up to."""

    merge: Callable[[Any, Any], Any]

    def __call__(self, blocks: Any, *values: Any) -> Any:
        return fold(self.run(blocks, *values), self.merge)


class _Transpose(_List):
    """Results that are tuples, as a list for each entry."""

    def __call__(self, blocks: Any, *values: Any) -> Any:
        return tuple(map(list, zip(*self.run(blocks, *values), strict=True)))


@dataclass(frozen=True)
class _Store(_Fold):
    """As a list for each entry; but the last entries are merged."""

    def __call__(self, blocks: Any, *values: Any) -> Any:
        *lists, sums = zip(*self.run(blocks, *values), strict=True)
        return *map(list, lists), fold(sums, self.merge)


class _StoreCodes(_Store):
    """The first entries are codes of blocks."""

    def __call__(self, blocks: Any, *values: Any) -> Any:
        codes, *others = super().__call__(blocks, *values)
        return [Block(np.asarray(each)) for each in codes], *others
