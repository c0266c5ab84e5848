"""Tables too large to be merged, sorted and copied: rows in blocks, and a sample of them.

Whether a table is large depends on its rows and columns alone, so that one in memory and one in
files are trained alike, to the last bit. The engine works on all rows; whatever else a fit does
(shortening numbers, growing terms, racing networks with hidden layers) goes by the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from newron.data import Dataset
from newron.engine.binning import EDGE_SAMPLE, RawBlock, ValueCounts, count_block, merge_counts
from newron.engine.fitting import REFIT_SAMPLE
from newron.engine.rows import (
    BLOCK_ROWS,
    Index,
    MemoryRows,
    Rows,
    Values,
    cut_rows,
    fold,
    run_ahead,
)
from newron.engine.storage import Budget, KeptRows, StoredValues, store_rows
from newron.model.arithmetic import Floats
from newron.tables.field import Field
from newron.tables.fingerprint import TableHash
from newron.tables.labelled import LabelledSource, find_between
from newron.training.folds import MANY_ROWS
from newron.training.training_set import Counts, TrainingSet, count_rows

__all__ = [
    "BLOCK_ROWS",
    "DatasetRows",
    "hash_blocks",
    "is_large",
    "join_blocks",
    "list_blocks",
    "make_block",
    "make_large_set",
]

LARGE_CELLS = 2**24  # values of a table, beyond which it is large
SAMPLE_ROWS = 100_000
MEMORY = 512_000_000  # bytes of what is made of memory-mapped arrays
_SEED = 8


def is_large(n_rows: int, n_columns: int) -> bool:
    """Return whether a table is trained in blocks; rows without weight do not count."""
    return n_rows >= MANY_ROWS and n_rows * n_columns > LARGE_CELLS


def list_blocks(
    X: Floats, y: Floats, weight: Floats | None, count: Counts | None, n_threads: int
) -> Rows:
    """Return the rows of arrays as blocks, without those of weight 0.

    What is made of a memory-mapped array is kept on disk beyond a budget.
    """
    used = None if weight is None or np.all(weight) else np.flatnonzero(weight)
    n_rows = len(X) if used is None else len(used)
    blocks = []
    for at in cut_rows(n_rows, BLOCK_ROWS):
        rows = at if used is None else used[at]
        weights = np.ones(at.stop - at.start) if weight is None else weight[rows]
        blocks.append(_LazyBlock(X, y, rows, weights, None if count is None else count[rows]))
    return _ArrayRows(blocks, n_threads, Budget(MEMORY) if _is_mapped(X) else None)


def _is_mapped(array: Any) -> bool:
    """Whether an array lies in a file."""
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


class _LazyBlock:
    """Rows of arrays, which are read and made float64 when they are needed."""

    def __init__(
        self, X: Floats, y: Floats, rows: slice | Index, weight: Floats, count: Counts | None
    ) -> None:
        self.X, self.y, self.rows, self.weight, self.count = X, y, rows, weight, count
        self.n_rows = len(weight)

    def load(self) -> RawBlock:
        """Read the rows."""
        X = np.ascontiguousarray(self.X[self.rows], np.float64)
        return make_block(X, np.asarray(self.y[self.rows]), self.weight, self.count)


class _ArrayRows(MemoryRows):
    """Blocks of arrays; those of memory-mapped ones are in memory only while they are used."""

    def __init__(self, blocks: Sequence[_LazyBlock], n_threads: int, budget: Budget | None) -> None:
        super().__init__(blocks, n_threads)
        self._budget = budget

    def store(
        self, n: int, function: Callable[..., Any], merge: Callable[[Any, Any], Any]
    ) -> tuple[Rows, list[Values], Any]:
        """Return rows as codes, values of them, and what they sum up to."""
        if self._budget is None:
            return super().store(n, function, merge)
        return store_rows(self.run(function), n, merge, self._budget, self.n_threads)

    def run(self, function: Callable[..., Any], *values: Values) -> Iterator[Any]:
        """Yield the results of a function of each block."""
        return super().run(_OnLoaded(function), *values)


class _OnLoaded:
    """A function of a block that is read first."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, block: _LazyBlock, *parts: Any) -> Any:
        """Call the function."""
        return self.function(block.load(), *parts)


def make_block(X: Floats, y: Floats, weight: Floats, count: Counts | None = None) -> RawBlock:
    """Return a block; by default a whole weight counts so many rows, any other one."""
    counts = count_rows(weight) if count is None else count
    return RawBlock(X, y, weight, counts.astype(np.float64))


