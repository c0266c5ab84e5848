"""Rows in blocks, wherever they are kept: all that the engine does with rows goes through here.

Rows are cut into blocks by their number alone. What is computed of a block depends on nothing
but the block, and what is summed over blocks is added in a tree of fixed shape: each four
neighbours, then these sums again. So threads, files and processes change no bit: they only decide
where a block lies and who works on it, and any part of the tree can be added where its blocks are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8]
Values = Sequence[NDArray[Any]]  # something of every row: an array for each block
Index = NDArray[np.intp]

BLOCK_ROWS = 65_536  # kPart of cpp/core/engine_rows.cpp
WIDTH = 4  # how many neighbours are added at each level of the tree of sums


@dataclass(eq=False)
class Block:
    """The codes of some rows, of shape (columns of codes, rows)."""

    codes: Codes
    n_threads: int = 1  # of what is done with it
    _coarse: dict[tuple[int, ...], Codes] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.codes.shape[1])

    def coarsen(self, levels: dict[int, Codes]) -> Codes:
        """Return some columns with fewer levels, by the level of every code."""
        key = tuple(levels)
        if not key:
            return np.empty((0, self.n_rows), np.uint8)
        if key not in self._coarse:
            self._coarse.clear()
            coarse = np.empty((len(levels), self.n_rows), np.uint8)
            for i, (column, level) in enumerate(levels.items()):
                coarse[i] = level[self.codes[column]]
            self._coarse[key] = coarse
        return self._coarse[key]


def cut_rows(n_rows: int, size: int = BLOCK_ROWS) -> list[slice]:
    """Return the rows of each block.

    Examples
    --------
    >>> cut_rows(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]


