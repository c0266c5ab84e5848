"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Categories",
    "DataFile",
    "Drop",
    "Force",
    "Jobs",
    "Missing",
    "ModelFile",
    "Positive",
    "Seed",
    "TargetColumn",
    "Task",
    "list_column_options",
]

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="The model's JSON file.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A table: CSV (plain or gzip), JSON lines, Parquet or Arrow."
    ),
]
TargetColumn = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave a column out; may be repeated."),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        metavar="COLUMN",
        help="Read a column of numbers as categories; may be repeated.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="WORD",
        help="A further word for a missing value, besides an empty cell, ?, NA, NaN and null; "
        "may be repeated.",
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="classes|regression",
        help="What the target is; by default what it looks like.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="CLASS",
        help="Which of two classes rules and points are for; by default the second in order.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="The same seed gives the same model.")
]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Threads; -1 is one for each core.")]


def list_column_options(
    drop: list[str] | None,
    category: list[str] | None,
    missing: list[str] | None,
    task: str | None,
    positive: str | None,
) -> dict[str, Any]:
    """Return what is requested of a table as :func:`newron.tables.read_labelled` takes it."""
    return {
        "drop": drop or (),
        "categories": category or (),
        "missing": missing or (),
        "task": "regression" if task == "amounts" else task,  # its name before 2.0
        "positive": positive,
    }
