"""A query as a chain of common table expressions, each reading the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from newron.errors import InputError
from newron.exports.clause import Clauses, Node, open_sqlglot
from newron.exports.dialects import Dialect
from newron.exports.text import Names


@dataclass(frozen=True)
class Selected:
    """A column that a query computes, and the columns that it reads for that."""

    name: str
    node: Node
    reads: frozenset[str]


Part = tuple[str, list[Selected]]
"""A common table expression: its name and what it computes."""


class Query:
    """Chains parts of a query.

    ``table`` has the names of the table, the last one its own; ``columns`` are those of the schema
    as the query calls them; ``keep`` has further columns of the result: how the query calls them,
    and their own names.
    """

    def __init__(
        self,
        clauses: Clauses,
        dialect: Dialect,
        table: Sequence[str],
        columns: Sequence[str],
        keep: Mapping[str, str],
    ) -> None:
        self._exp = open_sqlglot()
        self._clauses = clauses
        self._materialized = True if dialect.materialized else None
        self._columns = columns
        self._keep = keep
        self._table = self._exp.Table(**self._name_table(table))
        self._table_name = table[-1]
        self._titles = Names(table)

    def _name_table(self, table: Sequence[str]) -> dict[str, Any]:
        if not 1 <= len(table) <= 3:
            raise InputError(f"table: expected one to three names, got {list(table)}")
        quoted = [self._clauses.quote(part) for part in table]
        return dict(zip(("this", "db", "catalog"), reversed(quoted), strict=False))

    def assemble(self, parts: Sequence[Part], results: Sequence[Selected]) -> Node:
        """Return the query; each part hands on what is still read after it."""
        self._check_keep(results)
        later = self._find_later(parts, results)
        query = self._exp.Select()
        source = self._add(query, "inputs", self._read_table(later[0]), self._table)
        at_hand = [*self._keep, *self._columns]
        for (title, lines), needed in zip(parts, later[1:], strict=True):
            own = [line.name for line in lines]
            passed = [self._clauses.name(n) for n in at_hand if n in needed and n not in own]
            source = self._add(query, title, [*passed, *map(self._alias, lines)], source)
            at_hand += own
        kept = [
            self._exp.Alias(this=self._clauses.name(alias), alias=self._clauses.quote(name))
            for alias, name in self._keep.items()
        ]
        return query.select(*kept, *map(self._alias, results), copy=False).from_(source, copy=False)

    def _check_keep(self, results: Sequence[Selected]) -> None:
        taken = {result.name.lower() for result in results}
        for name in self._keep.values():
            if name.lower() in taken:
                raise InputError(f"keep: expected other columns than {name!r}, which is computed")
            taken.add(name.lower())

    def _find_later(self, parts: Sequence[Part], results: Sequence[Selected]) -> list[set[str]]:
        """Return what is read after the table, and after each part."""
        needed = set(self._keep).union(*(result.reads for result in results))
        later = [set(needed)]
        for _, lines in reversed(parts):
            needed -= {line.name for line in lines}
            needed = needed.union(*(line.reads for line in lines))
            later.append(set(needed))
        return later[::-1]

    def _add(self, query: Node, title: str, columns: Sequence[Node], source: Node) -> Node:
        """Add a common table expression; return it as the source of the next one."""
        name = self._clauses.quote(self._titles.take(title))
        select = self._exp.Select(expressions=columns).from_(source, copy=False)
        query.with_(name, as_=select, materialized=self._materialized, copy=False)
        return self._exp.Table(this=name.copy())

    def _read_table(self, needed: set[str]) -> list[Node]:
        columns = [
            Selected(alias, self._clauses.name(name), frozenset())
            for alias, name in self._keep.items()
        ]
        columns += [
            Selected(alias, self._clauses.read_column(i), frozenset())
            for i, alias in enumerate(self._columns)
            if alias in needed
        ]
        # A network that reads nothing still predicts something for every row.
        one = Selected("row", self._exp.Literal.number(1), frozenset())
        return [self._qualify(self._alias(column)) for column in columns or [one]]

    def _qualify(self, node: Node) -> Node:
        """Name the table before its columns: SQLite reads "x" as a text where no column is x."""
        for column in node.find_all(self._exp.Column):
            column.set("table", self._clauses.quote(self._table_name))
        return node

    def _alias(self, line: Selected) -> Node:
        if isinstance(line.node, self._exp.Column) and line.node.name == line.name:
            return line.node
        return self._exp.Alias(this=line.node, alias=self._clauses.quote(line.name))
