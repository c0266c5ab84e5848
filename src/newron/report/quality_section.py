"""The sections on how good a model is: the result at the top, and the charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from newron.drawing.markup import Markup, bdi, html, join
from newron.evaluation import (
    ClassificationQuality,
    Estimate,
    RegressionQuality,
    SurvivalQuality,
)
from newron.evaluation.calibration import CalibrationBin
from newron.formatting import format_rounded, join_words, name_class
from newron.model.output import Classes
from newron.report.charts import (
    draw_calibration,
    draw_confusion,
    draw_pairs,
    draw_scores,
)
from newron.report.facts import FEW_SEEN, Facts
from newron.report.measured_section import describe_measured, write_intervals, write_measured
from newron.report.numbers import (
    count,
    integer,
    interval,
    percent,
    percent_interval,
)
from newron.report.rules_section import describe_decision
from newron.report.survival_section import (
    describe_events,
    describe_survival,
    list_survival_stats,
    write_survival_charts,
)
from newron.report.threshold_section import write_threshold

_MAX_CLASSES = 12  # of a confusion matrix that is drawn
_MAX_PAIRS = 1500  # points of a chart
_OFFSET = (
    "Each row was measured with its own exposure, or offset. All else on this page is for an "
    "exposure of 1, or no offset."
)


# ---- the result ----


def make_title(facts: Facts) -> str:
    """Return in a line what is predicted and how good that is, as plain text."""
    if facts.labels.title is not None:
        return facts.labels.title
    quality, name = facts.quality, _name_target(facts)
    head, means = f"{name[0].upper()}{name[1:]}", _describe_means(facts)
    if facts.measured is not None and not facts.exhaustive:
        found = describe_measured(facts.measured, f"{facts.labels.noun}s")
        return f"{head}: {found}{means}."
    if facts.survival is not None and facts.survival.quality is not None and facts.is_new:
        value = format_rounded(facts.survival.quality.concordance.value)
        return f"{head}: concordance {value} for {facts.labels.noun}s{means}."
    if quality is None or not facts.is_new:
        return f"{head} from {count(len(facts.used), 'input')}{means}."
    if isinstance(quality, ClassificationQuality):
        return f"{head}: {_describe_accuracy(facts, quality)}{means}."
    return f"{head}: off by {format_rounded(quality[0].mae.value)} on average{means}."


def _describe_accuracy(facts: Facts, quality: ClassificationQuality) -> str:
    nouns = f"{facts.labels.noun}s"
    new = f"new {nouns}" if facts.seen == 0 else nouns
    kind = "possible inputs" if quality.exhaustive else new
    if quality.n_correct == quality.n_rows:
        return f"right for all {integer(quality.n_rows)} {kind}"
    if quality.exhaustive:
        return f"right for {integer(quality.n_correct)} of {integer(quality.n_rows)} {kind}"
    right = min(max(round(100 * quality.accuracy.value), 0), 99)
    return f"right for {right} of 100 {kind}"


def _describe_means(facts: Facts) -> str:
    rules = facts.rules
    if rules is None or not len(rules):
        return ""
    if rules.form == "points":
        return f", by adding points for {count(len(rules), 'condition')}"
    return ", by one rule" if len(rules) == 1 else f", by {count(len(rules), 'rule')}"


def _name_target(facts: Facts) -> str:
    if facts.labels.target:
        return facts.labels.target
    output = facts.model.output
    if not isinstance(output, Classes):
        return join_words(output.names)
    names = [name_class(label) for label in output.labels]
    return join_words(names, "or") if len(names) <= 4 else f"{len(names)} classes"


def write_result(facts: Facts) -> Markup:
    """Return the top of the page."""
    text, stats, figure = _write_head(facts)
    describe = describe_decision if facts.survival is None else describe_survival
    lede = html("p", describe(facts), class_="lede")
    return join(
        html("p", _describe_data(facts), class_="eyebrow"),
        html("h1", bdi(make_title(facts))),
        html("div", html("div", lede, text, stats, _write_intervals(facts)), figure, class_="two"),
    )


def _write_intervals(facts: Facts) -> Markup:
    """Return how far the truth of new rows lies from predictions, where that is known."""
    return Markup("") if facts.conformal is None else html("p", f"{facts.conformal.describe()}.")


def _write_head(facts: Facts) -> tuple[Markup, Markup, Markup]:
    """Return how good the model is on new rows: no figure of training rows stands here."""
    quality = facts.quality
    if facts.measured is not None and not facts.exhaustive:
        return write_measured(facts.measured, _name_model(facts))
    if not facts.is_new:
        text = "How good it is on new rows was not measured."
        if quality is None and (facts.survival is None or facts.survival.quality is None):
            text = "No true answers were given, so how good it is is not known here."
        return html("p", text), Markup(""), Markup("")
    if facts.survival is not None and facts.survival.quality is not None:
        stats = _write_items(list_survival_stats(facts.survival.quality))
        return html("p", describe_events(facts), " ", describe_seen(facts)), stats, Markup("")
    if isinstance(quality, ClassificationQuality):
        text = _describe_classes(facts, quality)
        return text, _write_stats(facts, quality), _write_comparison(facts, quality)
    assert quality  # noqa: S101 - is_new
    text = _describe_targets(facts, quality)
    return text, _write_target_stats(quality[0]), _write_target_comparison(quality[0])


def _name_model(facts: Facts) -> str:
    return "this network" if facts.card is None else "this card"


def _describe_data(facts: Facts) -> Markup:
    rows = bdi(count(len(facts.rows), facts.labels.noun))
    parts = [
        join("predicts: ", bdi(_name_target(facts))),
        join(rows, f", {count(len(facts.model.schema), 'input')}"),
    ]
    source = [bdi(facts.labels.source)] if facts.labels.source else []
    return Markup(" · ").join([*source, *parts])


def _describe_classes(facts: Facts, quality: ClassificationQuality) -> Markup:
    assert facts.classes is not None  # noqa: S101 - measured of classes
    usual = bdi(name_class(facts.classes.labels[quality.majority]))
    base = f"{100 * quality.majority_accuracy.value:.0f}"
    if quality.exhaustive:
        text = Markup(
            "This is not an estimate: there are only {} different inputs, and every one was "
            "checked. Always saying “{}” is right for {} of 100."
        ).format(integer(quality.n_rows), usual, base)
    else:
        text = Markup(
            "The 95\u00a0% interval is {} of 100. Always saying “{}” would be right for {}."
        ).format(percent_interval(quality.accuracy), usual, base)
    return html("p", text, " ", describe_seen(facts))


def describe_seen(facts: Facts) -> Markup:
    """Return in a sentence whether the model was trained on these rows."""
    n, seen = len(facts.rows), facts.seen
    nouns, total = f"{facts.labels.noun}s", integer(n)
    if seen is None:
        text = f"Whether the model was trained on any of these {total} {nouns} is not known here."
        return bdi(f"{text} On rows that it has seen, a model looks better than it is.")
    if seen == 0:
        return bdi(f"None of these {total} {nouns} is among those of training.")
    exact = isinstance(facts.quality, ClassificationQuality) and facts.quality.exhaustive
    less = "" if exact or seen < FEW_SEEN * n else ": for new ones expect less"
    if seen == n:
        return bdi(f"These are the {nouns} that the model was trained on{less}.")
    verb = "is" if seen == 1 else "are"
    return bdi(f"{integer(seen)} of these {total} {nouns} {verb} among those of training{less}.")


def _write_stats(facts: Facts, quality: ClassificationQuality) -> Markup:
    def add_interval(estimate: Estimate) -> str:
        return "" if quality.exhaustive else f" ({percent_interval(estimate)})"

    items: list[tuple[str, object]] = []
    if quality.exhaustive:
        right = f"{integer(quality.n_correct)} of {integer(quality.n_rows)}"
        items.append((right, "right, all inputs"))
    else:
        accuracy = percent(quality.accuracy.value)
        items.append((accuracy, f"right{add_interval(quality.accuracy)}"))
    text = f"balanced accuracy: the mean over the classes{add_interval(quality.balanced_accuracy)}"
    items.append((percent(quality.balanced_accuracy.value), text))
    if quality.auc is not None:
        area = quality.auc
        text = "area under the ROC curve"
        text += "" if facts.is_binary else ", each class against the rest"
        text += "" if quality.exhaustive else f" ({area.low:.2f} to {area.high:.2f})"
        items.append((_format_area(area.value), text))
    labels = facts.model.output.labels if isinstance(facts.model.output, Classes) else ()
    for c in (1, 0) if facts.is_binary else ():
        recall, name = quality.recalls[c], bdi(name_class(labels[c]))
        if recall is not None:
            found = join("of “", name, f"” found{add_interval(recall)}")
            items.append((percent(recall.value), found))
    return _write_items(items)


def _format_area(area: float) -> str:
    return "1" if area == 1.0 else f"{min(area, 0.999):.3f}" if area > 0.995 else f"{area:.2f}"


def _write_items(items: Sequence[tuple[str, object]]) -> Markup:
    cells = [html("li", html("b", number), html("span", text)) for number, text in items]
    return html("ul", cells, class_="stats")


def _write_comparison(facts: Facts, quality: ClassificationQuality) -> Markup:
    assert facts.classes is not None  # noqa: S101 - measured of classes
    usual = name_class(facts.classes.labels[quality.majority])
    name = _name_model(facts)
    rows = [(name, quality.accuracy), (f"always “{usual}”", quality.majority_accuracy)]
    if quality.exhaustive:
        rows = [(name, Estimate(*[estimate.value] * 3)) for name, estimate in rows]
        caption = "Share of right answers. Exact: all possible inputs, so there is no interval."
    else:
        caption = "Share of right answers, with 95\u00a0% intervals (Wilson)."
        if quality.accuracy.low <= quality.majority_accuracy.high:
            caption += " The intervals overlap: these rows do not distinguish the two."
    return write_intervals(rows, "Share of right answers", caption, in_percent=True)


# ---- regression at the top ----


def _describe_targets(facts: Facts, quality: Sequence[RegressionQuality]) -> Markup:
    first = quality[0]
    return html(
        "p",
        "The 95\u00a0% interval of the mean error",
        join(" (", bdi(first.name), ")") if len(quality) > 1 else None,
        f" is {interval(first.mae)}. Always saying the middle value would be off by "
        f"{format_rounded(first.median_mae.value)}. ",
        describe_seen(facts),
    )


def _write_target_stats(quality: RegressionQuality) -> Markup:
    parts = [
        (quality.r2, "R², the part of the variation that is explained"),
        (quality.mae, "mean error"),
        (quality.rmse, "root of the mean square"),
    ]
    return _write_items(
        [
            (format_rounded(estimate.value), f"{name} ({interval(estimate)})")
            for estimate, name in parts
            if estimate is not None
        ]
    )


def _write_target_comparison(quality: RegressionQuality) -> Markup:
    rows = [("this network", quality.mae), ("always the median", quality.median_mae)]
    caption = "Mean error, with 95\u00a0% intervals."
    return write_intervals(rows, "Mean error", caption, in_percent=False)


# ---- the charts ----


def write_quality(facts: Facts) -> Markup:
    """Return the section of charts; nothing without true answers."""
    quality = facts.quality
    if facts.survival is not None:
        return _write_survival_quality(facts, facts.survival.quality)
    if quality is None:
        return Markup("")
    figures = (
        _write_class_charts(facts, quality)
        if isinstance(quality, ClassificationQuality)
        else _write_target_charts(facts, quality)
    )
    where = f"Measured on the {count(len(facts.rows), facts.labels.noun)} of this report."
    headed = facts.exhaustive or (facts.measured is None and facts.is_new)
    return join(
        html("h2", "How good is it?"),
        html("p", bdi(where), " ", describe_seen(facts)),
        None if facts.offset is None else html("p", _OFFSET),
        None if headed else _write_own_stats(facts),
        html("div", figures, class_="perf"),
        write_threshold(facts),
    )


def _write_survival_quality(facts: Facts, quality: SurvivalQuality | None) -> Markup:
    if quality is None:
        return Markup("")
    stats = list_survival_stats(quality)
    return join(
        html("h2", "How good is it?"),
        html("p", describe_events(facts), " ", describe_seen(facts)),
        None if facts.is_new and facts.measured is None else _write_items(stats),
        html("div", write_survival_charts(facts), class_="perf"),
    )


def _write_own_stats(facts: Facts) -> Markup:
    """Return the measures of the report's own rows, which are not those at the top."""
    quality = facts.quality
    if isinstance(quality, ClassificationQuality):
        return _write_stats(facts, quality)
    return _write_target_stats(quality[0]) if quality else Markup("")


