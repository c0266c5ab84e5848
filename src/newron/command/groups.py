"""Groups of rows on the command line: read from a file, compared, printed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.terminal import Console, bold, dim
from newron.evaluation import Estimate, GroupComparison
from newron.evaluation.groups import is_fraction
from newron.formatting import format_count, format_percent, format_rounded, format_signed
from newron.tables import read
from newron.tables.files import open_table


def read_groups(
    path: Path,
    column: str,
    missing: Iterable[str],
    known: NDArray[np.bool_],
    *,
    header: bool = True,
) -> NDArray[Any]:
    """Read the groups of known rows of a file, whether the model reads the column or not."""
    open_table(path, header=header).check_column(column, "the groups")
    whole = read(path, missing=tuple(missing), header=header)
    place = whole.names.index(column)
    codes, labels = whole.rows[: len(known), place], whole.fields[place].categories
    return np.array([_name(code, labels) for code in codes[known].tolist()], object)


def _name(code: float, labels: tuple[Any, ...] | None) -> Any:
    if code != code:
        return None
    return code if labels is None else labels[int(code)]


def print_groups(console: Console, found: GroupComparison) -> None:
    """Print each group's measures, and how they differ from those of the largest group."""
    console.print()
    console.print(bold(f"  By {found.column}, compared with {found.reference}"))
    for group in found.groups:
        console.print(f"    {group.name}", dim(f"  {format_count(group.n_rows, 'row')}"))
        width = max(map(len, group.measures), default=0)
        for name, estimate in group.measures.items():
            text = _describe(name, estimate, signed=name in ("calibration", "mean error"))
            line = f"      {name:{width}}  {text}"
            if name in group.differences:
                gap = _describe(name, group.differences[name], signed=True)
                mark = "" if name in group.sure else ", which chance may explain"
                line += f"; difference {gap}{mark}"
            console.print(line)
    if found.left_out:
        console.note(f"fewer than 10 rows, left out: {', '.join(found.left_out)}")


def _describe(name: str, estimate: Estimate, *, signed: bool) -> str:
    limits = estimate.value, estimate.low, estimate.high
    if not is_fraction(name):
        value, low, high = map(format_signed if signed else format_rounded, limits)
        return f"{value} ({low} to {high})"
    if signed:
        value, low, high = (format_signed(100.0 * limit) for limit in limits)
        return f"{value} points ({low} to {high})"
    value, low, high = (format_percent(limit, 1, limits=False) for limit in limits)
    return f"{value} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"
