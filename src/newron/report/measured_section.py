"""The top of the page where the model's file says how good it was on new rows."""

from __future__ import annotations

from collections.abc import Iterator

from newron.drawing.markup import Markup, bdi, html, join
from newron.evaluation import Estimate
from newron.formatting import format_percent, format_rounded
from newron.model.measurement import MODEL, Measurement, describe_score
from newron.report.charts import draw_intervals
from newron.report.numbers import count

_NAMES = {
    "accuracy": "right",
    "balanced accuracy": "balanced accuracy: the mean over the classes",
    "auc": "area under the ROC curve",
    "log loss": "log loss",
    "mean absolute error": "mean error",
    "r2": "R², the part of the variation that is explained",
    "d2": "D², the part of the best constant’s loss that is saved",
    "root mean squared error": "root of the mean square",
    "concordance": "concordance: how often who meets it sooner has the higher risk",
    "integrated brier score": "integrated Brier score: the mean squared error of the curves",
    "subset accuracy": "all labels right",
    "label accuracy": "of the labels right",
}
_PERCENT = ("accuracy", "balanced accuracy", "subset accuracy", "label accuracy")
_LABELS = {
    "accuracy": "Share of right answers",
    "mean absolute error": "Mean error",
    "concordance": "Concordance",
    "subset accuracy": "Share of rows with all labels right",
}


def describe_measured(found: Measurement, nouns: str) -> str:
    """Return the headline as a title has it: "right for 83 of 100 new patients"."""
    if found.headline == "concordance":
        return f"concordance {format_rounded(found.value.value)} for new {nouns}"
    if found.headline != "accuracy":
        return f"off by {format_rounded(found.value.value)} on average for new {nouns}"
    right = round(100 * found.value.value)
    # Not even all right answers promise that of new rows.
    return f"right for {min(right, 99) if found.value.low < 1.0 else right} of 100 new {nouns}"


def write_measured(found: Measurement, what: str) -> tuple[Markup, Markup, Markup]:
    """Return what heads the page: how it was measured, the measures, and a chart."""
    text = [bdi(f"Measured {found.describe_protocol()}"), _describe_trained(found)]
    paragraph = html("p", *text, *_describe_baselines(found))
    items = [
        html("li", html("b", value), html("span", name)) for value, name in list_measured(found)
    ]
    rows = [
        (what if name == MODEL else name, each[found.headline])
        for name, each in found.scores.items()
    ]
    label = _LABELS[found.headline]
    caption = f"{label} on new rows, with 95\u00a0% intervals."
    in_percent = found.headline in _PERCENT
    figure = write_intervals(rows, label, caption, in_percent=in_percent)
    return paragraph, html("ul", items, class_="stats"), figure


def _describe_trained(found: Measurement) -> str:
    if found.n_trained is None:
        return ". "
    return f"; the network is trained on {count(found.n_trained, 'row')}. "


def _describe_baselines(found: Measurement) -> Iterator[object]:
    for name in found.better:
        value = describe_score(found.headline, found.scores[name][found.headline])
        yield join(bdi(f"{name[0].upper()}{name[1:]}"), f" was better on the same rows: {value}. ")


def list_measured(found: Measurement) -> list[tuple[str, str]]:
    """Return the measures of the model with their names and intervals, as the page prints them."""
    return [
        (_format(name, estimate.value), f"{_NAMES[name]} ({_format_interval(name, estimate)})")
        for name, estimate in found.scores[MODEL].items()
    ]


def _format(measure: str, value: float) -> str:
    if measure in _PERCENT:
        return format_percent(value, 1, limits=False, space="\u00a0")
    return format_rounded(value)


def _format_interval(measure: str, estimate: Estimate) -> str:
    low, high = (_format(measure, x).removesuffix("\u00a0%") for x in (estimate.low, estimate.high))
    return f"{low} to {high}"


def write_intervals(
    rows: list[tuple[str, Estimate]], label: str, caption: str, *, in_percent: bool
) -> Markup:
    """Return estimates as a chart, for wide and for narrow pages."""
    wide, narrow = (
        draw_intervals(rows, label, in_percent=in_percent, narrow=narrow)
        for narrow in (False, True)
    )
    charts = html("div", wide, class_="on-wide"), html("div", narrow, class_="on-phone")
    return html("figure", charts, html("figcaption", caption))
