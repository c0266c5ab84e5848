"""Two tables on the command line: whether their rows have changed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from newron.command.terminal import Console, bold, dim
from newron.errors import InputError, ModelFileError
from newron.evaluation import Drift, measure_drift
from newron.formatting import format_count, format_fixed, format_percent
from newron.model import Model, load
from newron.tables import EncodedTable, read


def compare_tables(
    console: Console,
    old: Path,
    new: Path,
    model: Path | None,
    missing: Iterable[str],
    *,
    header: bool = True,
) -> None:
    """Print the stability of each column, and of a model's scores."""
    for path in (old, new):
        _check_model(path)
    network = None if model is None else load(model)
    words = tuple(missing)
    tables = [_read(path, network, words, header=header) for path in (old, new)]
    before, after = _align(tables[0], tables[1], old, new)
    found = measure_drift(before, after, network)
    if console.as_json:
        console.print_json(
            {"rows": [len(before), len(after)], "drift": [_to_dict(d) for d in found]}
        )
    elif not console.quiet:
        _print(console, found, len(before), len(after))


def _check_model(path: Path) -> None:
    """Raise where two models were given without a table to compare them on."""
    if path.suffix != ".json":
        return
    try:
        load(path)
    except ModelFileError:
        return
    raise InputError(f"{path}: expected a table besides two models to compare them on, got none")


def _read(
    path: Path, model: Model | None, missing: tuple[str, ...], *, header: bool
) -> EncodedTable:
    fields = None if model is None else model.fields
    table = read(path, fields=fields, missing=missing, header=header)
    if not len(table):
        raise InputError(f"{path}: expected rows, got none")
    return table


def _align(
    old: EncodedTable, new: EncodedTable, first: Path, second: Path
) -> tuple[EncodedTable, EncodedTable]:
    """Return both tables with the columns that they share, in one order."""
    shared = [name for name in old.names if name in new.names]
    if not shared:
        raise InputError(f"{first} and {second}: expected columns of the same names, got none")
    parts = []
    for table in (old, new):
        places = [table.names.index(name) for name in shared]
        fields = tuple(table.fields[place] for place in places)
        parts.append(EncodedTable(fields, table.rows[:, places].copy()))
    return parts[0], parts[1]


def _to_dict(drift: Drift) -> dict[str, object]:
    return {**drift.to_dict(), "verdict": drift.verdict}


def _print(console: Console, found: tuple[Drift, ...], n_old: int, n_new: int) -> None:
    moved = [one for one in found if one.verdict != "stable"]
    rows = f"{format_count(n_old, 'row')} before, {n_new} after"
    head = f"{len(moved)} of {len(found)} have changed" if moved else "Nothing has changed"
    console.print(bold(f"  {head}"), dim(f"  {rows}"))
    width = max(len(one.name) for one in found)
    console.print(dim(f"    {'':{width}}    PSI  by chance up to"))
    for one in found:
        psi, chance = format_fixed(one.psi, 2), format_fixed(one.chance, 2)
        line = f"    {one.name:{width}}  {psi:>5}  {chance:>5}"
        if one.verdict == "stable":
            console.print(dim(f"{line}  stable"))
            continue
        share = one.largest
        parts = [format_percent(part, 0, limits=False) for part in (share.old, share.new)]
        console.print(f"{line}  {one.verdict}: {share.name} from {parts[0]} to {parts[1]}")
