"""The small charts of a report, as SVG in the grammar of the network figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from newron.evaluation import CalibrationBin, Estimate
from newron.figures.metrics import clean, fit, measure
from newron.figures.palette import SIZES
from newron.model.arithmetic import Floats
from newron.report.writing import write_count, write_per_cent
from newron.shapes.sentence import shorten

__all__ = [
    "draw_calibration",
    "draw_confusion",
    "draw_intervals",
    "draw_pairs",
    "draw_scores",
    "line",
    "make_svg",
    "place_ticks",
    "rect",
    "text",
]

_MOST_SCORES, _MOST_TOTALS = 30, 45  # bars of a histogram; where each is a whole total


def make_svg(width: float, height: float, body: Sequence[str], label: str) -> str:
    """Put shapes into a picture with a label for screen readers."""
    return (
        f'<svg class="chart" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(clean(label))}">{"".join(body)}</svg>'
    )


def text(
    x: float, y: float, told: str, style: str = "t-tick m", anchor: str = "start",
    room: float = math.inf,
) -> str:  # fmt: skip
    """Write a text; what does not fit into the room is cut, with the whole as its title."""
    told = clean(told)
    size = next((SIZES[name[2:]] for name in style.split() if name[:2] == "t-"), SIZES["tick"])
    shown = fit(told, room, size, bold=True)
    whole = f"<title>{escape(told)}</title>" if shown != told else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">'
        f"{escape(shown)}{whole}</text>"
    )


def rect(x: float, y: float, width: float, height: float, style: str, radius: float = 0) -> str:
    """Draw a box."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" '
        f'height="{max(height, 0):.1f}" rx="{radius:g}" class="{style}"/>'
    )


def line(x0: float, y0: float, x1: float, y1: float, style: str) -> str:
    """Draw a line."""
    return f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" class="{style}"/>'


def _dot(x: float, y: float, strong: bool) -> str:
    style = "pt strong" if strong else "pt"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if strong else 5}" class="{style}"/>'


