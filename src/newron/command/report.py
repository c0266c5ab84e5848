"""``newron report``: a model as one HTML file, for people who know the subject."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from newron.command.options import (
    DataFile,
    Exposure,
    Force,
    Missing,
    ModelFile,
    NoHeader,
    Offset,
    option,
)
from newron.command.terminal import Console

EXAMPLES = (
    ("newron report model.json table.csv -o report.html --target disease", ""),
    ("newron report model.json table.csv -t disease --noun patient", "what a row is"),
    ("newron report model.json table.csv -t disease --seen 0", "rows that it has not seen"),
    ("newron report model.json table.csv -t disease --groups sex", "is it fair?"),
)


def run(
    console: Console,
    model: ModelFile,
    data: DataFile,
    output: Annotated[Path, option("-o --output", "FILE", "Where to write.")] = Path("report.html"),
    target: Annotated[
        str | None,
        option(
            "--target -t",
            "COLUMN",
            "The truth, of survival the event, of several labels the one to report; without it the "
            "page does not show how good the model is.",
        ),
    ] = None,
    title: Annotated[str | None, option("--title", "TEXT", "A headline.")] = None,
    noun: Annotated[str, option("--noun", "WORD", "What a row is, such as patient.")] = "row",
    purpose: Annotated[str, option("--purpose", "TEXT", "What the model is for.")] = "",
    fix: Annotated[
        list[str] | None,
        option("--fix", "COLUMN", "An input that does not change; may be repeated."),
    ] = None,
    seen: Annotated[
        int | None,
        option("--seen", "N", "How many of the rows it was trained on, if you know.", min=0),
    ] = None,
    groups: Annotated[
        str | None,
        option("--groups", "COLUMN", "Compare predictions between the groups of a column."),
    ] = None,
    offset: Offset = None,
    exposure: Exposure = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    force: Force = False,
) -> None:
    """Write a model as a page: its predictions, how good they are, its rules, the network to try.

    The page is one file, opens from disk and asks for nothing.
    """
    from newron.command.columns import find_offset
    from newron.command.curves import is_survival
    from newron.command.files import check_free
    from newron.command.groups import read_groups
    from newron.command.rows import MAX_ROWS, read_rows
    from newron.command.truth import read_true_rows
    from newron.errors import InputError
    from newron.model import load
    from newron.model.survival import drop_time

    check_free([output], force=force)
    network, words, header = load(model), missing or (), not no_header
    added, compared, values = find_offset(offset, exposure), None, None
    if target is None:
        if groups is not None or added is not None:
            name = "--groups" if groups is not None else "--exposure, --offset"
            raise InputError(f"{name}: expected --target, the truth, got none")
        fields = drop_time(network) if is_survival(network) else network.fields
        X, y = read_rows(console, data, network, words, header=header, fields=fields)
    else:
        rows = read_true_rows(
            console, data, network, words, target, added, header=header, max_rows=MAX_ROWS
        )
        network, X, y, values = rows.model, rows.X, rows.y, rows.offset
        if groups is not None:
            compared = groups, read_groups(data, groups, words, rows.known, header=header)
    network.report(
        output,
        X,
        y,
        offset=values,
        title=title,
        target=target or "",
        noun=noun,
        source=data.name,
        purpose=purpose,
        fixed=fix or [],
        seen=seen,
        groups=compared,
    )
    if console.as_json:
        console.print_json({"file": str(output), "rows": len(X)})
    console.note(f"written to {output}")
