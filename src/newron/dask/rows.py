"""Rows in the memory of Dask workers: every step of a fit is a set of tasks, one for each block.

Tasks are pure: they read blocks and return new values, so that what a lost worker had is computed
again. Sums of blocks come back to the client, which adds them in the order of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.engine.rows import Block, Index, Rows, Values

__all__ = ["DaskRows"]

_RETRIES = 3  # of a task


class DaskRows(Rows):
    """Blocks as futures of a client.

    Parameters
    ----------
    client : distributed.Client
    blocks : sequence of Future
    sizes : sequence of int
    """

    fingerprint = ""  # raw rows do not come to the client

    def __init__(self, client: Any, blocks: Sequence[Any], sizes: Sequence[int]) -> None:
        super().__init__(sizes)
        self._client, self._blocks = client, list(blocks)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False, retries=_RETRIES)

    def _start(self, function: Callable[..., Any], *values: Values) -> list[Any]:
        arguments = zip(self._blocks, *values, strict=True)
        return [self._submit(function, *each) for each in arguments]

    def run(self, function: Callable[..., Any], *values: Values) -> Iterator[Any]:
        """Yield the results of a function of each block."""
        waiting = self._start(function, *values)
        while waiting:
            yield waiting.pop(0).result()  # its memory is freed as soon as it is here

    def make(self, n: int, function: Callable[..., Any], *values: Values) -> list[Values]:
        """Return values of the rows, which stay with the workers."""
        made = self._start(function, *values)
        return [[self._submit(itemgetter(i), parts) for parts in made] for i in range(n)]

    def store(
        self, n: int, function: Callable[..., Any], merge: Callable[[Any, Any], Any]
    ) -> tuple[Rows, list[Values], Any]:
        """Return rows as codes, values of them, and what they sum up to."""
        made = self._start(function)
        sums = [self._submit(itemgetter(-1), parts) for parts in made]
        blocks = [self._submit(_make_block, parts) for parts in made]
        values: list[Values] = [
            [self._submit(itemgetter(1 + i), parts) for parts in made] for i in range(n)
        ]
        rows = DaskRows(self._client, blocks, self.sizes)
        return rows, values, reduce(merge, (part.result() for part in sums))

    def take(self, index: Index | None, values: Values) -> NDArray[Any]:
        """Return a value of some rows, or of all."""
        if index is None:
            return super().take(None, self._client.gather(list(values)))
        return super().take(index, values)


def _make_block(parts: tuple[Any, ...]) -> Block:
    return Block(np.asarray(parts[0]))
