"""A table to train on that is read in blocks, more than once."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from newron.errors import InputError
from newron.tables.files import ColumnOptions
from newron.tables.labelled import LabelledSource, survey_labelled
from newron.tables.parts import BatchSource, open_parts
from newron.tables.source import Source

MEMORY = "512MB"
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def open(  # noqa: A001 - newron.data.open, as gzip.open
    pattern: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    missing: Iterable[str] = (),
    header: bool = True,
    memory: int | str = MEMORY,
    cache: str | PathLike[str] | None = None,
) -> Dataset:
    r"""Open files as one table to train on, which need not fit into memory.

    Parameters
    ----------
    pattern : str, path-like, or sequence of these
        A file, a folder, a pattern such as ``"folder/*.parquet"``, or a list of files, with the
        same columns: Parquet, Arrow, CSV (plain or gzip), JSON lines or Excel. Files are read in
        the order of their names, or of the list.
    drop, categories, missing, header
        As those of :func:`newron.tables.read`.
    memory : int or str, default "512MB"
        How much of the bins stays in memory; the rest is kept on disk while a fit runs. It changes
        no result.
    cache : str or path-like, optional
        The folder for what is kept on disk, by default that of temporary files. Nothing is left
        in it, not even by a fit that is killed.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from newron import NewronClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(3):
    ...         rows = "".join(f"{j},{'yes' if j > 4 else 'no'}\n" for j in range(9))
    ...         _ = Path(folder, f"{i}.csv").write_text("size,large\n" + rows)
    ...     data = open(f"{folder}/*.csv")
    ...     model = NewronClassifier(random_state=0).fit(data, "large").model_
    >>> data
    <Dataset: 3 files of CSV with commas, 2 columns>
    >>> model.predict([[2.0], [7.0]]).tolist()
    ['no', 'yes']
    """
    source = open_parts(pattern, header=header)
    return _make(source, ColumnOptions(drop, categories, missing), memory, cache)


def from_batches(
    batches: Iterable[Any],
    *,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    missing: Iterable[str] = (),
    memory: int | str = MEMORY,
    cache: str | PathLike[str] | None = None,
) -> Dataset:
    """Make one table to train on of batches, which need not fit into memory together.

    Parameters
    ----------
    batches : sequence or re-iterable
        Data frames of any library, 2-d arrays, or tuples of X, y and maybe weights, whose columns
        are then called y and weight. They are read several times: a list, or an object whose
        ``__iter__`` begins anew, and no generator.
    drop, categories, missing, memory, cache
        As those of :func:`open`; ``missing`` has all words for a missing value, there are no
        usual ones.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from newron import NewronRegressor
    >>> import numpy as np
    >>> parts = [(np.arange(i, i + 50.0)[:, None], np.arange(i, i + 50.0)) for i in (0, 50)]
    >>> model = NewronRegressor("sigmoid").fit(from_batches(parts), "y").model_
    >>> model.schema.names
    ('x1',)
    """
    return _make(BatchSource(batches), ColumnOptions(drop, categories, missing), memory, cache)


def _make(
    source: Source,
    options: ColumnOptions,
    memory: int | str,
    cache: str | PathLike[str] | None,
) -> Dataset:
    folder = Path(tempfile.gettempdir()) if cache is None else Path(cache)
    return Dataset(source, options, _count_bytes(memory), folder)


def _count_bytes(memory: int | str) -> int:
    found = re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]*)\s*", str(memory))
    unit = _UNITS.get(found[2].upper()) if found else None
    if not found or unit is None or found[1].count(".") > 1:
        raise InputError(f'memory: expected bytes, or text such as "512MB", got {memory!r}')
    return int(float(found[1]) * unit)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table that is read in blocks: taken wherever X is in ``fit``, with a column's name for y.

    Make one with :func:`newron.data.open` or :func:`newron.data.from_batches`.

    Parameters
    ----------
    source : Source
        What is read, see newron.tables.
    options : ColumnOptions
        What the user says of the columns.
    memory : int
        Bytes of bins that stay in memory.
    cache : Path
        The folder for the others.
    surveyed : LabelledSource, optional
        What is known of the columns already.
    on_progress : callable, optional
        Called with the number of rows that a reading has read.

    Examples
    --------
    >>> from_batches([[[1.0, 2.0], [3.0, 4.0]]]).names
    ('x1', 'x2')
    """

    source: Source
    options: ColumnOptions = field(default_factory=ColumnOptions)
    memory: int = _count_bytes(MEMORY)
    cache: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))
    surveyed: LabelledSource | None = None
    on_progress: Callable[[int], None] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.source.names

    def __repr__(self) -> str:
        """Return what it is in one line."""
        return f"<Dataset: {self.source.form}, {len(self.names)} columns>"

    def survey(
        self,
        target: str,
        weight: str | None = None,
        *,
        task: str | None = None,
        on_progress: Callable[[], None] = lambda: None,
    ) -> LabelledSource:
        """Find out what the columns are; all rows are read once.

        Parameters
        ----------
        target : str
            The column to predict. Rows without it are left out.
        weight : str, optional
            The column of the rows' weights.
        task : {"classes", "regression"}, optional
            By default what the target looks like.
        on_progress : callable, optional
            Called after each batch.

        Returns
        -------
        LabelledSource
        """
        known = self.surveyed
        if known is not None and (known.target.name, known.weight) == (target, weight):
            return known
        return survey_labelled(
            self.source, target, self.options, weight=weight, task=task, on_progress=on_progress
        )
