"""The schema of the columns of a table, from its bins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newron.engine.binning import BinnedTable, Bins, NumberBins
from newron.engine.scales import make_scales
from newron.model.schema import Column, Schema
from newron.tables.field import Field

_FEW_VALUES = 20


def describe_columns(
    fields: Sequence[Field], table: BinnedTable, gaps: NDArray[np.bool_], *, ranks: bool
) -> Schema:
    """Return the schema of rows, with rank scales where functions may read ranks.

    ``gaps`` are the columns in which values are missing.
    """
    bins = {bins.source: bins for bins in table.columns}
    columns = [
        _describe(field, bins[source], bool(gaps[source]), ranks)
        for source, field in enumerate(fields)
    ]
    return Schema(tuple(columns))


def _describe(field: Field, bins: Bins, gaps: bool, ranks: bool) -> Column:
    if not isinstance(bins, NumberBins):
        high = max(len(field.categories or ()) - 1.0, 0.0)
        return Column(field.name, 0.0, high, categories=field.categories, gaps=gaps)
    if not np.any(bins.mass[:-1] > 0.0):
        return Column(field.name, 0.0, 0.0, gaps=True)
    rank = make_scales(bins)[-1].rank if ranks else None
    low, high = float(bins.lows.min()), float(bins.highs.max())
    return Column(field.name, low, high, _list_values(bins), rank_scale=rank, gaps=gaps)


def _list_values(bins: NumberBins) -> tuple[float, ...] | None:
    """Return a column's values where they are few and whole."""
    values = bins.lows
    if len(values) > _FEW_VALUES or not np.array_equal(values, bins.highs):
        return None
    return tuple(values.tolist()) if np.all(values == np.round(values)) else None
