"""Dask collections as rows in blocks: partitions of any size, cut by the numbers of rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from newron.dask.rows import DaskRows
from newron.engine.binning import RawBlock
from newron.engine.rows import cut_rows
from newron.errors import InputError, NewronWarning
from newron.model.arithmetic import Floats
from newron.tables.files import ColumnOptions
from newron.tables.labelled import LabelledSource, describe_survey
from newron.tables.parts import BatchSource
from newron.tables.survey import ColumnSurvey
from newron.training import large
from newron.training.large import make_block

__all__ = ["Partitions", "is_collection"]


def is_collection(X: Any) -> bool:
    """Return whether something is a Dask data frame or array."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


@dataclass(frozen=True)
class Partitions:
    """The parts of a table on a cluster, each a frame or a tuple of X, y and weights.

    ``target`` and ``weight`` are names of columns.
    """

    client: Any
    futures: list[Any]
    target: str
    weight: str | None

    @classmethod
    def make(cls, client: Any, X: Any, y: Any, sample_weight: Any) -> Partitions:
        """Begin to compute the partitions of collections."""
        _check_kinds(X, y, sample_weight)
        others = [each for each in (y, sample_weight) if each is not None]
        if all(isinstance(each, str) for each in others):
            futures = client.compute(_list_parts(X))
            return cls(client, futures, y, sample_weight)
        columns = [_list_parts(each) for each in (X, *others)]
        if len({len(parts) for parts in columns}) > 1:
            raise InputError(
                "expected X, y and sample_weight with the same partitions, got "
                f"{' and '.join(str(len(parts)) for parts in columns)}; repartition them alike"
            )
        rows = list(zip(*(client.compute(parts) for parts in columns), strict=True))
        joined = [client.submit(_join, *each, pure=False) for each in rows]
        names = [_name(y, "y"), None if sample_weight is None else _name(sample_weight, "weight")]
        return cls(client, joined, names[0] or "y", names[1])

    def survey(self, categories: Sequence[str], task: str) -> LabelledSource:
        """Find out what the columns are, each partition by itself."""
        if len(self.futures) == 1:
            warnings.warn(
                "the collection has one partition, which one worker reads alone; repartition it",
                NewronWarning,
                stacklevel=5,
            )
        parts = self.client.map(_survey, self.futures, pure=False)
        surveys = reduce(_merge, (part.result() for part in parts))
        options = ColumnOptions(categories=categories)
        first = BatchSource([self.client.submit(_take_few, self.futures[0]).result()])
        for name in filter(None, (self.target, self.weight)):
            first.check_column(name, "the target" if name == self.target else "the weights")
        finished = {name: survey.finish() for name, survey in surveys.items()}
        return describe_survey(first, self.target, self.weight, options, finished, task)

    def encode(self, labelled: LabelledSource) -> tuple[list[Any], list[int]]:
        """Return the rows of each partition as futures of RawBlock, and how many there are."""
        # A part of each task, and not scattered: what was scattered could not be computed again.
        slim = replace(labelled, surveys={})
        encoded = self.client.map(_encode, self.futures, labelled=slim, pure=False)
        sizes = self.client.gather(self.client.map(_count, encoded, pure=False))
        return encoded, sizes

    def to_rows(self, encoded: Sequence[Any], sizes: Sequence[int]) -> DaskRows:
        """Cut encoded partitions into blocks by the numbers of rows alone."""
        ends = np.cumsum(sizes)
        blocks, lengths = [], []
        for at in cut_rows(int(ends[-1]), large.BLOCK_ROWS):
            first, last = np.searchsorted(ends, [at.start, at.stop - 1], side="right")
            own = range(int(first), int(last) + 1)
            begin = at.start - (int(ends[first]) - sizes[first])
            parts = [encoded[i] for i in own]
            blocks.append(self.client.submit(_cut, begin, at.stop - at.start, *parts, pure=False))
            lengths.append(at.stop - at.start)
        return DaskRows(self.client, blocks, lengths)


def _check_kinds(X: Any, y: Any, sample_weight: Any) -> None:
    if not is_collection(X):
        raise InputError(
            f"X: expected a Dask data frame or array, got {type(X).__name__}; NewronClassifier and "
            "NewronRegressor take tables in memory and newron.data.open(...)"
        )
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if not (isinstance(value, str) or is_collection(value) or (value is None and name != "y")):
            raise InputError(
                f"{name}: expected a Dask collection or the name of a column, got "
                f"{type(value).__name__}"
            )
    if sample_weight is not None and isinstance(y, str) != isinstance(sample_weight, str):
        raise InputError("expected y and sample_weight both as names or both as collections")


def _list_parts(X: Any) -> list[Any]:
    if hasattr(X, "chunks"):  # an array: whole rows
        X = X if X.ndim == 1 else X.rechunk({1: -1})
    parts = np.asarray(X.to_delayed(), object)
    return list(parts.ravel())


def _name(values: Any, default: str) -> str:
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and not hasattr(values, "chunks") else default


def _join(*parts: Any) -> tuple[Any, ...]:
    lengths = {len(part) for part in parts}
    if len(lengths) > 1:
        raise InputError(
            "expected partitions of X, y and sample_weight with the same rows, got "
            f"{' and '.join(map(str, sorted(lengths)))}"
        )
    return parts


def _take_few(part: Any) -> Any:
    return tuple(each[:1] for each in part) if isinstance(part, tuple) else part[:1]


def _survey(part: Any) -> dict[str, ColumnSurvey]:
    source = BatchSource([part])
    surveys = {name: ColumnSurvey(name, source.get_format()) for name in source.names}
    for batch in source.read():
        for name, survey in surveys.items():
            survey.add(batch.columns[name])
    return surveys


def _merge(a: dict[str, ColumnSurvey], b: dict[str, ColumnSurvey]) -> dict[str, ColumnSurvey]:
    if set(a) != set(b):
        raise InputError("expected partitions with the same columns, got others")
    return {name: survey.merge(b[name]) for name, survey in a.items()}


def _encode(part: Any, labelled: LabelledSource) -> RawBlock:
    source = BatchSource([part])
    encoder = source.make_encoder(labelled.used_fields)
    rows = [labelled.encode(batch, encoder) for batch in source.read(encoder)]
    X, y, weight = labelled.split(np.concatenate(rows))
    return make_block(X, y[:, None], np.ones(len(y)) if weight is None else weight)


def _count(block: RawBlock) -> int:
    return block.n_rows


def _cut(begin: int, n_rows: int, *parts: RawBlock) -> RawBlock:
    joined = large.join_blocks(parts) if len(parts) > 1 else parts[0]
    return joined.take(np.arange(begin, begin + n_rows))


def gather_table(client: Any, encoded: Sequence[Any]) -> tuple[Floats, Floats, Floats]:
    """Return a table that is not large: its rows, targets and weights."""
    whole = large.join_blocks(client.gather(list(encoded)))
    return whole.X, whole.y[:, 0], whole.weight