def _write_figure(chart: Markup, *caption: object) -> Markup:
    return html("figure", chart, html("figcaption", *caption))


def _write_class_charts(facts: Facts, quality: ClassificationQuality) -> list[Markup]:
    assert facts.classes is not None  # noqa: S101 - measured of classes
    names = [name_class(label) for label in facts.classes.labels]
    predicted, observed = "probability that the model gives", "share that came true"
    if facts.is_binary:
        predicted, observed = f"probability of {names[1]}", f"share that is {names[1]}"
    bins = () if quality.calibration is None else quality.calibration.bins
    calibration = draw_calibration(bins, predicted, observed)
    figures = [
        _write_confusion(facts, quality, names),
        _write_figure(calibration, _describe_calibration(bins)),
    ]
    if facts.is_binary and facts.truth is not None:
        centre = facts.model.layers[-1].centre
        middle = 0.0 if centre is None or facts.terms is not None else float(centre[0])
        totals = facts.scores[:, 0] + middle
        limit = 0.0 if facts.terms is not None else float(facts.limit)
        chart = draw_scores(totals, facts.truth, middle, limit, names)
        caption = Markup(
            "Rows by their total. From the limit on the model says “{}”; where the two shades "
            "mix, treat an answer with care."
        )
        figures.append(_write_figure(chart, caption.format(bdi(names[1]))))
    return figures


