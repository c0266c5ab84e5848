"""Rules as a value: to print, to ask, to prove."""

from __future__ import annotations

import html
import json
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import InputError, NewronWarning
from newron.formatting import format_fraction, format_label, format_number
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Classes
from newron.rules.axis import Axis
from newron.rules.body import (
    Body,
    DecisionList,
    Points,
    add_amounts,
    choose_classes,
    measure_length,
)
from newron.rules.building import build_model
from newron.rules.coverage import Coverage, number_classes
from newron.rules.node import CellRows, Node, count_literals, read_columns
from newron.rules.parsing import parse_rules
from newron.rules.proof import Proof, prove
from newron.rules.text import WIDTH, Writer, name_groups, write_decision, write_head

__all__ = ["RuleSet"]


class RuleSet:
    """The rules of a network.

    ``print(rules)`` tells them in words, ``rules.predict(X)`` follows them without the
    network, and ``rules.proof`` tells whether the two are equal.

    Attributes
    ----------
    form : str
        "rules" (if/then, any of which may hold), "list" (the first that holds decides),
        "count" (so many of these conditions hold) or "points" (conditions add points).
    minimal : bool
        Whether no shorter rules of this form exist over the same conditions, where each
        rule has its own price (a group of conditions that two rules share counts twice).
    """

    def __init__(
        self,
        model: Model,
        axes: tuple[Axis, ...],
        body: Body,
        form: str,
        *,
        minimal: bool = False,
        coverage: Coverage | None = None,
    ) -> None:
        self._model = model
        self._axes = axes
        self._body = body
        self.form = form
        self.minimal = minimal
        self._coverage = coverage

    @classmethod
    def parse(cls, text: str, model: Model) -> RuleSet:
        """Read rules, for example after a change by hand; ``proof`` compares with the model.

        Raises
        ------
        InputError
            With the line that could not be read.
        """
        axes, body = parse_rules(text, model.schema, model.output)
        form = "points" if isinstance(body, Points) else "list"
        return cls(model, axes, body, form)

    # ---- following the rules ----

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Give the class or the amount that the rules say for each row."""
        rows = self._locate(self._model.read(X))
        output = self._model.output
        if isinstance(output, Classes):
            return np.asarray(output.array[choose_classes(self._body, output, rows)])
        assert isinstance(self._body, Points)  # noqa: S101 - amounts have points alone
        return np.asarray(output.predict(add_amounts(self._body, rows)))

    def _locate(self, rows: Floats) -> CellRows:
        columns = [np.asarray(rows[:, i], np.float64) for i in range(len(self._axes))]
        for i in sorted(set().union(*map(read_columns, self._body.nodes), set())):
            outside = ~self._axes[i].contains(columns[i])
            if outside.any():
                warnings.warn(
                    f"{int(outside.sum())} rows have values outside the domain for which the "
                    f"rules are proved, in column {self._axes[i].column.name!r}",
                    NewronWarning,
                    stacklevel=3,
                )
        cells = [axis.locate(x) for axis, x in zip(self._axes, columns, strict=True)]
        return CellRows(self._axes, np.stack(cells, axis=1))

    # ---- proof ----

    @cached_property
    def proof(self) -> Proof:
        """Whether these rules, as printed and read again, equal the network everywhere."""
        return self.prove()

    def prove(self, seconds: float = 60.0) -> Proof:
        """Compare with the network, for so long at most."""
        return prove(self.to_text(notes=False), self._model, seconds)

    def to_model(self) -> Model:
        """Give the network that these rules are, often smaller than the one they came from."""
        return build_model(self._model.schema, self._axes, self._body, self._model.output)

    # ---- what they are ----

    def __len__(self) -> int:
        """Count the rules, or the conditions that have points."""
        return len(self._body.nodes)

    @property
    def n_literals(self) -> int:
        """How many conditions on single columns there are, shared groups once."""
        return count_literals(self._body.nodes)

    @property
    def length(self) -> float:
        """What was made small: literals, and a quarter for each rule or number."""
        return measure_length(self._body)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the rules read."""
        used = sorted(set().union(*map(read_columns, self._body.nodes), set()))
        return tuple(self._axes[i].column.name for i in used)

    @property
    def domain(self) -> str:
        """For which inputs the rules are meant, column by column."""
        return "\n".join(_tell_domain(axis) for axis in self._axes)

    def cover(self, X: ArrayLike, y: ArrayLike | None = None) -> RuleSet:
        """Give the same rules with support and precision from these rows."""
        rows, output = self._model.read(X), self._model.output
        n_classes = len(output.labels) if isinstance(output, Classes) and y is not None else 1
        classes = number_classes(output, y, len(rows))
        return self.with_coverage(Coverage.measure(self._axes, rows, classes, n_classes))

    def with_coverage(self, coverage: Coverage | None) -> RuleSet:
        """Give the same rules, measured on other rows."""
        return RuleSet(
            self._model, self._axes, self._body, self.form, minimal=self.minimal, coverage=coverage
        )

    @cached_property
    def _support(self) -> list[_Support]:
        """How many rows each rule covers, and how right it is there; the rest at the end."""
        if self._coverage is None:
            return []
        return _measure(self._body, self._coverage, self._axes)

    # ---- words ----

    def to_text(self, *, notes: bool = True) -> str:
        """Tell the rules in words; ``notes`` adds support and precision after dashes."""
        told = [support.tell() for support in self._support] if notes and self._support else None
        writer = Writer(self._axes, name_groups(self._sorted.nodes))
        return "\n".join(writer.write_body(self._sorted, self._model.output, self._sort(told)))

    @property
    def _order(self) -> list[int]:
        """Points are told by size, the largest first."""
        if isinstance(self._body, DecisionList):
            return list(range(len(self._body.branches)))
        sizes = [max(map(abs, term.weights)) for term in self._body.terms]
        return sorted(range(len(sizes)), key=lambda k: -sizes[k])

    @property
    def _sorted(self) -> Body:
        if isinstance(self._body, DecisionList):
            return self._body
        return Points(tuple(self._body.terms[k] for k in self._order), self._body.constants)

    def _sort(self, told: Sequence[str] | None) -> Sequence[str] | None:
        if told is None or isinstance(self._body, DecisionList):
            return told
        return [told[k] for k in self._order]

    def __str__(self) -> str:
        return f"{self.to_text()}\n\n{self.proof}\n{self._tell_domain()}".rstrip()

    def _tell_domain(self) -> str:
        """Tell the domain of the columns that the rules read, in a few lines."""
        used = sorted(set().union(*map(read_columns, self._body.nodes), set()))
        told = "; ".join(_tell_domain(self._axes[i]) for i in used)
        lines = textwrap.wrap(f"Domain: {told}", WIDTH, subsequent_indent="  ")
        return "\n".join(lines) if used else ""

    def __repr__(self) -> str:
        return f"<RuleSet: {self.form}, {len(self)} rules, {self.n_literals} literals>"

    def to_markdown(self) -> str:
        """Tell the rules as a Markdown table, and what was proved."""
        head, rows = self._make_rows()
        lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        lines += ["| " + " | ".join(_escape(cell) for cell in row) + " |" for row in rows]
        return "\n".join([*self._tell_groups(), *lines, "", *self._tell_end(), str(self.proof)])

    def _repr_html_(self) -> str:
        head, rows = self._make_rows()
        cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
        lines = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        groups = "".join(f"<p>{html.escape(line)}</p>" for line in self._tell_groups() if line)
        return (
            f"{groups}<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"
            + "".join(
                f"<p>{html.escape(line)}</p>" for line in [*self._tell_end(), str(self.proof)]
            )
        )

    def to_html(self) -> str:
        """Tell the rules as an HTML table."""
        return self._repr_html_()

    def _tell_groups(self) -> list[str]:
        writer = Writer(self._axes, name_groups(self._sorted.nodes))
        return [
            f"{name} counts: {'; '.join(writer.write(child) for child in children)}"
            for children, name in writer.names.items()
        ] + ([""] if writer.names else [])

    def _tell_end(self) -> list[str]:
        """Tell where points start and what their sums decide."""
        if isinstance(self._body, DecisionList):
            return []
        output = self._model.output
        start = ", ".join(format_fraction(c) for c in self._body.constants)
        binary = isinstance(output, Classes) and output.n_scores == 1
        begin = [write_head(output)] + ([] if binary else [f"Start with {start}"])
        return [*begin, *write_decision(output, self._body)]

    def _make_rows(self) -> tuple[list[str], list[list[str]]]:
        records = self.to_records()
        head = ["rule", "prediction" if isinstance(self._body, DecisionList) else "points"]
        if self._support:
            head += ["rows", "right"]
        rows = []
        for record in records:
            row = [record["rule"], str(record["prediction"])]
            if self._support:
                precision = record["precision"]
                right = "" if precision is None else f"{100 * precision:.1f} %"
                row += [str(record["support"]), right]
            rows.append(row)
        return head, rows

    def to_records(self) -> list[dict[str, Any]]:
        """Give a record for each rule: rule, prediction, support, precision, literals."""
        writer = Writer(self._axes, name_groups(self._sorted.nodes))
        records = [
            _make_record(rule, said, nodes) for rule, said, nodes in self._list_rules(writer)
        ]
        for record, support in zip(records, self._support, strict=False):
            record.update(support=support.n_rows, precision=support.precision)
        if isinstance(self._body, Points):
            return [records[k] for k in self._order]
        return records

    def _list_rules(self, writer: Writer) -> list[tuple[str, Any, list[Node]]]:
        output = self._model.output
        body = self._body
        if isinstance(body, DecisionList):
            assert isinstance(output, Classes)  # noqa: S101 - amounts have no list
            rules: list[tuple[str, Any, list[Node]]] = [
                (writer.write(b.node), output.labels[b.outcome], [b.node]) for b in body.branches
            ]
            return [*rules, ("otherwise", output.labels[body.default], [])]
        return [
            (
                writer.write(term.node),
                ", ".join(format_fraction(w, signed=True) for w in term.weights),
                [term.node],
            )
            for term in body.terms
        ]

    def to_frame(self) -> Any:
        """Give a data frame: rule, prediction, support, precision, literals."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError(
                "a data frame needs pandas: pip install 'newron-ian[pandas]'"
            ) from None
        return pd.DataFrame(
            self.to_records(), columns=["rule", "prediction", "support", "precision", "literals"]
        )

    def to_json(self) -> str:
        """Give the rules, their domain and what was proved, as JSON."""
        proof = self.proof
        content = {
            "form": self.form,
            "minimal": self.minimal,
            "text": self.to_text(notes=False),
            "rules": self.to_records(),
            "literals": self.n_literals,
            "columns": list(self.columns),
            "domain": self.domain.splitlines(),
            "proof": {
                "equal": proof.equal,
                "method": proof.method,
                "size": proof.size,
                "seconds": round(proof.seconds, 4),
                "counterexample": proof.counterexample,
                "note": proof.note,
            },
            "model": self._model.fingerprint,
        }
        return json.dumps(content, ensure_ascii=False, indent=1, default=str)


@dataclass(frozen=True)
class _Support:
    """How many rows a rule covers, and the part of them where it is right."""

    n_rows: int
    precision: float | None

    def tell(self) -> str:
        rows = f"{self.n_rows} row" if self.n_rows == 1 else f"{self.n_rows} rows"
        if self.precision is None:
            return rows
        share = 100 * self.precision
        told = f"{share:.0f}" if share == round(share) else f"{share:.1f}"
        return f"{rows}, {told} % right"


def _measure(body: Body, coverage: Coverage, axes: Sequence[Axis]) -> list[_Support]:
    rows = CellRows(axes, coverage.place(axes))
    if isinstance(body, Points):
        return [_Support(coverage.count(rows.holds(term.node)), None) for term in body.terms]
    left = np.ones(len(rows), bool)
    out = []
    for branch in body.branches:
        held = rows.holds(branch.node) & left
        out.append(_Support(coverage.count(held), coverage.measure_right(held, branch.outcome)))
        left &= ~held
    rest = _Support(coverage.count(left), coverage.measure_right(left, body.default))
    return [*out, rest]


def _make_record(rule: str, said: Any, nodes: Sequence[Node]) -> dict[str, Any]:
    return {
        "rule": rule,
        "prediction": said,
        "support": None,
        "precision": None,
        "literals": count_literals(nodes),
    }


def _tell_domain(axis: Axis) -> str:
    column = axis.column
    unit = f" {column.unit}" if column.unit else ""
    gaps = ", or missing" if column.gaps else ""
    if column.categories is not None:
        told = f"one of {', '.join(format_label(label) for label in column.categories)}"
    elif axis.values is not None:
        told = f"one of {', '.join(map(format_number, axis.values))}{unit}"
    else:
        observed = f"{format_number(column.low)} to {format_number(column.high)}{unit}"
        told = f"any number (observed: {observed})"
    return f"{column.name}: {told}{gaps}"


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|")
