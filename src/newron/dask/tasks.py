"""What newron asks of a Dask cluster: tasks that are retried, and results that do not hang."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from newron._extras import import_extra
from newron.engine.rows import WIDTH, fold
from newron.errors import InputError

_RETRIES = 3  # of a task
_PATIENCE = 60.0  # seconds without any worker, after which a fit ends
_SMALL = 10_000  # bytes that every task may bring along
_MERGED = WIDTH**2  # parts of a sum that a task adds: two levels of the tree


class Cluster:
    """The public task interface of a client.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    @classmethod
    def find(cls) -> Cluster:
        """Return that of the client that there is."""
        distributed = import_extra("distributed", "for Dask", "dask")
        try:
            return cls(distributed.get_client())
        except ValueError:
            raise InputError(
                "expected a Dask client, got none; make one first: distributed.Client(...)"
            ) from None

    def count_threads(self) -> dict[str, int]:
        """Return how many threads each worker has."""
        return dict(sorted(self.client.nthreads().items()))

    def map(self, function: Callable[..., Any], *columns: Sequence[Any], **how: Any) -> list[Any]:
        """Begin to compute a function of each row of arguments, futures among them."""
        if not columns[0]:
            return []
        made: list[Any] = self.client.map(function, *columns, pure=False, retries=_RETRIES, **how)
        return made

    def share(self, value: Any) -> Any:
        """Return a value that many tasks need, or a future of it, so that it is sent once.

        It is made by a task, and not scattered: what was scattered could not be made again.
        """
        from distributed.protocol.pickle import dumps

        if len(dumps(value)) <= _SMALL:  # type: ignore[no-untyped-call]
            return value
        return self.client.submit(_Return(value), pure=False, retries=_RETRIES)

    def list_results(self, futures: Sequence[Any]) -> list[Any]:
        """Return results in their order, all of them in one message."""
        from distributed import KilledWorker

        gather = partial(self.client.gather, list(futures), asynchronous=True)
        while True:
            try:
                found: list[Any] = self.client.sync(gather, callback_timeout=_PATIENCE)
                return found
            except KilledWorker as error:
                raise InputError(
                    "expected workers that can hold their rows, got some that died at it "
                    "again and again; give them more memory, or make the partitions smaller: "
                    + str(error).split("\n")[0]
                ) from None
            except TimeoutError:
                if any(future.status == "error" for future in futures):  # and this is its own
                    raise
                if not self.client.nthreads():
                    raise InputError(
                        f"expected a worker on the Dask cluster, got none for {_PATIENCE:.0f} s; "
                        "start some, and fit again"
                    ) from None

    def find_result(self, future: Any) -> Any:
        """Return what a task returns, or raise where that can never be."""
        return self.list_results([future])[0]

    def merge(self, parts: list[Any], merge: Callable[[Any, Any], Any], most: int = _MERGED) -> Any:
        """Return parts merged in the tree of sums: by workers, but for the last ones."""
        while len(parts) > most:
            chunks = [parts[i : i + _MERGED] for i in range(0, len(parts), _MERGED)]
            parts = self.map(fold, chunks, [merge] * len(chunks))
        return fold(self.list_results(parts), merge)


class _Return:
    """A function without arguments that returns a value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value