def _write_confusion(facts: Facts, quality: ClassificationQuality, names: Sequence[str]) -> Markup:
    wrong, total = quality.n_rows - quality.n_correct, integer(quality.n_rows)
    text = join(f"{integer(wrong)} of {total} are wrong" if wrong else f"All {total} are right")
    if len(names) == 2 and wrong:
        a, b = quality.confusion[0][1], quality.confusion[1][0]
        text += Markup(": {} “{}” called “{}”, {} the other way round").format(
            integer(a), bdi(names[0]), bdi(names[1]), integer(b)
        )
    if len(names) <= _MAX_CLASSES:
        chart = draw_confusion(np.array(quality.confusion), names)
        areas = Markup(". Areas are numbers of {}s.").format(bdi(facts.labels.noun))
        return _write_figure(chart, text, areas)
    items = html("ol", _list_confused(quality, names))
    return html("div", html("h3", "Most often confused"), html("p", text, "."), items)


def _list_confused(quality: ClassificationQuality, names: Sequence[str]) -> list[Markup]:
    counts = np.array(quality.confusion)
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:10]
    cells = [divmod(int(k), len(names)) for k in order]
    return [
        html(
            "li", f"{integer(int(wrong[i, j]))}: “", bdi(names[i]), "” called “", bdi(names[j]), "”"
        )
        for i, j in cells
        if wrong[i, j]
    ]


