"""``newron search``: the paper's search for hidden layers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newron.command.options import (
    Categories,
    DataFile,
    Drop,
    Force,
    Jobs,
    Missing,
    Positive,
    Seed,
    TargetColumn,
    Task,
)
from newron.command.terminal import Page

EXAMPLES = (
    ("newron search monks.csv --target class", ""),
    ("newron search monks.csv -t class --journal monks.jsonl", "can be killed, and goes on"),
    ("newron search monks.csv -t class --processing heaviside --processing relu", "of two"),
    ("newron search monks.csv -t class --max-time 600", "ten minutes at most"),
)


def run(
    page: Page,
    data: DataFile,
    target: TargetColumn,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.json",
            help="Where to write the model; by default named after DATA.",
        ),
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal",
            metavar="FILE",
            help="Keep what was found; a search that ended early goes on from it.",
        ),
    ] = None,
    processing: Annotated[
        list[str] | None,
        typer.Option("--processing", metavar="NAME", help="A function to try; may be repeated."),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="K", min=2, help="To judge a structure by.")
    ] = 5,
    patience: Annotated[
        int,
        typer.Option("--patience", metavar="N", min=1, help="Steps without a gain before it ends."),
    ] = 5,
    max_structures: Annotated[
        int, typer.Option("--max-structures", metavar="N", min=1, help="Structures at most.")
    ] = 40,
    max_time: Annotated[
        float | None,
        typer.Option(
            "--max-time", metavar="S", min=0.0, help="Seconds after which nothing is begun."
        ),
    ] = None,
    best: Annotated[
        bool,
        typer.Option(
            "--best", help="Take the highest score, not the smallest network within its error."
        ),
    ] = False,
    drop: Drop = None,
    category: Categories = None,
    missing: Missing = None,
    task: Task = None,
    positive: Positive = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
) -> None:
    """Search for the hidden layers of a network, from none upwards.

    Every structure is judged by cross-validation; of those that are alike the smallest is
    trained on all rows and written. Ctrl-C writes no model; what was found stays in the
    journal.
    """
    from newron.command.searching import Hunt, search_table
    from newron.command.tables import Wanted

    wanted = Wanted(target, drop or (), category or (), missing or (), task, positive)
    hunt = Hunt(
        journal=journal,
        processing=tuple(processing or ("heaviside",)),
        folds=folds,
        patience=patience,
        max_structures=max_structures,
        max_time=max_time,
        tie_rule="best" if best else "one_se",
        seed=seed,
        jobs=jobs,
    )
    search_table(page, data, wanted, hunt, output, force=force)