def place_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Give round places between two ends.

    Examples
    --------
    >>> place_ticks(43.0, 97.0)
    [50.0, 60.0, 70.0, 80.0, 90.0]
    """
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [step * k for k in range(first, math.floor(high / step + 1e-9) + 1)]


# ---- beside each other ----


def draw_intervals(
    rows: Sequence[tuple[str, Estimate]], label: str, *, shares: bool, narrow: bool = False
) -> str:
    """Draw values with their intervals, a line for each; an exact one is a dot alone."""
    width, pitch = (358, 50) if narrow else (560, 34)
    left, right = (6, 292) if narrow else (172, 492)
    height = pitch * len(rows) + 34
    low, high = _find_ends([estimate for _, estimate in rows], shares)

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    def write(value: float, digits: int = 0) -> str:
        return write_per_cent(value, digits) if shares else shorten(value)

    shapes = []
    for tick in place_ticks(low, high, 5):
        shapes.append(line(x(tick), 4, x(tick), height - 26, "hair"))
        shapes.append(text(x(tick), height - 8, write(tick), anchor="middle"))
    for k, (name, estimate) in enumerate(rows):
        y, style = (36 if narrow else 22) + pitch * k, "t-name" if k == 0 else "t-cond"
        above = y - 16 if narrow else y + 4
        shapes.append(text(0, above, name, f"{style} halo", room=300 if narrow else 160))
        if estimate.low < estimate.high:
            ends = x(estimate.low), x(estimate.high)
            shapes.append(line(ends[0], y, ends[1], y, "ci strong" if k == 0 else "ci"))
        shapes.append(_dot(x(estimate.value), y, k == 0))
        shapes.append(text(width, y + 4, write(estimate.value, 1), style, "end"))
    return make_svg(width, height, shapes, label)


def _find_ends(estimates: Sequence[Estimate], shares: bool) -> tuple[float, float]:
    low = min(estimate.low for estimate in estimates)
    high = max(estimate.high for estimate in estimates)
    room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    if shares:
        return max(low - room - 0.02, -0.02), min(high + room + 0.02, 1.02)
    return (0.0 if 0 <= low < 0.5 * high else low - room), high + room


# ---- classes ----


def draw_confusion(matrix: NDArray[np.intp], names: Sequence[str]) -> str:
    """Draw squares whose areas are numbers of rows."""
    k = len(names)
    cell = 130 if k == 2 else 300 / k if k > 3 else 96
    left, top = 112.0, 44.0
    width, height = left + cell * k + 8, top + cell * k + 8
    most = max(int(matrix.max()), 1)
    shapes = [text(left + cell * k / 2, 14, "the model says", "t-cond m", "middle")]
    for j, name in enumerate(names):
        middle = cell * (j + 0.5)
        shapes.append(text(left + middle, 34, name, "t-name", "middle", cell - 6))
        shapes.append(text(left - 12, top + middle + 4, name, "t-name", "end", left - 14))
    shapes.append(text(left - 12, top - 10, "in truth", "t-cond m", "end"))
    for i in range(k):
        for j in range(k):
            n, total = int(matrix[i, j]), int(matrix[i].sum())
            x, y = left + cell * (j + 0.5), top + cell * (i + 0.5)
            shapes += _draw_cell(n, total, x, y, cell, n / most, i == j)
    return make_svg(width, height, shapes, f"Confusion matrix of {k} classes")


def _draw_cell(
    n: int, total: int, x: float, y: float, cell: float, share: float, right: bool
) -> list[str]:
    side = (cell - 10) * math.sqrt(share)
    shapes = [rect(x - cell / 2 + 2, y - cell / 2 + 2, cell - 4, cell - 4, "cell", 4)]
    if n:
        kind = "good" if right else "bad"
        shapes.append(rect(x - side / 2, y - side / 2, side, side, kind, 3))
    told = write_count(n)
    inside = side > measure(told, SIZES["out"], bold=True) + 12 and side > 30
    on = " on-mark" if inside and right else ""
    if cell >= 90:
        percent = write_per_cent(n / total) if total else "–"
        at = (y + 1, y + 19) if side > 64 else (y - side / 2 - 8, y + side / 2 + 17)
        on = on if side > 64 else ""
        shapes.append(text(x, at[0], told, f"t-out{on}", "middle"))
        shapes.append(text(x, at[1], percent, f"t-note{on or ' m'}", "middle"))
    elif n:
        shapes.append(text(x, y + 4, told, f"t-value halo-{'ink' if on else 'bg'}{on}", "middle"))
    return shapes


def draw_calibration(bins: Sequence[CalibrationBin], given: str, happened: str) -> str:
    """Draw given probabilities against what happened; the number of rows at the foot."""
    left, foot, height, width = 46.0, 270.0, 250.0, 325.0
    shapes = []
    for v in (0.0, 0.25, 0.5, 0.75, 1.0):
        y, x = foot - v * height, left + v * width
        shapes.append(line(left, y, left + width, y, "hair"))
        shapes.append(text(left - 8, y + 4, write_per_cent(v), anchor="end"))
        end = "end" if v == 1.0 else "middle"
        shapes.append(text(x + (8 if v == 1.0 else 0), foot + 36, write_per_cent(v), anchor=end))
    shapes.append(line(left, foot, left + width, foot - height, "ideal"))
    most = max(one.n_rows for one in bins)
    for one in bins:
        x, share = left + one.probability * width, one.observed
        shapes += [
            line(x, foot - share.low * height, x, foot - share.high * height, "ci strong"),
            f'<circle cx="{x:.1f}" cy="{foot - share.value * height:.1f}" r="5.5" '
            'class="pt strong"/>',
            rect(x - 6, foot + 3, 12, 18 * one.n_rows / most, "rug"),
        ]
    shapes.append(text(left + width + 8, foot + 54, given, "t-note m", "end", 360))
    shapes.append(text(0, 12, happened, "t-note m", room=360))
    told = "; ".join(
        f"{write_per_cent(one.probability)} given, {write_per_cent(one.observed.value)} came true"
        for one in bins
    )
    return make_svg(400, 330, shapes, f"Calibration: {told}")


def draw_scores(
    totals: Floats, truth: NDArray[np.intp], place: float, limit: float, names: Sequence[str]
) -> str:
    """Draw how many rows of two classes have which total; the limit is drawn at a place."""
    width, base, height = 400.0, 270.0, 206.0
    low, high = float(min(totals.min(), place)), float(max(totals.max(), place))
    if not high > low:
        low, high = low - 1.0, high + 1.0
    edges = _part_totals(totals, low, high)
    low, high = float(edges[0]), float(edges[-1])
    counts = [np.histogram(totals[truth == c], edges)[0] for c in (0, 1)]
    most = max(int((counts[0] + counts[1]).max()), 1)

    def x(value: float) -> float:
        return 6 + (value - low) / (high - low) * (width - 12)

    shapes = []
    for k in range(len(edges) - 1):
        a, b = x(edges[k]) + 0.8, x(edges[k + 1]) - 0.8
        pale, strong = (height * int(count[k]) / most for count in counts)
        shapes.append(rect(a, base - pale - strong, b - a, pale, "neg"))
        shapes.append(rect(a, base - strong, b - a, strong, "pos"))
    shapes += [
        text(min(max(x(tick), 14), width - 16), base + 18, shorten(tick), anchor="middle")
        for tick in place_ticks(low, high, 5)
    ]
    at = x(place)
    head = f"limit: {shorten(limit, 4)}"
    half = measure(head, SIZES["cond"], bold=True) / 2
    shapes += [
        line(6, base, width - 6, base, "hair"),
        line(at, 34, at, base + 4, "cut"),
        text(min(max(at, half), width - half), 26, head, "t-cond b", "middle"),
        *_draw_legend(names, base + 36),
    ]
    return make_svg(width, 316, shapes, "Rows by their total and their class")


def _part_totals(totals: Floats, low: float, high: float) -> Floats:
    """Give the edges of bars: one for each whole total where they are few, else even ones."""
    near = np.round(totals)
    if np.abs(totals - near).max() < 1e-6 and high - low <= _MOST_TOTALS:
        return np.arange(math.floor(low), math.ceil(high) + 2, dtype=np.float64) - 0.5
    n = int(min(max(math.sqrt(len(totals)) * 1.5, 8), _MOST_SCORES))
    return np.linspace(low, high, n + 1)


def _draw_legend(names: Sequence[str], y: float) -> list[str]:
    shapes, x = [], 6.0
    for name, style in ((names[1], "pos"), (names[0], "neg")):
        shown = fit(clean(name), 150, SIZES["note"])
        shapes.append(rect(x, y - 10, 12, 12, style, 2))
        shapes.append(text(x + 18, y, name, "t-note m", room=150))
        x += 18 + measure(shown, SIZES["note"]) + 22
    return shapes


# ---- amounts ----


def draw_pairs(said: Floats, truth: Floats, name: str) -> str:
    """Draw true amounts over predicted ones, with the line on which they are equal."""
    left, foot, side = 62.0, 330.0, 310.0
    low = float(min(said.min(), truth.min()))
    high = float(max(said.max(), truth.max()))
    low, high = (low, high) if high > low else (low - 1.0, high + 1.0)
    edge = 0.03 * (high - low)
    low, high = low - edge, high + edge

    def place(value: float) -> float:
        return (value - low) / (high - low) * side

    shapes = [rect(left, foot - side, side, side, "cell", 4)]
    for tick in place_ticks(low, high, 5):
        y, x = foot - place(tick), left + place(tick)
        shapes.append(line(left, y, left + side, y, "hair"))
        shapes.append(text(left - 8, y + 4, shorten(tick), anchor="end"))
        shapes.append(text(x, foot + 18, shorten(tick), anchor="middle"))
    shapes.append(line(left, foot, left + side, foot - side, "ideal"))
    shapes += [
        f'<circle cx="{left + place(a):.1f}" cy="{foot - place(b):.1f}" r="3" class="speck"/>'
        for a, b in zip(said.tolist(), truth.tolist(), strict=True)
    ]
    shapes.append(text(left + side, foot + 36, "predicted", "t-note m", "end"))
    shapes.append(text(0, 12, f"true {name}", "t-note m", room=370))
    return make_svg(400, 374, shapes, f"True over predicted {name}")
