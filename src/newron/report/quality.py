"""The sections that tell how good a model is: the result at the top, and the charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from newron.evaluation import (
    CalibrationBin,
    ClassificationQuality,
    Estimate,
    RegressionQuality,
)
from newron.model.output import Classes
from newron.report.charts import (
    draw_calibration,
    draw_confusion,
    draw_intervals,
    draw_pairs,
    draw_scores,
)
from newron.report.facts import Facts
from newron.report.ruling import tell_deciding
from newron.report.writing import (
    count,
    join_words,
    say_class,
    tell,
    write_count,
    write_interval,
    write_per_cent,
    write_range,
)
from newron.shapes.sentence import shorten

__all__ = ["tell_title", "write_quality", "write_result"]

_MOST_DRAWN = 12  # classes of a confusion matrix that is drawn
_MOST_PAIRS = 1500  # points of a chart
_FEW_SEEN = 0.1  # the share of training rows that makes no great difference


# ---- the result ----


def tell_title(facts: Facts) -> str:
    """Say in a line what is predicted and how good that is, as plain text."""
    if facts.words.title is not None:
        return facts.words.title
    quality = facts.quality
    name = _name_target(facts)
    head = f"{name[0].upper()}{name[1:]}"
    how = _tell_how(facts)
    if quality is None:
        return f"{head} from {count(len(facts.used), 'input')}{how}."
    if isinstance(quality, ClassificationQuality):
        return f"{head}: {_tell_right(facts, quality)}{how}."
    first = quality[0]
    return f"{head}: off by {shorten(first.mae.value)} on average{how}."


def _tell_right(facts: Facts, quality: ClassificationQuality) -> str:
    nouns = f"{facts.words.noun}s"
    if quality.exhaustive:
        if quality.n_correct == quality.n_rows:
            return f"right for all {write_count(quality.n_rows)} possible inputs"
        right = write_count(quality.n_correct)
        return f"right for {right} of {write_count(quality.n_rows)} possible inputs"
    if facts.seen == len(facts.rows):
        kind = f"{nouns} it was trained on"
    else:
        kind = f"new {nouns}" if facts.seen == 0 else nouns
    if quality.n_correct == quality.n_rows:
        return f"right for all {write_count(quality.n_rows)} {kind}"
    share = min(max(round(100 * quality.accuracy.value), 0), 99)
    return f"right for {share} of 100 {kind}"


def _tell_how(facts: Facts) -> str:
    rules = facts.rules
    if rules is None or not len(rules):
        return ""
    if rules.form == "points":
        return f", by adding points for {count(len(rules), 'condition')}"
    if len(rules) == 1:
        return ", by one rule"
    return f", by {count(len(rules), 'rule')}"


def _name_target(facts: Facts) -> str:
    if facts.words.target:
        return facts.words.target
    output = facts.model.output
    if not isinstance(output, Classes):
        return join_words(output.names)
    labels = [say_class(label) for label in output.labels]
    return join_words(labels, "or") if len(labels) <= 4 else f"{len(labels)} classes"


def write_result(facts: Facts) -> str:
    """Write the top of the page."""
    quality = facts.quality
    stats = figure = told = ""
    if isinstance(quality, ClassificationQuality):
        told, stats = _tell_classes(facts, quality), _write_stats(facts, quality)
        figure = _write_comparison(facts, quality)
    elif quality:
        told, stats = _tell_amounts(facts, quality), _write_amount_stats(quality[0])
        figure = _write_amount_comparison(quality[0])
    else:
        told = "<p>No true answers were given, so how good it is cannot be told here.</p>"
    left = f'<p class="lede">{tell_deciding(facts)}</p>{told}{stats}'
    return (
        f'<p class="eyebrow">{_tell_data(facts)}</p><h1>{tell(tell_title(facts))}</h1>'
        f'<div class="two"><div>{left}</div>{figure}</div>'
    )


def _tell_data(facts: Facts) -> str:
    parts = [] if not facts.words.source else [tell(facts.words.source)]
    parts.append(f"predicts: {tell(_name_target(facts))}")
    n_inputs = count(len(facts.model.schema), "input")
    parts.append(f"{tell(count(len(facts.rows), facts.words.noun))}, {n_inputs}")
    return " · ".join(parts)


def _tell_classes(facts: Facts, quality: ClassificationQuality) -> str:
    assert facts.classes is not None  # noqa: S101 - measured of classes
    usual = tell(say_class(facts.classes.labels[quality.majority]))
    base = f"{100 * quality.majority_accuracy.value:.0f}"
    if quality.exhaustive:
        told = (
            f"This is not an estimate: there are only {write_count(quality.n_rows)} different "
            f"inputs, and every one was checked. Always saying “{usual}” is right for {base} of "
            "100."
        )
    else:
        told = (
            f"The 95{chr(160)}% interval is {write_range(quality.accuracy)} of 100. Always saying "
            f"“{usual}” would be right for {base}."
        )
    return f"<p>{told} {tell_seen(facts)}</p>"


def tell_seen(facts: Facts) -> str:
    """Say plainly whether the model was trained on these rows."""
    n, seen = len(facts.rows), facts.seen
    nouns, total = f"{facts.words.noun}s", write_count(n)
    if seen is None:
        told = f"Whether the model was trained on any of these {total} {nouns} is not known here."
        return tell(f"{told} On rows that it has seen, a model looks better than it is.")
    if seen == 0:
        return tell(f"None of these {total} {nouns} is among those of training.")
    exact = isinstance(facts.quality, ClassificationQuality) and facts.quality.exhaustive
    less = "" if exact or seen < _FEW_SEEN * n else ": for new ones expect less"
    if seen == n:
        return tell(f"These are the {nouns} that the model was trained on{less}.")
    verb = "is" if seen == 1 else "are"
    some = f"{write_count(seen)} of these {total} {nouns}"
    return tell(f"{some} {verb} among those of training{less}.")


def _write_stats(facts: Facts, quality: ClassificationQuality) -> str:
    items = []
    if quality.exhaustive:
        items.append((f"{write_count(quality.n_correct)} of {write_count(quality.n_rows)}",
                      "right, all inputs"))  # fmt: skip
    else:
        told = f"right ({write_range(quality.accuracy)})"
        items.append((write_per_cent(quality.accuracy.value), told))
    balanced = "balanced accuracy: the mean over the classes"
    interval = "" if quality.exhaustive else f" ({write_range(quality.balanced_accuracy)})"
    items.append((write_per_cent(quality.balanced_accuracy.value), f"{balanced}{interval}"))
    if quality.auc is not None:
        area = quality.auc
        told = "area under the ROC curve"
        if not facts.is_binary:
            told += ", each class against the rest"
        if not quality.exhaustive:
            told += f" ({area.low:.2f} to {area.high:.2f})"
        items.append((_write_area(area.value), told))
    if facts.is_binary and facts.classes is not None:
        items += _tell_found(facts, quality)
    return _write_items(items)


def _tell_found(facts: Facts, quality: ClassificationQuality) -> list[tuple[str, str]]:
    assert facts.classes is not None  # noqa: S101 - asked of two classes
    told = []
    for c in (1, 0):
        share = quality.recalls[c]
        if share is not None:
            name = tell(say_class(facts.classes.labels[c]))
            interval = "" if quality.exhaustive else f" ({write_range(share)})"
            told.append((write_per_cent(share.value), f"of “{name}” found{interval}"))
    return told


def _write_area(area: float) -> str:
    return "1" if area == 1.0 else f"{min(area, 0.999):.3f}" if area > 0.995 else f"{area:.2f}"


def _write_items(items: list[tuple[str, str]]) -> str:
    cells = "".join(f"<li><b>{number}</b><span>{told}</span></li>" for number, told in items)
    return f'<ul class="stats">{cells}</ul>'


def _write_comparison(facts: Facts, quality: ClassificationQuality) -> str:
    assert facts.classes is not None  # noqa: S101 - measured of classes
    usual = say_class(facts.classes.labels[quality.majority])
    name = "this network" if facts.card is None else "this card"
    rows = [(name, quality.accuracy), (f"always “{usual}”", quality.majority_accuracy)]
    if quality.exhaustive:
        rows = [(name, _bare(estimate)) for name, estimate in rows]
        caption = "Share of right answers. Exact: all possible inputs, so there is no interval."
    else:
        caption = f"Share of right answers, with 95{chr(160)}% intervals (Wilson)."
        if quality.accuracy.low <= quality.majority_accuracy.high:
            caption += " The intervals overlap: these rows do not tell the two apart."
    return _write_widths(rows, "Share of right answers", caption, shares=True)


def _bare(estimate: Estimate) -> Estimate:
    return Estimate(estimate.value, estimate.value, estimate.value)


def _write_widths(
    rows: Sequence[tuple[str, Estimate]], label: str, caption: str, *, shares: bool
) -> str:
    wide, narrow = (
        draw_intervals(rows, label, shares=shares, narrow=narrow) for narrow in (False, True)
    )
    return (
        f'<figure><div class="on-wide">{wide}</div><div class="on-phone">{narrow}</div>'
        f"<figcaption>{caption}</figcaption></figure>"
    )


# ---- amounts at the top ----


def _tell_amounts(facts: Facts, quality: list[RegressionQuality]) -> str:
    first = quality[0]
    name = f" ({tell(first.name)})" if len(quality) > 1 else ""
    return (
        f"<p>The 95{chr(160)}% interval of the mean error{name} is {write_interval(first.mae)}. "
        f"Always saying the middle value would be off by {shorten(first.median_mae.value)}. "
        f"{tell_seen(facts)}</p>"
    )


def _write_amount_stats(quality: RegressionQuality) -> str:
    items = []
    if quality.r2 is not None:
        told = f"R², the part of the variation that is explained ({write_interval(quality.r2)})"
        items.append((shorten(quality.r2.value), told))
    items.append((shorten(quality.mae.value), f"mean error ({write_interval(quality.mae)})"))
    told = f"root of the mean square ({write_interval(quality.rmse)})"
    items.append((shorten(quality.rmse.value), told))
    return _write_items(items)


def _write_amount_comparison(quality: RegressionQuality) -> str:
    rows = [("this network", quality.mae), ("always the median", quality.median_mae)]
    caption = f"Mean error, with 95{chr(160)}% intervals."
    return _write_widths(rows, "Mean error", caption, shares=False)


# ---- the charts ----


def write_quality(facts: Facts) -> str:
    """Write the section of charts."""
    quality = facts.quality
    if quality is None:
        return ""
    figures = (
        _write_class_charts(facts, quality)
        if isinstance(quality, ClassificationQuality)
        else _write_amount_charts(facts, quality)
    )
    told = f"Measured on the {count(len(facts.rows), facts.words.noun)} of this report."
    return (
        f"<h2>How good is it?</h2><p>{tell(told)} {tell_seen(facts)}</p>"
        f'<div class="perf">{"".join(figures)}</div>'
    )


def _write_figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def _write_class_charts(facts: Facts, quality: ClassificationQuality) -> list[str]:
    assert facts.classes is not None  # noqa: S101 - measured of classes
    names = [say_class(label) for label in facts.classes.labels]
    figures = [_write_confusion(facts, quality, names)]
    given, happened = "probability that the model gives", "share that came true"
    if facts.is_binary:
        given = f"probability of {names[1]}"
        happened = f"share that is {names[1]}"
    bins = () if quality.calibration is None else quality.calibration.bins
    figures.append(_write_figure(draw_calibration(bins, given, happened), _tell_calibration(bins)))
    if facts.is_binary and facts.truth is not None:
        centre = facts.model.layers[-1].centre
        middle, unit = 0.0 if centre is None else float(centre[0]), float(facts.unit)
        totals = (facts.scores[:, 0] + middle) / unit
        svg = draw_scores(totals, facts.truth, middle / unit, float(facts.limit), names)
        figures.append(_write_figure(svg, _tell_scores(names)))
    return figures


def _write_confusion(facts: Facts, quality: ClassificationQuality, names: list[str]) -> str:
    wrong = quality.n_rows - quality.n_correct
    total = write_count(quality.n_rows)
    told = f"{write_count(wrong)} of {total} are wrong" if wrong else f"All {total} are right"
    if len(names) == 2 and wrong:
        a, b = quality.confusion[0][1], quality.confusion[1][0]
        told += (
            f": {write_count(a)} “{tell(names[0])}” called “{tell(names[1])}”, "
            f"{write_count(b)} the other way round"
        )
    caption = f"{told}. Areas are numbers of {tell(facts.words.noun)}s."
    if len(names) <= _MOST_DRAWN:
        return _write_figure(draw_confusion(np.array(quality.confusion), names), caption)
    pairs = _list_confused(quality, names)
    items = "".join(f"<li>{line}</li>" for line in pairs)
    return f"<div><h3>Most often confused</h3><p>{told}.</p><ol>{items}</ol></div>"


def _list_confused(quality: ClassificationQuality, names: list[str]) -> list[str]:
    counts = np.array(quality.confusion)
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:10]
    cells = [divmod(int(k), len(names)) for k in order]
    return [
        f"{write_count(int(wrong[i, j]))}: “{tell(names[i])}” called “{tell(names[j])}”"
        for i, j in cells
        if wrong[i, j]
    ]


def _tell_calibration(bins: Sequence[CalibrationBin]) -> str:
    near = [one for one in bins if one.observed.low <= one.probability <= one.observed.high]
    n = len(bins)
    told = "On the dashed line a probability can be taken at its word; "
    if len(near) == n:
        touch = "the interval touches it" if n == 1 else f"the intervals of all {n} groups touch it"
    else:
        touch = f"the intervals of {len(near)} of {n} groups touch it"
    return f"{told}{touch}. Bars below: rows in each group."


def _tell_scores(names: list[str]) -> str:
    return (
        f"Rows by their total. From the limit on the model says “{tell(names[1])}”; where the two "
        "shades mix, treat an answer with care."
    )


def _write_amount_charts(facts: Facts, quality: list[RegressionQuality]) -> list[str]:
    assert facts.truth is not None  # noqa: S101 - measured
    n = len(facts.rows)
    step = max(n // _MOST_PAIRS, 1)
    some = slice(None, None, step)
    figures = []
    for k, one in enumerate(quality):
        said, truth = facts.scores[some, k], facts.truth[some, k]
        shown = f"{write_count(len(said))} of {write_count(n)}" if step > 1 else write_count(n)
        told = "" if one.r2 is None else f"R² {shorten(one.r2.value)}, "
        caption = (
            f"{told}mean error {shorten(one.mae.value)} ({write_interval(one.mae)}). On the "
            f"dashed line the answer is right. {shown} {tell(facts.words.noun)}s."
        )
        figures.append(_write_figure(draw_pairs(said, truth, one.name), caption))
    return figures
