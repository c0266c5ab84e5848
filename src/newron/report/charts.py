"""The small charts of a report, in the grammar of the network figure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from newron.drawing.markup import Markup
from newron.drawing.palette import SIZES
from newron.drawing.scale import Linear
from newron.drawing.shapes import Dot, Drawable, Label, Line, Rect
from newron.drawing.svg import write_chart
from newron.drawing.text import measure
from newron.evaluation import Estimate
from newron.evaluation.calibration import CalibrationBin
from newron.evaluation.survival import SurvivalBin
from newron.formatting import clean, format_rounded
from newron.model.arithmetic import Floats
from newron.report.numbers import integer, percent

_MAX_BARS, _MAX_TOTALS = 30, 45  # bars of a histogram; where each is a whole total


def _rule(x0: float, y0: float, x1: float, y1: float, style: str) -> Line:
    return Line(((x0, y0), (x1, y1)), style)


# ---- beside each other ----


def draw_intervals(
    rows: Sequence[tuple[str, Estimate]], label: str, *, in_percent: bool, narrow: bool = False
) -> Markup:
    """Draw values with their intervals, a line for each; an exact one is a dot alone."""
    width, pitch = (358, 50) if narrow else (560, 34)
    ends = (6.0, 292.0) if narrow else (172.0, 492.0)
    height = pitch * len(rows) + 34
    x = Linear(*_find_ends([estimate for _, estimate in rows], in_percent), *ends)

    def write(value: float, digits: int = 0) -> str:
        return percent(value, digits) if in_percent else format_rounded(value)

    shapes: list[Drawable] = []
    for tick in x.list_ticks(5):
        shapes.append(_rule(x(tick), 4, x(tick), height - 26, "hair"))
        shapes.append(Label(x(tick), height - 8, write(tick), "tick", "middle", "m"))
    for k, (name, estimate) in enumerate(rows):
        y, size = (36.0 if narrow else 22.0) + pitch * k, "name" if k == 0 else "cond"
        above, room = (y - 16, 300.0) if narrow else (y + 4, 160.0)
        strong = " strong" if k == 0 else ""
        shapes.append(Label.fitted(0, above, clean(name), size, room, "halo"))
        if estimate.low < estimate.high:
            shapes.append(_rule(x(estimate.low), y, x(estimate.high), y, f"ci{strong}"))
        shapes.append(Dot(x(estimate.value), y, 6.0 if strong else 5.0, f"pt{strong}"))
        shapes.append(Label(width, y + 4, write(estimate.value, 1), size, "end"))
    return write_chart(width, height, shapes, label)


def _find_ends(estimates: Sequence[Estimate], in_percent: bool) -> tuple[float, float]:
    low = min(estimate.low for estimate in estimates)
    high = max(estimate.high for estimate in estimates)
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    if in_percent:
        return max(low - room - 0.02, -0.02), min(high + room + 0.02, 1.02)
    return (0.0 if 0 <= low < 0.5 * high else low - room), high + room


# ---- classes ----


def draw_confusion(matrix: NDArray[np.intp], names: Sequence[str]) -> Markup:
    """Draw squares whose areas are numbers of rows."""
    k = len(names)
    cell = 130 if k == 2 else 300 / k if k > 3 else 96
    left, top = 112.0, 44.0
    largest = max(int(matrix.max()), 1)
    shapes: list[Drawable] = [
        Label(left + cell * k / 2, 14, "the model says", "cond", "middle", "m")
    ]
    for j, name in enumerate(map(clean, names)):
        middle = cell * (j + 0.5)
        shapes.append(Label.fitted(left + middle, 34, name, "name", cell - 6, anchor="middle"))
        beside = left - 12, top + middle + 4
        shapes.append(Label.fitted(*beside, name, "name", left - 14, anchor="end"))
    shapes.append(Label(left - 12, top - 10, "in truth", "cond", "end", "m"))
    for (i, j), n in np.ndenumerate(matrix):
        at = left + cell * (j + 0.5), top + cell * (i + 0.5)
        total = int(matrix[i].sum())
        shapes += _draw_cell(int(n), total, *at, cell, int(n) / largest, right=i == j)
    size = left + cell * k + 8, top + cell * k + 8
    return write_chart(*size, shapes, f"Confusion matrix of {k} classes")


def _draw_cell(
    n: int, total: int, x: float, y: float, cell: float, area: float, *, right: bool
) -> list[Drawable]:
    side = (cell - 10) * math.sqrt(area)
    shapes: list[Drawable] = [
        Rect(x - cell / 2 + 2, y - cell / 2 + 2, cell - 4, cell - 4, "cell", 4.0)
    ]
    if n:
        shapes.append(Rect(x - side / 2, y - side / 2, side, side, "good" if right else "bad"))
    text = integer(n)
    inside = side > measure(text, SIZES["out"], bold=True) + 12 and side > 30
    on = "on-mark" if inside and right else ""
    if cell >= 90:
        fraction = percent(n / total) if total else "–"
        at = (y + 1, y + 19) if side > 64 else (y - side / 2 - 8, y + side / 2 + 17)
        on = on if side > 64 else ""
        shapes.append(Label(x, at[0], text, "out", "middle", on))
        shapes.append(Label(x, at[1], fraction, "note", "middle", on or "m"))
    elif n:
        halo = f"halo-ink {on}" if on else "halo-bg"
        shapes.append(Label(x, y + 4, text, "value", "middle", halo))
    return shapes


def draw_calibration(
    bins: Sequence[CalibrationBin] | Sequence[SurvivalBin], predicted: str, observed: str
) -> Markup:
    """Draw predicted probabilities against what happened; the number of rows at the foot."""
    x, y = Linear(0.0, 1.0, 46.0, 371.0), Linear(0.0, 1.0, 270.0, 20.0)
    left, right, foot = x.start, x.end, y.start
    shapes: list[Drawable] = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        text = percent(tick)
        shapes.append(_rule(left, y(tick), right, y(tick), "hair"))
        shapes.append(Label(left - 8, y(tick) + 4, text, "tick", "end", "m"))
        last = tick == 1.0
        at = x(tick) + 8 * last, foot + 36
        shapes.append(Label(*at, text, "tick", "end" if last else "middle", "m"))
    shapes.append(_rule(left, foot, right, y.end, "ideal"))
    largest = max(one.n_rows for one in bins)
    for one in bins:
        middle, share = x(one.probability), one.observed
        shapes += [
            _rule(middle, y(share.low), middle, y(share.high), "ci strong"),
            Dot(middle, y(share.value), 5.5, "pt strong"),
            Rect(middle - 6, foot + 3, 12, 18 * one.n_rows / largest, "rug", 0.0),
        ]
    foot += 54
    shapes += [
        Label.fitted(right + 8, foot, clean(predicted), "note", 360, "m", anchor="end"),
        Label.fitted(0, 12, clean(observed), "note", 360, "m"),
    ]
    pairs = "; ".join(
        f"{percent(one.probability)} given, {percent(one.observed.value)} came true" for one in bins
    )
    return write_chart(400, 330, shapes, f"Calibration: {pairs}")


def draw_scores(
    totals: Floats, truth: NDArray[np.intp], place: float, limit: float, names: Sequence[str]
) -> Markup:
    """Draw how many rows of two classes have which total; the limit is drawn at a position."""
    width, base, height = 400.0, 270.0, 206.0
    low, high = float(min(totals.min(), place)), float(max(totals.max(), place))
    if not high > low:
        low, high = low - 1.0, high + 1.0
    edges = _find_edges(totals, low, high)
    x = Linear(float(edges[0]), float(edges[-1]), 6.0, width - 6)
    counts = [np.histogram(totals[truth == c], edges)[0] for c in (0, 1)]
    largest = max(int((counts[0] + counts[1]).max()), 1)
    shapes: list[Drawable] = []
    for k in range(len(edges) - 1):
        a, b = x(edges[k]) + 0.8, x(edges[k + 1]) - 0.8
        pale, strong = (height * int(count[k]) / largest for count in counts)
        size = max(b - a, 0.0)
        shapes.append(Rect(a, base - pale - strong, size, pale, "neg", 0.0))
        shapes.append(Rect(a, base - strong, size, strong, "pos", 0.0))
    for tick in x.list_ticks(5):
        at = min(max(x(tick), 14), width - 16)
        shapes.append(Label(at, base + 18, format_rounded(tick), "tick", "middle", "m"))
    at = x(place)
    head = Label(at, 26, f"limit: {format_rounded(limit, 4)}", "cond", "middle", "b")
    half = head.width / 2
    shapes += [
        _rule(6, base, width - 6, base, "hair"),
        _rule(at, 34, at, base + 4, "cut"),
        Label(min(max(at, half), width - half), 26, head.text, "cond", "middle", "b"),
        *_draw_legend(names, base + 36),
    ]
    return write_chart(width, 316, shapes, "Rows by their total and their class")


def _find_edges(totals: Floats, low: float, high: float) -> Floats:
    """Return the edges of bars: one for each whole total where they are few, else even ones."""
    near = np.round(totals)
    if np.abs(totals - near).max() < 1e-6 and high - low <= _MAX_TOTALS:
        return np.arange(math.floor(low), math.ceil(high) + 2, dtype=np.float64) - 0.5
    n = int(min(max(math.sqrt(len(totals)) * 1.5, 8), _MAX_BARS))
    return np.linspace(low, high, n + 1)


def _draw_legend(names: Sequence[str], y: float) -> list[Drawable]:
    shapes: list[Drawable] = []
    x = 6.0
    for name, style in ((names[1], "pos"), (names[0], "neg")):
        label = Label.fitted(x + 18, y, clean(name), "note", 150, "m")
        shapes += [Rect(x, y - 10, 12, 12, style, 2.0), label]
        x += 18 + label.width + 22
    return shapes


# ---- regression ----


def draw_pairs(predicted: Floats, truth: Floats, name: str) -> Markup:
    """Draw true values over predicted ones, with the line on which they are equal."""
    left, foot, side = 62.0, 330.0, 310.0
    low, high = float(min(predicted.min(), truth.min())), float(max(predicted.max(), truth.max()))
    low, high = (low, high) if high > low else (low - 1.0, high + 1.0)
    edge = 0.03 * (high - low)
    x = Linear(low - edge, high + edge, left, left + side)
    y = Linear(low - edge, high + edge, foot, foot - side)
    shapes: list[Drawable] = [Rect(left, foot - side, side, side, "cell", 4.0)]
    for tick in x.list_ticks(5):
        shapes.append(_rule(left, y(tick), left + side, y(tick), "hair"))
        shapes.append(Label(left - 8, y(tick) + 4, format_rounded(tick), "tick", "end", "m"))
        shapes.append(Label(x(tick), foot + 18, format_rounded(tick), "tick", "middle", "m"))
    shapes.append(_rule(left, foot, left + side, foot - side, "ideal"))
    pairs = zip(predicted.tolist(), truth.tolist(), strict=True)
    shapes += [Dot(x(a), y(b), 3.0, "speck") for a, b in pairs]
    shapes.append(Label(left + side, foot + 36, "predicted", "note", "end", "m"))
    shapes.append(Label.fitted(0, 12, clean(f"true {name}"), "note", 370, "m"))
    return write_chart(400, 374, shapes, f"True over predicted {name}")


# ---- over time ----


def draw_curves(
    curves: Sequence[tuple[str, Sequence[float], Sequence[float], str]],
    label: str,
    x_name: str,
    y_name: str,
    *,
    in_percent: bool,
) -> Markup:
    """Draw curves over time with their names at their ends; each has its style.

    Names that would touch are moved apart, and left out where there is no room for them.
    """
    left, right, foot, top = 46.0, 400.0, 290.0, 30.0
    x = Linear(0.0, max(max(xs) for _, xs, _, _ in curves), left, right)
    largest = 1.0 if in_percent else 1.1 * max(max(ys) for _, _, ys, _ in curves)
    y = Linear(0.0, largest or 1.0, foot, top)
    shapes: list[Drawable] = []
    for tick in y.list_ticks(5):
        text = percent(tick) if in_percent else format_rounded(tick)
        shapes.append(_rule(left, y(tick), right, y(tick), "hair"))
        shapes.append(Label(left - 8, y(tick) + 4, text, "tick", "end", "m"))
    shapes += [
        Label(x(tick), foot + 20, format_rounded(tick), "tick", "middle", "m")
        for tick in x.list_ticks(5)
    ]
    for _, xs, ys, style in curves:
        points = tuple((x(a), y(b)) for a, b in zip(xs, ys, strict=True))
        shapes.append(Line(points, style))
    free = -math.inf
    for name, _, ys, _ in sorted(curves, key=lambda curve: -curve[2][-1]):
        at = max(y(ys[-1]) + 4, free + 15)
        if at <= foot + 10:
            shapes.append(Label.fitted(right + 8, at, clean(name), "note", 132, "m"))
            free = at
    shapes.append(Label.fitted(right, foot + 40, clean(x_name), "note", 340, "m", anchor="end"))
    shapes.append(Label.fitted(0, 12, clean(y_name), "note", 500, "m"))
    return write_chart(544, foot + 48, shapes, label)
