"""The databases that SQL is written for, and what they differ in beyond spelling."""

from __future__ import annotations

from dataclasses import dataclass

from newron.errors import InputError


@dataclass(frozen=True)
class Dialect:
    """A database."""

    name: str
    """As sqlglot calls it."""
    materialized: bool = False
    """Whether a common table expression must be marked to be computed once."""
    overflows: bool = False
    underflows: bool = False
    """Whether it raises an error where a product is too large, or too small."""
    skips_nulls: bool = False
    """Whether its GREATEST leaves out NULL; sqlglot must know."""
    text: str = "text"
    """The type of texts."""
    collation: str | None = None
    """What texts are compared by, where that is not letter by letter."""
    rounds_literals: bool = False
    """Whether it may read a number of more than 15 digits as the one beside it."""
    has_typed_operators: bool = False
    """Whether + takes numbers alone, and = converts no columns, as tests have shown."""


DIALECTS = {
    one.name: one
    for one in (
        Dialect("duckdb", skips_nulls=True, has_typed_operators=True),
        Dialect(
            "postgres",
            materialized=True,
            overflows=True,
            underflows=True,
            skips_nulls=True,
            has_typed_operators=True,
        ),
        Dialect("sqlite", materialized=True, rounds_literals=True),
        Dialect("spark", skips_nulls=True),
        Dialect("bigquery", overflows=True),
        Dialect("snowflake"),
        Dialect(
            "tsql",
            overflows=True,
            skips_nulls=True,
            text="nvarchar(max)",
            collation="Latin1_General_100_BIN2",
        ),
    )
}
_OTHER_NAMES = {"postgresql": "postgres", "sqlserver": "tsql", "mssql": "tsql"}


def find_dialect(name: str) -> Dialect:
    """Return the database of this name."""
    chosen = DIALECTS.get(_OTHER_NAMES.get(name, name))
    if chosen is None:
        raise InputError(f"expected a dialect among {', '.join(DIALECTS)}, got {name!r}")
    return chosen
