"""``newron export``: a model in another language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from newron.command.options import Force, ModelFile, flag, option
from newron.command.terminal import Console
from newron.errors import InputError

if TYPE_CHECKING:
    from newron.exports import Export

EXAMPLES = (
    ("newron export model.json --to sql", "to standard output"),
    ("newron export model.json --to sql --dialect postgres --table patients -o model.sql", ""),
    ("newron export model.json --to sql --rules", "CASE WHEN, for people"),
    ("newron export model.json --to onnx -o model.onnx", ""),
    ("newron export model.json --to c -o model.h", "one header, C99"),
)
_TARGETS = "sql|onnx|python|c|javascript"


def run(
    console: Console,
    model: ModelFile,
    to: Annotated[str, option("--to", _TARGETS, "Which language.")],
    output: Annotated[Path | None, option("-o --output", "FILE", "Write to a file.")] = None,
    name: Annotated[str | None, option("--name", "NAME", "What the model is called there.")] = None,
    rules: Annotated[bool, flag("--rules", "Bring the rules of a crisp network along.")] = False,
    dialect: Annotated[
        str | None,
        option(
            "--dialect",
            "NAME",
            "The database of SQL: duckdb, postgres, sqlite, spark, bigquery, snowflake, tsql.",
        ),
    ] = None,
    table: Annotated[str | None, option("--table", "NAME", "The table that SQL reads.")] = None,
    keep: Annotated[
        list[str] | None,
        option("--keep", "COLUMN", "A column that SQL gives too; may be repeated."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a model as SQL, ONNX, Python, C or JavaScript, with the same answers."""
    from newron.command.files import check_free
    from newron.exports.export import export
    from newron.model import load

    if output is not None:
        check_free([output], force=force)
    how: dict[str, Any] = {"name": name, "rules": rules}
    if to == "sql":
        how |= {"dialect": dialect, "table": table, "keep": keep or ()}
    elif dialect or table or keep:
        raise InputError(f"--dialect, --table, --keep: expected --to sql, got --to {to}")
    made = export(load(model), to, **how)
    if output is not None:
        made.save(output)
        console.note(f"written to {output}")
    else:
        _print(console, made)


def _print(console: Console, made: Export) -> None:
    if made.suffix == ".onnx":
        raise InputError("--to onnx: expected a file to write to, got none; name it with -o")
    console.write(made.text)
