"""``newron predict``: predictions for all rows of a table, of any length."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newron.command.options import DataFile, Force, Missing, ModelFile
from newron.command.terminal import Console

EXAMPLES = (
    ("newron predict model.json new.csv", "to standard output"),
    ("newron predict model.json new.csv -o out.csv --proba", "with probabilities"),
    ("newron predict model.json new.parquet -o out.jsonl --keep id", "beside a column of DATA"),
    ("newron predict model.json huge.csv.gz -o out.csv.gz", "in little memory"),
)


def run(
    console: Console,
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write to a file: CSV, JSON lines if it ends in .jsonl, packed if in .gz.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of each class.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Copy a column of DATA; may be repeated."),
    ] = None,
    missing: Missing = None,
    force: Force = False,
) -> None:
    """Predict for every row of a table.

    Rows are read, predicted and written in batches, in order: a file larger than memory
    passes in constant memory. Columns that the model does not read are ignored.
    """
    from newron.command.rows import predict_file
    from newron.model import load

    predict_file(
        console,
        load(model),
        data,
        output,
        proba=proba,
        keep=keep or (),
        missing=missing or (),
        force=force,
    )
