"""Models in other languages: one call for every target."""

from __future__ import annotations

from collections.abc import Sequence

from newron.errors import InputError
from newron.exports.c import print_c
from newron.exports.file import Export
from newron.exports.javascript import print_javascript
from newron.exports.onnx import print_onnx
from newron.exports.program import make_program
from newron.exports.python import print_python
from newron.exports.reading import read_rules
from newron.exports.sql import print_sql
from newron.model.model import Model
from newron.rules.extraction import extract
from newron.rules.ruleset import RuleSet

__all__ = ["TARGETS", "export"]

_SUFFIXES = {"javascript": ".js", "python": ".py", "c": ".h", "sql": ".sql", "onnx": ".onnx"}
_PRINTERS = {"javascript": print_javascript, "python": print_python, "c": print_c}
TARGETS = tuple(_SUFFIXES)


def export(
    model: Model,
    to: str,
    *,
    name: str | None = None,
    rules: bool | RuleSet = False,
    dialect: str | None = None,
    table: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    exact: bool = True,
) -> Export:
    """Give a model in another language.

    Parameters
    ----------
    model : Model
    to : {"javascript", "python", "c", "sql", "onnx"}
    name : str, optional
        What the model is called; "model" by default.
    rules : bool or RuleSet
        Whether the rules of a crisp network come along, so that the export can tell which of
        them decides; rules that are at hand need not be found again. SQL is then made of the
        rules alone.
    dialect : str, optional
        For SQL the database: "duckdb" by default, "postgres", "sqlite", "spark", "bigquery",
        "snowflake" or "tsql".
    table : str or sequence of str, optional
        For SQL the table that is read, "data" by default. Dots part the names of a catalog, a
        schema and a table; a sequence of names is taken as it is.
    keep : sequence of str
        For SQL the columns of the table that the result has, too: such as its key.
    exact : bool
        For SQL whether smooth functions are computed by the model's own operations, so that
        scores have the same bits, or by the database's EXP, which is shorter to read and may
        decide a tie of scores otherwise.

    Returns
    -------
    Export
        ``export.text``, or ``export.save(path)``.
    """
    if to not in TARGETS:
        raise InputError(f"expected a target among {', '.join(TARGETS)}, got {to!r}")
    if to != "sql" and (dialect is not None or table is not None or keep or not exact):
        raise InputError(f"dialect, table, keep and exact are for SQL, got them for {to}")
    called = "model" if name is None else name
    reading = None if rules is False else read_rules(model, _find_rules(model, rules))
    program = make_program(model)
    if to == "onnx":
        return Export(print_onnx(program, called, reading), to, _SUFFIXES[to])
    if to != "sql":
        return Export(_PRINTERS[to](program, called, reading).encode(), to, _SUFFIXES[to])
    text = print_sql(
        program,
        called,
        reading,
        dialect="duckdb" if dialect is None else dialect,
        table="data" if table is None else table,
        keep=keep,
        exact=exact,
    )
    return Export(text.encode(), to, _SUFFIXES[to])


def _find_rules(model: Model, rules: bool | RuleSet) -> RuleSet:
    return extract(model) if isinstance(rules, bool) else rules
