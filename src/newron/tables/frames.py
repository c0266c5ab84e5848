"""Frames to give back: of the library whose frame was given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from newron._extras import import_extra
from newron.tables.memory import is_frame

if TYPE_CHECKING:
    import pandas as pd


def make_pandas(records: Iterable[Any], names: Sequence[str], what: str) -> pd.DataFrame:
    """Return records as a data frame of pandas, or raise an error that names the extra.

    - ``names``: The columns.
    - ``what``: What the data frame is of.
    """
    pandas = import_extra("pandas", f"for a data frame of {what}", "pandas")
    made: pd.DataFrame = pandas.DataFrame(list(records), columns=list(names))
    return made


def make_frame(values: Any, names: Sequence[str], like: Any) -> Any:
    """Return a table as a frame of the kind that another table is, with its index.

    - ``like``: Where it is no frame, the array is returned as it is.

    >>> import numpy as np
    >>> make_frame(np.eye(2), ("a", "b"), like=[[1, 2], [3, 4]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if not is_frame(like):
        return values
    import narwhals as nw

    given = nw.from_native(like, eager_only=True)
    columns = {name: values[:, i] for i, name in enumerate(names)}
    made = nw.to_native(nw.from_dict(columns, backend=nw.get_native_namespace(given)))
    index = nw.maybe_get_index(given)
    if index is not None:
        made.index = index  # a frame of our own, of a library that has indexes
    return made
