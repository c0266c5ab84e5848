"""The section on groups of rows: how selection, sensitivity and calibration differ."""

from __future__ import annotations

from newron.drawing.markup import Markup, bdi, html, join
from newron.evaluation import Estimate, GroupComparison, GroupQuality
from newron.evaluation.groups import is_fraction
from newron.formatting import format_percent, format_rounded, format_signed
from newron.report.facts import Facts
from newron.report.numbers import count


def write_groups(facts: Facts) -> Markup:
    """Return the section; nothing where no groups were asked for."""
    found = facts.groups
    if found is None:
        return Markup("")
    measures = list(found.groups[0].measures)
    head = html("tr", [html("th", name) for name in (found.column, "rows", *measures)])
    rows = [_write_group(group, measures) for group in found.groups]
    table = html("table", html("thead", head), html("tbody", rows))
    parts = [html("h2", join("By ", bdi(found.column))), _describe(found), table]
    if found.left_out:
        parts.append(html("p", bdi(f"Fewer than ten rows: {', '.join(found.left_out)}.")))
    return join(parts)


def _describe(found: GroupComparison) -> Markup:
    sure = [
        f"{name} of {group.name} ({_format_gap(name, group.differences[name])})"
        for group in found.groups
        for name in group.sure
    ]
    text = (
        f"Differs from {found.reference}, the largest group, by more than chance explains: "
        f"{', '.join(sure)}."
        if sure
        else f"No group differs from {found.reference}, the largest one, by more than chance "
        "explains."
    )
    return html("p", bdi(text))


def _write_group(group: GroupQuality, measures: list[str]) -> Markup:
    cells = [html("td", _write_cell(group, name)) for name in measures]
    return html("tr", html("th", bdi(group.name)), html("td", count(group.n_rows, "row")), cells)


def _write_cell(group: GroupQuality, name: str) -> Markup:
    if name not in group.measures:
        return Markup("–")
    value = html("span", _format(name, group.measures[name].value))
    if name not in group.differences:
        return value
    gap = _format_gap(name, group.differences[name])
    return join(value, html("br"), html("b" if name in group.sure else "span", gap))


def _format(name: str, value: float) -> str:
    if not is_fraction(name):
        return format_rounded(value)
    if name == "calibration":
        return format_signed(100.0 * value)
    return format_percent(value, 1, limits=False, space="\u00a0")


def _format_gap(name: str, gap: Estimate) -> str:
    """Return a difference with its interval, of fractions in percentage points."""
    scale = 100.0 if is_fraction(name) else 1.0
    value, low, high = (format_signed(scale * x) for x in (gap.value, gap.low, gap.high))
    return f"{value} ({low} to {high})"
