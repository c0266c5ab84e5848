"""Cards of risk: points of a subject, and a survival curve for each total."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from newron.drawing.printed import Printed
from newron.errors import ModelError
from newron.formatting import format_fraction, format_number, format_percent, format_unit
from newron.model.arithmetic import Floats
from newron.model.survival import Survival, accumulate, get_survival
from newron.model.terms import split_terms
from newron.rules.scorecard import CardRow, ScoreCard

_MAX_TOTALS, _MAX_TIMES = 12, 5


@dataclass(frozen=True, eq=False)
class RiskCard(Printed):
    """A network of hazards as a card: what holds adds its points, a total has its curve.

    - ``card``: All conditions, those on the time too: the points of an interval.
    - ``rows``: The conditions on the other columns, the most points first.
    - ``baseline`` of shape (intervals,): What is added to the total in each interval, before
      probabilities are made of it.

    >>> from newron.construct import from_rules
    >>> from newron.model import Column, Schema, Survival
    >>> schema = Schema((Column("age", 0.0, 100.0), Column("years", 0.0, 9.0)))
    >>> output = Survival(("no death", "death"), time="years", ends=(1.0, 5.0))
    >>> model = from_rules('''
    ... Points for death
    ...     +2  age ≥ 54.5
    ...     +1  years < 2
    ... Sum ≥ 4: death
    ... Otherwise: no death
    ... ''', schema, output)
    >>> print(read_risk_card(model.scorecard()))
    Points for death
        +2  age ≥ 54.5
    <BLANKLINE>
    no death until years 1     5
                0 points  95 %  94 %
                2 points  73 %  64 %
    """

    card: ScoreCard
    rows: tuple[CardRow, ...]
    baseline: Floats

    @property
    def output(self) -> Survival:
        """The intervals, and what the event is called."""
        return get_survival(self.card.model)

    def list_totals(self) -> list[Fraction]:
        """Return some totals, from the lowest possible one to the highest.

        Returned: all sums of whole points, where these are not too many.
        """
        low = sum((min(row.points, Fraction(0)) for row in self.rows), Fraction(0))
        high = sum((max(row.points, Fraction(0)) for row in self.rows), Fraction(0))
        if all(row.points.denominator == 1 for row in self.rows):
            sums = {Fraction(0)}
            for row in self.rows:
                sums |= {total + row.points for total in sums}
            totals = sorted(sums)
        else:
            places = np.linspace(float(low), float(high), _MAX_TOTALS)
            totals = [Fraction(round(place, 2)).limit_denominator(100) for place in places]
        return totals[:: -(-len(totals) // _MAX_TOTALS)]

    def find_survival(self, total: float | Fraction) -> Floats:
        """Return the probability of no event until the end of each interval."""
        scores = float(total) + self.baseline
        hazards = self.output.predict_proba(scores[:, None])[:, 1]
        return np.asarray(np.exp(-accumulate(hazards[None]))[0])

    def to_text(self) -> str:
        """Return the card as text."""
        points = [format_fraction(row.points, signed=True) for row in self.rows]
        width = max(map(len, points), default=0)
        lines = [
            f"Points for {self.output.labels[1]}",
            *(f"    {p.rjust(width)}  {r.text}" for p, r in zip(points, self.rows, strict=True)),
            "",
            *self._list_curves(),
        ]
        return "\n".join(lines)

    def _list_curves(self) -> list[str]:
        places = self._choose_times()
        output = self.output
        column = self.card.model.schema.columns[self.card.model.schema.names.index(output.time)]
        unit = format_unit(column.unit)
        heads = [f"{format_number(output.ends[k])}{unit}" for k in places]
        names = [f"{format_fraction(total)} points" for total in self.list_totals()]
        title = f"{output.labels[0]} until {output.time}"
        table = [
            [format_percent(self.find_survival(total)[k]) for k in places]
            for total in self.list_totals()
        ]
        widths = [max(map(len, cells)) for cells in zip(heads, *table, strict=True)]
        first = max(map(len, (title, *names)))
        rows = [(title, heads), *zip(names, table, strict=True)]
        return [
            f"{name.rjust(first)}  "
            + "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
            for name, cells in rows
        ]

    def _choose_times(self) -> list[int]:
        n = self.output.n_intervals
        places = {round(n * (k + 1) / _MAX_TIMES) - 1 for k in range(_MAX_TIMES)}
        return sorted(place for place in places if place >= 0)

    def __str__(self) -> str:
        return self.to_text()

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain data."""
        return {
            "conditions": [{"rule": r.text, "points": float(r.points)} for r in self.rows],
            "times": list(self.output.ends),
            "survival": [
                {"total": float(total), "curve": self.find_survival(total).tolist()}
                for total in self.list_totals()
            ],
        }


def read_risk_card(card: ScoreCard) -> RiskCard:
    """Return a card of hazards as a card of risk.

    - ``card``: Of a network of survival.

    Raises ModelError: If a condition is about the time and another column together: then no total
    has one curve.
    """
    model, output = card.model, get_survival(card.model)
    place = model.schema.names.index(output.time)
    baseline = np.full(output.n_intervals, -float(card.threshold))
    split = split_terms(model)
    for term in split.terms:
        if place not in term.columns:
            continue
        if len(term.columns) > 1:
            raise ModelError(
                f"a card of risk has one curve for each total: expected {output.time} by itself, "
                f"got {term.name} together; fit with hidden_layer_sizes=()"
            )
        baseline += split.trace(term, np.array(output.ends)[:, None])
    rows = tuple(row for row in card.rows if row.column != output.time)
    return RiskCard(card, rows, baseline)
