"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from newron.errors import InputError


def option(names: str, metavar: str, help: str, **limits: Any) -> Any:  # noqa: A002 - typer's
    """Declare an option that takes a value; names are apart by spaces, ``limits`` min or max."""
    return typer.Option(*names.split(), metavar=metavar, help=help, **limits)


def flag(name: str, help: str) -> Any:  # noqa: A002 - typer's
    """Declare an option that takes no value."""
    return typer.Option(name, help=help)


ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="The model's JSON file.")]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A table: CSV (plain or gzip), JSON lines, Parquet, Arrow or Excel."
    ),
]
TargetColumn = Annotated[str, option("--target -t", "COLUMN", "The column to predict.")]
Drop = Annotated[
    list[str] | None, option("--drop", "COLUMN", "Leave a column out; may be repeated.")
]
Categories = Annotated[
    list[str] | None,
    option("--category", "COLUMN", "Read a column of numbers as categories; may be repeated."),
]
Missing = Annotated[
    list[str] | None,
    option(
        "--missing",
        "WORD",
        "A further word for a missing value, besides an empty cell, ?, NA, NaN and null; may "
        "be repeated.",
    ),
]
Offset = Annotated[
    str | None,
    option("--offset", "COLUMN", "Numbers that are added to the score of each row."),
]
Exposure = Annotated[
    str | None,
    option(
        "--exposure",
        "COLUMN",
        "How long, or how many, a row stands for: of counts and positive targets, whose "
        "logarithm is added to the score.",
    ),
]
NoHeader = Annotated[
    bool, flag("--no-header", "The first row is no names of columns: call them x1, x2, ...")
]
NoFormulas = Annotated[
    bool,
    flag(
        "--no-formulas",
        "Write a ' before texts in CSV that a spreadsheet would run as formulas.",
    ),
]
Units = Annotated[
    list[str] | None,
    option("--unit", "COLUMN=UNIT", "What to print after a column's numbers; may be repeated."),
]
Task = Annotated[
    str | None,
    option("--task", "classes|regression", "What the target is; by default what it looks like."),
]
Positive = Annotated[
    str | None,
    option(
        "--positive",
        "CLASS",
        "Which of two classes rules, points and probabilities are for; by default the second in "
        "order, unless it is a word for no.",
    ),
]
Force = Annotated[bool, flag("--force", "Overwrite files that exist.")]
Seed = Annotated[int, option("--seed", "N", "The same seed gives the same model.", min=0)]
Jobs = Annotated[int, option("--jobs", "N", "Threads; -1 is one for each core.")]


def list_column_options(
    drop: list[str] | None,
    category: list[str] | None,
    missing: list[str] | None,
    task: str | None,
    positive: str | None,
    *,
    no_header: bool = False,
) -> dict[str, Any]:
    """Return what is requested of a table as :func:`newron.tables.read_labelled` takes it."""
    return {
        "drop": drop or (),
        "categories": category or (),
        "missing": missing or (),
        "task": task,
        "positive": positive,
        "header": not no_header,
    }


def parse_units(units: list[str] | None, names: tuple[str, ...]) -> dict[str, str]:
    """Parse the units of columns; a name may hold an equals sign, a unit may not.

    >>> parse_units(["age=years", "a=b=mg"], ("age", "a=b"))
    {'age': 'years', 'a=b': 'mg'}
    """
    parsed = {}
    for text in units or ():
        name, sign, unit = text.rpartition("=")
        if not (sign and unit.strip()):
            raise InputError(f"--unit: expected COLUMN=UNIT, such as age=years, got {text!r}")
        if name not in names:
            raise InputError(
                f"--unit: expected one of the inputs {', '.join(names[:8])}, got {name!r}"
            )
        parsed[name] = unit.strip()
    return parsed
