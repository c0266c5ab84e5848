"""What a report of a survival model shows besides its network of hazards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from newron.errors import ModelError
from newron.evaluation import SurvivalQuality, measure_survival
from newron.evaluation.times import read_times
from newron.formatting import format_fraction
from newron.model.arithmetic import Floats
from newron.model.model import Model
from newron.model.output import Targets
from newron.model.survival import (
    Survival,
    accumulate,
    add_time,
    find_hazards,
    find_risk,
    get_survival,
    make_curves,
)
from newron.rules.risk_card import RiskCard, read_risk_card
from newron.rules.scorecard import ScoreCard, read_card

_GROUPS = ("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "highest fifth")


@dataclass(frozen=True)
class SurvivalFacts:
    """When the event happens, by totals of a card or by groups of rows.

    - ``card``: The card of risk; None where the time acts together with a column.
    - ``curves``: Names, and survival at the ends of the intervals.
    - ``quality``: Of the rows of the report; None without their events and times.
    """

    output: Survival
    card: RiskCard | None
    curves: tuple[tuple[str, Floats], ...]
    quality: SurvivalQuality | None
    n_events: int | None


def gather_survival(model: Model, card: ScoreCard | None, rows: Floats, y: Any) -> SurvivalFacts:
    """Gather the curves of a model, and how good they are on rows without a time."""
    output = get_survival(model)
    found = _find_card(model, card)
    cumulative = accumulate(find_hazards(model, rows))
    curves = _list_totals(found) if found is not None else _list_groups(cumulative)
    if y is None:
        return SurvivalFacts(output, found, curves, None, None)
    times = read_times(y, len(rows))
    pair, n_events = (times.event, times.time), int(times.event.sum())
    quality = None
    if n_events > 1:
        risk, each = find_risk(cumulative), make_curves(output, cumulative)
        quality = measure_survival(pair, pair, risk, list(each))
    return SurvivalFacts(output, found, curves, quality, n_events)


def show_hazards(model: Model, rows: Floats) -> tuple[Model, Floats]:
    """Return the network of hazards as one of numbers, and rows in the middle of the times.

    Its score is shown, not a class: that no event happens in an interval is always the likelier.
    """
    output = get_survival(model)
    name = f"log-odds of {output.labels[1]}"
    named = model.replace(output=Targets((name,)))
    return named, add_time(model, rows, output.ends[len(output.ends) // 2])


def _find_card(model: Model, card: ScoreCard | None) -> RiskCard | None:
    if not model.is_crisp:
        return None
    try:
        return read_risk_card(read_card(model) if card is None else card)
    except ModelError:  # the time acts together with a column, or hidden neurons do
        return None


def _list_totals(card: RiskCard) -> tuple[tuple[str, Floats], ...]:
    return tuple(
        (f"{format_fraction(total)} points", card.find_survival(total))
        for total in card.list_totals()
    )


def _list_groups(cumulative: Floats) -> tuple[tuple[str, Floats], ...]:
    """Return the mean curves of fifths of the rows, by rising risk."""
    order = np.argsort(find_risk(cumulative), kind="stable")
    parts = zip(_GROUPS, np.array_split(order, len(_GROUPS)), strict=True)
    return tuple(
        (name, np.exp(-cumulative[part]).mean(axis=0)) for name, part in parts if len(part)
    )
