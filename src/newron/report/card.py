"""The model card: how the model came to be, for what it is meant, where it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from newron._version import __version__
from newron.model.description import format_number, summarize
from newron.model.file import VERSION
from newron.model.schema import Column
from newron.report.facts import Facts
from newron.report.quality import tell_seen
from newron.report.writing import count, say_class, tell, write_count

__all__ = ["write_card"]

_MOST_LISTED = 12  # categories and values of a domain that are told


def write_card(facts: Facts) -> str:
    """Write the section."""
    items = "".join(f"<dt>{name}</dt><dd>{told}</dd>" for name, told in _list_items(facts) if told)
    return (
        f'<h2>Model card</h2><div class="card"><dl>{items}</dl><div>'
        f"<h3>{_name_domain(facts)}</h3>{_write_domain(facts)}</div></div>"
    )


def _list_items(facts: Facts) -> Iterator[tuple[str, str]]:
    origin = facts.origin
    yield "What it is for", tell(facts.words.purpose) if facts.words.purpose else ""
    yield "Network", _tell_network(facts)
    yield "Trained on", "" if origin.n_rows is None else count(origin.n_rows, "row")
    yield "Fingerprint of the training rows (SHA-256)", _write_code(origin.fingerprint)
    yield "Recipe", _tell_recipe(origin.recipe, origin.settings)
    yield "Command", _write_code(origin.command)
    yield "Seed", tell(origin.seed) if origin.seed else ""
    yield "Trained with", _tell_versions(origin.versions)
    yield "Fingerprint of the model", _write_code(facts.fingerprint)
    yield "Rows of this report", _tell_rows(facts)
    yield "Ties", _tell_ties(facts)
    yield "Limits", _tell_limits(facts)
    told = f"newron {__version__}, model file format {VERSION}"
    yield "Report written by", told


def _tell_network(facts: Facts) -> str:
    told = tell(summarize(facts.model))
    if not facts.rewritten:
        return told
    return f"{told}. It is shown in the words of its rules, which add up to the same scores."


def _write_code(text: str) -> str:
    return f"<code>{escape(text)}</code>" if text else ""


def _tell_recipe(recipe: str, settings: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name} = {value!r}" for name, value in settings.items())
    if not recipe:
        return tell(told) if told else ""
    return f"{tell(recipe)}{f'; {tell(told)}' if told else '; all other settings as they are'}"


def _tell_versions(versions: Mapping[str, str]) -> str:
    return " · ".join(tell(f"{name} {version}") for name, version in versions.items())


def _tell_rows(facts: Facts) -> str:
    gaps = int(np.isnan(facts.rows).sum())
    columns = int(np.isnan(facts.rows).any(axis=0).sum())
    missing = "no missing values"
    if gaps:
        missing = f"{count(gaps, 'missing value')} in {count(columns, 'column')}"
    picked = ""
    if len(facts.picked) < len(facts.rows):
        picked = f" {write_count(len(facts.picked))} of them, drawn at random, can be chosen above."
    told = tell(count(len(facts.rows), facts.words.noun))
    return f"{told}, {missing}. {tell_seen(facts)}{picked}"


def _tell_ties(facts: Facts) -> str:
    classes = facts.classes
    if classes is None:
        return ""
    if facts.is_binary:
        end = f"A sum exactly at the limit is “{tell(say_class(classes.labels[1]))}”."
    else:
        end = "Of equal scores the first class in the list wins."
    start = "A value exactly at a threshold satisfies “≥” and “≤”. " if facts.is_crisp else ""
    return f"{start}{end}"


def _tell_limits(facts: Facts) -> str:
    outside = _count_outside(facts)
    told = "A value outside the ranges below is still answered, and the page says so."
    if outside:
        told += f" {count(outside, 'row')} of this report lie outside."
    if any(column.categories is not None for column in facts.model.schema.columns):
        told += " A category that training has not seen counts as missing."
    return (
        f"{told} The model describes the rows it was trained on; it does not say what would "
        "happen if somebody changed an input."
    )


def _count_outside(facts: Facts) -> int:
    columns = facts.model.schema.columns
    low, high = (np.array([getattr(c, end) for c in columns]) for end in ("low", "high"))
    numbers = np.array([column.categories is None for column in columns])
    with np.errstate(invalid="ignore"):
        outside = (facts.rows < low) | (facts.rows > high)
    return int((outside & numbers).any(axis=1).sum())


# ---- the domain ----


def _name_domain(facts: Facts) -> str:
    return "Domain: what the proof assumes" if facts.rules is not None else "Observed domain"


def _write_domain(facts: Facts) -> str:
    used = set(facts.used)
    rows = "".join(
        f"<tr><th scope=row>{tell(column.name)}</th><td>{_tell_column(column, facts)}"
        f"{'' if i in used else ' <span class=muted>(not used)</span>'}</td></tr>"
        for i, column in enumerate(facts.model.schema.columns)
    )
    return f'<table class="small"><tbody>{rows}</tbody></table>'


def _tell_column(column: Column, facts: Facts) -> str:
    unit = f" {column.unit}" if column.unit else ""
    if column.categories is not None:
        told = _list_some([str(label) for label in column.categories])
    elif column.values is not None and len(column.values) <= _MOST_LISTED:
        told = _list_some([format_number(value) for value in sorted(column.values)]) + unit
    else:
        ends = f"{format_number(column.low)} to {format_number(column.high)}{unit}"
        told = f"any number, observed {ends}" if facts.rules is not None else ends
    return tell(f"{told} or missing" if column.gaps else told)


def _list_some(words: list[str]) -> str:
    shown = words[:_MOST_LISTED]
    rest = len(words) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