def _describe_calibration(bins: Sequence[CalibrationBin]) -> str:
    near, n = sum(b.observed.low <= b.probability <= b.observed.high for b in bins), len(bins)
    if near == n:
        touch = "the interval touches it" if n == 1 else f"the intervals of all {n} groups touch it"
    else:
        touch = f"the intervals of {near} of {n} groups touch it"
    return (
        f"On the dashed line a probability can be taken at its word; {touch}. Bars below: rows in "
        "each group."
    )


def _write_target_charts(facts: Facts, quality: Sequence[RegressionQuality]) -> list[Markup]:
    assert facts.truth is not None  # noqa: S101 - measured
    n, values = len(facts.rows), facts.predicted
    step = max(n // _MAX_PAIRS, 1)
    figures = []
    for k, one in enumerate(quality):
        predicted, truth = values[::step, k], facts.truth[::step, k]
        shown = f"{integer(len(predicted))} of {integer(n)}" if step > 1 else integer(n)
        r2 = "" if one.r2 is None else f"R² {format_rounded(one.r2.value)}, "
        text = (
            f"{r2}mean error {format_rounded(one.mae.value)} ({interval(one.mae)}). On the "
            f"dashed line the answer is right. {shown} "
        )
        chart = draw_pairs(predicted, truth, one.name)
        figures.append(_write_figure(chart, text, bdi(facts.labels.noun), "s."))
    return figures
