"""Rules as a value: to print, to apply, to prove."""

from __future__ import annotations

import json
import textwrap
import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newron.errors import NewronWarning
from newron.formatting import (
    clean,
    escape_unprintable,
    format_fraction,
    format_label,
    format_number,
    format_unit,
    quote,
)
from newron.model.arithmetic import Floats
from newron.model.labels import Labels
from newron.model.model import Model
from newron.model.output import Classes
from newron.rules.axis import Axis
from newron.rules.body import (
    Body,
    DecisionList,
    Points,
    choose_classes,
    measure_length,
    predict_sums,
)
from newron.rules.building import build_model
from newron.rules.coverage import Coverage
from newron.rules.node import CellRows, count_literals, list_literals, read_columns
from newron.rules.parsing import parse_rules
from newron.rules.points import order_terms
from newron.rules.proof import Proof
from newron.rules.prover import prove
from newron.rules.rule import RECORD, Rule, RuleTable
from newron.rules.text import (
    LABELS,
    WIDTH,
    Writer,
    name_groups,
    write_decision,
    write_head,
    write_missing,
)
from newron.tables.frames import make_pandas

if TYPE_CHECKING:
    import pandas as pd


class RuleSet:
    """The rules of a network.

    ``print(rules)`` prints them, ``rules.predict(X)`` applies them without the network, and
    ``rules.proof`` is whether the two are equal.

    Parameters
    ----------
    model : Model
        The network.
    axes : tuple of Axis
        The cells of its columns.
    body : DecisionList or Points
        The rules over these cells.
    form : str
        "rules" (if/then, any of which may hold), "list" (the first that holds decides),
        "count" (so many of these conditions hold) or "points" (conditions add points).
    minimal : bool
        Whether no shorter rules of this form exist over the same conditions, where each
        rule has its own price (a group of conditions that two rules share counts twice).
    coverage : Coverage, optional
        Rows that support and precision are measured on.

    Examples
    --------
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> fever = Layer("heaviside", "sum", "identity", 1, target=[0], source=[0],
    ...               w=[[1.0]], b=[[38.0]], alpha=[2.0], centre=[1.0])
    >>> model = Model(Schema((Column("temperature", 35.0, 42.0),)), [fever],
    ...               Classes(("well", "ill")))
    >>> rules = model.rules()
    >>> [(rule.condition, rule.prediction) for rule in rules.rules]
    [('temperature ≥ 38', 'ill'), ('otherwise', 'well')]
    >>> rules.predict([[39.5]]).tolist(), bool(rules.proof)
    (['ill'], True)
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

        Parameters
        ----------
        text : str
            Rules as they are printed.
        model : Model
            The network that they are about.

        Returns
        -------
        RuleSet

        Raises
        ------
        InputError
            With the line that could not be read.
        """
        axes, body = parse_rules(text, model.schema, model.output)
        form = "points" if isinstance(body, Points) else "list"
        return cls(model, axes, body, form)

    # ---- applying the rules ----

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class or the number that the rules predict for each row.

        Parameters
        ----------
        X : table
            Rows as for ``model.predict``.

        Returns
        -------
        array of shape (rows,) or (rows, targets)
        """
        rows = self._locate(self._model.read(X))
        output = self._model.output
        if isinstance(output, Classes):
            return np.asarray(output.array[choose_classes(self._body, output, rows)])
        assert isinstance(self._body, Points)  # noqa: S101 - regression has points alone
        return np.asarray(output.predict(predict_sums(self._body, rows)))

    def _locate(self, rows: Floats) -> CellRows:
        columns = [np.asarray(rows[:, i], np.float64) for i in range(len(self._axes))]
        for i in self._used:
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
        """Compare the rules with the network.

        Parameters
        ----------
        seconds : float, default=60
            How long to try.

        Returns
        -------
        Proof
        """
        return prove(self.to_text(notes=False), self._model, seconds)

    def to_model(self) -> Model:
        """Return the network of these rules, often smaller than the one they came from.

        Returns
        -------
        Model
        """
        return build_model(self._model.schema, self._axes, self._body, self._model.output)

    # ---- facts ----

    def __len__(self) -> int:
        """Return the number of rules, or of conditions that have points."""
        return len(self._body.nodes)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order in which they are printed; if/then rules end with the rest."""
        body, output = self._shown, self._model.output
        write = self._writer.write
        if isinstance(body, Points):
            found = [
                Rule(write(term.node), None, term.weights, count_literals([term.node]))
                for term in body.terms
            ]
        else:
            assert isinstance(output, Classes)  # noqa: S101 - regression has no list
            found = [
                Rule(write(b.node), output.labels[b.outcome], (), count_literals([b.node]))
                for b in body.branches
            ]
            found.append(Rule("otherwise", output.labels[body.default], (), 0))
        if self._coverage is None:
            return tuple(found)
        measured = self._coverage.measure_body(body, self._axes)
        return tuple(
            replace(rule, support=n, precision=precision)
            for rule, (n, precision) in zip(found, measured, strict=True)
        )

    @cached_property
    def _shown(self) -> Body:
        """The body as it is printed: points by column, the strongest first."""
        if isinstance(self._body, DecisionList):
            return self._body
        return Points(tuple(order_terms(self._body.terms, self._axes)), self._body.constants)

    @property
    def _writer(self) -> Writer:
        return Writer(self._axes, name_groups(self._shown.nodes))

    @property
    def _used(self) -> list[int]:
        return sorted(set().union(*map(read_columns, self._body.nodes), set()))

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
        return tuple(self._axes[i].column.name for i in self._used)

    @property
    def domain(self) -> str:
        """For which inputs the rules are meant, a line for each column."""
        return "\n".join(map(_describe_domain, self._axes))

    def cover(self, X: ArrayLike, y: ArrayLike | None = None) -> RuleSet:
        """Return the same rules with support and precision from these rows.

        Parameters
        ----------
        X : table
            Rows as for ``model.predict``.
        y : array of shape (rows,), optional
            Their classes.

        Returns
        -------
        RuleSet
        """
        return self.with_coverage(Coverage.read(self._model, self._axes, X, y))

    def with_coverage(self, coverage: Coverage | None) -> RuleSet:
        """Return the same rules, measured on other rows.

        Parameters
        ----------
        coverage : Coverage or None
            The rows; None for none.

        Returns
        -------
        RuleSet
        """
        return RuleSet(
            self._model, self._axes, self._body, self.form, minimal=self.minimal, coverage=coverage
        )

    # ---- text ----

    def to_text(self, *, notes: bool = True) -> str:
        """Return the rules as text that can be read again.

        Parameters
        ----------
        notes : bool, default=True
            Whether support and precision follow after dashes, if there are rows.

        Returns
        -------
        str
        """
        described = [rule.note for rule in self.rules] if notes and self._coverage else None
        lines = self._writer.write_body(self._shown, self._model.output, described)
        return "\n".join([*lines, *write_missing(self._axes, self._body.nodes)])

    def __str__(self) -> str:
        domains = "; ".join(_describe_domain(self._axes[i]) for i in self._used)
        lines = textwrap.wrap(f"Domain: {domains}", WIDTH, subsequent_indent="  ")
        end = lines if self._used else []
        labels = [LABELS] if isinstance(self._model.output, Labels) else []
        lines = [self.to_text(), *labels, "", str(self.proof), *end, *self._describe_missing()]
        return "\n".join(lines)

    def _describe_missing(self) -> list[str]:
        """Return what missing values fulfil, where the rules' own words do not say it."""
        literals = [
            literal
            for literal in list_literals(self._body.nodes)
            if not self._axes[literal.column].column.required
        ]
        if not literals or write_missing(self._axes, literals):
            return []
        named = any(literal.mask & self._axes[literal.column].missing for literal in literals)
        return [f"A missing value fulfils no {'other ' if named else ''}condition."]

    def __repr__(self) -> str:
        return f"<RuleSet: {self.form}, {len(self)} rules, {self.n_literals} literals>"

    def to_markdown(self) -> str:
        """Return the rules as a Markdown table, and what was proved.

        Returns
        -------
        str
        """
        return self._table.to_markdown()

    def to_html(self) -> str:
        """Return the rules as an HTML table, and what was proved.

        Returns
        -------
        str
        """
        return self._table.to_html()

    _repr_html_ = to_html

    @property
    def _table(self) -> RuleTable:
        """The rules as a table, with what stands before and after it."""
        last = "points" if isinstance(self._body, Points) else "prediction"
        end = [*self._list_end(), *write_missing(self._axes, self._body.nodes), str(self.proof)]
        return RuleTable(self.rules, last, self._coverage is not None, self._list_groups(), end)

    def _list_groups(self) -> list[str]:
        writer = self._writer
        return [
            f"{name} counts: {'; '.join(map(writer.write, children))}"
            for children, name in writer.names.items()
        ]

    def _list_end(self) -> list[str]:
        """Return where points start, and what their sums decide."""
        if isinstance(self._body, DecisionList):
            return []
        output = self._model.output
        single = isinstance(output, Classes) and output.n_scores == 1
        start = ", ".join(map(format_fraction, self._body.constants))
        begin = [write_head(output)] + ([] if single else [f"Start with {start}"])
        return [*begin, *write_decision(output, self._body)]

    # ---- data ----

    def to_records(self) -> list[dict[str, Any]]:
        """Return a record for each rule.

        Returns
        -------
        list of dict
            With the keys rule, prediction, support, precision and literals.
        """
        return [rule.to_dict() for rule in self.rules]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame of pandas, a row for each rule.

        Returns
        -------
        DataFrame
            With the columns rule, prediction, support, precision and literals.
        """
        return make_pandas(self.to_records(), RECORD, "rules")

    def to_json(self) -> str:
        """Return the rules, their domain and what was proved, as JSON.

        Returns
        -------
        str
        """
        content = {
            "form": self.form,
            "minimal": self.minimal,
            "text": self.to_text(notes=False),
            "rules": self.to_records(),
            "literals": self.n_literals,
            "columns": list(self.columns),
            "domain": self.domain.splitlines(),
            "proof": self.proof.to_dict(),
            "model": self._model.fingerprint,
        }
        return escape_unprintable(json.dumps(content, ensure_ascii=False, indent=1, default=str))


def _describe_domain(axis: Axis) -> str:
    column, unit = axis.column, format_unit(axis.column.unit)
    if column.categories is not None:
        described = f"one of {', '.join(map(format_label, column.categories))}"
    elif axis.values is not None:
        described = f"one of {', '.join(map(format_number, axis.values))}{unit}"
    else:
        observed = f"{format_number(column.low)} to {format_number(column.high)}{unit}"
        described = f"any number (observed: {observed})"
    missing = ", or missing" if column.gaps else ", never missing" if column.required else ""
    name = column.name if column.name.isprintable() else quote(column.name)
    return clean(f"{name}: {described}{missing}", directions=False)
