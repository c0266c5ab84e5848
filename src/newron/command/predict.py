"""``newron predict``: predictions for all rows of a table, of any length."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from newron.command.options import (
    DataFile,
    Exposure,
    Force,
    Missing,
    ModelFile,
    NoFormulas,
    NoHeader,
    Offset,
    flag,
    option,
)
from newron.command.terminal import Console

EXAMPLES = (
    ("newron predict model.json new.csv", "to standard output"),
    ("newron predict model.json new.csv -o out.csv --proba", "with probabilities"),
    ("newron predict model.json new.parquet -o out.parquet", "from Parquet to Parquet"),
    ("newron predict model.json new.csv --threshold 0.3", "find more, with more false alarms"),
    ("newron predict model.json new.csv --interval 0.9", "where 9 of 10 new rows lie"),
    ("newron predict model.json new.parquet -o out.jsonl --keep id", "beside a column of DATA"),
    ("newron predict model.json huge.csv.gz -o out.csv.gz", "in little memory"),
)


def run(
    console: Console,
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        option(
            "-o --output",
            "FILE",
            "Write to a file: CSV, JSON lines if it ends in .jsonl, Parquet if in .parquet, "
            "packed if in .gz.",
        ),
    ] = None,
    proba: Annotated[bool, flag("--proba", "Add the probability of each class.")] = False,
    threshold: Annotated[
        float | None,
        option(
            "--threshold",
            "P",
            "Predict the second of two classes from this probability on, instead of 0.5.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    interval: Annotated[
        float | None,
        option(
            "--interval",
            "COVERAGE",
            "Add an interval, or a set of classes, that holds the truth of this part of new rows, "
            "such as 0.9.",
        ),
    ] = None,
    offset: Offset = None,
    exposure: Exposure = None,
    keep: Annotated[
        list[str] | None, option("--keep", "COLUMN", "Copy a column of DATA; may be repeated.")
    ] = None,
    missing: Missing = None,
    no_header: NoHeader = False,
    no_formulas: NoFormulas = False,
    force: Force = False,
) -> None:
    """Predict for every row of a table.

    Rows are read, predicted and written in batches, in order: a file larger than memory
    passes in constant memory. Columns that the model does not read are ignored.
    """
    from newron.command.columns import find_offset
    from newron.command.rows import predict_file
    from newron.model import load

    predict_file(
        console,
        load(model),
        data,
        output,
        proba=proba,
        threshold=threshold,
        interval=interval,
        offset=find_offset(offset, exposure),
        keep=keep or (),
        missing=missing or (),
        force=force,
        header=not no_header,
        formulas=not no_formulas,
    )
