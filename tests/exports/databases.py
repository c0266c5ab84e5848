"""Databases that tables of cases are put into and queries are run on."""

import socket
import sqlite3
import subprocess
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from exports.cases import Case
from newron.exports.text import has_text, label_text


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Database:
    """A connection, with one table for each case and a guard that must stay as it is."""

    dialect = ""
    mark = "?"
    number, text, truth = "DOUBLE PRECISION", "TEXT", "BOOLEAN"
    error: type[Exception] = Exception

    def __init__(self, connection):
        self.connection = connection
        self.execute("CREATE TABLE t (guard INTEGER)")
        self.execute("INSERT INTO t VALUES (1)")

    def execute(self, statement, values=()):
        return self.connection.execute(statement, values)

    def fill(self, table: str, case: Case) -> None:
        """Make the table of a case; its rows are numbered by the column "row id"."""
        columns = case.model.schema.columns
        kinds = [f"{quote(c.name)} {self.find_type(c)}" for c in columns]
        kinds.append('"row id" INTEGER')
        self.execute(f"CREATE TABLE {quote(table)} ({', '.join(kinds)})")
        row = f"({', '.join([self.mark] * (len(columns) + 1))})"
        step = 900 // (len(columns) + 1)
        for first in range(0, len(case.table), step):
            part = case.table[first : first + step]
            values = [
                x
                for k, cells in enumerate(part, first)
                for x in [*map(self.convert, cells, columns), k]
            ]
            rows = ", ".join([row] * len(part))
            self.execute(f"INSERT INTO {quote(table)} VALUES {rows}", values)

    def find_type(self, column) -> str:
        if column.categories is None or all(
            isinstance(x, int | float) and not isinstance(x, bool) for x in column.categories
        ):
            return self.number
        return self.text if has_text(column.categories) else self.truth

    def convert(self, value, column):
        """Return a value as the database holds it; a truth is never 5."""
        if value is None or column.categories is None:
            return value
        if has_text(column.categories):
            return label_text(value)
        if isinstance(column.categories[0], bool):
            return bool(value) if value in (0, 1) else None
        return value

    def ask(self, query: str) -> tuple[list, list]:
        """Return the names of the columns and the rows, in the order of the table."""
        cursor = self.execute(query)
        names = [one[0] for one in cursor.description]
        rows = cursor.fetchall()
        return names, sorted(rows, key=lambda row: row[0])

    def check_guard(self) -> None:
        assert self.execute("SELECT guard FROM t").fetchall() == [(1,)]


class DuckDB(Database):
    dialect = "duckdb"
    error = duckdb.Error


class SQLite(Database):
    dialect = "sqlite"
    truth = "INTEGER"
    error = sqlite3.Error


class Postgres(Database):
    dialect = "postgres"
    mark = "%s"

    def execute(self, statement, values=None):
        # Without values a statement goes as it stands: a % in a name is a %.
        return self.connection.execute(statement, values or None)


@contextmanager
def open_duckdb():
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        yield DuckDB(connection)


@contextmanager
def open_sqlite():
    connection = sqlite3.connect(":memory:")
    try:
        yield SQLite(connection)
    finally:
        connection.close()


@contextmanager
def open_postgres():
    """Start a server by the project's script; skip where there is none."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    script = Path(__file__).parents[2] / "scripts/start_postgres"
    pipe = subprocess.PIPE
    with subprocess.Popen([script, str(port)], stdin=pipe, stdout=pipe, stderr=pipe) as server:
        if server.stdout.readline() != b"ready\n":
            server.stdin.close()
            pytest.skip(f"PostgreSQL did not start: {server.stderr.read().decode().strip()}")
        address = f"host=127.0.0.1 port={port} user=newron dbname=postgres"
        with psycopg.connect(address, autocommit=True, prepare_threshold=None) as connection:
            database = Postgres(connection)
            database.error = psycopg.Error
            yield database
        server.stdin.close()
