"""One rule in words, and a table of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from newron.drawing.markup import html, join
from newron.formatting import format_count, format_fraction, format_percent
from newron.model.output import Label

RECORD = ("rule", "prediction", "support", "precision", "literals")


@dataclass(frozen=True)
class Rule:
    """One rule: a condition, and what follows where it holds.

    Parameters
    ----------
    condition : str
        In words; "otherwise" for what follows where no rule holds.
    prediction : label or None
        The class that follows; None where conditions add points.
    points : tuple of Fraction
        What it adds to each sum; empty where it decides.
    n_literals : int
        How many conditions on single columns there are in it.
    support : int or None
        On how many rows it decides, or holds where it adds points; None without rows.
    precision : float or None
        The fraction of these rows that have the class; None without classes of rows.

    Examples
    --------
    >>> Rule("age ≥ 54", "ill", (), 1, support=20, precision=0.9).note
    '20 rows, 90 % right'
    """

    condition: str
    prediction: Label | None
    points: tuple[Fraction, ...]
    n_literals: int
    support: int | None = None
    precision: float | None = None

    @property
    def outcome(self) -> str:
        """The class, or the points, as text."""
        if self.points:
            return ", ".join(format_fraction(w, signed=True) for w in self.points)
        return str(self.prediction)

    @property
    def note(self) -> str:
        """Support and precision as text; empty without rows."""
        if self.support is None:
            return ""
        rows = format_count(self.support, "row", separator="")
        if self.precision is None:
            return rows
        percent = 100 * self.precision
        return f"{rows}, {percent:.{int(percent != round(percent))}f} % right"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as plain data.

        Returns
        -------
        dict
            With the keys rule, prediction, support, precision and literals.
        """
        prediction = self.outcome if self.points else self.prediction
        values = self.condition, prediction, self.support, self.precision, self.n_literals
        return dict(zip(RECORD, values, strict=True))


@dataclass(frozen=True)
class RuleTable:
    """Rules as a table.

    - ``last``: The head of what follows from a rule.
    - ``has_rows``: Whether support and precision have columns.
    - ``before``, ``after``: Lines around the table.
    """

    rules: Sequence[Rule]
    last: str
    has_rows: bool
    before: Sequence[str]
    after: Sequence[str]

    def _list_cells(self) -> list[list[str]]:
        """Return the rows, the head first, without columns in which nothing stands."""
        head = ["rule", self.last, *(["rows", "right"] if self.has_rows else [])]
        rows = [[rule.condition, rule.outcome] for rule in self.rules]
        if self.has_rows:
            for row, rule in zip(rows, self.rules, strict=True):
                right = rule.precision
                row.append(str(rule.support))
                row.append("" if right is None else format_percent(right, 1, limits=False))
        filled = [head[k] == "rule" or any(row[k] for row in rows) for k in range(len(head))]
        return [
            [cell for cell, some in zip(row, filled, strict=True) if some] for row in [head, *rows]
        ]

    def to_markdown(self) -> str:
        """Return the table and its lines as Markdown."""
        head, *rows = self._list_cells()
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
        lines = [f"| {' | '.join(cells)} |" for cells in [head, *escaped]]
        lines.insert(1, "|" + " --- |" * len(head))
        before = [*self.before, ""] if self.before else []
        return "\n".join([*before, *lines, "", *self.after])

    def to_html(self) -> str:
        """Return the table and its lines as HTML."""
        head, *rows = self._list_cells()
        top = html("tr", [html("th", name) for name in head])
        body = [html("tr", [html("td", cell) for cell in row]) for row in rows]
        before, after = ([html("p", line) for line in part] for part in (self.before, self.after))
        table = html("table", html("thead", top), html("tbody", body))
        return str(join(before, table, after))
