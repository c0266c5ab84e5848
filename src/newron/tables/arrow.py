"""Parquet and Arrow files, read by pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from newron._extras import import_extra
from newron.errors import InputError
from newron.tables.buffers import has_numbers, read_dictionary, read_numbers
from newron.tables.cells import Cells
from newron.tables.encoding import Encoder
from newron.tables.field import Label
from newron.tables.source import Batch, Source, check_names
from newron.tables.written import count_years

_BATCH_ROWS = 50_000  # of columns, which take less memory than texts
_BUFFER = 2**20  # bytes of each column of a Parquet file that are read ahead


class ArrowSource(Source):
    """A file of Parquet, of Arrow (Feather) or an Arrow stream.

    A column is read when it is first used, so that a date which nobody needs does no harm.
    """

    def __init__(self, path: Path, form: str) -> None:
        self.path, self.form = path, form
        self._pa = import_extra("pyarrow", f"to read {path} with", "files")
        with self._open() as (schema, _):
            self._schema = schema
        names = list(schema.names)
        check_names(path, names)
        self.names = tuple(name for name in names if name)

    def read(self, encoder: Encoder | None = None, others: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all rows from the first on, in batches."""
        first = 0
        fields = () if encoder is None else encoder.fields
        names = list(dict.fromkeys([*(one.name for one in fields), *others]))
        with self._open(names or None) as (_, batches):
            for batch in batches():
                for start in range(0, batch.num_rows, _BATCH_ROWS):
                    part = batch.slice(start, _BATCH_ROWS)
                    self.done = first + part.num_rows
                    yield Batch(_Columns(self, part), part.num_rows, first)
                    first += part.num_rows

    @contextmanager
    def _open(
        self, names: list[str] | None = None
    ) -> Iterator[tuple[Any, Callable[[], Iterator[Any]]]]:
        """Yield the schema, and a function that returns the batches, of some columns or all."""
        if names and any("." in name for name in names):
            names = None  # Parquet takes a dot for a part of a nested column
        pa = self._pa
        try:
            with pa.OSFile(str(self.path), "rb") as file:
                if self.form == "Parquet":
                    import pyarrow.parquet as pq

                    # Texts come as the different ones among them, which they mostly are in files.
                    texts = [] if names is None else list(filter(self._has_texts, names))
                    # Buffered ahead, a whole file would be in memory.
                    table = pq.ParquetFile(
                        file,
                        read_dictionary=texts,
                        pre_buffer=False,
                        buffer_size=_BUFFER,
                        page_checksum_verification=True,  # where the file has checksums
                    )
                    self.total = table.metadata.num_rows
                    yield table.schema_arrow, lambda: table.iter_batches(_BATCH_ROWS, columns=names)
                elif self.form == "Arrow stream":
                    stream = pa.ipc.open_stream(file)
                    yield stream.schema, lambda: iter(stream)
                else:
                    opened = pa.ipc.open_file(file)
                    count = opened.num_record_batches
                    yield opened.schema, lambda: map(opened.get_batch, range(count))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{self.path}: expected {self.form}, got a damaged file ({reason})"
            ) from None

    def find_order(self, name: str) -> tuple[Label, ...] | None:
        """Return the categories of an ordered dictionary, such as pandas writes."""
        kind = self._schema.field(name).type
        if not (self._pa.types.is_dictionary(kind) and kind.ordered):
            return None
        with self._open([name]) as (_, batches):
            for batch in batches():
                column = batch.column(batch.schema.get_field_index(name))
                return tuple(column.dictionary.to_pylist())
        return None

    def read_cells(self, array: Any, name: str) -> Cells:
        """Turn a column of a batch into numbers, or into texts and None."""
        types, kind = self._pa.types, array.type
        if types.is_dictionary(kind):
            if self._is_text(kind.value_type):
                return read_dictionary(array)
            array, kind = array.dictionary_decode(), kind.value_type
        if has_numbers(array):
            return read_numbers(array)
        if types.is_decimal(kind):
            return read_numbers(array.cast(self._pa.float64(), safe=False))
        if types.is_null(kind):
            return np.full(len(array), np.nan)
        if types.is_boolean(kind):
            words = {True: "true", False: "false", None: None}
            return [words[value] for value in array.to_pylist()]
        if self._is_text(kind):
            return read_dictionary(array.dictionary_encode())
        if types.is_date(kind) or types.is_timestamp(kind):
            moments = array.to_pylist()
            return np.array([np.nan if one is None else count_years(one) for one in moments])
        raise InputError(
            f"{self.path}: expected numbers or texts in column {name!r}, got {kind}; turn them "
            "into numbers, e.g. days since a date, or leave the column out with --drop"
        )

    def _has_texts(self, name: str) -> bool:
        return self._is_text(self._schema.field(name).type)

    def _is_text(self, kind: Any) -> bool:
        types = self._pa.types
        return bool(
            types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        )


class _Columns(dict[str, Cells]):
    """The columns of a batch, each read when it is first used."""

    def __init__(self, source: ArrowSource, batch: Any) -> None:
        super().__init__()
        self._source, self._batch = source, batch

    def __missing__(self, name: str) -> Cells:
        index = self._batch.schema.get_field_index(name)
        cells = self[name] = self._source.read_cells(self._batch.column(index), name)
        return cells