def fold(parts: Iterable[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Return parts merged in a tree of fixed shape, of which only one path is kept at a time.

    Examples
    --------
    >>> fold("abcdefghij", lambda a, b: f"({a}{b})")
    '(((((ab)c)d)(((ef)g)h))(ij))'
    """
    levels: list[list[Any]] = []
    for part in parts:
        for waiting in levels:
            waiting.append(part)
            if len(waiting) < WIDTH:
                break
            part = reduce(merge, waiting)
            waiting.clear()
        else:
            levels.append([part])
    last: list[Any] = []
    for waiting in levels:
        left = [*waiting, *last]
        last = [reduce(merge, left)] if left else []
    return last[0]


class Rows(ABC):
    """Blocks of rows; a function of a block is called with the block and its part of values.

    Parameters
    ----------
    sizes : sequence of int
        How many rows each block has.
    """

    is_unweighed = False  # whether it is known that all weights are 1

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.n_rows = sum(self.sizes)

    @abstractmethod
    def run(self, function: Callable[..., Any], *values: Values) -> Iterator[Any]:
        """Yield ``function(block, *parts)`` for every block, in their order."""

    @abstractmethod
    def make(self, n: int, function: Callable[..., Any], *values: Values) -> list[Values]:
        """Return ``n`` values of the rows: the function returns a tuple of so many arrays."""

    @abstractmethod
    def make_total(
        self, n: int, function: Callable[..., Any], *values: Values
    ) -> tuple[list[Values], Any]:
        """Return ``n`` values of the rows and a sum, in one passage.

        The function returns a tuple of so many arrays and, last, a part of the sum.
        """

    @abstractmethod
    def store(
        self, n: int, function: Callable[..., Any], merge: Callable[[Any, Any], Any]
    ) -> tuple[Rows, list[Values], Any]:
        """Return rows as codes, ``n`` values of them, and what they sum up to.

        The function returns a tuple of codes, values, and a part of the sum.
        """

    def make_one(self, function: Callable[..., Any], *values: Values) -> Values:
        """Return one value of the rows: the function returns an array."""
        return self.make(1, _InTuple(function), *values)[0]

    def total(self, function: Callable[..., Any], *values: Values) -> Any:
        """Return the sum of what a function returns, numbers or tuples of arrays."""
        return self.merge(add, function, *values)

    def merge(
        self, merge: Callable[[Any, Any], Any], function: Callable[..., Any], *values: Values
    ) -> Any:
        """Return what a function returns of each block, merged in the tree."""
        return fold(self.run(function, *values), merge)

    def cut(self, array: NDArray[Any]) -> Values:
        """Return an array of all rows by block."""
        ends = list(accumulate(self.sizes))
        return [array[end - n : end] for n, end in zip(self.sizes, ends, strict=True)]

    def sample(self, limit: int, seed: int) -> Index | None:
        """Return so many rows, in order; None for all where there are no more."""
        if self.n_rows <= limit:
            return None
        chosen = np.random.default_rng(seed).choice(self.n_rows, limit, replace=False)
        return np.sort(chosen)

    def take(self, index: Index | None, values: Values) -> NDArray[Any]:
        """Return a value of some rows, or of all."""
        if index is None:
            return values[0] if len(values) == 1 else np.concatenate(list(values))
        return self.gather(index, _take, values)

    def take_codes(self, index: Index | None) -> Codes:
        """Return the codes of some rows, or of all, of shape (columns, rows)."""
        if index is None:
            parts = list(self.run(_get_codes))
            return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return np.ascontiguousarray(self.gather(index, _take_codes).T)

    def locate(self, index: Index | None) -> Values:
        """Return where some rows, in order, are in each block; None is all rows."""
        if index is None:
            return [np.arange(n) for n in self.sizes]
        ends = np.cumsum(self.sizes)
        bounds = np.searchsorted(index, np.concatenate([[0], ends]))
        return [
            index[a:b] - (end - n)
            for a, b, end, n in zip(bounds[:-1], bounds[1:], ends, self.sizes, strict=True)
        ]

    def gather(self, index: Index, function: Callable[..., Any], *values: Values) -> NDArray[Any]:
        """Return what a function returns of some rows; it is called with those of its block."""
        order = np.argsort(index, kind="stable")
        local = Rows.locate(self, index[order])
        found = np.concatenate(list(self.run(function, local, *values)))
        out = np.empty_like(found)
        out[order] = found
        return out


class MemoryRows(Rows):
    """Blocks in memory, each worked on by one of some threads."""

    def __init__(self, blocks: Sequence[Any], n_threads: int = 1) -> None:
        super().__init__([block.n_rows for block in blocks])
        self.blocks, self.n_threads = blocks, n_threads

    def run(self, function: Callable[..., Any], *values: Values) -> Iterator[Any]:
        """Yield the results of a function of each block."""
        n_threads = min(self.n_threads, len(self.blocks))
        return run_ahead(function, zip(self.blocks, *values, strict=True), n_threads)

    def make(self, n: int, function: Callable[..., Any], *values: Values) -> list[Values]:
        """Return values of the rows."""
        made = list(self.run(function, *values))
        return [[parts[i] for parts in made] for i in range(n)]

    def make_total(
        self, n: int, function: Callable[..., Any], *values: Values
    ) -> tuple[list[Values], Any]:
        """Return values of the rows and a sum."""
        made = list(self.run(function, *values))
        return [[parts[i] for parts in made] for i in range(n)], fold(
            (parts[-1] for parts in made), add
        )

    def store(
        self, n: int, function: Callable[..., Any], merge: Callable[[Any, Any], Any]
    ) -> tuple[Rows, list[Values], Any]:
        """Return rows as codes, values of them, and what they sum up to."""
        made = list(self.run(function))
        inner = self.n_threads if len(made) == 1 else 1
        rows = MemoryRows([Block(parts[0], inner) for parts in made], self.n_threads)
        values: list[Values] = [[parts[1 + i] for parts in made] for i in range(n)]
        return rows, values, fold((parts[-1] for parts in made), merge)


def run_ahead(
    function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], n_threads: int
) -> Iterator[Any]:
    """Yield the results of calls in order; some are computed ahead by other threads.

    Examples
    --------
    >>> list(run_ahead(lambda x: x * x, [(1,), (2,), (3,)], 2))
    [1, 4, 9]
    """
    if n_threads <= 1:
        for each in arguments:
            yield function(*each)
        return
    with ThreadPoolExecutor(n_threads) as team:
        left = iter(arguments)
        waiting = deque(team.submit(function, *each) for each in islice(left, 2 * n_threads))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(team.submit(function, *each) for each in islice(left, 1))
            yield result


def add(a: Any, b: Any) -> Any:
    """Return a sum: of tuples that of their entries, of lists one after the other.

    Examples
    --------
    >>> add((1.5, ["a"]), (2.0, ["b"]))
    (3.5, ['a', 'b'])
    """
    if isinstance(a, tuple):
        return tuple(one + other for one, other in zip(a, b, strict=True))
    return a + b


@dataclass(frozen=True)
class _InTuple:
    """A function whose result is put into a tuple."""

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> tuple[Any]:
        return (self.function(*arguments),)


def _take(block: Block, index: Index, values: NDArray[Any]) -> NDArray[Any]:
    del block
    return np.asarray(values[index])


def _get_codes(block: Block) -> Codes:
    return block.codes


def _take_codes(block: Block, index: Index) -> Codes:
    return np.asarray(block.codes[:, index].T)
