"""The sections of a survival model: who meets the event when, and how good that is."""

from __future__ import annotations

from collections.abc import Sequence

from newron.drawing.markup import Markup, bdi, html, join
from newron.evaluation import SurvivalQuality
from newron.formatting import format_fraction, format_number, format_rounded, format_unit
from newron.report.charts import draw_calibration, draw_curves
from newron.report.facts import Facts
from newron.report.numbers import count, integer, interval, percent
from newron.report.survival_facts import SurvivalFacts

_MAX_TIMES = 5
_STYLES = ("curve", "curve-red")


def describe_survival(facts: Facts) -> Markup:
    """Return in a sentence what the model says of a row."""
    found = _get(facts)
    event, time = bdi(str(found.output.labels[1])), bdi(found.output.time)
    if found.card is None:
        return join("Every row has a curve: the probability of no ", event, " until a ", time, ".")
    return join(
        "Add the points of the conditions that hold: the total has a curve, the probability of no ",
        event, " until a ", time, ".",
    )  # fmt: skip


def write_survival(facts: Facts) -> Markup:
    """Return the section of curves; nothing of other models."""
    if facts.survival is None:
        return Markup("")
    found = facts.survival
    event, time = str(found.output.labels[1]), found.output.time
    what = "each total" if found.card is not None else "each fifth of the rows by their risk"
    ends = [0.0, *found.output.ends]
    last = len(found.curves) - 1
    curves = [
        (name, ends, [1.0, *values.tolist()], _STYLES[k == last])
        for k, (name, values) in enumerate(found.curves)
    ]
    label = f"Probability of no {event} by {time}"
    chart = draw_curves(curves, label, f"{time}{_unit(facts)}", label, in_percent=True)
    caption = join("Probability of no ", bdi(event), f", for {what}.")
    return join(
        html("h2", "Survival curves"),
        _write_conditions(found),
        html("figure", chart, html("figcaption", caption)),
        _write_table(found),
        html("p", _HAZARDS.format(event=bdi(event), time=bdi(time))),
    )


_HAZARDS = Markup(
    "All sections on the network are about the hazard: the probability of {event} in the interval "
    "of {time} that a row is in, if it was not met before, in log-odds. The time is one of the "
    "inputs: what it adds is the same for all rows that it does not act on together with another."
)


def _get(facts: Facts) -> SurvivalFacts:
    assert facts.survival is not None  # noqa: S101 - the caller looked
    return facts.survival


def _unit(facts: Facts) -> str:
    found = _get(facts)
    names = facts.model.schema.names
    if found.output.time not in names:  # renamed
        return ""
    unit = format_unit(facts.model.schema.columns[names.index(found.output.time)].unit).strip()
    return f" ({unit})" if unit else ""


def _write_conditions(found: SurvivalFacts) -> Markup:
    """Return the points of a row, without those of the time, which all rows share."""
    if found.card is None:
        return Markup("")
    rows = [
        html(
            "tr",
            html("th", bdi(row.text), scope="row"),
            html("td", format_fraction(row.points, signed=True), class_="num"),
        )
        for row in found.card.rows
    ]
    if not rows:
        return html("p", "No condition adds points: all rows have the same curve.")
    head = html("tr", html("th", "condition", scope="col"), html("th", "points", class_="num"))
    table = html("table", html("thead", head), html("tbody", rows), class_="points-table")
    return html("div", table, class_="scroll")


def _write_table(found: SurvivalFacts) -> Markup:
    n = found.output.n_intervals
    places = sorted({max(round(n * (k + 1) / _MAX_TIMES) - 1, 0) for k in range(_MAX_TIMES)})
    heads = [format_number(found.output.ends[k]) for k in places]
    first = join("no ", bdi(str(found.output.labels[1])), " until ", bdi(found.output.time))
    line = [html("th", first, scope="col"), *(html("th", h, class_="num") for h in heads)]
    rows = [
        html(
            "tr",
            html("th", name, scope="row"),
            (html("td", percent(float(values[k])), class_="num") for k in places),
        )
        for name, values in found.curves
    ]
    table = html("table", html("thead", html("tr", line)), html("tbody", rows))
    return html("div", table, class_="scroll")


# ---- how good it is ----


def list_survival_stats(quality: SurvivalQuality) -> list[tuple[str, object]]:
    """Return concordance and Brier score with their intervals."""
    return [
        (
            format_rounded(quality.concordance.value),
            "concordance: how often who meets it sooner has the higher risk; chance is 0.5 "
            f"({interval(quality.concordance)})",
        ),
        (
            format_rounded(quality.brier.value),
            "integrated Brier score: the mean squared error of the curves over time, one curve for "
            f"all has {format_rounded(quality.constant_brier.value)} ({interval(quality.brier)})",
        ),
    ]


def write_survival_charts(facts: Facts) -> list[Markup]:
    """Return the Brier score over time, and how predicted probabilities came true."""
    found = _get(facts)
    quality = found.quality
    if quality is None:
        return []
    time, event = found.output.time, str(found.output.labels[1])
    curves: Sequence[tuple[str, Sequence[float], Sequence[float], str]] = [
        ("one curve for all", quality.times, quality.constant_by_time, "edge"),
        ("this network", quality.times, quality.brier_by_time, "curve"),
    ]
    name = "Brier score by time: the mean squared error of the curves"
    chart = draw_curves(curves, name, f"{time}{_unit(facts)}", name, in_percent=False)
    until = f"{format_number(quality.calibrated_at)}{_unit(facts)}"
    bins = draw_calibration(
        quality.calibration,
        f"probability of {event} until {time} {until}",
        f"share with {event} until then, of rows seen",
    )
    near = sum(b.observed.low <= b.probability <= b.observed.high for b in quality.calibration)
    n = len(quality.calibration)
    return [
        html("figure", chart, html("figcaption", "Lower is better. Rows that were lost are "
             "weighed in by those who were seen as long.")),
        html("figure", bins, html("figcaption", "Groups of rows by their predicted probability "
             "against Kaplan and Meier’s estimate of each; on the dashed line a probability can be "
             f"taken at its word; the intervals of {near} of {n} groups touch it.")),
    ]  # fmt: skip


def describe_events(facts: Facts) -> Markup:
    """Return in a sentence how many events the rows of the report have."""
    found = _get(facts)
    if found.n_events is None:
        return Markup("")
    event = bdi(str(found.output.labels[1]))
    return join(f"{integer(found.n_events)} of {count(len(facts.rows), 'row')} had ", event, ".")
