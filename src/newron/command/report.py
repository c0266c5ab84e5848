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
    missing: Missing = None,
    no_header: NoHeader = False,
    force: Force = False,
) -> None:
    """Write a model as a page: its predictions, how good they are, its rules, the network to try.

    The page is one file, opens from disk and asks for nothing.
    """
    from newron.command.files import check_free
    from newron.command.rows import read_rows
    from newron.model import load
    from newron.report import write

    check_free([output], force=force)
    network = load(model)
    X, y = read_rows(console, data, network, missing or (), target, header=not no_header)
    write(
        network,
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
    )
    if console.as_json:
        console.print_json({"file": str(output), "rows": len(X)})
    console.note(f"written to {output}")
