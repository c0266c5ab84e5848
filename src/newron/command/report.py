"""``newron report``: a model as one HTML file, for people who know the subject."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from newron.command.options import DataFile, Force, Missing, ModelFile, NoHeader, option
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
            "The truth; without it the page does not show how good the model is.",
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
    missing: Missing = None,
    no_header: NoHeader = False,
    force: Force = False,
) -> None:
    """Write a model as a page: its predictions, how good they are, its rules, the network to try.

    The page is one file, opens from disk and asks for nothing.
    """
    from newron.command.files import check_free
    from newron.command.groups import read_groups
    from newron.command.rows import MAX_ROWS, read_rows
    from newron.errors import InputError
    from newron.model import load

    check_free([output], force=force)
    network = load(model)
    X, y = read_rows(console, data, network, missing or (), target, header=not no_header)
    compared = None
    if groups is not None:
        if target is None:
            raise InputError("--groups: expected --target, the truth to compare groups by")
        words, header = missing or (), not no_header
        compared = (
            groups,
            read_groups(data, network, groups, target, words, header=header, max_rows=MAX_ROWS),
        )
    network.report(
        output,
        X,
        y,
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
