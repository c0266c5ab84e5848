"""Score cards: conditions with points, a threshold, and what a total means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from newron.drawing.printed import Printed
from newron.errors import ModelError
from newron.formatting import clean, format_fraction, format_percent
from newron.model.labels import refuse_labels
from newron.model.model import Model
from newron.model.output import Classes
from newron.rules.axis import Axis
from newron.rules.body import Points
from newron.rules.circuit import read_circuit, to_fraction
from newron.rules.node import Literal
from newron.rules.points import make_points, order_terms
from newron.rules.ruleset import RuleSet
from newron.rules.text import (
    Writer,
    list_bands,
    name_groups,
    write_decision,
    write_head,
    write_missing,
)

_PROBABILITIES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_MAX_TOTALS = 16


@dataclass(frozen=True)
class Cost:
    """The accuracy of a network on some rows, and its log loss there."""

    n_rows: int
    accuracy: float
    loss: float


@dataclass(frozen=True)
class CardRow:
    """One line of a score card.

    - ``text``: The whole condition.
    - ``column``: The column that it is about; None if it is about several.
    - ``condition``: The condition without the name of its column.
    - ``points``: What it adds to the total.
    """

    text: str
    column: str | None
    condition: str
    points: Fraction


@dataclass(frozen=True)
class ScoreCard(Printed):
    """A network as a card: what holds adds its points, and the total decides.

    Parameters
    ----------
    model : Model
        The network of this card; with rounded points another one than before.
    axes : tuple of Axis
        The cells of its columns.
    points : Points
        Conditions over these cells, and what they add to the score.
    optimal : bool
        Whether no other whole points of this unit are closer to the network before, proved.
    before, after : Cost or None
        What rounding costs.
    where : str
        On which rows that was measured.

    Examples
    --------
    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> schema = Schema((Column("age", 0.0, 100.0), Column("bmi", 10.0, 60.0)))
    >>> model = from_rules('''
    ... Points for ill
    ...     +2  age ≥ 54.5
    ...     −1  bmi < 25
    ... Sum ≥ 1.5: ill
    ... Otherwise: well
    ... ''', schema, Classes(("well", "ill")))
    >>> print(model.scorecard())
    Points for ill
        +2  age ≥ 54.5
        +1  bmi ≥ 25
    Sum ≥ 2.5: ill
    Otherwise: well
    Missing values count as: bmi = 40
    <BLANKLINE>
    points   0   1   2   3
    ill %    8  18  38  62
    """

    model: Model
    axes: tuple[Axis, ...]
    points: Points
    optimal: bool = False
    before: Cost | None = None
    after: Cost | None = None
    where: str = ""

    # ---- facts ----

    @property
    def unit(self) -> Fraction:
        """What one point weighs in log-odds."""
        return to_fraction(self.output.unit)

    @property
    def output(self) -> Classes:
        """The two classes, or the ordered ones, and what a point weighs."""
        assert isinstance(self.model.output, Classes)  # noqa: S101 - checked when it was made
        return self.model.output

    @property
    def rules(self) -> RuleSet:
        """The card as rules, whose proof compares it with its network."""
        return RuleSet(self.model, self.axes, self.points, "points")

    @property
    def rows(self) -> list[CardRow]:
        """The conditions and their points, those of a column together, the strongest first."""
        writer = Writer(self.axes, name_groups(self.points.nodes))
        rows = []
        for term in order_terms(self.points.terms, self.axes):
            text, points = writer.write(term.node), term.weights[0]
            if isinstance(term.node, Literal):
                axis = self.axes[term.node.column]
                short = axis.format(term.node.mask, named=False)
                rows.append(CardRow(text, axis.column.name, short, points))
            else:
                rows.append(CardRow(text, None, text, points))
        return rows

    @property
    def threshold(self) -> Fraction:
        """The total from which on the second class is predicted."""
        return self.bands[-1][1]

    @property
    def bands(self) -> list[tuple[int, Fraction]]:
        """Numbers of classes and from which total on each is predicted, the highest first.

        The first class is predicted below all of them; one that no total leads to is left out.
        """
        return list_bands(self.points)

    @property
    def _is_whole(self) -> bool:
        return all(term.weights[0].denominator == 1 for term in self.points.terms)

    def get_probability(self, total: float | Fraction) -> float:
        """Return the probability of the second of two classes, or the highest of ordered ones.

        Parameters
        ----------
        total : float or Fraction

        Returns
        -------
        float
        """
        return self.get_probabilities(total)[-1]

    def get_probabilities(self, total: float | Fraction) -> tuple[float, ...]:
        """Return the probability of each class for a total of points.

        Parameters
        ----------
        total : float or Fraction

        Returns
        -------
        tuple of float
        """
        first = to_fraction(self.output.thresholds[0])
        score = float(Fraction(total) + self.points.constants[0] + first)
        return tuple(self.output.predict_proba(np.array([[score]]))[0].tolist())

    def list_probabilities(self) -> list[tuple[Fraction, float]]:
        """Return some totals and the probabilities of the last class.

        Returns
        -------
        list of (total, probability)
        """
        if self._is_whole:
            sizes = [int(term.weights[0]) for term in self.points.terms]
            low, high = sum(min(size, 0) for size in sizes), sum(max(size, 0) for size in sizes)
            every = [Fraction(k) for k in range(low, high + 1)]
            totals = [t for t in every if max(*self._get_ends(t)) <= 0.995] or every
            step = -(-len(totals) // _MAX_TOTALS)
            below = sum(total < self.threshold for total in totals)
            totals = totals[below % step :: step]  # the threshold is one of them
        else:
            lowest, highest = float(self.bands[-1][1]), float(self.bands[0][1])
            places = [
                round(math.log(p / (1 - p)) + (lowest if p <= 0.5 else highest), 2)
                for p in _PROBABILITIES
            ]
            between = [float(total) for _, total in self.bands[:-1]]
            found = [Fraction(x).limit_denominator(100) for x in (*places, *between)]
            totals = sorted(set(found))
        return [(total, self.get_probability(total)) for total in totals]

    def _get_ends(self, total: Fraction) -> tuple[float, float]:
        """Return the probabilities of the first and the last class."""
        probabilities = self.get_probabilities(total)
        return probabilities[0], probabilities[-1]

    # ---- text ----

    def to_text(self, *, remarks: bool = True) -> str:
        """Return the card as text.

        Parameters
        ----------
        remarks : bool, default=True
            Whether the text of :meth:`format_remarks` follows; without it the text can be
            read again as rules.

        Returns
        -------
        str
        """
        points = [format_fraction(row.points, signed=True) for row in self.rows]
        width = max(map(len, points), default=0)
        lines = [
            *Writer(self.axes, name_groups(self.points.nodes)).write_groups(),
            write_head(self.output),
            *(f"    {p.rjust(width)}  {r.text}" for p, r in zip(points, self.rows, strict=True)),
            *write_decision(self.output, self.points),
            *write_missing(self.axes, self.points.nodes),
        ]
        return "\n".join([*lines, "", self.format_remarks()] if remarks else lines)

    def __str__(self) -> str:
        return self.to_text()

    def format_remarks(self) -> str:
        """Return what totals mean: probabilities in per cent; and what rounding costs.

        Returns
        -------
        str
        """
        output, totals = self.output, [total for total, _ in self.list_probabilities()]
        shown = range(0 if output.is_ordered else 1, len(output.labels))
        columns = []
        for total in totals:
            probabilities = self.get_probabilities(total)
            described = [f"{100 * probabilities[k]:.0f}" for k in shown]
            columns.append([format_fraction(total), *described])
        heads = ["points", *(f"{clean(output.labels[k], directions=False)} %" for k in shown)]
        lines = [head.ljust(max(map(len, heads))) for head in heads]
        for cells in columns:
            width = max(map(len, cells))
            lines = [f"{a}  {b.rjust(width)}" for a, b in zip(lines, cells, strict=True)]
        return "\n".join([*lines, *self._list_cost()])

    def _list_cost(self) -> list[str]:
        if self.before is None or self.after is None:
            return []
        a, b = self.after, self.before
        right = [format_percent(cost.accuracy, 1, limits=False) for cost in (a, b)]
        return [
            "",
            f"On {a.n_rows} {self.where}: right for {right[0]} ({right[1]} before rounding), "
            f"log loss {a.loss:.3f} ({b.loss:.3f}).",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain data.

        Returns
        -------
        dict
        """
        pairs = self.list_probabilities()
        bands = [{"class": self.output.labels[k], "from": float(total)} for k, total in self.bands]
        return {
            **({"bands": bands} if self.output.is_ordered else {}),
            "conditions": [{"rule": r.text, "points": float(r.points)} for r in self.rows],
            "threshold": float(self.threshold),
            "unit": self.output.unit,
            "offset": self.output.offset,
            "optimal": self.optimal,
            "risks": [{"total": float(total), "risk": p} for total, p in pairs],
        }


def read_card(model: Model) -> ScoreCard:
    """Return the score card of a crisp network of two classes, or of ordered ones."""
    refuse_labels(model.output, "score card")
    circuit = read_circuit(model)
    if not isinstance(model.output, Classes) or model.output.n_scores != 1:
        raise ModelError(
            "a score card has one sum: expected a network of two classes or of ordered ones; "
            "rules(form='points') tells the points of others"
        )
    return ScoreCard(model, circuit.axes, make_points(circuit))