class DatasetRows(KeptRows):
    """The rows of a data set, read again whenever all are needed.

    Some are kept: those that samples are made of, collected in one reading.
    """

    def __init__(
        self,
        labelled: LabelledSource,
        data: Dataset,
        n_threads: int,
        check: Callable[[Floats], None] | None = None,
    ) -> None:
        sizes = [at.stop - at.start for at in cut_rows(labelled.n_used, BLOCK_ROWS)]
        super().__init__(sizes, Budget(data.memory, data.cache), n_threads)
        self._labelled, self._check, self._on_progress = labelled, check, data.on_progress
        self.is_unweighed = labelled.weight is None
        self.fingerprint = ""
        self.counts: ValueCounts | None = None  # found together with the fingerprint
        self._kept: tuple[Index, RawBlock] | None = None

    def _list_blocks(self) -> Iterator[RawBlock]:
        n_rows = 0
        for X, y, weight in self._labelled.read_blocks(BLOCK_ROWS):
            n_rows += len(y)
            if self._on_progress is not None:
                self._on_progress(n_rows)
            if self._check is not None:
                self._check(y[:, None])
            yield make_block(X, y[:, None], np.ones(len(y)) if weight is None else weight)

    def run(self, function: Callable[..., Any], *values: Values) -> Iterator[Any]:
        """Yield the results of a function of each block."""
        arguments = zip(self._list_blocks(), *values, strict=True)
        return run_ahead(function, arguments, self.n_threads)

    def collect(self, samples: Sequence[tuple[int, int]]) -> None:
        """Read all rows once, keep those of some samples, count, and know the table's fingerprint.

        A sample is a number of rows and a seed.
        """
        chosen = [self.sample(*each) for each in samples]
        none = np.zeros(0, np.intp)
        index = np.unique(np.concatenate([none, *(each for each in chosen if each is not None)]))
        digest = TableHash([one.name for one in self._labelled.fields])
        targets, parts = StoredValues(self._budget), []

        def read() -> Iterator[ValueCounts]:
            first = 0
            for block in self._list_blocks():
                digest.add(block.X)
                targets.append(block.y)
                parts.append(block.take(find_between(index, first, first + block.n_rows)))
                first += block.n_rows
                yield count_block(block)

        self.counts = fold(read(), merge_counts)
        self.fingerprint = digest.finish(targets)
        self._kept = index, join_blocks(parts)

    def gather(self, index: Index, function: Callable[..., Any], *values: Values) -> Any:
        """Return what a function returns of some rows."""
        if self._kept is not None and not values:
            known, block = self._kept
            at = np.searchsorted(known, index)
            if len(known) and np.array_equal(known[np.minimum(at, len(known) - 1)], index):
                return function(block, at)
        return super().gather(index, function, *values)


def join_blocks(parts: Sequence[RawBlock]) -> RawBlock:
    """Return blocks as one."""

    def join(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return RawBlock(join("X"), join("y"), join("weight"), join("count"))


def make_large_set(raw: Rows, fields: tuple[Field, ...]) -> TrainingSet:
    """Return the training set of rows in blocks: some of them, and all as its ``whole``."""
    limit = int(np.clip(LARGE_CELLS // max(len(fields), 1), 5_000, SAMPLE_ROWS))
    if isinstance(raw, DatasetRows):
        raw.collect([EDGE_SAMPLE, REFIT_SAMPLE, (limit, _SEED)])
    index = raw.sample(limit, _SEED)
    rows = np.arange(raw.n_rows) if index is None else index
    n = len(fields)
    taken = raw.gather(rows, _take)
    data = TrainingSet.from_rows(
        np.ascontiguousarray(taken[:, :n]), taken[:, n:-1].copy(), taken[:, -1].copy(), fields
    )
    return replace(data, whole=raw)


def _take(block: RawBlock, index: Index) -> Floats:
    return np.column_stack([block.X[index], block.y[index], block.weight[index]])


def hash_blocks(raw: Rows, fields: Sequence[Field]) -> str:
    """Return the fingerprint of a table in blocks."""
    known: str | None = getattr(raw, "fingerprint", None)
    if known is not None:
        return known
    digest, targets = TableHash([one.name for one in fields]), []
    for X, y in raw.run(_get_table):
        digest.add(X)
        targets.append(y)
    return digest.finish(targets)


def _get_table(block: RawBlock) -> tuple[Floats, Floats]:
    return block.X, block.y
