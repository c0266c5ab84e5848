"""Rows kept on disk beyond a budget of memory, in files without a name.

A file that was never linked to a folder is gone when its process ends, however that ends: a
fit that is killed leaves nothing behind.
"""

from __future__ import annotations

import errno
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from newron.engine.rows import Block, Rows, Values, add, fold, run_ahead
from newron.errors import InputError


@dataclass
class Budget:
    """How many bytes may stay in memory, and where the others go."""

    left: int
    folder: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))

    def reserve(self, n_bytes: int) -> bool:
        """Take some of the bytes, where there are so many left."""
        if n_bytes > self.left:
            return False
        self.left -= n_bytes
        return True

    def release(self, n_bytes: int) -> None:
        """Count bytes as free again."""
        self.left += n_bytes

    def open_file(self) -> IO[bytes]:
        """Open a file without a name."""
        try:
            return tempfile.TemporaryFile(dir=self.folder, prefix="newron-")
        except OSError as error:
            raise InputError(
                f"{self.folder}: expected a folder to keep bins in, got {error.strerror}; name "
                "another one by cache=, or allow more memory="
            ) from None


@dataclass(frozen=True)
class _Constant:
    """An array whose values are all the same."""

    value: Any
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class _Place:
    """Where an array is in the file."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass
class _Held:
    """What is freed when values are not needed any more."""

    budget: Budget
    n_bytes: int = 0
    file: IO[bytes] | None = None

    def free(self) -> None:
        """Free memory and disk."""
        self.budget.release(self.n_bytes)
        if self.file is not None:
            self.file.close()


class StoredValues(Sequence[NDArray[Any]]):
    """A value of every row, block by block, in memory or on disk."""

    def __init__(self, budget: Budget) -> None:
        self._held = _Held(budget)
        self._items: list[NDArray[Any] | _Constant | _Place] = []
        self._end = 0
        weakref.finalize(self, self._held.free)

    def append(self, array: NDArray[Any]) -> None:
        """Add the values of the next block."""
        array = np.ascontiguousarray(array)
        if array.size and array.flat[0] == array.flat[-1] and np.all(array == array.flat[0]):
            self._items.append(_Constant(array.flat[0], array.shape, array.dtype))
        elif self._held.budget.reserve(array.nbytes):
            self._held.n_bytes += array.nbytes
            self._items.append(array)
        else:
            self._items.append(self._write(array))

    def _write(self, array: NDArray[Any]) -> _Place:
        held = self._held
        if held.file is None:
            held.file = held.budget.open_file()
        place = _Place(self._end, array.shape, array.dtype)
        left = array.view(np.uint8).reshape(-1).data
        try:
            while left:
                written = os.pwrite(held.file.fileno(), left, self._end)
                self._end, left = self._end + written, left[written:]
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise InputError(
                f"{held.budget.folder}: expected room on the disk for bins, got a full one after "
                f"{self._end / 1e6:.0f} MB; name another folder by cache=, or allow more memory="
            ) from None
        return place

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        """Return the values of a block."""
        item = self._items[index]
        if isinstance(item, _Constant):
            return np.full(item.shape, item.value, item.dtype)
        if not isinstance(item, _Place):
            return item
        assert self._held.file is not None  # noqa: S101 - it was written
        out = np.empty(item.shape, item.dtype)
        left, offset = out.view(np.uint8).reshape(-1).data, item.offset
        while left:
            read = os.preadv(self._held.file.fileno(), [left], offset)
            left, offset = left[read:], offset + read
        return out


class KeptRows(Rows):
    """Rows of which values are kept in memory up to a budget, and then on disk."""

    def __init__(self, sizes: Sequence[int], budget: Budget, n_threads: int) -> None:
        super().__init__(sizes)
        self._budget, self.n_threads = budget, n_threads

    def make(self, n: int, function: Callable[..., Any], *values: Values) -> list[Values]:
        """Return values of the rows."""
        made = [StoredValues(self._budget) for _ in range(n)]
        for parts in self.run(function, *values):
            _keep(made, parts)
        return list(made)

    def make_total(
        self, n: int, function: Callable[..., Any], *values: Values
    ) -> tuple[list[Values], Any]:
        """Return values of the rows and a sum."""
        made = [StoredValues(self._budget) for _ in range(n)]
        total = fold((_keep(made, parts) for parts in self.run(function, *values)), add)
        return list(made), total

    def store(
        self, n: int, function: Callable[..., Any], merge: Callable[[Any, Any], Any]
    ) -> tuple[Rows, list[Values], Any]:
        """Return rows as codes, values of them, and what they sum up to."""
        return store_rows(self.run(function), n, merge, self._budget, self.n_threads)


class StoredRows(KeptRows):
    """Blocks of codes in memory or on disk, each worked on by one of some threads."""

    def __init__(self, codes: Values, sizes: Sequence[int], budget: Budget, n_threads: int) -> None:
        super().__init__(sizes, budget, n_threads)
        self._codes = codes

    def run(self, function: Callable[..., Any], *values: Values) -> Iterator[Any]:
        """Yield the results of a function of each block."""
        # Blocks are read here, one after the other, as they are needed.
        arguments = (
            (Block(self._codes[i]), *(part[i] for part in values)) for i in range(len(self.sizes))
        )
        return run_ahead(function, arguments, self.n_threads)


def store_rows(
    results: Iterator[tuple[Any, ...]],
    n: int,
    merge: Callable[[Any, Any], Any],
    budget: Budget,
    n_threads: int,
) -> tuple[Rows, list[Values], Any]:
    """Keep what was made of each block: codes, ``n`` values, and a part of a sum."""
    codes, *values = made = [StoredValues(budget) for _ in range(1 + n)]
    sizes: list[int] = []

    def keep(parts: tuple[Any, ...]) -> Any:
        sizes.append(parts[0].shape[1])
        return _keep(made, parts)

    total = fold(map(keep, results), merge)
    return StoredRows(codes, sizes, budget, n_threads), list(values), total


def _keep(made: Sequence[StoredValues], parts: tuple[Any, ...]) -> Any:
    """Keep the first values of a block, and return what is left: a part of a sum."""
    for each, part in zip(made, parts, strict=False):
        each.append(part)
    return parts[-1]
