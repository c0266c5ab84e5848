"""The model card: how the model came to be, for what it is meant, where it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from newron._version import __version__
from newron.drawing.markup import Markup, bdi, html, join
from newron.formatting import (
    format_position,
    format_rounded,
    format_typographic,
    format_unit,
    list_some,
    name_class,
)
from newron.model.description import summarize
from newron.model.document import VERSION
from newron.model.measurement import MODEL, describe_score
from newron.model.output import Classes
from newron.model.schema import Column
from newron.report.facts import Facts
from newron.report.numbers import count, integer, percent
from newron.report.quality_section import describe_seen

_MAX_LISTED = 12  # categories and values of a domain that are listed


def write_card(facts: Facts) -> Markup:
    """Return the section."""
    items = [html("dt", name) + html("dd", text) for name, text in _list_items(facts) if text]
    head = "Observed domain" if facts.rules is None else "Domain: what the proof assumes"
    domain = html("div", html("h3", head), _write_domain(facts))
    return html("h2", "Model card") + html("div", html("dl", items), domain, class_="card")


def _list_items(facts: Facts) -> Iterator[tuple[str, str]]:
    origin = facts.origin
    yield "What it is for", _write_text(facts.labels.purpose)
    yield "Network", _describe_network(facts)
    yield "Target", _describe_target(facts)
    yield "Measured on new rows", _describe_measured(facts)
    yield "Intervals of predictions", _describe_intervals(facts)
    yield "Notes", Markup(" ").join(bdi(f"{_end_sentence(note)}") for note in origin.notes)
    yield "Trained on", "" if origin.n_rows is None else count(origin.n_rows, "row")
    yield "Fingerprint of the training rows (SHA-256)", _write_code(origin.fingerprint)
    yield "Recipe", _describe_recipe(origin.recipe, origin.settings)
    yield "Command", _write_code(origin.command)
    yield "Seed", _write_text(origin.seed)
    versions = (bdi(f"{name} {version}") for name, version in origin.versions.items())
    yield "Trained with", Markup(" · ").join(versions)
    yield "Fingerprint of the model", _write_code(facts.fingerprint)
    yield "Rows of this report", _describe_rows(facts)
    yield "Ties", _describe_ties(facts)
    yield "Limits", _describe_limits(facts)
    yield "Report written by", f"newron {__version__}, model file format {VERSION}"


def _end_sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}{'' if note.endswith('.') else '.'}"


def _describe_measured(facts: Facts) -> Markup:
    found = facts.measured
    if found is None:
        return Markup("")
    parts = [bdi(f"{found.describe()}, measured {found.describe_protocol()}.")]
    for name in [name for name in found.scores if name != MODEL]:
        value = describe_score(found.headline, found.scores[name][found.headline])
        parts.append(bdi(f"{name[0].upper()}{name[1:]}: {value}."))
    if found.fingerprint:
        parts.append(join("Fingerprint of the table (SHA-256): ", _write_code(found.fingerprint)))
    return Markup(" ").join(parts)


def _describe_intervals(facts: Facts) -> str:
    found = facts.conformal
    if found is None:
        return ""
    rows = count(round(found.n_rows), "row")
    how = f"Calibrated by {found.protocol} on {rows}, whose errors the network did not see."
    ends = f"For coverages up to {percent(found.coverages[-1])}."
    return f"{found.describe()}. {how} {ends}"


def _write_text(text: str) -> str:
    return bdi(text) if text else ""


def _write_code(text: str) -> str:
    return html("code", text) if text else ""


def _describe_network(facts: Facts) -> Markup:
    text = bdi(summarize(facts.model))
    if not facts.rewritten:
        return text
    return text + ". It is shown in the words of its rules, which add up to the same scores."


def _describe_recipe(recipe: str, settings: Mapping[str, Any]) -> str:
    chosen = _write_text(", ".join(f"{name} = {value!r}" for name, value in settings.items()))
    if not recipe:
        return chosen
    return join(bdi(recipe), "; ", chosen or "all other settings as they are")


def _describe_rows(facts: Facts) -> Markup:
    missing = np.isnan(facts.rows)
    gaps, columns = int(missing.sum()), int(missing.any(axis=0).sum())
    values = "no missing values"
    if gaps:
        values = f"{count(gaps, 'missing value')} in {count(columns, 'column')}"
    picked = ""
    if len(facts.picked) < len(facts.rows):
        picked = f" {integer(len(facts.picked))} of them, drawn at random, can be chosen above."
    rows = bdi(count(len(facts.rows), facts.labels.noun))
    return join(rows, f", {values}. ", describe_seen(facts), picked)


def _describe_ties(facts: Facts) -> str:
    classes = facts.classes
    if classes is None:
        return ""
    end = Markup("Of equal scores the first class in the list wins.")
    if facts.is_ordered:
        end = Markup("A sum exactly at a limit is of the higher class.")
    if facts.is_binary:
        name = bdi(name_class(classes.labels[1]))
        end = Markup("A sum exactly at the limit is “{}”.").format(name)
    start = "A value exactly at a threshold satisfies “≥” and “≤”. " if facts.is_crisp else ""
    return join(start, end)


def _describe_limits(facts: Facts) -> str:
    parts = ["A value outside the ranges below is still answered, and the page says so."]
    outside = _count_outside(facts)
    if outside:
        parts.append(f"{count(outside, 'row')} of this report lie outside.")
    if any(column.categories is not None for column in facts.model.schema.columns):
        parts.append("A category that training has not seen counts as missing.")
    parts.append(
        "The model describes the rows it was trained on; it does not say what would happen if "
        "somebody changed an input."
    )
    return " ".join(parts)


def _count_outside(facts: Facts) -> int:
    columns = facts.model.schema.columns
    low, high = (np.array([getattr(c, end) for c in columns]) for end in ("low", "high"))
    numbers = np.array([column.categories is None for column in columns])
    with np.errstate(invalid="ignore"):
        outside = (facts.rows < low) | (facts.rows > high)
    return int((outside & numbers).any(axis=1).sum())


def _describe_target(facts: Facts) -> Markup:
    """Return the range of regression targets in the rows."""
    output = facts.model.output
    if isinstance(output, Classes) or facts.truth is None or not len(facts.truth):
        return Markup("")
    parts = []
    for name, values in zip(output.score_names, facts.truth.T, strict=True):
        low, middle, high = map(format_rounded, (values.min(), np.median(values), values.max()))
        parts.append(join(bdi(name), f": {low} to {high} in these rows, median {middle}"))
    return Markup("; ").join(parts)


# ---- the domain ----


def _write_domain(facts: Facts) -> Markup:
    used = set(facts.used)
    unused = join(" ", html("span", "(not used)", class_="muted"))
    rows = [
        html(
            "tr",
            html("th", bdi(column.name), scope="row"),
            html("td", bdi(_format_column(column, facts)), None if i in used else unused),
        )
        for i, column in enumerate(facts.model.schema.columns)
    ]
    return html("table", html("tbody", rows), class_="small")


def _format_column(column: Column, facts: Facts) -> str:
    unit = format_unit(column.unit)
    if column.categories is not None:
        text = list_some([str(label) for label in column.categories], _MAX_LISTED)
    elif column.values is not None and len(column.values) <= _MAX_LISTED:
        text = ", ".join(format_typographic(value) for value in sorted(column.values)) + unit
    else:
        span = column.high - column.low
        low, high = (format_position(end, 0.01 * span) for end in (column.low, column.high))
        text = f"{low} to {high}{unit}"
        text = text if facts.rules is None else f"any number, observed {text}"
    return f"{text} or missing" if column.gaps else text
