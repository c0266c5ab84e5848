"""Dask collections as rows in blocks: partitions of any size, cut by the numbers of rows alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from newron.dask.memory import keep_freed_memory
from newron.dask.rows import CODE_BYTES, RAW_BYTES, DaskRows, Group, choose_width
from newron.dask.tasks import Cluster
from newron.engine.binning import RawBlock
from newron.engine.rows import cut_rows
from newron.errors import InputError, NewronWarning
from newron.model.arithmetic import Floats
from newron.tables.files import ColumnOptions
from newron.tables.labelled import LabelledSource, describe_survey
from newron.tables.parts import BatchSource
from newron.tables.survey import ColumnSurvey
from newron.tables.table import EncodedTable, Target
from newron.training import large
from newron.training.large import make_block


def is_collection(X: Any) -> bool:
    """Return whether something is a Dask data frame or array."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


@dataclass(frozen=True)
class Partitions:
    """The parts of a table on a cluster, each a frame or a tuple of X, y and weights.

    ``target`` and ``weight`` are names of columns.
    """

    cluster: Cluster
    futures: list[Any]
    target: str
    weight: str | None

    @classmethod
    def make(cls, cluster: Cluster, X: Any, y: Any, sample_weight: Any) -> Partitions:
        """Begin to compute the partitions of collections."""
        _check_kinds(X, y, sample_weight)
        compute = cluster.client.compute
        others = [each for each in (y, sample_weight) if each is not None]
        if all(isinstance(each, str) for each in others):
            return cls(cluster, compute(_list_parts(X)), y, sample_weight)
        columns = [_list_parts(each) for each in (X, *others)]
        if len({len(parts) for parts in columns}) > 1:
            raise InputError(
                "expected X, y and sample_weight with the same partitions, got "
                f"{' and '.join(str(len(parts)) for parts in columns)}; repartition them alike"
            )
        joined = cluster.map(_join, *map(compute, columns))
        names = [_name(y, "y"), None if sample_weight is None else _name(sample_weight, "weight")]
        return cls(cluster, joined, names[0] or "y", names[1])

    def survey(self, categories: Sequence[str], task: str) -> LabelledSource:
        """Find out what the columns are, each partition by itself."""
        if len(self.futures) == 1:
            warnings.warn(
                "the collection has one partition, which one worker reads alone; repartition it",
                NewronWarning,
                stacklevel=5,
            )
        parts = self.cluster.map(_survey, self.futures)
        few = self.cluster.map(_take_few, self.futures[:1])[0]
        surveys = self.cluster.merge(parts, _merge, most=1)  # counts are large
        options = ColumnOptions(categories=categories)
        first = BatchSource([self.cluster.find_result(few)])
        for name in filter(None, (self.target, self.weight)):
            first.check_column(name, "the target" if name == self.target else "the weights")
        finished = {name: survey.finish() for name, survey in surveys.items()}
        return describe_survey(first, self.target, self.weight, options, finished, task)

    def encode(self, labelled: LabelledSource) -> tuple[list[Any], list[int]]:
        """Return the rows of each partition as futures of RawBlock, and how many there are."""
        n = len(self.futures)
        slim = self.cluster.share(replace(labelled, surveys={}))
        encoded = self.cluster.map(_encode, self.futures, [slim] * n)
        return encoded, list(self.cluster.list_results(self.cluster.map(_count, encoded)))

    def to_rows(self, encoded: Sequence[Any], sizes: Sequence[int], n_columns: int) -> DaskRows:
        """Cut encoded partitions into blocks by the numbers of rows alone."""
        ends = np.cumsum(sizes)
        blocks = cut_rows(int(ends[-1]), large.BLOCK_ROWS)
        threads = self.cluster.count_threads().values()
        cells = large.BLOCK_ROWS * n_columns
        limits = (CODE_BYTES // cells, RAW_BYTES // (8 * cells))
        wide, width = (
            choose_width(len(blocks), len(threads), sum(threads), limit) for limit in limits
        )
        groups = []
        for i in range(0, len(blocks), width):
            own = blocks[i : i + width]
            at = np.searchsorted(ends, [own[0].start, own[-1].stop - 1], side="right")
            parts = range(int(at[0]), int(at[1]) + 1)
            begin = own[0].start - (int(ends[parts[0]]) - sizes[parts[0]])
            lengths = tuple(one.stop - one.start for one in own)
            read = partial(_cut, begin, lengths)
            groups.append(Group(lengths, read, tuple(encoded[p] for p in parts)))
        return DaskRows(self.cluster, groups, wide // width)


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
        if getattr(value, "ndim", 1) != 1:
            raise InputError(f"{name}: expected one column, got a collection of several")
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
    keep_freed_memory()
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


def _cut(begin: int, sizes: Sequence[int], *parts: RawBlock) -> Iterator[RawBlock]:
    """Yield blocks of these sizes, from a row of the first part on; a block at a time is copied."""
    ends = np.cumsum([part.n_rows for part in parts])
    for size in sizes:
        own = []
        for part, end in zip(parts, ends, strict=True):
            first, stop = (int(at) - int(end) + part.n_rows for at in (begin, begin + size))
            if first < part.n_rows and stop > 0:
                own.append(part.take(slice(max(first, 0), min(stop, part.n_rows))))
        yield large.join_blocks(own) if len(own) > 1 else own[0]
        begin += size


def gather_table(
    cluster: Cluster, encoded: Sequence[Any], labelled: LabelledSource
) -> tuple[EncodedTable, Target, Floats | None]:
    """Return a table that is not large, its target and weights."""
    whole = large.join_blocks(list(cluster.list_results(encoded)))
    labels, values = labelled.target.categories, whole.y[:, 0]
    codes = values if labels is None else values.astype(np.intp)
    target = Target(labelled.target.name, labels, codes)
    weight = None if labelled.weight is None else whole.weight
    return EncodedTable(labelled.fields, whole.X), target, weight
