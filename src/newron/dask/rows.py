"""Rows in the memory of Dask workers: every step of a fit is a set of tasks.

A task works on a *group* of neighbouring blocks, which is a part of the tree in which sums are
added (:func:`newron.engine.rows.fold`). So the number of blocks in a group changes no bit: there
are as many as let every thread have some groups. Tasks are pure: they read blocks and return new
values, so that what a lost worker had is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.dask.tasks import Cluster
from newron.engine.rows import WIDTH, Block, Index, Rows, Values, fold

__all__ = ["DaskRows", "Group", "choose_width"]

_GROUPS = 4  # for each thread, at least
_GROUP_BYTES = 2**27  # of a group at most


@dataclass(frozen=True)
class Group:
    """Neighbouring blocks: their sizes, and what makes them of the results of futures."""

    sizes: tuple[int, ...]
    read: Callable[..., Any]
    futures: tuple[Any, ...]


class _Parts(list[Any]):
    """A value of the rows, as a future for each group."""


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

    def _start(self, task: Any, groups: slice, *values: Values, **how: Any) -> list[Any]:
        """Begin a task for each of some groups."""
        shared = self._cluster.share(task)
        own = self._groups[groups]
        columns = [self._split(part)[groups] for part in values]
        return self._cluster.map(
            _work,
            [shared] * len(own),
            [group.read for group in own],
            [list(group.futures) for group in own],
            *columns,
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
        made = self._start(_Transpose(function), slice(None), *values)
        return [_Parts(self._pick(i, [[one] for one in made])) for i in range(n)]

    def _pick(self, i: int, made: Sequence[list[Any]]) -> list[Any]:
        """Return one part of what groups became, joined."""
        return self._cluster.map(_join, [i] * len(made), made)

    def store(
        self, n: int, function: Callable[..., Any], merge: Callable[[Any, Any], Any]
    ) -> tuple[Rows, list[Values], Any]:
        """Return rows as codes, values of them, and what they sum up to.

        Groups are dealt out to the workers in order, by their threads.
        """

        def cut(groups: list[Any]) -> list[list[Any]]:
            return [groups[i : i + self._width] for i in range(0, len(groups), self._width)]

        made: list[Any] = []
        for worker, part in self._deal():
            wish = {"workers": [worker], "allow_other_workers": True}
            made += self._start(_Store(function, merge), part, **wish)
        chunks = cut(made)
        codes = self._pick(0, chunks)
        values: list[Values] = [_Parts(self._pick(1 + i, chunks)) for i in range(n)]
        sums = self._pick(-1, [[one] for one in made])
        groups = [
            Group(tuple(chain.from_iterable(one.sizes for one in own)), _read, (code,))
            for own, code in zip(cut(self._groups), codes, strict=True)
        ]
        del made, chunks
        total, rows = self._cluster.merge(sums, merge), DaskRows(self._cluster, groups)
        self.rows_per_worker = rows._count_rows()
        return rows, values, total

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
            values = list(chain.from_iterable(self._cluster.list_results(values)))
        return super().take(index, values)

    def _count_rows(self) -> dict[str, int]:
        """Return how many rows the blocks of each worker have."""
        count = dict.fromkeys(self._cluster.count_threads(), 0)
        held = self._cluster.client.who_has([group.futures[0] for group in self._groups])
        for group in self._groups:
            for worker in list(held.get(group.futures[0].key, ()))[:1]:
                count[worker] = count.get(worker, 0) + sum(group.sizes)
        return count


def choose_width(n_blocks: int, n_threads: int, block_bytes: int) -> int:
    """Return how many blocks a group has: so many that every thread has some groups.

    Examples
    --------
    >>> choose_width(153, 2, 2**21), choose_width(15_259, 16, 2**21), choose_width(7, 2, 2**21)
    (16, 64, 1)
    """
    width = 1
    while (
        width * WIDTH * _GROUPS * n_threads <= n_blocks
        and width * WIDTH * block_bytes <= _GROUP_BYTES
    ):
        width *= WIDTH
    return width


# ---- what tasks do ----


def _work(task: Any, read: Callable[..., Any], parts: list[Any], *values: Any) -> Any:
    return task(read(*parts), *values)


def _read(blocks: list[Any]) -> list[Any]:
    return [block if isinstance(block, Block) else Block(np.asarray(block)) for block in blocks]


def _join(i: int, made: list[Any]) -> Any:
    """Return one part of results, of several ones joined."""
    return made[0][i] if len(made) == 1 else list(chain.from_iterable(one[i] for one in made))


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
        codes, *others = map(list, lists)
        return _read(codes), *others, fold(sums, self.merge)
