"""Groups of rows on the command line: read from a file, compared, printed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newron.command.terminal import Console, bold, dim
from newron.evaluation import Estimate, GroupComparison
from newron.formatting import format_count, format_percent, format_rounded, format_signed
from newron.model import Classes, Model
from newron.tables import Field, read
from newron.tables.files import open_table


def read_groups(
    path: Path,
    model: Model,
    column: str,
    target: str,
    missing: Iterable[str],
    *,
    header: bool = True,
    max_rows: int | None = None,
) -> NDArray[Any]:
    """Read the group of each row whose target is known, whether the model reads the column or not.

    As many rows, in the same order, as :func:`newron.command.rows.read_rows` returns.
    """
    open_table(path, header=header).check_column(column, "the groups")
    words = tuple(missing)
    labels = model.output.labels if isinstance(model.output, Classes) else None
    truth = read(path, fields=(Field(target, labels),), missing=words, header=header)
    whole = read(path, missing=words, header=header)
    place = whole.names.index(column)
    codes, known = whole.rows[:, place], whole.fields[place].categories
    groups = np.array([_name(code, known) for code in codes.tolist()], object)
    return np.asarray(groups[:max_rows][~np.isnan(truth.rows[:max_rows, 0])])


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
    if name.startswith("mean"):
        value, low, high = map(format_signed if signed else format_rounded, limits)
        return f"{value} ({low} to {high})"
    if signed:
        value, low, high = (format_signed(100.0 * limit) for limit in limits)
        return f"{value} points ({low} to {high})"
    value, low, high = (format_percent(limit, 1, limits=False) for limit in limits)
    return f"{value} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"
